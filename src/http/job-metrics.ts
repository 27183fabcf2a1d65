import { Counter, Gauge, type Registry } from 'prom-client';
import type { MetricSources } from './metrics.ts';

/**
 * The metrics of the jobs. Those of the queues are read from the table, so every process shows the same: take one of them, not
 * their sum. Wake-ups and the connection are those of this process.
 */
export function registerJobMetrics(
  registry: Registry,
  { queues, wakeUps }: Pick<MetricSources, 'queues' | 'wakeUps'>,
): void {
  const registers = [registry];
  const oldest = new Gauge({
    name: 'consent_ledger_jobs_oldest_due_seconds',
    help: 'Seconds since the oldest job that still waits was due, by queue',
    labelNames: ['queue'],
    registers,
  });
  const ended = new Counter({
    name: 'consent_ledger_jobs_ended_total',
    help: 'Jobs that ended, by queue and outcome, in the whole installation',
    labelNames: ['queue', 'outcome'],
    registers,
  });
  new Gauge({
    name: 'consent_ledger_jobs',
    help: 'Jobs by queue and state, in the whole installation',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      ended.reset();
      for (const figures of await queues()) {
        const { queue } = figures;
        for (const state of ['waiting', 'delayed', 'running', 'failed'] as const)
          this.set({ queue, state }, figures[state]);
        oldest.set({ queue }, figures.oldestDueSeconds);
        for (const [outcome, count] of Object.entries(figures.ended)) ended.inc({ queue, outcome }, count);
      }
    },
  });
  if (wakeUps === null) return;
  const told = new Counter({
    name: 'consent_ledger_wake_ups_total',
    help: 'Wake-ups for workers that this process handed to Redis, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  new Gauge({
    name: 'consent_ledger_redis_up',
    help: '1 when Redis answers this process, else 0',
    registers,
    async collect() {
      const { up, wakeUpsSent, wakeUpsFailed } = await wakeUps();
      this.set(up ? 1 : 0);
      told.reset();
      told.inc({ outcome: 'sent' }, wakeUpsSent);
      told.inc({ outcome: 'failed' }, wakeUpsFailed);
    },
  });
}
