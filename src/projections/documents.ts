import type { Action } from '../core/action.ts';
import { readErasure } from '../core/erasure.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import type { Query } from '../store/store.ts';
import { appendTo, type ProjectedEntry, type Projection, type Row, replaceIn } from './projection.ts';

/** Registered files: what was produced, by whom, with which hash, and how often it was downloaded. */
export const documents: Projection = {
  name: 'documents',
  tables: ['documents'],
  async fold(state, batch) {
    const known = await loadKnown(state, batch);
    /** Registered in this batch, and rows from before it that it changes. */
    const produced = new Map<string, Row<'documents'>>();
    const changed = new Map<string, Row<'documents'>>();
    const change = (id: string, changesOf: (row: Row<'documents'>) => Partial<Row<'documents'>>) => {
      const rows = produced.has(id) ? produced : changed;
      const row = rows.get(id) ?? known.get(id);
      // A document that is not registered (erased since) stays in the audit trail; there is no row to change.
      if (row !== undefined) rows.set(id, { ...row, ...changesOf(row) });
    };
    for (const entry of batch) {
      const { action } = entry;
      if (action?.action === 'document.produced') {
        const row = documentRow(action, entry);
        const before = produced.get(row.document_id) ?? known.get(row.document_id);
        // Ids of earlier versions did not cover the content: a second document issued under the same id is kept
        // alongside the first.
        const id = before === undefined ? row.document_id : `${row.document_id}-${row.sha256.slice(0, 16)}`;
        produced.set(id, { ...row, document_id: id });
      }
      if (isDownload(action)) change(action.documentId, ({ downloads }) => ({ downloads: downloads + 1 }));
      for (const id of erasedBy(entry)) change(id, () => ({ erased_seq: entry.seq, erased_at: entry.receivedAt }));
    }
    return [appendTo('documents', [...produced.values()]), replaceIn('documents', [...changed.values()])];
  },
};

/** The rows from before a batch that it may change, by id. */
async function loadKnown(
  state: Query,
  batch: readonly ProjectedEntry[],
): Promise<ReadonlyMap<string, Row<'documents'>>> {
  const mentioned = new Set<string>();
  for (const entry of batch) {
    const { action } = entry;
    if (action?.action === 'document.produced' || isDownload(action)) mentioned.add(action.documentId);
    for (const id of erasedBy(entry)) mentioned.add(id);
  }
  if (mentioned.size === 0) return new Map();
  const rows = await state
    .selectFrom('documents')
    .selectAll()
    .where('document_id', 'in', [...mentioned])
    .execute();
  return new Map(rows.map((row) => [row.document_id, row]));
}

/** The ids of the documents that an erasure replaced by tombstones. */
function erasedBy({ kind, body }: ProjectedEntry): readonly string[] {
  if (kind !== 'erasure') return [];
  return (readErasure(body)?.documents ?? []).map(({ documentId }) => documentId);
}

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
