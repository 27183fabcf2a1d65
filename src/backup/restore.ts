import { existsSync } from 'node:fs';
import { copyFile, mkdir, open, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { CONTROLLER_NAME, type Config, PROFILES_FOLDER } from '../config/config.ts';
import { type Keys, loadInstanceKey, loadKeys } from '../config/load-keys.ts';
import { openContext } from '../context/context.ts';
import { DATA_DIRECTORY, highWaterPath } from '../context/data-directory.ts';
import { openStore } from '../context/engines.ts';
import { isoNow } from '../core/clock.ts';
import { UsageError, VerificationFault } from '../core/errors.ts';
import { parseTreeHead, readCheckpoint } from '../crypto/checkpoint.ts';
import { deriveKeys } from '../crypto/keys.ts';
import { type ErasedAgain, reapplyErasures } from '../erasure/again.ts';
import type { WitnessedOptions } from '../ledger/cosigned-checkpoints.ts';
import { beginEpoch, parseOrigin } from '../ledger/epochs.ts';
import { createHighWater, forgetHighWater } from '../ledger/high-water.ts';
import { createJournal } from '../ledger/journal.ts';
import { newestCheckpoint } from '../ledger/stored-checkpoints.ts';
import type { Fault } from '../ledger/verify/entry-fault.ts';
import { type Verification, verifyLedger } from '../ledger/verify/verify-ledger.ts';
import { type Witness, witnessPolicyIn } from '../ledger/witness-policy.ts';
import type { Log } from '../log/log.ts';
import { findPersonByEmail, holdAccounts } from '../people/people.ts';
import { lastSeq } from '../store/queries/fold-position.ts';
import { type TableName, tables } from '../store/schema.ts';
import {
  MOVED_TO,
  readSetting,
  removeSetting,
  UNFINISHED_COPY,
  UNFINISHED_RESTORE,
  writeSetting,
} from '../store/settings.ts';
import type { Store } from '../store/store.ts';
import { checkArchive, HEADER_BYTES, parseJson, readArchive, type Unlock, wholeOf, wholeWithin } from './archive.ts';
import { insertInPortions, madeAnew } from './copy-tables.ts';
import { BACKUP_FORMAT, type Header, headerSchema } from './make-backup.ts';
import { backedUp, decodeRow } from './rows.ts';

/** The result of a restore. */
export interface RestoreReport {
  readonly instance: string;
  readonly epoch: number;
  /** The entry that begins the epoch, after the restored entries. */
  readonly first: number;
  /** When the backup was made; null: the database was accepted as it is. */
  readonly madeAt: string | null;
  /** Entries after the restored ones that are known from a checkpoint or a process; null: it is not known whether there were any. */
  readonly lost: number | null;
  /** Their numbers; null: none are known. */
  readonly missing: { readonly from: number; readonly to: number } | null;
  readonly verification: Verification;
  /** Accounts that are disabled until an owner confirms them: some may have been disabled since the backup. */
  readonly held: readonly string[];
  /** Erasures made after the backup, repeated before anyone can open it. */
  readonly erasedAgain: ErasedAgain;
}

type RestoreStep = 'bytes downloaded' | 'bytes checked' | 'bytes read' | 'entries verified' | 'entries projected';

interface Common {
  readonly config: Config;
  readonly log: Log;
  readonly clock: () => Date;
  readonly actor: string;
  /** Continue if the verification finds faults; the entry that begins the epoch records their number. */
  readonly despiteFaults: boolean;
  /** E-mail address of an owner who may sign in at once; null: all accounts wait to be confirmed. */
  readonly owner: string | null;
  /** The new epoch; default: the next one after those known. */
  readonly epoch: number | null;
  readonly onProgress: (step: RestoreStep, done: number, total: number | null) => void;
}

export interface RestoreOptions extends Common {
  readonly file: string;
  readonly unlock: Unlock;
  /**
   * The journal that remains of the lost installation; its newest checkpoint shows how much is lost. Null: there is
   * none.
   */
  readonly journal: string | null;
  /** Folder with erasure records newer than the backup; null: the one next to the backup. */
  readonly erasures: string | null;
}

/**
 * Restores a backup into an empty place, on either database: loads it, verifies it like `ledger verify`, begins the
 * next epoch, folds the read models, repeats later erasures, and seals. Until all of that is done, nothing can be
 * opened there. Throws UsageError if the place is not empty or nothing decrypts the file, VerificationFault if the
 * backup is not sound; the place is then emptied again.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { config, file, unlock } = options;
  const header = await readHeader(file, unlock);
  const { append } = deriveKeys(await loadInstanceKey(config, header.fingerprints.instance));
  await claimPlace(config);
  try {
    // Nothing is loaded until the file is known to be one of this installation, as a whole.
    const onProgress = (bytes: number) => options.onProgress('bytes checked', bytes, null);
    const { sizes } = await checkArchive(file, { unlock, appendKey: append, onProgress });
    const loaded = await load(options, header, sizes);
    const report = await finish(options, loaded);
    return { ...report, madeAt: header.madeAt };
  } catch (error) {
    await clearPlace(config).catch(() => undefined);
    throw error;
  }
}

class HeaderRead extends Error {}

/** Reads the first member only. */
async function readHeader(file: string, unlock: Unlock): Promise<Header> {
  let header: Header | null = null;
  const onMember = async (name: string, content: AsyncIterable<Buffer>) => {
    if (name === 'backup.json')
      header = headerSchema.safeParse(parseJson(await wholeWithin(file, name, content, HEADER_BYTES))).data ?? null;
    throw new HeaderRead();
  };
  await readArchive(file, { unlock, appendKey: null, onMember }).catch((error: unknown) => {
    if (!(error instanceof HeaderRead)) throw error;
  });
  const found = header as Header | null;
  if (found === null || found.format !== BACKUP_FORMAT)
    throw new UsageError([`${file} is not a backup that this version of consent-ledger can read.`]);
  return found;
}

/**
 * Checks that the database and DATA_DIR contain nothing but keys, or what an interrupted restore left. Marks the
 * database so that nothing else opens it.
 */
async function claimPlace(config: Config): Promise<void> {
  const store = await openStore(config.database);
  let isOurs: boolean;
  try {
    isOurs = (await readSetting(store, UNFINISHED_RESTORE)) !== null;
    const isEmpty = (await lastSeq(store.read)) === 0 && (await readSetting(store, 'instance_id')) === null;
    if (!isOurs && !isEmpty)
      throw new UsageError([
        'The database is not empty: restore into an empty one. Set DATABASE_URL (SQLite: or DATA_DIR) to another.',
      ]);
    if (!isOurs) {
      const found = await strangersIn(config);
      if (found.length > 0)
        throw new UsageError([
          `DATA_DIR (${config.dataDir}) is not empty (${found.slice(0, 5).join(', ')}): restore into an empty one. It may contain only the folder keys.`,
        ]);
      await writeSetting(store, UNFINISHED_RESTORE, new Date().toISOString());
    }
  } finally {
    await store.close();
  }
  if (isOurs) {
    await clearPlace(config);
    await claimPlace(config);
  }
}

/** What a restore writes to DATA_DIR, besides the database. */
const RESTORED_FOLDERS = ['documents', 'evidence', 'journal', 'witnessed', 'erasures', PROFILES_FOLDER];
const RESTORED_FILES = ['log.vkey', CONTROLLER_NAME];
const RESTORED = new RegExp(
  String.raw`^files/((?:${RESTORED_FOLDERS.join('|')})/\w[\w.-]*|${RESTORED_FILES.map((name) => name.replace('.', String.raw`\.`)).join('|')})$`,
);

async function strangersIn({ dataDir, database }: Config): Promise<readonly string[]> {
  const names = await readdir(dataDir).catch(() => []);
  const isDatabase = (name: string) =>
    database.engine === 'sqlite' && dirname(database.path) === dataDir && name.startsWith(basename(database.path));
  return names.filter((name) => name !== 'keys' && !isDatabase(name));
}

/** Removes only what a restore wrote: keys and other files stay. */
async function clearPlace(config: Config): Promise<void> {
  const { dataDir, database } = config;
  for (const name of [...RESTORED_FOLDERS, ...RESTORED_FILES, 'marker.json'])
    await rm(join(dataDir, name), { recursive: true, force: true });
  await forgetHighWater(highWaterPath(dataDir));
  if (database.engine === 'sqlite') {
    for (const file of ['-dedupe', '-read-models', ''])
      for (const ending of ['-wal', '-shm', '']) await rm(database.path + file + ending, { force: true });
    return;
  }
  const store = await openStore(database);
  try {
    // Remove the mark last.
    const names = Object.keys(tables) as TableName[];
    for (const table of [...names.filter((name) => name !== 'settings'), 'settings' as const])
      await store.transaction((tx) => tx.query.deleteFrom(table).execute());
  } finally {
    await store.close();
  }
}

interface Loaded {
  readonly identity: { readonly instance: string; readonly epoch: number };
  readonly keys: Keys;
  readonly sha256: string | null;
  readonly madeAt: string | null;
  readonly verification: Verification;
  readonly lost: string | null;
  /** The highest entry that a process saw; 0: not known. */
  readonly seen: number;
}

const manifestSchema = z.object({ seq: z.number(), root: z.string(), instance: z.string() });

async function load(options: RestoreOptions, header: Header, sizes: ReadonlyMap<string, number>): Promise<Loaded> {
  const { config, file, unlock, onProgress, despiteFaults } = options;
  const { dataDir } = config;
  const { instance, epoch } = header;
  const witnessed = await witnessedIn(config);
  const store = await openStore(config.database);
  try {
    const { schemaVersion } = await store.inspect({ readThrough: false });
    if (header.schemaVersion > schemaVersion)
      throw new UsageError([
        `${file} was made by a newer version of consent-ledger (${header.version}): install that version.`,
      ]);
    // The keys must be those of the backup, so none may be generated.
    const { instance: instanceKey, signing } = header.fingerprints;
    await store.transaction((tx) =>
      tx.insertMany('settings', [
        { name: 'fingerprint_instance', value: instanceKey },
        { name: 'fingerprint_signing', value: signing },
      ]),
    );
    const keys = await loadKeys(config, store);
    const read = await readArchive(file, {
      unlock,
      appendKey: keys.instance.append,
      sizes,
      onMember: (name, content) => putBack(store, dataDir, name, content),
      onProgress: (bytes) => onProgress('bytes read', bytes, null),
    });
    const manifest = manifestSchema.parse(read.manifest);
    const verification = await verifyLedger({
      witnessed,
      store,
      journal: createJournal(join(dataDir, 'journal')),
      keys: keys.instance,
      publicKey: keys.verifying,
      instance,
      epoch,
      evidenceFolder: join(dataDir, 'evidence'),
      documentsFolder: join(dataDir, 'documents'),
      onProgress: (done, total) => onProgress('entries verified', done, total),
    });
    if (verification.root !== manifest.root || verification.entries !== manifest.seq)
      throw new VerificationFault(
        `${file}: the restored ledger does not match the manifest (${verification.entries} entries, root ${verification.root}).`,
      );
    if (!despiteFaults) assertSound(verification.faults);
    const lost = options.journal === null ? null : await newestNote(options.journal, keys, instance, epoch);
    if (options.erasures !== null || existsSync(join(dirname(file), 'erasures')))
      await copyFiles(options.erasures ?? join(dirname(file), 'erasures'), join(dataDir, 'erasures'));
    return {
      identity: { instance, epoch },
      keys,
      sha256: read.sha256,
      madeAt: header.madeAt,
      verification,
      lost,
      seen: 0,
    };
  } finally {
    await store.close();
  }
}

/**
 * What witnesses signed, as restored, and whose signatures to accept. Copies of checkpoints elsewhere are left out: they
 * may be newer than the backup. Throws UsageError if the file of WITNESSES cannot be used.
 */
async function witnessedIn({ dataDir, witnesses }: Config): Promise<WitnessedOptions> {
  const policy = await witnessPolicyIn(witnesses);
  const isHere = ({ kind }: Witness) => kind === 'cosigner' || kind === 'timestamp';
  return {
    folder: join(dataDir, 'witnessed'),
    policy: policy === null ? null : { ...policy, witnesses: policy.witnesses.filter(isHere) },
    openPlace: () => {
      throw new Error('no copies elsewhere are looked at');
    },
  };
}

function assertSound(faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const first = faults
    .slice(0, 5)
    .map(({ seq, sentence }) => `  ${seq === null ? 'ledger' : `entry ${seq}`}: ${sentence}`);
  throw new VerificationFault(
    [
      `${faults.length} faults were found, so nothing was restored:`,
      ...first,
      ...(faults.length > first.length ? [`  … and ${faults.length - first.length} more`] : []),
      'Use an earlier backup. If there is no better one, --despite-faults restores this one and records that.',
    ].join('\n'),
  );
}

/** Settings that belong to a place, not to the installation. */
const OF_THE_PLACE: readonly unknown[] = [MOVED_TO, UNFINISHED_COPY, UNFINISHED_RESTORE, DATA_DIRECTORY];

async function putBack(store: Store, dataDir: string, name: string, content: AsyncIterable<Buffer>): Promise<void> {
  const [, named] = /^database\/([a-z_]+)\/\d+\.jsonl$/.exec(name) ?? [];
  const table = backedUp.find((one) => one === named);
  if (table !== undefined) {
    const lines = (await wholeOf(content))
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '');
    const rows = lines
      .map((line) => decodeRow(table, line))
      .filter((row) => !(table === 'settings' && OF_THE_PLACE.includes(row['name'])))
      .filter((row) => !(table === 'positions' && madeAnew.includes(String(row['name']))));
    const conflict = table === 'settings' ? 'replace' : 'fail';
    if (rows.length > 0) await store.transaction((tx) => insertInPortions(tx, table, rows, conflict));
    return;
  }
  const [, path] = RESTORED.exec(name) ?? [];
  if (path !== undefined) return writeFileFrom(join(dataDir, path), content);
  if (name !== 'backup.json')
    throw new VerificationFault(`The backup contains ${name}, which this version does not support.`);
  await wholeOf(content);
}

async function writeFileFrom(path: string, content: AsyncIterable<Buffer>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of content) await file.write(chunk);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Existing files stay: the same name means the same record. */
async function copyFiles(from: string, to: string): Promise<void> {
  const names = await readdir(from).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError([`Cannot read ${from} (${error.code ?? 'error'}).`]);
  });
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const name of names) if (!existsSync(join(to, name))) await copyFile(join(from, name), join(to, name));
}

/** The checkpoint over the most entries in the remaining journal, if it is signed for this installation. */
async function newestNote(folder: string, keys: Keys, instance: string, epoch: number): Promise<string | null> {
  const note = await createJournal(folder).newest(epoch);
  if (note === null)
    throw new UsageError([`${folder} contains no checkpoints: use the folder journal of the lost DATA_DIR.`]);
  const reading = readCheckpoint(note, keys.verifying);
  if (reading.outcome !== 'valid' || parseOrigin(reading.head.origin)?.instance !== instance)
    throw new VerificationFault(`The newest checkpoint in ${folder} is not signed for this installation.`);
  return note;
}

/** Turns verified entries into an installation that can be served. */
async function finish(options: Common, loaded: Loaded): Promise<Omit<RestoreReport, 'madeAt'>> {
  const { config, log, clock, actor, onProgress } = options;
  const { identity, keys, verification, lost } = loaded;
  const { instance } = identity;
  const lostHead = lost === null ? null : parseTreeHead(lost);
  const known = Math.max(identity.epoch, parseOrigin(lostHead?.origin ?? '')?.epoch ?? 0);
  const epoch = options.epoch ?? known + 1;
  if (epoch <= known) throw new UsageError([`--epoch must be higher than ${known}, the last known epoch.`]);
  const store = await openStore(config.database);
  const lostTo = Math.max(lostHead?.size ?? 0, loaded.seen);
  let first: number;
  let missing: RestoreReport['missing'];
  try {
    await assertOwner(store, options.owner);
    await endWhatWasUnderWay(store, isoNow(clock));
    const end = await lastSeq(store.read);
    const checkpoint = await newestCheckpoint(store.read);
    missing = lostTo > end ? { from: end + 1, to: lostTo } : null;
    const begun = await beginEpoch(
      { store, keys: keys.instance, clock },
      { instance, epoch, publicKey: keys.verifying },
      {
        actor,
        backup:
          loaded.sha256 === null || loaded.madeAt === null ? null : { madeAt: loaded.madeAt, sha256: loaded.sha256 },
        checkpoint: checkpoint?.note ?? null,
        lost: lostHead !== null && lostHead.size > end ? lost : null,
        missing,
        faults: verification.faults.length + verification.moreFaults,
      },
    );
    first = begun.first;
    // The entry that begins the epoch records the loss from now on.
    await forgetHighWater(highWaterPath(config.dataDir));
  } finally {
    await store.close();
  }
  const context = await openContext(config, log, { restoring: true, clock });
  try {
    const held = await holdAccounts(context, { officer: actor, personId: null, role: 'owner' }, options.owner);
    while ((await context.projector.runOnce()) !== 'caught-up')
      onProgress('entries projected', context.projector.position(), first);
    const erasedAgain = await reapplyErasures(context.erasure);
    const sealing = await context.seal();
    if (sealing.outcome === 'refused')
      throw new VerificationFault(`The restored ledger cannot be sealed: ${sealing.reason}.`);
    await removeSetting(context.store, UNFINISHED_RESTORE);
    return {
      instance,
      epoch,
      first,
      lost: lostTo === 0 ? null : missing === null ? 0 : missing.to - missing.from + 1,
      missing,
      verification,
      held: held.map(({ email }) => email),
      erasedAgain,
    };
  } finally {
    await context.close();
  }
}

async function assertOwner(store: Store, email: string | null): Promise<void> {
  if (email === null) return;
  const person = await findPersonByEmail({ store }, email);
  if (person?.role !== 'owner' || person.disabledAt !== null)
    throw new UsageError([`--owner: ${email} is not an owner's account in this backup.`]);
}

/**
 * Cancels what officers requested from the service before the backup, so that it is not requested twice, and ends all
 * access. Repeating it is safe.
 */
async function endWhatWasUnderWay(store: Store, now: string): Promise<void> {
  const error = 'A backup was restored. This may have run after the backup was made: check, then start it again.';
  await store.transaction(async ({ query }) => {
    await query
      .updateTable('jobs')
      .set({ state: 'cancelled', error, finished_at: now, updated_at: now, lease_owner: null, lease_until: null })
      .where('state', 'in', ['waiting', 'running'])
      .execute();
    await query.deleteFrom('sessions').execute();
    await query.deleteFrom('sign_in_links').execute();
    await query.deleteFrom('hand_overs').execute();
    await query.deleteFrom('api_tokens').execute();
  });
}

/**
 * Accepts a database that was restored by other means and is behind its journal, which the ledger otherwise refuses to
 * continue: verifies the existing entries, records how much is lost, and begins the next epoch. Throws UsageError if
 * the database is not behind.
 */
export async function acceptDatabase(options: Common): Promise<RestoreReport> {
  const { config, log, clock, onProgress } = options;
  const context = await openContext(config, log, { clock, creates: false });
  let loaded: Loaded;
  try {
    const refusal = context.refusal();
    if (refusal?.code !== 'journal-ahead')
      throw new UsageError([
        refusal === null
          ? 'The database is not behind its journal, so there is nothing to accept. To restore a backup, specify its file.'
          : `--database-as-it-is only accepts a database that is behind its journal: ${refusal.reason}. ${refusal.remedy}`,
      ]);
    const { instance, epoch, keys } = context;
    const seen = highestSeen(config);
    const journal = join(config.dataDir, 'journal');
    const isEmpty = (await createJournal(journal).newest(epoch)) === null;
    const lost = seen > 0 && isEmpty ? null : await newestNote(journal, keys, instance, epoch);
    const verification = await context.verify((done, total) => onProgress('entries verified', done, total));
    // The missing end is exactly what the operator accepts. Read models that contain it are folded again.
    const accepted: readonly Fault['fault'][] = ['truncated', 'position-altered'];
    if (!options.despiteFaults) assertSound(verification.faults.filter(({ fault }) => !accepted.includes(fault)));
    loaded = { identity: { instance, epoch }, keys, sha256: null, madeAt: null, verification, lost, seen };
  } finally {
    await context.close();
  }
  return { ...(await finish(options, loaded)), madeAt: null };
}

function highestSeen({ dataDir }: Config): number {
  const marks = createHighWater(highWaterPath(dataDir));
  try {
    return marks.highest();
  } finally {
    marks.close();
  }
}
