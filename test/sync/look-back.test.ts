import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ConsentLogQuery } from '../../src/service/consent-logs.ts';
import { ServiceError } from '../../src/service/service-error.ts';
import { loadPosition } from '../../src/sync/position.ts';
import { pullConsentLogs } from '../../src/sync/pull.ts';
import type { PullRequest } from '../../src/sync/pull-result.ts';
import { runs } from '../temporary.ts';
import { sourceAt, syncingWith } from './syncing.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SLOT = 6 * HOUR;
const start = Date.parse('2026-07-01T00:00:00.000Z');
const iso = (at: number) => new Date(at).toISOString();

/** What the service takes for the beginning of a period: a time; a day, or a time without offset, of its own zone. */
type Takes = 'times' | 'dates' | 'no-offset' | 'times-as-dates';

interface Shown {
  readonly id: string;
  readonly at: number;
  /** When the log shows it. */
  readonly since: number;
}

/** A service whose log shows rows late, in pages of three. Its clock may be behind ours; null: it does not say. */
async function lateService(takes: Takes = 'times', zoneHours = 0, minutesBehind: number | null = null) {
  const log: Shown[] = [];
  const requests: { readonly from: string | null; readonly rows: number }[] = [];
  let failsAt = Number.POSITIVE_INFINITY;
  let pages = 0;
  const startOf = (from: string): number => {
    if (takes === 'times') return Date.parse(from);
    if (takes === 'no-offset' && /Z$/.test(from)) throw new ServiceError('bad-request');
    if (takes === 'no-offset') return Date.parse(`${from}Z`) - zoneHours * HOUR;
    if (takes === 'dates' && from.length > 10) throw new ServiceError('bad-request');
    return Date.parse(from.slice(0, 10)) - zoneHours * HOUR;
  };
  const syncing = await syncingWith('http://service.test/api/v1', new Date(start));
  const service = {
    fetchConsentLogPage: ({ from, cursor }: ConsentLogQuery) =>
      Promise.resolve().then(() => {
        const begin = from === null ? Number.NEGATIVE_INFINITY : startOf(from);
        pages += 1;
        if (pages >= failsAt) throw new ServiceError('payment-required');
        const shown = log
          .filter(({ at, since }) => at >= begin && since <= syncing.now.getTime())
          .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
        const after = cursor === null ? 0 : shown.findIndex(({ id }) => id === cursor) + 1;
        const page = shown.slice(after, after + 3);
        requests.push({ from, rows: page.length });
        const nextCursor = shown.length > after + 3 ? (page.at(-1)?.id ?? null) : null;
        const rows = page.map(({ id, at }) => {
          const value = { id, created_at: iso(at) };
          return { bytes: Buffer.from(JSON.stringify(value)), value, isUtf8: true };
        });
        const serverDate = minutesBehind === null ? null : new Date(syncing.now.getTime() - minutesBehind * MINUTE);
        return { rows, nextCursor, serverDate, damage: null };
      }),
  };
  const source = sourceAt('http://service.test/api/v1');
  const pull = async (at: number, request: Partial<PullRequest> = {}, lookBackHours = 24) => {
    syncing.now = new Date(at);
    pages = 0;
    const deps = { ...syncing.deps, service, lookBackMs: lookBackHours * HOUR };
    return pullConsentLogs(deps, { source, bannerId: 'bnr_1', actor: 'test', ...request });
  };
  return {
    log,
    requests,
    syncing,
    pull,
    /** The nth page of each following pull fails. */
    fail: (nth: number) => void (failsAt = nth),
    stored: async () => new Set((await syncing.bodies()).map((body) => (JSON.parse(body) as { id: string }).id)),
    position: () => loadPosition(syncing.store.read, 'acme', 'bnr_1'),
  };
}

const longAgo = { id: 'first', at: start - 10 * 24 * HOUR, since: 0 };

describe('a pull every quarter of an hour', () => {
  it('begins an hour before the last one, and four times a day a day before it', async () => {
    const { log, requests, pull } = await lateService();
    log.push(longAgo);
    await pull(start);
    for (let at = start + 15 * MINUTE; at <= start + 48 * HOUR; at += 15 * MINUTE) await pull(at);
    const begins = requests.slice(1).map(({ from }, place) => start + place * 15 * MINUTE - Date.parse(from ?? ''));
    const far = begins.filter((before) => before !== HOUR);
    expect(begins).toHaveLength(192);
    expect(far).toHaveLength(8);
    for (const before of far) {
      expect(before).toBeGreaterThanOrEqual(24 * HOUR);
      expect(before).toBeLessThan(24 * HOUR + SLOT);
    }
  });

  it('looks far back for different banners at different times', async () => {
    const { log, requests, pull } = await lateService();
    log.push(longAgo);
    const banners = Array.from({ length: 20 }, (_, nth) => `bnr_${nth}`);
    for (const bannerId of banners) await pull(start, { bannerId });
    const first = new Map<string, number>();
    for (let at = start + HOUR; at <= start + SLOT; at += HOUR)
      for (const bannerId of banners) {
        await pull(at, { bannerId });
        const isFar = at - Date.parse(requests.at(-1)?.from ?? '') >= 24 * HOUR;
        if (isFar && !first.has(bannerId)) first.set(bannerId, at);
      }
    expect(first.size).toBe(banners.length);
    const together = [...first.values()].map((at) => [...first.values()].filter((other) => other === at).length);
    expect(Math.max(...together)).toBeLessThan(banners.length / 2);
  });

  it('looks far back again until a run that does so has ended', async () => {
    const { log, pull, fail, stored, requests } = await lateService();
    log.push(longAgo);
    await pull(start);
    for (let nth = 0; nth < 12; nth += 1)
      log.push({ id: `late_${nth}`, at: start - 20 * HOUR + nth * MINUTE, since: start + 5 * MINUTE });
    fail(1);
    for (let at = start + 15 * MINUTE; at <= start + SLOT; at += 15 * MINUTE) await pull(at);
    // The first one that is answered looks far back, and is stopped after two of its five pages.
    fail(3);
    await pull(start + SLOT + 5 * MINUTE);
    expect((await stored()).size).toBe(7);
    fail(Number.POSITIVE_INFINITY);
    await pull(start + SLOT + 15 * MINUTE);
    expect((await stored()).size).toBe(log.length);
    const before = requests.length;
    await pull(start + SLOT + 30 * MINUTE);
    expect(requests.slice(before).map(({ from }) => from)).toEqual([iso(start + SLOT + 15 * MINUTE - HOUR)]);
  });
});

it('a pull once a day always looks a day back, as does the first one after a pause', async () => {
  const { log, requests, pull } = await lateService();
  log.push(longAgo);
  for (const day of [0, 1, 2, 9]) await pull(start + day * 24 * HOUR);
  const [, ...begins] = requests.map(({ from }) => Date.parse(from ?? ''));
  for (const [place, readTo] of [0, 1, 2].entries()) {
    expect(begins[place]).toBeLessThanOrEqual(start + (readTo - 1) * 24 * HOUR);
    expect(begins[place]).toBeGreaterThan(start + (readTo - 1) * 24 * HOUR - SLOT);
  }
});

it('a window requested by an officer moves the watermark, but not the beginning of the next scheduled pull', async () => {
  const { log, requests, pull, stored, position } = await lateService();
  log.push(longAgo);
  await pull(start);
  log.push({ id: 'late', at: start - 20 * HOUR, since: start + MINUTE });
  const later = start + 30 * HOUR;
  expect(await pull(later, { from: iso(start) })).toMatchObject({ outcome: 'finished', watermark: iso(later) });
  expect(await position()).toMatchObject({ watermark: iso(later), read_to: iso(start) });
  expect(await stored()).not.toContain('late');
  await pull(later + 15 * MINUTE);
  expect(Date.parse(requests.at(-1)?.from ?? '')).toBeLessThanOrEqual(start - 24 * HOUR);
  expect(await stored()).toContain('late');
  expect(await position()).toMatchObject({ watermark: iso(later + 15 * MINUTE), read_to: iso(later + 15 * MINUTE) });
});

it('a watermark that an officer’s window set to the future is corrected', async () => {
  const { log, pull } = await lateService();
  log.push(longAgo);
  await pull(start);
  await pull(start + 400 * 24 * HOUR, { from: iso(start) });
  expect(await pull(start + HOUR)).toMatchObject({ from: null, watermark: iso(start + HOUR) });
});

it.each([1, 2, 72, 720])('finds rows that are up to %i hours late, if the setting says so', async (hours) => {
  const { log, pull, stored } = await lateService();
  log.push(longAgo);
  await pull(start, {}, hours);
  log.push({ id: 'late', at: start + MINUTE - hours * HOUR, since: start + MINUTE });
  for (let at = start + HOUR; at <= start + SLOT + HOUR; at += HOUR) await pull(at, {}, hours);
  expect(await stored()).toContain('late');
});

it('a service that cuts times to dates of its own zone delays rows until the next far look back, and loses none', async () => {
  const { log, pull, stored } = await lateService('times-as-dates', -8);
  log.push(longAgo);
  await pull(start);
  for (let at = start + MINUTE; at <= start + 48 * HOUR; at += 40 * MINUTE)
    log.push({ id: `row_${at}`, at, since: at });
  for (let at = start + 30 * MINUTE; at <= start + 36 * HOUR; at += 30 * MINUTE) {
    await pull(at);
    const found = await stored();
    const due = log.filter(({ since }) => since <= at - SLOT);
    expect(due.filter(({ id }) => !found.has(id))).toEqual([]);
  }
});

it('a service that turns out to take dates of its own zone gives the rows of that pull with the next one', async () => {
  const { log, pull, stored, position } = await lateService('dates', -12);
  log.push(longAgo);
  await pull(start);
  log.push({ id: 'new', at: start + MINUTE, since: start + MINUTE });
  // The date of an hour before begins twelve hours later there.
  await pull(start + 61 * MINUTE);
  expect(await position()).toMatchObject({ read_to: iso(start) });
  await pull(start + 76 * MINUTE);
  expect(await stored()).toContain('new');
});

/** One step: time passes, then the service is pulled. */
const step = fc.record({
  minutes: fc.oneof(
    { weight: 6, arbitrary: fc.constant(15) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 90 }) },
    { weight: 1, arbitrary: fc.integer({ min: 90, max: 2000 }) },
  ),
  how: fc.oneof(
    { weight: 12, arbitrary: fc.constant({ is: 'scheduled' } as const) },
    { weight: 2, arbitrary: fc.record({ is: fc.constant('failing' as const), page: fc.integer({ min: 1, max: 4 }) }) },
    { weight: 2, arbitrary: fc.record({ is: fc.constant('stopped' as const), page: fc.integer({ min: 1, max: 4 }) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        is: fc.constant('window' as const),
        from: fc.integer({ min: 0, max: 3000 }),
        to: fc.option(fc.integer({ min: -100, max: 1000 }), { nil: null }),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ is: 'full' } as const) },
  ),
  rows: fc.array(
    fc.record({
      /** Before the end of the step. */
      at: fc.integer({ min: 0, max: 90 }),
      late: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 24 * 60 })),
    }),
    { maxLength: 3 },
  ),
});

it('every row up to a day late comes within six hours and one pull, up to an hour late with the next', async () => {
  let [far, near] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 60 }),
      fc.constantFrom<[Takes, number]>(
        ['times', 0],
        ['dates', 0],
        ['dates', -12],
        ['dates', 14],
        ['no-offset', -12],
        ['no-offset', 0],
        ['no-offset', 14],
      ),
      fc.constantFrom(1, 24, 24, 48),
      fc.constantFrom(null, 0, 10, 200),
      async (steps, [takes, zoneHours], lookBackHours, minutesBehind) => {
        const { log, pull, stored, fail, syncing, requests } = await lateService(takes, zoneHours, minutesBehind);
        log.push(longAgo);
        let at = start;
        await pull(at, {}, lookBackHours);
        // The form is learned from the first refusal.
        await pull(at, {}, lookBackHours);
        for (const { minutes, how, rows } of steps) {
          at += minutes * MINUTE;
          for (const { at: before, late } of rows) {
            const since = at - (before % minutes) * MINUTE;
            log.push({ id: `row_${log.length}`, at: since - Math.min(late, lookBackHours * 60) * MINUTE, since });
          }
          if (how.is === 'window') {
            const [from, to] = [at - how.from * MINUTE, how.to === null ? null : at - how.to * MINUTE];
            await pull(at, { from: iso(from), ...(to === null || to < from ? {} : { to: iso(to) }) }, lookBackHours);
            continue;
          }
          const controller = new AbortController();
          fail(how.is === 'failing' ? how.page : Number.POSITIVE_INFINITY);
          const { outcome } = await pull(
            at,
            {
              full: how.is === 'full',
              signal: controller.signal,
              onProgress: ({ pages }) => how.is === 'stopped' && pages >= how.page && controller.abort(),
            },
            lookBackHours,
          );
          fail(Number.POSITIVE_INFINITY);
          if (outcome !== 'finished' || how.is === 'full') continue;
          const found = await stored();
          const due = log.filter(({ since, at: time }) => since <= at - SLOT || (since <= at && since - time <= HOUR));
          expect(due.filter(({ id }) => !found.has(id))).toEqual([]);
          for (const { from } of requests.splice(0))
            if (from !== null && at - Date.parse(from) > 23 * HOUR) far += 1;
            else near += 1;
        }
        await syncing.close();
      },
    ),
    { numRuns: runs(15) },
  );
  // With only one of both, the property would prove nothing.
  expect(Math.min(far, near)).toBeGreaterThan(20);
});
