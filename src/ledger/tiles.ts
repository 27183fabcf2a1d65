import type { Query } from '../store/store.ts';
import { leafHashes, openTree } from './tree.ts';

/** Hashes in a full tile. */
const WIDTH = 256;

/** A tile of the tree (c2sp.org/tlog-tiles): `width` hashes, from hash `index` * 256 of its level on. */
export interface Tile {
  readonly level: number;
  readonly index: number;
  /** 1 to 256; less than 256: a partial tile. */
  readonly width: number;
}

/** Parses the path of a tile behind `tile/`, `<level>/<index>[.p/<width>]`; null for any form that c2sp.org/tlog-tiles does not give a tile. */
export function parseTilePath(path: string): Tile | null {
  const [, level, high = '', low = '', partial] =
    /^(\d{1,2})\/((?:x\d{3}\/)*)(\d{3})(?:\.p\/(\d{1,3}))?$/.exec(path) ?? [];
  if (level === undefined) return null;
  const index = Number(high.replaceAll(/[x/]/g, '') + low);
  const tile = { level: Number(level), index, width: partial === undefined ? WIDTH : Number(partial) };
  const { width } = tile;
  // A tile has one path: no leading zeros, and no full tile written as a partial one.
  return tile.level < 64 && width > 0 && width <= WIDTH && tilePathOf(tile) === path ? tile : null;
}

/** The reverse of {@link parseTilePath}. */
export function tilePathOf({ level, index, width }: Tile): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/.{3}/g) ?? [];
  const last = groups.pop() ?? '';
  const path = [...groups.map((group) => `x${group}`), last].join('/');
  return `${level}/${path}${width === WIDTH ? '' : `.p/${width}`}`;
}

/** Serves the hashes of the tree. Nothing here is trusted: check the tiles against a signed root. */
export interface Tiles {
  /** The hashes of a tile, concatenated; null if it reaches beyond the first `size` leaves, or an entry is missing. */
  read(tile: Tile, size: number): Promise<Buffer | null>;
}

/** Subtree roots kept in memory: those of 16 million entries at level 1. */
const KEPT = 65_536;

export function openTiles(read: Query): Tiles {
  /** Null where an entry is missing: sealed ones do not come back. */
  const kept = new Map<string, Buffer | null>();

  /** The root of the 256^level leaves from `place` * 256^level on. */
  async function hashOf(level: number, place: number, tree: ReturnType<typeof openTree>): Promise<Buffer | null> {
    const key = `${level} ${place}`;
    const span = WIDTH ** level;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const hash = await tree.subtree({ start: place * span, end: (place + 1) * span });
    if (kept.size >= KEPT) kept.clear();
    kept.set(key, hash);
    return hash;
  }

  return {
    async read({ level, index, width }, size) {
      const first = index * WIDTH;
      if ((first + width) * WIDTH ** level > size) return null;
      if (level === 0) {
        const leaves = await leafHashes(read, first, first + width);
        return leaves.length === width ? Buffer.concat(leaves) : null;
      }
      const tree = openTree(read);
      const hashes: Buffer[] = [];
      for (let place = first; place < first + width; place += 1) {
        const hash = await hashOf(level, place, tree);
        if (hash === null) return null;
        hashes.push(hash);
      }
      return Buffer.concat(hashes);
    },
  };
}
