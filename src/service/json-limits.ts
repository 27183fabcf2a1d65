import { ServiceError, type ServiceSubject } from './service-error.ts';

/** How much JSON of the service is taken: everything beyond is an attack or a mistake, and reading it could take the memory of the process. */
export interface JsonLimits {
  /** Brackets within brackets. */
  readonly depth: number;
  /** Values in all, members and elements. */
  readonly values: number;
}

/** A page of 200 rows has some thousand values, three levels deep. */
export const usualLimits: JsonLimits = { depth: 100, values: 1_000_000 };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Measures JSON before it is parsed, in one pass and without memory; broken JSON is measured as far as its quotes can be trusted.
 * Errors: ServiceError `too-large` beyond the limits.
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
