import { randomUUID } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import type { Store, StoreTransaction } from '../store/store.ts';
import { claimIn, isAnythingDue } from './claim.ts';
import { countIn, loadQueueFigures, type QueueFigures } from './counts.ts';
import { noLease, toJob, type Claim, type Job, type JobRow, type Json, type Progress } from './job.ts';

/** What to do. At most one unfinished job exists per kind and key. */
export interface NewJob {
  readonly kind: string;
  /** Null: any number at once. */
  readonly key?: string | null;
  readonly payload?: Json;
  /** Higher goes first; default 0. */
  readonly priority?: number;
  /** Not before; default now. */
  readonly runAt?: Date;
  /** Attempts in all, default 5; a worker that dies uses one up. */
  readonly maxAttempts?: number;
}

/** How a held job stands: `held`, asked to stop, or no longer ours (taken over, or finished by someone else). */
export type Standing = 'held' | 'cancel-requested' | 'lost';

export interface JobFilter {
  readonly kind?: string;
  readonly state?: Job['state'];
  readonly limit?: number;
}

/**
 * The job table: the one place where work, its retries and its outcome are kept. Runners only wake up for it, so that a
 * lost wake-up delays work and loses none. Every method rejects with StoreUnavailable when the store is away.
 */
export interface Jobs {
  /** `exists`: an unfinished job of this kind and key is there already; its id is given. */
  enqueue(job: NewJob): Promise<{ readonly outcome: 'enqueued' | 'exists'; readonly id: string }>;
  /** The same inside a transaction of the caller's, who calls {@link Jobs.wake} once it has committed. */
  enqueueIn(
    tx: StoreTransaction,
    job: NewJob,
  ): Promise<{ readonly outcome: 'enqueued' | 'exists'; readonly id: string }>;
  find(id: string): Promise<Job | null>;
  /** Newest first. */
  list(filter?: JobFilter): Promise<readonly Job[]>;
  /** A waiting job is cancelled at once; a running one is asked to stop and goes on until it notices. */
  cancel(id: string): Promise<'cancelled' | 'requested' | 'finished' | 'unknown'>;
  /** Takes the next due job of these kinds, also one whose worker's lease ran out. Null: nothing is due. */
  claim(owner: string, kinds: readonly string[], leaseMilliseconds: number): Promise<Claim | null>;
  /** Extends the lease. */
  heartbeat(claim: Claim, leaseMilliseconds: number): Promise<Standing>;
  /** The standing without extending the lease: reads only. */
  standing(claim: Claim): Promise<Standing>;
  /** Whether the claim still holds, asked under the write lock: for a handler's own transaction, so that a paused worker cannot act twice. */
  holdsIn(tx: StoreTransaction, claim: Claim): Promise<boolean>;
  progress(claim: Claim, progress: Progress): Promise<Standing>;
  /**
   * False when the claim was lost: nothing was written. So with the next three. True as well when {@link Jobs.completeIn} has
   * completed it under this claim already; its result stands.
   */
  complete(claim: Claim, result: Json): Promise<boolean>;
  /** The same inside the transaction of the job's own effect: either both are there or neither, so that no repetition finds half. */
  completeIn(tx: StoreTransaction, claim: Claim, result: Json): Promise<boolean>;
  /** Waits and tries again while attempts are left and `retry` is true; else the job has failed. */
  fail(claim: Claim, error: string, retry: boolean): Promise<boolean>;
  /** The worker noticed that it was asked to stop. */
  markCancelled(claim: Claim): Promise<boolean>;
  /** Gives the job back unfinished without using up the attempt (shutdown). */
  release(claim: Claim): Promise<boolean>;
  /** How each queue stands, over all processes. */
  figures(): Promise<readonly QueueFigures[]>;
  /** Removes jobs that finished before this moment. */
  purge(finishedBefore: Date): Promise<number>;
  /** Tells runners, of any process where they can be told, that these jobs are there; to be called once they are committed. */
  wake(wakeUps: readonly WakeUp[]): void;
  /** `due` is false when there is nothing new to do, but a running job may have been cancelled. */
  onWake(listener: (due: boolean) => void): () => void;
}

/** That a job of this kind is due, now or (`at`) later. */
export interface WakeUp {
  readonly kind: string;
  readonly at: Date | null;
}

/** Carries wake-ups to the runners of all processes. False: it could not, at the moment. Never rejects. */
export type Announce = (wakeUps: readonly WakeUp[]) => Promise<boolean>;

const MAX_ERROR = 2000;

/** Milliseconds before the attempt after this one: 2 s doubling up to 10 minutes, spread by a fifth either way. */
export function backOff(attempt: number, random: () => number = Math.random): number {
  return Math.round(Math.min(2000 * 2 ** (attempt - 1), 600_000) * (0.8 + 0.4 * random()));
}

export interface JobsOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Absent: only the runners of this process are told. */
  readonly announce?: Announce;
}

export function createJobs(options: JobsOptions): Jobs {
  const { store, clock, announce } = options;
  const listeners = new Set<(due: boolean) => void>();
  const tell = (due: boolean) => {
    for (const listener of listeners) listener(due);
  };
  /** Nobody waits for it, and nothing fails with it: what is not announced is found by the runners' next look. */
  function wake(wakeUps: readonly WakeUp[]): void {
    if (wakeUps.length === 0) return;
    if (announce === undefined) tell(true);
    else void announce(wakeUps).then((sent) => sent || tell(true));
  }

  async function enqueueIn(tx: StoreTransaction, job: NewJob): ReturnType<Jobs['enqueueIn']> {
    const key = job.key ?? null;
    if (key !== null) {
      const unfinished = await tx.query
        .selectFrom('jobs')
        .select('id')
        .where('kind', '=', job.kind)
        .where('job_key', '=', key)
        .where('state', 'in', ['waiting', 'running'])
        .executeTakeFirst();
      if (unfinished !== undefined) return { outcome: 'exists', id: unfinished.id };
    }
    const now = clock();
    const id = randomUUID();
    await tx.query
      .insertInto('jobs')
      .values({
        id,
        kind: job.kind,
        job_key: key,
        payload: JSON.stringify(job.payload ?? null),
        state: 'waiting',
        priority: job.priority ?? 0,
        run_at: (job.runAt ?? now).toISOString(),
        attempts: 0,
        max_attempts: job.maxAttempts ?? 5,
        lease_owner: null,
        lease_token: 0,
        lease_until: null,
        cancel_requested: 0,
        progress: null,
        result: null,
        error: null,
        created_at: now.toISOString(),
        updated_at: now.toISOString(),
        finished_at: null,
      })
      .execute();
    return { outcome: 'enqueued', id };
  }

  /** Changes a job that is held; the token in the condition is the fence. */
  function update(claim: Claim, change: (row: JobRow) => Partial<JobRow>): Promise<boolean> {
    return store.transaction((tx) => updateIn(tx, claim, change));
  }
  async function updateIn(
    { query }: StoreTransaction,
    claim: Claim,
    change: (row: JobRow) => Partial<JobRow>,
  ): Promise<boolean> {
    const row = await query
      .selectFrom('jobs')
      .selectAll()
      .where('id', '=', claim.job.id)
      .where('state', '=', 'running')
      .where('lease_token', '=', claim.token)
      .executeTakeFirst();
    if (row === undefined) return false;
    const values = { ...change(row), updated_at: clock().toISOString() };
    await query.updateTable('jobs').set(values).where('id', '=', claim.job.id).execute();
    await countIfEnded(query, row.kind, values.state);
    return true;
  }
  const done = (result: Json) => () => ({ ...finished('done'), result: JSON.stringify(result), error: null });
  const countIfEnded = async (query: StoreTransaction['query'], kind: string, state: Job['state'] | undefined) => {
    if (state === 'done' || state === 'failed' || state === 'cancelled') await countIn(query, kind, state);
  };
  const finished = (state: Job['state']): Partial<JobRow> => ({
    ...noLease,
    state,
    finished_at: clock().toISOString(),
  });

  async function standing(claim: Claim): Promise<Standing> {
    const row = await store.read
      .selectFrom('jobs')
      .select(['state', 'lease_token', 'cancel_requested'])
      .where('id', '=', claim.job.id)
      .executeTakeFirst();
    if (row?.state !== 'running' || row.lease_token !== claim.token) return 'lost';
    return row.cancel_requested === 1 ? 'cancel-requested' : 'held';
  }

  return {
    enqueueIn,
    async enqueue(job) {
      const outcome = await store.transaction((tx) => enqueueIn(tx, job));
      if (outcome.outcome === 'enqueued') wake([{ kind: job.kind, at: job.runAt ?? null }]);
      return outcome;
    },

    async find(id) {
      const row = await store.read.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : toJob(row);
    },
    async list(filter = {}) {
      let query = store.read.selectFrom('jobs').selectAll();
      if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind);
      if (filter.state !== undefined) query = query.where('state', '=', filter.state);
      const rows = await query
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(filter.limit ?? 100)
        .execute();
      return rows.map(toJob);
    },

    async cancel(id) {
      const now = clock().toISOString();
      const outcome = await store.transaction(async ({ query }) => {
        const row = await query.selectFrom('jobs').select(['kind', 'state']).where('id', '=', id).executeTakeFirst();
        if (row === undefined) return 'unknown';
        if (row.state === 'waiting') {
          await query
            .updateTable('jobs')
            .set({ state: 'cancelled', updated_at: now, finished_at: now })
            .where('id', '=', id)
            .execute();
          await countIn(query, row.kind, 'cancelled');
          return 'cancelled';
        }
        if (row.state !== 'running') return 'finished';
        await query.updateTable('jobs').set({ cancel_requested: 1, updated_at: now }).where('id', '=', id).execute();
        return 'requested';
      });
      tell(false);
      return outcome;
    },

    async claim(owner, kinds, leaseMilliseconds) {
      const now = clock();
      if (kinds.length === 0 || !(await isAnythingDue(store.read, kinds, now.toISOString()))) return null;
      return store.transaction((tx) => claimIn(tx, owner, kinds, now, leaseMilliseconds));
    },

    async heartbeat(claim, leaseMilliseconds) {
      const until = new Date(clock().getTime() + leaseMilliseconds).toISOString();
      return (await update(claim, () => ({ lease_until: until }))) ? standing(claim) : 'lost';
    },
    standing,
    async holdsIn(tx, claim) {
      const row = await tx.query
        .selectFrom('jobs')
        .select('id')
        .where('id', '=', claim.job.id)
        .where('state', '=', 'running')
        .where('lease_token', '=', claim.token)
        .executeTakeFirst();
      return row !== undefined;
    },
    async progress(claim, progress) {
      return (await update(claim, () => ({ progress: JSON.stringify(progress) }))) ? standing(claim) : 'lost';
    },

    async complete(claim, result) {
      if (await update(claim, done(result))) return true;
      const row = await store.read
        .selectFrom('jobs')
        .select(['state', 'lease_token'])
        .where('id', '=', claim.job.id)
        .executeTakeFirst();
      return row?.state === 'done' && row.lease_token === claim.token;
    },
    completeIn: (tx, claim, result) => updateIn(tx, claim, done(result)),
    async fail(claim, reason, retry) {
      let again: Date | null = null;
      const held = await update(claim, (row) => {
        const error = reason.slice(0, MAX_ERROR);
        if (row.cancel_requested === 1) return { ...finished('cancelled'), error };
        if (!retry || row.attempts >= row.max_attempts) return { ...finished('failed'), error };
        again = new Date(clock().getTime() + backOff(row.attempts));
        return { ...noLease, state: 'waiting', error, run_at: again.toISOString() };
      });
      if (again !== null) wake([{ kind: claim.job.kind, at: again }]);
      return held;
    },
    markCancelled: (claim) => update(claim, () => finished('cancelled')),
    async release(claim) {
      const held = await update(claim, (row) =>
        row.cancel_requested === 1
          ? finished('cancelled')
          : { ...noLease, state: 'waiting', attempts: row.attempts - 1 },
      );
      if (held) wake([{ kind: claim.job.kind, at: null }]);
      return held;
    },

    figures: () => loadQueueFigures(store.read, clock()),
    async purge(finishedBefore) {
      const { numDeletedRows } = await store.transaction(({ query }) =>
        query
          .deleteFrom('jobs')
          .where('state', 'in', ['done', 'failed', 'cancelled'])
          .where('finished_at', '<', finishedBefore.toISOString())
          .executeTakeFirst(),
      );
      return Number(numDeletedRows);
    },

    wake,
    onWake(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
