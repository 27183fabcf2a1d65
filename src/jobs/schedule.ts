import { Cron } from 'croner';
import type { Selectable } from 'kysely';
import type { Clock } from '../core/clock.ts';
import type { Tables } from '../store/schema.ts';
import type { Query, Store } from '../store/store.ts';
import type { JobLog, Json } from './job.ts';
import type { Jobs } from './jobs.ts';

/** A recurring job. Its name is the key of its jobs: while one is unfinished, no other begins. */
export interface Schedule {
  readonly name: string;
  readonly kind: string;
  /** Cron expression in the scheduler's time zone. */
  readonly cron: string;
  readonly payload?: Json;
}

/** The job kind of schedules made by people; the program must not replace them. */
export const PEOPLES_SCHEDULES = 'scheduled-document';

interface ScheduleState {
  readonly name: string;
  readonly kind: string;
  readonly cron: string;
  /** ISO 8601 UTC. */
  readonly nextAt: string;
  readonly lastAt: string | null;
}

interface SchedulerOptions {
  readonly store: Store;
  readonly jobs: Jobs;
  /** IANA time zone. */
  readonly timeZone: string;
  readonly clock: Clock;
  readonly log: JobLog;
  /** Milliseconds between polls, default 1000. */
  readonly poll?: number;
  /** Milliseconds of a monotonic clock; replaced in tests. */
  readonly monotonic?: () => number;
}

/** If the clock goes back by more than this between two polls, someone has set it. */
const MAX_DRIFT_MS = 5000;

/** Clocks of one installation differ by less than this; a larger lead means that a clock was set back. */
const MAX_SKEW_MS = 300_000;

type Row = Selectable<Tables['schedules']>;

/** The schedule that is due next, or has been due the longest; null: there are none. `nextAt`: ISO 8601 UTC. */
export async function findNextScheduled(
  read: Query,
): Promise<{ readonly name: string; readonly nextAt: string } | null> {
  const row = await read
    .selectFrom('schedules')
    .select(['name', 'next_at as nextAt'])
    .orderBy('next_at')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Turns schedules into jobs. Any number of processes may run one: the row's next time is moved in the transaction that
 * enqueues, so each time is used once.
 */
export function createScheduler(options: SchedulerOptions) {
  const { store, jobs, timeZone, clock, log } = options;
  let timer: NodeJS.Timeout | null = null;
  let ticking: Promise<unknown> | null = null;
  let failing = false;

  function nextAfter(cron: string, after: Date): string {
    const next = nextTime(cron, timeZone, after);
    if (next === null) throw new RangeError(`the schedule ${cron} never runs`);
    return next.toISOString();
  }

  const wasSetBack = watchClock(clock, options.monotonic);

  /** Times computed with the earlier clock may be far ahead: resets each schedule to its next time by the current clock. */
  async function realign(now: Date): Promise<void> {
    const moved = await store.transaction(async (tx) => {
      const names: string[] = [];
      for (const { name, cron, next_at } of await tx.query.selectFrom('schedules').selectAll().execute()) {
        const next = nextAfter(cron, now);
        if (next_at <= next) continue;
        await tx.query.updateTable('schedules').set({ next_at: next }).where('name', '=', name).execute();
        names.push(name);
      }
      return names;
    });
    log.warn({ schedules: moved }, 'the system clock was set back: schedule times were corrected');
  }

  /** The row to store for a schedule. `old`: its previous row. A missed time is kept if the schedule is unchanged. */
  function rowOf({ name, kind, cron, payload = null }: Schedule, old: Row | undefined, now: Date): Row {
    const overdue = old !== undefined && old.cron === cron && old.next_at <= now.toISOString();
    // Not before the time that another process has already enqueued: its clock may be ahead of this one.
    const ahead = Date.parse(old?.last_at ?? '') - now.getTime();
    const after = ahead > 0 && ahead < MAX_SKEW_MS ? new Date(now.getTime() + ahead) : now;
    const nextAt = overdue ? old.next_at : nextAfter(cron, after);
    return { name, kind, cron, payload: JSON.stringify(payload), next_at: nextAt, last_at: old?.last_at ?? null };
  }

  async function tick(): Promise<number> {
    const now = clock();
    if (wasSetBack(now)) await realign(now);
    const due = await store.read
      .selectFrom('schedules')
      .select('name')
      .where('next_at', '<=', now.toISOString())
      .limit(1)
      .execute();
    if (due.length === 0) return 0;
    const fired = await store.transaction(async (tx) => {
      const rows = await tx.query
        .selectFrom('schedules')
        .selectAll()
        .where('next_at', '<=', now.toISOString())
        .execute();
      for (const { name, kind, cron, payload } of rows) {
        await jobs.enqueueIn(tx, { kind, key: name, payload: JSON.parse(payload) as Json });
        await tx.query
          .updateTable('schedules')
          .set({ next_at: nextAfter(cron, now), last_at: now.toISOString() })
          .where('name', '=', name)
          .execute();
      }
      return rows.map(({ kind }) => ({ kind, at: null }));
    });
    jobs.wake(fired);
    return fired.length;
  }

  return {
    /** Enqueues due jobs; returns their number. */
    tick,
    /**
     * Makes these the installation's schedules, in addition to those of people; others are removed. A time that was
     * missed while nothing ran comes up once.
     */
    async replaceAll(schedules: readonly Schedule[]): Promise<void> {
      await store.transaction(async (tx) => {
        const now = clock();
        const before = new Map(
          (await tx.query.selectFrom('schedules').selectAll().execute()).map((row) => [row.name, row]),
        );
        const rows = schedules.map((schedule) => rowOf(schedule, before.get(schedule.name), now));
        await tx.query.deleteFrom('schedules').where('kind', '!=', PEOPLES_SCHEDULES).execute();
        await tx.insertMany('schedules', rows);
      });
    },
    async list(): Promise<readonly ScheduleState[]> {
      return store.read
        .selectFrom('schedules')
        .select(['name', 'kind', 'cron', 'next_at as nextAt', 'last_at as lastAt'])
        .orderBy('name')
        .execute();
    },
    start(): void {
      timer ??= setInterval(() => {
        ticking ??= tick()
          .then(() => {
            failing = false;
          })
          .catch((error: unknown) => {
            if (!failing) log.error({ err: error }, 'schedules cannot be read');
            failing = true;
          })
          .finally(() => {
            ticking = null;
          });
      }, options.poll ?? 1000);
    },
    async stop(): Promise<void> {
      if (timer !== null) clearInterval(timer);
      timer = null;
      await ticking;
    },
  };
}

/**
 * Returns a function that tells whether the clock was set back since its last call, by more than ordinary corrections.
 */
function watchClock(clock: Clock, monotonic: () => number = () => performance.now()) {
  let last = { wall: clock().getTime(), monotonic: monotonic() };
  return (now: Date): boolean => {
    const look = { wall: now.getTime(), monotonic: monotonic() };
    const jump = look.wall - last.wall - (look.monotonic - last.monotonic);
    last = look;
    return jump < -MAX_DRIFT_MS;
  };
}

/**
 * Why a text is not a valid cron expression, in words; null if it is valid. Five fields (minute hour day month weekday),
 * with names, ranges, steps and lists. Refuses six fields, which the library would read with seconds first although
 * others end with a year, a date ("2030-01-01T00:00:00"), and a pattern that never matches (31 February).
 */
export function cronProblem(expression: string): string | null {
  const fields = expression.split(/\s+/).filter((field) => field !== '').length;
  if (!expression.trim().startsWith('@') && fields !== 5)
    return `it has ${fields} field${fields === 1 ? '' : 's'}: use five, minute hour day month weekday, for example 0 7 * * 1-5`;
  try {
    // Uses local time: a zone would make the library load the tables of all zones.
    return new Cron(expression, { paused: true }).nextRun(new Date(0)) === null ? 'it never matches a date' : null;
  } catch (error) {
    return `use minute hour day month weekday, for example 0 7 * * 1-5 (${String(error)
      .replace(/^.*CronPattern: /, '')
      .replace(/\.$/, '')})`;
  }
}

/**
 * The first time strictly after `after` that matches the expression in an IANA time zone; null if there is none. When the
 * clock changes, an expression with one minute and one hour runs once a day: at the first minute after the gap if its
 * time is skipped, and only the first time if it comes twice. With a list, range or step in either field, a skipped time
 * is left out and a repeated one runs twice (docs/configuration.md, Schedules). Throws if the expression or zone is
 * invalid.
 */
export function nextTime(expression: string, timeZone: string, after: Date): Date | null {
  return new Cron(expression, { timezone: timeZone, paused: true }).nextRun(after);
}

/** Milliseconds between the next two times of an expression. */
export function intervalOf(expression: string, timeZone: string, now: Date): number {
  const [first, second] = new Cron(expression, { timezone: timeZone, paused: true }).nextRuns(2, now);
  return first === undefined || second === undefined ? Number.POSITIVE_INFINITY : second.getTime() - first.getTime();
}
