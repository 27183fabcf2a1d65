import type { OnConflict } from '../store.ts';
import type { PostgresConnection } from './driver.ts';
import { binaryArray } from './values.ts';

type Row = Readonly<Record<string, unknown>>;

/** What the catalogue says of a table. */
interface TableShape {
  /** OID of the type of each column. */
  readonly types: ReadonlyMap<string, number>;
  /** Columns of its primary key, or of a unique index; empty when it has neither. */
  readonly key: readonly string[];
}

/** Reads tables' shapes, each once. */
export type TableShapes = (connection: PostgresConnection, table: string) => Promise<TableShape>;

export function createTableShapes(): TableShapes {
  const known = new Map<string, TableShape>();
  return async (connection, table) => {
    const kept = known.get(table);
    if (kept !== undefined) return kept;
    const columns = await connection.run(
      `select attname as name, atttypid::int8 as type from pg_attribute
        where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
      [table],
    );
    const key = await connection.run(
      `select a.attname as name
        from (select indexrelid, indrelid, indkey from pg_index
          where indrelid = $1::regclass and indisunique and indpred is null and indexprs is null and indisvalid
          order by indisprimary desc, indexrelid limit 1) as i
        cross join lateral unnest(i.indkey) with ordinality as k (attnum, place)
        join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = k.attnum order by k.place`,
      [table],
    );
    const shape = {
      types: new Map(columns.rows.map(({ name, type }) => [name as string, type as number])),
      key: key.rows.map(({ name }) => name as string),
    };
    known.set(table, shape);
    return shape;
  };
}

/** Inserts rows in one statement with one array per column. Names of tables and columns come from the code, never from outside. */
export async function insertMany(
  connection: PostgresConnection,
  shapes: TableShapes,
  table: string,
  rows: readonly Row[],
  onConflict: OnConflict,
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const { types, key } = await shapes(connection, table);
  const columns = Object.keys(first);
  for (const row of rows) {
    if (Object.keys(row).length !== columns.length || !columns.every((column) => column in row))
      throw new TypeError(`insertMany(${table}): rows with different columns`);
  }
  const wanted = onConflict === 'replace' ? lastOfEachKey(rows, key) : rows;
  const arrays = columns.map((column) => {
    const type = types.get(column);
    if (type === undefined) throw new TypeError(`insertMany(${table}): there is no column ${column}`);
    try {
      return binaryArray(
        type,
        wanted.map((row) => row[column]),
      );
    } catch (error) {
      throw new TypeError(`insertMany(${table}.${column}): ${(error as Error).message}`, { cause: error });
    }
  });
  const names = columns.map((column) => `"${column}"`).join(', ');
  const unnested = columns.map((column, place) => `$${place + 1}::${typeName(types.get(column))}[]`).join(', ');
  await connection.run(
    `insert into "${table}" (${names}) select * from unnest(${unnested})${conflictClause(table, key, columns, [...types.keys()], onConflict)}`,
    arrays,
  );
}

const typeNames: Readonly<Record<number, string>> = { 17: 'bytea', 20: 'int8', 23: 'int4', 25: 'text', 701: 'float8' };

function typeName(type: number | undefined): string {
  const name = type === undefined ? undefined : typeNames[type];
  if (name === undefined) throw new TypeError(`columns of type ${type} are not used`);
  return name;
}

/** One statement may not change a row twice: of several rows with one key the last one counts, as if they came one after the other. */
function lastOfEachKey(rows: readonly Row[], key: readonly string[]): readonly Row[] {
  const byKey = new Map<string, Row>();
  for (const row of rows) {
    byKey.set(JSON.stringify(key.map((column) => keyPart(row[column]))), row);
  }
  return byKey.size === rows.length ? rows : [...byKey.values()];
}

function keyPart(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
}

function conflictClause(
  table: string,
  key: readonly string[],
  given: readonly string[],
  all: readonly string[],
  onConflict: OnConflict,
): string {
  if (onConflict === 'fail') return '';
  if (onConflict === 'keep') return ' on conflict do nothing';
  if (key.length === 0) throw new TypeError(`insertMany(${table}): nothing says which row to replace`);
  // A replaced row keeps nothing of the old one: columns that are not given fall back to their default.
  const changes = all
    .filter((column) => !key.includes(column))
    .map((column) => `"${column}" = ${given.includes(column) ? `excluded."${column}"` : 'default'}`);
  const action = changes.length === 0 ? 'nothing' : `update set ${changes.join(', ')}`;
  return ` on conflict (${key.map((column) => `"${column}"`).join(', ')}) do ${action}`;
}
