import { createJobs } from '../src/jobs/jobs.ts';
import { openPostgresStore } from '../src/store/postgres/open.ts';
import { type Cluster, startCluster } from '../test/chaos/cluster.ts';
import { startLoad } from '../test/chaos/load.ts';
import { type Figure, median } from './figures.ts';

const ROUNDS = 3;
/** Default lease of a worker in seconds. */
const LEASE = 30;

/**
 * How long work stops when something dies, with two receivers and two workers. Deliveries: the longest time without an
 * acknowledgement while a receiver, or the database, is killed. Jobs: from the death of the worker that holds one until
 * another worker has finished it.
 */
export async function benchFailOver(): Promise<Figure[]> {
  const cluster = await startCluster({ receivers: 2, workers: 2 });
  try {
    const seconds = (name: string, values: number[], baseline: string): Figure => ({
      name: `fail over, ${name}`,
      value: `${(median(values) / 1000).toFixed(2)} s`,
      baseline,
      ratio: null,
      wanted: '',
      reached: null,
    });
    const calm = await silenceDuring(cluster, () => sleep(2000));
    const receiver: number[] = [];
    const database: number[] = [];
    const job: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      receiver.push(
        await silenceDuring(cluster, async () => {
          await cluster.receivers[0]?.kill();
          await sleep(1500);
          await cluster.receivers[0]?.start();
        }),
      );
      database.push(
        await silenceDuring(cluster, async () => {
          await cluster.postgres.stop('immediate');
          await cluster.postgres.start();
          await sleep(1500);
        }),
      );
      job.push(await jobFailOver(cluster));
    }
    const undisturbed = `longest gap undisturbed ${(calm / 1000).toFixed(2)} s`;
    return [
      seconds('one of two receivers killed', receiver, undisturbed),
      seconds('database crashed and started again at once', database, undisturbed),
      seconds('job of a killed worker', job, `lease ${LEASE} s`),
    ];
  } finally {
    await cluster.close();
  }
}

/** The longest time without an acknowledgement in milliseconds, under continuous load. */
async function silenceDuring({ receivers, secret }: Cluster, work: () => Promise<unknown>): Promise<number> {
  const urls = receivers.map(({ url }) => url);
  const load = startLoad({ urls, secret, bannerId: 'bnr', senders: 4, rest: 5, random: Math.random });
  await sleep(500);
  await work();
  await load.finish(30_000);
  return load.longestSilence();
}

/** Milliseconds from killing the worker that holds a job until the other has finished it. */
async function jobFailOver({ postgres, workers, folder }: Cluster): Promise<number> {
  const store = await openPostgresStore({ url: postgres.url() });
  try {
    const jobs = createJobs({ store, clock: () => new Date() });
    // A report on everything received takes long enough to be interrupted.
    const period = { from: '2020-01-01', to: '2100-01-01' };
    const payload = {
      type: 'report',
      name: 'delivery-log',
      source: 'default',
      ...period,
      format: 'pdf',
      actor: folder,
    };
    const { id } = await jobs.enqueue({ kind: 'document', payload });
    let owner: string | null = null;
    while (owner === null) {
      const row = await store.read
        .selectFrom('jobs')
        .select(['state', 'lease_owner'])
        .where('id', '=', id)
        .executeTakeFirst();
      if (row?.state === 'done') throw new Error('the job finished before its worker could be killed');
      owner = row?.state === 'running' ? row.lease_owner : null;
    }
    const holder = workers.find(({ pid }) => owner?.includes(`/${pid()}/`));
    if (holder === undefined) throw new Error(`unknown worker ${owner}`);
    const started = performance.now();
    await holder.kill();
    while ((await jobs.find(id))?.state !== 'done') await sleep(20);
    const taken = performance.now() - started;
    await holder.start();
    return taken;
  } finally {
    await store.close();
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
