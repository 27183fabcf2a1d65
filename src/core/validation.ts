import { z } from 'zod';

/** Messages about lengths and sizes that can follow the name of a field; zod's own messages mention strings and operators. */
z.config({
  customError(issue) {
    if (issue.code === 'invalid_type' && issue.input === undefined) return 'missing';
    if (issue.code !== 'too_big' && issue.code !== 'too_small') return undefined;
    const isTooBig = issue.code === 'too_big';
    const limit = Number(isTooBig ? issue.maximum : issue.minimum);
    if (!(issue.inclusive ?? true)) return undefined;
    const most = isTooBig ? 'at most' : 'at least';
    switch (issue.origin) {
      case 'string':
        if (limit === 1 && !isTooBig) return 'missing';
        return `too ${isTooBig ? 'long' : 'short'}: ${most} ${limit} ${limit === 1 ? 'character' : 'characters'}`;
      case 'array':
      case 'set':
        return `too ${isTooBig ? 'many' : 'few'}: ${most} ${limit}`;
      case 'number':
      case 'int':
        return `too ${isTooBig ? 'large' : 'small'}: ${most} ${limit}`;
      default:
        return undefined;
    }
  },
});

/**
 * Whether a text is one line that reads as it is written: without control characters, line separators and direction
 * overrides (Unicode UAX #9), which can make one name look like another.
 */
export function isOneLine(text: string): boolean {
  return !NOT_ONE_LINE.test(text);
}

const NOT_ONE_LINE = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/u;

/**
 * A text from outside as one line ({@link isOneLine}): each character that may not be in one becomes its code point in
 * brackets, such as `[U+001B]`, so that terminals and spreadsheets get nothing to act on and a reader sees what it was.
 * If that is longer than `most`, each becomes `\ufffd` instead, so that a text that was accepted always fits.
 */
export function asOneLine(text: string, most = Number.POSITIVE_INFINITY): string {
  const others = new RegExp(NOT_ONE_LINE, 'gu');
  const named = text.replace(others, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `[U+${code}]`;
  });
  return named.length <= most ? named : text.replace(others, '\ufffd');
}

/**
 * One line of text of 1 to `most` characters: what would not be part of one is kept as the names of its characters
 * ({@link asOneLine}). `missing`, `long`: sentences for people, instead of words that follow the name of a field.
 */
export const lineOf = (most: number, say: { readonly missing?: string; readonly long?: string } = {}) =>
  z
    .string()
    .trim()
    .overwrite((written) => asOneLine(written, most))
    .min(1, say.missing)
    .max(most, say.long);

/** What {@link isOneLine} requires, to follow the name of a field. */
export const ONE_LINE = 'must be one line of text without control characters or direction marks';
