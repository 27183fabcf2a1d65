// SQLite only: the listeners are attacked, so the engine does not matter.
import { execFile } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { deliver, type Serving, startServing } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

const MIB = 1024 ** 2;
const SQLITE = { DATABASE_URL: '', LOG_LEVEL: 'error' };

/**
 * Sends signed deliveries one after another until told to stop. Returns the number accepted, the other responses, and
 * the longest response time in seconds.
 */
function deliverAlong(serving: Serving) {
  let going = true;
  const seen = { taken: 0, others: [] as number[], slowest: 0 };
  const run = (async () => {
    for (let n = 0; going; n += 1) {
      const before = performance.now();
      const { status } = await deliver(serving.url, JSON.stringify({ event: 'consent.recorded', id: `c${n}` }));
      seen.slowest = Math.max(seen.slowest, (performance.now() - before) / 1000);
      if (status === 200) seen.taken += 1;
      else seen.others.push(status);
      await delay(100);
    }
  })();
  return async () => {
    going = false;
    await run;
    return seen;
  };
}

function open(serving: Serving): Socket {
  const { port, hostname } = new URL(serving.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  return socket;
}

const head = (length: number) =>
  `POST /webhooks/default HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\nX-Service-Signature: ${'0'.repeat(64)}\r\n\r\n`;

test('1,500 bodies of a megabyte, each short of a byte, leave the memory bounded, and signed deliveries are answered', async () => {
  const serving = await startServing(await temporaryFolder(), SQLITE);
  const stop = deliverAlong(serving);
  const body = 'x'.repeat(MIB - 1);
  for (let n = 0; n < 1500; n += 1) {
    const socket = open(serving);
    socket.write(head(MIB));
    socket.write(body);
    if (n % 50 === 49) await delay(50);
  }
  await delay(10_000);
  const seen = await stop();
  const memory = serving.peakMemory();
  console.log({ memory, ...seen });
  expect(memory).toBeLessThanOrEqual(400);
  expect(seen.others).toEqual([]);
  expect(seen.taken).toBeGreaterThan(5);
  expect(seen.slowest).toBeLessThan(5);
});

test('3,000 half requests to a process that may open 1,024 files stop neither listener', async () => {
  const serving = await startServing(await temporaryFolder(), SQLITE, [
    'bash',
    '-c',
    'ulimit -n 1024; exec "$@"',
    '--',
  ]);
  const stop = deliverAlong(serving);
  for (let n = 0; n < 3000; n += 1) {
    open(serving).write('POST /webhooks/default HTTP/1.1\r\nHost: x\r\nContent-');
    if (n % 100 === 99) {
      await delay(50);
      expect((await fetch(`${serving.adminUrl}/readyz`)).status).toBe(200);
    }
  }
  await delay(5000);
  const seen = await stop();
  const memory = serving.peakMemory();
  console.log({ memory, ...seen });
  expect(memory).toBeLessThanOrEqual(400);
  expect(seen.others).toEqual([]);
  expect(seen.slowest).toBeLessThan(5);
});

test('10,000 unsigned deliveries a second leave the memory bounded, and signed ones are answered', async () => {
  const serving = await startServing(await temporaryFolder(), SQLITE);
  const stop = deliverAlong(serving);
  const SECONDS = 15;
  const flood = fileURLToPath(new URL('./flood.js', import.meta.url));
  const { port } = new URL(serving.url);
  const { stdout } = await promisify(execFile)(process.execPath, [flood, port, String(SECONDS), '10000']);
  const seen = await stop();
  const memory = serving.peakMemory();
  console.log({ perSecond: Math.round(Number(stdout) / SECONDS), memory, ...seen });
  expect(memory).toBeLessThanOrEqual(400);
  expect(seen.others).toEqual([]);
  expect(seen.slowest).toBeLessThan(5);
});

test('a body that trickles in byte by byte is ended after 30 seconds', async () => {
  const serving = await startServing(await temporaryFolder(), SQLITE);
  const socket = open(serving);
  const before = performance.now();
  let answer = '';
  socket.on('data', (chunk) => (answer += String(chunk)));
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.write(head(1000));
  const drip = setInterval(() => socket.write('x'), 1000);
  await closed;
  clearInterval(drip);
  const seconds = (performance.now() - before) / 1000;
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(seconds).toBeGreaterThan(29);
  expect(seconds).toBeLessThan(33);
});
