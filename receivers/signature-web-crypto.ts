import {
  type HeaderValues,
  judge,
  readClaims,
  SIGNATURE_256_HEADER,
  SIGNATURE_HEADER,
  type SignatureVerdict,
  type SigningSecret,
  type Tried,
} from './signature-claims.ts';

export type { HeaderValues, SignatureVerdict, SigningSecret } from './signature-claims.ts';

/** Headers as in fetch, or under lower-case names as in node:http and Express. */
type GivenHeaders = HeaderValues | { get(name: string): string | null };

interface Delivery {
  readonly headers: GivenHeaders;
  /** The body exactly as received: re-serialised JSON does not match. */
  readonly rawBody: ArrayBuffer | Uint8Array;
  /** All accepted secrets; during a rotation the old and the new one. */
  readonly secrets: readonly SigningSecret[];
}

/**
 * `consent-ledger/receivers/verify`: the signature check of a delivery for every runtime with Web Crypto (Express, Hono, Next.js, workers),
 * without a module of Node. Same rules and verdicts as verifySignature of `consent-ledger/receivers`: HMAC-SHA-256 over the raw body
 * (docs/service.md §6, RFC 2104), either header suffices, digests are compared in constant time by `crypto.subtle.verify`, every secret is tried.
 *
 * ```ts
 * const rawBody = await request.arrayBuffer();
 * const verdict = await verify({ headers: request.headers, rawBody, secrets: [{ id: 'main', value: secret }] });
 * if (verdict.outcome !== 'verified') return new Response(null, { status: 401 });
 * ```
 *
 * Rejects with TypeError where the body is not bytes (it was parsed before), or where no secret can sign.
 */
export async function verify({ headers, rawBody, secrets }: Delivery): Promise<SignatureVerdict> {
  const body = bytesOf(rawBody);
  const keys = secrets.flatMap(({ id, value, encoding }) => {
    const bytes = keyBytesOf(value, encoding);
    return bytes === null ? [] : [{ id, bytes }];
  });
  if (keys.length === 0)
    throw new TypeError('No usable secret: pass at least one that is not empty and is valid in its encoding.');
  const claims = readClaims(valuesOf(headers));
  if (claims.outcome !== 'claimed') return claims;
  const tried: Tried[] = [];
  for (const { id, bytes } of keys) {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
    const isRight = async (claim: string | null) =>
      claim !== null && (await crypto.subtle.verify('HMAC', key, fromHex(claim), body));
    tried.push({ secretId: id, plain: await isRight(claims.plain), prefixed: await isRight(claims.prefixed) });
  }
  return judge(claims, tried);
}

function bytesOf(body: unknown): Uint8Array<ArrayBuffer> {
  if (ArrayBuffer.isView(body)) {
    // A copy, because the view may be of shared memory.
    return Uint8Array.from(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
  }
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body as ArrayBuffer);
  throw new TypeError(
    'rawBody must be the bytes of the body as they arrived, not a text or a parsed object: await request.arrayBuffer(), or express.raw({ type: () => true }) before the route.',
  );
}

function valuesOf(headers: GivenHeaders): HeaderValues {
  if (!isGetter(headers)) return headers;
  const names = [SIGNATURE_HEADER, SIGNATURE_256_HEADER];
  return Object.fromEntries(names.map((name) => [name, headers.get(name) ?? undefined]));
}

function isGetter(headers: GivenHeaders): headers is Exclude<GivenHeaders, HeaderValues> {
  return typeof headers.get === 'function';
}

/**
 * The bytes with which a secret signs (signingKeyOf in src/crypto/keys.ts, without Node); null if the text is empty or
 * does not match its encoding.
 */
function keyBytesOf(value: string, encoding: SigningSecret['encoding'] = 'text'): Uint8Array<ArrayBuffer> | null {
  const key = decoded(value, encoding);
  return key === null || key.length === 0 ? null : key;
}

function decoded(value: string, encoding: NonNullable<SigningSecret['encoding']>): Uint8Array<ArrayBuffer> | null {
  switch (encoding) {
    case 'text':
      return Uint8Array.from(new TextEncoder().encode(value));
    case 'hex':
      return /^(?:[0-9a-f]{2})+$/i.test(value) ? fromHex(value) : null;
    case 'base64': {
      const text = value.replace(/^whsec_/, '');
      if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return null;
      const plain = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
      // A single remaining character encodes no byte.
      const whole = plain.length % 4 === 1 ? plain.slice(0, -1) : plain;
      return Uint8Array.from(atob(whole), (character) => character.charCodeAt(0));
    }
  }
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}
