import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Json, withEndpoint, withSandbox } from './sandbox-world.ts';

async function control(
  siteUrl: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Json }> {
  const answer = await fetch(`${siteUrl}/_sandbox${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: await answer.json() };
}

describe('the controls of a running sandbox', () => {
  it('trigger events with given payload fields, and deliver them again', async () => {
    await withEndpoint(
      () => 200,
      (url, received) =>
        withSandbox({}, async (sandbox) => {
          const site = sandbox.siteUrl();
          const slug = sandbox.clients[1]!.slug;
          expect((await control(site, 'PUT', `/clients/${slug}/endpoints`, { endpoints: [{ url }] })).status).toBe(200);
          const wrong = await control(site, 'POST', '/trigger', { event: 'dsar.submitted', policy: 'x' });
          expect(wrong).toMatchObject({ status: 400, body: { error: { message: 'Unrecognized key: "policy"' } } });
          const made = await control(site, 'POST', '/trigger', {
            event: 'dsar.submitted',
            client: slug,
            count: 3,
            set: { email: 'someone@example.com' },
          });
          expect(made.body.deliveries).toHaveLength(3);
          const payloads = received.map(({ body }) => JSON.parse(body.toString()));
          expect(payloads.map(({ email }) => email)).toEqual(Array(3).fill('someone@example.com'));
          expect(new Set(payloads.map(({ request_id }) => request_id)).size).toBe(3);
          const again = await control(site, 'POST', `/deliveries/${made.body.deliveries[0].id}/redeliver`, {});
          expect(again.body.outcome).toBe('accepted');
          expect((await control(site, 'GET', '/deliveries')).body.deliveries).toHaveLength(4);
        }),
    );
  });

  it('deliver again without the first fault, to the requested address', async () => {
    await withEndpoint(
      () => 200,
      (url, received) =>
        withSandbox({}, async (sandbox) => {
          const site = sandbox.siteUrl();
          const { slug, webhookSecret } = sandbox.clients[0]!;
          const endpoints = [{ url: `${url}/1` }, { url: `${url}/2` }];
          await control(site, 'PUT', `/clients/${slug}/endpoints`, { endpoints });
          await control(site, 'PUT', '/faults', { faults: [{ name: 'webhook-wrong-secret' }] });
          const { id } = (await control(site, 'POST', '/trigger', { event: 'dsar.submitted' })).body.deliveries[0];
          await control(site, 'PUT', '/faults', { faults: [] });
          const again = await control(site, 'POST', `/deliveries/${id}/redeliver`, { to: `${url}/1` });
          expect(again).toMatchObject({ status: 200, body: { url: `${url}/1`, outcome: 'accepted' } });
          const signed = ({ body }: { body: Buffer }): string =>
            createHmac('sha256', webhookSecret).update(body).digest('hex');
          expect(received.map((one) => one.headers['x-service-signature'] === signed(one))).toEqual([
            false,
            false,
            true,
          ]);
          expect(received[2]!.path).toBe('/webhooks/1');
          expect((await control(site, 'POST', `/deliveries/${id}/redeliver`, { to: `${url}/3` })).status).toBe(404);
          expect((await control(site, 'POST', `/deliveries/${id}/redeliver`, { to: 'file:///x' })).status).toBe(400);
        }),
    );
  });

  it('end a subscription and renew it', async () => {
    await withSandbox({}, async (sandbox) => {
      const { slug, apiKey } = sandbox.clients[0]!;
      const set = (account: string) => control(sandbox.siteUrl(), 'PUT', `/clients/${slug}/account`, { account });
      const ask = async (): Promise<number> =>
        (await fetch(`${sandbox.baseUrl()}/policies`, { headers: { authorization: `Bearer ${apiKey}` } })).status;
      expect((await set('expired')).status).toBe(200);
      expect(await ask()).toBe(402);
      expect((await set('active')).status).toBe(200);
      expect(await ask()).toBe(200);
      expect((await set('gone')).status).toBe(400);
    });
  });

  it('set faults and scenarios', async () => {
    await withSandbox({}, async (sandbox) => {
      const site = sandbox.siteUrl();
      expect((await control(site, 'PUT', '/faults', { scenario: 'outage' })).body.faults).toHaveLength(2);
      expect((await fetch(`${sandbox.baseUrl()}/policies`)).status).toBe(503);
      expect((await control(site, 'PUT', '/faults', { faults: [] })).status).toBe(200);
      expect((await fetch(`${sandbox.baseUrl()}/policies`)).status).toBe(401);
      expect((await control(site, 'PUT', '/faults', { faults: [{ name: 'no-such-fault' }] })).status).toBe(400);
      expect((await control(site, 'PUT', '/faults', { scenario: 'no-such' })).status).toBe(404);
    });
  });

  it.each([
    ['an unknown event', { event: 'no.such' }],
    ['an unknown client', { event: 'dsar.submitted', client: 'nobody' }],
    ['no address', { event: 'dsar.submitted' }],
    ['an address that is not http', { event: 'dsar.submitted', to: 'file:///etc/passwd' }],
  ])('refuse to trigger for %s', async (_what, body) => {
    await withSandbox({}, async (sandbox) => {
      expect((await control(sandbox.siteUrl(), 'POST', '/trigger', body)).status).toBe(400);
    });
  });

  it('do not answer to web pages', async () => {
    await withSandbox({}, async (sandbox) => {
      const site = sandbox.siteUrl();
      expect((await control(site, 'GET', '/clients')).status).toBe(200);
      expect((await control(site, 'GET', '/clients', undefined, { origin: 'https://evil.example' })).status).toBe(403);
      const form = await fetch(`${site}/_sandbox/trigger`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: '{}',
      });
      expect(form.status).toBe(400);
    });
  });
});
