import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openSealed, sealBytes } from '../../src/crypto/keys.ts';

const key = randomBytes(32);

test('a sealed value opens with the same key and context', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (plain, context) => {
      expect(openSealed(key, sealBytes(key, plain, context), context)).toEqual(Buffer.from(plain));
    }),
  );
});

test('a sealed value does not open with another key or context', () => {
  const sealed = sealBytes(key, Buffer.from('x'), 'source:a');
  expect(openSealed(randomBytes(32), sealed, 'source:a')).toBeNull();
  expect(openSealed(key, sealed, 'source:b')).toBeNull();
});

test('any altered, truncated or extended form is refused', () => {
  const sealed = sealBytes(key, Buffer.from('some text'), 'c');
  for (let place = 0; place < sealed.length; place++) {
    const altered = Buffer.from(sealed);
    altered[place] = (altered[place] ?? 0) ^ 1;
    expect(openSealed(key, altered, 'c')).toBeNull();
    expect(openSealed(key, sealed.subarray(0, place), 'c')).toBeNull();
  }
  expect(openSealed(key, Buffer.concat([sealed, Buffer.from([0])]), 'c')).toBeNull();
});

test('sealing the same bytes gives a different result each time', () => {
  expect(sealBytes(key, Buffer.from('x'), 'c').equals(sealBytes(key, Buffer.from('x'), 'c'))).toBe(false);
});
