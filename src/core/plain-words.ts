/** Letters that have no decomposition into a letter and a mark. */
const letters: Readonly<Record<string, string>> = {
  ß: 'ss',
  ł: 'l',
  ø: 'o',
  æ: 'ae',
  œ: 'oe',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};
const MARKS = /\p{M}+/gu;
const OTHERS = /[ßłøæœđðþı]/g;
const beyondAscii = /[^\0-\x7f]/;

/** A text in lower case without accents, with words written together in camel case separated by a space: `Nécessaires` → `necessaires`. */
export function foldedText(text: string): string {
  const apart = text.replace(/[\p{Ll}\p{N}](?=\p{Lu})|\p{Lu}(?=\p{Lu}\p{Ll})/gu, '$& ').toLowerCase();
  if (!beyondAscii.test(apart)) return apart;
  return apart
    .normalize('NFD')
    .replace(MARKS, '')
    .replace(OTHERS, (letter) => letters[letter] ?? letter);
}

const MAX_REMEMBERED = 5000;
/** Longer texts are not words that come again. */
const LONGEST_WORD = 40;
const plainForms = new Map<string, string>();

/** {@link foldedText} without anything but letters and digits: the form in which words and names are compared. */
export function plainForm(text: string): string {
  let plain = plainForms.get(text);
  if (plain === undefined) {
    plain = foldedText(text).replace(/[^\p{L}\p{N}]+/gu, '');
    if (text.length > LONGEST_WORD) return plain;
    if (plainForms.size >= MAX_REMEMBERED) plainForms.clear();
    plainForms.set(text, plain);
  }
  return plain;
}

const LONGEST_NAME = 200;
const remembered = new Map<string, readonly string[]>();

/** The words of a name: `ccpaOptOut`, `ccpa_opt-out` → `ccpa`, `opt`, `out`. Of a longer name than 200 characters, none. */
export function wordsOfName(name: string): readonly string[] {
  if (name.length > LONGEST_NAME) return [];
  let words = remembered.get(name);
  if (words === undefined) {
    words = foldedText(name)
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word !== '');
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(name, words);
  }
  return words;
}
