// SQLite only: there ledger and read models are two files; on PostgreSQL they are one database.
import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context/context.ts';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { produceReport } from '../../src/documents/produce-report.ts';
import { carryOut } from '../../src/erasure/erase.ts';
import { appendDelivery } from '../../src/ledger/append-delivery.ts';
import { listErasures } from '../../src/ledger/erase.ts';
import { createLog } from '../../src/log/log.ts';
import { loadFoldPosition } from '../../src/projections/position.ts';
import { migrationsFor } from '../../src/store/migrations.ts';
import { isFolded, type TableName } from '../../src/store/schema.ts';
import { openConnection } from '../../src/store/sqlite/driver.ts';
import { openSqliteStore, readModelsPath } from '../../src/store/sqlite/open.ts';
import { decision, erased, faultsIn, filesWith, noFaults, planOf } from '../erasure/world.ts';
import { environment } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';
import { makeReadModelsBefore } from './version-before.ts';

const open = (folder: string) =>
  openContext(loadConfig(environment(folder, { LOG_LEVEL: 'fatal' }), folder), createLog('fatal'));

/** An installation with some folded deliveries. */
async function begun(folder: string, deliveries = 3) {
  const context = await open(folder);
  const entry = { source: 'default', headers: {}, secretId: 's', verdict: 'verified', contentType: null } as const;
  for (let n = 1; n <= deliveries; n += 1) {
    const body = {
      event: 'consent.recorded',
      consent_id: `c-${n}`,
      banner_id: 'b',
      visitor_hash: `visitor-number-${n}`,
    };
    const rawBody = Buffer.from(
      JSON.stringify({ ...body, consent: { ads: true }, recorded_at: '2026-03-01T10:00:00Z' }),
    );
    await appendDelivery(context.ledger, { ...entry, rawBody }, `2026-03-01T10:00:0${n}.000Z`);
  }
  await context.projector.catchUp();
  return context;
}

async function tablesOf(path: string): Promise<string[]> {
  const connection = await openConnection(path);
  const rows = await connection.all(`select name from sqlite_schema where type = 'table' and name not like 'sqlite%'`);
  await connection.close();
  return rows.map(({ name }) => String(name));
}

test('an append does not wait for a fold, nor a fold for an append', async () => {
  const store = await openSqliteStore({ path: `${await temporaryFolder()}/ledger.db`, busyTimeout: 100 });
  onTestFinished(() => store.close());
  const record = () => store.transaction((tx) => tx.insertMany('settings', [{ name: 'a', value: '1' }], 'replace'));
  const fold = () =>
    store.foldTransaction((tx) => tx.insertMany('fold_positions', [{ name: 'projector', seq: 1 }], 'replace'));
  await store.foldTransaction(async (tx) => {
    await tx.insertMany('fold_positions', [{ name: 'projector', seq: 0 }]);
    await record();
  });
  await store.transaction(async (tx) => {
    await tx.insertMany('settings', [{ name: 'b', value: '2' }]);
    await fold();
  });
  expect(await loadFoldPosition(store.read, 'projector')).toEqual({ seq: 1, generation: 0 });
  expect(await store.read.selectFrom('settings').select('name').orderBy('name').execute()).toHaveLength(2);
});

test('neither transaction can write tables that belong to the other', async () => {
  const store = await openSqliteStore({ path: `${await temporaryFolder()}/ledger.db` });
  onTestFinished(() => store.close());
  const row = { name: 'x', seq: 1 };
  await expect(store.transaction((tx) => tx.insertMany('fold_positions', [row]))).rejects.toThrow(StoreUnavailable);
  await expect(store.foldTransaction((tx) => tx.insertMany('positions', [row]))).rejects.toThrow(StoreUnavailable);
});

test('an older installation is split at the first start, and its read models are rebuilt', async () => {
  const folder = await temporaryFolder();
  const path = `${folder}/ledger.sqlite`;
  const context = await begun(folder);
  const decisions = await context.store.read.selectFrom('decision_history').selectAll().orderBy('seq').execute();
  expect(decisions).toHaveLength(3);
  await context.close();
  // The same in the form of version 1: every table in one file.
  const connection = await openConnection(path);
  const types = { big: 'integer', real: 'real', blob: 'blob', id: 'integer primary key autoincrement' };
  for (const statement of migrationsFor(types)[0] ?? []) {
    const table = /^create table (\w+)|^create (?:unique )?index \w+ on (\w+)/.exec(statement);
    if (isFolded((table?.[1] ?? table?.[2]) as TableName)) await connection.script(statement);
  }
  await connection.script(
    `insert into positions values ('projector', 2), ('projector:generation', 4), ('snapshot-triggers', 2);
     insert into quarantine values (2, 'default', 'x', 'a row of before', '2026-03-01');
     drop table hand_overs;
     pragma application_id = 0; pragma user_version = 1`,
  );
  await connection.close();
  for (const suffix of ['', '-wal', '-shm']) await rm(readModelsPath(path) + suffix, { force: true });

  const upgraded = await open(folder);
  onTestFinished(() => upgraded.close());
  expect(await upgraded.projector.catchUp()).toBeGreaterThanOrEqual(3);
  expect(await upgraded.store.read.selectFrom('decision_history').selectAll().orderBy('seq').execute()).toEqual(
    decisions,
  );
  expect(await upgraded.store.read.selectFrom('quarantine').selectAll().execute()).toEqual([]);
  expect(await upgraded.store.read.selectFrom('positions').selectAll().execute()).toEqual([
    { name: 'snapshot-triggers', seq: 2 },
  ]);
  expect((await tablesOf(path)).filter((table) => isFolded(table as TableName))).toEqual([]);
  expect(await faultsIn(upgraded)).toEqual(noFaults);
});

test('an installation from before hand-overs gets their table and the index of jobs at the first start, and keeps its read models', async () => {
  const folder = await temporaryFolder();
  const context = await begun(folder);
  const position = context.projector.position();
  await context.close();
  const connection = await openConnection(`${folder}/ledger.sqlite`);
  await connection.script('drop table hand_overs; drop index jobs_due');
  await connection.script('create index jobs_due on jobs (state, run_at, priority); pragma user_version = 2');
  await connection.close();
  const upgraded = await open(folder);
  onTestFinished(() => upgraded.close());
  expect((await loadFoldPosition(upgraded.store.read, 'projector'))?.seq).toBe(position);
  expect(await upgraded.store.read.selectFrom('hand_overs').selectAll().execute()).toEqual([]);
  expect(await upgraded.store.schemaDifferences({ quick: false })).toEqual([]);
  expect(await faultsIn(upgraded)).toEqual(noFaults);
});

test('entries of an installation with an index on their keys are moved to a table without it at the first start', async () => {
  const folder = await temporaryFolder();
  const context = await begun(folder);
  const before = await context.store.read.selectFrom('entries').selectAll().orderBy('seq').execute();
  await context.close();
  const connection = await openConnection(`${folder}/ledger.sqlite`);
  const types = { big: 'integer', real: 'real', blob: 'blob', id: 'integer primary key autoincrement' };
  const old = (migrationsFor(types)[0] ?? []).find((statement) => statement.startsWith('create table entries '));
  await connection.script(`drop index entries_erasures; alter table entries rename to newer; ${old};
    insert into entries select * from newer; drop table newer; pragma user_version = 6`);
  await connection.close();
  await rm(`${folder}/ledger.sqlite-dedupe`);
  const upgraded = await open(folder);
  onTestFinished(() => upgraded.close());
  expect(await upgraded.store.schemaDifferences({ quick: false })).toEqual([]);
  expect(await upgraded.store.read.selectFrom('entries').selectAll().orderBy('seq').execute()).toEqual(before);
  expect(await faultsIn(upgraded)).toEqual(noFaults);
  const body = Buffer.from(before.find(({ kind }) => kind === 'webhook')?.body ?? []);
  const again = { source: 'default', headers: {}, secretId: 's', verdict: 'verified', contentType: null } as const;
  expect(await appendDelivery(upgraded.ledger, { ...again, rawBody: body }, '2026-03-02T10:00:00.000Z')).toMatchObject({
    outcome: 'duplicate',
  });
});

test('read models of another ledger or with other tables are dropped at the start, and a lost file is rebuilt', async () => {
  const [folder, other] = [await temporaryFolder(), await temporaryFolder()];
  await (await begun(folder, 2)).close();
  await (await begun(other, 3)).close();
  const ours = readModelsPath(`${folder}/ledger.sqlite`);
  const decided = async () => {
    const context = await open(folder);
    const before = (await loadFoldPosition(context.store.read, 'projector'))?.seq ?? null;
    await context.projector.catchUp();
    const { read } = context.store;
    const subjects = await read.selectFrom('decision_history').select('subject').orderBy('seq').execute();
    await context.close();
    return [before === null ? 'anew' : 'as it was', subjects.map(({ subject }) => subject)];
  };
  const two = ['visitor-number-1', 'visitor-number-2'];
  expect(await decided()).toEqual(['as it was', two]);
  await copyFile(readModelsPath(`${other}/ledger.sqlite`), ours);
  expect(await decided()).toEqual(['anew', two]);
  const connection = await openConnection(ours);
  await connection.script('drop table scans; pragma user_version = 7');
  await connection.close();
  expect(await decided()).toEqual(['anew', two]);
  await rm(ours);
  expect(await decided()).toEqual(['anew', two]);
});

test('read models of the version before keep their rows at an upgrade, so that what is read differently can be listed first', async () => {
  const folder = await temporaryFolder();
  await (await begun(folder, 3)).close();
  const models = readModelsPath(`${folder}/ledger.sqlite`);
  await makeReadModelsBefore(models);
  const connection = await openConnection(models);
  await connection.script("update decision_history set state = 'withdrawn'");
  await connection.close();
  const context = await open(folder);
  onTestFinished(() => context.close());
  await context.projector.catchUp();
  const { read } = context.store;
  const kept = await read.selectFrom('decision_history').select(['state', 'part', 'doubts']).orderBy('seq').execute();
  expect(kept).toEqual(Array.from({ length: 3 }, () => ({ state: 'withdrawn', part: 0, doubts: null })));
  await context.rebuild();
  expect((await read.selectFrom('decision_history').select('state').execute()).map(({ state }) => state)).not.toContain(
    'withdrawn',
  );
  expect(await faultsIn(context)).toEqual(noFaults);
});

test('a damaged file of read models is refused with the remedy, which works', async () => {
  const folder = await temporaryFolder();
  await (await begun(folder, 2)).close();
  const ours = readModelsPath(`${folder}/ledger.sqlite`);
  await writeFile(ours, 'this is no database '.repeat(400));
  await expect(open(folder)).rejects.toThrow(/ledger\.sqlite-read-models\).*delete it/);
  await rename(ours, `${folder}/put-aside`);
  const context = await open(folder);
  onTestFinished(() => context.close());
  await context.projector.catchUp();
  expect(await faultsIn(context)).toEqual(noFaults);
});

test('an older file of read models is folded further, and does not bring back erased data', async () => {
  const folder = await temporaryFolder();
  const models = readModelsPath(`${folder}/ledger.sqlite`);
  const context = await begun(folder);
  const { seq } = await context.store.read
    .selectFrom('decision_history')
    .select('seq')
    .where('subject', '=', 'visitor-number-2')
    .executeTakeFirstOrThrow();
  await context.close();
  await copyFile(models, `${folder}/older`);
  const later = await begun(folder, 5);
  await erased(later, await planOf(later, String(seq)));
  expect(await filesWith(later, 'visitor-number-2')).toEqual(['older']);
  await later.close();

  await rename(`${folder}/older`, models);
  const again = await open(folder);
  onTestFinished(() => again.close());
  await again.projector.catchUp();
  const decisions = await again.store.read.selectFrom('decisions').select('subject').orderBy('subject').execute();
  expect(decisions.map(({ subject }) => subject)).toEqual([1, 3, 4, 5].map((n) => `visitor-number-${n}`));
  expect(await again.store.read.selectFrom('decision_history').where('seq', '=', seq).selectAll().execute()).toEqual(
    [],
  );
  expect(await faultsIn(again)).toEqual(noFaults);
});

test('a table in the wrong file, which would be read in place of the real one, is found', async () => {
  const path = `${await temporaryFolder()}/ledger.db`;
  await (await openSqliteStore({ path })).close();
  for (const [file, table] of [
    [path, 'decisions'],
    [readModelsPath(path), 'entries'],
  ] as const) {
    const connection = await openConnection(file);
    await connection.script(`create table ${table} (seq integer)`);
    await connection.close();
  }
  const store = await openSqliteStore({ path });
  onTestFinished(() => store.close());
  expect([...(await store.schemaDifferences({ quick: true }))].sort()).toEqual([
    'table decisions was added',
    'table entries was added',
  ]);
});

test('an erasure whose process ends between the two files leaves no row after the next start', async () => {
  const folder = await temporaryFolder();
  const context = await begun(folder);
  const { seq } = await context.store.read
    .selectFrom('decision_history')
    .select('seq')
    .where('subject', '=', 'visitor-number-2')
    .executeTakeFirstOrThrow();
  const plan = await planOf(context, String(seq));
  const dying = { ...context.store, foldTransaction: () => Promise.reject(new Error('the process ended')) };
  await expect(carryOut({ ...context.erasure, store: dying }, plan, decision)).rejects.toThrow('the process ended');
  await context.close();

  const again = await open(folder);
  onTestFinished(() => again.close());
  for (const table of ['decision_history', 'delivery_history'] as const)
    expect(await again.store.read.selectFrom(table).select('seq').where('seq', '=', seq).execute()).toEqual([]);
  // The next erasure finishes it.
  await erased(again, await planOf(again, String(seq + 1)));
  expect(await filesWith(again, 'visitor-number-2')).toEqual([]);
  expect(await filesWith(again, 'visitor-number-1')).not.toEqual([]);
  expect(await faultsIn(again)).toEqual(noFaults);
});

test('closing leaves two files, and nothing in a write-ahead log', async () => {
  const folder = await temporaryFolder();
  await (await begun(folder)).close();
  for (const path of [`${folder}/ledger.sqlite`, readModelsPath(`${folder}/ledger.sqlite`)])
    await expect(readFile(`${path}-wal`)).rejects.toThrow('ENOENT');
});

/** Makes an index again with other values, then puts its declaration back: the schema looks untouched. */
async function hollow(path: string, index: string, instead: string): Promise<void> {
  const connection = await openConnection(path);
  const [{ sql } = {}] = await connection.all(`select sql from sqlite_schema where name = '${index}'`);
  const declared = String(sql);
  const declare = async (text: string) => {
    const [{ schema_version: version } = {}] = await connection.all('pragma schema_version');
    await connection.script(
      `pragma writable_schema = on; update sqlite_schema set sql = '${text.replaceAll("'", "''")}' where name = '${index}';
       pragma schema_version = ${Number(version) + 1}; pragma writable_schema = off`,
    );
  };
  await declare(declared.replace('(source,', `(${instead},`));
  const again = await openConnection(path);
  await again.script(`reindex ${index}`);
  await again.close();
  await declare(declared);
  await connection.close();
}

test('an index that no longer matches its rows is found, stops documents, and is made again by a rebuild', async () => {
  const folder = await temporaryFolder();
  const first = await begun(folder);
  const { path } = first.config.database as { path: string };
  await first.close();
  await hollow(readModelsPath(path), 'decision_history_at', "case when seq = 2 then 'x' else source end");
  const context = await open(folder);
  onTestFinished(() => context.close());
  expect(await context.store.schemaDifferences({ quick: false })).toEqual([]);
  const report = { name: 'consent-audit', source: 'default', from: '2026-01-01', to: '2027-01-01' } as const;
  const make = () => produceReport(context.documents, { ...report, format: 'csv', actor: 'Olga' });
  expect(await make()).toMatchObject({ outcome: 'refused', problem: expect.stringContaining('indexes (') as string });
  expect((await context.readModels.check()).indexes).toContainEqual(expect.stringContaining('decision_history_at'));
  expect((await context.rebuild()).indexes).not.toEqual([]);
  expect(await context.readModels.check()).toMatchObject({ counts: {}, indexes: [] });
  expect(await make()).toMatchObject({ outcome: 'produced' });
});

test('an index of the ledger that no longer matches its rows is found by a verification', async () => {
  const folder = await temporaryFolder();
  const first = await begun(folder);
  await erased(first, await planOf(first, '1'));
  const { path } = first.config.database as { path: string };
  await first.close();
  await hollow(path, 'entries_erasures', "case when seq = 4 then 'x' else source end");
  const context = await open(folder);
  onTestFinished(() => context.close());
  // Through the index the erasure is not found.
  expect(await listErasures(context.store.read, context.ledger)).toEqual([]);
  expect((await context.verify()).faults).toMatchObject([
    { fault: 'schema-altered', sentence: expect.stringContaining('entries_erasures') as string },
  ]);
});
