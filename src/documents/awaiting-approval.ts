import { outdatedApprovals } from '../cases/approval.ts';
import type { CaseRow } from '../cases/fold.ts';
import { parseFolded } from '../cases/folded.ts';
import { isOpen } from '../cases/moves.ts';
import type { CaseWriting } from '../cases/view.ts';
import type { secondPersonMoves } from '../law/profile.ts';
import { chunksOf } from '../ledger/erase.ts';
import type { DocumentRow } from './check.ts';
import { answerSteps } from './produce-pack.ts';

/** Whether a document answers the request: a pack, or a letter of a step that answers. */
export function isAnswer(document: Pick<DocumentRow, 'name' | 'parameters'>): boolean {
  return document.name === 'dsar-pack' || answerSteps.some((answer) => answer === stepOf(document));
}

/** Whether a document is a letter that refuses the request. */
export function isRefusalLetter(document: Pick<DocumentRow, 'name' | 'parameters'>): boolean {
  return document.name === 'letter' && stepOf(document) === 'refusal';
}

function stepOf({ parameters }: Pick<DocumentRow, 'parameters'>): unknown {
  return (JSON.parse(parameters) as { step?: unknown }).step;
}

/** What has to be approved before a document leaves, if the controller wants two people for it; null: nothing. */
function leavesWith(document: DocumentRow): (typeof secondPersonMoves)[number] | null {
  if (document.erased_at !== null) return null;
  if (isRefusalLetter(document)) return 'refuse';
  // Files leave with an approved answer, whatever letter they accompany.
  return isAnswer(document) || document.name === 'attachment' ? 'answer' : null;
}

/**
 * Ids of those of these documents that a second person has yet to approve: packs, letters and files of open requests of
 * controllers that want two people. They can be downloaded for review, but not sent.
 */
export async function awaitingApproval(
  { store, profileOf }: Pick<CaseWriting, 'store' | 'profileOf'>,
  documents: readonly DocumentRow[],
): Promise<ReadonlySet<string>> {
  const leaving = documents.flatMap((document) => {
    const move = leavesWith(document);
    return move === null || document.case_id === null ? [] : [{ document, move, caseId: document.case_id }];
  });
  const rows: CaseRow[] = [];
  for (const chunk of chunksOf([...new Set(leaving.map(({ caseId }) => caseId))]))
    rows.push(...(await store.read.selectFrom('cases').selectAll().where('case_id', 'in', chunk).execute()));
  const open = new Map(rows.filter(({ state }) => isOpen(state)).map((row) => [row.case_id, row]));
  const outdated = await outdatedApprovals(store.read, [...open.values()]);
  const awaiting = new Set<string>();
  for (const { document, move, caseId } of leaving) {
    const row = open.get(caseId);
    if (row === undefined || (await profileOf(row.source))?.secondPersonFor?.includes(move) !== true) continue;
    if (parseFolded(row.folded).approval?.of !== move || outdated.has(caseId)) awaiting.add(document.document_id);
  }
  return awaiting;
}
