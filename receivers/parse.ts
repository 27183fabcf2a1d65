import { isUtf8 } from 'node:buffer';

/** A body as JSON, or as the text it is when it is no JSON. */
type ParsedBody = { readonly json: unknown } | { readonly text: string };

/**
 * Parses a body. UTF-8 with or without a byte order mark; bytes that are no UTF-8 are read as Latin-1, which loses none of them.
 * Integers beyond 2^53 come out as strings of their digits: as numbers they would be another id.
 */
export function parseBody(body: Uint8Array): ParsedBody {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let text = isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1');
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  const json = parseJson(text);
  return json === undefined ? { text } : { json };
}

/** As {@link parseBody}, for text; undefined when it is no JSON. */
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
