import { canonicalJson } from '../crypto/canonical.ts';
import type { Action } from '../core/action.ts';
import { readErasure } from '../core/erasure.ts';
import { appendTo, type Projection, type ProjectedEntry, replaceIn, type Row } from './projection.ts';

/** Registered files: what was produced, by whom, with which hash, and how often it was downloaded. */
export const documents: Projection = {
  name: 'documents',
  tables: ['documents'],
  async fold(state, batch) {
    const produced = new Map<string, Row<'documents'>>();
    const touched = new Map<string, Row<'documents'>>();
    const mentioned = new Set<string>();
    for (const { kind, body, action } of batch) {
      if (kind === 'erasure')
        for (const { documentId } of readErasure(body)?.documents ?? []) mentioned.add(documentId);
      if (action?.action === 'document.produced' || isDownload(action)) mentioned.add(action.documentId);
    }
    const known = new Map<string, Row<'documents'>>();
    if (mentioned.size > 0) {
      const rows = await state
        .selectFrom('documents')
        .selectAll()
        .where('document_id', 'in', [...mentioned])
        .execute();
      for (const row of rows) known.set(row.document_id, row);
    }
    for (const entry of batch) {
      const { action } = entry;
      if (entry.kind === 'erasure') {
        for (const { documentId } of readErasure(entry.body)?.documents ?? []) {
          const fresh = produced.get(documentId);
          const row = touched.get(documentId) ?? known.get(documentId);
          const erased = { erased_seq: entry.seq, erased_at: entry.receivedAt };
          if (fresh !== undefined) produced.set(documentId, { ...fresh, ...erased });
          else if (row !== undefined) touched.set(documentId, { ...row, ...erased });
        }
      } else if (action?.action === 'document.produced') {
        const row = documentRow(action, entry);
        const before = produced.get(row.document_id) ?? known.get(row.document_id);
        // Ids of earlier versions did not cover the content: a second document issued under the same id is kept beside
        // the first.
        const id = before === undefined ? row.document_id : `${row.document_id}-${row.sha256.slice(0, 16)}`;
        produced.set(id, { ...row, document_id: id });
      } else if (isDownload(action)) {
        const fresh = produced.get(action.documentId);
        const row = touched.get(action.documentId) ?? known.get(action.documentId);
        // A download of a document that is not registered (erased since) is in the audit trail; there is no count to
        // update.
        if (fresh !== undefined) produced.set(action.documentId, { ...fresh, downloads: fresh.downloads + 1 });
        else if (row !== undefined) touched.set(action.documentId, { ...row, downloads: row.downloads + 1 });
      }
    }
    return [appendTo('documents', [...produced.values()]), replaceIn('documents', [...touched.values()])];
  },
};

/** Whether it is a download, by an officer or by the data subject through a link. */
function isDownload(action: Action | null): action is Extract<Action, { documentId: string }> {
  return action?.action === 'document.downloaded' || action?.action === 'hand-over.downloaded';
}

/**
 * The file name of a document: describes it, and is unique by its id. A letter goes to a person, so its name has the
 * case and the step instead of a hash. A file that an officer added keeps its own.
 */
export function documentFileName(document: {
  readonly name: string;
  readonly documentId: string;
  readonly format: string;
  readonly caseId?: string | null;
  readonly parameters?: Readonly<Record<string, unknown>>;
}): string {
  const { name, documentId, format, caseId = null, parameters = {} } = document;
  const { step, fileName } = parameters;
  if (name === 'attachment' && typeof fileName === 'string') return fileName;
  if (name === 'letter' && caseId !== null && typeof step === 'string')
    return `${caseId}-${step}-letter-${documentId.slice(0, 16)}.${format}`;
  return `${name}-${documentId}.${format}`;
}

function documentRow(
  action: Extract<Action, { action: 'document.produced' }>,
  entry: ProjectedEntry,
): Row<'documents'> {
  return {
    document_id: action.documentId,
    source: entry.source,
    name: action.name,
    format: action.format,
    file_name: documentFileName(action),
    sha256: action.sha256,
    bytes: action.bytes,
    as_of: action.asOf,
    case_id: action.caseId,
    parameters: canonicalJson(action.parameters).toString('utf8'),
    actor: action.actor,
    seq: entry.seq,
    created_at: entry.receivedAt,
    downloads: 0,
    erased_seq: null,
    erased_at: null,
  };
}
