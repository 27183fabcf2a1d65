import { type NotNull, type RawBuilder, type SelectQueryBuilder, sql, type Selectable } from 'kysely';
import { ALL_PURPOSES, type Judged, type PurposeChoices, purposeKey } from '../../core/consent-judgement.ts';
import { type Holds, holdsOf, judgeDecision, type JudgedDecision, timelineOf } from '../../core/consent-timeline.ts';
import type { ConsentState } from '../../core/vocabulary.ts';
import type { Span } from '../../core/zoned-days.ts';
import type { Tables } from '../schema.ts';
import type { Query } from '../store.ts';
import { type DecisionBuilder, decisionsIn, firstDecisionsIn, type JudgedAt, judgedAt } from './decisions-in.ts';
import { nullsFirst, pageByKey, type Period, type Scope } from './scope.ts';

export type DecisionRow = Selectable<Tables['decision_history']>;

/** A row with the judgement of its decision at asOf; `disputed` 1: records of the decision contradict each other. */
export interface JudgedRow extends DecisionRow {
  readonly disputed: number;
  /** The choice by all records of the decision; `purposes` is what this row says. */
  readonly chosen: string;
}

export interface WithdrawalTime
  extends Pick<DecisionRow, 'seq' | 'at' | 'received_at' | 'occurred_basis' | 'occurred_counts' | 'via'> {
  readonly judged: Judged;
}

/** Undisputed decisions that say the same: the choice and the state by all their records, and which of the purposes they withdraw. */
export interface ChoiceCount {
  readonly purposes: string;
  readonly state: ConsentState;
  readonly withdraws: string;
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

/** A withdrawal by request, and a banner on which the same subject decided something before it and which it does not cover. */
export interface UncoveredBanner {
  /** Of the first entry `consent.withdrawn-by-request` of the answer, and its body. */
  readonly seq: number;
  readonly body: Buffer;
  readonly bannerId: string | null;
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
 * What subjects hold on a banner at the end of a period where their latest decision alone says so: one row for each policy version and set of
 * purposes. What earlier decisions granted, or what is in doubt, comes in {@link DecisionQueries.heldConsents}.
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

/** Decisions of a period: by `at`, counted at the first row of each (`is_first`). */
export function createDecisionQueries(query: Query) {
  const inPeriod = (period: Period) => decisionsIn(query, period);
  const first = (period: Period) => firstDecisionsIn(query, period);
  const count = (eb: DecisionBuilder) => eb.fn.countAll().as('decisions');

  return {
    async decisionTotals(period: Period): Promise<DecisionTotals> {
      const { together } = await judgedAt(query, period);
      const owner = together('subject');
      const row = await inPeriod(period)
        .select((eb) => [
          eb.fn.countAll().as('rows'),
          sum('d.is_first = 1').as('decisions'),
          sum('d.conflicts = 1').as('conflicts'),
          sql<number>`sum(case when d.is_first = 1 and ${owner} is null then 1 else 0 end)`.as('withoutSubject'),
          sum('d.is_first = 1 and d.occurred_counts = 0').as('timesNotCounted'),
          sum(`d.is_first = 1 and d.occurred_basis = 'received'`).as('timedByReceipt'),
          sum(`d.is_first = 1 and d.occurred_basis = 'assumed-offset'`).as('offsetAssumed'),
          sql<number>`count(distinct case when d.is_first = 1 then ${owner} end)`.as('subjects'),
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

    /** As they are judged at asOf. */
    async decisionsByState(period: Period): Promise<readonly { state: Judged; decisions: number }[]> {
      const { judged } = await judgedAt(query, period);
      const rows = await first(period)
        .select(judged.as('judged'))
        .select(count)
        .groupBy(sql`judged`)
        .orderBy(sql`judged`)
        .execute();
      return rows.map(({ judged: state, decisions }) => ({ state, decisions: Number(decisions) }));
    },

    /** As their records state it. */
    async decisionsByStatedState(period: Period): Promise<readonly { state: ConsentState; decisions: number }[]> {
      const rows = await first(period).select('d.state').select(count).groupBy('d.state').orderBy('d.state').execute();
      return rows.map(({ state, decisions }) => ({ state, decisions: Number(decisions) }));
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

    /** By the whole choice, from which totals by purpose follow (core/consent-judgement.ts, outcomesOf); without disputed decisions. */
    async decisionsByChoice(period: Period): Promise<readonly ChoiceCount[]> {
      const { column, disputed } = await judgedAt(query, period);
      const rows = await first(period)
        .select([column('purposes').as('chosen'), column('state').as('stated')])
        .select(column('withdraws').as('withdrawn'))
        .select(count)
        .where(sql<boolean>`${disputed} = 0`)
        .groupBy([sql`chosen`, sql`stated`, sql`withdrawn`])
        .orderBy(sql`chosen`)
        .orderBy(sql`stated`)
        .orderBy(sql`withdrawn`)
        .execute();
      return rows.map(({ chosen, stated, withdrawn, decisions }) => ({
        purposes: chosen,
        state: stated as ConsentState,
        withdraws: withdrawn,
        decisions: Number(decisions),
      }));
    },

    /** The disputed decisions of a period as a look-up judges them, with all that their subjects decided before. */
    async *disputedDecisions(period: Period): AsyncGenerator<JudgedDecision> {
      const { together, disputed } = await judgedAt(query, period);
      const { source, asOf } = period;
      const found = await first(period)
        .where(sql<boolean>`${disputed} = 1`)
        .select(['d.decision_id as decisionId', together('subject').as('subject')])
        .orderBy('d.seq')
        .execute();
      const wanted = new Set(found.map(({ decisionId }) => decisionId));
      const subjects = [...new Set(found.flatMap(({ subject }) => subject ?? []))];
      const nobodys = found.flatMap(({ subject, decisionId }) => (subject === null ? [{ source, decisionId }] : []));
      for (const told of (await recordsOf(nobodys, asOf)).values()) yield judgeDecision(told, new Map());
      for (let start = 0; start < subjects.length; start += SUBJECTS) {
        const owned = await ownedBy(period, subjects.slice(start, start + SUBJECTS))
          .select('o.subject')
          .execute();
        const rows = new Map<string, DecisionRow[]>(owned.map(({ subject }) => [subject ?? '', []]));
        const ownerOf = new Map(owned.map(({ decision_id, subject }) => [decision_id, subject ?? '']));
        const records = await recordsOf(
          owned.map(({ decision_id }) => ({ source, decisionId: decision_id })),
          asOf,
        );
        for (const told of records.values()) rows.get(ownerOf.get(told[0].decision_id) ?? '')?.push(...told);
        for (const one of rows.values())
          for (const decision of timelineOf(one)) if (wanted.has(decision.decisionId)) yield decision;
      }
    },

    async decisionsByRegion(
      period: Period,
    ): Promise<readonly { region: string | null; state: Judged; decisions: number }[]> {
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

    async decisionsByBanner(period: Period): Promise<readonly { bannerId: string | null; decisions: number }[]> {
      const rows = await first(period)
        .select('d.banner_id as bannerId')
        .select(count)
        .groupBy('d.banner_id')
        .orderBy('d.banner_id', nullsFirst)
        .execute();
      return rows.map((row) => ({ ...row, decisions: Number(row.decisions) }));
    },

    async decisionsByPolicyVersion(
      period: Period,
    ): Promise<readonly { policyId: string | null; policyVersion: string | null; state: Judged; decisions: number }[]> {
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

    async standingConsents(period: Period, in30Days: string, in90Days: string): Promise<readonly StandingConsents[]> {
      const { column, together } = await judgedAt(query, period);
      const latest = latestDecisions(period, together('subject'))
        .select([column('stands').as('stands'), column('held').as('held'), together('policy_id').as('policyId')])
        .select([together('policy_version').as('policyVersion'), together('expires_at').as('expires')]);
      const rows = await query
        .selectFrom(latest.as('p'))
        .where(sql<boolean>`p.stands <> '[]' and p.held = '[]'`)
        .select(['p.policyId', 'p.policyVersion', 'p.stands'])
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
        .groupBy(['p.policyId', 'p.policyVersion', 'p.stands'])
        .orderBy('p.policyId', nullsFirst)
        .orderBy('p.policyVersion', nullsFirst)
        .orderBy('p.stands')
        .execute();
      return rows.map((row) => ({
        ...row,
        consents: Number(row.consents),
        withoutExpiry: Number(row.withoutExpiry),
        expired: Number(row.expired),
        within30Days: Number(row.within30Days),
        within90Days: Number(row.within90Days),
      }));
    },

    /** What a subject holds on a banner at the end of a period, of all subjects on whose banner not only the latest decision says so. */
    async *heldConsents(period: Period): AsyncIterable<Holds> {
      const { column, together } = await judgedAt(query, period);
      // Found in one sort, and read a few at a time.
      const seqs = await latestDecisions(period, together('subject'))
        .where(sql<boolean>`${column('held')} <> '[]'`)
        .select('d.seq')
        .execute();
      for (let start = 0; start < seqs.length; start += AT_ONCE) {
        const some = seqs.slice(start, start + AT_ONCE).map(({ seq }) => seq);
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

    /** When each withdrawal of the period, in whole or in part, happened and when it was received, by time: nothing else of them is read. */
    async *withdrawalTimes(period: Period): AsyncIterable<WithdrawalTime> {
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

    /** Consent recorded after a withdrawal by request, in ledger order, the first 500: of a source or of all, of a case, since a time (ISO 8601 UTC). */
    async consentsAfterWithdrawal({
      source,
      sources,
      asOf,
      caseId,
      from,
      receivedFrom,
    }: {
      readonly source?: string;
      /** Only these; absent: of every source. */
      readonly sources?: readonly string[];
      readonly asOf: number;
      readonly caseId?: string;
      /** Only consents given from this time on, ISO 8601 UTC. */
      readonly from?: string;
      /** Only consents that were received from this time on, however old they say they are. */
      readonly receivedFrom?: string;
    }): Promise<readonly ConsentAfterWithdrawal[]> {
      const rows = await query
        .selectFrom(withdrawalsByRequest(source).as('r'))
        // `o` names the subject whose decision `d` is; mostly it is the first record.
        .innerJoin('decision_history as o', (join) =>
          join.onRef('o.source', '=', 'r.source').onRef('o.subject', '=', 'r.subject').on(namesOwner),
        )
        .innerJoin('decision_history as d', (join) =>
          join
            .onRef('d.source', '=', 'o.source')
            .onRef('d.decision_id', '=', 'o.decision_id')
            .on('d.is_first', '=', 1)
            .on(sql<boolean>`(${timeOfDecision} > r.at or (d.at = r.at and d.seq > r.seq))`),
        )
        .where('r.seq', '<=', asOf)
        .$if(sources !== undefined, (some) => some.where('r.source', 'in', [...(sources ?? [])]))
        .$if(caseId !== undefined, (some) => some.where('r.case_id', '=', caseId ?? ''))
        .$if(from !== undefined, (some) => some.where('d.at', '>=', from ?? ''))
        .$if(receivedFrom !== undefined, (some) => some.where('o.received_at', '>=', receivedFrom ?? ''))
        .where('o.seq', '<=', asOf)
        .where('d.via', '<>', 'request')
        .where('d.state', 'in', ['given', 'renewed-given', 'refused', 'withdrawn', 'unknown'])
        .select(['r.case_id as caseId', 'r.seq as withdrawnSeq', 'r.at as withdrawnAt', 'r.purposes as withdrawn'])
        .select(['o.subject', 'd.banner_id as bannerId', 'd.seq', 'd.at', 'd.source', 'd.decision_id as decisionId'])
        .orderBy('d.seq')
        .orderBy('r.seq', 'desc')
        .limit(CONSENTS_AFTER)
        .execute();
      const records = await recordsOf(rows, asOf);
      const found = new Map<string, ConsentAfterWithdrawal>();
      for (const { withdrawn, source: slug, decisionId, ...row } of rows) {
        const { caseId: id, subject } = row;
        const key = `${id} ${row.seq}`;
        const told = records.get(`${slug} ${decisionId}`);
        if (id === null || subject === null || told === undefined || found.has(key)) continue;
        const purposes = grantedAgain(told, Object.keys(parsed(withdrawn)));
        if (purposes.length > 0) found.set(key, { ...row, caseId: id, subject, purposes });
      }
      return [...found.values()];
    },

    /** Withdrawals by request of a source that lack a banner known by now, in ledger order; none whose entry was erased. */
    withdrawalsToExtend: (source: string): Promise<readonly UncoveredBanner[]> =>
      query
        .selectFrom(withdrawalsByRequest(source).as('r'))
        .innerJoin('decision_history as o', (join) =>
          join.onRef('o.source', '=', 'r.source').onRef('o.subject', '=', 'r.subject').on(namesOwner),
        )
        .innerJoin('decision_history as d', (join) =>
          join
            .onRef('d.source', '=', 'o.source')
            .onRef('d.decision_id', '=', 'o.decision_id')
            .on('d.is_first', '=', 1)
            .on('d.via', '<>', 'request')
            .on(sql<boolean>`${timeOfDecision} <= r.at`),
        )
        .innerJoin('entries as e', 'e.seq', 'r.seq')
        .where(sql<boolean>`r.seq = (select min(f.seq) from decision_history as f where ${sameAnswer('f')})`)
        .where(
          sql<boolean>`not exists (select 1 from decision_history as k
            where ${sameAnswer('k')} and coalesce(k.banner_id, '') = coalesce(d.banner_id, ''))`,
        )
        .where('e.body', 'is not', null)
        .select(['r.seq', 'e.body', 'd.banner_id as bannerId'])
        .distinct()
        .orderBy('r.seq')
        .orderBy('d.banner_id', nullsFirst)
        .$narrowType<{ body: NotNull }>()
        .execute(),

    /** The cases whose answers withdrew consent, as a query. */
    casesThatWithdrew: (source: string) =>
      query.selectFrom(withdrawalsByRequest(source).as('r')).select('r.case_id').where('r.case_id', 'is not', null),

    /** Which of these subjects any record names. */
    async subjectsAmong(source: string, subjects: readonly string[]): Promise<ReadonlySet<string | null>> {
      const known = new Set<string | null>();
      for (let start = 0; start < subjects.length; start += AT_ONCE) {
        const rows = await query
          .selectFrom('decision_history')
          .select('subject')
          .distinct()
          .where('source', '=', source)
          .where('subject', 'in', subjects.slice(start, start + AT_ONCE))
          .execute();
        for (const { subject } of rows) known.add(subject);
      }
      return known;
    },

    /** The last decisions of these subjects, as they are judged now, the latest entry first. */
    async latestDecisionsOf(source: string, subjects: readonly string[], limit: number): Promise<readonly JudgedRow[]> {
      const now = { source, asOf: Number.MAX_SAFE_INTEGER };
      const latest = query
        .selectFrom('decision_history as d')
        .selectAll('d')
        .where('d.source', '=', source)
        .where('d.is_first', '=', 1)
        .where('d.decision_id', 'in', ownedBy(now, subjects))
        .orderBy('d.seq', 'desc')
        .limit(limit);
      return withJudgement(await judgedAt(query, now), latest);
    },

    /** Every row of the period, repeats too, by time. */
    decisionRows: (period: Period): AsyncIterable<JudgedRow> =>
      judgedRows(period, (after, limit) =>
        decisionsIn(query, period, after).selectAll('d').orderBy('d.at').orderBy('d.seq').limit(limit),
      ),

    /** Every row of these subjects up to asOf, in ledger order, and those of their decisions that name none. */
    async *decisionRowsOf(scope: Scope, subjects: readonly string[]): AsyncIterable<JudgedRow> {
      // Subject by subject: each is one walk along the index on (source, subject, seq).
      for (const subject of [...new Set(subjects)].sort()) {
        const owned = ownedBy(scope, [subject]);
        const unnamed = await query
          .selectFrom('decision_history as d')
          .select('d.seq')
          .where('d.source', '=', scope.source)
          .where('d.decision_id', 'in', owned)
          .where('d.seq', '<=', scope.asOf)
          .where('d.subject', 'is', null)
          .limit(1)
          .executeTakeFirst();
        yield* judgedRows(scope, (after, limit) =>
          query
            .selectFrom('decision_history as d')
            .selectAll('d')
            .where('d.source', '=', scope.source)
            .where((eb) => {
              const named = eb('d.subject', '=', subject);
              return unnamed === undefined
                ? named
                : named.or(eb('d.subject', 'is', null).and('d.decision_id', 'in', owned));
            })
            .where('d.seq', '<=', scope.asOf)
            .where('d.seq', '>', after?.seq ?? 0)
            .orderBy('d.seq')
            .limit(limit),
        );
      }
    },
  };

  /**
   * The latest decision of each subject on each banner by the end of a period, as `d`. Ranked in one sort: a correlated `not exists` was
   * tried, and is quadratic where many rows share a subject; the planner of SQLite took the index on the time for it.
   */
  function latestDecisions(period: Period, owner: RawBuilder<string | null>) {
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

  /**
   * Withdrawals by request, of a source or of all, along their own index: SQLite takes one over all decisions unless the order asks for this one,
   * and the limit keeps it from ignoring that order.
   */
  function withdrawalsByRequest(source: string | undefined) {
    return query
      .selectFrom('decision_history')
      .select(['source', 'subject', 'at', 'seq', 'case_id', 'purposes'])
      .where(sql<boolean>`via = 'request'`)
      .$if(source !== undefined, (some) => some.where('source', '=', source ?? ''))
      .orderBy('source')
      .orderBy('subject')
      .orderBy('at')
      .limit(Number.MAX_SAFE_INTEGER);
  }

  /** Ids of the decisions of subjects. */
  function ownedBy({ source, asOf }: Scope, subjects: readonly string[]) {
    return query
      .selectFrom('decision_history as o')
      .select('o.decision_id')
      .where('o.source', '=', source)
      .where('o.subject', 'in', [...subjects])
      .where(namesOwner)
      .where('o.seq', '<=', asOf);
  }

  /** Every record of decisions, by source and id, in ledger order. */
  async function recordsOf(
    decisions: readonly { readonly source: string; readonly decisionId: string }[],
    asOf: number,
  ): Promise<ReadonlyMap<string, [DecisionRow, ...DecisionRow[]]>> {
    const records = new Map<string, [DecisionRow, ...DecisionRow[]]>();
    for (const source of new Set(decisions.map((one) => one.source))) {
      const ids = [...new Set(decisions.flatMap((one) => (one.source === source ? one.decisionId : [])))];
      for (let start = 0; start < ids.length; start += AT_ONCE) {
        const rows = await query
          .selectFrom('decision_history')
          .selectAll()
          .where('source', '=', source)
          .where('decision_id', 'in', ids.slice(start, start + AT_ONCE))
          .where('seq', '<=', asOf)
          .orderBy('seq')
          .execute();
        for (const row of rows) {
          const key = `${source} ${row.decision_id}`;
          const known = records.get(key);
          if (known === undefined) records.set(key, [row]);
          else known.push(row);
        }
      }
    }
    return records;
  }

  /** Rows as they are judged at asOf, page by page. */
  async function* judgedRows(
    scope: Scope,
    page: (after: DecisionRow | null, limit: number) => DecisionSelect,
  ): AsyncGenerator<JudgedRow> {
    const judged = await judgedAt(query, scope);
    yield* pageByKey<JudgedRow>((after, limit) => withJudgement(judged, page(after, limit)));
  }
}

type DecisionSelect = SelectQueryBuilder<Tables & { d: Tables['decision_history'] }, 'd', DecisionRow>;

async function withJudgement({ column, disputed }: JudgedAt, select: DecisionSelect): Promise<JudgedRow[]> {
  const rows = await select
    .select([column('label').as('nowLabel'), column('withdraws').as('nowWithdraws'), column('stands').as('nowStands')])
    .select([column('purposes').as('chosen'), disputed.as('isDisputed')])
    .execute();
  return rows.map(({ nowLabel, nowWithdraws, nowStands, isDisputed, ...row }) => ({
    ...row,
    label: nowLabel as DecisionRow['label'],
    withdraws: nowWithdraws,
    stands: nowStands,
    disputed: Number(isDisputed),
  }));
}

/** Subjects whose decisions are judged at once: each may have many. */
const SUBJECTS = 100;

/** Decisions read in one statement. */
const AT_ONCE = 1000;

/** Looked at for consent after a withdrawal: more of them are a fault of the site, not a list for an officer. */
const CONSENTS_AFTER = 500;

function parsed(purposes: string): PurposeChoices {
  return JSON.parse(purposes) as PurposeChoices;
}

/** Of the purposes withdrawn (empty: all), those that a decision grants by any of its records. */
function grantedAgain(
  records: readonly [DecisionRow, ...DecisionRow[]],
  withdrawn: readonly string[],
): readonly string[] {
  const { outcomes } = judgeDecision(records, new Map());
  const granted = [...outcomes].flatMap(([purpose, state]) =>
    state === 'granted' || state === 'disputed' ? [purpose] : [],
  );
  const named = new Set([ALL_PURPOSES, ...withdrawn.map(purposeKey)]);
  return withdrawn.length === 0 ? granted : granted.filter((purpose) => named.has(purposeKey(purpose)));
}

/** `o` is the first record that names a subject: the decision is this subject's. */
const namesOwner = sql<boolean>`(o.is_first = 1 or not exists (select 1 from decision_history as p where p.source = o.source
    and p.decision_id = o.decision_id and p.seq < o.seq and p.subject is not null))`;

/** Not the bare column, so that SQLite finds `d` by its decision and not along the index on the time. */
const timeOfDecision = sql`d.at || ''`;

/** The withdrawal `alias` follows from the same answer as `r`, or from another one of its case with the same effect. */
function sameAnswer(alias: 'f' | 'k') {
  const same = ['source', 'subject', 'case_id', 'at', 'purposes'].map((name) => `${alias}.${name} = r.${name}`);
  return sql.raw(`${same.join(' and ')} and ${alias}.via = 'request'`);
}

/** How many rows meet a condition. Conditions are texts of this file only. */
function sum(condition: string) {
  return sql<number | null>`sum(case when ${sql.raw(condition)} then 1 else 0 end)`;
}
