import { appendFile, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runCli } from '../cli/command-line.ts';
import { deliver, startServing } from '../serving.ts';
import { alter, holdWriters, loseDatabase } from '../tampering.ts';
import { temporaryFolder } from '../temporary.ts';

const ping = (name: string | number) => JSON.stringify({ event: 'ping', name });

test('a stop while deliveries wait for a locked database answers them with 503 and ends', async () => {
  const folder = await temporaryFolder();
  const server = await startServing(folder);
  expect((await deliver(server.url, ping('before'))).status).toBe(200);
  const free = await holdWriters(folder);
  const waiting = Promise.all(Array.from({ length: 8 }, (_, i) => deliver(server.url, ping(i))));
  // The server answers requests in order: once it has answered these, it has read the deliveries sent before.
  for (let n = 0; n < 20; n += 1) expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  await sleep(300);
  const code = await server.stop();
  expect((await waiting).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 503));
  expect(code).toBe(0);
  await free();
  expect(JSON.parse((await runCli(folder, ['ledger', 'verify', '--json'])).stdout)).toMatchObject({ faults: [] });
});

test('a database older than its journal accepts nothing, and every command says so', async () => {
  const folder = await temporaryFolder();
  const before = await startServing(folder);
  await deliver(before.url, ping('kept'));
  expect(await before.stop()).toBe(0);
  // A missing database is the oldest state of all; a truncated note must not hide the one before it.
  await loseDatabase(folder);
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

test('a database with a view in place of a table accepts nothing, and every command says so', async () => {
  const folder = await temporaryFolder();
  expect((await runCli(folder, ['delivery', 'list'])).code).toBe(0);
  await alter(
    folder,
    'alter table quarantine rename to hidden',
    `create view quarantine as select * from hidden where event <> 'dsar.submitted'`,
  );
  const server = await startServing(folder);
  expect((await deliver(server.url, ping('lost?'))).status).toBe(503);
  expect(await server.stop()).toBe(0);
  const verify = await runCli(folder, ['ledger', 'verify']);
  expect([verify.code, verify.stdout]).toEqual([3, expect.stringMatching(/schema-altered: .*quarantine/)]);
  expect((await runCli(folder, ['doctor'])).stdout).toMatch(
    /The ledger refuses new entries: the database schema .*quarantine/,
  );
});
