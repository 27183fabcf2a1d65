import type { Selectable } from 'kysely';
import type { Entry } from '../crypto/entry.ts';
import { readEntryPage } from '../store/queries/entry-pages.ts';
import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';

/** Reads an entry from its row. */
export function entryFromRow(row: Selectable<Tables['entries']>): Entry {
  return {
    seq: row.seq,
    source: row.source,
    sourceSeq: row.source_seq,
    kind: row.kind,
    dedupeKey: row.dedupe_key,
    receivedAt: row.received_at,
    meta: row.meta,
    body: row.body,
    salt: row.salt,
    commitment: row.commitment,
    leafHash: row.leaf_hash,
    mac: row.mac,
  };
}

/** Whether there is an entry with this number. */
export async function hasEntry(query: Query, seq: number): Promise<boolean> {
  const found = await query.selectFrom('entries').select('seq').where('seq', '=', seq).executeTakeFirst();
  return found !== undefined;
}

/** An entry in full, not checked; null: there is none with this number. */
export async function findEntry(query: Query, seq: number): Promise<Entry | null> {
  const row = await query.selectFrom('entries').selectAll().where('seq', '=', seq).executeTakeFirst();
  return row === undefined ? null : entryFromRow(row);
}

/** The source of an entry; null: there is none with this number. */
export async function sourceOfEntry(query: Query, seq: number): Promise<string | null> {
  const row = await query.selectFrom('entries').select('source').where('seq', '=', seq).executeTakeFirst();
  return row?.source ?? null;
}

/** An entry's number, and when it says it was received: ISO 8601 UTC. */
export interface EntryTime {
  readonly seq: number;
  readonly receivedAt: string;
}

/** The last entry; null: the ledger is empty. */
export async function lastEntry(query: Query): Promise<EntryTime | null> {
  const row = await query
    .selectFrom('entries')
    .select(['seq', 'received_at as receivedAt'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** The first entry after `after` that says it was received before `before` (ISO 8601 UTC); null: none does. */
export async function firstDatedBefore(query: Query, after: number, before: string): Promise<EntryTime | null> {
  const row = await query
    .selectFrom('entries')
    .select(['seq', 'received_at as receivedAt'])
    .where('seq', '>', after)
    .where('received_at', '<', before)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** Maximum entries per page, and bytes of content: limits what is in memory at a time, however long the ledger is. */
const PAGE = { entries: 500, bytes: 4 << 20 };

/** Pages of entries after `after`, in order of seq, until `upTo` (inclusive). The database reads the next page while the caller works on one. */
export async function* readEntryPages(query: Query, after: number, upTo: number): AsyncIterable<readonly Entry[]> {
  const pageAfter = (seq: number) => {
    const page = readEntryPage(query, seq, upTo, PAGE);
    // Avoids an unhandled rejection if the consumer stops early.
    page.catch(() => undefined);
    return page;
  };
  let coming = after < upTo ? pageAfter(after) : null;
  while (coming !== null) {
    const page = await coming;
    if (page === null) return;
    coming = page.to < upTo ? pageAfter(page.to) : null;
    yield page.rows.map(entryFromRow);
  }
}
