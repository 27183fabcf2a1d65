import { request } from 'node:http';
import { expect, test } from 'vitest';
import { createOfficeWorld } from './office-world.ts';

/** The status of a request with this host name, as a browser directed to this machine would send it. */
function statusUnder(url: string, host: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/healthz`, { headers: { host, ...headers } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('the admin listener answers under its own names and addresses only, the public one under any', async () => {
  const { adminUrl, url } = await createOfficeWorld({ ADMIN_HOSTS: 'ledger.example.org' }, { worker: false });
  for (const host of [
    'localhost',
    'LOCALHOST:8081',
    '127.0.0.1:1',
    '[::1]:8081',
    '10.0.0.7',
    'ledger.example.org',
    'Ledger.Example.org.:443',
  ])
    expect([host, await statusUnder(adminUrl, host)]).toEqual([host, 200]);
  for (const host of [
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'ledger.example.org.evil.example',
    '[evil]',
    'evil.example:127',
  ])
    expect([host, await statusUnder(adminUrl, host)]).toEqual([host, 421]);
  const claimed = { 'x-forwarded-host': 'localhost' };
  expect(await statusUnder(adminUrl, 'evil.example', claimed)).toBe(421);
  expect(await statusUnder(url, 'anything.example')).toBe(200);
});

test('behind a proxy, the name that it forwards must be allowed too', async () => {
  const { adminUrl } = await createOfficeWorld(
    { ADMIN_HOSTS: 'ledger.example.org', TRUST_PROXY: 'loopback' },
    { worker: false },
  );
  const under = (name: string) => statusUnder(adminUrl, '127.0.0.1:8081', { 'x-forwarded-host': name });
  expect(await under('ledger.example.org')).toBe(200);
  expect(await under('evil.example')).toBe(421);
  expect(await under('ledger.example.org, evil.example')).toBe(421);
});
