import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { planBulk, runBulk } from '../../src/policies/bulk.ts';
import { keyIdOf } from '../../src/policies/call-once.ts';
import type { PolicyDeps } from '../../src/policies/callable-source.ts';
import { formASchema, type GenerateOutcome, generatePolicy } from '../../src/policies/generate.ts';
import { publishPolicy } from '../../src/policies/publish.ts';
import { settleCalls } from '../../src/policies/settle-calls.ts';
import { loadCalls } from '../../src/policies/show.ts';
import type { Tables } from '../../src/store/schema.ts';
import { answering, createPolicyWorld, impatient, type PolicyWorld, patient, sourceFor } from './policy-world.ts';

const form = formASchema.parse({ policy_type: 'imprint', jurisdiction: 'DE' });

function generate(world: PolicyWorld, deps: PolicyDeps = world.deps, more: object = {}): Promise<GenerateOutcome> {
  return generatePolicy(deps, { ...impatient, source: world.source, form, ...more });
}

async function slotsOf(world: PolicyWorld): Promise<string[]> {
  const rows = await world.store.read.selectFrom('call_slots').select('sort').orderBy('sort').execute();
  return rows.map(({ sort }) => sort);
}

const inSeconds = (world: PolicyWorld, seconds: number) => new Date(world.now().getTime() + seconds * 1000);

describe('a wait that the service requested (429)', () => {
  it('is observed by every process that has the key, for that kind of call, until it is over', async () => {
    const world = await createPolicyWorld({
      faults: [{ name: 'too-many-requests', on: 'generate', times: 1, retryAfter: 45 }],
    });
    expect(await generate(world)).toMatchObject({ outcome: 'refused', error: { retryAfterMs: 45_000 } });
    const another = world.another();
    const freeAt = inSeconds(world, 45);
    const asked = { outcome: 'no-slot', freeAt, limit: 'the service answered 429 and asked this API key to wait' };
    expect(await generate(world, another)).toEqual(asked);
    expect(await generate(world, another, { source: sourceFor(world.sandbox, 'shares-the-key') })).toEqual(asked);
    const otherKey = sourceFor(world.sandbox, 'other', { apiKey: world.sandbox.clients[0]?.readKey ?? '' });
    expect(await generate(world, another, { source: otherKey })).toMatchObject({ outcome: 'refused' });
    const planned = await planBulk(another, { source: world.source, actor: 'test', file: null, items: [form] });
    if (planned.outcome !== 'planned') expect.unreachable();
    const bulk = { ...impatient, source: world.source, planId: planned.planId };
    expect(await runBulk(another, bulk)).toEqual({ outcome: 'finished' });
    world.pass(45_000);
    expect((await generate(world, another)).outcome).toBe('done');
  });

  it('is observed for batches and for publishing, too', async () => {
    const world = await createPolicyWorld({
      faults: [
        { name: 'too-many-requests', on: 'bulk', times: 1, retryAfter: 3600 },
        { name: 'too-many-requests', on: 'publish', times: 1, retryAfter: 30 },
      ],
    });
    const planned = await planBulk(world.deps, { source: world.source, actor: 'test', file: null, items: [form] });
    if (planned.outcome !== 'planned') expect.unreachable();
    const bulk = { ...impatient, source: world.source, planId: planned.planId };
    const until = inSeconds(world, 3600);
    expect(await runBulk(world.deps, bulk)).toMatchObject({ outcome: 'waiting', until });
    expect(await runBulk(world.another(), bulk)).toMatchObject({ outcome: 'waiting', until });
    const publish = { ...impatient, source: world.source, policyId: 'pol_1' };
    expect((await publishPolicy(world.deps, publish)).outcome).toBe('refused');
    expect((await publishPolicy(world.another(), publish)).outcome).toBe('no-slot');
    world.pass(30_000);
    expect(await publishPolicy(world.another(), publish)).toMatchObject({ error: { kind: 'not-found' } });
  });

  it('may be a date, which is read by the service’s clock', async () => {
    // The sandbox's clock is months away from the machine's.
    const world = await createPolicyWorld({
      faults: [{ name: 'too-many-requests', on: 'generate', times: 1, retryAfter: 'Mon, 20 Jul 2026 12:00:45 GMT' }],
    });
    expect(await generate(world)).toMatchObject({ outcome: 'refused', error: { retryAfterMs: 45_000 } });
  });

  it('lasts a day at most, however long the service requests', async () => {
    const world = await createPolicyWorld({
      faults: [{ name: 'too-many-requests', on: 'generate', times: 1, retryAfter: '9'.repeat(20) }],
    });
    expect((await generate(world)).outcome).toBe('refused');
    expect(await generate(world)).toMatchObject({ outcome: 'no-slot', freeAt: inSeconds(world, 86_400) });
  });
});

describe('a slot of a rate limit', () => {
  it('is given back by a call that never left this machine', async () => {
    const world = await createPolicyWorld();
    const source = { ...world.source, baseUrl: `http://127.0.0.1:${await closedPort()}/api/v1` };
    const items = [form];
    const planned = await planBulk(world.deps, { source, actor: 'test', file: null, items });
    if (planned.outcome !== 'planned') expect.unreachable();
    // Each run makes four attempts: twenty in all would have used up the day.
    for (let nth = 0; nth < 6; nth += 1) {
      const ended = await runBulk(world.deps, { ...patient, source, planId: planned.planId });
      expect(ended).toMatchObject({ outcome: 'refused', error: { kind: 'network' } });
    }
    expect(await slotsOf(world)).toEqual([]);
    const ended = await runBulk(world.deps, { ...impatient, source: world.source, planId: planned.planId });
    expect(ended).toEqual({ outcome: 'finished' });
    expect(await slotsOf(world)).toEqual(['bulk']);
  });

  it('is kept by a call that the service refused', async () => {
    const world = await createPolicyWorld({ faults: [{ name: 'forbidden', on: 'generate' }] });
    await generate(world);
    expect(await slotsOf(world)).toEqual(['generate']);
  });

  it('taken by a clock that was far ahead does not block the key until then', async () => {
    const world = await createPolicyWorld();
    const keyId = keyIdOf(world.ledger, world.source.apiKey ?? '');
    const at = new Date(world.now().getTime() + 400 * 86_400_000).toISOString();
    const sorts: Tables['call_slots']['sort'][] = ['generate', 'pause-generate'];
    const rows = sorts.flatMap((sort) =>
      Array.from({ length: 20 }, (_, nth) => ({ request_id: `${sort} ${nth}`, key_id: keyId, sort, at })),
    );
    await world.store.transaction((tx) => tx.insertMany('call_slots', rows));
    expect((await generate(world)).outcome).toBe('done');
  });
});

it('a call sent while a clock was far ahead does not stay without an outcome until then', async () => {
  const world = await createPolicyWorld();
  world.pass(400 * 86_400_000);
  void generate(
    world,
    answering(world.deps, () => new Promise(() => undefined)),
  );
  while ((await world.entries()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  world.pass(-400 * 86_400_000);
  expect(await settleCalls(world.another())).toEqual({ lost: 1, settled: 0 });
});

it('an answer that cannot be recorded is reported, with how to settle the call later', async () => {
  const world = await createPolicyWorld();
  const { ledger } = world.deps;
  const deps: PolicyDeps = {
    ...world.deps,
    ledger: {
      ...ledger,
      append: (entries, also) =>
        String(entries[0]?.meta).includes('"call":"result"')
          ? Promise.reject(new StoreUnavailable('the disk is full'))
          : ledger.append(entries, also),
    },
  };
  const failure: unknown = await generate(world, deps).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StoreUnavailable);
  const { message } = failure as Error;
  const [, policyId = ''] = /\(policy (pol_\w+)\)/.exec(message) ?? [];
  expect(message).toContain('could not be written to the ledger (the disk is full)');
  expect(message).toMatch(new RegExp(`policy settle req-[\\w-]+ --as created --policy ${policyId}$`));
  expect(world.generated()).toBe(1);
  await world.deps.catchUp();
  expect(await loadCalls(world.store.read, { limit: 9, open: true })).toMatchObject([{ state: 'sent' }]);
});

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
