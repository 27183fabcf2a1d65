import type { Query } from '../store.ts';

/** Counting stops here. */
const MANY_IDS = 1000;

/**
 * Later choices under an id that had been given before (`v2:<id>`, src/projections/decisions.ts): the source's ids of records stay the
 * same for a visitor. At most {@link MANY_IDS}.
 */
export async function countReusedIds(read: Query, slug: string): Promise<number> {
  const rows = await read
    .selectFrom('decision_history')
    .select('decision_id')
    .where('source', '=', slug)
    .where('decision_id', '>=', 'v')
    .where('decision_id', '<', 'w')
    .limit(MANY_IDS)
    .execute();
  return rows.length;
}
