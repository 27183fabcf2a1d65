import type { SecretEncoding } from '../src/core/source.ts';

/*
 * What a delivery claims by its headers, and what that is worth once each claim has been tried: the same with Node's own cryptography
 * (signature-node.ts) and with Web Crypto (signature-web-crypto.ts).
 */

/** Header with the lower-case hex digest (docs/service.md §6). */
export const SIGNATURE_HEADER = 'x-service-signature';
/** Header with `sha256=` and the hex digest (docs/service.md §6). */
export const SIGNATURE_256_HEADER = 'x-service-signature-256';

/** Before the digest in {@link SIGNATURE_256_HEADER}. */
export const PREFIX = 'sha256=';
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

/** Digests as lower-case hex; null: that header is absent or has none. */
interface Claims {
  readonly outcome: 'claimed';
  readonly plain: string | null;
  readonly prefixed: string | null;
  /** How many of the two headers were sent. */
  readonly headers: number;
}

/** The digests that the headers claim, or the verdict where they claim none. */
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

/** The verdict over the claims of a delivery, tried under every secret. */
export function judge(claims: Claims, tried: readonly Tried[]): SignatureVerdict {
  const right = tried.find(({ plain, prefixed }) => plain || prefixed);
  if (right === undefined) return { outcome: 'mismatch' };
  const agreeing = Number(tried.some(({ plain }) => plain)) + Number(tried.some(({ prefixed }) => prefixed));
  return { outcome: 'verified', secretId: right.secretId, headersAgree: agreeing === claims.headers };
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
