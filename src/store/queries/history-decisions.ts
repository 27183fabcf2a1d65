import { type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import type { Judged } from '../../core/consent-judgement.ts';
import { type JudgedDecision, judgeDecision, timelineOf } from '../../core/consent-timeline.ts';
import type { Tables } from '../schema.ts';
import type { Query } from '../store.ts';
import {
  amongFew,
  contradicted,
  type DecisionPlace,
  decisionsIn,
  firstDecisionsIn,
  type JudgedAt,
  judgedAt,
} from './decisions-in.ts';
import { afterRow, type Period, pageByKey, type Scope } from './scope.ts';

export type DecisionRow = Selectable<Tables['decision_history']>;

/** A row with its decision's judgement at asOf. `disputed` is 1 if records of the decision contradict each other. */
export interface JudgedRow extends DecisionRow {
  readonly disputed: number;
  /** The choice according to all records of the decision; `purposes` is from this row. */
  readonly chosen: string;
}

/** Rows of decisions with their judgement, by period (`at`) or by subject. */
export function createDecisionQueries(query: Query) {
  return {
    /** Every row of the period including repeats, by time. */
    decisionRows: (period: Period): AsyncIterable<JudgedRow> =>
      judgedRows(query, period, (after, limit) =>
        decisionsIn(query, period, after)
          .selectAll('d')
          .orderBy('d.at')
          .orderBy('d.seq')
          .orderBy('d.part')
          .limit(limit),
      ),

    /**
     * Decisions of a period by time, each as its first record with the judgement at asOf; at most `limit` after a place.
     * `judgements` null: any.
     */
    async judgedDecisions(
      period: Period,
      judgements: readonly Judged[] | null,
      limit: number,
      after: DecisionPlace | null,
    ): Promise<readonly JudgedRow[]> {
      const judged = await judgedAt(query, period);
      const rows = firstDecisionsIn(query, period, after)
        .selectAll('d')
        .orderBy('d.at')
        .orderBy('d.seq')
        .orderBy('d.part')
        .limit(limit);
      return withJudgement(judged, judgements === null ? rows : rows.where(judged.judged, 'in', [...judgements]));
    },

    /** Every row of these subjects up to asOf, in ledger order, including rows of their decisions that name no subject. */
    async *decisionRowsOf(scope: Scope, subjects: readonly string[]): AsyncIterable<JudgedRow> {
      // Subject by subject: each is a walk along the index on (source, subject, seq).
      for (const subject of [...new Set(subjects)].sort()) {
        const owned = ownedBy(query, scope, [subject]);
        const unnamed = await query
          .selectFrom('decision_history as d')
          .select('d.seq')
          .where('d.source', '=', scope.source)
          .where('d.decision_id', 'in', owned)
          .where('d.seq', '<=', scope.asOf)
          .where('d.subject', 'is', null)
          .limit(1)
          .executeTakeFirst();
        yield* judgedRows(query, scope, (after, limit) =>
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
            .where(afterRow('d', after))
            .orderBy('d.seq')
            .orderBy('d.part')
            .limit(limit),
        );
      }
    },

    /** The disputed decisions of a period as a look-up judges them, including their subjects' earlier decisions. */
    async *disputedDecisions(period: Period): AsyncGenerator<JudgedDecision> {
      const { together } = await judgedAt(query, period);
      const { source, asOf } = period;
      const found = await query
        .selectFrom('decision_history as d')
        .where('d.source', '=', source)
        .where('d.decision_id', 'in', contradicted(query, period))
        .where('d.is_first', '=', 1)
        .where(amongFew(period))
        .select(['d.decision_id as decisionId', together('subject').as('subject')])
        .orderBy('d.seq')
        .orderBy('d.part')
        .execute();
      const wanted = new Set(found.map(({ decisionId }) => decisionId));
      const subjects = [...new Set(found.flatMap(({ subject }) => subject ?? []))];
      const nobodys = found.flatMap(({ subject, decisionId }) => (subject === null ? [{ source, decisionId }] : []));
      for (const told of (await recordsOf(query, nobodys, asOf)).values()) yield judgeDecision(told, new Map());
      for (let start = 0; start < subjects.length; start += SUBJECTS) {
        const owned = await ownedBy(query, period, subjects.slice(start, start + SUBJECTS))
          .select('o.subject')
          .execute();
        const rows = new Map<string, DecisionRow[]>(owned.map(({ subject }) => [subject ?? '', []]));
        const ownerOf = new Map(owned.map(({ decision_id, subject }) => [decision_id, subject ?? '']));
        const records = await recordsOf(
          query,
          owned.map(({ decision_id }) => ({ source, decisionId: decision_id })),
          asOf,
        );
        for (const told of records.values()) rows.get(ownerOf.get(told[0].decision_id) ?? '')?.push(...told);
        for (const one of rows.values())
          for (const decision of timelineOf(one)) if (wanted.has(decision.decisionId)) yield decision;
      }
    },

    /** Which of these subjects occur in any record. */
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

    /** The latest decisions of these subjects with their current judgement, newest entry first. */
    async latestDecisionsOf(source: string, subjects: readonly string[], limit: number): Promise<readonly JudgedRow[]> {
      const now = { source, asOf: Number.MAX_SAFE_INTEGER };
      const latest = query
        .selectFrom('decision_history as d')
        .selectAll('d')
        .where('d.source', '=', source)
        .where('d.is_first', '=', 1)
        .where('d.decision_id', 'in', ownedBy(query, now, subjects))
        .orderBy('d.seq', 'desc')
        .orderBy('d.part', 'desc')
        .limit(limit);
      return withJudgement(await judgedAt(query, now), latest);
    },
  };
}

/** Ids of the decisions of subjects. */
function ownedBy(query: Query, { source, asOf }: Scope, subjects: readonly string[]) {
  return query
    .selectFrom('decision_history as o')
    .select('o.decision_id')
    .where('o.source', '=', source)
    .where('o.subject', 'in', [...subjects])
    .where(namesOwner)
    .where('o.seq', '<=', asOf);
}

/** All records of some decisions, by source and id, in ledger order. */
export async function recordsOf(
  query: Query,
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
        .orderBy('part')
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

/** Rows with their judgement at asOf, page by page. */
async function* judgedRows(
  query: Query,
  scope: Scope,
  page: (after: DecisionRow | null, limit: number) => DecisionSelect,
): AsyncGenerator<JudgedRow> {
  const judged = await judgedAt(query, scope);
  yield* pageByKey<JudgedRow>((after, limit) => withJudgement(judged, page(after, limit)));
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

/** Subjects whose decisions are judged in one go: each may have many. */
const SUBJECTS = 100;

/** Decisions per statement. */
const AT_ONCE = 1000;

/** `o` is the first record that names a subject, which therefore owns the decision. */
export const namesOwner = sql<boolean>`(o.is_first = 1 or not exists (select 1 from decision_history as p where p.source = o.source
    and p.decision_id = o.decision_id and (p.seq, p.part) < (o.seq, o.part) and p.subject is not null))`;
