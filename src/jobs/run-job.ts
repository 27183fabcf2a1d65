import type { Clock } from '../core/clock.ts';
import {
  type Claim,
  type Ending,
  type JobContext,
  JobEnded,
  type JobHandlers,
  type JobLog,
  JobRefused,
  type Progress,
} from './job.ts';
import type { Standing } from './lease.ts';
import type { Jobs } from './jobs.ts';
import { traced } from '../tracing/trace.ts';

/** A claimed job with its running handler. */
export interface RunningJob {
  readonly claim: Claim;
  /** Resolves when the handler has ended and the outcome is written; never rejects. */
  readonly ended: Promise<void>;
  /** Writes progress, extends the lease once a third of it has passed, and notices cancellation and take-over. */
  check(): Promise<void>;
  /** Aborts the handler's signal. */
  end(ending: Ending): void;
}

export interface RunJobOptions {
  readonly jobs: Jobs;
  readonly handlers: JobHandlers;
  readonly clock: Clock;
  readonly log: JobLog;
  /** Milliseconds until others may take the job over if this process goes silent. */
  readonly lease: number;
  /** Maximum time of one attempt in milliseconds, default 6 hours: then it fails and is retried like any failure. */
  readonly deadline?: number;
  /** Whether the process is about to end: then an outcome that cannot be written is not retried. */
  readonly isStopping: () => boolean;
}

const DEADLINE_MS = 6 * 3_600_000;
/** How long a handler may take to end after its signal was aborted, milliseconds; then it is abandoned. */
const GRACE_MS = 60_000;

/** Runs the handler of a claimed job, renews its lease, and writes its outcome. */
export function runJob(options: RunJobOptions, claim: Claim): RunningJob {
  const { jobs, handlers, clock, log, lease } = options;
  const { job } = claim;
  const controller = new AbortController();
  const { signal } = controller;
  const started = performance.now();
  const about = { jobId: job.id, kind: job.kind, attempt: job.attempts };
  const took = () => ({ ...about, milliseconds: Math.round(performance.now() - started) });
  let pending: Progress | null = null;
  let ending: Ending | null = null;
  let leaseUntil = clock().getTime() + lease;
  let checking = false;

  function end(why: Ending): void {
    ending = why;
    controller.abort(new JobEnded(why));
  }

  function takenOver(): Error {
    if (ending === null) end('lost');
    return new Error('another worker has taken this job over');
  }

  async function writeProgress(): Promise<Standing | null> {
    if (pending === null) return null;
    const progress = pending;
    pending = null;
    return jobs.progress(claim, progress);
  }

  async function check(): Promise<void> {
    if (checking || signal.aborted) return;
    checking = true;
    try {
      let standing = await writeProgress();
      if (leaseUntil - clock().getTime() < (lease * 2) / 3) {
        standing = await jobs.heartbeat(claim, lease);
        if (standing !== 'lost') leaseUntil = clock().getTime() + lease;
      }
      standing ??= await jobs.standing(claim);
      if (standing === 'cancel-requested') end('cancelled');
      if (standing === 'lost') end('lost');
    } catch (error) {
      log.warn({ err: error, jobId: job.id }, 'the lease of a job could not be extended');
      if (clock().getTime() > leaseUntil) end('lost');
    } finally {
      checking = false;
    }
  }

  /** Retries over a short outage of the store; after a long one, another worker takes the job over and repeats it. */
  async function settle(write: () => Promise<boolean>): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await write();
      } catch (error) {
        if (attempt === 5 || options.isStopping()) {
          log.error({ ...about, err: error }, 'the outcome of a job could not be written; the job will run again');
          return false;
        }
        await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** attempt));
      }
    }
  }

  async function perform(): Promise<void> {
    const context: JobContext = {
      job,
      signal,
      progress: (progress) => {
        pending = progress;
      },
      holds: (tx) => jobs.holdsIn(tx, claim),
      async assertHeld() {
        if ((await jobs.standing(claim)) === 'lost') throw takenOver();
      },
      async completeIn(tx, result) {
        if (!(await jobs.completeIn(tx, claim, result))) throw takenOver();
      },
    };
    try {
      const handler = handlers[job.kind];
      if (handler === undefined) throw new JobRefused(`no handler for ${job.kind}`);
      const { id, kind, attempts } = job;
      const result = await traced('job', { job: id, kind, attempt: attempts }, () =>
        Promise.race([handler(job.payload, context), overdue]),
      );
      if (await settle(() => jobs.complete(claim, result, pending))) log.info(took(), 'job done');
      else log.warn(took(), 'job finished, but another worker had taken it over: its result is dropped');
    } catch (error) {
      await writeProgress().catch(() => undefined);
      await settleFailure(error);
    }
  }

  async function settleFailure(error: unknown): Promise<void> {
    switch (ending) {
      case 'lost':
        log.warn(took(), 'job taken over by another worker');
        return;
      case 'stopping':
        await settle(() => jobs.release(claim));
        return;
      case 'cancelled':
        await settle(() => jobs.markCancelled(claim));
        log.info(took(), 'job cancelled');
        return;
      case 'overdue':
      case null: {
        log.error({ ...took(), err: error }, 'job failed');
        const reason = error instanceof Error ? error.message : String(error);
        await settle(() => jobs.fail(claim, reason, !(error instanceof JobRefused)));
      }
    }
  }

  const deadline = options.deadline ?? DEADLINE_MS;
  const timers: NodeJS.Timeout[] = [];
  /** A handler waiting for something that never comes does not notice a signal; its job must not stay running forever. */
  const overdue = new Promise<never>((_, reject) => {
    const grace = Math.min(GRACE_MS, deadline);
    timers.push(setTimeout(() => ending ?? end('overdue'), deadline));
    timers.push(
      setTimeout(
        () => reject(new Error(`It did not finish within ${Math.round(deadline / 1000)} s.`)),
        deadline + grace,
      ),
    );
  });
  overdue.catch(() => undefined);
  const beat = setInterval(() => void check(), Math.min(500, lease / 6));
  const ended = perform().finally(() => {
    clearInterval(beat);
    for (const timer of timers) clearTimeout(timer);
  });
  return { claim, ended, check, end };
}
