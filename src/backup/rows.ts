import { isUtf8 } from 'node:buffer';
import type { Kysely } from 'kysely';
import { readEntryPage } from '../store/queries/entry-pages.ts';
import { type Column, type TableName, tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';
import { copiedByPage, copiedWhole } from './copy-tables.ts';

/*
 * Rows as lines of JSON, the same for both databases: one object per row, keyed by column name. Bytes are a string:
 * `u:` and the text if they are UTF-8, otherwise `b:` and base64.
 */

export type TableRow = Readonly<Record<string, unknown>>;

/** Tables of a backup, in the order in which they are restored. Read models and sessions are left out. */
export const backedUp: readonly TableName[] = [...copiedByPage, ...copiedWhole];

const columnsOf = (table: TableName) => Object.entries<Column<unknown>>(tables[table].columns);

/** Names and types of a table's columns, for programs that read the lines. */
export function describeColumns(table: TableName): Readonly<Record<string, string>> {
  const types = { text: 'text', integer: 'integer', big: 'integer', id: 'integer', real: 'number', blob: 'bytes' };
  return Object.fromEntries(columnsOf(table).map(([name, { type }]) => [name, types[type]]));
}

function encodeBytes(bytes: Buffer): string {
  return isUtf8(bytes) ? `u:${bytes.toString('utf8')}` : `b:${bytes.toString('base64')}`;
}

function decodeBytes(text: string): Buffer {
  return text.startsWith('u:') ? Buffer.from(text.slice(2), 'utf8') : Buffer.from(text.slice(2), 'base64');
}

export function encodeRow(row: TableRow): string {
  const cells: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) cells[name] = Buffer.isBuffer(value) ? encodeBytes(value) : value;
  return `${JSON.stringify(cells)}\n`;
}

/** Parses a row. Drops ids assigned by the database, and refuses columns unknown to this program. */
export function decodeRow(table: TableName, line: string): TableRow {
  const cells = JSON.parse(line) as Record<string, unknown>;
  const row: Record<string, unknown> = {};
  for (const [name, { type }] of columnsOf(table)) {
    const value = cells[name];
    if (type === 'id' || value === undefined) continue;
    row[name] = type === 'blob' && typeof value === 'string' ? decodeBytes(value) : value;
  }
  return row;
}

/** Rows per page, and bytes of entry content: an entry can be 1 MiB. */
const PAGE = 250;
const BYTES = 4 << 20;

/** All rows of a table, page by page; in key order if the table may be large. */
export async function* readRows(read: Query, table: TableName): AsyncGenerator<readonly TableRow[]> {
  if (table === 'entries') {
    for (let after = 0; ; ) {
      const page = await readEntryPage(read, after, Number.MAX_SAFE_INTEGER, { entries: PAGE, bytes: BYTES });
      if (page === null) return;
      yield page.rows;
      after = page.to;
    }
  }
  if (table === 'arrivals') {
    for (let after = 0; ; ) {
      const rows = await read
        .selectFrom(table)
        .selectAll(table)
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(PAGE)
        .execute();
      const last = rows.at(-1);
      if (last === undefined) return;
      yield rows;
      after = last.seq;
    }
  }
  if (table === 'checkpoints') {
    for (let after = 0; ; ) {
      const rows = await read
        .selectFrom(table)
        .selectAll()
        .where('size', '>', after)
        .orderBy('size')
        .limit(PAGE)
        .execute();
      const last = rows.at(-1);
      if (last === undefined) return;
      yield rows;
      after = last.size;
    }
  }
  // Configured by people, or of limited size.
  yield await (read as unknown as Kysely<Record<string, TableRow>>).selectFrom(table).selectAll().execute();
}
