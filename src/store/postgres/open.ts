import {
  type BinaryOperationNode,
  type CompiledQuery,
  type Kysely,
  OperatorNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  PrimitiveValueListNode,
  type QueryResult,
} from 'kysely';
import { StoreUnavailable } from '../../core/errors.ts';
import type { Entry } from '../../crypto/entry.ts';
import { type ConnectionSource, closeInterrupting, createLeasedQuery } from '../leased-query.ts';
import { countArrivals } from '../queries/arrivals.ts';
import { type Tables, tables } from '../schema.ts';
import {
  ConstraintViolation,
  type LedgerHead,
  type Query,
  type Store,
  type StoreInspection,
  type StoreTransaction,
} from '../store.ts';
import {
  asMisconfiguration,
  createPool,
  FOLD_LOCK,
  type PoolOptions,
  type PostgresConnection,
  WRITE_LOCK,
} from './driver.ts';
import {
  createTableShapes,
  findSeqs,
  insertEntries,
  insertEntriesAt,
  insertMany,
  insertNewEntries,
  readHead,
  type TableShapes,
} from './entries.ts';
import { assertSchemaVersion, findAttachments, findSchemaDifferences, migrate, schemaVersion } from './migrate.ts';
import { storedText } from './values.ts';

export interface PostgresOptions {
  /** postgres://user:password@host:port/database, with sslmode and other parameters as in docs/configuration.md. */
  readonly url: string;
  /** Connections for reading, default 4, besides the one that writes. */
  readonly readers?: number;
  /** Milliseconds to wait for a connection, default 10,000. */
  readonly connectTimeout?: number;
  /** Milliseconds to wait for another process's write, default 5,000. */
  readonly lockTimeout?: number;
  /** Milliseconds that a statement may take: in a write, default 30,000; in a read, default 600,000. */
  readonly writeTimeout?: number;
  readonly readTimeout?: number;
  /** Milliseconds that a write may pause between statements before the server ends it so that others can go on, default 15,000. */
  readonly idleTimeout?: number;
}

/**
 * Opens a PostgreSQL store and migrates its schema. One connection writes, behind a mutex; some read. Writers of all
 * processes queue at one advisory lock, those of the read models at another; readers do not wait. Rejects with
 * StoreUnavailable if the server cannot be reached, and with UsageError if it refuses the user or database in the URL
 * or if the schema is from a newer version.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const pools = poolOptions(options);
  await withPool(pools.aside, migrate).catch((error: unknown) => {
    throw asMisconfiguration(error);
  });

  const writer = createPool(pools.writing);
  const folder = createPool(pools.folding);
  const pool = createPool(pools.reading);
  const locked = createMutex();
  const write = <T>(work: (connection: PostgresConnection) => Promise<T>) => locked(() => writer.use(work));
  const shapes = createTableShapes();

  const folding = createMutex();

  /** Cancels what runs on the connections that read or fold. */
  async function interrupt(): Promise<void> {
    const busy = [...pool.busy(), ...folder.busy()];
    if (busy.length === 0) return;
    const cancel = 'select pg_cancel_backend(pid) from unnest($1::int[]) as pid';
    await withPool(pools.aside, (connection) => connection.run(cancel, [busy])).catch(() => undefined);
  }

  const inTransaction =
    <T>(begin: string, work: (tx: StoreTransaction) => Promise<T>, plansOnce: boolean) =>
    async (connection: PostgresConnection): Promise<T> => {
      try {
        await connection.script(begin);
        if (begin === BEGIN_FOLD) await assertSchemaVersion(connection);
        const result = await work(transactionOver(connection, shapes, plansOnce));
        await commit(connection);
        return result;
      } catch (error) {
        await connection.script('rollback').catch(() => undefined);
        throw error;
      }
    };

  return {
    engine: 'postgres',
    read: createQuery(pool, true),
    snapshot: (work) =>
      withPool(pools.snapshotting, async (connection) => {
        try {
          // The snapshot is taken by the first statement that reads.
          await connection.script('begin isolation level repeatable read read only; select 1 from schema_version');
          return await work(
            createQuery({ acquire: () => Promise.resolve(connection), release: () => undefined }, false),
          );
        } finally {
          await connection.script('rollback').catch(() => undefined);
        }
      }),
    transaction: (work) => write(inTransaction(BEGIN, work, true)),
    findSeqs: (keys) => pool.use((connection) => findSeqs(connection, keys)),
    foldTransaction: (work) => folding(() => folder.use(inTransaction(BEGIN_FOLD, work, false))),
    insertEntriesAt: (expectedSeq, entries) => write((connection) => insertEntriesAt(connection, expectedSeq, entries)),
    insertEntriesAfter: (sources, place, also) =>
      write((connection) =>
        insertEntriesAfter(
          connection,
          sources,
          place,
          also && ((placed) => also(transactionOver(connection, shapes, true), placed)),
        ),
      ),
    inspect: () => write(inspect),
    schemaDifferences: ({ quick }) => withPool(pools.aside, quick ? findAttachments : findSchemaDifferences),
    indexFaults: () => Promise.resolve([]),
    reindexReadModels: () => Promise.resolve(),
    async sizeOnDisk() {
      const { rows } = await pool.use((connection) =>
        connection.run('select pg_database_size(current_database()) as bytes'),
      );
      return Number(rows[0]?.bytes);
    },
    compact: () => withPool(pools.aside, compact),
    close: () =>
      closeInterrupting(
        () => Promise.all([pool.close(), locked(() => writer.close()), folding(() => folder.close())]),
        interrupt,
      ),
  };
}

/** The connections of a store, by purpose. */
function poolOptions(options: PostgresOptions) {
  const { url, readers = 4, connectTimeout = 10_000, lockTimeout = 5_000 } = options;
  const { writeTimeout = 30_000, readTimeout = 600_000, idleTimeout = 15_000 } = options;
  const poolOf = (size: number, settings: PoolOptions['settings'], more: Partial<PoolOptions> = {}): PoolOptions => ({
    url,
    size,
    connectTimeout,
    answerTimeout: 0,
    idleTimeout: 0,
    ...more,
    settings: { ...session, ...settings },
  });
  const writerOf = (synchronousCommit: 'on' | 'off') =>
    poolOf(
      1,
      {
        synchronous_commit: synchronousCommit,
        statement_timeout: writeTimeout,
        lock_timeout: lockTimeout,
        idle_in_transaction_session_timeout: idleTimeout,
      },
      { answerTimeout: writeTimeout + 10_000, pipeline: true },
    );
  const answerTimeout = readTimeout + 10_000;
  return {
    // For migrating and compacting: rare, long, and on a separate connection.
    aside: poolOf(1, { statement_timeout: 0, lock_timeout: 60_000 }),
    writing: writerOf('on'),
    // Rows and position commit together, and after the entries they come from: whatever a power cut loses of them is
    // folded again.
    folding: writerOf('off'),
    reading: poolOf(
      readers,
      { default_transaction_read_only: 'on', statement_timeout: readTimeout, lock_timeout: 60_000 },
      { answerTimeout, idleTimeout: 60_000 },
    ),
    snapshotting: poolOf(
      1,
      { statement_timeout: readTimeout, lock_timeout: 60_000, idle_in_transaction_session_timeout: 0 },
      { answerTimeout },
    ),
  };
}

/** Opens a database for reading only: creates and migrates nothing, and needs no privilege but SELECT. */
export function openPostgresToRead(url: string): { read: Query; close(): Promise<void> } {
  const settings = { ...session, default_transaction_read_only: 'on', statement_timeout: 600_000 };
  const pool = createPool({
    url,
    size: 1,
    connectTimeout: 10_000,
    answerTimeout: 610_000,
    idleTimeout: 60_000,
    settings,
  });
  return { read: createQuery(pool, false), close: () => pool.close() };
}

/** The lock is a separate statement, so the following ones see the state after the wait (READ COMMITTED). */
const beginUnder = (lock: string) => `begin isolation level read committed; select pg_advisory_xact_lock(${lock})`;
const BEGIN = beginUnder(WRITE_LOCK);
const BEGIN_FOLD = beginUnder(FOLD_LOCK);

/**
 * The lock is held for two round trips (plus those of `also`), because the statements are sent in pairs: the lock with
 * the head, the insert with the commit. The server runs them in order and answers the commit after a failed insert with
 * a rollback.
 */
async function insertEntriesAfter<T extends { readonly entries: readonly Entry[] }>(
  connection: PostgresConnection,
  sources: readonly string[],
  place: (head: LedgerHead) => T,
  also: ((placed: T) => Promise<void>) | undefined,
): Promise<T | null> {
  try {
    const [, head] = await both(connection.script(BEGIN), readHead(connection, sources));
    const placed = place(head);
    if (also === undefined) {
      await both(insertNewEntries(connection, placed.entries), commit(connection));
    } else {
      await insertNewEntries(connection, placed.entries);
      await also(placed);
      await commit(connection);
    }
    return placed;
  } catch (error) {
    await connection.script('rollback').catch(() => undefined);
    if (error instanceof ConstraintViolation) return null;
    throw error;
  }
}

/**
 * Waits for both, then resolves with both results or rejects with the first failure: nothing may still be running on
 * the connection.
 */
async function both<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  const [first, second] = await Promise.allSettled([one, other]);
  if (first.status === 'rejected') throw first.reason;
  if (second.status === 'rejected') throw second.reason;
  return [first.value, second.value];
}

/** PostgreSQL answers the commit of a transaction with a failed statement by rolling back, and calls that success. */
async function commit(connection: PostgresConnection): Promise<void> {
  const { tag } = await connection.run('commit');
  if (tag !== 'COMMIT') throw new Error('a statement in the transaction failed, so all of it was rolled back');
}

/** Settings of every session: the server's defaults may be anything. */
const session = {
  client_encoding: 'UTF8',
  timezone: 'UTC',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  extra_float_digits: 1,
} as const;

async function withPool<T>(options: PoolOptions, work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
  const pool = createPool(options);
  try {
    return await pool.use(work);
  } finally {
    await pool.close();
  }
}

/** Runs works one after the other, in order of request: waiting here occupies no connection. */
function createMutex() {
  let tail: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const result = tail.then(work);
    tail = result.catch(() => undefined);
    return result;
  };
}

function transactionOver(connection: PostgresConnection, shapes: TableShapes, plansOnce: boolean): StoreTransaction {
  const query = createQuery({ acquire: () => Promise.resolve(connection), release: () => undefined }, plansOnce);
  const tx: StoreTransaction = {
    query,
    insertMany: (table, rows, onConflict = 'fail') => insertMany(connection, shapes, { table, rows, onConflict }),
    head: (sources) => readHead(connection, sources),
    findSeqs: (keys) => findSeqs(connection, keys),
    insertEntries: (entries) => insertEntries(connection, entries),
    countArrivals: (repeats) => countArrivals(tx, repeats),
  };
  return tx;
}

/**
 * A query builder in this database's SQL, over connections from `source`. `plansOnce`: plan frequent statements once
 * per session. Not for documents, whose few statements need plans for their own values.
 */
function createQuery(source: ConnectionSource<PostgresConnection>, plansOnce: boolean): Kysely<Tables> {
  return createLeasedQuery(source, {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new Compiler(),
    execute: <R>(connection: PostgresConnection, query: CompiledQuery) =>
      execute<R>(connection, query, plansOnce && query.parameters.length <= FEW ? nameOf(query.sql) : undefined),
  });
}

/** Accepts empty lists, as SQLite does: `in ()` is a syntax error in PostgreSQL. */
class Compiler extends PostgresQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { operator, rightOperand } = node;
    const listed = OperatorNode.is(operator) && (operator.operator === 'in' || operator.operator === 'not in');
    if (listed && PrimitiveValueListNode.is(rightOperand) && rightOperand.values.length === 0)
      this.append(operator.operator === 'in' ? 'false' : 'true');
    else super.visitBinaryOperation(node);
  }
}

async function execute<R>(
  connection: PostgresConnection,
  { sql, parameters }: CompiledQuery,
  name?: string,
): Promise<QueryResult<R>> {
  const { rows, count } = await connection.run(sql, parameters.map(toParameter), name);
  return { rows: rows as R[], numAffectedRows: BigInt(count) };
}

/**
 * How many statements a session plans only once, and how often each must have run before. Limited, because a list
 * yields a statement for each length.
 */
const KEPT = 150;
/**
 * The most parameters that a statement planned once may have. One with hundreds of keys is planned each time: a plan
 * made while its table was small reads the whole table, and would be kept until the server next gathers statistics.
 * Folding after a first load took three times as long with it.
 */
const FEW = 100;
const OFTEN = 5;
const names = new Map<string, string>();
const seen = new Map<string, number>();
/** A session refuses a prepared statement if its table has since gained a column (a rolling upgrade). */
const allColumns = /\breturning \*|\* from "/;

function nameOf(sql: string): string | undefined {
  const name = names.get(sql);
  if (name !== undefined || names.size === KEPT || allColumns.test(sql)) return name;
  const times = (seen.get(sql) ?? 0) + 1;
  if (seen.size > 10 * KEPT) seen.clear();
  seen.set(sql, times);
  if (times < OFTEN) return undefined;
  seen.delete(sql);
  names.set(sql, `built ${names.size + 1}`);
  return names.get(sql);
}

function toParameter(value: unknown): string | number | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return storedText(value);
  if (typeof value === 'number' || Buffer.isBuffer(value)) return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Uint8Array) return Buffer.from(value);
  throw new TypeError(`the tables cannot hold a ${typeof value}`);
}

/** The oldest version of PostgreSQL that the program supports. */
const OLDEST_VERSION = 13;

/** Settings that the server must have, so that a commit survives a power cut and texts come back as written. */
const required: readonly [setting: string, fits: (value: string) => boolean, wanted: string][] = [
  ['server_version_num', (value) => Number(value) >= OLDEST_VERSION * 10_000, `at least ${OLDEST_VERSION * 10_000}`],
  ['server_encoding', (value) => value === 'UTF8', 'UTF8'],
  ['fsync', (value) => value === 'on', 'on'],
  ['full_page_writes', (value) => value === 'on', 'on'],
  ['synchronous_commit', (value) => value === 'on' || value === 'remote_apply', 'on'],
];

/** Standbys without synchronous replication. To an ordinary user only their number is shown, and `state` is null; a base backup is none. */
const UNSAFE_STANDBYS = `select count(*) from pg_stat_replication
  where coalesce(state, 'streaming') in ('streaming', 'catchup') and current_setting('synchronous_standby_names') = ''`;

/**
 * Checks the settings of a writing session. PostgreSQL has no check of the whole database that an ordinary user may
 * run, so `damage` is null; pg_amcheck and pg_checksums are for the database administrator (docs/configuration.md).
 */
async function inspect(connection: PostgresConnection): Promise<StoreInspection> {
  const names = required.map(([setting]) => `current_setting('${setting}') as ${setting}`).join(', ');
  const { rows } = await connection.run(
    `select ${names}, pg_is_in_recovery() as standby, (${UNSAFE_STANDBYS}) as unsafe_standbys`,
  );
  const found = rows[0] as Record<string, string>;
  const deviations = required
    .filter(([setting, fits]) => !fits(found[setting] as string))
    .map(([setting, , wanted]) => `${setting} is ${found[setting]}, not ${wanted}`);
  if (found['standby'] === 't') deviations.push('the server is a standby: it can only be read');
  if (Number(found['unsafe_standbys']) > 0)
    deviations.push(
      'a standby is attached, but synchronous_standby_names is empty: a fail-over to it can lose acknowledged deliveries',
    );
  return { schemaVersion: await schemaVersion(connection), deviations, damage: null };
}

const ATTEMPTS = 20;
const PAUSE_MS = 500;

/**
 * Rewrites every table without erased content; a table can be neither read nor written while it is rewritten. A plain
 * VACUUM frees the space of old row versions but leaves their bytes in the pages until something else is written there.
 * The planner's statistics contain values of rows too: they are gathered again, and their table is rewritten if the
 * user may do so (the owner of the database).
 *
 * VACUUM FULL keeps row versions that an open transaction may still see (a long report, pg_dump, briefly even a session
 * being opened) and reports how many; then it is repeated. Rejects with StoreUnavailable if some remain.
 */
async function compact(connection: PostgresConnection): Promise<void> {
  for (const table of Object.keys(tables)) await rewrite(connection, table);
  try {
    await connection.script('vacuum (full) pg_statistic');
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
  }
}

async function rewrite(connection: PostgresConnection, table: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    // The detail begins with the number in all languages: "3 dead row versions cannot be removed yet."
    const details = await connection.script(`vacuum (full, verbose, analyze) ${table}`);
    const kept = details.reduce((sum, detail) => sum + Number(/^\d+/.exec(detail)?.[0] ?? 0), 0);
    if (kept === 0) return;
    if (attempt === ATTEMPTS) {
      throw new StoreUnavailable(
        `${kept} old versions of rows are still in the table ${table}, because an open transaction may still see them: end it (pg_stat_activity) and compact again`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
