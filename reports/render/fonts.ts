import { createRequire } from 'node:module';
import { codePointName } from './text.ts';

/** Faces of a document, each an embedded font. */
export type Face = 'regular' | 'bold' | 'mono';

const locate = createRequire(import.meta.url).resolve;
const files: Readonly<Record<Face, string>> = {
  regular: 'DejaVuSansCondensed.ttf',
  bold: 'DejaVuSansCondensed-Bold.ttf',
  mono: 'DejaVuSansMono.ttf',
};

/** Text that the fonts cannot print as it should be. The document is refused: a box in a legal document says something else. */
export class UnprintableText extends Error {
  override readonly name = 'UnprintableText';
}

/** Embeds the fonts under the names of their faces. */
export function registerFonts(doc: PDFKit.PDFDocument): void {
  for (const [face, file] of Object.entries(files)) doc.registerFont(face, locate(`dejavu-fonts-ttf/ttf/${file}`));
}

interface Glyphs {
  hasGlyphForCodePoint(codePoint: number): boolean;
}

const known = new WeakMap<Glyphs, Set<number>>();
// Hebrew, Arabic and their neighbours, and the scripts of the right-to-left planes: the renderer sets lines from left to right only.
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[\ud802\ud803\ud83a\ud83b][\udc00-\udfff]/;

/**
 * Throws {@link UnprintableText} unless the current font has a glyph for every character, and the text runs from left to right.
 * Line feeds are not printed and may occur.
 */
export function assertPrintable(doc: PDFKit.PDFDocument, text: string): void {
  // pdfkit keeps the parsed font here; its types leave it out.
  const glyphs = (doc as unknown as { _font: { font: Glyphs } })._font.font;
  let seen = known.get(glyphs);
  if (seen === undefined) known.set(glyphs, (seen = new Set([0x0a])));
  for (const character of text) {
    const codePoint = character.codePointAt(0) ?? 0;
    if (seen.has(codePoint)) continue;
    if (RIGHT_TO_LEFT.test(character)) {
      throw new UnprintableText(
        `${codePointName(character)} in “${excerpt(text)}” is written from right to left, which the PDF renderer does not set. ${REMEDY}`,
      );
    }
    if (!glyphs.hasGlyphForCodePoint(codePoint)) {
      throw new UnprintableText(
        `the embedded font has no glyph for ${codePointName(character)} in “${excerpt(text)}”. ${REMEDY}`,
      );
    }
    seen.add(codePoint);
  }
}

const REMEDY = 'Choose HTML, CSV or JSON for this document.';

function excerpt(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
