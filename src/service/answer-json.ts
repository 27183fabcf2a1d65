import { z } from 'zod';
import { assertWithinLimits, type JsonLimits, usualLimits } from './json-limits.ts';
import { ServiceError, type ServiceSubject } from './service-error.ts';

/** The JSON of an answer. Errors: ServiceError `unreadable`, which says what came instead and quotes none of it; `too-large`. */
export function readJson(bytes: Buffer, about?: ServiceSubject, limits: JsonLimits = usualLimits): unknown {
  assertWithinLimits(bytes, about, limits);
  try {
    return JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''));
  } catch {
    throw new ServiceError('unreadable', { detail: describeNoJson(bytes), ...(about === undefined ? {} : { about }) });
  }
}

function describeNoJson(bytes: Buffer): string {
  if (bytes.length === 0) return 'the answer is empty';
  const start = bytes.toString('latin1', 0, 200).trimStart();
  if (start.startsWith('<')) return 'a web page instead of JSON';
  return start.startsWith('{') || start.startsWith('[') ? 'the JSON is cut off or broken' : 'no JSON';
}

/** An id, which some services write as a number; none has more than 300 characters. */
export const idSchema = z.union([z.string().min(1).max(300), z.number()]).transform(String);

/** A text that may be missing; whatever else stands there counts as missing. */
export const textOrNull = z
  .string()
  .nullish()
  .catch(null)
  .transform((text) => text ?? null);

/** A count that may be missing. */
export const countOrNull = z
  .number()
  .int()
  .nonnegative()
  .nullish()
  .catch(null)
  .transform((count) => count ?? null);

/** A policy type as the listed slugs are written: `privacy_policy` of form B is `privacy-policy` (docs/service.md §2.6, §4.1). */
export function slugOf(type: string | null): string | null {
  return type === null ? null : type.toLowerCase().replaceAll('_', '-');
}

/** An address as it is to be opened, its token included; null for what is no web address without credentials, or too long for one. */
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
