import { spawnSync } from 'node:child_process';
import { cp, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import type { TableName } from '../../src/store/schema.ts';
import { backUp, cli, emptyPlace, keyPair, type Place, restore } from '../commands/backup-world.ts';
import { makeVersionBefore } from '../store/version-before.ts';
import { temporaryFolder } from '../temporary.ts';
import { hashFiles, LOOKER, readTables } from './installation.ts';

/** Makes a database on a PostgreSQL server of the test, empty or as a copy of another one; resolves with its address. */
export type MakeDatabase = (from?: string) => Promise<string>;

/** A way in which an installation gets to another place, or under another version. */
export interface Movement {
  readonly name: string;
  /** Moves a closed installation; resolves with where it is then, and with what went wrong. */
  move(
    from: Place,
    makeDatabase: MakeDatabase | null,
  ): Promise<{ readonly place: Place; readonly problems: readonly string[] }>;
  /** Tables that it leaves behind, or makes anew, on purpose. */
  readonly loses?: readonly TableName[];
  /** Columns that it changes on purpose. */
  readonly changes?: Partial<Record<TableName, readonly string[]>>;
  /** Pages on which it shows, so that they cannot be the same. */
  readonly says?: readonly string[];
  /** Settings of the place or the epoch, which it sets anew. */
  readonly sets?: readonly string[];
  /** Names of features that it ends on purpose: their pages cannot be the same. */
  readonly ends?: readonly string[];
}

/** A copy of a closed installation, so that it can be moved more than once. */
export async function copyOf({ folder, env }: Place, makeDatabase: MakeDatabase | null): Promise<Place> {
  const copy = await temporaryFolder();
  await cp(folder, copy, { recursive: true });
  const database = env['DATABASE_URL'] ?? '';
  const isPostgres = database.startsWith('postgres:');
  if (isPostgres && makeDatabase === null) throw new Error('no PostgreSQL server');
  const at = isPostgres ? await makeDatabase?.(database) : `sqlite:${join(copy, basename(database))}`;
  return { folder: copy, env: { ...env, DATA_DIR: copy, DATABASE_URL: at ?? '' } };
}

/** What a program or browser used to get in, and what keeps count of it. */
const access = ['sessions', 'sign_in_links', 'sign_in_failures', 'api_tokens', 'idempotency_keys'] as const;

export const backupAndRestore: Movement = {
  name: '`backup` and `restore`',
  async move(from, makeDatabase = null) {
    const { recipient, file } = await keyPair();
    const made = await backUp(from, recipient);
    const to = await emptyPlace(from.folder, 'sqlite');
    const env = makeDatabase === null ? to.env : { ...to.env, DATABASE_URL: await makeDatabase() };
    const place = { folder: to.folder, env: { ...from.env, ...env } };
    const hasLooker = (await readTables(from)).people.some(({ email }) => email === LOOKER);
    const { verification } = await restore(place, made.path, file, ...(hasLooker ? ['--owner', LOOKER] : []));
    expect(verification.faults).toEqual([]);
    // An owner confirms that no account was disabled since.
    expect((await cli(place, 'people', 'enable', '--held')).code).toBe(0);
    return { place, problems: made.faults };
  },
  // Whatever gives access may have been taken away since (docs/backup.md).
  loses: [...access, 'hand_overs', 'fold_positions'],
  // Work that was waiting may have been done since: an officer starts it again.
  changes: { jobs: ['state', 'error', 'finished_at', 'updated_at', 'lease_owner', 'lease_until'] },
  // Epoch and checkpoints; an export is not kept for more than a day; tokens and sessions.
  says: ['/evidence', '/documents/export', '/people', '/account'],
  sets: ['epoch', 'identity_pin', 'data_directory'],
  // Links that were given out.
  ends: ['a hand-over', 'a task for the owner of another system'],
};

/** `store copy` to an empty database, with which the installation then goes on in the same DATA_DIR. */
async function copyStore(from: Place, to: string) {
  const { code, stdout, stderr } = await cli(from, 'store', 'copy', '--to', to, '--retire', '--json');
  const { readModels = null, retired = false } = JSON.parse(stdout || '{}') as {
    readModels?: { table: string; same: boolean }[] | null;
    retired?: boolean;
  };
  return {
    place: { folder: from.folder, env: { ...from.env, DATABASE_URL: to } },
    problems: [
      ...(code === 0 && retired ? [] : [`store copy ended with ${code}: ${stderr}${stdout}`]),
      ...(readModels ?? []).filter(({ same }) => !same).map(({ table }) => `store copy: ${table} is not the same`),
    ],
  };
}

const ofCopy: Omit<Movement, 'name' | 'move'> = {
  // Officers sign in again, and tokens are made again (docs/scaling.md).
  loses: [...access, 'fold_positions'],
  says: ['/evidence', '/people', '/account'],
  // The directory of processes that share one is marked on PostgreSQL only.
  sets: ['data_directory', 'moved_to'],
};

export const copyToPostgres: Movement = {
  name: '`store copy` to PostgreSQL',
  async move(from, makeDatabase) {
    if (makeDatabase === null) throw new Error('no PostgreSQL server');
    return copyStore(from, await makeDatabase());
  },
  ...ofCopy,
};

export const copyToSqlite: Movement = {
  name: '`store copy` to SQLite',
  move: async (from) => copyStore(from, `sqlite:${from.folder}/moved.sqlite`),
  ...ofCopy,
};

export const exported: Movement = {
  name: '`export`',
  async move(place) {
    const out = join(await temporaryFolder(), 'export');
    const { code, stdout, stderr } = await cli(place, 'export', '--out', out, '--json');
    const verified = spawnSync(process.execPath, [join(out, 'verify-export.mjs'), out], { encoding: 'utf8' });
    const [here, there] = [await hashFiles(place.folder), await hashFiles(out)];
    const rows = await readTables(place);
    const problems: string[] = [];
    if (code !== 0) problems.push(`export ended with ${code}: ${stderr}${stdout}`);
    if (verified.status !== 0) problems.push(`verify-export.mjs: ${verified.stdout}${verified.stderr}`);
    for (const [name, hash] of Object.entries(here))
      if (there[name] !== hash) problems.push(`${name} is not in the export as it is here`);
    for (const name of await readdir(join(out, 'tables'))) {
      const table = name.replace(/\.csv$/, '');
      if (!(table in rows)) continue;
      const found = parse<object>(await readFile(join(out, 'tables', name), 'utf8'), { columns: true, bom: true });
      const expected = rows[table as TableName].length;
      if (found.length !== expected) problems.push(`tables/${name} has ${found.length} rows, not ${expected}`);
    }
    return { place, problems };
  },
};

export const upgraded: Movement = {
  name: 'the upgrade from the version before',
  async move(place) {
    await makeVersionBefore(place.env['DATABASE_URL'] ?? '');
    // The first command migrates; an officer puts the new reading in force.
    const { code, stdout, stderr } = await cli(place, 'ledger', 'readings', '--adopt', '--officer', 'Olga', '--json');
    return { place, problems: code === 0 ? [] : [`ledger readings ended with ${code}: ${stderr}${stdout}`] };
  },
  loses: ['fold_positions'],
  says: ['/evidence'],
  // Adopting a reading folds everything again.
  sets: ['read_models_checked'],
};
