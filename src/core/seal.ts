import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts bytes at rest: AES-256-GCM (NIST SP 800-38D) under a key of 32 bytes, a random nonce, and `context` as additional
 * authenticated data, so that what was sealed for one place does not open in another.
 * Form: version 1 ‖ nonce (12) ‖ tag (16) ‖ ciphertext.
 */
export function sealBytes(key: Uint8Array, plain: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context, 'utf8'));
  const encrypted = [cipher.update(plain), cipher.final()];
  return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), ...encrypted]);
}

/** Opens what {@link sealBytes} sealed. Null when key or context are others, or the bytes were altered. */
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
