import type { Selectable } from 'kysely';
import type { Entry } from '../crypto/entry.ts';
import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';

/** An entry out of its row. */
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

/** Pages of entries after `after`, in order of seq, until `upTo` (inclusive). The database reads the next page while the caller works on one. */
export async function* readEntryPages(
  query: Query,
  after: number,
  upTo: number,
  pageSize = 500,
): AsyncIterable<readonly Entry[]> {
  const pageAfter = (seq: number) => {
    const rows = query
      .selectFrom('entries')
      .selectAll()
      .where('seq', '>', seq)
      .where('seq', '<=', upTo)
      .orderBy('seq')
      .limit(pageSize)
      .execute();
    // Whoever stops early does not wait for it.
    rows.catch(() => undefined);
    return rows;
  };
  let coming = after < upTo ? pageAfter(after) : null;
  while (coming !== null) {
    const rows = await coming;
    const final = rows.at(-1);
    if (final === undefined) return;
    coming = final.seq < upTo ? pageAfter(final.seq) : null;
    yield rows.map(entryFromRow);
  }
}
