/** Sorts row texts in a form without differences of white space and escapes. */
export function sorted(texts: readonly string[]): string[] {
  return texts.map((text) => JSON.stringify(JSON.parse(text))).sort();
}
