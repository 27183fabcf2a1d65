import { UsageError } from '../../core/errors.ts';
import { migrationsFor } from '../migrations/list.ts';
import type { PostgresConnection } from './driver.ts';
import { MIGRATION_LOCK } from './locks.ts';

const types = { blob: 'bytea', id: 'bigint generated always as identity primary key', big: 'bigint' };

/** Migrations in order; the number of those applied is kept in the table `schema_version`. */
const migrations = migrationsFor(types).map((statements) => statements.map(orderedBytewise));

/**
 * Texts are compared byte by byte, as SQLite does, whatever the collation of the database: a document must come out the same on
 * both, pages by key must not depend on the version of a collation library, and indexes must outlive its updates.
 */
function orderedBytewise(statement: string): string {
  return /^\s*(?:create|alter) table/i.test(statement) ? statement.replace(/\btext\b/g, 'text collate "C"') : statement;
}

/**
 * Brings the schema up to date, in one transaction under a lock of its own: of many processes that start at once, the first
 * migrates and the rest find it done. Throws UsageError when the schema is from a newer version of the program, or when the
 * user of the URL may not create tables.
 */
export async function migrate(connection: PostgresConnection): Promise<void> {
  try {
    await bringUpToDate(connection);
  } catch (error) {
    throw mayNot(error) ?? error;
  }
}

async function bringUpToDate(connection: PostgresConnection): Promise<void> {
  if ((await schemaVersion(connection)) === migrations.length) return;
  await connection.script(`begin; select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
  try {
    // Not by asking whether it is there: this session may remember that it was not, and the wait for the lock does not make it forget.
    await connection.script('create table if not exists schema_version (version integer not null primary key)');
    const version = await readVersion(connection);
    if (version > migrations.length) {
      throw new UsageError([
        `The database has schema version ${version}, this program knows ${migrations.length}: install the newer version of consent-ledger again.`,
      ]);
    }
    for (const statements of migrations.slice(version)) {
      for (const statement of statements) await connection.script(statement);
    }
    if (version < migrations.length) {
      await connection.script(`delete from schema_version; insert into schema_version values (${migrations.length})`);
    }
    await connection.script('commit');
  } catch (error) {
    await connection.script('rollback').catch(() => undefined);
    throw error;
  }
}

/** Number of migrations applied. */
export async function schemaVersion(connection: PostgresConnection): Promise<number> {
  const { rows } = await connection.run(`select to_regclass('schema_version') is not null as there`);
  return rows[0]?.there === 't' ? readVersion(connection) : 0;
}

async function readVersion(connection: PostgresConnection): Promise<number> {
  const { rows } = await connection.run('select version from schema_version');
  return Number(rows[0]?.version ?? 0);
}

function mayNot(error: unknown): UsageError | null {
  const { code, message } = error as { code?: string; message?: string };
  // Insufficient privilege; no schema to create in.
  if (code !== '42501' && code !== '3F000') return null;
  return new UsageError([
    `The user of DATABASE_URL may not set up the tables (${message}): make it the owner of the database, or grant it what docs/configuration.md lists.`,
  ]);
}
