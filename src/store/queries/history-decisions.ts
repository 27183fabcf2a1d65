import { sql, type Selectable } from 'kysely';
import type { ConsentState } from '../../core/vocabulary.ts';
import type { Span } from '../../core/zoned-days.ts';
import type { DecisionHistoryTable } from '../schema.ts';
import type { Query } from '../store.ts';
import { type DecisionBuilder, decisionsIn, firstDecisionsIn } from './decisions-in.ts';
import type { Period, Scope } from './scope.ts';
import { nullsFirst } from './order.ts';
import { pageByKey } from './pages.ts';

export type DecisionRow = Selectable<DecisionHistoryTable>;

export type WithdrawalTime = Pick<DecisionRow, 'seq' | 'at' | 'received_at' | 'occurred_basis' | 'occurred_counts'>;

export interface DecisionTotals {
  /** Distinct decisions: rows that are the first of theirs. */
  readonly decisions: number;
  /** All rows: a decision told by a delivery and by the pulled log has two. */
  readonly rows: number;
  /** Distinct subjects among the decisions. */
  readonly subjects: number;
  readonly withoutSubject: number;
  /** Rows that contradict an earlier row of the same decision. */
  readonly conflicts: number;
  /** Decisions whose claimed time does not count, so that the time of receipt stands in. */
  readonly timesNotCounted: number;
  /** Decisions without a time of their own: counted at the time of receipt. */
  readonly timedByReceipt: number;
  /** Decisions whose time came without an offset from UTC. */
  readonly offsetAssumed: number;
}

/** Consents that stand at the end of a period: given, and nothing later from the same subject on the same banner. */
export interface StandingConsents {
  readonly policyId: string | null;
  readonly policyVersion: string | null;
  readonly consents: number;
  readonly withoutExpiry: number;
  /** Expiry before the end of the period, within 30 days after it, from 30 to 90 days after it. */
  readonly expired: number;
  readonly within30Days: number;
  readonly within90Days: number;
}

/** Decisions of a period: by `at`, counted at the first row of each (`is_first`). */
export interface DecisionQueries {
  decisionTotals(period: Period): Promise<DecisionTotals>;
  decisionsByState(period: Period): Promise<readonly { state: ConsentState; decisions: number }[]>;
  /** Over adjoining spans (days, weeks, months); spans without decisions have no rows. */
  decisionsBySpan(
    period: Period,
    spans: readonly Span[],
  ): Promise<readonly { span: string; state: ConsentState; decisions: number }[]>;
  /** By the whole choice: canonical JSON purpose → granted | denied. */
  decisionsByChoice(period: Period): Promise<readonly { purposes: string; decisions: number }[]>;
  decisionsByRegion(
    period: Period,
  ): Promise<readonly { region: string | null; state: ConsentState; decisions: number }[]>;
  decisionsByBanner(period: Period): Promise<readonly { bannerId: string | null; decisions: number }[]>;
  decisionsByPolicyVersion(
    period: Period,
  ): Promise<
    readonly { policyId: string | null; policyVersion: string | null; state: ConsentState; decisions: number }[]
  >;
  standingConsents(period: Period, in30Days: string, in90Days: string): Promise<readonly StandingConsents[]>;
  /** When each withdrawal of the period happened and when it was received, by time: nothing else of them is read. */
  withdrawalTimes(period: Period): AsyncIterable<WithdrawalTime>;
  /** Every row of the period, repeats too, by time. */
  decisionRows(period: Period): AsyncIterable<DecisionRow>;
  /** Every row of these subjects up to asOf, in ledger order. */
  decisionRowsOf(scope: Scope, subjects: readonly string[]): AsyncIterable<DecisionRow>;
}

export function createDecisionQueries(query: Query): DecisionQueries {
  const inPeriod = (period: Period) => decisionsIn(query, period);
  const first = (period: Period) => firstDecisionsIn(query, period);
  const count = (eb: DecisionBuilder) => eb.fn.countAll().as('decisions');

  return {
    async decisionTotals(period) {
      const row = await inPeriod(period)
        .select((eb) => [
          eb.fn.countAll().as('rows'),
          sum('d.is_first = 1').as('decisions'),
          sum('d.conflicts = 1').as('conflicts'),
          sum('d.is_first = 1 and d.subject is null').as('withoutSubject'),
          sum('d.is_first = 1 and d.occurred_counts = 0').as('timesNotCounted'),
          sum(`d.is_first = 1 and d.occurred_basis = 'received'`).as('timedByReceipt'),
          sum(`d.is_first = 1 and d.occurred_basis = 'assumed-offset'`).as('offsetAssumed'),
          sql<number>`count(distinct case when d.is_first = 1 then d.subject end)`.as('subjects'),
        ])
        .executeTakeFirstOrThrow();
      return {
        decisions: Number(row.decisions ?? 0),
        rows: Number(row.rows),
        subjects: Number(row.subjects),
        withoutSubject: Number(row.withoutSubject ?? 0),
        conflicts: Number(row.conflicts ?? 0),
        timesNotCounted: Number(row.timesNotCounted ?? 0),
        timedByReceipt: Number(row.timedByReceipt ?? 0),
        offsetAssumed: Number(row.offsetAssumed ?? 0),
      };
    },

    async decisionsByState(period) {
      const rows = await first(period).select('d.state').select(count).groupBy('d.state').orderBy('d.state').execute();
      return rows.map(({ state, decisions }) => ({ state, decisions: Number(decisions) }));
    },

    async decisionsBySpan(period, spans) {
      if (spans.length === 0) return [];
      const values = sql.join(spans.map(({ name, start, end }) => sql`(${name}, ${start}, ${end})`));
      // `cross join` keeps the order on SQLite: each span walks its stretch of the index on (source, at, seq).
      const { rows } = await sql<{ span: string; state: ConsentState; decisions: number }>`
        select s.column1 as span, d.state as state, count(*) as decisions
        from (values ${values}) as s cross join decision_history as d
        where d.source = ${period.source} and d.at >= s.column2 and d.at < s.column3 and d.seq <= ${period.asOf} and d.is_first = 1
          and d.at >= ${period.from} and d.at < ${period.to}
        group by s.column1, d.state order by s.column1, d.state`.execute(query);
      return rows.map((row) => ({ ...row, decisions: Number(row.decisions) }));
    },

    async decisionsByChoice(period) {
      const rows = await first(period)
        .select('d.purposes')
        .select(count)
        .groupBy('d.purposes')
        .orderBy('d.purposes')
        .execute();
      return rows.map(({ purposes, decisions }) => ({ purposes, decisions: Number(decisions) }));
    },

    async decisionsByRegion(period) {
      const rows = await first(period)
        .select(['d.region', 'd.state'])
        .select(count)
        .groupBy(['d.region', 'd.state'])
        .orderBy('d.region', nullsFirst)
        .orderBy('d.state')
        .execute();
      return rows.map((row) => ({ ...row, decisions: Number(row.decisions) }));
    },

    async decisionsByBanner(period) {
      const rows = await first(period)
        .select('d.banner_id as bannerId')
        .select(count)
        .groupBy('d.banner_id')
        .orderBy('d.banner_id', nullsFirst)
        .execute();
      return rows.map((row) => ({ ...row, decisions: Number(row.decisions) }));
    },

    async decisionsByPolicyVersion(period) {
      const rows = await first(period)
        .select(['d.policy_id as policyId', 'd.policy_version as policyVersion', 'd.state'])
        .select(count)
        .groupBy(['d.policy_id', 'd.policy_version', 'd.state'])
        .orderBy('d.policy_id', nullsFirst)
        .orderBy('d.policy_version', nullsFirst)
        .orderBy('d.state')
        .execute();
      return rows.map((row) => ({ ...row, decisions: Number(row.decisions) }));
    },

    async standingConsents(period, in30Days, in90Days) {
      // Ranked in one sort. A correlated `not exists` was tried: quadratic where many rows share a subject, and the planner
      // of SQLite took the index on the time for it.
      const ranked = query
        .selectFrom('decision_history as r')
        .where('r.source', '=', period.source)
        .where('r.seq', '<=', period.asOf)
        .where('r.at', '<', period.to)
        .where('r.is_first', '=', 1)
        .where('r.subject', 'is not', null)
        .select(['r.state', 'r.policy_id', 'r.policy_version', 'r.expires_at'])
        .select(
          sql<number>`row_number() over (partition by r.subject, coalesce(r.banner_id, '') order by r.at desc, r.seq desc)`.as(
            'latest',
          ),
        );
      const rows = await query
        .selectFrom(ranked.as('d'))
        .where('d.latest', '=', 1)
        .where('d.state', 'in', ['given', 'renewed-given'])
        .select(['d.policy_id as policyId', 'd.policy_version as policyVersion'])
        .select((eb) => [
          eb.fn.countAll().as('consents'),
          sum('d.expires_at is null').as('withoutExpiry'),
          sql<number>`sum(case when d.expires_at < ${period.to} then 1 else 0 end)`.as('expired'),
          sql<number>`sum(case when d.expires_at >= ${period.to} and d.expires_at < ${in30Days} then 1 else 0 end)`.as(
            'within30Days',
          ),
          sql<number>`sum(case when d.expires_at >= ${in30Days} and d.expires_at < ${in90Days} then 1 else 0 end)`.as(
            'within90Days',
          ),
        ])
        .groupBy(['d.policy_id', 'd.policy_version'])
        .orderBy('d.policy_id', nullsFirst)
        .orderBy('d.policy_version', nullsFirst)
        .execute();
      return rows.map((row) => ({
        policyId: row.policyId,
        policyVersion: row.policyVersion,
        consents: Number(row.consents),
        withoutExpiry: Number(row.withoutExpiry),
        expired: Number(row.expired),
        within30Days: Number(row.within30Days),
        within90Days: Number(row.within90Days),
      }));
    },

    withdrawalTimes: (period) =>
      pageByKey<WithdrawalTime>((after, limit) =>
        firstDecisionsIn(query, period, after)
          .where('d.state', '=', 'withdrawn')
          .select(['d.seq', 'd.at', 'd.received_at', 'd.occurred_basis', 'd.occurred_counts'])
          .orderBy('d.at')
          .orderBy('d.seq')
          .limit(limit)
          .execute(),
      ),

    decisionRows: (period) =>
      pageByKey<DecisionRow>((after, limit) =>
        decisionsIn(query, period, after).selectAll('d').orderBy('d.at').orderBy('d.seq').limit(limit).execute(),
      ),

    async *decisionRowsOf(scope, subjects) {
      // Subject by subject: each is one walk along the index on (source, subject, seq).
      for (const subject of [...new Set(subjects)].sort()) {
        yield* pageByKey<DecisionRow>((after, limit) =>
          query
            .selectFrom('decision_history as d')
            .selectAll('d')
            .where('d.source', '=', scope.source)
            .where('d.subject', '=', subject)
            .where('d.seq', '<=', scope.asOf)
            .where('d.seq', '>', after?.seq ?? 0)
            .orderBy('d.seq')
            .limit(limit)
            .execute(),
        );
      }
    },
  };
}

/** How many rows meet a condition. Conditions are texts of this file only. */
function sum(condition: string) {
  return sql<number | null>`sum(case when ${sql.raw(condition)} then 1 else 0 end)`;
}
