import { describe, expect, it } from 'vitest';
import { loadPosition } from '../../src/sync/position.ts';
import { type FakeOptions, fakeConsentLog, minuteRows } from './fake-consent-log.ts';
import { syncingWith } from './syncing.ts';

const now = new Date('2026-07-10T00:00:00.000Z');

async function world(options: FakeOptions = {}) {
  const rows = minuteRows(25, '2026-07-01T00:00:00.000Z');
  const fake = await fakeConsentLog(rows, { pageRows: 10, date: () => now, ...options });
  const syncing = await syncingWith(fake.baseUrl, now);
  const breakRow = (index: number, text: string) => {
    fake.rows = rows.map((row, place) => (place === index ? { ...row, text } : row));
  };
  const heal = () => {
    fake.rows = rows;
    fake.options = { pageRows: 10, date: () => now };
  };
  const metas = async () => {
    const found = await syncing.store.read
      .selectFrom('entries')
      .select('meta')
      .where('kind', '=', 'consent-log')
      .orderBy('seq')
      .execute();
    return found.map(({ meta }) => JSON.parse(meta?.toString('utf8') ?? '') as Record<string, unknown>);
  };
  const pieces = async () => {
    const found = await syncing.store.read.selectFrom('entries').select(['body', 'meta']).orderBy('seq').execute();
    return found.flatMap(({ body, meta }) =>
      meta?.includes('"unreadable":') === true ? [body?.toString('utf8')] : [],
    );
  };
  return {
    fake,
    syncing,
    rows,
    breakRow,
    heal,
    metas,
    pieces,
    position: () => loadPosition(syncing.store.read, 'acme', 'bnr_1'),
  };
}

describe('a partly broken page', () => {
  it.each([
    ['closed', '{"id":"clog_bnr_1_12","at":NaN}'],
    ['open', '{"id":"clog_bnr_1_12","note":"never closed}'],
  ])('does not lose other rows because of a broken row %s, keeps its bytes, and retries', async (_, broken) => {
    const { syncing, rows, breakRow, heal, metas, pieces, position } = await world();
    breakRow(12, broken);
    const first = await syncing.pull();
    expect(first).toMatchObject({ outcome: 'finished', rows: 24, stored: 24, unreadable: 1, watermark: null });
    expect(await syncing.bodies()).toEqual(rows.filter((__, place) => place !== 12).map(({ text }) => text));
    expect(await pieces()).toEqual([broken]);
    expect((await metas()).filter(({ unreadable }) => unreadable !== undefined)).toMatchObject([
      { unreadable: broken.length, bannerId: 'bnr_1', page: 2, recordId: null },
    ]);
    expect(await position()).toMatchObject({ rows_total: 24, unreadable_total: 1, watermark: null });
    expect(await syncing.actions()).toMatchObject([{ action: 'sync.finished', unreadable: 1 }]);

    heal();
    expect(await syncing.pull()).toMatchObject({
      outcome: 'finished',
      stored: 1,
      unreadable: 0,
      watermark: now.toISOString(),
    });
    expect(await syncing.bodies()).toContain(rows[12]?.text);
  });

  it('does not wait for ever for a part that stays broken: the same bytes again settle it', async () => {
    const { syncing, breakRow, position } = await world();
    breakRow(12, '{"id":NaN}');
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', watermark: null });
    const again = await syncing.pull();
    expect(again).toMatchObject({ outcome: 'finished', stored: 0, unreadable: 1, watermark: now.toISOString() });
    expect(await position()).toMatchObject({ unreadable_total: 1, rows_total: 24 });
  });

  it('that is always cut off keeps the rows that arrived, says so, and continues there once it is whole', async () => {
    const { fake, syncing, rows, heal, position } = await world({
      fault: (_nth, query) => (query.has('cursor') ? { type: 'truncated' } : null),
    });
    const failed = await syncing.pull();
    expect(failed).toMatchObject({ outcome: 'failed', reason: 'cut-page' });
    expect(failed.outcome === 'failed' && failed.error).toContain('the next run requests the page again');
    expect(failed.stored).toBeGreaterThanOrEqual(19);
    const { cursor } = (await position()) ?? {};
    expect(cursor).toEqual(expect.any(String));
    heal();
    const before = fake.requests.length;
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', resumed: true });
    expect(fake.requests[before]?.get('cursor')).toBe(cursor);
    expect((await syncing.bodies()).sort()).toEqual(rows.map(({ text }) => text).sort());
  });
});
