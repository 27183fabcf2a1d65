import type { KeyObject } from 'node:crypto';
import { originOf, readCheckpoint, type TreeHead, verifierKeyOf } from '../crypto/checkpoint.ts';
import { type Entry, leafData } from '../crypto/entry.ts';
import { sha256Hex } from '../crypto/hash.ts';
import type { InstanceKeys } from '../crypto/keys.ts';
import { formatTlogProof, provesInclusion } from '../crypto/tlog-proof.ts';
import type { Query, Store } from '../store/store.ts';
import { type Kept, newestWitnessed, type Stamp, type WitnessedNote } from './cosigned-checkpoints.ts';
import { parseOrigin } from './epochs.ts';
import { findEntry } from './read-entries.ts';
import { openTree, type Tree } from './tree.ts';
import { diagnoseEntry } from './verify/entry-fault.ts';

export interface ProofOptions {
  readonly store: Pick<Store, 'read'>;
  readonly keys: { readonly instance: Pick<InstanceKeys, 'append' | 'dedupe'>; readonly verifying: KeyObject };
  readonly instance: string;
  /** What witnesses signed, and whose signatures to enclose; absent: none are. */
  readonly cosigned?: () => Promise<Kept>;
}

/** A signed checkpoint, and the proof that an entry is under its root. */
export interface Inclusion {
  readonly head: TreeHead;
  /** With the cosignatures of `witnesses`. */
  readonly note: string;
  readonly hashes: readonly Buffer[];
  readonly witnesses: WitnessedNote['by'];
  readonly stamps: readonly Stamp[];
}

/** Whether an entry can be trusted. */
export type EntryProof =
  | {
      readonly outcome: 'proven';
      readonly entry: Entry;
      /** Size of the checkpoint whose root covers the entry; null if it is not sealed yet. */
      readonly sealedUnder: number | null;
      readonly inclusion: Inclusion | null;
    }
  | { readonly outcome: 'unproven'; readonly sentence: string };

/**
 * The checkpoint for a proof: the first that covers the entry; the last of all; the newest that a witness has signed,
 * otherwise the last; or the one of this size if it covers the entry, otherwise the first.
 */
export type Under = 'first' | 'last' | 'witnessed' | number;

/** Proves an entry. `seen`: a witnessed checkpoint, used instead if it covers the entry. */
export type Prover = (seq: number, under?: Under, seen?: WitnessedNote | null) => Promise<EntryProof>;

/** Proves one entry; for several, use {@link createProver}. */
export function proveEntry(options: ProofOptions, seq: number, under: Under = 'first'): Promise<EntryProof> {
  return createProver(options)(seq, under);
}

/**
 * Checks entries as far as the database allows: commitment, leaf hash and MAC, and that the leaf is under the root of a
 * signed checkpoint. Reads the leaf hashes near the entry and the subtrees known from checkpoints, not the whole ledger
 * (tree.ts).
 */
export function createProver(options: ProofOptions): Prover {
  const { read } = options.store;
  const tree = openTree(read);
  return async (seq, under = 'first', given = null) => {
    const entry = await findEntry(read, seq);
    if (entry === null) return unproven('the entry is missing');
    const fault = diagnoseEntry(entry, options.keys.instance);
    if (fault !== null) return unproven(fault.sentence);
    const seen =
      under === 'witnessed' ? await witnessedOver(options, seq) : given !== null && given.size >= seq ? given : null;
    const over =
      (seen === null ? undefined : await checkpointAt(options, seen)) ?? (await checkpointOver(options, seq, under));
    if (over === undefined) return { outcome: 'proven', entry, sealedUnder: null, inclusion: null };
    const head = readSigned(options, over);
    if (head === null) return unproven(`the checkpoint at ${over.size} is not the one that was signed`);
    const hashes = await includedUnder(tree, entry, head);
    if (hashes === null)
      return unproven(
        `the first ${head.size} entries do not give the root that the checkpoint at ${head.size} was signed for`,
      );
    const isThis = seen?.epoch === over.epoch && seen.size === over.size;
    const { lines, by: witnesses, stamps } = isThis ? seen : unwitnessed;
    const note = over.note + lines.map((line) => `${line}\n`).join('');
    return { outcome: 'proven', entry, sealedUnder: head.size, inclusion: { head, note, hashes, witnesses, stamps } };
  };
}

const unwitnessed = { lines: [], by: [], stamps: [] } as const;

function unproven(sentence: string): EntryProof {
  return { outcome: 'unproven', sentence };
}

async function includedUnder(tree: Tree, { seq, leafHash }: Entry, { size, root }: TreeHead) {
  const hashes = await tree.inclusion(seq - 1, size);
  return hashes !== null && provesInclusion(leafHash, seq - 1, size, hashes, root) ? hashes : null;
}

async function witnessedOver({ store, cosigned }: ProofOptions, seq: number): Promise<WitnessedNote | null> {
  if (cosigned === undefined) return null;
  return newestWitnessed(await cosigned(), seq, noteAsSealed(store));
}

/** The note of a checkpoint as it was sealed; null: there is none. */
export function noteAsSealed(store: ProofOptions['store']) {
  return async (epoch: number, size: number): Promise<string | null> =>
    (await checkpointAt({ store }, { epoch, size }))?.note ?? null;
}

function checkpointAt({ store }: Pick<ProofOptions, 'store'>, { epoch, size }: Pick<WitnessedNote, 'epoch' | 'size'>) {
  return checkpoints(store.read).where('epoch', '=', epoch).where('size', '=', size).executeTakeFirst();
}

async function checkpointOver({ store }: ProofOptions, seq: number, under: Under) {
  if (typeof under === 'number' && under >= seq) {
    const found = await checkpoints(store.read).where('size', '=', under).executeTakeFirst();
    if (found !== undefined) return found;
  }
  return checkpoints(store.read)
    .where('size', '>=', seq)
    .orderBy('size', under === 'last' || under === 'witnessed' ? 'desc' : 'asc')
    .executeTakeFirst();
}

/** Of all epochs: each covers what was restored when it began and its own entries, so all of them belong to one tree. */
function checkpoints(read: Query) {
  return read.selectFrom('checkpoints').select(['epoch', 'size', 'root', 'note']).limit(1);
}

/** The signed tree head of a checkpoint; null if the row says something else. */
function readSigned(
  { keys, instance }: ProofOptions,
  row: { readonly epoch: number; readonly size: number; readonly root: Buffer; readonly note: string },
): TreeHead | null {
  if (typeof row.note !== 'string' || !Buffer.isBuffer(row.root)) return null;
  const reading = readCheckpoint(row.note, keys.verifying);
  if (reading.outcome !== 'valid') return null;
  const { head } = reading;
  return head.origin === originOf(instance, row.epoch) && head.size === row.size && head.root.equals(row.root)
    ? head
    : null;
}

/** Up to the log's own signature, which is the first. */
function withoutCosignatures(note: string): string {
  return note.slice(0, note.indexOf('\n', note.indexOf('\n\n') + 2) + 1);
}

/** The files that prove an entry to someone who has the verifier key (docs/proofs.md). */
export interface ProofFiles {
  /**
   * C2SP tlog-proof. Its extra data are the leaf data and, if meta and body are handed out too, the salt in hex on a
   * second line.
   */
  readonly tlogProof: string;
  /** Null if they were erased or are not handed out. */
  readonly meta: Buffer | null;
  readonly body: Buffer | null;
  /** Whose cosignatures it has. */
  readonly witnesses: WitnessedNote['by'];
  /** Tokens over its checkpoint, and that as sealed, which they cover. */
  readonly stamps: readonly Stamp[];
  readonly sealedNote: string;
}

/** `withContent` false: only what proves place and time. */
export function proofFiles(
  entry: Entry,
  { note, hashes, witnesses, stamps }: Inclusion,
  withContent: boolean,
): ProofFiles {
  const { meta, body, salt } = withContent ? entry : { meta: null, body: null, salt: null };
  const extra = `${leafData(entry).toString('utf8')}\n${salt === null ? '' : `${salt.toString('hex')}\n`}`;
  const tlogProof = formatTlogProof({ index: entry.seq - 1, hashes, extra: Buffer.from(extra), note });
  return { tlogProof, meta, body, witnesses, stamps, sealedNote: withoutCosignatures(note) };
}

/**
 * What a sender receives for a delivery (docs/proofs.md): its place, time and leaf hash, with the proof that they are
 * under a signed root.
 */
export interface Receipt {
  readonly receipt: 'consent-ledger/receipt/v1';
  readonly instance: string;
  readonly epoch: number;
  readonly entry: number;
  readonly source: string;
  readonly kind: string;
  readonly received: string;
  readonly leaf_hash: string;
  readonly commitment: string;
  /** With the delivered bytes, these give the commitment; null: erased, or not handed out. */
  readonly meta_sha256: string | null;
  readonly salt: string | null;
  readonly verifier_key: string;
  readonly tlog_proof: string;
}

export function receiptOf(
  { instance, keys }: ProofOptions,
  entry: Entry,
  inclusion: Inclusion,
  withSalt: boolean,
): Receipt {
  const { meta, salt } = withSalt ? entry : { meta: null, salt: null };
  return {
    receipt: 'consent-ledger/receipt/v1',
    instance,
    // The epoch of the checkpoint, which may be an earlier one.
    epoch: parseOrigin(inclusion.head.origin)?.epoch ?? 0,
    entry: entry.seq,
    source: entry.source,
    kind: entry.kind,
    received: entry.receivedAt,
    leaf_hash: entry.leafHash.toString('hex'),
    commitment: entry.commitment.toString('hex'),
    meta_sha256: meta === null ? null : sha256Hex(meta),
    salt: salt === null ? null : salt.toString('hex'),
    verifier_key: verifierKeyOf(inclusion.head.origin, keys.verifying),
    tlog_proof: proofFiles(entry, inclusion, false).tlogProof,
  };
}
