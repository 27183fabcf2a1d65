import type { Clock } from '../core/clock.ts';
import { traced } from '../tracing/trace.ts';
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
import type { Jobs } from './jobs.ts';
import type { Standing } from './lease.ts';

/** A claimed job with its running handler. */
export interface RunningJob {
  readonly claim: Claim;
  /** Resolves when the handler has ended, before its outcome is written; never rejects. */
  readonly worked: Promise<void>;
  /** Resolves when the handler has ended and the outcome is written; never rejects. */
  readonly ended: Promise<void>;
  /** Writes progress, extends the lease once a third of it has passed, and notices cancellation and takeover. */
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
  const { jobs, handlers, log } = options;
  const { job } = claim;
  const controller = new AbortController();
  const { signal } = controller;
  const started = performance.now();
  const about = { jobId: job.id, kind: job.kind, attempt: job.attempts };
  const took = () => ({ ...about, milliseconds: Math.round(performance.now() - started) });
  let ending: Ending | null = null;

  function end(why: Ending): void {
    ending = why;
    controller.abort(new JobEnded(why));
  }

  function takenOver(): Error {
    if (ending === null) end('lost');
    return new Error('another worker has taken this job over');
  }

  const lease = keepLease(options, claim, signal, end);
  const deadline = startDeadline(options.deadline ?? DEADLINE_MS, () => ending ?? end('overdue'));
  const write = (outcome: () => Promise<boolean>) => writeOutcome(options, about, outcome);
  const context: JobContext = {
    job,
    signal,
    progress: (progress) => lease.note(progress),
    holds: (tx) => jobs.holdsIn(tx, claim),
    async assertHeld() {
      if ((await jobs.standing(claim)) === 'lost') throw takenOver();
    },
    async completeIn(tx, result) {
      if (!(await jobs.completeIn(tx, claim, result))) throw takenOver();
    },
  };

  let noteWorked = (): void => undefined;
  const worked = new Promise<void>((resolve) => {
    noteWorked = resolve;
  });

  async function perform(): Promise<void> {
    try {
      const handler = handlers[job.kind];
      if (handler === undefined) throw new JobRefused(`no handler for ${job.kind}`);
      const { id, kind, attempts } = job;
      const result = await traced('job', { job: id, kind, attempt: attempts }, () =>
        Promise.race([handler(job.payload, context), deadline.passed]),
      ).finally(noteWorked);
      if (await write(() => jobs.complete(claim, result, lease.unwritten()))) log.info(took(), 'job done');
      else log.warn(took(), 'job finished, but another worker had taken it over: its result is dropped');
    } catch (error) {
      noteWorked();
      await lease.writeProgress().catch(() => undefined);
      await writeFailure(error);
    }
  }

  async function writeFailure(error: unknown): Promise<void> {
    switch (ending) {
      case 'lost':
        log.warn(took(), 'job taken over by another worker');
        return;
      case 'stopping':
        await write(() => jobs.release(claim));
        return;
      case 'cancelled':
        await write(() => jobs.markCancelled(claim));
        log.info(took(), 'job cancelled');
        return;
      case 'overdue':
      case null: {
        log.error({ ...took(), err: error }, 'job failed');
        const reason = error instanceof Error ? error.message : String(error);
        await write(() => jobs.fail(claim, reason, !(error instanceof JobRefused)));
      }
    }
  }

  const beat = setInterval(() => void lease.check(), Math.min(500, options.lease / 6));
  const ended = perform().finally(() => {
    clearInterval(beat);
    deadline.clear();
  });
  return { claim, worked, ended, check: lease.check, end };
}

/**
 * Renews the lease of a running job, and stores its progress at the same time. `end` is called if the job was cancelled
 * or lost.
 */
function keepLease(
  { jobs, clock, log, lease }: RunJobOptions,
  claim: Claim,
  signal: AbortSignal,
  end: (why: Ending) => void,
) {
  let pending: Progress | null = null;
  let leaseUntil = clock().getTime() + lease;
  let checking = false;

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
      log.warn({ err: error, jobId: claim.job.id }, 'the lease of a job could not be extended');
      if (clock().getTime() > leaseUntil) end('lost');
    } finally {
      checking = false;
    }
  }

  return {
    note(progress: Progress): void {
      pending = progress;
    },
    unwritten: () => pending,
    writeProgress,
    check,
  };
}

/**
 * A handler that waits for ever does not notice a signal, but its job must not count as running for ever. `passed`
 * rejects some time after the deadline.
 */
function startDeadline(milliseconds: number, onDeadline: () => void) {
  const timers: NodeJS.Timeout[] = [];
  const passed = new Promise<never>((_, reject) => {
    const tooLong = new Error(`It did not finish within ${Math.round(milliseconds / 1000)} s.`);
    timers.push(setTimeout(onDeadline, milliseconds));
    timers.push(setTimeout(() => reject(tooLong), milliseconds + Math.min(GRACE_MS, milliseconds)));
  });
  passed.catch(() => undefined);
  return {
    passed,
    clear() {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** Retries over a short outage of the store; after a long one, another worker takes the job over and repeats it. */
async function writeOutcome(
  { log, isStopping }: RunJobOptions,
  about: object,
  write: () => Promise<boolean>,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (attempt === 5 || isStopping()) {
        log.error({ ...about, err: error }, 'the outcome of a job could not be written; the job will run again');
        return false;
      }
      await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** attempt));
    }
  }
}
