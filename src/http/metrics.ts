import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { registerJobMetrics } from './job-metrics.ts';
import type { MetricSources } from './metric-sources.ts';

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
