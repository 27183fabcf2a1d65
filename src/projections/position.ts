import type { Kysely } from 'kysely';
import { findPositionFault, lastSeq, type PositionFault } from '../store/queries/fold-position.ts';
import type { Query, StoreTransaction } from '../store/store.ts';

/**
 * How far a reader of the ledger has come. `generation` changes when the rows it stands for are replaced without moving it
 * (a rebuild is swapped in), so that a fold over the rows of before cannot be written over those of after.
 */
export interface Position {
  readonly seq: number;
  readonly generation: number;
}

/** Name of the live projector's position; `rebuild` is that of a rebuild under way. */
export type PositionName = 'projector' | 'rebuild';

const generationOf = (name: PositionName) => `${name}:generation`;

/** The position; null before the first entry was ever projected. */
export async function loadPosition(query: Query, name: PositionName): Promise<Position | null> {
  const rows = await query
    .selectFrom('fold_positions')
    .selectAll()
    .where('name', 'in', [name, generationOf(name)])
    .execute();
  const seq = rows.find((row) => row.name === name)?.seq;
  return seq === undefined ? null : { seq, generation: rows.find((row) => row.name !== name)?.seq ?? 0 };
}

/** Makes a position at 0, unless there is one. */
export async function startPosition(tx: StoreTransaction, name: PositionName): Promise<void> {
  const rows = [name, generationOf(name)].map((row) => ({ name: row, seq: 0 }));
  await tx.insertMany('fold_positions', rows, 'keep');
}

/** Moves a position if nobody else has in the meantime. False: someone has, and this transaction must write nothing. */
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

/** Begins a new generation: a projector that still folds rows of the previous one cannot move the position. */
export async function nextGeneration(tx: StoreTransaction, name: PositionName): Promise<void> {
  await tx.query
    .updateTable('fold_positions')
    .set((eb) => ({ seq: eb('seq', '+', 1) }))
    .where('name', '=', generationOf(name))
    .execute();
}

/** How many entries the read models contain. */
export async function projectedEntries(query: Query): Promise<number> {
  const position = await loadPosition(query, 'projector');
  return Math.min(position?.seq ?? 0, await lastSeq(query));
}

/**
 * Puts a position that is wrong at the end of the ledger, so that a rebuild makes all rows again, and removes rows of entries that the ledger does not
 * have. Says what was wrong; null: nothing.
 */
export async function settlePosition(
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
