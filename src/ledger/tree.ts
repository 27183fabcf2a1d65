import { EMPTY_FRONTIER, type Frontier, growFrontier, nodeHashOf, rootOf, unpackFrontier } from '../crypto/merkle.ts';
import { consistencyPath, inclusionPath, type Leaves, splitOf } from '../crypto/tlog-proof.ts';
import type { Query } from '../store/store.ts';

/** Leaves that are read at once; a power of two. */
const BLOCK = 1024;
/** Blocks that are kept: 16 MiB. */
const BLOCKS = 512;

/**
 * The Merkle tree over the stored leaf hashes, for proofs. What a checkpoint's frontier says of a full subtree is taken instead of its leaves, so a
 * proof reads a number of rows that grows with the logarithm of the ledger wherever it was sealed often. Nothing of it is trusted: check each proof
 * against a signed root.
 */
export interface Tree {
  /** Hashes of the inclusion proof of a leaf in the tree of `size` leaves; null when an entry is missing. */
  inclusion(index: number, size: number): Promise<readonly Buffer[] | null>;
  /** Hashes of the proof that the tree of `from` leaves is the beginning of that of `to`; null when an entry is missing. */
  consistency(from: number, to: number): Promise<readonly Buffer[] | null>;
  /** Root of the first `size` leaves; null when an entry is missing. */
  root(size: number): Promise<Buffer | null>;
}

export function openTree(read: Query, epoch: number): Tree {
  const known = new Map<string, Buffer>();
  const blocks = new Map<number, readonly Buffer[]>();

  async function hashesOf(path: readonly Leaves[]): Promise<readonly Buffer[] | null> {
    const hashes: Buffer[] = [];
    for (const run of path) {
      const hash = await hashOf(run);
      if (hash === null) return null;
      hashes.push(hash);
    }
    return hashes;
  }

  async function hashOf({ start, end }: Leaves): Promise<Buffer | null> {
    const size = end - start;
    if (Math.floor(start / BLOCK) === Math.floor((end - 1) / BLOCK)) return hashWithinBlock(start, end);
    const middle = start + splitOf(size);
    const isFull = middle - start === size / 2;
    const found = known.get(`${start} ${end}`) ?? (isFull ? await hashAtCheckpoint({ start, end }) : undefined);
    if (found !== undefined) return found;
    const left = await hashOf({ start, end: middle });
    const right = left === null ? null : await hashOf({ start: middle, end });
    if (left === null || right === null) return null;
    const hash = nodeHashOf(left, right);
    if (isFull) known.set(`${start} ${end}`, hash);
    return hash;
  }

  async function hashWithinBlock(start: number, end: number): Promise<Buffer | null> {
    const first = start - (start % BLOCK);
    let leaves = blocks.get(first);
    if (leaves === undefined || leaves.length < end - first) {
      leaves = await leafHashes(read, first, first + BLOCK);
      if (blocks.size >= BLOCKS) blocks.clear();
      blocks.set(first, leaves);
    }
    if (leaves.length < end - first) return null;
    return rootOf(growFrontier(EMPTY_FRONTIER, leaves.slice(start - first, end - first)));
  }

  /** A full subtree on the left of its sibling is on the right edge of every tree that ends before the sibling does. */
  async function hashAtCheckpoint({ start, end }: Leaves): Promise<Buffer | undefined> {
    const size = end - start;
    if ((start / size) % 2 === 1) return undefined;
    const row = await read
      .selectFrom('checkpoints')
      .select(['size', 'frontier'])
      .where('epoch', '=', epoch)
      .where('size', '>=', end)
      .where('size', '<', end + size)
      .orderBy('size')
      .limit(1)
      .executeTakeFirst();
    const frontier = row === undefined ? null : unpacked(row);
    if (frontier === null) return undefined;
    let at = 0;
    for (const subtree of frontier.subtrees) {
      const width = largestPowerOfTwo(frontier.size - at);
      known.set(`${at} ${at + width}`, subtree);
      at += width;
    }
    return known.get(`${start} ${end}`);
  }

  return {
    inclusion: (index, size) => hashesOf(inclusionPath(index, size)),
    consistency: (from, to) => hashesOf(consistencyPath(from, to)),
    root: async (size) => (size === 0 ? rootOf(EMPTY_FRONTIER) : hashOf({ start: 0, end: size })),
  };
}

/** At most n. */
function largestPowerOfTwo(n: number): number {
  return n === 1 ? 1 : splitOf(n + 1);
}

function unpacked({ size, frontier }: { size: number; frontier: Buffer }): Frontier | null {
  try {
    return unpackFrontier(size, frontier);
  } catch {
    return null;
  }
}

/** Leaf hashes from an index on, up to where one is missing. */
async function leafHashes(read: Query, start: number, end: number): Promise<readonly Buffer[]> {
  const rows = await read
    .selectFrom('entries')
    .select(['seq', 'leaf_hash'])
    .where('seq', '>', start)
    .where('seq', '<=', end)
    .orderBy('seq')
    .execute();
  const gap = rows.findIndex((row, place) => row.seq !== start + 1 + place || !Buffer.isBuffer(row.leaf_hash));
  return (gap < 0 ? rows : rows.slice(0, gap)).map((row) => row.leaf_hash);
}
