import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createClient, eachItem } from '../../client/client.ts';
import { clientTypes } from '../../scripts/client-types.ts';
import { tokenOf } from './api-caller.ts';
import { createOfficeWorld } from './office-world.ts';

async function connect(scope: 'read' | 'work' = 'work') {
  const world = await createOfficeWorld({}, { worker: false });
  const { secret } = await tokenOf(world, 'officer', { scope });
  return { world, client: createClient({ url: world.adminUrl, token: secret }) };
}

it('the API client matches the API description (regenerate it with `npm run client`)', async () => {
  const committed = await readFile(join(import.meta.dirname, '../../client/schema.ts'), 'utf8');
  expect(committed === (await clientTypes()), 'client/schema.ts is out of date: run `npm run client`').toBe(true);
});

it('the API client records a request, moves it, and reads every page of the list', async () => {
  const { client, world } = await connect();
  for (const name of ['Ada', 'Grace', 'Edsger']) {
    const { data, error } = await client.POST('/api/v1/cases', {
      body: {
        source: 'default',
        kind: 'access',
        receivedAt: world.context.clock().toISOString(),
        channel: 'letter',
        requesterName: name,
      },
    });
    expect(error).toBeUndefined();
    expect(data?.caseId).toMatch(/^default-o\d{10}$/);
  }
  const seen: (string | null)[] = [];
  const list = (cursor: string | undefined) =>
    client.GET('/api/v1/cases', { params: { query: { limit: 1, ...(cursor === undefined ? {} : { cursor }) } } });
  let last = '';
  for await (const one of eachItem(list)) {
    seen.push(one.requesterName);
    last = one.caseId;
  }
  expect([...seen].sort()).toEqual(['Ada', 'Edsger', 'Grace']);
  const { data: before } = await client.GET('/api/v1/cases/{caseId}', { params: { path: { caseId: last } } });
  const moved = await client.POST('/api/v1/cases/{caseId}/moves', {
    params: { path: { caseId: last } },
    body: { move: 'start', basedOn: before?.version ?? 0, details: {} },
  });
  expect(moved.error).toBeUndefined();
  const { data: after } = await client.GET('/api/v1/cases/{caseId}', { params: { path: { caseId: last } } });
  expect(after?.state).toBe('in-progress');
});

it('the API client returns refusals as problems with their code, and needs a token', async () => {
  const { client, world } = await connect('read');
  const refused = await client.POST('/api/v1/cases', {
    body: { source: 'default', kind: 'access', receivedAt: '2026-01-01T00:00:00Z', channel: 'letter' },
  });
  expect(refused.response.status).toBe(403);
  expect(refused.error?.code).toBe('not_allowed');
  const unknown = await client.GET('/api/v1/cases/{caseId}', { params: { path: { caseId: 'default-1' } } });
  expect([unknown.response.status, unknown.error?.code]).toEqual([404, 'not_found']);
  const nobody = createClient({ url: world.adminUrl, token: 'clt_wrong' });
  const failing = eachItem(() => nobody.GET('/api/v1/cases'));
  await expect(failing.next()).rejects.toMatchObject({ cause: { code: 'sign_in_required' } });
});

it('the API client sends no token unencrypted across a network', () => {
  expect(() => createClient({ url: 'http://ledger.example', token: 'clt_x' })).toThrow('unencrypted');
});

/** A client of a server that responds with something else than the API. */
async function behind(respond: RequestListener) {
  const server = createServer(respond).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { server, client: createClient({ url, token: 'clt_x' }) };
}

const HTML = '<!doctype html><title>Sign in</title>';
const html = (status: number): RequestListener => {
  return (_request, response) => response.writeHead(status, { 'content-type': 'text/html' }).end(HTML);
};
const unexpected: readonly (readonly [string, RequestListener, number, string])[] = [
  ['an empty 502', (_, response) => response.writeHead(502, { 'content-length': '0' }).end(), 502, 'without content'],
  ['an empty 502 in chunks', (_, response) => response.writeHead(502).end(), 502, 'without content'],
  ['an empty 403', (_, response) => response.writeHead(403, { 'content-length': '0' }).end(), 403, 'without content'],
  ['an HTML page with 503', html(503), 503, 'with text/html'],
  ['an HTML page with 200', html(200), 502, '200 with text/html'],
  ['an empty 200', (_, response) => response.writeHead(200, { 'content-length': '0' }).end(), 502, '200 without'],
  ['204', (_, response) => response.writeHead(204).end(), 502, '204 without content'],
  ['304', (_, response) => response.writeHead(304).end(), 502, '304 without content'],
  [
    'another gateway’s JSON',
    (_, response) => response.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"Forbidden"}'),
    403,
    'with application/json',
  ],
  [
    'JSON that is cut off',
    (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"items":['),
    502,
    '200 with application/json',
  ],
  [
    'a broken connection after half of the response',
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '99' }).write('{"items":[');
      setTimeout(() => response.destroy(), 20);
    },
    502,
    'broke off',
  ],
  [
    'a redirect to a sign-in page',
    (request, response) =>
      request.url === '/sign-in'
        ? html(200)(request, response)
        : response.writeHead(302, { location: '/sign-in?state=secret' }).end(),
    302,
    'redirected to http://127.0.0.1',
  ],
];

it.each(unexpected)('the API client returns %s as a problem with a status', async (_, respond, status, words) => {
  const { client } = await behind(respond);
  const { data, error, response } = await client.GET('/api/v1/cases');
  expect(data).toBeUndefined();
  expect(error).toMatchObject({ code: 'unexpected_response', status, detail: expect.stringContaining(words) });
  expect(error?.detail).not.toContain('secret');
  expect(response.status).toBe(status);
  await expect(eachItem(() => client.GET('/api/v1/cases')).next()).rejects.toMatchObject({ cause: { status } });
});

it('the API client does not take a page for a file', async () => {
  const { client } = await behind(html(200));
  const path = { documentId: 'd-1' };
  const { data, error } = await client.GET('/api/v1/documents/{documentId}/download', {
    params: { path },
    parseAs: 'blob',
  });
  expect(data).toBeUndefined();
  expect(error).toMatchObject({ code: 'unexpected_response', status: 502 });
});

it('the API client says that nothing responded, and whether a POST may be repeated', async () => {
  const { server, client } = await behind((request) => request.socket.destroy());
  const broken = await client.POST('/api/v1/cases', {
    body: { source: 'default', kind: 'access', receivedAt: '2026-01-01T00:00:00Z', channel: 'letter' },
  });
  expect(broken.error).toMatchObject({ code: 'no_response', status: 503 });
  expect(broken.error?.detail).toContain('Idempotency-Key');
  await new Promise((resolve) => server.close(resolve));
  const refused = await client.GET('/api/v1/cases');
  expect(refused.error).toMatchObject({
    code: 'no_response',
    status: 503,
    detail: expect.stringContaining('ECONNREFUSED'),
  });
  // Stopped by the caller: not a failure of the installation.
  await expect(client.GET('/api/v1/cases', { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
});

it('the API client keeps what a proxy says about trying again', async () => {
  const { client } = await behind((_, response) => response.writeHead(503, { 'retry-after': '7' }).end('busy'));
  const { error, response } = await client.GET('/api/v1/cases');
  expect([error?.status, response.headers.get('retry-after')]).toEqual([503, '7']);
});
