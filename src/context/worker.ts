import type { Context } from '../context.ts';
import { createRunner } from '../jobs/local.ts';
import { createScheduler, type Schedule } from '../jobs/schedule.ts';
import { createJobHandlers } from './job-handlers.ts';

/** Does jobs and keeps schedules until stopped. */
export interface Worker {
  /** Waits a while for what runs, then gives it back unfinished. */
  stop(): Promise<void>;
}

/** Starts a worker of all kinds of jobs; any number of processes may run one. */
export async function startWorker(context: Context): Promise<Worker> {
  const { jobs, clock, log, store, config } = context;
  const scheduler = createScheduler({ store, jobs, timeZone: config.timeZone, clock, log });
  const schedules: Schedule[] = [
    { name: 'seal', kind: 'seal', cron: '*/5 * * * *' },
    { name: 'maintenance', kind: 'maintenance', cron: '17 3 * * *' },
  ];
  if (config.syncSchedule !== null) schedules.push({ name: 'sync', kind: 'sync-all', cron: config.syncSchedule });
  await scheduler.replaceAll(schedules);
  const runner = createRunner({ jobs, handlers: createJobHandlers(context), clock, log });
  scheduler.start();
  runner.start();
  return {
    async stop() {
      await scheduler.stop();
      await runner.stop();
    },
  };
}
