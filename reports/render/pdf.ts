import type { Block, Frame } from './blocks.ts';
import { INK, MUTED } from './chart.ts';
import { CHART_ROOM, noticeRoom, setChart, setFigures, setNotice } from './pdf-boxes.ts';
import { setTable, tableRoom } from './pdf-table.ts';
import { setFacts, setLines, setList, setText, setVerbatim } from './pdf-text.ts';
import { closeSheet, openSheet, type Look, type Sheet } from './sheet.ts';
import { visibleText } from './text.ts';

/**
 * Blocks as a tagged PDF with embedded fonts. The same blocks and frame give the same bytes.
 * Pages are kept until the end, because each says how many there are; so this is for documents of pages, not of millions of rows.
 * What no font has is replaced by U+FFFD and its code point; in a letter it throws UnprintableText (render/fonts.ts).
 */
export async function* renderPdf(
  frame: Frame,
  blocks: Iterable<Block> | AsyncIterable<Block>,
): AsyncGenerator<Uint8Array> {
  const sheet =
    frame.kind === 'letter' ? await fitLetter(frame, blocks) : await setBlocks(await openSheet(frame), blocks);
  closeSheet(sheet);
  for await (const chunk of sheet.doc as unknown as AsyncIterable<Uint8Array>) yield chunk;
}

/** Closer than the usual setting a little at a time, then wider. */
const CLOSER = [0.95, 0.9, 0.85] as const;
const WIDER = [1.06, 1.12, 1.18] as const;
/** Parts of a last page: below the first a page less is tried for, below the second the page would look forgotten. */
const WORTH_FITTING = 0.35;
const FORGOTTEN = 0.2;

/** A letter takes one page less where that only needs lines that are a little closer, and never ends on a page with a few lines. */
async function fitLetter(frame: Frame, blocks: Iterable<Block> | AsyncIterable<Block>): Promise<Sheet> {
  const all: Block[] = [];
  for await (const block of blocks) all.push(block);
  const usual = await setAt(frame, all, 1);
  if (usual.pages === 1 || usual.filled >= WORTH_FITTING) return usual.sheet;
  for (const density of CLOSER) {
    const set = await setAt(frame, all, density);
    if (set.pages < usual.pages) return set.sheet;
  }
  if (usual.filled >= FORGOTTEN) return usual.sheet;
  for (const density of WIDER) {
    const set = await setAt(frame, all, density);
    if (set.filled >= FORGOTTEN) return set.sheet;
  }
  return usual.sheet;
}

async function setAt(frame: Frame, blocks: readonly Block[], density: number) {
  const sheet = await setBlocks(await openSheet(frame, density), blocks);
  const pages = sheet.doc.bufferedPageRange().count;
  return { sheet, pages, filled: (sheet.y - sheet.top) / (sheet.bottom - sheet.top) };
}

async function setBlocks(sheet: Sheet, blocks: Iterable<Block> | AsyncIterable<Block>): Promise<Sheet> {
  // Headings wait for what they stand over, so that both come on one page.
  let headings: Heading[] = [];
  const setHeadings = (room: number) => {
    if (headings.length > 0)
      sheet.ensure(headings.reduce((sum, one) => sum + HEADING[one.level].leading + HEADING[one.level].above, room));
    headings.forEach((heading, i) => setHeading(sheet, heading, i === 0));
    headings = [];
  };
  for await (const block of blocks) {
    if (block.block === 'heading') {
      headings.push(block);
      continue;
    }
    setHeadings(roomWanted(sheet, block));
    await setBlock(sheet, block);
  }
  setHeadings(0);
  return sheet;
}

/** Looks of running text; letters are set a little larger. */
function bodyLook(sheet: Sheet): Look {
  return sheet.frame.kind === 'letter'
    ? { face: 'regular', size: 9.6 * Math.min(1, (1 + sheet.density) / 2), leading: 13.6 * sheet.density, colour: INK }
    : { face: 'regular', size: 9, leading: 13, colour: INK };
}

type Heading = Extract<Block, { block: 'heading' }>;

const HEADING: Readonly<Record<1 | 2, Look & { readonly above: number; readonly below: number }>> = {
  1: { face: 'bold', size: 13, leading: 18, colour: INK, above: 16, below: 5 },
  2: { face: 'bold', size: 10, leading: 14, colour: INK, above: 9, below: 2 },
};

function setHeading(sheet: Sheet, { level, text }: Heading, isFirst: boolean): void {
  const look = HEADING[level];
  const scale = (sheet.frame.kind === 'letter' ? 0.6 : 1) * sheet.density;
  if (sheet.y > sheet.top && isFirst) sheet.y += look.above * scale;
  sheet.doc.outline.addItem(visibleText(text));
  setText(sheet, level === 1 ? 'H2' : 'H3', text, look);
  sheet.y += look.below;
}

/** How much of a block should stand on the page of its heading, points. */
function roomWanted(sheet: Sheet, block: Exclude<Block, Heading>): number {
  switch (block.block) {
    case 'notice':
      return noticeRoom(sheet, block, bodyLook(sheet));
    case 'table':
      return tableRoom(sheet, block);
    case 'chart':
      return CHART_ROOM;
    default:
      return 56;
  }
}

async function setBlock(sheet: Sheet, block: Exclude<Block, Heading>): Promise<void> {
  const body = bodyLook(sheet);
  switch (block.block) {
    case 'title':
      setText(sheet, 'H1', block.text, { face: 'bold', size: 21, leading: 26, colour: INK });
      if (block.subtitle !== undefined)
        setText(sheet, 'P', block.subtitle, { face: 'regular', size: 10.5, leading: 15, colour: MUTED });
      sheet.y += 10;
      return;
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
      sheet.y += (sheet.frame.kind === 'letter' ? 7 : 6) * sheet.density;
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
      const look: Look =
        block.look === 'muted' ? { ...body, size: body.size - 1.2, leading: body.leading - 1.6, colour: MUTED } : body;
      setLines(sheet, block.lines, look, block.align ?? 'left');
      return;
    }
    case 'verbatim':
      setVerbatim(sheet, block.text);
      sheet.y += 8;
      return;
    case 'gap':
      sheet.y += block.points * sheet.density;
      return;
    case 'page-break':
      if (sheet.y > sheet.top) sheet.breakPage();
      return;
  }
}
