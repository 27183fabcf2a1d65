import { sql } from 'kysely';
import type { Action, Counters } from '../../core/action.ts';
import type { Query } from '../store.ts';
import type { Period } from './scope.ts';

/** The most spans of time that an observation lists; beyond that, it counts by hour, then by day. */
const SPANS = 2000;
const widths = { minute: 16, hour: 13, day: 10 } as const;

/** The key of a period in the audit trail. */
export function periodKey({ from, to }: { readonly from: string; readonly to: string }): string {
  return `${from} ${to}`;
}

/**
 * Reads what is counted outside the ledger for a period: repeats of its deliveries, and refused deliveries. These
 * counters grow without an entry, so no document reads them directly: the numbers are appended (`counters.observed`),
 * and documents read that. `now`: ISO 8601 UTC.
 */
export async function readCounters(
  query: Query,
  period: Period,
  now: string,
): Promise<Omit<Extract<Action, { action: 'counters.observed' }>, 'action' | 'actor'>> {
  const until = period.to < now ? period.to : `${now.slice(0, 16)}:00.000Z`;
  return {
    from: period.from,
    to: period.to,
    upTo: period.asOf,
    repeats: await countRepeats(query, period),
    ambiguous: await countAmbiguous(query, period),
    refused: { until, ...(await countRefused(query, period, until)) },
  };
}

function repeated(query: Query, period: Period) {
  return query
    .selectFrom('delivery_history as h')
    .innerJoin('arrivals as r', 'r.seq', 'h.seq')
    .where('h.source', '=', period.source)
    .where('h.seq', '<=', period.asOf)
    .where('h.received_at', '>=', period.from)
    .where('h.received_at', '<', period.to);
}

async function countRepeats(query: Query, period: Period): Promise<Counters['repeats']> {
  const row = await repeated(query, period)
    .select((eb) => [eb.fn.countAll().as('deliveries'), eb.fn.sum('r.count').as('repeats')])
    .executeTakeFirstOrThrow();
  return { deliveries: Number(row.deliveries), repeats: Number(row.repeats ?? 0) };
}

async function countAmbiguous(query: Query, period: Period): Promise<Counters['ambiguous']> {
  const rows = await repeated(query, period)
    .innerJoin('ambiguous_repeats as a', 'a.seq', 'h.seq')
    .select((eb) => [
      eb
        .case()
        .when('r.count', '>', eb.ref('a.settled_repeats'))
        .then('unresolved')
        .else(eb.ref('a.resolution'))
        .end()
        .as('decided'),
      eb.fn.countAll().as('deliveries'),
      eb.fn.sum('r.count').as('repeats'),
    ])
    .groupBy('decided')
    .execute();
  const total = { deliveries: 0, repeats: 0, unresolved: 0, newChoices: 0 };
  for (const row of rows) {
    total.deliveries += Number(row.deliveries);
    total.repeats += Number(row.repeats ?? 0);
    if (row.decided === 'unresolved') total.unresolved += Number(row.deliveries);
    if (row.decided === 'new-choice') total.newChoices += Number(row.deliveries);
  }
  return total;
}

/** Counts by the shortest span that keeps the list within the limit. */
async function countRefused(
  query: Query,
  period: Period,
  until: string,
): Promise<Pick<Counters['refused'], 'per' | 'counts'>> {
  for (const per of ['minute', 'hour', 'day'] as const) {
    const span = sql<string>`substr(minute, 1, ${sql.lit(widths[per])})`;
    const rows = await query
      .selectFrom('rejected_counts')
      .select([span.as('span'), 'reason', (eb) => eb.fn.sum('count').as('n')])
      .where('source', '=', period.source)
      .where('minute', '>=', period.from.slice(0, 16))
      .where('minute', '<', until.slice(0, 16))
      .groupBy([span, 'reason'])
      .orderBy(span)
      .orderBy('reason')
      .limit(per === 'day' ? Number.MAX_SAFE_INTEGER : SPANS + 1)
      .execute();
    if (per === 'day' || rows.length <= SPANS)
      return { per, counts: rows.map(({ span: at, reason, n }) => [at, reason, Number(n)]) };
  }
  throw new Error('unreachable: days are always taken');
}
