import { beforeAll, describe, expect, it } from 'vitest';
import { type Json, NOON } from '../sandbox-world.ts';
import { isoUtc, item, playService } from './described.ts';

const text = expect.any(String) as string;
const whole = (value: unknown): boolean => Number.isInteger(value);

describe('§2.1 a generated policy', () => {
  const { generate } = playService({ quota: 50 });
  let made: Json;
  beforeAll(async () => {
    made = (await generate({ policy_type: 'privacy-policy', jurisdiction: 'US-CA', language: 'de' })).body;
  });

  it.each([
    ['id', (value: unknown) => typeof value === 'string' && value.length > 0],
    ['policy_type', (value: unknown) => value === 'privacy-policy'],
    ['jurisdiction', (value: unknown) => value === 'US-CA'],
    ['language', (value: unknown) => value === 'de'],
    ['content', (value: unknown) => typeof value === 'string' && /^# /m.test(value) && value.includes('SAMPLE')],
    ['created_at', (value: unknown) => isoUtc.test(String(value))],
    ['policies_remaining', (value: unknown) => value === 49],
  ] as const)('has %s', (field, holds) => {
    expect(holds(made[field]), JSON.stringify(made[field])).toBe(true);
  });
});

describe('§2.1 and §4.1 a policy generated in form B', () => {
  const { generate } = playService();
  let made: Json;
  beforeAll(async () => {
    made = (await generate({ type: 'cookie_policy', jurisdiction: ['DE', 'FR'], language: 'en' })).body;
  });

  it.each([
    ['id', (value: unknown) => typeof value === 'string'],
    ['type', (value: unknown) => value === 'cookie_policy'],
    ['version', whole],
    ['hosted_url', (value: unknown) => URL.canParse(String(value))],
    ['html', (value: unknown) => String(value).includes('<h1>')],
    ['markdown', (value: unknown) => /^# /m.test(String(value))],
    ['created_at', (value: unknown) => isoUtc.test(String(value))],
  ] as const)('has %s', (field, holds) => {
    expect(holds(made[field]), JSON.stringify(made[field])).toBe(true);
  });
  it('uses no field name of form A', () => {
    expect(Object.keys(made)).not.toContain('policy_type');
    expect(Object.keys(made)).not.toContain('content');
  });
});

describe('§2.2 a listed policy', () => {
  const { ask, sandbox } = playService();
  let listed: Json;
  beforeAll(async () => {
    listed = (await ask('GET', '/policies')).body.policies[0];
  });

  it.each([
    ['id', (value: unknown) => typeof value === 'string'],
    ['policy_type', (value: unknown) => /^[a-z]+(-[a-z]+)*$/.test(String(value))],
    ['title', (value: unknown) => /^[A-Z]/.test(String(value))],
    ['jurisdiction', (value: unknown) => value === 'DE'],
    ['language', (value: unknown) => value === 'de'],
    ['updated_at', (value: unknown) => isoUtc.test(String(value))],
    ['url', (value: unknown) => URL.canParse(String(value))],
  ] as const)('has %s', (field, holds) => {
    expect(holds(listed[field]), JSON.stringify(listed[field])).toBe(true);
  });
  it('has its address at {site_url}/policy/<policy_type>/<policy_id> with a token, and is served there', async () => {
    const url = new URL(listed.url);
    expect(url.origin).toBe(sandbox().siteUrl());
    expect(url.pathname).toBe(`/policy/${listed.policy_type}/${listed.id}`);
    expect([...url.searchParams.keys()]).toEqual(['token']);
    expect((await fetch(url)).status).toBe(200);
  });
});

describe('§2.3 the result of publishing', () => {
  const { ask, generate, sandbox } = playService();
  let published: Json;
  let id: string;
  beforeAll(async () => {
    sandbox().clients[0]!.webhookUrl = 'http://127.0.0.1:9/webhooks';
    id = (await generate(item)).body.id;
    published = (await ask('POST', `/policies/${id}/publish`)).body;
  });

  it.each([
    ['id', (value: unknown) => value === id],
    ['hosted_url', (value: unknown) => URL.canParse(String(value))],
    ['published_at', (value: unknown) => isoUtc.test(String(value))],
    ['webhook_deliveries_queued', (value: unknown) => value === 1],
  ] as const)('has %s', (field, holds) => {
    expect(holds(published[field]), JSON.stringify(published[field])).toBe(true);
  });
});

describe('§2.4 the result of a batch', () => {
  const { ask } = playService({ quota: 2 });
  let batch: Json;
  beforeAll(async () => {
    batch = (await ask('POST', '/policies/bulk', { body: { items: [item, { policy_type: 'eula' }, item, item] } }))
      .body;
  });

  it.each([
    ['batch_id', (value: unknown) => typeof value === 'string'],
    ['total', (value: unknown) => value === 4],
    ['created', (value: unknown) => value === 2],
    ['failed', (value: unknown) => value === 1],
    ['results', (value: unknown) => Array.isArray(value) && value.length === 4],
  ] as const)('has %s', (field, holds) => {
    expect(holds(batch[field]), JSON.stringify(batch[field])).toBe(true);
  });
  it.each([
    ['id', text],
    ['policy_type', 'imprint'],
    ['status', 'created'],
  ])('has %s in the entry of a created item', (field, expected) => {
    expect(batch.results[0][field]).toEqual(expected);
  });
});

describe('§2.5 an API key', () => {
  const { ask, generate, sandbox } = playService({ agency: { quota: 50 } });
  const first = () => sandbox().clients[0]!;

  it('is named pak_live_, or pk_ as the legacy site key, and both open the API', async () => {
    expect(first().apiKey).toMatch(/^pak_live_/);
    expect(first().siteKey).toMatch(/^pk_/);
    for (const key of [first().apiKey, first().siteKey])
      expect((await ask('GET', '/policies', { key })).status).toBe(200);
  });
  it.each([
    ['read', 'readKey', 200, 403],
    ['write', 'writeKey', 403, 200],
    ['webhooks', 'webhooksKey', 403, 403],
  ] as const)('with the scope %s alone reads or writes accordingly', async (_scope, name, reading, writing) => {
    const key = first()[name];
    expect((await ask('GET', '/policies', { key })).status).toBe(reading);
    expect((await generate(item, { key })).status).toBe(writing);
  });
  it('of an agency reaches all clients, or only the one that it is limited to', async () => {
    const { clients, agency } = sandbox();
    const [one, two] = clients;
    const { body } = await generate(item, { key: one!.apiKey });
    expect((await ask('POST', `/policies/${body.id}/publish`, { key: two!.apiKey })).status).toBe(404);
    expect((await ask('POST', `/policies/${body.id}/publish`, { key: agency!.apiKey })).status).toBe(200);
  });
  it('that was revoked gives no access', async () => {
    expect((await ask('GET', '/policies', { key: first().revokedKey })).status).toBe(401);
  });
  it('that is revoked while the service runs gives no access from then on, and its last use is known', async () => {
    const { siteKey, readKey } = sandbox().clients[1]!;
    const keys = async (): Promise<Json[]> => (await (await fetch(`${sandbox().siteUrl()}/_sandbox/keys`)).json()).keys;
    const find = async (key: string): Promise<Json> => (await keys()).find(({ value }) => value === key);
    expect(await find(readKey)).toMatchObject({ revoked: false, lastUsedAt: null });
    for (const key of [readKey, siteKey]) {
      expect((await ask('GET', '/policies', { key })).status).toBe(200);
      await fetch(`${sandbox().siteUrl()}/_sandbox/keys/revoke`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ key }),
      });
      expect((await ask('GET', '/policies', { key })).status).toBe(401);
      expect(await find(key)).toMatchObject({ revoked: true, lastUsedAt: NOON.toISOString() });
      expect(sandbox().state().revoked).toContain(key);
    }
    expect((await fetch(`${sandbox().siteUrl()}/api/embed/policy?siteKey=${siteKey}&type=hub`)).status).toBe(404);
  });
  it('of the legacy kind is the siteKey of the embed endpoint, a named one is not', async () => {
    const embed = (key: string): Promise<Response> =>
      fetch(`${sandbox().siteUrl()}/api/embed/policy?siteKey=${key}&type=hub`);
    expect((await embed(first().siteKey)).status).toBe(200);
    expect((await embed(first().apiKey)).status).toBe(404);
  });
});

const slugs =
  'privacy-policy cookie-policy terms-of-service terms-and-conditions data-processing-agreement imprint return-policy refund-policy disclaimer acceptable-use-policy end-user-license-agreement shipping-policy ccpa-notice gdpr-policy dsar-policy gdpr-compliance hipaa-policy eula';

describe('§2.6 policy types', () => {
  const { generate, sandbox } = playService();

  it.each(slugs.split(' '))('accept %s in form A, and with underscores in form B', async (slug) => {
    expect((await generate({ policy_type: slug, jurisdiction: 'GB' })).body.policy_type).toBe(slug);
    const type = slug.replaceAll('-', '_');
    expect((await generate({ type, jurisdiction: ['GB'] })).body.type).toBe(type);
  });
  it('include hub only at the embed endpoint', async () => {
    expect((await generate({ policy_type: 'hub', jurisdiction: 'GB' })).status).toBe(400);
    const { siteKey } = sandbox().clients[0]!;
    const answer = await fetch(`${sandbox().siteUrl()}/api/embed/policy?siteKey=${siteKey}&type=hub`);
    expect((await answer.json()).policies.length).toBeGreaterThan(1);
  });
});

describe('§2.7 jurisdictions', () => {
  const { generate } = playService();

  it.each(['GB', 'US', 'US-CA', 'EU', 'DE', 'FR', 'AU', 'CA', 'NL', 'SE', 'NO', 'SG'])(
    'include %s',
    async (jurisdiction) => {
      expect((await generate({ ...item, jurisdiction })).body.jurisdiction).toBe(jurisdiction);
    },
  );
  it.each(['', 'Germany', 'de', 'US_CA', 'U', 'XX', 'UK', 'US-ZZ', 'DE-BY'])(
    'do not include %j',
    async (jurisdiction) => {
      expect((await generate({ ...item, jurisdiction })).status).toBe(400);
      expect((await generate({ type: 'imprint', jurisdiction: ['GB', jurisdiction] })).status).toBe(400);
    },
  );
});

describe.each(['plain', 'enveloped', 'nested', 'terse'] as const)(
  '§2.8 consent log records in the dialect %s',
  (dialect) => {
    const { ask, sandbox } = playService({ dialect });

    it('are decisions for a banner, with identifiers as hashes only', async () => {
      const { body } = await ask('GET', '/consent/logs?limit=200');
      expect(body.data.length).toBe(200);
      for (const row of body.data) {
        const written = JSON.stringify(row);
        expect(written).toMatch(/"[0-9a-f]{64}"/);
        expect(written).not.toMatch(/@|\b\d{1,3}(\.\d{1,3}){3}\b/);
        expect(sandbox().clients[0]!.banners.some(({ id }) => written.includes(id))).toBe(true);
      }
    });
  },
);

describe('§2.9 other resources', () => {
  const { ask, sandbox } = playService();

  it('are known only by the names in parameters and payloads: banners by id', async () => {
    for (const { id } of sandbox().clients[0]!.banners)
      expect((await ask('GET', `/consent/logs?banner_id=${id}`)).status).toBe(200);
  });
  it.each(['/banners', '/clients', '/webhooks'])('have no endpoint %s', async (path) => {
    expect((await fetch(`${sandbox().baseUrl()}${path}`)).status).toBe(404);
  });
});
