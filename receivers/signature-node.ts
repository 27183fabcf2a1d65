import { createHmac, timingSafeEqual } from 'node:crypto';
import { signingKeyOf } from '../src/crypto/keys.ts';
import {
  judge,
  PREFIX,
  readClaims,
  SIGNATURE_256_HEADER,
  SIGNATURE_HEADER,
  type SignatureInput,
  type SignatureVerdict,
  type Tried,
} from './signature-claims.ts';

export {
  type HeaderValues,
  SIGNATURE_256_HEADER,
  SIGNATURE_HEADER,
  type SignatureInput,
  type SignatureVerdict,
  type SigningSecret,
} from './signature-claims.ts';

/**
 * Verifies the signature of a delivery: HMAC-SHA-256 over the raw body (docs/service.md §6, RFC 2104). Either header
 * suffices. Digests are compared in constant time, and every secret is always tried, so that timing does not reveal
 * which secret, or how much of a digest, was right. Pure; never throws.
 */
export function verifySignature(input: SignatureInput): SignatureVerdict {
  const claims = readClaims(input.headers);
  if (claims.outcome !== 'claimed') return claims;
  const plain = claims.plain === null ? null : Buffer.from(claims.plain, 'hex');
  const prefixed = claims.prefixed === null ? null : Buffer.from(claims.prefixed, 'hex');
  const tried: Tried[] = [];
  for (const secret of input.secrets) {
    // An empty key would let anyone sign.
    const key = signingKeyOf(secret.value, secret.encoding);
    if (key === null) continue;
    const expected = createHmac('sha256', key).update(input.rawBody).digest();
    tried.push({
      secretId: secret.id,
      plain: plain !== null && timingSafeEqual(plain, expected),
      prefixed: prefixed !== null && timingSafeEqual(prefixed, expected),
    });
  }
  return judge(claims, tried);
}

/**
 * Both signature headers for a body, as the service makes them (docs/service.md §6), for tests and senders. `secret`:
 * the text or bytes that sign.
 */
export function signBody(rawBody: Uint8Array, secret: string | Uint8Array): Record<string, string> {
  const digest = createHmac('sha256', secret).update(rawBody).digest('hex');
  return { [SIGNATURE_HEADER]: digest, [SIGNATURE_256_HEADER]: PREFIX + digest };
}
