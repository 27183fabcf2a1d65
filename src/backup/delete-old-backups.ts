import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupKeep } from '../config/read-values.ts';

/** A backup in a folder. */
export interface BackupFile {
  readonly name: string;
  readonly madeAt: Date;
}

const NAME = /^consent-ledger-([0-9a-f]+)-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.tar\.gz\.age$/;

/** The backup that a file name describes; null: the file is not a backup, or not of this installation. */
export function backupIn(name: string, instance: string | null): BackupFile | null {
  const [, of, year, month, day, hour, minute, second] = NAME.exec(name) ?? [];
  if (of === undefined || (instance !== null && of !== instance)) return null;
  return { name, madeAt: new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) };
}

/** The backups of an installation in a folder, newest first. Rejects if the folder cannot be read. */
export async function listBackups(folder: string, instance: string): Promise<readonly BackupFile[]> {
  const names = await readdir(folder);
  return names
    .flatMap((name) => backupIn(name, instance) ?? [])
    .sort((a, b) => b.madeAt.getTime() - a.madeAt.getTime());
}

/**
 * The backups to remove: all but the newest of each of the last days, weeks and months (UTC) that have one, as many as
 * configured.
 */
export function outdated(backups: readonly BackupFile[], keep: BackupKeep): readonly BackupFile[] {
  const kept = new Set<BackupFile>();
  const keepBy = (count: number, periodOf: (madeAt: Date) => string) => {
    const periods = new Set<string>();
    for (const backup of backups) {
      const period = periodOf(backup.madeAt);
      if (periods.has(period)) continue;
      if (periods.size === count) break;
      periods.add(period);
      kept.add(backup);
    }
  };
  keepBy(keep.daily, (madeAt) => madeAt.toISOString().slice(0, 10));
  // Weeks begin on Monday; 1 January 1970 was a Thursday.
  keepBy(keep.weekly, (madeAt) => String(Math.floor((madeAt.getTime() / 86_400_000 + 3) / 7)));
  keepBy(keep.monthly, (madeAt) => madeAt.toISOString().slice(0, 7));
  return backups.filter((backup) => !kept.has(backup));
}

const PART_HOURS = 24;

/** Removes outdated backups, and leftovers of killed ones. Resolves with the removed names. */
export async function rotate(
  folder: string,
  instance: string,
  keep: BackupKeep,
  now: Date,
): Promise<readonly string[]> {
  const gone = outdated(await listBackups(folder, instance), keep).map(({ name }) => name);
  for (const name of await readdir(folder)) {
    if (!name.startsWith(`consent-ledger-${instance}-`) || !name.endsWith('.part')) continue;
    const { mtimeMs } = await stat(join(folder, name));
    if (now.getTime() - mtimeMs > PART_HOURS * 3_600_000) gone.push(name);
  }
  for (const name of gone) await rm(join(folder, name), { force: true });
  return gone;
}

/**
 * Copies missing erasure records (DATA_DIR/erasures) next to the backups: after the newest backup is restored, they say
 * what has to be erased again, even if DATA_DIR is lost. They contain numbers and keyed hashes, no content. Resolves
 * with the number copied.
 */
export async function copyErasures(dataDir: string, folder: string): Promise<number> {
  const [from, to] = [join(dataDir, 'erasures'), join(folder, 'erasures')];
  const listed = (path: string) =>
    readdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
  const there = new Set(await listed(to));
  const missing = (await listed(from)).filter((name) => name.endsWith('.json') && !there.has(name));
  if (missing.length > 0) await mkdir(to, { recursive: true, mode: 0o700 });
  for (const name of missing) {
    await copyFile(join(from, name), join(to, `${name}.draft`));
    await rename(join(to, `${name}.draft`), join(to, name));
  }
  return missing.length;
}
