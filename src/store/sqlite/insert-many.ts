import type { OnConflict } from '../store.ts';
import type { SqliteConnection } from './driver.ts';

type Row = Readonly<Record<string, unknown>>;

const verb: Record<OnConflict, [before: string, after: string]> = {
  fail: ['insert into', ''],
  keep: ['insert into', ' where true on conflict do nothing'],
  replace: ['insert or replace into', ''],
};

/** Inserts rows in one statement with one JSON parameter; bytes travel as hex. Column names come from the code, never from outside. */
export async function insertMany(
  connection: SqliteConnection,
  table: string,
  rows: readonly Row[],
  onConflict: OnConflict,
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first);
  const blobs = columns.map((column) => rows.some((row) => row[column] instanceof Uint8Array));
  const values = columns.map((_, place) => (blobs[place] ? `unhex(value->>${place})` : `value->>${place}`));
  const cells = rows.map((row) => {
    if (Object.keys(row).length !== columns.length)
      throw new TypeError(`insertMany(${table}): rows with different columns`);
    return columns.map((column) => cell(table, column, row[column]));
  });
  const [before, after] = verb[onConflict];
  await connection.run(
    `${before} ${table} (${columns.join(', ')}) select ${values.join(', ')} from jsonb_each(?)${after}`,
    [JSON.stringify(cells)],
  );
}

function cell(table: string, column: string, value: unknown): string | number | null {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`insertMany(${table}.${column}): ${value}`);
    return value;
  }
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  throw new TypeError(`insertMany(${table}.${column}): cannot hold ${typeof value}`);
}
