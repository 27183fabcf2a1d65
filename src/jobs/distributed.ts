import type { Distribution } from './bullmq.ts';
import { createRunner, type Runner, type RunnerOptions } from './local.ts';
import type { Lane } from './queues.ts';

export interface DistributedRunnerOptions extends Omit<RunnerOptions, 'lanes' | 'concurrency' | 'poll'> {
  readonly lanes: readonly Lane[];
  readonly distribution: Distribution;
  /** Milliseconds between two looks for jobs whose wake-up was lost, default 5000. */
  readonly sweep?: number;
  /** The same while Redis is away, default 1000. */
  readonly sweepWhileAway?: number;
}

/**
 * The runner of one of many processes: a wake-up goes to one that has room for it. It claims from the same table as the local
 * one, and looks by itself, less often, for what a lost wake-up left.
 */
export function createDistributedRunner(options: DistributedRunnerOptions): Runner {
  const { distribution, lanes, sweep = 5000, sweepWhileAway = 1000 } = options;
  const runner = createRunner({ ...options, poll: () => (distribution.isAway() ? sweepWhileAway : sweep) });
  let listenings: ReturnType<Distribution['listen']>[] = [];
  return {
    start() {
      if (listenings.length > 0) return;
      runner.start();
      listenings = lanes.map(({ queue, concurrency }) =>
        distribution.listen(queue, concurrency, () => runner.take(queue)),
      );
    },
    async stop(limit) {
      // Not awaited yet: it ends when the jobs that its wake-ups began have ended, which the runner sees to. Redis may be away.
      for (const listening of listenings) void listening.close().catch(() => undefined);
      await runner.stop(limit);
    },
  };
}
