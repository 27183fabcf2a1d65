/** A source of numbers in [0, 1). */
export type Random = () => number;

/**
 * The mulberry32 generator: small, fast, and the same on every machine. Not for secrets.
 * @param seed any integer; its lowest 32 bits count
 */
export function mulberry32(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Mixes a seed and an index into 32 bits (the murmur3 finaliser), so that the n-th item can be computed without earlier ones. */
export function mix(seed: number, index: number): number {
  let h = (seed ^ Math.imul(index >>> 0, 0x9e3779b1) ^ Math.floor(index / 4294967296)) >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A 32-bit seed from words and numbers (FNV-1a, then mixed). */
export function seedOf(...parts: readonly (string | number)[]): number {
  let h = 0x811c9dc5;
  for (const part of parts) {
    for (const byte of Buffer.from(`${part}\u0000`, 'utf8')) h = Math.imul(h ^ byte, 0x01000193);
  }
  return mix(h >>> 0, parts.length);
}

/** One item of a non-empty list. */
export function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('pick: the list is empty');
  return item;
}

/** One item of a non-empty list of [item, weight]. */
export function pickWeighted<T>(random: Random, items: readonly (readonly [T, number])[]): T {
  let left = random() * items.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [item, weight] of items) {
    left -= weight;
    if (left < 0) return item;
  }
  const last = items.at(-1);
  if (last === undefined) throw new Error('pickWeighted: the list is empty');
  return last[0];
}
