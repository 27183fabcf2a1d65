import { sql } from 'kysely';
import type { Query } from '../store.ts';
import { firstDecisionsIn, hasRow, isAfter } from './decisions-in.ts';
import type { DecisionRow } from './history-decisions.ts';
import type { Period, Scope } from './history.ts';
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
  /**
   * Of those known one way only: with neither a record id nor a time of their own, so that nothing the other way can be matched with
   * them. A delivery and the row of the same choice then stand as two decisions.
   */
  readonly unmatchableDelivered: number;
  readonly unmatchablePulled: number;
}

/** A stretch of time of one banner (null: of decisions that name none). ISO 8601 UTC, `to` exclusive. */
export interface BannerWindow {
  readonly bannerId: string | null;
  readonly from: string;
  readonly to: string;
}

export const reconciliationFindings = ['only-webhook', 'only-pulled', 'conflicting'] as const;
export type ReconciliationFinding = (typeof reconciliationFindings)[number];

/** A decision with everything that was told about it up to asOf, in ledger order. */
export interface ReconciledDecision {
  readonly decisionId: string;
  readonly rows: readonly DecisionRow[];
}

/**
 * Deliveries matched with pulled rows, by the id of the decision. A decision belongs to the period in which its first row lies. Matching is
 * done in the database, along the index on (source, decision_id, seq, via, conflicts).
 */
export interface ReconciliationQueries {
  reconciliation(period: Period): Promise<Reconciliation>;
  /** The same, banner by banner, by id; null: the decision names none. */
  reconciliationByBanner(period: Period): Promise<readonly (Reconciliation & { readonly bannerId: string | null })[]>;
  /**
   * Delivered decisions within these windows that are not in the pulled log, and could be matched with a row of it: how many, by banner.
   * Windows of one banner must not overlap.
   */
  missingFromLog(period: Period, windows: readonly BannerWindow[]): Promise<ReadonlyMap<string | null, number>>;
  /** Whether any row of the pulled log names this banner. */
  isInLog(scope: Scope, bannerId: string): Promise<boolean>;
  /** The earliest time that counts of a pulled row; null without any. */
  earliestPulled(scope: Scope): Promise<string | null>;
  /** Which of these entries tell a decision of the period, by seq. */
  decisionsAmong(period: Period, seqs: readonly number[]): Promise<readonly number[]>;
  /** Decisions of one finding, by time. */
  reconciledDecisions(period: Period, finding: ReconciliationFinding): AsyncIterable<ReconciledDecision>;
}

/** Decisions looked up at once, and windows asked for at once. */
const DECISIONS = 500;
const WINDOWS = 1000;

/** A decision `d` that carries neither an id nor a time: nothing that came the other way can be matched with it. */
const NAMELESS = `d.record_id is null and d.occurred_basis = 'received'`;

export function createReconciliationQueries(query: Query): ReconciliationQueries {
  const first = (period: Period) => firstDecisionsIn(query, period);
  const bothWays = (period: Period) => hasRow(period, 'o.via <> d.via');
  const conflicting = (period: Period) => hasRow(period, 'o.conflicts = 1');
  /** One walk along the index per decision: 1 where the other way told it, too, and 2 where rows of it contradict each other. */
  const matched = (period: Period) =>
    first(period).select([
      'd.banner_id as banner_id',
      'd.via as via',
      sql<number>`case when ${sql.raw(NAMELESS)} then 1 else 0 end`.as('nameless'),
      sql<number>`(select max(case when o.via <> d.via then 1 else 0 end) + 2 * max(o.conflicts) from decision_history as o
        where o.source = d.source and o.decision_id = d.decision_id and o.seq <= ${period.asOf})`.as('told'),
    ]);

  return {
    async reconciliation(period) {
      const groups = await query
        .selectFrom(matched(period).as('m'))
        .select(['m.via', 'm.told', 'm.nameless'])
        .select((eb) => eb.fn.countAll().as('n'))
        .groupBy(['m.via', 'm.told', 'm.nameless'])
        .execute();
      return groups.reduce(added, noDecisions);
    },

    async reconciliationByBanner(period) {
      const groups = await query
        .selectFrom(matched(period).as('m'))
        .select(['m.banner_id', 'm.via', 'm.told', 'm.nameless'])
        .select((eb) => eb.fn.countAll().as('n'))
        .groupBy(['m.banner_id', 'm.via', 'm.told', 'm.nameless'])
        .execute();
      const banners = new Map<string | null, Reconciliation>();
      for (const group of groups)
        banners.set(group.banner_id, added(banners.get(group.banner_id) ?? noDecisions, group));
      return [...banners]
        .map(([bannerId, counts]) => ({ bannerId, ...counts }))
        .sort((a, b) => compareIds(a.bannerId, b.bannerId));
    },

    async missingFromLog(period, windows) {
      const missing = new Map<string | null, number>();
      const lone = first(period)
        .where('d.via', '=', 'webhook')
        .where(bothWays(period), '=', 0)
        .where(sql<boolean>`not (${sql.raw(NAMELESS)})`)
        .select(['d.banner_id', 'd.at']);
      for (let start = 0; start < windows.length; start += WINDOWS) {
        const some = windows.slice(start, start + WINDOWS);
        const values = sql.join(some.map(({ bannerId, from, to }) => sql`(${bannerId}, ${from}, ${to})`));
        // `cross join` keeps the order on SQLite: the decisions once, the few windows for each of them.
        const { rows } = await sql<{ banner_id: string | null; n: number }>`
          select l.banner_id as banner_id, count(*) as n
          from ${lone} as l cross join (values ${values}) as w
          where l.at >= w.column2 and l.at < w.column3
            and (l.banner_id = w.column1 or (l.banner_id is null and w.column1 is null))
          group by l.banner_id`.execute(query);
        for (const { banner_id, n } of rows) missing.set(banner_id, (missing.get(banner_id) ?? 0) + Number(n));
      }
      return missing;
    },

    async isInLog({ source, asOf }, bannerId) {
      const row = await query
        .selectFrom('decision_history')
        .select('seq')
        .where('source', '=', source)
        .where('banner_id', '=', bannerId)
        .where('via', '=', 'pull')
        .where('seq', '<=', asOf)
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },

    async earliestPulled({ source, asOf }) {
      const row = await query
        .selectFrom('decision_history')
        .select('at')
        .where('source', '=', source)
        .where('via', '=', 'pull')
        .where('occurred_counts', '=', 1)
        .where('occurred_basis', '!=', 'received')
        .where('seq', '<=', asOf)
        .orderBy('at')
        .orderBy('seq')
        .limit(1)
        .executeTakeFirst();
      return row?.at ?? null;
    },

    async decisionsAmong(period, seqs) {
      const found: number[] = [];
      for (let start = 0; start < seqs.length; start += DECISIONS) {
        const rows = await query
          .selectFrom('decision_history')
          .select('seq')
          .where('source', '=', period.source)
          .where('seq', 'in', seqs.slice(start, start + DECISIONS))
          .where('seq', '<=', period.asOf)
          .where('at', '>=', period.from)
          .where('at', '<', period.to)
          .execute();
        found.push(...rows.map(({ seq }) => Number(seq)));
      }
      return found.sort((a, b) => a - b);
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

/** The agreement about nothing, to add to. */
const noDecisions: Reconciliation = {
  decisions: 0,
  both: 0,
  onlyWebhook: 0,
  onlyPulled: 0,
  conflicting: 0,
  unmatchableDelivered: 0,
  unmatchablePulled: 0,
};

interface Group {
  readonly via: 'webhook' | 'pull';
  /** 1: the other way told it, too; 2: rows contradict each other; 3: both. */
  readonly told: number;
  /** 1: with neither id nor time. */
  readonly nameless: number;
  readonly n: string | number | bigint;
}

function added(total: Reconciliation, group: Group): Reconciliation {
  const n = Number(group.n);
  const told = Number(group.told);
  const both = told % 2 === 1;
  const unmatchable = !both && Number(group.nameless) === 1 ? n : 0;
  return {
    decisions: total.decisions + n,
    both: total.both + (both ? n : 0),
    onlyWebhook: total.onlyWebhook + (!both && group.via === 'webhook' ? n : 0),
    onlyPulled: total.onlyPulled + (!both && group.via === 'pull' ? n : 0),
    conflicting: total.conflicting + (told >= 2 ? n : 0),
    unmatchableDelivered: total.unmatchableDelivered + (group.via === 'webhook' ? unmatchable : 0),
    unmatchablePulled: total.unmatchablePulled + (group.via === 'pull' ? unmatchable : 0),
  };
}

function compareIds(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -1 : 1;
}
