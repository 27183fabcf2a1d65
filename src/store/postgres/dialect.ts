import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type { Tables } from '../schema.ts';
import type { PostgresConnection } from './driver.ts';
import { storedText } from './values.ts';

/** Hands out a connection for one query and takes it back. */
export interface ConnectionSource {
  acquire(): Promise<PostgresConnection>;
  release(connection: PostgresConnection): void;
}

/** A query builder whose queries run on connections from `source`. Transactions are the store's business, not the builder's. */
export function createQuery(source: ConnectionSource): Kysely<Tables> {
  const leased = new WeakMap<DatabaseConnection, PostgresConnection>();
  const refuse = () => Promise.reject(new Error('use Store.transaction'));
  const dialect: Dialect = {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createDriver: () => ({
      init: () => Promise.resolve(),
      acquireConnection: async () => {
        const connection = await source.acquire();
        const adapted: DatabaseConnection = {
          executeQuery: <R>(query: CompiledQuery) => execute<R>(connection, query),
          streamQuery: () => {
            throw new Error('page by key instead of streaming: the same queries run on SQLite');
          },
        };
        leased.set(adapted, connection);
        return adapted;
      },
      releaseConnection: (adapted) => {
        const connection = leased.get(adapted);
        if (connection) source.release(connection);
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

async function execute<R>(connection: PostgresConnection, compiled: CompiledQuery): Promise<QueryResult<R>> {
  const { rows, count } = await connection.run(compiled.sql, compiled.parameters.map(toParameter));
  return { rows: rows as R[], numAffectedRows: BigInt(count) };
}

function toParameter(value: unknown): string | number | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return storedText(value);
  if (typeof value === 'number' || Buffer.isBuffer(value)) return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Uint8Array) return Buffer.from(value);
  throw new TypeError(`the tables cannot hold a ${typeof value}`);
}
