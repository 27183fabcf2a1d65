import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { openContext } from '../../src/context.ts';
import { createLog } from '../../src/log.ts';
import { seedRequests } from '../dashboard/seed.ts';
import { createOfficeWorld } from '../http/office-world.ts';
import { cliPath, deliver, environment, runCli, startServing } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

interface Report {
  copied: number;
  seq: number;
  differentLeaf: number | null;
  readModels: { table: string; rows: number; same: boolean }[] | null;
  behind: number;
  retired: boolean;
  verification: { entries: number; faults: unknown[]; root: string };
}

/** Where to copy to, and what a process needs to open it afterwards. */
async function emptyDatabase(): Promise<string> {
  return `sqlite:${await temporaryFolder()}/copy.sqlite`;
}

async function copy(
  folder: string,
  to: string,
  ...flags: string[]
): Promise<{ code: number | null; report: Report; stderr: string }> {
  const { code, stdout, stderr } = await runCli(folder, ['store', 'copy', '--to', to, '--json', ...flags]);
  return { code, stderr, report: JSON.parse(stdout || 'null') as Report };
}

test('a copy has every entry, checkpoint and row of the installation, and serves as the installation', async () => {
  const world = await createOfficeWorld();
  await seedRequests(world);
  for (let repeat = 0; repeat < 3; repeat += 1)
    await world.event('dsar.submitted', { request_id: 'r-9', type: 'access', email: 'again@example.org' });
  await world.context.seal();
  const folder = world.context.config.dataDir;
  const to = await emptyDatabase();

  const { code, report } = await copy(folder, to);
  expect(code).toBe(0);
  expect(report).toMatchObject({ differentLeaf: null, behind: 0, retired: false, verification: { faults: [] } });
  expect(report.readModels?.filter(({ same }) => !same)).toEqual([]);
  expect(report.readModels?.find(({ table }) => table === 'cases')?.rows).toBe(4);
  expect(report.readModels?.find(({ table }) => table === 'decision_history')?.rows).toBe(2);

  const verified = await runCli(folder, ['ledger', 'verify', '--json'], { DATABASE_URL: to });
  expect(verified.code).toBe(0);
  const original = await world.context.verify();
  expect(JSON.parse(verified.stdout)).toMatchObject({
    root: original.root,
    entries: original.entries,
    checkpoints: original.checkpoints,
    faults: [],
  });
  const arrivals = await world.context.store.read.selectFrom('arrivals').selectAll().execute();
  expect(arrivals).toHaveLength(1);

  // The copy goes on as the installation: the next delivery has the next number, a repeat is known.
  const serving = await startServing(folder, { DATABASE_URL: to });
  const next = await deliver(serving.url, '{"event":"policy.updated","policy_id":"p1"}');
  expect(next).toMatchObject({ status: 200, body: { status: 'stored' } });
  expect(next.body.seq).toBeGreaterThan(report.seq);
  expect((await deliver(serving.url, '{"event":"policy.updated","policy_id":"p1"}')).body.status).toBe('duplicate');
  expect(await serving.stop()).toBe(0);

  // Both have gone on: nothing may be copied over either.
  const again = await runCli(folder, ['store', 'copy', '--to', to]);
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('gone on by itself');
});

test('a copy that was killed half way goes on where it stopped, and is nobody’s installation before', async () => {
  const folder = await temporaryFolder();
  const context = await openContext(loadConfig(environment(folder), folder), createLog('fatal'));
  const at = new Date().toISOString();
  for (let batch = 0; batch < 40; batch += 1) {
    await context.ledger.append(
      Array.from({ length: 250 }, (_, place) => {
        const body = Buffer.from(JSON.stringify({ event: 'scan', batch, place, filling: 'x'.repeat(400) }));
        const meta = Buffer.from('{"verdict":"verified"}');
        return {
          source: 'default',
          kind: 'webhook' as const,
          dedupeKey: context.ledger.keyOf(body),
          receivedAt: at,
          meta,
          body,
        };
      }),
    );
  }
  await context.close();
  const path = `${await temporaryFolder()}/copy.sqlite`;

  const env = environment(folder);
  const child = spawn(process.execPath, [cliPath, 'store', 'copy', '--to', `sqlite:${path}`], { env, cwd: folder });
  const exited = once(child, 'exit');
  const { openSqliteStore } = await import('../../src/store/sqlite/open.ts');
  const { lastSeq } = await import('../../src/context/copy/copy-tables.ts');
  const watching = await openSqliteStore({ path });
  await vi.waitFor(async () => expect(await lastSeq(watching)).toBeGreaterThan(400), { timeout: 30_000, interval: 5 });
  child.kill('SIGKILL');
  await exited;
  const there = await lastSeq(watching);
  await watching.close();
  expect(there).toBeLessThan(10_000);

  const early = await runCli(folder, ['ledger', 'verify'], { DATABASE_URL: `sqlite:${path}` });
  expect(early.code).toBe(2);
  expect(early.stderr).toContain('unfinished copy');

  const { code, report } = await copy(folder, `sqlite:${path}`);
  expect(code).toBe(0);
  expect(report).toMatchObject({ copied: 10_000 - there, seq: 10_000, differentLeaf: null });
});

test('a retired database takes no more entries, even from a server that has it open', async () => {
  const folder = await temporaryFolder();
  const serving = await startServing(folder);
  const send = (n: number) => deliver(serving.url, JSON.stringify({ event: 'policy.updated', policy_id: `p${n}` }));
  for (let n = 0; n < 5; n += 1) expect((await send(n)).status).toBe(200);
  const to = await emptyDatabase();
  const { code, report } = await copy(folder, to, '--retire');
  expect(code).toBe(0);
  expect(report).toMatchObject({ retired: true, behind: 0 });

  const refused = await send(6);
  expect(refused.status).toBe(503);
  expect((await send(2)).status).toBe(503);
  await serving.stop();
  // What was refused arrives in the new database, where the move is on record.
  const moved = await startServing(folder, { DATABASE_URL: to });
  expect((await deliver(moved.url, '{"event":"policy.updated","policy_id":"p6"}')).body.status).toBe('stored');
  await moved.stop();
  const doctor = await runCli(folder, ['doctor', '--json']);
  expect(doctor.stdout).toContain('the installation has moved to');
});

test('a database of another installation, or the installation’s own, is refused and left alone', async () => {
  const folder = await temporaryFolder();
  const other = await temporaryFolder();
  for (const one of [folder, other]) expect((await runCli(one, ['ledger', 'checkpoint'])).code).toBe(0);
  const into = await runCli(folder, ['store', 'copy', '--to', `sqlite:${other}/ledger.sqlite`]);
  expect(into).toMatchObject({ code: 2, stderr: expect.stringContaining('another installation') as string });
  const own = await runCli(folder, ['store', 'copy', '--to', `sqlite:${folder}/ledger.sqlite`]);
  expect(own).toMatchObject({ code: 2, stderr: expect.stringContaining('already') as string });
  const none = await runCli(folder, ['store', 'copy']);
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('--to') as string });
  const wrong = await runCli(folder, ['store', 'copy', '--to', 'mysql://x/y']);
  expect(wrong.code).toBe(2);
  expect((await runCli(other, ['ledger', 'verify'])).code).toBe(0);
});
