import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test, vi } from 'vitest';
import { registerDocument } from '../../src/documents/register.ts';
import type { JobLog } from '../../src/jobs/job.ts';
import { createJobs } from '../../src/jobs/jobs.ts';
import { createRunner } from '../../src/jobs/runner.ts';
import { createScheduler } from '../../src/jobs/schedule.ts';
import { createCited } from '../../src/ledger/cited.ts';
import { databaseOf, engine } from '../servers/databases.ts';
import { openStoreIn, PATIENTLY, temporaryFolder, temporaryLedger, temporaryStore, testKeys } from '../temporary.ts';

const silent: JobLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
const clock = () => new Date();

/** A worker in another process on the same database: it acts some time after it took its job, if it still may. */
function startWorker(folder: string): ChildProcess {
  const from = (path: string) => JSON.stringify(join(process.cwd(), 'src', path));
  const opening =
    engine === 'postgres'
      ? `(await import(${from('store/postgres/open.ts')})).openPostgresStore({ url: ${JSON.stringify(databaseOf(folder))} })`
      : `(await import(${from('store/sqlite/open.ts')})).openSqliteStore({ path: ${JSON.stringify(`${folder}/ledger.sqlite`)} })`;
  const script = `
    import { createJobs } from ${from('jobs/jobs.ts')};
    import { createRunner } from ${from('jobs/runner.ts')};
    const run = async () => {
      const store = await ${opening};
      const clock = () => new Date();
      const log = { info() {}, warn() {}, error() {} };
      const k = async (_, { holds }) => {
        console.log('taken');
        await new Promise((resolve) => setTimeout(resolve, 1500));
        const acted = await store.transaction(async (tx) => {
          if (!(await holds(tx))) return false;
          await tx.insertMany('settings', [{ name: 'effect of the paused', value: '' }]);
          return true;
        });
        console.log(acted ? 'acted' : 'refrained');
      };
      createRunner({ jobs: createJobs({ store, clock }), handlers: { k }, clock, log, poll: 50, lease: 1000 }).start();
    };
    void run();`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

test('a process that is paused past its lease finds on resuming that it may no longer act', async () => {
  const folder = await temporaryFolder();
  const store = await openStoreIn(folder);
  onTestFinished(() => store.close());
  const jobs = createJobs({ store, clock });
  const { id } = await jobs.enqueue({ kind: 'k' });

  const child = startWorker(folder);
  if (child.stdout === null) throw new Error('no output to read');
  const lines = createInterface({ input: child.stdout });
  expect(await once(lines, 'line')).toEqual(['taken']);
  child.kill('SIGSTOP');

  const k = async () => {
    await store.transaction((tx) => tx.insertMany('settings', [{ name: 'effect of the other', value: '' }]));
    return 'done by the other';
  };
  const runner = createRunner({ jobs, handlers: { k }, clock, log: silent, poll: 50, lease: 1000 });
  onTestFinished(() => runner.stop(0));
  runner.start();
  await vi.waitFor(async () => expect(await jobs.find(id)).toMatchObject({ state: 'done', attempts: 2 }), PATIENTLY);
  child.kill('SIGCONT');
  expect(await once(lines, 'line')).toEqual(['refrained']);

  const effects = await store.read.selectFrom('settings').select('name').where('name', 'like', 'effect %').execute();
  expect(effects).toEqual([{ name: 'effect of the other' }]);
  expect(await jobs.find(id)).toMatchObject({ state: 'done', result: 'done by the other' });
});

test('a document whose job was taken over leaves no file and no entry', async () => {
  const { ledger, store } = await temporaryLedger();
  const folder = await temporaryFolder();
  const facts = {
    actor: 'officer',
    reference: 'doc1',
    name: 'consent-audit',
    format: 'csv' as const,
    asOf: 1,
    caseId: null,
    parameters: {},
  };
  async function* content() {
    yield Buffer.from('a,b\n');
  }
  const { publicKey } = generateKeyPairSync('ed25519');
  const proofs = { store, keys: { instance: testKeys, verifying: publicKey }, instance: 'test', epoch: 1 };
  const deps = { read: store.read, ledger, clock, folder, proofs };
  const lost = () => Promise.reject(new Error('another worker has taken this job over'));
  await expect(
    registerDocument({ ...deps, assertHeld: lost }, 'default', facts, createCited(0), content()),
  ).rejects.toThrow('taken this job over');
  expect(await readdir(folder)).toEqual([]);
  expect(await store.read.selectFrom('entries').select('seq').execute()).toEqual([]);

  // Two processes that produce it at once do not write to the same file, and register it once.
  const both = await Promise.all([1, 2].map(() => registerDocument(deps, 'default', facts, createCited(0), content())));
  expect(new Set(both.map(({ seq, sha256 }) => `${seq} ${sha256}`)).size).toBe(1);
  expect(await readdir(folder)).toEqual([expect.stringMatching(/^doc1-[0-9a-f]{16}\.csv$/)]);
});

test('five processes with different clocks, one of them restarting, fire each time of a schedule once', async () => {
  const store = await temporaryStore();
  let now = Date.parse('2026-03-01T10:00:30Z');
  const every = { name: 'every minute', kind: 'k', cron: '* * * * *' };
  const processes = [0, 900, -900, 2500, -2500].map((skew) => {
    const own = () => new Date(now + skew);
    const jobs = createJobs({ store, clock: own });
    return { jobs, scheduler: createScheduler({ store, jobs, timeZone: 'UTC', clock: own, log: silent }) };
  });
  for (const { scheduler } of processes) await scheduler.replaceAll([every]);
  let fired = 0;
  for (let step = 0; step < 40; step++, now += 7500) {
    const counts = await Promise.all(processes.map(({ scheduler }) => scheduler.tick()));
    fired += counts.reduce((sum, count) => sum + count, 0);
    const { jobs, scheduler } = processes[step % 5] ?? { jobs: createJobs({ store, clock }), scheduler: null };
    for (;;) {
      const claim = await jobs.claim('anyone', ['k'], 30_000);
      if (claim === null) break;
      await jobs.complete(claim, null);
    }
    // A starting process sets the schedules again.
    await scheduler?.replaceAll([every]);
  }
  // 10:00:30 to 10:05:22 by the middle clock.
  expect(fired).toBe(5);
  const jobs = await createJobs({ store, clock }).list({ kind: 'k' });
  expect(jobs.filter(({ state }) => state === 'done').length).toBeGreaterThanOrEqual(4);
  expect(jobs).toHaveLength(5);
});
