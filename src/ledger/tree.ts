import { EMPTY_FRONTIER, type Frontier, growFrontier, nodeHashOf, rootOf, unpackFrontier } from '../crypto/merkle.ts';
import { consistencyPath, inclusionPath, type Leaves, splitOf } from '../crypto/tlog-proof.ts';
import type { Query } from '../store/store.ts';

/** Leaves read for the lowest part of a proof; a power of two. */
const BLOCK = 256;
/** Cached blocks: 16 MiB. */
const BLOCKS = 2048;
/** Maximum number of leaves read to grow a subtree from a checkpoint. */
const NEAR = 4096;

/**
 * The Merkle tree over the stored leaf hashes, for proofs. Full subtrees known from a checkpoint's frontier are used
 * instead of their leaves, so in a frequently sealed ledger a proof reads a number of rows that grows with the
 * logarithm of its size. Nothing here is trusted: check each proof against a signed root.
 */
export interface Tree {
  /** Hashes of the inclusion proof of a leaf in the tree of `size` leaves; null if an entry is missing. */
  inclusion(index: number, size: number): Promise<readonly Buffer[] | null>;
  /**
   * Hashes of the proof that the tree of `from` leaves is the beginning of the tree of `to` leaves; null if an entry is
   * missing.
   */
  consistency(from: number, to: number): Promise<readonly Buffer[] | null>;
  /** Root of the first `size` leaves; null if an entry is missing. */
  root(size: number): Promise<Buffer | null>;
  /** Root of a full subtree: a power of two of leaves, from a multiple of their number on; null if an entry is missing. */
  subtree(leaves: Leaves): Promise<Buffer | null>;
}

export function openTree(read: Query): Tree {
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
    if (Math.floor(start / BLOCK) === Math.floor((end - 1) / BLOCK)) return hashWithinBlock(start, end);
    const size = end - start;
    const middle = start + splitOf(size);
    const isFull = middle - start === size / 2;
    const found = known.get(`${start} ${end}`) ?? (isFull ? await hashByCheckpoint({ start, end }) : undefined);
    if (found !== undefined) return found;
    const left = await hashOf({ start, end: middle });
    const right = left === null ? null : await hashOf({ start: middle, end });
    if (left === null || right === null) return null;
    return keep({ start, end }, nodeHashOf(left, right));
  }

  function keep({ start, end }: Leaves, hash: Buffer): Buffer {
    known.set(`${start} ${end}`, hash);
    return hash;
  }

  /** Undefined if no checkpoint helps, so that its halves must be hashed. */
  async function hashByCheckpoint(run: Leaves): Promise<Buffer | null | undefined> {
    return (await hashAtCheckpoint(run)) ?? grow(run);
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

  /** A full subtree that is a left sibling is on the right edge of every tree that ends before its sibling does. */
  async function hashAtCheckpoint({ start, end }: Leaves): Promise<Buffer | undefined> {
    const size = end - start;
    if ((start / size) % 2 === 1) return undefined;
    const frontier = await frontierIn(end, end + size, 'asc');
    for (const { from, to, hash } of frontier === null ? [] : subtreesOf(frontier)) known.set(`${from} ${to}`, hash);
    return known.get(`${start} ${end}`);
  }

  /** Any other full subtree grows from the part known from the last checkpoint within it, if that is near its end. */
  async function grow(run: Leaves): Promise<Buffer | null | undefined> {
    const { start, end } = run;
    const last = await frontierIn(start + 1, end, 'desc');
    if (last === null || end - last.size > NEAR) return undefined;
    const begun = subtreesOf(last).filter(({ from }) => from >= start);
    const leaves = await leafHashes(read, last.size, end);
    if (leaves.length < end - last.size) return null;
    const edge = { size: last.size - start, subtrees: begun.map(({ hash }) => hash) };
    return keep(run, rootOf(growFrontier(edge, leaves)));
  }

  /** The right edge of the first or last sealed tree with a size from `least` to below `below`. */
  async function frontierIn(least: number, below: number, order: 'asc' | 'desc'): Promise<Frontier | null> {
    const row = await read
      .selectFrom('checkpoints')
      .select(['size', 'frontier'])
      .where('size', '>=', least)
      .where('size', '<', below)
      .orderBy('size', order)
      .limit(1)
      .executeTakeFirst();
    return row === undefined ? null : unpacked(row);
  }

  return {
    inclusion: (index, size) => hashesOf(inclusionPath(index, size)),
    consistency: (from, to) => hashesOf(consistencyPath(from, to)),
    root: async (size) => (size === 0 ? rootOf(EMPTY_FRONTIER) : hashOf({ start: 0, end: size })),
    subtree: hashOf,
  };
}

/** The full subtrees of a right edge with the leaves that each covers. */
function subtreesOf({ size, subtrees }: Frontier): readonly { from: number; to: number; hash: Buffer }[] {
  let at = 0;
  return subtrees.map((hash) => {
    const from = at;
    const rest = size - at;
    at += rest === 1 ? 1 : splitOf(rest + 1);
    return { from, to: at, hash };
  });
}

function unpacked({ size, frontier }: { size: number; frontier: Buffer }): Frontier | null {
  try {
    return unpackFrontier(size, frontier);
  } catch {
    return null;
  }
}

/** Leaf hashes from index `start` to `end` (exclusive), up to the first missing one. */
export async function leafHashes(read: Query, start: number, end: number): Promise<readonly Buffer[]> {
  const rows = await read
    .selectFrom('entries')
    .select(['seq', 'leaf_hash'])
    .where('seq', '>', start)
    .where('seq', '<=', end)
    .orderBy('seq')
    .execute();
  const gap = rows.findIndex(
    (row, place) => row.seq !== start + 1 + place || !Buffer.isBuffer(row.leaf_hash) || row.leaf_hash.length !== 32,
  );
  return (gap < 0 ? rows : rows.slice(0, gap)).map((row) => row.leaf_hash);
}
