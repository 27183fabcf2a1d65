import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { isFolded, type TableName, tables } from '../src/store/schema.ts';
import { attachToRead, openConnection } from '../src/store/sqlite/driver.ts';
import { readModelsPath } from '../src/store/sqlite/open.ts';
import { databaseOf, emptyDatabaseOf, engine, given } from './servers/databases.ts';

/** A literal for bytes that both databases read in a statement of {@link alter}. */
export function bytes(content: Uint8Array | string): string {
  const hex = Buffer.from(content).toString('hex');
  return engine === 'postgres' ? `'\\x${hex}'::bytea` : `x'${hex}'`;
}

/**
 * Runs statements as an attacker with write access to the database of the installation in `dataDir`. Both engines must
 * understand the statements.
 */
export async function alter(dataDir: string, ...statements: string[]): Promise<void> {
  if (engine === 'postgres') {
    const client = new pg.Client({ connectionString: databaseOf(dataDir) });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
    return;
  }
  await alterFile(fileOf(dataDir), ...statements);
}

/** The same for SQLite: each statement runs in the file that has the table, and need not name the file. */
export async function alterFile(path: string, ...statements: string[]): Promise<void> {
  for (const statement of statements) {
    const named = [...statement.matchAll(/\w+/g)].map(([word]) => word);
    const first = named.find(
      (word) => Object.hasOwn(tables, word) || word === 'quarantine_source' || word === 'one_a_day',
    );
    const inModels = first !== undefined && (!Object.hasOwn(tables, first) || isFolded(first as TableName));
    const [own, other] = inModels ? [readModelsPath(path), path] : [path, readModelsPath(path)];
    const connection = await openConnection(own);
    try {
      await attachToRead(connection, other, 'other');
      await connection.script(statement);
    } finally {
      await connection.close();
    }
  }
}

/** Makes every writer wait, like a long transaction of another process, until the returned function is called or the test ends. */
export async function holdWriters(dataDir: string): Promise<() => Promise<void>> {
  let letGo: () => Promise<void>;
  if (engine === 'postgres') {
    const client = new pg.Client({ connectionString: databaseOf(dataDir) });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('begin; lock table entries in exclusive mode');
    letGo = () => client.end();
  } else {
    const connection = await openConnection(fileOf(dataDir));
    await connection.script('begin immediate');
    letGo = () => connection.close();
  }
  let held = true;
  const free = async () => {
    if (held) await letGo();
    held = false;
  };
  onTestFinished(free);
  return free;
}

/** Removes the database: the next start finds none, or an empty one. */
export async function loseDatabase(dataDir: string): Promise<void> {
  if (engine === 'postgres') return emptyDatabaseOf(dataDir);
  for (const suffix of ['', '-wal', '-shm']) await rm(`${fileOf(dataDir)}${suffix}`, { force: true });
}

/** The whole content of the database, as read by a person who has its files or a dump. */
export async function contentOf(dataDir: string): Promise<string[]> {
  const servers = given();
  if (servers === null) {
    const names = (await readdir(dataDir)).filter((name) => name.startsWith('ledger.sqlite'));
    return Promise.all(names.map((name) => readFile(join(dataDir, name), 'latin1')));
  }
  const dump = join(servers.postgres.programs, 'pg_dump');
  const { stdout } = await promisify(execFile)(dump, ['--inserts', databaseOf(dataDir)], { maxBuffer: 1 << 28 });
  // Binary columns are in hexadecimal; their decoded form is included too.
  return [stdout, stdout.replace(/\\x([0-9a-f]*)/g, (_, hex: string) => Buffer.from(hex, 'hex').toString('latin1'))];
}

function fileOf(dataDir: string): string {
  return `${dataDir}/ledger.sqlite`;
}
