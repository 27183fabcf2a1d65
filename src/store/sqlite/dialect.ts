import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Tables } from '../schema.ts';
import type { SqliteConnection, SqlRow, SqlValue } from './driver.ts';

/** Hands out a connection for one query and takes it back. */
export interface ConnectionSource {
  acquire(): Promise<SqliteConnection>;
  release(connection: SqliteConnection): void;
}

/** A query builder whose queries run on connections from `source`. Transactions are the store's business, not the builder's. */
export function createQuery(source: ConnectionSource): Kysely<Tables> {
  const leased = new WeakMap<DatabaseConnection, SqliteConnection>();
  const refuse = () => Promise.reject(new Error('use Store.transaction'));
  const dialect: Dialect = {
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createDriver: () => ({
      init: () => Promise.resolve(),
      acquireConnection: async () => {
        const connection = await source.acquire();
        const adapted: DatabaseConnection = {
          executeQuery: <R>(query: CompiledQuery) => execute<R>(connection, query),
          streamQuery: () => {
            throw new Error('page by key instead of streaming: SQLite has no back-pressure');
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
