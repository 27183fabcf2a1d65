import { sha256 } from './hash.ts';

/** 0x01 and space for two hashes. */
const pair = Buffer.alloc(65, 1);

/** Interior node hash, RFC 6962 §2.1: SHA-256(0x01 ‖ left ‖ right). */
export function nodeHashOf(left: Uint8Array, right: Uint8Array): Buffer {
  if (left.length !== 32 || right.length !== 32) return sha256(Buffer.concat([pair.subarray(0, 1), left, right]));
  pair.set(left, 1);
  pair.set(right, 33);
  return sha256(pair);
}

/** Root of the empty tree, RFC 6962 §2.1: SHA-256 of nothing. */
const EMPTY_ROOT = sha256(new Uint8Array());

/**
 * The right edge of a growing Merkle tree: the roots of its full subtrees, largest first. Enough to keep appending and
 * to compute the root at each size, in memory logarithmic in the size.
 */
export interface Frontier {
  readonly size: number;
  readonly subtrees: readonly Buffer[];
}

export const EMPTY_FRONTIER: Frontier = { size: 0, subtrees: [] };

/** Appends leaf hashes in order. */
export function growFrontier(frontier: Frontier, leafHashes: Iterable<Uint8Array>): Frontier {
  const subtrees = [...frontier.subtrees];
  let { size } = frontier;
  for (const leafHash of leafHashes) {
    let node = leafHash;
    // As many full subtrees merge as the size has trailing one bits. Sizes exceed 2^31, so no bitwise operators.
    for (let rest = size; rest % 2 === 1; rest = Math.floor(rest / 2)) {
      node = nodeHashOf(subtrees.pop() as Buffer, node);
    }
    // Copied, because a leaf's hash may be a view into a large buffer.
    subtrees.push(Buffer.from(node));
    size += 1;
  }
  return { size, subtrees };
}

/** Root hash (Merkle tree head) of the tree with this right edge. */
export function rootOf(frontier: Frontier): Buffer {
  const [...subtrees] = frontier.subtrees;
  let root = subtrees.pop();
  if (root === undefined) return EMPTY_ROOT;
  for (let left = subtrees.pop(); left !== undefined; left = subtrees.pop()) root = nodeHashOf(left, root);
  return root;
}

/** The frontier as bytes: its subtrees concatenated. */
export function packFrontier(frontier: Frontier): Buffer {
  return Buffer.concat(frontier.subtrees);
}

/** Reads {@link packFrontier} back. Throws RangeError if the bytes do not fit the size. */
export function unpackFrontier(size: number, bytes: Uint8Array): Frontier {
  let ones = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2;
  if (bytes.length !== ones * 32)
    throw new RangeError(`a frontier of size ${size} has ${ones * 32} bytes, got ${bytes.length}`);
  return {
    size,
    subtrees: Array.from({ length: ones }, (_, place) => Buffer.from(bytes.subarray(place * 32, place * 32 + 32))),
  };
}
