import { type SelectQueryBuilder, sql, type Selectable } from 'kysely';
import { ALL_PURPOSES, type Judged, outcomesOf, type PurposeChoices } from '../../core/consent-judgement.ts';
import type { ConsentState } from '../../core/vocabulary.ts';
import type { Span } from '../../core/zoned-days.ts';
import type { DecisionHistoryTable, Tables } from '../schema.ts';
import type { Query } from '../store.ts';
import { type DecisionBuilder, decisionsIn, firstDecisionsIn, type JudgedAt, judgedAt } from './decisions-in.ts';
import type { Period, Scope } from './scope.ts';
import { nullsFirst } from './order.ts';
import { pageByKey } from './pages.ts';

export type DecisionRow = Selectable<DecisionHistoryTable>;

/** A row with the judgement of its decision at asOf; `disputed` 1: records of the decision contradict each other. */
export interface JudgedRow extends DecisionRow {
  readonly disputed: number;
}

export interface WithdrawalTime
  extends Pick<DecisionRow, 'seq' | 'at' | 'received_at' | 'occurred_basis' | 'occurred_counts' | 'via'> {
  readonly judged: Judged;
}

/** Decisions that say the same: the choice and the state as stated, which of the purposes they withdraw, and whether they are disputed. */
export interface ChoiceCount {
  readonly purposes: string;
  readonly state: ConsentState;
  readonly withdraws: string;
  readonly disputed: boolean;
  readonly decisions: number;
}

/** Consent that was recorded after the same subject had its consent withdrawn by request. */
export interface ConsentAfterWithdrawal {
  readonly caseId: string;
  readonly subject: string;
  readonly bannerId: string | null;
  /** Purposes that had been withdrawn and are granted again; `*`: the decision names none. */
  readonly purposes: readonly string[];
  readonly withdrawnAt: string;
  readonly withdrawnSeq: number;
  readonly at: string;
  readonly seq: number;
}

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

/**
 * Consents that stand at the end of a period: the latest decision of a subject on a banner leaves a purpose granted and is not disputed.
 * One row for each policy version and set of purposes.
 */
export interface StandingConsents {
  /** One subject of whom some decision is disputed, on one banner; null: all others. */
  readonly contested: { readonly subject: string; readonly bannerId: string | null } | null;
  readonly policyId: string | null;
  readonly policyVersion: string | null;
  /** Canonical JSON array of the purposes that stand. */
  readonly stands: string;
  /** 1: disputed, and so not counted as standing. */
  readonly disputed: number;
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
  /** As they are judged at asOf. */
  decisionsByState(period: Period): Promise<readonly { state: Judged; decisions: number }[]>;
  /** As their records state it. */
  decisionsByStatedState(period: Period): Promise<readonly { state: ConsentState; decisions: number }[]>;
  /** Over adjoining spans (days, weeks, months); spans without decisions have no rows. */
  decisionsBySpan(
    period: Period,
    spans: readonly Span[],
  ): Promise<readonly { span: string; state: Judged; decisions: number }[]>;
  /** By the whole choice, from which totals by purpose follow (core/consent-judgement.ts, outcomesOf). */
  decisionsByChoice(period: Period): Promise<readonly ChoiceCount[]>;
  decisionsByRegion(period: Period): Promise<readonly { region: string | null; state: Judged; decisions: number }[]>;
  decisionsByBanner(period: Period): Promise<readonly { bannerId: string | null; decisions: number }[]>;
  decisionsByPolicyVersion(
    period: Period,
  ): Promise<readonly { policyId: string | null; policyVersion: string | null; state: Judged; decisions: number }[]>;
  standingConsents(period: Period, in30Days: string, in90Days: string): Promise<readonly StandingConsents[]>;
  /** When each withdrawal of the period, in whole or in part, happened and when it was received, by time: nothing else of them is read. */
  withdrawalTimes(period: Period): AsyncIterable<WithdrawalTime>;
  /** Consent recorded after a withdrawal by request, in ledger order, the first 500: of a source or of all, of a case, since a time (ISO 8601 UTC). */
  consentsAfterWithdrawal(of: {
    readonly source?: string;
    readonly asOf: number;
    readonly caseId?: string;
    /** Only consents given from this time on, ISO 8601 UTC. */
    readonly from?: string;
    /** Only consents that were received from this time on, however old they say they are. */
    readonly receivedFrom?: string;
  }): Promise<readonly ConsentAfterWithdrawal[]>;
  /** Every row of the period, repeats too, by time. */
  decisionRows(period: Period): AsyncIterable<JudgedRow>;
  /** The last decisions of these subjects, as they are judged now, the latest entry first. */
  latestDecisionsOf(source: string, subjects: readonly string[], limit: number): Promise<readonly JudgedRow[]>;
  /** Every row of these subjects up to asOf, in ledger order. */
  decisionRowsOf(scope: Scope, subjects: readonly string[]): AsyncIterable<JudgedRow>;
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
      const { judged } = await judgedAt(query, period);
      const rows = await first(period)
        .select(judged.as('judged'))
        .select(count)
        .groupBy(sql`judged`)
        .orderBy(sql`judged`)
        .execute();
      return rows.map(({ judged: state, decisions }) => ({ state, decisions: Number(decisions) }));
    },

    async decisionsByStatedState(period) {
      const rows = await first(period).select('d.state').select(count).groupBy('d.state').orderBy('d.state').execute();
      return rows.map(({ state, decisions }) => ({ state, decisions: Number(decisions) }));
    },

    async decisionsBySpan(period, spans) {
      if (spans.length === 0) return [];
      const { judged } = await judgedAt(query, period);
      const values = sql.join(spans.map(({ name, start, end }) => sql`(${name}, ${start}, ${end})`));
      // `cross join` keeps the order on SQLite: each span walks its stretch of the index on (source, at, seq).
      const { rows } = await sql<{ span: string; judged: Judged; decisions: number }>`
        select s.column1 as span, ${judged} as judged, count(*) as decisions
        from (values ${values}) as s cross join decision_history as d
        where d.source = ${period.source} and d.at >= s.column2 and d.at < s.column3 and d.seq <= ${period.asOf} and d.is_first = 1
          and d.at >= ${period.from} and d.at < ${period.to}
        group by s.column1, judged order by s.column1, judged`.execute(query);
      return rows.map(({ span, judged: state, decisions }) => ({ span, state, decisions: Number(decisions) }));
    },

    async decisionsByChoice(period) {
      const { column, disputed } = await judgedAt(query, period);
      const rows = await first(period)
        .select(['d.purposes', 'd.state', column('withdraws').as('withdrawn'), disputed.as('disputed')])
        .select(count)
        .groupBy(['d.purposes', 'd.state', sql`withdrawn`, sql`disputed`])
        .orderBy('d.purposes')
        .orderBy('d.state')
        .orderBy(sql`withdrawn`)
        .orderBy(sql`disputed`)
        .execute();
      return rows.map(({ purposes, state, withdrawn, disputed: contested, decisions }) => ({
        purposes,
        state,
        withdraws: withdrawn,
        disputed: Number(contested) === 1,
        decisions: Number(decisions),
      }));
    },

    async decisionsByRegion(period) {
      const { judged } = await judgedAt(query, period);
      const rows = await first(period)
        .select(['d.region', judged.as('judged')])
        .select(count)
        .groupBy(['d.region', sql`judged`])
        .orderBy('d.region', nullsFirst)
        .orderBy(sql`judged`)
        .execute();
      return rows.map(({ region, judged: state, decisions }) => ({ region, state, decisions: Number(decisions) }));
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
      const { judged } = await judgedAt(query, period);
      const rows = await first(period)
        .select(['d.policy_id as policyId', 'd.policy_version as policyVersion', judged.as('judged')])
        .select(count)
        .groupBy(['d.policy_id', 'd.policy_version', sql`judged`])
        .orderBy('d.policy_id', nullsFirst)
        .orderBy('d.policy_version', nullsFirst)
        .orderBy(sql`judged`)
        .execute();
      return rows.map(({ judged: state, ...row }) => ({ ...row, state, decisions: Number(row.decisions) }));
    },

    async standingConsents(period, in30Days, in90Days) {
      const { column, disputed } = await judgedAt(query, period);
      // Ranked in one sort. A correlated `not exists` was tried: quadratic where many rows share a subject, and the planner
      // of SQLite took the index on the time for it.
      const ranked = query
        .selectFrom('decision_history as r')
        .where('r.source', '=', period.source)
        .where('r.seq', '<=', period.asOf)
        .where('r.at', '<', period.to)
        .where('r.is_first', '=', 1)
        .where('r.subject', 'is not', null)
        .select(['r.source', 'r.decision_id', 'r.label', 'r.stands', 'r.subject', 'r.banner_id'])
        .select(['r.policy_id', 'r.policy_version', 'r.expires_at'])
        .select(
          sql<number>`row_number() over (partition by r.subject, coalesce(r.banner_id, '') order by r.at desc, r.seq desc)`.as(
            'latest',
          ),
        );
      const contested = query
        .selectFrom('decision_history as c')
        .where('c.source', '=', period.source)
        .where('c.seq', '<=', period.asOf)
        .where(sql<boolean>`c.conflicts = 1`)
        .where('c.subject', 'is not', null)
        .select('c.subject');
      const ofContested = (column: 'subject' | 'banner_id') =>
        sql<string | null>`case when d.subject in ${contested} then d.${sql.raw(column)} end`;
      const rows = await query
        .selectFrom(ranked.as('d'))
        .where('d.latest', '=', 1)
        .where(sql<boolean>`${column('stands')} <> '[]'`)
        // Of these the choice is not known, or awaited: nothing is certified as standing.
        .where(sql<boolean>`${column('label')} not in ('requested', 'request-deferred', 'unknown')`)
        .select(['d.policy_id as policyId', 'd.policy_version as policyVersion'])
        .select([column('stands').as('standing'), disputed.as('disputed')])
        .select([ofContested('subject').as('contested_subject'), ofContested('banner_id').as('contested_banner')])
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
        .groupBy(['d.policy_id', 'd.policy_version', sql`standing`, sql`disputed`])
        .groupBy([sql`contested_subject`, sql`contested_banner`])
        .orderBy('d.policy_id', nullsFirst)
        .orderBy('d.policy_version', nullsFirst)
        .orderBy(sql`standing`)
        .orderBy(sql`disputed`)
        .execute();
      return rows.map((row) => ({
        policyId: row.policyId,
        policyVersion: row.policyVersion,
        contested:
          row.contested_subject === null ? null : { subject: row.contested_subject, bannerId: row.contested_banner },
        stands: row.standing,
        disputed: Number(row.disputed),
        consents: Number(row.consents),
        withoutExpiry: Number(row.withoutExpiry),
        expired: Number(row.expired),
        within30Days: Number(row.within30Days),
        within90Days: Number(row.within90Days),
      }));
    },

    async *withdrawalTimes(period) {
      const { judged } = await judgedAt(query, period);
      yield* pageByKey<WithdrawalTime>((after, limit) =>
        firstDecisionsIn(query, period, after)
          .where(sql<boolean>`${judged} in ('withdrawn', 'partly-withdrawn')`)
          .select(['d.seq', 'd.at', 'd.received_at', 'd.occurred_basis', 'd.occurred_counts', 'd.via'])
          .select(judged.as('judged'))
          .orderBy('d.at')
          .orderBy('d.seq')
          .limit(limit)
          .execute(),
      );
    },

    async consentsAfterWithdrawal({ source, asOf, caseId, from, receivedFrom }) {
      const rows = await query
        .selectFrom('decision_history as r')
        .innerJoin('decision_history as d', (join) =>
          join
            .onRef('d.source', '=', 'r.source')
            .onRef('d.subject', '=', 'r.subject')
            .on(sql<boolean>`(d.at > r.at or (d.at = r.at and d.seq > r.seq))`),
        )
        .where(sql<boolean>`r.via = 'request'`)
        .where('r.seq', '<=', asOf)
        .$if(source !== undefined, (some) => some.where('r.source', '=', source ?? ''))
        .$if(caseId !== undefined, (some) => some.where('r.case_id', '=', caseId ?? ''))
        .$if(from !== undefined, (some) => some.where('d.at', '>=', from ?? ''))
        .$if(receivedFrom !== undefined, (some) => some.where('d.received_at', '>=', receivedFrom ?? ''))
        .where('d.seq', '<=', asOf)
        .where('d.via', '<>', 'request')
        .where('d.is_first', '=', 1)
        .where('d.state', 'in', ['given', 'renewed-given', 'refused', 'withdrawn'])
        .select(['r.case_id as caseId', 'r.seq as withdrawnSeq', 'r.at as withdrawnAt', 'r.purposes as withdrawn'])
        .select(['d.subject', 'd.banner_id as bannerId', 'd.seq', 'd.at', 'd.state', 'd.purposes'])
        .orderBy('d.seq')
        .orderBy('r.seq', 'desc')
        .limit(CONSENTS_AFTER)
        .execute();
      const found = new Map<string, ConsentAfterWithdrawal>();
      for (const { withdrawn, state, purposes: said, ...row } of rows) {
        const { caseId: id, subject } = row;
        const key = `${id} ${row.seq}`;
        if (id === null || subject === null || found.has(key)) continue;
        const purposes = grantedAgain({ state, purposes: parsed(said) }, Object.keys(parsed(withdrawn)));
        if (purposes.length > 0) found.set(key, { ...row, caseId: id, subject, purposes });
      }
      return [...found.values()];
    },

    async latestDecisionsOf(source, subjects, limit) {
      const latest = query
        .selectFrom('decision_history as d')
        .selectAll('d')
        .where('d.source', '=', source)
        .where('d.subject', 'in', [...subjects])
        .where('d.is_first', '=', 1)
        .orderBy('d.seq', 'desc')
        .limit(limit);
      return withJudgement(await judgedAt(query, { source, asOf: Number.MAX_SAFE_INTEGER }), latest);
    },

    decisionRows: (period) =>
      judgedRows(period, (after, limit) =>
        decisionsIn(query, period, after).selectAll('d').orderBy('d.at').orderBy('d.seq').limit(limit),
      ),

    async *decisionRowsOf(scope, subjects) {
      // Subject by subject: each is one walk along the index on (source, subject, seq).
      for (const subject of [...new Set(subjects)].sort()) {
        yield* judgedRows(scope, (after, limit) =>
          query
            .selectFrom('decision_history as d')
            .selectAll('d')
            .where('d.source', '=', scope.source)
            .where('d.subject', '=', subject)
            .where('d.seq', '<=', scope.asOf)
            .where('d.seq', '>', after?.seq ?? 0)
            .orderBy('d.seq')
            .limit(limit),
        );
      }
    },
  };

  /** Rows as they are judged at asOf, page by page. */
  async function* judgedRows(
    scope: Scope,
    page: (after: DecisionRow | null, limit: number) => DecisionSelect,
  ): AsyncGenerator<JudgedRow> {
    const judged = await judgedAt(query, scope);
    yield* pageByKey<JudgedRow>((after, limit) => withJudgement(judged, page(after, limit)));
  }
}

type DecisionSelect = SelectQueryBuilder<Tables & { d: DecisionHistoryTable }, 'd', DecisionRow>;

async function withJudgement({ column, disputed }: JudgedAt, select: DecisionSelect): Promise<JudgedRow[]> {
  const rows = await select
    .select([column('label').as('nowLabel'), column('withdraws').as('nowWithdraws'), column('stands').as('nowStands')])
    .select(disputed.as('isDisputed'))
    .execute();
  return rows.map(({ nowLabel, nowWithdraws, nowStands, isDisputed, ...row }) => ({
    ...row,
    label: nowLabel as DecisionRow['label'],
    withdraws: nowWithdraws,
    stands: nowStands,
    disputed: Number(isDisputed),
  }));
}

/** Looked at for consent after a withdrawal: more of them are a fault of the site, not a list for an officer. */
const CONSENTS_AFTER = 500;

function parsed(purposes: string): PurposeChoices {
  return JSON.parse(purposes) as PurposeChoices;
}

/** Of the purposes withdrawn (empty: all), those that a decision grants. */
function grantedAgain(
  said: { readonly state: ConsentState; readonly purposes: PurposeChoices },
  withdrawn: readonly string[],
): readonly string[] {
  const given = said.state === 'given' || said.state === 'renewed-given';
  if (given && Object.keys(said.purposes).length === 0) return [ALL_PURPOSES];
  const granted = [...outcomesOf(said, [])].flatMap(([purpose, outcome]) => (outcome === 'granted' ? [purpose] : []));
  return withdrawn.length === 0 ? granted : granted.filter((purpose) => withdrawn.includes(purpose));
}

/** How many rows meet a condition. Conditions are texts of this file only. */
function sum(condition: string) {
  return sql<number | null>`sum(case when ${sql.raw(condition)} then 1 else 0 end)`;
}
