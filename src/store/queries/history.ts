import { type Selectable, sql } from 'kysely';
import { parsePurposes } from '../../core/consent-judgement.ts';
import type { Tables } from '../schema.ts';
import type { Query } from '../store.ts';
import { createBannerQueries } from './history-banners.ts';
import { createDecisionCounts, createStandingQueries } from './history-decision-counts.ts';
import { createDecisionQueries } from './history-decisions.ts';
import { createDeliveryQueries } from './history-deliveries.ts';
import { createEvidenceQueries, createTextQueries } from './history-evidence.ts';
import { createReadingQueries } from './history-readings.ts';
import { createReconciledLists, createReconciliationQueries, createStretchQueries } from './history-reconciliation.ts';
import { createScanQueries } from './history-scans.ts';
import { createWithdrawalQueries } from './history-withdrawals.ts';
import { afterRow, pageByKey, type Scope } from './scope.ts';
import { createSettlementQueries } from './settled-findings.ts';

/**
 * The source of all documents (docs/architecture.md, Documents read history only). Read-only and the same on both
 * databases. Totals come from GROUP BY; lists are read page by page in constant memory.
 */
export function createHistory(query: Query) {
  return {
    ...createDecisionCounts(query),
    ...createStandingQueries(query),
    ...createDecisionQueries(query),
    ...createWithdrawalQueries(query),
    ...createDeliveryQueries(query),
    ...createEvidenceQueries(query),
    ...createBannerQueries(query),
    ...createCaseQueries(query),
    ...createReconciliationQueries(query),
    ...createReconciledLists(query),
    ...createScanQueries(query),
    ...createStretchQueries(query),
    ...createTextQueries(query),
    ...createReadingQueries(query),
    ...createSettlementQueries(query),
  };
}

export type History = ReturnType<typeof createHistory>;

export type CaseMoveRow = Selectable<Tables['case_history']>;

export interface WithdrawalByRequest {
  readonly caseId: string;
  readonly seq: number;
  /** The purposes that the answer named; empty: it ended consent to all purposes. */
  readonly purposes: readonly string[];
}

/** Cases from their history: the table `cases` holds the current state, which documents must not read. */
function createCaseQueries(query: Query) {
  return {
    /** The openings of all cases of a source up to asOf, in ledger order. */
    caseOpenings: (scope: Scope): AsyncIterable<CaseMoveRow> =>
      pageByKey<CaseMoveRow>((after, limit) =>
        query
          .selectFrom('case_history')
          .selectAll()
          .where('source', '=', scope.source)
          .where('move', '=', 'opened')
          .where('seq', '<=', scope.asOf)
          .where(afterRow('case_history', after))
          .orderBy('seq')
          .orderBy('part')
          .limit(limit)
          .execute(),
      ),

    /** The moves of a case up to asOf, in ledger order, starting with its opening. */
    caseMoves: (scope: Scope, caseId: string): Promise<readonly CaseMoveRow[]> =>
      query
        .selectFrom('case_history')
        .selectAll()
        .where('source', '=', scope.source)
        .where('case_id', '=', caseId)
        .where('seq', '<=', scope.asOf)
        .orderBy('seq')
        .orderBy('part')
        .execute(),

    /** Withdrawals of consent carried out by answers of cases up to asOf, in ledger order. */
    async withdrawalsByRequest(scope: Scope): Promise<readonly WithdrawalByRequest[]> {
      const rows = await query
        .selectFrom('decision_history')
        .select(['case_id', 'seq', 'purposes'])
        .where('source', '=', scope.source)
        // A literal condition, so that SQLite uses the index on these few rows.
        .where(sql<boolean>`via = 'request'`)
        .where('seq', '<=', scope.asOf)
        .orderBy('seq')
        .execute();
      return rows.flatMap(({ case_id: caseId, seq, purposes }) =>
        caseId === null ? [] : [{ caseId, seq, purposes: Object.keys(parsePurposes(purposes)).sort() }],
      );
    },
  };
}
