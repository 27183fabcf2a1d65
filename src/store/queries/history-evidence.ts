import { type Selectable, sql } from 'kysely';
import type { ActionName } from '../../core/action.ts';
import { erasedSeqs } from '../../crypto/entry.ts';
import { INSTALLATION } from '../../core/vocabulary.ts';
import { addDays, dateIn, spansOf } from '../../core/zoned-days.ts';
import type { ActionHistoryTable, DeliveryHistoryTable, EntriesTable, PolicyHistoryTable } from '../schema.ts';
import type { Query } from '../store.ts';
import { periodKey } from './counters.ts';
import type { Period, Scope } from './scope.ts';
import { nullsFirst } from './order.ts';
import { pageByKey } from './pages.ts';

/** A policy change, with the commitment of the entry that reported it. */
export type PolicyRow = Selectable<PolicyHistoryTable> & { readonly commitment: string | null };
export type DeliveryRow = Selectable<DeliveryHistoryTable>;
type ActionRow = Selectable<ActionHistoryTable>;
type RawEntry = Pick<
  Selectable<EntriesTable>,
  'seq' | 'kind' | 'received_at' | 'meta' | 'body' | 'salt' | 'commitment'
>;

/** Deliveries, policies and actions. Periods of deliveries and actions are by time of receipt. */
export interface EvidenceQueries {
  /** When entry `asOf` was received; null for an empty ledger. */
  receivedAtOf(asOf: number): Promise<string | null>;
  deliveryCounts(period: Period): Promise<
    readonly {
      event: string | null;
      verdict: string;
      outcome: DeliveryRow['outcome'];
      deliveries: number;
      bytes: number;
    }[]
  >;
  /** By day of the time zone; days without deliveries have no row. */
  deliveriesByDay(period: Period, timeZone: string): Promise<readonly { day: string; deliveries: number }[]>;
  deliveryRows(period: Period): AsyncIterable<DeliveryRow>;
  /** Policy changes dated before `to`, whatever their beginning, in ledger order. */
  policyRows(scope: Scope & { readonly to: string }): AsyncIterable<PolicyRow>;
  /** Actions of these names on the source (or on several, with `sources`), in ledger order. */
  actionRows(period: Period, names: readonly ActionName[], sources?: readonly string[]): AsyncIterable<ActionRow>;
  /** Entries of the period that no fact could be read from, by event. */
  quarantineCounts(period: Period): Promise<readonly { event: string | null; entries: number }[]>;
  /** The newest observation of the counters of exactly this period (`counters.observed`); null: there is none up to asOf. */
  observedCounters(period: Period): Promise<ActionRow | null>;
  /** How many entries of the source were erased by erasures up to asOf. */
  erasedEntries(scope: Scope): Promise<number>;
  /** Exact bytes of entries; `meta`, `body` and `salt` are null after an erasure. */
  rawEntries(scope: Scope, seqs: readonly number[]): Promise<readonly RawEntry[]>;
  /** How the signatures of deliveries were judged, by seq. */
  signatures(scope: Scope, seqs: readonly number[]): Promise<ReadonlyMap<number, string>>;
}

/** Days counted at once. */
const DAYS = 1000;
/** Entries looked up at once. */
const SEQS = 500;

export function createEvidenceQueries(query: Query): EvidenceQueries {
  const deliveries = (period: Period) =>
    query
      .selectFrom('delivery_history as h')
      .where('h.source', '=', period.source)
      .where('h.seq', '<=', period.asOf)
      .where('h.received_at', '>=', period.from)
      .where('h.received_at', '<', period.to);

  return {
    async receivedAtOf(asOf) {
      const row = await query.selectFrom('entries').select('received_at').where('seq', '=', asOf).executeTakeFirst();
      return row?.received_at ?? null;
    },

    async deliveryCounts(period) {
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

    async deliveriesByDay(period, timeZone) {
      const ends = await deliveries(period)
        .select((eb) => [eb.fn.min('h.received_at').as('first'), eb.fn.max('h.received_at').as('last')])
        .executeTakeFirstOrThrow();
      if (ends.first === null || ends.last === null) return [];
      const from = dateIn(ends.first, timeZone);
      const days = spansOf(from, addDays(dateIn(ends.last, timeZone), 1), timeZone, 'day');
      const found: { day: string; deliveries: number }[] = [];
      for (let place = 0; place < days.length; place += DAYS) {
        const some = days.slice(place, place + DAYS);
        const values = sql.join(some.map(({ name, start, end }) => sql`(${name}, ${start}, ${end})`));
        // `cross join` keeps the order on SQLite: each day walks its stretch of the index on (source, received_at).
        const { rows } = await sql<{ day: string; n: number }>`
          select s.column1 as day, count(*) as n
          from (values ${values}) as s cross join delivery_history as h
          where h.source = ${period.source} and h.seq <= ${period.asOf}
            and h.received_at >= s.column2 and h.received_at < s.column3
            and h.received_at >= ${period.from} and h.received_at < ${period.to}
          group by s.column1 order by s.column1`.execute(query);
        for (const { day, n } of rows) found.push({ day, deliveries: Number(n) });
      }
      return found;
    },

    deliveryRows: (period) =>
      pageByKey<DeliveryRow>((after, limit) =>
        deliveries(period)
          .selectAll('h')
          .where('h.seq', '>', after?.seq ?? 0)
          .orderBy('h.seq')
          .limit(limit)
          .execute(),
      ),

    policyRows: ({ source, asOf, to }) =>
      pageByKey<PolicyRow>((after, limit) =>
        query
          .selectFrom('policy_history as p')
          .leftJoin('delivery_history as h', 'h.seq', 'p.seq')
          .selectAll('p')
          .select('h.commitment')
          .where('p.source', '=', source)
          .where('p.seq', '<=', asOf)
          .where('p.seq', '>', after?.seq ?? 0)
          .where('p.at', '<', to)
          .orderBy('p.seq')
          .limit(limit)
          .execute(),
      ),

    actionRows: (period, names, sources = [period.source]) =>
      pageByKey<ActionRow>((after, limit) =>
        query
          .selectFrom('action_history')
          .selectAll()
          .where('source', 'in', [...sources])
          .where('action', 'in', [...names])
          .where('seq', '<=', period.asOf)
          .where('seq', '>', after?.seq ?? 0)
          .where('received_at', '>=', period.from)
          .where('received_at', '<', period.to)
          .orderBy('seq')
          .limit(limit)
          .execute(),
      ),

    async quarantineCounts(period) {
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

    async observedCounters(period) {
      const row = await query
        .selectFrom('action_history')
        .selectAll()
        .where('source', '=', period.source)
        .where('action', '=', 'counters.observed')
        .where('object', '=', periodKey(period))
        .where('seq', '<=', period.asOf)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row ?? null;
    },

    async erasedEntries({ source, asOf }) {
      const erasures = await query
        .selectFrom('entries')
        .select('body')
        .where('source', 'in', [source, INSTALLATION])
        .where('kind', '=', 'erasure')
        .where('seq', '<=', asOf)
        .execute();
      const seqs = [...new Set(erasures.flatMap(({ body }) => erasedSeqs(body)))];
      let erased = 0;
      for (let start = 0; start < seqs.length; start += SEQS) {
        const { n } = await query
          .selectFrom('entries')
          .select((eb) => eb.fn.countAll().as('n'))
          .where('source', '=', source)
          .where('seq', 'in', seqs.slice(start, start + SEQS))
          .where('body', 'is', null)
          .executeTakeFirstOrThrow();
        erased += Number(n);
      }
      return erased;
    },

    async rawEntries(scope, seqs) {
      const visible = seqs.filter((seq) => seq <= scope.asOf);
      if (visible.length === 0) return [];
      return query
        .selectFrom('entries')
        .select(['seq', 'kind', 'received_at', 'meta', 'body', 'salt', 'commitment'])
        .where('source', '=', scope.source)
        .where('seq', 'in', visible)
        .orderBy('seq')
        .execute();
    },

    async signatures(scope, seqs) {
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
