import { type Selectable, sql } from 'kysely';
import type { ActionName } from '../../core/action.ts';
import { INSTALLATION } from '../../core/vocabulary.ts';
import { addDays, dateIn, spansOf } from '../../core/zoned-days.ts';
import { erasedSeqs } from '../../crypto/entry.ts';
import type { Tables } from '../schema.ts';
import type { Query } from '../store.ts';
import { periodKey } from './counters.ts';
import { nullsFirst, pageByKey, type Period, type Scope } from './scope.ts';

/** A policy change, with the commitment of the entry that reported it. */
export type PolicyRow = Selectable<Tables['policy_history']> & { readonly commitment: string | null };
export type DeliveryRow = Selectable<Tables['delivery_history']>;
type ActionRow = Selectable<Tables['action_history']>;
type RawEntry = Pick<
  Selectable<Tables['entries']>,
  'seq' | 'kind' | 'received_at' | 'meta' | 'body' | 'salt' | 'commitment'
>;

/** Days counted at once. */
const DAYS = 1000;
/** Entries looked up at once. */
const SEQS = 500;

/** Deliveries, policies and actions. Periods of deliveries and actions are by time of receipt. */
export function createEvidenceQueries(query: Query) {
  const deliveries = (period: Period) =>
    query
      .selectFrom('delivery_history as h')
      .where('h.source', '=', period.source)
      .where('h.seq', '<=', period.asOf)
      .where('h.received_at', '>=', period.from)
      .where('h.received_at', '<', period.to);

  return {
    /** When entry `asOf` was received; null for an empty ledger. */
    async receivedAtOf(asOf: number): Promise<string | null> {
      const row = await query.selectFrom('entries').select('received_at').where('seq', '=', asOf).executeTakeFirst();
      return row?.received_at ?? null;
    },

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

    deliveryRows: (period: Period): AsyncIterable<DeliveryRow> =>
      pageByKey<DeliveryRow>((after, limit) =>
        deliveries(period)
          .selectAll('h')
          .where('h.seq', '>', after?.seq ?? 0)
          .orderBy('h.seq')
          .limit(limit)
          .execute(),
      ),

    /** Policy changes dated before `to`, whatever their beginning, in ledger order. */
    policyRows: ({ source, asOf, to }: Scope & { readonly to: string }): AsyncIterable<PolicyRow> =>
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

    /** Actions of these names on the source (or on several, with `sources`), in ledger order. */
    actionRows: (
      period: Period,
      names: readonly ActionName[],
      sources: readonly string[] = [period.source],
    ): AsyncIterable<ActionRow> =>
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

    /** The newest observation of the counters of exactly this period (`counters.observed`); null: there is none up to asOf. */
    async observedCounters(period: Period): Promise<ActionRow | null> {
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

    /** How many entries of the source were erased by erasures up to asOf. */
    async erasedEntries({ source, asOf }: Scope): Promise<number> {
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

    /** Exact bytes of entries; `meta`, `body` and `salt` are null after an erasure. */
    async rawEntries(scope: Scope, seqs: readonly number[]): Promise<readonly RawEntry[]> {
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

/** One look at a text of a policy. */
export type TextLookRow = Pick<
  Selectable<Tables['snapshot_history']>,
  | 'seq'
  | 'target'
  | 'policy_type'
  | 'policy_id'
  | 'text_sha256'
  | 'body_seq'
  | 'origin_from'
  | 'origin_to'
  | 'phase'
  | 'content_type'
> & {
  /** Of the entry that holds the answer. */
  readonly commitment: Buffer | null;
};

/** Texts of policies as they were fetched. */
export function createTextQueries(query: Query) {
  return {
    /** Every look of a source (at the public pages of some policies only), target by target, each in order of seq. */
    textLooks: ({ source, asOf }: Scope, ofPolicies?: ReadonlySet<string>): AsyncIterable<TextLookRow> =>
      pageByKey<TextLookRow>((after, limit) =>
        query
          .selectFrom('snapshot_history as s')
          .leftJoin('entries as e', 'e.seq', 's.body_seq')
          .select([
            's.seq',
            's.target',
            's.policy_type',
            's.policy_id',
            's.text_sha256',
            's.body_seq',
            's.origin_from',
            's.origin_to',
            's.phase',
            's.content_type',
            'e.commitment',
          ])
          .where('s.source', '=', source)
          .where('s.what', '=', 'policy')
          .where('s.seq', '<=', asOf)
          .$if(ofPolicies !== undefined, (page) =>
            page.where(
              's.target',
              'in',
              [...(ofPolicies ?? [])].map((id) => `hosted:${id}`),
            ),
          )
          .$if(after !== null, (page) =>
            page.where((eb) =>
              eb.or([
                eb('s.target', '>', after?.target ?? ''),
                eb.and([eb('s.target', '=', after?.target ?? ''), eb('s.seq', '>', after?.seq ?? 0)]),
              ]),
            ),
          )
          .orderBy('s.target')
          .orderBy('s.seq')
          .limit(limit)
          .execute(),
      ),
  };
}
