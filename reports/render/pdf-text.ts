import type { Block } from './blocks.ts';
import { HAIR, INK, layOutStackedBars, MUTED, type StackedBars } from './chart.ts';
import type { Sheet, TextStyle } from './sheet.ts';

/** Sets a text over the full width, or from `indent`; it may continue on further pages. */
export function setText(sheet: Sheet, type: string, text: string, look: TextStyle, indent = 0): void {
  const element = sheet.open(type);
  const lines = sheet.wrap(text, look, sheet.width - indent);
  lines.forEach((line, i) => {
    // Avoids a single first or last line of a paragraph on a page.
    sheet.ensure(
      i === 0 && lines.length > 1
        ? look.leading * 2
        : i === lines.length - 2 && lines.length > 3
          ? look.leading * 2
          : look.leading,
    );
    sheet.tag(element, type, () => sheet.write(line, sheet.left + indent, sheet.y, look));
    sheet.y += look.leading;
  });
  sheet.close(element);
}

export function setList(sheet: Sheet, items: readonly string[], ordered: boolean, look: TextStyle): void {
  const list = sheet.open('L');
  items.forEach((text, n) => {
    const item = sheet.open('LI', list);
    const label = sheet.open('Lbl', item);
    const body = sheet.open('LBody', item);
    const lines = sheet.wrap(text, look, sheet.width - 16);
    lines.forEach((line, i) => {
      sheet.ensure(i === 0 && lines.length > 1 ? look.leading * 2 : look.leading);
      if (i === 0)
        sheet.tag(label, 'Lbl', () => sheet.write(ordered ? `${n + 1}.` : '•', sheet.left + 3, sheet.y, look));
      sheet.tag(body, 'LBody', () => sheet.write(line, sheet.left + 16, sheet.y, look));
      sheet.y += look.leading;
    });
    sheet.y += 2.5;
    for (const element of [label, body, item]) sheet.close(element);
  });
  sheet.close(list);
}

export function setFacts(sheet: Sheet, pairs: readonly (readonly [string, string])[], body: TextStyle): void {
  const label: TextStyle = { ...body, colour: MUTED };
  const labelWidth = Math.min(150, Math.max(...pairs.map(([text]) => sheet.measure(text, body)), 40) + 14);
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

export function setVerbatim(sheet: Sheet, text: string): void {
  const { look, lines } = unbroken(sheet, text);
  const element = sheet.open('Code');
  sheet.ensure(Math.min(12 + lines.length * look.leading, sheet.bottom - sheet.top));
  const ground = (height: number) =>
    sheet.decorate(() => sheet.doc.rect(sheet.left, sheet.y - 0.1, sheet.width, height + 0.2).fill('#f2f5f8'));
  ground(6);
  sheet.y += 6;
  for (const line of lines) {
    sheet.ensure(look.leading);
    ground(look.leading);
    sheet.tag(element, 'Code', () => sheet.write(line, sheet.left + 10, sheet.y, look));
    sheet.y += look.leading;
  }
  ground(6);
  sheet.y += 6;
  sheet.close(element);
}

/** Shrinks the text until no line wraps, if it is still readable: a wrapped signed note is invalid. */
function unbroken(sheet: Sheet, text: string): { look: TextStyle; lines: readonly string[] } {
  for (let size = 7.2; ; size -= 0.2) {
    const look: TextStyle = { face: 'mono', size, leading: size + 3.3, colour: INK };
    const lines = sheet.wrap(text, look, sheet.width - 20);
    if (lines.length === text.split('\n').length || size < 5.8) return { look, lines };
  }
}

/** Sets lines below one another, such as an address; they are kept together. */
export function setLines(sheet: Sheet, lines: readonly string[], look: TextStyle, align: 'left' | 'right'): void {
  const set = lines.flatMap((text) => sheet.wrap(text, look, sheet.width));
  if (set.length === 0) return;
  const element = sheet.open('P');
  sheet.ensure(Math.min(set.length * look.leading, (sheet.bottom - sheet.top) / 2));
  for (const line of set) {
    sheet.ensure(look.leading);
    sheet.tag(element, 'P', () => sheet.write(line, sheet.left, sheet.y, look, align, sheet.width));
    sheet.y += look.leading;
  }
  sheet.close(element);
}

const CHART_HEIGHT = 210;
const CAPTION: TextStyle = { face: 'bold', size: 8.6, leading: 13, colour: INK };
/** Height of a chart with its caption, points. */
export const CHART_ROOM = CHART_HEIGHT + CAPTION.leading + 3;

export function setFigures(sheet: Sheet, figures: readonly { value: string; label: string; note?: string }[]): void {
  const gap = 10;
  const width = (sheet.width - gap * (figures.length - 1)) / figures.length;
  const big: TextStyle = { face: 'bold', size: 17, leading: 22, colour: INK };
  const name: TextStyle = { face: 'regular', size: 8, leading: 11, colour: INK };
  const fine: TextStyle = { ...name, size: 7.2, leading: 9.6, colour: MUTED };
  const set = figures.map(({ value, label, note }) => ({
    value: sheet.wrap(value, big, width - 18),
    label: sheet.wrap(label, name, width - 18),
    note: note === undefined ? [] : sheet.wrap(note, fine, width - 18),
  }));
  const height =
    16 +
    Math.max(
      ...set.map(
        (one) => one.value.length * big.leading + one.label.length * name.leading + one.note.length * fine.leading,
      ),
    );
  sheet.ensure(height);
  set.forEach((one, i) => {
    const x = sheet.left + i * (width + gap);
    sheet.decorate(() => sheet.doc.roundedRect(x, sheet.y, width, height, 3).fill('#f2f5f8'));
    const element = sheet.open('P');
    let y = sheet.y + 8;
    for (const [lines, look] of [
      [one.value, big],
      [one.label, name],
      [one.note, fine],
    ] as const) {
      for (const line of lines) {
        sheet.tag(element, 'P', () => sheet.write(line, x + 9, y, look));
        y += look.leading;
      }
    }
    sheet.close(element);
  });
  sheet.y += height;
}

type Notice = Extract<Block, { block: 'notice' }>;

interface NoticeLine {
  readonly text: string;
  readonly look: TextStyle;
  readonly indent: number;
}

function noticeLines(sheet: Sheet, block: Notice, body: TextStyle): readonly NoticeLine[] {
  const inner = sheet.width - 26;
  const title: TextStyle = { ...body, face: 'bold' };
  const lines: NoticeLine[] = sheet.wrap(block.title, title, inner).map((text) => ({ text, look: title, indent: 0 }));
  if (block.text !== '')
    for (const text of sheet.wrap(block.text, body, inner)) lines.push({ text, look: body, indent: 0 });
  for (const item of block.items ?? []) {
    sheet
      .wrap(`•  ${item}`, body, inner - 10)
      .forEach((text, i) => lines.push({ text, look: body, indent: i === 0 ? 0 : 9 }));
  }
  return lines;
}

/** The room to reserve for a notice: all of it, unless that is more than half a page. */
export function noticeRoom(sheet: Sheet, block: Notice, body: TextStyle): number {
  return Math.min(14 + body.leading * noticeLines(sheet, block, body).length, (sheet.bottom - sheet.top) / 2);
}

export function setNotice(sheet: Sheet, block: Notice, body: TextStyle): void {
  const [edge, ground] = block.tone === 'warning' ? ['#b45309', '#fdf6ec'] : ['#1f5a92', '#eff5fa'];
  const lines = noticeLines(sheet, block, body);
  sheet.ensure(noticeRoom(sheet, block, body));
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
      sheet.tag(element, 'Note', () =>
        sheet.write(text, sheet.left + 14 + indent, sheet.y + 7 + i * body.leading, look),
      );
    });
    sheet.y += height;
    next += part.length;
  }
  sheet.close(element);
}

export function setChart(sheet: Sheet, chart: StackedBars): void {
  const { doc } = sheet;
  sheet.ensure(CHART_ROOM);
  setText(sheet, 'Caption', chart.title, CAPTION);
  sheet.y += 3;
  const [left, top] = [sheet.left, sheet.y];
  const marks = layOutStackedBars(chart, sheet.width, CHART_HEIGHT);
  const figure = sheet.open('Figure', undefined, { alt: chart.description });
  sheet.tag(figure, 'Figure', () => {
    for (const mark of marks) {
      if (mark.mark === 'text') {
        const look: TextStyle = {
          face: mark.bold ? 'bold' : 'regular',
          size: mark.size,
          leading: mark.size,
          colour: mark.fill,
        };
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
