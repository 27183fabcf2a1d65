import type { Selectable } from 'kysely';
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
