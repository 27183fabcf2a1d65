import type { Query } from '../store.ts';
import { type BannerQueries, createBannerQueries } from './history-banners.ts';
import { createCaseQueries, type CaseQueries } from './history-cases.ts';
import { createDecisionQueries, type DecisionQueries } from './history-decisions.ts';
import { createEvidenceQueries, type EvidenceQueries } from './history-evidence.ts';
import { createReconciliationQueries, type ReconciliationQueries } from './history-reconciliation.ts';
import { createScanQueries, type ScanQueries } from './history-scans.ts';
import { createStretchQueries, type StretchQueries } from './history-stretches.ts';
import { createTextQueries, type TextQueries } from './history-texts.ts';

/**
 * Everything that documents are made from (docs/architecture.md, Documents read history only).
 * Read-only; the same on both databases; totals come from GROUP BY, lists come page by page in constant memory.
 */
export interface History
  extends DecisionQueries,
    EvidenceQueries,
    BannerQueries,
    CaseQueries,
    ReconciliationQueries,
    ScanQueries,
    StretchQueries,
    TextQueries {}

/** The history that a store's reader sees. */
export function createHistory(query: Query): History {
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
