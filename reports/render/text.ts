/**
 * Makes text safe to show. Control characters and characters that change the text direction become their code point in
 * brackets; lone surrogates become the replacement character; excessive combining marks, which would cover the lines
 * around, are replaced by their number. Tabs become spaces; line feeds stay.
 */
export function visibleText(text: string): string {
  return text
    .normalize('NFC')
    .replace(/\r\n?/g, '\n')
    .replace(/\t/g, '  ')
    .replace(JOINERS, '')
    .replace(INVISIBLE, (c) => `[${codePointName(c)}]`)
    .replace(FLOODED, (_, letter: string, more: string) => `${letter}[${[...more].length} more marks]`)
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
}

// Except the non-joiner between Arabic letters, required by the spelling of Persian and other languages, and either
// joiner after an Indian letter.
const INVISIBLE =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|(?<![\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Telugu}])\u200c|(?<=\p{Script=Arabic})\u200c(?!\p{Script=Arabic})|(?<![\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Telugu}])\u200d/gu;
/** Between emoji they form one picture, which no font here has. */
const JOINERS = /(?<=[\p{Extended_Pictographic}\ufe0f\u{1f3fb}-\u{1f3ff}])\u200d(?=\p{Extended_Pictographic})/gu;
/** Scripts put up to four marks on a letter; more would reach into the line above. */
const FLOODED = /(\p{M}{4})(\p{M}+)/gu;

/** `U+00E9` for `é`. */
export function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Approximate width of a text in points, precise enough to place the labels of a chart in different engines. */
export function roughWidth(text: string, size: number): number {
  let units = 0;
  for (const c of text) units += /[A-ZMW@%]/.test(c) ? 0.66 : /[iljtfr.,:;|' ]/.test(c) ? 0.34 : 0.56;
  return units * size;
}
