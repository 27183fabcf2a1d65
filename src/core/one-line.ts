/**
 * Whether a text is one line that reads as it is written: without control characters, line separators, and characters
 * that turn the direction of what follows (Unicode UAX #9), which make a name look like another one.
 */
export function isOneLine(text: string): boolean {
  return !/[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/u.test(text);
}

/** What {@link isOneLine} requires, after the name of a field. */
export const ONE_LINE = 'must be one line of text without control characters or direction marks';
