import { type Action, actionSchema } from '../core/action.ts';
import { type Clock, isoNow } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { originOf, parseTreeHead, verifierKeyOf } from '../crypto/checkpoint.ts';
import { dedupeKeyOf, type InstanceKeys } from '../crypto/keys.ts';
import type { Query, Store } from '../store/store.ts';
import { appendAction } from './append-action.ts';
import { type Identity, pinSetting } from './identity.ts';
import { createLedger } from './ledger.ts';
import { entryFromRow } from './read-entries.ts';
import { diagnoseEntry } from './verify/entry-fault.ts';

/** The action that begins an epoch. */
export type Restored = Extract<Action, { action: 'installation.restored' }>;

/**
 * An epoch of a ledger. The first has no entry that begins it; each later one begins with an entry
 * `installation.restored`, because a backup was restored and later numbers were assigned a second time. A checkpoint
 * over n entries belongs to the epoch of entry n.
 */
export interface Epoch {
  readonly epoch: number;
  /** Its first entry. */
  readonly first: number;
  /** The highest number known of the previous epoch, from a checkpoint or a process; `first - 1`: no entries are known to be lost. */
  readonly lostTo: number;
  readonly begun: Restored | null;
}

/** More epochs than anyone will need; protects against counting up to a number that someone wrote into the database. */
const MOST_EPOCHS = 10_000;

export const FIRST_EPOCH: Epoch = { epoch: 1, first: 1, lostTo: 0, begun: null };

export function epochOf(seq: number, begun: Restored): Epoch {
  const lost = begun.lost === null ? null : parseTreeHead(begun.lost);
  return { epoch: begun.epoch, first: seq, lostTo: Math.max(seq - 1, lost?.size ?? 0, begun.missing?.to ?? 0), begun };
}

/** The key parts of the entry that begins an epoch; {@link loadEpochs} finds it by them. */
function keyPartsOfEpoch(instance: string, epoch: number): readonly string[] {
  return ['installation.restored', instance, String(epoch)];
}

/**
 * The epochs up to `current` that begin with sound entries. If `current` is not among them, the number in the database
 * was changed.
 */
export async function loadEpochs(
  read: Query,
  keys: Pick<InstanceKeys, 'append' | 'dedupe'>,
  instance: string,
  current: number,
): Promise<readonly Epoch[]> {
  const epochs: Epoch[] = [FIRST_EPOCH];
  for (let epoch = 2; epoch <= Math.min(current, MOST_EPOCHS); epoch += 1) {
    const row = await read
      .selectFrom('entries')
      .selectAll()
      .where('source', '=', INSTALLATION)
      .where('kind', '=', 'action')
      .where('dedupe_key', '=', dedupeKeyOf(keys.dedupe, 'action', ...keyPartsOfEpoch(instance, epoch)))
      .executeTakeFirst();
    const entry = row === undefined ? null : entryFromRow(row);
    const begun = entry === null || diagnoseEntry(entry, keys) !== null ? null : restoredIn(entry.body);
    if (entry === null || begun?.epoch !== epoch) continue;
    epochs.push(epochOf(entry.seq, begun));
  }
  return epochs;
}

/**
 * Begins the next epoch: appends its first entry and pins its name in the same transaction. Earlier entries remain
 * under the checkpoints of their own epoch; later checkpoints are signed under the new name, so that numbers assigned
 * twice cannot be confused.
 */
export async function beginEpoch(
  {
    store,
    keys,
    clock,
  }: { readonly store: Store; readonly keys: Pick<InstanceKeys, 'append' | 'dedupe'>; readonly clock: Clock },
  identity: Identity & { readonly epoch: number },
  begun: Omit<Restored, 'action' | 'epoch' | 'verifierKey'>,
): Promise<Epoch> {
  const { instance, epoch, publicKey } = identity;
  const verifierKey = verifierKeyOf(originOf(instance, epoch), publicKey);
  const action: Restored = { action: 'installation.restored', ...begun, epoch, verifierKey };
  const ledger = createLedger({ store, keys });
  try {
    const settings = [{ name: 'epoch', value: String(epoch) }, pinSetting(keys, identity)];
    const { outcome, seq } = await appendAction(
      ledger,
      INSTALLATION,
      action,
      keyPartsOfEpoch(instance, epoch),
      isoNow(clock),
      (tx) => tx.insertMany('settings', settings, 'replace'),
    );
    if (outcome === 'duplicate')
      throw new UsageError([`Epoch ${epoch} already began with entry ${seq}: use a higher number (--epoch).`]);
    return epochOf(seq, action);
  } finally {
    await ledger.close();
  }
}

/** The action of an entry that begins an epoch; null for any other entry. */
export function restoredIn(body: Buffer | null): Restored | null {
  if (body === null || !body.includes('"installation.restored"')) return null;
  try {
    const action = actionSchema.safeParse(JSON.parse(body.toString('utf8'))).data;
    return action?.action === 'installation.restored' ? action : null;
  } catch {
    return null;
  }
}

/** The instance and epoch in an origin; null if it is not an origin of this program. */
export function parseOrigin(origin: string): { readonly instance: string; readonly epoch: number } | null {
  const [, instance, epoch] = /^consent-ledger\/([^/]+)\/([1-9]\d{0,8})$/.exec(origin) ?? [];
  return instance === undefined ? null : { instance, epoch: Number(epoch) };
}

/** Where a checkpoint belongs: to the entries of its epoch, to entries that were lost when the next epoch began, or nowhere. */
export type Place =
  | { readonly outcome: 'placed' }
  | { readonly outcome: 'lost'; readonly by: Epoch }
  | { readonly outcome: 'misplaced'; readonly reason: string };

export function placeOf(
  epochs: readonly Epoch[],
  instance: string,
  head: { readonly origin: string; readonly size: number },
): Place {
  const named = parseOrigin(head.origin);
  const at = named?.instance === instance ? epochs.findIndex(({ epoch }) => epoch === named.epoch) : -1;
  const own = epochs[at];
  const next = epochs[at + 1];
  const current = epochs.at(-1) ?? FIRST_EPOCH;
  if (own === undefined)
    return {
      outcome: 'misplaced',
      reason: `it is signed for ${JSON.stringify(head.origin)}, but this ledger is ${JSON.stringify(originOf(instance, current.epoch))}`,
    };
  if (head.size < own.first)
    return {
      outcome: 'misplaced',
      reason: `it is signed for epoch ${own.epoch} over ${head.size} entries, but that begins with entry ${own.first}`,
    };
  if (next === undefined || head.size < next.first) return { outcome: 'placed' };
  return head.size <= next.lostTo
    ? { outcome: 'lost', by: next }
    : {
        outcome: 'misplaced',
        reason: `it is signed for epoch ${own.epoch} over ${head.size} entries, but epoch ${next.epoch} begins with entry ${next.first}`,
      };
}
