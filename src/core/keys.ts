import { hkdfSync } from 'node:crypto';
import { hmacSha256, sha256Hex } from './hash.ts';

/** Keys derived from INSTANCE_KEY with HKDF-SHA-256 (RFC 5869), one per purpose, 32 bytes each. */
export interface InstanceKeys {
  /** Deduplication keys of entries. Never rotates. */
  readonly dedupe: Buffer;
  /** MAC over leaf hashes: who may append. */
  readonly append: Buffer;
  /** Session cookies. */
  readonly session: Buffer;
  /** One-time links. */
  readonly link: Buffer;
  /** Secrets and rejected deliveries at rest. */
  readonly rest: Buffer;
}

/** Length of INSTANCE_KEY in bytes. */
export const INSTANCE_KEY_BYTES = 32;

/** Derives the keys of an installation. Throws RangeError when the instance key is not exactly 32 bytes. */
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

/** A short public name of a key: the first 16 hex digits of SHA-256 over an HMAC of a fixed text, so that the key itself stays hidden. */
export function keyFingerprint(key: Uint8Array): string {
  return sha256Hex(hmacSha256(key, Buffer.from('consent-ledger/fingerprint/v1'))).slice(0, 16);
}

/** The deduplication key of an entry: HMAC over length-prefixed parts, so that no two part lists collide. */
export function dedupeKeyOf(dedupe: Uint8Array, ...parts: readonly (string | Uint8Array)[]): Buffer {
  if (parts.length === 1 && typeof parts[0] !== 'string') return hmacSha256(dedupe, parts[0] as Uint8Array);
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
