import { sql } from 'kysely';
import type { Query } from '../store.ts';
import { contradicted, firstDecisionsIn, hasRow } from './decisions-in.ts';
import type { DecisionRow } from './history-decisions.ts';
import type { Period, Scope } from './scope.ts';
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

export interface BannerReconciliation extends Reconciliation {
  readonly bannerId: string | null;
  /** Of those that were only delivered: how many lie within the windows, and could be matched with a row of the log. */
  readonly missingFromLog: number;
}

/** A stretch of time of one banner (null: of decisions that name none). ISO 8601 UTC, `to` exclusive. */
interface BannerWindow {
  readonly bannerId: string | null;
  readonly from: string;
  readonly to: string;
}

const reconciliationFindings = ['only-webhook', 'only-pulled', 'conflicting'] as const;
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
  /** What a page says that is looked at often: it walks the index for the few decisions that a pulled row told first. */
  disagreement(period: Period): Promise<Pick<Reconciliation, 'onlyPulled' | 'conflicting'>>;
  /**
   * Banner by banner, by id; null: the decision names none. `windows`: what was pulled of which banner, so that the log should have
   * what was delivered then. Windows of one banner must not overlap.
   */
  reconciliationByBanner(period: Period, windows?: readonly BannerWindow[]): Promise<readonly BannerReconciliation[]>;
  /** Whether any row of the pulled log names this banner. */
  isInLog(scope: Scope, bannerId: string): Promise<boolean>;
  /** The earliest time that counts of a pulled row; null without any. */
  earliestPulled(scope: Scope): Promise<string | null>;
  /** Which of these entries tell a decision of the period, by seq. */
  decisionsAmong(period: Period, seqs: readonly number[]): Promise<readonly number[]>;
  /** Decisions of one finding, by time: all of them, page by page, or the first `most` (at most 500). */
  reconciledDecisions(period: Period, finding: ReconciliationFinding, most?: number): AsyncIterable<ReconciledDecision>;
}

/** Decisions looked up at once. */
const DECISIONS = 500;

type Found = Pick<DecisionRow, 'at' | 'seq' | 'decision_id'>;

/** A decision `d` that carries neither an id nor a time: nothing that came the other way can be matched with it. */
const NAMELESS = `d.record_id is null and d.occurred_basis = 'received'`;

/** Whether `d` was delivered, could be matched, and lies in a window of its banner. */
function isMissing(windows: readonly BannerWindow[]) {
  if (windows.length === 0) return sql<boolean>`1 = 0`;
  const values = sql.join(windows.map(({ bannerId, from, to }) => sql`(${bannerId}, ${from}, ${to})`));
  return sql<boolean>`d.via = 'webhook' and not (${sql.raw(NAMELESS)}) and exists (select 1 from (values ${values}) as w
    where d.at >= w.column2 and d.at < w.column3 and (d.banner_id = w.column1 or (d.banner_id is null and w.column1 is null)))`;
}

export function createReconciliationQueries(query: Query): ReconciliationQueries {
  // What an officer carried out on request was never to be delivered, nor is it in the log.
  const first = (period: Period, after: Found | null = null) =>
    firstDecisionsIn(query, period, after).where('d.via', '<>', 'request');
  const bothWays = (period: Period) => hasRow(period, 'o.via <> d.via');
  /** One walk along the index per decision. */
  const matched = (period: Period, windows: readonly BannerWindow[]) =>
    first(period).select([
      'd.banner_id as banner_id',
      sql<Group['via']>`d.via`.as('via'),
      sql<number>`case when ${sql.raw(NAMELESS)} then 1 else 0 end`.as('nameless'),
      sql<number>`case when d.decision_id in ${contradicted(query, period)} then 1 else 0 end`.as('conflicting'),
      sql<
        Group['way']
      >`case when ${bothWays(period)} = 1 then 'both' when ${isMissing(windows)} then 'missing' else 'one' end`.as(
        'way',
      ),
    ]);

  return {
    async disagreement(period) {
      const count = async (some: ReturnType<typeof first>) => {
        const { n } = await some.select((eb) => eb.fn.countAll().as('n')).executeTakeFirstOrThrow();
        return Number(n);
      };
      return {
        onlyPulled: await count(first(period).where('d.via', '=', 'pull').where(bothWays(period), '=', 0)),
        conflicting: await count(first(period).where('d.decision_id', 'in', contradicted(query, period))),
      };
    },

    async reconciliationByBanner(period, windows = []) {
      const groups = await query
        .selectFrom(matched(period, windows).as('m'))
        .select(['m.banner_id', 'm.via', 'm.nameless', 'm.conflicting', 'm.way'])
        .select((eb) => eb.fn.countAll().as('n'))
        .groupBy(['m.banner_id', 'm.via', 'm.nameless', 'm.conflicting', 'm.way'])
        .execute();
      const banners = new Map<string | null, Omit<BannerReconciliation, 'bannerId'>>();
      for (const group of groups) {
        const known = banners.get(group.banner_id) ?? { ...noDecisions, missingFromLog: 0 };
        const missingFromLog = known.missingFromLog + (group.way === 'missing' ? Number(group.n) : 0);
        banners.set(group.banner_id, { ...added(known, group), missingFromLog });
      }
      return [...banners]
        .map(([bannerId, counts]) => ({ bannerId, ...counts }))
        .sort((a, b) => compareIds(a.bannerId, b.bannerId));
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

    async *reconciledDecisions(period, finding, most) {
      const load = (after: Found | null, limit: number): Promise<readonly Found[]> => {
        let page = first(period, after).select(['d.at', 'd.seq', 'd.decision_id']);
        if (finding === 'conflicting') page = page.where('d.decision_id', 'in', contradicted(query, period));
        else
          page = page
            .where('d.via', '=', finding === 'only-webhook' ? 'webhook' : 'pull')
            .where(bothWays(period), '=', 0);
        return page.orderBy('d.at').orderBy('d.seq').limit(limit).execute();
      };
      if (most !== undefined) {
        const some = await load(null, Math.min(most, DECISIONS));
        yield* await rowsOf(
          period,
          some.map(({ decision_id }) => decision_id),
        );
        return;
      }
      let waiting: string[] = [];
      for await (const { decision_id } of pageByKey<Found>(load)) {
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
  /** 1: with neither id nor time. */
  readonly nameless: number;
  /** 1: rows contradict each other. */
  readonly conflicting: number;
  /** `missing`: one way only, although the log was asked for it. */
  readonly way: 'both' | 'one' | 'missing';
  readonly n: string | number | bigint;
}

function added(total: Reconciliation, group: Group): Reconciliation {
  const n = Number(group.n);
  const both = group.way === 'both';
  const unmatchable = !both && Number(group.nameless) === 1 ? n : 0;
  return {
    decisions: total.decisions + n,
    both: total.both + (both ? n : 0),
    onlyWebhook: total.onlyWebhook + (!both && group.via === 'webhook' ? n : 0),
    onlyPulled: total.onlyPulled + (!both && group.via === 'pull' ? n : 0),
    conflicting: total.conflicting + (Number(group.conflicting) === 1 ? n : 0),
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
