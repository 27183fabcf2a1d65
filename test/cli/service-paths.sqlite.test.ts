// SQLite only: the traffic with the service does not depend on the database; test/policies and test/sync run on both.
/** Every endpoint, status and limit that docs/service.md names, through a command of the built program against the sandbox. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { GENERATE_TIMEOUT_MS } from '../../src/service/policies.ts';
import { environment } from '../serving.ts';
import { openStoreIn, temporaryFolder } from '../temporary.ts';
import { type Ran, runIn } from './command-line.ts';

const contract = readFileSync(new URL('../../docs/service.md', import.meta.url), 'utf8');

/** One section of docs/service.md. */
function section(number: string): string {
  return contract.split(/^## /m).find((text) => text.startsWith(`${number}. `)) ?? '';
}

interface Hit {
  /** As in the sandbox's description: `POST /policies/{id}/publish`. */
  readonly route: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A sandbox whose clock the test can advance, and an installation that follows its first client. */
async function createWorld(options: Partial<SandboxOptions> = {}) {
  let ahead = 0;
  const sandbox = createSandbox({
    seed: 7,
    clients: 1,
    consentRows: 5,
    clock: () => new Date(Date.now() + ahead),
    wait: (ms) => {
      ahead += ms;
      return Promise.resolve();
    },
    ...options,
  });
  const hits: Hit[] = [];
  sandbox.app.addHook('onResponse', async ({ method, routeOptions, query, body }) => {
    const path = (routeOptions.url ?? '').replace(/^\/api\/v1/, '').replace(/:(\w+)/g, '{$1}');
    hits.push({ route: `${method} ${path}`, query: query as Hit['query'], body });
  });
  await sandbox.listen();
  onTestFinished(() => sandbox.close());
  const [client] = sandbox.clients;
  if (client === undefined) expect.unreachable();
  const folder = await temporaryFolder();
  const given = {
    SERVICE_BASE_URL: sandbox.baseUrl(),
    SERVICE_SITE_URL: sandbox.siteUrl(),
    SERVICE_API_KEY: client.apiKey,
    SERVICE_SITE_KEY: client.siteKey,
    WEBHOOK_SECRETS: client.webhookSecret,
  };
  const run = (args: string, more: Record<string, string> = {}): Promise<Ran> =>
    runIn(folder, args.split(' '), { env: environment(folder, { ...given, ...more }) });
  return {
    sandbox,
    client,
    folder,
    hits,
    run,
    /** Runs a command that must succeed, and returns its JSON. */
    async json<T>(args: string): Promise<T> {
      const ran = await run(`${args} --json`);
      if (ran.code !== 0) throw new Error(`${args} ended with ${ran.code}:\n${ran.stdout}\n${ran.stderr}`);
      return JSON.parse(ran.stdout) as T;
    },
    async states(): Promise<string[]> {
      const { stdout } = await run('policy calls --json');
      return (JSON.parse(stdout) as { state: string }[]).map(({ state }) => state);
    },
    sent: (route: string): Hit[] => hits.filter((hit) => hit.route === route),
    generated: (): number => sandbox.worlds[0]?.shelf.used() ?? 0,
    pass(milliseconds: number): void {
      ahead += milliseconds;
    },
    writeItems(name: string, count: number): Promise<void> {
      const lines = Array.from({ length: count }, (_, nth) => `imprint,DE,${name} ${nth}`);
      return writeFile(`${folder}/${name}.csv`, ['policy_type,jurisdiction,business_name', ...lines].join('\n'));
    },
    /** Records this many calls with the same key at that time, as if another process had made them. */
    async fillSlots(count: number, at: Date): Promise<void> {
      const store = await openStoreIn(folder);
      const slot = await store.read.selectFrom('call_slots').selectAll().executeTakeFirstOrThrow();
      const rows = Array.from({ length: count }, (_, nth) => ({
        ...slot,
        request_id: `elsewhere ${nth}`,
        at: at.toISOString(),
      }));
      await store.transaction((tx) => tx.insertMany('call_slots', rows));
      await store.close();
    },
  };
}
type World = Awaited<ReturnType<typeof createWorld>>;

const GENERATE = 'policy generate --type imprint --jurisdiction DE';

async function generate(world: World): Promise<string> {
  return (await world.json<{ policy: { id: string } }>(GENERATE)).policy.id;
}

interface Endpoint {
  /** The matching routes of the sandbox; empty if it is not called, with the reason in `why`. */
  readonly routes: readonly string[];
  readonly why?: string;
  readonly drive?: (world: World) => Promise<void>;
}

/** By the headings of docs/service.md §4. */
const endpoints: Readonly<Record<string, Endpoint>> = {
  '4.1 POST /policies/generate': {
    routes: ['POST /policies/generate'],
    async drive(world) {
      const flags = '--language de --business-name Acme --domain acme.example --industry saas --business-type gmbh';
      expect((await world.run(`${GENERATE} ${flags}`)).code).toBe(0);
      const b =
        'policy generate --form b --type cookie-policy --jurisdiction DE --jurisdiction FR --tone plain --clause Bikes!';
      const made = await world.json<{ policy: Record<string, unknown> }>(b);
      expect(made.policy).toMatchObject({ policyType: 'cookie-policy', version: '1' });
      expect(made.policy['html']).toContain('Bikes!');
      expect(world.hits.map(({ body }) => body)).toEqual([
        {
          policy_type: 'imprint',
          jurisdiction: 'DE',
          language: 'de',
          business_name: 'Acme',
          domain: 'acme.example',
          industry: 'saas',
          business_type: 'gmbh',
        },
        { type: 'cookie_policy', jurisdiction: ['DE', 'FR'], tone: 'plain', custom_clauses: ['Bikes!'] },
      ]);
    },
  },
  '4.2 POST /policies/bulk': {
    routes: ['POST /policies/bulk'],
    async drive(world) {
      await world.writeItems('items', 3);
      const ended = await world.json<{ counts: unknown }>('policy bulk --file items.csv');
      expect(ended.counts).toEqual({ created: 3 });
    },
  },
  '4.3 GET /policies': {
    routes: ['GET /policies'],
    async drive(world) {
      const other = await createWorld({ overrides: { list: 'cursor' } });
      for (const one of [world, other]) {
        const id = await generate(one);
        expect((await one.run(`policy publish ${id} --no-wait`)).code).toBe(0);
        const { policies } = await one.json<{ policies: { policyId: string }[] }>('policy list');
        expect(policies.map(({ policyId }) => policyId)).toContain(id);
      }
    },
  },
  '4.4 POST /policies/{id}/publish': {
    routes: ['POST /policies/{id}/publish'],
    async drive(world) {
      const id = await generate(world);
      const ended = await world.json<{ published: unknown }>(`policy publish ${id}`);
      expect(ended.published).toMatchObject({ id, webhooksQueued: 0 });
    },
  },
  '4.5 GET /consent/logs': {
    routes: ['GET /consent/logs'],
    async drive(world) {
      const [banner] = world.client.banners;
      expect((await world.run('sync')).code).toBe(0);
      const period = `--from 2020-01-01 --to 2100-01-01 --banner ${banner?.id}`;
      expect((await world.run(`sync ${period}`)).code).toBe(0);
      const named = new Set(world.sent('GET /consent/logs').flatMap(({ query }) => Object.keys(query)));
      expect([...named].sort()).toEqual(['banner_id', 'cursor', 'from', 'limit', 'to']);
    },
  },
  '4.6 GET /openapi': {
    routes: ['GET /openapi'],
    async drive(world) {
      // Sends network requests only if there is an installation.
      await world.json('policy calls');
      expect((await world.run('doctor --public')).stdout).toContain('covers everything this program uses');
    },
  },
  '4.7 GET {site_url}/api/embed/policy': {
    routes: ['GET /api/embed/policy', 'GET /policy/{type}/{id}'],
    async drive(world) {
      const id = await generate(world);
      await world.json(`policy publish ${id} --no-wait`);
      await world.json('policy list');
      const looks = await world.json<{ target: string }[]>('policy snapshot --type imprint');
      expect(looks.map(({ target }) => target)).toEqual(['embed:imprint']);
      const [page] = await world.json<{ target: string }[]>(`policy snapshot --policy ${id}`);
      expect(page?.target).toBe(`hosted:${id}`);
    },
  },
  '4.8 Embed script': { routes: [], why: 'runs in visitors’ browsers' },
  '4.9 MCP endpoint': {
    routes: ['POST /api/mcp'],
    async drive(world) {
      const made = await world.json<{ policy: unknown }>(`${GENERATE} --via mcp`);
      expect(made.policy).toMatchObject({ policyType: 'imprint', jurisdiction: 'DE', remaining: 499 });
    },
  },
  '4.10 Not covered': { routes: [], why: 'has no endpoint' },
};

/** Routes of the description that no command calls. */
const notCalled: readonly string[] = [
  // For visitors’ browsers.
  'GET /embed.js',
  // Does not exist: the endpoint keeps no sessions.
  'GET /api/mcp',
  'DELETE /api/mcp',
];

describe('every endpoint', () => {
  it('in docs/service.md and in the sandbox’s description has its command here', async () => {
    const headings = [...section('4').matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
    expect(headings.length).toBeGreaterThan(8);
    expect(Object.keys(endpoints)).toEqual(headings);
    const { sandbox } = await createWorld();
    const answer = await fetch(`${sandbox.siteUrl()}/openapi`);
    const { paths } = (await answer.json()) as { paths: Record<string, Record<string, unknown>> };
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).flatMap((name) => (name === 'servers' ? [] : [`${name.toUpperCase()} ${path}`])),
    );
    const driven = Object.values(endpoints).flatMap(({ routes }) => routes);
    expect([...driven, ...notCalled].sort()).toEqual(described.sort());
    expect(Object.values(endpoints).every(({ drive, why }) => (drive === undefined) !== (why === undefined))).toBe(
      true,
    );
  });

  it.each(Object.entries(endpoints).filter(([, { drive }]) => drive !== undefined))(
    '%s is reached by a command',
    async (_name, { routes, drive }) => {
      const world = await createWorld({ consentRows: 450 });
      await drive?.(world);
      expect(world.hits.map(({ route }) => route)).toEqual(expect.arrayContaining([...routes]));
    },
  );

  it('accepts the legacy key, about which `doctor` warns, and refuses keys with the wrong scope', async () => {
    const world = await createWorld();
    const withKey = (SERVICE_API_KEY: string, args: string) => world.run(args, { SERVICE_API_KEY });
    const { siteKey, revokedKey, readKey, writeKey } = world.client;
    expect((await withKey(siteKey, GENERATE)).code).toBe(0);
    expect((await withKey(siteKey, 'doctor')).stdout).toContain('legacy site key');
    const revoked = await withKey(revokedKey, GENERATE);
    expect([revoked.code, revoked.stdout]).toEqual([1, expect.stringMatching(/^Not generated: .*API key.*401/)]);
    const readOnly = await withKey(readKey, GENERATE);
    expect([readOnly.code, readOnly.stdout]).toEqual([1, expect.stringMatching(/403.*write scope/)]);
    const writeOnly = await withKey(writeKey, 'policy list');
    expect([writeOnly.code, writeOnly.stdout]).toEqual([1, expect.stringMatching(/403.*read|403.*scope/s)]);
    const none = await withKey('', GENERATE);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('SERVICE_API_KEY')]);
    expect(JSON.stringify([revoked, readOnly, writeOnly])).not.toMatch(/pak_live_\w{8}/);
  });
});

interface Refusal {
  /** Makes the sandbox respond like this. */
  readonly cause: (world: World) => void;
  readonly command: string;
  /** The message to the person. */
  readonly says: RegExp;
  readonly state: 'refused' | 'unknown' | 'done';
  /** The steps that follow. */
  readonly then?: (world: World) => Promise<void>;
}

/** By the statuses of docs/service.md §7. */
const statuses: Readonly<Record<string, Refusal>> = {
  '400': {
    cause: ({ sandbox }) => sandbox.faults.set([{ name: 'bad-request', on: 'generate' }]),
    command: GENERATE,
    says: /^Not generated: .*refused the request as invalid; nothing was generated\. .*HTTP 400.*Check the policy type/,
    state: 'refused',
  },
  '401': {
    cause: ({ sandbox }) => sandbox.faults.set([{ name: 'unauthorized' }]),
    command: GENERATE,
    says: /^Not generated: .*does not accept the API key\. .*HTTP 401.*set it as the source’s API key/,
    state: 'refused',
  },
  '402': {
    cause: ({ client }) => (client.account = 'expired'),
    command: GENERATE,
    says: /^Not generated: The subscription .*nothing was generated\. .*HTTP 402.*Renew it/,
    state: 'refused',
    async then({ client, run }) {
      expect((await run('policy list')).stdout).toMatch(/HTTP 402/);
      client.account = 'active';
      expect((await run(GENERATE)).code).toBe(0);
    },
  },
  '403': {
    cause: ({ client }) => (client.account = 'no-api'),
    command: GENERATE,
    says: /^Not generated: The API key may not do this; nothing was generated\. .*HTTP 403.*plan includes API access/,
    state: 'refused',
  },
  '404': {
    cause: () => undefined,
    command: 'policy publish pol_nobody_knows',
    says: /^Not published: The service does not know this policy.*HTTP 404.*policy list/,
    state: 'refused',
  },
  '429': {
    cause: ({ sandbox }) =>
      sandbox.faults.set([{ name: 'too-many-requests', on: 'generate', retryAfter: 3600, times: 1 }]),
    command: GENERATE,
    says: /^Not generated: .*rate limit is exceeded; nothing was generated\. .*HTTP 429.*asks clients to wait 3600 s\./,
    state: 'refused',
    async then({ run, sent, sandbox }) {
      // Another process knows the wait, and sends nothing.
      const second = await run(`${GENERATE} --language de`);
      expect([second.code, second.stdout]).toEqual([
        1,
        expect.stringMatching(
          /^Not sent: the rate limit allows nothing before .* \(the service answered 429 and asked this API key to wait\)/,
        ),
      ]);
      expect(sent('POST /policies/generate')).toHaveLength(1);
      // A read is retried automatically.
      sandbox.faults.set([{ name: 'too-many-requests', on: 'list', retryAfter: 1, times: 1 }]);
      expect((await run('policy list')).code).toBe(0);
      expect(sent('GET /policies')).toHaveLength(2);
    },
  },
  '500': {
    cause: ({ sandbox }) => sandbox.faults.set([{ name: 'server-error', on: 'generate', times: 1 }]),
    command: GENERATE,
    says: /^Outcome unknown: the service may or may not have done it\. .*HTTP 500.*allows repeating.*policy settle req-/s,
    state: 'unknown',
    async then({ run, sent }) {
      expect((await run(GENERATE)).stdout).toMatch(/^Not sent: an identical request/);
      expect(sent('POST /policies/generate')).toHaveLength(1);
      expect((await run(`${GENERATE} --again`)).code).toBe(0);
    },
  },
};

describe('every status', () => {
  it('in docs/service.md has its case here', () => {
    const [, listed = ''] = /the statuses ([\d, and]+),/.exec(section('7')) ?? [];
    expect(Object.keys(statuses)).toEqual(listed.match(/\d+/g));
  });

  it.each(Object.entries(statuses))('%s is explained in plain words, with what to do', async (_status, one) => {
    const world = await createWorld();
    one.cause(world);
    const ran = await world.run(one.command);
    expect([ran.code, ran.stdout]).toEqual([1, expect.stringMatching(one.says)]);
    expect(await world.states()).toEqual([one.state]);
    expect(world.generated()).toBe(0);
    await one.then?.(world);
  });
});

/** By the rows of docs/service.md §8. */
const limits: Readonly<Record<string, () => Promise<void>>> = {
  async 'time of a generation'() {
    const world = await createWorld({ generateMs: 100_000 });
    const began = Date.now();
    const made = await world.json<{ policy: { createdAt: string } }>(GENERATE);
    // By the sandbox's clock, which jumps; the program would wait by its own clock.
    expect(Date.parse(made.policy.createdAt) - began).toBeGreaterThanOrEqual(100_000);
    expect(GENERATE_TIMEOUT_MS).toBeGreaterThan(120_000);
  },
  async 'items of a batch'() {
    const world = await createWorld();
    await world.writeItems('items', 21);
    const tooLarge = await world.run('policy bulk --file items.csv --batch-size 21');
    expect([tooLarge.code, tooLarge.stderr]).toEqual([2, expect.stringContaining('at most 20 items per batch')]);
    expect((await world.run('policy bulk --file items.csv')).code).toBe(0);
    const sizes = world.sent('POST /policies/bulk').map(({ body }) => (body as { items: unknown[] }).items.length);
    expect(sizes).toEqual([20, 1]);
  },
  async 'batches per key'() {
    const world = await createWorld();
    await world.writeItems('items', 6);
    const flags = 'policy bulk --file items.csv --batch-size 1 --no-wait';
    const sixth = await world.run(flags);
    expect([sixth.code, sixth.stdout]).toEqual([1, expect.stringContaining('(5 batches a minute per API key)')]);
    expect(world.generated()).toBe(5);
    await world.fillSlots(15, new Date(Date.now() - 3_600_000));
    const next = await world.run(`${flags} --resume`);
    expect([next.code, next.stdout]).toEqual([1, expect.stringContaining('(20 batches a day per API key)')]);
    // The service never got more calls than it allows.
    expect(world.sent('POST /policies/bulk')).toHaveLength(5);
    expect(await world.states()).toEqual(Array(5).fill('done'));
  },
  async 'generations per key'() {
    const world = await createWorld();
    await generate(world);
    await world.fillSlots(19, new Date());
    for (const via of ['rest', 'mcp']) {
      const next = await world.run(`${GENERATE} --no-wait --via ${via}`);
      expect([next.code, next.stdout]).toEqual([1, expect.stringContaining('(20 generations a minute per API key)')]);
    }
    expect(world.generated()).toBe(1);
  },
  async 'rows of a page of consent logs'() {
    const world = await createWorld({ consentRows: 450 });
    expect((await world.run('sync')).code).toBe(0);
    const asked = world.sent('GET /consent/logs').filter(({ query }) => query['banner_id'] === undefined);
    expect(asked.map(({ query }) => query['limit'])).toEqual(['200', '200', '200']);
  },
  async 'embed responses'() {
    const world = await createWorld();
    const publish = async () => {
      const { policy } = await world.json<{ policy: { id: string } }>(
        `${GENERATE} --business-name Shop${world.generated()}`,
      );
      await world.json(`policy publish ${policy.id} --no-wait`);
    };
    const look = async () => {
      const [row] = await world.json<{ unchanged: boolean }[]>('policy snapshot --type imprint');
      return row?.unchanged;
    };
    await publish();
    expect(await look()).toBe(false);
    await publish();
    world.pass(150_000);
    expect(await look()).toBe(true);
    world.pass(151_000);
    expect(await look()).toBe(false);
  },
};

describe('every limit', () => {
  it('in docs/service.md has its case here', () => {
    const rows = [...section('8').matchAll(/^\| ([^|]+) \| [^|]+ \|$/gm)].map(([, what]) => what);
    expect(rows[0]).toBe('what');
    expect(Object.keys(limits)).toEqual(rows.slice(1));
  });

  it.each(Object.entries(limits))('%s is respected by the program', (_name, holds) => holds());

  it('quota: a batch beyond it is processed in part, and a single generation is refused', async () => {
    const world = await createWorld({ quota: 3 });
    await world.writeItems('items', 5);
    const ended = await world.run('policy bulk --file items.csv');
    expect(ended.code).toBe(1);
    expect(ended.stdout).toMatch(/5 items: 3 created, 2 skipped \(beyond the quota\).*quota of the plan is used up/s);
    expect((await world.run(GENERATE)).stdout).toMatch(/HTTP 402.*quota/);
    expect(world.generated()).toBe(3);
  });
});
