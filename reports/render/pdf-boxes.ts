import type { Block } from './blocks.ts';
import { HAIR, INK, MUTED, layOutStackedBars, type StackedBars } from './chart.ts';
import { setText } from './pdf-text.ts';
import type { Look, Sheet } from './sheet.ts';

const CHART_HEIGHT = 210;
const CAPTION: Look = { face: 'bold', size: 8.6, leading: 13, colour: INK };
/** Height of a chart with its caption, points. */
export const CHART_ROOM = CHART_HEIGHT + CAPTION.leading + 3;

export function setFigures(sheet: Sheet, figures: readonly { value: string; label: string; note?: string }[]): void {
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
  readonly look: Look;
  readonly indent: number;
}

function noticeLines(sheet: Sheet, block: Notice, body: Look): readonly NoticeLine[] {
  const inner = sheet.width - 26;
  const title: Look = { ...body, face: 'bold' };
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

/** What a notice wants on its page: all of it, unless that is more than half a page. */
export function noticeRoom(sheet: Sheet, block: Notice, body: Look): number {
  return Math.min(14 + body.leading * noticeLines(sheet, block, body).length, (sheet.bottom - sheet.top) / 2);
}

export function setNotice(sheet: Sheet, block: Notice, body: Look): void {
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
        const look: Look = {
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
