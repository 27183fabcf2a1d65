import type { Action } from '../core/action.ts';
import type { Query } from '../store/store.ts';

/** A pull that ended. `at`: ISO 8601 UTC; `seq`: its entry. */
export type SyncRun = Extract<Action, { action: 'sync.finished' | 'sync.failed' }> & {
  readonly seq: number;
  readonly at: string;
};

/** The last pulls of a source that ended, newest first, among the entries folded so far. */
export async function listSyncRuns(read: Query, slug: string, limit: number): Promise<readonly SyncRun[]> {
  const rows = await read
    .selectFrom('action_history')
    .select(['seq', 'received_at', 'details'])
    .where('source', '=', slug)
    .where('action', 'in', ['sync.finished', 'sync.failed'])
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ seq, received_at: at, details }) => ({
    ...(JSON.parse(details) as Extract<Action, { action: 'sync.finished' | 'sync.failed' }>),
    seq,
    at,
  }));
}
