import type { Selectable } from 'kysely';
import type { ShownCase } from '../cases/list-cases.ts';
import { listAttachments } from '../documents/attachments.ts';
import type { CaseDocument } from '../documents/leaving.ts';
import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';

/** A file of the case that is handed over with the pack. */
export interface GivenFile {
  readonly documentId: string;
  readonly sha256: string;
}

type Contents = Pick<Selectable<Tables['hand_overs']>, 'contents'>;

/** The names of the files in the pack of a hand-over. */
export function namesInPack({ contents }: Contents): readonly string[] {
  return parse(contents).filter((one) => typeof one === 'string');
}

/** The files that the officer chose to hand over with the pack; some may have been erased since. */
export function givenFiles({ contents }: Contents): readonly GivenFile[] {
  return parse(contents).filter((one) => typeof one !== 'string');
}

function parse(contents: string): readonly (string | GivenFile)[] {
  return JSON.parse(contents) as readonly (string | GivenFile)[];
}

/** Those that still exist, in the order they were added. */
export async function listGivenFiles(
  read: Query,
  row: Contents & { readonly case_id: string },
): Promise<readonly CaseDocument[]> {
  const given = givenFiles(row);
  if (given.length === 0) return [];
  const there = await listAttachments(read, row.case_id);
  return there.filter((one) =>
    given.some(({ documentId, sha256 }) => documentId === one.document_id && sha256 === one.sha256),
  );
}

/**
 * The chosen files of a case, or why they cannot be handed over. Once a request is answered, only files that the answer
 * names can be.
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
    : `The recorded answer does not name the file ${other.file_name}: hand over only those it names, or reopen the request.`;
}
