import { isUtf8 } from 'node:buffer';
import { parseJson } from '../src/core/json.ts';

/** The longest id or short text that is read, in UTF-16 units; longer ones stay in the body. */
const MAX_TEXT = 300;

/** An object of a JSON text. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a field is empty: absent, null or empty text. */
export function isBlank(value: unknown): boolean {
  return value === null || value === undefined || value === '';
}

/** A value as trimmed text, without characters that UTF-8 or a database cannot store. */
export function textOf(value: unknown, max: number = MAX_TEXT): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : null;
  if (typeof value !== 'string') return null;
  const text = clean(value.trim());
  return text === '' || text.length > max ? null : text;
}

/** Lone surrogates have no UTF-8 form, and PostgreSQL's text refuses U+0000: both become U+FFFD. */
export function clean(text: string): string {
  const wellFormed = (text as string & { toWellFormed(): string }).toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\ufffd') : wellFormed;
}

const letters: Readonly<Record<string, string>> = { ł: 'l', ø: 'o', æ: 'ae', œ: 'oe', ß: 'ss', đ: 'd' };

/** A text in lower case with its letters reduced to those without accents. */
export function withoutAccents(text: string): string {
  const lower = text.toLowerCase();
  // Most texts have none.
  if (/^[\0-\x7f]*$/.test(lower)) return lower;
  return lower
    .replace(/[łøæœßđ]/g, (letter) => letters[letter] ?? letter)
    .normalize('NFD')
    .replace(/\p{M}+/gu, '');
}

/** The host of an address, or a bare domain, in lower case; the rest of an address may contain a token. */
export function hostOf(value: unknown): string | null {
  const text = textOf(value, 4000)?.toLowerCase() ?? null;
  if (text === null) return null;
  const host =
    /^(?:[a-z][a-z0-9+.-]*:)?\/\/(?:[^/?#]*@)?([^/?#:]+)/.exec(text)?.[1] ??
    /^([^\s/?#:@]+\.[^\s/?#:@]+)/.exec(text)?.[1];
  return host === undefined || host.length > 253 ? null : host;
}

/** The name in the text of a cookie of pairs, `tarteaucitron=!hotjar=false`; null: the text has not this form. */
export function nameOfCookie(text: string): string | null {
  return text.includes('=!') ? (/^\s*([\w.$-]{1,80})=!/.exec(text)?.[1] ?? null) : null;
}

/** A body as JSON, or as text if it is not JSON. */
type ParsedBody = { readonly json: unknown } | { readonly text: string };

/**
 * Parses a body. UTF-8 with or without a byte order mark; other bytes are read as Latin-1, which loses none. Integers
 * beyond 2^53 become strings of their digits: as numbers they would be different ids.
 */
export function parseBody(body: Uint8Array): ParsedBody {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let text = isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1');
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  const json = parseText(text);
  return json === undefined ? { text } : { json };
}

/** Like {@link parseBody} for text; undefined if it is not JSON. */
export function parseText(text: string): unknown {
  try {
    return parseJson(text, MAYBE_LARGE.test(text) ? readInteger : undefined);
  } catch {
    return undefined;
  }
}

/** The longest text that is examined for JSON in another encoding, in UTF-16 units. */
const MAX_WRAPPED = 100_000;

/** Whether a text begins like one that {@link parseWrapped} opens. */
export function mayBeWrapped(text: string): boolean {
  const first = text.charCodeAt(0);
  // Most texts begin with another letter or a digit than `e` and `W`.
  if (first >= 0x30 && first < 0x7b && first !== 0x65 && first !== 0x57 && first !== 0x5b) return false;
  return /^\s*(?:[[{]|%(?:25)*(?:7B|5B)|eyJ|W[yz3])/i.test(text);
}

/**
 * The object or list in a text: JSON, JSON encoded for an address or a cookie (`%7B…`), or JSON in base64 (`eyJ…`). Undefined if it holds none.
 */
export function parseWrapped(text: string): unknown {
  const start = text.trimStart();
  let value: unknown;
  if (/^[[{]/.test(start)) value = parseText(start);
  else if (start.length > MAX_WRAPPED) return undefined;
  else if (/^%(?:25)*(?:7B|5B)/i.test(start)) value = parseText(decodedAddress(start));
  else if (/^(?:eyJ|W[yz3])[A-Za-z0-9+/_-]{8,}={0,2}$/.test(start))
    value = parseText(Buffer.from(start, 'base64').toString('utf8'));
  return typeof value === 'object' && value !== null ? value : undefined;
}

/** Text without the escapes of an address, however often they were applied; unchanged where they are wrong. */
function decodedAddress(text: string): string {
  let decoded = text;
  try {
    for (let times = 0; times < 3 && decoded.startsWith('%'); times += 1) decoded = decodeURIComponent(decoded);
  } catch {
    return text;
  }
  return decoded;
}

const MAYBE_LARGE = /\d{16}/;
const INTEGER = /^-?\d{16,}$/;

/** A number, or the text of an integer that a number cannot hold exactly. */
function readInteger(token: string): number | string {
  return INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? token : Number(token);
}
