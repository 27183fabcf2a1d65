import type { Frame } from './blocks.ts';
import { HAIR, INK, MUTED } from './chart.ts';
import { createTypesetter, type Face, type Typesetter } from './fonts.ts';
import { visibleText } from './text.ts';

/** Style of a text. Sizes in points; `leading` is the line height. */
export interface TextStyle {
  readonly face: Face;
  readonly size: number;
  readonly leading: number;
  readonly colour: string;
}

type Element = ReturnType<PDFKit.PDFDocument['struct']>;

/** The pages being set: the pen position, and how to write, break and tag. Y grows downwards. */
export interface Sheet {
  readonly doc: PDFKit.PDFDocument;
  readonly frame: Frame;
  readonly left: number;
  readonly width: number;
  /** First and last y available for content on a page. */
  readonly top: number;
  readonly bottom: number;
  /** Factor for line height and spacing of running text; below 1 is closer than usual. */
  readonly density: number;
  y: number;
  /** Pages begun so far. */
  pages: number;
  /** Breaks a text into lines no wider than `width`; unprintable characters are replaced (letters refuse them, see fonts.ts). */
  wrap(text: string, look: TextStyle, width: number): readonly string[];
  /** The width of a line. */
  measure(line: string, look: TextStyle): number;
  /** Writes one line with its top at y. */
  write(line: string, x: number, y: number, look: TextStyle, align?: 'left' | 'right', width?: number): void;
  /** Starts a new page unless `height` points are left on this one; true if it did. */
  ensure(height: number): boolean;
  breakPage(): void;
  /** Opens a structure element under `parent` (by default the document). Close it with {@link close}. */
  open(
    type: string,
    parent?: Element,
    options?: Parameters<PDFKit.PDFDocument['struct']>[1] & { scope?: 'Column' | 'Row' },
  ): Element;
  close(element: Element): void;
  /** Draws content that belongs to an element. Must not break the page. */
  tag(element: Element, type: string, draw: () => void): void;
  /** Draws what screen readers should skip: rules, backgrounds. */
  decorate(draw: () => void): void;
  /** Adds the current place to the outline of the document. */
  mark(title: string): void;
  /** Attaches a text file to the document. */
  attach(file: { readonly name: string; readonly description: string; readonly content: string }): void;
}

/** `lift`: points by which each page ends earlier; `dry`: only measure, draw nothing. */
export interface Setting {
  readonly density?: number;
  readonly lift?: number;
  readonly dry?: boolean;
}

/** A document with its fonts and metadata but without pages. Any number of dry sheets can be set on it, then one real one. */
export interface Paper {
  readonly doc: PDFKit.PDFDocument;
  readonly frame: Frame;
  readonly root: Element;
  readonly typesetter: Typesetter;
}

const PAGE = { width: 595.28, height: 841.89, left: 56, right: 56, top: 78, bottom: 66 } as const;

/** Opens an A4 document. Opening its fonts takes longer than setting a letter, so measure and write on the same paper. */
export async function openPaper(frame: Frame): Promise<Paper> {
  // Imported here because most commands make no PDF and start faster without it.
  const { default: PDFDocument } = await import('pdfkit');
  const doc = new PDFDocument({
    size: [PAGE.width, PAGE.height],
    margins: { left: PAGE.left, right: PAGE.right, top: PAGE.top, bottom: 0 },
    autoFirstPage: false,
    bufferPages: true,
    pdfVersion: '1.7',
    tagged: true,
    lang: frame.language,
    displayTitle: true,
    info: {
      Title: visibleText(frame.title),
      Author: visibleText(frame.owner),
      Creator: frame.producer,
      Producer: `${frame.producer} (PDFKit)`,
      CreationDate: new Date(frame.createdAt),
    },
  });
  const typesetter = createTypesetter(doc);
  const root = doc.struct('Document');
  doc.addStructure(root);
  return { doc, frame, root, typesetter };
}

/** Begins the first page. */
export function beginSheet(paper: Paper, { density = 1, lift = 0, dry = false }: Setting = {}): Sheet {
  const { doc, frame, root, typesetter } = paper;
  const decorate = (draw: () => void) => {
    if (dry) return;
    doc.markContent('Artifact', { type: 'Layout' });
    draw();
    doc.endMarkedContent();
  };
  const use = (look: TextStyle) => doc.font(look.face).fontSize(look.size);
  const widthOf = (line: string, look: TextStyle) => {
    const runs = typesetter.runs(line, look.face);
    const width = runs.reduce(
      (sum, { text, font, options }) => sum + doc.font(font).fontSize(look.size).widthOfString(text, options),
      0,
    );
    use(look);
    return width;
  };
  const sheet: Sheet = {
    doc,
    frame,
    left: PAGE.left,
    width: PAGE.width - PAGE.left - PAGE.right,
    top: PAGE.top,
    bottom: PAGE.height - PAGE.bottom - lift,
    density,
    y: PAGE.top,
    pages: 0,
    wrap(text, look, width) {
      const safe = typesetter.printable(visibleText(text), look.face);
      use(look);
      return safe.split('\n').flatMap((paragraph) => {
        const lines = wrapLine(paragraph, width, (part) => widthOf(part, look));
        typesetter.broken(paragraph, lines);
        return lines;
      });
    },
    measure(line, look) {
      use(look);
      return widthOf(typesetter.printable(visibleText(line), look.face), look);
    },
    write(line, x, y, look, align = 'left', width = 0) {
      if (line === '' || dry) return;
      const shift = align === 'right' ? width - widthOf(line, look) : 0;
      const runs = typesetter.runs(line, look.face);
      use(look).fillColor(look.colour);
      // The font's own line height is slightly less than the leading, so centre it.
      const top = y + (look.leading - doc.currentLineHeight(false)) / 2;
      if (runs.length === 1 && runs[0]?.font === look.face) {
        doc.text(runs[0].text, x + shift, top, { lineBreak: false, ...runs[0].options });
        return;
      }
      // Fonts differ in height: align all to the baseline of the face.
      const { ascender } = (doc as unknown as { _font: { ascender: number } })._font;
      const baseline = top + (ascender / 1000) * look.size;
      let at = x + shift;
      for (const { text, font, options } of runs) {
        doc.font(font).fontSize(look.size);
        doc.text(text, at, baseline, { lineBreak: false, baseline: 'alphabetic', ...options });
        at += doc.widthOfString(text, options);
      }
    },
    ensure(height) {
      if (sheet.y + height <= sheet.bottom) return false;
      sheet.breakPage();
      return true;
    },
    breakPage() {
      if (!dry) doc.addPage();
      sheet.pages += 1;
      sheet.y = sheet.top;
    },
    open(type, parent = root, options = {}) {
      if (dry) return root;
      const element = doc.struct(type, options);
      parent.add(element);
      return element;
    },
    close(element) {
      if (!dry) element.end();
    },
    tag(element, type, draw) {
      if (dry) return;
      const content = doc.markStructureContent(type);
      draw();
      doc.endMarkedContent();
      element.add(content);
    },
    decorate,
    mark(title) {
      if (!dry) doc.outline.addItem(visibleText(title));
    },
    attach({ name, description, content }) {
      if (!dry) doc.file(Buffer.from(content), { name, description, type: 'text/plain' });
    },
  };
  sheet.breakPage();
  return sheet;
}

/** Writes watermark, header and footer of every page, now that their number is known, and ends the document. */
export function closeSheet(sheet: Sheet): void {
  const { doc, frame } = sheet;
  const { count } = doc.bufferedPageRange();
  const small: TextStyle = { face: 'regular', size: 7.5, leading: 10, colour: MUTED };
  const right = sheet.left + sheet.width;
  for (let page = 0; page < count; page += 1) {
    doc.switchToPage(page);
    if (frame.watermark !== null) stampWatermark(doc, frame.watermark);
    doc.markContent('Artifact', { type: 'Pagination' });
    if (page > 0 || frame.kind === 'report') {
      const title = one(sheet.wrap(frame.title, small, sheet.width / 2));
      sheet.write(one(sheet.wrap(frame.owner, { ...small, face: 'bold' }, sheet.width / 2)), sheet.left, 38, {
        ...small,
        face: 'bold',
        colour: INK,
      });
      sheet.write(title, sheet.left + sheet.width / 2, 38, small, 'right', sheet.width / 2);
      doc.moveTo(sheet.left, 52).lineTo(right, 52).lineWidth(0.6).stroke(HAIR);
    }
    const base = PAGE.height - 44;
    doc
      .moveTo(sheet.left, base - 6)
      .lineTo(right, base - 6)
      .lineWidth(0.6)
      .stroke(HAIR);
    sheet
      .wrap(frame.footer, small, sheet.width - 80)
      .slice(0, 2)
      .forEach((line, i) => sheet.write(line, sheet.left, base + i * 10, small));
    const pageWords = frame.page ?? 'Page {page} of {pages}';
    sheet.write(
      pageWords.replace('{page}', String(page + 1)).replace('{pages}', String(count)),
      right - 80,
      base,
      small,
      'right',
      80,
    );
    doc.endMarkedContent();
  }
  doc.end();
}

interface OutlineFont {
  readonly unitsPerEm: number;
  layout(text: string): {
    readonly glyphs: readonly { readonly advanceWidth: number; readonly path: { toSVG(): string } }[];
  };
}

/** Once large and slanted, as outlines, so that it does not mix with copied text; and once small at the top, as text. */
function stampWatermark(doc: PDFKit.PDFDocument, text: string): void {
  const small: TextStyle = { face: 'bold', size: 9, leading: 12, colour: '#8a1c1c' };
  doc.markContent('Artifact', { type: 'Page' });
  doc.font(small.face).fontSize(small.size).fillColor(small.colour);
  doc.text(text, (PAGE.width - doc.widthOfString(text)) / 2, 22, { lineBreak: false });
  const font = (doc as unknown as { _font: { font: OutlineFont } })._font.font;
  const { glyphs } = font.layout(text);
  const width = glyphs.reduce((sum, { advanceWidth }) => sum + advanceWidth, 0);
  const scale = Math.min(118, (560 * font.unitsPerEm) / width) / font.unitsPerEm;
  doc.save();
  doc
    .translate(PAGE.width / 2, PAGE.height / 2)
    .rotate(-52)
    .scale(scale, -scale)
    .translate(-width / 2, -font.unitsPerEm * 0.36);
  doc.fillOpacity(0.07);
  for (const { advanceWidth, path } of glyphs) {
    doc.path(path.toSVG()).fill('#8a1c1c');
    doc.translate(advanceWidth, 0);
  }
  doc.restore();
  doc.endMarkedContent();
}

/**
 * Break opportunities: after spaces (except non-breaking ones), single slashes, dashes, and hyphens between letters of
 * a word without digits (so that dates and case ids stay whole). A word wider than the line is cut, if possible at a
 * nearby hyphen.
 */
const BREAK =
  /(?<=[^\S\u00a0\u202f])(?=[\S\u00a0\u202f])|(?<=(?<!\/)\/|[–—])(?=[^\s/])|(?<=(?<!\d[^\s/]{0,60})\p{L}-)(?=\p{L})(?![^\s/]{0,60}\d)/u;

function wrapLine(line: string, width: number, measure: (part: string) => number): string[] {
  const isWithin = (part: string) =>
    (part.length <= SURELY_WIDER || measure(part.slice(0, SURELY_WIDER)) <= width) && measure(part) <= width;
  if (isWithin(line)) return [line.trimEnd()];
  const lines: string[] = [];
  let current = '';
  const flush = () => {
    lines.push(current.trimEnd());
    current = '';
  };
  for (const word of line.split(BREAK)) {
    if (isWithin((current + word).trimEnd())) {
      current += word;
      continue;
    }
    if (current !== '') flush();
    let rest = word;
    while (!isWithin(rest.trimEnd())) {
      const size = cutOf(rest, isWithin);
      lines.push(rest.slice(0, size));
      rest = rest.slice(size);
    }
    current = rest;
  }
  if (current.trimEnd() !== '' || lines.length === 0) flush();
  return lines;
}

/**
 * Try this many characters first: they are usually wider than a line, and setting a long text takes more than twice as
 * long as half of it.
 */
const SURELY_WIDER = 400;

/**
 * How much of an overlong word fits: up to a nearby hyphen if there is one, never splitting a character. The time
 * depends on the line, not on the word.
 */
function cutOf(word: string, isWithin: (part: string) => boolean): number {
  let fits = 1;
  let tooMuch = 2;
  while (tooMuch < word.length && isWithin(word.slice(0, tooMuch))) {
    fits = tooMuch;
    tooMuch *= 2;
  }
  tooMuch = Math.min(tooMuch, word.length);
  while (tooMuch - fits > 1) {
    const middle = (fits + tooMuch) >> 1;
    if (isWithin(word.slice(0, middle))) fits = middle;
    else tooMuch = middle;
  }
  const hyphen = word.lastIndexOf('-', fits - 1) + 1;
  if (hyphen > fits / 2) return hyphen;
  // At least one character, however wide; an emoji family, or a letter with its marks, counts as one.
  const { segment, index } = characters.segment(word.slice(0, fits + 100)).containing(fits) ?? {
    segment: '',
    index: fits,
  };
  if (index > 0) return index;
  if (segment.length <= 100) return segment.length;
  return isHighSurrogate(word.charCodeAt(fits - 1)) ? fits + 1 : fits;
}

const characters = new Intl.Segmenter();

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function one(lines: readonly string[]): string {
  return lines.length > 1 ? `${lines[0] ?? ''}…` : (lines[0] ?? '');
}
