import type { Action } from '../core/action.ts';
import type { Query } from '../store/store.ts';

/** How a source was offboarded, as recorded. `at`: ISO 8601 UTC; `seq`: its entry. */
export type Offboarding = Extract<Action, { action: 'source.offboarded' }> & {
  readonly seq: number;
  readonly at: string;
};

/** The last offboarding of a source; null: none is recorded, or its entry was erased. */
export async function findOffboarding(read: Query, slug: string): Promise<Offboarding | null> {
  const row = await read
    .selectFrom('action_history')
    .select(['seq', 'received_at', 'details'])
    .where('object', '=', slug)
    .where('action', '=', 'source.offboarded')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return null;
  const action = JSON.parse(row.details) as Extract<Action, { action: 'source.offboarded' }>;
  return { ...action, seq: Number(row.seq), at: row.received_at };
}
