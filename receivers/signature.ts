import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SecretEncoding } from '../src/core/source.ts';
import { signingKeyOf } from '../src/crypto/keys.ts';

/** Header with the lower-case hex digest (docs/service.md §6). */
export const SIGNATURE_HEADER = 'x-service-signature';
/** Header with `sha256=` and the hex digest (docs/service.md §6). */
export const SIGNATURE_256_HEADER = 'x-service-signature-256';

const PREFIX = 'sha256=';
const DIGEST_HEX = /^[0-9a-f]{64}$/;

/** Header values under lower-case names, as node:http gives them. */
export type HeaderValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A signing secret: `id` is what may be recorded, `value` never leaves the process. */
export interface SigningSecret {
  readonly id: string;
  readonly value: string;
  /** How the value is written; absent: it is the text that signs. */
  readonly encoding?: SecretEncoding;
}

export interface SignatureInput {
  readonly headers: HeaderValues;
  /** The body exactly as it came over the wire: re-serialised JSON does not match. */
  readonly rawBody: Uint8Array;
  /** All accepted secrets; during a rotation the old and the new one. Empty values are ignored. */
  readonly secrets: readonly SigningSecret[];
}

/**
 * `verified`: at least one header is right under one of the secrets; `headersAgree` is false when the other header is there too and wrong.
 * `missing`: neither header is there. `mismatch`: none is right, or one was sent several times.
 */
export type SignatureVerdict =
  | { readonly outcome: 'verified'; readonly secretId: string; readonly headersAgree: boolean }
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'mismatch' };

const MISSING: SignatureVerdict = { outcome: 'missing' };
const MISMATCH: SignatureVerdict = { outcome: 'mismatch' };

/**
 * Verifies the signature of a delivery: HMAC-SHA-256 over the raw body (docs/service.md §6, RFC 2104).
 * Either header suffices. Digests are compared in constant time, and every secret is tried whatever the outcome of the others,
 * so that the time taken tells nothing about which secret, or how much of a digest, was right.
 * Pure; throws nothing for any input.
 */
export function verifySignature(input: SignatureInput): SignatureVerdict {
  const plain = headerValue(input.headers[SIGNATURE_HEADER]);
  const prefixed = headerValue(input.headers[SIGNATURE_256_HEADER]);
  if (plain === undefined && prefixed === undefined) return MISSING;
  if (plain === null || prefixed === null) return MISMATCH;

  const claimed = plain === undefined ? null : digestOf(plain);
  const claimed256 =
    prefixed !== undefined && prefixed.startsWith(PREFIX) ? digestOf(prefixed.slice(PREFIX.length)) : null;
  if (claimed === null && claimed256 === null) return MISMATCH;

  let secretId: string | null = null;
  let plainRight = false;
  let prefixedRight = false;
  for (const secret of input.secrets) {
    // An empty key would let anyone sign.
    const key = signingKeyOf(secret.value, secret.encoding);
    if (key === null) continue;
    const expected = createHmac('sha256', key).update(input.rawBody).digest();
    const right = claimed !== null && timingSafeEqual(claimed, expected);
    const right256 = claimed256 !== null && timingSafeEqual(claimed256, expected);
    plainRight = right || plainRight;
    prefixedRight = right256 || prefixedRight;
    if ((right || right256) && secretId === null) secretId = secret.id;
  }
  if (secretId === null) return MISMATCH;
  const headersAgree = (plain === undefined || plainRight) && (prefixed === undefined || prefixedRight);
  return { outcome: 'verified', secretId, headersAgree };
}

/** The one value of a header: undefined when it is absent, null when it came several times (node:http joins those with a comma). */
function headerValue(value: string | readonly string[] | undefined): string | undefined | null {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') {
    if (value.length > 1) return null;
    return headerValue(value[0]);
  }
  return value.includes(',') ? null : value;
}

function digestOf(hex: string): Buffer | null {
  return DIGEST_HEX.test(hex) ? Buffer.from(hex, 'hex') : null;
}

/** Both signature headers for a body, as the service makes them (docs/service.md §6): for tests and for senders. `secret`: the text or bytes that sign. */
export function signBody(rawBody: Uint8Array, secret: string | Uint8Array): Record<string, string> {
  const digest = createHmac('sha256', secret).update(rawBody).digest('hex');
  return { [SIGNATURE_HEADER]: digest, [SIGNATURE_256_HEADER]: PREFIX + digest };
}
