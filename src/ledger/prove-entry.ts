import type { KeyObject } from 'node:crypto';
import type { Entry } from '../crypto/entry.ts';
import type { InstanceKeys } from '../crypto/keys.ts';
import { EMPTY_FRONTIER, type Frontier, growFrontier, rootOf } from '../crypto/merkle.ts';
import type { Query, Store } from '../store/store.ts';
import { diagnoseEntry } from './entry-fault.ts';
import { entryFromRow } from './read-entries.ts';
import { frontierOf } from './seal.ts';

export interface ProofOptions {
  readonly store: Pick<Store, 'read'>;
  readonly keys: { readonly instance: Pick<InstanceKeys, 'append' | 'dedupe'>; readonly verifying: KeyObject };
  readonly instance: string;
  readonly epoch: number;
}

/** Whether one entry can be relied on. */
export type EntryProof =
  | {
      readonly outcome: 'proven';
      readonly entry: Entry;
      /** Size of the first checkpoint over the entry, under whose root it is; null while the entry is not sealed. */
      readonly sealedUnder: number | null;
    }
  | { readonly outcome: 'unproven'; readonly sentence: string };

/**
 * Checks one entry as far as the database allows: commitment, leaf hash and MAC, and that the entries give the root which the first checkpoint
 * over it was signed for. Reads the leaf hashes between two checkpoints, not the whole ledger.
 */
export async function proveEntry(options: ProofOptions, seq: number): Promise<EntryProof> {
  const { read } = options.store;
  const row = await read.selectFrom('entries').selectAll().where('seq', '=', seq).executeTakeFirst();
  if (row === undefined) return unproven('the entry is missing');
  const entry = entryFromRow(row);
  const fault = diagnoseEntry(entry, options.keys.instance);
  if (fault !== null) return unproven(fault.sentence);
  const over = await checkpoints(read, options.epoch).where('size', '>=', seq).orderBy('size').executeTakeFirst();
  if (over === undefined) return { outcome: 'proven', entry, sealedUnder: null };
  const before = await checkpoints(read, options.epoch)
    .where('size', '<', seq)
    .orderBy('size', 'desc')
    .executeTakeFirst();
  const signer = { ...options, publicKey: options.keys.verifying };
  const wanted = frontierOf(signer, over);
  const from = before === undefined ? EMPTY_FRONTIER : frontierOf(signer, before);
  if (wanted === null) return unproven(`the checkpoint at ${over.size} is not the one that was signed`);
  if (from === null) return unproven(`the checkpoint at ${before?.size} is not the one that was signed`);
  const found = await grownTo(read, from, wanted.size);
  if (found === null || !rootOf(found).equals(rootOf(wanted)))
    return unproven(
      `the first ${wanted.size} entries do not give the root that the checkpoint at ${wanted.size} was signed for`,
    );
  return { outcome: 'proven', entry, sealedUnder: wanted.size };
}

function unproven(sentence: string): EntryProof {
  return { outcome: 'unproven', sentence };
}

function checkpoints(read: Query, epoch: number) {
  return read
    .selectFrom('checkpoints')
    .select(['size', 'root', 'frontier', 'note'])
    .where('epoch', '=', epoch)
    .limit(1);
}

/** Null when an entry is missing, or its leaf hash is not one. */
async function grownTo(read: Query, from: Frontier, size: number): Promise<Frontier | null> {
  let frontier = from;
  while (frontier.size < size) {
    const rows = await read
      .selectFrom('entries')
      .select(['seq', 'leaf_hash'])
      .where('seq', '>', frontier.size)
      .where('seq', '<=', size)
      .orderBy('seq')
      .limit(2000)
      .execute();
    const first = frontier.size + 1;
    if (rows.length === 0 || rows.some((row, place) => row.seq !== first + place || !Buffer.isBuffer(row.leaf_hash)))
      return null;
    frontier = growFrontier(
      frontier,
      rows.map((row) => row.leaf_hash),
    );
  }
  return frontier;
}
