import type { ExpressionBuilder, Kysely } from 'kysely';
import { keyOf } from '../store/schema.ts';
import type { Query, StoreTransaction } from '../store/store.ts';
import type { Write } from './projection.ts';
import { shadowName } from './shadow.ts';
import {
  type AnyTable,
  historyNames,
  isReadModel,
  type ReadModelName,
  type ReadModelRow,
  stateNames,
} from './tables.ts';

/** A row that differs between the live table and its rebuild; null where a side has no such row. */
interface Difference {
  readonly table: ReadModelName;
  /** The row's key, as `source=acme policy_id=p1`. */
  readonly key: string;
  readonly live: ReadModelRow | null;
  readonly rebuilt: ReadModelRow | null;
}

/** Seqs from (exclusive) and to (inclusive): a part of a history table. */
interface SeqRange {
  readonly after: number;
  readonly upTo: number;
}

/**
 * Rows that differ, at most `limit` of each side; empty if the tables are equal. Both databases compare whole rows with
 * EXCEPT and treat nulls as equal.
 */
async function findDifferences(
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

/** The number of keys whose rows differ. */
async function countDifferences(query: Query, table: ReadModelName, range: SeqRange | null): Promise<number> {
  const any = query as unknown as Kysely<AnyTable>;
  const { onlyLive, onlyRebuilt } = exceptions(query, table, range);
  const keysOf = (rows: ReturnType<typeof onlyLive>) => any.selectFrom(rows.as('rows')).select(keyOf(table));
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

/** Keys looked up in one statement. */
const KEYS = 100;

/** Which of these rows still differ; `keys` contain at least the key columns. */
async function recheck(query: Query, table: ReadModelName, keys: readonly ReadModelRow[]): Promise<Difference[]> {
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

/** Replaces live rows by the rebuilt ones, row by row. */
async function replaceByKey(
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
  const columns = keyOf(table);
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

/** Replaces live rows by those of the shadow; for a history, only those in the range. */
async function replaceRows(query: Query, table: ReadModelName, range: SeqRange | null): Promise<void> {
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
function keyText(table: ReadModelName, row: ReadModelRow): string {
  return keyOf(table)
    .map((column) => `${column}=${String(row[column])}`)
    .join(' ');
}

/** The differences between live tables and their shadows. */
export interface Differences {
  /** The number of differing rows, for each table that has any. */
  readonly counts: Readonly<Partial<Record<ReadModelName, number>>>;
  /** Some rows of each differing part. */
  readonly differences: readonly Difference[];
}

/** Histories are compared, and replaced, in parts of this many seqs, each with a short query. */
const RANGE = 20_000;
/** Differences reported for one part of a table. */
const SAMPLE = 20;
/** If more state rows differ, the whole table is compared and replaced. */
const MANY = 10_000;

/**
 * Compares live tables with their shadows while the live ones keep changing, so that little is left to compare under
 * the write lock, where both are fixed:
 * - history rows never change, so equal ones stay equal;
 * - an equal state row can only differ later if an entry has touched it since, and then the shadow row was also written
 *   since ({@link Comparison.written}). Such rows, and those that differed, are compared again.
 */
export function createComparison(read: Query) {
  const differing: { readonly table: ReadModelName; readonly range: SeqRange }[] = [];
  const differences: Difference[] = [];
  const counts: Partial<Record<ReadModelName, number>> = {};
  /** State rows to compare again, by table and key; null: all rows. A missing table has not been compared yet. */
  const suspects = new Map<ReadModelName, Map<string, ReadModelRow> | null>();
  // Rows with seqs below the first entry are compared too: no entry creates them, but documents would read them.
  let compared = Number.MIN_SAFE_INTEGER;

  function count(table: ReadModelName, rows: number): void {
    if (rows > 0) counts[table] = (counts[table] ?? 0) + rows;
  }

  async function compareHistories(query: Query, range: SeqRange): Promise<void> {
    for (const table of historyNames) {
      const found = await findDifferences(query, table, range, SAMPLE);
      if (found.length === 0) continue;
      differing.push({ table, range });
      differences.push(...found);
      count(table, await countDifferences(query, table, range));
    }
    compared = range.upTo;
  }

  async function compareStates(): Promise<void> {
    for (const table of stateNames) {
      const rows = new Map<string, ReadModelRow>();
      // From now on, record writes.
      suspects.set(table, rows);
      const found = await findDifferences(read, table, null, MANY);
      for (const { key, live, rebuilt } of found) rows.set(key, (live ?? rebuilt) as ReadModelRow);
      if (found.length >= MANY) suspects.set(table, null);
    }
  }

  /** The current differences in a state table, and a function that corrects them. */
  async function finishState(tx: StoreTransaction, table: ReadModelName) {
    const rows = suspects.get(table);
    if (rows) {
      const found = await recheck(tx.query, table, [...rows.values()]);
      return { found, count: found.length, putRight: () => replaceByKey(tx, table, found) };
    }
    const found = await findDifferences(tx.query, table, null, SAMPLE);
    const all = found.length === 0 ? 0 : await countDifferences(tx.query, table, null);
    return { found, count: all, putRight: () => replaceRows(tx.query, table, null) };
  }

  return {
    /** Receives every write to the shadow tables. */
    written({ table, rows }: Write): void {
      if (!isReadModel(table)) return;
      const known = suspects.get(table);
      if (!known) return;
      for (const row of rows as readonly ReadModelRow[]) known.set(keyText(table, row), row);
    },

    /** Compares without a lock up to this seq, which the shadow tables have reached; the live ones may be further. */
    async compareUpTo(seq: number): Promise<void> {
      if (suspects.size === 0) await compareStates();
      while (compared < seq) {
        const range = { after: compared, upTo: Math.min(Math.max(compared, 0) + RANGE, seq) };
        await compareHistories(read, range);
      }
    },

    /** Compares the rest inside a transaction where both are at the same seq; replaces what differs if wanted. */
    async finish(tx: StoreTransaction, replace: boolean): Promise<Differences> {
      // Up to the highest possible number: no projected entry accounts for rows beyond the position.
      await compareHistories(tx.query, { after: compared, upTo: Number.MAX_SAFE_INTEGER });
      for (const { table, range } of replace ? differing : []) await replaceRows(tx.query, table, range);
      for (const table of stateNames) {
        const { found, count: all, putRight } = await finishState(tx, table);
        if (found.length > 0 && replace) await putRight();
        differences.push(...found.slice(0, SAMPLE));
        count(table, all);
      }
      return { counts, differences };
    },
  };
}

export type Comparison = ReturnType<typeof createComparison>;
