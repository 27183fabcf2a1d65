import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ml_dsa44 } from '@noble/post-quantum/ml-dsa.js';
import { describe, expect, test } from 'vitest';
import {
  cosignersOf,
  inverseNtt,
  matrixEntry,
  ntt,
  parsePolicy,
  plainMlDsa44,
  plainShake,
} from '../../reports/verifier/verify.mjs';
import { runs } from '../temporary.ts';

const { wycheproof: vector, torchwood } = JSON.parse(
  readFileSync(new URL('ml-dsa-44.json', import.meta.url), 'utf8'),
) as {
  readonly wycheproof: Readonly<Record<'publicKey' | 'message' | 'signature', string>>;
  readonly torchwood: Readonly<Record<'seed' | 'name' | 'keyId' | 'checkpoint' | 'signature', string>>;
};
const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const [key, message, signature] = [bytes(vector.publicKey), bytes(vector.message), bytes(vector.signature)];

/** Whether both accept it: the library that the program uses, and the verifier that is handed out. */
function isAccepted(given: Uint8Array, of: Uint8Array = message, by: Uint8Array = key): boolean {
  const byVerifier = plainMlDsa44(by, given, of);
  let byLibrary = false;
  try {
    byLibrary = ml_dsa44.verify(given, of, by);
  } catch {
    // Some lengths are refused with an error.
  }
  expect(byVerifier).toBe(byLibrary);
  return byVerifier;
}

/** The signature with other bytes at a place. */
function withBytes(place: number, ...values: number[]): Uint8Array {
  const changed = signature.slice();
  changed.set(values, place);
  return changed;
}

/** Where the parts of a signature begin (FIPS 204 algorithm 27). */
const [RESPONSE, HINTS, ENDS] = [32, 32 + 4 * 576, 32 + 4 * 576 + 80];

describe('ML-DSA-44', () => {
  test('accepts the published signature, and no other message, key or context', () => {
    expect(isAccepted(signature)).toBe(true);
    expect(isAccepted(signature, bytes(`${vector.message}00`))).toBe(false);
    expect(
      isAccepted(
        signature,
        message,
        key.map((byte, at) => (at === 700 ? byte ^ 1 : byte)),
      ),
    ).toBe(false);
    expect(isAccepted(signature, message, new Uint8Array(ml_dsa44.keygen().publicKey))).toBe(false);
    const { publicKey, secretKey } = ml_dsa44.keygen();
    const elsewhere = ml_dsa44.sign(message, secretKey, { context: bytes('01') });
    expect(isAccepted(elsewhere, message, publicKey)).toBe(false);
  });

  test.each([
    ['the challenge', 0],
    ['the response', RESPONSE + 100],
    ['the end of the response', HINTS - 1],
    ['a hint', HINTS + 3],
    ['the last end of the hints', ENDS + 3],
  ])('refuses a change of %s', (_, place) => {
    expect(isAccepted(withBytes(place, (signature[place] ?? 0) ^ 1))).toBe(false);
  });

  test('refuses other lengths', () => {
    for (const length of [0, 64, 2419]) expect(isAccepted(signature.slice(0, length))).toBe(false);
    expect(isAccepted(new Uint8Array([...signature, 0]))).toBe(false);
    for (const short of [key.slice(0, 32), key.slice(0, 1311), new Uint8Array([...key, 0])])
      expect(isAccepted(signature, message, short)).toBe(false);
  });

  test('refuses hints that are not encoded in the one valid way', () => {
    const ends = [...signature.slice(ENDS)];
    expect(ends).toEqual([18, 31, 50, 62]);
    const first = [...signature.slice(HINTS, HINTS + 2)] as [number, number];
    // In another order, repeated, and with something after the last one.
    expect(isAccepted(withBytes(HINTS, first[1], first[0]))).toBe(false);
    expect(isAccepted(withBytes(HINTS, first[1], first[1]))).toBe(false);
    expect(isAccepted(withBytes(HINTS + 79, 1))).toBe(false);
    // More than there may be, and an end before the one in front of it.
    expect(isAccepted(withBytes(ENDS + 3, 81))).toBe(false);
    expect(isAccepted(withBytes(ENDS + 1, 17))).toBe(false);
  });

  test('refuses a response at the bound of its norm', () => {
    // Eighteen bits of zeros stand for γ1, ones for 1 − γ1.
    expect(isAccepted(withBytes(RESPONSE, 0, 0, 0))).toBe(false);
    expect(isAccepted(withBytes(RESPONSE, 255, 255, 255))).toBe(false);
  });

  test('agrees with the library about keys and messages of any length', () => {
    for (let nth = 0; nth < runs(8); nth += 1) {
      const { publicKey, secretKey } = ml_dsa44.keygen();
      const text = new Uint8Array(Buffer.alloc(nth * 67, nth));
      const signed = ml_dsa44.sign(text, secretKey);
      expect(isAccepted(signed, text, publicKey)).toBe(true);
      const place = (nth * 331) % signed.length;
      signed[place] = (signed[place] ?? 0) ^ (1 << (nth % 8));
      expect(isAccepted(signed, text, publicKey)).toBe(false);
    }
  });
});

/** Little-endian numbers of `width` bits. */
function packed(numbers: readonly number[], width: number): Buffer {
  const all = numbers.reduceRight((sum, one) => (sum << BigInt(width)) | BigInt(one), 0n);
  const bytes = Buffer.from(all.toString(16).padStart((numbers.length * width) / 4, '0'), 'hex');
  return bytes.reverse();
}
const shake256 = (length: number, ...parts: Uint8Array[]) =>
  createHash('shake256', { outputLength: length }).update(Buffer.concat(parts)).digest();

const [Q, GAMMA1, GAMMA2] = [8380417, 2 ** 17, 95232];
const seed = new Uint8Array(Buffer.alloc(32, 7));
/** A key with t1 = 0, with which anybody can sign: the challenge is multiplied by nothing. */
const open = new Uint8Array(Buffer.concat([seed, Buffer.alloc(4 * 320)]));

const matrix = [0, 1, 2, 3].map((row) => [0, 1, 2, 3].map((column) => matrixEntry(seed, row, column)));

/** A·z for that key. */
function productOf(z: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const transformed = z.map((one) => ntt(one));
  return matrix.map((row) => {
    const sum = new Array<number>(256).fill(0);
    for (const [column, one] of transformed.entries())
      for (const [n, a] of (row[column] ?? []).entries()) sum[n] = ((sum[n] ?? 0) + a * (one[n] ?? 0)) % Q;
    return inverseNtt(sum);
  });
}

/** High and low part (FIPS 204 algorithm 36). */
function decompose(number: number): readonly [high: number, low: number] {
  const high = Math.ceil((number - GAMMA2) / (2 * GAMMA2));
  return high === 44 ? [0, number - Q] : [high, number - high * 2 * GAMMA2];
}

/** A signature of that key with any response and hints; `encoded`: the last 84 bytes, if not as they should be. */
function forge(
  z: readonly (readonly number[])[],
  hints: readonly (readonly number[])[] = [[], [], [], []],
  encoded?: Buffer,
) {
  const high = productOf(z).map((row, at) =>
    row.map((number, place) => {
      const [part, low] = decompose(number);
      return hints[at]?.includes(place) === true ? (part + (low > 0 ? 1 : 43)) % 44 : part;
    }),
  );
  const mu = shake256(64, shake256(64, open), Buffer.of(0, 0), message);
  const challenge = shake256(32, mu, ...high.map((row) => packed(row, 6)));
  const response = z.map((one) =>
    packed(
      one.map((x) => GAMMA1 - x),
      18,
    ),
  );
  let end = 0;
  const ends = hints.map((row) => (end += row.length));
  const places = Buffer.alloc(80);
  places.set(hints.flat().slice(0, 80));
  return new Uint8Array(Buffer.concat([challenge, ...response, encoded ?? Buffer.concat([places, Buffer.from(ends)])]));
}

describe('ML-DSA-44 with a key for which anybody can sign', () => {
  const bound = GAMMA1 - 78;
  const response = (...first: number[]) =>
    [0, 1, 2, 3].map((row) =>
      Array.from({ length: 256 }, (_, n) => (row === 2 ? first[n] : undefined) ?? ((n * 977 + row * 5) % 4001) - 2000),
    );

  test('accepts a response below the bound of its norm, and none at it', () => {
    expect(isAccepted(forge(response()), message, open)).toBe(true);
    for (const sign of [1, -1]) {
      expect(isAccepted(forge(response(sign * (bound - 1))), message, open)).toBe(true);
      expect(isAccepted(forge(response(sign * bound)), message, open)).toBe(false);
    }
  });

  test('corrects by a hint upwards only above the middle', () => {
    const kinds = new Set<string>();
    for (let nth = 0; kinds.size < 4 && nth < 3000; nth += 1) {
      const z = response(nth);
      for (const [row, numbers] of productOf(z).entries())
        for (const [place, number] of numbers.entries()) {
          const [high, low] = decompose(number);
          const kind = low === 0 ? 'middle' : high === 0 && number > Q / 2 ? 'last' : low > 0 ? 'above' : 'below';
          if (kinds.has(kind)) continue;
          kinds.add(kind);
          const hints = [0, 1, 2, 3].map((at) => (at === row ? [place] : []));
          expect([kind, isAccepted(forge(z, hints), message, open)]).toEqual([kind, true]);
        }
    }
    expect([...kinds].sort()).toEqual(['above', 'below', 'last', 'middle']);
  });

  test('refuses ends of hints that go back, or beyond the hints', () => {
    const good = [[5], [], [9, 200], []];
    expect(isAccepted(forge(response(), good), message, open)).toBe(true);
    const places = (...values: number[]) => Buffer.concat([Buffer.from(values), Buffer.alloc(80 - values.length)]);
    // A reader that does not check them reads the first hint again in the third row …
    const back = Buffer.concat([places(5), Buffer.of(1, 0, 1, 1)]);
    expect(isAccepted(forge(response(), [[5], [], [5], []], back), message, open)).toBe(false);
    // … and the first end as a hint in the fourth.
    const eighty = Array.from({ length: 80 }, (_, n) => n);
    const beyond = Buffer.concat([Buffer.from(eighty), Buffer.of(80, 80, 80, 81)]);
    expect(isAccepted(forge(response(), [eighty, [], [], [80]], beyond), message, open)).toBe(false);
    expect(isAccepted(forge(response(), [eighty, [], [], []]), message, open)).toBe(true);
  });
});

test('the cosignature of another implementation is over the same message', async () => {
  const { seed: ofKey, name, keyId, checkpoint, signature: encoded } = torchwood;
  const publicKey = Buffer.concat([Buffer.of(6), ml_dsa44.keygen(bytes(ofKey)).publicKey]);
  const policy = await parsePolicy(`witness w ${name}+${keyId}+${publicKey.toString('base64')}\nquorum w\n`);
  const found = (text: string) => cosignersOf(`${text}\n— ${name} ${encoded}\n`, policy);
  // It was made without a time, so it is checked, but does not count.
  expect(await found(checkpoint)).toEqual({
    signed: [],
    ahead: [],
    uncounted: ['that of w does not say when it was made'],
  });
  await expect(found(checkpoint.replace('\n1\n', '\n2\n'))).rejects.toThrow('is invalid');
  await expect(found(checkpoint.replace('mldsa-log', 'other'))).rejects.toThrow('is invalid');
});

test.each([
  ['shake128', 168],
  ['shake256', 136],
] as const)('%s of the verifier is that of Node', (name, rate) => {
  for (const length of [0, 1, rate - 1, rate, rate + 1, 3 * rate]) {
    const input = new Uint8Array(Buffer.alloc(length, length));
    const expected = createHash(name, { outputLength: 500 }).update(input).digest();
    expect(Buffer.from(plainShake(rate, input, 500))).toEqual(expected);
  }
});
