import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Json, NOON, withEndpoint } from '../sandbox-world.ts';
import { item, playService } from './described.ts';

describe('§3 states', () => {
  const { ask, generate, sandbox } = playService({ quota: 4 });

  it('none → saved: counts against the quota, delivers a webhook, is not listed', async () => {
    await withEndpoint(
      () => 200,
      async (url, received) => {
        sandbox().clients[0]!.webhookUrl = url;
        const before = (await ask('GET', '/policies')).body.count;
        const made = await generate(item);
        expect(made.body.policies_remaining).toBe(3);
        await sandbox().outbox.settled();
        expect(received.map(({ body }) => JSON.parse(body.toString()).event)).toEqual(['policy.created']);
        expect((await ask('GET', '/policies')).body.count).toBe(before);
        sandbox().clients[0]!.webhookUrl = null;
      },
    );
  });
  it('saved → published: hosted and listed, policy.published to every subscribed endpoint', async () => {
    await withEndpoint(
      () => 200,
      async (url, received) => {
        const { body: made } = await generate(item);
        sandbox().clients[0]!.endpoints.push(
          { url: `${url}/1`, events: ['policy.published'] },
          { url: `${url}/2`, events: 'all' },
          { url: `${url}/3`, events: ['dsar.submitted'] },
        );
        const { body } = await ask('POST', `/policies/${made.id}/publish`);
        expect(body.webhook_deliveries_queued).toBe(2);
        await sandbox().outbox.settled();
        expect(received.map(({ path }) => path).sort()).toEqual(['/webhooks/1', '/webhooks/2']);
        expect((await ask('GET', '/policies')).body.policies.some(({ id }: Json) => id === made.id)).toBe(true);
        sandbox().clients[0]!.webhookUrl = null;
      },
    );
  });
  it('a bulk item within the quota → created, beyond it → skipped, the rest of the batch does not fail', async () => {
    const { status, body } = await ask('POST', '/policies/bulk', { body: { items: [item, item, item] } });
    expect(status).toBe(200);
    expect(body.results.map((result: Json) => result.status)).toEqual(['created', 'created', 'skipped']);
    expect(body).toMatchObject({ total: 3, created: 2, failed: 0 });
  });
});

describe('§4.1 POST /policies/generate', () => {
  const { generate } = playService();

  it.each(['policy_type', 'jurisdiction'] as const)('needs %s in form A', async (field) => {
    const { [field]: _left, ...rest } = item;
    expect((await generate(rest)).status).toBe(400);
  });
  it('accepts an optional language, English by default', async () => {
    expect((await generate(item)).body.language).toBe('en');
    expect((await generate({ ...item, language: 'fr' })).body.language).toBe('fr');
    for (const language of ['french', 'xx', 'EN']) expect((await generate({ ...item, language })).status).toBe(400);
  });
  it('embeds business_name and domain into the policy', async () => {
    const asked = { ...item, business_name: 'Lighthouse & Co', domain: 'https://lighthouse.example' };
    const { content } = (await generate(asked)).body;
    for (const words of [asked.business_name, asked.domain]) expect(content).toContain(words);
    expect(content).not.toContain('nordlicht');
  });
  it.each([
    ['domain', 'https://shop.example'],
    ['industry', 'e-commerce'],
    ['industry', 'ecommerce'],
    ['industry', 'saas'],
    ['industry', 'healthcare'],
    ['business_type', 'limited-company'],
    ['business_type', 'corporation'],
    ['business_type', 'gmbh'],
    ['business_type', 'sole-trader'],
  ])('accepts the optional %s %s', async (field, value) => {
    expect((await generate({ ...item, [field]: value })).status).toBe(200);
    expect((await generate({ ...item, [field]: 7 })).status).toBe(400);
  });
  it.each([
    ['type', 'privacy_policy', 7],
    ['jurisdiction', ['GB', 'US-CA'], 'GB'],
    ['language', 'en', 'English'],
    ['tone', 'plain', 7],
    ['custom_clauses', ['No refunds on Sundays.'], 'none'],
  ])('accepts %s of form B only in its type', async (field, good, bad) => {
    const b = { type: 'privacy_policy', jurisdiction: ['GB'] };
    expect((await generate({ ...b, [field]: good })).status).toBe(200);
    expect((await generate({ ...b, [field]: bad })).status).toBe(400);
  });
  it('writes custom clauses into the policy', async () => {
    const b = { type: 'privacy_policy', jurisdiction: ['GB'], custom_clauses: ['No refunds <b>on Sundays</b>.'] };
    const { markdown, html } = (await generate(b)).body;
    expect(markdown).toContain('No refunds <b>on Sundays</b>.');
    expect(html).toContain('No refunds &lt;b&gt;on Sundays&lt;/b&gt;.');
  });
});

describe.each([1, 100, 120])('§4.1 a generation that takes %s seconds', (seconds) => {
  let now = NOON;
  const { generate } = playService({
    generateMs: seconds * 1000,
    clock: () => now,
    wait: async (ms) => {
      now = new Date(now.getTime() + ms);
    },
  });

  it('answers after that time by the sandbox’s clock', async () => {
    const before = now.getTime();
    const { status, body } = await generate(item);
    expect(status).toBe(200);
    expect(Date.parse(body.created_at) - before).toBe(seconds * 1000);
  });
});

describe('§4.2 POST /policies/bulk', () => {
  const { ask } = playService({ quota: 1000 });
  const bulk = (items: unknown) => ask('POST', '/policies/bulk', { body: { items } });

  it('accepts 20 items', async () => {
    expect((await bulk(Array.from({ length: 20 }, () => item))).body).toMatchObject({ total: 20, created: 20 });
  });
  it.each([[Array.from({ length: 21 }, () => item)], [[]], [item], [null]])(
    'refuses fewer than 1 or more than 20 items: case %#',
    async (items) => {
      expect((await bulk(items)).status).toBe(400);
    },
  );
  it.each(['language', 'business_name', 'domain', 'industry', 'business_type'])(
    'accepts the field %s in an item',
    async (field) => {
      const value = field === 'language' ? 'de' : 'shop.example';
      expect((await bulk([{ ...item, [field]: value }])).body.created).toBe(1);
      expect((await bulk([{ ...item, [field]: 7 }])).body.failed).toBe(1);
    },
  );
});

describe('§4.3 GET /policies, form A', () => {
  const { ask } = playService({ dialect: 'plain' });
  it('has count and policies', async () => {
    const { body } = await ask('GET', '/policies');
    expect(Object.keys(body)).toEqual(['count', 'policies']);
    expect(body.count).toBe(body.policies.length);
  });
  it('ignores parameters: it neither pages nor filters', async () => {
    const { body } = await ask('GET', '/policies');
    expect((await ask('GET', '/policies?limit=1&policy_type=imprint&cursor=x')).body).toEqual(body);
  });
});

describe('§4.3 GET /policies, cursor form', () => {
  const policies = ['eula', 'imprint', 'disclaimer'];
  const { ask, generate, sandbox } = playService({ dialect: 'enveloped' });
  beforeAll(async () => {
    for (const policy_type of policies) {
      const { body } = await generate({ ...item, policy_type });
      await ask('POST', `/policies/${body.id}/publish`);
    }
  });
  it('has several pages for each client from the start', async () => {
    for (const { apiKey } of sandbox().clients.slice(1)) {
      const { body } = await ask('GET', '/policies', { key: apiKey });
      expect(body.next_cursor).toEqual(expect.any(String));
    }
  });
  it('has data and next_cursor, which leads to the next page until each policy was listed once', async () => {
    const pages: Json[] = [];
    for (let cursor: string | null = ''; cursor !== null; cursor = pages.at(-1).next_cursor)
      pages.push((await ask('GET', `/policies${cursor && `?cursor=${encodeURIComponent(cursor)}`}`)).body);
    expect(pages.length).toBeGreaterThan(1);
    for (const page of pages) expect(Object.keys(page)).toEqual(['data', 'next_cursor']);
    const ids = pages.flatMap(({ data }) => data.map(({ id }: Json) => id));
    expect(ids.sort()).toEqual(
      sandbox()
        .worlds[0]!.shelf.list(NOON)
        .map(({ id }) => id)
        .sort(),
    );
    expect((await ask('GET', '/policies?cursor=x')).status).toBe(400);
  });
});

describe('§4.4 POST /policies/{id}/publish', () => {
  const { ask, generate, sandbox } = playService();

  it('needs the id of a policy that the caller owns', async () => {
    const { body } = await generate(item);
    expect((await ask('POST', `/policies/${body.id}/publish`, { key: sandbox().clients[1]!.apiKey })).status).toBe(404);
    expect((await ask('POST', '/policies/pol_nobody/publish')).status).toBe(404);
    expect((await ask('POST', `/policies/${body.id}/publish`)).status).toBe(200);
  });
  it('reuses the hosted address', async () => {
    const { body } = await generate(item);
    const first = await ask('POST', `/policies/${body.id}/publish`);
    expect((await ask('POST', `/policies/${body.id}/publish`)).body.hosted_url).toBe(first.body.hosted_url);
  });
  it.each([undefined, {}, ''])('accepts no body, or an empty one: %j', async (body) => {
    const made = await generate(item);
    const headers = { 'content-type': 'application/json' };
    expect((await ask('POST', `/policies/${made.body.id}/publish`, { body, headers })).status).toBe(200);
  });
});

describe('§4.4 a publish that requires a body', () => {
  const { ask, generate } = playService({ overrides: { publishBody: 'required' } });

  it('is refused with 400 without one and succeeds with {}', async () => {
    const { id } = (await generate(item)).body;
    const headers = { 'content-type': 'application/json' };
    const publish = (body?: unknown) => ask('POST', `/policies/${id}/publish`, { body, headers });
    expect([(await publish()).status, (await publish('')).status, (await publish({})).status]).toEqual([400, 400, 200]);
  });
});

describe('§4.5 GET /consent/logs', () => {
  const { ask, sandbox } = playService();
  const rows = async (query: string): Promise<Json[]> => (await ask('GET', `/consent/logs?${query}`)).body.data;
  let all: Json[];
  beforeAll(async () => {
    all = [...(await rows('limit=200'))];
  });

  it('banner_id: only the rows of that banner', async () => {
    const { id } = sandbox().clients[0]!.banners[1]!;
    const found = await rows(`limit=200&banner_id=${id}`);
    expect(found.length).toBeGreaterThan(10);
    expect(new Set(found.map((row) => row.banner_id))).toEqual(new Set([id]));
  });
  it('from and to: only rows of that range', async () => {
    const [from, to] = [all[40].created_at, all[60].created_at];
    const found = await rows(`limit=200&from=${from}&to=${to}`);
    expect(found.map(({ id }) => id)).toEqual(all.slice(40, 60).map(({ id }) => id));
  });
  it.each([
    'from=yesterday',
    'to=32',
    'from=2026-07-03&to=2026-07-01',
    'from=2026-13-01',
    'from=2026-06-31',
    'to=2026-02-29T10:00:00Z',
  ])('refuses %s', async (query) => {
    expect((await ask('GET', `/consent/logs?${query}`)).status).toBe(400);
  });
  it.each([1, 37, 200])('limit: %s rows a page', async (limit) => {
    expect(await rows(`limit=${limit}`)).toHaveLength(limit);
  });
  it.each(['0', '201', '-1', '1.5', 'many', ''])('limit: refuses %j', async (limit) => {
    expect((await ask('GET', `/consent/logs?limit=${limit}`)).status).toBe(400);
  });
  it('next_cursor: passed back as cursor, gives the next page until there is none', async () => {
    const found: Json[] = [];
    let cursor: string | null = null;
    do {
      const next: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await ask('GET', `/consent/logs?limit=150${next}`);
      expect(Object.keys(body)).toEqual(['data', 'next_cursor']);
      found.push(...body.data);
      cursor = body.next_cursor;
    } while (cursor !== null);
    expect(new Set(found.map(({ id }) => id)).size).toBe(400);
    expect(found.slice(0, 200)).toEqual(all);
  });
  it('cursor: refuses one that was invented, altered or belongs to another query', async () => {
    const { body } = await ask('GET', '/consent/logs?limit=5');
    for (const cursor of ['nonsense', `${body.next_cursor}x`]) {
      expect((await ask('GET', `/consent/logs?limit=5&cursor=${cursor}`)).status).toBe(400);
    }
    expect((await ask('GET', `/consent/logs?from=2026-07-01&cursor=${body.next_cursor}`)).status).toBe(400);
    const key = sandbox().clients[1]!.apiKey;
    expect((await ask('GET', `/consent/logs?cursor=${body.next_cursor}`, { key })).status).toBe(400);
  });
});

describe('§4.6 GET /openapi', () => {
  const { ask, sandbox } = playService();
  it('is OpenAPI 3.1 that a validator accepts, the same at {site_url}/openapi', async () => {
    expect((await ask('GET', '/openapi', { key: null })).status).toBe(401);
    const { body } = await ask('GET', '/openapi');
    expect(body.openapi).toMatch(/^3\.1\./);
    expect((await new Validator().validate(structuredClone(body))).errors ?? []).toEqual([]);
    expect(await (await fetch(`${sandbox().siteUrl()}/openapi`)).json()).toEqual(body);
  });
  it.each([
    ['post', '/policies/generate'],
    ['post', '/policies/bulk'],
    ['get', '/policies'],
    ['post', '/policies/{id}/publish'],
    ['get', '/consent/logs'],
    ['get', '/openapi'],
  ])('describes %s %s', async (method, path) => {
    const { body } = await ask('GET', '/openapi');
    expect(body.paths[path][method].responses['200']).toBeDefined();
  });
});

describe('§4.7 GET {site_url}/api/embed/policy', () => {
  const { sandbox } = playService();
  const embed = (query: string): Promise<Response> => fetch(`${sandbox().siteUrl()}/api/embed/policy?${query}`);
  const siteKey = (): string => sandbox().clients[0]!.siteKey;

  it('needs no authentication and may be read from any page', async () => {
    const answer = await embed(`siteKey=${siteKey()}&type=privacy-policy`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  });
  it.each(['siteKey', 'type'])('needs %s', async (name) => {
    const query = new URLSearchParams({ siteKey: siteKey(), type: 'hub' });
    query.delete(name);
    const answer = await embed(query.toString());
    expect(answer.status).toBe(400);
    expect((await answer.json()).error.code).toBe('invalid_request');
  });
  it('lists all policies as hub', async () => {
    const { policies } = await (await embed(`siteKey=${siteKey()}&type=hub`)).json();
    expect(policies.map((policy: Json) => policy.policy_type)).toEqual(['privacy-policy', 'cookie-policy']);
  });
  it('is cached for five minutes', async () => {
    expect((await embed(`siteKey=${siteKey()}&type=hub`)).headers.get('cache-control')).toContain('max-age=300');
  });
});

describe('§4.8 {site_url}/embed.js', () => {
  const { sandbox } = playService();
  it.each([
    ['data-site-key', 'siteKey'],
    ['data-policy', 'policy'],
    ['data-theme', 'theme'],
    ['data-container', 'container'],
  ])('reads %s', async (_attribute, property) => {
    const answer = await fetch(`${sandbox().siteUrl()}/embed.js`);
    expect(answer.headers.get('content-type')).toContain('javascript');
    expect(await answer.text()).toContain(`dataset.${property}`);
  });
});

describe('§4.9 {site_url}/api/mcp', () => {
  const { sandbox } = playService();
  it('needs Authorization: Bearer', async () => {
    expect((await fetch(`${sandbox().siteUrl()}/api/mcp`, { method: 'POST' })).status).toBe(401);
  });
  it('exposes one tool, generate_policy', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const headers = { authorization: `Bearer ${sandbox().clients[0]!.apiKey}` };
    const address = new URL(`${sandbox().siteUrl()}/api/mcp`);
    await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['generate_policy']);
    await client.close();
  });
});

describe('§4.10 what is not covered', () => {
  const { sandbox } = playService();
  it.each([
    ['PUT', '/policies/pol_1'],
    ['PATCH', '/policies/pol_1'],
    ['DELETE', '/policies/pol_1'],
    ['POST', '/keys'],
    ['POST', '/webhooks'],
    ['POST', '/banners'],
  ])('%s %s does not exist', async (method, path) => {
    const headers = { authorization: `Bearer ${sandbox().clients[0]!.apiKey}` };
    const answer = await fetch(`${sandbox().baseUrl()}${path}`, { method, headers });
    expect(answer.status).toBe(404);
    expect(Object.keys((await answer.json()).error)).toEqual(['code', 'message']);
  });
});
