import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createJobs } from '../../src/jobs/jobs.ts';
import { beginInstallation, runCli } from '../cli/command-line.ts';
import { cliPath, environment, startServing } from '../serving.ts';
import { openStoreIn, PATIENTLY, temporaryFolder } from '../temporary.ts';

async function startWorker(folder: string, ...flags: readonly string[]) {
  await beginInstallation(folder, environment(folder));
  const child: ChildProcess = spawn(process.execPath, [cliPath, 'worker', '--json', ...flags], {
    env: environment(folder),
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit') as Promise<[number | null]>;
  if (child.stdout === null) throw new Error('no output to read');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return {
    said: JSON.parse(line) as { status: string; kinds: string[] },
    async stop() {
      child.kill('SIGTERM');
      return (await exited)[0];
    },
  };
}

test('two workers divide the kinds of jobs and stop gracefully', async () => {
  const folder = await temporaryFolder();
  const documents = await startWorker(folder, '--kinds', 'documents');
  expect(documents.said.status).toBe('working');
  expect(documents.said.kinds.toSorted()).toEqual([
    'backup',
    'check-read-models',
    'document',
    'erase',
    'export',
    'offboard',
    'reread',
    'retention',
    'verify',
  ]);
  const store = await openStoreIn(folder);
  onTestFinished(() => store.close());
  const jobs = createJobs({ store, clock: () => new Date() });
  const seal = await jobs.enqueue({ kind: 'seal' });
  const document = await jobs.enqueue({ kind: 'document', payload: 'makes no sense', maxAttempts: 1 });
  const stateOf = async (id: string) => (await jobs.find(id))?.state;
  await vi.waitFor(async () => expect(await stateOf(document.id)).toBe('failed'), PATIENTLY);
  expect(await stateOf(seal.id)).toBe('waiting');
  const others = await startWorker(folder, '--kinds', 'sealing,sync', '--concurrency', '1');
  expect(others.said.kinds).toContain('seal');
  expect(others.said.kinds).not.toContain('document');
  await vi.waitFor(async () => expect(await stateOf(seal.id)).toBe('done'), PATIENTLY);
  expect([await documents.stop(), await others.stop()]).toEqual([0, 0]);
});

test('`worker` waits for the database if it starts while another process blocks writes', async () => {
  const folder = await temporaryFolder();
  expect(await (await startWorker(folder)).stop()).toBe(0);
  const store = await openStoreIn(folder);
  onTestFinished(() => store.close());
  // Longer than a single write waits, on either database.
  const held = store.transaction(() => sleep(7000));
  const worker = await startWorker(folder);
  await held;
  expect(worker.said.status).toBe('working');
  expect(await worker.stop()).toBe(0);
});

test('`worker` refuses unknown kinds of jobs and lists the valid ones', async () => {
  const folder = await temporaryFolder();
  const { code, stderr } = await runCli(folder, ['worker', '--kinds', 'sync,reports']);
  expect(code).toBe(2);
  expect(stderr).toContain('unknown: reports');
  const listed = /documents \((.*?)\)/.exec(stderr)?.[1]?.split(', ') ?? [];
  expect(listed).toEqual(expect.arrayContaining(['document', 'verify', 'export', 'erase', 'backup', 'retention']));
});

test('the server’s metrics show the jobs of every queue, whichever process runs them', async () => {
  const folder = await temporaryFolder();
  const server = await startServing(folder);
  const store = await openStoreIn(folder);
  onTestFinished(() => store.close());
  const jobs = createJobs({ store, clock: () => new Date() });
  await jobs.enqueue({ kind: 'document', runAt: new Date(Date.now() + 3_600_000) });
  const { id } = await jobs.enqueue({ kind: 'seal' });
  await vi.waitFor(async () => expect((await jobs.find(id))?.state).toBe('done'), PATIENTLY);
  const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text();
  expect(metrics).toContain('consent_ledger_jobs{queue="documents",state="delayed"} 1');
  expect(metrics).toContain('consent_ledger_jobs_oldest_due_seconds{queue="documents"} 0');
  expect(metrics).toMatch(/consent_ledger_jobs_ended_total\{queue="sealing",outcome="done"\} [1-9]/);
  // Set on the engine that has a Redis.
  if ('REDIS_URL' in environment(folder)) {
    expect(metrics).toContain('consent_ledger_redis_up 1');
    expect(metrics).toMatch(/consent_ledger_wake_ups_total\{outcome="failed"\} 0/);
  } else expect(metrics).not.toContain('consent_ledger_redis_up');
  expect(await server.stop()).toBe(0);
});
