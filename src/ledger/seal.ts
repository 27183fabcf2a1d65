import { createPublicKey, type KeyObject } from 'node:crypto';
import { type Clock, isoNow } from '../core/clock.ts';
import { isEntryKind } from '../core/vocabulary.ts';
import { originOf, readCheckpoint, signCheckpoint } from '../crypto/checkpoint.ts';
import { leafHashOf, macOf } from '../crypto/entry.ts';
import { equalBytes, hmacSha256 } from '../crypto/hash.ts';
import { EMPTY_FRONTIER, type Frontier, growFrontier, packFrontier, rootOf, unpackFrontier } from '../crypto/merkle.ts';
import { createBackgroundTurns } from '../jobs/event-loop.ts';
import { type LeafRow, readLeafPage } from '../store/queries/entry-pages.ts';
import { lastSeq } from '../store/queries/fold-position.ts';
import { readSetting } from '../store/settings.ts';
import type { Store } from '../store/store.ts';
import type { Journal } from './journal.ts';
import { newestCheckpoint } from './stored-checkpoints.ts';
import { hasLeafTypes } from './verify/entry-fault.ts';

/** A published checkpoint. */
interface Checkpoint {
  readonly size: number;
  readonly root: Buffer;
  readonly note: string;
  readonly createdAt: string;
}

/** The result of sealing: a checkpoint (new or the last one), nothing yet, or an entry that must not be signed. */
export type Sealing =
  | { readonly outcome: 'sealed' | 'unchanged'; readonly checkpoint: Checkpoint }
  | { readonly outcome: 'empty' }
  | { readonly outcome: 'refused'; readonly seq: number; readonly reason: string };

export interface SealOptions {
  readonly store: Store;
  readonly journal: Journal;
  readonly appendKey: Uint8Array;
  readonly signingKey: KeyObject;
  readonly instance: string;
  readonly epoch: number;
  readonly clock: Clock;
  /** The highest entry that any process saw; a ledger that ends before it is not signed. */
  readonly seen?: number;
}

const PAGE = 500;

/**
 * Seals all entries so far into the Merkle tree and publishes a checkpoint: grown from the last one, signed, synced to
 * the journal, then inserted. Refuses if an entry is missing or was not written by a holder of the key, or if the last
 * checkpoint is not the signed one or covers more entries than exist: such a state must never be signed.
 */
export async function sealLedger(options: SealOptions): Promise<Sealing> {
  const { store, instance } = options;
  // A process started before a backup was restored must not sign under the old name.
  const epoch = await readSetting(store, 'epoch');
  if (epoch !== null && epoch !== String(options.epoch))
    return refused(
      0,
      `the ledger has moved on to epoch ${epoch}, and this process began in epoch ${options.epoch}: restart it`,
    );
  const publicKey = createPublicKey(options.signingKey);
  const last = await newestCheckpoint(store.read);
  let frontier: Frontier = EMPTY_FRONTIER;
  if (last) {
    const grown = frontierOf({ publicKey, instance }, last);
    if (grown === null) {
      return refused(
        Number.isSafeInteger(last.size) ? last.size : 0,
        'the last checkpoint is not the one that was signed',
      );
    }
    frontier = grown;
  }
  // Entries appended from now on are left to the next seal: under load, this one might otherwise never end.
  const end = await lastSeq(store.read);
  if (end < (options.seen ?? 0)) return refused(end + 1, 'the entry is missing');
  const turns = createBackgroundTurns();
  while (frontier.size < end) {
    const rows = await readLeafPage(store.read, frontier.size, end, PAGE);
    if (rows.length === 0) return refused(frontier.size + 1, 'the entry is missing');
    for (const row of rows) {
      const expected = frontier.size + 1;
      const reason = row.seq === expected ? reasonAgainst(row, options.appendKey) : 'the entry is missing';
      if (reason !== null) return refused(expected, reason);
      frontier = growFrontier(frontier, [row.leaf_hash]);
      if (turns.areDue()) await turns.take();
    }
  }
  if (frontier.size === 0) return { outcome: 'empty' };
  if (last && frontier.size === last.size) {
    if (end < last.size) return refused(end + 1, 'the entry is missing');
    const { size, root, note, created_at } = last;
    return { outcome: 'unchanged', checkpoint: { size, root, note, createdAt: created_at } };
  }
  return { outcome: 'sealed', checkpoint: await publish(options, frontier) };
}

/** Why an entry must not be signed; null if it may. */
function reasonAgainst(row: LeafRow, appendKey: Uint8Array): string | null {
  const leaf = {
    ...{ seq: row.seq, source: row.source, sourceSeq: row.source_seq, kind: row.kind, receivedAt: row.received_at },
    ...{ dedupeKey: row.dedupe_key, commitment: row.commitment, leafHash: row.leaf_hash, mac: row.mac },
  };
  if (!hasLeafTypes(leaf) || !equalBytes(leafHashOf(leaf), row.leaf_hash))
    return 'the entry was altered after it was appended';
  if (!equalBytes(macOf(appendKey, row.leaf_hash), row.mac)) return 'the entry was not written with the instance key';
  return isEntryKind(row.kind) ? null : `the kind ${JSON.stringify(row.kind)} of the entry is unknown`;
}

function refused(seq: number, reason: string): Sealing {
  return { outcome: 'refused', seq, reason };
}

async function publish(options: SealOptions, frontier: Frontier): Promise<Checkpoint> {
  const { store, journal, signingKey, instance, epoch, clock } = options;
  const root = rootOf(frontier);
  const note = signCheckpoint({ origin: originOf(instance, epoch), size: frontier.size, root }, signingKey);
  const createdAt = isoNow(clock);
  await journal.write(note, createdAt);
  const row = {
    size: frontier.size,
    epoch,
    root,
    frontier: packFrontier(frontier),
    note,
    created_at: createdAt,
    mac: checkpointMac(options.appendKey, note, createdAt),
  };
  // Sealing is deterministic for a given size: if another process was first, its row is the same.
  await store.transaction((tx) => tx.insertMany('checkpoints', [row], 'keep'));
  return { size: frontier.size, root, note, createdAt };
}

const MAC_TAG = Buffer.from('consent-ledger/checkpoint/v1\n', 'ascii');

/** `HMAC(K_append, tag ‖ created_at ‖ 0x0A ‖ note)`: protects the time at which a checkpoint was made. */
export function checkpointMac(appendKey: Uint8Array, note: string, createdAt: string): Buffer {
  return hmacSha256(appendKey, Buffer.concat([MAC_TAG, Buffer.from(`${createdAt}\n${note}`)]));
}

/** The right edge of the tree over which a stored checkpoint was signed; null if the row does not match what was signed. */
export function frontierOf(
  { publicKey, instance }: { readonly publicKey: KeyObject; readonly instance: string },
  row: {
    readonly epoch: number;
    readonly size: number;
    readonly root: Buffer;
    readonly frontier: Buffer;
    readonly note: string;
  },
): Frontier | null {
  if (typeof row.note !== 'string' || !Buffer.isBuffer(row.root) || !Buffer.isBuffer(row.frontier)) return null;
  const reading = readCheckpoint(row.note, publicKey);
  if (reading.outcome !== 'valid') return null;
  const { head } = reading;
  if (head.origin !== originOf(instance, row.epoch) || head.size !== row.size || !head.root.equals(row.root))
    return null;
  try {
    const frontier = unpackFrontier(head.size, row.frontier);
    return rootOf(frontier).equals(head.root) ? frontier : null;
  } catch {
    return null;
  }
}
