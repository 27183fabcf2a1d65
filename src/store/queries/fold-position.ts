import type { Kysely } from 'kysely';
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

/** Tables with one row per entry, found by its number. */
const bySeq = (Object.keys(tables) as TableName[]).filter((name) => isFolded(name) && keyOf(name).join() === 'seq');

/** Read models that have a row for every entry of this kind. */
const rowsOfKind: Readonly<Partial<Record<string, 'delivery_history' | 'action_history'>>> = {
  webhook: 'delivery_history',
  action: 'action_history',
};

/** The fault of the position with respect to the ledger and the rows; null if there is none. */
export async function findPositionFault(query: Query): Promise<PositionFault | null> {
  // Read in this order: a row is in the ledger before it is folded, and the position moves with it.
  const rows = await lastRow(query);
  const { at } = await query
    .selectFrom('fold_positions')
    .select((eb) => eb.fn.max('seq').as('at'))
    .where('name', '=', 'projector')
    .executeTakeFirstOrThrow();
  const stands = Number(at ?? 0);
  const end = await lastSeq(query);
  if (stands > end) return { what: 'ahead', at: stands, by: stands - end };
  // Rows beyond the end of the ledger were inserted by someone; a comparison finds them.
  if (rows > stands && rows <= end) return { what: 'set-back', at: stands, rows };
  return (await isHeld(query, stands)) ? null : { what: 'not-held', at: stands };
}

/** The highest seq of any row, up to the end of the ledger. */
async function lastRow(query: Query): Promise<number> {
  const any = query as unknown as Kysely<Record<string, { seq: number }>>;
  const end = await lastSeq(query);
  const last = (table: string) =>
    any
      .selectFrom(table)
      .select((eb) => eb.fn.max('seq').as('seq'))
      .where('seq', '<=', end);
  const [first, ...others] = bySeq.map(last);
  if (first === undefined) return 0;
  const found = await others.reduce((all, one) => all.unionAll(one), first).execute();
  return Math.max(0, ...found.map(({ seq }) => Number(seq ?? 0)));
}

/** Whether the entry at a position has its row, if its kind has one. */
async function isHeld(query: Query, seq: number): Promise<boolean> {
  const entry = await query
    .selectFrom('entries')
    .select('kind')
    .where('seq', '=', seq)
    // An erased entry no longer has rows.
    .where('body', 'is not', null)
    .executeTakeFirst();
  const table = entry === undefined ? undefined : rowsOfKind[entry.kind];
  if (table === undefined) return true;
  for (const one of [table, 'quarantine'] as const)
    if ((await query.selectFrom(one).select('seq').where('seq', '=', seq).executeTakeFirst()) !== undefined)
      return true;
  return false;
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
