import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { BackupKeep } from '../config/read-values.ts';
import type { Context } from '../context/context.ts';
import { type BucketAddress, bucketAddressOf } from '../core/address.ts';
import { UsageError } from '../core/errors.ts';
import { type JobHandler, JobRefused } from '../jobs/job.ts';
import { type Bucket, type ObjectVersion, openBucket } from '../outside/bucket.ts';
import { BucketError } from '../outside/s3.ts';
import { type BackupFile, backupIn, copyErasures, outdated, rotate } from './delete-old-backups.ts';
import { type BackupOptions, type BackupReport, makeBackup } from './make-backup.ts';

/** Where a backup goes; at least one of them. */
export interface BackupPlaces {
  readonly folder: string | null;
  readonly bucket: BucketAddress | null;
}

/** `s3://…` is a bucket, anything else a folder. Throws UsageError for an invalid bucket. */
export function backupPlacesOf(text: string): BackupPlaces {
  if (!text.startsWith('s3://')) return { folder: text, bucket: null };
  const bucket = bucketAddressOf(text);
  if (bucket === null) throw new UsageError([`Invalid bucket ${JSON.stringify(text)}: use s3://my-bucket/folder.`]);
  return { folder: null, bucket };
}

export interface PlacedReport extends BackupReport {
  /** Its address in the bucket; null: not uploaded. */
  readonly uploaded: string | null;
}

/** The scheduled backup, and the deletion of old ones. */
export function createBackupJobs(context: BackupOptions['context']) {
  return {
    async backup(_payload, { signal, progress }) {
      const { folder, bucket, recipients, keep } = context.config.backup;
      if ((folder === null && bucket === null) || recipients.length === 0)
        throw new JobRefused(
          'No backup was made: BACKUP_FOLDER or BACKUP_BUCKET, and BACKUP_RECIPIENTS, are not set for this worker.',
        );
      const { path: _path, ...made } = await backUp({
        context,
        places: { folder, bucket },
        lock: { recipients },
        actor: 'schedule',
        signal,
        onProgress: (message, done, total) => progress({ done, total, message }),
      });
      const removed = folder === null ? [] : await rotate(folder, context.instance, keep, context.clock());
      if (bucket === null) return { ...made, removed };
      const rotated = await rotateBucket(openBucket(context.config.storage, bucket), context.instance, keep);
      return { ...made, removed, removedFromBucket: rotated.removed, lockedInBucket: rotated.locked };
    },
  } satisfies Record<string, JobHandler>;
}

/** Keeps the records of erasures made since the last backup next to the backups, in case this machine is lost. */
export async function copyErasuresToBackups({ config, log }: Pick<Context, 'config' | 'log'>): Promise<void> {
  const { dataDir, storage, backup } = config;
  if (backup.folder !== null)
    await copyErasures(dataDir, backup.folder).catch((error: unknown) =>
      log.warn({ err: error }, 'could not copy the records of erasures to BACKUP_FOLDER'),
    );
  if (backup.bucket !== null)
    await uploadErasures(dataDir, openBucket(storage, backup.bucket)).catch((error: unknown) =>
      log.warn({ err: error }, 'could not upload the records of erasures to BACKUP_BUCKET'),
    );
}

const OUTGOING = 'outgoing';
const OUTGOING_HOURS = 24;

/**
 * {@link makeBackup} into a folder, a bucket or both. Without a folder it is written to DATA_DIR, read back, uploaded,
 * and removed there.
 */
export async function backUp(
  options: Omit<BackupOptions, 'folder'> & { readonly places: BackupPlaces },
): Promise<PlacedReport> {
  const { places, context, signal, onProgress } = options;
  const { config } = context;
  const folder = places.folder ?? join(config.dataDir, OUTGOING);
  if (places.folder === null) await removeLeftovers(folder, context.clock());
  const report = await makeBackup({ ...options, folder });
  if (places.folder !== null) await copyErasures(config.dataDir, places.folder);
  if (places.bucket === null) return { ...report, uploaded: null };
  const bucket = openBucket(config.storage, places.bucket);
  const key = bucket.keyOf(basename(report.path));
  try {
    await bucket.putFile(key, report.path, {
      lock: config.backup.lock,
      signal,
      onProgress: (bytes) => onProgress?.('uploaded', bytes, report.bytes),
    });
    await uploadErasures(config.dataDir, bucket);
  } finally {
    if (places.folder === null) await rm(report.path, { force: true });
  }
  const uploaded = `s3://${places.bucket.bucket}/${key}`;
  return { ...report, path: places.folder === null ? uploaded : report.path, uploaded };
}

/** Removes leftovers of killed uploads. */
async function removeLeftovers(folder: string, now: Date): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const { mtimeMs } = await stat(join(folder, name));
    if (now.getTime() - mtimeMs > OUTGOING_HOURS * 3_600_000) await rm(join(folder, name), { force: true });
  }
}

interface BucketBackup extends BackupFile {
  /** All versions, including hidden ones. */
  readonly versions: readonly ObjectVersion[];
}

/**
 * The backups of an installation in a bucket, newest first; null: of all installations. A backup whose newest version
 * is a delete marker is listed too, although most tools do not show it.
 */
export async function listBucketBackups(bucket: Bucket, instance: string | null): Promise<readonly BucketBackup[]> {
  const byName = new Map<string, ObjectVersion[]>();
  for (const version of await bucket.versions('consent-ledger-')) {
    const name = version.key.slice(bucket.keyOf('').length);
    byName.set(name, [...(byName.get(name) ?? []), version]);
  }
  return [...byName]
    .flatMap(([name, versions]) => {
      const backup = backupIn(name, instance);
      return backup === null || versions.every(({ isMarker }) => isMarker) ? [] : [{ ...backup, versions }];
    })
    .sort((a, b) => b.madeAt.getTime() - a.madeAt.getTime());
}

/** Removes outdated backups with all their versions; locked ones stay until a later run. */
async function rotateBucket(
  bucket: Bucket,
  instance: string,
  keep: BackupKeep,
): Promise<{ readonly removed: readonly string[]; readonly locked: readonly string[] }> {
  const backups = await listBucketBackups(bucket, instance);
  const removed: string[] = [];
  const locked: string[] = [];
  for (const { name, versions } of backups.filter((backup) => outdated(backups, keep).includes(backup))) {
    // Delete markers last: while a version is locked, the marker that hides it stays.
    const contents = await Promise.all(versions.filter(({ isMarker }) => !isMarker).map((one) => bucket.remove(one)));
    if (contents.includes(false)) locked.push(name);
    else {
      for (const marker of versions.filter(({ isMarker }) => isMarker)) await bucket.remove(marker);
      removed.push(name);
    }
  }
  return { removed, locked };
}

/** Erasure records known by this process to be in the bucket. */
const uploaded = new Set<string>();

/** {@link copyErasures} to a bucket, which is only asked if there is a record that this process has not uploaded or seen there. */
async function uploadErasures(dataDir: string, bucket: Bucket): Promise<number> {
  const folder = join(dataDir, 'erasures');
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json'));
  const idOf = (name: string) => `${bucket.name} ${folder} ${name}`;
  if (names.every((name) => uploaded.has(idOf(name)))) return 0;
  const there = new Set((await bucket.versions('erasures/')).map(({ key }) => basename(key)));
  const missing = names.filter((name) => !there.has(name));
  for (const name of missing)
    await bucket.put(bucket.keyOf(`erasures/${name}`), await readFile(join(folder, name)), null);
  for (const name of names) uploaded.add(idOf(name));
  return missing.length;
}

/** The largest erasure record in bytes; it is a list of numbers. */
const RECORD_BYTES = 64 << 20;

/**
 * Downloads a backup with the erasure records next to it, runs `work` with the file, and removes both.
 * `s3://bucket/folder/` with a trailing slash means the newest backup there. Throws UsageError if there is none, or if
 * several installations have backups there.
 */
export async function withDownloaded<T>(
  config: Config,
  text: string,
  onProgress: (done: number, total: number) => void,
  work: (file: string) => Promise<T>,
): Promise<T> {
  const [, bucketName = '', path = ''] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(text) ?? [];
  const isFolder = path === '' || path.endsWith('/');
  const folderPath = isFolder ? path : path.slice(0, Math.max(0, path.lastIndexOf('/')));
  const { bucket: address } = backupPlacesOf(`s3://${bucketName}${folderPath === '' ? '' : `/${folderPath}`}`);
  if (address === null) throw new UsageError([`Invalid bucket ${JSON.stringify(text)}: use s3://my-bucket/folder.`]);
  const bucket = openBucket(config.storage, address);
  const local = await mkdtemp(join(tmpdir(), 'consent-ledger-restore-'));
  try {
    const name = isFolder ? await newestIn(bucket) : basename(path);
    const file = join(local, name);
    await bucket.getFile(bucket.keyOf(name), file, onProgress);
    const records = new Map<string, ObjectVersion>();
    // The newest version of a name comes first.
    for (const version of await bucket.versions('erasures/'))
      if (!version.isMarker && !records.has(basename(version.key))) records.set(basename(version.key), version);
    if (records.size > 0) await mkdir(join(local, 'erasures'), { mode: 0o700 });
    for (const [record, { key, version }] of records)
      await writeFile(join(local, 'erasures', record), await bucket.get(key, version, RECORD_BYTES), {
        mode: 0o600,
        flag: 'wx',
      });
    return await work(file);
  } catch (error) {
    if (error instanceof BucketError) throw new UsageError([`${text}: ${error.message}.`]);
    throw error;
  } finally {
    await rm(local, { recursive: true, force: true });
  }
}

async function newestIn(bucket: Bucket): Promise<string> {
  const backups = await listBucketBackups(bucket, null);
  const instances = [...new Set(backups.map(({ name }) => /^consent-ledger-([0-9a-f]+)-/.exec(name)?.[1]))];
  const [newest] = backups;
  if (newest === undefined) throw new UsageError([`There is no backup in ${bucket.name}.`]);
  if (instances.length > 1)
    throw new UsageError([
      `${bucket.name} contains backups of ${instances.length} installations: specify the file, for example ${bucket.name}/${newest.name}.`,
    ]);
  return newest.name;
}
