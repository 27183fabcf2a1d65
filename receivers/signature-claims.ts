import type { SecretEncoding } from '../src/core/source.ts';

/*
 * A delivery's claims in its headers, and the verdict after each claim was tried. Shared by the checks with Node's
 * cryptography (signature-node.ts) and with Web Crypto (signature-web-crypto.ts).
 */

/** Header with the lower-case hex digest (docs/service.md §6). */
export const SIGNATURE_HEADER = 'x-service-signature';
/** Header with `sha256=` and the hex digest (docs/service.md §6). */
export const SIGNATURE_256_HEADER = 'x-service-signature-256';

/** Precedes the digest in {@link SIGNATURE_256_HEADER}. */
export const PREFIX = 'sha256=';
const DIGEST_HEX = /^[0-9a-f]{64}$/;

/** Header values under lower-case names, as in node:http. */
export type HeaderValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A signing secret: `id` may be recorded, `value` never leaves the process. */
export interface SigningSecret {
  readonly id: string;
  readonly value: string;
  /** How the value is encoded; absent: the text itself signs. */
  readonly encoding?: SecretEncoding;
}

export interface SignatureInput {
  readonly headers: HeaderValues;
  /** The body exactly as received: re-serialised JSON does not match. */
  readonly rawBody: Uint8Array;
  /** All accepted secrets; during a rotation the old and the new one. Empty values are ignored. */
  readonly secrets: readonly SigningSecret[];
}

/**
 * `verified`: at least one header is right under one of the secrets; `headersAgree` is false if the other header is
 * present but wrong. `missing`: neither header is present. `mismatch`: none is right, or one was sent several times.
 */
export type SignatureVerdict =
  | { readonly outcome: 'verified'; readonly secretId: string; readonly headersAgree: boolean }
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'mismatch' };

/** Digests as lower-case hex; null: the header is absent or has none. */
interface Claims {
  readonly outcome: 'claimed';
  readonly plain: string | null;
  readonly prefixed: string | null;
  /** How many of the two headers were sent. */
  readonly headers: number;
}

/** The digests claimed by the headers, or the verdict if they claim none. */
export function readClaims(headers: HeaderValues): Claims | Exclude<SignatureVerdict, { outcome: 'verified' }> {
  const plain = headerValue(headers[SIGNATURE_HEADER]);
  const prefixed = headerValue(headers[SIGNATURE_256_HEADER]);
  if (plain === undefined && prefixed === undefined) return { outcome: 'missing' };
  if (plain === null || prefixed === null) return { outcome: 'mismatch' };
  const claimed = plain !== undefined && DIGEST_HEX.test(plain) ? plain : null;
  const digest = prefixed?.startsWith(PREFIX) === true ? prefixed.slice(PREFIX.length) : '';
  const claimed256 = DIGEST_HEX.test(digest) ? digest : null;
  if (claimed === null && claimed256 === null) return { outcome: 'mismatch' };
  const sent = Number(plain !== undefined) + Number(prefixed !== undefined);
  return { outcome: 'claimed', plain: claimed, prefixed: claimed256, headers: sent };
}

/** Which claims were right under one secret. */
export interface Tried {
  readonly secretId: string;
  readonly plain: boolean;
  readonly prefixed: boolean;
}

/** The verdict on a delivery's claims, tried under every secret. */
export function judge(claims: Claims, tried: readonly Tried[]): SignatureVerdict {
  const right = tried.find(({ plain, prefixed }) => plain || prefixed);
  if (right === undefined) return { outcome: 'mismatch' };
  const agreeing = Number(tried.some(({ plain }) => plain)) + Number(tried.some(({ prefixed }) => prefixed));
  return { outcome: 'verified', secretId: right.secretId, headersAgree: agreeing === claims.headers };
}

/** The single value of a header: undefined if absent, null if sent several times (node:http joins those with a comma). */
function headerValue(value: string | readonly string[] | undefined): string | undefined | null {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') {
    if (value.length > 1) return null;
    return headerValue(value[0]);
  }
  return value.includes(',') ? null : value;
}
