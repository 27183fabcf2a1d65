// PostgreSQL and Redis only: about the servers that the other suites use.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { untilThere } from '../cli/command-line.ts';
import { createDatabase, databaseOf } from './databases.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function openRedis(url: string): Promise<Redis> {
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0 });
  redis.on('error', () => undefined);
  await redis.connect();
  return redis;
}

test('a test PostgreSQL keeps commits over a crash and requires a password from every user', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.close());
  await ask(server.url(), 'create table kept (n int)');
  await ask(server.url(), 'insert into kept values (1)');
  const before = server.pid();
  await server.stop('immediate');
  await expect(ask(server.url(), 'select 1')).rejects.toThrow('ECONNREFUSED');
  await server.start();
  expect(server.pid()).not.toBe(before);
  expect(await ask(server.url(), 'select n from kept')).toEqual([{ n: 1 }]);
  await expect(ask(server.url().replace(server.password, 'guessed'), 'select 1')).rejects.toThrow('password');
});

test('the databases of a test PostgreSQL do not sort text bytewise by default', async () => {
  const [found] = await ask(
    await createDatabase(),
    `select 'a' < 'B' as linguistic, 'a' < 'B' collate "C" as bytewise`,
  );
  expect(found).toEqual({ linguistic: true, bytewise: false });
});

test('a test Redis keeps its data over a restart', async () => {
  const server = await startRedis();
  onTestFinished(() => server.close());
  const first = await openRedis(server.url);
  await first.set('kept', '1');
  expect(await first.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
  first.disconnect();
  await server.stop();
  await expect(openRedis(server.url)).rejects.toThrow();
  await server.start();
  const again = await openRedis(server.url);
  expect(await again.get('kept')).toBe('1');
  again.disconnect();
});

test('a folder has one database, however often it is requested, and another folder another', () => {
  const mine = databaseOf('/nowhere/mine');
  expect(databaseOf('/nowhere/mine')).toBe(mine);
  expect(databaseOf('/nowhere/other')).not.toBe(mine);
});

describe('a database', () => {
  let made: string;

  test('exists for a test', async () => {
    made = await createDatabase();
    expect(await ask(made, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('and is removed after it', async () => {
    await expect(ask(made, 'select 1')).rejects.toThrow('does not exist');
  });
});

test('servers end and their folders are removed when the process that started them is killed', async () => {
  const program = `
    import { startRedis } from ${JSON.stringify(new URL('redis.ts', import.meta.url).pathname)};
    import { startPostgres } from ${JSON.stringify(new URL('postgres.ts', import.meta.url).pathname)};
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
    console.log(JSON.stringify([[postgres.pid(), postgres.folder], [redis.pid(), redis.folder]]));
    process.kill(process.pid, 'SIGKILL');`;
  const started = await promisify(execFile)(process.execPath, [
    '--import',
    'tsx',
    '--input-type=module',
    '--eval',
    program,
  ]).catch((error: unknown) => error as { stdout: string; stderr: string });
  const servers = JSON.parse(started.stdout) as [number, string][];
  expect(servers).toHaveLength(2);
  for (const [pid, folder] of servers) {
    await untilThere(async () => (isRunning(pid) || existsSync(folder) ? null : true));
  }
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
