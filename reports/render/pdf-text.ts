import { INK, MUTED } from './chart.ts';
import type { Look, Sheet } from './sheet.ts';

/** Sets a text over the full width, or from `indent` on; it may run over pages. */
export function setText(sheet: Sheet, type: string, text: string, look: Look, indent = 0): void {
  const element = sheet.open(type);
  const lines = sheet.wrap(text, look, sheet.width - indent);
  lines.forEach((line, i) => {
    // No single first or last line of a paragraph on a page of its own.
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

export function setList(sheet: Sheet, items: readonly string[], ordered: boolean, look: Look): void {
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

export function setFacts(sheet: Sheet, pairs: readonly (readonly [string, string])[], body: Look): void {
  const label: Look = { ...body, colour: MUTED };
  const labelWidth = Math.min(
    150,
    Math.max(...pairs.map(([text]) => sheet.doc.font('regular').fontSize(body.size).widthOfString(text)), 40) + 14,
  );
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

/** Small enough that no line breaks, where that can still be read: a signed note that is broken is none. */
function unbroken(sheet: Sheet, text: string): { look: Look; lines: readonly string[] } {
  for (let size = 7.2; ; size -= 0.2) {
    const look: Look = { face: 'mono', size, leading: size + 3.3, colour: INK };
    const lines = sheet.wrap(text, look, sheet.width - 20);
    if (lines.length === text.split('\n').length || size < 5.8) return { look, lines };
  }
}

/** Sets lines one below the other, such as an address; they stay together. */
export function setLines(sheet: Sheet, lines: readonly string[], look: Look, align: 'left' | 'right'): void {
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
