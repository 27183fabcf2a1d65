import { z } from 'zod';
import { parseJson } from '../core/json.ts';
import { ServiceError, type ServiceSubject } from './service-error.ts';

/**
 * Parses the JSON of a response. Errors: ServiceError `unreadable`, which describes what came instead without quoting
 * it; `too-large`.
 */
export function readJson(bytes: Buffer, about?: ServiceSubject, limits: JsonLimits = usualLimits): unknown {
  assertWithinLimits(bytes, about, limits);
  try {
    return parseJson(bytes.toString('utf8').replace(/^\uFEFF/, ''));
  } catch {
    throw new ServiceError('unreadable', { detail: describeNoJson(bytes), ...(about === undefined ? {} : { about }) });
  }
}

/** Describes what came instead of JSON, without quoting it. */
export function describeNoJson(bytes: Buffer): string {
  if (bytes.length === 0) return 'the response is empty';
  const start = bytes.toString('latin1', 0, 200).trimStart();
  if (start.startsWith('<')) return 'a web page instead of JSON';
  return start.startsWith('{') || start.startsWith('[') ? 'the JSON is cut off or broken' : 'no JSON';
}

/** An id, which some services write as a number; at most 300 characters. */
export const idSchema = z.union([z.string().min(1).max(300), z.number()]).transform(String);

/** An optional text; other values count as missing. */
export const textOrNull = z
  .string()
  .nullish()
  .catch(null)
  .transform((text) => text ?? null);

/** An optional count. */
export const countOrNull = z
  .number()
  .int()
  .nonnegative()
  .nullish()
  .catch(null)
  .transform((count) => count ?? null);

/** A policy type spelled like the listed slugs: `privacy_policy` of form B is `privacy-policy` (docs/service.md §2.6, §4.1). */
export function slugOf(type: string | null): string | null {
  return type === null ? null : type.toLowerCase().replaceAll('_', '-');
}

/** A link to open, including its token; null unless it is a web address of reasonable length without credentials. */
export function linkOf(address: string | null | undefined): string | null {
  if (address == null || address.length > 4000 || !/^https?:\/\//i.test(address) || !URL.canParse(address)) return null;
  const url = new URL(address);
  return url.username === '' && url.password === '' ? url.href : null;
}

/** An address without query, fragment and credentials: hosted URLs carry a token in the query (docs/service.md §2.2). Null for any other text. */
export function withoutToken(address: string | null): string | null {
  if (address === null || !/^https?:\/\//i.test(address) || !URL.canParse(address)) return null;
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}

/**
 * Limits for the service's JSON. Anything beyond is an attack or a mistake, and reading it could exhaust the memory of
 * the process.
 */
export interface JsonLimits {
  /** Nesting of brackets. */
  readonly depth: number;
  /** Total number of values, counting members and elements. */
  readonly values: number;
}

/** A page of 200 rows has a few thousand values, three levels deep. */
export const usualLimits: JsonLimits = { depth: 100, values: 1_000_000 };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Measures JSON before it is parsed, in one pass and without memory; broken JSON is measured as far as its quotes can
 * be trusted. Errors: ServiceError `too-large` beyond the limits.
 */
export function assertWithinLimits(bytes: Buffer, about?: ServiceSubject, limits: JsonLimits = usualLimits): void {
  let depth = 0;
  let values = 1;
  let at = 0;
  while (at < bytes.length) {
    const sign = bytes[at];
    if (sign === QUOTE) {
      at = endOfString(bytes, at);
      continue;
    }
    if (sign === 0x5b || sign === 0x7b) {
      depth += 1;
      values += 1;
    } else if (sign === 0x5d || sign === 0x7d) depth -= 1;
    else if (sign === 0x2c) values += 1;
    if (depth > limits.depth) throw tooLarge(`nested more than ${limits.depth} levels deep`, about);
    if (values > limits.values) throw tooLarge(`more than ${limits.values} values`, about);
    at += 1;
  }
}

function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    const sign = bytes[at];
    if (sign === BACKSLASH) at += 1;
    else if (sign === QUOTE) return at + 1;
  }
  return bytes.length;
}

export function tooLarge(detail: string, about?: ServiceSubject): ServiceError {
  return new ServiceError('too-large', { detail, ...(about === undefined ? {} : { about }) });
}

/** The service's error envelope: `{"error": {"code", "message"}}` (docs/service.md §7); a plain string is accepted too. */
const envelopeSchema = z.object({
  error: z.union([
    z.string().transform((message) => ({ code: undefined, message })),
    z.object({
      code: z.union([z.string(), z.number()]).transform(String).optional().catch(undefined),
      message: z.string().optional().catch(undefined),
    }),
  ]),
});

const MAX_ENVELOPE = 1 << 20;

/** Code and message from an error body; empty if it is not the service's envelope. */
export function readEnvelope(body: string, secret: string | null): { code?: string; detail?: string } {
  let json: unknown;
  try {
    // Codes and messages are short; longer texts explain nothing.
    if (body.length > MAX_ENVELOPE) return {};
    json = parseJson(body);
  } catch {
    return {};
  }
  const parsed = envelopeSchema.safeParse(json);
  if (!parsed.success) return {};
  const { code, message } = parsed.data.error;
  return {
    ...(code === undefined ? {} : { code: cleanText(code, secret, 60) }),
    ...(message === undefined ? {} : { detail: cleanText(message, secret, 300) }),
  };
}

/** Characters of a text that are examined; only a line of it is shown. */
const MAX_CLEANED = 65_536;

/** Makes foreign text safe for a log line: one line, no control characters, no secret, limited in length. */
export function cleanText(text: string, secret: string | null, maxLength: number): string {
  const cut = text.length > MAX_CLEANED;
  const some = cut ? text.slice(0, MAX_CLEANED) : text;
  const whole = secret === null || secret === '' ? some : some.replaceAll(secret, '[API key]');
  // Cutting may have left half a secret at the end.
  const hidden = cut && secret !== null ? whole.slice(0, -Math.max(1, secret.length)) : whole;
  const oneLine = hidden.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return oneLine.length > maxLength ? `${oneLine.slice(0, maxLength - 1).trimEnd()}…` : oneLine;
}
