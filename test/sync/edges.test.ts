import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { loadPosition } from '../../src/sync/position.ts';
import { loadSyncStatus } from '../../src/sync/status.ts';
import { type FakeOptions, type Fault, fakeConsentLog, minuteRows } from './fake-consent-log.ts';
import { sourceAt, syncingWith } from './syncing.ts';

const start = '2026-07-01T00:00:00.000Z';
const now = new Date('2026-07-10T00:00:00.000Z');
const hours = (count: number) => count * 3_600_000;

async function world(count: number, options: FakeOptions = {}) {
  const fake = await fakeConsentLog(minuteRows(count, start), { pageRows: 10, date: () => now, ...options });
  const syncing = await syncingWith(fake.baseUrl, now);
  const source = sourceAt(fake.baseUrl, { banners: ['bnr_1'] });
  const heal = () => {
    fake.options = { pageRows: 10, date: () => now };
  };
  /** The process is killed at its nth commit. */
  const dieAt = (nth: number) => {
    const { append } = syncing.ledger;
    let commits = 0;
    syncing.ledger.append = (entries, also) => {
      commits += 1;
      return commits >= nth ? Promise.reject(new StoreUnavailable('killed')) : append(entries, also);
    };
    return () => {
      syncing.ledger.append = append;
    };
  };
  return {
    fake,
    syncing,
    heal,
    dieAt,
    position: () => loadPosition(syncing.store.read, 'acme', 'bnr_1'),
    status: async () => (await loadSyncStatus(syncing.store.read, () => syncing.now, [source]))[0],
  };
}

const away: Fault = { type: 'status', status: 402 };

describe('a run that is resumed by a later one', () => {
  it('does not skip the broken piece that the interrupted run met', async () => {
    const { fake, syncing, heal, position } = await world(45);
    const rows = fake.rows;
    fake.rows = rows.map((row, place) => (place === 12 ? { ...row, text: '{"id":NaN}' } : row));
    // Page 2, which is requested four times, has an unreadable piece; the run fails at page 3.
    fake.options = { ...fake.options, fault: (nth) => (nth > 5 ? away : null) };
    expect(await syncing.pull()).toMatchObject({ outcome: 'failed', unreadable: 1 });
    heal();
    // All rows are readable now.
    fake.rows = rows;
    await syncing.pull();
    await syncing.pull();
    expect((await syncing.bodies()).sort()).toEqual(rows.map(({ text }) => text).sort());
    expect(await position()).toMatchObject({ watermark: now.toISOString(), unreadable_total: 1 });
  });

  it('keeps the beginning of the log that the interrupted run saw', async () => {
    const { syncing, heal, status } = await world(45, { fault: (nth) => (nth > 2 ? away : null) });
    await syncing.pull();
    heal();
    await syncing.pull();
    expect((await status())?.earliest).toBe(start);
    expect(await syncing.actions()).toMatchObject([
      { action: 'sync.failed' },
      { action: 'sync.finished', from: null, earliest: start },
      { action: 'sync.finished' },
    ]);
  });

  it('fetches again only the page that was being stored and the one in transit', async () => {
    const { fake, syncing, dieAt } = await world(95);
    const revive = dieAt(4);
    await expect(syncing.pull()).rejects.toThrow('killed');
    revive();
    // By then all requests have arrived at the service.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const cursors = fake.requests.map((query) => query.get('cursor'));
    expect(cursors.length).toBeGreaterThanOrEqual(4);
    expect(cursors.length).toBeLessThanOrEqual(5);
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', resumed: true, duplicates: 0 });
    const later = fake.requests.slice(cursors.length).map((query) => query.get('cursor'));
    // Three pages were stored; the fourth was being written, and the fifth was in transit.
    expect(later[0]).toBe(cursors[3]);
    expect(fake.requests).toHaveLength(cursors.length + 7 + 1);
    expect(await syncing.bodies()).toEqual(fake.rows.map(({ text }) => text));
  });

  it('records the end without reading a page again if only the end was missing', async () => {
    const { fake, syncing, dieAt, position } = await world(24);
    // A page with two equal rows is stored before the end: three pages, then the end.
    fake.rows = [...fake.rows, ...fake.rows.slice(-1)];
    const revive = dieAt(4);
    await expect(syncing.pull()).rejects.toThrow('killed');
    expect(await position()).toMatchObject({ rows_total: 24, last_success_at: null });
    revive();
    const before = fake.requests.length;
    expect(await syncing.pull()).toMatchObject({
      outcome: 'finished',
      resumed: true,
      stored: 0,
      watermark: now.toISOString(),
    });
    // Only the look-back.
    expect(fake.requests.slice(before).map((query) => query.get('from'))).toEqual(['2026-07-09T23:00:00.000Z']);
    expect((await syncing.actions()).map(({ action }) => action)).toEqual(['sync.finished', 'sync.finished']);
  });

  it('stores the last page together with the end: both or neither', async () => {
    const { fake, syncing, dieAt, position } = await world(25);
    const revive = dieAt(3);
    await expect(syncing.pull()).rejects.toThrow('killed');
    expect(await position()).toMatchObject({ rows_total: 20, last_success_at: null });
    expect(await syncing.actions()).toEqual([]);
    revive();
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', resumed: true, rows: 5, stored: 5 });
    expect(await position()).toMatchObject({ rows_total: 25, watermark: now.toISOString(), run_plan: null });
    expect(await syncing.bodies()).toEqual(fake.rows.map(({ text }) => text));
  });

  it('is shown as interrupted at once after an orderly stop, and as running if it may still be running', async () => {
    const { syncing, status } = await world(45);
    const controller = new AbortController();
    await syncing.pull({ signal: controller.signal, onProgress: () => controller.abort() });
    expect(await status()).toMatchObject({ state: 'interrupted', rows: 10, run: { from: null } });
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', resumed: true, duplicates: 0 });
  });
});

describe('the beginning of the log', () => {
  it('is not recorded by a run over a period', async () => {
    const { syncing, status } = await world(45);
    await syncing.pull({ from: '2026-07-01T00:20:00Z', to: '2026-07-02' });
    expect((await status())?.earliest).toBeNull();
    await syncing.pull();
    expect((await status())?.earliest).toBe(start);
  });
});

describe('the first answer', () => {
  it('without rows does not prevent older rows from being fetched once they exist', async () => {
    const { fake, syncing } = await world(25);
    const { rows } = fake;
    fake.rows = [];
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', rows: 0 });
    fake.rows = rows;
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', stored: 25 });
  });

  it.each(['{"status":"maintenance"}', '{"data":null,"message":"try later"}', '{"ok":true,"result":{}}'])(
    'with content other than rows is not an empty page: %s',
    async (text) => {
      const { syncing, position } = await world(5);
      await syncing.pull();
      const before = await position();
      const { fetchConsentLogPage } = syncing.deps.service;
      const { readPage } = await import('../../src/service/consent-logs.ts');
      syncing.deps.service.fetchConsentLogPage = () =>
        Promise.resolve().then(() => readPage({ bytes: Buffer.from(text), serverDate: null }));
      syncing.now = new Date(now.getTime() + hours(1));
      expect(await syncing.pull()).toMatchObject({ outcome: 'failed', reason: 'unreadable' });
      expect((await position())?.watermark).toBe(before?.watermark);
      syncing.deps.service.fetchConsentLogPage = fetchConsentLogPage;
    },
  );
});

describe('clocks', () => {
  it('that were far ahead leave no rows behind, however long the sync paused afterwards', async () => {
    const { fake, syncing, position } = await world(5, { date: () => null });
    syncing.now = new Date('2030-01-01T00:00:00Z');
    await syncing.pull();
    // The clock is corrected; for four days rows arrive but nothing is pulled.
    fake.rows.push({ bannerId: 'bnr_1', at: now.getTime() + hours(24), text: '{"id":"meanwhile"}' });
    syncing.now = new Date(now.getTime() + hours(96));
    expect(await syncing.pull()).toMatchObject({
      outcome: 'finished',
      stored: 1,
      watermark: syncing.now.toISOString(),
    });
    expect(await syncing.pull()).toMatchObject({ from: new Date(now.getTime() + hours(95)).toISOString() });
    expect((await position())?.watermark).toBe(syncing.now.toISOString());
  });

  it('of this machine do not decide the meaning of a time without an offset', async () => {
    const { fake, syncing } = await world(1);
    const before = process.env['TZ'];
    process.env['TZ'] = 'Europe/Berlin';
    try {
      await syncing.pull({ to: '2026-07-03T00:00:00' });
    } finally {
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
    }
    expect(fake.requests.at(-1)?.get('to')).toBe('2026-07-03T00:00:00.000Z');
    expect((await syncing.pull({ from: '2026-07-03T00:30:00' })).watermark).toBe('2026-07-03T00:00:00.000Z');
  });
});

describe('rows', () => {
  it('are distinguished by a field that changes with each read if the source says that it identifies them', async () => {
    const { fake } = await world(0);
    const syncing = await syncingWith(fake.baseUrl, now);
    const source = sourceAt(fake.baseUrl, { fieldNames: { recordId: ['meta.request_id', 'request_id'] } });
    fake.rows = ['a', 'b'].map((id, at) => ({
      bannerId: 'bnr_1',
      at,
      text: `{"request_id":"${id}","action":"accept"}`,
    }));
    expect(await syncing.pull({ source })).toMatchObject({ stored: 2 });
    expect(await syncing.pull({ source, full: true })).toMatchObject({ stored: 0, duplicates: 2 });
  });

  it.each([
    '{"id":"1","banner":{"id":"bnr_1"}}',
    '{"id":"1","BannerId":"bnr_1"}',
    '{"id":"1","banner-id":"bnr_1"}',
    '{"id":"1","ConsentBannerId":"bnr_1"}',
    '{"id":"1","widget_id":"bnr_1"}',
    '{"id":"1","consent_banner":"bnr_1"}',
  ])('that name their banner are the same, whether or not they were requested by banner: %s', async (text) => {
    const { fake, syncing } = await world(0);
    fake.rows = [{ bannerId: 'bnr_1', at: 0, text }];
    const source = sourceAt(fake.baseUrl, { fieldNames: { bannerId: ['consent_banner'] } });
    expect(await syncing.pull({ source })).toMatchObject({ stored: 1 });
    expect(await syncing.pull({ source, bannerId: null })).toMatchObject({ stored: 0, duplicates: 1 });
  });
});

it('a sync ends although the service gives the same rows in another order under new cursors for ever', async () => {
  const { syncing } = await world(0);
  let nth = 0;
  syncing.deps.service.fetchConsentLogPage = () => {
    nth += 1;
    const ids = [1, 2, 3, 4].map((id) => ((id + nth) % 4) + 1);
    const rows = ids.map((id) => ({ bytes: Buffer.from(`{"id":${id}}`), value: { id }, isUtf8: true }));
    return nth > 50
      ? Promise.reject(new Error('it never ends'))
      : Promise.resolve({ rows, nextCursor: `c${nth}`, serverDate: null, damage: null });
  };
  expect(await syncing.pull()).toMatchObject({ outcome: 'failed', reason: 'repeating-page', stored: 4 });
});

it('a sync counts the rows that a run still stored after giving way', async () => {
  const { fake, syncing, position } = await world(45);
  fake.rows = fake.rows.map((row, place) => (place === 35 ? { ...row, text: '{"id":NaN}' } : row));
  const service = syncing.deps.service.fetchConsentLogPage;
  let isSuperseded = false;
  syncing.deps.service.fetchConsentLogPage = async (...query) => {
    const page = await service(...query);
    if (page.damage !== null && !isSuperseded) {
      isSuperseded = true;
      await expect.poll(async () => (await position())?.rows_total).toBe(30);
      // Another run begins, and stops after its first page.
      const controller = new AbortController();
      await syncing.pull({ full: true, signal: controller.signal, onProgress: () => controller.abort() });
    }
    return page;
  };
  expect(await syncing.pull()).toMatchObject({ outcome: 'superseded' });
  expect(await position()).toMatchObject({ rows_total: 39, unreadable_total: 1 });
});
