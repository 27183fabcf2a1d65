import { randomUUID } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { openDistribution } from '../src/jobs/bullmq.ts';
import { createJobs } from '../src/jobs/jobs.ts';
import { createDistributedRunner, createRunner } from '../src/jobs/runner.ts';
import { openPostgresStore } from '../src/store/postgres/open.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import type { Store } from '../src/store/store.ts';
import { startRedis } from '../test/servers/redis.ts';
import { createDatabase, withPostgres } from './databases.ts';
import { type Figure, median, withFolder } from './figures.ts';

const ROUNDS = 3;
const AT_ONCE = 8;
const clock = () => new Date();
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Jobs that do nothing, enqueued one by one and run by the same process, eight at once: with the jobs table as the truth, beside BullMQ
 * alone, whose jobs live in Redis.
 */
export function benchJobs(scale: number): Promise<Figure[]> {
  return withFolder((folder) =>
    withPostgres(async (server) => {
      const redis = await startRedis();
      try {
        const count = Math.max(100, Math.round(1500 * scale));
        const bare: number[] = [];
        const distributed: number[] = [];
        const embedded: number[] = [];
        for (let round = 0; round < ROUNDS; round += 1) {
          bare.push(await measureBare(redis.url, count));
          const postgres = await openPostgresStore({ url: await createDatabase(server, `jobs_${round}`) });
          distributed.push(await measureTable(postgres, redis.url, count).finally(() => postgres.close()));
          const sqlite = await openSqliteStore({ path: `${folder}/jobs-${round}.sqlite` });
          embedded.push(await measureTable(sqlite, null, count).finally(() => sqlite.close()));
        }
        const figure = (name: string, rates: number[]): Figure => ({
          name,
          value: `${Math.round(median(rates))}/s`,
          baseline: `BullMQ alone ${Math.round(median(bare))}/s`,
          ratio: median(rates) / median(bare),
          wanted: '',
          reached: null,
        });
        return [figure('jobs, PostgreSQL and Redis', distributed), figure('jobs, SQLite in the process', embedded)];
      } finally {
        await redis.close();
      }
    }),
  );
}

async function measureBare(url: string, count: number): Promise<number> {
  const { hostname: host, port } = new URL(url);
  const connection = { host, port: Number(port), maxRetriesPerRequest: null };
  const name = `bare-${randomUUID()}`;
  const queue = new Queue(name, { connection });
  let done = 0;
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const worker = new Worker(
    name,
    () => {
      done += 1;
      if (done === count) finish();
      return Promise.resolve();
    },
    { connection, concurrency: AT_ONCE },
  );
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
  const started = performance.now();
  for (let n = 0; n < count; n += 1)
    await queue.add('nothing', { n }, { attempts: 1, removeOnComplete: true, removeOnFail: true });
  await finished;
  const seconds = (performance.now() - started) / 1000;
  await worker.close();
  await queue.close();
  return count / seconds;
}

async function measureTable(store: Store, redisUrl: string | null, count: number): Promise<number> {
  const distribution =
    redisUrl === null ? null : openDistribution({ url: redisUrl, instance: randomUUID(), clock, log: silent });
  const jobs = createJobs({ store, clock, ...(distribution ? { announce: distribution.announce } : {}) });
  let done = 0;
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const handlers = {
    nothing: () => {
      done += 1;
      if (done === count) finish();
      return Promise.resolve(null);
    },
  };
  const lanes = [{ queue: 'service-calls', kinds: ['nothing'], concurrency: AT_ONCE }];
  const options = { jobs, handlers, clock, log: silent, lanes };
  const runner = distribution ? createDistributedRunner({ ...options, distribution }) : createRunner(options);
  runner.start();
  const started = performance.now();
  for (let n = 0; n < count; n += 1) await jobs.enqueue({ kind: 'nothing', payload: { n } });
  await finished;
  const seconds = (performance.now() - started) / 1000;
  await runner.stop();
  await distribution?.close();
  return count / seconds;
}
