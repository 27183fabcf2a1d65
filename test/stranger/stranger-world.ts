import { readFile, writeFile } from 'node:fs/promises';
import { expect, onTestFinished } from 'vitest';
import { runHere } from '../cli/command-line.ts';
import { environment, type Serving, startServing } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';
import { type DocumentedService, startDocumentedService } from './documented-service.ts';
import { plainReading, type Reading, type Step, steps } from './readings.ts';

/** An installation that follows several services, each with its own reading, and its running `serve`. */
export interface StrangerWorld {
  readonly serving: Serving;
  readonly services: ReadonlyMap<string, DocumentedService>;
  /** Runs a command that must succeed, and returns its JSON output. */
  json(...args: readonly string[]): Promise<never>;
  run(...args: readonly string[]): ReturnType<typeof runHere>;
  readonly folder: string;
}

/** Starts services and installation; stopped when the test ends. */
export async function createStrangerWorld(
  readings: Readonly<Record<string, Partial<Reading>>>,
): Promise<StrangerWorld> {
  const folder = await temporaryFolder();
  const services = new Map<string, DocumentedService>();
  const lines = ['slug,base_url,site_url,api_key,site_key,webhook_secrets,secret_encoding,banners'];
  for (const [slug, reading] of Object.entries(readings)) {
    const service = await startDocumentedService(reading);
    onTestFinished(() => service.close());
    services.set(slug, service);
    // If no data names a banner, the operator does.
    const { logBanner, consentRow, secret } = { ...plainReading, ...reading };
    const banner = logBanner === 'required' && consentRow === 'without a banner' ? 'banner-main' : '';
    const { baseUrl, siteUrl, apiKey, siteKey } = service;
    lines.push([slug, baseUrl, siteUrl, apiKey, siteKey, service.secret, secret, banner].join(','));
  }
  await writeFile(`${folder}/sources.csv`, lines.join('\n'));
  const env = environment(folder, { SYNC_SCHEDULE: 'off', LOG_LEVEL: 'error', WEBHOOK_SECRETS: '' });
  const run = (...args: readonly string[]) => runHere(folder, args, env);
  const imported = await run('source', 'import', 'sources.csv');
  expect(imported.code, imported.stderr).toBe(0);
  const serving = await startServing(folder, env);
  for (const [slug, service] of services) service.webhookUrl = `${serving.url}/webhooks/${slug}`;
  return {
    serving,
    services,
    folder,
    run,
    async json(...args) {
      const ran = await run(...args, '--json');
      expect(ran.code, `${args.join(' ')}\n${ran.stdout}\n${ran.stderr}`).toBe(0);
      return JSON.parse(ran.stdout) as never;
    },
  };
}

/** Does everything that people do with a source; each step is complete by itself. Throws if the companion fails. */
export async function takeSteps(
  world: StrangerWorld,
  slug: string,
  reading: Reading,
  wanted: readonly Step[],
): Promise<void> {
  const service = world.services.get(slug) ?? expect.fail(`no service ${slug}`);
  const walk: Record<Step, () => Promise<void>> = {
    key: async () => void (await world.json('source', 'check', slug)),
    policies: () => generateAndPublish(world, slug, reading, service),
    bulk: () => generateMany(world, slug, service),
    log: () => followLog(world, slug, reading, service),
    texts: () => keepTexts(world, slug, service),
    mcp: () => generateByMcp(world, slug, service),
  };
  for (const step of steps) if (wanted.includes(step)) await walk[step]();
}

async function generateAndPublish(
  world: StrangerWorld,
  slug: string,
  reading: Reading,
  service: DocumentedService,
): Promise<void> {
  const form =
    reading.generateRequest === 'b' ? ['--form', 'b'] : ['--business-name', 'Acme', '--domain', 'https://acme.example'];
  const out = `${world.folder}/${slug}.md`;
  for (const type of ['privacy-policy', 'imprint']) {
    const asked = [
      'policy',
      'generate',
      '--source',
      slug,
      '--type',
      type,
      '--jurisdiction',
      'GB',
      '--out',
      out,
      ...form,
    ];
    const made: { outcome: string; policy: { id: string } } = await world.json(...asked);
    const policy = service.policies.at(-1) ?? expect.fail('nothing was generated');
    expect(made).toMatchObject({ outcome: 'done', policy: { id: String(policy.id) } });
    expect(await readFile(out, 'utf8')).toBe(policy.markdown);
  }
  const ids = service.policies.map(({ id }) => String(id));
  const published = await world.run('policy', 'publish', ...ids, '--source', slug, '--seconds', '10');
  expect(published.code, published.stdout + published.stderr).toBe(0);
  expect(published.stdout.match(/arrived here within/g), published.stdout).toHaveLength(ids.length);
  if (reading.publishAddress === 'with its token') expect(published.stdout).toContain('token=');
  // Publishing again keeps the address.
  const again = await world.run('policy', 'publish', ids[0] ?? '', '--source', slug, '--no-wait');
  expect(again.code, again.stdout + again.stderr).toBe(0);
  const { policies }: { policies: { policyId: string; url: string }[] } = await world.json(
    'policy',
    'list',
    '--source',
    slug,
  );
  expect(policies.map(({ policyId }) => policyId).sort()).toEqual(ids.toSorted());
  for (const { url } of policies) expect((await fetch(url)).status, url).toBe(200);
}

async function generateMany(world: StrangerWorld, slug: string, service: DocumentedService): Promise<void> {
  const languages = ['en', 'de', 'fr'];
  const items = languages.map((language) => ({ policy_type: 'cookie-policy', jurisdiction: 'EU', language }));
  const file = `${world.folder}/${slug}.json`;
  await writeFile(file, JSON.stringify(items));
  const ran = await world.run('policy', 'bulk', '--source', slug, '--file', file, '--json');
  const { counts }: { counts: Record<string, number> } = JSON.parse(ran.stdout) as never;
  const made = service.policies.filter(({ type }) => type === 'cookie-policy').length;
  expect(counts, ran.stdout + ran.stderr).toMatchObject({ created: made });
  expect(ran.code, ran.stdout + ran.stderr).toBe(made === items.length ? 0 : 1);
}

async function followLog(
  world: StrangerWorld,
  slug: string,
  reading: Reading,
  service: DocumentedService,
): Promise<void> {
  const now = Date.now();
  const decide = (nth: number, hoursAgo: number) =>
    service.decide({
      visitor: `visitor ${nth}`,
      at: new Date(now - hoursAgo * 3_600_000 - nth * 1000),
      granted: nth % 3 !== 0,
    });
  for (let nth = 0; nth < 7; nth += 1) await decide(nth, 70 - nth * 9);
  expect(await pull(world, slug)).toBe(7);
  for (let nth = 7; nth < 10; nth += 1) await decide(nth, 0);
  expect(await pull(world, slug)).toBe(3);
  expect(await pull(world, slug)).toBe(0);
  // A banner without a log at the service is reported, and does not make the rest fail.
  if (reading.consentRow !== 'without a banner') {
    await service.decide({ banner: 'banner-gone', visitor: 'visitor', at: new Date(now - 1000), granted: true });
    expect(await pull(world, slug)).toBe(0);
  }
  const [from, to] = [-5, 2].map((days) => new Date(now + days * 86_400_000).toISOString().slice(0, 10)) as [
    string,
    string,
  ];
  const out = `${world.folder}/${slug}-reconciliation.json`;
  await world.json(
    'report',
    'reconciliation',
    '--source',
    slug,
    '--from',
    from,
    '--to',
    to,
    '--format',
    'json',
    '--out',
    out,
  );
  const report = JSON.parse(await readFile(out, 'utf8')) as Record<string, unknown>;
  const all = service.decisions.length;
  const other = reading.consentRow === 'without a banner' ? 0 : 1;
  expect(report).toMatchObject({
    agreement: {
      totals: { decisions: all + other, both: all, onlyPulled: 0, onlyWebhook: other },
      pulled: true,
      gaps: [],
      contradictions: [],
    },
    onlyPulled: [],
    contradicting: [],
  });
}

/** Pulls the log; resolves with the number of new rows. */
async function pull(world: StrangerWorld, slug: string): Promise<number> {
  const results: { banners: { rows: number; stored: number }[] }[] = await world.json('sync', '--source', slug);
  return results.flatMap(({ banners }) => banners).reduce((sum, { stored }) => sum + stored, 0);
}

async function keepTexts(world: StrangerWorld, slug: string, service: DocumentedService): Promise<void> {
  if (!service.policies.some(({ publishedAt }) => publishedAt !== null)) {
    await world.json('policy', 'generate', '--source', slug, '--type', 'privacy-policy', '--jurisdiction', 'GB');
    await world.json('policy', 'publish', String(service.policies.at(-1)?.id), '--source', slug);
  }
  const { id, type, markdown } = service.policies.find(({ publishedAt }) => publishedAt !== null) ?? expect.fail();
  await world.json('policy', 'list', '--source', slug);
  const taken: { target: string; outcome: string }[] = await world.json('policy', 'snapshot', '--source', slug);
  expect(taken.filter(({ outcome }) => !['taken', 'unchanged'].includes(outcome))).toEqual([]);
  expect(taken.map(({ target }) => target)).toEqual(
    expect.arrayContaining([`hosted:${id}`, `embed:${type}`, 'embed:hub']),
  );
  const sentence = markdown.split('\n\n')[1]?.replaceAll('*', '').trim() ?? '';
  for (const [way, name] of [
    ['hosted', String(id)],
    ['embed', type],
  ] as const) {
    const shown = await world.run('policy', 'text', name, '--source', slug, '--via', way);
    expect(shown.stdout.replaceAll('*', ''), shown.stderr).toContain(sentence);
  }
  service.revokeSiteKey();
  const refused = await world.run('policy', 'snapshot', '--source', slug, '--type', type, '--json');
  expect(refused.code, refused.stdout).toBe(1);
  const kept = await world.run('policy', 'text', type, '--source', slug, '--via', 'embed');
  expect(kept.stdout.replaceAll('*', ''), kept.stderr).toContain(sentence);
}

async function generateByMcp(world: StrangerWorld, slug: string, service: DocumentedService): Promise<void> {
  const asked = [
    'policy',
    'generate',
    '--via',
    'mcp',
    '--source',
    slug,
    '--type',
    'terms-of-service',
    '--jurisdiction',
    'DE',
  ];
  const made = await world.json(...asked);
  const policy = service.policies.at(-1);
  expect(made).toMatchObject({ outcome: 'done', policy: { id: String(policy?.id) } });
  expect(policy).toMatchObject({ type: 'terms-of-service', jurisdiction: 'DE' });
}
