import {
  type CompiledQuery,
  type Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type QueryResult,
} from 'kysely';
import { type ConnectionSource, createLeasedQuery } from '../leased-query.ts';
import type { Tables } from '../schema.ts';
import type { SqliteConnection, SqlRow, SqlValue } from './driver.ts';

/** A query builder in this database's SQL, over connections from `source`. */
export function createQuery(source: ConnectionSource<SqliteConnection>): Kysely<Tables> {
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
