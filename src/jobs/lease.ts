import type { Expression, ExpressionBuilder, UpdateObject } from 'kysely';
import type { Clock } from '../core/clock.ts';
import type { Tables } from '../store/schema.ts';
import type { Query, Store, StoreTransaction } from '../store/store.ts';
import type { BatchedWrites, CountEnd } from './batched-writes.ts';
import { type Claim, type JobRow, type Json, noLease, type Progress } from './job.ts';
import { countIn } from './queue-figures.ts';

/** The state of a held job: `held`, asked to stop, or no longer ours (taken over, or finished by someone else). */
export type Standing = 'held' | 'cancel-requested' | 'lost';

type Builder = ExpressionBuilder<Tables, 'jobs'>;
type Changes = UpdateObject<Tables, 'jobs'>;
type Held = Pick<JobRow, 'kind' | 'state' | 'cancel_requested'>;

const MAX_ERROR = 2000;

/** Milliseconds before the next attempt: 2 s doubling up to 10 minutes, varied by a fifth either way. */
export function backOff(attempt: number, random: () => number = Math.random): number {
  return Math.round(Math.min(2000 * 2 ** (attempt - 1), 600_000) * (0.8 + 0.4 * random()));
}

/**
 * What a worker does with a job that it holds. Each change is one statement conditional on the claim's token: a worker
 * that was paused past its lease changes nothing and gets false (or `lost`).
 */
export function createHolding(
  store: Pick<Store, 'read'>,
  batched: BatchedWrites,
  clock: Clock,
  wake: (kind: string, at: Date | null) => void,
) {
  const now = () => clock().toISOString();
  const change = (claim: Claim, changes: (eb: Builder) => Changes) =>
    batched((tx, countEnd) => changeIn(tx, claim, now(), { changes, countEnd }));
  const done = (result: Json) => () =>
    ({ ...noLease, state: 'done', finished_at: now(), result: JSON.stringify(result), error: null }) as const;

  return {
    /** Extends the lease. */
    async heartbeat(claim: Claim, leaseMilliseconds: number): Promise<Standing> {
      const until = new Date(clock().getTime() + leaseMilliseconds).toISOString();
      return standingOf(await change(claim, () => ({ lease_until: until })));
    },
    async progress(claim: Claim, progress: Progress): Promise<Standing> {
      return standingOf(await change(claim, () => ({ progress: JSON.stringify(progress) })));
    },
    /** Reads the state without extending the lease. */
    async standing(claim: Claim): Promise<Standing> {
      return standingOf(await heldRow(store.read, claim));
    },
    /**
     * Whether the claim still holds, read under the write lock in a handler's own transaction, so that a paused worker
     * cannot act twice.
     */
    async holdsIn({ query }: StoreTransaction, claim: Claim): Promise<boolean> {
      return (await heldRow(query, claim)) !== null;
    },
    /** Also true if `completeIn` already completed it under this claim; that result is kept. */
    async complete(claim: Claim, result: Json, progress: Progress | null = null): Promise<boolean> {
      const changes = { ...done(result)(), ...(progress === null ? {} : { progress: JSON.stringify(progress) }) };
      return (await change(claim, () => changes)) !== null || isDoneUnder(store.read, claim);
    },
    /**
     * Completes inside the transaction of the job's effect: either both happen or neither, so a repetition never finds
     * half of it.
     */
    async completeIn(tx: StoreTransaction, claim: Claim, result: Json): Promise<boolean> {
      const ended: Parameters<CountEnd>[] = [];
      const held = await changeIn(tx, claim, now(), {
        changes: done(result),
        countEnd: (...end) => void ended.push(end),
      });
      for (const [kind, outcome] of ended) await countIn(tx.query, kind, outcome);
      return held !== null;
    },
    /** Schedules another attempt if attempts are left and `retry` is true; otherwise the job has failed. */
    async fail(claim: Claim, reason: string, retry: boolean): Promise<boolean> {
      const { kind, attempts, maxAttempts, runAt } = claim.job;
      const again = retry && attempts < maxAttempts ? new Date(clock().getTime() + backOff(attempts)) : null;
      const held = await change(claim, (eb) => ({
        ...endUnlessCancelled(eb, again === null ? 'failed' : 'waiting', now()),
        run_at: unlessCancelled(eb, eb.val(again?.toISOString() ?? runAt), eb.val(runAt)),
        error: reason.slice(0, MAX_ERROR),
      }));
      if (again !== null && held?.state === 'waiting') wake(kind, again);
      return held !== null;
    },
    /** Records that the worker noticed the request to stop. */
    async markCancelled(claim: Claim): Promise<boolean> {
      return (await change(claim, () => ({ ...noLease, state: 'cancelled', finished_at: now() }))) !== null;
    },
    /** Returns the job unfinished without using up the attempt (shutdown). */
    async release(claim: Claim): Promise<boolean> {
      const held = await change(claim, (eb) => ({
        ...endUnlessCancelled(eb, 'waiting', now()),
        attempts: unlessCancelled(eb, eb('attempts', '-', 1), eb.ref('attempts')),
      }));
      if (held !== null) wake(claim.job.kind, null);
      return held !== null;
    },
  };
}

/** The columns of a released job: it waits or has failed, unless it was asked to stop. */
function endUnlessCancelled(eb: Builder, state: 'waiting' | 'failed', now: string) {
  return {
    ...noLease,
    state: unlessCancelled<JobRow['state']>(eb, eb.val(state), eb.val('cancelled')),
    finished_at: unlessCancelled<string | null>(eb, eb.val(state === 'failed' ? now : null), eb.val(now)),
  };
}

function unlessCancelled<T>(eb: Builder, value: Expression<T>, ifCancelled: Expression<T>): Expression<T> {
  return eb.case().when('cancel_requested', '=', 1).then(ifCancelled).else(value).end();
}

/** Changes a held job, and counts it if that ended it. Null: the claim is lost, and nothing was changed. */
async function changeIn(
  { query }: StoreTransaction,
  claim: Claim,
  now: string,
  { changes, countEnd }: { readonly changes: (eb: Builder) => Changes; readonly countEnd: CountEnd },
): Promise<Held | null> {
  const row = await query
    .updateTable('jobs')
    .set((eb) => ({ ...changes(eb), updated_at: now }))
    .where('id', '=', claim.job.id)
    .where('state', '=', 'running')
    .where('lease_token', '=', claim.token)
    .returning(['kind', 'state', 'cancel_requested'])
    .executeTakeFirst();
  if (row === undefined) return null;
  if (row.state !== 'running' && row.state !== 'waiting') countEnd(row.kind, row.state);
  return row;
}

async function heldRow(query: Query, claim: Claim): Promise<Held | null> {
  const row = await query
    .selectFrom('jobs')
    .select(['kind', 'state', 'cancel_requested'])
    .where('id', '=', claim.job.id)
    .where('state', '=', 'running')
    .where('lease_token', '=', claim.token)
    .executeTakeFirst();
  return row ?? null;
}

function standingOf(row: Held | null): Standing {
  if (row === null) return 'lost';
  return row.cancel_requested === 1 ? 'cancel-requested' : 'held';
}

async function isDoneUnder(query: Query, claim: Claim): Promise<boolean> {
  const row = await query
    .selectFrom('jobs')
    .select('id')
    .where('id', '=', claim.job.id)
    .where('state', '=', 'done')
    .where('lease_token', '=', claim.token)
    .executeTakeFirst();
  return row !== undefined;
}
