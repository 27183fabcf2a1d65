import { sha256Hex } from '../crypto/hash.ts';
import type { RequestForm } from './query-form.ts';

const HOUR = 3_600_000;

/**
 * One run in each slot of this length looks far back. So a row that appears too late for the near look-back waits at
 * most as long, and until the next run. Milliseconds.
 */
export const SLOT_MS = 6 * HOUR;

/** How far before `read_to` the other runs begin. */
const NEAR_MS = HOUR;

/** A date, or a time without an offset, may mean one of the service's own zone, which begins up to 12 hours later. */
const ZONE_MS = 12 * HOUR;

/** How far the runs of one banner look back. */
export interface LookBack {
  /** Rows that the service shows up to this late are read by an incremental run. Milliseconds. */
  readonly farMs: number;
  /** When its slots begin, so that the banners of an installation do not all look far back at once. Milliseconds. */
  readonly shiftMs: number;
  /** How the service takes the beginning of a period. */
  readonly form: Pick<RequestForm, 'period'>;
}

/** The same for a banner every time. Null: the log as a whole. */
export function shiftOf(source: string, bannerId: string | null): number {
  return Number.parseInt(sha256Hex(Buffer.from(`${source}\n${bannerId ?? ''}`)).slice(0, 8), 16) % SLOT_MS;
}

/**
 * Where a run at `now` begins if everything was read up to `readTo`: shortly before that or, in the first run of a slot,
 * long before the slot of `readTo`, because the last run that looked far back began in it. Milliseconds since 1970.
 *
 * No state says when that was: `read_to` enters another slot only through a run that began here or earlier
 * (position.ts). If such a run fails, `read_to` stays, and the next one looks far back again.
 */
export function startOfRun(readTo: number, now: number, { farMs, shiftMs, form }: LookBack): number {
  const zone = form.period === 'date' || form.period === 'local' ? ZONE_MS : 0;
  const slotOf = (at: number) => Math.floor((at + shiftMs) / SLOT_MS);
  // A clock that was ahead may have set it to the future.
  const mark = Math.min(readTo, now);
  if (slotOf(readTo) === slotOf(now)) return mark - zone - Math.min(NEAR_MS, farMs);
  return slotOf(mark) * SLOT_MS - shiftMs - zone - farMs;
}
