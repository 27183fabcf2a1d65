import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Action } from '../core/action.ts';
import { isoNow } from '../core/clock.ts';
import { StoreUnavailable } from '../core/errors.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { sha256Hex } from '../crypto/hash.ts';
import { readSetting } from '../store/settings.ts';
import type { Store } from '../store/store.ts';
import { appendAction } from './append-action.ts';
import {
  type Asking,
  askWitness,
  type Copy,
  folderOfCopies,
  type OpenPlace,
  sizeInDirectory,
  startInDirectory,
  type Witnessed,
} from './ask-witness.ts';
import { cosignedAt } from './cosignature.ts';
import { writeDurably } from './durable-file.ts';
import type { Sealing } from './seal.ts';
import { readTimestamp } from './timestamp.ts';
import type { Tree } from './tree.ts';
import {
  type BucketOfCopies,
  type Cosigner,
  type Directory,
  verifierKeyOfWitness,
  type Witness,
  type WitnessPolicy,
} from './witness-policy.ts';

const SETTING = 'witnesses';

const oneSchema = z.object({
  name: z.string(),
  epoch: z.number(),
  /** Entries under the last checkpoint that it signed, timestamped or stored; 0: none yet. */
  size: z.number(),
  /** Time of that, by the witness's clock if it has one; null: never. */
  at: z.string().nullable(),
  /** Why the last attempt failed; null if it succeeded. */
  error: z.string().nullable(),
  /** It has seen another history. */
  forked: z.boolean(),
});

const stateSchema = z.object({
  witnesses: z.record(z.string(), oneSchema),
  /** Entries under the last checkpoint seen by as many witnesses as the policy requires. */
  quorum: z.object({ epoch: z.number(), size: z.number() }),
});

/** How far checkpoints have been witnessed, according to the last runs. */
export type WitnessState = z.infer<typeof stateSchema>;
export type WitnessStanding = z.infer<typeof oneSchema>;

const nothingYet: WitnessState = { witnesses: {}, quorum: { epoch: 0, size: 0 } };

export async function readWitnessState(store: Pick<Store, 'read'>): Promise<WitnessState> {
  const text = await readSetting(store, SETTING);
  try {
    return text === null ? nothingYet : stateSchema.parse(JSON.parse(text));
  } catch {
    return nothingYet;
  }
}

/** Whether a witness is a place for copies. */
function isPlace(witness: Witness): witness is Directory | BucketOfCopies {
  return witness.kind === 'directory' || witness.kind === 'bucket';
}

/** Identifies a witness across runs; its name in the policy may change. */
function identityOf(witness: Witness): string {
  switch (witness.kind) {
    case 'cosigner':
      return `witness ${witness.keyName}+${witness.keyHash.toString('hex')}`;
    case 'timestamp':
      return `timestamp ${witness.name}`;
    case 'directory':
      return `directory ${witness.path}`;
    case 'bucket':
      return `bucket s3://${witness.address.bucket}/${witness.address.prefix}`;
    default:
      return witness satisfies never;
  }
}

export interface WitnessDeps extends Pick<Asking, 'publicKey' | 'post' | 'openPlace'> {
  readonly store: Store;
  readonly ledger: Parameters<typeof appendAction>[0];
  readonly epoch: number;
  /** DATA_DIR/witnessed. */
  readonly folder: string;
  readonly seal: () => Promise<Sealing>;
  readonly tree: () => Tree;
  readonly clock: () => Date;
}

/** The result of a run. `unchanged`: the witness had seen this checkpoint and was not asked again. */
export type Witnessing =
  | Exclude<Sealing, { readonly outcome: 'sealed' | 'unchanged' }>
  | {
      readonly outcome: 'witnessed';
      readonly size: number;
      readonly quorum: boolean;
      readonly results: readonly {
        readonly name: string;
        readonly result: Witnessed | { readonly outcome: 'unchanged' };
      }[];
      /** Files written to DATA_DIR/witnessed. */
      readonly files: readonly string[];
    };

/**
 * Seals the ledger and shows the newest checkpoint to all witnesses of a policy concurrently. Their responses are
 * stored in DATA_DIR/witnessed before anything is reported. A failing witness does not affect the others.
 */
export async function witnessNewest(
  deps: WitnessDeps,
  policy: WitnessPolicy,
  { again }: { /** Also ask those that have seen this checkpoint. */ readonly again: boolean },
): Promise<Witnessing> {
  const { store, epoch, folder } = deps;
  await recordKept(deps);
  const sealing = await deps.seal();
  if (!('checkpoint' in sealing)) return sealing;
  const { note, size } = sealing.checkpoint;
  const state = await readWitnessState(store);
  const seenBy = (witness: Witness) => {
    const before = state.witnesses[identityOf(witness)];
    return before?.epoch === epoch ? before.size : 0;
  };
  const asked = policy.witnesses.filter((witness) => isPlace(witness) || witness.url !== null);
  const tree = deps.tree();
  const results = await Promise.all(
    asked.map(async (witness) => {
      const seen = seenBy(witness);
      const result =
        seen === size && !again
          ? ({ outcome: 'unchanged' } as const)
          : await askWitness(witness, { ...deps, note, tree, now: deps.clock(), seen });
      return { witness, name: witness.name, result };
    }),
  );
  const files = await keep(folder, { epoch, size, note }, results);
  const signed = new Set(results.flatMap(({ name, result }) => (isDone(result) ? [name] : [])));
  const quorum = signed.size > 0 && policy.isQuorum(signed);
  await noteStandings(deps, size, results, quorum);
  return { outcome: 'witnessed', size, quorum, results: results.map(({ name, result }) => ({ name, result })), files };
}

interface Result {
  readonly witness: Witness;
  readonly name: string;
  readonly result: Witnessed | { readonly outcome: 'unchanged' };
}

const isDone = ({ outcome }: Result['result']) => outcome !== 'failed' && outcome !== 'forked';

/** Stores this run's result for each witness; what is known of others is kept. */
async function noteStandings(
  { store, epoch }: WitnessDeps,
  size: number,
  results: readonly Result[],
  quorum: boolean,
): Promise<void> {
  await store.transaction(async (tx) => {
    const { witnesses, quorum: before } = await readWitnessState({ read: tx.query });
    const now: Record<string, WitnessStanding> = { ...witnesses };
    for (const { witness, name, result } of results) {
      const known = witnesses[identityOf(witness)];
      const kept = known?.epoch === epoch ? known : { size: 0, at: null };
      now[identityOf(witness)] =
        result.outcome === 'failed' || result.outcome === 'forked'
          ? { ...kept, name, epoch, error: result.reason, forked: result.outcome === 'forked' }
          : { name, epoch, size, at: 'at' in result ? result.at : kept.at, error: null, forked: false };
    }
    const state: WitnessState = { witnesses: now, quorum: quorum ? { epoch, size } : before };
    await tx.insertMany('settings', [{ name: SETTING, value: JSON.stringify(state) }], 'replace');
  });
}

/** The common prefix of the files kept for a checkpoint. */
function stemOf(epoch: number, size: number): string {
  return `${epoch}-${String(size).padStart(16, '0')}`;
}

/** Epoch and size of the checkpoint that a file of DATA_DIR/witnessed is about; null if its name does not say. */
export function checkpointInName(name: string): { readonly epoch: number; readonly size: number } | null {
  const [, epoch, size] = /^(\d+)-(\d{16})\./.exec(name) ?? [];
  return epoch === undefined ? null : { epoch: Number(epoch), size: Number(size) };
}

/** The order of such names: by epoch as a number, so that `9-…` comes before `10-…`; others come first. */
export function byCheckpoint(a: string, b: string): number {
  const [one, other] = [checkpointInName(a)?.epoch ?? 0, checkpointInName(b)?.epoch ?? 0];
  return one - other || (a < b ? -1 : a > b ? 1 : 0);
}

/**
 * `<epoch>-<size>.txt`: the note with all cosignatures. `.<authority>.tsr`: an authority's token, which covers the
 * bytes of `.note`, the note as sealed.
 */
async function keep(
  folder: string,
  { epoch, size, note }: { readonly epoch: number; readonly size: number; readonly note: string },
  results: readonly Result[],
): Promise<readonly string[]> {
  const stem = stemOf(epoch, size);
  const files: string[] = [];
  const write = async (name: string, bytes: string | Uint8Array) => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeDurably(folder, name, bytes, { mode: 0o600 });
    files.push(join(folder, name));
  };
  const lines = results.flatMap(({ result }) => (result.outcome === 'cosigned' ? [result.line] : []));
  if (lines.length > 0)
    await write(`${stem}.txt`, note + mergeLines(await linesIn(join(folder, `${stem}.txt`), note), lines));
  const tokens = results.flatMap(({ name, result }) =>
    result.outcome === 'stamped' ? [{ name, token: result.token }] : [],
  );
  if (tokens.length > 0) await write(`${stem}.note`, note);
  for (const { name, token } of tokens) await write(`${stem}.${name}.tsr`, token);
  return files;
}

/** The signature lines that follow those of the note, if the file is about this note. */
async function linesIn(path: string, note: string): Promise<readonly string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.startsWith(note)
    ? text
        .slice(note.length)
        .split('\n')
        .filter((line) => line !== '')
    : [];
}

/** The hashes of what a file holds: of each cosignature line of a `.txt`, or of a token. */
export function hashesOfKept({ name, bytes }: KeptFile): readonly string[] {
  if (!name.endsWith('.txt')) return [sha256Hex(bytes)];
  const note = bytes.toString('utf8');
  // The first line after the text is the ledger's own signature.
  const [, ...lines] = note.slice(note.indexOf('\n\n') + 2).split('\n');
  return lines.filter((line) => line !== '').map((line) => sha256Hex(Buffer.from(line)));
}

/** Files that one entry lists. */
const LISTED = 200;
/** Records with whose files those in the folder are compared. */
const COMPARED = 20;

/**
 * Records what is kept in `folder` since the last such entry, so that it is under the next checkpoint and cannot be
 * removed unnoticed. Only if something else was appended after the newest checkpoint that was witnessed: otherwise each
 * entry would need a checkpoint, and each checkpoint an entry.
 */
async function recordKept({ store, ledger, folder, clock }: WitnessDeps): Promise<void> {
  const names = [...(await namesIn(folder, '.txt')), ...(await namesIn(folder, '.tsr'))].sort(byCheckpoint);
  const newest = names.reduce((size, name) => Math.max(size, checkpointInName(name)?.size ?? 0), 0);
  const records = await store.read
    .selectFrom('action_history')
    .select(['details', 'seq'])
    .where('action', '=', 'checkpoint.witnessed')
    .orderBy('seq', 'desc')
    .limit(COMPARED)
    .execute();
  const fresh = await notYetRecorded(folder, names, records);
  const other = await store.read
    .selectFrom('entries')
    .select('seq')
    .where('seq', '>', newest)
    .where('seq', '!=', records[0]?.seq ?? 0)
    .limit(1)
    .executeTakeFirst();
  if (fresh.length === 0 || other === undefined) return;
  const files = fresh.map(({ name, hashes }) => ({ name, sha256: [...hashes] }));
  const action = { action: 'checkpoint.witnessed' as const, actor: 'program', files };
  const parts = ['checkpoint.witnessed', sha256Hex(Buffer.from(JSON.stringify(files)))];
  await appendAction(ledger, INSTALLATION, action, parts, isoNow(clock)).catch((error: unknown) => {
    // A ledger that refuses entries is all the more shown to its witnesses.
    if (!(error instanceof StoreUnavailable)) throw error;
  });
}

/**
 * What is kept after the last record, and what was added since to a checkpoint of the last {@link COMPARED} records: a
 * slow witness may answer after a record.
 */
async function notYetRecorded(
  folder: string,
  names: readonly string[],
  records: readonly { readonly details: string }[],
): Promise<readonly { readonly name: string; readonly hashes: readonly string[] }[]> {
  const recorded = new Map<string, Set<string>>();
  for (const { details } of records)
    for (const { name, sha256 } of (JSON.parse(details) as Extract<Action, { action: 'checkpoint.witnessed' }>).files)
      recorded.set(name, new Set([...(recorded.get(name) ?? []), ...sha256]));
  const [first = ''] = [...recorded.keys()].sort(byCheckpoint);
  const stem = first.slice(0, first.indexOf('.'));
  const fresh: { readonly name: string; readonly hashes: readonly string[] }[] = [];
  for (const name of names.filter((one) => byCheckpoint(stem, one) < 0)) {
    if (fresh.length === LISTED) break;
    const hashes = hashesOfKept({ name, bytes: await readFile(join(folder, name)) });
    if (!hashes.every((hash) => recorded.get(name)?.has(hash) === true)) fresh.push({ name, hashes });
  }
  return fresh;
}

/** A token over a checkpoint as sealed (RFC 3161), named as in DATA_DIR/witnessed. */
export interface Stamp {
  readonly file: string;
  readonly token: Buffer;
}

/** A checkpoint that witnesses have signed or stamped, and which. */
export interface WitnessedNote {
  readonly epoch: number;
  readonly size: number;
  /** The valid cosignature lines, to follow those of the note. */
  readonly lines: readonly string[];
  readonly by: readonly { readonly name: string; readonly verifierKey: string }[];
  /** The valid tokens. */
  readonly stamps: readonly Stamp[];
}

/**
 * Which of what witnesses signed a document encloses, as one of its parameters, so that it can be made again with the
 * same: `<epoch>-<size>` and the SHA-256 of each cosignature line and token.
 */
export function recordOfWitnessed({ epoch, size, lines, stamps }: WitnessedNote): string {
  const bytes = [...lines.map((line) => Buffer.from(line)), ...stamps.map(({ token }) => token)];
  return [`${epoch}-${size}`, ...bytes.map((one) => sha256Hex(one)).sort()].join(' ');
}

/** Newest checkpoints that are looked at for a proof, before it goes without witnesses. */
const LOOKED_AT = 20;

type NoteOf = (epoch: number, size: number) => Promise<string | null>;
type Kept = Pick<WitnessedOptions, 'folder' | 'policy'>;

/**
 * The newest checkpoint over at least `from` entries that a witness of the policy has signed or stamped, as kept in
 * `folder`; null: none. `noteOf`: the note as sealed.
 */
export async function newestWitnessed(kept: Kept, from: number, noteOf: NoteOf): Promise<WitnessedNote | null> {
  const { folder, policy } = kept;
  if (policy === null) return null;
  const names = [...(await namesIn(folder, '.txt')), ...(await namesIn(folder, '.note'))];
  const sizes = new Map(
    names.flatMap((name) => checkpointInName(name) ?? []).map((one) => [stemOf(one.epoch, one.size), one]),
  );
  const candidates = [...sizes.values()]
    .filter(({ size }) => size >= from)
    .sort((a, b) => b.epoch - a.epoch || b.size - a.size);
  for (const { epoch, size } of candidates.slice(0, LOOKED_AT)) {
    const found = await witnessedAt(kept, { epoch, size }, noteOf, () => true);
    if (found !== null) return found;
  }
  return null;
}

/** What a document enclosed ({@link recordOfWitnessed}), as far as it is still kept; null: nothing of it. */
export async function witnessedAsRecorded(kept: Kept, record: string, noteOf: NoteOf): Promise<WitnessedNote | null> {
  const [where = '', ...digests] = record.split(' ');
  const [, epoch, size] = /^(\d{1,15})-(\d{1,15})$/.exec(where) ?? [];
  if (epoch === undefined) return null;
  return witnessedAt(kept, { epoch: Number(epoch), size: Number(size) }, noteOf, (bytes) =>
    digests.includes(sha256Hex(bytes)),
  );
}

/** What the witnesses of the policy signed of one checkpoint; null: nothing. */
async function witnessedAt(
  { folder, policy }: Kept,
  { epoch, size }: { readonly epoch: number; readonly size: number },
  noteOf: NoteOf,
  isWanted: (bytes: Buffer) => boolean,
): Promise<WitnessedNote | null> {
  const note = policy === null ? null : await noteOf(epoch, size);
  if (policy === null || note === null) return null;
  const stem = stemOf(epoch, size);
  const signed = (await cosignaturesIn(join(folder, `${stem}.txt`), note, policy)).filter(({ line }) =>
    isWanted(Buffer.from(line)),
  );
  const stamps = (await stampsOf(folder, stem, note, policy)).filter(({ token }) => isWanted(token));
  if (signed.length === 0 && stamps.length === 0) return null;
  return {
    ...{ epoch, size, stamps },
    lines: signed.map(({ line }) => line),
    by: signed.map(({ witness }) => ({ name: witness.name, verifierKey: verifierKeyOfWitness(witness) })),
  };
}

async function cosignaturesIn(path: string, note: string, { witnesses }: WitnessPolicy) {
  const found: { readonly line: string; readonly witness: Cosigner }[] = [];
  for (const line of await linesIn(path, note))
    for (const witness of witnesses)
      if (witness.kind === 'cosigner' && (await cosignedAt(witness, note, line)) !== null)
        found.push({ line, witness });
  return found;
}

async function stampsOf(
  folder: string,
  stem: string,
  note: string,
  { witnesses }: WitnessPolicy,
): Promise<readonly Stamp[]> {
  const stamps: Stamp[] = [];
  for (const witness of witnesses) {
    if (witness.kind !== 'timestamp') continue;
    const file = `${stem}.${witness.name}.tsr`;
    const token = await readFile(join(folder, file)).catch(() => null);
    if (token === null || token.length > FILE_BYTES) continue;
    const read = await readTimestamp(token, Buffer.from(note), witness.roots);
    if (read.outcome !== 'invalid') stamps.push({ file, token });
  }
  return stamps;
}

/** One line per key; later ones win. All lines of a key begin with the same name and hash. */
function mergeLines(before: readonly string[], now: readonly string[]): string {
  const byKey = new Map([...before, ...now].map((line) => [line.slice(0, line.lastIndexOf(' ') + 7), line]));
  return [...byKey.values()].map((line) => `${line}\n`).join('');
}

/** A file of DATA_DIR/witnessed, or of a folder used as a witness. */
export interface KeptFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Largest file in bytes that is read: a note with a hundred cosignatures, or a token with its certificates. */
const FILE_BYTES = 512 * 1024;

/** Files with this ending, ordered by name; none if the folder does not exist. */
async function readKept(folder: string, ending: string): Promise<readonly KeptFile[]> {
  const files: KeptFile[] = [];
  for (const name of await namesIn(folder, ending)) {
    const bytes = await readFile(join(folder, name));
    files.push({ name, bytes: bytes.subarray(0, FILE_BYTES) });
  }
  return files;
}

async function namesIn(folder: string, ending: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((one) => one.endsWith(ending) && !one.startsWith('.')).sort();
}

/** Copies read concurrently, because a bucket takes a round trip for each. */
const READ_TOGETHER = 8;

/** All copies of a ledger's checkpoints, ordered by name. */
async function readCopies(copies: readonly Copy[], origin: string, ended: () => boolean): Promise<readonly KeptFile[]> {
  const ours = copies
    .filter(({ name }) => sizeInDirectory(name, origin) !== null)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const files: KeptFile[] = [];
  for (let first = 0; first < ours.length && !ended(); first += READ_TOGETHER) {
    const some = ours.slice(first, first + READ_TOGETHER);
    files.push(
      ...(await Promise.all(
        some.map(async ({ name, read }) => ({ name, bytes: (await read()).subarray(0, FILE_BYTES) })),
      )),
    );
  }
  return files;
}

/**
 * The names under which the newest checkpoint seen by a witness is kept, according to the state; none for a folder or
 * bucket elsewhere.
 */
export function namesKept(standing: WitnessStanding, identity: string): readonly string[] {
  const stem = stemOf(standing.epoch, standing.size);
  if (standing.size === 0 || /^(?:directory|bucket) /.test(identity)) return [];
  return identity.startsWith('timestamp ') ? [`${stem}.note`, `${stem}.${standing.name}.tsr`] : [`${stem}.txt`];
}

/** The stored witness data, and the accepted witnesses. */
export interface WitnessedOptions {
  /** DATA_DIR/witnessed. */
  readonly folder: string;
  /** Null: no witnesses are configured, so cosignatures and tokens cannot be checked. */
  readonly policy: WitnessPolicy | null;
  readonly openPlace: OpenPlace;
}

/** A note, and where it was found. */
interface FoundNote {
  readonly file: string;
  readonly where: string;
  readonly note: string;
}

/** The contents of DATA_DIR/witnessed and of the folders and buckets used as witnesses. */
export interface WitnessedFiles {
  /** Notes with cosignatures, and notes as sealed. */
  readonly kept: readonly FoundNote[];
  readonly tokens: readonly KeptFile[];
  readonly elsewhere: readonly FoundNote[];
  /** Sentences about files that could not be read. */
  readonly unread: readonly string[];
}

/** Milliseconds after which to give up on a hanging share. */
const DIRECTORY_MS = 20_000;
/** Ten times as long as it takes to read a bucket with a year of hourly checkpoints. */
const BUCKET_MS = 300_000;

export async function readWitnessedFiles(
  { folder, policy, openPlace }: WitnessedOptions,
  origin: string,
): Promise<WitnessedFiles> {
  const noteOf = (where: string, { name, bytes }: KeptFile) => ({
    file: name,
    where: `${where} (${name})`,
    note: bytes.toString('utf8'),
  });
  const files = [...(await readKept(folder, '.txt')), ...(await readKept(folder, '.note'))];
  const elsewhere: FoundNote[] = [];
  const unread: string[] = [];
  for (const witness of policy?.witnesses.filter(isPlace) ?? []) {
    const { kind, name } = witness;
    const what = kind === 'directory' ? 'folder' : 'bucket';
    let isLate = false;
    const late = delay(kind === 'directory' ? DIRECTORY_MS : BUCKET_MS, null, { ref: false }).then(() => {
      isLate = true;
      throw new Error('it does not answer');
    });
    late.catch(() => undefined);
    const read = async () => {
      const place = kind === 'directory' ? folderOfCopies(witness.path) : openPlace(witness.address);
      return readCopies(await place.list(startInDirectory(origin)), origin, () => isLate);
    };
    try {
      const found = await Promise.race([read(), late]);
      for (const file of found) elsewhere.push(noteOf(`the checkpoint at ${name}`, file));
      if (found.length === 0) unread.push(`the ${what} of ${name} holds no checkpoint of this ledger`);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      unread.push(`the ${what} of ${name} cannot be read (${kind === 'bucket' ? message : (code ?? message)})`);
    }
  }
  const kept = files.map((file) => noteOf('the witnessed checkpoint', file));
  return { kept, tokens: await readKept(folder, '.tsr'), elsewhere, unread };
}
