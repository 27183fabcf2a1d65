import { resolve } from 'node:path';
import sqlite3 from 'sqlite3';
import { StoreUnavailable } from '../../core/errors.ts';
import { ConstraintViolation } from '../store.ts';

/** A value that SQLite can store. */
export type SqlValue = string | number | Buffer | null;
export type SqlRow = Record<string, SqlValue>;

/**
 * One SQLite connection. Only this file knows the `sqlite3` package (its repository is archived), so the driver can be
 * replaced by replacing this file. Statements run on a thread of the pool; prepared statements are kept. While a
 * connection is in a transaction, callers must not run two statements at once.
 */
export interface SqliteConnection {
  /** Runs a statement that returns rows. */
  all(sql: string, parameters?: readonly SqlValue[]): Promise<SqlRow[]>;
  /** Runs a statement that changes rows; resolves with their number. */
  run(sql: string, parameters?: readonly SqlValue[]): Promise<number>;
  /** Runs several statements without parameters. */
  script(sql: string): Promise<void>;
  /** Ends the running statement, which rejects with StoreUnavailable; none that starts later. */
  interrupt(): void;
  close(): Promise<void>;
}

// Temporary faults, answered with 503 and worth retrying.
const unavailable =
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM|PROTOCOL|CORRUPT|NOTADB|PERM|AUTH|INTERRUPT)/;

/** Whether another connection held the lock: worth retrying at once, unlike other outages. */
export function isContention(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED';
}

/** Whether the statement was ended by {@link SqliteConnection.interrupt}. */
export function isInterruption(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_INTERRUPT';
}

function codeOf(error: unknown): string | undefined {
  return error instanceof StoreUnavailable ? (error.cause as { code?: string } | undefined)?.code : undefined;
}

function translate(error: Error & { code?: string }): Error {
  const code = error.code ?? '';
  if (code === 'SQLITE_CONSTRAINT') return new ConstraintViolation(error.message, { cause: error });
  if (unavailable.test(code)) return new StoreUnavailable(`the database answered ${error.message}`, { cause: error });
  return error;
}

const STATEMENTS_KEPT = 200;

/** Opens a connection. Rejects with StoreUnavailable if the file cannot be opened. */
export function openConnection(path: string): Promise<SqliteConnection> {
  return connect(path, sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE | sqlite3.OPEN_URI);
}

/** Uses a write-ahead log, and waits for the locks of others up to `busyTimeout` milliseconds. */
export async function useLog(connection: SqliteConnection, busyTimeout: number): Promise<void> {
  // Switching to the log does not wait for others: if many processes create the file at once, all but one have to retry.
  const end = performance.now() + busyTimeout;
  for (let attempt = 0; ; attempt += 1) {
    try {
      await connection.script(`pragma busy_timeout = ${busyTimeout}; pragma journal_mode = wal;`);
      return;
    } catch (error) {
      if (!isContention(error) || performance.now() > end) throw error;
      await new Promise((done) => setTimeout(done, 50 + attempt));
    }
  }
}

/**
 * Lets a connection also read another file's tables. Its transactions lock only its own file. Rejects like
 * {@link openConnection}.
 */
export async function attachToRead(
  connection: SqliteConnection,
  path: string,
  name: string,
  more: '?mode=ro' | '?immutable=1' = '?mode=ro',
): Promise<void> {
  await connection.run(`attach database ? as ${name}`, [addressOf(path, more)]);
}

/**
 * Opens a file for reading only. A copy without a write-ahead log is opened as immutable, which also works if its
 * folder is read-only. Rejects like {@link openConnection}.
 */
export function openToRead(path: string, hasLog: boolean): Promise<SqliteConnection> {
  return connect(addressOf(path, hasLog ? '' : '?immutable=1'), sqlite3.OPEN_READONLY | sqlite3.OPEN_URI);
}

function addressOf(path: string, parameters: string): string {
  const address = new URL(`file://${parameters}`);
  address.pathname = resolve(path).split('/').map(encodeURIComponent).join('/');
  return address.href;
}

function connect(path: string, flags: number): Promise<SqliteConnection> {
  return new Promise((resolve, reject) => {
    const database = new sqlite3.Database(path, flags, (error) => {
      if (error) reject(translate(error));
      else resolve(connectionOver(database));
    });
  });
}

function connectionOver(database: sqlite3.Database): SqliteConnection {
  const statements = new Map<string, Promise<sqlite3.Statement>>();
  let closing = false;

  const prepare = (sql: string): Promise<sqlite3.Statement> => {
    const kept = statements.get(sql);
    if (kept) return kept;
    const prepared = new Promise<sqlite3.Statement>((resolve, reject) => {
      const statement = database.prepare(sql, (error: Error | null) => {
        if (error) {
          statements.delete(sql);
          reject(translate(error));
        } else {
          resolve(statement);
        }
      });
    });
    if (statements.size < STATEMENTS_KEPT) statements.set(sql, prepared);
    return prepared;
  };
  // A statement that is not kept is finalised after use, or the connection could not be closed.
  const release = (sql: string, statement: sqlite3.Statement) => {
    if (!statements.has(sql)) statement.finalize();
  };
  // Until it is reset, a failed statement (locked, disk full) counts as running, and no transaction could commit on the
  // connection.
  const fail = (sql: string, statement: sqlite3.Statement, error: Error, reject: (error: Error) => void) => {
    statement.reset(() => {
      release(sql, statement);
      reject(translate(error));
    });
  };

  return {
    async all(sql, parameters = []) {
      const statement = await prepare(sql);
      return new Promise((resolve, reject) => {
        statement.all(parameters, (error: Error | null, rows: unknown[]) => {
          if (error) return fail(sql, statement, error, reject);
          release(sql, statement);
          resolve(rows as SqlRow[]);
        });
      });
    },
    async run(sql, parameters = []) {
      const statement = await prepare(sql);
      return new Promise((resolve, reject) => {
        statement.run(parameters, function (this: sqlite3.RunResult, error: Error | null) {
          if (error) return fail(sql, statement, error, reject);
          release(sql, statement);
          resolve(this.changes);
        });
      });
    },
    script(sql) {
      return new Promise((resolve, reject) => {
        database.exec(sql, (error) => (error ? reject(translate(error)) : resolve()));
      });
    },
    interrupt() {
      if (!closing) database.interrupt();
    },
    async close() {
      closing = true;
      for (const prepared of statements.values()) {
        const statement = await prepared.catch(() => null);
        statement?.finalize();
      }
      statements.clear();
      await new Promise<void>((resolve, reject) => {
        database.close((error) => (error ? reject(translate(error)) : resolve()));
      });
    },
  };
}
