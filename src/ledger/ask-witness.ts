import type { KeyObject } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BucketAddress } from '../core/address.ts';
import { parseTreeHead, readCheckpoint, type TreeHead } from '../crypto/checkpoint.ts';
import { formatConsistencyProof, provesConsistency } from '../crypto/tlog-proof.ts';
import { cosignedAt, whyAhead } from './cosignature.ts';
import { writeDurably } from './durable-file.ts';
import { readTimestamp, requestTimestamp, TIMESTAMP_QUERY } from './timestamp.ts';
import type { Tree } from './tree.ts';
import type { BucketOfCopies, Cosigner, Directory, TimestampAuthority, Witness } from './witness-policy.ts';

/** A witness's response. `forked`: it has seen another history of this log, which is a reason for alarm. */
export type Witnessed =
  | { readonly outcome: 'cosigned'; readonly line: string; readonly at: string }
  | { readonly outcome: 'stamped'; readonly token: Buffer; readonly at: string }
  | { readonly outcome: 'copied'; readonly at: string }
  | { readonly outcome: 'forked' | 'failed'; readonly reason: string };

/** Sends a body and resolves with the response; rejects if none came in time. */
export type Post = (
  url: string,
  body: string | Uint8Array,
  contentType: string,
) => Promise<{ readonly status: number; readonly bytes: Buffer }>;

/** A file among the copies. If versions are kept, several may have the same name. */
export interface Copy {
  readonly name: string;
  readonly read: () => Promise<Buffer>;
}

/** A place elsewhere for copies of checkpoints. */
export interface CopyPlace {
  /**
   * Lists the copies; in a bucket with versions, all versions, including hidden or overwritten ones. With `after`, only
   * names after it are needed.
   */
  list(start: string, after?: string): Promise<readonly Copy[]>;
  /** Rejects if the name is taken, as far as that can be determined. */
  write(name: string, note: string): Promise<void>;
}

/** Opens the bucket that a policy names. */
export type OpenPlace = (address: BucketAddress) => CopyPlace;

/** A folder. It is never created, because if a share is not mounted, the copies would end up on this machine. */
export function folderOfCopies(folder: string): CopyPlace {
  return {
    async list(start) {
      const names = (await readdir(folder)).filter((name) => name.startsWith(start));
      return names.map((name) => ({ name, read: () => readFile(join(folder, name)) }));
    },
    write: (name, note) => writeDurably(folder, name, note, { mode: 0o644, once: true }),
  };
}

export interface Asking {
  /** The signed checkpoint as in the journal. */
  readonly note: string;
  readonly tree: Pick<Tree, 'consistency'>;
  /** The ledger's key. */
  readonly publicKey: KeyObject;
  readonly post: Post;
  readonly openPlace: OpenPlace;
  readonly now: Date;
  /** Entries that this witness has seen, as far as known; 0: none. */
  readonly seen: number;
}

/** Maximum time for one witness in milliseconds, whatever it does. */
const WITNESS_MS = 60_000;

/**
 * Shows a checkpoint to a witness. Never rejects and never takes longer than a minute: a failing witness must not delay
 * the others.
 */
export async function askWitness(witness: Witness, asking: Asking): Promise<Witnessed> {
  const { url } = { url: null, ...witness };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Witnessed>((resolve) => {
    const reason = `it did not answer within ${WITNESS_MS / 1000} s`;
    timer = setTimeout(() => resolve({ outcome: 'failed', reason }), WITNESS_MS);
  });
  const work =
    witness.kind === 'directory' || witness.kind === 'bucket'
      ? copyNote(witness, asking)
      : url === null
        ? Promise.resolve<Witnessed>({ outcome: 'failed', reason: 'it has no address' })
        : witness.kind === 'cosigner'
          ? submitCheckpoint(witness, url, asking)
          : stamp(witness, url, asking);
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    return { outcome: 'failed', reason: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}

const TEXT = 'text/plain; charset=utf-8';
const MISSING = 'an entry of the ledger is missing: run `consent-ledger ledger verify`';

/**
 * Submits a checkpoint (add-checkpoint). If the witness replies that it has last seen another size, the proof from that
 * size is sent. The response counts if it contains a valid cosignature by the witness's key.
 */
async function submitCheckpoint(witness: Cosigner, url: string, { note, tree, post, now }: Asking): Promise<Witnessed> {
  const head = headOf(note);
  let seen = 0;
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const hashes = await tree.consistency(seen, head.size);
    if (hashes === null) return { outcome: 'failed', reason: MISSING };
    const { status, bytes } = await post(`${url}/add-checkpoint`, formatConsistencyProof(seen, hashes, note), TEXT);
    const text = bytes.toString('utf8');
    if (status === 200) return await readCosignature(witness, { note, now }, text);
    if (status === 422) return rewritten(head, seen);
    const [size] = /^(?:0|[1-9]\d{0,15})(?=\n$)/.exec(text) ?? [];
    if (status !== 409 || size === undefined) return { outcome: 'failed', reason: `it answered ${status}` };
    if (Number(size) > head.size) return cutOff(head, Number(size));
    // It has already been given the proof from this size.
    if (Number(size) === seen) return rewritten(head, seen);
    seen = Number(size);
  }
  return { outcome: 'failed', reason: 'it reports a different state at each attempt' };
}

function headOf(note: string): TreeHead {
  const head = parseTreeHead(note);
  if (head === null) throw new Error('the checkpoint cannot be read');
  return head;
}

function rewritten({ size }: TreeHead, seen: number): Witnessed {
  return {
    outcome: 'forked',
    reason: `the ledger of ${size} entries does not continue the ${seen} entries that it has seen: they were rewritten`,
  };
}

function cutOff({ size }: TreeHead, seen: number): Witnessed {
  return {
    outcome: 'forked',
    reason: `it has seen ${seen} entries, and this ledger ends at ${size}: entries are gone from the end`,
  };
}

async function readCosignature(
  witness: Cosigner,
  { note, now }: Pick<Asking, 'note' | 'now'>,
  answer: string,
): Promise<Witnessed> {
  for (const line of answer.split('\n')) {
    const at = await cosignedAt(witness, note, line);
    if (at !== null) return notAhead({ outcome: 'cosigned', line, at }, now);
  }
  return { outcome: 'failed', reason: 'its response has no valid cosignature from its key' };
}

function notAhead(said: Extract<Witnessed, { outcome: 'cosigned' | 'stamped' }>, now: Date): Witnessed {
  const reason = whyAhead(said.at, now);
  return reason === null ? said : { outcome: 'failed', reason };
}

/** Requests a token over the note from a timestamping authority (RFC 3161 §3.4). */
async function stamp(witness: TimestampAuthority, url: string, { note, post, now }: Asking): Promise<Witnessed> {
  const data = Buffer.from(note);
  const { query, nonce } = await requestTimestamp(data);
  const { status, bytes } = await post(url, query, TIMESTAMP_QUERY);
  if (status !== 200) return { outcome: 'failed', reason: `it answered ${status}` };
  const read = await readTimestamp(bytes, data, witness.roots, nonce);
  return read.outcome === 'valid'
    ? notAhead({ outcome: 'stamped', token: bytes, at: read.at }, now)
    : { outcome: 'failed', reason: `its token is invalid: ${read.reason}` };
}

/**
 * Copies in progress. A hanging share blocks a thread of this process; without this, the next run would let it block
 * another.
 */
const copying = new Set<string>();

async function copyNote(witness: Directory | BucketOfCopies, asking: Asking): Promise<Witnessed> {
  const id = witness.kind === 'directory' ? witness.path : `s3://${witness.address.bucket}/${witness.address.prefix}`;
  if (copying.has(id)) return { outcome: 'failed', reason: 'the previous copy has not finished yet' };
  copying.add(id);
  try {
    return witness.kind === 'directory'
      ? await copyInto(folderOfCopies(witness.path), asking, 'is it mounted?')
      : await copyInto(asking.openPlace(witness.address), asking, 'was it emptied, or is it another bucket?');
  } finally {
    copying.delete(id);
  }
}

/** An existing note is compared, never overwritten; this one must continue the newest existing one. */
async function copyInto(
  place: CopyPlace,
  { note, tree, publicKey, now, seen }: Asking,
  question: string,
): Promise<Witnessed> {
  const head = headOf(note);
  const after = seen > 1 ? nameInDirectory(head.origin, seen - 1) : undefined;
  const copies = (await place.list(startInDirectory(head.origin), after)).flatMap((copy) => {
    const size = sizeInDirectory(copy.name, head.origin);
    return size === null ? [] : [{ ...copy, size }];
  });
  const newest = copies.reduce((most, { size }) => Math.max(most, size), 0);
  if (newest < seen) {
    const reason = `it no longer holds the checkpoint over ${seen} entries that was copied there: ${question}`;
    return { outcome: 'failed', reason };
  }
  if (newest > head.size) return cutOff(head, newest);
  const copied: Witnessed = { outcome: 'copied', at: now.toISOString() };
  for (const { name, read } of copies.filter(({ size }) => size === newest)) {
    const there = (await read()).toString('utf8');
    if (newest === head.size) {
      if (there !== note) return { outcome: 'forked', reason: `its ${name} is a different checkpoint` };
      continue;
    }
    const reading = readCheckpoint(there, publicKey);
    if (reading.outcome !== 'valid' || reading.head.size !== newest)
      return { outcome: 'failed', reason: `its ${name} is not a checkpoint of this ledger` };
    const hashes = await tree.consistency(newest, head.size);
    if (hashes === null) return { outcome: 'failed', reason: MISSING };
    if (!provesConsistency(reading.head, head, hashes)) return rewritten(head, newest);
  }
  if (newest < head.size) await place.write(nameInDirectory(head.origin, head.size), note);
  return copied;
}

/** The common prefix of all copies of a ledger's checkpoints. */
export function startInDirectory(origin: string): string {
  return `${origin.replaceAll('/', '-')}-`;
}

/** The file name of a checkpoint in a folder that several installations may share. */
function nameInDirectory(origin: string, size: number): string {
  return `${startInDirectory(origin)}${String(size).padStart(16, '0')}.txt`;
}

/** The size in a {@link nameInDirectory}; null for other names. */
export function sizeInDirectory(name: string, origin: string): number | null {
  const size = Number(/-(\d{16})\.txt$/.exec(name)?.[1] ?? 0);
  return size > 0 && name === nameInDirectory(origin, size) ? size : null;
}
