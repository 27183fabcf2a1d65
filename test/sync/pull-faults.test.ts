import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { loadPosition } from '../../src/sync/position.ts';
import { type Fault, fakeConsentLog, minuteRows } from './fake-consent-log.ts';
import { syncingWith } from './syncing.ts';

const start = '2026-07-01T00:00:00.000Z';
const now = new Date('2026-07-10T00:00:00.000Z');

async function world(count: number, fault: (nth: number, query: URLSearchParams) => Fault | null) {
  const fake = await fakeConsentLog(minuteRows(count, start), { pageRows: 10, date: () => now, fault });
  const syncing = await syncingWith(fake.baseUrl, now);
  const position = () => loadPosition(syncing.store.read, 'acme', 'bnr_1');
  const heal = () => {
    fake.options = { pageRows: 10, date: () => now };
  };
  return { fake, syncing, position, heal };
}
const at = (nth: number, fault: Fault) => (request: number) => (request === nth ? fault : null);

describe('a pull from a service with faults', () => {
  it.each<Fault>([
    { type: 'status', status: 500 },
    { type: 'status', status: 429, retryAfter: '0' },
    { type: 'truncated' },
    { type: 'dropped' },
    { type: 'empty' },
    { type: 'repeated' },
  ])('continues after $type $status in the middle, every row once', async (fault) => {
    const { fake, syncing } = await world(35, at(2, fault));
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', stored: 35 });
    expect(await syncing.bodies()).toEqual(fake.rows.map(({ text }) => text));
  });

  it('fails with the remedy if the service stays down, keeps its place, and continues there', async () => {
    const { fake, syncing, position, heal } = await world(35, (nth) =>
      nth > 2 ? { type: 'status', status: 500 } : null,
    );
    const failed = await syncing.pull();
    expect(failed).toMatchObject({ outcome: 'failed', reason: 'server-error', stored: 20, watermark: null });
    expect(failed.outcome === 'failed' && failed.error).toMatch(/internal error.*HTTP 500.*Try again later/);
    expect(await position()).toMatchObject({
      last_error: failed.outcome === 'failed' && failed.error,
      last_error_at: now.toISOString(),
    });
    heal();
    const before = fake.requests.length;
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', resumed: true, stored: 15 });
    // The two remaining pages, then the new rows: the look-back, which has none.
    expect(fake.requests.slice(before).map((query) => query.has('cursor'))).toEqual([true, true, false]);
    expect(await position()).toMatchObject({
      cursor: null,
      run_id: null,
      last_error: null,
      rows_total: 35,
      watermark: now.toISOString(),
    });
    expect((await syncing.actions()).map(({ action }) => action)).toEqual([
      'sync.failed',
      'sync.finished',
      'sync.finished',
    ]);
  });

  it.each([401, 402, 403, 404] as const)('fails at once with the remedy if the service answers %i', async (status) => {
    const { fake, syncing, position } = await world(5, () => ({ type: 'status', status }));
    const failed = await syncing.pull();
    expect(failed).toMatchObject({ outcome: 'failed', pages: 0 });
    expect(fake.requests).toHaveLength(1);
    if (status === 404) expect(await position()).toBeNull();
    else expect((await position())?.last_error).toContain(`HTTP ${status}`);
    expect(await syncing.actions()).toMatchObject([{ action: 'sync.failed', rows: 0 }]);
  });

  it('reports a looping cursor, keeps the rows it read, and starts over next time', async () => {
    const { fake, syncing, position, heal } = await world(55, at(4, { type: 'looping' }));
    const failed = await syncing.pull();
    expect(failed).toMatchObject({ outcome: 'failed', reason: 'looping-cursor', stored: 40 });
    expect(failed.outcome === 'failed' && failed.error).toContain('page 4 leads back to the page after page 1');
    expect(await position()).toMatchObject({ cursor: null, run_id: null, watermark: null });
    heal();
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', resumed: false, stored: 15, duplicates: 40 });
    expect((await syncing.bodies()).length).toBe(fake.rows.length);
  });

  it('keeps its place if pagination is stuck, and gives it up if the next run gets no further', async () => {
    const { syncing, position } = await world(0, () => null);
    const rows = [{ bytes: Buffer.from('{"id":1}'), value: { id: 1 }, isUtf8: true }];
    const asked: (string | null)[] = [];
    syncing.deps.service.fetchConsentLogPage = ({ cursor }) => {
      asked.push(cursor);
      return Promise.resolve({
        rows: cursor === null ? rows : [],
        nextCursor: cursor === null ? 'a' : 'b',
        serverDate: null,
        damage: null,
      });
    };
    const first = await syncing.pull();
    expect(first).toMatchObject({
      outcome: 'failed',
      reason: 'looping-cursor',
      error: expect.stringContaining('Pagination is stuck') as string,
    });
    expect(await position()).toMatchObject({ cursor: 'b' });
    expect(asked).toEqual([null, 'a', 'b', 'b', 'b', 'b']);
    expect(await syncing.pull()).toMatchObject({ outcome: 'failed', reason: 'looping-cursor', resumed: true });
    expect(await position()).toMatchObject({ cursor: null, run_id: null });
  });

  it('ends although the service repeats one page for ever', async () => {
    const { fake, syncing } = await world(55, (nth) => (nth >= 3 ? { type: 'repeated' } : null));
    const failed = await syncing.pull();
    expect(failed).toMatchObject({ outcome: 'failed', reason: 'repeating-page', stored: 30 });
    expect(failed.outcome === 'failed' && failed.error).toContain('returning the rows of page 3');
    expect(fake.requests.length).toBeLessThan(15);
  });

  it('ends although the service gives empty pages for ever', async () => {
    const { fake, syncing } = await world(55, (nth) => (nth >= 2 ? { type: 'empty' } : null));
    expect(await syncing.pull()).toMatchObject({ outcome: 'failed', reason: 'endless-empty-pages', stored: 10 });
    expect(fake.requests.length).toBeLessThan(110);
  });

  it.each([400, 404, 410] as const)('starts the window over once when its cursor has expired (%i)', async (status) => {
    const { fake, syncing } = await world(35, at(3, { type: 'expired', status }));
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', restarted: true, stored: 35, duplicates: 20 });
    expect(await syncing.bodies()).toEqual(fake.rows.map(({ text }) => text));
  });

  it('starts the window over if the cursor of an interrupted run has expired since', async () => {
    const { syncing, heal, fake } = await world(35, (nth) => (nth > 2 ? { type: 'status', status: 500 } : null));
    await syncing.pull();
    const seen = fake.requests.length;
    fake.options = { pageRows: 10, date: () => now, fault: at(seen + 1, { type: 'expired', status: 410 }) };
    expect(await syncing.pull()).toMatchObject({
      outcome: 'finished',
      resumed: true,
      restarted: true,
      stored: 15,
      duplicates: 20,
    });
    heal();
  });

  it('says that the banner is unknown, not that a cursor expired, if the banner vanishes during a run', async () => {
    const { syncing } = await world(35, (nth) => (nth > 1 ? { type: 'status', status: 404 } : null));
    expect(await syncing.pull()).toMatchObject({ outcome: 'failed', reason: 'not-found', stored: 10 });
  });
});

describe('a pull that is interrupted', () => {
  it('is cancelled by its signal between pages and continues from its cursor', async () => {
    const { fake, syncing } = await world(95, () => null);
    const controller = new AbortController();
    const cancelled = await syncing.pull({
      signal: controller.signal,
      onProgress: ({ pages }) => pages === 3 && controller.abort(),
    });
    expect(cancelled).toMatchObject({ outcome: 'cancelled', stored: 30 });
    const before = fake.requests.length;
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', resumed: true, stored: 65, duplicates: 0 });
    expect(fake.requests.length - before).toBe(8);
    expect(await syncing.bodies()).toEqual(fake.rows.map(({ text }) => text));
  });

  it('stores neither a page without its cursor nor a cursor without its page if the store fails', async () => {
    const { fake, syncing, position } = await world(95, () => null);
    let commits = 0;
    const { append } = syncing.ledger;
    syncing.ledger.append = (entries, also) =>
      append(entries, async (tx, appended) => {
        await also?.(tx, appended);
        commits += 1;
        if (commits === 4)
          throw new StoreUnavailable('disk full', {
            cause: Object.assign(new Error('SQLITE_FULL'), { code: 'SQLITE_FULL' }),
          });
      });
    await expect(syncing.pull()).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await syncing.bodies()).toEqual(fake.rows.slice(0, 30).map(({ text }) => text));
    expect((await position())?.rows_total).toBe(30);
    syncing.ledger.append = append;
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', resumed: true, stored: 65, duplicates: 0 });
  });

  it('gives way to a later run of the same banner', async () => {
    const { syncing, position } = await world(95, () => null);
    let later: ReturnType<typeof syncing.pull> | undefined;
    const service = syncing.deps.service.fetchConsentLogPage;
    let nth = 0;
    syncing.deps.service.fetchConsentLogPage = async (...query) => {
      nth += 1;
      if (nth === 4) {
        later = syncing.pull({ full: true });
        await later;
      }
      return service(...query);
    };
    const first = await syncing.pull();
    expect(await later).toMatchObject({ outcome: 'finished' });
    expect(first).toMatchObject({ outcome: 'superseded' });
    expect((await syncing.bodies()).length).toBe(95);
    expect(await position()).toMatchObject({ run_id: null, cursor: null, rows_total: 95 });
  });

  it('fetches the next page while one is being committed', async () => {
    const { fake, syncing } = await world(30, () => null);
    const { append } = syncing.ledger;
    const requestsAtCommit: number[] = [];
    syncing.ledger.append = async (entries, also) => {
      await expect.poll(() => fake.requests.length).toBeGreaterThanOrEqual(Math.min(3, requestsAtCommit.length + 2));
      requestsAtCommit.push(fake.requests.length);
      return append(entries, also);
    };
    await syncing.pull();
    // The second page, and as soon as that has arrived, the third.
    expect(requestsAtCommit[0]).toBeGreaterThanOrEqual(2);
    expect(requestsAtCommit[1]).toBe(3);
  });
});
