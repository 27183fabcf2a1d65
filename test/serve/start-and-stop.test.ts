import { appendFile, readdir, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openConnection } from '../../src/store/sqlite/driver.ts';
import { deliver, runCli, startServing } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

const ping = (name: string | number) => JSON.stringify({ event: 'ping', name });

async function lock(folder: string) {
  const other = await openConnection(`${folder}/ledger.sqlite`);
  await other.script('begin immediate');
  let held = true;
  const free = async () => {
    if (held) await other.close();
    held = false;
  };
  onTestFinished(free);
  return free;
}

test('a start that fails half way ends, instead of listening with nothing behind it', async () => {
  const folder = await temporaryFolder();
  await runCli(folder, ['ledger', 'checkpoint']);
  await lock(folder);
  const ended = await startServing(folder).then(
    () => 'it listens',
    (error: Error) => error.message,
  );
  expect(ended).toContain('serve ended before it listened');
  expect(ended).toContain('locked');
});

test('a stop while deliveries wait for a locked database answers them with 503 and ends', async () => {
  const folder = await temporaryFolder();
  const server = await startServing(folder);
  expect((await deliver(server.url, ping('before'))).status).toBe(200);
  const free = await lock(folder);
  const waiting = Promise.all(Array.from({ length: 8 }, (_, i) => deliver(server.url, ping(i))));
  await sleep(300);
  const code = await server.stop();
  expect((await waiting).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 503));
  expect(code).toBe(0);
  await free();
  expect(JSON.parse((await runCli(folder, ['ledger', 'verify', '--json'])).stdout)).toMatchObject({ faults: [] });
});

test('a database that is older than its journal takes nothing in, and everything says so', async () => {
  const folder = await temporaryFolder();
  const before = await startServing(folder);
  await deliver(before.url, ping('kept'));
  expect(await before.stop()).toBe(0);
  const files = ['', '-wal', '-shm'].map((suffix) => `ledger.sqlite${suffix}`);
  // No database at all is the oldest state of all; a note that was cut off must not hide the one before it.
  for (const file of files) await rm(`${folder}/${file}`, { force: true });
  const [notes] = await readdir(`${folder}/journal`);
  await appendFile(`${folder}/journal/${notes}`, 'consent-ledger/x/1\n9');

  const server = await startServing(folder);
  const answer = await deliver(server.url, ping('lost?'));
  expect([answer.status, answer.body.error?.code]).toEqual([503, 'store_unavailable']);
  const ready = await fetch(`${server.url}/readyz`);
  expect([ready.status, (await ready.json()) as unknown]).toMatchObject([503, { status: 'not ready' }]);
  expect(await server.stop()).toBe(0);
  const doctor = await runCli(folder, ['doctor']);
  expect(doctor.stdout).toContain('journal');
  expect(doctor.stdout).toMatch(/ready for production: no/);
});
