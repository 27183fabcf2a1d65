import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { transformSync } from 'esbuild';
import express from 'express';
import fc from 'fast-check';
import { Hono } from 'hono';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type HeaderValues, signBody, verifySignature } from '../../receivers/signature-node.ts';
import { verify } from '../../receivers/signature-web-crypto.ts';

const secrets = [
  { id: 'old', value: 'whsec-old' },
  { id: 'new', value: 'äöü-secret' },
];
/** Bytes that no text decoder can reproduce. */
const body = Buffer.concat([
  Buffer.from('{"event":"policy.published","name":"Größe \u{1F36A}"}'),
  Buffer.from([0xff, 0, 10]),
]);
const signed = signBody(body, 'äöü-secret');

describe('verify gives the verdict of verifySignature', () => {
  const digests = [
    ...Object.values(signed),
    ...Object.values(signBody(body, 'whsec-old')),
    '0'.repeat(64),
    'sha256=',
    '',
    'A'.repeat(64),
  ];
  const header = fc.oneof(
    fc.constant(undefined),
    fc.constantFrom(...digests),
    fc.array(fc.constantFrom(...digests), { maxLength: 2 }),
    fc.string(),
  );
  it('for any headers, bodies and secrets', async () => {
    const values = fc.oneof(fc.constantFrom('whsec-old', 'äöü-secret'), fc.string());
    const secret = fc.record({
      id: fc.string(),
      value: values,
      encoding: fc.constantFrom('text' as const, 'hex' as const, 'base64' as const),
    });
    await fc.assert(
      fc.asyncProperty(
        header,
        header,
        fc.oneof(fc.constant(body), fc.uint8Array({ maxLength: 50 })),
        fc.array(secret, { maxLength: 3 }),
        async (plain, prefixed, rawBody, more) => {
          const headers: HeaderValues = { 'x-service-signature': plain, 'x-service-signature-256': prefixed };
          const input = { headers, rawBody, secrets: [...secrets, ...more] };
          expect(await verify(input)).toEqual(verifySignature(input));
        },
      ),
    );
  });

  it.each([
    ['text', 'plain text', Buffer.from('plain text')],
    ['hex', 'DEADbeef00', Buffer.from('deadbeef00', 'hex')],
    ['base64', 'whsec_3q2-7wA', Buffer.from('deadbeef00', 'hex')],
    ['base64', '3q2+7wA=', Buffer.from('deadbeef00', 'hex')],
  ] as const)('for a secret written as %s (%s)', async (encoding, value, key) => {
    const input = { headers: signBody(body, key), rawBody: body, secrets: [{ id: 'a', value, encoding }] };
    expect(await verify(input)).toEqual({ outcome: 'verified', secretId: 'a', headersAgree: true });
    expect(verifySignature(input)).toEqual({ outcome: 'verified', secretId: 'a', headersAgree: true });
  });
});

it('the signature check names a wrong argument', async () => {
  const parsed = { event: 'policy.published' } as unknown as Uint8Array;
  await expect(verify({ headers: signed, rawBody: parsed, secrets })).rejects.toThrow(
    /bytes of the body.*express\.raw/,
  );
  await expect(verify({ headers: signed, rawBody: '{}' as unknown as Uint8Array, secrets })).rejects.toThrow(
    /not a text/,
  );
  for (const none of [[], [{ id: 'a', value: '' }], [{ id: 'a', value: 'xyz', encoding: 'hex' as const }]])
    await expect(verify({ headers: signed, rawBody: body, secrets: none })).rejects.toThrow('No usable secret');
});

/** The responses of the servers below: to the correct signature, a wrong one, none, and another body. */
async function answers(send: (headers: Record<string, string>, sent: Buffer) => Promise<number>): Promise<number[]> {
  const wrong = signBody(body, 'somebody else');
  return [
    await send(signed, body),
    await send(wrong, body),
    await send({}, body),
    await send(signed, Buffer.concat([body, Buffer.from(' ')])),
    await send(signBody(Buffer.alloc(0), 'whsec-old'), Buffer.alloc(0)),
  ];
}
const expected = [200, 401, 401, 401, 200];

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`;
}

const post = (url: string) => async (headers: Record<string, string>, sent: Buffer) =>
  (
    await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: new Uint8Array(sent),
    })
  ).status;

it('the signature check works in Express, with express.raw before the route', async () => {
  const app = express();
  app.post('/webhook', express.raw({ type: () => true }), async (request, response) => {
    const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const { outcome } = await verify({ headers: request.headers, rawBody, secrets });
    response.sendStatus(outcome === 'verified' ? 200 : 401);
  });
  expect(await answers(post(await listen(createServer(app))))).toEqual(expected);
});

it('the signature check works in Hono', async () => {
  const app = new Hono();
  app.post('/webhook', async ({ req, body: answer }) => {
    const { outcome } = await verify({ headers: req.raw.headers, rawBody: await req.arrayBuffer(), secrets });
    return answer(null, outcome === 'verified' ? 200 : 401);
  });
  const send = async (headers: Record<string, string>, sent: Buffer) =>
    (await app.request('/webhook', { method: 'POST', headers, body: new Uint8Array(sent) })).status;
  expect(await answers(send)).toEqual(expected);
});

it('the signature check works in a route handler of Request and Response, as Next.js has them', async () => {
  const POST = async (request: Request): Promise<Response> => {
    const { outcome } = await verify({ headers: request.headers, rawBody: await request.arrayBuffer(), secrets });
    return new Response(null, { status: outcome === 'verified' ? 200 : 401 });
  };
  const send = async (headers: Record<string, string>, sent: Buffer) =>
    (await POST(new Request('http://site.example/webhook', { method: 'POST', headers, body: new Uint8Array(sent) })))
      .status;
  expect(await answers(send)).toEqual(expected);
});

it('the signature check, as built, works without Node, as in a worker', async () => {
  const built = readFileSync(
    fileURLToPath(new URL('../../dist/receivers/signature-web-crypto.js', import.meta.url)),
    'utf8',
  );
  expect(built).not.toMatch(/\brequire\b|from ["']|\bBuffer\b|\bprocess\b/);
  const { code } = transformSync(built, { format: 'iife', globalName: 'built' });
  const web = { crypto, TextEncoder, atob, Uint8Array, ArrayBuffer, TypeError };
  const own = runInNewContext(`${code}; built.verify`, web) as typeof verify;
  const send = async (headers: Record<string, string>, sent: Buffer) =>
    (await own({ headers: new Headers(headers), rawBody: new Uint8Array(sent).buffer, secrets })).outcome === 'verified'
      ? 200
      : 401;
  expect(await answers(send)).toEqual(expected);
});
