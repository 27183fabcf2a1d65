// SQLite only: about the files of the database and the disk under them.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync } from 'node:fs';
import { Agent } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { openConnection } from '../../src/store/sqlite/driver.ts';
import { runCli, untilThere } from '../cli/command-line.ts';
import { cliPath, deliver, environment, type Serving, startServing } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

const isRoot = process.getuid?.() === 0;

// A connection per delivery: a reused one may have been closed in the meantime, and then the server does not respond.
const agent = new Agent({ keepAlive: false });

async function untilStored(server: Serving, name: string): Promise<void> {
  await untilThere(async () => {
    const { status } = await deliver(server.url, JSON.stringify({ event: 'ping', name }), agent);
    const ended = `exit code ${server.child.exitCode}, signal ${server.child.signalCode}`;
    if (status !== 200) expect(status, `${ended}\n${server.errors()}`).toBe(503);
    return status === 200 ? true : null;
  });
}

test('the server answers with 503 and Retry-After while the disk is full, and continues without a restart', async () => {
  const folder = await temporaryFolder();
  // A small separate disk, in a mount namespace that ends with the process.
  const server = await startServing(folder, {}, [
    'unshare',
    isRoot ? '-m' : '-rm',
    'sh',
    '-c',
    'mount -t tmpfs -o size=8m,mode=700 none "$0" && exec "$@"',
    folder,
  ]);
  const inside = (...command: string[]) => [
    '-t',
    String(server.child.pid),
    ...(isRoot ? ['-m'] : ['-U', '-m', '--preserve-credentials']),
    ...command,
  ];
  const kept: { body: string; seq: number }[] = [];
  let refused = 0;
  for (let i = 0; i < 2000 && refused < 3; i += 1) {
    const body = JSON.stringify({ event: 'ping', i, fill: 'x'.repeat(20_000) });
    const { status, body: answer } = await deliver(server.url, body);
    if (status === 200) kept.push({ body, seq: answer.seq as number });
    else {
      expect(status).toBe(503);
      expect(answer.error?.code).toBe('store_unavailable');
      expect(answer.error?.message).not.toMatch(/SQLITE|disk|\//);
      refused += 1;
    }
  }
  expect(refused).toBe(3);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
  expect(kept.length).toBeGreaterThan(20);

  execFileSync('nsenter', inside('mount', '-o', 'remount,size=64m', folder));
  await untilStored(server, 'after');
  await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200);
  const verify = spawn('nsenter', inside(process.execPath, cliPath, 'ledger', 'verify', '--json'), {
    env: environment(folder),
  });
  let text = '';
  verify.stdout.on('data', (chunk) => (text += String(chunk)));
  await once(verify, 'close');
  expect(JSON.parse(text)).toMatchObject({ faults: [] });
  expect(JSON.parse(text).entries).toBeGreaterThan(kept.length);
  expect(await server.stop()).toBe(0);
});

test('the server answers with 503 while the database is locked or read-only, and continues without a restart', async () => {
  // On a disk: in memory, an open file can be written whatever its attributes.
  const folder = await temporaryFolder(undefined, '/var/tmp');
  const server = await startServing(folder);
  await untilStored(server, 'before');
  const files = ['', '-wal', '-shm'].map((suffix) => `${folder}/ledger.sqlite${suffix}`);

  const other = await openConnection(files[0] as string);
  await other.script('begin immediate');
  expect((await deliver(server.url, '{"event":"ping","name":"locked"}')).status).toBe(503);

  // Superusers can write to files whatever their mode; the immutable attribute stops them too.
  const protect = (on: boolean) => {
    for (const file of files.filter((each) => existsSync(each))) {
      if (isRoot) execFileSync('chattr', [on ? '+i' : '-i', file]);
      else chmodSync(file, on ? 0o400 : 0o600);
    }
  };
  protect(true);
  onTestFinished(() => protect(false));
  await other.close();
  const readOnly = await deliver(server.url, '{"event":"ping","name":"read-only"}');
  expect([readOnly.status, readOnly.body.error?.code]).toEqual([503, 'store_unavailable']);

  protect(false);
  await untilStored(server, 'after');
  expect(await server.stop()).toBe(0);
  expect((await runCli(folder, ['ledger', 'verify'])).code).toBe(0);
});
