import { type ExpressionBuilder, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Judged } from '../../core/consent-judgement.ts';
import type { CalendarPeriod } from '../../core/zoned-days.ts';
import type { Tables } from '../schema.ts';
import type { Query } from '../store.ts';
import type { Period, Scope } from './scope.ts';

export type DecisionBuilder = ExpressionBuilder<Tables & { d: Tables['decision_history'] }, 'd'>;

/** The last row of a page ordered by time, seq and part. */
export type DecisionPlace = Pick<Selectable<Tables['decision_history']>, 'at' | 'seq' | 'part'>;

/**
 * Every row of a period's decisions, as `d`, along the index on (source, at, seq). `after`: only rows after this one
 * in that order. The time then has a single lower bound: with two, SQLite would walk from the beginning of the period
 * for every page.
 */
export function decisionsIn(query: Query, period: Period, after: DecisionPlace | null = null) {
  const rows = query
    .selectFrom('decision_history as d')
    .where('d.source', '=', period.source)
    .where('d.at', '>=', after?.at ?? period.from)
    .where('d.at', '<', period.to)
    .where('d.seq', '<=', period.asOf);
  return after === null
    ? rows
    : rows.where((eb) =>
        eb.or([
          eb('d.at', '>', after.at),
          eb('d.seq', '>', after.seq),
          eb.and([eb('d.seq', '=', after.seq), eb('d.part', '>', after.part)]),
        ]),
      );
}

/** The first row of each decision of a period, as `d`. */
export function firstDecisionsIn(query: Query, period: Period, after: DecisionPlace | null = null) {
  return decisionsIn(query, period, after).where('d.is_first', '=', 1);
}

/** 1 if the decision of `d` has a row `o` that meets a condition, otherwise 0. Conditions are texts of this folder only. */
export function hasRow({ asOf }: Pick<Scope, 'asOf'>, condition: string) {
  return sql<number>`case when exists (select 1 from decision_history as o where o.source = d.source
      and o.decision_id = d.decision_id and o.seq <= ${asOf} and ${sql.raw(condition)}) then 1 else 0 end`;
}

/** Ids of the few decisions with a row that contradicts another, collected once along their own index. */
export function contradicted(query: Query, { source, asOf }: Scope) {
  return query
    .selectFrom('decision_history as o')
    .select('o.decision_id')
    .where('o.source', '=', source)
    .where(sql<boolean>`o.conflicts = 1`)
    .where('o.seq', '<=', asOf);
}

/** Every decision whose records contradict each other, by source and id. `at`: ISO 8601 UTC, of the first that does. */
export function listContradicted(
  query: Query,
): Promise<readonly { readonly source: string; readonly decisionId: string; readonly at: string }[]> {
  return query
    .selectFrom('decision_history')
    .select(['source', 'decision_id as decisionId'])
    .select(({ fn }) => fn.min('at').as('at'))
    .where('conflicts', '=', 1)
    .groupBy(['source', 'decision_id'])
    .orderBy('source')
    .orderBy('decision_id')
    .execute();
}

/**
 * Whether a row `d` lies in a period, for queries that find few rows in another way. Written as expressions: SQLite has
 * no row counts and would walk through the whole period.
 */
export function amongFew({ from, to, asOf }: Omit<Period, 'source'>) {
  return sql<boolean>`(d.at || '' >= ${from} and d.at || '' < ${to} and d.seq + 0 <= ${asOf})`;
}

type JudgedColumn = 'label' | 'withdraws' | 'stands' | 'held' | 'state' | 'purposes';

/** Expressions for how the decision `d` was judged according to what was known at asOf. */
export interface JudgedAt {
  column(name: JudgedColumn): RawBuilder<string>;
  /** The value in the decision's first record that states it; null: none does. The subject is the decision's owner. */
  together(name: 'policy_id' | 'policy_version' | 'expires_at' | 'subject'): RawBuilder<string | null>;
  /** 1 if records of the decision contradict each other. */
  readonly disputed: RawBuilder<number>;
  /** The label, or `disputed`. */
  readonly judged: RawBuilder<Judged>;
}

/** First checks whether any decision of the source had been judged again by then; usually none had, and each row is sufficient. */
export async function judgedAt(query: Query, scope: Scope): Promise<JudgedAt> {
  const again = await query
    .selectFrom('decision_judgements')
    .select('seq')
    .where('source', '=', scope.source)
    .where('seq', '<=', scope.asOf)
    // Follows the source's key: without an order, a planner may walk through the rows of all sources.
    .orderBy('decision_id')
    .limit(1)
    .executeTakeFirst();
  const column = (name: JudgedColumn): RawBuilder<string> =>
    again === undefined
      ? sql<string>`d.${sql.raw(name)}`
      : sql<string>`coalesce((select j.${sql.raw(name)} from decision_judgements as j where j.source = d.source
          and j.decision_id = d.decision_id and j.seq <= ${scope.asOf} order by j.seq desc limit 1), d.${sql.raw(name)})`;
  const isDisputed = sql<boolean>`d.decision_id in ${contradicted(query, scope)}`;
  return {
    column,
    together: (name) => sql<
      string | null
    >`coalesce(d.${sql.raw(name)}, (select o.${sql.raw(name)} from decision_history as o
        where o.source = d.source and o.decision_id = d.decision_id and o.seq <= ${scope.asOf} and o.${sql.raw(name)} is not null
        order by o.seq, o.part limit 1))`,
    disputed: sql<number>`case when ${isDisputed} then 1 else 0 end`,
    judged: sql<Judged>`case when ${isDisputed} then 'disputed' else ${column('label')} end`,
  };
}

/** Decisions of a span as judged now: all of them, and of each choice in the order of `choiceNames`. */
interface ChoicesOfSpan {
  readonly span: string;
  readonly decisions: number;
  readonly values: readonly number[];
}

/**
 * Counts the decisions of some sources by span; spans without decisions may be left out. A span begins and ends at a
 * quarter of an hour, as days do in every time zone.
 */
export async function countChoices(
  read: Query,
  sources: readonly string[],
  spans: readonly CalendarPeriod[],
): Promise<readonly ChoicesOfSpan[]> {
  if (sources.length === 0 || spans.length === 0) return [];
  const minute = (at: string) => at.slice(0, 'YYYY-MM-DDTHH:MM'.length);
  const values = sql.join(spans.map(({ name, start, end }) => sql`(${name}, ${minute(start)}, ${minute(end)})`));
  // `cross join` keeps the order on SQLite: each span walks its own part of the table's key.
  const { rows } = await sql<
    Record<'given' | 'partly' | 'refused' | 'withdrawn' | 'other', unknown> & { span: string }
  >`
    select s.column1 as span, sum(q.given) as given, sum(q.partly_given) as partly, sum(q.refused) as refused,
      sum(q.withdrawn) as withdrawn, sum(q.other) as other
    from (values ${values}) as s cross join decision_quarters as q
    where q.source in (${sql.join([...sources])}) and q.quarter >= s.column2 and q.quarter < s.column3
    group by s.column1 order by s.column1`.execute(read);
  return rows.map(({ span, given, partly, refused, withdrawn, other }) => {
    const counts = [given, partly, refused, withdrawn].map(Number);
    return { span, values: counts, decisions: counts.reduce((sum, one) => sum + one, Number(other)) };
  });
}

/** Counts the decisions made, and the requests received, in a period by source; sources with neither are left out. */
export async function countBySource(
  read: Query,
  sources: readonly string[],
  { from, to }: { readonly from: string; readonly to: string },
): Promise<ReadonlyMap<string, { readonly decisions: number; readonly requests: number }>> {
  if (sources.length === 0) return new Map();
  const minute = (at: string) => at.slice(0, 'YYYY-MM-DDTHH:MM'.length);
  const [decided, asked] = await Promise.all([
    read
      .selectFrom('decision_quarters')
      .select('source')
      .select(sql<number>`sum(given + partly_given + refused + withdrawn + other)`.as('n'))
      .where('source', 'in', [...sources])
      .where('quarter', '>=', minute(from))
      .where('quarter', '<', minute(to))
      .groupBy('source')
      .execute(),
    read
      .selectFrom('cases')
      .select((eb) => ['source', eb.fn.countAll<number>().as('n')])
      .where('source', 'in', [...sources])
      .where('receipt_at', '>=', from)
      .where('receipt_at', '<', to)
      .groupBy('source')
      .execute(),
  ]);
  const requests = new Map(asked.map(({ source, n }) => [source, Number(n)]));
  const decisions = new Map(decided.map(({ source, n }) => [source, Number(n)]));
  return new Map(
    [...new Set([...decisions.keys(), ...requests.keys()])].map((source) => [
      source,
      { decisions: decisions.get(source) ?? 0, requests: requests.get(source) ?? 0 },
    ]),
  );
}
