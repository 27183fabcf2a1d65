import type { Appended } from '../ledger/ledger.ts';
import type { PullTotals } from './contract.ts';
import type { RowEntry } from './row.ts';

/** The counts of a run under way. */
export type Totals = { -readonly [K in keyof PullTotals]: PullTotals[K] };

export function noTotals(): Totals {
  return { pages: 0, rows: 0, stored: 0, duplicates: 0, malformed: 0, unreadable: 0, earliest: null, latest: null };
}

/** How many rows, and how many unreadable pieces, are new in the ledger. */
export function countNew(
  rows: readonly RowEntry[],
  appended: readonly Appended[],
): { stored: number; unreadable: number } {
  const counted = { stored: 0, unreadable: 0 };
  for (const [place, { type }] of rows.entries()) {
    if (appended[place]?.outcome !== 'stored') continue;
    if (type === 'unreadable') counted.unreadable += 1;
    else counted.stored += 1;
  }
  return counted;
}

/** The earliest time that rows give and that counts, ISO 8601 UTC; null without any. */
export function earliestOf(rows: readonly RowEntry[]): string | null {
  let earliest = Number.POSITIVE_INFINITY;
  for (const { occurredAt } of rows) if (occurredAt !== null && occurredAt < earliest) earliest = occurredAt;
  return earliest === Number.POSITIVE_INFINITY ? null : new Date(earliest).toISOString();
}

/** Adds a page that was committed. `stored`: of its rows, those new in the ledger. */
export function addPage(totals: Totals, rows: readonly RowEntry[], stored: number): void {
  const unreadable = rows.reduce((count, { type }) => count + (type === 'unreadable' ? 1 : 0), 0);
  totals.pages += 1;
  totals.rows += rows.length - unreadable;
  totals.stored += stored;
  totals.duplicates += rows.length - unreadable - stored;
  totals.unreadable += unreadable;
  let earliest = Number.POSITIVE_INFINITY;
  let latest = Number.NEGATIVE_INFINITY;
  for (const { type, occurredAt } of rows) {
    if (type === 'malformed') totals.malformed += 1;
    if (occurredAt === null) continue;
    if (occurredAt < earliest) earliest = occurredAt;
    if (occurredAt > latest) latest = occurredAt;
  }
  if (earliest > latest) return;
  const [first, last] = [new Date(earliest).toISOString(), new Date(latest).toISOString()];
  if (totals.earliest === null || first < totals.earliest) totals.earliest = first;
  if (totals.latest === null || last > totals.latest) totals.latest = last;
}

/** The counts of two windows of one call. */
export function joinTotals(before: PullTotals | undefined, own: PullTotals): PullTotals {
  if (before === undefined) return { ...own };
  const times = (a: string | null, b: string | null) => [a, b].filter((time) => time !== null).sort();
  return {
    pages: before.pages + own.pages,
    rows: before.rows + own.rows,
    stored: before.stored + own.stored,
    duplicates: before.duplicates + own.duplicates,
    malformed: before.malformed + own.malformed,
    unreadable: before.unreadable + own.unreadable,
    earliest: times(before.earliest, own.earliest)[0] ?? null,
    latest: times(before.latest, own.latest).at(-1) ?? null,
  };
}
