import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import type { DecisionHistoryTable, Tables } from '../schema.ts';
import type { Query } from '../store.ts';
import type { Period } from './scope.ts';

export type DecisionBuilder = ExpressionBuilder<Tables & { d: DecisionHistoryTable }, 'd'>;

/** Where a page of rows in the order of time and seq ends. */
type Place = Pick<Selectable<DecisionHistoryTable>, 'at' | 'seq'>;

/**
 * Every row of the decisions of a period, as `d`: along the index on (source, at, seq). `after`: only what follows a row in the order of time and
 * seq. The time has one lower bound then: given two, SQLite walks from the beginning of the period for every page.
 */
export function decisionsIn(query: Query, period: Period, after: Place | null = null) {
  const rows = query
    .selectFrom('decision_history as d')
    .where('d.source', '=', period.source)
    .where('d.at', '>=', after?.at ?? period.from)
    .where('d.at', '<', period.to)
    .where('d.seq', '<=', period.asOf);
  return after === null ? rows : rows.where((eb) => eb.or([eb('d.at', '>', after.at), eb('d.seq', '>', after.seq)]));
}

/** The first row of each decision of a period, as `d`. */
export function firstDecisionsIn(query: Query, period: Period, after: Place | null = null) {
  return decisionsIn(query, period, after).where('d.is_first', '=', 1);
}

/** 1 where the decision of `d` has a row `o` that meets a condition (a text of this folder only), else 0. */
export function hasRow(period: Period, condition: string) {
  return sql<number>`case when exists (select 1 from decision_history as o where o.source = d.source
      and o.decision_id = d.decision_id and o.seq <= ${period.asOf} and ${sql.raw(condition)}) then 1 else 0 end`;
}
