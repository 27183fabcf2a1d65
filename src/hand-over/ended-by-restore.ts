import { INSTALLATION } from '../core/vocabulary.ts';
import type { Query } from '../store/store.ts';

/*
 * A restore ends every link that was given out before it: who could open them may have lost access since the backup. The
 * secret of a task's link changes with the epoch; hand-overs are not restored at all, only the entries about them.
 */

interface Restore {
  /** The entry that began the epoch. */
  readonly seq: number;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** The restore with which this epoch began; null in the first epoch. */
async function lastRestore(read: Query, epoch: number): Promise<Restore | null> {
  if (epoch === 1) return null;
  const row = await read
    .selectFrom('action_history')
    .select(['seq', 'received_at as at'])
    .where('source', '=', INSTALLATION)
    .where('action', '=', 'installation.restored')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** Numbers of a case's tasks whose latest link a restore has ended, with the time of the restore. */
export async function tasksEndedByRestore(
  read: Query,
  epoch: number,
  caseId: string,
): Promise<ReadonlyMap<string, string>> {
  const restore = await lastRestore(read, epoch);
  if (restore === null) return new Map();
  const rows = await read
    .selectFrom('case_history')
    .select(['seq', 'details'])
    .where('case_id', '=', caseId)
    .where('move', '=', 'share-task')
    .orderBy('seq')
    .execute();
  const shared = new Map(rows.map(({ seq, details }) => [(JSON.parse(details) as { task: string }).task, Number(seq)]));
  return new Map([...shared].flatMap(([task, seq]) => (seq < restore.seq ? [[task, restore.at] as const] : [])));
}

/** A hand-over that a restore has ended. */
export interface EndedHandOver {
  readonly handOverId: string;
  /** Times are ISO 8601 UTC. */
  readonly createdAt: string;
  readonly createdBy: string;
  readonly endedAt: string;
}

/** Hand-overs of a case that a restore has ended, newest first, according to the entries about them. */
export async function handOversEndedByRestore(
  read: Query,
  epoch: number,
  { source, caseId }: { readonly source: string; readonly caseId: string },
): Promise<readonly EndedHandOver[]> {
  const restore = await lastRestore(read, epoch);
  if (restore === null) return [];
  const rows = await read
    .selectFrom('action_history')
    .select(['object', 'actor', 'details', 'received_at as at'])
    .where('source', '=', source)
    .where('action', '=', 'hand-over.created')
    .where('seq', '<', restore.seq)
    // A database that is continued as it is keeps them.
    .where('object', 'not in', (eb) => eb.selectFrom('hand_overs').select('hand_over_id').where('case_id', '=', caseId))
    .orderBy('seq', 'desc')
    .execute();
  return rows.flatMap(({ object, actor: createdBy, details, at: createdAt }) =>
    object !== null && (JSON.parse(details) as { caseId: string }).caseId === caseId
      ? [{ handOverId: object, createdAt, createdBy, endedAt: restore.at }]
      : [],
  );
}
