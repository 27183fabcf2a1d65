import { endOfString } from '../core/json.ts';
import type { Turns } from '../jobs/event-loop.ts';

/** What can be recovered of a page of rows. Positions refer to the text, one character per byte. */
interface SalvagedPage {
  /** Elements that are valid JSON. */
  readonly rows: readonly TextRange[];
  /** The other bytes between them, whose meaning is unknown. In order; none is empty. */
  readonly broken: readonly TextRange[];
  /**
   * The response with an empty array in place of its rows; null if the end of the rows was not found, or if the rest is
   * broken too.
   */
  readonly frame: string | null;
  /** Nothing is broken: the text is valid JSON and its elements are the rows. */
  readonly isWhole: boolean;
}

/** Limits on what is examined. */
interface SalvageLimits {
  /** Maximum number of rows and pieces; everything after is one broken piece. */
  readonly most: number;
  /** Maximum bytes of a row: a longer one counts as broken, so that reading it later does not take long. */
  readonly rowBytes: number;
  /** Maximum bytes around the rows: a larger frame is not read. */
  readonly frameBytes: number;
}
const usualSalvageLimits: SalvageLimits = { most: 5_000, rowBytes: 256 * 1024, frameBytes: 1024 * 1024 };

/**
 * Finds the rows of a page as far as their boundaries can be determined, so that a broken row does not cost the others.
 * An element ends where its brackets close; what cannot be parsed is broken. If brackets or quotes themselves are
 * broken, rows continue at the first place from which everything up to the end of the response splits into elements;
 * this avoids mistaking a fragment for a row. Null if the text is not a page: neither an object with an array `data`
 * nor an array. Takes time proportional to any text and little memory, since rows are parsed one by one; yields to
 * other work.
 * @param latin1 the response decoded as latin1
 */
export async function salvagePage(
  latin1: string,
  turns: Turns,
  limits: SalvageLimits = usualSalvageLimits,
): Promise<SalvagedPage | null> {
  const array = findRows(latin1);
  if (array === null) return null;
  const page: Page = { text: latin1, array, limits, turns, budget: { signs: EFFORT * latin1.length + 100_000 } };
  const rows: TextRange[] = [];
  const broken: TextRange[] = [];
  let areCommasRight = true;
  const ended = (end: number | null): SalvagedPage => {
    const text = end === null ? null : withoutRows(page, end);
    const frame = text !== null && isJson(text) ? text : null;
    return { rows, broken, frame, isWhole: frame !== null && broken.length === 0 && areCommasRight };
  };
  const { length } = latin1;
  const resumeAfter = createResume(page);
  let at = skipSpace(latin1, array + 1);
  let isAfterComma = false;
  while (at < length) {
    if (turns.areDue()) await turns.take();
    if (latin1[at] === ']') {
      areCommasRight &&= !isAfterComma;
      return ended(at + 1);
    }
    if (rows.length + broken.length >= limits.most) {
      broken.push({ start: at, end: length });
      return ended(null);
    }
    areCommasRight &&= latin1[at] !== ',';
    const end = endOfValue(latin1, at);
    if (end - at > limits.rowBytes) await turns.take();
    let next = end;
    if (end - at <= limits.rowBytes && isJson(latin1.slice(at, end)) && isBorder(latin1, end))
      rows.push({ start: at, end });
    else {
      const resumed = await resumeAfter({ start: at, end });
      if (resumed === null) {
        broken.push({ start: at, end: length });
        return ended(null);
      }
      // If there is nothing between two commas, nothing is lost.
      if (resumed.brokenTo > at) broken.push({ start: at, end: resumed.brokenTo });
      next = resumed.next;
    }
    const border = skipSpace(latin1, next);
    isAfterComma = latin1[border] === ',';
    at = skipSpace(latin1, isAfterComma ? border + 1 : border);
  }
  return ended(null);
}

/** A page being split into rows. */
interface Page {
  readonly text: string;
  /** Where its array of rows begins. */
  readonly array: number;
  readonly limits: SalvageLimits;
  readonly turns: Turns;
  readonly budget: Budget;
}

/** Finds where rows continue after a broken element; null: nowhere. */
function createResume(page: Page) {
  let searches = MAX_SEARCHES;
  // Whether everything after the current element is sound; the same for all consecutive elements.
  let isSound: boolean | null = null;
  return async ({ start, end }: TextRange): Promise<{ readonly brokenTo: number; readonly next: number } | null> => {
    isSound ??= await isSoundFrom(page, end);
    if (isSound) return { brokenTo: end, next: end };
    if (searches === 0) return null;
    searches -= 1;
    isSound = true;
    const next = await findSoundElement(page, start);
    return next === null ? null : { brokenTo: borderBefore(page.text, next), next };
  };
}

/** The text around rows that end at `end`; null if it is too long. */
function withoutRows({ text, array, limits }: Page, end: number): string | null {
  if (array + text.length - end > limits.frameBytes) return null;
  return `${text.slice(0, array)}[]${text.slice(end)}`;
}

/** How many more characters may be examined after the first reading. */
interface Budget {
  signs: number;
}
/** How often each character may be examined on average in search of sound boundaries. */
const EFFORT = 16;

/** How often a broken boundary is searched, and in how many places: a response has up to 16 MiB and may be anything. */
const MAX_SEARCHES = 8;
const MAX_PLACES = 64;

/** Where the array of rows begins; null if there is none. */
export function findRows(text: string): number | null {
  let at = skipSpace(text, 0);
  if (text[at] === '[') return at;
  if (text[at] !== '{') return null;
  at = skipSpace(text, at + 1);
  while (at < text.length && text[at] === '"') {
    const keyEnd = endOfValue(text, at);
    const isData = keyEnd - at < 50 && readKey(text.slice(at, keyEnd)) === 'data';
    at = skipSpace(text, skipSpace(text, keyEnd), COLON);
    at = skipSpace(text, at);
    if (isData) return text[at] === '[' ? at : null;
    at = skipSpace(text, skipSpace(text, endOfValue(text, at)), COMMA);
    at = skipSpace(text, at);
  }
  return null;
}

/** A key may contain escapes. */
function readKey(quoted: string): unknown {
  return isJson(quoted) ? JSON.parse(quoted) : null;
}

/** Whether `at` is followed by more elements with closed brackets and then by the rest of a valid answer. */
async function isSoundFrom(page: Page, at: number): Promise<boolean> {
  const { text, budget, turns } = page;
  let place = skipSpace(text, at);
  while (text[place] === ',') {
    if (turns.areDue()) await turns.take();
    place = skipSpace(text, place + 1);
    if (place >= text.length || text[place] === ']') return false;
    const end = endOfValue(text, place);
    budget.signs -= end - place;
    if (budget.signs < 0) return false;
    place = skipSpace(text, end);
  }
  if (text[place] !== ']') return false;
  const frame = withoutRows(page, place + 1);
  budget.signs -= frame?.length ?? 0;
  return budget.signs >= 0 && frame !== null && isJson(frame);
}

/** The next valid object after `from` that follows a comma and after which everything is sound. */
async function findSoundElement(page: Page, from: number): Promise<number | null> {
  const { text, budget, limits, turns } = page;
  let places = 0;
  for (let at = text.indexOf('{', from + 1); at !== -1 && places < MAX_PLACES; at = text.indexOf('{', at + 1)) {
    if (turns.areDue()) await turns.take();
    const before = lastSign(text, at);
    budget.signs -= at - before;
    if (budget.signs < 0) return null;
    if (text[before] !== ',') continue;
    places += 1;
    const end = endOfValue(text, at);
    budget.signs -= 2 * (end - at);
    if (budget.signs < 0) return null;
    if (end - at <= limits.rowBytes && isJson(text.slice(at, end)) && (await isSoundFrom(page, end))) return at;
  }
  return null;
}

function borderBefore(text: string, at: number): number {
  return lastSign(text, lastSign(text, at)) + 1;
}

/** The position of the last character before `at` that is not white space. */
function lastSign(text: string, at: number): number {
  let before = at - 1;
  while (before > 0 && isSpace(text.charCodeAt(before))) before -= 1;
  return before;
}

function isBorder(text: string, at: number): boolean {
  const sign = text[skipSpace(text, at)];
  return sign === ',' || sign === ']';
}

function isJson(latin1: string): boolean {
  try {
    JSON.parse(latin1);
    return true;
  } catch {
    return false;
  }
}

/**
 * A range of the text. Ranges of the members of a JSON response are needed to keep a row's own bytes: JSON.parse gives
 * no positions on Node 20 and corrupts large integers.
 *
 * The text is the response decoded as latin1, so one character is one byte, whatever the bytes are. The structural
 * characters of JSON are ASCII, and no byte of a multi-byte UTF-8 character is.
 *
 * This scanner exists because it takes a tenth of the time of jsonc-parser's parseTree on a page of 200 rows; a
 * property-based test compares the two. It only finds ends: the text must be valid JSON (JSON.parse it first). On
 * anything else its results mean nothing, though it always terminates.
 */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/**
 * Spans of the members of the object that begins at or after `from`: key → span of its value; the last of equal keys
 * wins, as in JSON.parse. Null if there is no object.
 */
export function findMembers(latin1: string, from = 0): Map<string, TextRange> | null {
  let at = skipSpace(latin1, from);
  if (latin1.charCodeAt(at) !== OPEN_OBJECT) return null;
  const members = new Map<string, TextRange>();
  at = skipSpace(latin1, at + 1);
  while (at < latin1.length && latin1.charCodeAt(at) !== CLOSE_OBJECT) {
    const keyEnd = endOfValue(latin1, at);
    const key = JSON.parse(Buffer.from(latin1.slice(at, keyEnd), 'latin1').toString('utf8')) as string;
    at = skipSpace(latin1, skipSpace(latin1, keyEnd, COLON));
    const end = endOfValue(latin1, at);
    members.set(key, { start: at, end });
    at = skipSpace(latin1, skipSpace(latin1, end, COMMA));
  }
  return members;
}

/**
 * Returns the span of each element of the array at or after `from`, and where the array ends. Null if there is no array,
 * or an element has more than `deepest` levels.
 */
export function findElements(
  latin1: string,
  from = 0,
  deepest = Number.POSITIVE_INFINITY,
): { readonly elements: readonly TextRange[]; readonly end: number } | null {
  let at = skipSpace(latin1, from);
  if (latin1.charCodeAt(at) !== OPEN_ARRAY) return null;
  const elements: TextRange[] = [];
  at = skipSpace(latin1, at + 1);
  while (at < latin1.length && latin1.charCodeAt(at) !== CLOSE_ARRAY) {
    const end = endOfValue(latin1, at, deepest);
    if (end < 0) return null;
    elements.push({ start: at, end });
    at = skipSpace(latin1, skipSpace(latin1, end, COMMA));
  }
  return { elements, end: Math.min(at + 1, latin1.length) };
}

/**
 * Where the value that begins at `start` ends; always beyond `start`. In broken JSON: where its brackets or quotes
 * close, otherwise the end. −1 if it has more than `deepest` levels.
 */
function endOfValue(text: string, start: number, deepest = Number.POSITIVE_INFINITY): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return endOfString(text, start);
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return endOfScalar(text, start);
  const { length } = text;
  let depth = 0;
  let at = start;
  while (at < length) {
    const sign = text.charCodeAt(at);
    if (sign === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    at += 1;
    if (sign === OPEN_OBJECT || sign === OPEN_ARRAY) {
      depth += 1;
      if (depth > deepest) return -1;
    } else if (sign === CLOSE_OBJECT || sign === CLOSE_ARRAY) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return length;
}

function endOfScalar(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const sign = text.charCodeAt(at);
    if (sign === COMMA || sign === CLOSE_OBJECT || sign === CLOSE_ARRAY || isSpace(sign)) break;
    at += 1;
  }
  return at;
}

/** The next position that is not white space, after at most one `separator`. */
function skipSpace(text: string, from: number, separator?: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return separator !== undefined && text.charCodeAt(at) === separator ? at + 1 : at;
}

/** Whether the character is JSON white space. */
function isSpace(sign: number): boolean {
  return sign === 0x20 || sign === 0x0a || sign === 0x0d || sign === 0x09;
}

/**
 * Matches numbers of 16 characters or more, or with an exponent, which a double may not hold. Also matches some
 * strings, which only costs time.
 */
const longNumber = /(?:^|[[:,])[ \t\r\n]*-?\d(?:[\d.]{15,}|[\d.]*[eE])/;

/** Whether the text may contain a number that JSON.parse would change. */
export function mayHoldLongNumbers(text: string): boolean {
  return longNumber.test(text);
}

/**
 * A number, or its text if a double may not hold it exactly (more than 15 significant digits, or an exponent):
 * 12345678901234567890 becomes '12345678901234567890'.
 */
export function readExactly(token: string): number | string {
  return isExact(token) ? Number(token) : token;
}

function isExact(token: string): boolean {
  return !/[eE]/.test(token) && token.replace(/[-.]/g, '').length <= 15;
}
