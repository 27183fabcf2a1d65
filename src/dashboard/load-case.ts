import type { Selectable } from 'kysely';
import { type ShownCase, showCase } from '../cases/list-cases.ts';
import type { Context } from '../context/contract.ts';
import type { Job } from '../jobs/job.ts';
import type { DecisionHistoryTable } from '../store/schema.ts';
import { type DocumentRow, payloadText } from './load-today.ts';

export type DecisionRow = Pick<
  Selectable<DecisionHistoryTable>,
  'seq' | 'at' | 'banner_id' | 'state' | 'purposes' | 'policy_version' | 'via'
>;

/** Everything on the page of a case. */
export interface CasePageData {
  readonly shown: ShownCase;
  /** The latest recorded decisions of the subjects that were found. */
  readonly decisions: readonly DecisionRow[];
  readonly documents: readonly DocumentRow[];
  /** Packs under way, and those that ended without a document. */
  readonly jobs: readonly Job[];
}

const DECISIONS_SHOWN = 50;

/** Gathers the page of a case; null when there is no such case. */
export async function loadCase(
  context: Pick<Context, 'cases' | 'store' | 'jobs' | 'clock'>,
  caseId: string,
): Promise<CasePageData | null> {
  const shown = await showCase(context.cases, caseId, context.clock().toISOString());
  if (shown === null) return null;
  const { read } = context.store;
  const { subjects } = shown.match;
  const [decisions, documents, jobs] = await Promise.all([
    subjects.length === 0
      ? []
      : read
          .selectFrom('decision_history')
          .select(['seq', 'at', 'banner_id', 'state', 'purposes', 'policy_version', 'via'])
          .where('source', '=', shown.view.row.source)
          .where('subject', 'in', [...subjects])
          .where('is_first', '=', 1)
          .orderBy('seq', 'desc')
          .limit(DECISIONS_SHOWN)
          .execute(),
    read.selectFrom('documents').selectAll().where('case_id', '=', caseId).orderBy('seq', 'desc').execute(),
    context.jobs.list({ kind: 'document', limit: 100 }),
  ]);
  return {
    shown,
    decisions,
    documents,
    jobs: jobs.filter((job) => payloadText(job, 'caseId') === caseId && job.state !== 'done').slice(0, 5),
  };
}
