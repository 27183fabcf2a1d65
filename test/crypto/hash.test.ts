import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hmacSha256, sha256, sha256Hex } from '../../src/crypto/hash.ts';
import { dedupeKeyOf } from '../../src/crypto/keys.ts';

describe('hashes', () => {
  it('equal those of the library for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (data) => {
        const expected = createHash('sha256').update(data).digest();
        expect(sha256(data)).toEqual(expected);
        expect(sha256Hex(data)).toBe(expected.toString('hex'));
      }),
    );
  });

  it('with a key equal those of the library for any sequence of keys and messages', () => {
    const message = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom(0, 63, 64, 8191, 8192, 8193, 20_000).map((length) => new Uint8Array(length).fill(0xa5)),
    );
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 140 }),
        fc.array(message, { minLength: 1, maxLength: 5 }),
        (key, messages) => {
          for (const data of messages)
            expect(hmacSha256(key, data)).toEqual(createHmac('sha256', key).update(data).digest());
        },
      ),
    );
  });
});

describe('a deduplication key', () => {
  it('is the HMAC over its length-prefixed parts, while a single part of bytes is used alone', () => {
    // Never a list itself.
    const bytesOf = fc.uint8Array({ maxLength: 40 }).map((bytes) => Uint8Array.of(0xff, ...bytes));
    const part = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 40 }), bytesOf);
    const key = Buffer.alloc(32, 3);
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        const [first] = parts;
        const alone = parts.length === 1 && typeof first !== 'string';
        const pieces = parts.flatMap((one) => {
          const bytes = Buffer.from(one as string);
          const length = Buffer.alloc(4);
          length.writeUInt32BE(bytes.length);
          return [length, bytes];
        });
        const message = alone ? Buffer.from(first as Uint8Array) : Buffer.concat(pieces);
        expect(dedupeKeyOf(key, ...parts)).toEqual(createHmac('sha256', key).update(message).digest());
      }),
    );
  });

  it('of a webhook is never that of a list of parts, whatever its body', () => {
    const key = Buffer.alloc(32, 7);
    const prefixed = (...parts: readonly (string | Buffer)[]) =>
      Buffer.concat(
        parts.flatMap((part) => {
          const length = Buffer.alloc(4);
          length.writeUInt32BE(Buffer.byteLength(part));
          return [length, Buffer.from(part as string)];
        }),
      );
    const record = ['erasure-record', '{"v":1}'] as const;
    expect(dedupeKeyOf(key, prefixed(...record))).not.toEqual(dedupeKeyOf(key, ...record));
    // Nor one that has been wrapped once.
    expect(dedupeKeyOf(key, prefixed(prefixed(...record)))).not.toEqual(dedupeKeyOf(key, prefixed(...record)));
    for (const body of [Buffer.from('{"event":"x"}'), Buffer.of(), Buffer.of(0, 0, 0, 1), Buffer.of(0, 0, 0, 0, 0)])
      expect(dedupeKeyOf(key, body)).toEqual(createHmac('sha256', key).update(body).digest());
  });
});
