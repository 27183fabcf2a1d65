import { expect, it } from 'vitest';
import { createPolicyDeps } from '../../src/policies/callable-source.ts';
import { publishPolicy } from '../../src/policies/publish.ts';
import { requestRoutineSnapshots } from '../../src/policy-snapshots/request.ts';
import { ON_LOOPBACK } from '../service/answering-server.ts';
import { createSnapshotWorld, looksOf, MINUTE } from './world.ts';

it('asking for texts results in one fetch per policy, and no change is left to a fetch that begins too early for it', async () => {
  const world = await createSnapshotWorld();
  for (let change = 0; change < 5; change += 1) {
    await world.publish({ version: change });
    await world.trigger();
  }
  const waiting = await world.jobs.list({ kind: 'snapshot', state: 'waiting' });
  expect(waiting).toHaveLength(2);
  await world.runDue();
  world.pass(4 * MINUTE);
  await world.publish({ version: 9 });
  await world.trigger();
  await world.runDue();
  world.pass(2 * MINUTE);
  // Six minutes after the first change, but two after the last: it does not count yet.
  await world.runDue();
  const early = (await looksOf(world.store)).at(-1);
  expect(early?.phase).toBe('provisional');
  world.pass(4 * MINUTE);
  await world.runDue();
  expect((await looksOf(world.store)).at(-1)?.phase).toBe('settled');
  expect(await world.jobs.list({ kind: 'snapshot', state: 'waiting' })).toEqual([]);
});

it('asking for texts loses no change if two processes look for changes at once, or if one dies in between', async () => {
  const world = await createSnapshotWorld();
  await world.publish();
  const outcomes = await Promise.all([world.trigger(), world.trigger(), world.trigger()]);
  expect(outcomes.reduce((sum, count) => sum + count, 0)).toBe(1);
  expect(await world.jobs.list({ kind: 'snapshot' })).toHaveLength(2);
  // The transaction of a dying process is rolled back with its position.
  await world.publish({ version: 2, policy_id: 'other' });
  await expect(
    world.store.transaction(async (tx) => {
      await tx.query.updateTable('positions').set({ seq: 99 }).where('name', '=', 'snapshot-triggers').execute();
      throw new Error('killed');
    }),
  ).rejects.toThrow('killed');
  expect(await world.trigger()).toBe(1);
  expect(await world.jobs.list({ kind: 'snapshot' })).toHaveLength(4);
});

it('a fetch follows a publication from here, even one whose outcome is unknown', async () => {
  const world = await createSnapshotWorld();
  const log = { warn: () => undefined } as never;
  const deps = createPolicyDeps({ destinations: ON_LOOPBACK, ...world, clock: world.now, log });
  const request = { source: world.source, policyId: world.policy.id, actor: 'a test', maxWaitMs: 0 };
  expect((await publishPolicy(deps, request)).outcome).toBe('done');
  await world.projector.catchUp();
  expect(await world.trigger()).toBe(1);
  expect(await world.trigger()).toBe(0);
  await world.runDue();
  const looks = await looksOf(world.store);
  expect(looks.map(({ phase, why }) => [phase, why])).toEqual([
    ['provisional', 'publish'],
    ['provisional', 'publish'],
  ]);
  world.sandbox.faults.set([{ name: 'dropped-connection', on: 'publish' }]);
  expect((await publishPolicy(deps, request)).outcome).toBe('unknown');
  await world.projector.catchUp();
  expect(await world.trigger()).toBe(1);
  world.sandbox.faults.set([{ name: 'unauthorized', on: 'publish' }]);
  expect((await publishPolicy(deps, request)).outcome).toBe('refused');
  await world.projector.catchUp();
  expect(await world.trigger()).toBe(0);
});

it('asking for texts leaves changes before yesterday and unpublished policies to the schedule', async () => {
  const world = await createSnapshotWorld();
  await world.publish();
  world.pass(25 * 60 * MINUTE);
  expect(await world.trigger()).toBe(0);
  await world.publish({ event: 'policy.created' });
  expect(await world.trigger()).toBe(0);
  await world.publish({ event: 'policy.deleted' });
  expect(await world.trigger()).toBe(1);
});

it('a job records a fetch once when the worker dies after the append, and continues with the rest', async () => {
  const world = await createSnapshotWorld();
  await world.publish();
  await world.trigger();
  let fetches = 0;
  const dying = {
    ...world.deps,
    fetchEmbed: () => {
      throw new Error('killed');
    },
  };
  const counting = {
    ...world.deps,
    fetchHosted: (request: Parameters<typeof world.deps.fetchHosted>[0]) => {
      fetches += 1;
      return world.deps.fetchHosted(request);
    },
  };
  expect((await world.runDue(dying))[0]).toBeInstanceOf(Error);
  expect((await looksOf(world.store)).map(({ target }) => target)).toEqual([`hosted:${world.policy.id}`]);
  // The append requested the fetch that counts, in the same transaction.
  expect(await world.jobs.list({ kind: 'snapshot', state: 'waiting' })).toHaveLength(2);
  world.pass(MINUTE);
  expect(await world.runDue(counting)).toEqual([
    { outcome: 'looked', entries: [expect.any(Number), expect.any(Number)] },
  ]);
  expect(fetches).toBe(0);
  expect((await looksOf(world.store)).map(({ target }) => target)).toEqual([
    `hosted:${world.policy.id}`,
    `embed:${world.policy.policyType}`,
  ]);
});

it('a job retries after an error of the service, and gives up if a retry cannot help', async () => {
  const world = await createSnapshotWorld();
  world.sandbox.faults.set([{ name: 'server-error', on: 'embed', times: 1 }]);
  await world.publish();
  await world.trigger();
  expect((await world.runDue())[0]).toBeInstanceOf(Error);
  world.pass(MINUTE);
  expect(await world.runDue()).toEqual([expect.objectContaining({ outcome: 'looked' })]);
  const huge = {
    ...world.deps,
    fetchEmbed: async () =>
      ({ outcome: 'refused', kind: 'too-large', transient: false, sentence: 'It is over 5242880 bytes.' }) as const,
  };
  world.pass(6 * MINUTE);
  await world.runDue(huge);
  const [failed] = await world.jobs.list({ kind: 'snapshot', state: 'failed' });
  expect(failed?.error).toContain('over 5242880 bytes');
  expect(failed?.attempts).toBe(1);
});

it('the final fetch outlasts an outage of the service of an hour', async () => {
  const world = await createSnapshotWorld();
  await world.publish();
  await world.trigger();
  await world.runDue();
  world.pass(6 * MINUTE);
  world.sandbox.faults.set([{ name: 'server-error', on: 'embed' }]);
  const minutes = async (count: number) => {
    for (let minute = 0; minute < count; minute += 1) {
      await world.runDue();
      world.pass(MINUTE);
    }
  };
  await minutes(60);
  world.sandbox.faults.set([]);
  await minutes(15);
  expect((await looksOf(world.store)).at(-1)).toMatchObject({
    target: `embed:${world.policy.policyType}`,
    phase: 'settled',
  });
  expect(await world.jobs.list({ kind: 'snapshot', state: 'failed' })).toEqual([]);
});

it('a request for texts says what is missing if a source has no public origin or site key', async () => {
  const world = await createSnapshotWorld({ siteUrl: null });
  await world.publish();
  await world.trigger();
  const [result] = await world.runDue();
  expect(result).toMatchObject({ outcome: 'not-configured', reason: expect.stringContaining('SERVICE_SITE_URL') });
});

it('the schedule calls the embed endpoint once per type, however many policies of it are listed', async () => {
  const world = await createSnapshotWorld();
  const { siteUrl, policy } = { siteUrl: world.source.siteUrl ?? '', policy: world.policy };
  const types: string[] = [];
  const pages: string[] = [];
  const deps: typeof world.deps = {
    ...world.deps,
    fetchHosted: (request) => {
      pages.push(request.url);
      return world.deps.fetchHosted(request);
    },
    listAddresses: async () => ({
      outcome: 'listed',
      policies: ['pol_a', 'pol_b', 'pol_c'].map((policyId) => ({
        policyId,
        policyType: policy.policyType,
        url: `${siteUrl}/policy/${policy.policyType}/${policyId}`,
      })),
    }),
    fetchEmbed: (request) => {
      types.push(request.type);
      return world.deps.fetchEmbed(request);
    },
  };
  expect(await requestRoutineSnapshots(deps, [world.source])).toBe(4);
  world.pass(60 * MINUTE);
  await world.runDue(deps);
  expect(types).toEqual([policy.policyType, 'hub']);
  expect(pages).toHaveLength(3);
});

it('a fetch waits for the changes that its target may show, and for no others', async () => {
  const world = await createSnapshotWorld();
  const { policy } = world;
  const look = async (deliver: Record<string, unknown>) => {
    world.pass(60 * MINUTE);
    await world.publish({ policy_id: 'pol_other', policy_type: policy.policyType, ...deliver });
    await requestRoutineSnapshots(world.deps, [world.source]);
    world.pass(MINUTE);
    const before = (await looksOf(world.store)).length;
    await world.runDue();
    const looks = (await looksOf(world.store)).slice(before);
    return Object.fromEntries(looks.map(({ target, phase }) => [target, phase]));
  };
  const [hosted, embed] = [`hosted:${policy.id}`, `embed:${policy.policyType}`];
  expect(await look({ event: 'policy.created' })).toMatchObject({
    [hosted]: 'settled',
    [embed]: 'settled',
    'embed:hub': 'settled',
  });
  expect(await look({ event: 'policy.updated' })).toMatchObject({
    [hosted]: 'settled',
    [embed]: 'provisional',
    'embed:hub': 'provisional',
  });
  expect(await look({ event: 'policy.updated', policy_id: policy.id, policy_type: undefined })).toMatchObject({
    [hosted]: 'provisional',
    [embed]: 'provisional',
  });
});
