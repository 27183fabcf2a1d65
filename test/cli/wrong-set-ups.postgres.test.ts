// PostgreSQL only: faults in the servers of an installation with several processes.
import { mkdir } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { given } from '../servers/databases.ts';
import { findFreePort } from '../servers/own-process.ts';
import { startRedis } from '../servers/redis.ts';
import { alter } from '../tampering.ts';
import { temporaryFolder } from '../temporary.ts';
import { runHere, runIn } from './command-line.ts';

const HUSH = 'hush-hush-hush-hush';
const { host, port, user, password } = given()?.postgres ?? { host: '', port: 0, user: '', password: '' };

/** Stopped if it unexpectedly starts. */
const serve = (folder: string, env: Record<string, string>) =>
  runIn(folder, ['serve', '--json'], { env: { PORT: '0', ADMIN_PORT: '0', ...env }, until: /publicUrl/ });

/** Each with the fault and the remedy. */
test.each<[string, Record<string, string>, number, string[]]>([
  [
    'a wrong password',
    { DATABASE_URL: `postgres://${user}:${HUSH}@${host}:${port}/postgres` },
    2,
    [`${host}:${port}`, 'password authentication failed', 'Correct the user and password in DATABASE_URL'],
  ],
  [
    'a database that does not exist',
    { DATABASE_URL: `postgres://${user}:${password}@${host}:${port}/nowhere` },
    2,
    ['database "nowhere" does not exist', 'createdb', 'correct its name in DATABASE_URL'],
  ],
  [
    'a server without TLS',
    { DATABASE_URL: `postgres://${user}:${password}@${host}:${port}/postgres?sslmode=require` },
    1,
    ['does not support SSL', 'Turn TLS on at the server, or remove sslmode from DATABASE_URL'],
  ],
  [
    'a server that is not running',
    { DATABASE_URL: `postgres://${user}:${HUSH}@127.0.0.1:${await findFreePort()}/ledger` },
    1,
    ['ECONNREFUSED', 'Start the server, or correct host and port in DATABASE_URL'],
  ],
  [
    'a host that does not exist',
    { DATABASE_URL: `postgres://${user}:${HUSH}@db.invalid/ledger` },
    1,
    ['db.invalid', 'host', 'DATABASE_URL|check DNS'],
  ],
  [
    'no keys',
    { INSTANCE_KEY: '', SIGNING_KEY_FILE: '' },
    2,
    ['INSTANCE_KEY is not set', 'SIGNING_KEY_FILE is not set', 'consent-ledger init'],
  ],
])('a command ends with a sentence that says what to do: %s', async (_name, env, code, says) => {
  const folder = await temporaryFolder();
  const ran = await serve(folder, env);
  expect([ran.code, ran.stdout]).toEqual([code, '']);
  for (const words of says) expect(ran.stderr).toMatch(new RegExp(words.replace(/[.()]/g, '\\$&')));
  for (const secret of [HUSH, password]) expect(ran.stderr).not.toContain(secret);
  expect(ran.stderr).not.toMatch(/\n\s+at /);
});

test('a command ends with a sentence if the database is from a newer version', async () => {
  const folder = await temporaryFolder();
  expect((await runHere(folder, ['ledger', 'checkpoint'], { DATA_DIR: folder })).code).toBe(0);
  await alter(folder, `update schema_version set version = 99`);
  const { code, stderr } = await serve(folder, { DATA_DIR: folder });
  expect([code, stderr]).toEqual([2, expect.stringContaining('install the newer version')]);
});

test('doctor reports a Redis that evicts, or does not run', async () => {
  const folder = await temporaryFolder();
  await mkdir(`${folder}/data`);
  const redis = await startRedis(['--maxmemory-policy', 'allkeys-lru']);
  onTestFinished(() => redis.close());
  const env = { DATA_DIR: `${folder}/data` };
  expect((await runHere(folder, ['ledger', 'checkpoint'], env)).code).toBe(0);
  const evicting = await runHere(folder, ['doctor'], { ...env, REDIS_URL: redis.url });
  expect(evicting.code).toBe(1);
  expect(evicting.stdout).toMatch(/✗ Redis: .*allkeys-lru.*\n\s+Set `maxmemory-policy noeviction` in redis.conf/);
  const away = await runHere(folder, ['doctor'], {
    ...env,
    REDIS_URL: `redis://:${HUSH}@127.0.0.1:${await findFreePort()}`,
  });
  expect(away.stdout).toMatch(/✗ Redis: .*\n\s+.*REDIS_URL/);
  expect(away.stdout).not.toContain(HUSH);
});
