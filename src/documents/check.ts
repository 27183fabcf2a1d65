import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Selectable } from 'kysely';
import type { DocumentsTable } from '../store/schema.ts';
import type { Query } from '../store/store.ts';

export type DocumentRow = Selectable<DocumentsTable>;

/** Documents, newest first. */
export function listDocuments(read: Query, filter: { source?: string; limit?: number } = {}): Promise<DocumentRow[]> {
  let query = read.selectFrom('documents').selectAll();
  if (filter.source !== undefined) query = query.where('source', '=', filter.source);
  return query
    .orderBy('seq', 'desc')
    .limit(filter.limit ?? 100)
    .execute();
}

/** Whether a file is one that this installation produced: its SHA-256, and the documents registered under it. */
export async function checkFile(
  read: Query,
  path: string,
): Promise<{ readonly sha256: string; readonly documents: readonly DocumentRow[] }> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  const sha256 = hash.digest('hex');
  const documents = await read
    .selectFrom('documents')
    .selectAll()
    .where('sha256', '=', sha256)
    .orderBy('seq')
    .execute();
  return { sha256, documents };
}
