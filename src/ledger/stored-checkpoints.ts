import type { Selectable } from 'kysely';
import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';

type CheckpointRow = Selectable<Tables['checkpoints']>;

/** The newest stored checkpoint, or the one over `size` entries: those of a later epoch cover more than all earlier ones. */
export async function newestCheckpoint(query: Query, size?: number): Promise<CheckpointRow | null> {
  let found = query.selectFrom('checkpoints').selectAll();
  if (size !== undefined) found = found.where('size', '=', size);
  return (await found.orderBy('size', 'desc').limit(1).executeTakeFirst()) ?? null;
}

/** The checkpoint that says it was made last: not the newest if a clock was set back. */
export async function latestDatedCheckpoint(query: Query): Promise<CheckpointRow | null> {
  const row = await query
    .selectFrom('checkpoints')
    .selectAll()
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}
