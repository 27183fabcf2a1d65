import { randomUUID } from 'node:crypto';
import type { ExpressionBuilder } from 'kysely';
import type { Clock } from '../core/clock.ts';
import { columnsOf, type Tables } from '../store/schema.ts';
import type { Query, Store, StoreTransaction } from '../store/store.ts';
import { type BatchedWrites, type CountEnd, createBatchedWrites } from './batched-writes.ts';
import { type Claim, type Job, type Json, noLease, toJob } from './job.ts';
import { createHolding } from './lease.ts';
import { loadQueueFigures } from './queue-figures.ts';

/** A job to enqueue. At most one unfinished job exists per kind and key. */
export interface NewJob {
  readonly kind: string;
  /** Null: no limit. */
  readonly key?: string | null;
  readonly payload?: Json;
  /** Higher goes first; default 0. */
  readonly priority?: number;
  /** Earliest start; default now. */
  readonly runAt?: Date;
  /** Maximum attempts, default 5; one ends if a worker dies. */
  readonly maxAttempts?: number;
}

/** `exists`: there already is an unfinished job of this kind and key, with this id. */
export interface Enqueued {
  readonly outcome: 'enqueued' | 'exists';
  readonly id: string;
}

export interface JobFilter {
  readonly kind?: string;
  readonly key?: string;
  readonly state?: Job['state'];
  readonly limit?: number;
}

/** Says that a job of this kind is due, now or (`at`) later. */
export interface WakeUp {
  readonly kind: string;
  readonly at: Date | null;
}

/** Sends wake-ups to the runners of all processes. False if that is not possible at the moment. Never rejects. */
export type Announce = (wakeUps: readonly WakeUp[]) => Promise<boolean>;

interface JobsOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Absent: only the runners of this process are notified. */
  readonly announce?: Announce;
}

/**
 * The job table: the one place for work, retries and outcomes. Runners are only woken to look at it, so a lost wake-up
 * delays work but loses none. Every method rejects with StoreUnavailable while the store is unavailable.
 */
export type Jobs = ReturnType<typeof createJobs>;

export function createJobs({ store, clock, announce }: JobsOptions) {
  const { wake, onWake, tell } = createWaking(announce);
  const batched = createBatchedWrites(store);
  const claiming = createClaiming(store, batched, clock);
  return {
    async enqueue(job: NewJob): Promise<Enqueued> {
      const enqueued = await batched((tx) => insertJob(tx, job, clock()));
      if (enqueued.outcome === 'enqueued') wake([{ kind: job.kind, at: job.runAt ?? null }]);
      return enqueued;
    },
    /**
     * Enqueues many jobs, with a transaction for every {@link ENQUEUED_TOGETHER}. A job whose kind and key match an
     * unfinished one is not added.
     */
    async enqueueAll(all: readonly NewJob[]): Promise<void> {
      for (let from = 0; from < all.length; from += ENQUEUED_TOGETHER) {
        const some = all.slice(from, from + ENQUEUED_TOGETHER);
        const rows = some.map((job) => rowOf(job, clock()));
        await store.transaction((tx) => tx.insertMany('jobs', rows, 'keep'));
        wake(some.map(({ kind, runAt }) => ({ kind, at: runAt ?? null })));
      }
    },
    /** Enqueues inside the caller's transaction; the caller must call `wake` once it has committed. */
    enqueueIn: (tx: StoreTransaction, job: NewJob) => insertJob(tx, job, clock()),
    find: (id: string) => findJob(store.read, id),
    /** Newest first. */
    list: (filter: JobFilter = {}) => listJobs(store.read, filter),
    /** Cancels a waiting job at once; a running one is asked to stop and continues until it notices. */
    async cancel(id: string) {
      const outcome = await batched((tx, countEnd) => cancelIn(tx, id, clock().toISOString(), countEnd));
      tell(false);
      return outcome;
    },
    /** Claims the next due job of these kinds, including jobs whose lease expired. Null: nothing is due. */
    async claim(owner: string, kinds: readonly string[], leaseMilliseconds: number): Promise<Claim | null> {
      return kinds.length === 0 ? null : claiming({ owner, kinds, leaseMilliseconds });
    },
    ...createHolding(store, batched, clock, (kind, at) => wake([{ kind, at }])),
    /** The state of each queue over all processes. */
    figures: () => loadQueueFigures(store.read, clock()),
    /** Removes jobs that finished before this time; returns their number. */
    purge: (finishedBefore: Date) => store.transaction((tx) => purgeIn(tx, finishedBefore.toISOString())),
    /** Tells runners, if possible in all processes, about these jobs. Call it after they are committed. */
    wake,
    /** `due` is false if there is no new job, but a running one may have been cancelled. */
    onWake,
  };
}

/** Announces jobs. Nothing waits for it or fails with it: runners find unannounced jobs at their next poll. */
function createWaking(announce: Announce | undefined) {
  const listeners = new Set<(due: boolean) => void>();
  const tell = (due: boolean) => {
    for (const listener of listeners) listener(due);
  };
  return {
    tell,
    wake(wakeUps: readonly WakeUp[]): void {
      if (wakeUps.length === 0) return;
      if (announce === undefined) tell(true);
      else void announce(wakeUps).then((sent) => sent || tell(true));
    },
    onWake(listener: (due: boolean) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Jobs enqueued in one transaction. Limited, because appends wait for the write lock in the meantime. */
const ENQUEUED_TOGETHER = 200;

function rowOf(job: NewJob, now: Date) {
  return {
    id: randomUUID(),
    kind: job.kind,
    job_key: job.key ?? null,
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
  } as const;
}

async function insertJob({ query }: StoreTransaction, job: NewJob, now: Date): Promise<Enqueued> {
  const values = rowOf(job, now);
  const { id, job_key: key } = values;
  // A unique index on the unfinished jobs of a key refuses a second one.
  const insertion = query
    .insertInto('jobs')
    .values(values)
    .onConflict((conflict) => conflict.doNothing());
  if ((await insertion.returning('id').executeTakeFirst()) !== undefined) return { outcome: 'enqueued', id };
  const unfinished = await query
    .selectFrom('jobs')
    .select('id')
    .where('kind', '=', job.kind)
    .where('job_key', '=', key)
    .where('state', 'in', ['waiting', 'running'])
    .executeTakeFirstOrThrow();
  return { outcome: 'exists', id: unfinished.id };
}

async function findJob(query: Query, id: string): Promise<Job | null> {
  const row = await query.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : toJob(row);
}

/** The newest job of a kind that was done or failed for good; null: there is none. */
export async function findLastEnded(read: Query, kind: string): Promise<Job | null> {
  const row = await read
    .selectFrom('jobs')
    .selectAll()
    .where('kind', '=', kind)
    .where('state', 'in', ['done', 'failed'])
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : toJob(row);
}

async function listJobs(read: Query, { kind, key, state, limit = 100 }: JobFilter): Promise<readonly Job[]> {
  let query = read.selectFrom('jobs').selectAll();
  if (kind !== undefined) query = query.where('kind', '=', kind);
  if (key !== undefined) query = query.where('job_key', '=', key);
  if (state !== undefined) query = query.where('state', '=', state);
  const rows = await query.orderBy('created_at', 'desc').orderBy('id').limit(limit).execute();
  return rows.map(toJob);
}

async function cancelIn(
  { query }: StoreTransaction,
  id: string,
  now: string,
  countEnd: CountEnd,
): Promise<'cancelled' | 'requested' | 'finished' | 'unknown'> {
  const waiting = await query
    .updateTable('jobs')
    .set({ state: 'cancelled', updated_at: now, finished_at: now })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .returning('kind')
    .executeTakeFirst();
  if (waiting !== undefined) {
    countEnd(waiting.kind, 'cancelled');
    return 'cancelled';
  }
  const running = await query
    .updateTable('jobs')
    .set({ cancel_requested: 1, updated_at: now })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .returning('id')
    .executeTakeFirst();
  if (running !== undefined) return 'requested';
  return (await findJob(query, id)) === null ? 'unknown' : 'finished';
}

async function purgeIn({ query }: StoreTransaction, finishedBefore: string): Promise<number> {
  const { numDeletedRows } = await query
    .deleteFrom('jobs')
    .where('state', 'in', ['done', 'failed', 'cancelled'])
    .where('finished_at', '<', finishedBefore)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** What is available to runners. `abandoned`: a lease expired, so a job must be taken over or ended. */
export type Due = 'nothing' | 'due' | 'abandoned';

/** Reads outside the write lock, so that idle runners never take it. */
export async function loadDue(query: Query, kinds: readonly string[], now: string): Promise<Due> {
  const rows = await query
    .selectFrom((eb) =>
      eb
        .selectFrom('jobs')
        .select('state')
        .where(isOf('running', kinds))
        .where('lease_until', '<=', now)
        .limit(1)
        .as('abandoned'),
    )
    .selectAll()
    .unionAll(
      query
        .selectFrom((eb) =>
          eb
            .selectFrom('jobs')
            .select('state')
            .where(isOf('waiting', kinds))
            .where('run_at', '<=', now)
            .limit(1)
            .as('due'),
        )
        .selectAll(),
    )
    .execute();
  if (rows.some(({ state }) => state === 'running')) return 'abandoned';
  return rows.length > 0 ? 'due' : 'nothing';
}

/** There are a thousand times as many ended jobs as these; the first two columns of the index skip them. */
function isOf(state: 'waiting' | 'running', kinds: readonly string[]) {
  return (eb: ExpressionBuilder<Tables, 'jobs'>) => eb.and([eb('state', '=', state), eb('kind', 'in', kinds)]);
}

/** A runner that asks for jobs of some kinds. */
interface Claimer {
  readonly owner: string;
  readonly kinds: readonly string[];
  readonly leaseMilliseconds: number;
}

/**
 * Requests made during a look-up are served together by the next one, so a runner with room for many jobs claims them
 * all at once. No request is answered by a look-up that began before it.
 */
function createClaiming(
  store: Pick<Store, 'read'>,
  batched: BatchedWrites,
  clock: Clock,
): (claimer: Claimer) => Promise<Claim | null> {
  type Asking = { resolve(claim: Claim | null): void; reject(error: unknown): void };
  const groups = new Map<string, Asking[]>();
  /** If a claim took as many jobs as requested, more are probably due: until this time, do not check. */
  const knownDue = new Map<string, number>();

  async function serve(key: string, claimer: Claimer, asking: readonly Asking[]): Promise<void> {
    try {
      const now = clock();
      const isKnown = (knownDue.get(key) ?? 0) > performance.now();
      const due = isKnown ? 'due' : await loadDue(store.read, claimer.kinds, now.toISOString());
      const claims =
        due === 'nothing'
          ? []
          : await batched(async (tx, countEnd) => {
              if (due === 'abandoned') await endAbandoned(tx, claimer.kinds, now.toISOString(), countEnd);
              return claimIn(tx, claimer, now, asking.length);
            });
      if (claims.length < asking.length) knownDue.delete(key);
      else if (!isKnown) knownDue.set(key, performance.now() + LOOK_MS);
      for (const [place, { resolve }] of asking.entries()) resolve(claims[place] ?? null);
    } catch (error) {
      for (const { reject } of asking) reject(error);
    }
  }

  async function serveAll(key: string, claimer: Claimer): Promise<void> {
    await Promise.resolve();
    for (;;) {
      const asking = groups.get(key)?.splice(0, CLAIMED_TOGETHER) ?? [];
      if (asking.length === 0) break;
      await serve(key, claimer, asking);
    }
    groups.delete(key);
  }

  return (claimer) =>
    new Promise((resolve, reject) => {
      const key = JSON.stringify(claimer);
      const asking = { resolve, reject };
      const group = groups.get(key);
      if (group) return void group.push(asking);
      groups.set(key, [asking]);
      void serveAll(key, claimer);
    });
}

const jobColumns = columnsOf('jobs');
/** Jobs claimed in one statement. */
const CLAIMED_TOGETHER = 64;
/** Milliseconds between checks for abandoned jobs while there are plenty of due ones. */
const LOOK_MS = 1000;

/** Claims the next due jobs under the write lock, most urgent first, at most `limit`. */
export async function claimIn(
  tx: StoreTransaction,
  { owner, kinds, leaseMilliseconds }: Claimer,
  now: Date,
  limit: number,
): Promise<readonly Claim[]> {
  const moment = now.toISOString();
  const rows = await tx.query
    .updateTable('jobs')
    .set((eb) => ({
      state: 'running',
      attempts: eb('attempts', '+', 1),
      lease_owner: owner,
      lease_token: eb('lease_token', '+', 1),
      lease_until: new Date(now.getTime() + leaseMilliseconds).toISOString(),
      updated_at: moment,
    }))
    .where('id', 'in', mostUrgent(tx.query, kinds, moment, limit))
    .returning(jobColumns)
    .execute();
  return rows
    .sort((a, b) => b.priority - a.priority || order(a.run_at, b.run_at) || order(a.created_at, b.created_at))
    .map((row) => ({ job: toJob(row), owner, token: row.lease_token }));
}

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/**
 * The most urgent due jobs, and those whose lease expired. Each kind's first jobs come from the index in this order, so
 * a hundred thousand waiting jobs cost no more than a few.
 */
function mostUrgent(query: Query, kinds: readonly string[], now: string, limit: number) {
  const due = (kind: string) =>
    query
      .selectFrom((eb) =>
        eb
          .selectFrom('jobs')
          .select(['id', 'priority', 'run_at', 'created_at'])
          .where(isOf('waiting', [kind]))
          .where('run_at', '<=', now)
          .orderBy('priority', 'desc')
          .orderBy('run_at')
          .orderBy('created_at')
          .limit(limit)
          .as('due'),
      )
      .selectAll();
  const abandoned = query
    .selectFrom('jobs')
    .select(['id', 'priority', 'run_at', 'created_at'])
    .where(isOf('running', kinds))
    .where('lease_until', '<=', now)
    .where((eb) => eb.not(isOver(eb)));
  const all = kinds.map(due).reduce((before, next) => before.unionAll(next), abandoned);
  return query
    .selectFrom(all.as('due'))
    .select('id')
    .orderBy('priority', 'desc')
    .orderBy('run_at')
    .orderBy('created_at')
    .limit(limit);
}

/** An abandoned job that must be ended instead of taken over. */
const isOver = (eb: ExpressionBuilder<Tables, 'jobs'>) =>
  eb.or([eb('cancel_requested', '=', 1), eb('attempts', '>=', eb.ref('max_attempts'))]);

/** Ends jobs left by a dead worker that must not be taken over: they were cancelled, or are out of attempts. */
export async function endAbandoned(
  { query }: StoreTransaction,
  kinds: readonly string[],
  now: string,
  countEnd: CountEnd,
): Promise<void> {
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
    .where(isOf('running', kinds))
    .where('lease_until', '<=', now)
    .where(isOver)
    .returning(['kind', 'cancel_requested'])
    .execute();
  for (const { kind, cancel_requested } of ended) countEnd(kind, cancel_requested === 1 ? 'cancelled' : 'failed');
}
