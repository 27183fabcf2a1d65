import type { Kysely } from 'kysely';
import type { Query } from '../store/store.ts';
import { shadowName } from './shadow.ts';
import { type AnyTable, type ReadModelName, type ReadModelRow, readModelTables } from './tables.ts';

/** A row that is not the same in the live table and in its rebuild; null where there is none. */
export interface Difference {
  readonly table: ReadModelName;
  /** The row's key, as `source=acme policy_id=p1`. */
  readonly key: string;
  readonly live: ReadModelRow | null;
  readonly rebuilt: ReadModelRow | null;
}

/** Seqs from (exclusive) and to (inclusive): a part of a history table. */
export interface SeqRange {
  readonly after: number;
  readonly upTo: number;
}

const SAMPLE = 20;

/** Some of the rows that differ, none when the tables are equal. Both databases compare whole rows with EXCEPT, nulls as equal. */
export async function findDifferences(
  query: Query,
  table: ReadModelName,
  range: SeqRange | null,
): Promise<Difference[]> {
  const any = query as unknown as Kysely<AnyTable>;
  const shadow = shadowName(table);
  const rowsOf = (name: string) => {
    const rows = any.selectFrom(name).selectAll();
    return range === null ? rows : rows.where('seq', '>', range.after).where('seq', '<=', range.upTo);
  };
  const live = await rowsOf(table).except(rowsOf(shadow)).limit(SAMPLE).execute();
  const rebuilt = await rowsOf(shadow).except(rowsOf(table)).limit(SAMPLE).execute();
  const found = new Map<string, { live: ReadModelRow | null; rebuilt: ReadModelRow | null }>();
  for (const row of live) found.set(keyText(table, row), { live: row, rebuilt: null });
  for (const row of rebuilt) {
    const key = keyText(table, row);
    found.set(key, { live: found.get(key)?.live ?? null, rebuilt: row });
  }
  return [...found].map(([key, rows]) => ({ table, key, ...rows }));
}

/** Puts the shadow's rows in the place of the live ones; of a history, only those of the range. */
export async function replaceRows(query: Query, table: ReadModelName, range: SeqRange | null): Promise<void> {
  const any = query as unknown as Kysely<AnyTable>;
  const shadow = any.selectFrom(shadowName(table)).selectAll();
  const old = any.deleteFrom(table);
  if (range === null) {
    await old.execute();
    await any.insertInto(table).expression(shadow).execute();
    return;
  }
  await old.where('seq', '>', range.after).where('seq', '<=', range.upTo).execute();
  await any
    .insertInto(table)
    .expression(shadow.where('seq', '>', range.after).where('seq', '<=', range.upTo))
    .execute();
}

function keyText(table: ReadModelName, row: ReadModelRow): string {
  return readModelTables[table].key.map((column) => `${column}=${String(row[column])}`).join(' ');
}
