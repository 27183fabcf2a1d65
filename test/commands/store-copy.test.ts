import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { copiedByPage, copiedOnly, copiedWhole, leftBehind } from '../../src/backup/copy-tables.ts';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context/context.ts';
import { openStore } from '../../src/context/engines.ts';
import { createLog } from '../../src/log/log.ts';
import { readModelNames } from '../../src/projections/tables.ts';
import { lastSeq } from '../../src/store/queries/fold-position.ts';
import { tables } from '../../src/store/schema.ts';
import { UNFINISHED_COPY, writeSetting } from '../../src/store/settings.ts';
import { runCli } from '../cli/command-line.ts';
import { createOfficeWorld } from '../http/office-world.ts';
import { seedRequests } from '../http/pages/seed.ts';
import { createDatabase, engine } from '../servers/databases.ts';
import { cliPath, deliver, environment, serveHere, startServing } from '../serving.ts';
import { alterFile } from '../tampering.ts';
import { PATIENTLY, temporaryFolder } from '../temporary.ts';
import { fill } from './backup-world.ts';

interface Report {
  copied: number;
  seq: number;
  differentLeaf: number | null;
  readModels: { table: string; rows: number; same: boolean }[] | null;
  behind: number;
  retired: boolean;
  verification: { entries: number; faults: unknown[]; root: string };
}

/** An empty database of the engine of this run, to copy into. */
async function emptyDatabase(): Promise<string> {
  return engine === 'postgres' ? createDatabase() : `sqlite:${await temporaryFolder()}/copy.sqlite`;
}

/** The installation to be copied is the simple one: SQLite, with its keys in its folder. */
const simple = (folder: string) => ({ DATABASE_URL: `sqlite:${folder}/ledger.sqlite` });
const open = (url: string) => {
  const { database } = loadConfig({ DATABASE_URL: url }, '/');
  return openStore(database);
};

async function copy(
  folder: string,
  to: string,
  ...flags: string[]
): Promise<{ code: number | null; report: Report; stderr: string }> {
  const { code, stdout, stderr } = await runCli(
    folder,
    ['store', 'copy', '--to', to, '--json', ...flags],
    simple(folder),
  );
  return { code, stderr, report: JSON.parse(stdout || 'null') as Report };
}

test('`store copy` copies every entry, checkpoint and row, and serves from the copy', async () => {
  const home = await temporaryFolder();
  const world = await createOfficeWorld({ DATABASE_URL: `sqlite:${home}/ledger.sqlite`, DATA_DIR: home });
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

  // The copy continues as the installation: the next delivery has the next number, a repeat is recognised.
  const serving = await serveHere(folder, { DATABASE_URL: to });
  const next = await deliver(serving.url, '{"event":"policy.updated","policy_id":"p1"}');
  expect(next).toMatchObject({ status: 200, body: { status: 'stored' } });
  expect(next.body.seq).toBeGreaterThan(report.seq);
  expect((await deliver(serving.url, '{"event":"policy.updated","policy_id":"p1"}')).body.status).toBe('duplicate');
  await serving.stop();

  // Both have continued, so nothing may be copied over either.
  const again = await runCli(folder, ['store', 'copy', '--to', to], simple(folder));
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('has entries that this one lacks');
});

test('`store copy` resumes a copy that was killed halfway, and does not serve from it before it is complete', async () => {
  const folder = await temporaryFolder();
  const context = await openContext(loadConfig(environment(folder, simple(folder)), folder), createLog('fatal'));
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
  const to = await emptyDatabase();

  const env = environment(folder, simple(folder));
  const child = spawn(process.execPath, [cliPath, 'store', 'copy', '--to', to], { env, cwd: folder });
  const exited = once(child, 'exit');
  const watching = await open(to);
  await vi.waitFor(async () => expect(await lastSeq(watching.read)).toBeGreaterThan(400), {
    ...PATIENTLY,
    interval: 5,
  });
  child.kill('SIGKILL');
  await exited;
  const there = await lastSeq(watching.read);
  await watching.close();
  expect(there).toBeLessThan(10_000);

  const early = await runCli(folder, ['ledger', 'verify'], { DATABASE_URL: to });
  expect(early.code).toBe(2);
  expect(early.stderr).toContain('unfinished copy');

  const { code, report } = await copy(folder, to);
  expect(code).toBe(0);
  expect(report).toMatchObject({ copied: 10_000 - there, seq: 10_000, differentLeaf: null });
});

test('a database retired by `store copy` refuses new entries, even on a server that has it open', async () => {
  const folder = await temporaryFolder();
  const serving = await startServing(folder, simple(folder));
  const send = (n: number) => deliver(serving.url, JSON.stringify({ event: 'policy.updated', policy_id: `p${n}` }));
  for (let n = 0; n < 5; n += 1) expect((await send(n)).status).toBe(200);
  const to = await emptyDatabase();
  const { code, report } = await copy(folder, to, '--retire');
  expect(code).toBe(0);
  expect(report).toMatchObject({ retired: true, behind: 0 });
  // Run again without the flag: the new one stays the installation.
  expect((await copy(folder, to)).report).toMatchObject({ copied: 0, differentLeaf: null });

  const refused = await send(6);
  expect(refused.status).toBe(503);
  expect((await send(2)).status).toBe(503);
  await serving.stop();
  // Refused deliveries are copied to the new database, where the move is on record.
  const moved = await serveHere(folder, { DATABASE_URL: to });
  expect((await deliver(moved.url, '{"event":"policy.updated","policy_id":"p6"}')).body.status).toBe('stored');
  await moved.stop();
  const doctor = await runCli(folder, ['doctor', '--json'], simple(folder));
  expect(doctor.stdout).toContain('the installation has moved to');
});

test('`store copy --retire` leaves the old database open if the copy has a fault', async () => {
  const folder = await temporaryFolder();
  const serving = await startServing(folder, simple(folder));
  for (const n of [1, 2, 3]) expect((await deliver(serving.url, `{"event":"scan","n":${n}}`)).status).toBe(200);
  await alterFile(`${folder}/ledger.sqlite`, "update entries set body = cast('{}' as blob) where seq = 2");
  const to = await emptyDatabase();
  const { code, report } = await copy(folder, to, '--retire');
  expect({ code, ...report }).toMatchObject({ code: 3, retired: false, verification: { faults: [{ seq: 2 }] } });
  expect((await deliver(serving.url, '{"event":"scan","n":4}')).body.status).toBe('stored');
  await serving.stop();
  expect(await runCli(folder, ['ledger', 'verify'], { DATABASE_URL: to })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('unfinished copy') as string,
  });
});

test('a move can be undone with `store reopen`, made again, and taken back with what was added since', async () => {
  const folder = await temporaryFolder();
  const old = simple(folder);
  const serving = await startServing(folder, old);
  for (const n of [1, 2, 3]) expect((await deliver(serving.url, `{"event":"scan","n":${n}}`)).status).toBe(200);
  await serving.stop();
  const to = await emptyDatabase();
  const reopen = (...args: string[]) => runCli(folder, ['store', 'reopen', ...args], old);
  const body = (n: number) => `{"event":"scan","n":${n}}`;
  const said = (text: string) => ({ code: 2, stderr: expect.stringContaining(text) as string });
  expect(await reopen('--to', to)).toMatchObject(said('There is no installation in'));
  expect(await reopen('--other-is-lost')).toMatchObject(said('nothing to reopen'));
  expect((await copy(folder, to, '--retire')).report).toMatchObject({ retired: true });

  // A process that ended before the last step leaves the new database marked: neither accepts entries.
  const copied = await open(to);
  await writeSetting(copied, UNFINISHED_COPY, 'now');
  await copied.close();
  expect((await copy(folder, to)).code).toBe(0);
  // Even a process that has the new one open stops: otherwise both would go on.
  const there = await openContext(loadConfig(environment(folder, { DATABASE_URL: to }), folder), createLog('fatal'));
  const reopened = await reopen('--to', to, '--json');
  expect({ code: reopened.code, said: JSON.parse(reopened.stdout) as unknown }).toEqual({
    code: 0,
    said: { seq: 6 },
  });
  await expect(there.seal().then(() => fill(there, 1))).rejects.toThrow('has moved to');
  await there.close();
  const here = await startServing(folder, old);
  expect((await deliver(here.url, body(4))).body.status).toBe('stored');
  await here.stop();
  expect(await reopen('--to', to)).toMatchObject(said('nothing to reopen'));

  expect(await copy(folder, to, '--retire')).toMatchObject({ code: 0, report: { retired: true } });
  const again = await startServing(folder, { DATABASE_URL: to });
  expect((await deliver(again.url, body(5))).body.status).toBe('stored');
  // The new one has an entry of its own: going back with the old one as it is would lose it.
  expect(await reopen('--to', to)).toMatchObject(said('it has entries that this one lacks'));
  expect((await deliver(again.url, body(6))).body.status).toBe('stored');
  await again.stop();
  const back = await runCli(folder, ['store', 'copy', '--to', old.DATABASE_URL, '--retire', '--json'], {
    DATABASE_URL: to,
  });
  expect({ code: back.code, report: JSON.parse(back.stdout) as Report }).toMatchObject({
    code: 0,
    report: { retired: true },
  });
  const home = await startServing(folder, old);
  for (const n of [4, 5, 6]) expect((await deliver(home.url, body(n))).body.status).toBe('duplicate');
  expect((await deliver(home.url, body(7))).body.status).toBe('stored');
  await home.stop();
  expect((await runCli(folder, ['ledger', 'verify'], old)).code).toBe(0);
});

test('`store reopen --other-is-lost` opens the old database when the new one no longer exists', async () => {
  const folder = await temporaryFolder();
  const old = simple(folder);
  expect((await runCli(folder, ['ledger', 'checkpoint'], old)).code).toBe(0);
  expect((await copy(folder, await emptyDatabase(), '--retire')).report).toMatchObject({ retired: true });
  expect((await runCli(folder, ['store', 'reopen', '--other-is-lost'], old)).code).toBe(0);
  const serving = await startServing(folder, old);
  expect((await deliver(serving.url, '{"event":"scan"}')).body.status).toBe('stored');
  await serving.stop();
});

test('`store copy` refuses to copy into another installation’s database or its own, and leaves it unchanged', async () => {
  const folder = await temporaryFolder();
  const other = await temporaryFolder();
  for (const one of [folder, other]) expect((await runCli(one, ['ledger', 'checkpoint'], simple(one))).code).toBe(0);
  const copyTo = (...args: string[]) => runCli(folder, ['store', 'copy', ...args], simple(folder));
  const refused = (text: string) => ({ code: 2, stderr: expect.stringContaining(text) as string });
  expect(await copyTo('--to', `sqlite:${other}/ledger.sqlite`)).toMatchObject(refused('another installation'));
  expect(await copyTo('--to', `sqlite:${folder}/ledger.sqlite`)).toMatchObject(refused('already'));
  expect(await copyTo()).toMatchObject(refused('--to'));
  expect(await copyTo('--to', 'mysql://x/y')).toMatchObject(refused('--to'));
  expect(await copyTo('--to-env', 'NOT_SET')).toMatchObject(refused('NOT_SET'));
  expect((await runCli(other, ['ledger', 'verify'], simple(other))).code).toBe(0);
});

test('`store copy` copies, rebuilds or deliberately omits every table', () => {
  expect(Object.keys(tables).length).toBeGreaterThan(25);
  const handled: readonly string[] = [
    ...copiedWhole,
    ...copiedOnly,
    ...copiedByPage,
    ...leftBehind,
    ...readModelNames,
    'fold_positions',
  ];
  expect([...handled].sort()).toEqual(Object.keys(tables).sort());
});
