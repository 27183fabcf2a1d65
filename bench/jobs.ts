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
 * How jobs are enqueued: all at once, as a schedule does for each source, or one by one, each when the previous one is
 * in the table.
 */
const WAYS = ['together', 'one by one'] as const;
type Way = (typeof WAYS)[number];

/**
 * Jobs that do nothing, run eight at once by the process that enqueues them: with the jobs table, compared with BullMQ
 * alone, whose jobs are in Redis.
 */
export function benchJobs(scale: number): Promise<Figure[]> {
  return withFolder((folder) =>
    withPostgres(async (server) => {
      const redis = await startRedis();
      try {
        const count = Math.max(500, Math.round(6000 * scale));
        const figures: Figure[] = [];
        for (const way of WAYS) {
          const bare: number[] = [];
          const distributed: number[] = [];
          const embedded: number[] = [];
          for (let round = 0; round < ROUNDS; round += 1) {
            const name = `jobs_${way.replaceAll(' ', '_')}_${round}`;
            bare.push(await measureBare(redis.url, count, way));
            const postgres = await openPostgresStore({ url: await createDatabase(server, name) });
            distributed.push(await measureTable(postgres, redis.url, count, way));
            const sqlite = await openSqliteStore({ path: `${folder}/${name}.sqlite` });
            embedded.push(await measureTable(sqlite, null, count, way));
          }
          const figure = (name: string, rates: number[], wanted: number): Figure => ({
            name: `${name}, ${way}`,
            value: `${Math.round(median(rates))}/s`,
            baseline: `BullMQ alone ${Math.round(median(bare))}/s`,
            ratio: median(rates) / median(bare),
            wanted: way === 'together' ? `≥ ${wanted}/s` : '',
            reached: way === 'together' ? median(rates) >= wanted : null,
          });
          figures.push(figure('jobs, PostgreSQL and Redis', distributed, 1500));
          figures.push(figure('jobs, SQLite in the process', embedded, 2000));
        }
        return figures;
      } finally {
        await redis.close();
      }
    }),
  );
}

async function measureBare(url: string, count: number, way: Way): Promise<number> {
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
  const opts = { attempts: 1, removeOnComplete: true, removeOnFail: true };
  const jobs = Array.from({ length: count }, (_, n) => ({ name: 'nothing', data: { n }, opts }));
  if (way === 'together') await queue.addBulk(jobs);
  else for (const { name: kind, data } of jobs) await queue.add(kind, data, opts);
  await finished;
  const seconds = (performance.now() - started) / 1000;
  await worker.close();
  await queue.close();
  return count / seconds;
}

async function measureTable(store: Store, redisUrl: string | null, count: number, way: Way): Promise<number> {
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
  const all = Array.from({ length: count }, (_, n) => ({ kind: 'nothing', payload: { n } }));
  if (way === 'together') await jobs.enqueueAll(all);
  else for (const job of all) await jobs.enqueue(job);
  await finished;
  const seconds = (performance.now() - started) / 1000;
  await runner.stop();
  await distribution?.close();
  await store.close();
  return count / seconds;
}
