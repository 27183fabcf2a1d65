import type { DistributionState } from '../jobs/bullmq.ts';
import type { QueueFigures } from '../jobs/counts.ts';

/** What is read at the moment of a scrape. */
export interface MetricSources {
  readonly ledgerSeq: () => Promise<number>;
  readonly projectedSeq: () => number;
  readonly sealedSeq: () => Promise<number>;
  readonly warnings: () => Promise<ReadonlyMap<string, number>>;
  readonly queues: () => Promise<readonly QueueFigures[]>;
  /** Null: no REDIS_URL is set. */
  readonly wakeUps: (() => Promise<DistributionState>) | null;
  readonly databaseBytes: () => Promise<number>;
}
