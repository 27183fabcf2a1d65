/** Texts of rows as they are compared: whatever white space and escapes they were written with. */
export function sorted(texts: readonly string[]): string[] {
  return texts.map((text) => JSON.stringify(JSON.parse(text))).sort();
}
