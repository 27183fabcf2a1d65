import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { UsageError } from '../core/errors.ts';
import { stateOfKeyFile } from '../ledger/identity.ts';
import { readSetting } from '../store/settings.ts';
import type { Store } from '../store/store.ts';

/** The setting that names the directory shared by the processes of an installation. */
export const DATA_DIRECTORY = 'data_directory';
const markerSchema = z.object({ instance: z.string(), directory: z.string().regex(/^[0-9a-f]{16}$/) });

/** The file that identifies a data directory. */
export function markerPath(dataDir: string): string {
  return join(dataDir, 'marker.json');
}

/**
 * Makes sure that DATA_DIR is the one shared by this installation's processes: it contains documents and the journal of
 * checkpoints, which are not in the database. The first process marks it and registers the mark; a process with another
 * directory is refused with a UsageError that says what to do.
 */
export async function assertSharedDirectory(store: Store, dataDir: string, instance: string): Promise<void> {
  const path = markerPath(dataDir);
  let registered = await readSetting(store, DATA_DIRECTORY);
  let marker = await readMarker(path);
  let made = false;
  if (marker === null && registered === null) {
    made = await writeMarkerOnce(path, { instance, directory: randomBytes(8).toString('hex') });
    marker = await readMarker(path);
  }
  if (registered === null && marker !== null) {
    const row = { name: DATA_DIRECTORY, value: marker };
    // Written under the write lock and then read: if two first starts use different directories, one wins.
    await store.transaction((tx) => tx.insertMany('settings', [row], 'keep'));
    registered = await readSetting(store, DATA_DIRECTORY);
  }
  if (marker !== null && marker === registered) return;
  if (made) await rm(path, { force: true });
  throw new UsageError([
    `DATA_DIR (${dataDir}) is not the data directory of this installation: its processes share the one marked ${registered ?? '?'}, and this one is marked ${marker ?? 'with nothing'}. Documents and the journal of checkpoints would be in two places. Mount the shared directory here, or move it: stop every process, and copy the whole directory, including marker.json. If it is lost for good, put {"instance":"${instance}","directory":"${registered ?? ''}"} into ${path}: the documents and the journal so far are then missing.`,
  ]);
}

/** DATA_DIR/log.vkey: the key for checking the checkpoints next to it (C2SP signed-note), for recipients of a copy. */
export function verifierKeyPath(dataDir: string): string {
  return join(dataDir, 'log.vkey');
}

/**
 * Nothing depends on this file: if it cannot be written, `ledger key` still prints the key. A file with another key is
 * left for `ledger verify` and `doctor` to find, because somebody put it there for those who trust it.
 */
export async function publishVerifierKey(dataDir: string, verifierKey: string): Promise<void> {
  const path = verifierKeyPath(dataDir);
  const line = `${verifierKey}\n`;
  const state = await stateOfKeyFile(path, verifierKey);
  if (state === 'same' || state === 'foreign') return;
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, line, { flag: 'wx', mode: 0o644 })
    .then(() => rename(draft, path))
    .catch(() => rm(draft, { force: true }));
}

async function readMarker(path: string): Promise<string | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new UsageError([`${path} cannot be read (${code ?? 'error'}): the program must be able to read DATA_DIR.`]);
  }
  try {
    return markerSchema.parse(JSON.parse(text)).directory;
  } catch {
    throw new UsageError([`${path} is damaged: restore it from a backup of DATA_DIR.`]);
  }
}

/** False if another process was first. The file gets its name only once it is complete. */
async function writeMarkerOnce(path: string, marker: z.infer<typeof markerSchema>): Promise<boolean> {
  const folder = join(path, '..');
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(marker)}\n`);
      await file.datasync();
    } finally {
      await file.close();
    }
    await link(draft, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    throw new UsageError([
      `${path} cannot be written (${code ?? 'error'}): the program must be able to write DATA_DIR.`,
    ]);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Where processes note the highest entry that they saw (ledger/high-water.ts). */
export function highWaterPath(dataDir: string): string {
  return join(dataDir, 'high-water');
}
