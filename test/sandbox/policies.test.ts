import { describe, expect, it } from 'vitest';
import { get, post, withEndpoint, withSandbox } from './sandbox-world.ts';

describe('policies', () => {
  it('generates by form A and by form B, each marked as a sample', async () => {
    await withSandbox({}, async (sandbox) => {
      const { apiKey } = sandbox.clients[0]!;
      const a = await post(sandbox, '/policies/generate', apiKey, {
        policy_type: 'privacy-policy',
        jurisdiction: 'US-CA',
        business_name: 'Ålesund & Co',
      });
      expect(a.status).toBe(200);
      expect(Object.keys(a.body)).toEqual([
        'id',
        'policy_type',
        'jurisdiction',
        'language',
        'content',
        'created_at',
        'policies_remaining',
      ]);
      expect(a.body).toMatchObject({
        policy_type: 'privacy-policy',
        jurisdiction: 'US-CA',
        language: 'en',
        policies_remaining: 499,
      });
      expect(a.body.content).toContain('SAMPLE');
      expect(a.body.content).toContain('Ålesund & Co');
      const b = await post(sandbox, '/policies/generate', apiKey, {
        type: 'cookie_policy',
        jurisdiction: ['DE', 'FR'],
        custom_clauses: ['<b>mind</b>'],
      });
      expect(Object.keys(b.body)).toEqual(['id', 'type', 'version', 'hosted_url', 'html', 'markdown', 'created_at']);
      expect(b.body).toMatchObject({ type: 'cookie_policy', version: 1 });
      expect(b.body.html).toContain('SAMPLE: &lt;b&gt;mind&lt;/b&gt;');
    });
  });

  it.each([
    {},
    { policy_type: 'privacy-policy' },
    { policy_type: 'Privacy Policy', jurisdiction: 'GB' },
    { type: 'cookie_policy', jurisdiction: 'DE' },
    [],
  ])('answers 400 to a generation from %j', async (body) => {
    await withSandbox({}, async (sandbox) => {
      const answer = await post(sandbox, '/policies/generate', sandbox.clients[0]!.apiKey, body);
      expect(answer.status).toBe(400);
      expect(answer.body.error.code).toBe('invalid_request');
    });
  });

  it('lets a read-only key list but neither generate nor publish', async () => {
    await withSandbox({}, async (sandbox) => {
      const { readKey } = sandbox.clients[0]!;
      expect((await get(sandbox, '/policies', readKey)).status).toBe(200);
      const refused = await post(sandbox, '/policies/generate', readKey, {
        policy_type: 'imprint',
        jurisdiction: 'DE',
      });
      expect(refused.status).toBe(403);
      expect(refused.body.error.code).toBe('forbidden');
    });
  });

  it('lists a generated policy only once it is published, at an address that stays', async () => {
    await withSandbox({}, async (sandbox) => {
      const { apiKey } = sandbox.clients[0]!;
      const before = (await get(sandbox, '/policies', apiKey)).body;
      const { body: made } = await post(sandbox, '/policies/generate', apiKey, {
        policy_type: 'imprint',
        jurisdiction: 'DE',
      });
      expect((await get(sandbox, '/policies', apiKey)).body).toEqual(before);
      const first = await post(sandbox, `/policies/${made.id}/publish`, apiKey);
      expect(first.body).toMatchObject({ id: made.id, webhook_deliveries_queued: 0 });
      expect(first.body.hosted_url).toMatch(
        new RegExp(`^${sandbox.siteUrl()}/policy/imprint/${made.id}\\?token=\\w+$`),
      );
      const again = await post(sandbox, `/policies/${made.id}/publish`, apiKey);
      expect(again.body.hosted_url).toBe(first.body.hosted_url);
      const after = (await get(sandbox, '/policies', apiKey)).body;
      expect(after.count).toBe(before.count + 1);
      expect(after.policies.at(-1)).toMatchObject({ id: made.id, url: first.body.hosted_url });
    });
  });

  it('does not publish what another client owns', async () => {
    await withSandbox({}, async (sandbox) => {
      const [one, two] = sandbox.clients;
      const { body } = await post(sandbox, '/policies/generate', one!.apiKey, {
        policy_type: 'imprint',
        jurisdiction: 'DE',
      });
      expect((await post(sandbox, `/policies/${body.id}/publish`, two!.apiKey)).status).toBe(404);
    });
  });

  it('delivers policy.created and exactly the documented policy.published to subscribed endpoints', async () => {
    await withEndpoint(
      () => 200,
      (url, received) =>
        withSandbox({}, async (sandbox) => {
          const client = sandbox.clients[0]!;
          client.webhookUrl = url;
          client.endpoints.push({ url: `${url}/publications`, events: ['policy.published'] });
          const { body } = await post(sandbox, '/policies/generate', client.apiKey, {
            policy_type: 'imprint',
            jurisdiction: 'DE',
          });
          const published = await post(sandbox, `/policies/${body.id}/publish`, client.apiKey);
          expect(published.body.webhook_deliveries_queued).toBe(2);
          await sandbox.outbox.settled();
          expect(received.map(({ path }) => path).sort()).toEqual(['/webhooks', '/webhooks', '/webhooks/publications']);
          const payload = JSON.parse(received.find(({ path }) => path === '/webhooks/publications')!.body.toString());
          expect(payload).toEqual({
            event: 'policy.published',
            policy_id: body.id,
            policy_type: 'imprint',
            brand_name: client.name,
            jurisdiction: 'DE',
            language: 'en',
            user_id: client.userId,
            timestamp: published.body.published_at,
          });
        }),
    );
  });
});
