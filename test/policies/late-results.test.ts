import { describe, expect, it } from 'vitest';
import { loadPlanItems, planBulk, runBulk } from '../../src/policies/bulk.ts';
import type { PolicyDeps } from '../../src/policies/callable-source.ts';
import { formASchema, generatePolicy } from '../../src/policies/generate.ts';
import { settleByOfficer, settleCalls } from '../../src/policies/settle-calls.ts';
import { loadCalls, loadUnknownItems } from '../../src/policies/show.ts';
import type { ServiceAnswer } from '../../src/service/api-transport.ts';
import { ServiceError } from '../../src/service/service-error.ts';
import { answeringServer, sendJson } from '../service/answering-server.ts';
import { createPolicyWorld, impatient, type PolicyWorld, patient } from './policy-world.ts';

const types = ['privacy-policy', 'cookie-policy'];
const items = types.map((type) => formASchema.parse({ policy_type: type, jurisdiction: 'GB', business_name: 'Acme' }));

async function plan(world: PolicyWorld): Promise<string> {
  const planned = await planBulk(world.deps, { source: world.source, actor: 'test', file: null, items });
  if (planned.outcome !== 'planned') expect.unreachable();
  return planned.planId;
}

async function statesOf(world: PolicyWorld, planId: string): Promise<string[]> {
  await world.deps.catchUp();
  return (await loadPlanItems(world.deps, planId)).map(({ state }) => state);
}

/** A process whose response arrives when the test releases it. */
function heldBack(world: PolicyWorld) {
  let end: (error: Error) => void = () => undefined;
  const answer = new Promise<ServiceAnswer>((_resolve, reject) => (end = reject));
  const deps: PolicyDeps = {
    ...world.deps,
    clientFor: (source) => ({
      ...world.deps.clientFor(source),
      generateBulk: () => answer,
      generatePolicy: () => answer,
    }),
  };
  return { deps, end };
}

async function untilSent(world: PolicyWorld): Promise<void> {
  const isSent = async () => (await world.entries()).some(({ meta }) => meta['call'] === 'intent');
  while (!(await isSent())) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe('a result that comes after the call was given up as lost', () => {
  it.each([
    ['unknown', new ServiceError('timeout', { about: 'policies' })],
    ['refused', new ServiceError('forbidden', { about: 'policies', status: 403 })],
  ] as const)('and is %s does not change items that were settled and sent again', async (_outcome, error) => {
    const world = await createPolicyWorld();
    const planId = await plan(world);
    const { deps, end } = heldBack(world);
    const late = runBulk(deps, { ...impatient, source: world.source, planId });
    await untilSent(world);
    world.pass(351_000);
    expect(await settleCalls(world.another())).toEqual({ lost: 1, settled: 0 });
    expect(await statesOf(world, planId)).toEqual(['unknown', 'unknown']);
    const said = { requestId: `${planId}.1`, actor: 'ada', happened: false };
    expect(await settleByOfficer(world.another(), said)).toMatchObject({ outcome: 'settled', left: 0 });
    const again = await runBulk(world.another(), { ...patient, source: world.source, planId });
    expect(again).toEqual({ outcome: 'finished' });
    expect(await statesOf(world, planId)).toEqual(['created', 'created']);
    end(error);
    await late;
    expect(await statesOf(world, planId)).toEqual(['created', 'created']);
    expect(world.generated()).toBe(2);
  });

  it('and is itself unknown does not overrule what was settled in the meantime', async () => {
    const world = await createPolicyWorld();
    const { deps, end } = heldBack(world);
    const [form = items[0]] = items;
    if (form === undefined) expect.unreachable();
    const late = generatePolicy(deps, { ...impatient, source: world.source, form });
    await untilSent(world);
    world.pass(211_000);
    await settleCalls(world.another());
    const [call] = await loadCalls(world.store.read, { limit: 1 });
    const requestId = call?.request_id ?? '';
    await settleByOfficer(world.another(), { requestId, actor: 'ada', happened: true, policyId: 'pol_found' });
    end(new ServiceError('timeout', { about: 'policies' }));
    expect((await late).outcome).toBe('unknown');
    await world.deps.catchUp();
    expect(await loadCalls(world.store.read, { limit: 1 })).toMatchObject([
      { state: 'happened', policy_id: 'pol_found', settled_by: 'ada' },
    ]);
  });
});

describe('items that the answer to a batch leaves open', () => {
  async function answeredHalf(world: PolicyWorld): Promise<string> {
    const server = await answeringServer((_, response) =>
      sendJson(response, 200, { results: types.map((type) => ({ policy_type: type, status: 'queued' })) }),
    );
    const planId = await plan(world);
    const source = { ...world.source, baseUrl: server.baseUrl };
    expect(await runBulk(world.deps, { ...impatient, source, planId })).toEqual({ outcome: 'finished' });
    expect(await statesOf(world, planId)).toEqual(['unknown', 'unknown']);
    const open = await loadCalls(world.store.read, { limit: 9, open: true });
    expect(open).toMatchObject([{ request_id: `${planId}.1`, state: 'done' }]);
    expect(await loadUnknownItems(world.store.read, open)).toEqual(new Map([[`${planId}.1`, [0, 1]]]));
    return planId;
  }

  it('are settled one after the other by webhooks that come one after the other', async () => {
    const world = await createPolicyWorld();
    const planId = await answeredHalf(world);
    for (const [nth, type] of types.entries()) {
      await world.deliver({
        event: 'policy.created',
        policy_id: `pol_${nth}`,
        policy_type: type,
        jurisdiction: 'GB',
        language: 'en',
        brand_name: 'Acme',
        timestamp: world.now().toISOString(),
      });
      expect(await settleCalls(world.deps)).toEqual({ lost: 0, settled: 1 });
    }
    expect(await statesOf(world, planId)).toEqual(['created', 'created']);
    expect(await loadCalls(world.store.read, { limit: 9, open: true })).toEqual([]);
  });

  it('are settled one after the other by an officer', async () => {
    const world = await createPolicyWorld();
    const planId = await answeredHalf(world);
    const said = { requestId: `${planId}.1`, actor: 'ada' };
    const first = await settleByOfficer(world.deps, { ...said, happened: true, positions: [0] });
    expect(first).toMatchObject({ outcome: 'settled', left: 1 });
    const second = await settleByOfficer(world.deps, { ...said, happened: false, positions: [1] });
    expect(second).toMatchObject({ outcome: 'settled', left: 0 });
    expect(await statesOf(world, planId)).toEqual(['created', 'planned']);
  });
});
