import { expect, it } from 'vitest';
import type { Context } from '../../src/context/context.ts';
import { type Ending, JobEnded, JobRefused, type Json } from '../../src/jobs/job.ts';
import { createJobs } from '../../src/jobs/jobs.ts';
import { loadPlanItems, planBulk } from '../../src/policies/bulk.ts';
import type { PolicyDeps } from '../../src/policies/callable-source.ts';
import { formASchema } from '../../src/policies/generate.ts';
import { createPolicyJobs } from '../../src/policies/policy-jobs.ts';
import { loadCalls } from '../../src/policies/show.ts';
import { createPolicyWorld, type PolicyWorld } from './policy-world.ts';

async function planOf(world: PolicyWorld, count: number): Promise<string> {
  const items = Array.from({ length: count }, (_, nth) =>
    formASchema.parse({ policy_type: 'imprint', jurisdiction: 'DE', business_name: `Shop ${nth}` }),
  );
  const planned = await planBulk(world.deps, { source: world.source, actor: 'ada', file: null, items });
  if (planned.outcome !== 'planned') expect.unreachable();
  return planned.planId;
}

/** Runs the due jobs like a worker, and returns their results. */
function workerOf(world: PolicyWorld, deps: PolicyDeps = world.deps) {
  const jobs = createJobs({ store: world.store, clock: world.now });
  const sources = { find: (slug: string) => (slug === 'default' ? world.source : null) } as Context['sources'];
  const handlers = createPolicyJobs({ policies: deps, sources, jobs, clock: world.now, config: { timeZone: 'UTC' } });
  const ending = new AbortController();
  const workOff = async (): Promise<Json[]> => {
    const results: Json[] = [];
    for (;;) {
      const claim = await jobs.claim('worker', Object.keys(handlers), 600_000);
      if (claim === null) return results;
      const context = {
        job: claim.job,
        signal: ending.signal,
        progress: () => undefined,
        holds: () => Promise.resolve(true),
        assertHeld: () => Promise.resolve(),
        completeIn: () => Promise.resolve(),
      };
      const result = (await handlers[claim.job.kind]?.(claim.job.payload, context)) ?? null;
      await jobs.complete(claim, result);
      results.push(result);
    }
  };
  return { jobs, workOff, end: (why: Ending) => ending.abort(new JobEnded(why)) };
}

it('a bulk file run by jobs continues the next day once the limits of this day are reached', async () => {
  const world = await createPolicyWorld();
  const planId = await planOf(world, 23);
  const { jobs, workOff } = workerOf(world);
  const payload = { source: 'default', planId, actor: 'ada', batchSize: 1, retryFailed: false };
  await jobs.enqueue({ kind: 'policy-bulk', key: planId, payload });
  expect(await workOff()).toMatchObject([{ outcome: 'waiting' }]);
  expect(world.generated()).toBe(20);
  expect(await workOff()).toEqual([]);
  const began = world.now().getTime();
  for (let hours = 0; hours < 30 && world.generated() < 23; hours += 1) {
    world.pass(3_600_000);
    await workOff();
  }
  expect(world.generated()).toBe(23);
  expect(world.now().getTime() - began).toBeGreaterThan(23 * 3_600_000);
});

it('a bulk file whose last batch has an unknown outcome ends its job, which does not send it again', async () => {
  const world = await createPolicyWorld({ faults: [{ name: 'cut-off', on: 'bulk', times: 1 }] });
  const planId = await planOf(world, 3);
  const { jobs, workOff } = workerOf(world);
  const payload = { source: 'default', planId, actor: 'ada', batchSize: 20, retryFailed: false };
  await jobs.enqueue({ kind: 'policy-bulk', key: planId, payload });
  await expect(workOff()).rejects.toBeInstanceOf(JobRefused);
  await jobs.enqueue({ kind: 'settle-calls' });
  expect(await workOff()).toEqual([{ lost: 0, settled: 0 }]);
  expect(world.generated()).toBe(3);
});

it('a bulk file continues after a pause if one batch has an unknown outcome, and ends after three in a row', async () => {
  const world = await createPolicyWorld({ faults: [{ name: 'dropped-connection', on: 'bulk', times: 1 }] });
  const planId = await planOf(world, 70);
  const { jobs, workOff } = workerOf(world);
  const payload = { source: 'default', planId, actor: 'ada', batchSize: 10, retryFailed: false };
  await jobs.enqueue({ kind: 'policy-bulk', key: planId, payload });
  expect(await workOff()).toMatchObject([{ outcome: 'unknown', unknown: 10, planned: 60 }]);
  world.pass(590_000);
  expect(await workOff()).toEqual([]);
  world.sandbox.faults.set([{ name: 'dropped-connection', on: 'bulk', after: 2 }]);
  world.pass(20_000);
  // Two batches were made, so the run that ends in an unknown one restarts the count.
  expect(await workOff()).toMatchObject([{ outcome: 'unknown', created: 20, unknown: 20, planned: 30 }]);
  world.pass(610_000);
  expect(await workOff()).toMatchObject([{ outcome: 'unknown', unknown: 30, planned: 20 }]);
  world.pass(1_210_000);
  await expect(workOff()).rejects.toBeInstanceOf(JobRefused);
  expect(world.generated()).toBe(20);
});

it('a bulk file is retried if the service cannot be reached, and ends at once if it refuses', async () => {
  const world = await createPolicyWorld();
  const planId = await planOf(world, 3);
  const { jobs, workOff } = workerOf(world);
  const payload = { source: 'default', planId, actor: 'ada', batchSize: 20, retryFailed: false };
  const { baseUrl } = world.source;
  Object.assign(world.source, { baseUrl: 'http://no-such-host.invalid/api/v1' });
  await jobs.enqueue({ kind: 'policy-bulk', key: planId, payload });
  expect(await workOff()).toMatchObject([{ outcome: 'refused', planned: 3 }]);
  Object.assign(world.source, { baseUrl });
  world.sandbox.faults.set([{ name: 'payment-required', on: 'bulk', times: 1 }]);
  world.pass(610_000);
  await expect(workOff()).rejects.toThrow(/subscription .* has lapsed/);
});

it.each([
  ['cancelled', 'done'],
  ['lost', 'done'],
  ['stopping', 'unknown'],
] as const)('a batch in progress whose job is %s ends %s, and no further one is sent', async (why, state) => {
  const world = await createPolicyWorld();
  const planId = await planOf(world, 3);
  let answer: () => void = () => undefined;
  let sent = 0;
  const results = [{ id: 'pol_1', policy_type: 'imprint', status: 'created' }];
  const bytes = Buffer.from(JSON.stringify({ results }));
  const deps: PolicyDeps = {
    ...world.deps,
    clientFor: (source) => ({
      ...world.deps.clientFor(source),
      generateBulk: (_body, sending) =>
        new Promise((resolve, reject) => {
          sent += 1;
          answer = () => resolve({ status: 200, headers: new Headers(), bytes, serverDate: null });
          sending?.signal?.addEventListener('abort', () => reject(new Error('given up')));
        }),
    }),
  };
  const { jobs, workOff, end } = workerOf(world, deps);
  const payload = { source: 'default', planId, actor: 'ada', batchSize: 1, retryFailed: false };
  await jobs.enqueue({ kind: 'policy-bulk', key: planId, payload });
  const working = expect(workOff()).rejects.toThrow(why);
  while (sent === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  end(why);
  answer();
  await working;
  await world.deps.catchUp();
  expect(await loadCalls(world.store.read, { limit: 9 })).toMatchObject([{ state }]);
  expect(sent).toBe(1);
});

it('a job retries failed items once if asked to, however many days it takes', async () => {
  const world = await createPolicyWorld();
  const items = Array.from({ length: 22 }, (_, nth) => ({
    policy_type: 'imprint',
    jurisdiction: 'DE',
    // Too long for the sandbox, which fails to generate it.
    business_name: String(nth).padStart(300, 'x'),
  }));
  const planned = await planBulk(world.deps, { source: world.source, actor: 'ada', file: null, items });
  if (planned.outcome !== 'planned') expect.unreachable();
  const { planId } = planned;
  const { jobs, workOff } = workerOf(world);
  const payload = { source: 'default', planId, actor: 'ada', batchSize: 20, retryFailed: true };
  await jobs.enqueue({ kind: 'policy-bulk', key: planId, payload });
  expect(await workOff()).toMatchObject([{ outcome: 'finished', failed: 22 }]);
  await jobs.enqueue({ kind: 'policy-bulk', key: planId, payload: { ...payload, batchSize: 1 } });
  const ends: Json[] = [];
  for (let days = 0; days < 4; days += 1) {
    ends.push(...(await workOff()));
    world.pass(86_420_000);
  }
  expect(ends).toMatchObject([{ outcome: 'waiting' }, { outcome: 'finished' }]);
  expect((await loadPlanItems(world.deps, planId)).map(({ attempts }) => attempts)).toEqual(Array(22).fill(2));
});
