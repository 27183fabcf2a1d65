import { UsageError } from '../../core/errors.ts';
import { migrationsFor, otherVersion, type SchemaPart, schemaDifferences } from '../migrations.ts';
import { asMisconfiguration, createPool, FOLD_LOCK, MIGRATION_LOCK, type PostgresConnection } from './driver.ts';

const types = {
  big: 'bigint',
  real: 'double precision',
  blob: 'bytea',
  id: 'bigint generated always as identity primary key',
};

/** Migrations in order; the number applied is in the table `schema_version`. */
const migrations = migrationsFor(types).map((statements) => statements.map(orderedBytewise));

const VERSION_TABLE = 'create table if not exists schema_version (version integer not null primary key)';

/**
 * Compares texts byte by byte, as SQLite does, whatever the database's collation: documents must be the same on both
 * databases, pages by key must not depend on the version of a collation library, and indexes must survive its updates.
 */
function orderedBytewise(statement: string): string {
  return /^\s*(?:create|alter) table/i.test(statement) ? statement.replace(/\btext\b/g, 'text collate "C"') : statement;
}

/**
 * Migrates the schema, in one transaction under its own lock: if many processes start at once, the first migrates and
 * the others find it done. Throws UsageError if the schema is from a newer version of the program, or if the user in
 * the URL may not create tables.
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
    // Always sent, because a check could be wrong: this session may have cached that the table is missing, and waiting
    // for the lock does not clear that.
    await connection.script(VERSION_TABLE);
    const version = await readVersion(connection);
    if (version > migrations.length) {
      throw new UsageError([
        `The database has schema version ${version}, but this program supports only up to ${migrations.length}: install the newer version of consent-ledger.`,
      ]);
    }
    // Some migrations count what was folded: older processes may still be folding, and later find the new version.
    await connection.script(`select pg_advisory_xact_lock(${FOLD_LOCK})`);
    for (const statements of migrations.slice(version)) await connection.script(statements.join(';\n'));
    if (version < migrations.length) {
      await connection.script(`delete from schema_version; insert into schema_version values (${migrations.length})`);
    }
    await connection.script('commit');
  } catch (error) {
    await connection.script('rollback').catch(() => undefined);
    throw error;
  }
}

/**
 * Differences between the tables and what the migrations make of an empty schema; to compare, they are run on temporary
 * tables and rolled back. Includes everything attached to our tables: columns, constraints, indexes, triggers, rules,
 * policies, and inheriting tables.
 */
export async function findSchemaDifferences(connection: PostgresConnection): Promise<string[]> {
  await connection.script('begin; set local search_path = pg_temp');
  let expected: SchemaPart[];
  try {
    await connection.script([VERSION_TABLE, ...migrations.flat()].join(';\n'));
    expected = await describe(
      connection,
      `select oid, relname as name from pg_class where relnamespace = pg_my_temp_schema() and relkind = 'r'`,
    );
  } catch (error) {
    if ((error as { code?: string }).code === '42501')
      return ['the tables cannot be compared: the user in DATABASE_URL lacks the TEMPORARY privilege on the database'];
    throw error;
  } finally {
    await connection.script('rollback');
  }
  return [...schemaDifferences(expected, await describe(connection, OURS)), ...(await findLookalikes(connection))];
}

/**
 * Functions, aggregates and operators in our schema that share a name with a built-in one: if their argument types fit
 * better (`count(bigint)` instead of `count("any")`), queries use them. Those of extensions are left out.
 */
async function findLookalikes(connection: PostgresConnection): Promise<string[]> {
  const { rows: schemas } = await connection.run('select pg_catalog.current_schema() as name');
  // With an empty path only built-in functions and operators are found.
  await connection.script(`begin; set local search_path = ''`);
  try {
    const { rows } = await connection.run(
      `select 'function ' || p.oid::regprocedure::text as name from pg_proc p
        where p.pronamespace = (select oid from pg_namespace where nspname = $1)
          and exists (select from pg_proc b where b.pronamespace = 'pg_catalog'::regnamespace and b.proname = p.proname)
          and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = p.oid and deptype = 'e')
      union all select 'operator ' || o.oid::regoperator::text from pg_operator o
        where o.oprnamespace = (select oid from pg_namespace where nspname = $1)
          and exists (select from pg_operator b where b.oprnamespace = 'pg_catalog'::regnamespace and b.oprname = o.oprname)
          and not exists (select from pg_depend where classid = 'pg_operator'::regclass and objid = o.oid and deptype = 'e')
      order by 1`,
      [schemas[0]?.name ?? null],
    );
    return rows.map(({ name }) => `${String(name)} has the name of a built-in one, which it may replace in queries`);
  } finally {
    await connection.script('rollback');
  }
}

/**
 * A quicker check: whether each table is an ordinary one, and which triggers, rules, policies and inheriting tables are
 * attached to it.
 */
export async function findAttachments(connection: PostgresConnection): Promise<string[]> {
  const parts = await describe(connection, OURS);
  return schemaDifferences(
    tableNames.map((table) => ({ table, part: 'table', definition: ORDINARY })),
    parts.filter(({ part }) => /^(?:table$|trigger |rule |policy |child )/.test(part)),
  );
}

/** An ordinary table: logged, and without either form of row security. */
const ORDINARY = 'rfff';
const tableNames = [VERSION_TABLE, ...migrations.flat()].flatMap(
  (statement) => /^\s*create table (?:if not exists )?(\w+)/.exec(statement)?.[1] ?? [],
);
const OURS = `select to_regclass(name)::oid as oid, name from unnest(array[${tableNames.map((name) => `'${name}'`).join(', ')}]) as names (name)`;

async function describe(connection: PostgresConnection, tables: string): Promise<SchemaPart[]> {
  const { rows } = await connection.run(`with tables as (${tables})
    select t.name as "table", 'table' as part,
      concat(relkind, relrowsecurity, relforcerowsecurity, relpersistence = 'u') as definition
      from tables t join pg_class c on c.oid = t.oid
    union all select t.name, 'column ' || attname, concat_ws(' ', format_type(atttypid, atttypmod), attnotnull::text,
      attcollation::text, attidentity::text, attgenerated::text, pg_get_expr(adbin, adrelid))
      from tables t join pg_attribute a on attrelid = t.oid and attnum > 0 and not attisdropped
      left join pg_attrdef d on adrelid = t.oid and adnum = attnum
    union all select t.name, 'constraint ' || conname, pg_get_constraintdef(c.oid)
      from tables t join pg_constraint c on conrelid = t.oid and contype in ('p', 'u', 'c', 'f', 'x')
    union all select t.name, 'index ' || relname,
      regexp_replace(pg_get_indexdef(indexrelid), ' ON (ONLY )?\\S+ USING ', ' ON _ USING ') || indisvalid
      from tables t join pg_index on indrelid = t.oid join pg_class c on c.oid = indexrelid
    union all select t.name, 'trigger ' || tgname, '' from tables t join pg_trigger on tgrelid = t.oid and not tgisinternal
    union all select t.name, 'rule ' || rulename, '' from tables t join pg_rewrite on ev_class = t.oid
    union all select t.name, 'policy ' || polname, '' from tables t join pg_policy on polrelid = t.oid
    union all select t.name, 'child ' || inhrelid::regclass, '' from tables t join pg_inherits on inhparent = t.oid`);
  return rows as unknown as SchemaPart[];
}

/**
 * Throws StoreUnavailable if another version of the program has migrated the schema while this process ran: it may keep
 * tables that this version does not fill. Call it in a transaction that holds the lock for folding.
 */
export async function assertSchemaVersion(connection: PostgresConnection): Promise<void> {
  if ((await readVersion(connection)) !== migrations.length) throw otherVersion();
}

/** Number of migrations applied. */
export async function schemaVersion(connection: PostgresConnection): Promise<number> {
  const { rows } = await connection.run(`select to_regclass('schema_version') is not null as there`);
  return rows[0]?.there === 't' ? readVersion(connection) : 0;
}

/**
 * Whether a database contains an installation; changes nothing. Rejects like {@link openPostgresStore} if the server
 * cannot be reached or refuses.
 */
export async function isBegunInPostgres(url: string): Promise<boolean> {
  const settings = { default_transaction_read_only: 'on' };
  const pool = createPool({ url, size: 1, connectTimeout: 10_000, answerTimeout: 30_000, idleTimeout: 0, settings });
  try {
    const { rows } = await pool.use((connection) =>
      connection.run(`select (to_regclass('schema_version') is not null)::int as begun`),
    );
    return rows[0]?.begun === 1;
  } catch (error) {
    throw asMisconfiguration(error);
  } finally {
    await pool.close();
  }
}

async function readVersion(connection: PostgresConnection): Promise<number> {
  const { rows } = await connection.run('select version from schema_version');
  return Number(rows[0]?.version ?? 0);
}

function mayNot(error: unknown): UsageError | null {
  const { code, message } = error as { code?: string; message?: string };
  // Insufficient privilege, or no schema to create in.
  if (code !== '42501' && code !== '3F000') return null;
  return new UsageError([
    `The user in DATABASE_URL is not allowed to set up the tables (${message}): make it the owner of the database, or grant it the privileges listed in docs/configuration.md.`,
  ]);
}
