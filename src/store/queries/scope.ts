import type { OrderByItemBuilder } from 'kysely';

/** What one source had in its history when the ledger ended at entry `asOf`. */
export interface Scope {
  readonly source: string;
  /** Rows with a higher seq do not exist for the question asked. */
  readonly asOf: number;
}

/** A scope cut to a time. ISO 8601 UTC with milliseconds, `to` exclusive. */
export interface Period extends Scope {
  readonly from: string;
  readonly to: string;
}

/** Ascending, and what is missing before all else: said in words, because SQLite and PostgreSQL differ where nothing is said. */
export function nullsFirst(order: OrderByItemBuilder): OrderByItemBuilder {
  return order.asc().nullsFirst();
}

/** Rows in a page. Small enough to hold two of, large enough that the round trips do not count. */
const PAGE_ROWS = 2000;

/**
 * Rows page by page, in constant memory. `load` gets the last row of the page before (null at the start) and a limit, and answers the
 * rows that follow in a total order. A page by key, and not an open cursor, so that no read transaction outlives a page.
 * The next page is read while the reader is busy with this one: databases work beside the main thread.
 */
export async function* pageByKey<Row>(
  load: (after: Row | null, limit: number) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  let coming: Promise<readonly Row[]> | null = load(null, PAGE_ROWS);
  try {
    while (coming !== null) {
      const rows: readonly Row[] = await coming;
      coming = rows.length < PAGE_ROWS ? null : load(rows[rows.length - 1] as Row, PAGE_ROWS);
      // Its failure is reported when its turn comes, or nowhere when the reader stops before.
      coming?.catch(() => undefined);
      yield* rows;
    }
  } finally {
    await coming?.catch(() => undefined);
  }
}
