import { createHash, randomInt } from 'node:crypto';
import { UsageError } from '../../core/errors.ts';
import {
  createTables,
  FOLD_POSITIONS,
  otherVersion,
  remadeIndexes,
  type SchemaPart,
  schemaDifferences,
} from '../migrations.ts';
import { isFolded, type TableName, tables } from '../schema.ts';
import { openConnection, type SqliteConnection } from './driver.ts';

/*
 * Two files: the ledger with everything recorded or configured, and the read models, which are folded from it. Each is
 * the main database of the connection that writes it.
 */

/** One of the two files. */
export type Part = 'ledger' | 'read-models';

const types = { big: 'integer', real: 'real', blob: 'blob', id: 'integer primary key autoincrement' };
const tableNames = Object.keys(tables) as TableName[];
const statements: Readonly<Record<Part, readonly string[]>> = {
  // dedupe.ts keeps keys unique, without an index on them. Erasures are few, and reports count those of a source.
  ledger: [
    ...createTables(types, (table) => !isFolded(table)).map((statement) =>
      statement.replace(', unique (source, kind, dedupe_key)', ''),
    ),
    "create index entries_erasures on entries (source, seq) where kind = 'erasure'",
  ],
  'read-models': createTables(types, isFolded),
};

/**
 * Version of the ledger's file, in its `user_version`. Version 1 contained the read models, version 2 had no
 * hand-overs, version 3 another index of jobs; versions 5, 6, 8 and 9 changed only the read models. Until version 6, entries had
 * a unique index on their keys.
 */
const LEDGER_VERSION = 9;
/** Version of the read models' file: any change of their tables changes it, and rebuilds them. */
const READ_MODELS_VERSION =
  createHash('sha256').update(statements['read-models'].join(';')).digest().readUInt32BE() >>> 1;

/**
 * Earlier versions of the read models' file whose rows are kept: a table that has changed since has only new columns with a default, so
 * that what was folded stays until somebody has seen what is read differently (src/projections/readings.ts).
 */
const KEPT_VERSIONS: ReadonlySet<number> = new Set([496903792]);

/**
 * Migrates the ledger's tables in one transaction that excludes every other process: if many start at once, the first
 * migrates and the others find it done. Throws UsageError if the file is from a newer version of the program.
 */
export async function migrateLedger(connection: SqliteConnection): Promise<void> {
  if ((await pragma(connection, 'user_version')) === LEDGER_VERSION) return;
  // The read models of version 1 are dropped without overwriting them, which could take minutes: an erasure rewrites
  // the whole file anyway.
  await connection.script('pragma secure_delete = off');
  await exclusively(connection, async () => {
    const version = await pragma(connection, 'user_version');
    if (version > LEDGER_VERSION) {
      throw new UsageError([
        `The database has schema version ${version}, but this program supports only up to ${LEDGER_VERSION}: install the newer version of consent-ledger.`,
      ]);
    }
    if (version === 0) await connection.script(statements.ledger.join(';'));
    if (version === 1) {
      for (const table of tableNames.filter(isFolded)) await connection.script(`drop table if exists ${table}`);
      await connection.script(`delete from positions where name in ${FOLD_POSITIONS}`);
    }
    if (version === 1 || version === 2)
      for (const statement of createTables(types, (table) => table === 'hand_overs'))
        await connection.script(statement);
    if (version > 0 && version < 4) for (const statement of remadeIndexes(4)) await connection.script(statement);
    if (version > 0 && version < 7) {
      await connection.script('drop index if exists entries_erasures; alter table entries rename to entries_before');
      for (const statement of statements.ledger.filter((one) => / entries |index entries_/.test(one)))
        await connection.script(statement);
      await connection.script('insert into entries select * from entries_before; drop table entries_before');
    }
    // Drawn once; identifies the read models' file that belongs to this ledger.
    if (version < 2) await connection.script(`pragma application_id = ${randomInt(1, 2 ** 31)}`);
    await connection.script(`pragma user_version = ${LEDGER_VERSION}`);
  });
  await connection.script('pragma secure_delete = on');
}

/**
 * Creates empty read-model tables, unless they exist in this program's version and belong to this ledger (the ledger's
 * file may have been replaced). Rows of an earlier version are kept if that is possible ({@link KEPT_VERSIONS}).
 */
export async function prepareReadModels(connection: SqliteConnection, ledger: SqliteConnection): Promise<void> {
  const id = await pragma(ledger, 'application_id');
  const areOurs = async () =>
    (await pragma(connection, 'user_version')) === READ_MODELS_VERSION &&
    (await pragma(connection, 'application_id')) === id;
  if (await areOurs()) return;
  await connection.script('pragma secure_delete = off');
  await exclusively(connection, async () => {
    if (await areOurs()) return;
    if (
      KEPT_VERSIONS.has(await pragma(connection, 'user_version')) &&
      (await pragma(connection, 'application_id')) === id
    ) {
      await carryOver(connection);
      await connection.script(`pragma user_version = ${READ_MODELS_VERSION}`);
      return;
    }
    const old = await connection.all(
      "select type, name from sqlite_schema where type in ('table', 'view') and name not like 'sqlite@_%' escape '@'",
    );
    for (const { type, name } of old)
      await connection.script(`drop ${String(type)} "${String(name).replaceAll('"', '""')}"`);
    await connection.script(statements['read-models'].join(';'));
    await connection.script(`pragma application_id = ${id}; pragma user_version = ${READ_MODELS_VERSION}`);
  });
  await connection.script('pragma secure_delete = on');
}

/** Makes each table anew whose definition has changed, with its rows. Without overwriting the old ones: an erasure rewrites the whole file. */
async function carryOver(connection: SqliteConnection): Promise<void> {
  const fresh = await openConnection(':memory:');
  try {
    await fresh.script(statements['read-models'].join(';'));
    const [expected, found] = [await describe(fresh), await describe(connection)];
    const definitionOf = (parts: readonly SchemaPart[], table: string) =>
      JSON.stringify(
        parts
          .filter((part) => part.table === table)
          .map(({ part, definition }) => `${part} ${definition}`)
          .sort(),
      );
    for (const table of tableNames.filter(isFolded)) {
      if (definitionOf(found, table) === definitionOf(expected, table)) continue;
      const create = statements['read-models'].filter((one) => one.includes(` ${table} (`));
      const before = await columnsOf(connection, table);
      if (before.length === 0) {
        await connection.script(create.join(';'));
        continue;
      }
      await dropIndexes(connection, table);
      await connection.script(`alter table ${table} rename to ${table}_before; ${create.join(';')}`);
      const kept = (await columnsOf(connection, table)).filter((column) => before.includes(column)).join(', ');
      await connection.script(
        `insert into ${table} (${kept}) select ${kept} from ${table}_before order by rowid; drop table ${table}_before`,
      );
    }
  } finally {
    await fresh.close();
  }
}

async function columnsOf(connection: SqliteConnection, table: string): Promise<readonly string[]> {
  return (await connection.all(`select name from pragma_table_info('${table}')`)).map(({ name }) => String(name));
}

/** Their names are needed for the new table. */
async function dropIndexes(connection: SqliteConnection, table: string): Promise<void> {
  const indexes = await connection.all(
    `select name from sqlite_schema where type = 'index' and tbl_name = '${table}' and sql is not null`,
  );
  for (const { name } of indexes) await connection.script(`drop index "${String(name)}"`);
}

/**
 * Throws StoreUnavailable if another version of the program has replaced the read models' file while this process ran:
 * it may keep tables that this version does not fill. Call it in a transaction that folds.
 */
export async function assertReadModelsVersion(connection: SqliteConnection): Promise<void> {
  if ((await pragma(connection, 'user_version')) !== READ_MODELS_VERSION) throw otherVersion();
}

async function exclusively(connection: SqliteConnection, work: () => Promise<void>): Promise<void> {
  await connection.script('begin exclusive');
  try {
    await work();
    await connection.script('commit');
  } catch (error) {
    await connection.script('rollback').catch(() => undefined);
    throw error;
  }
}

async function pragma(connection: SqliteConnection, name: 'user_version' | 'application_id'): Promise<number> {
  const [row] = await connection.all(`pragma main.${name}`);
  return Number(row?.[name] ?? 0);
}

/**
 * Differences between the tables in a connection's main file and those that this program makes, which are created in
 * memory to compare. Reports every trigger; indexes and views only on our tables; also a table that belongs in the
 * other file, because it would be read instead of the real one. Other tables are ignored.
 */
export async function findSchemaDifferences(connection: SqliteConnection, part: Part): Promise<string[]> {
  const fresh = await openConnection(':memory:');
  try {
    await fresh.script(statements[part].join(';'));
    const expected = await describe(fresh);
    const ours = new Set([...expected.map(({ table }) => table), ...tableNames]);
    const found = await describe(connection);
    return schemaDifferences(
      expected,
      found.filter(({ table, part: one }) => ours.has(table) || one.startsWith('trigger ')),
    );
  } finally {
    await fresh.close();
  }
}

async function describe(connection: SqliteConnection): Promise<SchemaPart[]> {
  const rows = await connection.all('select type, name, tbl_name, sql from main.sqlite_schema order by rowid');
  return rows.map(({ type, name, tbl_name: table, sql }) => ({
    table: String(table).toLowerCase(),
    part: type === 'index' || type === 'trigger' ? `${type} ${String(name)}` : String(type),
    // Ignores layout.
    definition: String(sql).replace(/\s+/g, ' ').replaceAll('( ', '('),
  }));
}
