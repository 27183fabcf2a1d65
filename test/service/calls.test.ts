import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createServiceClient } from '../../src/service/client.ts';
import { readBulkResult, readGenerated, readPublished } from '../../src/service/policies.ts';
import { changedNothing, networkFaultOf, ServiceError, serviceErrorKinds } from '../../src/service/service-error.ts';
import { selfSigned } from '../cli/self-signed.ts';
import { answeringServer, ON_LOOPBACK, sendJson } from './answering-server.ts';

const apiKey = 'pak_live_0123456789abcdef';
const clientAt = (baseUrl: string) => createServiceClient({ destinations: ON_LOOPBACK, baseUrl, apiKey, backOffMs: 1 });

async function failureOf(promise: Promise<unknown>): Promise<ServiceError> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServiceError)) throw new Error(`no ServiceError: ${String(error)}`);
  return error;
}

describe('a call that changes something', () => {
  it('is sent once, with the given bytes, and returns the exact bytes of the answer', async () => {
    const server = await answeringServer((_, response) => sendJson(response, 201, '{ "id" : "p1" }\n'));
    const client = clientAt(server.baseUrl);
    const body = Buffer.from('{"policy_type":"imprint",  "jurisdiction":"DE"}');
    const answer = await client.generatePolicy(body);
    expect(String(answer.bytes)).toBe('{ "id" : "p1" }\n');
    await client.generateBulk(body);
    await client.publishPolicy('a/../b', Buffer.alloc(0));
    expect(server.requests.map(({ method, url, body: sent }) => [method, url.pathname, sent])).toEqual([
      ['POST', '/api/v1/policies/generate', String(body)],
      ['POST', '/api/v1/policies/bulk', String(body)],
      ['POST', '/api/v1/policies/a%2F..%2Fb/publish', ''],
    ]);
    expect(server.requests[0]?.headers['content-type']).toBe('application/json');
  });

  it.each([302, 307, 400, 401, 402, 403, 404, 409, 410, 422, 429])(
    'that is answered with %i changed nothing',
    async (status) => {
      const server = await answeringServer((_, response) =>
        sendJson(response, status, { error: { code: 'c', message: 'm' } }),
      );
      const error = await failureOf(clientAt(server.baseUrl).generatePolicy(Buffer.from('{}')));
      expect(changedNothing(error)).toBe(true);
      expect(String(error.answer)).toBe('{"error":{"code":"c","message":"m"}}');
      // The fields of an error are logged, so the answer is not among them.
      expect(JSON.stringify({ ...error })).not.toContain('"message":"m"');
      expect(server.requests).toHaveLength(1);
    },
  );

  it.each([303, 408, 500, 502, 503, 504])('that is answered with %i may have changed something', async (status) => {
    const server = await answeringServer((_, response) => sendJson(response, status, {}));
    const error = await failureOf(clientAt(server.baseUrl).publishPolicy('p', Buffer.from('{}')));
    expect(changedNothing(error)).toBe(false);
    expect(server.requests).toHaveLength(1);
  });

  it('whose connection breaks may have changed something, and without a connection it has not', async () => {
    const server = await answeringServer((request) => request.socket.destroy());
    const broken = await failureOf(clientAt(server.baseUrl).generatePolicy(Buffer.from('{}')));
    expect([broken.kind, broken.fault, changedNothing(broken)]).toEqual(['network', 'broken', false]);

    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const refused = await failureOf(clientAt(`http://127.0.0.1:${port}/api/v1`).generatePolicy(Buffer.from('{}')));
    expect([refused.fault, changedNothing(refused)]).toEqual(['unreachable', true]);
    expect(refused.message).toMatch(
      /could not be reached; nothing was sent\. .*ECONNREFUSED.* Check the source’s API address/,
    );

    // A port that the runtime refuses to connect to.
    const barred = await failureOf(clientAt('http://127.0.0.1:6000/api/v1').generatePolicy(Buffer.from('{}')));
    expect([barred.fault, changedNothing(barred)]).toEqual(['unreachable', true]);

    const nowhere = await failureOf(clientAt('http://no-such-host.invalid/api/v1').generatePolicy(Buffer.from('{}')));
    expect([nowhere.fault, changedNothing(nowhere)]).toEqual(['no-address', true]);
  });

  it('to a host whose certificate is not trusted was not sent', async () => {
    const server = createServer(selfSigned, (_, response) => response.end('{}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const error = await failureOf(clientAt(`https://127.0.0.1:${port}/api/v1`).generatePolicy(Buffer.from('{}')));
    expect([error.fault, changedNothing(error)]).toEqual(['not-trusted', true]);
    expect(error.message).toContain('NODE_EXTRA_CA_CERTS');
  });

  it('that ended for an unknown reason counts as sent', () => {
    expect(networkFaultOf(new Error('?'))).toBe('broken');
    expect(networkFaultOf(Object.assign(new Error('x'), { code: 'EWHATEVER' }))).toBe('broken');
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    const reset = Object.assign(new Error('x'), { code: 'ECONNRESET' });
    expect(networkFaultOf(new AggregateError([refused, refused]))).toBe('unreachable');
    expect(networkFaultOf(new AggregateError([refused, reset]))).toBe('broken');
    expect(networkFaultOf(Object.assign(new Error('x'), { code: 'ETIMEDOUT', syscall: 'connect' }))).toBe(
      'unreachable',
    );
    expect(networkFaultOf(Object.assign(new Error('x'), { code: 'ETIMEDOUT', syscall: 'read' }))).toBe('broken');
  });

  it('has a message for every kind of failure, each with the remedy', () => {
    for (const kind of serviceErrorKinds)
      for (const about of ['policies', 'policy-list'] as const)
        expect(new ServiceError(kind, { about }).message).toMatch(/^[A-Z].+\. .+\.$/);
    // No message suggests repeating a call that may have been carried out; a list changes nothing.
    for (const kind of ['server-error', 'timeout'] as const)
      expect(new ServiceError(kind, { about: 'policies' }).message).not.toMatch(/try again|send/i);
    for (const kind of serviceErrorKinds)
      expect(new ServiceError(kind, { about: 'policy-list' }).message).not.toMatch(/made|generated|banner|sync/);
    const words = (kind: (typeof serviceErrorKinds)[number]) => new ServiceError(kind, { about: 'policies' }).message;
    expect(words('payment-required')).toMatch(/lapsed or its quota is used up; nothing was generated\. Renew it/);
    expect(words('forbidden')).toContain('write scope');
    expect(words('bad-request')).not.toContain('banner');
  });
});

describe('answers', () => {
  it('are read in every documented form, and unknown fields are ignored', () => {
    const form = {
      id: 'p',
      type: 'privacy_policy',
      version: 3,
      hosted_url: 'https://h.example/p?token=t',
      html: '<p>',
      markdown: 'm',
    };
    expect(readGenerated(Buffer.from(JSON.stringify({ ...form, more: { x: 1 } })))).toMatchObject({
      id: 'p',
      policyType: 'privacy-policy',
      version: '3',
      hostedUrl: 'https://h.example/p',
      markdown: 'm',
      remaining: null,
    });
    expect(readPublished(Buffer.from('{"id":"p","hosted_url":null,"webhook_deliveries_queued":"two"}'), 'p')).toEqual({
      id: 'p',
      hostedUrl: null,
      link: null,
      publishedAt: null,
      webhooksQueued: null,
    });
    // The address kept as evidence has no token; the one to open has.
    expect(readPublished(Buffer.from(JSON.stringify({ id: 'p', hosted_url: form.hosted_url })), 'p')).toMatchObject({
      hostedUrl: 'https://h.example/p',
      link: 'https://h.example/p?token=t',
    });
    const bulk = {
      batch_id: 9,
      results: [{ id: 1, policy_type: 'a', status: 'Created' }, { status: 'queued' }, 'nonsense'],
    };
    expect(readBulkResult(Buffer.from(JSON.stringify(bulk)))).toEqual({
      batchId: '9',
      results: [
        { id: '1', policyType: 'a', status: 'created' },
        { id: null, policyType: null, status: 'unknown' },
        { id: null, policyType: null, status: 'unknown' },
      ],
    });
  });

  it('in no known form are unreadable, and the error says what came instead', () => {
    for (const [text, words] of [
      ['', 'empty'],
      ['<!doctype html>', 'web page'],
      ['{"id":', 'cut off'],
      ['[]', 'no policy'],
    ] as const)
      expect(() => readGenerated(Buffer.from(text))).toThrow(words);
    expect(() => readBulkResult(Buffer.from('{"results":{}}'))).toThrow('no list of results');
  });
});
