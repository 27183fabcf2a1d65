import { expect, test, vi } from 'vitest';
import { createJobs } from '../../src/jobs/jobs.ts';
import { createScheduler, nextTime } from '../../src/jobs/schedule.ts';
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

/** Each zone with days on which its clock goes forward and back; in Santiago and Cairo, midnight is skipped. */
const changes: Readonly<Record<string, readonly string[]>> = {
  'Europe/Berlin': ['2026-03-29', '2026-10-25'],
  'Europe/London': ['2026-03-29', '2026-10-25'],
  'America/New_York': ['2026-03-08', '2026-11-01'],
  'Australia/Lord_Howe': ['2026-10-04', '2026-04-05'],
  'America/Santiago': ['2026-09-06', '2026-04-04'],
  'Africa/Cairo': ['2026-04-24', '2026-10-29'],
};

/** The runs of the days around a date, as local times `MM-DD HH:MM`, and in UTC. */
function runsAround(cron: string, timeZone: string, date: string): { local: string[]; utc: string[] } {
  const day = 86_400_000;
  const [from, to] = [Date.parse(date) - 2 * day, Date.parse(date) + 3 * day];
  const [local, utc]: [string[], string[]] = [[], []];
  for (let at = nextTime(cron, timeZone, new Date(from)); at !== null && at.getTime() < to; ) {
    local.push(at.toLocaleString('sv', { timeZone }).slice(5, 16));
    utc.push(at.toISOString().slice(5, 16).replace('T', ' '));
    at = nextTime(cron, timeZone, at);
  }
  return { local, utc };
}

test.each(Object.entries(changes).flatMap(([timeZone, dates]) => dates.map((date) => [timeZone, date] as const)))(
  'a daily time runs once on each day around a clock change: %s, %s',
  (timeZone, date) => {
    // Those of the worker, and every half hour of a day.
    const own = ['17 3 * * *', '53 4 * * *', '7 1 * * *', '41 2 * * *', '23 4 * * *', '40 3 * * *'];
    const halves = Array.from({ length: 48 }, (_, n) => `${(n % 2) * 30} ${Math.floor(n / 2)} * * *`);
    const days = [-1, 0, 1].map((n) => new Date(Date.parse(date) + n * 86_400_000).toISOString().slice(5, 10));
    for (const cron of [...own, ...halves]) {
      const { local } = runsAround(cron, timeZone, date);
      const counts = days.map((day) => local.filter((run) => run.startsWith(day)).length);
      expect([cron, ...counts]).toEqual([cron, 1, 1, 1]);
    }
  },
);

test('at clock changes, one time of the day runs once, lists and ranges run as the clock shows', () => {
  const on = (date: string, cron: string) => {
    const { local, utc } = runsAround(cron, 'Europe/Berlin', date);
    return local.flatMap((run, n) => (run.startsWith(date.slice(5)) ? [`${run.slice(6)} (${utc[n]?.slice(6)}Z)`] : []));
  };
  const [forward, back] = ['2026-03-29', '2026-10-25'];
  // 02:30 does not exist: the first minute after the gap. It exists twice: the first one.
  expect([on(forward, '30 2 * * *'), on(back, '30 2 * * *')]).toEqual([['03:00 (01:00Z)'], ['02:30 (00:30Z)']]);
  // Lists, ranges and steps of hours: a time that does not exist is left out, one that exists twice runs twice.
  expect(on(forward, '30 2,14 * * *')).toEqual(['14:30 (12:30Z)']);
  expect(on(back, '30 2,14 * * *')).toEqual(['02:30 (00:30Z)', '02:30 (01:30Z)', '14:30 (13:30Z)']);
  expect([on(forward, '30 2-3 * * *'), on(back, '30 2-3 * * *')]).toEqual([
    ['03:30 (01:30Z)'],
    ['02:30 (00:30Z)', '02:30 (01:30Z)', '03:30 (02:30Z)'],
  ]);
  expect([on(forward, '0-59/20 2 * * *').length, on(back, '0-59/20 2 * * *').length]).toEqual([0, 6]);
  // As many minutes apart as ever, counted in real time.
  expect([on(forward, '*/30 * * * *').length, on(back, '*/30 * * * *').length]).toEqual([46, 50]);
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
