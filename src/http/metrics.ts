import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { LastTimes, SealTimes } from '../attention/figures.ts';
import type { Warning } from '../attention/operator-warnings.ts';
import type { Clock } from '../core/clock.ts';
import type { DistributionState } from '../jobs/bullmq.ts';
import type { QueueFigures } from '../jobs/queue-figures.ts';
import type { LastVerification } from '../ledger/verify/last-verification.ts';

/** Counters of the running server; `/metrics` on the admin listener prints them in Prometheus' text format. */
export interface Metrics {
  readonly registry: Registry;
  /** Counts an answered delivery: stored, duplicate, missing, mismatch, too_large, failed. */
  countDelivery(source: string, outcome: string): void;
  /** Seconds from the verified signature to the durable entry. */
  observeAppend(seconds: number): void;
  /** Counts a connection that was closed at once because the listener had as many requests to answer as it accepts. */
  countRefusedConnection(listener: 'public' | 'admin'): void;
}

/** The name under which deliveries to unknown sources are counted. No source can have it. */
export const UNKNOWN_SOURCE = '(unknown)';

/**
 * Outcomes that have an alert. Each is served as 0 before it first happens: Prometheus' `increase` does not see the
 * first value of a series that begins above 0.
 */
const ALERTED_OUTCOMES = ['store_unavailable', 'overloaded', 'internal', 'missing', 'mismatch'];

/** Creates one server's metrics in a separate registry. */
export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const nameOf = createNames(sources.labelOf);
  const deliveries = new Counter({
    name: 'consent_ledger_deliveries_total',
    help: 'Webhook deliveries by source and outcome',
    labelNames: ['source', 'outcome'],
    registers: [registry],
    collect() {
      this.inc({ source: UNKNOWN_SOURCE, outcome: 'unknown-source' }, 0);
      for (const source of sources.slugs())
        for (const outcome of ALERTED_OUTCOMES) this.inc({ source: nameOf(source), outcome }, 0);
    },
  });
  const append = new Histogram({
    name: 'consent_ledger_append_seconds',
    help: 'Seconds from the verified signature to the durable entry',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [registry],
  });
  const refused = new Counter({
    name: 'consent_ledger_connections_refused_total',
    help: 'Connections closed at once because every other connection of the listener was busy',
    labelNames: ['listener'],
    registers: [registry],
  });
  for (const listener of ['public', 'admin']) refused.inc({ listener }, 0);
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
    { name: 'witnessed_seq', help: 'Entries under the last checkpoint that a witness has seen', label: 'witness' },
    sources.witnessedSeq,
  );
  gauge('database_bytes', 'Bytes of the database on disk', sources.databaseBytes);
  const warnings = remembered(sources.warnings);
  labelled(registry, { name: 'warnings', help: 'Current warnings by code', label: 'code' }, async () => {
    const counts = new Map<string, number>();
    for (const { code } of await warnings()) counts.set(code, (counts.get(code) ?? 0) + 1);
    return counts;
  });
  labelled(
    registry,
    { name: 'source_silent', help: '1 for a source that usually delivers and has stopped', label: 'source' },
    async () => {
      const silent = (await warnings()).filter(({ code }) => code === 'silent-source');
      return new Map(silent.map(({ source }) => [nameOf(source ?? ''), 1]));
    },
  );
  registerWatchMetrics(registry, sources, nameOf);
  registerJobMetrics(registry, sources);
  return {
    registry,
    countDelivery: (source, outcome) => deliveries.inc({ source: nameOf(source), outcome }),
    observeAppend: (seconds) => append.observe(seconds),
    countRefusedConnection: (listener) => refused.inc({ listener }),
  };
}

/**
 * The most sources with their own label value; the others are combined under one name, so that an agency's hundreds do
 * not fill Prometheus.
 */
const SOURCES_NAMED = 200;
const OTHERS = '(others)';

/** The label value of a source. The first ones requested keep theirs until the process ends. */
function createNames(labelOf: MetricSources['labelOf']): (source: string) => string {
  const named = new Map<string, string>();
  return (source) => {
    let name = named.get(source);
    if (name === undefined) {
      if (named.size >= SOURCES_NAMED) return OTHERS;
      named.set(source, (name = source === UNKNOWN_SOURCE ? source : labelOf(source)));
    }
    return name;
  };
}

/**
 * Milliseconds for which results of queries per source or case are cached, because anyone on the admin network may
 * request them at any rate.
 */
const REMEMBERED_MS = 15_000;
/** Milliseconds for which an outdated result is returned while the next is computed. */
const STALE_MS = 300_000;

/** Metrics for alerts: requests that are due, and how long ago things last happened. Something that never happened has no value. */
function registerWatchMetrics(registry: Registry, sources: MetricSources, nameOf: (source: string) => string): void {
  new Gauge({
    name: 'consent_ledger_build_info',
    help: 'Always 1: the version that is running, its Node.js and its database',
    labelNames: ['version', 'node', 'database'],
    registers: [registry],
  }).set({ ...sources.build }, 1);
  const now = () => sources.clock().getTime();
  const [due, lastTimes, verification] = [
    remembered(sources.due),
    remembered(sources.lastTimes),
    remembered(sources.verification),
  ];
  const add = (name: string, help: string, label: string | null, read: () => Promise<Readings>) =>
    absentable(registry, { name, help, label, read, onError: sources.onError });
  const addAge = (what: string, help: string, label: string | null, read: () => Promise<Times>) =>
    add(`since_${what}_seconds`, `Seconds since ${help}`, label, async () =>
      [...(await read())].map(([value, at]) => [value, Math.max(0, (now() - Date.parse(at)) / 1000)]),
    );
  const one = (at: string | null | undefined): Times => (at == null ? [] : [['', at]]);

  add('dsar_due', 'Open requests by how near their legal limit is', 'state', due);
  addAge('delivery', 'the last stored delivery, by source', 'source', async () =>
    oldestByName((await lastTimes()).delivered, nameOf),
  );
  addAge('sync', 'the last successful pull of the consent log, by source', 'source', async () =>
    oldestByName((await lastTimes()).synced, nameOf),
  );
  addAge('seal', 'the last checkpoint', null, async () => one((await lastTimes()).sealed));
  addAge('oldest_unsealed', 'the oldest entry that no checkpoint covers', null, async () =>
    one((await lastTimes()).unsealed),
  );
  addAge('verification', 'the last verification of the whole ledger', null, async () =>
    one((await verification())?.at),
  );
  add('verification_faults', 'Faults that the last verification of the whole ledger found', null, async () => {
    const last = await verification();
    return last === null ? [] : [['', last.faults]];
  });
  addAge('witness', 'a witness signed or took a checkpoint, by witness', 'witness', sources.witnessedAt);
}

type Readings = Iterable<readonly [string, number]>;
type Times = Iterable<readonly [string, string]>;

/** Of sources with the same label, the one that has waited longest. */
function oldestByName(times: ReadonlyMap<string, string>, nameOf: (source: string) => string): Times {
  const oldest = new Map<string, string>();
  for (const [source, at] of [...times].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const name = nameOf(source);
    const known = oldest.get(name);
    if (known === undefined || at < known) oldest.set(name, at);
  }
  return oldest;
}

interface Absentable {
  readonly name: string;
  readonly help: string;
  readonly label: string | null;
  readonly read: () => Promise<Readings>;
  readonly onError: (error: unknown, metric: string) => void;
}

/** A gauge without a value if there is nothing to report. If it cannot be computed, the others are unaffected. */
function absentable(registry: Registry, { name, help, label, read, onError }: Absentable): void {
  const full = `consent_ledger_${name}`;
  new Gauge({
    name: full,
    help,
    labelNames: label === null ? [] : [label],
    registers: [registry],
    async collect() {
      this.reset();
      // Without labels, a reset would leave a 0.
      if (label === null) this.remove();
      try {
        for (const [value, number] of await read()) this.set(label === null ? {} : { [label]: value }, number);
      } catch (error) {
        onError(error, full);
      }
    },
  });
}

/**
 * The last result. One older than {@link REMEMBERED_MS} is returned while the next is computed, so that a scrape does
 * not wait for it.
 */
function remembered<T>(ask: () => Promise<T>): () => Promise<T> {
  const shared = whileAsked(ask);
  let last: { readonly at: number; readonly answer: T } | null = null;
  const renew = async () => {
    const answer = await shared();
    last = { answer, at: performance.now() };
    return answer;
  };
  return async () => {
    const age = last === null ? Number.POSITIVE_INFINITY : performance.now() - last.at;
    if (last === null || age > STALE_MS) return renew();
    // A failure here is reported by a later scrape that waits for the result.
    if (age > REMEMBERED_MS) renew().catch(() => undefined);
    return last.answer;
  };
}

function labelled(
  registry: Registry,
  { name, help, label }: { readonly name: string; readonly help: string; readonly label: string },
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
 * Metrics of the jobs. Those of queues are read from the table, so every process reports the same: use `max`, not
 * `sum`. Wake-ups and the connection are per process.
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
    help: 'Seconds since the oldest waiting job became due, by queue',
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

/** Values read during a scrape. */
interface MetricSources {
  /** The sources of the installation. */
  readonly slugs: () => readonly string[];
  /** The label value of a source. */
  readonly labelOf: (slug: string) => string;
  readonly ledgerSeq: () => Promise<number>;
  readonly projectedSeq: () => number;
  readonly sealedSeq: () => Promise<number>;
  /** By witness name. */
  readonly witnessedSeq: () => Promise<ReadonlyMap<string, number>>;
  /** ISO 8601 UTC, by witness name. */
  readonly witnessedAt: () => Promise<ReadonlyMap<string, string>>;
  readonly warnings: () => Promise<readonly Pick<Warning, 'code' | 'source'>[]>;
  readonly due: () => Promise<ReadonlyMap<string, number>>;
  readonly lastTimes: () => Promise<LastTimes & SealTimes>;
  readonly verification: () => Promise<LastVerification | null>;
  readonly build: { readonly version: string; readonly node: string; readonly database: string };
  readonly clock: Clock;
  /** Called if a metric could not be computed and has no value in this scrape. */
  readonly onError: (error: unknown, metric: string) => void;
  readonly queues: () => Promise<readonly QueueFigures[]>;
  /** Null: REDIS_URL is not set. */
  readonly wakeUps: (() => Promise<DistributionState>) | null;
  readonly databaseBytes: () => Promise<number>;
}
