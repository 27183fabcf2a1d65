import { Counter, Gauge, type Registry } from 'prom-client';
import type { MetricSources } from './metric-sources.ts';

/**
 * The metrics of the jobs. Those of the queues are read from the table, so every process shows the same: take one of them, not
 * their sum. Wake-ups and the connection are those of this process.
 */
export function registerJobMetrics(
  registry: Registry,
  { queues, wakeUps }: Pick<MetricSources, 'queues' | 'wakeUps'>,
): void {
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

/** All metrics of one scrape ask at once, and share one answer. */
function whileAsked<T>(ask: () => Promise<T>): () => Promise<T> {
  let asking: Promise<T> | null = null;
  return () => {
    asking ??= ask().finally(() => {
      asking = null;
    });
    return asking;
  };
}
