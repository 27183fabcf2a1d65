import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EMPTY_FRONTIER, growFrontier, packFrontier, rootOf, unpackFrontier } from '../../src/crypto/merkle.ts';

const sha = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();

/** RFC 6962 §2.1, literally: split at the largest power of two smaller than n. */
function rfcRoot(leaves: Buffer[]): Buffer {
  if (leaves.length === 0) return sha();
  if (leaves.length === 1) return leaves[0] as Buffer;
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return sha(Buffer.from([1]), rfcRoot(leaves.slice(0, k)), rfcRoot(leaves.slice(k)));
}

test('the root matches RFC 6962 at every size, however the leaves are added', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 300 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 10 }),
      (n, steps) => {
        const leaves = Array.from({ length: n }, (_, i) => sha(Buffer.from(`leaf ${i}`)));
        let frontier = EMPTY_FRONTIER;
        for (const step of [...steps, n]) {
          frontier = growFrontier(frontier, leaves.slice(frontier.size, frontier.size + step));
          frontier = unpackFrontier(frontier.size, packFrontier(frontier));
          expect(rootOf(frontier)).toEqual(rfcRoot(leaves.slice(0, frontier.size)));
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('the root of the published RFC 6962 test tree is reproduced', () => {
  // The eight leaf inputs and the roots of the certificate-transparency reference test.
  const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
  const leaves = inputs.map((hex) => sha(Buffer.from([0]), Buffer.from(hex, 'hex')));
  const frontier = growFrontier(EMPTY_FRONTIER, leaves);
  expect(rootOf(frontier).toString('hex')).toBe('5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328');
});

test('a frontier of the wrong length is refused', () => {
  expect(() => unpackFrontier(3, Buffer.alloc(32))).toThrow(RangeError);
});
