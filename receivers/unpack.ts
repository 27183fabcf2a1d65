import { brotliDecompressSync, constants, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { parseBody, parseText } from './parse.ts';

/** The content of a body: JSON, or text that is not JSON, or why there is neither. */
export type Unpacked = { readonly json: unknown } | { readonly text: string } | { readonly unread: string };

/** The most bytes that a compressed body may have when decompressed, and how many times its own size. */
export const MAX_DECOMPRESSED = 8 << 20;
const MAX_RATIO = 200;
/** Allowed whatever the ratio: a short body may be repetitive. */
const ALWAYS_DECOMPRESSED = 64 << 10;

/** Fields of a form, and characters of a field's name. */
const MAX_FIELDS = 200;
/** Lines of newline-delimited JSON. */
const MAX_LINES = 10_000;

/**
 * Opens a body as it was received: decompresses it, and reads JSON, newline-delimited JSON (a list of its lines; one that
 * is not JSON stays text), a form, or JSON in a string. `encoding`: the Content-Encoding, if it was recorded.
 */
export function unpackBody(body: Uint8Array, encoding: string | null): Unpacked {
  const bytes = decompressed(body, encoding);
  if ('unread' in bytes) return bytes;
  const parsed = parseBody(bytes.plain);
  if ('text' in parsed) return unpackText(parsed.text);
  return typeof parsed.json === 'string' ? unpackText(parsed.json) : parsed;
}

function unpackText(text: string): Unpacked {
  const json = asJson(text);
  return json === undefined ? { text } : { json };
}

/** What a text contains: JSON, JSON by line, or a form; undefined if none of these. */
function asJson(text: string): unknown {
  const start = text.trimStart().charAt(0);
  if (start === '{' || start === '[') return parseText(text) ?? linesOf(text);
  return formOf(text);
}

/** The values of newline-delimited JSON; undefined if the first line is not an object. */
function linesOf(text: string): unknown[] | undefined {
  const lines = text.trim().split(/\r\n|\n|\r/, MAX_LINES + 1);
  if (lines.length < 2) return undefined;
  const first = parseText(lines[0] ?? '');
  if (typeof first !== 'object' || first === null) return undefined;
  return lines.flatMap((line) => (line.trim() === '' ? [] : [parseText(line) ?? line]));
}

/** A field's name: `email`, `data[email]`, `data.email`. */
const FIELD = /^[\w.%+-]{1,100}(?:\[[\w.%+-]{0,100}\]|%5[Bb][\w.%+-]{0,100}%5[Dd]){0,4}=/;

/**
 * The fields of `application/x-www-form-urlencoded` as an object; brackets lead into objects, and a field that contains
 * JSON is parsed. If one field holds everything (`payload={…}`), its JSON. Undefined if the text is not a form.
 */
function formOf(text: string): unknown {
  const bare = /^\w{1,40}=\s*(?=[{[])/.exec(text);
  // JSON after a name, not encoded as a form's would be.
  const json = bare === null ? undefined : parseText(text.slice(bare[0].length));
  if (json !== undefined) return json;
  if (!FIELD.test(text) || /[\s<>"{}]/.test(text.slice(0, 4096))) return undefined;
  const form: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  let fields = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    if ((fields += 1) > MAX_FIELDS) break;
    place(form, name, /^\s*[{[]/.test(value) ? (parseText(value) ?? value) : value);
  }
  const values = Object.values(form);
  const [only] = values;
  return values.length === 1 && typeof only === 'object' && only !== null ? only : { ...form };
}

/** The fields of a form of at least two in a text; undefined if it is none. */
export function formIn(text: string): unknown {
  return text.includes('&') ? formOf(text) : undefined;
}

/** Sets a field by its name; one that comes twice becomes a list. */
function place(form: Record<string, unknown>, name: string, value: unknown): void {
  const [, first = name, rest = ''] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? [];
  const path = [first, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, inner = '']) => inner).filter(Boolean)];
  let object = form;
  for (const key of path.slice(0, -1)) {
    const known = object[key];
    if (typeof known === 'object' && known !== null && !Array.isArray(known)) object = known as Record<string, unknown>;
    else object = object[key] = Object.create(null) as Record<string, unknown>;
  }
  const last = path.at(-1) ?? name;
  const known = object[last];
  object[last] = known === undefined ? value : Array.isArray(known) ? [...(known as unknown[]), value] : [known, value];
}

/**
 * The bytes without their compression: gzip and zlib are recognised by their first bytes, Brotli and raw deflate only by
 * the Content-Encoding. What a cut-off body still contains counts. Bounded in size and ratio, and so in time.
 */
export function decompressed(
  body: Uint8Array,
  encoding: string | null,
): { readonly plain: Uint8Array } | { readonly unread: string } {
  const method = methodOf(body, encoding);
  if (method === null) return { plain: body };
  const maxOutputLength = Math.min(MAX_DECOMPRESSED, Math.max(ALWAYS_DECOMPRESSED, body.length * MAX_RATIO));
  try {
    const plain = method(body, maxOutputLength);
    // Plain text may be taken for an empty stream.
    return { plain: plain.length === 0 && body[0] !== GZIP ? body : plain };
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE')
      return {
        unread: `The body is compressed and would take more than ${maxOutputLength} bytes: it is not unpacked.`,
      };
    // Sent as it is under a header that says otherwise, or text that only begins like zlib.
    return body[0] === GZIP ? { unread: 'The body is compressed and damaged.' } : { plain: body };
  }
}

const GZIP = 0x1f;
const ZLIB = 0x78;
/** Second bytes of zlib with its usual levels. */
const ZLIB_LEVELS: ReadonlySet<number | undefined> = new Set([0x01, 0x5e, 0x9c, 0xda]);

type Method = (body: Uint8Array, maxOutputLength: number) => Uint8Array;

function methodOf(body: Uint8Array, encoding: string | null): Method | null {
  const [first, second] = [body[0], body[1]];
  if (first === GZIP && second === 0x8b) return gunzip;
  if (first === ZLIB && ZLIB_LEVELS.has(second)) return inflate;
  if (encoding === null) return null;
  const named = encoding.trim().toLowerCase();
  return named === 'br' ? unbrotli : named === 'deflate' ? inflateRaw : null;
}

const finishFlush = constants.Z_SYNC_FLUSH;
const gunzip: Method = (body, maxOutputLength) => gunzipSync(body, { maxOutputLength, finishFlush });
const inflate: Method = (body, maxOutputLength) => inflateSync(body, { maxOutputLength, finishFlush });
const inflateRaw: Method = (body, maxOutputLength) => inflateRawSync(body, { maxOutputLength, finishFlush });
const unbrotli: Method = (body, maxOutputLength) =>
  brotliDecompressSync(body, { maxOutputLength, finishFlush: constants.BROTLI_OPERATION_FLUSH });
