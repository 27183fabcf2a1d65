/** PostgreSQL only: several processes that share a database and Redis. */
import { createHash } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import type { Jobs } from '../../src/jobs/jobs.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import type { Store } from '../../src/store/store.ts';
import { startMailServer } from '../outside/mail-server.ts';
import { isLong } from '../temporary.ts';
import { checkBackups, createBackupPlace, makeBackups, makeBackupsByCommand } from './backups.ts';
import { cli } from './cli.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { checkErasures, eraseData } from './erasures.ts';
import { type FaultName, faults, pick, sleep, within } from './faults.ts';
import { type Acknowledged, startLoad } from './load.ts';
import { checkMails, mailLetters, mailTasks, makeUnreliable } from './mails.ts';
import { actionsOf, openOffice } from './office.ts';
import { checkPacks, makePacks } from './packs.ts';
import { randomFrom } from './random.ts';

/** `npm run test:long` and `npm run chaos -- <seconds> [seed]` do the same for longer. */
const SECONDS = Number(process.env.CHAOS_SECONDS ?? (isLong ? 150 : 4));
const SEED = Number(process.env.CHAOS_SEED ?? 1);
const ROWS = 1500;
/** Besides deliveries, reports and syncs: mails, packs, erasures and backups. The few seconds of `npm test` are too short for them. */
const ALL = SECONDS >= 15;

test(`after ${SECONDS} s of failing processes and servers (seed ${SEED}), nothing is lost, doubled or half done`, {
  timeout: (SECONDS + 600) * 1000,
}, async () => {
  const random = randomFrom(SEED);
  const { sandbox, baseUrl } = await startSandbox({
    seed: SEED,
    clock: () => new Date(),
    clients: [{ slug: 'shop', banners: 1 }],
    consentRows: ROWS,
  });
  onTestFinished(() => sandbox.close());
  const mailServer = await startMailServer();
  makeUnreliable(mailServer, random);
  const backups = await createBackupPlace();
  onTestFinished(() => backups.close());
  const cluster = await startCluster({
    receivers: isLong ? 3 : 2,
    workers: 2,
    // A worker is paused for longer than this lease.
    workerFlags: ['--lease', '4'],
    more: {
      SERVICE_BASE_URL: baseUrl,
      SERVICE_API_KEY: sandbox.clients[0]?.apiKey ?? '',
      ...{ SMTP_URL: mailServer.url, MAIL_FROM: 'privacy@acme.example', PUBLIC_URL: 'https://privacy.acme.example' },
      ...{ BACKUP_FOLDER: backups.folder, BACKUP_RECIPIENTS: backups.recipient },
    },
  });
  onTestFinished(() => cluster.close());
  const until = Date.now() + SECONDS * 1000;
  const office = await openOffice(cluster, until);
  onTestFinished(() => office.context.close());
  const { store, jobs } = office.context;

  const urls = cluster.receivers.map(({ url }) => url);
  const bannerId = sandbox.clients[0]?.banners[0]?.id ?? '';
  const load = startLoad({ urls, secret: cluster.secret, bannerId, senders: 6, rest: 15, random });
  const confirmed: Parameters<typeof checkErasures>[1][number][] = [];
  const [reports, done] = await Promise.all([
    enqueueUntil(until, jobs),
    // Processes and servers fail at the same time, but none of them twice at once.
    Promise.all([
      failUntil(until, cluster, ['kill a receiver', 'kill a worker', 'pause a receiver', 'pause a worker'], random),
      failUntil(until, cluster, ['restart PostgreSQL', 'crash PostgreSQL', 'flush Redis', 'restart Redis'], random),
    ]).then((lists) => lists.flat()),
    ...(ALL
      ? [
          mailLetters(office),
          mailTasks(office),
          makePacks(office),
          eraseData(office, load, confirmed, random),
          makeBackups(office),
          makeBackupsByCommand(office, cluster, backups, random),
        ]
      : []),
  ]);
  const story = () =>
    [
      `seed ${SEED}: ${done.join(', ')}`,
      ...[...office.failures].map(([message, count]) => `${count} × ${message}`),
      ...[...cluster.receivers, ...cluster.workers].map((one) => one.errors().slice(-2000)),
    ].join('\n');

  await load.finish(60_000).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${story()}`);
  });
  const left = await waitForJobs(store, 120_000);
  expect(left, story()).toEqual([]);

  // No process ended by itself with an error that nobody caught.
  expect([...cluster.receivers, ...cluster.workers].flatMap((one) => one.crashes())).toEqual([]);

  // Every kind of fault happened, and the load continued during them.
  expect(new Set(done).size, story()).toBeGreaterThanOrEqual(4);
  expect(load.acknowledged.length).toBeGreaterThan(SECONDS * 5);

  // What was erased is erased as a whole, and nothing else is.
  const erasures = await checkErasures(office, confirmed);

  // Each acknowledged delivery is in the ledger exactly once, with the number in its acknowledgement; an erased one
  // without its content, but with the key by which a repeat is recognised.
  expect(load.contradictions).toEqual([]);
  const stored = await store.read
    .selectFrom('entries')
    .select(['seq', 'body', 'dedupe_key'])
    .where('kind', '=', 'webhook')
    .orderBy('seq')
    .execute();
  const bySeq = new Map(stored.map((entry) => [entry.seq, entry]));
  const isStored = ({ body, seq }: Acknowledged) => {
    const entry = bySeq.get(seq);
    return erasures.seqs.has(seq)
      ? entry?.body === null && entry.dedupe_key.equals(office.context.ledger.keyOf(Buffer.from(body)))
      : entry?.body?.toString('utf8') === body;
  };
  expect(load.acknowledged.filter((one) => !isStored(one))).toEqual([]);
  expect(new Set(load.acknowledged.map(({ seq }) => seq)).size).toBe(load.acknowledged.length);
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
  const failed = await store.read
    .selectFrom('jobs')
    .select(['kind', 'error'])
    .where('state', '=', 'failed')
    .where('kind', 'in', ['document', 'seal', 'backup'])
    .execute();
  expect(failed, story()).toEqual([]);
  const readProduced = async () =>
    (await actionsOf(office, 'document.produced')).filter(({ details }) => details['name'] === 'delivery-log');
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

  const figures = ALL
    ? [
        await checkMails(office, mailServer),
        await checkPacks(office),
        erasures.figures,
        await checkBackups(office, cluster, backups),
      ]
    : [];

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
        ...figures,
        `entries: ${numbers.length}, reports: ${reports}\n`,
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
    await within(90_000, name, faults[name](cluster, random)).catch((error: unknown) => {
      const said = [...cluster.receivers, ...cluster.workers].map((one) => `${one.name}: ${one.errors().slice(-1500)}`);
      throw new Error(`${String(error)}\nPostgreSQL: ${cluster.postgres.output().slice(-1500)}\n${said.join('\n')}`);
    });
    done.push(name);
    await sleep(300 + 1500 * random());
  }
  return done;
}

/**
 * Waits until no job is left, without the pauses before another attempt; resolves with the kinds and states of the
 * remaining ones if none of them ends within `limit` milliseconds.
 */
async function waitForJobs(store: Store, limit: number): Promise<string[]> {
  const kinds = ['document', 'sync', 'seal', 'letter-mail', 'task-mail', 'erase', 'backup'];
  let until = Date.now() + limit;
  let fewest = Number.POSITIVE_INFINITY;
  for (;;) {
    await store.transaction(({ query }) =>
      query
        .updateTable('jobs')
        .set({ run_at: new Date().toISOString() })
        .where('state', '=', 'waiting')
        .where('kind', 'in', kinds)
        .where('run_at', '>', new Date().toISOString())
        .execute(),
    );
    const left = await store.read
      .selectFrom('jobs')
      .select(['kind', 'job_key', 'state', 'error'])
      .where('state', 'in', ['waiting', 'running'])
      .where('kind', 'in', kinds)
      .execute();
    if (left.length === 0) return [];
    if (left.length < fewest) {
      fewest = left.length;
      until = Date.now() + limit;
    }
    if (Date.now() > until) return left.map((job) => Object.values(job).join(' '));
    await sleep(500);
  }
}
