import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { allRows, get, post, withSandbox } from './sandbox-world.ts';

const item = { policy_type: 'imprint', jurisdiction: 'DE' };

/** Every documented REST endpoint, with the scope that the sandbox requires. */
const endpoints = [
  ['read', 'GET', '/policies'],
  ['read', 'GET', '/consent/logs'],
  ['write', 'POST', '/policies/generate'],
  ['write', 'POST', '/policies/bulk'],
  ['write', 'POST', '/policies/pol_nobody/publish'],
] as const;

async function statusOf(sandbox: Sandbox, method: string, path: string, key: string): Promise<number> {
  const answer = await fetch(`${sandbox.baseUrl()}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(method === 'POST' ? { body: '{}' } : {}),
  });
  return answer.status;
}

describe('keys', () => {
  it.each(endpoints)('need the scope %s for %s %s, else 403', async (scope, method, path) => {
    await withSandbox({}, async (sandbox) => {
      const { readKey, writeKey, webhooksKey, apiKey, siteKey } = sandbox.clients[0]!;
      const [enough, tooLittle] = scope === 'read' ? [readKey, writeKey] : [writeKey, readKey];
      expect(await statusOf(sandbox, method, path, tooLittle)).toBe(403);
      expect(await statusOf(sandbox, method, path, webhooksKey)).toBe(403);
      for (const key of [enough, apiKey, siteKey])
        expect([401, 403]).not.toContain(await statusOf(sandbox, method, path, key));
    });
  });

  it('get 402 after the end of the subscription, and 403 on a plan without API access', async () => {
    await withSandbox({}, async (sandbox) => {
      const [one, two] = sandbox.clients;
      one!.account = 'expired';
      two!.account = 'no-api';
      expect((await get(sandbox, '/policies', one!.apiKey)).status).toBe(402);
      expect((await get(sandbox, '/policies', two!.apiKey)).status).toBe(403);
      one!.account = 'active';
      expect((await get(sandbox, '/policies', one!.apiKey)).status).toBe(200);
    });
  });
});

describe('an agency', () => {
  it('has one quota for all its clients, whichever key is used', async () => {
    await withSandbox({ agency: { quota: 3 } }, async (sandbox) => {
      const [one, two] = sandbox.clients;
      const left = async (key: string): Promise<number> =>
        (await post(sandbox, '/policies/generate', key, item)).body.policies_remaining;
      expect(await left(one!.apiKey)).toBe(2);
      expect(await left(two!.apiKey)).toBe(1);
      const batch = await post(sandbox, '/policies/bulk', sandbox.agency!.apiKey, { items: [item, item] });
      expect(batch.body).toMatchObject({ total: 2, created: 1, failed: 0 });
      expect((await post(sandbox, '/policies/generate', one!.apiKey, item)).status).toBe(402);
      expect((await post(sandbox, '/policies/generate', two!.apiKey, item)).status).toBe(402);
    });
  });

  it('leaves clients without an agency their own quotas', async () => {
    await withSandbox({ quota: 1 }, async (sandbox) => {
      const [one, two] = sandbox.clients;
      expect(sandbox.agency).toBeNull();
      expect((await post(sandbox, '/policies/generate', one!.apiKey, item)).status).toBe(200);
      expect((await post(sandbox, '/policies/generate', one!.apiKey, item)).status).toBe(402);
      expect((await post(sandbox, '/policies/generate', two!.apiKey, item)).status).toBe(200);
    });
  });

  it('reaches the policies of all its clients with its key, while each client reaches only its own', async () => {
    await withSandbox({ agency: { quota: 10 }, clients: 3 }, async (sandbox) => {
      const { apiKey } = sandbox.agency!;
      const own = await Promise.all(sandbox.clients.map((client) => get(sandbox, '/policies', client.apiKey)));
      const all = await get(sandbox, '/policies', apiKey);
      expect(all.body.policies).toEqual(own.flatMap(({ body }) => body.policies));
      const second = sandbox.clients[1]!;
      const { body: made } = await post(sandbox, '/policies/generate', apiKey, {
        ...item,
        domain: `https://www.${second.domain}/impressum`,
      });
      expect((await post(sandbox, `/policies/${made.id}/publish`, sandbox.clients[0]!.apiKey)).status).toBe(404);
      expect((await post(sandbox, `/policies/${made.id}/publish`, second.apiKey)).status).toBe(200);
      expect((await post(sandbox, `/policies/${made.id}/publish`, apiKey)).status).toBe(200);
    });
  });

  it.each(['plain', 'nested'] as const)('pages through the consent logs of all its clients (%s)', async (dialect) => {
    await withSandbox({ agency: { quota: 10 }, clients: 3, consentRows: 90, dialect }, async (sandbox) => {
      const { apiKey, readKey } = sandbox.agency!;
      const own = [];
      for (const client of sandbox.clients) own.push(...(await allRows(sandbox, client.apiKey)));
      expect(await allRows(sandbox, readKey, 'limit=37')).toEqual(own);
      const banner = sandbox.clients[2]!.banners[0]!.id;
      const rows = await allRows(sandbox, apiKey, `banner_id=${banner}`);
      expect(rows.length).toBeGreaterThan(10);
      expect(rows).toEqual(await allRows(sandbox, sandbox.clients[2]!.apiKey, `banner_id=${banner}`));
      expect((await get(sandbox, `/consent/logs?banner_id=${banner}`, sandbox.clients[0]!.apiKey)).status).toBe(404);
      expect((await post(sandbox, '/policies/generate', readKey, item)).status).toBe(403);
    });
  });
});
