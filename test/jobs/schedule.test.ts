import { expect, test, vi } from 'vitest';
import { createJobs } from '../../src/jobs/jobs.ts';
import { createScheduler } from '../../src/jobs/schedule.ts';
import type { Store } from '../../src/store/store.ts';
import { PATIENTLY, temporaryStore } from '../temporary.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function open(start: string, timeZone = 'UTC', of?: Store) {
  const store = of ?? (await temporaryStore());
  let now = Date.parse(start);
  const clock = () => new Date(now);
  const jobs = createJobs({ store, clock });
  const scheduler = createScheduler({ store, jobs, timeZone, clock, log, poll: 20 });
  return { store, jobs, scheduler, clock, at: (time: string) => (now = Date.parse(time)) };
}
const sync = { name: 'sync', kind: 'sync', cron: '*/15 * * * *', payload: { full: false } };

test('a schedule enqueues its job at its times, and not in between', async () => {
  const { jobs, scheduler, at } = await open('2026-03-01T10:07:00Z');
  await scheduler.replaceAll([sync]);
  expect(await scheduler.tick()).toBe(0);
  at('2026-03-01T10:15:00Z');
  expect(await scheduler.tick()).toBe(1);
  expect(await scheduler.tick()).toBe(0);
  expect(await jobs.list()).toMatchObject([{ kind: 'sync', key: 'sync', payload: { full: false } }]);
  expect(await scheduler.list()).toEqual([
    {
      name: 'sync',
      kind: 'sync',
      cron: '*/15 * * * *',
      nextAt: '2026-03-01T10:30:00.000Z',
      lastAt: '2026-03-01T10:15:00.000Z',
    },
  ]);
});

test('no second job begins while the first is unfinished', async () => {
  const { jobs, scheduler, at } = await open('2026-03-01T10:00:00Z');
  await scheduler.replaceAll([sync]);
  at('2026-03-01T10:15:00Z');
  await scheduler.tick();
  at('2026-03-01T10:30:00Z');
  await scheduler.tick();
  expect(await jobs.list()).toHaveLength(1);
});

test('a schedule that missed several times while nothing ran enqueues its job once', async () => {
  const { store, scheduler } = await open('2026-03-01T10:00:00Z');
  await scheduler.replaceAll([sync]);
  const later = await open('2026-03-02T09:05:00Z', 'UTC', store);
  await later.scheduler.replaceAll([sync]);
  expect(await later.scheduler.tick()).toBe(1);
  expect(await later.scheduler.tick()).toBe(0);
  expect((await later.scheduler.list())[0]?.nextAt).toBe('2026-03-02T09:15:00.000Z');
});

test('a new expression or time zone applies from now on, and removed schedules are forgotten', async () => {
  const { store, scheduler } = await open('2026-03-01T10:00:00Z');
  await scheduler.replaceAll([
    { ...sync, cron: '0 9 * * *' },
    { name: 'old', kind: 'old', cron: '0 0 * * *' },
  ]);
  const berlin = await open('2026-03-01T10:00:00Z', 'Europe/Berlin', store);
  await berlin.scheduler.replaceAll([{ ...sync, cron: '0 9 * * *' }]);
  expect(await berlin.scheduler.list()).toMatchObject([{ name: 'sync', nextAt: '2026-03-02T08:00:00.000Z' }]);
});

test('daylight saving neither loses nor doubles a day', async () => {
  const { scheduler, at } = await open('2026-10-24T12:00:00Z', 'Europe/Berlin');
  await scheduler.replaceAll([{ ...sync, cron: '30 2 * * *' }]);
  const seen: string[] = [];
  for (let hour = 0; hour < 72; hour++) {
    at(new Date(Date.parse('2026-10-24T12:00:00Z') + hour * 3_600_000).toISOString());
    if ((await scheduler.tick()) > 0)
      seen.push(new Date(Date.parse('2026-10-24T12:00:00Z') + hour * 3_600_000).toISOString());
  }
  expect(seen).toEqual(['2026-10-25T01:00:00.000Z', '2026-10-26T02:00:00.000Z', '2026-10-27T02:00:00.000Z']);
});

test('only one of two processes enqueues', async () => {
  const { store, scheduler, at } = await open('2026-03-01T10:00:00Z');
  await scheduler.replaceAll([sync]);
  at('2026-03-01T10:15:00Z');
  const other = await open('2026-03-01T10:15:00Z', 'UTC', store);
  const counts = await Promise.all([
    scheduler.tick(),
    other.scheduler.tick(),
    scheduler.tick(),
    other.scheduler.tick(),
  ]);
  expect(counts.reduce((a, b) => a + b)).toBe(1);
});

test('a started scheduler ticks on its own and wakes the runners', async () => {
  const { jobs, scheduler, at } = await open('2026-03-01T10:00:00Z');
  await scheduler.replaceAll([sync]);
  const woken = vi.fn();
  jobs.onWake(woken);
  scheduler.start();
  at('2026-03-01T10:15:00Z');
  await vi.waitFor(() => expect(woken).toHaveBeenCalled(), PATIENTLY);
  await scheduler.stop();
  expect(await jobs.list()).toHaveLength(1);
});

test('a clock that was set back under a running scheduler stops nothing', async () => {
  let elapsed = 0;
  const store = await temporaryStore();
  let wall = Date.parse('2026-03-01T10:07:00Z');
  const clock = () => new Date(wall);
  const jobs = createJobs({ store, clock });
  const scheduler = createScheduler({ store, jobs, timeZone: 'UTC', clock, log, monotonic: () => elapsed });
  await scheduler.replaceAll([sync]);
  const pass = async (milliseconds: number) => {
    elapsed += milliseconds;
    wall += milliseconds;
    return scheduler.tick();
  };
  expect(await pass(60_000)).toBe(0);
  // The date is set back by a month.
  wall = Date.parse('2026-02-01T10:08:00Z');
  expect(await pass(1000)).toBe(0);
  expect((await scheduler.list())[0]?.nextAt).toBe('2026-02-01T10:15:00.000Z');
  expect(await pass(7 * 60_000)).toBe(1);
});
