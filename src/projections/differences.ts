import type { ExpressionBuilder, Kysely } from 'kysely';
import type { Query, StoreTransaction } from '../store/store.ts';
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

/**
 * Rows that differ, at most `limit` of those of either side; none when the tables are equal. Both databases compare whole rows
 * with EXCEPT, nulls as equal.
 */
export async function findDifferences(
  query: Query,
  table: ReadModelName,
  range: SeqRange | null,
  limit: number,
): Promise<Difference[]> {
  const { onlyLive, onlyRebuilt } = exceptions(query, table, range);
  const live = await onlyLive().limit(limit).execute();
  const rebuilt = await onlyRebuilt().limit(limit).execute();
  return paired(table, live, rebuilt);
}

/** How many keys have rows that differ. */
export async function countDifferences(query: Query, table: ReadModelName, range: SeqRange | null): Promise<number> {
  const any = query as unknown as Kysely<AnyTable>;
  const { onlyLive, onlyRebuilt } = exceptions(query, table, range);
  const keysOf = (rows: ReturnType<typeof onlyLive>) =>
    any.selectFrom(rows.as('rows')).select(readModelTables[table].key);
  const { count } = await any
    .selectFrom(keysOf(onlyLive()).union(keysOf(onlyRebuilt())).as('keys'))
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

function exceptions(query: Query, table: ReadModelName, range: SeqRange | null) {
  const any = query as unknown as Kysely<AnyTable>;
  const rowsOf = (name: string) => {
    const rows = any.selectFrom(name).selectAll();
    return range === null ? rows : rows.where('seq', '>', range.after).where('seq', '<=', range.upTo);
  };
  const shadow = shadowName(table);
  return {
    onlyLive: () => rowsOf(table).except(rowsOf(shadow)),
    onlyRebuilt: () => rowsOf(shadow).except(rowsOf(table)),
  };
}

/** How many keys one statement looks up. */
const KEYS = 100;

/** Which of these rows differ now; `keys` holds at least their key columns. */
export async function recheck(
  query: Query,
  table: ReadModelName,
  keys: readonly ReadModelRow[],
): Promise<Difference[]> {
  const any = query as unknown as Kysely<AnyTable>;
  const differing: Difference[] = [];
  for (let at = 0; at < keys.length; at += KEYS) {
    const some = keys.slice(at, at + KEYS);
    const live = await any.selectFrom(table).selectAll().where(anyOf(table, some)).execute();
    const rebuilt = await any.selectFrom(shadowName(table)).selectAll().where(anyOf(table, some)).execute();
    for (const pair of paired(table, live, rebuilt)) {
      if (JSON.stringify(pair.live) !== JSON.stringify(pair.rebuilt)) differing.push(pair);
    }
  }
  return differing;
}

/** Puts the rebuilt rows in the place of the live ones, row by row. */
export async function replaceByKey(
  tx: StoreTransaction,
  table: ReadModelName,
  differences: readonly Difference[],
): Promise<void> {
  const any = tx.query as unknown as Kysely<AnyTable>;
  for (let at = 0; at < differences.length; at += KEYS) {
    const some = differences.slice(at, at + KEYS);
    const keys = some.map(({ live, rebuilt }) => (live ?? rebuilt) as ReadModelRow);
    await any.deleteFrom(table).where(anyOf(table, keys)).execute();
    const rows = some.flatMap(({ rebuilt }) => (rebuilt === null ? [] : [rebuilt]));
    await tx.insertMany(table, rows as never);
  }
}

function anyOf(table: ReadModelName, keys: readonly ReadModelRow[]) {
  const columns: readonly string[] = readModelTables[table].key;
  return (eb: ExpressionBuilder<AnyTable, string>) =>
    eb.or(keys.map((key) => eb.and(columns.map((column) => eb(column, '=', key[column])))));
}

/** The live and the rebuilt row of each key. */
function paired(table: ReadModelName, live: readonly ReadModelRow[], rebuilt: readonly ReadModelRow[]): Difference[] {
  const found = new Map<string, Difference>();
  for (const row of live) {
    const key = keyText(table, row);
    found.set(key, { table, key, live: row, rebuilt: null });
  }
  for (const row of rebuilt) {
    const key = keyText(table, row);
    found.set(key, { table, key, live: found.get(key)?.live ?? null, rebuilt: row });
  }
  return [...found.values()];
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

/** A row's key, as `source=acme policy_id=p1`. */
export function keyText(table: ReadModelName, row: ReadModelRow): string {
  return readModelTables[table].key.map((column) => `${column}=${String(row[column])}`).join(' ');
}
