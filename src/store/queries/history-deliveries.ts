import { type Selectable, sql } from 'kysely';
import { addDays, type CalendarPeriod, dateIn, spansOf } from '../../core/zoned-days.ts';
import type { Tables } from '../schema.ts';
import type { Query } from '../store.ts';
import { nullsFirst, type Period, pageByKey, type Scope } from './scope.ts';

export type DeliveryRow = Selectable<Tables['delivery_history']>;

/** Length of a time truncated to the hour, and to the minute. */
const [HOUR, MINUTE] = [13, 16];
/** Deliveries per statement. */
const SEQS = 500;

export interface DeliveryCounts {
  readonly byEvent: readonly {
    readonly event: string | null;
    readonly verdict: string;
    readonly outcome: DeliveryRow['outcome'];
    readonly deliveries: number;
    readonly bytes: number;
  }[];
  readonly byDay: readonly { readonly day: string; readonly deliveries: number }[];
}

/** Deliveries on the webhook endpoint. Periods refer to the time of receipt. */
export function createDeliveryQueries(query: Query) {
  const deliveries = (period: Period) =>
    query
      .selectFrom('delivery_history as h')
      .where('h.source', '=', period.source)
      .where('h.seq', '<=', period.asOf)
      .where('h.received_at', '>=', period.from)
      .where('h.received_at', '<', period.to);
  /** Ordered by event; `digits`: how much of the time of receipt to keep. */
  const byTime = (period: Period, digits: number) =>
    deliveries(period)
      .select(['h.event', 'h.verdict', 'h.outcome'])
      .select(sql<string>`substr(h.received_at, 1, ${sql.lit(digits)})`.as('time'))
      .select((eb) => [eb.fn.countAll().as('deliveries'), eb.fn.sum('h.bytes').as('bytes')])
      .groupBy(['h.event', 'h.verdict', 'h.outcome', sql.ref('time')])
      .orderBy('h.event', nullsFirst)
      .orderBy('h.verdict')
      .orderBy('h.outcome')
      .execute();

  return {
    /** Deliveries of a period by event, verdict and outcome, and by day in the time zone; days without deliveries have no row. */
    async deliveryCounts(period: Period, timeZone: string): Promise<DeliveryCounts> {
      // By hour if each day begins on the hour, otherwise by minute: one walk, however many days there are.
      const hours = await byTime(period, HOUR);
      const times = hours.map(({ time }) => time).sort();
      const [first, last] = [times[0], times.at(-1)];
      if (first === undefined || last === undefined) return { byEvent: [], byDay: [] };
      const from = dateIn(`${first}:00:00.000Z`, timeZone);
      const days = spansOf(from, addDays(dateIn(`${last}:59:59.999Z`, timeZone), 1), timeZone, 'day');
      const onTheHour = days.every(({ start }) => start.endsWith(':00:00.000Z'));
      const rows = onTheHour ? hours : await byTime(period, MINUTE);
      const byEvent = new Map<string, Mutable<DeliveryCounts['byEvent'][number]>>();
      const byMoment = new Map<string, number>();
      for (const { event, verdict, outcome, time, deliveries: n, bytes } of rows) {
        const key = JSON.stringify([event, verdict, outcome]);
        const known = byEvent.get(key) ?? { event, verdict, outcome, deliveries: 0, bytes: 0 };
        byEvent.set(key, known);
        known.deliveries += Number(n);
        known.bytes += Number(bytes);
        byMoment.set(time, (byMoment.get(time) ?? 0) + Number(n));
      }
      return {
        byEvent: [...byEvent.values()],
        byDay: byDayOf(
          days,
          [...byMoment].sort(([a], [b]) => (a < b ? -1 : 1)),
        ),
      };
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

    /** Entries of the period that could not be read as facts, by event. */
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

    /** Verdict on the signature of each delivery, by seq. */
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

    /** Whether an entry is a delivery that held several events: its content may concern several people. */
    async holdsSeveral({ source }: Scope, seq: number): Promise<boolean> {
      const row = await query
        .selectFrom('delivery_history')
        .select('events')
        .where('source', '=', source)
        .where('seq', '=', seq)
        .executeTakeFirst();
      return (row?.events ?? 1) > 1;
    },
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** `times` are ordered prefixes of ISO 8601 UTC times. */
function byDayOf(
  days: readonly CalendarPeriod[],
  times: readonly (readonly [string, number])[],
): DeliveryCounts['byDay'] {
  const found = new Map<string, number>();
  let place = 0;
  for (const [time, n] of times) {
    while (place + 1 < days.length && time >= (days[place + 1]?.start ?? '').slice(0, time.length)) place += 1;
    const day = days[place]?.name ?? '';
    found.set(day, (found.get(day) ?? 0) + n);
  }
  return [...found].map(([day, deliveries]) => ({ day, deliveries }));
}
