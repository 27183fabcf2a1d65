import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readOnAfterRefusals } from '../../src/http/reading-on.ts';
import { temporaryFolder } from '../temporary.ts';
import { createOfficeWorld } from './office-world.ts';

/** Twice the limit of a body. */
const BODY = Buffer.alloc(2 * 1024 ** 2, 'x');
/** Attempts of each client with each answer. */
const TIMES = 5;

/** Sends BODY to an address; resolves with the status that it could read. */
type Client = (url: string) => Promise<number>;

/** Writes in pieces, as over a real network, and reads only afterwards. */
const pieces =
  (pauseMs: number, close: boolean): Client =>
  async (url) => {
    const { hostname, port, pathname, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    try {
      await once(socket, 'connect');
      socket.write(
        `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n${close ? 'Connection: close\r\n' : ''}Content-Length: ${BODY.length}\r\n\r\n`,
      );
      socket.pause();
      for (let at = 0; at < BODY.length; at += 128 * 1024) {
        await new Promise<void>((resolve, reject) =>
          socket.write(BODY.subarray(at, at + 128 * 1024), (error) => (error ? reject(error) : resolve())),
        );
        if (pauseMs > 0) await delay(pauseMs);
      }
      socket.resume();
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      return Number(/^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1'))?.[1]);
    } finally {
      socket.destroy();
    }
  };

const viaFetch: Client = async (url) => {
  const answer = await fetch(url, { method: 'POST', body: BODY, headers: { 'content-type': 'application/json' } });
  await answer.arrayBuffer();
  return answer.status;
};

const viaNode: Client = (url) =>
  new Promise((resolve, reject) => {
    const sending = request(url, { method: 'POST', headers: { 'content-length': BODY.length } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sending.on('error', reject);
    sending.end(BODY);
  });

const viaCurl: Client = async (url) => {
  const file = join(await temporaryFolder(), 'body');
  await writeFile(file, BODY);
  const args = ['-sS', '-o', '/dev/null', '-w', '%{http_code}', '-H', 'Expect:', '--data-binary', `@${file}`, url];
  const { stdout } = await promisify(execFile)('curl', args);
  return Number(stdout);
};

const clients: Readonly<Record<string, Client>> = {
  'a raw socket in pieces': pieces(0, false),
  'a raw socket in slow pieces': pieces(20, false),
  'a raw socket that closes': pieces(0, true),
  fetch: viaFetch,
  'node:http': viaNode,
  curl: viaCurl,
};

describe('a sender whose body is refused', () => {
  it('can read why, whatever the client and the reason', async () => {
    const { url, adminUrl } = await createOfficeWorld({}, { worker: false });
    const answers = {
      [`${url}/webhooks/default`]: 413,
      [`${url}/webhooks/unknown`]: 404,
      [`${adminUrl}/api/v1/cases`]: 401,
    };
    for (const [name, send] of Object.entries(clients))
      for (const [address, status] of Object.entries(answers)) {
        const read: (number | string)[] = [];
        for (let time = 0; time < TIMES; time += 1)
          read.push(await send(address).catch((error: Error) => error.message));
        expect([name, address, read]).toEqual([name, address, Array<number>(TIMES).fill(status)]);
      }
  }, 60_000);

  it('is cut off if it goes on beyond a number of bytes or seconds, and can otherwise use the connection again', async () => {
    const server = createServer((received, answer) => {
      const isKept = received.url === '/kept';
      answer.writeHead(413, { 'content-length': 2, ...(isKept ? {} : { connection: 'close' }) }).end('no');
    });
    readOnAfterRefusals(server, { bytes: 256 * 1024, ms: 1500 });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const open = async (path: string, length: number) => {
      const socket = connect(port, '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => undefined);
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\nbegin`);
      await once(socket, 'data');
      return socket;
    };
    for (const path of ['/last', '/kept']) {
      const started = performance.now();
      const silent = await open(path, 1000);
      await closed(silent);
      expect(performance.now() - started).toBeLessThan(5000);

      const endless = await open(path, 10 ** 9);
      let sent = 0;
      const timer = setInterval(() => {
        for (let n = 0; n < 20; n += 1) endless.write(BODY.subarray(0, 16 * 1024));
        sent += 20 * 16 * 1024;
      }, 20);
      await closed(endless);
      clearInterval(timer);
      expect(sent).toBeLessThan(64 * 1024 ** 2);
    }
    const again = await open('/kept', 10);
    again.write('12345POST /kept HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
    const [second] = (await once(again, 'data')) as [Buffer];
    expect(second.toString('latin1')).toMatch(/^HTTP\/1\.1 413/);
  }, 30_000);
});

/** Unlike `once`, does not reject if the connection ends with EPIPE or a reset, as it may while the sender still writes. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.once('close', () => resolve()));
}
