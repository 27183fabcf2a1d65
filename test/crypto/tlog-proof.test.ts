import { expect, test } from 'vitest';
import { sha256 } from '../../src/crypto/hash.ts';
import { EMPTY_FRONTIER, growFrontier, nodeHashOf, rootOf } from '../../src/crypto/merkle.ts';
import {
  consistencyPath,
  formatTlogProof,
  inclusionPath,
  type Leaves,
  provesConsistency,
  provesInclusion,
  splitOf,
} from '../../src/crypto/tlog-proof.ts';
import vectors from './tree-vectors.json' with { type: 'json' };

const bytes = (hex: string) => Buffer.from(hex, 'hex');
const leafHashes = vectors.leaves.map((leaf) => sha256(Buffer.concat([Buffer.from([0]), bytes(leaf)])));
const roots = vectors.roots.map(bytes);

/** RFC 6962 §2.1, literally. */
function hashOf({ start, end }: Leaves, leaves: readonly Buffer[]): Buffer {
  if (end - start === 1) return leaves[start] as Buffer;
  const middle = start + splitOf(end - start);
  return nodeHashOf(hashOf({ start, end: middle }, leaves), hashOf({ start: middle, end }, leaves));
}

test('the reference tree has the published roots', () => {
  for (const [place, root] of roots.entries())
    expect(rootOf(growFrontier(EMPTY_FRONTIER, leafHashes.slice(0, place + 1)))).toEqual(root);
});

test.each(vectors.inclusion)('the inclusion proof of leaf $index in $size is the published one', (vector) => {
  const { index, size } = vector;
  const proof = vector.proof.map(bytes);
  expect(inclusionPath(index, size).map((run) => hashOf(run, leafHashes))).toEqual(proof);
  const [leaf, root] = [leafHashes[index] as Buffer, roots[size - 1] as Buffer];
  expect(provesInclusion(leaf, index, size, proof, root)).toBe(true);
  // The changes that transparency-dev's tests try against a verifier (corruptInclusionProof).
  const wrong: [number, number, Buffer[], Buffer, Buffer][] = [
    [index - 1, size, proof, root, leaf],
    [index + 1, size, proof, root, leaf],
    [index ^ 2, size, proof, root, leaf],
    [index, size * 2, proof, root, leaf],
    [index, Math.floor(size / 2), proof, root, leaf],
    [index, size, proof, root, sha256(Buffer.from('WrongLeaf'))],
    [index, size, proof, sha256(Buffer.alloc(0)), leaf],
    [index, size, [...proof, Buffer.alloc(0)], root, leaf],
    [index, size, [...proof, root], root, leaf],
    [index, size, [root, ...proof], root, leaf],
    ...proof.map(
      (_, at) => [index, size, flipped(proof, at), root, leaf] as [number, number, Buffer[], Buffer, Buffer],
    ),
    ...(proof.length > 0
      ? [[index, size, proof.slice(0, -1), root, leaf] as [number, number, Buffer[], Buffer, Buffer]]
      : []),
  ];
  for (const [at, n, p, r, l] of wrong) expect(provesInclusion(l, at, n, p, r)).toBe(false);
});

test.each(vectors.consistency)(
  'the consistency proof from $from to $to is the published one',
  ({ from, to, proof: hex }) => {
    const proof = hex.map(bytes);
    expect(consistencyPath(from, to).map((run) => hashOf(run, leafHashes))).toEqual(proof);
    const [old, now] = [
      { size: from, root: roots[from - 1] as Buffer },
      { size: to, root: roots[to - 1] as Buffer },
    ];
    expect(provesConsistency(old, now, proof)).toBe(true);
    if (proof.length === 0) return;
    // The changes that transparency-dev's tests try against a verifier (corruptConsistencyProof).
    for (const size of [from - 1, from + 1, from ^ 2])
      expect(provesConsistency({ ...old, size }, now, proof)).toBe(false);
    for (const size of [to * 2, Math.floor(to / 2)])
      expect(provesConsistency(old, { ...now, size }, proof)).toBe(false);
    const other = sha256(Buffer.from('WrongRoot'));
    expect(provesConsistency({ ...old, root: other }, now, proof)).toBe(false);
    expect(provesConsistency(old, { ...now, root: other }, proof)).toBe(false);
    expect(provesConsistency({ ...old, root: now.root }, { ...now, root: old.root }, proof)).toBe(false);
    const first = proof[0] as Buffer;
    const garbage = [[], [...proof, Buffer.alloc(0)], [...proof, now.root], [now.root, ...proof], [first, ...proof]];
    for (const wrong of [...garbage, proof.slice(0, -1), ...proof.map((_, at) => flipped(proof, at))])
      expect(provesConsistency(old, now, wrong)).toBe(false);
  },
);

test('there are proofs for every leaf of every tree up to 70, and that every tree continues every earlier one', () => {
  const leaves = Array.from({ length: 70 }, (_, n) => sha256(Buffer.from([n])));
  const rootAt = leaves.map((_, place) => rootOf(growFrontier(EMPTY_FRONTIER, leaves.slice(0, place + 1))));
  for (let size = 1; size <= leaves.length; size += 1) {
    const root = rootAt[size - 1] as Buffer;
    for (let place = 0; place < size; place += 1) {
      const inclusion = inclusionPath(place, size).map((run) => hashOf(run, leaves));
      expect(provesInclusion(leaves[place] as Buffer, place, size, inclusion, root)).toBe(true);
      const earlier = { size: place + 1, root: rootAt[place] as Buffer };
      const consistency = consistencyPath(place + 1, size).map((run) => hashOf(run, leaves));
      expect(provesConsistency(earlier, { size, root }, consistency)).toBe(true);
    }
  }
});

// The worked example of RFC 9162 §2.1.5: the tree of seven leaves, with the names of its nodes.
test('the paths match the example in RFC 9162 §2.1.5', () => {
  const names: Record<string, string> = {
    '0-1': 'a',
    '1-2': 'b',
    '2-3': 'c',
    '3-4': 'd',
    '4-5': 'e',
    '5-6': 'f',
    '6-7': 'j',
  };
  const inner: Record<string, string> = { '0-2': 'g', '2-4': 'h', '4-6': 'i', '0-4': 'k', '4-7': 'l' };
  const named = (runs: readonly Leaves[]) => runs.map(({ start, end }) => ({ ...names, ...inner })[`${start}-${end}`]);
  expect(named(inclusionPath(0, 7))).toEqual(['b', 'h', 'l']);
  expect(named(inclusionPath(3, 7))).toEqual(['c', 'g', 'l']);
  expect(named(inclusionPath(4, 7))).toEqual(['f', 'j', 'k']);
  expect(named(inclusionPath(6, 7))).toEqual(['i', 'k']);
  expect(named(consistencyPath(3, 7))).toEqual(['c', 'd', 'g', 'l']);
  expect(named(consistencyPath(4, 7))).toEqual(['l']);
  expect(named(consistencyPath(6, 7))).toEqual(['i', 'j', 'k']);
});

test('a proof file has the lines required by c2sp.org/tlog-proof', () => {
  const proof = {
    index: 6,
    hashes: [Buffer.alloc(32, 1), Buffer.alloc(32, 2)],
    extra: Buffer.from('x'),
    note: 'o\n7\nr\n\n— o s\n',
  };
  expect(formatTlogProof(proof)).toBe(
    `c2sp.org/tlog-proof@v1\nextra eA==\nindex 6\n${Buffer.alloc(32, 1).toString('base64')}\n${Buffer.alloc(32, 2).toString('base64')}\n\no\n7\nr\n\n— o s\n`,
  );
});

function flipped(proof: readonly Buffer[], at: number): Buffer[] {
  return proof.map((hash, place) => {
    const copy = Buffer.from(hash);
    if (place === at) copy[0] = (copy[0] ?? 0) ^ 8;
    return copy;
  });
}
