import type { ExpressionBuilder } from 'kysely';
import type { Tables } from '../store/schema.ts';
import type { Query, StoreTransaction } from '../store/store.ts';
import { countIn } from './counts.ts';
import { noLease, toJob, type Claim } from './job.ts';

/** Looked up among the readers first, so that idle runners never take the write lock. */
export async function isAnythingDue(query: Query, kinds: readonly string[], now: string): Promise<boolean> {
  const row = await query
    .selectFrom('jobs')
    .select('id')
    .where('kind', 'in', kinds)
    .where(isDue(now))
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
  const moment = now.toISOString();
  await endAbandoned(tx, kinds, moment);
  const row = await tx.query
    .updateTable('jobs')
    .set((eb) => ({
      state: 'running',
      attempts: eb('attempts', '+', 1),
      lease_owner: owner,
      lease_token: eb('lease_token', '+', 1),
      lease_until: new Date(now.getTime() + leaseMilliseconds).toISOString(),
      updated_at: moment,
    }))
    .where('id', '=', (eb) =>
      eb
        .selectFrom('jobs')
        .select('id')
        .where('kind', 'in', kinds)
        .where(isDue(moment))
        .orderBy('priority', 'desc')
        .orderBy('run_at')
        .orderBy('created_at')
        .limit(1),
    )
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? null : { job: toJob(row), owner, token: row.lease_token };
}

/** Waiting and due, or running under a lease that ran out. */
function isDue(now: string) {
  return (eb: ExpressionBuilder<Tables, 'jobs'>) =>
    eb.or([
      eb.and([eb('state', '=', 'waiting'), eb('run_at', '<=', now)]),
      eb.and([eb('state', '=', 'running'), eb('lease_until', '<=', now)]),
    ]);
}

/** Ends what a dead worker left behind and must not be taken over: cancelled meanwhile, or out of attempts. */
async function endAbandoned({ query }: StoreTransaction, kinds: readonly string[], now: string): Promise<void> {
  const ended = await query
    .updateTable('jobs')
    .set((eb) => {
      const isCancelled = () => eb.case().when('cancel_requested', '=', 1);
      return {
        ...noLease,
        state: isCancelled()
          .then('cancelled' as const)
          .else('failed' as const)
          .end(),
        error: isCancelled().then(eb.ref('error')).else('The worker died in its last attempt.').end(),
        updated_at: now,
        finished_at: now,
      };
    })
    .where('kind', 'in', kinds)
    .where('state', '=', 'running')
    .where('lease_until', '<=', now)
    .where((eb) => eb.or([eb('cancel_requested', '=', 1), eb('attempts', '>=', eb.ref('max_attempts'))]))
    .returning(['kind', 'cancel_requested'])
    .execute();
  for (const { kind, cancel_requested } of ended) {
    await countIn(query, kind, cancel_requested === 1 ? 'cancelled' : 'failed');
  }
}
