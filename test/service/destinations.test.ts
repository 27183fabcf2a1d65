import type { lookup } from 'node:dns';
import { createServer } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { INTERNET_ONLY } from '../../src/core/destination.ts';
import { createServiceClient } from '../../src/service/client.ts';
import { generateViaMcp } from '../../src/service/mcp.ts';
import { fetchDescription } from '../../src/service/openapi.ts';
import { exchange, lookUpPublic, PrivateDestination } from '../../src/service/outgoing-http.ts';
import { fetchEmbedPolicy, fetchHostedPolicy } from '../../src/service/public-fetch.ts';
import { ServiceError } from '../../src/service/service-error.ts';

/** A server on loopback that counts its connections. */
async function countingServer() {
  let connections = 0;
  const server = createServer((_, response) => response.end('{}'));
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

async function failureOf(working: Promise<unknown>): Promise<ServiceError> {
  const error = await working.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServiceError)) throw new Error('it did not fail as a call to the service', { cause: error });
  return error;
}

const limits = { headers: {}, timeoutMs: 5000, maxBytes: 1000 };

test('a request to this machine that the operator has not allowed makes no connection, by address and by name', async () => {
  const { port, connections } = await countingServer();
  for (const host of ['127.0.0.1', 'localhost', '2130706433'])
    await expect(
      exchange({ url: `http://${host}:${port}/`, destinations: INTERNET_ONLY, ...limits }),
    ).rejects.toBeInstanceOf(PrivateDestination);
  // A connection that the operator's own request has left open is not used either.
  await exchange({ url: `http://localhost:${port}/`, destinations: 'anywhere', ...limits });
  const before = connections();
  await expect(
    exchange({ url: `http://localhost:${port}/`, destinations: INTERNET_ONLY, ...limits }),
  ).rejects.toBeInstanceOf(PrivateDestination);
  expect(connections()).toBe(before);
});

test('a request reaches the host and port that the operator names', async () => {
  const { port } = await countingServer();
  const at = (...privateAllowedHosts: string[]) =>
    exchange({
      ...{ url: `http://127.0.0.1:${port}/`, destinations: { httpAllowedHosts: [], privateAllowedHosts } },
      ...limits,
    });
  expect(await at('127.0.0.1')).toMatchObject({ status: 200 });
  expect(await at(`127.0.0.1:${port}`)).toMatchObject({ status: 200 });
  await expect(at('127.0.0.1:1')).rejects.toBeInstanceOf(PrivateDestination);
});

/** What the hook of a connection gives for a name that resolves to these addresses. */
function lookedUp(addresses: readonly string[], all: boolean): Promise<unknown> {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const resolve = ((_: string, __: object, done: (error: null, list: typeof found) => void) =>
    done(null, found)) as unknown as typeof lookup;
  return new Promise((done, fail) => {
    const hook: LookupFunction = lookUpPublic(resolve);
    hook('service.example', { all }, (error, address, family) => {
      if (error !== null) fail(error);
      else done(typeof address === 'string' ? [{ address, family }] : address);
    });
  });
}

test.each([true, false])(
  'a name is connected to only if all of its addresses are on the internet (all: %s)',
  async (all) => {
    expect(await lookedUp(['1.1.1.1'], all)).toEqual([{ address: '1.1.1.1', family: 4 }]);
    for (const addresses of [['10.0.0.1'], ['1.1.1.1', '127.0.0.1'], ['fd00::1'], ['169.254.169.254'], []])
      await expect(lookedUp(addresses, all)).rejects.toBeInstanceOf(PrivateDestination);
  },
);

test('a lookup that fails is reported as such', async () => {
  const resolve = ((_: string, __: object, done: (error: Error) => void) =>
    done(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))) as unknown as typeof lookup;
  const error = await new Promise<NodeJS.ErrnoException | null>((done) =>
    lookUpPublic(resolve)('service.example', { all: true }, done),
  );
  expect(error?.code).toBe('ENOTFOUND');
});

test('every request to a source says that its address is not allowed, and was not used', async () => {
  const { port, connections } = await countingServer();
  const siteUrl = `http://localhost:${port}`;
  const to = { baseUrl: `${siteUrl}/api/v1`, destinations: INTERNET_ONLY, apiKey: 'pak_live_x', retries: 0 };
  const sentence = /leads to this machine or a private network.*PRIVATE_ALLOWED_HOSTS/;
  const listed = await failureOf(createServiceClient(to).listPolicies());
  expect(listed).toMatchObject({ kind: 'network', fault: 'not-allowed' });
  expect(listed.message).toMatch(sentence);
  expect(await fetchDescription(to)).toMatchObject({ outcome: 'refused', sentence: expect.stringMatching(sentence) });
  const mcp = { siteUrl, destinations: INTERNET_ONLY, apiKey: 'pak_live_x', body: Buffer.from('{}'), timeoutMs: 5000 };
  expect((await failureOf(generateViaMcp(mcp))).message).toMatch(sentence);
  const refused = { outcome: 'refused', kind: 'not-allowed', sentence: expect.stringMatching(sentence) };
  const at = { siteUrl, destinations: INTERNET_ONLY };
  expect(await fetchEmbedPolicy({ ...at, siteKey: 'pk_x', type: 'hub' })).toMatchObject(refused);
  expect(await fetchHostedPolicy({ ...at, url: `${siteUrl}/policy/a/b` })).toMatchObject(refused);
  expect(connections()).toBe(0);
});
