import { describe, expect, it } from 'vitest';
import { loadPosition } from '../../src/sync/position.ts';
import { pullConsentLogs } from '../../src/sync/pull.ts';
import { type FakeRow, fakeConsentLog, minuteRows } from './fake-consent-log.ts';
import { sourceAt, syncingWith } from './syncing.ts';

const start = '2026-07-01T00:00:00.000Z';
const now = new Date('2026-07-10T00:00:00.000Z');
const hours = (count: number) => count * 3_600_000;
const texts = (rows: readonly FakeRow[]) => rows.map(({ text }) => text);

async function world(count: number, pageRows = 10) {
  const fake = await fakeConsentLog(minuteRows(count, start), { pageRows, date: () => now });
  return { fake, syncing: await syncingWith(fake.baseUrl, now) };
}

/** Commits of the pulls from now on. */
function countCommits({ deps, ledger, store }: Awaited<ReturnType<typeof world>>['syncing']): () => number {
  let commits = 0;
  const { append } = ledger;
  ledger.append = (entries, also) => {
    commits += 1;
    return append(entries, also);
  };
  const transaction: typeof store.transaction = (work) => {
    commits += 1;
    return store.transaction(work);
  };
  Object.assign(deps, { store: { ...store, transaction } });
  return () => commits;
}

describe('pulling a consent log', () => {
  it('stores every row once, in its original bytes, and records the run in the ledger', async () => {
    const { fake, syncing } = await world(45);
    const result = await syncing.pull();
    expect(result).toMatchObject({
      outcome: 'finished',
      pages: 5,
      rows: 45,
      stored: 45,
      duplicates: 0,
      malformed: 0,
      resumed: false,
    });
    expect(result).toMatchObject({ earliest: start, latest: '2026-07-01T00:44:00.000Z', watermark: now.toISOString() });
    expect(await syncing.bodies()).toEqual(texts(fake.rows));
    expect(await syncing.actions()).toMatchObject([
      { action: 'sync.finished', bannerId: 'bnr_1', rows: 45, stored: 45, error: null, actor: 'test' },
    ]);
  });

  it('records the origin of each row in its meta, and no cursor', async () => {
    const { syncing } = await world(15);
    const { runId } = await syncing.pull();
    const entries = await syncing.store.read
      .selectFrom('entries')
      .select('meta')
      .where('kind', '=', 'consent-log')
      .orderBy('seq')
      .execute();
    const metas = entries.map(({ meta }) => JSON.parse(String(meta)) as Record<string, unknown>);
    expect(metas[0]).toEqual({
      bannerId: 'bnr_1',
      cursorSha256: null,
      page: 1,
      recordId: 'clog_bnr_1_0',
      runId,
      serverDate: now.toISOString(),
    });
    expect(metas[14]).toMatchObject({ page: 2, cursorSha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
  });

  it('reads only the look-back again, and stores new rows', async () => {
    const { fake, syncing } = await world(45);
    await syncing.pull();
    syncing.now = new Date(now.getTime() + hours(1));
    fake.rows.push({ bannerId: 'bnr_1', at: now.getTime() - hours(0.5), text: '{"id":"late"}' });
    fake.rows.push({ bannerId: 'bnr_1', at: now.getTime() + 1000, text: '{"id":"new"}' });
    const result = await syncing.pull();
    expect(fake.requests.at(-1)?.get('from')).toBe('2026-07-09T23:00:00.000Z');
    expect(fake.requests.at(-1)?.get('to')).toBeNull();
    expect(result).toMatchObject({ outcome: 'finished', rows: 2, stored: 2, earliest: null });
  });

  it('stores a row that changed upstream as a new entry, and recognises a row that only looks different', async () => {
    const { fake, syncing } = await world(0);
    fake.rows = [{ bannerId: 'bnr_1', at: 0, text: '{"id":"r1","action":"accept","n":1,"fetched_at":"1"}' }];
    await syncing.pull();
    fake.rows = [
      { bannerId: 'bnr_1', at: 0, text: '{ "n":1.0, "action":"\\u0061ccept","id":"r1", "fetched_at":"2","meta":"x" }' },
    ];
    fake.rows.push({
      bannerId: 'bnr_1',
      at: 1,
      text: '{ "n":1.0, "action":"\\u0061ccept","id":"r1", "fetched_at":"2" }',
    });
    expect(await syncing.pull({ full: true })).toMatchObject({ stored: 1, duplicates: 1 });
    fake.rows = [{ bannerId: 'bnr_1', at: 0, text: '{"id":"r1","action":"reject","n":1,"fetched_at":"3"}' }];
    expect(await syncing.pull({ full: true })).toMatchObject({ stored: 1, duplicates: 0 });
  });

  it('distinguishes rows whose ids a double cannot hold', async () => {
    const { fake, syncing } = await world(0);
    fake.rows = ['9007199254740992', '9007199254740993'].map((id) => ({
      bannerId: 'bnr_1',
      at: 0,
      text: `{"id":${id}}`,
    }));
    expect(await syncing.pull()).toMatchObject({ stored: 2 });
    const entries = await syncing.store.read
      .selectFrom('entries')
      .select('meta')
      .where('kind', '=', 'consent-log')
      .orderBy('seq')
      .execute();
    expect(entries.map(({ meta }) => (JSON.parse(String(meta)) as { recordId: string }).recordId)).toEqual([
      '9007199254740992',
      '9007199254740993',
    ]);
  });

  it('keeps rows that are not objects, or have no canonical form, with their bytes', async () => {
    const { fake, syncing } = await world(0);
    const rows = ['null', '"text"', '[1,2]', '7', '{"id":"\\ud800"}', '{"id":"\\udc00"}', '{}'];
    fake.rows = rows.map((text, at) => ({ bannerId: 'bnr_1', at, text }));
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', stored: 7, malformed: 4 });
    expect(await syncing.pull({ full: true })).toMatchObject({ stored: 0, duplicates: 7 });
    expect(await syncing.bodies()).toEqual(rows);
  });

  it('keeps equal rows of two banners apart unless they name their banner', async () => {
    const { fake, syncing } = await world(0);
    fake.rows = ['bnr_1', 'bnr_2'].map((bannerId) => ({ bannerId, at: 0, text: '{"action":"accept"}' }));
    expect(await syncing.pull()).toMatchObject({ stored: 1 });
    expect(await syncing.pull({ bannerId: 'bnr_2' })).toMatchObject({ stored: 1 });
    fake.rows = [{ bannerId: 'bnr_1', at: 0, text: '{"banner":"x","action":"accept"}' }];
    expect(await syncing.pull({ full: true })).toMatchObject({ stored: 1 });
    expect(await syncing.pull({ bannerId: null, full: true })).toMatchObject({ stored: 0, duplicates: 1 });
  });

  it('records rows that are stored already with the end of the run, in one commit, and how many came', async () => {
    const { syncing } = await world(9);
    await syncing.pull();
    const commits = countCommits(syncing);
    expect(await syncing.pull({ full: true })).toMatchObject({ outcome: 'finished', rows: 9, stored: 0 });
    expect(commits()).toBe(1);
    expect((await syncing.actions()).at(-1)).toMatchObject({ pages: 1, rows: 9, stored: 0, duplicates: 9 });
    expect(await syncing.store.read.selectFrom('arrivals').selectAll().execute()).toEqual([]);
  });

  it('commits new rows of the last page with the end of the run', async () => {
    const { fake, syncing } = await world(8);
    await syncing.pull();
    fake.rows.push({ bannerId: 'bnr_1', at: now.getTime(), text: '{"id":"new"}' });
    const commits = countCommits(syncing);
    expect(await syncing.pull({ full: true })).toMatchObject({ outcome: 'finished', stored: 1, duplicates: 8 });
    expect(commits()).toBe(1);
    expect(await syncing.bodies()).toEqual(texts(fake.rows));
    expect(await loadPosition(syncing.store.read, 'acme', 'bnr_1')).toMatchObject({ rows_total: 9, earliest: start });
  });

  it('commits the first and the last of many pages without new rows', async () => {
    const { syncing } = await world(95);
    await syncing.pull();
    const commits = countCommits(syncing);
    expect(await syncing.pull({ full: true })).toMatchObject({ outcome: 'finished', pages: 10, duplicates: 95 });
    expect(commits()).toBe(2);
  });

  it('continues after the last page that it read if it fails among pages without new rows', async () => {
    const { fake, syncing } = await world(95);
    await syncing.pull();
    const before = fake.requests.length;
    fake.options = {
      ...fake.options,
      fault: (nth) => (nth > before + 5 ? { type: 'status', status: 402 } : null),
    };
    expect(await syncing.pull({ full: true })).toMatchObject({ outcome: 'failed', pages: 5 });
    fake.options = { pageRows: 10, date: () => now };
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', resumed: true, duplicates: 45 });
  });

  it('counts rightly if another process stores rows of the last page first', async () => {
    const { fake, syncing } = await world(9);
    const { append: other } = syncing.ledger;
    let isFirst = true;
    syncing.ledger.append = async (entries, also) => {
      if (isFirst) await other(entries.slice(3, 5));
      isFirst = false;
      return other(entries, also);
    };
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', rows: 9, stored: 7, duplicates: 2 });
    expect((await syncing.actions()).map(({ stored, duplicates }) => ({ stored, duplicates }))).toEqual([
      { stored: 7, duplicates: 2 },
    ]);
    expect((await syncing.bodies()).sort()).toEqual(texts(fake.rows).sort());
    expect(await loadPosition(syncing.store.read, 'acme', 'bnr_1')).toMatchObject({
      rows_total: 7,
      watermark: now.toISOString(),
    });
  });

  it('stores the last page but not the end if another run has taken over', async () => {
    const { fake, syncing } = await world(15);
    const { append } = syncing.ledger;
    let calls = 0;
    syncing.ledger.append = async (entries, also) => {
      calls += 1;
      if (calls === 2)
        await syncing.store.transaction((tx) =>
          tx.query.updateTable('sync_positions').set({ run_id: 'other' }).execute(),
        );
      return append(entries, also);
    };
    expect(await syncing.pull()).toMatchObject({ outcome: 'superseded', rows: 15, stored: 15 });
    expect(await syncing.bodies()).toEqual(texts(fake.rows));
    expect(await syncing.actions()).toEqual([]);
    expect(await loadPosition(syncing.store.read, 'acme', 'bnr_1')).toMatchObject({
      run_id: 'other',
      rows_total: 15,
      watermark: null,
    });
  });

  it('sends no banner if none is named', async () => {
    const { fake, syncing } = await world(3);
    await syncing.pull({ bannerId: null });
    expect(fake.requests[0]?.has('banner_id')).toBe(false);
    expect(await syncing.actions()).toMatchObject([{ bannerId: null, stored: 3 }]);
  });

  it('handles a page that is larger than one append', async () => {
    const { syncing } = await world(0);
    const many = minuteRows(700, start);
    syncing.deps.service.fetchConsentLogPage = () =>
      Promise.resolve({
        rows: many.map(({ text }) => ({ bytes: Buffer.from(text), value: JSON.parse(text) as unknown, isUtf8: true })),
        nextCursor: null,
        serverDate: null,
        damage: null,
      });
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', pages: 1, stored: 700 });
    expect((await syncing.bodies()).length).toBe(700);
  });

  it('reports its progress after each committed page', async () => {
    const { syncing } = await world(25);
    const told: number[] = [];
    await syncing.pull({ onProgress: ({ stored }) => told.push(stored) });
    expect(told).toEqual([10, 20, 25]);
  });

  it('refuses invalid dates', async () => {
    const { syncing } = await world(1);
    await expect(syncing.pull({ from: 'yesterday' })).rejects.toThrow(
      'Invalid time "yesterday" for from: use ISO 8601',
    );
    await expect(syncing.pull({ from: '2026-07-02', to: '2026-07-01' })).rejects.toThrow('swap them');
    await expect(syncing.pull({ from: '2026-07-02', full: true })).rejects.toThrow('leave out');
  });
});

describe('the watermark', () => {
  const position = async (syncing: Awaited<ReturnType<typeof world>>['syncing']) =>
    loadPosition(syncing.store.read, 'acme', 'bnr_1');

  it('comes from our clock or the Date header, whichever is earlier, and never from rows', async () => {
    const { fake, syncing } = await world(1);
    fake.rows.push({
      bannerId: 'bnr_1',
      at: Date.parse('2099-01-01'),
      text: '{"id":"future","created_at":"2099-01-01T00:00:00Z"}',
    });
    fake.options = { date: () => new Date('2026-07-09T23:00:00Z') };
    expect(await syncing.pull()).toMatchObject({ stored: 2, watermark: '2026-07-09T23:00:00.000Z', latest: start });
    fake.options = { date: () => new Date('2027-01-01T00:00:00Z') };
    expect(await syncing.pull()).toMatchObject({ watermark: now.toISOString() });
    fake.options = { date: () => null };
    syncing.now = new Date(now.getTime() + 5);
    expect(await syncing.pull()).toMatchObject({ watermark: '2026-07-10T00:00:00.005Z' });
  });

  it('never moves backwards, and a clock that was a little ahead does not make later runs miss rows', async () => {
    const { fake, syncing } = await world(1);
    fake.options = { date: () => null };
    syncing.now = new Date('2026-07-10T00:30:00Z');
    await syncing.pull();
    syncing.now = now;
    expect(await syncing.pull()).toMatchObject({ watermark: '2026-07-10T00:30:00.000Z' });
    expect(fake.requests.at(-1)?.get('from')).toBe('2026-07-09T23:00:00.000Z');
  });

  it('does not move back when a run without rows ends after another run that began later', async () => {
    const { fake, syncing } = await world(1);
    fake.options = { date: () => null };
    await syncing.pull();
    const later = new Date('2026-07-10T00:30:00Z');
    const service = {
      async fetchConsentLogPage(...asked: Parameters<typeof syncing.deps.service.fetchConsentLogPage>) {
        const page = await syncing.deps.service.fetchConsentLogPage(...asked);
        syncing.now = later;
        expect(await syncing.pull()).toMatchObject({ outcome: 'finished', watermark: later.toISOString() });
        syncing.now = now;
        return page;
      },
    };
    const request = { source: sourceAt(null), bannerId: 'bnr_1', actor: 'test' };
    expect(await pullConsentLogs({ ...syncing.deps, service }, request)).toMatchObject({
      outcome: 'finished',
      rows: 0,
      watermark: later.toISOString(),
    });
    expect(await position(syncing)).toMatchObject({ watermark: later.toISOString(), last_error: null });
  });

  it('is corrected by a run over everything if the clock that set it was far ahead', async () => {
    const { fake, syncing } = await world(1);
    fake.options = { date: () => null };
    syncing.now = new Date('2030-01-01T00:00:00Z');
    await syncing.pull();
    syncing.now = now;
    expect(await syncing.pull()).toMatchObject({ from: null, watermark: now.toISOString(), stored: 0 });
    expect(await syncing.pull()).toMatchObject({ from: '2026-07-09T23:00:00.000Z', watermark: now.toISOString() });
  });

  it('does not move over a gap: a window in the middle leaves it where it is', async () => {
    const { syncing } = await world(5);
    expect(await syncing.pull({ from: '2026-07-05', to: '2026-07-06' })).toMatchObject({
      outcome: 'finished',
      watermark: null,
    });
    expect(await syncing.pull({ to: '2026-07-03' })).toMatchObject({ watermark: '2026-07-03T00:00:00.000Z' });
    expect(await syncing.pull({ from: '2026-07-04' })).toMatchObject({ watermark: '2026-07-03T00:00:00.000Z' });
    expect(await syncing.pull({ from: '2026-07-02' })).toMatchObject({ watermark: now.toISOString() });
    expect(await position(syncing)).toMatchObject({ cursor: null, run_id: null, rows_total: 5, last_error: null });
  });
});
