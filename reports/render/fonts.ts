import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';
import { codePointName } from './text.ts';

/** The faces of a document, each an embedded font. */
export type Face = 'regular' | 'bold' | 'mono';

/** Fallback fonts for characters that a face lacks, in this order. */
const standIns = [
  'regular',
  'chinese-japanese',
  'korean',
  'devanagari',
  'bengali',
  'tamil',
  'telugu',
  'thai',
  'emoji',
] as const;
type FontName = Face | (typeof standIns)[number];

const require = createRequire(import.meta.url);
const faces: Readonly<Record<Face, string>> = {
  regular: 'DejaVuSansCondensed.ttf',
  bold: 'DejaVuSansCondensed-Bold.ttf',
  mono: 'DejaVuSansMono.ttf',
};

/**
 * Sources of the fonts for large scripts. Their packages split every weight into a hundred parts; the build copies the
 * one file used from each (scripts/bundle.ts), so that the packages are not needed at run time.
 */
export const bundledFonts: Readonly<Record<Exclude<FontName, Face>, string>> = {
  'chinese-japanese': '@fontsource/noto-sans-sc/files/noto-sans-sc-chinese-simplified-400-normal.woff',
  korean: '@fontsource/noto-sans-kr/files/noto-sans-kr-korean-400-normal.woff',
  devanagari: '@fontsource/noto-sans-devanagari/files/noto-sans-devanagari-devanagari-400-normal.woff',
  bengali: '@fontsource/noto-sans-bengali/files/noto-sans-bengali-bengali-400-normal.woff',
  tamil: '@fontsource/noto-sans-tamil/files/noto-sans-tamil-tamil-400-normal.woff',
  telugu: '@fontsource/noto-sans-telugu/files/noto-sans-telugu-telugu-400-normal.woff',
  thai: '@fontsource/noto-sans-thai/files/noto-sans-thai-thai-400-normal.woff',
  emoji: '@fontsource/noto-emoji/files/noto-emoji-emoji-400-normal.woff',
};

/** The file of a font; null if neither the build nor an installed package has it. */
function fileOf(name: FontName): string | null {
  if (name === 'regular' || name === 'bold' || name === 'mono')
    return require.resolve(`dejavu-fonts-ttf/ttf/${faces[name]}`);
  const bundled = fileURLToPath(new URL(`./fonts/${name}.woff`, import.meta.url));
  if (existsSync(bundled)) return bundled;
  try {
    return require.resolve(bundledFonts[name]);
  } catch {
    return null;
  }
}

/** A font parsed by fontkit. pdfkit accepts it like a file, but its types do not say so. */
type ParsedFont = PDFKit.Mixins.PDFFontSource & object;

const parsed = new Map<FontName, ParsedFont | null>();

/**
 * A font for one document; null if its file is missing. Each file is parsed once per process, since parsing is half of
 * the work on a document. Each document gets its own glyphs, because fontkit stores in a glyph the characters that it
 * was first used for, and pdfkit writes them into the document for copied text.
 */
function openFont(name: FontName): ParsedFont | null {
  let font = parsed.get(name);
  if (font === undefined) {
    const file = fileOf(name);
    const content = file === null ? null : readFileSync(file);
    const { create } = require('fontkit') as { create(content: Buffer): ParsedFont };
    font = content && create(content.subarray(0, 4).toString() === 'wOFF' ? unpackWoff(content) : content);
    parsed.set(name, font);
  }
  return font && (Object.create(font, { _glyphs: { value: {} } }) as ParsedFont);
}

/** A part of a line with one font and one direction. */
interface Run {
  readonly text: string;
  readonly font: FontName;
  /** Options for pdfkit. */
  readonly options?: { readonly features: PDFKit.Mixins.OpenTypeFeatures[] };
}

/** Chooses fonts for text, and the left-to-right order of its parts. */
export interface Typesetter {
  /** Text as the fonts can print it: a character that none of them has becomes U+FFFD with its code point in brackets. */
  printable(text: string, face: Face): string;
  /** The runs of one line of printable text, from left to right (Unicode Standard Annex #9). */
  runs(line: string, face: Face): readonly Run[];
  /** Declares the lines into which a text was broken: each has the direction in which the text begins, not its own. */
  broken(text: string, lines: readonly string[]): void;
}

interface Glyphs {
  hasGlyphForCodePoint(codePoint: number): boolean;
}

interface Embedding {
  readonly levels: Uint8Array;
  readonly paragraphs: readonly { readonly level: number }[];
}

/** The part of bidi-js that is used. */
interface Bidi {
  getEmbeddingLevels(text: string, base?: 'auto' | 'ltr' | 'rtl'): Embedding;
  getReorderedIndices(text: string, embedding: Embedding): number[];
  getMirroredCharacter(character: string): string | null;
}

/** Printable ASCII, which every face has. */
const PLAIN = /^[\x20-\x7e]*$/;
// Hebrew, Arabic and their neighbours, and the scripts of the right-to-left planes.
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[\ud802\ud803\ud83a\ud83b][\udc00-\udfff]/;
/** Combines with the preceding letter, or joins it to the next. */
const MARK = /[\p{M}\u200c\u200d]/u;
const FIRST_MARK = 0x300;
/** A mark without a letter to combine with; it would be printed outside its column. */
const LONE_MARK = /(^|\s)(?=\p{M})/gu;
/**
 * Turns off mark positioning, which fails for some combinations whose positions a font lacks (Telugu "ప్ర"); letters
 * are still joined. fontkit accepts an object here, and pdfkit passes it on unchanged.
 */
const UNPLACED = {
  features: { mark: false, mkmk: false, abvm: false, blwm: false } as unknown as PDFKit.Mixins.OpenTypeFeatures[],
};
/** Select a form of the preceding character; they print nothing. */
const VARIATION_SELECTORS = /[\ufe0e\ufe0f]/g;

let bidi: Bidi | null = null;
/** Loaded with the first text that needs it. */
function loadBidi(): Bidi {
  bidi ??= (require('bidi-js') as () => Bidi)();
  return bidi;
}

/** Registers the faces, and other fonts when a text first needs them. */
export function createTypesetter(doc: PDFKit.PDFDocument): Typesetter {
  const glyphs = new Map<FontName, Glyphs>();
  const bases = new Map<string, 'ltr' | 'rtl'>();
  const chosen: Record<Face, Map<number, FontName | null>> = { regular: new Map(), bold: new Map(), mono: new Map() };
  for (const face of Object.keys(faces) as Face[]) doc.registerFont(face, openFont(face) ?? face);

  function glyphsOf(name: FontName): Glyphs | null {
    const known = glyphs.get(name);
    if (known !== undefined) return known;
    if (!(name in faces)) {
      const font = openFont(name);
      if (font === null) return null;
      doc.registerFont(name, font);
    }
    doc.font(name);
    // pdfkit keeps the parsed font here, but its types do not declare it.
    const found = (doc as unknown as { _font: { font: Glyphs } })._font.font;
    glyphs.set(name, found);
    return found;
  }

  /** Null: no font has it. */
  function fontOf(codePoint: number, face: Face): FontName | null {
    const known = chosen[face].get(codePoint);
    if (known !== undefined) return known;
    const font = [face, ...standIns].find((name) => glyphsOf(name)?.hasGlyphForCodePoint(codePoint)) ?? null;
    chosen[face].set(codePoint, font);
    return font;
  }

  /** The font of each UTF-16 unit. */
  function fontsOf(line: string, face: Face): FontName[] {
    const fonts: FontName[] = [];
    let before: FontName = face;
    for (const character of line) {
      const codePoint = character.codePointAt(0) ?? 0;
      // A mark uses the font of its letter.
      const stays =
        codePoint >= FIRST_MARK && MARK.test(character) && glyphsOf(before)?.hasGlyphForCodePoint(codePoint) === true;
      if (!stays) before = fontOf(codePoint, face) ?? face;
      fonts.push(before);
      if (character.length > 1) fonts.push(before);
    }
    return fonts;
  }

  function canSet({ text, font, options }: Run): boolean {
    doc.font(font);
    try {
      // The result is kept and used again when the run is written.
      (
        doc as unknown as { _font: { layout(text: string, features: unknown, onlyWidth: boolean): unknown } }
      )._font.layout(text, options?.features, true);
      return true;
    } catch {
      return false;
    }
  }

  /** With mark positioning if the font manages it; otherwise, if its layout fails, character by character. */
  function settable(run: Run): readonly Run[] {
    if (PLAIN.test(run.text) || canSet(run)) return [run];
    const unplaced = { ...run, options: UNPLACED };
    if (canSet(unplaced)) return [unplaced];
    const characters = [...run.text].map((text) => ({ text, font: run.font }));
    return RIGHT_TO_LEFT.test(run.text) ? characters.reverse() : characters;
  }

  return {
    printable(text, face) {
      if (PLAIN.test(text)) return text;
      const shown = text.replace(VARIATION_SELECTORS, '').replace(LONE_MARK, '$1\u25cc');
      return shown.replace(/[^\x20-\x7e\n]/gu, (character) => {
        if (fontOf(character.codePointAt(0) ?? 0, face) !== null) return character;
        return `\ufffd[${codePointName(character)}]`;
      });
    },
    runs(line, face) {
      if (PLAIN.test(line)) return [{ text: line, font: face }];
      const fonts = fontsOf(line, face);
      const runs = RIGHT_TO_LEFT.test(line)
        ? inVisualOrder(line, fonts, bases.get(line) ?? 'auto')
        : joined(line, fonts);
      return runs.flatMap(settable);
    },
    broken(text, lines) {
      if (lines.length < 2 || !RIGHT_TO_LEFT.test(text)) return;
      const base = (loadBidi().getEmbeddingLevels(text, 'auto').paragraphs[0]?.level ?? 0) % 2 === 1 ? 'rtl' : 'ltr';
      for (const line of lines) bases.set(line, base);
    },
  };
}

function joined(line: string, fonts: readonly FontName[]): Run[] {
  const runs: { text: string; font: FontName }[] = [];
  for (let i = 0; i < line.length; i += 1) {
    const font = fonts[i] ?? 'regular';
    const last = runs.at(-1);
    if (last?.font === font) last.text += line.charAt(i);
    else runs.push({ text: line.charAt(i), font });
  }
  return runs;
}

/**
 * Runs of one level and font in visual order. The text of each run stays in logical order: the font's layout joins the
 * letters of a right-to-left word and reverses it.
 */
function inVisualOrder(line: string, fonts: readonly FontName[], base: 'auto' | 'ltr' | 'rtl'): Run[] {
  const { getEmbeddingLevels, getReorderedIndices, getMirroredCharacter } = loadBidi();
  const embedding = getEmbeddingLevels(line, base);
  const runs: Run[] = [];
  let units: number[] = [];
  const flush = () => {
    const [first] = units;
    if (first === undefined) return;
    const rightToLeft = (embedding.levels[first] ?? 0) % 2 === 1;
    const read = rightToLeft ? [...units].reverse() : units;
    const characters = read.map((i) => line.charAt(i));
    if (!rightToLeft && RIGHT_TO_LEFT.test(characters.join(''))) {
      // Digits of a right-to-left script, which run from left to right: the font would reverse them.
      for (const character of characters.join('')) runs.push({ text: character, font: fonts[first] ?? 'regular' });
      units = [];
      return;
    }
    const text = rightToLeft ? characters.map((character) => getMirroredCharacter(character) ?? character) : characters;
    // Without a right-to-left letter the font would set it from left to right.
    const turned = rightToLeft && !RIGHT_TO_LEFT.test(text.join('')) ? [...text.join('')].reverse() : text;
    runs.push({ text: turned.join(''), font: fonts[first] ?? 'regular' });
    units = [];
  };
  for (const i of getReorderedIndices(line, embedding)) {
    const before = units.at(-1);
    if (before !== undefined) {
      const level = embedding.levels[i] ?? 0;
      // pdfkit places the words of a text one after the other, so each right-to-left word needs its own run.
      const atSpace = level % 2 === 1 && (line.charAt(i) === ' ' || line.charAt(before) === ' ');
      if (level !== embedding.levels[before] || fonts[i] !== fonts[before] || Math.abs(i - before) !== 1 || atSpace)
        flush();
    }
    units.push(i);
  }
  flush();
  return runs;
}

const HEADER_BYTES = 44;
const ENTRY_BYTES = 20;
const SFNT_HEADER_BYTES = 12;
const SFNT_ENTRY_BYTES = 16;

/**
 * The font that a WOFF file contains (WOFF File Format 1.0 §3 to §5), as a TrueType or OpenType file. fontkit reads WOFF too, but decompresses a
 * whole table for every glyph.
 */
function unpackWoff(woff: Buffer): Buffer {
  const count = woff.readUInt16BE(12);
  const head = Buffer.alloc(SFNT_HEADER_BYTES + count * SFNT_ENTRY_BYTES);
  woff.copy(head, 0, 4, 8);
  head.writeUInt16BE(count, 4);
  // For a binary search of the directory.
  const power = Math.floor(Math.log2(count));
  head.writeUInt16BE(SFNT_ENTRY_BYTES << power, 6);
  head.writeUInt16BE(power, 8);
  head.writeUInt16BE((count - (1 << power)) * SFNT_ENTRY_BYTES, 10);
  const parts: Buffer[] = [head];
  let end = head.length;
  for (let i = 0; i < count; i += 1) {
    const entry = woff.subarray(HEADER_BYTES + i * ENTRY_BYTES);
    const [offset, packedLength, length] = [entry.readUInt32BE(4), entry.readUInt32BE(8), entry.readUInt32BE(12)];
    const packed = woff.subarray(offset, offset + packedLength);
    const table = packedLength < length ? inflateSync(packed) : packed;
    const at = SFNT_HEADER_BYTES + i * SFNT_ENTRY_BYTES;
    entry.copy(head, at, 0, 4);
    entry.copy(head, at + 4, 16, 20);
    head.writeUInt32BE(end, at + 8);
    head.writeUInt32BE(length, at + 12);
    // Tables begin at multiples of four.
    const padding = Buffer.alloc(-length & 3);
    parts.push(table, padding);
    end += table.length + padding.length;
  }
  return Buffer.concat(parts);
}
