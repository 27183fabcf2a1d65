import type { Action } from '../core/action.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import type { Query } from '../store/store.ts';

/** A backup as recorded. `at`: ISO 8601 UTC; `seq`: its entry. */
export type BackupMade = Extract<Action, { action: 'backup.made' }> & { readonly at: string; readonly seq: number };

/** The last backup that was recorded, among the entries folded so far; null: none. */
export async function findLastBackup(read: Query): Promise<BackupMade | null> {
  const row = await read
    .selectFrom('action_history')
    .select(['seq', 'received_at', 'details'])
    .where('source', '=', INSTALLATION)
    .where('action', '=', 'backup.made')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return null;
  const made = JSON.parse(row.details) as Extract<Action, { action: 'backup.made' }>;
  return { ...made, at: row.received_at, seq: row.seq };
}
