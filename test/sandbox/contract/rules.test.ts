import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { knownEvents } from '../../../src/core/vocabulary.ts';
import { type Json, NOON, withEndpoint } from '../sandbox-world.ts';
import { type Answer, isoUtc, item, playService } from './described.ts';

describe('§5 authentication', () => {
  const { ask, sandbox } = playService();
  const endpoints = [
    ['POST', '/policies/generate'],
    ['POST', '/policies/bulk'],
    ['GET', '/policies'],
    ['POST', '/policies/pol_1/publish'],
    ['GET', '/consent/logs'],
  ] as const;

  it.each(endpoints)('1. %s %s requires the header Authorization', async (method, path) => {
    expect((await ask(method, path, { key: null })).status).toBe(401);
  });
  it.each(['apiKey', 'siteKey'] as const)('2. %s is accepted', async (name) => {
    expect((await ask('GET', '/policies', { key: sandbox().clients[0]![name] })).status).toBe(200);
  });
  it.each([
    ['a missing key', null, {}],
    ['an unknown key', 'pak_live_nobody', {}],
    ['a key of another kind', 'sk_live_1', {}],
    ['another scheme', null, { authorization: 'Basic YTpi' }],
    ['a scheme without a key', null, { authorization: 'Bearer' }],
  ])('5. %s gives 401', async (_what, key, headers) => {
    const { status, body } = await ask('GET', '/policies', { key, headers });
    expect(status).toBe(401);
    expect(body.error.code).toBe('unauthorized');
  });
  it.each([
    ['/policies/generate', '{"policy_type":', 'application/json'],
    ['/policies/bulk', 'items=', 'application/x-www-form-urlencoded'],
  ])('5. a caller without a key or the scope learns nothing about the body sent to %s', async (path, body, type) => {
    const status = async (key: string | null): Promise<number> =>
      (await ask('POST', path, { key, body, headers: { 'content-type': type } })).status;
    const { revokedKey, readKey, apiKey } = sandbox().clients[0]!;
    expect([await status(null), await status(revokedKey), await status(readKey)]).toEqual([401, 401, 403]);
    expect(await status(apiKey)).toBe(400);
  });
  it('5. a caller without them learns nothing at the MCP endpoint either', async () => {
    const status = async (key: string | null): Promise<number> =>
      (
        await fetch(`${sandbox().siteUrl()}/api/mcp`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
          body: '{"jsonrpc":',
        })
      ).status;
    const { readKey, apiKey } = sandbox().clients[0]!;
    expect([await status(null), await status(readKey), await status(apiKey)]).toEqual([401, 403, 400]);
  });
  it('5. a revoked key gives 401', async () => {
    expect((await ask('GET', '/policies', { key: sandbox().clients[0]!.revokedKey })).status).toBe(401);
  });
  it('5. a key without the scope gives 403', async () => {
    expect((await ask('POST', '/policies/generate', { key: sandbox().clients[0]!.readKey, body: item })).status).toBe(
      403,
    );
  });
  it('5. a plan without API access gives 403', async () => {
    const two = sandbox().clients[1]!;
    two.account = 'no-api';
    expect((await ask('GET', '/policies', { key: two.apiKey })).status).toBe(403);
    two.account = 'active';
  });
  it('6. the embed endpoint needs siteKey instead', async () => {
    const at = `${sandbox().siteUrl()}/api/embed/policy?type=hub`;
    expect((await fetch(at)).status).toBe(400);
    expect((await fetch(`${at}&siteKey=${sandbox().clients[0]!.siteKey}`)).status).toBe(200);
  });
});

describe('§6 events', () => {
  const { ask, generate, sandbox } = playService();

  it.each(knownEvents)('%s is delivered by POST with both signatures over the raw body', async (event) => {
    await withEndpoint(
      () => 200,
      async (url, received) => {
        const client = sandbox().clients[0]!;
        const [record] = await sandbox().send(client.slug, event, { url });
        expect(record!.outcome).toBe('accepted');
        const { method, headers, body } = received[0]!;
        const digest = createHmac('sha256', client.webhookSecret).update(body).digest('hex');
        expect(method).toBe('POST');
        expect(headers['x-service-signature']).toBe(digest);
        expect(headers['x-service-signature-256']).toBe(`sha256=${digest}`);
        expect(JSON.parse(body.toString()).event).toBe(event);
      },
    );
  });
  it('knows every event of the documentation and policy.created', () => {
    const documented =
      'policy.published policy.updated policy.deleted consent.recorded dsar.submitted cookie_scan.completed integration.connected integration.disconnected';
    expect([...knownEvents].sort()).toEqual([...documented.split(' '), 'policy.created'].sort());
  });
  it.each([
    ['event', /^policy\.published$/],
    ['policy_id', /^pol_/],
    ['policy_type', /^imprint$/],
    ['brand_name', /./],
    ['jurisdiction', /^DE$/],
    ['language', /^en$/],
    ['user_id', /^usr_/],
    ['timestamp', isoUtc],
  ] as const)('policy.published carries %s as text, and nothing undocumented', async (field, form) => {
    await withEndpoint(
      () => 200,
      async (url, received) => {
        const client = sandbox().clients[0]!;
        const { body: made } = await generate(item);
        client.webhookUrl = url;
        await ask('POST', `/policies/${made.id}/publish`);
        await sandbox().outbox.settled();
        client.webhookUrl = null;
        const payload = JSON.parse(received[0]!.body.toString());
        expect(payload[field]).toMatch(form);
        expect(Object.keys(payload)).toHaveLength(8);
      },
    );
  });
  it('an answer of 401 is a refusal: the delivery is retried', async () => {
    await withEndpoint(
      (_received, count) => (count === 1 ? 401 : 200),
      async (url, received) => {
        const [record] = await sandbox().send(sandbox().clients[0]!.slug, 'policy.updated', { url });
        expect(record!.attempts.map(({ status }) => status)).toEqual([401, 200]);
        expect(received[1]!.body.equals(received[0]!.body)).toBe(true);
      },
    );
  });
});

describe('§7 errors', () => {
  const { ask, generate, sandbox } = playService({ quota: 1 });
  const cases: readonly (readonly [number, string, () => Promise<Answer>])[] = [
    [400, 'Bad Request', () => generate({})],
    [400, 'Bad Request, not JSON', () => generate('{"policy_type":')],
    [401, 'Unauthorized', () => ask('GET', '/policies', { key: 'pak_live_nobody' })],
    [
      402,
      'Payment Required',
      async () => {
        const two = sandbox().clients[1]!;
        two.account = 'expired';
        const answer = await ask('GET', '/policies', { key: two.apiKey });
        two.account = 'active';
        return answer;
      },
    ],
    [403, 'Forbidden', () => generate(item, { key: sandbox().clients[0]!.readKey })],
    [404, 'Not Found', () => ask('POST', '/policies/pol_nobody/publish')],
    [
      429,
      'Too Many Requests',
      () => {
        sandbox().faults.set([{ name: 'too-many-requests', times: 1 }]);
        return ask('GET', '/policies');
      },
    ],
    [
      500,
      'Server Error',
      () => {
        sandbox().faults.set([{ name: 'server-error', times: 1 }]);
        return ask('GET', '/policies');
      },
    ],
  ];
  it.each(cases)('%s %s comes in the envelope: error with code and message', async (status, _name, request) => {
    const answer = await request();
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.body)).toEqual(['error']);
    expect(answer.body.error).toEqual({
      code: expect.stringMatching(/^[a-z_]+$/),
      message: expect.stringMatching(/./),
    });
  });
  it('items beyond the quota of a batch are not errors', async () => {
    const { status, body } = await ask('POST', '/policies/bulk', { body: { items: [item, item] } });
    expect(status).toBe(200);
    expect(body.results[1].status).toBe('skipped');
    expect(body.failed).toBe(0);
  });
});

describe('§8 limits', () => {
  let now = NOON;
  const { ask, generate, sandbox } = playService({
    clock: () => now,
    quota: 1000,
    limits: {},
  });
  const nextDay = (): void => {
    now = new Date(now.getTime() + 86_400_000);
  };
  const bulk = async (key?: string): Promise<number> =>
    (await ask('POST', '/policies/bulk', { body: { items: [item] }, ...(key === undefined ? {} : { key }) })).status;

  it('20 generations per minute and key', async () => {
    nextDay();
    const statuses: number[] = [];
    for (let n = 0; n < 21; n += 1) statuses.push((await generate(item)).status);
    expect(statuses).toEqual([...Array<number>(20).fill(200), 429]);
    expect((await generate(item, { key: sandbox().clients[1]!.apiKey })).status).toBe(200);
  });
  it('5 batches per minute and key', async () => {
    nextDay();
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1) statuses.push(await bulk());
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    expect(await bulk(sandbox().clients[1]!.apiKey)).toBe(200);
  });
  it('20 batches per day and key', async () => {
    nextDay();
    for (let n = 0; n < 20; n += 1) {
      now = new Date(now.getTime() + 60_000);
      expect(await bulk()).toBe(200);
    }
    now = new Date(now.getTime() + 60_000);
    expect(await bulk()).toBe(429);
    nextDay();
    expect(await bulk()).toBe(200);
  });
  it('1 to 200 rows per page', async () => {
    for (const [limit, status] of [
      [0, 400],
      [1, 200],
      [200, 200],
      [201, 400],
    ] as const) {
      expect((await ask('GET', `/consent/logs?limit=${limit}`)).status).toBe(status);
    }
  });
  it('the list of policies is complete', async () => {
    const before = (await ask('GET', '/policies')).body.count;
    for (let n = 0; n < 60; n += 1) {
      if (n % 20 === 0) now = new Date(now.getTime() + 61_000);
      const { body } = await generate(item);
      await ask('POST', `/policies/${body.id}/publish`);
    }
    expect((await ask('GET', '/policies')).body.policies).toHaveLength(before + 60);
  });
  it('the embed is cached for five minutes, text included', async () => {
    const { siteKey } = sandbox().clients[0]!;
    const embed = async (): Promise<Json> => {
      const answer = await fetch(`${sandbox().siteUrl()}/api/embed/policy?siteKey=${siteKey}&type=eula`);
      return { status: answer.status, age: answer.headers.get('age'), ...(await answer.json()) };
    };
    nextDay();
    const publish = async (): Promise<string> => {
      const { body } = await generate({ policy_type: 'eula', jurisdiction: 'DE' });
      await ask('POST', `/policies/${body.id}/publish`);
      return body.id;
    };
    const old = await publish();
    expect(await embed()).toMatchObject({ id: old, age: '0' });
    const fresh = await publish();
    now = new Date(now.getTime() + 299_000);
    expect(await embed()).toMatchObject({ id: old, age: '299' });
    now = new Date(now.getTime() + 1_000);
    expect(await embed()).toMatchObject({ id: fresh, age: '0' });
  });
  it('other endpoints state their limit in headers', async () => {
    nextDay();
    const { headers } = await ask('GET', '/policies');
    expect(headers.get('x-ratelimit-limit')).toBe('6000');
    expect(headers.get('x-ratelimit-remaining')).toBe('5999');
  });
});

describe('§8 quota', () => {
  const own = playService({ quota: 2 });
  it('is used by generate and by bulk', async () => {
    await own.generate(item);
    await own.ask('POST', '/policies/bulk', { body: { items: [item] } });
    expect((await own.generate(item)).status).toBe(402);
  });
});

describe('§8 pooled quota', () => {
  const agency = playService({ agency: { quota: 2 } });
  it('is used by all clients of an agency', async () => {
    for (const { apiKey } of agency.sandbox().clients)
      expect((await agency.generate(item, { key: apiKey })).status).toBe(200);
    expect((await agency.generate(item)).status).toBe(402);
  });
});

describe('§9 versioning', () => {
  const { sandbox } = playService();
  it('is a prefix of the path', async () => {
    expect(new URL(sandbox().baseUrl()).pathname).toBe('/api/v1');
    expect((await fetch(`${sandbox().siteUrl()}/api/v2/policies`)).status).toBe(404);
  });
});

describe('the coverage table of docs/sandbox.md', () => {
  const read = (name: string): string => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
  const sections = [...read('service.md').matchAll(/^#{2,3} (\d+(?:\.\d+)?)\.? /gm)].map(([, number]) => number!);
  const table = read('sandbox.md').split('## What it does')[1]!.split('\n## ')[0]!;
  const covered = new Map(
    [...table.matchAll(/^\| ([\d., ]+) \|(.+)\|(.+)\|(.+)\|$/gm)].flatMap(([, numbers, ...cells]) =>
      numbers!.split(',').map((number) => [number.trim(), cells] as const),
    ),
  );

  it('finds the sections of the service', () => {
    expect(sections).toHaveLength(28);
  });
  it.each(sections)('says how the sandbox covers §%s', (section) => {
    expect(covered.get(section)?.[1]?.trim().length ?? 0).toBeGreaterThan(3);
  });
  it('has no sections that the service does not have', () => {
    expect([...covered.keys()].filter((number) => !sections.includes(number))).toEqual([]);
  });
});
