import { type OrderByItemBuilder, type SqlBool, sql } from 'kysely';

/** One source's history as it was when the ledger ended at entry `asOf`. */
export interface Scope {
  readonly source: string;
  /** Rows with a higher seq are ignored. */
  readonly asOf: number;
}

/** A scope limited to a period. ISO 8601 UTC with milliseconds, `to` exclusive. */
export interface Period extends Scope {
  readonly from: string;
  readonly to: string;
}

/** Ascending, nulls first; stated explicitly because the defaults of SQLite and PostgreSQL differ. */
export function nullsFirst(order: OrderByItemBuilder): OrderByItemBuilder {
  return order.asc().nullsFirst();
}

/** Sources that one statement looks up. */
export const SOURCES_TOGETHER = 500;

/** These sources as rows with the column `source`. */
export function givenSources(sources: readonly string[]) {
  return sql<{ source: string }>`(select column1 as source from (values ${sql.join(
    sources.map((source) => sql`(cast(${source} as text))`),
  )}) as given)`;
}

/** Whether a row's policy was generated or published from here, by its source. For tables with `source` and `policy_id`. */
export const isMadeHere = sql<boolean>`(source, policy_id) in
  (select source, policy_id from calls union all select source, policy_id from call_items)`;

/** A row's place in a history ordered by entry, and by event within one that holds several. */
export interface RowPlace {
  readonly seq: number;
  readonly part: number;
}

/** Rows of a history (by this alias) after a place in the order of seq and part; null: all. For `where`. */
export function afterRow(alias: string, after: RowPlace | null) {
  const [seq, part] = [sql.ref<number>(`${alias}.seq`), sql.ref<number>(`${alias}.part`)];
  // A lower bound of its own, so that the index on seq is used.
  return after === null
    ? sql<SqlBool>`${seq} > 0`
    : sql<SqlBool>`(${seq} >= ${after.seq} and (${seq} > ${after.seq} or ${part} > ${after.part}))`;
}

/** Rows per page: few enough to hold two pages in memory, and enough that round trips do not matter. */
const PAGE_ROWS = 2000;

/**
 * Reads rows page by page, in constant memory. `load` receives the last row of the previous page (null at the start)
 * and a limit, and returns the rows that follow in a total order. Pages by key instead of an open cursor, so that no
 * read transaction outlives a page. The next page is read while the caller works on this one, since databases work off
 * the main thread.
 */
export async function* pageByKey<Row>(
  load: (after: Row | null, limit: number) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  let coming: Promise<readonly Row[]> | null = load(null, PAGE_ROWS);
  try {
    while (coming !== null) {
      const rows: readonly Row[] = await coming;
      coming = rows.length < PAGE_ROWS ? null : load(rows[rows.length - 1] as Row, PAGE_ROWS);
      // A failure is reported when the page's turn comes, or not at all if the caller stops before.
      coming?.catch(() => undefined);
      yield* rows;
    }
  } finally {
    await coming?.catch(() => undefined);
  }
}
