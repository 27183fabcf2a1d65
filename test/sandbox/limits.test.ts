import { describe, expect, it } from 'vitest';
import { get, NOON, post, withSandbox } from './sandbox-world.ts';

const item = { policy_type: 'imprint', jurisdiction: 'DE' };

describe('limits', () => {
  it('allows 20 generations a minute per key, then answers 429 until the minute is over', async () => {
    let now = NOON;
    await withSandbox({ clock: () => now }, async (sandbox) => {
      const [one, two] = sandbox.clients;
      for (let n = 0; n < 20; n += 1)
        expect((await post(sandbox, '/policies/generate', one!.apiKey, item)).status).toBe(200);
      now = new Date(NOON.getTime() + 15_000);
      const refused = await fetch(`${sandbox.baseUrl()}/policies/generate`, {
        method: 'POST',
        headers: { authorization: `Bearer ${one!.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(item),
      });
      expect(refused.status).toBe(429);
      expect(await refused.json()).toEqual({ error: { code: 'rate_limited', message: expect.any(String) as string } });
      expect(refused.headers.get('retry-after')).toBe('45');
      expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
      expect((await post(sandbox, '/policies/generate', two!.apiKey, item)).status).toBe(200);
      expect((await get(sandbox, '/policies', one!.apiKey)).status).toBe(200);
      now = new Date(NOON.getTime() + 61_000);
      expect((await post(sandbox, '/policies/generate', one!.apiKey, item)).status).toBe(200);
    });
  });

  it('allows 5 batches a minute and 20 a day', async () => {
    let now = NOON;
    await withSandbox({ clock: () => now, quota: 1000 }, async (sandbox) => {
      const { apiKey } = sandbox.clients[0]!;
      const statuses: number[] = [];
      for (let minute = 0; minute < 5; minute += 1) {
        now = new Date(NOON.getTime() + minute * 60_000);
        for (let n = 0; n < 6; n += 1)
          statuses.push((await post(sandbox, '/policies/bulk', apiKey, { items: [item] })).status);
      }
      expect(statuses.filter((status) => status === 200)).toHaveLength(20);
      expect(statuses.slice(0, 6)).toEqual([200, 200, 200, 200, 200, 429]);
      expect(statuses.slice(-6)).toEqual([429, 429, 429, 429, 429, 429]);
    });
  });

  it.each([
    [
      'x-ratelimit',
      {
        'x-ratelimit-limit': '3',
        'x-ratelimit-remaining': '2',
        'x-ratelimit-reset': String(NOON.getTime() / 1000 + 60),
      },
    ],
    ['ratelimit', { 'ratelimit-limit': '3', 'ratelimit-remaining': '2', 'ratelimit-reset': '60' }],
    ['ratelimit-ietf', { 'ratelimit-policy': '"default";q=3;w=60', ratelimit: '"default";r=2;t=60' }],
  ] as const)('spells its headers as %s', async (headers, expected) => {
    await withSandbox({ limits: { otherPerMinute: 3, headers } }, async (sandbox) => {
      const answer = await get(sandbox, '/policies', sandbox.clients[0]!.apiKey);
      expect(Object.fromEntries(answer.headers)).toMatchObject(expected);
    });
  });

  it('does not count requests without a good key', async () => {
    await withSandbox({ limits: { otherPerMinute: 1 } }, async (sandbox) => {
      const { apiKey } = sandbox.clients[0]!;
      for (let n = 0; n < 3; n += 1) expect((await get(sandbox, '/policies', 'pak_live_nobody')).status).toBe(401);
      expect((await get(sandbox, '/policies', apiKey)).status).toBe(200);
      expect((await get(sandbox, '/policies', apiKey)).status).toBe(429);
    });
  });
});

describe('POST /policies/bulk', () => {
  it('creates what the quota allows, skips the rest and counts what makes no sense as failed', async () => {
    await withSandbox({ quota: 2 }, async (sandbox) => {
      const { apiKey } = sandbox.clients[0]!;
      const { status, body } = await post(sandbox, '/policies/bulk', apiKey, {
        items: [item, { policy_type: 'eula' }, item, item],
      });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        batch_id: expect.stringMatching(/^bat_/) as string,
        total: 4,
        created: 2,
        failed: 1,
      });
      expect(body.results.map((result: { status: string }) => result.status)).toEqual([
        'created',
        'failed',
        'created',
        'skipped',
      ]);
      expect(Object.keys(body.results[0])).toEqual(['id', 'policy_type', 'status']);
      expect((await post(sandbox, '/policies/generate', apiKey, item)).status).toBe(402);
    });
  });

  it.each([[[]], [Array.from({ length: 21 }, () => item)], ['many']])('answers 400 to %j', async (items) => {
    await withSandbox({}, async (sandbox) => {
      expect((await post(sandbox, '/policies/bulk', sandbox.clients[0]!.apiKey, { items })).status).toBe(400);
    });
  });
});
