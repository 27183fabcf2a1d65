import { canonicalJson } from '../crypto/canonical.ts';
import { sha256Hex } from '../crypto/hash.ts';
import { chunksOf } from '../ledger/erase.ts';
import type { Appended } from '../ledger/ledger.ts';
import { type DocumentOfCase, documentsOfCase, documentsOfCases } from '../store/queries/documents-of-case.ts';
import type { Query } from '../store/store.ts';
import type { CaseRow } from './fold.ts';
import { parseFolded } from './folded.ts';

/** What a second person approves together with the case. */
const approvedDocuments: readonly string[] = ['letter', 'attachment', 'dsar-pack'];

/** The letters, files and response packs among the documents of a case, in order of their ids. */
export function documentsToApprove<T extends Pick<DocumentOfCase, 'documentId' | 'name'>>(
  documents: readonly T[],
): readonly T[] {
  return documents
    .filter(({ name }) => approvedDocuments.includes(name))
    .sort((a, b) => (a.documentId < b.documentId ? -1 : 1));
}

/**
 * SHA-256 (hex) of what is seen by the person who approves: the requester, the rights asked for, what was done about
 * each, and the letters, files and response packs. An approval is an entry with this hash, and counts on every way out
 * only while it is the same.
 */
export function seenOf(
  row: Pick<CaseRow, 'case_id' | 'kind' | 'requester_name' | 'requester_email' | 'folded'>,
  documents: readonly Pick<DocumentOfCase, 'documentId' | 'name' | 'sha256'>[],
): string {
  const { parts = [], address } = parseFolded(row.folded);
  return sha256Hex(
    canonicalJson({
      caseId: row.case_id,
      recipient: {
        ...{ name: row.requester_name, email: row.requester_email },
        ...(address === undefined ? {} : { address }),
      },
      kind: row.kind,
      parts: parts.map(({ kind, outcome, ground, note }) => ({ kind, outcome, ground, note })),
      documents: documentsToApprove(documents).map(({ documentId, sha256 }) => ({ documentId, sha256 })),
    }),
  );
}

/** Those of these cases whose approval by a second person does not cover what they are now; not those without one. */
export async function outdatedApprovals(read: Query, rows: readonly CaseRow[]): Promise<ReadonlySet<string>> {
  const approved = rows.flatMap((row) => {
    const { approval } = parseFolded(row.folded);
    return approval === null ? [] : [{ row, approval }];
  });
  const outdated = new Set<string>();
  for (const chunk of chunksOf(approved)) {
    const documents = await documentsOfCases(
      read,
      chunk.map(({ row }) => row.case_id),
    );
    for (const { row, approval } of chunk)
      if (approval.seen !== seenOf(row, documents.get(row.case_id) ?? [])) outdated.add(row.case_id);
  }
  return outdated;
}

/** Whether the approval of a case does not cover what it is now; false if there is none. */
export async function isApprovalOutdated(read: Query, row: CaseRow): Promise<boolean> {
  return (await outdatedApprovals(read, [row])).has(row.case_id);
}

/**
 * Under the write lock: whether a case is what somebody saw, with everything recorded before this entry. `seen`: the
 * hash ({@link seenOf}); undefined in approvals of earlier versions, which cover nothing.
 */
export async function isAsSeen(query: Query, row: CaseRow, { seq }: Appended, seen: string | undefined) {
  const { source, case_id: caseId } = row;
  return seen === seenOf(row, await documentsOfCase(query, { source, caseId, before: seq }));
}

/** The message to an approver who has not seen everything. */
export const ADDED_MEANWHILE =
  'A letter, file or response pack was added after you looked at the request. Review it, then approve the request.';
/** The message to a person who relies on an approval. */
export const NOT_COVERED =
  'the approval no longer counts, because a letter, file or response pack was added after it: a second person has to approve again ("Approve as a second person")';
