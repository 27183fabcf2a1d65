import * as crypto from 'node:crypto';
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

type OneShot = (algorithm: string, data: Uint8Array | string, encoding: 'latin1') => string;
/*
 * Node 20.12 and later have the one-shot form. It returns a string in a third of the time that it takes to return a
 * buffer, since each buffer has its own memory: 0.7 µs instead of 2 µs for a log row, and hashing takes most of the
 * time of an append.
 */
const oneShot = (crypto as unknown as { hash?: OneShot }).hash;

/** SHA-256 of bytes, or of a text in UTF-8. */
export function sha256(data: Uint8Array | string): Buffer {
  return oneShot
    ? Buffer.from(oneShot('sha256', data, 'latin1'), 'latin1')
    : createHash('sha256').update(data).digest();
}

/** Writes the SHA-256 into `target` at `offset`. */
export function sha256Into(data: Uint8Array, target: Buffer, offset: number): void {
  if (oneShot) target.write(oneShot('sha256', data, 'latin1'), offset, 32, 'latin1');
  else createHash('sha256').update(data).digest().copy(target, offset);
}

/** SHA-256 of bytes, lower-case hex. */
export function sha256Hex(data: Uint8Array): string {
  return sha256(data).toString('hex');
}

/** SHA-256 of everything that a stream yields, lower-case hex. */
export async function sha256OfStream(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest('hex');
}

/** Hashes and counts what passes through it. */
export function createTally() {
  const hash = createHash('sha256');
  let bytes = 0;
  return {
    async *pass<Chunk extends Uint8Array>(source: AsyncIterable<Chunk>): AsyncGenerator<Chunk> {
      for await (const chunk of source) {
        hash.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    },
    /** Call it once, when everything has passed through. `sha256`: lower-case hex. */
    total: () => ({ bytes, sha256: hash.digest('hex') }),
  };
}

/** HMAC-SHA-256 (RFC 2104). The bytes of `key` must not change later. */
export function hmacSha256(key: Uint8Array, data: Uint8Array): Buffer {
  // Above this, copying the message costs more than the library's objects.
  if (oneShot === undefined || data.length > MESSAGE || key.length > BLOCK)
    return createHmac('sha256', key).update(data).digest();
  const { inner, outer } = padsOf(key);
  inner.set(data, BLOCK);
  outer.write(oneShot('sha256', inner.subarray(0, BLOCK + data.length), 'latin1'), BLOCK, 32, 'latin1');
  return Buffer.from(oneShot('sha256', outer, 'latin1'), 'latin1');
}

/** SHA-256's block size, and the longest message that is copied next to the key's pad. */
const BLOCK = 64;
const MESSAGE = 8192;

interface Pads {
  /** The key with RFC 2104's ipad, and room for the message. */
  readonly inner: Buffer;
  /** The key with its opad, and room for the inner digest. */
  readonly outer: Buffer;
}

/** Cached for as long as the key lives. */
const pads = new WeakMap<Uint8Array, Pads>();

function padsOf(key: Uint8Array): Pads {
  const kept = pads.get(key);
  if (kept !== undefined) return kept;
  const made = { inner: Buffer.alloc(BLOCK + MESSAGE, 0x36), outer: Buffer.alloc(BLOCK + 32, 0x5c) };
  for (const [place, byte] of key.entries()) {
    made.inner[place] = byte ^ 0x36;
    made.outer[place] = byte ^ 0x5c;
  }
  pads.set(key, made);
  return made;
}

/** Constant-time comparison; false at once if the lengths differ (lengths are not secret here). */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
