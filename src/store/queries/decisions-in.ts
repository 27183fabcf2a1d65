import { type ExpressionBuilder, sql } from 'kysely';
import type { DecisionHistoryTable, Tables } from '../schema.ts';
import type { Query } from '../store.ts';
import type { Period } from './history.ts';

export type DecisionBuilder = ExpressionBuilder<Tables & { d: DecisionHistoryTable }, 'd'>;

/** Every row of the decisions of a period, as `d`: along the index on (source, at, seq). */
export function decisionsIn(query: Query, period: Period) {
  return query
    .selectFrom('decision_history as d')
    .where('d.source', '=', period.source)
    .where('d.at', '>=', period.from)
    .where('d.at', '<', period.to)
    .where('d.seq', '<=', period.asOf);
}

/** The first row of each decision of a period, as `d`. */
export function firstDecisionsIn(query: Query, period: Period) {
  return decisionsIn(query, period).where('d.is_first', '=', 1);
}

/** 1 where the decision of `d` has a row `o` that meets a condition (a text of this folder only), else 0. */
export function hasRow(period: Period, condition: string) {
  return sql<number>`case when exists (select 1 from decision_history as o where o.source = d.source
      and o.decision_id = d.decision_id and o.seq <= ${period.asOf} and ${sql.raw(condition)}) then 1 else 0 end`;
}

/** What comes after a row in the order of time and seq, in a form that both databases answer from the index on (source, at, seq). */
export function isAfter(row: { readonly at: string; readonly seq: number }) {
  return (eb: DecisionBuilder) =>
    eb.and([eb('d.at', '>=', row.at), eb.or([eb('d.at', '>', row.at), eb('d.seq', '>', row.seq)])]);
}
