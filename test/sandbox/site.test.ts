import { Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { get, NOON, post, withSandbox } from './sandbox-world.ts';

describe('the public site', () => {
  it('serves a policy unchanged for five minutes, with Age and a validator', async () => {
    let now = NOON;
    await withSandbox({ clock: () => now }, async (sandbox) => {
      const { siteKey, apiKey } = sandbox.clients[0]!;
      const address = `${sandbox.siteUrl()}/api/embed/policy?siteKey=${siteKey}&type=hub`;
      const first = await fetch(address);
      expect(first.status).toBe(200);
      expect(first.headers.get('age')).toBe('0');
      const before = (await first.json()) as { policies: unknown[] };
      const { body } = await post(sandbox, '/policies/generate', apiKey, {
        policy_type: 'imprint',
        jurisdiction: 'DE',
      });
      await post(sandbox, `/policies/${body.id}/publish`, apiKey);
      now = new Date(NOON.getTime() + 299_000);
      const stale = await fetch(address);
      expect(stale.headers.get('age')).toBe('299');
      expect(stale.headers.get('etag')).toBe(first.headers.get('etag'));
      expect(await stale.json()).toEqual(before);
      expect((await fetch(address, { headers: { 'if-none-match': stale.headers.get('etag')! } })).status).toBe(304);
      now = new Date(NOON.getTime() + 300_000);
      const fresh = await fetch(address);
      expect(fresh.headers.get('age')).toBe('0');
      expect(((await fresh.json()) as { policies: unknown[] }).policies).toHaveLength(before.policies.length + 1);
    });
  });

  it('serves one policy by its type and refuses unknown keys and types', async () => {
    await withSandbox({}, async (sandbox) => {
      const { siteKey } = sandbox.clients[0]!;
      const embed = (query: string): Promise<Response> => fetch(`${sandbox.siteUrl()}/api/embed/policy?${query}`);
      const found = await embed(`siteKey=${siteKey}&type=cookie-policy`);
      expect(await found.json()).toMatchObject({
        policy_type: 'cookie-policy',
        version: 2,
        html: expect.stringContaining('SAMPLE') as string,
      });
      expect((await embed(`siteKey=${siteKey}&type=eula`)).status).toBe(404);
      expect((await embed('siteKey=pk_nobody&type=hub')).status).toBe(404);
      expect((await embed('type=hub')).status).toBe(400);
    });
  });

  it('serves a hosted page only with its token', async () => {
    await withSandbox({}, async (sandbox) => {
      const { body } = await get(sandbox, '/policies', sandbox.clients[0]!.apiKey);
      const { url } = body.policies[0];
      const page = await fetch(url);
      expect(page.status).toBe(200);
      expect(await page.text()).toContain('SAMPLE');
      expect((await fetch(String(url).replace(/token=.*/, 'token=guess'))).status).toBe(404);
      expect((await fetch(String(url).replace(/\?.*/, ''))).status).toBe(404);
    });
  });

  it('serves the embed script', async () => {
    await withSandbox({}, async (sandbox) => {
      const answer = await fetch(`${sandbox.siteUrl()}/embed.js`);
      expect(answer.headers.get('content-type')).toContain('text/javascript');
      const script = await answer.text();
      expect(script).toContain(`${sandbox.siteUrl()}/api/embed/policy`);
      expect(() => new Script(script)).not.toThrow();
    });
  });
});
