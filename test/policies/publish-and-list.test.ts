import { describe, expect, it } from 'vitest';
import { findWarnings } from '../../src/attention/operator-warnings.ts';
import { sourceOptionsSchema } from '../../src/core/source.ts';
import { formASchema, generatePolicy } from '../../src/policies/generate.ts';
import {
  fetchPolicyList,
  findDisagreements,
  listedPolicyKey,
  loadCatalogue,
  loadListedLinks,
  loadPublishedLink,
} from '../../src/policies/list.ts';
import { awaitWebhooks, publishPolicy } from '../../src/policies/publish.ts';
import { settleCalls } from '../../src/policies/settle-calls.ts';
import { loadCalls, loadPolicy } from '../../src/policies/show.ts';
import { rebuild } from '../../src/projections/rebuild.ts';
import { calmSurroundings } from '../attention/surroundings.ts';
import { answeringServer, sendJson } from '../service/answering-server.ts';
import { createPolicyWorld, type PolicyWorld, patient } from './policy-world.ts';

const form = formASchema.parse({ policy_type: 'imprint', jurisdiction: 'DE' });

async function generate(world: PolicyWorld): Promise<string> {
  const made = await generatePolicy(world.deps, { ...patient, source: world.source, form });
  if (made.outcome !== 'done') expect.unreachable();
  return made.policy.id;
}

const published = (world: PolicyWorld, policyId: string) => ({
  event: 'policy.published',
  policy_id: policyId,
  policy_type: 'imprint',
  timestamp: world.now().toISOString(),
});

const rebuildOf = (world: PolicyWorld) =>
  rebuild({
    store: world.store,
    optionsUpTo: async () => ({ of: () => sourceOptionsSchema.parse({}), rereadAt: 0 }),
    batchSize: 2,
  });

describe('publishing', () => {
  it('gives the address without its token, the count of webhooks, and waits for them to arrive', async () => {
    const world = await createPolicyWorld();
    const policyId = await generate(world);
    const [client] = world.sandbox.clients;
    client?.endpoints.push({ url: 'http://127.0.0.1:9/nobody', events: 'all' });
    const ended = await publishPolicy(world.deps, { ...patient, source: world.source, policyId });
    if (ended.outcome !== 'done') expect.unreachable();
    expect(ended.published).toMatchObject({ id: policyId, webhooksQueued: 1 });
    expect(ended.published.hostedUrl).toMatch(/\/policy\/imprint\/pol_\w+$/);
    // The address shown to people works.
    expect((await fetch(ended.published.link ?? '')).status).toBe(200);
    expect((await fetch(ended.published.hostedUrl ?? '')).status).toBe(404);
    const wanted = { source: 'default', policyId, requestId: ended.requestId, queued: 1 };
    expect(await awaitWebhooks(world.deps, wanted, { waitMs: 500 })).toEqual([]);
    const arriving = awaitWebhooks(world.deps, wanted, { waitMs: 60_000 });
    await world.deliver(published(world, policyId));
    expect(await arriving).toHaveLength(1);
    const [view] = await loadPolicy(world.store.read, policyId);
    expect(view).toMatchObject({ policy: { status: 'published' }, history: [{ change: 'published' }] });
    expect(view?.asked).toMatchObject({ policy_type: 'imprint', jurisdiction: 'DE', language: 'en' });
    expect(await loadPublishedLink(world.store.read, view?.calls.at(-1))).toBe(ended.published.link);
    await fetchPolicyList(world.deps, { source: world.source, actor: 'test' });
    const links = await loadListedLinks(world.store.read, await loadCatalogue(world.deps, {}));
    expect((await fetch(links.get(listedPolicyKey('default', policyId)) ?? '')).status).toBe(200);
    expect(view?.calls.map(({ operation, state }) => `${operation} ${state}`)).toEqual([
      'generate done',
      'publish done',
    ]);
  });

  it('is sent again with {} if the service refuses an empty body, and with {} at once from then on', async () => {
    const world = await createPolicyWorld({ overrides: { publishBody: 'required' } });
    const policyId = await generate(world);
    const publish = () => publishPolicy(world.deps, { ...patient, source: world.source, policyId });
    const sent = async () =>
      (await world.entries()).flatMap(({ meta, body }) =>
        meta['call'] === 'intent' && meta['operation'] === 'publish' ? [String(body)] : [],
      );
    expect(await publish()).toMatchObject({ outcome: 'done' });
    expect(await sent()).toEqual(['', '{}']);
    expect(await publish()).toMatchObject({ outcome: 'done' });
    expect(await sent()).toEqual(['', '{}', '{}']);
  });

  it('of an unknown policy is refused with advice', async () => {
    const world = await createPolicyWorld();
    const ended = await publishPolicy(world.deps, { ...patient, source: world.source, policyId: 'pol_gone/../x' });
    if (ended.outcome !== 'refused') expect.unreachable();
    expect(ended.error.message).toMatch(/does not know this policy.*`consent-ledger policy list`/s);
  });

  it('whose answer was lost is settled by the webhook, or by the list that names it', async () => {
    const world = await createPolicyWorld({ faults: [{ name: 'cut-off', on: 'publish', times: 2 }] });
    const [byWebhook, byList] = [await generate(world), await generate(world)];
    for (const policyId of [byWebhook, byList])
      expect(await publishPolicy(world.deps, { ...patient, source: world.source, policyId })).toMatchObject({
        outcome: 'unknown',
      });
    await world.deliver(published(world, byWebhook));
    expect(await settleCalls(world.deps)).toMatchObject({ settled: 1 });
    await fetchPolicyList(world.deps, { source: world.source, actor: 'test' });
    expect(await settleCalls(world.deps)).toMatchObject({ settled: 1 });
    const settled = (await world.entries()).filter(({ meta }) => meta['call'] === 'settled');
    expect(settled.map(({ meta }) => [meta['basis'], meta['policyId']])).toEqual([
      ['webhook', byWebhook],
      ['list', byList],
    ]);
    expect((await loadCalls(world.store.read, { limit: 9, open: true })).length).toBe(0);
  });

  it('whose response was lost is settled by publishing the same policy again, and by no other publish', async () => {
    const world = await createPolicyWorld({ faults: [{ name: 'cut-off', on: 'publish', times: 2 }] });
    const [again, other] = [await generate(world), await generate(world)];
    const publish = (policyId: string) => publishPolicy(world.deps, { ...patient, source: world.source, policyId });
    expect([await publish(again), await publish(other)]).toMatchObject([
      { outcome: 'unknown' },
      { outcome: 'unknown' },
    ]);
    const done = await publish(again);
    if (done.outcome !== 'done') expect.unreachable();
    expect(await settleCalls(world.deps)).toMatchObject({ settled: 1 });
    expect(await settleCalls(world.deps)).toMatchObject({ settled: 0 });
    const settled = (await world.entries()).filter(({ meta }) => meta['call'] === 'settled');
    expect(settled.map(({ meta }) => meta)).toMatchObject([
      { basis: 'call', evidence: done.seq, happened: true, policyId: again, actor: 'consent-ledger' },
    ]);
    const open = await loadCalls(world.store.read, { limit: 9, open: true });
    expect(open.map(({ policy_id: id }) => id)).toEqual([other]);
  });

  it('is not settled by what was published before it, nor in another source', async () => {
    const world = await createPolicyWorld({ faults: [{ name: 'cut-off', on: 'publish', after: 1, times: 1 }] });
    const policyId = await generate(world);
    const publish = (source = world.source) => publishPolicy(world.deps, { ...patient, source, policyId });
    const elsewhere = { ...world.source, slug: 'elsewhere' };
    expect([await publish(), await publish(), await publish(elsewhere)]).toMatchObject([
      { outcome: 'done' },
      { outcome: 'unknown' },
      { outcome: 'done' },
    ]);
    expect(await settleCalls(world.deps)).toMatchObject({ settled: 0 });
  });

  it('that gets an answer about another policy is not a success: its outcome is unknown', async () => {
    const world = await createPolicyWorld();
    let answer: object = { id: 'OTHER', hosted_url: 'https://h.example/other' };
    const server = await answeringServer((_, response) => sendJson(response, 200, answer));
    const source = { ...world.source, baseUrl: server.baseUrl };
    const publish = () => publishPolicy(world.deps, { ...patient, source, policyId: '71' });
    const ended = await publish();
    if (ended.outcome !== 'unknown') expect.unreachable();
    expect(ended.error).toMatchObject({ kind: 'unreadable', status: 200 });
    expect(ended.error.message).toContain('it concerns a different policy than the one to be published');
    const [, result] = await world.entries();
    expect(result).toMatchObject({ meta: { outcome: 'unknown', policyId: null, hostedUrl: null } });
    expect(String(result?.body)).toContain('OTHER');
    for (answer of [{ hosted_url: null }, { id: null }, { id: 71 }])
      expect(await publish()).toMatchObject({ outcome: 'done' });
  });
});

describe('the list of policies', () => {
  it('becomes the catalogue: tokens stripped, its bytes kept once while it does not change', async () => {
    const world = await createPolicyWorld();
    const ask = () => fetchPolicyList(world.deps, { source: world.source, actor: 'test' });
    expect(await ask()).toMatchObject({ outcome: 'stored' });
    expect(await ask()).toMatchObject({ outcome: 'unchanged' });
    const policyId = await generate(world);
    expect(await ask()).toMatchObject({ outcome: 'unchanged' });
    await publishPolicy(world.deps, { ...patient, source: world.source, policyId });
    expect(await ask()).toMatchObject({ outcome: 'stored' });
    const rows = await loadCatalogue(world.deps);
    expect(rows.map(({ policy_id: id }) => id)).toContain(policyId);
    expect(JSON.stringify(rows)).not.toContain('token');
    const lists = (await world.entries()).filter(({ meta }) => meta['call'] === 'list');
    expect(lists).toHaveLength(2);
    expect(String(lists[1]?.body)).toContain('token=');
  });

  it.each([
    [
      'deleted',
      'policy.deleted',
      (id: string) => ({ policy_id: id }),
      /it was deleted on .*, but the list still contains it/,
    ],
    ['published', 'policy.published', () => ({ policy_id: 'pol_unlisted' }), /was published on .*does not contain it/],
    [
      'updated',
      'policy.updated',
      (id: string) => ({ policy_id: id }),
      /it changed on .*, but the list says that it last changed on/,
    ],
  ])('is reported as disagreeing with a delivery about a policy that was %s', async (_what, event, about, expected) => {
    const world = await createPolicyWorld();
    const ask = () => fetchPolicyList(world.deps, { source: world.source, actor: 'test' });
    await ask();
    const [row] = await loadCatalogue(world.deps);
    expect(await findDisagreements(world.store.read, { timeZone: 'Europe/Berlin' })).toEqual([]);
    await world.deliver({ event, ...about(row?.policy_id ?? ''), timestamp: world.now().toISOString() });
    await world.deps.catchUp();
    // The next list shows it, although it is the same.
    expect(await findDisagreements(world.store.read, { timeZone: 'Europe/Berlin' })).toEqual([]);
    expect(await ask()).toMatchObject({ outcome: 'stored' });
    const [told, ...others] = await findDisagreements(world.store.read, {
      timeZone: 'Europe/Berlin',
      source: 'default',
    });
    expect(others).toEqual([]);
    expect(told?.sentence).toMatch(/^The service's list and its deliveries disagree about pol_/);
    expect(told?.sentence).toMatch(expected);
    const warnings = await findWarnings(world.store.read, calmSurroundings(world.now()));
    expect(warnings.filter(({ code }) => code === 'policies-disagree')).toMatchObject([{ sentence: told?.sentence }]);
    // Times are in the given zone: half an hour apart.
    const [inKolkata] = await findDisagreements(world.store.read, { timeZone: 'Asia/Kolkata' });
    const minutesIn = (sentence = '') => sentence.match(/\d{2}:\d{2}/g)?.map((text) => Number(text.slice(3)));
    const inBerlin = minutesIn(told?.sentence);
    expect(inBerlin?.length).toBeGreaterThan(0);
    expect(minutesIn(inKolkata?.sentence)).toEqual(inBerlin?.map((minute) => (minute + 30) % 60));
    expect(await ask()).toMatchObject({ outcome: 'unchanged' });
  });

  it('is reported as disagreeing when it changed without a delivery', async () => {
    const world = await createPolicyWorld();
    const [client] = world.sandbox.clients;
    const policyId = await generate(world);
    await publishPolicy(world.deps, { ...patient, source: world.source, policyId });
    await world.deliver(published(world, policyId));
    await world.deps.sleep(3_600_000);
    const lost = { happening: { policyId }, url: 'http://127.0.0.1:9/lost' };
    await world.sandbox.send(client?.slug ?? '', 'policy.updated', lost);
    await world.deps.sleep(3_600_000);
    await fetchPolicyList(world.deps, { source: world.source, actor: 'test' });
    const [told] = await findDisagreements(world.store.read, { timeZone: 'Europe/Berlin' });
    expect(told?.sentence).toMatch(
      /the list says that it changed on .*, but the last change reported by a delivery was on/,
    );
  });

  it('in its other form is followed from page to page, and policies it no longer names are gone', async () => {
    const world = await createPolicyWorld();
    let ids = ['a', 'b', 'c'];
    const server = await answeringServer((request, response) => {
      const at = Number(new URL(request.url ?? '', 'http://x').searchParams.get('cursor') ?? 0);
      const next = at + 1 < ids.length ? String(at + 1) : null;
      sendJson(response, 200, {
        data: [{ id: ids[at], extra: 'kept', url: 'https://h.example/p?token=t' }],
        next_cursor: next,
      });
    });
    const source = { ...world.source, baseUrl: server.baseUrl };
    expect(await fetchPolicyList(world.deps, { source, actor: 'test' })).toMatchObject({
      outcome: 'stored',
      policies: 3,
    });
    ids = ['a', 'c'];
    world.pass(1000);
    await fetchPolicyList(world.deps, { source, actor: 'test' });
    expect((await loadCatalogue(world.deps)).map(({ policy_id: id }) => id)).toEqual(['a', 'c']);
    const all = await loadCatalogue(world.deps, { gone: true });
    expect(all.find(({ policy_id: id }) => id === 'b')?.gone_at).toBe(world.now().toISOString());
    expect(String((await world.entries())[0]?.body)).toContain('"extra":"kept"');
  });

  it('keeps policies if it says that it is partial, even when the catalogue is rebuilt', async () => {
    const world = await createPolicyWorld();
    let pages: object[] = [{ count: 2, policies: [{ id: 'a' }, { id: 'b' }] }];
    const server = await answeringServer((request, response) => {
      const at = Number(new URL(request.url ?? '', 'http://x').searchParams.get('cursor') ?? 0);
      sendJson(response, 200, pages[at] ?? {});
    });
    const source = { ...world.source, baseUrl: server.baseUrl };
    const ask = () => fetchPolicyList(world.deps, { source, actor: 'test' });
    const listed = async () => (await loadCatalogue(world.deps)).map(({ policy_id: id }) => id);
    expect(await ask()).toMatchObject({ outcome: 'stored', whole: true });
    for (pages of [
      [{ count: 5, policies: [{ id: 'q' }] }],
      [{ count: 2, policies: [{ id: 'q' }, { id: 'q' }] }],
      [
        { data: [{ id: 'q' }], next_cursor: '1' },
        { data: [{ id: 'r' }], next_cursor: null, count: 4 },
      ],
      [{ data: [{ id: 'q' }], next_cursor: null, has_more: true }],
    ]) {
      expect(await ask()).toMatchObject({ outcome: 'stored', whole: false });
      expect(await ask()).toMatchObject({ outcome: 'unchanged', whole: false });
      expect(await listed()).toEqual(expect.arrayContaining(['a', 'b', 'q']));
    }
    expect((await rebuildOf(world)).differences).toEqual([]);
    pages = [
      { count: 3, policies: [{ id: 'a' }], next_cursor: '1' },
      { count: 3, policies: [{ id: 'q' }, { id: 'r' }] },
    ];
    expect(await ask()).toMatchObject({ outcome: 'stored', whole: true, policies: 3 });
    expect(await listed()).toEqual(['a', 'q', 'r']);
    expect((await rebuildOf(world)).differences).toEqual([]);
  });

  it('that cannot be read changes nothing and says why', async () => {
    const world = await createPolicyWorld({ faults: [{ name: 'payment-required', on: 'list' }] });
    const ended = await fetchPolicyList(world.deps, { source: world.source, actor: 'test' });
    expect(ended).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('lapsed') as string });
    expect(await world.entries()).toEqual([]);
  });
});

it('all read models of calls can be rebuilt from the entries alone', async () => {
  const world = await createPolicyWorld({ faults: [{ name: 'cut-off', on: 'generate', after: 1, times: 1 }] });
  const policyId = await generate(world);
  await generatePolicy(world.deps, { ...patient, source: world.source, form });
  await publishPolicy(world.deps, { ...patient, source: world.source, policyId });
  await fetchPolicyList(world.deps, { source: world.source, actor: 'test' });
  await world.deps.catchUp();
  expect((await rebuildOf(world)).differences).toEqual([]);
});
