import {
  type CompiledQuery,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import { type ConnectionSource, createLeasedQuery } from '../leased-query.ts';
import type { Tables } from '../schema.ts';
import type { PostgresConnection } from './driver.ts';
import { storedText } from './values.ts';

/** A query builder in this database's SQL, over connections from `source`. */
export function createQuery(source: ConnectionSource<PostgresConnection>): Kysely<Tables> {
  return createLeasedQuery(source, {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    execute,
  });
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
