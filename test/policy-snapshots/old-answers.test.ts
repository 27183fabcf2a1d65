import type { OutgoingHttpHeaders } from 'node:http';
import { expect, it } from 'vitest';
import { appendDelivery } from '../../src/ledger/append-delivery.ts';
import { loadPolicyTexts } from '../../src/policy-snapshots/stored-texts.ts';
import { answeringServer } from '../service/answering-server.ts';
import { createSnapshotWorld, looksOf, MINUTE, START } from './world.ts';

/** A world in which the test itself plays the embed endpoint and its cache; the public page is unknown. */
async function createEdgeWorld() {
  const edge = { text: 'old', headers: {} as OutgoingHttpHeaders };
  const { baseUrl } = await answeringServer((_request, response) => {
    response.sendDate = false;
    response.writeHead(200, { 'content-type': 'text/html', ...edge.headers }).end(`<p>${edge.text}</p>`);
  });
  const world = await createSnapshotWorld({ siteUrl: new URL(baseUrl).origin, apiKey: null });
  const waiting = () => world.jobs.list({ kind: 'snapshot', state: 'waiting' });
  const versions = async () => {
    const [texts] = await loadPolicyTexts(world.store.read, {
      source: 'default',
      policyId: null,
      policyType: world.policy.policyType,
    });
    return texts?.versions ?? [];
  };
  return { ...world, edge, waiting, versions };
}

const before = new Date(Date.parse(START) - 2 * MINUTE).toUTCString();

it.each<[string, OutgoingHttpHeaders]>([
  ['an Age beyond its five minutes', { age: '400' }],
  ['a Date from before the change, and no Age', { date: before }],
  [
    'that it may serve a stale one meanwhile, and no Age',
    { 'cache-control': 's-maxage=300, stale-while-revalidate=600' },
  ],
  ['a longer time than is documented, and no Age', { 'cache-control': 'public, max-age=600' }],
])(
  'a fetch after the edge’s cache time does not count if the answer names %s, and is repeated',
  async (_what, headers) => {
    const world = await createEdgeWorld();
    await world.publish();
    await world.trigger();
    await world.runDue();
    world.pass(6 * MINUTE);
    world.edge.headers = headers;
    await world.runDue();
    expect((await looksOf(world.store)).map(({ phase }) => phase)).toEqual(['provisional', 'provisional']);
    const [old] = await world.versions();
    expect(Date.parse(old?.lastSeen ?? '')).toBeLessThanOrEqual(Date.parse(START));

    expect(await world.waiting()).toHaveLength(1);
    world.pass(6 * MINUTE);
    world.edge.headers = {};
    world.edge.text = 'new';
    await world.runDue();
    expect((await looksOf(world.store)).at(-1)?.phase).toBe('settled');
    expect(await world.waiting()).toEqual([]);
    expect(await world.versions()).toMatchObject([{ settled: false }, { settled: true }]);
  },
);

it('an edge that keeps an old answer is asked for an hour, and then by the schedule', async () => {
  const world = await createEdgeWorld();
  world.edge.headers = { age: '100000' };
  await world.publish();
  await world.trigger();
  for (let round = 0; round < 30; round += 1) {
    await world.runDue();
    world.pass(MINUTE * 6);
  }
  const looks = await looksOf(world.store);
  expect(looks).toHaveLength(11);
  expect(looks.every(({ phase }) => phase === 'provisional')).toBe(true);
  expect(await world.waiting()).toEqual([]);
});

it('a change reported while the answer is in transit leaves the fetch provisional, and requests another', async () => {
  const world = await createEdgeWorld();
  await world.publish();
  await world.trigger();
  await world.runDue();
  world.pass(6 * MINUTE);
  const deps: typeof world.deps = {
    ...world.deps,
    fetchEmbed: async (request) => {
      const fetched = await world.deps.fetchEmbed(request);
      const { id, policyType } = world.policy;
      const body = { event: 'policy.updated', policy_id: id, policy_type: policyType, version: 99 };
      const delivery = { source: 'default', rawBody: Buffer.from(JSON.stringify(body)), headers: {}, secretId: 's' };
      const at = world.now().toISOString();
      await appendDelivery(world.ledger, { ...delivery, verdict: 'verified', contentType: null }, at);
      return fetched;
    },
  };
  await world.runDue(deps);
  expect((await looksOf(world.store)).at(-1)?.phase).toBe('provisional');
  expect(await world.waiting()).toHaveLength(1);
});

it('a service clock behind ours delays the fetch that counts, and keeps the texts apart', async () => {
  const world = await createEdgeWorld();
  for (const text of ['one', 'two', 'two', 'three']) {
    world.edge.text = text;
    // A clock that is eight minutes behind.
    world.edge.headers = { age: '0', date: new Date(world.now().getTime() - 8 * MINUTE).toUTCString() };
    await world.publish({ text });
    await world.trigger();
    for (let round = 0; round < 3; round += 1) {
      await world.runDue();
      world.pass(6 * MINUTE);
      world.edge.headers = { age: '0', date: new Date(world.now().getTime() - 8 * MINUTE).toUTCString() };
    }
  }
  const versions = await world.versions();
  expect(versions.map(({ settled }) => settled)).toEqual([true, true, true]);
  for (const { notBefore, firstSeen, lastSeen } of versions.slice(1)) {
    expect(Date.parse(notBefore ?? '')).toBeLessThanOrEqual(Date.parse(firstSeen));
    expect(Date.parse(lastSeen)).toBeGreaterThan(Date.parse(notBefore ?? ''));
  }
});
