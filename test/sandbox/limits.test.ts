import { describe, expect, it } from 'vitest';
import { get, NOON, withSandbox } from './sandbox-world.ts';

describe('rate limits', () => {
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
  ] as const)('are announced in headers spelt as %s', async (headers, expected) => {
    await withSandbox({ limits: { otherPerMinute: 3, headers } }, async (sandbox) => {
      const answer = await get(sandbox, '/policies', sandbox.clients[0]!.apiKey);
      expect(Object.fromEntries(answer.headers)).toMatchObject(expected);
    });
  });

  it('do not count requests without a valid key', async () => {
    await withSandbox({ limits: { otherPerMinute: 1 } }, async (sandbox) => {
      const { apiKey } = sandbox.clients[0]!;
      for (let n = 0; n < 3; n += 1) expect((await get(sandbox, '/policies', 'pak_live_nobody')).status).toBe(401);
      expect((await get(sandbox, '/policies', apiKey)).status).toBe(200);
      expect((await get(sandbox, '/policies', apiKey)).status).toBe(429);
    });
  });
});
