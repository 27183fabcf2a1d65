import type { AppendRefusal } from '../attention/operator-warnings.ts';
import { parseTreeHead } from '../crypto/checkpoint.ts';
import type { Loss } from '../ledger/commit.ts';
import { parseOrigin } from '../ledger/epochs.ts';
import type { HighWater } from '../ledger/high-water.ts';
import type { Journal } from '../ledger/journal.ts';
import { lastSeq } from '../store/queries/fold-position.ts';
import type { Store } from '../store/store.ts';

export function refusalOfMoved(name: string | null): AppendRefusal | null {
  if (name === null) return null;
  return {
    code: 'installation-moved',
    reason: `the installation has moved to ${name}`,
    remedy:
      'Set DATABASE_URL to the new database and start the server again. To undo the move, run `consent-ledger store reopen` (docs/scaling.md).',
  };
}

/** What a command that could not append says. */
export function sentenceOf({ reason, remedy }: AppendRefusal): string {
  return `The ledger refuses new entries: ${reason}. ${remedy}`;
}

/** Sealing under another name would ignore every earlier checkpoint. */
export const identityRefusal: AppendRefusal = {
  code: 'identity-altered',
  reason: 'the ledger’s name or epoch in the database (instance_id, epoch) differs from the pinned one',
  remedy:
    'Restore the newest backup of the database, or the settings that match the checkpoints in DATA_DIR/journal, and start again.',
};

/** The journal is ahead of the database: an old backup was restored. Continuing would assign numbers a second time. */
export async function findRefusal(
  store: Store,
  journal: Journal,
  instance: string,
  epoch: number,
): Promise<AppendRefusal | null> {
  const note = await journal.newest(epoch);
  const head = note === null ? null : parseTreeHead(note);
  // Entries that an earlier epoch signed beyond its end were lost when this one began, as its first entry records.
  const named = head === null ? null : parseOrigin(head.origin);
  if (head === null || (named?.instance === instance && named.epoch < epoch)) return null;
  const last = await lastSeq(store.read);
  if (head.size <= last) return null;
  return {
    code: 'journal-ahead',
    reason: `the journal holds a checkpoint over ${head.size} entries, but the database ends at ${last}: the database is in an older state, and appending would assign ${last + 1} to ${head.size} a second time`,
    remedy:
      'Restore the newest backup of the database, or the journal that belongs to this one. If what is missing is lost for good, `consent-ledger restore --database-as-it-is` records the loss and continues.',
  };
}

/** The database is behind what a process saw: its tail was lost, as in a fail-over to a replica that lacked it. */
export async function findLoss(store: Store, seen: HighWater): Promise<AppendRefusal | null> {
  // Read in this order: a mark is noted after its entry was committed.
  const highest = seen.highest();
  const end = await lastSeq(store.read);
  return end < highest ? refusalOfLoss({ end, seen: highest }) : null;
}

export function refusalOfLoss({ end, seen }: Loss): AppendRefusal {
  return {
    code: 'journal-ahead',
    reason: `the database ends at ${end}, but entries up to ${seen} were stored: ${end + 1} to ${seen} are missing, as after a fail-over to a replica that lacked them, and appending would assign these numbers a second time`,
    remedy:
      'Return to the database that has them and restart, or restore the newest backup. If they are lost for good, stop all processes; `consent-ledger restore --database-as-it-is` records the loss and continues as a new epoch. The next sync then pulls the lost rows of the consent log again.',
  };
}

/**
 * Objects attached to our tables (a trigger, for instance) could drop or alter deliveries that were acknowledged as
 * stored.
 */
export function refusalOfSchema(differences: readonly string[]): AppendRefusal | null {
  if (differences.length === 0) return null;
  const more = differences.length > 3 ? `, and ${differences.length - 3} more` : '';
  return {
    code: 'schema-altered',
    reason: `the database schema differs from the one this program creates: ${differences.slice(0, 3).join('; ')}${more}`,
    remedy:
      'Find out who changed it, undo the change or restore a backup, and start again. `consent-ledger ledger verify` lists every difference.',
  };
}
