import type { Block, Column } from './blocks.ts';
import { HAIR, INK, MUTED } from './chart.ts';
import type { Sheet, TextStyle } from './sheet.ts';

const GAP = 8;
const PAD = 3.2;
/** Distance between the edge of the table and its text. */
const INSET = 5;
/** A table with at most this many rows is kept on one page if it fits. */
const KEPT_TOGETHER = 16;
const CAPTION: TextStyle = { face: 'bold', size: 8.6, leading: 13, colour: INK };
const HEAD: TextStyle = { face: 'bold', size: 7.6, leading: 10.4, colour: INK };
const CELL: TextStyle = { face: 'regular', size: 8.2, leading: 11.2, colour: INK };
const MONO: TextStyle = { face: 'mono', size: 6.8, leading: 11.2, colour: INK };

interface Place {
  readonly x: number;
  readonly width: number;
  readonly column: Column;
}

/**
 * Sets a table row by row. Its head is repeated on every page; a row that does not fit moves to the next page; a row
 * taller than a page is split.
 */
export async function setTable(sheet: Sheet, block: Extract<Block, { block: 'table' }>): Promise<void> {
  const places = placeColumns(sheet, block);
  sheet.ensure(tableRoom(sheet, block));
  const table = sheet.open('Table');
  const title = sheet.open('Caption', table);
  for (const line of sheet.wrap(block.caption, CAPTION, sheet.width)) {
    sheet.tag(title, 'Caption', () => sheet.write(line, sheet.left, sheet.y, CAPTION));
    sheet.y += CAPTION.leading;
  }
  sheet.close(title);
  sheet.y += 2;
  let rows = 0;
  for await (const row of block.rows) {
    if (rows === 0) setHead(sheet, table, places, true);
    setRow(sheet, table, places, row, CELL);
    rows += 1;
  }
  if (rows === 0) {
    const look: TextStyle = { ...CELL, colour: MUTED };
    for (const line of sheet.wrap(block.empty, look, sheet.width)) {
      const element = sheet.open('P');
      sheet.tag(element, 'P', () => sheet.write(line, sheet.left, sheet.y, look));
      sheet.close(element);
      sheet.y += look.leading;
    }
  } else if (block.total !== undefined) {
    setRow(sheet, table, places, block.total, { ...CELL, face: 'bold' });
  }
  sheet.close(table);
}

/** The room to reserve for a table: all of it if short, otherwise its head and first rows. */
export function tableRoom(sheet: Sheet, block: Extract<Block, { block: 'table' }>): number {
  const beginning = CAPTION.leading + 66;
  if (!Array.isArray(block.rows) || block.rows.length > KEPT_TOGETHER) return beginning;
  const places = placeColumns(sheet, block);
  const rows = [...(block.rows as readonly (readonly string[])[]), ...(block.total === undefined ? [] : [block.total])];
  const height = rows.reduce(
    (sum, row) => sum + heightOf(setCells(sheet, places, row, CELL), CELL),
    CAPTION.leading + 2 + HEAD.leading * 2 + PAD * 2,
  );
  // A half-empty page looks worse than a table that continues.
  return height > (sheet.bottom - sheet.top) / 2 ? beginning : height;
}

interface Cell {
  readonly look: TextStyle;
  readonly lines: readonly string[];
}

function setCells(sheet: Sheet, places: readonly Place[], row: readonly string[], look: TextStyle): readonly Cell[] {
  return places.map(({ column, width }, i) => {
    const own = column.face === 'mono' ? { ...MONO, colour: look.colour } : look;
    return { look: own, lines: sheet.wrap(row[i] ?? '', own, width) };
  });
}

function heightOf(cells: readonly Cell[], look: TextStyle): number {
  return Math.max(1, ...cells.map(({ lines }) => lines.length)) * look.leading + PAD * 2;
}

function placeColumns(sheet: Sheet, { columns, rows }: Extract<Block, { block: 'table' }>): readonly Place[] {
  const usable = sheet.width - INSET * 2 - GAP * (columns.length - 1);
  const shareOf = (some: readonly Column[]) => some.reduce((sum, { share }) => sum + share, 0);
  const shared = columns.map(({ share }) => (usable * share) / shareOf(columns));
  const cells = Array.isArray(rows) ? (rows as readonly (readonly string[])[]) : [];
  const elastic = columns.filter(({ whole }) => whole !== true);
  // No title of another column is cut within a word.
  const perShare = Math.max(
    0,
    ...elastic.map(
      ({ title, share }) => Math.max(...title.split(' ').map((word) => sheet.measure(word, HEAD))) / share,
    ),
  );
  const most = Math.min(usable / 3, usable - perShare * shareOf(elastic));
  const wanted = columns.map(({ whole }, i) => {
    if (whole !== true) return null;
    const widest = cells.reduce((width, row) => Math.max(width, sheet.measure(row[i] ?? '', CELL)), 0);
    const width = Math.min(widest + 0.1, most);
    return width > (shared[i] ?? 0) ? width : null;
  });
  const left = usable - wanted.reduce<number>((sum, width) => sum + (width ?? 0), 0);
  const others = shareOf(columns.filter((_, i) => wanted[i] === null));
  let x = sheet.left + INSET;
  return columns.map((column, i) => {
    const width = wanted[i] ?? (left * column.share) / others;
    const place = { x, width, column };
    x += width + GAP;
    return place;
  });
}

/** Screen readers read the first head; repeated heads are marked as decoration. */
function setHead(sheet: Sheet, table: ReturnType<Sheet['open']>, places: readonly Place[], first: boolean): void {
  const cells = places.map(({ column, width }) => sheet.wrap(column.title, HEAD, width));
  const lines = Math.max(...cells.map((one) => one.length));
  const height = lines * HEAD.leading + PAD * 2;
  sheet.decorate(() => sheet.doc.rect(sheet.left, sheet.y, sheet.width, height).fill('#e9eef3'));
  const write = (i: number) => {
    const { x, width, column } = places[i] as Place;
    const own = cells[i] ?? [];
    own.forEach((line, n) =>
      sheet.write(
        line,
        x,
        sheet.y + PAD + (lines - own.length + n) * HEAD.leading,
        HEAD,
        column.align ?? 'left',
        width,
      ),
    );
  };
  if (first) {
    const row = sheet.open('TR', table);
    places.forEach((_, i) => {
      const cell = sheet.open('TH', row, { scope: 'Column' });
      sheet.tag(cell, 'TH', () => write(i));
      sheet.close(cell);
    });
    sheet.close(row);
  } else {
    sheet.decorate(() => places.forEach((_, i) => write(i)));
  }
  sheet.y += height;
}

function setRow(
  sheet: Sheet,
  table: ReturnType<Sheet['open']>,
  places: readonly Place[],
  row: readonly string[],
  look: TextStyle,
): void {
  const cells = setCells(sheet, places, row, look);
  const lines = Math.max(1, ...cells.map((one) => one.lines.length));
  const height = heightOf(cells, look);
  const headHeight = HEAD.leading * 2 + PAD * 2;
  if (sheet.y + height > sheet.bottom && height <= sheet.bottom - sheet.top - headHeight) {
    sheet.breakPage();
    setHead(sheet, table, places, false);
  }
  const element = sheet.open('TR', table);
  const tagged = places.map(() => sheet.open('TD', element));
  let from = 0;
  while (from < lines) {
    let fit = Math.floor((sheet.bottom - sheet.y - PAD * 2) / look.leading);
    if (fit < 1) {
      sheet.breakPage();
      setHead(sheet, table, places, false);
      fit = Math.floor((sheet.bottom - sheet.y - PAD * 2) / look.leading);
    }
    const until = Math.min(lines, from + fit);
    cells.forEach((cell, i) => {
      const { x, width, column } = places[i] as Place;
      const part = cell.lines.slice(from, until);
      if (part.length === 0) return;
      sheet.tag(tagged[i] as ReturnType<Sheet['open']>, 'TD', () =>
        part.forEach((line, n) =>
          sheet.write(line, x, sheet.y + PAD + n * look.leading, cell.look, column.align ?? 'left', width),
        ),
      );
    });
    sheet.y += (until - from) * look.leading + PAD * 2;
    const y = sheet.y;
    sheet.decorate(() =>
      sheet.doc
        .moveTo(sheet.left, y)
        .lineTo(sheet.left + sheet.width, y)
        .lineWidth(0.5)
        .stroke(HAIR),
    );
    from = until;
  }
  for (const cell of tagged) sheet.close(cell);
  sheet.close(element);
}
