import type { SandboxClient } from './clients.ts';
import type { Decisions, Rhythm } from './decisions.ts';
import type { DecisionHappening } from './happenings.ts';

/** Which rows, in which direction, starting where. */
export interface LogQuery {
  readonly bannerId: string | null;
  /** Milliseconds, inclusive. */
  readonly from: number | null;
  /** Milliseconds, exclusive. */
  readonly to: number | null;
  readonly limit: number;
  readonly order: 'oldest-first' | 'newest-first';
  /** The end of the previous page; null: the first page. */
  readonly position: number | null;
  /** The service's current time, milliseconds: later rows do not exist yet. */
  readonly now: number;
}

export interface LogPage {
  readonly rows: readonly DecisionHappening[];
  /** Null: there is no next page. */
  readonly next: number | null;
  /** Where this page began. */
  readonly start: number;
}

/** How many decisions made while the sandbox runs are kept for all clients: about 130 MB. */
export const MOST_RECORDED = 200_000;

/**
 * Builds the log of a client's decisions. Positions are indexes of rows, so the cost of a page depends only on its
 * size. `delayOf`: how many milliseconds late a row appears. `keep`: how many recorded decisions are kept; decisions
 * drawn from the seed cost no memory, recorded ones do.
 */
export function createConsentLog(
  client: SandboxClient,
  decisions: Decisions,
  rhythm: Rhythm,
  {
    delayOf = () => 0,
    keep = MOST_RECORDED,
  }: { readonly delayOf?: (index: number) => number; readonly keep?: number } = {},
) {
  /**
   * A decision reported late has its own time but appears where it was recorded, so that positions, which cursors
   * contain, stay valid.
   */
  const recorded: { readonly decision: DecisionHappening; readonly since: number }[] = [];
  const { total } = decisions;
  /** How many recorded decisions have been dropped. */
  let left = 0;
  const recordedAt = (position: number): DecisionHappening | undefined => recorded[position - total - left]?.decision;

  const recordedFrom = (at: number): number => {
    let low = 0;
    let high = recorded.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((recorded[middle]?.since ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  /** The first position with a time of at least `at`. */
  const positionFrom = (at: number): number => {
    const index = rhythm.indexFrom(at);
    return index < total ? index : total + left + recordedFrom(at);
  };
  const bannerAt = (position: number): string | undefined =>
    position < total ? decisions.bannerAt(position) : recordedAt(position)?.bannerId;
  const rowAt = (position: number): DecisionHappening | undefined =>
    position < total ? decisions.rowAt(position) : recordedAt(position);

  const timeAt = (position: number): number =>
    (position < total ? rhythm.timeAt(position) : recordedAt(position)?.at)?.getTime() ?? 0;
  const isLate = (position: number, now: number): boolean => {
    const delay = delayOf(position);
    return delay > 0 && timeAt(position) + delay > now;
  };

  return {
    client,
    decisions,
    rhythm,
    /** Adds a decision made now. Only a limited number is kept; the oldest are dropped. */
    record: (decision: DecisionHappening): void => {
      recorded.push({ decision, since: Math.max(decision.at.getTime(), recorded.at(-1)?.since ?? 0) });
      // A tenth at a time, so that the rest need not be moved for each dropped decision.
      if (recorded.length > keep) left += recorded.splice(0, Math.max(1, Math.floor(keep / 10))).length;
    },
    /** The recorded decisions that are kept. */
    recorded: (): readonly DecisionHappening[] => recorded.map(({ decision }) => decision),
    /** How many rows exist at `now`. */
    count: (now: number): number => {
      const end = positionFrom(now + 1);
      return end > total ? end - left : end;
    },
    page: ({ bannerId, from, to, limit, order, position, now }: LogQuery): LogPage => {
      const low = from === null ? 0 : positionFrom(from);
      const high = positionFrom(Math.min(to ?? Number.POSITIVE_INFINITY, now + 1));
      const rows: DecisionHappening[] = [];
      const ascending = order === 'oldest-first';
      let at = ascending ? Math.max(low, position ?? low) : Math.min(high - 1, position ?? high - 1);
      // Looks for one row more than requested, so that the last page says that it is the last.
      const start = at;
      for (; ascending ? at < high : at >= low; at += ascending ? 1 : -1) {
        if (at >= total && at < total + left) {
          // Dropped rows are skipped.
          at = ascending ? total + left - 1 : total;
          continue;
        }
        if (bannerId !== null && bannerAt(at) !== bannerId) continue;
        if (isLate(at, now)) continue;
        if (rows.length === limit) return { rows, next: at, start };
        const row = rowAt(at);
        if (row !== undefined) rows.push(row);
      }
      return { rows, next: null, start };
    },
  };
}

/** The consent log of one client: lazily drawn rows, then those recorded while the sandbox runs. */
export type ConsentLog = ReturnType<typeof createConsentLog>;
