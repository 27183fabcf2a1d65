import { type RunJobOptions, runJob, type RunningJob } from './run-job.ts';

interface LaneOptions extends RunJobOptions {
  readonly kinds: readonly string[];
  /** Jobs at once. */
  readonly concurrency: number;
  /** Name of this runner, for people. */
  readonly owner: string;
}

/**
 * A lane of a runner. Room is taken before a job is claimed, so that pumping and taking together never run more than allowed;
 * whoever waits for room gets it before pumping does, so that a message in hand is not held up by a search.
 */
export function createLane(options: LaneOptions) {
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

  /** Claims and begins the next due job, in room that is taken already; null: nothing is due, and the room is free again. */
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
    // This process was paused past the lease and took its own job over: the earlier run ends.
    for (const earlier of running) if (earlier.claim.job.id === claim.job.id) earlier.end('lost');
    const job = runJob(options, claim);
    running.add(job);
    return job;
  }

  function leave(job: RunningJob): void {
    running.delete(job);
    giveRoom();
  }

  async function claimNext() {
    try {
      const claim = await jobs.claim(owner, kinds, lease);
      storeAway = false;
      return claim;
    } catch (error) {
      // Said once per outage; the next look tries again.
      if (!storeAway) log.error({ err: error }, 'jobs cannot be read at the moment');
      storeAway = true;
      return null;
    }
  }

  async function fill(): Promise<void> {
    while (taken < concurrency && !isStopping()) {
      taken++;
      const job = await begin();
      if (job === null) return;
      void job.ended.then(() => {
        leave(job);
        pump();
      });
    }
  }

  function pump(): void {
    pumpAgain = true;
    pumping ??= (async () => {
      while (pumpAgain && !isStopping()) {
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
    /** Claims and runs what is due while there is room, now and whenever a job that it began ends. */
    pump,
    /** Waits for room and runs one due job to its end, if there is one. False: the runner stops and did not look. */
    async take(): Promise<boolean> {
      if (isStopping()) return false;
      await waitForRoom();
      if (isStopping()) {
        giveRoom();
        return false;
      }
      const job = await begin();
      if (job === null) return true;
      await job.ended;
      leave(job);
      return true;
    },
    /** Resolves when no claim is under way. */
    async settled(): Promise<void> {
      await pumping;
      await Promise.all(claiming);
    },
  };
}

/** Runs up to so many jobs of some kinds at once. */
export type RunningLane = ReturnType<typeof createLane>;
