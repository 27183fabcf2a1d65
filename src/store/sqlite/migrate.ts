import { UsageError } from '../../core/errors.ts';
import { migrationsFor, schemaDifferences, type SchemaPart } from '../migrations.ts';
import { openConnection, type SqliteConnection } from './driver.ts';

const types = { big: 'integer', real: 'real', blob: 'blob', id: 'integer primary key autoincrement' };

/** Migrations in order; the number of those applied is kept in `user_version`. */
const migrations = migrationsFor(types);

/**
 * Brings the schema up to date, in one transaction that excludes every other process: of many that start at once, the
 * first migrates and the rest find it done. Throws UsageError when the file is from a newer version of the program.
 */
export async function migrate(connection: SqliteConnection): Promise<void> {
  if ((await versionOf(connection)) === migrations.length) return;
  await connection.script('begin exclusive');
  try {
    const version = await versionOf(connection);
    if (version > migrations.length) {
      throw new UsageError([
        `The database has schema version ${version}, but this program supports only up to ${migrations.length}: install the newer version of consent-ledger.`,
      ]);
    }
    for (const statements of migrations.slice(version)) {
      for (const statement of statements) await connection.script(statement);
    }
    await connection.script(`pragma user_version = ${migrations.length}`);
    await connection.script('commit');
  } catch (error) {
    await connection.script('rollback').catch(() => undefined);
    throw error;
  }
}

async function versionOf(connection: SqliteConnection): Promise<number> {
  const [row] = await connection.all('pragma user_version');
  return Number(row?.user_version ?? 0);
}

/**
 * What of the tables differs from what the migrations make of an empty database, which is done in memory to compare. A trigger counts on whatever
 * table it is, an index or a view where it concerns one of ours. Tables that are not ours are passed over.
 */
export async function findSchemaDifferences(connection: SqliteConnection): Promise<string[]> {
  const fresh = await openConnection(':memory:');
  try {
    await migrate(fresh);
    const expected = await describe(fresh);
    const ours = new Set(expected.map(({ table }) => table));
    const found = await describe(connection);
    return schemaDifferences(
      expected,
      found.filter(({ table, part }) => ours.has(table) || part.startsWith('trigger ')),
    );
  } finally {
    await fresh.close();
  }
}

async function describe(connection: SqliteConnection): Promise<SchemaPart[]> {
  const rows = await connection.all('select type, name, tbl_name, sql from sqlite_schema order by rowid');
  return rows.map(({ type, name, tbl_name: table, sql }) => ({
    table: String(table).toLowerCase(),
    part: type === 'index' || type === 'trigger' ? `${type} ${String(name)}` : String(type),
    // However it is laid out.
    definition: String(sql).replace(/\s+/g, ' ').replaceAll('( ', '('),
  }));
}
