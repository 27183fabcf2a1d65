import { isUtf8 } from 'node:buffer';

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

/** The host of an address, or a bare domain, in lower case; the rest of an address may contain a token. */
export function hostOf(value: unknown): string | null {
  const text = textOf(value, 4000)?.toLowerCase() ?? null;
  if (text === null) return null;
  const host =
    /^(?:[a-z][a-z0-9+.-]*:)?\/\/(?:[^/?#]*@)?([^/?#:]+)/.exec(text)?.[1] ??
    /^([^\s/?#:@]+\.[^\s/?#:@]+)/.exec(text)?.[1];
  return host === undefined || host.length > 253 ? null : host;
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
  const json = parseJson(text);
  return json === undefined ? { text } : { json };
}

/** Like {@link parseBody} for text; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return MAYBE_LARGE.test(text) ? JSON.parse(quoteLargeIntegers(text)) : value;
  } catch {
    return undefined;
  }
}

const MAYBE_LARGE = /\d{16}/;
const INTEGER = /^-?\d{16,}$/;

/** Puts quotes around the integers of a valid JSON text that a number cannot hold exactly. */
function quoteLargeIntegers(text: string): string {
  let out = '';
  let copied = 0;
  let i = 0;
  while (i < text.length) {
    const char = text.charCodeAt(i);
    if (char === 0x22) {
      i = endOfString(text, i);
    } else if (char === 0x2d || (char >= 0x30 && char <= 0x39)) {
      const start = i;
      while (isNumberPart(text.charCodeAt(i))) i++;
      const token = text.slice(start, i);
      if (INTEGER.test(token) && !Number.isSafeInteger(Number(token))) {
        out += `${text.slice(copied, start)}"${token}"`;
        copied = i;
      }
    } else {
      i++;
    }
  }
  return out + text.slice(copied);
}

/** The position after the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end < 0) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
}

function isNumberPart(char: number): boolean {
  // + - . digits e E
  return (
    (char >= 0x30 && char <= 0x39) || char === 0x2b || char === 0x2d || char === 0x2e || char === 0x65 || char === 0x45
  );
}
