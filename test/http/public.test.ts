import { createHmac } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPublicApp } from '../../src/http/public.ts';

const SECRET = 'a-signing-secret-of-the-tests';
const LIMIT = 4096;

let app: FastifyInstance;
let port: number;
let accepted: Buffer[];
let hold: Promise<void> | null;

beforeEach(async () => {
  accepted = [];
  hold = null;
  app = createPublicApp({
    verifierKey: 'consent-ledger/test/1+00000000+AQ==',
    config: { bodyLimit: LIMIT, trustProxy: false, inFlightLimit: 4 * LIMIT, inFlightLimitPerAddress: 3 * LIMIT },
    health: { notReady: async () => 'the ledger refuses appends' },
    webhooks: {
      findSource: (slug) => (slug === 'default' ? { secrets: [{ id: 'a', value: SECRET }] } : null),
      accept: async ({ rawBody }) => {
        await hold;
        accepted.push(rawBody);
        return { outcome: 'stored', seq: accepted.length };
      },
    },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as AddressInfo).port;
});
afterEach(() => app.close());

/** Sends raw bytes; resolves with everything received until the server closed, or sent nothing for a second. */
function talk(...parts: (string | Buffer)[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setTimeout(1000, () => socket.destroy());
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
    for (const part of parts) socket.write(part);
  });
}

const sign = (body: string | Buffer) =>
  `X-Service-Signature: ${createHmac('sha256', SECRET).update(body).digest('hex')}`;
const post = (lines: string[], body = '', path = '/webhooks/default') =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\n${lines.join('\r\n')}${lines.length > 0 ? '\r\n' : ''}\r\n${body}`;

/** Status and error code of a response, which must have the envelope. */
function refusal(answer: string): [number, string] {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const status = Number(/^HTTP\/1\.1 (\d+) /.exec(head)?.[1]);
  expect(head.toLowerCase()).toContain('content-type: application/json');
  const parsed = JSON.parse(body) as { error: { code: string; message: string } };
  expect(Object.keys(parsed)).toEqual(['error']);
  expect(Object.keys(parsed.error)).toEqual(['code', 'message']);
  return [status, parsed.error.code];
}

describe('every refusal has the envelope', () => {
  test.each([
    ['what is not HTTP', 'hello\r\n\r\n', 400],
    ['a length that is not a number', post(['Content-Length: x']), 400],
    ['two lengths', post(['Content-Length: 3', 'Content-Length: 4'], 'abc'), 400],
    ['a length beside chunks', post(['Content-Length: 3', 'Transfer-Encoding: chunked'], '0\r\n\r\n'), 400],
    ['an unknown coding', post(['Transfer-Encoding: xchunked'], 'abc'), 400],
    ['a chunk without a length', post([sign(''), 'Transfer-Encoding: chunked'], 'zz\r\n'), 400],
    ['a header name with a space', post(['X Y: 1']), 400],
    ['headers over 16 KiB', post([`X-Long: ${'x'.repeat(20_000)}`]), 431],
    ['a path that cannot be decoded', post([], '', '/webhooks/%zz'), 400],
    ['a path with half a character', post([], '', '/webhooks/%e2%82'), 400],
    ['a very long source', post(['Content-Length: 0'], '', `/webhooks/${'a'.repeat(5000)}`), 404],
    ['a slash behind the source, without a signature', post(['Content-Length: 0'], '', '/webhooks/default/'), 401],
    ['two slashes, without a signature', post(['Content-Length: 0'], '', '//webhooks//default'), 401],
    ['two slashes elsewhere', 'GET //healthz HTTP/1.1\r\nHost: x\r\n\r\n', 404],
    ['a way up', post(['Content-Length: 0'], '', '/webhooks/../healthz'), 404],
    ['a source in another writing', post(['Content-Length: 0'], '', '/webhooks/d%C3%A9fault'), 404],
    ['an unknown source', post(['Content-Length: 0'], '', '/webhooks/%00'), 404],
    ['an unknown address', 'GET /admin HTTP/1.1\r\nHost: x\r\n\r\n', 404],
    ['a method that nobody has', 'PROPFIND /webhooks/default HTTP/1.1\r\nHost: x\r\n\r\n', 404],
    ['a body over the limit', post([sign(''), `Content-Length: ${LIMIT + 1}`], 'x'.repeat(LIMIT + 1)), 413],
  ])('%s', async (_name, request, status) => {
    const [answered, code] = refusal(await talk(request));
    expect(answered).toBe(status);
    expect(code).toMatch(/^[a-z_]+$/);
    expect(accepted).toEqual([]);
  });
});

test.each(['/webhooks/default/', '//webhooks/default', '//webhooks//default//', '/webhooks/default/?from=service'])(
  'a delivery to %s reaches its source',
  async (path) => {
    const answer = await talk(post([sign('{"a":1}'), 'Content-Length: 7', 'Connection: close'], '{"a":1}', path));
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(accepted.map(String)).toEqual(['{"a":1}']);
  },
);

test('a second request hidden in the body of the first is read as body, not as a request', async () => {
  const hidden = post(['Content-Length: 1', sign('y')], 'y');
  const answer = await talk(post([sign(hidden), `Content-Length: ${hidden.length}`, 'Connection: close'], hidden));
  expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  expect(accepted.map(String)).toEqual([hidden]);
});

test('a sender that expects 100-continue gets it, and its delivery is accepted', async () => {
  const answer = await talk(
    post([sign('{"a":1}'), 'Content-Length: 7', 'Expect: 100-continue', 'Connection: close'], '{"a":1}'),
  );
  expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
});

test('pipelined deliveries are all accepted, in order', async () => {
  const all = ['1', '2', '3'].map((body) => post([sign(body), 'Content-Length: 1'], body)).join('');
  expect((await talk(all)).match(/HTTP\/1\.1 200 /g)).toHaveLength(3);
  expect(accepted.map(String)).toEqual(['1', '2', '3']);
});

test('a hundred headers, long values and odd names do not keep a delivery out', async () => {
  const odd = ["X-!#$%&'*+.^_`|~: 1", `X-Bytes: \xff\xfe`, 'X-Empty:', `X-Long: ${'v'.repeat(4000)}`];
  const many = Array.from({ length: 90 }, (_, i) => `X-H${i}: ${'v'.repeat(50)}`);
  const answer = await talk(Buffer.from(post([sign('x'), 'Content-Length: 1', ...odd, ...many], 'x'), 'latin1'));
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});

test('/readyz says 503 while deliveries cannot be kept, /healthz 200 and HEAD of a source 200', async () => {
  expect(await talk('GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toMatch(
    /^HTTP\/1\.1 503 [^]*the ledger refuses appends/,
  );
  expect(await talk('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  expect(await talk('HEAD /webhooks/default HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toMatch(
    /^HTTP\/1\.1 200 /,
  );
});

test('requests on an open connection are still answered while the server closes', async () => {
  let release: () => void = () => undefined;
  hold = new Promise((resolve) => {
    release = resolve;
  });
  const first = post([sign('1'), 'Content-Length: 1'], '1');
  const talking = new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
    socket.write(first);
    setTimeout(() => {
      const closing = app.close();
      setTimeout(() => socket.write(post([sign('2'), 'Content-Length: 1'], '2')), 50);
      setTimeout(() => release(), 100);
      void closing;
    }, 50);
  });
  const answers = (await talking).match(/HTTP\/1\.1 \d+ [^]*?\r\n\r\n[^H]*/g) ?? [];
  expect(answers[0]).toMatch(/^HTTP\/1\.1 200 /);
  // Accepted or refused, but never with another kind of text.
  for (const answer of answers.slice(1)) expect(answer).toMatch(/^HTTP\/1\.1 200 |"error":\{"code":"shutting_down"/);
});
