import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Job, type JobHandler, type JobLog, JobRefused } from '../../src/jobs/job.ts';
import { createJobs, type Jobs } from '../../src/jobs/jobs.ts';
import { createRunner, type Runner, type RunnerOptions } from '../../src/jobs/runner.ts';
import type { Store } from '../../src/store/store.ts';
import { databaseIn, openStoreIn, PATIENTLY, temporaryFolder, temporaryStore } from '../temporary.ts';

const silent: JobLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
const clock = () => new Date();

function begin(jobs: Jobs, handlers: Record<string, JobHandler>, more: Partial<RunnerOptions> = {}): Runner {
  const runner = createRunner({ jobs, handlers, clock, log: silent, poll: 50, lease: 1500, ...more });
  onTestFinished(() => runner.stop(0));
  runner.start();
  return runner;
}
async function until(jobs: Jobs, id: string, state: Job['state']): Promise<Job> {
  return vi.waitFor(async () => {
    const job = await jobs.find(id);
    expect(job?.state).toBe(state);
    return job as Job;
  }, PATIENTLY);
}
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
async function open(of?: Store) {
  const store = of ?? (await temporaryStore());
  return { store, jobs: createJobs({ store, clock }) };
}

test('a job is run, shows its progress and keeps its result', async () => {
  const { jobs } = await open();
  begin(jobs, {
    add: async (payload, { progress }) => {
      progress({ done: 1, total: 2, message: 'half' });
      return (payload as number[]).reduce((a, b) => a + b, 0);
    },
  });
  const { id } = await jobs.enqueue({ kind: 'add', payload: [1, 2, 3] });
  expect(await until(jobs, id, 'done')).toMatchObject({ result: 6, progress: { done: 1, total: 2, message: 'half' } });
});

test('no more run at once than allowed, and all of them run', async () => {
  const { jobs } = await open();
  let begun = 0;
  let now = 0;
  let most = 0;
  let openGate = () => {};
  const gate = new Promise<void>((resolve) => {
    openGate = resolve;
  });
  const ids = await Promise.all(Array.from({ length: 8 }, () => jobs.enqueue({ kind: 'k' })));
  const k: JobHandler = async () => {
    begun++;
    most = Math.max(most, ++now);
    await gate;
    now--;
    return null;
  };
  begin(jobs, { k }, { concurrency: 3 });
  await vi.waitFor(() => expect(begun).toBe(3), PATIENTLY);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(begun).toBe(3);
  openGate();
  for (const { id } of ids) await until(jobs, id, 'done');
  expect([begun, most]).toEqual([8, 3]);
});

test('a failure is retried, a refusal is not', async () => {
  const { jobs } = await open();
  let attempts = 0;
  begin(jobs, {
    flaky: async () => {
      attempts++;
      if (attempts === 1) throw new Error('not yet');
      return 'in the end';
    },
    refused: async () => {
      throw new JobRefused('the case is gone');
    },
  });
  const refused = await jobs.enqueue({ kind: 'refused' });
  const flaky = await jobs.enqueue({ kind: 'flaky' });
  expect(await until(jobs, refused.id, 'failed')).toMatchObject({ error: 'the case is gone', attempts: 1 });
  expect(await until(jobs, flaky.id, 'done')).toMatchObject({ result: 'in the end', attempts: 2 });
});

test('a running job is soon cancelled from another process', async () => {
  const { store, jobs } = await open();
  begin(jobs, { k: (_, { signal }) => untilAborted(signal) });
  const { id } = await jobs.enqueue({ kind: 'k' });
  await until(jobs, id, 'running');
  expect(await createJobs({ store, clock }).cancel(id)).toBe('requested');
  await until(jobs, id, 'cancelled');
});

test('a long job keeps its lease', async () => {
  const { jobs } = await open();
  let runs = 0;
  const handlers = {
    k: async () => {
      runs++;
      await new Promise((resolve) => setTimeout(resolve, 4000));
      return null;
    },
  };
  begin(jobs, handlers);
  begin(jobs, handlers);
  const { id } = await jobs.enqueue({ kind: 'k' });
  await until(jobs, id, 'done');
  expect(runs).toBe(1);
});

test('a worker whose job was taken over learns of it and may no longer act, and its result is dropped', async () => {
  const { store, jobs } = await open();
  let release = () => {};
  const paused = new Promise<void>((resolve) => {
    release = resolve;
  });
  let held: boolean | null = null;
  // This worker has no heartbeat, as if its process were stopped.
  const deaf: Jobs = {
    ...jobs,
    heartbeat: () => new Promise(() => undefined),
    standing: () => new Promise(() => undefined),
  };
  const handler: JobHandler = async (_, { holds }) => {
    await paused;
    held = await store.transaction(holds);
    return 'of the paused worker';
  };
  // One at a time: a stopped process would not take further jobs either.
  begin(deaf, { k: handler }, { concurrency: 1 });
  const { id } = await jobs.enqueue({ kind: 'k' });
  await until(jobs, id, 'running');
  begin(jobs, { k: async () => 'of the second worker' });
  await until(jobs, id, 'done');
  release();
  await vi.waitFor(() => expect(held).toBe(false), PATIENTLY);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await jobs.find(id)).toMatchObject({ result: 'of the second worker', attempts: 2 });
});

test('the signal of a job that was taken over is aborted', async () => {
  const { store, jobs } = await open();
  let aborted = false;
  begin(
    jobs,
    {
      k: async (_, { signal }) => {
        await untilAborted(signal).catch(() => undefined);
        aborted = true;
        return 'too late';
      },
    },
    { lease: 60_000 },
  );
  const { id } = await jobs.enqueue({ kind: 'k' });
  await until(jobs, id, 'running');
  await store.transaction(({ query }) =>
    query.updateTable('jobs').set({ lease_token: 99 }).where('id', '=', id).execute(),
  );
  await vi.waitFor(() => expect(aborted).toBe(true), PATIENTLY);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await jobs.find(id)).toMatchObject({ state: 'running', result: null });
});

test('a process that was paused and takes its own job over ends the earlier run of it', async () => {
  const { jobs } = await open();
  const away = () => new Promise<never>(() => undefined);
  const ends: string[] = [];
  let runs = 0;
  begin(
    { ...jobs, heartbeat: away, standing: away },
    {
      k: async (_, { signal }) => {
        const run = ++runs;
        if (run === 2) return 'second run';
        await untilAborted(signal).catch(() => ends.push(`run ${run} aborted`));
        return 'first run';
      },
    },
  );
  const { id } = await jobs.enqueue({ kind: 'k' });
  expect(await until(jobs, id, 'done')).toMatchObject({ result: 'second run', attempts: 2 });
  expect(ends).toEqual(['run 1 aborted']);
});

test('stopping waits for running jobs and starts no new ones', async () => {
  const { jobs } = await open();
  const runner = begin(
    jobs,
    {
      k: async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        return 'finished';
      },
    },
    { concurrency: 1 },
  );
  const first = await jobs.enqueue({ kind: 'k' });
  const second = await jobs.enqueue({ kind: 'k' });
  await until(jobs, first.id, 'running');
  await runner.stop(5000);
  expect(await jobs.find(first.id)).toMatchObject({ state: 'done', result: 'finished' });
  expect(await jobs.find(second.id)).toMatchObject({ state: 'waiting', attempts: 0 });
});

test('a job that does not end in time is given back, whether or not it obeys its signal', async () => {
  const { jobs } = await open();
  const runner = begin(jobs, {
    listens: (_, { signal }) => untilAborted(signal),
    deaf: () => new Promise(() => undefined),
  });
  const [listens, deaf] = [await jobs.enqueue({ kind: 'listens' }), await jobs.enqueue({ kind: 'deaf' })];
  await until(jobs, listens.id, 'running');
  await until(jobs, deaf.id, 'running');
  await runner.stop(50);
  for (const { id } of [listens, deaf]) expect(await jobs.find(id)).toMatchObject({ state: 'waiting', attempts: 0 });
});

test('jobs continue by themselves after an outage of the store', async () => {
  const store = await temporaryStore();
  let broken = true;
  const flaky: Store = {
    ...store,
    get read() {
      if (broken) throw new Error('the disk is away');
      return store.read;
    },
  };
  const error = vi.fn();
  const { jobs } = await open(flaky);
  const { id } = await createJobs({ store, clock }).enqueue({ kind: 'k' });
  begin(jobs, { k: async () => 'done' }, { log: { ...silent, error } });
  await vi.waitFor(() => expect(error).toHaveBeenCalled(), PATIENTLY);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(error).toHaveBeenCalledTimes(1);
  broken = false;
  await until(jobs, id, 'done');
});

test('the job of a killed process is taken over by another', async () => {
  const folder = await temporaryFolder();
  const script = `
    import { createJobs } from ${JSON.stringify(join(process.cwd(), 'src/jobs/jobs.ts'))};
    import { createRunner } from ${JSON.stringify(join(process.cwd(), 'src/jobs/runner.ts'))};
    import { openStore } from ${JSON.stringify(join(process.cwd(), 'src/context/engines.ts'))};
    const clock = () => new Date();
    const log = { info() {}, warn() {}, error() {} };
    openStore(${JSON.stringify(databaseIn(folder))}).then((store) => {
      const handlers = { k: () => { console.log('running'); return new Promise(() => {}); } };
      createRunner({ jobs: createJobs({ store, clock }), handlers, clock, log, poll: 50, lease: 1000 }).start();
    });`;
  const store = await openStoreIn(folder);
  onTestFinished(() => store.close());
  const { jobs } = await open(store);
  const { id } = await jobs.enqueue({ kind: 'k' });

  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  await until(jobs, id, 'running');
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));

  begin(jobs, { k: async () => 'taken over' });
  // The killed process may have taken its own job over, if the machine delayed it beyond the lease.
  const { result, attempts } = await until(jobs, id, 'done');
  expect(result).toBe('taken over');
  expect(attempts).toBeGreaterThanOrEqual(2);
});

test('a job whose handler never settles fails when its time is over, and frees its slot', async () => {
  const { jobs } = await open();
  const signals: AbortSignal[] = [];
  const stuck: JobHandler = (_, { signal }) => {
    signals.push(signal);
    return new Promise<never>(() => undefined);
  };
  begin(jobs, { stuck, next: () => Promise.resolve('done') }, { concurrency: 1, deadline: 300 });
  const { id } = await jobs.enqueue({ kind: 'stuck', maxAttempts: 1 });
  await vi.waitFor(() => expect(signals).toHaveLength(1), PATIENTLY);
  const { id: next } = await jobs.enqueue({ kind: 'next' });
  expect((await until(jobs, id, 'failed')).error).toContain('did not finish');
  expect(signals[0]?.aborted).toBe(true);
  await until(jobs, next, 'done');
});
