import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createJobs } from '../../src/jobs/jobs.ts';
import { closeWithin } from '../../src/jobs/time-limits.ts';
import { columnsOf } from '../../src/store/schema.ts';
import { runCli } from '../cli/command-line.ts';
import { startRedis } from '../servers/redis.ts';
import { cliPath, deliver, environment, startServing } from '../serving.ts';
import { alter } from '../tampering.ts';
import { openStoreIn, PATIENTLY, temporaryFolder } from '../temporary.ts';

async function secondsUntil(ended: Promise<unknown>): Promise<number> {
  const before = performance.now();
  await ended;
  return (performance.now() - before) / 1000;
}

test('serve and worker end on SIGTERM within seconds while Redis is down', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.close());
  const folder = await temporaryFolder();
  const server = await startServing(folder, { REDIS_URL: redis.url, SYNC_SCHEDULE: 'off' });
  const worker = spawn(process.execPath, [cliPath, 'worker', '--json'], {
    env: environment(folder, { REDIS_URL: redis.url, SYNC_SCHEDULE: 'off' }),
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void worker.kill('SIGKILL'));
  await once(worker.stdout, 'data');
  await redis.stop('kill');
  await sleep(500);
  const workerEnded = once(worker, 'exit');
  worker.kill('SIGTERM');
  expect(await secondsUntil(Promise.all([server.stop(), workerEnded]))).toBeLessThan(20);
  expect(((await workerEnded) as [number | null])[0]).toBe(0);
});

test('serve and worker end on SIGTERM within seconds while the mail server is silent', async () => {
  const connected: Socket[] = [];
  const silent = createServer((socket) => void connected.push(socket.on('error', () => undefined)));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => {
    for (const socket of connected) socket.destroy();
    silent.close();
  });
  const folder = await temporaryFolder();
  const mail = {
    SMTP_URL: `smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    MAIL_FROM: 'ledger@example.org',
    CHECKPOINT_MAIL_TO: 'dpo@example.org',
    SYNC_SCHEDULE: 'off',
  };
  const server = await startServing(folder, mail);
  const worker = spawn(process.execPath, [cliPath, 'worker', '--json'], {
    env: environment(folder, mail),
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void worker.kill('SIGKILL'));
  await once(worker.stdout, 'data');
  const store = await openStoreIn(folder);
  onTestFinished(() => store.close());
  const jobs = createJobs({ store, clock: () => new Date() });
  const opened = await runCli(folder, [
    'dsar',
    'open',
    '--kind',
    'access',
    '--received',
    '2026-06-01T10:00:00Z',
    '--name',
    'A',
    '--channel',
    'letter',
  ]);
  expect(opened.code).toBe(0);
  // One for each mail that may be sent at once, in both processes.
  for (let nth = 0; nth < 4; nth += 1) await jobs.enqueue({ kind: 'checkpoint-mail', key: `${nth}` });
  await vi.waitFor(() => expect(connected.length).toBeGreaterThanOrEqual(4), PATIENTLY);
  const workerEnded = once(worker, 'exit');
  worker.kill('SIGTERM');
  expect(await secondsUntil(Promise.all([server.stop(), workerEnded]))).toBeLessThan(20);
  expect(((await workerEnded) as [number | null])[0]).toBe(0);
  const left = await jobs.list({ kind: 'checkpoint-mail' });
  expect(left.map(({ state }) => state)).toEqual(Array(4).fill('waiting'));
});

test('serve ends on SIGTERM within seconds while one statement of the nightly comparison takes very long', async () => {
  const folder = await temporaryFolder();
  const server = await startServing(folder, { SYNC_SCHEDULE: 'off' });
  const store = await openStoreIn(folder);
  onTestFinished(() => store.close());
  // The comparison reads all of it.
  await alter(
    folder,
    'drop table listed_policies',
    `create view listed_policies as with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000000)
      select ${columnsOf('listed_policies')
        .map((column) => `null as ${column}`)
        .join(', ')} from n where i = 0`,
  );
  const jobs = createJobs({ store, clock: () => new Date() });
  await jobs.enqueue({ kind: 'check-read-models' });
  const comparing = () =>
    store.read.selectFrom('fold_positions').select('seq').where('name', '=', 'rebuild').executeTakeFirst();
  await vi.waitFor(async () => expect(await comparing()).toBeDefined(), PATIENTLY);
  // What is received is folded meanwhile.
  expect((await deliver(server.url, JSON.stringify({ event: 'ping' }))).status).toBe(200);
  await vi.waitFor(
    async () => expect(await store.read.selectFrom('delivery_history').select('seq').execute()).toHaveLength(1),
    PATIENTLY,
  );
  let code: number | null = null;
  expect(await secondsUntil(server.stop().then((ended) => (code = ended)))).toBeLessThan(25);
  expect(code).toBe(0);
  expect(await jobs.list({ kind: 'check-read-models' })).toMatchObject([{ state: 'waiting' }]);
});

test('serve ends on SIGTERM although one sender trickles a body and another is silent', async () => {
  const server = await startServing(await temporaryFolder(), { SYNC_SCHEDULE: 'off' });
  const { port, hostname } = new URL(server.url);
  const [dripping, silent] = [connect(Number(port), hostname), connect(Number(port), hostname)];
  for (const socket of [dripping, silent]) socket.on('error', () => undefined);
  dripping.write('POST /webhooks/default HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n');
  const drip = setInterval(() => dripping.write('x'), 200);
  onTestFinished(() => {
    clearInterval(drip);
    for (const socket of [dripping, silent]) socket.destroy();
  });
  await sleep(500);
  let code: number | null = null;
  expect(await secondsUntil(server.stop().then((ended) => (code = ended)))).toBeLessThan(20);
  expect(code).toBe(0);
});

test('a part that never closes, or fails to, is left behind and reported', async () => {
  const told: object[] = [];
  const log = { warn: (details: object) => void told.push(details) };
  expect(await closeWithin(50, 'witness', () => new Promise(() => undefined), log)).toBe(false);
  expect(await closeWithin(50, 'mail', () => Promise.reject(new Error('away')), log)).toBe(false);
  expect(await closeWithin(50, 'store', () => Promise.resolve(), log)).toBe(true);
  expect(told).toMatchObject([{ part: 'witness' }, { part: 'mail' }]);
});
