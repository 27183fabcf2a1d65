import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../core/clock.ts';
import type { StoreTransaction } from '../store/store.ts';
import type { Claim, Job, Json, Progress } from './job.ts';
import type { Jobs } from './jobs.ts';

/** What a handler is given beside its payload. */
export interface JobContext {
  readonly job: Job;
  /** Aborted when the job was cancelled, when another worker took it over, or when the process must end. */
  readonly signal: AbortSignal;
  /** Shown to people; written at most twice a second. */
  progress(progress: Progress): void;
  /**
   * Whether this worker may still act, asked inside the transaction it is about to act in. A handler that writes the database asks
   * this first: a worker that was paused past its lease finds that someone else does the job.
   */
  holds(tx: StoreTransaction): Promise<boolean>;
}

/**
 * Does one kind of job and returns its result. It may run again after a crash, so it must be harmless to repeat.
 * What it throws is retried with back-off, but for {@link JobRefused}.
 */
export type JobHandler = (payload: Json, context: JobContext) => Promise<Json>;

/** A job that no repetition will mend (its payload makes no sense, its case is gone): failed at once. */
export class JobRefused extends Error {
  override readonly name = 'JobRefused';
}

/** The part of a pino logger that the runner uses. */
export interface JobLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

export interface RunnerOptions {
  readonly jobs: Jobs;
  readonly handlers: Readonly<Record<string, JobHandler>>;
  readonly clock: Clock;
  readonly log: JobLog;
  /** Jobs at once, default 2. */
  readonly concurrency?: number;
  /** Milliseconds until others may take over a job whose worker fell silent; default 30,000. */
  readonly lease?: number;
  /** Milliseconds between two looks for due jobs of other processes; default 1000. */
  readonly poll?: number;
}

export interface Runner {
  start(): void;
  /**
   * Takes nothing new, waits up to `limit` milliseconds (default 10,000) for what runs, then aborts it and gives the jobs back.
   */
  stop(limit?: number): Promise<void>;
}

type Ending = 'cancelled' | 'lost' | 'stopping';

interface Running {
  readonly claim: Claim;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
  check(): Promise<void>;
}

/** The in-process runner: claims due jobs from the table and runs them. */
export function createRunner(options: RunnerOptions): Runner {
  const { jobs, handlers, clock, log } = options;
  const { concurrency = 2, lease = 30_000, poll = 1000 } = options;
  const owner = `${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;
  const kinds = Object.keys(handlers);
  const running = new Set<Running>();
  let stopping = false;
  let pumping: Promise<void> | null = null;
  let pumpAgain = false;
  let storeAway = false;
  let timer: NodeJS.Timeout | null = null;
  let forgetWake: (() => void) | null = null;

  function pump(): void {
    pumpAgain = true;
    pumping ??= (async () => {
      while (pumpAgain && !stopping) {
        pumpAgain = false;
        await claimWhatIsDue();
      }
    })().finally(() => {
      pumping = null;
      if (pumpAgain && !stopping) pump();
    });
  }

  async function claimWhatIsDue(): Promise<void> {
    try {
      while (running.size < concurrency && !stopping) {
        const claim = await jobs.claim(owner, kinds, lease);
        storeAway = false;
        if (claim === null) return;
        run(claim);
      }
    } catch (error) {
      // Said once per outage; the poll tries again.
      if (!storeAway) log.error({ err: error }, 'jobs cannot be read at the moment');
      storeAway = true;
    }
  }

  function run(claim: Claim): void {
    const { job } = claim;
    // This process was paused past the lease and took its own job over: the earlier run ends.
    for (const earlier of running) if (earlier.claim.job.id === job.id) end(earlier.controller, 'lost');
    const controller = new AbortController();
    let pending: Progress | null = null;
    let leaseUntil = clock().getTime() + lease;
    let checking = false;

    /** Writes progress, extends the lease when a third of it is gone, and notices cancellation and take-over. */
    async function check(): Promise<void> {
      if (checking || controller.signal.aborted) return;
      checking = true;
      try {
        let standing = await writeProgress();
        if (leaseUntil - clock().getTime() < (lease * 2) / 3) {
          standing = await jobs.heartbeat(claim, lease);
          if (standing !== 'lost') leaseUntil = clock().getTime() + lease;
        }
        standing ??= await jobs.standing(claim);
        if (standing === 'cancel-requested') end(controller, 'cancelled');
        if (standing === 'lost') end(controller, 'lost');
      } catch (error) {
        log.warn({ err: error, jobId: job.id }, 'the lease of a job could not be extended');
        if (clock().getTime() > leaseUntil) end(controller, 'lost');
      } finally {
        checking = false;
      }
    }

    async function writeProgress() {
      if (pending === null) return null;
      const progress = pending;
      pending = null;
      return jobs.progress(claim, progress);
    }

    const beat = setInterval(() => void check(), Math.min(500, lease / 6));
    const context: JobContext = {
      job,
      signal: controller.signal,
      progress: (progress) => {
        pending = progress;
      },
      holds: (tx) => jobs.holdsIn(tx, claim),
    };
    const ended = perform(claim, context, controller.signal, writeProgress).finally(() => {
      clearInterval(beat);
      running.delete(entry);
      pump();
    });
    const entry: Running = { claim, controller, ended, check };
    running.add(entry);
  }

  async function perform(
    claim: Claim,
    context: JobContext,
    signal: AbortSignal,
    writeProgress: () => Promise<unknown>,
  ): Promise<void> {
    const { job } = claim;
    const started = performance.now();
    const about = { jobId: job.id, kind: job.kind, attempt: job.attempts };
    const took = () => ({ ...about, milliseconds: Math.round(performance.now() - started) });
    const settle = (write: () => Promise<boolean>) => persist(write, about);
    try {
      const handler = handlers[job.kind];
      if (handler === undefined) throw new JobRefused(`no handler for ${job.kind}`);
      const result = await handler(job.payload, context);
      await writeProgress().catch(() => undefined);
      if (await settle(() => jobs.complete(claim, result))) log.info(took(), 'job done');
      else log.warn(took(), 'job done, but it was taken over meanwhile: this result is dropped');
    } catch (error) {
      const ending = endingOf(signal);
      await writeProgress().catch(() => undefined);
      if (ending === 'lost') log.warn(took(), 'job taken over by another worker');
      else if (ending === 'stopping') await settle(() => jobs.release(claim));
      else if (ending === 'cancelled') {
        await settle(() => jobs.markCancelled(claim));
        log.info(took(), 'job cancelled');
      } else {
        log.error({ ...took(), err: error }, 'job failed');
        const reason = error instanceof Error ? error.message : String(error);
        await settle(() => jobs.fail(claim, reason, !(error instanceof JobRefused)));
      }
    }
  }

  /** The outcome of a job outlives a short outage of the store; after a long one the job is taken over and done again. */
  async function persist(write: () => Promise<boolean>, about: object): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await write();
      } catch (error) {
        if (attempt === 5 || stopping) {
          log.error({ ...about, err: error }, 'the outcome of a job could not be written; it will be done again');
          return false;
        }
        await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** attempt));
      }
    }
  }

  return {
    start() {
      if (timer !== null || stopping) return;
      timer = setInterval(pump, poll);
      forgetWake = jobs.onWake(() => {
        pump();
        for (const { check } of running) void check();
      });
      pump();
    },
    async stop(limit = 10_000) {
      stopping = true;
      if (timer !== null) clearInterval(timer);
      forgetWake?.();
      await pumping;
      const all = () => Promise.all([...running].map(({ ended }) => ended));
      if (await withinTime(all(), limit)) return;
      for (const { controller } of running) end(controller, 'stopping');
      if (await withinTime(all(), 2000)) return;
      // A handler that does not listen: its job goes to others now, and the fence keeps this one from finishing it.
      for (const { claim } of running) {
        log.warn({ jobId: claim.job.id, kind: claim.job.kind }, 'job given back while its handler still runs');
        await jobs.release(claim).catch(() => undefined);
      }
    },
  };
}

function end(controller: AbortController, ending: Ending): void {
  endings.set(controller.signal, ending);
  controller.abort(new DOMException(`the job was ended: ${ending}`, 'AbortError'));
}

const endings = new WeakMap<AbortSignal, Ending>();

function endingOf(signal: AbortSignal): Ending | null {
  return endings.get(signal) ?? null;
}

async function withinTime(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const inTime = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}
