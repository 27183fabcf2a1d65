import { request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import fc from 'fast-check';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RejectedDelivery, type VerifiedDelivery, webhookEndpoint } from '../../receivers/endpoint.ts';
import { signBody } from '../../receivers/signature-node.ts';
import { CodedError, StoreUnavailable } from '../../src/core/errors.ts';

const SECRET = 'whsec-1';
const LIMIT = 2048;
const body = Buffer.from('{"event":"consent.recorded","data":{"id":"c1"}}');

let app: FastifyInstance;
let accepted: VerifiedDelivery[];
let rejected: RejectedDelivery[];
let tooLarge: { source: string; address: string }[];
let unknown: { source: string; address: string }[];
let failWith: Error | null;

beforeEach(async () => {
  accepted = [];
  rejected = [];
  tooLarge = [];
  unknown = [];
  failWith = null;
  app = Fastify();
  app.post('/json', async (request) => ({ got: request.body }));
  await app.register(webhookEndpoint, {
    bodyLimit: LIMIT,
    findSource: (slug) => (slug === 'default' ? { secrets: [{ id: 'a', value: SECRET }] } : null),
    accept: async (delivery) => {
      if (failWith !== null) throw failWith;
      const earlier = accepted.findIndex((other) => other.rawBody.equals(delivery.rawBody));
      if (earlier >= 0) return { outcome: 'duplicate', seq: earlier + 1 };
      accepted.push(delivery);
      return { outcome: 'stored', seq: accepted.length };
    },
    onRejected: (delivery) => rejected.push(delivery),
    onTooLarge: (refused) => tooLarge.push(refused),
    onUnknownSource: (refused) => unknown.push(refused),
  });
});
afterEach(async () => {
  await app.close();
});

const post = (payload: Buffer, headers: Record<string, string>, url = '/webhooks/default') =>
  app.inject({ method: 'POST', url, payload, headers });
const errorOf = (response: { json(): unknown }) =>
  (response.json() as { error: { code: string; message: string } }).error;

describe('the webhook endpoint answers', () => {
  it('200 with the seq for a new delivery, and says duplicate for its repeat', async () => {
    const first = await post(body, signBody(body, SECRET));
    expect([first.statusCode, first.json()]).toEqual([200, { status: 'stored', seq: 1 }]);
    expect(first.headers['content-type']).toBe('application/json; charset=utf-8');
    const second = await post(body, signBody(body, SECRET));
    expect([second.statusCode, second.json()]).toEqual([200, { status: 'duplicate', seq: 1 }]);
  });
  it('401 without a signature, and passes the bytes to the rejected ring', async () => {
    const response = await post(body, { 'content-type': 'application/json' });
    expect(response.statusCode).toBe(401);
    expect(errorOf(response).code).toBe('signature_missing');
    expect(rejected).toHaveLength(1);
    expect(rejected[0]).toMatchObject({ source: 'default', reason: 'missing', address: '127.0.0.1' });
    expect(rejected[0]?.rawBody.equals(body)).toBe(true);
    expect(rejected[0]?.headers['content-type']).toBe('application/json');
  });
  it('401 for a wrong signature, naming neither secret nor digest', async () => {
    const response = await post(body, signBody(body, 'another'));
    expect(response.statusCode).toBe(401);
    expect(errorOf(response).code).toBe('signature_mismatch');
    expect(response.body).not.toContain(SECRET);
    expect(response.body).not.toContain(signBody(body, SECRET)['x-service-signature']);
    expect(rejected.map((one) => one.reason)).toEqual(['mismatch']);
    expect(accepted).toEqual([]);
  });
  it('401 for JSON that was parsed and serialised again on the way', async () => {
    const sent = Buffer.from('{"event": "consent.recorded", "id": 12345678901234567890}');
    const again = Buffer.from(JSON.stringify(JSON.parse(sent.toString())));
    expect((await post(again, signBody(sent, SECRET))).statusCode).toBe(401);
    expect((await post(sent, signBody(sent, SECRET))).statusCode).toBe(200);
  });
  it('200 and a disagreement in the verdict if only one header is right', async () => {
    const headers = { ...signBody(body, SECRET), 'x-service-signature': '0'.repeat(64) };
    expect((await post(body, headers)).statusCode).toBe(200);
    expect(accepted[0]?.verdict).toBe('verified-headers-disagree');
  });
  it('404 for an unknown source, and reports it', async () => {
    await post(body, signBody(body, SECRET), '/webhooks/nobody');
    expect(unknown).toEqual([{ source: 'nobody', address: '127.0.0.1' }]);
  });
  it('404 for an address below that of a source, and reports it', async () => {
    for (const url of ['/webhooks/default/x', '/webhooks/', '/webhooks', '/webhooks/default/x/']) {
      const response = await post(body, signBody(body, SECRET), url);
      expect([url, response.statusCode, errorOf(response).code]).toEqual([url, 404, 'unknown_source']);
    }
    expect(unknown.map(({ source }) => source)).toEqual(['default/x', '', '', 'default/x/']);
    expect(accepted).toEqual([]);
  });
  it('200 for a source or a secret that another process has just added, asking again only if it has to', async () => {
    const asked: string[] = [];
    const late = Fastify();
    await late.register(webhookEndpoint, {
      bodyLimit: LIMIT,
      findSource: (slug) => (slug === 'rotated' ? { secrets: [{ id: 'old', value: 'former' }] } : null),
      findSourceAgain: async (slug) => {
        asked.push(slug);
        if (slug === 'broken') throw new StoreUnavailable('gone');
        return slug === 'new' || slug === 'rotated' ? { secrets: [{ id: 'a', value: SECRET }] } : null;
      },
      accept: async () => ({ outcome: 'stored', seq: 1 }),
      onRejected: (delivery) => rejected.push(delivery),
      onUnknownSource: (refused) => unknown.push(refused),
    });
    const send = async (slug: string, secret: string) =>
      (await late.inject({ method: 'POST', url: `/webhooks/${slug}`, payload: body, headers: signBody(body, secret) }))
        .statusCode;
    expect(await send('rotated', 'former')).toBe(200);
    expect(asked).toEqual([]);
    expect([await send('new', SECRET), await send('rotated', SECRET)]).toEqual([200, 200]);
    expect((await late.inject('/webhooks/new')).statusCode).toBe(200);
    expect([await send('rotated', 'wrong'), await send('nobody', SECRET)]).toEqual([401, 404]);
    // It may exist, so the sender should try again.
    expect(await send('broken', SECRET)).toBe(503);
    expect(asked).toEqual(['new', 'rotated', 'new', 'rotated', 'nobody', 'broken']);
    expect([rejected.length, unknown.length]).toEqual([1, 1]);
    await late.close();
  });
  it('404 for an unknown source, whatever the signature', async () => {
    for (const url of ['/webhooks/nobody', '/webhooks/__proto__', '/webhooks/no%20body', '/webhooks/DEFAULT']) {
      const response = await post(body, signBody(body, SECRET), url);
      expect(response.statusCode).toBe(404);
      expect(errorOf(response).code).toBe('unknown_source');
    }
    expect(rejected).toEqual([]);
  });
  it('413 for a body over the limit, and accepts one at the limit', async () => {
    const over = Buffer.alloc(LIMIT + 1, 0x61);
    const response = await post(over, signBody(over, SECRET));
    expect(response.statusCode).toBe(413);
    expect(errorOf(response).code).toBe('body_too_large');
    expect(tooLarge).toEqual([{ source: 'default', address: '127.0.0.1' }]);
    const just = Buffer.alloc(LIMIT, 0x61);
    expect((await post(just, signBody(just, SECRET))).statusCode).toBe(200);
  });
  it('200 to GET and HEAD, storing nothing, and 404 for an unknown source', async () => {
    expect((await app.inject({ method: 'GET', url: '/webhooks/default' })).statusCode).toBe(200);
    const head = await app.inject({ method: 'HEAD', url: '/webhooks/default' });
    expect([head.statusCode, head.body]).toEqual([200, '']);
    expect((await app.inject({ method: 'GET', url: '/webhooks/nobody' })).statusCode).toBe(404);
    expect([accepted, rejected]).toEqual([[], []]);
  });
  it.each(['PATCH', 'DELETE', 'OPTIONS'] as const)('405 to %s', async (method) => {
    const response = await app.inject({
      method,
      url: '/webhooks/default',
      payload: body,
      headers: signBody(body, SECRET),
    });
    expect(response.statusCode).toBe(405);
    expect(response.headers.allow).toBe('POST, PUT, GET, HEAD');
  });
  it('200 to a signed PUT as to a POST, and refuses an unsigned one', async () => {
    const put = (headers: Record<string, string>) =>
      app.inject({ method: 'PUT', url: '/webhooks/default', payload: body, headers });
    expect((await put(signBody(body, SECRET))).statusCode).toBe(200);
    expect(accepted).toHaveLength(1);
    expect((await put({})).statusCode).toBe(401);
  });
  it.each([
    ['store_unavailable', new StoreUnavailable('SQLITE_FULL: /var/lib/secret/path')],
    ['overloaded', new CodedError('overloaded')],
    ['shutting_down', new CodedError('shutting_down')],
  ])('503 with Retry-After and no internals: %s', async (code, error) => {
    failWith = error;
    const response = await post(body, signBody(body, SECRET));
    expect(response.statusCode).toBe(503);
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
    expect(errorOf(response).code).toBe(code);
    expect(response.body).not.toContain('SQLITE');
    failWith = null;
    expect((await post(body, signBody(body, SECRET))).statusCode).toBe(200);
  });
  it('500 without internals for an unexpected error', async () => {
    failWith = new Error('connect ECONNREFUSED 10.0.0.7 password=hunter2');
    const response = await post(body, signBody(body, SECRET));
    expect(response.statusCode).toBe(500);
    expect(errorOf(response).code).toBe('internal');
    expect(response.body).not.toMatch(/hunter2|10\.0\.0\.7/);
  });
});

const contentTypes = [
  undefined,
  '',
  'application/json',
  'application/json; charset=utf-16',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'application/cloudevents+json',
  'nonsense',
  ';;;',
  '*/*',
  'application/json, text/plain',
];

describe('every content type, or none, reaches the signature check', () => {
  const bodies = [body, Buffer.from('{broken json'), Buffer.alloc(0), Buffer.from([0xff, 0xfe, 0x00])];
  it.each(contentTypes)('%j', async (contentType) => {
    for (const bytes of bodies) {
      const typed = contentType === undefined ? {} : { 'content-type': contentType };
      const good = await post(bytes, { ...signBody(bytes, SECRET), ...typed });
      expect([good.statusCode, contentType, bytes.toString('hex')]).toEqual([200, contentType, bytes.toString('hex')]);
      const bad = await post(bytes, { ...signBody(bytes, 'another'), ...typed });
      expect(bad.statusCode).toBe(401);
    }
    expect(accepted.map((one) => one.rawBody.toString('hex'))).toEqual(bodies.map((one) => one.toString('hex')));
    expect(accepted.every((one) => one.contentType === (contentType ?? null))).toBe(true);
    expect(accepted.every((one) => one.headers['content-type'] === contentType)).toBe(true);
  });
  it('leaves the parsers of the rest of the app alone', async () => {
    const response = await app.inject({ method: 'POST', url: '/json', payload: { a: 1 } });
    expect(response.json()).toEqual({ got: { a: 1 } });
  });
});

describe('over real HTTP', () => {
  let port: number;
  beforeEach(async () => {
    await app.listen({ port: 0, host: '127.0.0.1' });
    port = (app.server.address() as AddressInfo).port;
  });

  const send = (headers: Record<string, string>, chunks: readonly Buffer[], path = '/webhooks/default') =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const outgoing = httpRequest({ host: '127.0.0.1', port, method: 'POST', path, headers }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      });
      outgoing.on('error', reject);
      for (const chunk of chunks) outgoing.write(chunk);
      outgoing.end();
    });
  const sendRaw = (text: Buffer) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      let answer = '';
      socket.setTimeout(5000, () => socket.destroy(new Error('no answer')));
      socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
      socket.on('end', () => resolve(answer));
      socket.on('error', reject);
      socket.write(text);
    });
  const rawPost = (lines: string[], payload: Buffer) =>
    sendRaw(
      Buffer.concat([
        Buffer.from([`POST /webhooks/default HTTP/1.1`, 'Host: x', 'Connection: close', ...lines, '', ''].join('\r\n')),
        payload,
      ]),
    );

  it('a chunked body without a content type is stored byte for byte', async () => {
    const chunks = [body.subarray(0, 3), body.subarray(3, 20), body.subarray(20)];
    expect((await send(signBody(body, SECRET), chunks)).status).toBe(200);
    expect(accepted[0]?.rawBody.equals(body)).toBe(true);
    expect(accepted[0]?.contentType).toBeNull();
  });
  it('a chunked body over the limit gets 413', async () => {
    const chunk = Buffer.alloc(LIMIT, 0x61);
    const answer = await send(signBody(chunk, SECRET), [chunk, chunk]);
    expect(answer.status).toBe(413);
    expect(accepted).toEqual([]);
  });
  it('a large body for an unknown source is answered without being read', async () => {
    const answer = await send({ 'content-length': String(64 * 1024) }, [Buffer.alloc(64 * 1024)], '/webhooks/nobody');
    expect(answer.status).toBe(404);
  });
  it('header names in any case are found', async () => {
    const hex = signBody(body, SECRET)['x-service-signature'];
    const answer = await rawPost([`X-SERVICE-Signature: ${hex}`, `Content-Length: ${body.length}`], body);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
  it('a signature header sent twice is refused', async () => {
    const line = `X-Service-Signature: ${signBody(body, SECRET)['x-service-signature']}`;
    const answer = await rawPost([line, line, `Content-Length: ${body.length}`], body);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });
  it('a signed empty body with neither length nor type is accepted', async () => {
    const hex = signBody(Buffer.alloc(0), SECRET)['x-service-signature'];
    expect(await rawPost([`X-Service-Signature: ${hex}`], Buffer.alloc(0))).toMatch(/^HTTP\/1\.1 200 /);
    expect(accepted[0]?.rawBody.length).toBe(0);
  });
  it('random bytes in headers and body get 401 or 400, never 200 or 5xx', async () => {
    const headerBytes = fc
      .uint8Array({ maxLength: 90 })
      .map((bytes) => bytes.filter((byte) => byte !== 10 && byte !== 13 && byte !== 0));
    await fc.assert(
      fc.asyncProperty(headerBytes, headerBytes, fc.uint8Array({ maxLength: 300 }), async (plain, type, bytes) => {
        const head = Buffer.concat([
          Buffer.from('POST /webhooks/default HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Service-Signature: '),
          plain,
          Buffer.from('\r\nContent-Type: '),
          type,
          Buffer.from(`\r\nContent-Length: ${bytes.length}\r\n\r\n`),
          bytes,
        ]);
        expect(await sendRaw(head)).toMatch(/^HTTP\/1\.1 40[01] /);
      }),
      { numRuns: 150 },
    );
    expect(accepted).toEqual([]);
  });
  it('random signed bodies are stored byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
        const payload = Buffer.from(bytes);
        expect((await send(signBody(payload, SECRET), [payload])).status).toBe(200);
        expect(accepted.some((one) => one.rawBody.equals(payload))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
