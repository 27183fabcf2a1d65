import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import type { GivenServers } from './global-setup.ts';

/** The engine of this run: SQLite with the in-process runner, or PostgreSQL with Redis. */
export const engine: 'sqlite' | 'postgres' = given() === null ? 'sqlite' : 'postgres';

/** The servers of this run; null in the project `sqlite`. */
export function given(): GivenServers | null {
  // Nothing is provided in the project `sqlite`, whatever the type says.
  const servers: GivenServers | undefined = inject('servers');
  return servers ?? null;
}

/**
 * Makes a fresh database on the server of this run, empty or with the schema as after a start; dropped when the test
 * ends. Resolves with its address.
 */
export async function createDatabase(content: 'empty' | 'migrated' = 'empty'): Promise<string> {
  const servers = neededServers();
  const name = newName();
  await askServer(servers, creation(name, content === 'empty' ? 'template0' : servers.postgres.migrated));
  dropAtEnd(servers, name);
  return addressOf(servers, name);
}

const ofFolders = new Map<string, string>();

/** The database of a folder, shared by all processes of a test that use the folder; created on the first call, with the schema as a start leaves it. */
export function databaseOf(path: string): string {
  const folder = resolve(path);
  const servers = neededServers();
  const known = ofFolders.get(folder);
  if (known !== undefined) return addressOf(servers, known);
  const name = spare ?? createNow(servers);
  spare = null;
  prepareSpare(servers);
  ofFolders.set(folder, name);
  dropAtEnd(servers, name, () => ofFolders.delete(folder));
  return addressOf(servers, name);
}

/** Creates a database without returning to the event loop, which takes a process. */
function createNow({ postgres: { host, port, user, password, programs, migrated } }: GivenServers): string {
  const name = newName();
  execFileSync(
    join(programs, 'psql'),
    ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-c', creation(name, migrated), 'postgres'],
    {
      env: { PGHOST: host, PGPORT: String(port), PGUSER: user, PGPASSWORD: password },
      stdio: 'pipe',
      timeout: 240_000,
    },
  );
  return name;
}

/** A database for the next folder. */
let spare: string | null = null;
let isPreparing = false;

function prepareSpare(servers: GivenServers): void {
  if (isPreparing) return;
  isPreparing = true;
  const name = newName();
  askServer(servers, creation(name, servers.postgres.migrated)).then(
    () => {
      spare = name;
      isPreparing = false;
    },
    () => (isPreparing = false),
  );
}

/** Replaces a folder's database with an empty one. */
export async function emptyDatabaseOf(folder: string): Promise<void> {
  const servers = neededServers();
  const name = new URL(databaseOf(folder)).pathname.slice(1);
  await askServer(servers, removal(name));
  await askServer(servers, creation(name));
}

/** The environment that an installation needs besides its DATA_DIR: nothing on SQLite, the servers and the keys on PostgreSQL. */
export function serverVariables(dataDir: string): Record<string, string> {
  const servers = given();
  if (servers === null) return {};
  return {
    DATABASE_URL: databaseOf(dataDir),
    REDIS_URL: servers.redisUrl,
    INSTANCE_KEY: servers.instanceKey,
    SIGNING_KEY_FILE: servers.signingKeyFile,
  };
}

function neededServers(): GivenServers {
  const servers = given();
  if (servers === null) throw new Error('This suite runs on SQLite: it has no PostgreSQL server.');
  return servers;
}

function newName(): string {
  return `world_${randomUUID().replaceAll('-', '').slice(0, 16)}`;
}

// Copying files is the faster strategy if the files are in memory.
function creation(name: string, template = 'template0'): string {
  return `create database ${name} template ${template} strategy file_copy`;
}

function removal(name: string): string {
  return `drop database if exists ${name} with (force)`;
}

function addressOf({ postgres: { host, port, user, password } }: GivenServers, name: string): string {
  return `postgres://${user}:${password}@${host}:${port}/${name}`;
}

/** The connection on which this process makes and drops databases. */
let asking: Promise<pg.Client> | null = null;

async function askServer(servers: GivenServers, sql: string): Promise<void> {
  asking ??= openConnection(servers);
  await (await asking).query(sql);
}

async function openConnection(servers: GivenServers): Promise<pg.Client> {
  const forget = () => void (asking = null);
  const client = new pg.Client({ connectionString: addressOf(servers, 'postgres') });
  client.on('error', forget);
  client.on('end', forget);
  try {
    await client.connect();
  } catch (error) {
    forget();
    throw error;
  }
  // Its types do not know it.
  (client as unknown as { unref(): void }).unref();
  return client;
}

/**
 * Drops it after everything that the test opened on it later is closed. Databases made by hooks of a file are removed
 * with the server.
 */
function dropAtEnd(servers: GivenServers, name: string, forget?: () => void): void {
  try {
    onTestFinished(async () => {
      forget?.();
      await askServer(servers, removal(name));
    });
  } catch {
    // Not inside a test.
  }
}
