import { once } from 'node:events';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type Distribution, inspectRedis, openDistribution } from '../../src/jobs/bullmq.ts';
import { type Job, type JobHandler, type JobLog, lanesOf } from '../../src/jobs/job.ts';
import { createJobs, type Jobs } from '../../src/jobs/jobs.ts';
import { createDistributedRunner, type DistributedRunnerOptions } from '../../src/jobs/runner.ts';
import type { Store } from '../../src/store/store.ts';
import { findFreePort } from '../servers/own-process.ts';
import { type RedisServer, startRedis } from '../servers/redis.ts';
import { PATIENTLY, temporaryStore } from '../temporary.ts';

const clock = () => new Date();
const silent: JobLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
/** Longer than any test waits, so if a job is done, its notification arrived. */
const NEVER = 600_000;

let redis: RedisServer;
let installations = 0;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.close());

interface Options extends Partial<DistributedRunnerOptions> {
  readonly instance: string;
  readonly store: Store;
  readonly url?: string;
}

/** One process of an installation; it only runs jobs. */
function openProcess({ store, instance, url = redis.url, log = silent }: Options) {
  const distribution = openDistribution({ url, instance, clock, log });
  onTestFinished(() => distribution.close());
  const jobs = createJobs({ store, clock, announce: (wakeUps) => distribution.announce(wakeUps) });
  return { distribution, jobs };
}
function work(handlers: Record<string, JobHandler>, options: Options, concurrency?: number) {
  const opened = openProcess(options);
  const lanes = lanesOf(Object.keys(handlers), concurrency);
  const runner = createDistributedRunner({
    jobs: opened.jobs,
    distribution: opened.distribution,
    handlers,
    lanes,
    clock,
    log: silent,
    lease: 1500,
    sweep: NEVER,
    sweepWhileAway: NEVER,
    ...options,
  });
  onTestFinished(() => runner.stop(0));
  runner.start();
  return { ...opened, runner };
}
async function begin() {
  installations += 1;
  return { store: await temporaryStore(), instance: `i${installations}` };
}
function until(jobs: Jobs, id: string, state: Job['state']): Promise<Job> {
  return vi.waitFor(async () => {
    const job = await jobs.find(id);
    expect(job?.state).toBe(state);
    return job as Job;
  }, PATIENTLY);
}
const untilUp = (distribution: Distribution) =>
  vi.waitFor(async () => expect((await distribution.state()).up).toBe(true), PATIENTLY);
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
async function withRedis<T>(work: (client: Redis) => Promise<T>, url = redis.url): Promise<T> {
  const client = new Redis(url);
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}

test('a job that one process enqueues is done by another at once, and leaves nothing behind in Redis', async () => {
  const world = await begin();
  work({ document: async (payload) => payload }, world);
  const { jobs } = openProcess(world);
  const { id } = await jobs.enqueue({ kind: 'document', payload: 7 });
  expect(await until(jobs, id, 'done')).toMatchObject({ result: 7 });
  await vi.waitFor(async () => {
    const left = await withRedis(async (client) => {
      const prefix = `consent-ledger-${world.instance}:documents`;
      return (await client.keys(`${prefix}:*`)).filter((key) => !/:(meta|events|stalled-check|id|marker)$/.test(key));
    });
    expect(left).toEqual([]);
  }, PATIENTLY);
});

test('processes share the jobs: each stays within its concurrency, and every job is done once', async () => {
  const world = await begin();
  const ran = new Map<string, string>();
  const most = { a: 0, b: 0 };
  const handlersOf = (name: 'a' | 'b') => {
    let now = 0;
    const document: JobHandler = async (payload) => {
      expect(ran.has(payload as string)).toBe(false);
      ran.set(payload as string, name);
      most[name] = Math.max(most[name], ++now);
      await later(60);
      now--;
      return null;
    };
    return { document };
  };
  const { jobs } = work(handlersOf('a'), { ...world, sweep: 100 }, 2);
  work(handlersOf('b'), world, 1);
  const ids: string[] = [];
  for (let at = 0; at < 24; at++) ids.push((await jobs.enqueue({ kind: 'document', payload: `job ${at}` })).id);
  for (const id of ids) expect(await until(jobs, id, 'done')).toMatchObject({ attempts: 1 });
  expect(ran.size).toBe(24);
  expect(most.a).toBeLessThanOrEqual(2);
  expect(most.b).toBe(1);
  expect([...ran.values()].filter((name) => name === 'b').length).toBeGreaterThan(2);
});

test('a failed attempt is retried by a delayed wake-up', async () => {
  const world = await begin();
  let attempts = 0;
  const { jobs } = work(
    {
      sync: async () => {
        attempts++;
        if (attempts === 1) throw new Error('not yet');
        return null;
      },
    },
    world,
  );
  const { id } = await jobs.enqueue({ kind: 'sync' });
  expect(await until(jobs, id, 'done')).toMatchObject({ attempts: 2 });
});

test('installations share a Redis without waking each other', async () => {
  const [one, other] = [await begin(), await begin()];
  const { jobs } = work({ seal: async () => 'one' }, one);
  // It polled at its start, and polls again after this.
  await until(jobs, (await jobs.enqueue({ kind: 'seal' })).id, 'done');
  await later(100);
  // The same table, but the wake-ups of another installation.
  const stranger = openProcess({ store: one.store, instance: other.instance });
  const { id } = await stranger.jobs.enqueue({ kind: 'seal' });
  await later(700);
  expect(await jobs.find(id)).toMatchObject({ state: 'waiting' });
  // The older job runs first, whichever process got the wake-up.
  await jobs.enqueue({ kind: 'seal' });
  await until(jobs, id, 'done');
});

test('with Redis down from the start, enqueuing neither waits nor fails, work continues, and one message says so', async () => {
  const world = await begin();
  const port = await findFreePort();
  const error = vi.fn();
  const log = { ...silent, error };
  const { jobs, distribution } = work(
    { document: async () => 'done' },
    {
      ...world,
      url: `redis://:hush@127.0.0.1:${port}`,
      log,
      sweepWhileAway: 100,
    },
  );
  await vi.waitFor(() => expect(distribution.isAway()).toBe(true), PATIENTLY);
  for (let at = 0; at < 5; at++) {
    const { id } = await jobs.enqueue({ kind: 'document' });
    await until(jobs, id, 'done');
  }
  const said = error.mock.calls.filter(([, message]) => /Redis is unavailable/.test(String(message)));
  expect(said).toHaveLength(1);
  expect(JSON.stringify(said)).toContain('REDIS_URL');
  expect(JSON.stringify(said)).not.toContain('hush');
  expect(await distribution.state()).toMatchObject({ up: false, wakeUpsSent: 0 });
  expect((await distribution.state()).wakeUpsFailed).toBeGreaterThanOrEqual(5);
});

test('the runner recovers automatically after Redis was killed and restarted, and after FLUSHALL', async () => {
  const world = await begin();
  const own = await startRedis();
  onTestFinished(() => own.close());
  const warn = vi.fn();
  const { jobs, distribution } = work(
    { document: async () => 'done' },
    {
      ...world,
      url: own.url,
      log: { ...silent, warn },
      sweepWhileAway: 100,
    },
  );
  const done = async () => {
    const { id } = await jobs.enqueue({ kind: 'document' });
    await until(jobs, id, 'done');
  };
  await done();
  await own.stop('kill');
  await vi.waitFor(() => expect(distribution.isAway()).toBe(true), PATIENTLY);
  await done();
  await own.start();
  await untilUp(distribution);
  expect(warn.mock.calls.filter(([, message]) => /Redis is available again/.test(String(message)))).toHaveLength(1);
  // The sweep can be ruled out again: if a job is done now, its notification arrived.
  await later(300);
  await done();
  await withRedis((client) => client.flushall(), own.url);
  await done();
  await done();
});

test('wiped wake-ups delay their jobs until the next poll, and lose none', async () => {
  const world = await begin();
  const { jobs } = openProcess(world);
  const ids: string[] = [];
  for (let at = 0; at < 10; at++) ids.push((await jobs.enqueue({ kind: 'document' })).id);
  await vi.waitFor(
    () =>
      withRedis(async (client) =>
        expect(await client.llen(`consent-ledger-${world.instance}:documents:wait`)).toBe(10),
      ),
    PATIENTLY,
  );
  await withRedis((client) => client.flushall());
  work({ document: async () => 'done' }, { ...world, sweep: 300 });
  for (const id of ids) await until(jobs, id, 'done');
});

test('a Redis that hangs holds up neither enqueuing nor stopping', async () => {
  const world = await begin();
  const own = await startRedis();
  onTestFinished(() => own.close());
  const { jobs, distribution, runner } = work({ document: async () => 'done' }, { ...world, url: own.url });
  await untilUp(distribution);
  const first = await jobs.enqueue({ kind: 'document' });
  await until(jobs, first.id, 'done');
  process.kill(own.pid(), 'SIGSTOP');
  onTestFinished(() => void process.kill(own.pid(), 'SIGCONT'));
  const { id } = await jobs.enqueue({ kind: 'document' });
  // A wake-up that could not be sent still reaches the runners of the same process.
  await until(jobs, id, 'done');
  const stopping = performance.now();
  await runner.stop();
  await distribution.close();
  expect(performance.now() - stopping).toBeLessThan(60_000);
});

test('a running job is returned at the stop, and another process is notified', async () => {
  const world = await begin();
  const first = work(
    {
      sync: (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
        ),
    },
    world,
  );
  const { id } = await first.jobs.enqueue({ kind: 'sync' });
  await until(first.jobs, id, 'running');
  const { jobs } = work({ sync: async () => 'elsewhere' }, world);
  await first.runner.stop(50);
  expect(await until(jobs, id, 'done')).toMatchObject({ result: 'elsewhere' });
});

test('closing leaves no handle that would keep the process alive', async () => {
  const { spawn } = await import('node:child_process');
  const script = `
    import { openDistribution } from ${JSON.stringify(`${process.cwd()}/src/jobs/bullmq.ts`)};
    const log = { info() {}, warn() {}, error() {} };
    const distribution = openDistribution({ url: ${JSON.stringify(redis.url)}, instance: 'closing', clock: () => new Date(), log });
    distribution.listen('sync', 1, async () => true);
    distribution.announce([{ kind: 'sync', at: null }]).then((sent) => { console.log(sent); return distribution.close(); });`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 20_000,
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  const [code] = (await once(child, 'exit')) as [number | null];
  expect({ code, output }).toEqual({ code: 0, output: 'true\n' });
});

test('the runner checks the settings of a Redis, and reports one that does not answer as unreachable', async () => {
  expect(await inspectRedis(redis.url)).toMatchObject({
    outcome: 'reached',
    version: expect.stringMatching(/^\d+\.\d+/) as unknown,
    maxmemoryPolicy: 'noeviction',
    appendOnly: true,
  });
  expect(await inspectRedis(`redis://127.0.0.1:${await findFreePort()}`)).toMatchObject({ outcome: 'unreachable' });
});
