import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runCli } from '../cli/command-line.ts';
import { findFreePort } from '../servers/own-process.ts';
import { cliPath, deliver, environment } from '../serving.ts';
import { openStoreIn, PATIENTLY, temporaryFolder } from '../temporary.ts';

interface Receiver {
  readonly url: string;
  stop(): Promise<number | null>;
}

/** `serve --drain` on a port that it uses again after a restart. */
async function startReceiver(folder: string, port: number, drain: number): Promise<Receiver> {
  const args = ['serve', '--json', '--no-worker', '--drain', String(drain)];
  const child: ChildProcess = spawn(process.execPath, [cliPath, ...args], {
    env: environment(folder, { PORT: String(port) }),
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let errors = '';
  child.stderr?.on('data', (chunk) => (errors += String(chunk)));
  const exited = once(child, 'exit') as Promise<[number | null]>;
  if (child.stdout === null) throw new Error('no output to read');
  await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exited.then(() => Promise.reject(new Error(`serve ended before it listened:\n${errors}`))),
  ]);
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGTERM');
      return (await exited)[0];
    },
  };
}

/**
 * A minimal load balancer: polls each receiver's /readyz, distributes requests to the ready ones, and tries another one
 * only if a connection was refused, since a request that was sent may have been accepted.
 */
async function startBalancer(ports: readonly number[]): Promise<{ url: string; isReady(port: number): boolean }> {
  const ready = new Set<number>();
  const agent = new Agent({ keepAlive: true });
  const look = async (port: number) => {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
    if (answer?.status === 200) ready.add(port);
    else ready.delete(port);
  };
  const timer = setInterval(() => ports.forEach((port) => void look(port)), 100);
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const body = Buffer.concat(parts);
      const send = (left: readonly number[]): void => {
        const [port, ...others] = left;
        if (port === undefined) {
          outgoing.writeHead(502).end('{}');
          return;
        }
        const options = { port, host: '127.0.0.1', path: incoming.url, method: incoming.method, agent };
        const sent = request({ ...options, headers: incoming.headers }, (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' });
          answer.pipe(outgoing);
        });
        sent.on('error', (error: NodeJS.ErrnoException) => {
          if (error.code === 'ECONNREFUSED') send(others);
          else outgoing.writeHead(502).end('{}');
        });
        sent.end(body);
      };
      const able = ports.filter((port) => ready.has(port));
      turn += 1;
      send([...able.slice(turn % (able.length || 1)), ...able.slice(0, turn % (able.length || 1))]);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    clearInterval(timer);
    agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isReady: (port) => ready.has(port),
  };
}

test('a draining receiver says that it is about to stop, and still stores deliveries', async () => {
  const folder = await temporaryFolder();
  const port = await findFreePort();
  const receiver = await startReceiver(folder, port, 3);
  const ready = () => fetch(`${receiver.url}/readyz`);
  expect((await ready()).status).toBe(200);
  const stopping = receiver.stop();
  await vi.waitFor(async () => expect((await ready()).status).toBe(503), PATIENTLY);
  const answer = await ready();
  expect(answer.headers.get('connection')).toBe('close');
  expect(await deliver(receiver.url, '{"event":"ping","name":"late"}')).toMatchObject({ status: 200 });
  expect(await stopping).toBe(0);
  const verified = await runCli(folder, ['ledger', 'verify', '--json']);
  expect(JSON.parse(verified.stdout)).toMatchObject({ faults: [] });
});

test('restarting two receivers one after the other under load fails no delivery', async () => {
  const folder = await temporaryFolder();
  const ports = [await findFreePort(), await findFreePort()];
  const receivers = await Promise.all(ports.map((port) => startReceiver(folder, port, 1)));
  const balancer = await startBalancer(ports);
  const untilReady = (port: number) => vi.waitFor(() => expect(balancer.isReady(port)).toBe(true), PATIENTLY);
  for (const port of ports) await untilReady(port);

  let loading = true;
  const statuses: number[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  onTestFinished(() => agent.destroy());
  const clients = Array.from({ length: 4 }, async (_, client) => {
    for (let at = 0; loading; at++) {
      const { status } = await deliver(balancer.url, JSON.stringify({ event: 'ping', name: `${client}/${at}` }), agent);
      statuses.push(status);
      await sleep(20);
    }
  });
  for (const [place, port] of ports.entries()) {
    const before = statuses.length;
    expect(await receivers[place]?.stop()).toBe(0);
    // In the meantime the other one gets all the load.
    await vi.waitFor(() => expect(statuses.length).toBeGreaterThan(before + 10), PATIENTLY);
    receivers[place] = await startReceiver(folder, port, 1);
    await untilReady(port);
  }
  await sleep(300);
  loading = false;
  await Promise.all(clients);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  for (const receiver of receivers) expect(await receiver.stop()).toBe(0);

  const store = await openStoreIn(folder);
  const { count } = await store.read
    .selectFrom('entries')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('kind', '=', 'webhook')
    .executeTakeFirstOrThrow();
  await store.close();
  expect(Number(count)).toBe(statuses.length);
  expect(JSON.parse((await runCli(folder, ['ledger', 'verify', '--json'])).stdout)).toMatchObject({ faults: [] });
});
