// PostgreSQL only, since SQLite cannot be down while the program runs: it is in the process.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { databaseOf, serverVariables } from '../servers/databases.ts';
import { cliPath, environment, startServing } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

/** A proxy between the program and PostgreSQL that can simulate an outage in several ways. */
async function standIn(target: URL) {
  const sockets = new Set<Socket>();
  let isSilent = false;
  let last: { readonly statement: string; reached(): void } | null = null;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    if (isSilent) return;
    const upstream = connect(Number(target.port), target.hostname);
    keep(upstream);
    client.on('data', (bytes) => {
      if (last !== null && bytes.includes(last.statement)) {
        isSilent = true;
        last.reached();
      }
      if (!isSilent) upstream.write(bytes);
    });
    upstream.on('data', (bytes) => void (isSilent || client.write(bytes)));
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => void (isSilent || client.destroy()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.href,
    /** Connections stay open and new ones are accepted, but get no response any more. */
    fallSilent: () => void (isSilent = true),
    /** Resolves when a client sends this statement; from then on the same happens. */
    fallSilentAt: (statement: string) => new Promise<void>((resolve) => void (last = { statement, reached: resolve })),
    /** Connections break whatever they are doing, and new ones get no response. */
    breakOff() {
      isSilent = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The same for two that are stopped while their start waits for a response. */
async function stopWhileStarting() {
  const folder = await temporaryFolder();
  const url = new URL(databaseOf(folder));
  // The tables exist, so that the start waits for the schedules.
  const first = await startServing(folder, { ...serverVariables(folder), SYNC_SCHEDULE: 'off' });
  await first.stop();
  const start = async (command: string) => {
    const database = await standIn(url);
    const child = spawn(process.execPath, [cliPath, command], {
      env: environment(folder, { ...serverVariables(folder), DATABASE_URL: database.url, SYNC_SCHEDULE: 'off' }),
      cwd: folder,
      stdio: 'ignore',
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await database.fallSilentAt('"schedules"');
    return child;
  };
  const children = await Promise.all(['serve', 'worker'].map(start));
  const before = performance.now();
  const ended = Promise.all(children.map(codeOf));
  for (const child of children) child.kill('SIGTERM');
  return { way: 'starting', codes: await ended, seconds: (performance.now() - before) / 1000 };
}

async function codeOf(child: ChildProcess): Promise<number | null> {
  return ((await once(child, 'exit')) as [number | null])[0];
}

/** Starts both, simulates the outage and stops them. Returns their exit codes, and the seconds until the second one ended. */
async function stopWhileAway(way: 'fallSilent' | 'breakOff') {
  const folder = await temporaryFolder();
  const database = await standIn(new URL(databaseOf(folder)));
  const variables = { ...serverVariables(folder), DATABASE_URL: database.url, SYNC_SCHEDULE: 'off' };
  const server = await startServing(folder, variables);
  const worker = spawn(process.execPath, [cliPath, 'worker', '--json'], {
    env: environment(folder, variables),
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void worker.kill('SIGKILL'));
  await once(worker.stdout, 'data');
  database[way]();
  // Long enough for both to wait for a response in the middle of a query.
  await sleep(1500);
  const before = performance.now();
  const ended = Promise.all([server.stop(), codeOf(worker)]);
  worker.kill('SIGTERM');
  return { way, codes: await ended, seconds: (performance.now() - before) / 1000 };
}

test('serve and worker end on SIGTERM within their bound while PostgreSQL is down', async () => {
  // In parallel, since nearly all of it is waiting.
  const stopped = await Promise.all([stopWhileAway('fallSilent'), stopWhileAway('breakOff'), stopWhileStarting()]);
  expect(stopped.map(({ way, codes }) => [way, codes])).toEqual([
    ['fallSilent', [0, 0]],
    ['breakOff', [0, 0]],
    ['starting', [0, 0]],
  ]);
  for (const { way, seconds } of stopped) expect(seconds, way).toBeLessThan(40);
});
