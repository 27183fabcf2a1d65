import type { Query } from '../store/store.ts';

/** An entry that holds certain bytes of a target. */
export interface SameBytes {
  readonly seq: number;
  readonly textSha256: string | null;
  readonly textForm: string | null;
}

/** The newest entry that holds these bytes and has not been erased; null: they have to be stored. */
export async function findSameBytes(
  read: Query,
  source: string,
  target: string,
  bodySha256: string,
): Promise<SameBytes | null> {
  const row = await read
    .selectFrom('snapshot_history')
    .innerJoin('entries', 'entries.seq', 'snapshot_history.seq')
    .select(['snapshot_history.seq as seq', 'text_sha256 as textSha256', 'text_form as textForm'])
    .where('snapshot_history.source', '=', source)
    .where('target', '=', target)
    .where('body_sha256', '=', bodySha256)
    .where('unchanged', '=', 0)
    .where('entries.body', 'is not', null)
    .orderBy('snapshot_history.seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}
