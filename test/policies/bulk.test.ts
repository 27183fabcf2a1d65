import { describe, expect, it } from 'vitest';
import { assignResults, type BulkEnd, findPlan, loadPlanItems, planBulk, runBulk } from '../../src/policies/bulk.ts';
import type { PolicyDeps } from '../../src/policies/callable-source.ts';
import { type FormA, formASchema, generatePolicy } from '../../src/policies/generate.ts';
import { settleByOfficer, settleCalls } from '../../src/policies/settle-calls.ts';
import { loadPolicy } from '../../src/policies/show.ts';
import { createPolicyWorld, impatient, type PolicyWorld, patient } from './policy-world.ts';

const types = ['privacy-policy', 'cookie-policy', 'terms-of-service'];
const itemsOf = (count: number): FormA[] =>
  Array.from({ length: count }, (_, nth) =>
    formASchema.parse({ policy_type: types[nth % 3], jurisdiction: 'GB', business_name: `Shop ${nth + 1}` }),
  );

async function plan(world: PolicyWorld, count: number): Promise<string> {
  const planned = await planBulk(world.deps, {
    source: world.source,
    actor: 'test',
    file: 'items.csv',
    items: itemsOf(count),
  });
  if (planned.outcome !== 'planned') expect.unreachable();
  return planned.planId;
}

const run = (world: PolicyWorld, planId: string, more: object = {}, deps: PolicyDeps = world.deps): Promise<BulkEnd> =>
  runBulk(deps, { ...patient, source: world.source, planId, ...more });

async function statesOf(world: PolicyWorld, planId: string): Promise<Record<string, number>> {
  await world.deps.catchUp();
  const counts: Record<string, number> = {};
  for (const { state } of await loadPlanItems(world.deps, planId)) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

describe('a file of more than 20 items', () => {
  it('is sent in batches of 20, each item once, with a result of its own', async () => {
    const world = await createPolicyWorld();
    const planId = await plan(world, 65);
    const seen: number[] = [];
    expect(await run(world, planId, { onProgress: ({ done }: { done: number }) => seen.push(done) })).toEqual({
      outcome: 'finished',
    });
    expect(seen).toEqual([0, 20, 40, 60, 65]);
    const items = await loadPlanItems(world.deps, planId);
    expect(items.every(({ state, attempts }) => state === 'created' && attempts === 1)).toBe(true);
    expect(new Set(items.map(({ policy_id: id }) => id)).size).toBe(65);
    expect(world.generated()).toBe(65);
    const [made] = await loadPolicy(world.store.read, items[3]?.policy_id ?? '');
    expect(made?.asked).toMatchObject({ policy_type: 'privacy-policy', business_name: 'Shop 4' });
    const intents = (await world.entries()).filter(({ meta }) => meta['call'] === 'intent');
    expect(intents.map(({ body }) => (JSON.parse(String(body)) as { items: unknown[] }).items.length)).toEqual([
      20, 20, 20, 5,
    ]);
    expect(await run(world, planId)).toEqual({ outcome: 'finished' });
    expect(world.generated()).toBe(65);
  });

  it('is recognised by its items, and only for its source', async () => {
    const world = await createPolicyWorld();
    const planId = await plan(world, 3);
    const request = { source: world.source, actor: 'test', file: null, items: itemsOf(3) };
    expect(await planBulk(world.deps, request)).toMatchObject({ outcome: 'exists', plan: { plan_id: planId } });
    expect(await findPlan(world.deps, 'other', itemsOf(3))).toBeNull();
    expect(await findPlan(world.deps, 'default', itemsOf(4))).toBeNull();
    const again = await planBulk(world.deps, { ...request, again: true });
    expect(again).toEqual({ outcome: 'planned', planId: `${planId}-2` });
  });

  it('is not sent again as a whole because a line was added', async () => {
    const world = await createPolicyWorld();
    const planId = await plan(world, 3);
    const grown = { source: world.source, actor: 'test', file: 'grown.csv', items: itemsOf(4).reverse() };
    // Nothing was sent yet, but it will be.
    expect(await planBulk(world.another(), { ...grown, items: itemsOf(2) })).toMatchObject({
      outcome: 'sent-before',
      first: { id: planId, waiting: true },
    });
    await run(world, planId);
    expect(await planBulk(world.deps, grown)).toMatchObject({
      outcome: 'sent-before',
      positions: [1, 2, 3],
      first: { id: planId, file: 'items.csv', waiting: false },
    });
    expect((await planBulk(world.deps, { ...grown, items: itemsOf(4).slice(3) })).outcome).toBe('planned');
    expect((await planBulk(world.deps, { ...grown, again: true })).outcome).toBe('planned');
    const elsewhere = { ...grown, source: { ...world.source, slug: 'another' } };
    expect((await planBulk(world.deps, elsewhere)).outcome).toBe('planned');
  });

  it('shares no item with another file that is planned at the same time', async () => {
    const world = await createPolicyWorld();
    const files = Array.from({ length: 6 }, (_, nth) => itemsOf(3 + nth).slice(0, 3 + nth));
    const planned = await Promise.all(
      files.map((items, nth) =>
        planBulk(nth % 2 === 0 ? world.deps : world.another(), {
          ...{ source: world.source, actor: 'test', items },
          file: `list-${nth}.csv`,
        }),
      ),
    );
    expect(planned.map(({ outcome }) => outcome).sort()).toEqual([
      'planned',
      ...Array.from({ length: 5 }, () => 'sent-before'),
    ]);
  });

  it('is paced at 5 batches a minute and 20 a day, and never gets a 429', async () => {
    const world = await createPolicyWorld();
    const planId = await plan(world, 21);
    const began = world.now().getTime();
    const waits: string[] = [];
    const ended = await run(world, planId, { batchSize: 1, onWait: (_: Date, why: string) => waits.push(why) });
    expect(ended).toMatchObject({ outcome: 'waiting', limit: '20 batches a day per API key' });
    expect(waits).toEqual(Array.from({ length: 3 }, () => '5 batches a minute per API key'));
    expect(world.now().getTime() - began).toBeGreaterThanOrEqual(180_000);
    expect(await statesOf(world, planId)).toEqual({ created: 20, planned: 1 });
    world.pass(86_400_000);
    expect(await run(world, planId, { batchSize: 1 })).toEqual({ outcome: 'finished' });
    const refused = (await world.entries()).filter(({ meta }) => meta['outcome'] === 'refused');
    expect(refused).toEqual([]);
    expect(world.generated()).toBe(21);
  });

  it('stops at the quota, shows the skipped items, and continues when there is room again', async () => {
    const world = await createPolicyWorld({ quota: 30 });
    const planId = await plan(world, 65);
    expect(await run(world, planId)).toEqual({ outcome: 'quota' });
    expect(await statesOf(world, planId)).toEqual({ created: 30, skipped: 10, planned: 25 });
    // Still no room: only one more batch is skipped.
    expect(await run(world, planId)).toEqual({ outcome: 'quota' });
    expect(await statesOf(world, planId)).toEqual({ created: 30, skipped: 20, planned: 15 });
    expect(world.generated()).toBe(30);
  });

  it('stops at 402 and continues with the same items afterwards', async () => {
    const world = await createPolicyWorld({ faults: [{ name: 'payment-required', on: 'bulk', after: 1, times: 1 }] });
    const planId = await plan(world, 45);
    expect(await run(world, planId)).toMatchObject({ outcome: 'refused', error: { kind: 'payment-required' } });
    expect(await statesOf(world, planId)).toEqual({ created: 20, planned: 25 });
    expect(await run(world, planId)).toEqual({ outcome: 'finished' });
    expect(world.generated()).toBe(45);
  });

  it('waits if the service answers 429, since other programs may use the key', async () => {
    const world = await createPolicyWorld({
      faults: [{ name: 'too-many-requests', on: 'bulk', times: 2, retryAfter: 30 }],
    });
    const planId = await plan(world, 25);
    expect(await run(world, planId)).toEqual({ outcome: 'finished' });
    expect(world.generated()).toBe(25);
  });

  it('can be sent again for the items that the service failed to generate, but not automatically', async () => {
    const world = await createPolicyWorld();
    // The sandbox does not know this code, although it looks valid.
    const items = [
      ...itemsOf(2),
      { policy_type: 'imprint', jurisdiction: 'GB', language: 'en', business_name: 'x'.repeat(500) },
    ];
    const planned = await planBulk(world.deps, { source: world.source, actor: 'test', file: null, items });
    if (planned.outcome !== 'planned') expect.unreachable();
    expect(await run(world, planned.planId)).toEqual({ outcome: 'finished' });
    expect(await statesOf(world, planned.planId)).toEqual({ created: 2, failed: 1 });
    expect(await run(world, planned.planId)).toEqual({ outcome: 'finished' });
    expect(await run(world, planned.planId, { retryFailed: true })).toEqual({ outcome: 'finished' });
    const [, , failed] = await loadPlanItems(world.deps, planned.planId);
    expect(failed).toMatchObject({ state: 'failed', attempts: 2 });
    // Another file may have it; then it is that file's.
    const other = await planBulk(world.deps, {
      ...{ source: world.source, actor: 'test', file: 'other.csv' },
      items: items.slice(2),
    });
    expect(other.outcome).toBe('planned');
    expect(await run(world, planned.planId, { retryFailed: true })).toEqual({ outcome: 'finished' });
    const [, , left] = await loadPlanItems(world.deps, planned.planId);
    expect(left).toMatchObject({ state: 'failed', attempts: 2 });
  });

  it('is not sent again for a failed item that is planned with another list just before', async () => {
    const world = await createPolicyWorld();
    const items = [{ policy_type: 'imprint', jurisdiction: 'GB', language: 'en', business_name: 'x'.repeat(500) }];
    const planned = await planBulk(world.deps, { source: world.source, actor: 'test', file: null, items });
    if (planned.outcome !== 'planned') expect.unreachable();
    await run(world, planned.planId);
    let isPlanned = false;
    const { ledger } = world.deps;
    const deps: PolicyDeps = {
      ...world.deps,
      ledger: {
        ...ledger,
        async append(...entries) {
          const both = { source: world.source, actor: 'test', file: 'other.csv', items: [...items, ...itemsOf(1)] };
          if (!isPlanned) expect((await planBulk(world.another(), both)).outcome).toBe('planned');
          isPlanned = true;
          return ledger.append(...entries);
        },
      },
    };
    expect(await run(world, planned.planId, { retryFailed: true }, deps)).toEqual({ outcome: 'finished' });
    expect(isPlanned).toBe(true);
    const [failed] = await loadPlanItems(world.deps, planned.planId);
    expect(failed).toMatchObject({ state: 'failed', attempts: 1 });
  });
});

describe('a batch whose outcome is unknown', () => {
  it.each(['dropped-connection', 'server-error', 'truncated-json'] as const)(
    'after %s stops the run; the rest is sent on resuming, that batch never again',
    async (name) => {
      const world = await createPolicyWorld({ faults: [{ name, on: 'bulk', after: 1, times: 1 }] });
      const planId = await plan(world, 65);
      expect(await run(world, planId)).toMatchObject({ outcome: 'unknown', requestId: `${planId}.2` });
      expect(await statesOf(world, planId)).toEqual({ created: 20, unknown: 20, planned: 25 });
      expect(await run(world, planId)).toEqual({ outcome: 'finished' });
      expect(await statesOf(world, planId)).toEqual({ created: 45, unknown: 20 });
      // A truncated response means that they were made; the other faults happen before the service does anything.
      expect(world.generated()).toBe(name === 'truncated-json' ? 65 : 45);
    },
  );

  it('is settled item by item by their webhooks, and by an officer for the rest', async () => {
    const world = await createPolicyWorld({ faults: [{ name: 'truncated-json', on: 'bulk', times: 1 }] });
    const planId = await plan(world, 6);
    await run(world, planId);
    for (const nth of [0, 1, 4]) {
      await world.deliver({
        event: 'policy.created',
        policy_id: `pol_${nth}`,
        policy_type: types[nth % 3],
        jurisdiction: 'GB',
        language: 'en',
        brand_name: `Shop ${nth + 1}`,
        timestamp: world.now().toISOString(),
      });
    }
    expect(await settleCalls(world.deps)).toEqual({ lost: 0, settled: 1 });
    const items = await loadPlanItems(world.deps, planId);
    expect(items.map(({ policy_id: id }) => id)).toEqual(['pol_0', 'pol_1', null, null, 'pol_4', null]);
    expect(await statesOf(world, planId)).toEqual({ created: 3, unknown: 3 });
    const requestId = `${planId}.1`;
    const said = { requestId, actor: 'ada', happened: true, positions: [2] };
    expect(await settleByOfficer(world.deps, { ...said, positions: [0, 2] })).toEqual({
      outcome: 'no-such-item',
      positions: [0],
    });
    expect(await settleByOfficer(world.deps, said)).toMatchObject({ outcome: 'settled', left: 2 });
    expect(await settleByOfficer(world.deps, { requestId, actor: 'ada', happened: false })).toMatchObject({ left: 0 });
    expect(await statesOf(world, planId)).toEqual({ created: 4, planned: 2 });
    expect(await run(world, planId)).toEqual({ outcome: 'finished' });
    expect(await statesOf(world, planId)).toEqual({ created: 6 });
  });
});

describe('an item that may have been generated', () => {
  it('in a batch is not generated again automatically', async () => {
    const world = await createPolicyWorld({ faults: [{ name: 'truncated-json', on: 'bulk', times: 1 }] });
    const planId = await plan(world, 3);
    await run(world, planId);
    const [, form] = itemsOf(3);
    if (form === undefined) expect.unreachable();
    const asked = { ...patient, source: world.source, form };
    expect(await generatePolicy(world.deps, asked)).toMatchObject({
      outcome: 'unsettled',
      call: { requestId: `${planId}.1`, position: 1, state: 'unknown' },
    });
    expect((await generatePolicy(world.deps, { ...asked, again: true })).outcome).toBe('done');
  });

  it('in a single call is not sent with a file', async () => {
    const world = await createPolicyWorld({ faults: [{ name: 'cut-off', on: 'generate', times: 1 }] });
    const [form] = itemsOf(1);
    if (form === undefined) expect.unreachable();
    const unknown = await generatePolicy(world.deps, { ...patient, source: world.source, form });
    if (unknown.outcome !== 'unknown') expect.unreachable();
    const file = { source: world.source, actor: 'test', file: null, items: itemsOf(3) };
    expect(await planBulk(world.deps, file)).toMatchObject({
      outcome: 'sent-before',
      positions: [0],
      first: { id: unknown.requestId },
    });
    await settleByOfficer(world.deps, { requestId: unknown.requestId, actor: 'ada', happened: false });
    expect((await planBulk(world.deps, file)).outcome).toBe('planned');
  });
});

describe('two processes with the same file', () => {
  it('together send each item once', async () => {
    const world = await createPolicyWorld({ limits: { bulkPerMinute: 100, bulkPerDay: 1000 } });
    const planId = await plan(world, 65);
    const ends = await Promise.all([
      run(world, planId),
      run(world, planId, {}, world.another()),
      run(world, planId, {}, world.another()),
    ]);
    // A run that finds everything sent is finished, even if some responses are still missing.
    expect(ends.map(({ outcome }) => outcome)).toEqual(['finished', 'finished', 'finished']);
    expect(await statesOf(world, planId)).toEqual({ created: 65 });
    expect(world.generated()).toBe(65);
  });

  it('share the rate limit of the key', async () => {
    const world = await createPolicyWorld();
    const planId = await plan(world, 20);
    const ends = await Promise.all(
      [world.deps, world.another()].map((deps) => run(world, planId, { ...impatient, batchSize: 1 }, deps)),
    );
    expect(ends.map(({ outcome }) => outcome)).toEqual(['waiting', 'waiting']);
    expect(world.generated()).toBe(5);
  });
});

describe('results of a batch', () => {
  const sent = [
    { position: 4, policyType: 'imprint' },
    { position: 5, policyType: 'disclaimer' },
    { position: 6, policyType: 'imprint' },
  ];
  const result = (id: string, policyType: string | null, status: 'created' | 'failed' = 'created') => ({
    id,
    policyType,
    status,
  });

  it('are matched by order, whether or not they name their type', () => {
    const results = [result('a', 'imprint'), result('b', null), result('c', 'imprint', 'failed')];
    expect(assignResults(sent, results)).toEqual([
      { position: 4, status: 'created', policyId: 'a' },
      { position: 5, status: 'created', policyId: 'b' },
      { position: 6, status: 'failed', policyId: 'c' },
    ]);
  });

  it('are matched by type if the order differs, and are unknown if they cannot be matched', () => {
    const shuffled = [result('b', 'disclaimer'), result('a', 'imprint'), result('c', 'imprint')];
    expect(assignResults(sent, shuffled).map(({ policyId }) => policyId)).toEqual(['a', 'b', 'c']);
    const short = [result('b', 'disclaimer'), result('a', 'imprint')];
    expect(assignResults(sent, short).map(({ status }) => status)).toEqual(['unknown', 'created', 'unknown']);
  });
});
