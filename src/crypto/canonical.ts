import { canonicalize } from 'json-canonicalize';

/**
 * RFC 8785 canonical JSON as bytes. Throws on strings with lone surrogates (they have no UTF-8 form, and the library
 * would accept them) and on values that JSON cannot represent.
 */
export function canonicalJson(value: unknown): Buffer {
  assertWellFormed(value);
  return Buffer.from(canonicalize(value), 'utf8');
}

function assertWellFormed(value: unknown): void {
  if (typeof value === 'string') {
    if (!isWellFormed(value)) throw new TypeError('canonical JSON: a string holds a lone surrogate');
  } else if (Array.isArray(value)) {
    for (const item of value) assertWellFormed(item);
  } else if (value !== null && typeof value === 'object') {
    for (const [key, item] of Object.entries(value)) {
      if (!isWellFormed(key)) throw new TypeError('canonical JSON: a key holds a lone surrogate');
      assertWellFormed(item);
    }
  } else if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new TypeError('canonical JSON: a number is not finite');
  } else if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') {
    throw new TypeError(`canonical JSON: a ${typeof value} has no JSON form`);
  }
}

/**
 * Whether a string has no lone surrogate (String.prototype.isWellFormed, which is missing from the type library of
 * ES2023).
 */
export function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
