import { createHmac } from 'node:crypto';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createPublicApp } from '../../src/http/public.ts';
import { connectionsWithin, limitConnections, limitPipelining } from '../../src/http/server.ts';

const SECRET = 'a-signing-secret-of-the-tests';
const LIMIT = 4096;

let app: FastifyInstance;
let hold: Promise<void>;
let crowdedOut: number;

beforeEach(async () => {
  hold = Promise.resolve();
  crowdedOut = 0;
  app = createPublicApp({
    verifierKey: 'consent-ledger/test/1+00000000+AQ==',
    config: {
      bodyLimit: LIMIT,
      trustProxy: ['loopback'],
      inFlightLimit: 8 * LIMIT,
      inFlightLimitPerAddress: 4 * LIMIT,
    },
    health: { notReady: async () => null },
    webhooks: {
      findSource: () => ({ secrets: [{ id: 'a', value: SECRET }] }),
      accept: () => hold.then(() => ({ outcome: 'stored', seq: 1 })),
      onCrowdedOut: () => (crowdedOut += 1),
    },
  });
  onTestFinished(() => app.close());
});

const listen = () => app.listen({ host: '127.0.0.1', port: 0 });

interface Caller {
  readonly socket: Socket;
  answer(): string;
  readonly closed: Promise<string>;
}
function call(...parts: string[]): Caller {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => void socket.on('close', () => resolve(text)));
  for (const part of parts) socket.write(part);
  return { socket, answer: () => text, closed };
}

const head = (length: number, ...more: string[]) =>
  ['POST /webhooks/default HTTP/1.1', 'Host: x', `Content-Length: ${length}`, ...more, '', ''].join('\r\n');
const signed = (body: string) =>
  head(
    body.length,
    'Connection: close',
    `X-Service-Signature: ${createHmac('sha256', SECRET).update(body).digest('hex')}`,
  ) + body;
/** A body without its last byte. */
const unfinished = (address: string) => call(head(LIMIT, `X-Forwarded-For: ${address}`), 'x'.repeat(LIMIT - 1));
const settled = () => delay(200);
const open = (callers: readonly Caller[]) => callers.filter(({ socket }) => !socket.closed).length;
/** Waits until this many are left, and checks that they stay. */
async function leaves(callers: readonly Caller[], count: number): Promise<void> {
  await expect.poll(() => open(callers)).toBe(count);
  await settled();
  expect(open(callers)).toBe(count);
}

describe('bodies that have not arrived in full', () => {
  test('are dropped beyond the limit of their address, oldest first, and a signed delivery from there is accepted', async () => {
    await listen();
    const first = unfinished('192.0.2.1');
    await settled();
    const others = Array.from({ length: 8 }, () => unfinished('192.0.2.1'));
    expect(await first.closed).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: \d+[^]*"code":"overloaded"/i);
    await leaves(others, 4);
    expect(crowdedOut).toBe(5);
    expect(await call(signed('{"a":1}')).closed).toMatch(/^HTTP\/1\.1 200 /);
    // One of the remaining ones is completed, and judged as usual.
    const kept = others.find(({ socket }) => !socket.closed);
    kept?.socket.write('x');
    await expect.poll(() => kept?.answer()).toMatch(/^HTTP\/1\.1 401 /);
  });
  test('are dropped beyond the overall limit, however many addresses send them', async () => {
    await listen();
    const callers = Array.from({ length: 20 }, (_, n) => unfinished(`192.0.2.${n}`));
    await leaves(callers, 8);
    expect(await call(signed('{"a":1}')).closed).toMatch(/^HTTP\/1\.1 200 /);
  });
  test('stop counting once they are cut off', async () => {
    await listen();
    for (let round = 0; round < 5; round += 1) {
      const callers = Array.from({ length: 4 }, () => unfinished('192.0.2.1'));
      await settled();
      expect(callers.filter(({ socket }) => socket.closed)).toEqual([]);
      for (const { socket } of callers) socket.destroy();
      await settled();
    }
    expect(crowdedOut).toBe(0);
  });
  test('are bounded too when they come in chunks without an announced length', async () => {
    await listen();
    const chunk = `${(LIMIT - 100).toString(16)}\r\n${'x'.repeat(LIMIT - 100)}\r\n`;
    const start = head(0).replace('Content-Length: 0', 'Transfer-Encoding: chunked');
    const callers = Array.from({ length: 10 }, () => call(start, chunk));
    await leaves(callers, 4);
  });
});

describe('connections beyond the limit', () => {
  test('replace those that have waited longest, so a signed delivery is answered', async () => {
    limitConnections(app.server, 6);
    await listen();
    const callers: Caller[] = [];
    for (const start of ['', 'POST /webh', head(10), head(10)]) {
      callers.push(call(start));
      await delay(20);
    }
    callers.push(...Array.from({ length: 20 }, () => call('POST /webhooks/default HTTP/1.1\r\nHost:')));
    await leaves(callers, 6);
    expect(callers.slice(0, 4).every(({ socket }) => socket.closed)).toBe(true);
    expect(await call(signed('{"a":1}')).closed).toMatch(/^HTTP\/1\.1 200 /);
  });
  test('never replace one that is being answered', async () => {
    let release: () => void = () => undefined;
    hold = new Promise((resolve) => (release = resolve));
    limitConnections(app.server, 3);
    await listen();
    const answering = [signed('1'), signed('2')].map((request) => call(request));
    await settled();
    for (let n = 0; n < 10; n += 1) call('POST');
    await settled();
    release();
    for (const { closed } of answering) expect(await closed).toMatch(/^HTTP\/1\.1 200 /);
  });
  test('are refused and reported while all are being answered, but not when they replace an idle one', async () => {
    let release: () => void = () => undefined;
    hold = new Promise((resolve) => (release = resolve));
    let refused = 0;
    limitConnections(app.server, 2, () => (refused += 1));
    await listen();
    const first = call(signed('1'));
    const idle = call('');
    await settled();
    const second = call(signed('2'));
    await idle.closed;
    await settled();
    expect(refused).toBe(0);
    expect(await call(signed('3')).closed).toBe('');
    expect(refused).toBe(1);
    release();
    for (const { closed } of [first, second]) expect(await closed).toMatch(/^HTTP\/1\.1 200 /);
  });
  test('leave file descriptors for the rest of the process', () => {
    expect(connectionsWithin(1000, 1_048_576)).toBe(1000);
    expect(connectionsWithin(1000, 1024)).toBe(724);
    expect(connectionsWithin(1000, 256)).toBe(85);
    expect(connectionsWithin(1000, Infinity)).toBe(1000);
  });
});

describe('pipelined requests', () => {
  const one = '{"event":"consent.recorded"}';
  const open = () => head(one.length, `X-Service-Signature: ${'0'.repeat(64)}`) + one;
  const answersIn = (text: string) => text.split('HTTP/1.1 401').length - 1;

  test('are answered up to sixteen at a time, again and again', async () => {
    limitPipelining(app.server);
    await listen();
    const caller = call(open().repeat(16));
    await expect.poll(() => answersIn(caller.answer())).toBe(16);
    caller.socket.write(open().repeat(16));
    await expect.poll(() => answersIn(caller.answer())).toBe(32);
  });

  test('beyond that limit end their connection and cost nothing more', async () => {
    limitPipelining(app.server);
    let handled = 0;
    app.addHook('onRequest', async () => void (handled += 1));
    await listen();
    await call(open().repeat(200)).closed;
    expect(handled).toBe(16);
  });
});
