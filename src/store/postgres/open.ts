import { countArrivals } from '../queries/arrivals.ts';
import type { Entry } from '../../crypto/entry.ts';
import { ConstraintViolation, type LedgerHead, type Store, type StoreTransaction } from '../store.ts';
import { createQuery } from './dialect.ts';
import { createPool, type PoolOptions, type PostgresConnection } from './driver.ts';
import { findSeqs, insertEntries, insertEntriesAt, readHead } from './entries.ts';
import { createTableShapes, insertMany, type TableShapes } from './insert-many.ts';
import { compact, inspect } from './maintenance.ts';
import { WRITE_LOCK } from './locks.ts';
import { findAttachments, findSchemaDifferences, migrate } from './migrate.ts';
import { asMisconfiguration } from './outages.ts';

export interface PostgresOptions {
  /** postgres://user:password@host:port/database, with sslmode and the like as docs/configuration.md says. */
  readonly url: string;
  /** Connections for reading, default 4. One more writes. */
  readonly readers?: number;
  /** Milliseconds to wait for a connection, default 10,000. */
  readonly connectTimeout?: number;
  /** Milliseconds to wait for another process's write, default 5,000. */
  readonly lockTimeout?: number;
  /** Milliseconds that a statement may take in a write, default 30,000, and in a read, default 600,000. */
  readonly writeTimeout?: number;
  readonly readTimeout?: number;
  /** Milliseconds that a write may pause between statements before the server ends it and lets others go on, default 15,000. */
  readonly idleTimeout?: number;
}

/**
 * Opens a PostgreSQL store, and brings its schema up to date: one connection that writes behind a mutex, some that read.
 * Writers of all processes queue up at one advisory lock; readers wait for nobody.
 * Rejects with StoreUnavailable when the server cannot be reached, with UsageError when it refuses the URL's user or database or when
 * the schema is from a newer version.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, readers = 4, connectTimeout = 10_000, lockTimeout = 5_000 } = options;
  const { writeTimeout = 30_000, readTimeout = 600_000, idleTimeout = 15_000 } = options;
  const poolOf = (size: number, more: Partial<PoolOptions>): PoolOptions => ({
    url,
    size,
    connectTimeout,
    answerTimeout: 0,
    idleTimeout: 0,
    ...more,
    settings: { ...session, ...more.settings },
  });
  // Migrating and compacting: seldom, long, and on a connection of their own.
  const aside = poolOf(1, { settings: { statement_timeout: 0, lock_timeout: 60_000 } });
  await withPool(aside, migrate).catch((error: unknown) => {
    throw asMisconfiguration(error);
  });

  const writer = createPool(
    poolOf(1, {
      settings: {
        synchronous_commit: 'on',
        statement_timeout: writeTimeout,
        lock_timeout: lockTimeout,
        idle_in_transaction_session_timeout: idleTimeout,
      },
      answerTimeout: writeTimeout + 10_000,
      pipeline: true,
    }),
  );
  const pool = createPool(
    poolOf(readers, {
      settings: { default_transaction_read_only: 'on', statement_timeout: readTimeout, lock_timeout: 60_000 },
      answerTimeout: readTimeout + 10_000,
      idleTimeout: 60_000,
    }),
  );
  const locked = createMutex();
  const write = <T>(work: (connection: PostgresConnection) => Promise<T>) => locked(() => writer.use(work));
  const shapes = createTableShapes();

  return {
    engine: 'postgres',
    read: createQuery(pool),
    transaction: (work) =>
      write(async (connection) => {
        try {
          await connection.script(BEGIN);
          const result = await work(transactionOver(connection, shapes));
          await commit(connection);
          return result;
        } catch (error) {
          await connection.script('rollback').catch(() => undefined);
          throw error;
        }
      }),
    insertEntriesAt: (expectedSeq, entries) => write((connection) => insertEntriesAt(connection, expectedSeq, entries)),
    insertEntriesAfter: (sources, place, also) =>
      write((connection) =>
        insertEntriesAfter(
          connection,
          sources,
          place,
          also && ((placed) => also(transactionOver(connection, shapes), placed)),
        ),
      ),
    inspect: () => write(inspect),
    schemaDifferences: ({ quick }) => withPool(aside, quick ? findAttachments : findSchemaDifferences),
    async sizeOnDisk() {
      const { rows } = await pool.use((connection) =>
        connection.run('select pg_database_size(current_database()) as bytes'),
      );
      return Number(rows[0]?.bytes);
    },
    compact: () => withPool(aside, compact),
    async close() {
      await Promise.all([pool.close(), locked(() => writer.close())]);
    },
  };
}

/** The lock is a statement of its own: what the next ones see is of after the wait for it (READ COMMITTED). */
const BEGIN = `begin isolation level read committed; select pg_advisory_xact_lock(${WRITE_LOCK})`;

/**
 * Two round trips while the lock is held (with `also` more), because each pair of statements goes out together: the lock and the head, the insert and
 * the commit. The server works through them one after the other, and answers a commit after a failed insert with a rollback.
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
      await both(insertEntries(connection, placed.entries), commit(connection));
    } else {
      await insertEntries(connection, placed.entries);
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

/** Both answers, or the first's failure, once both have come: nothing may still be under way on the connection. */
async function both<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  const [first, second] = await Promise.allSettled([one, other]);
  if (first.status === 'rejected') throw first.reason;
  if (second.status === 'rejected') throw second.reason;
  return [first.value, second.value];
}

/** PostgreSQL answers the commit of a transaction in which a statement failed with a rollback, and calls that a success. */
async function commit(connection: PostgresConnection): Promise<void> {
  const { tag } = await connection.run('commit');
  if (tag !== 'COMMIT') throw new Error('a statement of the transaction failed, and with it all that it wrote');
}

/** What every session sets: the server's own defaults may be anything. */
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

/** Works one after the other, in the order asked for: waiting here costs no connection. */
function createMutex() {
  let tail: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const result = tail.then(work);
    tail = result.catch(() => undefined);
    return result;
  };
}

function transactionOver(connection: PostgresConnection, shapes: TableShapes): StoreTransaction {
  const query = createQuery({ acquire: () => Promise.resolve(connection), release: () => undefined });
  const tx: StoreTransaction = {
    query,
    insertMany: (table, rows, onConflict = 'fail') => insertMany(connection, shapes, table, rows, onConflict),
    head: (sources) => readHead(connection, sources),
    findSeqs: (keys) => findSeqs(connection, keys),
    insertEntries: (entries) => insertEntries(connection, entries),
    countArrivals: (repeats) => countArrivals(tx, repeats),
  };
  return tx;
}
