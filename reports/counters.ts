import { actionSchema, type Counters } from '../src/core/action.ts';
import { REFUSED_COUNT_DAYS } from '../src/core/vocabulary.ts';
import type { Period } from '../src/store/queries/scope.ts';
import type { ReportInput } from './report.ts';

/** Repeats and refusals of the period, as an entry of the ledger says that they were counted. Times are ISO 8601 UTC. */
export interface ObservedCounters extends Counters {
  /** The entry, and when it was made. */
  readonly seq: number;
  readonly observedAt: string;
}

/** The newest observation of the counters of this period up to asOf; null: nobody looked by then. */
export async function loadCounters({ history }: ReportInput, period: Period): Promise<ObservedCounters | null> {
  const row = await history.observedCounters(period);
  if (row === null) return null;
  const action = actionSchema.parse(JSON.parse(row.details));
  if (action.action !== 'counters.observed') throw new Error(`entry ${row.seq} is no observation of counters`);
  return { ...action, seq: row.seq, observedAt: row.received_at };
}

/** How far back the counts of refused deliveries went when they were read: those of an earlier time are not kept. */
export function refusedSince({ observedAt }: ObservedCounters): string {
  return new Date(Date.parse(observedAt) - REFUSED_COUNT_DAYS * 86_400_000).toISOString();
}

/** Refused deliveries by reason, in the order of the reasons. */
export function refusedByReason({ refused }: ObservedCounters): readonly { reason: string; deliveries: number }[] {
  const sums = new Map<string, number>();
  for (const [, reason, n] of refused.counts) sums.set(reason, (sums.get(reason) ?? 0) + n);
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([reason, deliveries]) => ({ reason, deliveries }));
}

/** Refused deliveries from one moment to another, both included, by whole spans of the observation (as a rule minutes). */
export function refusedBetween({ refused }: ObservedCounters, from: string, to: string): number {
  return refused.counts.reduce((sum, [span, , n]) => {
    const isWithin = span >= from.slice(0, span.length) && span <= to.slice(0, span.length);
    return isWithin ? sum + n : sum;
  }, 0);
}
