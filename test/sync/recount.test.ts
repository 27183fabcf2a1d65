import { describe, expect, it, onTestFinished } from 'vitest';
import { createProjector } from '../../src/projections/run.ts';
import { loadPosition } from '../../src/sync/position.ts';
import { recountConsentLogs } from '../../src/sync/recount.ts';
import { loadSyncStatus } from '../../src/sync/status.ts';
import { type Fault, fakeConsentLog, minuteRows } from './fake-consent-log.ts';
import { sourceAt, syncingWith } from './syncing.ts';

const now = new Date('2026-07-10T00:00:00.000Z');
const day = 86_400_000;

async function world() {
  const rows = minuteRows(40, '2026-07-06T00:00:00.000Z');
  const fake = await fakeConsentLog(rows, { pageRows: 10, date: () => now });
  const syncing = await syncingWith(fake.baseUrl, now);
  const source = sourceAt(fake.baseUrl, { banners: ['bnr_1'] });
  const projector = createProjector({
    store: syncing.store,
    optionsUpTo: async () => ({ of: () => source.options, rereadAt: 0 }),
  });
  onTestFinished(() => projector.close());
  const recount = (signal?: AbortSignal) =>
    recountConsentLogs(
      { ...syncing.deps, catchUp: () => projector.catchUp() },
      { source, bannerId: 'bnr_1', actor: 'schedule', signal },
    );
  const status = async () => (await loadSyncStatus(syncing.store.read, () => now, [source]))[0];
  return {
    rows,
    fake,
    syncing,
    source,
    projector,
    recount,
    status,
    position: () => loadPosition(syncing.store.read, 'acme', 'bnr_1'),
  };
}

describe('a recount of recent days', () => {
  it('is not due until a run has finished', async () => {
    expect(await (await world()).recount()).toEqual({ bannerId: 'bnr_1', outcome: 'not-due' });
  });

  it('finds nothing if nothing differs, and moves neither cursor nor watermark', async () => {
    const { syncing, recount, position, fake } = await world();
    await syncing.pull();
    const before = await position();
    expect(await recount()).toMatchObject({ outcome: 'counted', rows: 40, found: 0, gone: 0 });
    expect(fake.requests.at(-1)?.get('from')).toBe(new Date(now.getTime() - 7 * day).toISOString());
    expect(await position()).toMatchObject({ cursor: before?.cursor, watermark: before?.watermark, rows_total: 40 });
  });

  it('stores rows later than any look-back, and names missing rows; a changed row is not missing', async () => {
    const { syncing, recount, position, fake, rows, status } = await world();
    const late = rows[5] ?? expect.fail();
    fake.rows = rows.filter((row) => row !== late);
    await syncing.pull();
    // Days later one row has appeared, one has vanished, and one has changed.
    fake.rows = rows.flatMap((row, index) => {
      if (index === 20) return [];
      return index === 30 ? [{ ...row, text: row.text.replace('accept', 'reject') }] : [row];
    });
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', stored: 0 });

    expect(await recount()).toMatchObject({ outcome: 'counted', rows: 39, found: 2, gone: 1 });
    expect(await syncing.bodies()).toContain(late.text);
    const action = (await syncing.actions()).find((one) => one['action'] === 'sync.recounted');
    expect(action).toMatchObject({ actor: 'schedule', bannerId: 'bnr_1', found: 2, gone: 1 });
    const [goneSeq] = (action?.['goneSeqs'] ?? []) as number[];
    const gone = await syncing.store.read
      .selectFrom('entries')
      .select('body')
      .where('seq', '=', goneSeq ?? 0)
      .executeTakeFirst();
    expect(gone?.body?.toString('utf8')).toBe(rows[20]?.text);
    expect(await position()).toMatchObject({ rows_total: 41 });
    expect((await status())?.recount).toMatchObject({ rows: 39, found: 2, gone: 1, at: now.toISOString() });
  });

  it('does not report as missing a row that another run stores in the meantime, or one of a banner that is pulled by name', async () => {
    const { syncing, source, projector, fake, rows } = await world();
    const late = rows[3] ?? expect.fail();
    fake.rows = [...rows.filter((row) => row !== late), ...minuteRows(5, '2026-07-07T00:00:00.000Z', 'bnr_beside')];
    await syncing.pull({ bannerId: 'bnr_beside' });
    // As if the log as a whole omitted that banner.
    fake.rows = fake.rows.filter(({ bannerId }) => bannerId === 'bnr_1');
    await syncing.pull({ bannerId: null });
    const service = {
      fetchConsentLogPage: async (...request: Parameters<typeof syncing.deps.service.fetchConsentLogPage>) => {
        const page = await syncing.deps.service.fetchConsentLogPage(...request);
        if (request[0].cursor !== null && !fake.rows.includes(late)) {
          fake.rows = [...fake.rows, late];
          await syncing.pull({ bannerId: null, full: true });
        }
        return page;
      },
    };
    const deps = { ...syncing.deps, service, catchUp: () => projector.catchUp() };
    expect(await recountConsentLogs(deps, { source, bannerId: null, actor: 'schedule' })).toMatchObject({
      outcome: 'counted',
      found: 0,
      gone: 0,
    });
    expect(await syncing.bodies()).toContain(late.text);
  });

  it('concludes nothing from a count that failed or was stopped', async () => {
    const { syncing, recount, fake, position } = await world();
    await syncing.pull();
    const seen = fake.requests.length;
    const away: Fault = { type: 'status', status: 402 };
    fake.options = { pageRows: 10, date: () => now, fault: (nth) => (nth > seen + 2 ? away : null) };
    expect(await recount()).toMatchObject({
      outcome: 'failed',
      error: expect.stringContaining('subscription') as string,
    });
    const controller = new AbortController();
    controller.abort(new Error('stopped'));
    await expect(recount(controller.signal)).rejects.toThrow('stopped');
    expect(await position()).toMatchObject({ recount: null, recounted_at: null });
  });
});
