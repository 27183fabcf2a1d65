import type { Kysely } from 'kysely';
import { findPositionFault, lastSeq, type PositionFault } from '../store/queries/fold-position.ts';
import type { Query, StoreTransaction } from '../store/store.ts';

/**
 * How far a reader of the ledger has got. `generation` changes when the rows are replaced without moving the position
 * (a rebuild is swapped in), so that a fold based on the old rows cannot be written over the new ones.
 */
export interface Position {
  readonly seq: number;
  readonly generation: number;
}

/** `projector`: the live read models; `rebuild`: a rebuild in progress. */
export type PositionName = 'projector' | 'rebuild';

const generationOf = (name: PositionName) => `${name}:generation`;

/** The position; null before the first entry was projected. */
export async function loadFoldPosition(query: Query, name: PositionName): Promise<Position | null> {
  const rows = await query
    .selectFrom('fold_positions')
    .selectAll()
    .where('name', 'in', [name, generationOf(name)])
    .execute();
  const seq = rows.find((row) => row.name === name)?.seq;
  return seq === undefined ? null : { seq, generation: rows.find((row) => row.name !== name)?.seq ?? 0 };
}

/** Creates a position at 0 if there is none. */
export async function startPosition(tx: StoreTransaction, name: PositionName): Promise<void> {
  const rows = [name, generationOf(name)].map((row) => ({ name: row, seq: 0 }));
  await tx.insertMany('fold_positions', rows, 'keep');
}

/** Moves a position unless someone else has moved it. False if they have: this transaction must then write nothing. */
export async function movePosition(
  tx: StoreTransaction,
  name: PositionName,
  from: Position,
  to: number,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.query
    .updateTable('fold_positions')
    .set({ seq: to })
    .where('name', '=', name)
    .where('seq', '=', from.seq)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('fold_positions as fence')
          .select('fence.seq')
          .where('fence.name', '=', generationOf(name))
          .where('fence.seq', '=', from.generation),
      ),
    )
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Begins a new generation: a projector still folding rows of the previous one cannot move the position. */
export async function nextGeneration(tx: StoreTransaction, name: PositionName): Promise<void> {
  await tx.query
    .updateTable('fold_positions')
    .set((eb) => ({ seq: eb('seq', '+', 1) }))
    .where('name', '=', generationOf(name))
    .execute();
}

/** How many entries the read models contain. */
export async function projectedEntries(query: Query): Promise<number> {
  const position = await loadFoldPosition(query, 'projector');
  return Math.min(position?.seq ?? 0, await lastSeq(query));
}

/**
 * If a position is wrong, sets it to the end of the ledger, so that a rebuild makes all rows again, and removes rows of
 * entries that the ledger does not have. Returns what was wrong; null: nothing.
 */
export async function correctPosition(
  tx: StoreTransaction,
  historyTables: readonly string[],
): Promise<PositionFault | null> {
  const fault = await findPositionFault(tx.query);
  if (fault === null) return null;
  const end = await lastSeq(tx.query);
  await tx.query.updateTable('fold_positions').set({ seq: end }).where('name', '=', 'projector').execute();
  await nextGeneration(tx, 'projector');
  const any = tx.query as unknown as Kysely<Record<string, Record<string, unknown>>>;
  for (const table of historyTables) await any.deleteFrom(table).where('seq', '>', end).execute();
  return fault;
}
