import { equalBytes } from './hash.ts';
import { nodeHashOf } from './merkle.ts';

/** A range of leaves from `start` to `end`, exclusive. */
export interface Leaves {
  readonly start: number;
  readonly end: number;
}

/** The largest power of two below n, as RFC 6962 §2.1 splits a tree of n leaves. */
export function splitOf(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

/**
 * The ranges whose hashes form the inclusion proof of a leaf in the tree of `size` leaves (RFC 6962 §2.1.1), from the
 * leaf's sibling upwards.
 */
export function inclusionPath(index: number, size: number): readonly Leaves[] {
  const path: Leaves[] = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + splitOf(end - start);
    if (index < middle) {
      path.push({ start: middle, end });
      end = middle;
    } else {
      path.push({ start, end: middle });
      start = middle;
    }
  }
  return path.reverse();
}

/**
 * The ranges whose hashes prove that the tree of `from` leaves is the beginning of the tree of `to` leaves (RFC 6962
 * §2.1.2). Empty if `from` is 0 or equals `to`.
 */
export function consistencyPath(from: number, to: number): readonly Leaves[] {
  if (from === 0) return [];
  const path: Leaves[] = [];
  let [start, end] = [0, to];
  while (end > from) {
    const middle = start + splitOf(end - start);
    if (from <= middle) {
      path.push({ start: middle, end });
      end = middle;
    } else {
      path.push({ start, end: middle });
      start = middle;
    }
  }
  // The verifier knows the root of the old tree, but not those of its parts.
  if (start > 0) path.push({ start, end });
  return path.reverse();
}

const half = (n: number) => Math.floor(n / 2);

/** Whether a proof leads from a leaf to the root (RFC 9162 §2.1.3.2). */
export function provesInclusion(
  leafHash: Uint8Array,
  index: number,
  size: number,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (!(index >= 0 && index < size)) return false;
  let [place, last] = [index, size - 1];
  let hash = leafHash;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      hash = nodeHashOf(sibling, hash);
      while (place % 2 === 0 && place !== 0) [place, last] = [half(place), half(last)];
    } else {
      hash = nodeHashOf(hash, sibling);
    }
    [place, last] = [half(place), half(last)];
  }
  return last === 0 && equalBytes(hash, root);
}

/**
 * Whether a proof leads from the root of an earlier tree to that of a later one (RFC 9162 §2.1.4.2). Every tree
 * continues the empty one.
 */
export function provesConsistency(
  earlier: { readonly size: number; readonly root: Uint8Array },
  later: { readonly size: number; readonly root: Uint8Array },
  proof: readonly Uint8Array[],
): boolean {
  if (earlier.size > later.size) return false;
  if (earlier.size === later.size) return proof.length === 0 && equalBytes(earlier.root, later.root);
  if (earlier.size === 0) return proof.length === 0;
  let [place, last] = [earlier.size - 1, later.size - 1];
  while (place % 2 === 1) [place, last] = [half(place), half(last)];
  const [first, ...rest] = place === 0 ? [earlier.root, ...proof] : proof;
  if (first === undefined) return false;
  let [old, grown] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      old = nodeHashOf(sibling, old);
      grown = nodeHashOf(sibling, grown);
      while (place % 2 === 0 && place !== 0) [place, last] = [half(place), half(last)];
    } else {
      grown = nodeHashOf(grown, sibling);
    }
    [place, last] = [half(place), half(last)];
  }
  return last === 0 && equalBytes(old, earlier.root) && equalBytes(grown, later.root);
}

/** Formats a proof as a file: C2SP tlog-proof (c2sp.org/tlog-proof). `extra` is what the leaf is recomputed from. */
export function formatTlogProof(proof: {
  readonly index: number;
  readonly hashes: readonly Uint8Array[];
  readonly extra: Uint8Array;
  /** The signed checkpoint. */
  readonly note: string;
}): string {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const lines = [`extra ${base64(proof.extra)}`, `index ${proof.index}`, ...proof.hashes.map(base64)];
  return `c2sp.org/tlog-proof@v1\n${lines.join('\n')}\n\n${proof.note}`;
}

/** Formats a consistency proof as a file: the body of a request to a witness (c2sp.org/tlog-witness, add-checkpoint). */
export function formatConsistencyProof(from: number, hashes: readonly Uint8Array[], note: string): string {
  return `${[`old ${from}`, ...hashes.map((hash) => Buffer.from(hash).toString('base64'))].join('\n')}\n\n${note}`;
}
