import type { Selectable } from 'kysely';
import type { Tables } from '../schema.ts';
import type { Query } from '../store.ts';

/** A document as the read models hold it, erased or not; null: they hold none with this id. */
export async function findDocument(query: Query, documentId: string): Promise<Selectable<Tables['documents']> | null> {
  const row = await query.selectFrom('documents').selectAll().where('document_id', '=', documentId).executeTakeFirst();
  return row ?? null;
}
