/** Why a string could not be decoded: a clause in plain words, without the string itself. */
export interface Damaged {
  readonly damaged: string;
}

export function isDamaged(value: unknown): value is Damaged {
  return typeof value === 'object' && value !== null && 'damaged' in value;
}

/** Ids of vendors: how many, and the first of them in ascending order. */
export interface Ids {
  readonly count: number;
  readonly ids: readonly number[];
}

/** The most ids that are listed; the others are only counted. */
const LISTED = 100;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const valueOf = new Int8Array(128).fill(-1);
for (let value = 0; value < 64; value++) valueOf[ALPHABET.charCodeAt(value)] = value;

/** Fields of bits in base64url text, in the order in which they are read. */
export interface Bits {
  /** An unsigned number of up to 36 bits. Beyond the end it is 0, and `short` becomes true. */
  readonly take: (count: number) => number;
  /** The positions of the ones in the next bits, counted from 1. */
  readonly takeFlags: (count: number) => readonly number[];
  readonly left: () => number;
  /** Whether more was read than there is. */
  readonly short: () => boolean;
  /** Whether nothing but zeros follow: the padding. */
  readonly isAtEnd: () => boolean;
}

/** Bits of base64url text without padding (RFC 4648, section 5); null if it is empty or contains another character. */
export function createBits(text: string): Bits | null {
  const values = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) {
    const value = valueOf[text.charCodeAt(at)] ?? -1;
    if (value < 0) return null;
    values[at] = value;
  }
  const total = text.length * 6;
  let position = 0;
  let short = false;
  function take(count: number): number {
    if (position + count > total) {
      position = total;
      short = true;
      return 0;
    }
    let value = 0;
    for (let wanted = count; wanted > 0; ) {
      const available = 6 - (position % 6);
      const some = Math.min(available, wanted);
      const chunk = ((values[Math.floor(position / 6)] ?? 0) >> (available - some)) & ((1 << some) - 1);
      // The value itself is not shifted: a time has 36 bits.
      value = value * (1 << some) + chunk;
      position += some;
      wanted -= some;
    }
    return value;
  }
  return text === ''
    ? null
    : {
        take,
        takeFlags: (count) => {
          const flags: number[] = [];
          // Most are zeros, so bits are taken a few at a time and only the ones looked for.
          for (let taken = 0; taken < count; ) {
            const some = Math.min(30, count - taken);
            for (let ones = take(some); ones !== 0; ) {
              const place = Math.clz32(ones) - (32 - some);
              flags.push(taken + place + 1);
              ones &= ~(1 << (some - 1 - place));
            }
            taken += some;
          }
          return flags;
        },
        left: () => total - position,
        short: () => short,
        isAtEnd: () => {
          while (position < total) if (take(Math.min(30, total - position)) !== 0) return false;
          return true;
        },
      };
}

/**
 * The ids of a vendor section: a bit field or ranges, after the largest id (TC string format, Vendor Consent Section).
 * Ranges are counted, never written out: one of 33 bits may name 65,535 ids. Null if it is longer than the text, or a
 * range is impossible.
 */
export function takeIds(bits: Bits): Ids | null {
  const most = bits.take(16);
  if (bits.take(1) === 1) return takeRanges(bits, most);
  if (most > bits.left()) return null;
  const ids = bits.takeFlags(most);
  return bits.short() ? null : { count: ids.length, ids: ids.slice(0, LISTED) };
}

/** Ranges of ids up to the largest that may occur; null if they are longer than the text, or impossible. */
export function takeRanges(bits: Bits, most: number): Ids | null {
  const entries = bits.take(12);
  if (entries * 17 > bits.left()) return null;
  const ranges: [start: number, end: number][] = [];
  for (let entry = 0; entry < entries; entry++) {
    const isRange = bits.take(1) === 1;
    const start = bits.take(16);
    const end = isRange ? bits.take(16) : start;
    if (start === 0 || end < start || end > most) return null;
    ranges.push([start, end]);
  }
  return bits.short() ? null : united(ranges);
}

/** Each id counts once, in whatever order and however often ranges name it. */
function united(ranges: [start: number, end: number][]): Ids {
  const ids: number[] = [];
  let count = 0;
  let last = 0;
  for (const [start, end] of ranges.sort(([a], [b]) => a - b)) {
    const from = Math.max(start, last + 1);
    if (end < from) continue;
    for (let id = from; id <= end && ids.length < LISTED; id++) ids.push(id);
    count += end - from + 1;
    last = end;
  }
  return { count, ids };
}
