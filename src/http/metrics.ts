import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { DistributionState } from '../jobs/bullmq.ts';
import type { QueueFigures } from '../jobs/counts.ts';

/** What is counted while the server runs; `/metrics` on the admin listener prints it in Prometheus' text format. */
export interface Metrics {
  readonly registry: Registry;
  /** A delivery was answered: stored, duplicate, missing, mismatch, too_large, failed. */
  countDelivery(source: string, outcome: string): void;
  /** Seconds from the verified signature to the durable entry. */
  observeAppend(seconds: number): void;
}

/** Creates the metrics of one server in a registry of their own. */
export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const deliveries = new Counter({
    name: 'consent_ledger_deliveries_total',
    help: 'Webhook deliveries by source and outcome',
    labelNames: ['source', 'outcome'],
    registers: [registry],
  });
  const append = new Histogram({
    name: 'consent_ledger_append_seconds',
    help: 'Seconds from the verified signature to the durable entry',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [registry],
  });
  const gauge = (name: string, help: string, read: () => Promise<number> | number) =>
    new Gauge({
      name: `consent_ledger_${name}`,
      help,
      registers: [registry],
      async collect() {
        this.set(await read());
      },
    });
  gauge('ledger_seq', 'Highest seq of the ledger', sources.ledgerSeq);
  gauge('projected_seq', 'Highest seq applied to the read models', sources.projectedSeq);
  gauge('sealed_seq', 'Entries under the last checkpoint', sources.sealedSeq);
  labelled(
    registry,
    'witnessed_seq',
    'Entries under the last checkpoint that a witness has seen',
    'witness',
    sources.witnessedSeq,
  );
  gauge('database_bytes', 'Bytes of the database on disk', sources.databaseBytes);
  labelled(registry, 'warnings', 'Current warnings by code', 'code', sources.warnings);
  registerJobMetrics(registry, sources);
  return {
    registry,
    countDelivery: (source, outcome) => deliveries.inc({ source, outcome }),
    observeAppend: (seconds) => append.observe(seconds),
  };
}

function labelled(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  read: () => Promise<ReadonlyMap<string, number>>,
): void {
  new Gauge({
    name: `consent_ledger_${name}`,
    help,
    labelNames: [label],
    registers: [registry],
    async collect() {
      this.reset();
      for (const [value, count] of await read()) this.set({ [label]: value }, count);
    },
  });
}

/**
 * The metrics of the jobs. Those of the queues are read from the table, so every process shows the same: take one of them, not
 * their sum. Wake-ups and the connection are those of this process.
 */
function registerJobMetrics(registry: Registry, { queues, wakeUps }: Pick<MetricSources, 'queues' | 'wakeUps'>): void {
  const registers = [registry];
  const figures = whileAsked(queues);
  new Gauge({
    name: 'consent_ledger_jobs',
    help: 'Jobs by queue and state, in the whole installation',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      for (const queue of await figures())
        for (const state of ['waiting', 'delayed', 'running', 'failed'] as const)
          this.set({ queue: queue.queue, state }, queue[state]);
    },
  });
  new Gauge({
    name: 'consent_ledger_jobs_oldest_due_seconds',
    help: 'Seconds since the oldest waiting job was due, by queue',
    labelNames: ['queue'],
    registers,
    async collect() {
      for (const { queue, oldestDueSeconds } of await figures()) this.set({ queue }, oldestDueSeconds);
    },
  });
  new Counter({
    name: 'consent_ledger_jobs_ended_total',
    help: 'Finished jobs by queue and outcome, in the whole installation',
    labelNames: ['queue', 'outcome'],
    registers,
    async collect() {
      const all = await figures();
      this.reset();
      for (const { queue, ended } of all)
        for (const [outcome, count] of Object.entries(ended)) this.inc({ queue, outcome }, count);
    },
  });
  if (wakeUps === null) return;
  const state = whileAsked(wakeUps);
  new Counter({
    name: 'consent_ledger_wake_ups_total',
    help: 'Wake-ups for workers sent to Redis by this process, by outcome',
    labelNames: ['outcome'],
    registers,
    async collect() {
      const { wakeUpsSent, wakeUpsFailed } = await state();
      this.reset();
      this.inc({ outcome: 'sent' }, wakeUpsSent);
      this.inc({ outcome: 'failed' }, wakeUpsFailed);
    },
  });
  new Gauge({
    name: 'consent_ledger_redis_up',
    help: '1 if Redis answers this process, otherwise 0',
    registers,
    async collect() {
      this.set((await state()).up ? 1 : 0);
    },
  });
}

/** All metrics of one scrape share one query. */
function whileAsked<T>(ask: () => Promise<T>): () => Promise<T> {
  let asking: Promise<T> | null = null;
  return () => {
    asking ??= ask().finally(() => {
      asking = null;
    });
    return asking;
  };
}

/** What is read at the moment of a scrape. */
interface MetricSources {
  readonly ledgerSeq: () => Promise<number>;
  readonly projectedSeq: () => number;
  readonly sealedSeq: () => Promise<number>;
  /** By the name of the witness. */
  readonly witnessedSeq: () => Promise<ReadonlyMap<string, number>>;
  readonly warnings: () => Promise<ReadonlyMap<string, number>>;
  readonly queues: () => Promise<readonly QueueFigures[]>;
  /** Null: no REDIS_URL is set. */
  readonly wakeUps: (() => Promise<DistributionState>) | null;
  readonly databaseBytes: () => Promise<number>;
}
