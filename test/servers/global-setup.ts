import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { newInstanceKeyText, newSigningKeyPem } from '../../src/config/key-files.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { type PostgresServer, startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';

/** The servers of the project `postgres`: one of each kind, and keys, which PostgreSQL needs supplied. */
export interface GivenServers {
  readonly postgres: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly password: string;
    /** The folder that contains psql. */
    readonly programs: string;
    /** The name of an empty database with the schema, to be copied: creating the schema takes far longer. */
    readonly migrated: string;
  };
  readonly redisUrl: string;
  readonly instanceKey: string;
  readonly signingKeyFile: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    servers: GivenServers;
  }
}

async function createMigrated(postgres: PostgresServer): Promise<string> {
  const name = 'migrated';
  const client = new pg.Client({ connectionString: postgres.url() });
  await client.connect();
  try {
    await client.query(`create database ${name} template template0`);
  } finally {
    await client.end();
  }
  const store = await openPostgresStore({ url: postgres.url(name) });
  await store.close();
  return name;
}

/** Runs once before the first suite of the project; the returned function runs after the last. */
export default async function startServers(project: TestProject): Promise<() => Promise<void>> {
  const opened: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const shut of opened.reverse()) await shut();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-keys-'));
    opened.push(() => rm(folder, { recursive: true, force: true }));
    const signingKeyFile = join(folder, 'signing.pem');
    await writeFile(signingKeyFile, newSigningKeyPem(), { mode: 0o600 });
    const postgres = await startPostgres();
    opened.push(() => postgres.close());
    const redis = await startRedis();
    opened.push(() => redis.close());
    const { port, password, programs } = postgres;
    const migrated = await createMigrated(postgres);
    project.provide('servers', {
      postgres: { host: '127.0.0.1', port, user: 'postgres', password, programs, migrated },
      redisUrl: redis.url,
      instanceKey: newInstanceKeyText(),
      signingKeyFile,
    });
    return close;
  } catch (error) {
    await close();
    throw error;
  }
}
