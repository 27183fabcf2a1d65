import { setTimeout as delay } from 'node:timers/promises';
import { type CompiledQuery, type DatabaseConnection, type Dialect, Kysely, type QueryResult } from 'kysely';
import type { Tables } from './schema.ts';

/** Lends a connection for one query. */
export interface ConnectionSource<Connection> {
  acquire(): Promise<Connection>;
  release(connection: Connection): void;
}

/** The differences between the databases: their SQL, and how a connection runs it. */
interface QueryLanguage<Connection> extends Omit<Dialect, 'createDriver'> {
  execute<R>(connection: Connection, query: CompiledQuery): Promise<QueryResult<R>>;
}

/** How long statements may run on while their store closes, and how often the remaining ones are interrupted, milliseconds. */
const GRACE_MS = 1000;
const AGAIN_MS = 100;

/**
 * Closes a store, and interrupts statements that still run after a moment: the process cannot exit before a statement
 * of SQLite ends. Repeated, because one may begin just after an interruption.
 */
export async function closeInterrupting(close: () => Promise<unknown>, interrupt: () => void | Promise<unknown>) {
  const closed = close().then(() => true);
  const isClosedWithin = (ms: number) => Promise.race([closed, delay(ms, false, { ref: false })]);
  for (let ms = GRACE_MS; !(await isClosedWithin(ms)); ms = AGAIN_MS) await interrupt();
}

/** A query builder whose queries run on connections from `source`. Transactions are handled by the store, not by the builder. */
export function createLeasedQuery<Connection>(
  source: ConnectionSource<Connection>,
  language: QueryLanguage<Connection>,
): Kysely<Tables> {
  const leased = new WeakMap<DatabaseConnection, Connection>();
  const refuse = () => Promise.reject(new Error('use Store.transaction'));
  const dialect: Dialect = {
    ...language,
    createDriver: () => ({
      init: () => Promise.resolve(),
      acquireConnection: async () => {
        const connection = await source.acquire();
        const adapted: DatabaseConnection = {
          executeQuery: <R>(query: CompiledQuery) => language.execute<R>(connection, query),
          streamQuery: () => {
            throw new Error('page by key instead of streaming: SQLite has no back-pressure');
          },
        };
        leased.set(adapted, connection);
        return adapted;
      },
      releaseConnection: (adapted) => {
        const connection = leased.get(adapted);
        if (connection !== undefined) source.release(connection);
        return Promise.resolve();
      },
      beginTransaction: refuse,
      commitTransaction: refuse,
      rollbackTransaction: refuse,
      destroy: () => Promise.resolve(),
    }),
  };
  return new Kysely<Tables>({ dialect });
}
