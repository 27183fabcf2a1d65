import { INSTALLATION } from '../core/vocabulary.ts';
import type { Query } from '../store/store.ts';

/**
 * Under the write lock: why nothing may be erased that was planned as of this entry; null: it may. A hold that was placed
 * since may name any of it.
 */
export async function heldSince(query: Query, asOf: number): Promise<string | null> {
  const since = await query
    .selectFrom('entries')
    .select(['seq', 'meta'])
    .where('seq', '>', asOf)
    .where('source', '=', INSTALLATION)
    .where('kind', '=', 'action')
    .orderBy('seq')
    .execute();
  const placed = since.find(({ meta }) => meta?.includes('"hold.placed"') === true);
  return placed === undefined
    ? null
    : `A legal hold was placed in the meantime (entry ${placed.seq}): look at what would be erased again.`;
}
