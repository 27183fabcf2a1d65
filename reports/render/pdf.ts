import type { Block, Frame } from './blocks.ts';
import { INK, MUTED } from './chart.ts';
import { createTypesetter } from './fonts.ts';
import { setTable, tableRoom } from './pdf-table.ts';
import {
  CHART_ROOM,
  noticeRoom,
  setChart,
  setFacts,
  setFigures,
  setLines,
  setList,
  setNotice,
  setText,
  setVerbatim,
} from './pdf-text.ts';
import { drawInThread } from './pdf-thread.ts';
import { beginSheet, closeSheet, openPaper, type Paper, type Setting, type Sheet, type TextStyle } from './sheet.ts';
import { visibleText } from './text.ts';

/**
 * Renders blocks as a tagged PDF with embedded fonts. The same blocks and frame give the same bytes. Pages are kept
 * until the end, because each states the total number; so use it for pages, not for millions of rows. A character that
 * no font has is replaced by U+FFFD and its code point; {@link unprintableIn} lists them beforehand.
 */
export async function* renderPdf(
  frame: Frame,
  blocks: Iterable<Block> | AsyncIterable<Block>,
): AsyncGenerator<Uint8Array> {
  const all = await readBlocks(blocks);
  // The sources have no thread to start: its file is made by the build.
  if (import.meta.url.endsWith('.js')) yield* await drawInThread({ frame, blocks: all });
  else yield* drawPdf(frame, all);
}

/** Draws a document whose rows are all there, without yielding to anything else. */
export async function* drawPdf(frame: Frame, all: readonly Block[]): AsyncGenerator<Uint8Array> {
  const paper = await openPaper(frame);
  const sheet =
    frame.kind === 'letter'
      ? await setOn(paper, all, { density: (await fitLetter(paper, all)).density })
      : await setReport(paper, all);
  closeSheet(sheet);
  for await (const chunk of sheet.doc as unknown as AsyncIterable<Uint8Array>) yield chunk;
}

/** Characters that no PDF font has, without repeats, so that the sender can be told. */
export async function unprintableIn(blocks: readonly Block[]): Promise<readonly string[]> {
  const text = visibleText(JSON.stringify(blocks));
  if (PRINTABLE.test(text)) return [];
  const { default: PDFDocument } = await import('pdfkit');
  const typesetter = createTypesetter(new PDFDocument());
  return [...new Set(text)].filter((character) => typesetter.printable(character, 'regular').startsWith('\ufffd['));
}

/** Latin letters and punctuation, which every font has, so no font needs to be opened. */
const PRINTABLE = /^[\x20-\x7e\u00a0-\u017f\u2010-\u2027\u20ac]*$/;

/** Densities to try after the normal one. */
const CLOSER = [0.95, 0.9, 0.85] as const;
const WIDER = [1.06, 1.12, 1.18] as const;
/** Share of the last page that is filled: below the first, try to save the page; below the second, it would look nearly empty. */
const WORTH_FITTING = 0.35;
const FORGOTTEN = 0.2;

/** The layout of a letter: number of pages, how far the last one is filled (0 to 1), and the density. */
interface LetterFit {
  readonly pages: number;
  readonly filled: number;
  readonly density: number;
}

/**
 * Measures a letter without drawing it. Saves a page if slightly closer lines are enough for that, and avoids a last
 * page with only a few lines. One paper serves any number of letters.
 */
export async function fitLetter(paper: Paper, blocks: readonly Block[]): Promise<LetterFit> {
  const at = async (density: number): Promise<LetterFit> => {
    const sheet = await setOn(paper, blocks, { density, dry: true });
    return { pages: sheet.pages, filled: filledOf(sheet), density };
  };
  const usual = await at(1);
  if (usual.pages === 1 || usual.filled >= WORTH_FITTING) return usual;
  for (const density of CLOSER) {
    const fit = await at(density);
    if (fit.pages < usual.pages) return fit;
  }
  if (usual.filled >= FORGOTTEN) return usual;
  for (const density of WIDER) {
    const fit = await at(density);
    if (fit.filled >= FORGOTTEN) return fit;
  }
  return usual;
}

/** Points by which the pages of a report may end earlier, if its last page would otherwise be nearly empty. */
const LIFTS = [14, 28, 42, 60, 80, 100, 125, 150, 180] as const;

/** Avoids a last page with only a few lines by ending the other pages slightly earlier. */
async function setReport(paper: Paper, all: readonly Block[]): Promise<Sheet> {
  const usual = await setOn(paper, all);
  if (usual.pages === 1 || filledOf(usual) >= FORGOTTEN) return usual;
  const again = await openPaper(paper.frame);
  for (const lift of LIFTS)
    if (filledOf(await setOn(again, all, { lift, dry: true })) >= FORGOTTEN) return setOn(again, all, { lift });
  return usual;
}

/** Reads all blocks with all rows, because they may be set more than once. */
async function readBlocks(blocks: Iterable<Block> | AsyncIterable<Block>): Promise<readonly Block[]> {
  const all: Block[] = [];
  for await (const block of blocks) {
    if (block.block !== 'table' || Array.isArray(block.rows)) {
      all.push(block);
      continue;
    }
    const rows: (readonly string[])[] = [];
    for await (const row of block.rows) rows.push(row);
    all.push({ ...block, rows });
  }
  return all;
}

function setOn(paper: Paper, blocks: readonly Block[], setting?: Setting): Promise<Sheet> {
  return setBlocks(beginSheet(paper, setting), blocks);
}

function filledOf({ y, top, bottom }: Sheet): number {
  return (y - top) / (bottom - top);
}

/** Paragraphs after a heading that introduce the next block stay with it: at most this many, none taller than this (points). */
const INTRODUCED = 2;
const SHORT = 70;

async function setBlocks(sheet: Sheet, blocks: readonly Block[]): Promise<Sheet> {
  // Headings, and the sentences under them, are held back until the block that they introduce, so that all are on one
  // page.
  let waiting: (Heading | Paragraph)[] = [];
  const setWaiting = (room: number) => {
    const above = waiting.reduce((sum, one) => sum + waitingRoom(sheet, one), 0);
    if (waiting.length > 0 && above + room <= sheet.bottom - sheet.top) sheet.ensure(above + room);
    else if (waiting.length > 0) sheet.ensure(above);
    waiting.forEach((one, i) => {
      if (one.block === 'heading') setHeading(sheet, one, i === 0);
      else setParagraph(sheet, one);
    });
    waiting = [];
  };
  for (const block of blocks) {
    if (block.block === 'heading') {
      if (waiting.some((one) => one.block === 'paragraph')) setWaiting(0);
      waiting.push(block);
      continue;
    }
    const introduces = block.block === 'paragraph' && waiting.length > 0 && waitingRoom(sheet, block) <= SHORT;
    if (introduces && waiting.filter((one) => one.block === 'paragraph').length < INTRODUCED) {
      waiting.push(block);
      continue;
    }
    setWaiting(roomWanted(sheet, block));
    await setBlock(sheet, block);
  }
  setWaiting(0);
  return sheet;
}

/** The height of a heading or paragraph, points. */
function waitingRoom(sheet: Sheet, block: Heading | Paragraph): number {
  if (block.block === 'heading')
    return HEADING[block.level].leading + HEADING[block.level].above + HEADING[block.level].below;
  const look = paragraphLook(sheet, block);
  return sheet.wrap(block.text, look, sheet.width).length * look.leading + 6;
}

/** Text style of running text; slightly larger in letters. */
function bodyLook(sheet: Sheet): TextStyle {
  return sheet.frame.kind === 'letter'
    ? { face: 'regular', size: 9.6 * Math.min(1, (1 + sheet.density) / 2), leading: 13.6 * sheet.density, colour: INK }
    : { face: 'regular', size: 9, leading: 13, colour: INK };
}

type Heading = Extract<Block, { block: 'heading' }>;
type Paragraph = Extract<Block, { block: 'paragraph' }>;

const HEADING: Readonly<Record<1 | 2, TextStyle & { readonly above: number; readonly below: number }>> = {
  1: { face: 'bold', size: 13, leading: 18, colour: INK, above: 16, below: 5 },
  2: { face: 'bold', size: 10, leading: 14, colour: INK, above: 9, below: 2 },
};

function setHeading(sheet: Sheet, { level, text }: Heading, isFirst: boolean): void {
  const look = HEADING[level];
  const scale = (sheet.frame.kind === 'letter' ? 0.6 : 1) * sheet.density;
  if (sheet.y > sheet.top && isFirst) sheet.y += look.above * scale;
  sheet.mark(text);
  setText(sheet, level === 1 ? 'H2' : 'H3', text, look);
  sheet.y += look.below;
}

/** How much of a block should be on the page of its heading, points. */
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

function paragraphLook(sheet: Sheet, { look }: Paragraph): TextStyle {
  const body = bodyLook(sheet);
  switch (look) {
    case 'fine':
      return { ...body, size: 7.8, leading: 11, colour: MUTED };
    case 'lead':
      return { ...body, size: body.size + 1, leading: body.leading + 1.5 };
    case 'strong':
      return { ...body, face: 'bold' };
    default:
      return body;
  }
}

function setParagraph(sheet: Sheet, block: Paragraph): void {
  setText(sheet, 'P', block.text, paragraphLook(sheet, block));
  sheet.y += (sheet.frame.kind === 'letter' ? 7 : 6) * sheet.density;
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
    case 'paragraph':
      setParagraph(sheet, block);
      return;
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
      const look: TextStyle =
        block.look === 'muted' ? { ...body, size: body.size - 1.2, leading: body.leading - 1.6, colour: MUTED } : body;
      setLines(sheet, block.lines, look, block.align ?? 'left');
      return;
    }
    case 'verbatim':
      setVerbatim(sheet, block.text);
      if (block.file !== undefined) sheet.attach(block.file);
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
