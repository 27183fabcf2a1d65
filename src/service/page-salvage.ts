import { endOfValue, skipSpace, type Span } from './json-rows.ts';

const COMMA = 0x2c;
const COLON = 0x3a;

/** What can be told of a page of rows that is not valid JSON. Places are those of the text, one character a byte. */
export interface SalvagedPage {
  /** Elements that are valid JSON. */
  readonly rows: readonly Span[];
  /** Bytes between them that are not: what they were meant to be cannot be told. In order, and none is empty. */
  readonly broken: readonly Span[];
  /** The answer with an empty array in place of its rows; null when the end of the rows was not found, or what stands around them is broken too. */
  readonly frame: string | null;
}

/**
 * Finds the rows of a page that JSON.parse refuses, as far as their borders can be told, so that one broken row costs none of the others. An
 * element ends where its brackets close; what does not parse is broken. Where brackets or quotes themselves are broken, the rows go on at the
 * first place from which everything up to the answer's end falls into elements; that keeps a fragment from being taken for a row.
 * Null when the text is no page at all: neither an object with an array `data` nor an array.
 * Takes time in proportion to the text, whatever it is.
 * @param latin1 the answer decoded as latin1
 * @param most rows and pieces that are told apart; what follows is one broken piece
 */
export function salvagePage(latin1: string, most = 50_000): SalvagedPage | null {
  const array = findRows(latin1);
  if (array === null) return null;
  const rows: Span[] = [];
  const broken: Span[] = [];
  // Between two commas may stand nothing at all: then nothing is lost.
  const setAside = (start: number, end: number) => {
    if (end > start) broken.push({ start, end });
  };
  const ended = (end: number | null): SalvagedPage => {
    const frame = end === null ? null : `${latin1.slice(0, array)}[]${latin1.slice(end)}`;
    return { rows, broken, frame: frame !== null && isJson(frame) ? frame : null };
  };
  const { length } = latin1;
  const budget: Budget = { signs: EFFORT * length + 100_000 };
  let searches = MAX_SEARCHES;
  // Whether everything from the present element's end on is sound: the same for all elements that follow one another.
  let isSound: boolean | null = null;
  let at = skipSpace(latin1, array + 1);
  while (at < length) {
    if (latin1[at] === ']') return ended(at + 1);
    if (rows.length + broken.length >= most) {
      broken.push({ start: at, end: length });
      return ended(null);
    }
    const end = endOfValue(latin1, at);
    const isRow = isJson(latin1.slice(at, end)) && isBorder(latin1, end);
    if (isRow) rows.push({ start: at, end });
    let next = isRow ? end : null;
    if (next === null) {
      isSound ??= isSoundFrom(latin1, array, end, budget);
      if (isSound) {
        setAside(at, end);
        next = end;
      }
    }
    if (next === null && searches > 0) {
      searches -= 1;
      next = findSoundElement(latin1, array, at, budget);
      isSound = true;
      if (next !== null) setAside(at, borderBefore(latin1, next));
    }
    if (next === null) {
      broken.push({ start: at, end: length });
      return ended(null);
    }
    at = skipSpace(latin1, skipSpace(latin1, next, COMMA));
  }
  return ended(null);
}

/** Signs that may still be looked at beyond the first reading. */
interface Budget {
  signs: number;
}
/** How often each sign may be looked at in search of sound borders, on the average. */
const EFFORT = 16;

/** How often, and among how many places, a broken border is looked for: an answer is 16 MiB at most and may be anything. */
const MAX_SEARCHES = 8;
const MAX_PLACES = 64;

/** Where the array of rows begins. */
function findRows(text: string): number | null {
  let at = skipSpace(text, 0);
  if (text[at] === '[') return at;
  if (text[at] !== '{') return null;
  at = skipSpace(text, at + 1);
  while (at < text.length && text[at] === '"') {
    const keyEnd = endOfValue(text, at);
    const key = text.slice(at, keyEnd);
    at = skipSpace(text, skipSpace(text, keyEnd), COLON);
    at = skipSpace(text, at);
    if (key === '"data"') return text[at] === '[' ? at : null;
    at = skipSpace(text, skipSpace(text, endOfValue(text, at)), COMMA);
    at = skipSpace(text, at);
  }
  return null;
}

/** Whether what follows `at` is more elements, each with its brackets closed, and then the rest of a valid answer. */
function isSoundFrom(text: string, array: number, at: number, budget: Budget): boolean {
  let place = skipSpace(text, at);
  while (text[place] === ',') {
    place = skipSpace(text, place + 1);
    if (place >= text.length || text[place] === ']') return false;
    const end = endOfValue(text, place);
    budget.signs -= end - place;
    if (budget.signs < 0) return false;
    place = skipSpace(text, end);
  }
  budget.signs -= text.length - place;
  return budget.signs >= 0 && text[place] === ']' && isJson(`${text.slice(0, array)}[]${text.slice(place + 1)}`);
}

/** The next object after `from` that is valid, stands behind a comma, and from whose end on everything is sound. */
function findSoundElement(text: string, array: number, from: number, budget: Budget): number | null {
  let places = 0;
  for (let at = text.indexOf('{', from + 1); at !== -1 && places < MAX_PLACES; at = text.indexOf('{', at + 1)) {
    if (text[lastSign(text, at)] !== ',') continue;
    places += 1;
    const end = endOfValue(text, at);
    budget.signs -= 2 * (end - at);
    if (budget.signs < 0) return null;
    if (isJson(text.slice(at, end)) && isSoundFrom(text, array, end, budget)) return at;
  }
  return null;
}

function borderBefore(text: string, at: number): number {
  return lastSign(text, lastSign(text, at)) + 1;
}

/** The place of the last sign before `at` that is no white space. */
function lastSign(text: string, at: number): number {
  let before = at - 1;
  while (before > 0 && skipSpace(text, before) !== before) before -= 1;
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
