import { newestCheckpoint } from '../ledger/stored-checkpoints.ts';
import type { Query } from '../store/store.ts';
import type { Surroundings } from './operator-warnings.ts';

/** The state of the ledger, as the start page shows it. */
export interface LedgerState {
  readonly entries: number;
  readonly checkpoint: { readonly size: number; readonly rootHex: string; readonly createdAt: string } | null;
  /** Outside witnesses, with the last checkpoint that each has seen and when; null: none are configured (WITNESSES). */
  readonly witnesses: readonly { readonly name: string; readonly size: number; readonly at: string | null }[] | null;
  readonly quarantined: number;
  readonly ambiguousRepeats: number;
}

/** Entries and checkpoints are counted for the installation; unreadable and ambiguous ones for the permitted sources. */
export async function loadLedgerState(
  read: Query,
  only: readonly string[] | null,
  surroundings: Promise<Surroundings>,
): Promise<LedgerState> {
  const countOf = (table: 'quarantine' | 'ambiguous_repeats') =>
    read
      .selectFrom(table)
      .$if(only !== null, (some) => some.where('source', 'in', [...(only ?? [])]))
      .select((eb) => eb.fn.countAll<number>().as('count'));
  const [{ witnessing }, counts, checkpoint] = await Promise.all([
    surroundings,
    read
      .selectNoFrom((eb) => [
        eb
          .selectFrom('entries')
          .select((entries) => entries.fn.max('seq').as('seq'))
          .as('entries'),
        countOf('quarantine').as('quarantined'),
        countOf('ambiguous_repeats').where('resolution', '=', 'unresolved').as('ambiguousRepeats'),
      ])
      .executeTakeFirstOrThrow(),
    newestCheckpoint(read),
  ]);
  return {
    entries: Number(counts.entries ?? 0),
    checkpoint:
      checkpoint === null
        ? null
        : { size: checkpoint.size, rootHex: checkpoint.root.toString('hex'), createdAt: checkpoint.created_at },
    witnesses:
      witnessing === null
        ? null
        : Object.values(witnessing.state.witnesses).filter(({ epoch }) => epoch === witnessing.epoch),
    quarantined: Number(counts.quarantined),
    ambiguousRepeats: Number(counts.ambiguousRepeats),
  };
}
