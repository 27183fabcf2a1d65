import { type RawBuilder, sql } from 'kysely';
import type { Judged } from '../../core/consent-judgement.ts';
import { type Holds, holdsOf } from '../../core/consent-timeline.ts';
import type { ConsentState } from '../../core/vocabulary.ts';
import type { Span } from '../../core/zoned-days.ts';
import type { Query } from '../store.ts';
import { type DecisionBuilder, decisionsIn, firstDecisionsIn, judgedAt } from './decisions-in.ts';
import { nullsFirst, type Period } from './scope.ts';

/** Decisions of a period that agree in everything they are counted by. */
export interface DecisionGroup {
  /** As they are judged at asOf. */
  readonly judged: Judged;
  /** As their first records state it. */
  readonly stated: ConsentState;
  /** Records of each of them contradict each other: the choice says nothing then. */
  readonly disputed: boolean;
  /** The choice and the state by all their records, and which of the purposes they withdraw. */
  readonly purposes: string;
  readonly state: ConsentState;
  readonly withdraws: string;
  readonly region: string | null;
  readonly bannerId: string | null;
  readonly policyId: string | null;
  readonly policyVersion: string | null;
  readonly decisions: number;
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
  /** Decisions whose claimed time does not count, so the time of receipt is used. */
  readonly timesNotCounted: number;
  /** Decisions without a time of their own: counted at the time of receipt. */
  readonly timedByReceipt: number;
  /** Decisions whose time came without an offset from UTC. */
  readonly offsetAssumed: number;
}

/** How many decisions a period had, by `at`, each counted at its first row (`is_first`). */
export function createDecisionCounts(query: Query) {
  const first = (period: Period) => firstDecisionsIn(query, period);
  const count = (eb: DecisionBuilder) => eb.fn.countAll().as('decisions');

  return {
    async decisionTotals(period: Period): Promise<DecisionTotals> {
      const { together } = await judgedAt(query, period);
      const owner = together('subject');
      const row = await decisionsIn(query, period)
        .select((eb) => [
          eb.fn.countAll().as('rows'),
          sum('d.is_first = 1').as('decisions'),
          sum('d.conflicts = 1').as('conflicts'),
          sql<number>`sum(case when d.is_first = 1 and ${owner} is null then 1 else 0 end)`.as('withoutSubject'),
          sum('d.is_first = 1 and d.occurred_counts = 0').as('timesNotCounted'),
          sum(`d.is_first = 1 and d.occurred_basis = 'received'`).as('timedByReceipt'),
          sum(`d.is_first = 1 and d.occurred_basis = 'assumed-offset'`).as('offsetAssumed'),
        ])
        .executeTakeFirstOrThrow();
      // Sorted: SQLite counts `count(distinct …)` in a tree that it finds a place in for each decision, which takes three times as long.
      const subjects = await query
        .selectFrom(first(period).select(owner.as('owner')).groupBy(sql.ref('owner')).as('s'))
        .select((eb) => eb.fn.count('s.owner').as('n'))
        .executeTakeFirstOrThrow();
      return {
        decisions: Number(row.decisions ?? 0),
        rows: Number(row.rows),
        subjects: Number(subjects.n),
        withoutSubject: Number(row.withoutSubject ?? 0),
        conflicts: Number(row.conflicts ?? 0),
        timesNotCounted: Number(row.timesNotCounted ?? 0),
        timedByReceipt: Number(row.timedByReceipt ?? 0),
        offsetAssumed: Number(row.offsetAssumed ?? 0),
      };
    },

    /** All that a report counts decisions by, in one walk: each of its tables adds up some of these groups. */
    async decisionGroups(period: Period): Promise<readonly DecisionGroup[]> {
      const { column, disputed, judged } = await judgedAt(query, period);
      const keys = [
        'judged',
        'isDisputed',
        'stated',
        'chosen',
        'saidState',
        'withdrawn',
        'ofRegion',
        'ofBanner',
        'ofPolicy',
        'ofVersion',
      ];
      const rows = await first(period)
        .select([judged.as('judged'), disputed.as('isDisputed'), 'd.state as stated'])
        .select([column('purposes').as('chosen'), column('state').as('saidState')])
        .select([column('withdraws').as('withdrawn'), 'd.region as ofRegion', 'd.banner_id as ofBanner'])
        .select(['d.policy_id as ofPolicy', 'd.policy_version as ofVersion'])
        .select(count)
        .groupBy(keys.map((key) => sql.ref(key)))
        .execute();
      return rows.map((row) => ({
        judged: row.judged,
        stated: row.stated,
        disputed: Number(row.isDisputed) === 1,
        purposes: row.chosen,
        state: row.saidState as ConsentState,
        withdraws: row.withdrawn,
        region: row.ofRegion,
        bannerId: row.ofBanner,
        policyId: row.ofPolicy,
        policyVersion: row.ofVersion,
        decisions: Number(row.decisions),
      }));
    },

    /** Over adjoining spans (days, weeks, months); spans without decisions have no rows. */
    async decisionsBySpan(
      period: Period,
      spans: readonly Span[],
    ): Promise<readonly { span: string; state: Judged; decisions: number }[]> {
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

    async decisionsByBanner(period: Period): Promise<readonly { bannerId: string | null; decisions: number }[]> {
      const rows = await first(period)
        .select('d.banner_id as bannerId')
        .select(count)
        .groupBy('d.banner_id')
        .orderBy('d.banner_id', nullsFirst)
        .execute();
      return rows.map((row) => ({ ...row, decisions: Number(row.decisions) }));
    },
  };
}

/**
 * What subjects hold on a banner at the end of a period where their latest decision alone says so: one row for each policy version and set of
 * purposes. What earlier decisions granted, or what is in doubt, comes in `heldConsents`.
 */
export interface StandingConsents {
  readonly policyId: string | null;
  readonly policyVersion: string | null;
  /** Canonical JSON array of the purposes that stand. */
  readonly stands: string;
  readonly consents: number;
  readonly withoutExpiry: number;
  /** Expiry before the end of the period or at it, within 30 days after it, from 30 to 90 days after it. */
  readonly expired: number;
  readonly within30Days: number;
  readonly within90Days: number;
}

/** What subjects hold on a banner at the end of a period. */
export function createStandingQueries(query: Query) {
  return {
    /**
     * What subjects hold, by policy version and purposes where the latest decision alone says so, and the entries of the latest decisions of the others,
     * for {@link heldConsents}: both come from one sort of all decisions.
     */
    async standingConsents(
      period: Period,
      in30Days: string,
      in90Days: string,
    ): Promise<{ readonly consents: readonly StandingConsents[]; readonly held: readonly number[] }> {
      const { column, together } = await judgedAt(query, period);
      const latest = latestDecisions(query, period, together('subject'))
        .select(['d.seq', column('stands').as('stands'), column('held').as('held')])
        .select([together('policy_id').as('policyId'), together('policy_version').as('policyVersion')])
        .select(together('expires_at').as('expires'));
      const rows = await query
        .selectFrom(latest.as('p'))
        .where(sql<boolean>`(p.stands <> '[]' or p.held <> '[]')`)
        .select(['p.policyId', 'p.policyVersion', 'p.stands'])
        // A group of its own for each latest decision that does not say it all.
        .select(sql<number>`case when p.held = '[]' then 0 else p.seq end`.as('heldSeq'))
        .select((eb) => [
          eb.fn.countAll().as('consents'),
          sum('p.expires is null').as('withoutExpiry'),
          sql<number>`sum(case when p.expires <= ${period.to} then 1 else 0 end)`.as('expired'),
          sql<number>`sum(case when p.expires > ${period.to} and p.expires < ${in30Days} then 1 else 0 end)`.as(
            'within30Days',
          ),
          sql<number>`sum(case when p.expires >= ${in30Days} and p.expires < ${in90Days} then 1 else 0 end)`.as(
            'within90Days',
          ),
        ])
        .groupBy(['p.policyId', 'p.policyVersion', 'p.stands', sql.ref('heldSeq')])
        .orderBy('p.policyId', nullsFirst)
        .orderBy('p.policyVersion', nullsFirst)
        .orderBy('p.stands')
        .execute();
      const consents = rows
        .filter(({ heldSeq }) => Number(heldSeq) === 0)
        .map(({ heldSeq: _none, ...row }) => ({
          ...row,
          consents: Number(row.consents),
          withoutExpiry: Number(row.withoutExpiry),
          expired: Number(row.expired),
          within30Days: Number(row.within30Days),
          within90Days: Number(row.within90Days),
        }));
      const held = rows.map(({ heldSeq }) => Number(heldSeq)).filter((seq) => seq > 0);
      return { consents, held: held.sort((a, b) => a - b) };
    },

    /** What a subject holds on a banner, of those whose latest decision does not say it all: `seqs` as {@link standingConsents} found them. */
    async *heldConsents(period: Period, seqs: readonly number[]): AsyncIterable<Holds> {
      const { column, together } = await judgedAt(query, period);
      for (let start = 0; start < seqs.length; start += AT_ONCE) {
        const some = seqs.slice(start, start + AT_ONCE);
        const rows = await query
          .selectFrom('decision_history as d')
          .where('d.seq', 'in', some)
          .select(['d.decision_id', 'd.at', column('stands').as('stands'), column('held').as('held')])
          .select([together('policy_id').as('policy_id'), together('policy_version').as('policy_version')])
          .select(together('expires_at').as('expires_at'))
          .orderBy('d.seq')
          .execute();
        for (const row of rows) yield holdsOf(row);
      }
    },
  };
}

/**
 * The latest decision of each subject on each banner by the end of a period, as `d`. Ranked in one sort: a correlated `not exists` was
 * tried, and is quadratic where many rows share a subject; the planner of SQLite took the index on the time for it.
 */
function latestDecisions(query: Query, period: Period, owner: RawBuilder<string | null>) {
  const ranked = query
    .selectFrom('decision_history as d')
    .where('d.source', '=', period.source)
    .where('d.seq', '<=', period.asOf)
    .where('d.at', '<', period.to)
    .where('d.is_first', '=', 1)
    .where(owner, 'is not', null)
    .select([
      'd.seq',
      'd.source',
      'd.decision_id',
      'd.stands',
      'd.held',
      'd.policy_id',
      'd.policy_version',
      'd.expires_at',
    ])
    .select(
      sql<number>`row_number() over (partition by ${owner}, coalesce(d.banner_id, '') order by d.at desc, d.seq desc)`.as(
        'latest',
      ),
    );
  return query.selectFrom(ranked.as('d')).where('d.latest', '=', 1);
}

/** How many rows meet a condition. Conditions are texts of this file only. */
function sum(condition: string) {
  return sql<number | null>`sum(case when ${sql.raw(condition)} then 1 else 0 end)`;
}

/** Decisions read in one statement. */
const AT_ONCE = 1000;
