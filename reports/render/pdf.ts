import type { Block, Frame } from './blocks.ts';
import { HAIR, INK, MUTED, layOutStackedBars, type StackedBars } from './chart.ts';
import { setTable } from './pdf-table.ts';
import { closeSheet, openSheet, type Look, type Sheet } from './sheet.ts';

const CHART_HEIGHT = 210;

/**
 * Blocks as a tagged PDF with embedded fonts. The same blocks and frame give the same bytes.
 * Pages are kept until the end, because each says how many there are; so this is for documents of pages, not of millions of rows.
 * Throws UnprintableText (render/fonts.ts) for characters that the fonts lack.
 */
export async function* renderPdf(frame: Frame, blocks: Iterable<Block> | AsyncIterable<Block>): AsyncGenerator<Uint8Array> {
  const sheet = openSheet(frame);
  for await (const block of blocks) await setBlock(sheet, block);
  closeSheet(sheet);
  for await (const chunk of sheet.doc as unknown as AsyncIterable<Uint8Array>) yield chunk;
}

/** Looks of running text; letters are set a little larger. */
function bodyLook(sheet: Sheet): Look {
  return sheet.frame.kind === 'letter'
    ? { face: 'regular', size: 9.8, leading: 14.2, colour: INK }
    : { face: 'regular', size: 9, leading: 13, colour: INK };
}

async function setBlock(sheet: Sheet, block: Block): Promise<void> {
  const body = bodyLook(sheet);
  switch (block.block) {
    case 'title':
      setText(sheet, 'H1', block.text, { face: 'bold', size: 21, leading: 26, colour: INK });
      if (block.subtitle !== undefined) setText(sheet, 'P', block.subtitle, { face: 'regular', size: 10.5, leading: 15, colour: MUTED });
      sheet.y += 10;
      return;
    case 'heading': {
      const look: Look = block.level === 1 ? { face: 'bold', size: 13, leading: 18, colour: INK } : { face: 'bold', size: 10, leading: 14, colour: INK };
      sheet.y += sheet.y > sheet.top ? (block.level === 1 ? 16 : 9) : 0;
      // A heading stays with what follows it.
      sheet.ensure(look.leading + 64);
      sheet.doc.outline.addItem(block.text);
      setText(sheet, block.level === 1 ? 'H2' : 'H3', block.text, look);
      sheet.y += block.level === 1 ? 5 : 2;
      return;
    }
    case 'paragraph': {
      const look: Look =
        block.look === 'fine'
          ? { ...body, size: 7.8, leading: 11, colour: MUTED }
          : block.look === 'lead'
            ? { ...body, size: body.size + 1, leading: body.leading + 1.5 }
            : block.look === 'strong'
              ? { ...body, face: 'bold' }
              : body;
      setText(sheet, 'P', block.text, look);
      sheet.y += sheet.frame.kind === 'letter' ? 8 : 6;
      return;
    }
    case 'list':
      setList(sheet, block.items, block.ordered === true, body);
      sheet.y += 5;
      return;
    case 'facts':
      setFacts(sheet, block.pairs, body);
      sheet.y += 8;
      return;
    case 'figures':
      setFigures(sheet, block.figures);
      sheet.y += 12;
      return;
    case 'table':
      await setTable(sheet, block);
      sheet.y += 10;
      return;
    case 'chart':
      setChart(sheet, block.chart);
      sheet.y += 10;
      return;
    case 'notice':
      setNotice(sheet, block, body);
      sheet.y += 10;
      return;
    case 'lines': {
      const look: Look = block.look === 'muted' ? { ...body, size: body.size - 1.2, leading: body.leading - 1.6, colour: MUTED } : body;
      const element = sheet.open('P');
      for (const line of block.lines.flatMap((text) => sheet.wrap(text, look, sheet.width))) {
        sheet.ensure(look.leading);
        sheet.tag(element, 'P', () => sheet.write(line, sheet.left, sheet.y, look, block.align ?? 'left', sheet.width));
        sheet.y += look.leading;
      }
      sheet.close(element);
      return;
    }
    case 'verbatim':
      setVerbatim(sheet, block.text);
      sheet.y += 8;
      return;
    case 'gap':
      sheet.y += block.points;
      return;
    case 'page-break':
      if (sheet.y > sheet.top) sheet.breakPage();
      return;
  }
}

/** Sets a text over the full width, or from `indent` on; it may run over pages. */
function setText(sheet: Sheet, type: string, text: string, look: Look, indent = 0): void {
  const element = sheet.open(type);
  const lines = sheet.wrap(text, look, sheet.width - indent);
  lines.forEach((line, i) => {
    // No single first or last line of a paragraph on a page of its own.
    sheet.ensure(i === 0 && lines.length > 1 ? look.leading * 2 : i === lines.length - 2 && lines.length > 3 ? look.leading * 2 : look.leading);
    sheet.tag(element, type, () => sheet.write(line, sheet.left + indent, sheet.y, look));
    sheet.y += look.leading;
  });
  sheet.close(element);
}

function setList(sheet: Sheet, items: readonly string[], ordered: boolean, look: Look): void {
  const list = sheet.open('L');
  items.forEach((text, n) => {
    const item = sheet.open('LI', list);
    const label = sheet.open('Lbl', item);
    const body = sheet.open('LBody', item);
    const lines = sheet.wrap(text, look, sheet.width - 16);
    lines.forEach((line, i) => {
      sheet.ensure(i === 0 && lines.length > 1 ? look.leading * 2 : look.leading);
      if (i === 0) sheet.tag(label, 'Lbl', () => sheet.write(ordered ? `${n + 1}.` : '•', sheet.left + 3, sheet.y, look));
      sheet.tag(body, 'LBody', () => sheet.write(line, sheet.left + 16, sheet.y, look));
      sheet.y += look.leading;
    });
    sheet.y += 2.5;
    for (const element of [label, body, item]) sheet.close(element);
  });
  sheet.close(list);
}

function setFacts(sheet: Sheet, pairs: readonly (readonly [string, string])[], body: Look): void {
  const label: Look = { ...body, colour: MUTED };
  const labelWidth = Math.min(150, Math.max(...pairs.map(([text]) => sheet.doc.font('regular').fontSize(body.size).widthOfString(text)), 40) + 14);
  const table = sheet.open('Table');
  for (const [name, value] of pairs) {
    const names = sheet.wrap(name, label, labelWidth - 10);
    const values = sheet.wrap(value, body, sheet.width - labelWidth);
    const row = sheet.open('TR', table);
    const head = sheet.open('TH', row, { scope: 'Row' });
    const cell = sheet.open('TD', row);
    for (let i = 0; i < Math.max(names.length, values.length); i += 1) {
      sheet.ensure(i === 0 ? body.leading * Math.min(3, values.length) : body.leading);
      const [left, right] = [names[i], values[i]];
      if (left !== undefined) sheet.tag(head, 'TH', () => sheet.write(left, sheet.left, sheet.y, label));
      if (right !== undefined) sheet.tag(cell, 'TD', () => sheet.write(right, sheet.left + labelWidth, sheet.y, body));
      sheet.y += body.leading;
    }
    sheet.y += 2;
    for (const element of [head, cell, row]) sheet.close(element);
  }
  sheet.close(table);
}

function setFigures(sheet: Sheet, figures: readonly { value: string; label: string; note?: string }[]): void {
  const gap = 10;
  const width = (sheet.width - gap * (figures.length - 1)) / figures.length;
  const big: Look = { face: 'bold', size: 17, leading: 22, colour: INK };
  const name: Look = { face: 'regular', size: 8, leading: 11, colour: INK };
  const fine: Look = { ...name, size: 7.2, leading: 9.6, colour: MUTED };
  const set = figures.map(({ value, label, note }) => ({
    value: sheet.wrap(value, big, width - 18),
    label: sheet.wrap(label, name, width - 18),
    note: note === undefined ? [] : sheet.wrap(note, fine, width - 18),
  }));
  const height = 16 + Math.max(...set.map((one) => one.value.length * big.leading + one.label.length * name.leading + one.note.length * fine.leading));
  sheet.ensure(height);
  set.forEach((one, i) => {
    const x = sheet.left + i * (width + gap);
    sheet.decorate(() => sheet.doc.roundedRect(x, sheet.y, width, height, 3).fill('#f2f5f8'));
    const element = sheet.open('P');
    let y = sheet.y + 8;
    for (const [lines, look] of [[one.value, big], [one.label, name], [one.note, fine]] as const) {
      for (const line of lines) {
        sheet.tag(element, 'P', () => sheet.write(line, x + 9, y, look));
        y += look.leading;
      }
    }
    sheet.close(element);
  });
  sheet.y += height;
}

function setNotice(sheet: Sheet, block: { tone: 'information' | 'warning'; title: string; text: string; items?: readonly string[] }, body: Look): void {
  const [edge, ground] = block.tone === 'warning' ? ['#b45309', '#fdf6ec'] : ['#1f5a92', '#eff5fa'];
  const inner = sheet.width - 26;
  const title: Look = { ...body, face: 'bold' };
  const lines: { text: string; look: Look; indent: number }[] = [];
  for (const line of sheet.wrap(block.title, title, inner)) lines.push({ text: line, look: title, indent: 0 });
  if (block.text !== '') for (const line of sheet.wrap(block.text, body, inner)) lines.push({ text: line, look: body, indent: 0 });
  for (const item of block.items ?? []) {
    sheet.wrap(`•  ${item}`, body, inner - 10).forEach((line, i) => lines.push({ text: line, look: body, indent: i === 0 ? 0 : 9 }));
  }
  const element = sheet.open('Note');
  let next = 0;
  while (next < lines.length) {
    sheet.ensure(16 + body.leading * Math.min(4, lines.length - next));
    const fit = Math.max(1, Math.floor((sheet.bottom - sheet.y - 16) / body.leading));
    const part = lines.slice(next, next + fit);
    const height = part.length * body.leading + 14;
    sheet.decorate(() => {
      sheet.doc.rect(sheet.left, sheet.y, sheet.width, height).fill(ground);
      sheet.doc.rect(sheet.left, sheet.y, 3, height).fill(edge);
    });
    part.forEach(({ text, look, indent }, i) => {
      sheet.tag(element, 'Note', () => sheet.write(text, sheet.left + 14 + indent, sheet.y + 7 + i * body.leading, look));
    });
    sheet.y += height;
    next += part.length;
  }
  sheet.close(element);
}

function setVerbatim(sheet: Sheet, text: string): void {
  const look: Look = { face: 'mono', size: 7.2, leading: 10.5, colour: INK };
  const element = sheet.open('Code');
  for (const line of sheet.wrap(text, look, sheet.width - 20)) {
    sheet.ensure(look.leading);
    sheet.decorate(() => sheet.doc.rect(sheet.left, sheet.y, sheet.width, look.leading).fill('#f2f5f8'));
    sheet.tag(element, 'Code', () => sheet.write(line, sheet.left + 10, sheet.y, look));
    sheet.y += look.leading;
  }
  sheet.close(element);
}

function setChart(sheet: Sheet, chart: StackedBars): void {
  const { doc } = sheet;
  const caption: Look = { face: 'bold', size: 8.6, leading: 13, colour: INK };
  sheet.ensure(CHART_HEIGHT + caption.leading + 6);
  setText(sheet, 'Caption', chart.title, caption);
  sheet.y += 3;
  const [left, top] = [sheet.left, sheet.y];
  const marks = layOutStackedBars(chart, sheet.width, CHART_HEIGHT);
  const figure = sheet.open('Figure', undefined, { alt: chart.description });
  sheet.tag(figure, 'Figure', () => {
    for (const mark of marks) {
      if (mark.mark === 'text') {
        const look: Look = { face: mark.bold ? 'bold' : 'regular', size: mark.size, leading: mark.size, colour: mark.fill };
        const [line] = sheet.wrap(mark.text, look, Number.POSITIVE_INFINITY);
        const width = doc.widthOfString(line ?? '');
        const shift = mark.anchor === 'end' ? width : mark.anchor === 'middle' ? width / 2 : 0;
        sheet.write(line ?? '', left + mark.x - shift, top + mark.y - mark.size * 0.86, look);
        continue;
      }
      doc.save().translate(left, top).path(mark.d).lineWidth(mark.width);
      if (mark.fill !== null && mark.stroke !== null) doc.fillAndStroke(mark.fill, mark.stroke);
      else if (mark.fill !== null) doc.fill(mark.fill);
      else doc.stroke(mark.stroke ?? HAIR);
      doc.restore();
    }
  });
  sheet.close(figure);
  sheet.y += CHART_HEIGHT;
}
