import type { Query } from '../store.ts';
import { createBannerQueries } from './history-banners.ts';
import { createCaseQueries } from './history-cases.ts';
import { createDecisionQueries } from './history-decisions.ts';
import { createEvidenceQueries, createTextQueries } from './history-evidence.ts';
import { createReconciliationQueries, createStretchQueries } from './history-reconciliation.ts';
import { createScanQueries } from './history-scans.ts';

/**
 * Everything that documents are made from (docs/architecture.md, Documents read history only).
 * Read-only; the same on both databases; totals come from GROUP BY, lists come page by page in constant memory.
 */
export function createHistory(query: Query) {
  return {
    ...createDecisionQueries(query),
    ...createEvidenceQueries(query),
    ...createBannerQueries(query),
    ...createCaseQueries(query),
    ...createReconciliationQueries(query),
    ...createScanQueries(query),
    ...createStretchQueries(query),
    ...createTextQueries(query),
  };
}

export type History = ReturnType<typeof createHistory>;
