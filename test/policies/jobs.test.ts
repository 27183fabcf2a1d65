import { expect, it } from 'vitest';
import { createPolicyJobs } from '../../src/context/policy-jobs.ts';
import { JobRefused } from '../../src/jobs/handler.ts';
import type { Json } from '../../src/jobs/job.ts';
import { createJobs } from '../../src/jobs/jobs.ts';
import type { Context } from '../../src/context.ts';
import { formASchema } from '../../src/policies/generate.ts';
import { planBulk } from '../../src/policies/bulk.ts';
import { createPolicyWorld, type PolicyWorld } from './policy-world.ts';

async function planOf(world: PolicyWorld, count: number): Promise<string> {
  const items = Array.from({ length: count }, (_, nth) =>
    formASchema.parse({ policy_type: 'imprint', jurisdiction: 'DE', business_name: `Shop ${nth}` }),
  );
  const planned = await planBulk(world.deps, { source: world.source, actor: 'ada', file: null, items });
  if (planned.outcome !== 'planned') expect.unreachable();
  return planned.planId;
}

/** Does the jobs that are due, as a worker would, and says what each came to. */
function workerOf(world: PolicyWorld) {
  const jobs = createJobs({ store: world.store, clock: world.now });
  const sources = { find: (slug: string) => (slug === 'default' ? world.source : null) } as Context['sources'];
  const handlers = createPolicyJobs({ policies: world.deps, sources, jobs });
  const workOff = async (): Promise<Json[]> => {
    const results: Json[] = [];
    for (;;) {
      const claim = await jobs.claim('worker', Object.keys(handlers), 600_000);
      if (claim === null) return results;
      const context = {
        job: claim.job,
        signal: new AbortController().signal,
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
  return { jobs, workOff };
}

it('a bulk file left to the jobs goes on the next day where the limits of this one end', async () => {
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

it('a bulk file whose last batch is unknown ends its job, and is not sent again by it', async () => {
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
