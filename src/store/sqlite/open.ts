import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { chmod, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  type CompiledQuery,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { codeOf, describeFileError, StoreUnavailable } from '../../core/errors.ts';
import { type ConnectionSource, closeInterrupting, createLeasedQuery } from '../leased-query.ts';
import { countArrivals } from '../queries/arrivals.ts';
import { isFolded, type TableName, type Tables, tables } from '../schema.ts';
import {
  ConstraintViolation,
  type Damage,
  type Query,
  type Store,
  type StoreInspection,
  type StoreTransaction,
} from '../store.ts';
import { DedupeKeys, dedupePath } from './dedupe.ts';
import {
  attachToRead,
  isContention,
  isInterruption,
  openConnection,
  openToRead,
  type SqliteConnection,
  type SqlRow,
  type SqlValue,
  useLog,
} from './driver.ts';
import { findSeqs, insertEntries, insertEntriesAt, insertMany, readHead } from './entries.ts';
import { assertReadModelsVersion, findSchemaDifferences, migrateLedger, prepareReadModels } from './migrate.ts';

const readModelTables = (Object.keys(tables) as TableName[]).filter(isFolded);

export interface SqliteOptions {
  /** The database file; its folder is created if missing. */
  readonly path: string;
  /** Connections for reading, default 3: a long report occupies one. */
  readonly readers?: number;
  /** How long a statement waits for another process's write, milliseconds; default 2500. */
  readonly busyTimeout?: number;
  /** Deduplication keys kept in memory before they are moved to their file, default 200,000. */
  readonly keysInMemory?: number;
}

/**
 * Opens (and creates or migrates) a SQLite store: write-ahead log, every commit synced, erased content overwritten, one
 * writer behind a mutex, separate readers. Rejects with StoreUnavailable if the file cannot be opened, and with
 * UsageError if it is from a newer version.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, readers = 3, busyTimeout = 2500 } = options;
  prepareFolder(path);
  const folded = readModelsPath(path);
  const dedupe = new DedupeKeys(path, busyTimeout, options.keysInMemory);
  const { ledger, models } = await openPrepared(path, busyTimeout, dedupe);
  const writer = createWriter(ledger, async () => {
    const connection = await openWriter(path, busyTimeout, 'write');
    await attach(connection, busyTimeout, folded, 'read_models');
    await dedupe.prepare(connection);
    return connection;
  });
  const folder = createWriter(models, async () =>
    attach(await openWriter(folded, busyTimeout, 'fold'), busyTimeout, path, 'ledger'),
  );
  const checkpoints = createCheckpoints(() => openConnection(path));
  const pool = createReaders(readers, () => openReader(path, busyTimeout));
  const read = createQuery(pool);
  const asides = new Set<Readers>();
  /** Lends a connection besides those that others wait for. */
  async function aside<T>(work: (reader: Readers) => Promise<T>): Promise<T> {
    const reader = createReaders(1, () => openReader(path, busyTimeout));
    asides.add(reader);
    try {
      return await work(reader);
    } finally {
      await reader.close();
      asides.delete(reader);
    }
  }

  const transaction = transactionsOf(writer, dedupe);

  return {
    engine: 'sqlite',
    read,
    snapshot: (work) =>
      aside(async (reader) => {
        // A snapshot of a file is taken by the first statement that reads it. The ledger's comes second, so the read
        // models are never ahead of it.
        await reader.use((connection) =>
          connection.script(
            'begin; select count(*) from main.sqlite_schema; select count(*) from ledger.sqlite_schema;',
          ),
        );
        return work(createQuery(reader));
      }),
    transaction,
    foldTransaction: (work) =>
      folder.use((connection) =>
        inTransaction(connection, null, async () => {
          await assertReadModelsVersion(connection);
          return work(transactionOver(connection, null));
        }),
      ),
    findSeqs: (keys) =>
      writer.use(async (connection) => {
        if (!dedupe.areRead) await dedupe.catchUp(connection);
        return findSeqs(connection, keys);
      }),
    async insertEntriesAt(expectedSeq, entries) {
      const insert = async (connection: SqliteConnection) => {
        const done = await insertEntriesAt(connection, expectedSeq, entries);
        if (done) dedupe.inserted(expectedSeq + entries.length);
        return done;
      };
      const inserted = await writer.use(async (connection) => {
        if (dedupe.areKnownUpTo(expectedSeq)) return insert(connection);
        return inTransaction(connection, dedupe, async () => {
          await dedupe.catchUp(connection);
          return insert(connection);
        });
      });
      dedupe.committed();
      checkpoints.wrote();
      return inserted;
    },
    async insertEntriesAfter(sources, place, also, expected) {
      const work = async (connection: SqliteConnection) => {
        const tx = transactionOver(connection, dedupe);
        const isKnown = expected !== undefined && dedupe.areKnownUpTo(expected.seq);
        const placed = place(isKnown ? expected : await tx.head(sources));
        if (!isKnown) await tx.insertEntries(placed.entries);
        else if (await insertEntriesAt(connection, expected.seq, placed.entries))
          dedupe.inserted(expected.seq + placed.entries.length);
        else throw new ConstraintViolation('the ledger ends elsewhere, or a key exists');
        await also?.(tx, placed);
        return placed;
      };
      try {
        return await writer.use((connection) => inTransaction(connection, dedupe, () => work(connection)));
      } catch (error) {
        if (error instanceof ConstraintViolation) return null;
        throw error;
      }
    },
    inspect: async ({ readThrough }) => {
      const { schemaVersion, deviations } = await writer.use((connection) => inspectSettings(connection, required));
      const ofModels = await folder.use((connection) => inspectSettings(connection, requiredOfModels));
      const settings = { schemaVersion, deviations: [...deviations, ...ofModels.deviations.map(ofReadModels)] };
      if (!readThrough) return { ...settings, damage: null };
      return { ...settings, damage: await aside(({ use }) => use((connection) => findDamage(connection, path))) };
    },
    schemaDifferences: async () => [
      ...(await writer.use((connection) => findSchemaDifferences(connection, 'ledger'))),
      ...(await folder.use((connection) => findSchemaDifferences(connection, 'read-models'))),
    ],
    indexFaults: (part) =>
      aside(({ use }) =>
        use((connection) => checkFile(connection, 'integrity_check', part === 'ledger' ? 'ledger' : 'main')),
      ),
    reindexReadModels: () =>
      // Not all at once: that would include the ledger, which is attached for reading only.
      folder.use((connection) => connection.script(readModelTables.map((name) => `reindex main.${name}`).join(';'))),
    sizeOnDisk: () => sizeOf([path, folded, dedupePath(path)].flatMap((file) => [file, `${file}-wal`])),
    async compact() {
      const vacuum = 'vacuum main; pragma main.wal_checkpoint(truncate)';
      await writer.use(async () => {
        // The writer's temporary tables are in memory, where it would also copy the whole file.
        const connection = await openWriter(path, busyTimeout, 'write');
        try {
          await connection.script(vacuum);
        } finally {
          await connection.close();
        }
      });
      await folder.use((connection) => connection.script(vacuum));
    },
    close: () =>
      closeInterrupting(
        async () => {
          await checkpoints.close();
          await writer.use((connection) => dedupe.close(connection)).catch(() => undefined);
          await Promise.all([pool, ...asides].map((readers) => readers.close()));
          // The last connection that closes a file writes the log into it, which a read-only one cannot do.
          await writer.use((connection) => connection.script('detach database read_models')).catch(() => undefined);
          await folder.close();
          await writer.close();
        },
        () => {
          for (const interruptible of [pool, ...asides, folder]) interruptible.interrupt();
        },
      ),
  };
}

/** Creates the folder of the database; throws StoreUnavailable if the program cannot write there. */
function prepareFolder(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // SQLite writes its log next to the file, but would only report that it cannot open the file.
    accessSync(dirname(path), constants.W_OK | constants.X_OK);
    if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    const inTheWay = ['EEXIST', 'ENOTDIR'].includes(codeOf(error))
      ? `There is a file where the folder ${dirname(path)} should be: move it away, or choose another DATA_DIR.`
      : null;
    const sentence = inTheWay ?? describeFileError(error) ?? (error as Error).message;
    throw new StoreUnavailable(`The database ${path} cannot be used. ${sentence}`, { cause: error });
  }
}

function transactionsOf({ use }: ReturnType<typeof createWriter>, dedupe: DedupeKeys) {
  return <T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T> =>
    use((connection) => inTransaction(connection, dedupe, () => work(transactionOver(connection, dedupe))));
}

/** Without `dedupe`, entries cannot be inserted. */
async function inTransaction<T>(
  connection: SqliteConnection,
  dedupe: DedupeKeys | null,
  work: () => Promise<T>,
): Promise<T> {
  await connection.script('begin immediate');
  const known = dedupe?.save() ?? null;
  try {
    const result = await work();
    await connection.script('commit');
    dedupe?.committed();
    return result;
  } catch (error) {
    // After some errors (disk full) SQLite has already rolled back, and this fails.
    await connection.script('rollback').catch(() => undefined);
    dedupe?.restore(known);
    throw error;
  }
}

/** Damaged pages of the files. */
async function findDamage(connection: SqliteConnection, path: string): Promise<readonly Damage[]> {
  const check = async (part: string, rebuilt: string | null): Promise<Damage[]> =>
    (await checkFile(connection, 'quick_check', part)).map((sentence) => ({ found: sentence, rebuilt }));
  await attachToRead(connection, dedupePath(path), 'dedupe');
  return [
    ...(await check('ledger', null)),
    ...(await check('main', readModelsPath(path))),
    ...(await check('dedupe', dedupePath(path))),
  ];
}

/** What SQLite finds wrong with a file. Only `integrity_check` compares indexes with the rows of their tables. */
async function checkFile(
  connection: SqliteConnection,
  how: 'quick_check' | 'integrity_check',
  part: string,
): Promise<readonly string[]> {
  // The check itself fails on a page that it cannot follow.
  const rows = await connection.all(`pragma ${part}.${how}(20)`).catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable) || isContention(error) || isInterruption(error)) throw error;
    return [{ [how]: error.message }];
  });
  const found = rows.map((row) => String(row[how]));
  return found.length === 1 && found[0] === 'ok' ? [] : found;
}

/** Bytes of the files that exist. */
async function sizeOf(files: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    files.map((file) =>
      stat(file).then(
        (found) => found.size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The name of a ledger's read-model file. */
export function readModelsPath(path: string): string {
  return `${path}-read-models`;
}

const ofReadModels = (sentence: string) => `read models: ${sentence}`;

/** Opens the writers of both files, or none, with their tables created or migrated and each file attached to the other. */
async function openPrepared(path: string, busyTimeout: number, dedupe: DedupeKeys) {
  const folded = readModelsPath(path);
  const { ledger, models } = await openBoth(path);
  const prepare = async () => {
    // The files hold personal data, so only the program's own user may read them; the write-ahead logs inherit the
    // mode.
    await chmod(path, 0o600).catch(() => undefined);
    await chmod(folded, 0o600).catch(() => undefined);
    await migrateLedger(ledger);
    await prepareReadModels(models, ledger);
    await attach(ledger, busyTimeout, folded, 'read_models');
    await attach(models, busyTimeout, path, 'ledger');
  };
  try {
    await prepare().catch((error: unknown) => {
      throw withPlace(error, path);
    });
    await dedupe.prepare(ledger, Math.max(busyTimeout, START_MS)).catch((error: unknown) => {
      throw withRemedy(error, dedupePath(path));
    });
    return { ledger, models };
  } catch (error) {
    await models.close();
    await ledger.close();
    throw error;
  }
}

/** Milliseconds that a start waits for another process: many may start at once, and wait for the one that migrates. */
const START_MS = 30_000;

async function openBoth(path: string) {
  const ledger = await openWriter(path, START_MS, 'write').catch((error: unknown) => {
    throw withPlace(error, path);
  });
  try {
    return { ledger, models: await openWriter(readModelsPath(path), START_MS, 'fold') };
  } catch (error) {
    await ledger.close();
    throw withRemedy(error, readModelsPath(path));
  }
}

/** For a file that can be rebuilt. */
function withRemedy(error: unknown, file: string): unknown {
  if (!(error instanceof StoreUnavailable) || isContention(error)) return error;
  return new StoreUnavailable(
    `${error.message} (${file}). If the file is damaged, stop every process of consent-ledger and delete it: it is rebuilt from the ledger.`,
    { cause: error.cause },
  );
}

/** Lets a writer of one file read the other. */
async function attach(connection: SqliteConnection, busyTimeout: number, other: string, name: string) {
  await connection.script(`pragma busy_timeout = ${busyTimeout}`);
  await attachToRead(connection, other, name);
  return connection;
}

/** Adds to an error where the database is and what to do. */
function withPlace(error: unknown, path: string): unknown {
  if (!(error instanceof StoreUnavailable) || isContention(error)) return error;
  const remedy = /SQLITE_(?:FULL|IOERR)/.test(error.message)
    ? 'Free some space, or check the disk.'
    : 'Restore it from a backup, or correct DATABASE_URL or DATA_DIR.';
  return new StoreUnavailable(`The database ${path} cannot be opened: ${error.message}. ${remedy}`, {
    cause: error.cause,
  });
}

/** Opens a database for reading only: creates, migrates and locks nothing. Rejects with StoreUnavailable if it cannot be opened. */
export async function openSqliteToRead(path: string): Promise<{ read: Query; close(): Promise<void> }> {
  const hasLog = (file: string) =>
    stat(`${file}-wal`).then(
      (found) => found.size > 0,
      () => false,
    );
  const log = await hasLog(path);
  const folded = readModelsPath(path);
  const pool = createReaders(1, async () => {
    const connection = await openToRead(path, log);
    // A copy may lack the read models; checking a ledger does not need them.
    if (existsSync(folded))
      await attachToRead(connection, folded, 'read_models', (await hasLog(folded)) ? '?mode=ro' : '?immutable=1');
    return connection;
  });
  return { read: createQuery(pool), close: () => pool.close() };
}

/**
 * Page cache of each connection per file, in KiB. The operating system caches the pages too, so a larger cache only
 * saves copying; a server has five connections per thread, and their caches are never freed. Folding changes thousands of
 * pages in one transaction: those that do not fit are written more than once.
 */
const CACHE_KIB = { write: 8192, fold: 65_536, read: 2048 } as const;

async function openWriter(path: string, busyTimeout: number, purpose: 'write' | 'fold'): Promise<SqliteConnection> {
  const connection = await openConnection(path);
  try {
    await useLog(connection, busyTimeout);
    await connection.script(
      `pragma secure_delete = on; pragma synchronous = ${purpose === 'fold' ? 'normal' : 'full'}; pragma foreign_keys = on; pragma wal_autocheckpoint = 4000; pragma cache_size = -${CACHE_KIB[purpose]};`,
    );
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Settings required of each writing connection. */
const required = { journal_mode: 'wal', synchronous: 2, secure_delete: 1, foreign_keys: 1 } as const;
/** A power cut may lose the last transactions of the read models, but never part of one; they are folded again. */
const requiredOfModels = { ...required, synchronous: 1 } as const;

async function inspectSettings(
  connection: SqliteConnection,
  wantedOf: Readonly<Record<string, string | number>>,
): Promise<Omit<StoreInspection, 'damage'>> {
  const ask = async (pragma: string) => Object.values((await connection.all(`pragma main.${pragma}`))[0] ?? {})[0];
  const deviations: string[] = [];
  for (const [pragma, wanted] of Object.entries(wantedOf)) {
    const answer = await ask(pragma);
    if (answer !== wanted) deviations.push(`${pragma} is ${String(answer)}, not ${wanted}`);
  }
  return { schemaVersion: Number(await ask('user_version')), deviations };
}

/**
 * Its main file is that of the read models: a statement takes its snapshot of the main file first, so read models are
 * never ahead of the ledger.
 */
async function openReader(path: string, busyTimeout: number): Promise<SqliteConnection> {
  const connection = await openConnection(readModelsPath(path));
  try {
    await connection.script(`pragma busy_timeout = ${busyTimeout}`);
    await attachToRead(connection, path, 'ledger');
    await connection.script(
      `pragma query_only = on; pragma main.cache_size = -${CACHE_KIB.read}; pragma ledger.cache_size = -${CACHE_KIB.read};`,
    );
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** One connection behind a mutex. It is reopened after an outage, so that a repaired disk or a freed lock needs no restart. */
function createWriter(first: SqliteConnection, reopen: () => Promise<SqliteConnection>) {
  let connection: SqliteConnection | null = first;
  let tail: Promise<unknown> = Promise.resolve();
  let closed = false;
  const locked = <T>(work: () => Promise<T>): Promise<T> => {
    const result = tail.then(work);
    tail = result.catch(() => undefined);
    return result;
  };
  return {
    use: <T>(work: (connection: SqliteConnection) => Promise<T>): Promise<T> =>
      locked(async () => {
        if (closed) throw new StoreUnavailable('the store is closed');
        connection ??= await reopen();
        try {
          return await work(connection);
        } catch (error) {
          if (error instanceof StoreUnavailable && !isContention(error) && connection !== null) {
            const broken = connection;
            connection = null;
            await broken.close().catch(() => undefined);
          }
          throw error;
        }
      }),
    interrupt: () => connection?.interrupt(),
    close: () =>
      locked(async () => {
        closed = true;
        await connection?.close();
        connection = null;
      }),
  };
}

/** Milliseconds between checkpoints while entries are appended. */
const CHECKPOINT_MS = 100;

/**
 * Copies appended pages from the ledger's write-ahead log into the file, on a separate connection, so that little is
 * left for the writer's own checkpoint, for which an append would wait. Starts with the first append; if it fails, the
 * writer does the work.
 */
function createCheckpoints(open: () => Promise<SqliteConnection>) {
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();
  let connection: SqliteConnection | null = null;
  let closed = false;
  const forget = async () => {
    const last = connection;
    connection = null;
    await last?.close().catch(() => undefined);
  };
  async function checkpoint(): Promise<void> {
    try {
      if (connection === null) {
        connection = await open();
        await connection.script('pragma synchronous = full; pragma wal_autocheckpoint = 0');
      }
      await connection.all('pragma main.wal_checkpoint(passive)');
    } catch {
      await forget();
    }
  }
  return {
    wrote(): void {
      if (timer !== null || closed) return;
      timer = setTimeout(() => {
        running = checkpoint().finally(() => {
          timer = null;
        });
      }, CHECKPOINT_MS).unref();
    },
    async close(): Promise<void> {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      await running;
      await forget();
    },
  };
}

/** A fixed number of connections, opened on first use and lent to one query at a time. */
function createReaders(size: number, open: () => Promise<SqliteConnection>) {
  const idle: SqliteConnection[] = [];
  const waiting: { resolve(connection: SqliteConnection): void; reject(error: Error): void }[] = [];
  const connections: SqliteConnection[] = [];
  let opened = 0;
  let closing: Promise<void> | null = null;
  let onLastClosed: () => void = () => undefined;

  async function acquire(): Promise<SqliteConnection> {
    if (closing !== null) throw new StoreUnavailable('the store is closed');
    const ready = idle.pop();
    if (ready) return ready;
    if (opened >= size) return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    opened += 1;
    try {
      const connection = await open();
      connections.push(connection);
      return connection;
    } catch (error) {
      opened -= 1;
      // The query that waited for this connection must try to open its own.
      const next = waiting.shift();
      if (next) acquire().then(next.resolve, next.reject);
      if (opened === 0) onLastClosed();
      throw error;
    }
  }

  async function discard(connection: SqliteConnection): Promise<void> {
    await connection.close().catch(() => undefined);
    opened -= 1;
    if (opened === 0) onLastClosed();
  }

  function release(connection: SqliteConnection): void {
    const next = waiting.shift();
    if (next) next.resolve(connection);
    else if (closing !== null) void discard(connection);
    else idle.push(connection);
  }

  return {
    acquire,
    release,
    async use<T>(work: (connection: SqliteConnection) => Promise<T>): Promise<T> {
      const connection = await acquire();
      try {
        return await work(connection);
      } finally {
        release(connection);
      }
    },
    interrupt(): void {
      for (const connection of connections) connection.interrupt();
    },
    /** Lets running queries end, because closing under them would crash the process, and refuses waiting ones. */
    close(): Promise<void> {
      closing ??= new Promise<void>((resolve) => {
        onLastClosed = resolve;
        if (opened === 0) resolve();
      });
      for (const waiter of waiting.splice(0)) waiter.reject(new StoreUnavailable('the store is closed'));
      for (const connection of idle.splice(0)) void discard(connection);
      return closing;
    },
  };
}

type Readers = ReturnType<typeof createReaders>;

function transactionOver(connection: SqliteConnection, dedupe: DedupeKeys | null): StoreTransaction {
  const query = createQuery({ acquire: () => Promise.resolve(connection), release: () => undefined });
  const tx: StoreTransaction = {
    query,
    async insertMany(table, rows, onConflict = 'fail') {
      if (table === 'entries') await dedupe?.catchUp(connection);
      await insertMany(connection, table, rows, onConflict);
    },
    head: (sources) => readHead(connection, sources),
    async findSeqs(keys) {
      await dedupe?.catchUp(connection);
      return findSeqs(connection, keys);
    },
    async insertEntries(entries) {
      await dedupe?.catchUp(connection);
      await insertEntries(connection, entries);
      const last = entries.at(-1);
      if (last !== undefined) dedupe?.inserted(last.seq);
    },
    countArrivals: (repeats) => countArrivals(tx, repeats),
  };
  return tx;
}

/** A query builder in this database's SQL, over connections from `source`. */
function createQuery(source: ConnectionSource<SqliteConnection>): Kysely<Tables> {
  return createLeasedQuery(source, {
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    execute,
  });
}

const returnsRows = new Set(['SelectQueryNode', 'RawNode']);

async function execute<R>(connection: SqliteConnection, compiled: CompiledQuery): Promise<QueryResult<R>> {
  const { sql, parameters, query } = compiled;
  const values = parameters.map(toSqlValue);
  if (returnsRows.has(query.kind) || ('returning' in query && query.returning !== undefined)) {
    const rows: SqlRow[] = await connection.all(sql, values);
    return { rows: rows as R[] };
  }
  const changes = BigInt(await connection.run(sql, values));
  return { rows: [], numAffectedRows: changes };
}

function toSqlValue(value: unknown): SqlValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'number' || Buffer.isBuffer(value)) return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Uint8Array) return Buffer.from(value);
  throw new TypeError(`SQLite cannot hold a ${typeof value}`);
}
