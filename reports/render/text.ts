/**
 * Makes text safe to show: control characters and characters that change the direction of what follows become their code point in
 * brackets, lone surrogates the replacement character. Tabs become spaces; line feeds stay.
 */
export function visibleText(text: string): string {
  return text
    .normalize('NFC')
    .replace(/\r\n?/g, '\n')
    .replace(/\t/g, '  ')
    .replace(INVISIBLE, (c) => `[${codePointName(c)}]`)
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
}

const INVISIBLE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** `U+00E9` for `é`. */
export function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Width of a text in points, near enough to place labels of a chart that is drawn by different engines. */
export function roughWidth(text: string, size: number): number {
  let units = 0;
  for (const c of text) units += /[A-ZMW@%]/.test(c) ? 0.66 : /[iljtfr.,:;|' ]/.test(c) ? 0.34 : 0.56;
  return units * size;
}
