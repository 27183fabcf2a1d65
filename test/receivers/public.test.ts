import Fastify from 'fastify';
import { expect, it } from 'vitest';
import * as offered from '../../receivers/public.ts';
import { signBody } from '../../receivers/signature-node.ts';

it('the receiver package offers the plugin, the check and the errors that mean 503, and nothing else', () => {
  expect(Object.keys(offered).sort()).toEqual([
    'CodedError',
    'SIGNATURE_256_HEADER',
    'SIGNATURE_HEADER',
    'StoreUnavailable',
    'verifySignature',
    'webhookEndpoint',
  ]);
});

it('the receiver package receives a signed delivery in another app, as its documentation shows', async () => {
  const kept: Buffer[] = [];
  const app = Fastify();
  await app.register(offered.webhookEndpoint, {
    bodyLimit: 1_048_576,
    findSource: (slug) => (slug === 'default' ? { secrets: [{ id: 'main', value: 's3cret' }] } : null),
    accept: (delivery) => Promise.resolve({ outcome: 'stored', seq: kept.push(delivery.rawBody) }),
  });
  const payload = Buffer.from('{"event":"policy.deleted"}');
  const send = (headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: '/webhooks/default', payload, headers });
  expect((await send(signBody(payload, 's3cret'))).json()).toEqual({ status: 'stored', seq: 1 });
  expect((await send({})).statusCode).toBe(401);
  expect(kept.map(String)).toEqual([payload.toString()]);
  await app.close();
});
