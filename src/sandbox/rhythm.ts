import { mix, mulberry32 } from './prng.ts';

/** When the decisions of a site are made: `total` moments in ascending order, more by day than by night. */
export interface Rhythm {
  readonly total: number;
  timeAt(index: number): Date;
  /** The first index whose time is not before `at` (milliseconds); `total` when there is none. */
  indexFrom(at: number): number;
}

const DAY = 86_400_000;
/** Below 1, so that time never runs backwards. */
const SWING = 0.8;

/** Spreads `total` moments over [start, end) milliseconds. Any one of them is computed without the others. */
export function createRhythm(seed: number, total: number, start: number, end: number): Rhythm {
  if (!(end > start)) throw new Error('the consent log must end after it starts');
  const warp = (at: number): number =>
    at + (SWING * DAY * Math.sin((2 * Math.PI * (at - DAY * 0.08)) / DAY)) / (2 * Math.PI);
  const first = warp(start);
  const scale = (end - start) / (warp(end) - first);
  const step = (end - start) / Math.max(1, total);
  const timeOf = (index: number): number => {
    const even = start + (index + mulberry32(mix(seed ^ 0x74696d65, index))()) * step;
    return Math.min(end - 1, Math.floor(start + (warp(even) - first) * scale));
  };
  return {
    total,
    timeAt: (index) => new Date(timeOf(index)),
    indexFrom: (at) => {
      let low = 0;
      let high = total;
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        if (timeOf(middle) < at) low = middle + 1;
        else high = middle;
      }
      return low;
    },
  };
}
