/** Rows in a page. Small enough to hold, large enough that the round trips do not count. */
const PAGE_ROWS = 1000;

/**
 * Rows page by page, in constant memory. `load` gets the last row of the page before (null at the start) and a limit, and answers the
 * rows that follow in a total order. A page by key, and not an open cursor, so that no read transaction outlives a page.
 */
export async function* pageByKey<Row>(load: (after: Row | null, limit: number) => Promise<readonly Row[]>): AsyncGenerator<Row> {
  let after: Row | null = null;
  for (;;) {
    const rows: readonly Row[] = await load(after, PAGE_ROWS);
    yield* rows;
    if (rows.length < PAGE_ROWS) return;
    after = rows[rows.length - 1] as Row;
  }
}
