import { type ExpressionBuilder, sql } from 'kysely';
import type { DecisionHistoryTable, Tables } from '../schema.ts';
import type { Query } from '../store.ts';
import type { DecisionRow } from './history-decisions.ts';
import type { Period } from './history.ts';
import { pageByKey } from './pages.ts';

/** How the two ways in agree. `both + onlyWebhook + onlyPulled = decisions`; `conflicting` are counted among these too. */
export interface Reconciliation {
  readonly decisions: number;
  readonly both: number;
  /** Delivered, but not in the pulled log: not pulled yet, removed upstream, or never recorded there. */
  readonly onlyWebhook: number;
  /** In the pulled log, but never delivered: the endpoint was away, or the event is not subscribed. */
  readonly onlyPulled: number;
  /** Rows of one decision that say different things. */
  readonly conflicting: number;
}

export const reconciliationFindings = ['only-webhook', 'only-pulled', 'conflicting'] as const;
export type ReconciliationFinding = (typeof reconciliationFindings)[number];

/** A decision with everything that was told about it up to asOf, in ledger order. */
export interface ReconciledDecision {
  readonly decisionId: string;
  readonly rows: readonly DecisionRow[];
}

/**
 * Decisions that follow each other in time, none of which was delivered: the endpoint was away, refused, or was not told. ISO 8601 UTC.
 */
export interface UndeliveredStretch {
  /** Decisions, one after the other, that only the pulled log has. */
  readonly decisions: number;
  readonly firstAt: string;
  readonly lastAt: string;
  /** Entries of the first and the last of them. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** The delivered decisions before and after them, within the period; null where there is none. */
  readonly deliveredBefore: string | null;
  readonly deliveredAfter: string | null;
}

/**
 * Deliveries matched with pulled rows, by the id of the decision. A decision belongs to the period in which its first row lies. Matching is
 * done in the database, along the index on (source, decision_id, seq, via, conflicts).
 */
export interface ReconciliationQueries {
  reconciliation(period: Period): Promise<Reconciliation>;
  /** The same, banner by banner, by id; null: the decision names none. */
  reconciliationByBanner(period: Period): Promise<readonly (Reconciliation & { readonly bannerId: string | null })[]>;
  /** How many decisions on a banner (null: naming none) were delivered and are not in the pulled log. */
  onlyDelivered(period: Period, bannerId: string | null): Promise<number>;
  /** Decisions of one finding, by time. */
  reconciledDecisions(period: Period, finding: ReconciliationFinding): AsyncIterable<ReconciledDecision>;
  /** How many stretches there are, how many of more than one decision, and how many decisions lie in these. */
  undeliveredTotals(
    period: Period,
  ): Promise<{ readonly stretches: number; readonly longer: number; readonly inLonger: number }>;
  /** The longest stretches (most decisions first, then by time), at most `limit`. */
  undeliveredStretches(period: Period, limit: number): Promise<readonly UndeliveredStretch[]>;
  /** Consent deliveries kept, and deliveries refused, by our clock within a stretch of time: what else reached the endpoint meanwhile. */
  reachedBetween(
    period: Period,
    from: string,
    to: string,
  ): Promise<{ readonly kept: number; readonly refused: number }>;
}

/** Decisions looked up at once. */
const DECISIONS = 500;

export function createReconciliationQueries(query: Query): ReconciliationQueries {
  const first = (period: Period) =>
    query
      .selectFrom('decision_history as d')
      .where('d.source', '=', period.source)
      .where('d.at', '>=', period.from)
      .where('d.at', '<', period.to)
      .where('d.seq', '<=', period.asOf)
      .where('d.is_first', '=', 1);
  /** Whether the decision of `d` has another row that … */
  const hasRow = (period: Period, condition: string) =>
    sql<number>`case when exists (select 1 from decision_history as o where o.source = d.source
      and o.decision_id = d.decision_id and o.seq <= ${period.asOf} and ${sql.raw(condition)}) then 1 else 0 end`;
  const bothWays = (period: Period) => hasRow(period, 'o.via <> d.via');
  const conflicting = (period: Period) => hasRow(period, 'o.conflicts = 1');
  /** One walk along the index per decision: 1 where the other way told it, too, and 2 where rows of it contradict each other. */
  const matched = (period: Period) =>
    first(period).select([
      'd.banner_id as banner_id',
      'd.via as via',
      sql<number>`(select max(case when o.via <> d.via then 1 else 0 end) + 2 * max(o.conflicts) from decision_history as o
        where o.source = d.source and o.decision_id = d.decision_id and o.seq <= ${period.asOf})`.as('told'),
    ]);
  const delivered = (period: Period) =>
    sql<number>`case when d.via = 'webhook' then 1 else ${hasRow(period, `o.via = 'webhook'`)} end`;

  /** Decisions numbered so that those between two delivered ones share a number. */
  const islands = (period: Period) =>
    query
      .selectFrom(
        first(period)
          .select(['d.at', 'd.seq', delivered(period).as('delivered')])
          .as('m'),
      )
      .select(['m.at', 'm.seq', 'm.delivered'])
      .select([
        sql<number>`sum(m.delivered) over (order by m.at, m.seq rows between unbounded preceding and current row)`.as(
          'island',
        ),
        sql<
          string | null
        >`max(case when m.delivered = 1 then m.at end) over (order by m.at, m.seq rows between unbounded preceding and current row)`.as(
          'delivered_before',
        ),
        sql<
          string | null
        >`min(case when m.delivered = 1 then m.at end) over (order by m.at, m.seq rows between current row and unbounded following)`.as(
          'delivered_after',
        ),
      ]);
  const stretches = (period: Period) =>
    query
      .selectFrom(islands(period).as('i'))
      .where('i.delivered', '=', 0)
      .groupBy(['i.island', 'i.delivered_before', 'i.delivered_after'])
      .select((eb) => [
        'i.delivered_before as deliveredBefore',
        'i.delivered_after as deliveredAfter',
        eb.fn.countAll().as('decisions'),
        eb.fn.min('i.at').as('firstAt'),
        eb.fn.max('i.at').as('lastAt'),
        eb.fn.min('i.seq').as('firstSeq'),
        eb.fn.max('i.seq').as('lastSeq'),
      ]);

  return {
    async reconciliation(period) {
      const groups = await query
        .selectFrom(matched(period).as('m'))
        .select(['m.via', 'm.told'])
        .select((eb) => eb.fn.countAll().as('n'))
        .groupBy(['m.via', 'm.told'])
        .execute();
      return groups.reduce(added, nothing);
    },

    async reconciliationByBanner(period) {
      const groups = await query
        .selectFrom(matched(period).as('m'))
        .select(['m.banner_id', 'm.via', 'm.told'])
        .select((eb) => eb.fn.countAll().as('n'))
        .groupBy(['m.banner_id', 'm.via', 'm.told'])
        .execute();
      const banners = new Map<string | null, Reconciliation>();
      for (const group of groups) banners.set(group.banner_id, added(banners.get(group.banner_id) ?? nothing, group));
      return [...banners]
        .map(([bannerId, counts]) => ({ bannerId, ...counts }))
        .sort((a, b) => compareIds(a.bannerId, b.bannerId));
    },

    async onlyDelivered(period, bannerId) {
      let some = first(period).where('d.via', '=', 'webhook').where(bothWays(period), '=', 0);
      some = bannerId === null ? some.where('d.banner_id', 'is', null) : some.where('d.banner_id', '=', bannerId);
      const { n } = await some.select((eb) => eb.fn.countAll().as('n')).executeTakeFirstOrThrow();
      return Number(n);
    },

    async *reconciledDecisions(period, finding) {
      const found = pageByKey<Pick<DecisionRow, 'at' | 'seq' | 'decision_id'>>((after, limit) => {
        let page = first(period).select(['d.at', 'd.seq', 'd.decision_id']);
        if (finding === 'conflicting') page = page.where(conflicting(period), '=', 1);
        else
          page = page
            .where('d.via', '=', finding === 'only-webhook' ? 'webhook' : 'pull')
            .where(bothWays(period), '=', 0);
        if (after !== null) page = page.where(isAfter(after));
        return page.orderBy('d.at').orderBy('d.seq').limit(limit).execute();
      });
      let waiting: string[] = [];
      for await (const { decision_id } of found) {
        waiting.push(decision_id);
        if (waiting.length < DECISIONS) continue;
        yield* await rowsOf(period, waiting);
        waiting = [];
      }
      yield* await rowsOf(period, waiting);
    },

    async undeliveredTotals(period) {
      const row = await query
        .selectFrom(stretches(period).as('s'))
        .select((eb) => [
          eb.fn.countAll().as('stretches'),
          sql<number | null>`sum(case when s.decisions > 1 then 1 else 0 end)`.as('longer'),
          sql<number | null>`sum(case when s.decisions > 1 then s.decisions else 0 end)`.as('inLonger'),
        ])
        .executeTakeFirstOrThrow();
      return {
        stretches: Number(row.stretches),
        longer: Number(row.longer ?? 0),
        inLonger: Number(row.inLonger ?? 0),
      };
    },

    async undeliveredStretches(period, limit) {
      const rows = await query
        .selectFrom(stretches(period).as('s'))
        .selectAll()
        .orderBy('s.decisions', 'desc')
        .orderBy('s.firstAt')
        .orderBy('s.firstSeq')
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        decisions: Number(row.decisions),
        firstAt: row.firstAt,
        lastAt: row.lastAt,
        firstSeq: Number(row.firstSeq),
        lastSeq: Number(row.lastSeq),
        deliveredBefore: row.deliveredBefore,
        deliveredAfter: row.deliveredAfter,
      }));
    },

    async reachedBetween(period, from, to) {
      const kept = await query
        .selectFrom('delivery_history')
        .select((eb) => eb.fn.countAll().as('n'))
        .where('source', '=', period.source)
        .where('seq', '<=', period.asOf)
        .where('received_at', '>', from)
        .where('received_at', '<', to)
        .executeTakeFirstOrThrow();
      const refused = await query
        .selectFrom('rejected_counts')
        .select((eb) => eb.fn.sum('count').as('n'))
        .where('source', '=', period.source)
        .where('minute', '>=', from.slice(0, 16))
        .where('minute', '<=', to.slice(0, 16))
        .executeTakeFirstOrThrow();
      return { kept: Number(kept.n), refused: Number(refused.n ?? 0) };
    },
  };

  async function rowsOf(period: Period, ids: readonly string[]): Promise<ReconciledDecision[]> {
    if (ids.length === 0) return [];
    const rows = await query
      .selectFrom('decision_history')
      .selectAll()
      .where('source', '=', period.source)
      .where('decision_id', 'in', ids)
      .where('seq', '<=', period.asOf)
      .orderBy('seq')
      .execute();
    const byId = new Map<string, DecisionRow[]>(ids.map((id) => [id, []]));
    for (const row of rows) byId.get(row.decision_id)?.push(row);
    return [...byId].map(([decisionId, told]) => ({ decisionId, rows: told }));
  }
}

const nothing: Reconciliation = { decisions: 0, both: 0, onlyWebhook: 0, onlyPulled: 0, conflicting: 0 };

interface Group {
  readonly via: 'webhook' | 'pull';
  /** 1: the other way told it, too; 2: rows contradict each other; 3: both. */
  readonly told: number;
  readonly n: string | number | bigint;
}

function added(total: Reconciliation, group: Group): Reconciliation {
  const n = Number(group.n);
  const told = Number(group.told);
  const both = told % 2 === 1;
  return {
    decisions: total.decisions + n,
    both: total.both + (both ? n : 0),
    onlyWebhook: total.onlyWebhook + (!both && group.via === 'webhook' ? n : 0),
    onlyPulled: total.onlyPulled + (!both && group.via === 'pull' ? n : 0),
    conflicting: total.conflicting + (told >= 2 ? n : 0),
  };
}

/** What comes after a row in the order of time and seq, in a form that both databases answer from the index on (source, at, seq). */
function isAfter(row: { readonly at: string; readonly seq: number }) {
  return (eb: ExpressionBuilder<Tables & { d: DecisionHistoryTable }, 'd'>) =>
    eb.and([eb('d.at', '>=', row.at), eb.or([eb('d.at', '>', row.at), eb('d.seq', '>', row.seq)])]);
}

function compareIds(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -1 : 1;
}
