import { type Selectable, sql } from 'kysely';
import { addDays, dateIn, spansOf } from '../../core/zoned-days.ts';
import type { Tables } from '../schema.ts';
import type { Query } from '../store.ts';
import { nullsFirst, pageByKey, type Period, type Scope } from './scope.ts';

export type DeliveryRow = Selectable<Tables['delivery_history']>;

/** Characters of a time up to its hour and its minute. */
const [HOUR, MINUTE] = [13, 16];
/** Deliveries looked up at once. */
const SEQS = 500;

/** Deliveries on the webhook endpoint. Periods are by time of receipt. */
export function createDeliveryQueries(query: Query) {
  const deliveries = (period: Period) =>
    query
      .selectFrom('delivery_history as h')
      .where('h.source', '=', period.source)
      .where('h.seq', '<=', period.asOf)
      .where('h.received_at', '>=', period.from)
      .where('h.received_at', '<', period.to);

  return {
    async deliveryCounts(period: Period): Promise<
      readonly {
        event: string | null;
        verdict: string;
        outcome: DeliveryRow['outcome'];
        deliveries: number;
        bytes: number;
      }[]
    > {
      const rows = await deliveries(period)
        .select(['h.event', 'h.verdict', 'h.outcome'])
        .select((eb) => [eb.fn.countAll().as('deliveries'), eb.fn.sum('h.bytes').as('bytes')])
        .groupBy(['h.event', 'h.verdict', 'h.outcome'])
        .orderBy('h.event', nullsFirst)
        .orderBy('h.verdict')
        .orderBy('h.outcome')
        .execute();
      return rows.map((row) => ({ ...row, deliveries: Number(row.deliveries), bytes: Number(row.bytes) }));
    },

    /** By day of the time zone; days without deliveries have no row. */
    async deliveriesByDay(period: Period, timeZone: string): Promise<readonly { day: string; deliveries: number }[]> {
      // By the hour where each day begins with one, else by the minute: one walk, however many days there are.
      const ends = await deliveries(period)
        .select((eb) => [eb.fn.min('h.received_at').as('first'), eb.fn.max('h.received_at').as('last')])
        .executeTakeFirstOrThrow();
      if (ends.first === null || ends.last === null) return [];
      const from = dateIn(ends.first, timeZone);
      const days = spansOf(from, addDays(dateIn(ends.last, timeZone), 1), timeZone, 'day');
      const digits = days.every(({ start }) => start.endsWith(':00:00.000Z')) ? HOUR : MINUTE;
      const rows = await deliveries(period)
        .select(sql<string>`substr(h.received_at, 1, ${sql.lit(digits)})`.as('time'))
        .select((eb) => eb.fn.countAll().as('n'))
        .groupBy(sql.ref('time'))
        .orderBy(sql.ref('time'))
        .execute();
      const found = new Map<string, number>();
      let place = 0;
      for (const { time, n } of rows) {
        while (place + 1 < days.length && time >= (days[place + 1]?.start ?? '').slice(0, digits)) place += 1;
        const day = days[place]?.name ?? from;
        found.set(day, (found.get(day) ?? 0) + Number(n));
      }
      return [...found].map(([day, n]) => ({ day, deliveries: n }));
    },

    deliveryRows: (period: Period): AsyncIterable<DeliveryRow> =>
      pageByKey<DeliveryRow>((after, limit) =>
        deliveries(period)
          .selectAll('h')
          .where('h.seq', '>', after?.seq ?? 0)
          .orderBy('h.seq')
          .limit(limit)
          .execute(),
      ),

    /** Entries of the period that no fact could be read from, by event. */
    async quarantineCounts(period: Period): Promise<readonly { event: string | null; entries: number }[]> {
      const rows = await query
        .selectFrom('quarantine')
        .select('event')
        .select((eb) => eb.fn.countAll().as('entries'))
        .where('source', '=', period.source)
        .where('seq', '<=', period.asOf)
        .where('received_at', '>=', period.from)
        .where('received_at', '<', period.to)
        .groupBy('event')
        .orderBy('event', nullsFirst)
        .execute();
      return rows.map(({ event, entries }) => ({ event, entries: Number(entries) }));
    },

    /** How the signatures of deliveries were judged, by seq. */
    async signatures(scope: Scope, seqs: readonly number[]): Promise<ReadonlyMap<number, string>> {
      const verdicts = new Map<number, string>();
      for (let start = 0; start < seqs.length; start += SEQS) {
        const rows = await query
          .selectFrom('delivery_history')
          .select(['seq', 'verdict'])
          .where('source', '=', scope.source)
          .where('seq', '<=', scope.asOf)
          .where('seq', 'in', seqs.slice(start, start + SEQS))
          .execute();
        for (const { seq, verdict } of rows) verdicts.set(Number(seq), verdict);
      }
      return verdicts;
    },
  };
}
