import { referenceOf } from '../../reports/report.ts';
import type { ShownCase } from '../cases/list-cases.ts';
import { type Condition, unlessRefused } from '../ledger/append-action.ts';
import { createCited } from '../ledger/cited.ts';
import { sourceOfCase } from '../store/queries/cases.ts';
import { type DocumentOfCase, documentsOfCase } from '../store/queries/documents-of-case.ts';
import type { Query } from '../store/store.ts';
import type { DocumentDeps } from './begin-document.ts';
import { safeFileName } from './file-name.ts';
import type { CaseDocument } from './leaving.ts';
import { registerDocument } from './register.ts';

/** The most files of a request, and their maximum total size in bytes. */
export const ATTACHMENTS = 10;
export const ATTACHMENT_BYTES = 20 * 1024 * 1024;
export const ATTACHMENTS_TOO_LARGE = 'The files of a request may have at most 20 MiB in all.';

/** Files that officers added to a case, to be sent with its letters; oldest first, without erased ones. */
export function listAttachments(read: Query, caseId: string): Promise<readonly CaseDocument[]> {
  return read
    .selectFrom('documents')
    .selectAll()
    .where('case_id', '=', caseId)
    .where('name', '=', 'attachment')
    .where('erased_at', 'is', null)
    .orderBy('seq')
    .execute();
}

/**
 * The chosen files of a case, or why they may not leave. Once a request is answered, only files that the answer names may.
 */
export async function chooseFiles(
  read: Query,
  { view, history }: Pick<ShownCase, 'view' | 'history'>,
  chosen: readonly string[],
): Promise<readonly CaseDocument[] | string> {
  const files = (await listAttachments(read, view.row.case_id)).filter((one) => chosen.includes(one.document_id));
  if (files.length < new Set(chosen).size) return 'A chosen file is not a file of this request, or was erased.';
  if (view.row.state !== 'answered' && view.row.state !== 'closed') return files;
  const answer = history.findLast(({ move }) => move === 'answer');
  const { attachments = [] } = JSON.parse(answer?.details ?? '{}') as { readonly attachments?: readonly string[] };
  const other = files.find(({ sha256 }) => !attachments.includes(sha256));
  return other === undefined
    ? files
    : `The recorded answer does not name the file ${other.file_name}: send only those it names, or reopen the request.`;
}

type Added =
  | { readonly outcome: 'added'; readonly documentId: string; readonly seq: number }
  | { readonly outcome: 'refused'; readonly problem: string }
  | { readonly outcome: 'unknown-case' };

/**
 * Files an officer's file as a document of a case: its bytes are kept, and its SHA-256 and name are an entry. It is
 * stored with the ending `.bin` and never interpreted.
 */
export async function addAttachment(
  deps: DocumentDeps,
  file: { readonly caseId: string; readonly actor: string; readonly fileName: string; readonly bytes: Buffer },
): Promise<Added> {
  const { caseId, actor, bytes } = file;
  const asOf = await deps.catchUp();
  const source = await sourceOfCase(deps.read, caseId);
  if (source === null) return { outcome: 'unknown-case' };
  if (bytes.length === 0) return { outcome: 'refused', problem: 'The file is empty.' };
  // Before its bytes are written; what counts is the same question under the write lock.
  const tooMuch = problemOfAdding(await documentsOfCase(deps.read, { source, caseId }), bytes.length);
  if (tooMuch !== null) return { outcome: 'refused', problem: tooMuch };
  const parameters = { fileName: attachmentName(file.fileName) };
  const facts = { name: 'attachment', format: 'bin', asOf, caseId, parameters };
  const reference = referenceOf(facts);
  const content = (async function* () {
    yield bytes;
  })();
  const within: Condition = async ({ query }, { seq }) =>
    problemOfAdding(await documentsOfCase(query, { source, caseId, before: seq }), bytes.length);
  const made = await unlessRefused(() =>
    registerDocument(
      { ...deps, allowedIf: within },
      source,
      { actor, reference, ...facts },
      createCited(asOf),
      content,
    ),
  );
  return 'outcome' in made ? made : { outcome: 'added', documentId: made.documentId, seq: made.seq };
}

/** Why a file of this many bytes cannot be added to a case with these documents; null: it can. */
function problemOfAdding(documents: readonly DocumentOfCase[], bytes: number): string | null {
  const files = documents.filter(({ name }) => name === 'attachment');
  if (files.length >= ATTACHMENTS) return `A request may have at most ${ATTACHMENTS} files.`;
  return files.reduce((sum, one) => sum + one.bytes, bytes) > ATTACHMENT_BYTES ? ATTACHMENTS_TOO_LARGE : null;
}

/** Its own name without anything that a recipient's system could read as a path; the ending stays. */
function attachmentName(given: string): string {
  const name = safeFileName(given).trim().replace(/^\.+/, '');
  if (name === '') return 'file';
  const [, ending = ''] = /(\.[^.]{1,20})$/.exec(name) ?? [];
  // Cut between characters, because half a surrogate pair could not be recorded.
  const characters = [...name];
  return characters.length <= NAME_LENGTH
    ? name
    : `${characters.slice(0, NAME_LENGTH - [...ending].length).join('')}${ending}`;
}

const NAME_LENGTH = 120;
