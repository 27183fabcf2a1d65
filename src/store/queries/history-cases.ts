import type { Selectable } from 'kysely';
import type { CaseHistoryTable } from '../schema.ts';
import type { Query } from '../store.ts';
import type { Scope } from './scope.ts';
import { pageByKey } from './pages.ts';

export type CaseMoveRow = Selectable<CaseHistoryTable>;

/** Cases as their history tells them: the table `cases` holds the present picture, which a document must not read. */
export interface CaseQueries {
  /** The openings of all cases of a source up to asOf, in ledger order. */
  caseOpenings(scope: Scope): AsyncIterable<CaseMoveRow>;
  /** The moves of a case up to asOf, its opening first, in ledger order. */
  caseMoves(scope: Scope, caseId: string): Promise<readonly CaseMoveRow[]>;
}

export function createCaseQueries(query: Query): CaseQueries {
  return {
    caseOpenings: (scope) =>
      pageByKey<CaseMoveRow>((after, limit) =>
        query
          .selectFrom('case_history')
          .selectAll()
          .where('source', '=', scope.source)
          .where('move', '=', 'opened')
          .where('seq', '<=', scope.asOf)
          .where('seq', '>', after?.seq ?? 0)
          .orderBy('seq')
          .limit(limit)
          .execute(),
      ),

    caseMoves: (scope, caseId) =>
      query
        .selectFrom('case_history')
        .selectAll()
        .where('source', '=', scope.source)
        .where('case_id', '=', caseId)
        .where('seq', '<=', scope.asOf)
        .orderBy('seq')
        .execute(),
  };
}
