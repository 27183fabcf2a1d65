import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../core/clock.ts';
import type { Distribution } from './bullmq.ts';
import type { JobHandlers, JobLog, Lane } from './job.ts';
import type { Jobs } from './jobs.ts';
import { type RunJobOptions, type RunningJob, runJob } from './run-job.ts';
import { withinTime } from './time-limits.ts';

export interface RunnerOptions {
  readonly jobs: Jobs;
  readonly handlers: JobHandlers;
  readonly clock: Clock;
  readonly log: JobLog;
  /** Which kinds run, and how many of their jobs at once; default: all in one lane. */
  readonly lanes?: readonly Lane[];
  /** Concurrent jobs of that single lane, default 2. */
  readonly concurrency?: number;
  /** Milliseconds until others may take over a job of a silent worker; default 30,000. */
  readonly lease?: number;
  /** Maximum time of one attempt in milliseconds; default 6 hours. */
  readonly deadline?: number;
  /** Milliseconds between polls for due jobs without a wake-up; default 1000. */
  readonly poll?: number | (() => number);
}

/** A runner whose queues can also be told individually to take a job. */
interface LocalRunner extends Runner {
  /**
   * Waits for room in this queue's lane and runs one due job, if any; resolves when it has ended. False: the runner is
   * stopping and did not look.
   */
  take(queue: string): Promise<boolean>;
}

/** The in-process runner: claims due jobs from the table and runs them. */
export function createRunner(options: RunnerOptions): LocalRunner {
  const { jobs, handlers, concurrency = 2, lease = 30_000, poll = 1000 } = options;
  const owner = `${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;
  const described = options.lanes ?? [{ queue: 'all', kinds: Object.keys(handlers), concurrency }];
  let stopping = false;
  let timer: NodeJS.Timeout | null = null;
  let forgetWake: (() => void) | null = null;
  const lanes = new Map<string, RunningLane>(
    described.map((lane) => [
      lane.queue,
      createLane({ ...options, ...lane, owner, lease, isStopping: () => stopping }),
    ]),
  );
  const running = () => [...lanes.values()].flatMap((lane) => [...lane.running]);
  const pumpAll = () => {
    for (const lane of lanes.values()) lane.pump();
  };
  function sweepAgain(): void {
    timer = setTimeout(
      () => {
        pumpAll();
        if (!stopping) sweepAgain();
      },
      typeof poll === 'number' ? poll : poll(),
    );
  }

  return {
    async take(queue) {
      return (await lanes.get(queue)?.take()) ?? false;
    },
    start() {
      if (timer !== null || stopping) return;
      sweepAgain();
      forgetWake = jobs.onWake((due) => {
        // Running jobs check for cancellation only if nothing is due: checking each of them for every new job would be
        // most of the work.
        if (due) pumpAll();
        else for (const { check } of running()) void check();
      });
      pumpAll();
    },
    async stop(limit = 10_000) {
      stopping = true;
      if (timer !== null) clearTimeout(timer);
      forgetWake?.();
      await Promise.all([...lanes.values()].map((lane) => lane.settled()));
      const all = () => Promise.all(running().map(({ ended }) => ended));
      if (await withinTime(all(), limit)) return;
      for (const job of running()) job.end('stopping');
      if (await withinTime(all(), 2000)) return;
      // The handler ignores its signal, so its job is released to others now; the fence keeps this handler from
      // finishing it.
      for (const { claim } of running()) {
        options.log.warn(
          { jobId: claim.job.id, kind: claim.job.kind },
          'job released while its handler is still running',
        );
        await jobs.release(claim).catch(() => undefined);
      }
    },
  };
}

export interface DistributedRunnerOptions extends Omit<RunnerOptions, 'lanes' | 'concurrency' | 'poll'> {
  readonly lanes: readonly Lane[];
  readonly distribution: Distribution;
  /** Milliseconds between polls for jobs whose wake-up was lost, default 5000. */
  readonly sweep?: number;
  /** The same while Redis is unavailable, default 1000. */
  readonly sweepWhileAway?: number;
}

/**
 * The runner of one of several processes: a wake-up goes to one with room for it. It claims from the same table as the
 * local runner, and also looks there from time to time in case a wake-up was lost.
 */
export function createDistributedRunner(options: DistributedRunnerOptions) {
  const { distribution, lanes, sweep = 5000, sweepWhileAway = 1000 } = options;
  const runner = createRunner({ ...options, poll: () => (distribution.isAway() ? sweepWhileAway : sweep) });
  let listenings: ReturnType<Distribution['listen']>[] = [];
  return {
    start(): void {
      if (listenings.length > 0) return;
      runner.start();
      listenings = lanes.map(({ queue, concurrency }) =>
        distribution.listen(queue, concurrency, () => runner.take(queue)),
      );
    },
    /**
     * Takes no new jobs, waits up to `limit` milliseconds (default 10,000) for running ones, then aborts them and
     * releases the jobs.
     */
    async stop(limit?: number): Promise<void> {
      // Not awaited here: it resolves when the jobs begun by its wake-ups have ended, which the runner ensures. Redis
      // may be down.
      for (const listening of listenings) void listening.close().catch(() => undefined);
      await runner.stop(limit);
    },
  };
}

export type Runner = ReturnType<typeof createDistributedRunner>;

interface LaneOptions extends RunJobOptions {
  readonly kinds: readonly string[];
  /** Maximum number of concurrent jobs. */
  readonly concurrency: number;
  /** Name of this runner, shown to people. */
  readonly owner: string;
}

/**
 * A lane of a runner. Room is reserved before a job is claimed, so pumping and `take` together never exceed the limit.
 * Callers waiting for room come before pumping, so a received wake-up is not delayed by a search.
 */
function createLane(options: LaneOptions) {
  const { jobs, kinds, concurrency, owner, lease, log, isStopping } = options;
  const running = new Set<RunningJob>();
  const waiting: (() => void)[] = [];
  let taken = 0;
  let pumping: Promise<void> | null = null;
  let pumpAgain = false;
  let storeAway = false;
  const claiming = new Set<Promise<unknown>>();

  function giveRoom(): void {
    const next = waiting.shift();
    if (next === undefined) taken--;
    else next();
  }

  async function waitForRoom(): Promise<void> {
    if (taken < concurrency) taken++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  }

  /** Claims and begins the next due job in reserved room; null: nothing is due, and the room is free again. */
  function begin(): Promise<RunningJob | null> {
    const beginning = claimAndRun().finally(() => claiming.delete(beginning));
    claiming.add(beginning);
    return beginning;
  }

  async function claimAndRun(): Promise<RunningJob | null> {
    const claim = isStopping() ? null : await claimNext();
    if (claim === null) {
      giveRoom();
      return null;
    }
    // This process was paused past the lease and claimed its own job again: the earlier run ends.
    for (const earlier of running) if (earlier.claim.job.id === claim.job.id) earlier.end('lost');
    const job = runJob(options, claim);
    running.add(job);
    void job.ended.then(() => running.delete(job));
    // The next jobs are claimed in the transaction that writes the outcome. One wake-up may stand for many jobs.
    void job.worked.then(() => {
      giveRoom();
      pump();
    });
    return job;
  }

  async function claimNext() {
    try {
      const claim = await jobs.claim(owner, kinds, lease);
      storeAway = false;
      return claim;
    } catch (error) {
      // Logged once per outage; the next poll tries again.
      if (!storeAway) log.error({ err: error }, 'jobs cannot be read');
      storeAway = true;
      return null;
    }
  }

  async function fill(): Promise<void> {
    while (taken < concurrency && !isStopping()) {
      const beginning: Promise<RunningJob | null>[] = [];
      // Claims requested in the same turn share one transaction.
      for (; taken < concurrency; taken++) beginning.push(begin());
      if ((await Promise.all(beginning)).includes(null)) return;
    }
  }

  function pump(): void {
    pumpAgain = true;
    pumping ??= (async () => {
      while (pumpAgain && !isStopping()) {
        // If several jobs end at the same time, their successors are claimed together.
        await nextTurn();
        pumpAgain = false;
        await fill();
      }
    })().finally(() => {
      pumping = null;
      if (pumpAgain && !isStopping()) pump();
    });
  }

  return {
    running,
    /** Claims and runs due jobs while there is room, now and whenever one of them ends. */
    pump,
    /** Waits for room and runs one due job to its end, if any. False: the runner is stopping and did not look. */
    async take(): Promise<boolean> {
      if (isStopping()) return false;
      await waitForRoom();
      if (isStopping()) {
        giveRoom();
        return false;
      }
      await (await begin())?.ended;
      return true;
    },
    /** Resolves when no claim is in progress. */
    async settled(): Promise<void> {
      await pumping;
      await Promise.all(claiming);
    },
  };
}

/** Runs a limited number of jobs of some kinds at once. */
type RunningLane = ReturnType<typeof createLane>;
