import type { Store, StoreTransaction } from '../store/store.ts';
import { countIn } from './counts.ts';
import { noLease, toJob, type Claim } from './job.ts';

/** Looked up among the readers first, so that idle runners never take the write lock. */
export async function isAnythingDue(query: Store['read'], kinds: readonly string[], now: string): Promise<boolean> {
  const row = await query
    .selectFrom('jobs')
    .select('id')
    .where('kind', 'in', kinds)
    .where((eb) =>
      eb.or([
        eb.and([eb('state', '=', 'waiting'), eb('run_at', '<=', now)]),
        eb.and([eb('state', '=', 'running'), eb('lease_until', '<=', now)]),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Takes the next due job under the write lock; null when there is none. */
export async function claimIn(
  tx: StoreTransaction,
  owner: string,
  kinds: readonly string[],
  now: Date,
  leaseMilliseconds: number,
): Promise<Claim | null> {
  const { query } = tx;
  const moment = now.toISOString();
  await buryAbandoned(tx, kinds, moment);
  const row = await query
    .selectFrom('jobs')
    .selectAll()
    .where('kind', 'in', kinds)
    .where((eb) =>
      eb.or([
        eb.and([eb('state', '=', 'waiting'), eb('run_at', '<=', moment)]),
        eb.and([eb('state', '=', 'running'), eb('lease_until', '<=', moment)]),
      ]),
    )
    .orderBy('priority', 'desc')
    .orderBy('run_at')
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return null;
  const claimed = {
    state: 'running',
    attempts: row.attempts + 1,
    lease_owner: owner,
    lease_token: row.lease_token + 1,
    lease_until: new Date(now.getTime() + leaseMilliseconds).toISOString(),
    updated_at: moment,
  } as const;
  await query.updateTable('jobs').set(claimed).where('id', '=', row.id).execute();
  return { job: toJob({ ...row, ...claimed }), owner, token: claimed.lease_token };
}

/** Ends what a dead worker left behind and nobody shall take over: cancelled meanwhile, or out of attempts. */
async function buryAbandoned({ query }: StoreTransaction, kinds: readonly string[], now: string): Promise<void> {
  const abandoned = await query
    .selectFrom('jobs')
    .select(['id', 'kind', 'cancel_requested'])
    .where('kind', 'in', kinds)
    .where('state', '=', 'running')
    .where('lease_until', '<=', now)
    .where((eb) => eb.or([eb('cancel_requested', '=', 1), eb('attempts', '>=', eb.ref('max_attempts'))]))
    .execute();
  for (const { id, kind, cancel_requested } of abandoned) {
    const cancelled = cancel_requested === 1;
    const ending = cancelled
      ? ({ state: 'cancelled' } as const)
      : ({ state: 'failed', error: 'The worker died in its last attempt.' } as const);
    await query
      .updateTable('jobs')
      .set({ ...ending, ...noLease, updated_at: now, finished_at: now })
      .where('id', '=', id)
      .execute();
    await countIn(query, kind, ending.state);
  }
}
