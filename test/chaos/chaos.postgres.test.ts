/** PostgreSQL only: several processes that share a database and Redis. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createJobs, type Jobs } from '../../src/jobs/jobs.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import type { Store } from '../../src/store/store.ts';
import { cliPath } from '../serving.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { faults, type FaultName, pick, sleep } from './faults.ts';
import { startLoad } from './load.ts';
import { randomFrom } from './random.ts';
import { isLong } from '../temporary.ts';

/** `npm run test:long` and `npm run chaos -- <seconds> [seed]` do the same for longer. */
const SECONDS = Number(process.env.CHAOS_SECONDS ?? (isLong ? 150 : 4));
const SEED = Number(process.env.CHAOS_SEED ?? 1);
const ROWS = 1500;

test(`after ${SECONDS} s of failing processes and servers (seed ${SEED}), nothing is lost or doubled and every job is done once`, {
  timeout: (SECONDS + 240) * 1000,
}, async () => {
  const random = randomFrom(SEED);
  const { sandbox, baseUrl } = await startSandbox({
    seed: SEED,
    clock: () => new Date(),
    clients: [{ slug: 'shop', banners: 1 }],
    consentRows: ROWS,
  });
  onTestFinished(() => sandbox.close());
  const cluster = await startCluster({
    receivers: isLong ? 3 : 2,
    workers: 2,
    // A worker is paused for longer than this lease.
    workerFlags: ['--lease', '4'],
    more: { SERVICE_BASE_URL: baseUrl, SERVICE_API_KEY: sandbox.clients[0]?.apiKey ?? '' },
  });
  onTestFinished(() => cluster.close());
  const store = await openPostgresStore({ url: cluster.postgres.url(), connectTimeout: 5000 });
  onTestFinished(() => store.close());
  const jobs = createJobs({ store, clock: () => new Date() });

  const urls = cluster.receivers.map(({ url }) => url);
  const bannerId = sandbox.clients[0]?.banners[0]?.id ?? '';
  const load = startLoad({ urls, secret: cluster.secret, bannerId, senders: 6, rest: 15, random });
  const until = Date.now() + SECONDS * 1000;
  const [reports, done] = await Promise.all([
    enqueueUntil(until, jobs),
    // Processes and servers fail at the same time, but none of them twice at once.
    Promise.all([
      failUntil(until, cluster, ['kill a receiver', 'kill a worker', 'pause a receiver', 'pause a worker'], random),
      failUntil(until, cluster, ['restart PostgreSQL', 'crash PostgreSQL', 'flush Redis', 'restart Redis'], random),
    ]).then((lists) => lists.flat()),
  ]);
  const story = () =>
    [
      `seed ${SEED}: ${done.join(', ')}`,
      ...[...cluster.receivers, ...cluster.workers].map((one) => one.errors().slice(-2000)),
    ].join('\n');

  await load.finish(60_000).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${story()}`);
  });
  const left = await waitForJobs(store, 90_000);
  expect(left, story()).toEqual([]);

  // Every kind of fault happened, and the load continued during them.
  expect(new Set(done).size, story()).toBeGreaterThanOrEqual(4);
  expect(load.acknowledged.length).toBeGreaterThan(SECONDS * 5);

  // Each acknowledged delivery is in the ledger exactly once, with the number in its acknowledgement.
  expect(load.contradictions).toEqual([]);
  const stored = await store.read
    .selectFrom('entries')
    .select(['seq', 'kind', 'body'])
    .where('kind', '=', 'webhook')
    .orderBy('seq')
    .execute();
  const seqOf = new Map(stored.map(({ seq, body }) => [body?.toString('utf8'), seq]));
  expect(seqOf.size).toBe(stored.length);
  expect(load.acknowledged.filter(({ body, seq }) => seqOf.get(body) !== seq)).toEqual([]);
  expect(stored.length).toBe(load.acknowledged.length);

  // seq has no gaps, neither overall nor within a source.
  const numbers = await store.read
    .selectFrom('entries')
    .select(['seq', 'source', 'source_seq'])
    .orderBy('seq')
    .execute();
  expect(numbers.map(({ seq }) => seq)).toEqual(numbers.map((_, place) => place + 1));
  for (const source of new Set(numbers.map((one) => one.source))) {
    const own = numbers.filter((one) => one.source === source).map((one) => one.source_seq);
    expect(own, source).toEqual(own.map((_, place) => place + 1));
  }

  // Each job took effect once: one document per request, each row of the service's log once.
  const failed = await store.read.selectFrom('jobs').select(['kind', 'error']).where('state', '=', 'failed').execute();
  expect(failed.filter(({ kind }) => kind !== 'sync')).toEqual([]);
  const readProduced = () =>
    store.read.selectFrom('action_history').select('object').where('action', '=', 'document.produced').execute();
  // The read models catch up without help once the servers are back.
  await expect.poll(async () => (await readProduced()).length, { message: story() }).toBe(reports);
  const produced = await readProduced();
  expect(new Set(produced.map(({ object }) => object)).size).toBe(reports);
  const rows = await store.read.selectFrom('entries').select('body').where('kind', '=', 'consent-log').execute();
  const digests = new Set(
    rows.map(({ body }) =>
      createHash('sha256')
        .update(body ?? '')
        .digest('hex'),
    ),
  );
  const syncs = await store.read
    .selectFrom('jobs')
    .select(['state', 'result', 'error'])
    .where('kind', '=', 'sync')
    .execute();
  expect([rows.length, digests.size], `sync jobs: ${JSON.stringify(syncs)}`).toEqual([ROWS, ROWS]);

  // An outsider finds the ledger intact, and the read models match the entries.
  expect(await cli(cluster, 'ledger', 'verify')).toMatchObject({ faults: [], entries: numbers.length });
  expect(await cli(cluster, 'ledger', 'rebuild')).toMatchObject({ differences: [] });

  if (process.env.CHAOS_SECONDS !== undefined) {
    const counts = [...new Set(done)].map((name) => `${name} × ${done.filter((one) => one === name).length}`);
    const answers = [...load.answers].map(([status, count]) => `${status || 'no answer'} × ${count}`);
    process.stdout.write(
      [
        `faults: ${counts.join(', ')}`,
        `deliveries: ${load.acknowledged.length} acknowledged (${answers.join(', ')}), longest time without an acknowledgement ${(load.longestSilence() / 1000).toFixed(1)} s`,
        `entries: ${numbers.length}, documents: ${reports}\n`,
      ].join('\n'),
    );
  }
});

/** Enqueues a report, a sync and a seal about every second, through outages too; resolves with the number of requested reports. */
async function enqueueUntil(until: number, jobs: Jobs): Promise<number> {
  let reports = 0;
  while (Date.now() < until) {
    // Each over a different period, so each is a different document.
    const from = new Date(Date.UTC(2020, 0, 1 + reports)).toISOString().slice(0, 10);
    const payload = {
      type: 'report',
      name: 'delivery-log',
      source: 'default',
      from,
      to: '2100-01-01',
      format: 'csv',
      actor: 'chaos',
    };
    // Its own key: if the commit succeeds but its confirmation is lost, the repeat finds the job.
    const report = { kind: 'document', key: `report ${reports}`, payload, maxAttempts: 50 };
    if (await tried(() => jobs.enqueue(report))) reports += 1;
    await tried(() =>
      jobs.enqueue({ kind: 'sync', key: 'default', payload: { source: 'default', actor: 'chaos' }, maxAttempts: 50 }),
    );
    await tried(() => jobs.enqueue({ kind: 'seal', key: 'chaos', maxAttempts: 50 }));
    await sleep(1000);
  }
  return reports;
}

async function tried(work: () => Promise<unknown>): Promise<boolean> {
  return work().then(
    () => true,
    () => false,
  );
}

async function failUntil(
  until: number,
  cluster: Cluster,
  names: readonly FaultName[],
  random: () => number,
): Promise<FaultName[]> {
  const done: FaultName[] = [];
  // Each of them once in a random order, and after that any of them at random.
  const first = names.map((name) => ({ name, at: random() })).sort((a, b) => a.at - b.at);
  // At least two of them, however long they take.
  while (Date.now() < until || done.length < 2) {
    const name = first.shift()?.name ?? pick(names, random);
    await faults[name](cluster, random);
    done.push(name);
    await sleep(300 + 1500 * random());
  }
  return done;
}

/** Waits until no job is left; resolves with the kinds and states of the remaining ones if that takes too long. */
async function waitForJobs(store: Store, limit: number): Promise<string[]> {
  const until = Date.now() + limit;
  for (;;) {
    const left = await store.read
      .selectFrom('jobs')
      .select(['kind', 'job_key', 'state', 'error'])
      .where('state', 'in', ['waiting', 'running'])
      .where('kind', 'in', ['document', 'sync', 'seal'])
      .execute();
    if (left.length === 0) return [];
    if (Date.now() > until) return left.map((job) => Object.values(job).join(' '));
    await sleep(500);
  }
}

async function cli({ env, folder }: Cluster, ...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [cliPath, ...args, '--json'], {
    env,
    cwd: folder,
    maxBuffer: 64 << 20,
    timeout: 120_000,
  });
  return JSON.parse(stdout);
}
