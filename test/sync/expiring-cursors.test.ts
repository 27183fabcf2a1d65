import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { loadPosition } from '../../src/sync/position.ts';
import { recountConsentLogs } from '../../src/sync/recount.ts';
import { loadSyncStatus } from '../../src/sync/status.ts';
import { type FakeOptions, type FakeRow, fakeConsentLog, minuteRows } from './fake-consent-log.ts';
import { sourceAt, syncingWith } from './syncing.ts';

const now = new Date('2026-07-10T00:00:00.000Z');
const DAY = 86_400_000;

/** Rows spread evenly over the days before now. */
function rowsOver(days: number, perDay: number, bannerId = 'bnr_1'): FakeRow[] {
  return Array.from({ length: days * perDay }, (_, index) => {
    const at = now.getTime() - days * DAY + Math.floor((index * DAY) / perDay);
    const text = JSON.stringify({
      id: `${bannerId}_${index}`,
      banner_id: bannerId,
      created_at: new Date(at).toISOString(),
    });
    return { bannerId, at, text };
  });
}

/** Rows with the same time. */
function burst(count: number, at: string, bannerId = 'bnr_1'): FakeRow[] {
  return Array.from({ length: count }, (_, index) => ({
    bannerId,
    at: Date.parse(at),
    text: JSON.stringify({ id: `burst_${bannerId}_${index}`, banner_id: bannerId, created_at: at }),
  }));
}

describe('a service that gives pages over the size limit', () => {
  it('is read period by period', async () => {
    const { syncing, fake, expected, stored, position } = await world(rowsOver(6, 1000), { ignoresLimit: true });
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', stored: 6000 });
    expect(await stored()).toEqual(expected());
    expect(await position()).toMatchObject({ watermark: now.toISOString(), gaps: null });
    expect(fake.requests.length).toBeLessThan(60);
  });

  it('is read except for one second that does not fit, which is named', async () => {
    const rows = [...rowsOver(2, 100), ...burst(5001, '2026-07-08T12:00:00.500Z')];
    const { syncing, stored } = await world(rows, { ignoresLimit: true });
    const ended = await syncing.pull();
    expect(ended).toMatchObject({ outcome: 'failed', error: expect.stringContaining('2026-07-08T12:00:00') });
    expect(await stored()).toHaveLength(200);
  });

  it('ends soon if every period is as large', async () => {
    const { syncing, fake } = await world(rowsOver(1, 5001), { ignoresLimit: true, ignoresPeriod: true });
    expect(await syncing.pull()).toMatchObject({ outcome: 'failed', reason: 'too-large', stored: 0 });
    expect(fake.requests.length).toBeLessThan(100);
  });
});

async function world(rows: readonly FakeRow[], options: FakeOptions) {
  const shape = { pageRows: 10, date: () => now, ...options };
  const fake = await fakeConsentLog(rows, shape);
  const syncing = await syncingWith(fake.baseUrl, now);
  const expected = () => fake.rows.map(({ text }) => text).sort();
  const stored = async () => (await syncing.bodies()).sort();
  const position = (bannerId = 'bnr_1') => loadPosition(syncing.store.read, 'acme', bannerId);
  const status = async () => loadSyncStatus(syncing.store.read, () => now, [sourceAt(fake.baseUrl)]);
  return { fake, shape, syncing, expected, stored, position, status };
}

describe('a service whose cursors expire after a few pages', () => {
  for (const order of ['ascending', 'descending'] as const) {
    it.each([0, 1, 2, 3, 7])(`is read to its end in one run, ${order}, if they last %i pages`, async (pages) => {
      const { expected, stored, syncing, position } = await world(rowsOver(10, 15), {
        order,
        cursorsExpireAfter: { pages, status: 400 },
      });
      expect(await syncing.pull()).toMatchObject({ outcome: 'finished', stored: 150, restarted: true });
      expect(await stored()).toEqual(expected());
      expect(await position()).toMatchObject({ watermark: now.toISOString(), cursor: null, gaps: null });
    });

    it(`is read to its end if most rows are of one day, ${order}`, async () => {
      const rows = [...rowsOver(5, 4), ...minuteRows(200, '2026-07-07T03:00:00.000Z')];
      const { expected, stored, syncing } = await world(rows, { order, cursorsExpireAfter: { pages: 2, status: 410 } });
      expect(await syncing.pull()).toMatchObject({ outcome: 'finished' });
      expect(await stored()).toEqual(expected());
    });
  }

  it.each([400, 404, 405, 409, 410, 414, 431, 500, 503] as const)(
    'is read to its end whatever status the refusal has (%i)',
    async (status) => {
      const { expected, stored, syncing } = await world(rowsOver(3, 10), { cursorsExpireAfter: { pages: 1, status } });
      expect(await syncing.pull()).toMatchObject({ outcome: 'finished' });
      expect(await stored()).toEqual(expected());
    },
  );

  it('is read to its end if every run is stopped after a few pages', async () => {
    const { expected, stored, syncing } = await world(rowsOver(20, 15), {
      cursorsExpireAfter: { pages: 3, status: 400 },
    });
    let runs = 0;
    for (let outcome = ''; outcome !== 'finished'; runs += 1) {
      expect(runs).toBeLessThan(40);
      const controller = new AbortController();
      const onProgress = ({ pages }: { pages: number }) => pages >= 5 && controller.abort();
      ({ outcome } = await syncing.pull({ signal: controller.signal, onProgress }));
    }
    expect(runs).toBeGreaterThan(3);
    expect(await stored()).toEqual(expected());
  });

  it('is read to its end if every process dies after a few commits', async () => {
    const { expected, stored, syncing } = await world(rowsOver(20, 15), {
      cursorsExpireAfter: { pages: 3, status: 400 },
    });
    const { append } = syncing.ledger;
    let deaths = 0;
    for (let isDone = false; !isDone; ) {
      let commits = 0;
      syncing.ledger.append = (entries, also) => {
        commits += 1;
        return commits > 6 ? Promise.reject(new StoreUnavailable('killed')) : append(entries, also);
      };
      isDone = await syncing.pull().then(
        ({ outcome }) => outcome === 'finished',
        () => false,
      );
      deaths += 1;
      expect(deaths).toBeLessThan(40);
    }
    expect(deaths).toBeGreaterThan(3);
    expect(await stored()).toEqual(expected());
  });

  it('is read by banner if one moment has more rows than it gives', async () => {
    const at = '2026-07-07T03:00:00.000Z';
    const rows = [...rowsOver(4, 6), ...burst(15, at), ...burst(15, at, 'bnr_2'), ...burst(15, at, 'bnr_3')];
    const { expected, stored, syncing, fake } = await world(rows, { cursorsExpireAfter: { pages: 1, status: 400 } });
    const source = sourceAt(fake.baseUrl, { banners: ['bnr_1', 'bnr_2', 'bnr_3'] });
    expect(await syncing.pull({ bannerId: null, source })).toMatchObject({ outcome: 'finished' });
    expect(await stored()).toEqual(expected());
  });

  it('has its unreachable rows named and all others stored, continues with new rows, and recovers', async () => {
    const rows = [...rowsOver(9, 15), ...burst(50, '2026-07-07T03:00:00.000Z')];
    const { fake, shape, expected, stored, syncing, position, status } = await world(rows, {
      cursorsExpireAfter: { pages: 1, status: 400 },
    });
    const first = await syncing.pull();
    expect(first).toMatchObject({ outcome: 'failed', reason: 'cursor-expired', watermark: '2026-07-07T02:59:59.000Z' });
    expect(first.outcome === 'failed' && first.error).toContain(
      '2026-07-07T02:59:59.000Z to 2026-07-07T03:00:01.000Z.',
    );
    expect(first.outcome === 'failed' && first.error).toContain('--full');
    expect(await stored()).toHaveLength(9 * 15 + 20);
    expect((await status())[0]?.gap).toContain('2026-07-07T03:00:01.000Z');
    expect(await position()).toMatchObject({ cursor: null, run_plan: null, read_to: now.toISOString() });

    // The next run requests new rows and the gap, not the whole log.
    fake.rows = [...fake.rows, ...burst(3, '2026-07-10T01:00:00.000Z')];
    syncing.now = new Date(now.getTime() + 2 * 3_600_000);
    const before = fake.requests.length;
    expect(await syncing.pull()).toMatchObject({ outcome: 'failed', stored: 3 });
    expect(fake.requests.length - before).toBeLessThan(40);

    fake.options = { ...shape, cursorsExpireAfter: null };
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', watermark: now.toISOString() });
    expect(await stored()).toEqual(expected());
    expect((await status())[0]?.gap).toBeNull();
  });

  it.each(['inclusive', 'exclusive'] as const)(
    'is read by the day if it truncates times to days (to is %s), and does not lose a row to an empty period',
    async (days) => {
      const rows = [...rowsOver(9, 25), ...minuteRows(70, '2026-07-06T10:00:00.000Z')];
      const { fake, stored, syncing } = await world(rows, {
        cutsToDays: days,
        cursorsExpireAfter: { pages: 4, status: 400 },
      });
      const result = await syncing.pull();
      expect(result).toMatchObject({ outcome: 'failed', reason: 'cursor-expired' });
      expect(result.outcome === 'failed' && result.error).toContain('completely: 2026-07-06.');
      // Only the last rows of the day with too many rows are missing.
      const have = new Set(await stored());
      const missing = fake.rows.filter(({ text }) => !have.has(text));
      expect(missing.length).toBeLessThanOrEqual(95 - 50);
      expect(missing.every(({ at }) => new Date(at).toISOString().startsWith('2026-07-06'))).toBe(true);
      expect(fake.requests.length).toBeLessThan(400);
    },
  );

  it('ends in bounded time if it ignores the period', async () => {
    const { fake, syncing } = await world(rowsOver(20, 15), {
      ignoresPeriod: true,
      cursorsExpireAfter: { pages: 2, status: 400 },
    });
    expect(await syncing.pull()).toMatchObject({ outcome: 'failed', reason: 'cursor-expired', stored: 30 });
    expect(fake.requests.length).toBeLessThan(200);
  });

  it('is recounted to the end', async () => {
    const { fake, shape, syncing } = await world(rowsOver(6, 30), {});
    await syncing.pull();
    fake.options = { ...shape, cursorsExpireAfter: { pages: 1, status: 400 } };
    const deps = { ...syncing.deps, catchUp: () => Promise.resolve() };
    const request = { source: sourceAt(fake.baseUrl), bannerId: 'bnr_1', actor: 'test' };
    expect(await recountConsentLogs(deps, request)).toMatchObject({ outcome: 'counted', found: 0 });
  });
});

it('a sync stops after a few requests to a service that gives only cursors and refuses them', async () => {
  const { syncing, fake } = await world(rowsOver(6, 15), {
    fault: () => ({ type: 'empty' }),
    cursorsExpireAfter: { pages: 0, status: 400 },
  });
  expect(await syncing.pull()).toMatchObject({ outcome: 'failed', reason: 'cursor-expired', watermark: null });
  expect(fake.requests.length).toBeLessThan(15);
});

describe('a next cursor of megabytes', () => {
  it('is neither sent nor kept, and the rows after it are still read', async () => {
    const { fake, expected, stored, syncing, position } = await world(rowsOver(6, 15), { cursorBytes: 500_000 });
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished' });
    expect(await stored()).toEqual(expected());
    expect(fake.requests.every((query) => (query.get('cursor') ?? '').length < 10_000)).toBe(true);
    expect(await position()).toMatchObject({ cursor: null });
  });
});
