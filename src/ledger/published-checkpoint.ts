import type { Query } from '../store/store.ts';
import { type Kept, newestWitnessed } from './cosigned-checkpoints.ts';

/** The size of the newest checkpoint of an epoch; 0: none yet. */
export async function sealedSize(read: Query, epoch: number): Promise<number> {
  const row = await read
    .selectFrom('checkpoints')
    .select(({ fn }) => fn.max('size').as('size'))
    .where('epoch', '=', epoch)
    .executeTakeFirst();
  return Number(row?.size ?? 0);
}

/**
 * The checkpoint for everyone who watches the ledger (c2sp.org/tlog-tiles): the newest that a witness has cosigned, with
 * the cosignatures, if it is not older than `since`; otherwise the newest. Null: there is none yet.
 */
export async function publishedCheckpoint(
  read: Query,
  epoch: number,
  { folder, policy, now }: Kept,
  since: Date,
): Promise<string | null> {
  const noteAt = async (size: number, from = '') => {
    const row = await read
      .selectFrom('checkpoints')
      .select('note')
      .where('epoch', '=', epoch)
      .where('size', '=', size)
      .where('created_at', '>=', from)
      .executeTakeFirst();
    return row?.note ?? null;
  };
  const witnesses = policy?.witnesses.filter(({ kind }) => kind === 'cosigner') ?? [];
  const cosigners = policy === null || witnesses.length === 0 ? null : { ...policy, witnesses };
  const cosigned = await newestWitnessed({ folder, policy: cosigners, now }, 1, async (of, size) =>
    of === epoch ? noteAt(size, since.toISOString()) : null,
  );
  if (cosigned === null) return noteAt(await sealedSize(read, epoch));
  const note = await noteAt(cosigned.size);
  return note === null ? null : note + cosigned.lines.map((line) => `${line}\n`).join('');
}

/** The size of the newest checkpoint if it covers an entry; null: none covers it yet. */
export async function sizeCovering(read: Query, seq: number): Promise<number | null> {
  const newest = await read
    .selectFrom('checkpoints')
    .select('size')
    .where('size', '>=', seq)
    .orderBy('size', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest?.size ?? null;
}
