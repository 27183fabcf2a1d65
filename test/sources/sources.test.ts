import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Source, WebhookSecret } from '../../src/core/source.ts';
import { webhookSecretOf } from '../../src/crypto/keys.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import type { SourceChanges } from '../../src/sources/changes.ts';
import { ONLY_SECRET } from '../../src/sources/changes.ts';
import type { Sources } from '../../src/sources/sources.ts';
import { createSources, REFRESH_MILLISECONDS, type SourcesOptions } from '../../src/sources/sources.ts';
import type { Store } from '../../src/store/store.ts';
import { PATIENTLY, temporaryStore, testKeys } from '../temporary.ts';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const API = 'https://service.example/api/v1';
const configured: Source = {
  slug: 'default',
  name: 'Default',
  baseUrl: API,
  siteUrl: null,
  apiKey: 'pak_live_configured',
  siteKey: null,
  webhookSecrets: [{ id: 'aaaa', value: 'configured-secret' }],
  options: { banners: [], fieldNames: {}, assumedOffset: '+00:00', controllerFile: null, subjectRecipe: null },
};

async function open(store: Store, options: Partial<SourcesOptions> = {}): Promise<Sources> {
  const ledger = createLedger({ store, keys: testKeys });
  const sources = await createSources({
    store,
    ledger,
    keys: testKeys,
    clock: () => NOW,
    configured: null,
    ...options,
  });
  onTestFinished(async () => {
    sources.close();
    await ledger.close();
  });
  return sources;
}

async function actionsIn(store: Store): Promise<unknown[]> {
  const rows = await store.read.selectFrom('entries').selectAll().orderBy('seq').execute();
  return rows.map(({ source, kind, body }) => ({ source, kind, ...JSON.parse(String(body)) }));
}

test('the source list refuses a name that does not read as it is written, and takes one in any script', async () => {
  const sources = await open(await temporaryStore());
  for (const name of ['Acme\u202excod.exe', 'Ac\u0000me', 'Acme\nLtd', 'Ac\u2066me', '\ud800'])
    expect(await sources.add({ slug: 'acme', name }, 'cli:anna')).toEqual({
      outcome: 'invalid',
      problems: ['name: must be one line of text without control characters or direction marks'],
    });
  for (const [slug, name] of Object.entries({ fa: 'می\u200cخواهم', he: 'חברה בע״מ', zh: '阿克米' }))
    expect(await sources.add({ slug, name }, 'cli:anna')).toMatchObject({ outcome: 'done', source: { name } });
});

test('the source list finds an added source, even after a restart, and records it without its secrets', async () => {
  const store = await temporaryStore();
  const sources = await open(store);
  const added = await sources.add(
    { slug: 'acme', name: 'Acme', baseUrl: `${API}/`, apiKey: 'pak_live_hush', webhookSecrets: ['hush-secret-one'] },
    'cli:anna',
  );
  expect(added).toMatchObject({
    outcome: 'done',
    seq: 1,
    source: { slug: 'acme', baseUrl: API, apiKey: 'pak_live_hush' },
  });
  const again = await open(store);
  expect(again.find('acme')).toEqual(sources.find('acme'));
  expect(again.find('acme')?.webhookSecrets).toEqual([
    { id: expect.stringMatching(/^[0-9a-f]{8}$/), value: 'hush-secret-one' },
  ]);
  expect(await actionsIn(store)).toEqual([
    {
      source: 'installation',
      kind: 'action',
      action: 'source.added',
      actor: 'cli:anna',
      sourceSlug: 'acme',
      changed: ['name', 'baseUrl', 'apiKey', expect.stringMatching(/^webhookSecrets \+[0-9a-f]{8}$/)],
      options: { assumedOffset: '+00:00', banners: [], controllerFile: null, fieldNames: {}, subjectRecipe: null },
    },
  ]);
});

test('the source list keeps no secret in the database in clear text', async () => {
  const store = await temporaryStore();
  const sources = await open(store);
  await sources.add(
    { slug: 'acme', apiKey: 'pak_live_hush', siteKey: 'pk_hush', webhookSecrets: ['hush-secret-one'] },
    'cli',
  );
  await sources.rotateSecret('acme', 'hush-secret-two', 'cli');
  const rows = await store.read.selectFrom('sources').selectAll().execute();
  const entries = await store.read.selectFrom('entries').selectAll().execute();
  const all = [...rows, ...entries].flatMap((row) => Object.values(row).map(String)).join('\n');
  expect(all).toContain('acme');
  expect(all).not.toContain('hush');
});

test('the source list accepts the old secret as well as the new one until it is retired', async () => {
  const store = await temporaryStore();
  const sources = await open(store);
  await sources.add({ slug: 'acme', webhookSecrets: ['old-secret'] }, 'cli');
  expect(await sources.rotateSecret('acme', 'new-secret', 'cli')).toMatchObject({ outcome: 'done' });
  const values = () => sources.find('acme')?.webhookSecrets.map(({ value }) => value);
  expect(values()).toEqual(['new-secret', 'old-secret']);
  expect(await sources.rotateSecret('acme', 'new-secret', 'cli')).toEqual({ outcome: 'exists' });
  const old = sources.find('acme')?.webhookSecrets[1]?.id ?? '';
  expect(await sources.retireSecret('acme', old, 'cli')).toMatchObject({ outcome: 'done' });
  expect(values()).toEqual(['new-secret']);
  expect(await sources.retireSecret('acme', old, 'cli')).toEqual({ outcome: 'unknown' });
  expect(await sources.rotateSecret('nobody', 'x', 'cli')).toEqual({ outcome: 'unknown' });
});

test('the source list sees a change by another process within a second', async () => {
  expect(REFRESH_MILLISECONDS).toBeLessThanOrEqual(1000);
  const store = await temporaryStore();
  const server = await open(store);
  const command = await open(store);
  expect(server.find('acme')).toBeNull();
  await command.add({ slug: 'acme', webhookSecrets: ['secret'] }, 'cli');
  await vi.waitFor(() => expect(server.find('acme')).not.toBeNull(), PATIENTLY);
  await command.rotateSecret('acme', 'another', 'cli');
  await vi.waitFor(() => expect(server.find('acme')?.webhookSecrets).toHaveLength(2), PATIENTLY);
});

test('the source list adds a slug once, even if two processes try at once', async () => {
  const store = await temporaryStore();
  const [one, two] = [await open(store), await open(store)];
  const outcomes = await Promise.all([
    one.add({ slug: 'acme', name: 'A' }, 'a'),
    two.add({ slug: 'acme', name: 'B' }, 'b'),
  ]);
  expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['done', 'exists']);
  expect(await one.add({ slug: 'acme' }, 'a')).toEqual({ outcome: 'exists' });
  expect(await actionsIn(store)).toHaveLength(1);
});

test('the source list keeps one signing secret, though twenty processes that know of two retire both at once', async () => {
  const store = await temporaryStore();
  const first = await open(store);
  await first.add({ slug: 'acme', webhookSecrets: ['one', 'two'] }, 'a');
  const [one = '', two = ''] = first.find('acme')?.webhookSecrets.map(({ id }) => id) ?? [];
  const others = await Promise.all(Array.from({ length: 20 }, () => open(store)));
  expect(await first.retireSecret('acme', one, 'a', { keepsOne: true })).toMatchObject({ outcome: 'done' });
  expect(others.map((other) => other.find('acme')?.webhookSecrets.length)).toEqual(Array(20).fill(2));
  const outcomes = await Promise.all(others.map((other) => other.retireSecret('acme', two, 'a', { keepsOne: true })));
  expect(outcomes).toEqual(Array(20).fill({ outcome: 'invalid', problems: [ONLY_SECRET] }));
  expect(others[0]?.find('acme')?.webhookSecrets.map(({ id }) => id)).toEqual([two]);
});

test('the source list reports a conflict to the second of two concurrent changes', async () => {
  const store = await temporaryStore();
  // Both have read before either writes.
  let waiting = 2;
  let letGo = () => {};
  const both = new Promise<void>((resolve) => (letGo = resolve));
  const openSlow = () => {
    const ledger = createLedger({ store, keys: testKeys });
    const append: typeof ledger.append = async (...given) => {
      if (--waiting === 0) letGo();
      await both;
      return ledger.append(...given);
    };
    return open(store, { ledger: { ...ledger, append } });
  };
  await (await open(store)).add({ slug: 'acme' }, 'a');
  const [one, two] = [await openSlow(), await openSlow()];
  const outcomes = await Promise.all([
    one.change('acme', { name: 'One' }, 'a'),
    two.change('acme', { name: 'Two' }, 'b'),
  ]);
  expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['conflict', 'done']);
  expect(await two.change('acme', { name: 'Three' }, 'b')).toMatchObject({
    outcome: 'done',
    source: { name: 'Three' },
  });
  await one.refresh();
  expect(one.find('acme')?.name).toBe('Three');
});

test('the source list counts many changes within one millisecond as many versions', async () => {
  const sources = await open(await temporaryStore());
  await sources.add({ slug: 'acme' }, 'a');
  for (const name of ['1', '2', '3'])
    expect(await sources.change('acme', { name }, 'a')).toMatchObject({ outcome: 'done' });
});

test('the source list says what changed, and writes nothing if nothing did', async () => {
  const store = await temporaryStore();
  const sources = await open(store);
  await sources.add({ slug: 'acme', baseUrl: API, apiKey: 'pak_live_1' }, 'a');
  const options = { ...configured.options, banners: ['b1'] };
  expect(await sources.change('acme', { apiKey: 'pak_live_2', baseUrl: API, options }, 'a')).toMatchObject({
    outcome: 'done',
    source: { apiKey: 'pak_live_2', options: { banners: ['b1'] } },
  });
  expect((await actionsIn(store))[1]).toMatchObject({ action: 'source.changed', changed: ['apiKey', 'options'] });
  expect(await sources.change('acme', { apiKey: 'pak_live_2' }, 'a')).toEqual({ outcome: 'unchanged' });
  expect(await actionsIn(store)).toHaveLength(2);
});

test('the source list has the configured source with the others, and changes only its options and signing secrets', async () => {
  const store = await temporaryStore();
  const sources = await open(store, { configured });
  await sources.add({ slug: 'acme' }, 'a');
  expect(sources.list().map(({ slug }) => slug)).toEqual(['acme', 'default']);
  expect(sources.find('default')).toEqual(configured);
  expect(await sources.add({ slug: 'default' }, 'a')).toEqual({ outcome: 'exists' });
  expect(await sources.change('default', { apiKey: 'x' }, 'a')).toEqual({ outcome: 'configured' });
  expect(await sources.offboard('default', { reason: null, openCases: 0 }, 'a')).toEqual({ outcome: 'configured' });
  const options = { ...configured.options, banners: ['b1'] };
  expect(await sources.change('default', { options }, 'a')).toMatchObject({ outcome: 'done' });
  expect(sources.find('default')).toEqual({ ...configured, options });
});

test('the source list refuses invalid input without repeating a secret', async () => {
  const sources = await open(await temporaryStore());
  const refused = await sources.add(
    {
      slug: 'Installation!',
      baseUrl: 'ftp://x',
      siteUrl: 'https://x/path',
      apiKey: 'hush hush',
      webhookSecrets: [' hush '],
    },
    'a',
  );
  if (refused.outcome !== 'invalid') throw new Error(refused.outcome);
  expect(refused.problems.map((problem) => problem.split(':')[0])).toEqual([
    'slug',
    'baseUrl',
    'siteUrl',
    'apiKey',
    'webhookSecrets.0',
  ]);
  expect(refused.problems.join()).not.toContain('hush');
  expect(await sources.add({ slug: 'installation' }, 'a')).toMatchObject({ outcome: 'invalid' });
});

test('the source list refuses credentials moved to another source or address, and reports the source as damaged', async () => {
  const store = await temporaryStore();
  const sources = await open(store);
  await sources.add({ slug: 'acme', baseUrl: API, apiKey: 'pak_live_1' }, 'a');
  await sources.add({ slug: 'other', baseUrl: API, apiKey: 'pak_live_2' }, 'a');
  await store.transaction(async ({ query }) => {
    await query
      .updateTable('sources')
      .set({ base_url: 'https://attacker.example/api/v1' })
      .where('slug', '=', 'acme')
      .execute();
  });
  const again = await open(store);
  expect(again.find('acme')).toBeNull();
  expect(again.damaged()).toEqual(['acme']);
  expect(again.list().map(({ slug }) => slug)).toEqual(['other']);
});

test('the source list keeps the last known sources if the store cannot be read, and reports the failure', async () => {
  const store = await temporaryStore();
  const onRefreshError = vi.fn();
  let broken = false;
  const flaky: Store = {
    ...store,
    get read() {
      if (broken) throw new Error('the disk is away');
      return store.read;
    },
  };
  const sources = await open(flaky, { onRefreshError });
  await sources.add({ slug: 'acme' }, 'a');
  broken = true;
  await vi.waitFor(() => expect(onRefreshError).toHaveBeenCalled(), PATIENTLY);
  expect(sources.find('acme')).not.toBeNull();
});

test('the source list retires old secrets at the time given with the new one, and destroys them afterwards', async () => {
  const store = await temporaryStore();
  let now = NOW.getTime();
  const sources = await open(store, { clock: () => new Date(now) });
  await sources.add({ slug: 'acme', webhookSecrets: ['old-secret'] }, 'cli');
  const retireOthersAt = new Date(now + 86_400_000).toISOString();
  const rotated = await sources.rotateSecret('acme', '00ff', 'cli', { encoding: 'hex', retireOthersAt });
  expect(rotated).toMatchObject({ outcome: 'done' });
  const accepted = () => sources.find('acme')?.webhookSecrets.map(({ value, encoding }) => [value, encoding]);
  expect(accepted()).toEqual([
    ['00ff', 'hex'],
    ['old-secret', undefined],
  ]);
  expect([...sources.retirements('acme').values()]).toEqual([retireOthersAt]);
  expect((await actionsIn(store))[1]).toMatchObject({
    changed: [
      expect.stringMatching(/^webhookSecrets \+/),
      expect.stringMatching(/as hex$/),
      expect.stringMatching(/^webhookSecrets -[0-9a-f]{8} at 2026-03-02T10:00/),
    ],
  });
  expect(await sources.destroyRetired('schedule')).toBe(0);
  now += 86_400_000;
  expect(accepted()).toEqual([['00ff', 'hex']]);
  // Another process that starts later sees the same.
  expect((await open(store, { clock: () => new Date(now) })).find('acme')?.webhookSecrets).toHaveLength(1);
  expect(await sources.destroyRetired('schedule')).toBe(1);
  expect(await sources.destroyRetired('schedule')).toBe(0);
  expect(accepted()).toEqual([['00ff', 'hex']]);
  expect(await sources.rotateSecret('acme', 'not hex', 'cli', { encoding: 'hex' })).toEqual({
    outcome: 'invalid',
    problems: ['The secret is not valid hex.'],
  });
  expect(await sources.rotateSecret('acme', '00ff', 'cli', { encoding: 'hex' })).toEqual({ outcome: 'exists' });
});

test('the source list stops following an offboarded source, keeps its options, and restores it whenever it is added again', async () => {
  const store = await temporaryStore();
  const sources = await open(store);
  await sources.add(
    { slug: 'acme', apiKey: 'pak_live_1', webhookSecrets: ['hush-secret'], options: { banners: ['b1'] } },
    'a',
  );
  for (let round = 0; round < 2; round += 1) {
    expect(await sources.offboard('acme', { reason: 'contract ended', openCases: 0 }, 'a')).toMatchObject({
      outcome: 'done',
    });
    expect([sources.find('acme'), sources.list()]).toEqual([null, []]);
    expect(sources.findAny('acme')).toMatchObject({ apiKey: null, webhookSecrets: [], options: { banners: ['b1'] } });
    expect(sources.offboarded()).toMatchObject([{ source: { slug: 'acme' } }]);
    expect(await sources.change('acme', { name: 'x' }, 'a')).toEqual({ outcome: 'unknown' });
    expect(await sources.add({ slug: 'acme', options: { banners: ['b1'] } }, 'a')).toMatchObject({ outcome: 'done' });
    expect(sources.offboarded()).toEqual([]);
  }
  const left = (await actionsIn(store)).filter((one) => (one as { action: string }).action === 'source.offboarded');
  expect(left).toMatchObject([
    { reason: 'contract ended', destroyed: ['apiKey', expect.stringMatching(/^webhookSecrets [0-9a-f]{8}$/)] },
    { destroyed: [] },
  ]);
  expect(JSON.stringify(left)).not.toContain('hush');
});

test('the source list extends an open overlap, and changes nothing when repeated', async () => {
  const store = await temporaryStore();
  const sources = await open(store);
  await sources.add({ slug: 'acme', webhookSecrets: ['old-secret'] }, 'cli');
  await sources.rotateSecret('acme', 'new-secret', 'cli');
  const retireOthersAt = '2026-03-02T10:00:00.000Z';
  expect(await sources.rotateSecret('acme', 'new-secret', 'cli', { retireOthersAt })).toMatchObject({
    outcome: 'done',
  });
  const old = sources.find('acme')?.webhookSecrets[1]?.id ?? '';
  expect([...sources.retirements('acme')]).toEqual([[old, retireOthersAt]]);
  expect((await actionsIn(store)).at(-1)).toMatchObject({ changed: [`webhookSecrets -${old} at ${retireOthersAt}`] });
  expect(await sources.rotateSecret('acme', 'new-secret', 'cli', { retireOthersAt })).toEqual({ outcome: 'exists' });
  // An end is never moved to a later time by accident.
  const later = { retireOthersAt: '2026-04-01T00:00:00.000Z' };
  expect(await sources.rotateSecret('acme', 'new-secret', 'cli', later)).toEqual({ outcome: 'exists' });
});

test('re-reads nothing while many sources are added, and another process sees them all', async () => {
  const store = await temporaryStore();
  let reads = 0;
  const read = new Proxy(store.read, {
    get(target, name, receiver) {
      if (name !== 'selectFrom') return Reflect.get(target, name, receiver) as unknown;
      return (table: 'sources') => {
        if (table === 'sources') reads += 1;
        return target.selectFrom(table);
      };
    },
  });
  const sources = await open({ ...store, read });
  reads = 0;
  for (let n = 0; n < 60; n += 1)
    expect(await sources.add({ slug: `shop-${59 - n}`, webhookSecrets: [`secret-${n}`] }, 'a')).toMatchObject({
      outcome: 'done',
      source: { slug: `shop-${59 - n}` },
    });
  // A timed refresh may come in between.
  expect(reads).toBeLessThan(5);
  const slugs = sources.list().map(({ slug }) => slug);
  expect(slugs).toEqual([...slugs].sort());
  expect((await open(store)).list()).toEqual(sources.list());
});

describe('the signing secrets of the configured source', () => {
  const valuesOf = (sources: Sources) => sources.find('default')?.webhookSecrets.map(({ value }) => value);
  const [first, second] = ['configured-secret', 'another-configured-secret'].map(webhookSecretOf) as [
    WebhookSecret,
    WebhookSecret,
  ];
  const withSecrets = (...webhookSecrets: readonly WebhookSecret[]): Source => ({ ...configured, webhookSecrets });

  async function openAt(environment: Source) {
    const store = await temporaryStore();
    let now = NOW.getTime();
    const again = (another: Source | null = environment) =>
      open(store, { configured: another, clock: () => new Date(now) });
    return { store, sources: await again(), again, pass: (milliseconds: number) => (now += milliseconds) };
  }
  const DAY = 86_400_000;
  const retireOthersAt = new Date(NOW.getTime() + DAY).toISOString();

  test('are rotated: both are accepted until the old one ends, in every process and after a restart', async () => {
    const { store, sources, again, pass } = await openAt(withSecrets(first));
    const other = await again();
    expect(await sources.rotateSecret('default', 'new-secret', 'ann', { retireOthersAt })).toMatchObject({
      outcome: 'done',
    });
    expect(valuesOf(sources)).toEqual(['new-secret', first.value]);
    await vi.waitFor(() => expect(valuesOf(other)).toEqual(['new-secret', first.value]), PATIENTLY);
    expect([...sources.retirements('default')]).toEqual([[first.id, retireOthersAt]]);
    const { id } = webhookSecretOf('new-secret');
    expect([...sources.secretTimes('default')]).toEqual([
      [id, { addedAt: NOW.toISOString(), retireAt: null }],
      [first.id, { addedAt: null, retireAt: retireOthersAt }],
    ]);
    expect(sources.leftovers()).toEqual([]);
    pass(DAY);
    for (const one of [sources, other, await again()]) {
      expect(valuesOf(one)).toEqual(['new-secret']);
      expect([...one.retirements('default')]).toEqual([]);
      expect(one.leftovers()).toEqual([{ slug: 'default', id: first.id, endedAt: retireOthersAt }]);
    }
    expect(await sources.destroyRetired('schedule')).toBe(0);
    // Removed from the environment, and later put back by mistake.
    expect((await again(withSecrets())).leftovers()).toEqual([]);
    expect(valuesOf(await again(withSecrets(first, second)))).toEqual(['new-secret', second.value]);

    const recorded = await actionsIn(store);
    expect(recorded).toMatchObject([
      {
        action: 'source.changed',
        actor: 'ann',
        sourceSlug: 'default',
        changed: [`webhookSecrets +${id}`, `webhookSecrets -${first.id} at ${retireOthersAt}`],
      },
    ]);
    const rows = await store.read.selectFrom('sources').selectAll().execute();
    expect(JSON.stringify([recorded, rows.map((row) => Object.values(row).map(String))])).not.toMatch(
      /new-secret|configured-secret/,
    );
  });

  test('stay ended if they were added and ended here, and later put into the environment', async () => {
    const { sources, again, pass } = await openAt(withSecrets(first));
    await sources.rotateSecret('default', 'new-secret', 'a', { retireOthersAt });
    await sources.rotateSecret('default', 'newer-secret', 'a', { retireOthersAt });
    pass(DAY);
    expect(await sources.destroyRetired('schedule')).toBe(1);
    const restarted = await again(withSecrets(first, webhookSecretOf('new-secret')));
    expect(valuesOf(restarted)).toEqual(['newer-secret']);
    expect(restarted.leftovers().map(({ id }) => id)).toEqual([first.id, webhookSecretOf('new-secret').id]);
  });

  test('end at once when asked, and are accepted again when rotated to', async () => {
    const { store, sources, again } = await openAt(withSecrets(first, second));
    expect(await sources.rotateSecret('default', first.value, 'a')).toEqual({ outcome: 'exists' });
    expect(await sources.retireSecret('default', first.id, 'a')).toMatchObject({ outcome: 'done' });
    expect(await sources.retireSecret('default', first.id, 'a')).toEqual({ outcome: 'unknown' });
    expect(valuesOf(sources)).toEqual([second.value]);
    expect(valuesOf(await again())).toEqual([second.value]);
    expect(await sources.rotateSecret('default', first.value, 'a', { retireOthersAt })).toMatchObject({
      outcome: 'done',
    });
    expect(valuesOf(sources)).toEqual([first.value, second.value]);
    expect([...sources.retirements('default')]).toEqual([[second.id, retireOthersAt]]);
    expect((await actionsIn(store)).map((one) => (one as { changed: unknown }).changed)).toEqual([
      [`webhookSecrets -${first.id}`],
      [`webhookSecrets +${first.id}`, `webhookSecrets -${second.id} at ${retireOthersAt}`],
    ]);
  });

  test('continue as those of a source in the database once the environment sets nothing', async () => {
    const { sources, again, pass } = await openAt(withSecrets(first));
    await sources.rotateSecret('default', 'new-secret', 'a', { retireOthersAt });
    pass(DAY);
    const without = await again(null);
    expect(valuesOf(without)).toEqual(['new-secret']);
    expect(await without.rotateSecret('default', 'newer-secret', 'a')).toMatchObject({ outcome: 'done' });
    expect(await without.offboard('default', { reason: null, openCases: 0 }, 'a')).toMatchObject({ outcome: 'done' });
  });

  test('are all refused, and not changed, if the row was altered, since it is unknown which of them ended', async () => {
    const { store, sources, again } = await openAt(withSecrets(first));
    await sources.rotateSecret('default', 'new-secret', 'a', { retireOthersAt });
    await store.transaction(async ({ query }) => {
      await query
        .updateTable('sources')
        .set({ sealed: Buffer.from('altered') })
        .execute();
    });
    const after = await again();
    expect([after.damaged(), valuesOf(after)]).toEqual([['default'], []]);
    const refused = { outcome: 'invalid', problems: [expect.stringContaining('altered in the database')] };
    expect(await after.rotateSecret('default', 'newer-secret', 'a')).toEqual(refused);
    expect(await after.reread('default', 'a')).toEqual(refused);
  });
});

test('the source list refuses an address on this machine or a private network, unless the operator names it', async () => {
  const store = await temporaryStore();
  const sources = await open(store);
  const invalid = { outcome: 'invalid', problems: [expect.stringMatching(/^baseUrl: .*PRIVATE_ALLOWED_HOSTS/)] };
  const baseUrl = 'https://10.0.0.5/api/v1';
  expect(await sources.add({ slug: 'acme', baseUrl }, 'cli:anna')).toEqual(invalid);
  await sources.add({ slug: 'acme' }, 'cli:anna');
  expect(await sources.change('acme', { baseUrl }, 'cli:anna')).toEqual(invalid);
  expect(await sources.change('acme', { siteUrl: 'http://localhost:81' }, 'cli:anna')).toMatchObject({
    outcome: 'invalid',
    problems: [expect.stringMatching(/^siteUrl: /)],
  });
  const destinations = { httpAllowedHosts: [], privateAllowedHosts: ['10.0.0.5'] };
  const allowing = await open(store, { destinations });
  expect(await allowing.change('acme', { baseUrl }, 'cli:anna')).toMatchObject({ outcome: 'done' });
});

test('the source list keeps a stored key away from an address that it was not entered for', async () => {
  const sources = await open(await temporaryStore());
  const [site, elsewhere] = ['https://service.example', 'https://elsewhere.example'];
  const keys = { apiKey: 'pak_live_hush', siteKey: 'pk_hush' };
  await sources.add({ slug: 'acme', baseUrl: API, siteUrl: site, ...keys }, 'cli:anna');
  const change = (changes: SourceChanges) => sources.change('acme', changes, 'cli:anna');
  const again = (...fields: string[]) => ({
    outcome: 'invalid',
    problems: fields.map((field) => expect.stringMatching(new RegExp(`^${field}: must be entered again`))),
  });
  expect(await change({ baseUrl: `${elsewhere}/api/v1` })).toEqual(again('apiKey'));
  expect(await change({ baseUrl: `${elsewhere}/api/v1`, siteKey: 'pk_new' })).toEqual(again('apiKey'));
  // Another port or scheme is another place.
  expect(await change({ baseUrl: 'https://service.example:8443/api/v1' })).toEqual(again('apiKey'));
  // The API key also goes to the public address, for MCP.
  expect(await change({ siteUrl: elsewhere })).toEqual(again('apiKey', 'siteKey'));
  expect(await change({ siteUrl: elsewhere, apiKey: 'pak_live_hush' })).toEqual(again('siteKey'));
  // Neither in two steps.
  expect(await change({ baseUrl: null })).toMatchObject({ outcome: 'done' });
  expect(await change({ siteUrl: null })).toMatchObject({ outcome: 'done' });
  expect(await change({ baseUrl: `${elsewhere}/api/v1` })).toEqual(again('apiKey'));
  expect(sources.find('acme')).toMatchObject({ baseUrl: null, ...keys });
  expect(JSON.stringify(await change({ baseUrl: API, siteUrl: site }))).not.toContain('hush');
  // The same key entered again is one entered for the new address.
  expect(await change({ baseUrl: API, siteUrl: site, ...keys })).toMatchObject({ outcome: 'done' });
  expect(await change({ baseUrl: `${site}/v2/api/v1` })).toMatchObject({ outcome: 'done' });
  expect(await change({ baseUrl: `${elsewhere}/api/v1`, apiKey: null })).toMatchObject({ outcome: 'done' });
  expect(await change({ baseUrl: API, apiKey: 'pak_live_new' })).toMatchObject({ outcome: 'done' });
});

test('a source that another process added is found at once when it is asked for, with one query for many', async () => {
  const store = await temporaryStore();
  const [here, there] = [await open(store), await open(store)];
  await here.add({ slug: 'acme', name: 'Acme', webhookSecrets: ['hush-secret-one'] }, 'cli:anna');
  expect(there.find('acme')).toBeNull();
  const found = await Promise.all(Array.from({ length: 20 }, () => there.findNow('acme')));
  expect(new Set(found.map((source) => source?.slug))).toEqual(new Set(['acme']));
  expect(there.find('acme')?.webhookSecrets).toHaveLength(1);
  expect(await there.findNow('nobody')).toBeNull();
  expect(await there.findNow('__proto__')).toBeNull();
});
