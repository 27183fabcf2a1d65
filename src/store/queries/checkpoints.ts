import type { Query } from '../store.ts';

/** A checkpoint in a list. `createdAt`: ISO 8601 UTC. */
export interface ListedCheckpoint {
  readonly epoch: number;
  readonly size: number;
  readonly rootHex: string;
  readonly createdAt: string;
}

type Place = Pick<ListedCheckpoint, 'epoch' | 'size'>;

/** Checkpoints, newest first; `before`: only older ones than this. */
export async function listCheckpoints(
  read: Query,
  { before, limit }: { readonly before: Place | null; readonly limit: number },
): Promise<readonly ListedCheckpoint[]> {
  let query = read.selectFrom('checkpoints').select(['epoch', 'size', 'root', 'created_at']);
  if (before !== null)
    query = query.where((eb) =>
      eb.or([eb('epoch', '<', before.epoch), eb.and([eb('epoch', '=', before.epoch), eb('size', '<', before.size)])]),
    );
  const rows = await query.orderBy('epoch', 'desc').orderBy('size', 'desc').limit(limit).execute();
  return rows.map((row) => ({
    epoch: row.epoch,
    size: row.size,
    rootHex: row.root.toString('hex'),
    createdAt: row.created_at,
  }));
}

/** The signed text of a checkpoint; null: there is none. */
export async function findCheckpointNote(read: Query, { epoch, size }: Place): Promise<string | null> {
  const row = await read
    .selectFrom('checkpoints')
    .select('note')
    .where('epoch', '=', epoch)
    .where('size', '=', size)
    .executeTakeFirst();
  return row?.note ?? null;
}
