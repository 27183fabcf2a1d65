import { type Node, parseTree } from 'jsonc-parser';

/**
 * Where the members of a JSON answer begin and end, so that a row can be kept in its own bytes: JSON.parse gives no
 * positions on Node 20 and corrupts large integers.
 *
 * The text is the answer decoded as latin1: one character is one byte, whatever the bytes are. JSON's own signs are ASCII, and no
 * byte of a multi-byte UTF-8 character is.
 *
 * A scanner of our own because it takes a tenth of the time of jsonc-parser's parseTree on a page of 200 rows; a property-based test
 * holds the two together. It only finds ends: the text must be known to be valid JSON (JSON.parse it first). On anything
 * else its answers mean nothing, though it always ends.
 */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/**
 * Spans of the members of the object that begins at or after `from`: key → span of its value; the last of equal keys wins, as in
 * JSON.parse. Null when the value there is no object.
 */
export function findMembers(latin1: string, from = 0): Map<string, Span> | null {
  let at = skipSpace(latin1, from);
  if (latin1.charCodeAt(at) !== OPEN_OBJECT) return null;
  const members = new Map<string, Span>();
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

/** Spans of the elements of the array that begins at or after `from`; null when the value there is no array. */
export function findElements(latin1: string, from = 0): Span[] | null {
  let at = skipSpace(latin1, from);
  if (latin1.charCodeAt(at) !== OPEN_ARRAY) return null;
  const elements: Span[] = [];
  at = skipSpace(latin1, at + 1);
  while (at < latin1.length && latin1.charCodeAt(at) !== CLOSE_ARRAY) {
    const end = endOfValue(latin1, at);
    elements.push({ start: at, end });
    at = skipSpace(latin1, skipSpace(latin1, end, COMMA));
  }
  return elements;
}

/** Where the value that begins at `start` ends; always beyond `start`. On broken JSON: where its brackets or quotes close, else the end. */
export function endOfValue(text: string, start: number): number {
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
    } else if (sign === CLOSE_OBJECT || sign === CLOSE_ARRAY) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return length;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end + 1;
}

/** Whether an odd number of backslashes stands before `at`. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 0;
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

/** The next place that is no white space; steps over one `separator` there, where one is given and stands there. */
export function skipSpace(text: string, from: number, separator?: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return separator !== undefined && text.charCodeAt(at) === separator ? at + 1 : at;
}

/** Whether the sign is white space of JSON. */
export function isSpace(sign: number): boolean {
  return sign === 0x20 || sign === 0x0a || sign === 0x0d || sign === 0x09;
}

/** A number of 16 characters or more, or with an exponent: a double may not hold it. Finds some strings too, which costs only time. */
const longNumber = /(?:^|[[:,])[ \t\r\n]*-?\d(?:[\d.]{15,}|[\d.]*[eE])/;

/** Whether the text may hold a number that JSON.parse would change. */
export function mayHoldLongNumbers(text: string): boolean {
  return longNumber.test(text);
}

/**
 * JSON.parse, but a number that a double cannot be trusted to hold (more than 15 significant digits, or an exponent) is given as its
 * text: 12345678901234567890 becomes '12345678901234567890'. The text must be valid JSON.
 */
export function parseExactly(text: string): unknown {
  const tree = parseTree(text, [], { disallowComments: true });
  if (tree === undefined) throw new SyntaxError('not JSON');
  return valueOf(tree, text);
}

function valueOf(node: Node, text: string): unknown {
  switch (node.type) {
    case 'object':
      // fromEntries defines own properties, so `__proto__` is a key like any other.
      return Object.fromEntries(
        (node.children ?? []).map(({ children = [] }) => [
          String(children[0]?.value),
          children[1] === undefined ? null : valueOf(children[1], text),
        ]),
      );
    case 'array':
      return (node.children ?? []).map((child) => valueOf(child, text));
    case 'number': {
      const token = text.slice(node.offset, node.offset + node.length);
      return isExact(token) ? Number(token) : token;
    }
    case 'string':
    case 'boolean':
    case 'null':
    case 'property':
      return node.value as unknown;
  }
}

function isExact(token: string): boolean {
  return !/[eE]/.test(token) && token.replace(/[-.]/g, '').length <= 15;
}
