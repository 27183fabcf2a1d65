import { chunksOf } from '../ledger/erase.ts';
import type { Query } from '../store/store.ts';

/** What a second person approves together with the case. */
const approvedDocuments = ['letter', 'attachment', 'dsar-pack'];

/**
 * Those of these cases whose last approval by a second person no longer counts, because a letter, a file or a response
 * pack was added after it: that person has not seen it.
 */
export async function outdatedApprovals(read: Query, caseIds: readonly string[]): Promise<ReadonlySet<string>> {
  const outdated = new Set<string>();
  for (const chunk of chunksOf(caseIds)) {
    const rows = await read
      .selectFrom('documents')
      .select('case_id')
      .distinct()
      .where('case_id', 'in', chunk)
      .where('name', 'in', approvedDocuments)
      .where('erased_at', 'is', null)
      .where('seq', '>', (eb) =>
        eb
          .selectFrom('case_history')
          .select(({ fn }) => fn.max('case_history.seq').as('seq'))
          .whereRef('case_history.case_id', '=', 'documents.case_id')
          .where('case_history.move', '=', 'approve'),
      )
      .execute();
    for (const { case_id: caseId } of rows) if (caseId !== null) outdated.add(caseId);
  }
  return outdated;
}

/** Whether the approval of a case no longer counts; false if there is none. */
export async function isApprovalOutdated(
  read: Query,
  { caseId, approval }: { readonly caseId: string; readonly approval: unknown },
): Promise<boolean> {
  return approval !== null && (await outdatedApprovals(read, [caseId])).has(caseId);
}

/** The entry number of a case's newest document, which an approver must have seen; 0 if there is none. */
export async function newestDocument(read: Query, caseId: string): Promise<number> {
  const newest = await read
    .selectFrom('documents')
    .select(({ fn }) => fn.max('seq').as('seq'))
    .where('case_id', '=', caseId)
    .executeTakeFirst();
  return Number(newest?.seq ?? 0);
}

/** The message to an approver who has not seen the newest document. */
export const ADDED_MEANWHILE =
  'A letter, file or response pack was added after you looked at the request. Review it, then approve the request.';
