import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { SecretEncoding, WebhookSecret } from '../core/source.ts';
import { hmacSha256, sha256Hex } from './hash.ts';

/** Keys derived from INSTANCE_KEY with HKDF-SHA-256 (RFC 5869), one per purpose, 32 bytes each. */
export interface InstanceKeys {
  /** Deduplication keys of entries. Never rotates. */
  readonly dedupe: Buffer;
  /** MAC over leaf hashes, which proves the right to append. */
  readonly append: Buffer;
  /** For session cookies. */
  readonly session: Buffer;
  /** For one-time links. */
  readonly link: Buffer;
  /** For secrets and rejected deliveries at rest. */
  readonly rest: Buffer;
}

/** Length of INSTANCE_KEY in bytes. */
export const INSTANCE_KEY_BYTES = 32;

/** Derives the keys of an installation. Throws RangeError if the instance key is not exactly 32 bytes. */
export function deriveKeys(instanceKey: Uint8Array): InstanceKeys {
  if (instanceKey.length !== INSTANCE_KEY_BYTES) {
    throw new RangeError(`INSTANCE_KEY must be ${INSTANCE_KEY_BYTES} bytes, got ${instanceKey.length}`);
  }
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', instanceKey, new Uint8Array(), `consent-ledger/${purpose}/v1`, 32));
  return {
    dedupe: derive('dedupe'),
    append: derive('append'),
    session: derive('session'),
    link: derive('link'),
    rest: derive('rest'),
  };
}

/**
 * A short public name for a key: the first 16 hex digits of SHA-256 over an HMAC of a fixed text, so that the key
 * itself stays hidden.
 */
export function keyFingerprint(key: Uint8Array): string {
  return sha256Hex(hmacSha256(key, Buffer.from('consent-ledger/fingerprint/v1'))).slice(0, 16);
}

/**
 * The deduplication key of an entry: HMAC over length-prefixed parts, so that different lists of parts never collide.
 * Bytes alone (the body of a webhook) have no prefix, unless they are such a list themselves: a sender could otherwise
 * obtain the HMAC of any list, such as that of the record of an erasure.
 */
export function dedupeKeyOf(dedupe: Uint8Array, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const [only] = parts;
  if (parts.length === 1 && typeof only !== 'string' && only !== undefined && !isList(only))
    return hmacSha256(dedupe, only);
  const sizes = parts.map((part) => (typeof part === 'string' ? Buffer.byteLength(part, 'utf8') : part.length));
  const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + 4 + size, 0));
  let at = 0;
  for (const [place, part] of parts.entries()) {
    at = bytes.writeUInt32BE(sizes[place] ?? 0, at);
    if (typeof part === 'string') bytes.write(part, at, 'utf8');
    else bytes.set(part, at);
    at += sizes[place] ?? 0;
  }
  return hmacSha256(dedupe, bytes);
}

/** Whether bytes are one or more parts, each after its length. Text never is: its first four bytes are a huge length. */
function isList(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  while (at + 4 <= bytes.length) at += 4 + view.getUint32(at);
  return at === bytes.length && at > 0;
}

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts bytes at rest: AES-256-GCM (NIST SP 800-38D) under a key of 32 bytes, with a random nonce and `context` as
 * additional authenticated data, so that bytes sealed for one place cannot be opened in another. Form: version 1 ‖
 * nonce (12) ‖ tag (16) ‖ ciphertext.
 */
export function sealBytes(key: Uint8Array, plain: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context, 'utf8'));
  const encrypted = [cipher.update(plain), cipher.final()];
  return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), ...encrypted]);
}

/** Opens what {@link sealBytes} sealed. Null if the key or context differs, or the bytes were altered. */
export function openSealed(key: Uint8Array, sealed: Uint8Array, context: string): Buffer | null {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const start = 1 + NONCE_BYTES + TAG_BYTES;
  if (bytes.length < start || bytes[0] !== VERSION) return null;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, 1 + NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(context, 'utf8')).setAuthTag(bytes.subarray(1 + NONCE_BYTES, start));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()]);
  } catch {
    return null;
  }
}

/** A new signing secret of a webhook, to be copied into the service: 64 hex digits. */
export function newSigningSecret(): string {
  return randomBytes(32).toString('hex');
}

/**
 * A signing secret with its name, which is the first 8 hex digits of its fingerprint (crypto/keys.ts). The same secret
 * always has the same name, so the ledger's record of which secret signed a delivery stays meaningful after a rotation.
 */
export function webhookSecretOf(value: string): WebhookSecret {
  return { id: keyFingerprint(Buffer.from(value, 'utf8')).slice(0, 8), value };
}

/**
 * The bytes used to sign with a secret. Null if the text is empty or does not match its encoding: such a secret
 * verifies nothing. Base64 may be URL-safe, unpadded, and prefixed with `whsec_` (Standard Webhooks).
 */
export function signingKeyOf(value: string, encoding: SecretEncoding = 'text'): Buffer | null {
  const key = decoded(value, encoding);
  return key === null || key.length === 0 ? null : key;
}

function decoded(value: string, encoding: SecretEncoding): Buffer | null {
  switch (encoding) {
    case 'text':
      return Buffer.from(value, 'utf8');
    case 'hex':
      return /^(?:[0-9a-f]{2})+$/i.test(value) ? Buffer.from(value, 'hex') : null;
    case 'base64': {
      const text = value.replace(/^whsec_/, '');
      return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) ? Buffer.from(text, 'base64url') : null;
    }
  }
}
