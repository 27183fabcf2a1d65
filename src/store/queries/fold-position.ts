import { type Kysely, sql } from 'kysely';
import { isFolded, keyOf, type TableName, tables } from '../schema.ts';
import type { Query } from '../store.ts';

/**
 * What is wrong with the position up to which entries are folded into the read models. Only a change of the database
 * from outside causes this:
 * - `ahead` of the ledger by this many entries, which would be skipped;
 * - `set-back` or removed: there are rows of entries up to `rows`, which would be folded twice;
 * - `not-held`: the entry at the position has no row, so entries were skipped.
 */
export type PositionFault =
  | { readonly what: 'ahead'; readonly at: number; readonly by: number }
  | { readonly what: 'set-back'; readonly at: number; readonly rows: number }
  | { readonly what: 'not-held'; readonly at: number };

/** The end of a sentence that begins with "The read models". */
export function positionFaultText(fault: PositionFault): string {
  const { at } = fault;
  switch (fault.what) {
    case 'ahead':
      return `are at entry ${at}, but the ledger ends at ${at - fault.by}`;
    case 'set-back':
      return `are at entry ${at}, but hold rows of entry ${fault.rows}: the position was set back or removed`;
    case 'not-held':
      return `are at entry ${at}, which they do not hold: entries were skipped`;
  }
}

/** Tables whose rows are found by the number of their entry. */
const bySeq = (Object.keys(tables) as TableName[]).filter((name) => isFolded(name) && keyOf(name)[0] === 'seq');

/** Read models that have a row for every entry of this kind. */
const rowsOfKind: Readonly<Partial<Record<string, 'delivery_history' | 'action_history'>>> = {
  webhook: 'delivery_history',
  action: 'action_history',
};

/** The fault of the position with respect to the ledger and the rows; null if there is none. */
export async function findPositionFault(query: Query): Promise<PositionFault | null> {
  const end = sql`(select coalesce(max(seq), 0) from entries)`;
  const position = sql`(select coalesce(max(seq), 0) from fold_positions where name = 'projector')`;
  const lastRows = bySeq.map((table) => sql`select max(seq) as seq from ${sql.table(table)} where seq <= ${end}`);
  const rowsAt = (table: TableName) => sql<number>`(select count(*) from ${sql.table(table)} where seq = ${position})`;
  // One statement, so that position and rows are of the same moment while others fold. On SQLite the ledger, attached
  // second, is read after the read models, so it never ends before an entry that was folded.
  const found = await query
    .selectNoFrom([
      sql<number>`${end}`.as('end'),
      sql<number>`${position}`.as('at'),
      sql<number>`(select coalesce(max(seq), 0) from (${sql.join(lastRows, sql` union all `)}) as found)`.as('rows'),
      // Not of an erased entry, which no longer has rows.
      sql<string | null>`(select kind from entries where seq = ${position} and body is not null)`.as('kind'),
      rowsAt('delivery_history').as('delivery_history'),
      rowsAt('action_history').as('action_history'),
      rowsAt('quarantine').as('quarantine'),
    ])
    .executeTakeFirstOrThrow();
  const [at, last, rows] = [Number(found.at), Number(found.end), Number(found.rows)];
  if (at > last) return { what: 'ahead', at, by: at - last };
  if (rows > at) return { what: 'set-back', at, rows };
  const table = rowsOfKind[found.kind ?? ''];
  const isHeld = table === undefined || Number(found[table]) > 0 || Number(found.quarantine) > 0;
  return isHeld ? null : { what: 'not-held', at };
}

/** The number of the last entry; 0 in an empty ledger. */
export async function lastSeq(query: Query): Promise<number> {
  const { seq } = await query
    .selectFrom('entries')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .executeTakeFirstOrThrow();
  return Math.max(0, Number(seq ?? 0));
}

/** Whether any of these entries has rows; after their erasure they must have none. */
export async function anyRowsOf(query: Query, seqs: readonly number[]): Promise<boolean> {
  const any = query as unknown as Kysely<Record<string, { seq: number }>>;
  for (let at = 0; at < seqs.length; at += 500) {
    const some = seqs.slice(at, at + 500);
    for (const table of bySeq) {
      const row = await any.selectFrom(table).select('seq').where('seq', 'in', some).limit(1).executeTakeFirst();
      if (row !== undefined) return true;
    }
  }
  return false;
}
