import { describe, expect, it } from 'vitest';
import { createProjector } from '../../src/projections/run.ts';
import { createServiceClient } from '../../src/service/client.ts';
import { ServiceError } from '../../src/service/service-error.ts';
import { loadBannerIds } from '../../src/sync/banners.ts';
import { loadSyncStatus } from '../../src/sync/status.ts';
import type { SyncProgress, SyncRequest } from '../../src/sync/sync-source.ts';
import { syncSource } from '../../src/sync/sync-source.ts';
import { ON_LOOPBACK } from '../service/answering-server.ts';
import { decisionRow } from './decision-row.ts';
import { fakeConsentLog, minuteRows } from './fake-consent-log.ts';
import { sourceAt, syncingWith } from './syncing.ts';

const start = '2026-07-01T00:00:00.000Z';
const now = new Date('2026-07-10T00:00:00.000Z');

async function world(
  options: object = {},
  isInWhole: (row: { readonly bannerId: string }) => boolean = () => true,
  isShared = false,
) {
  const rows = ['bnr_1', 'bnr_2', 'bnr_seen'].flatMap((bannerId) => minuteRows(12, start, bannerId));
  const fake = await fakeConsentLog(rows, { pageRows: 10, date: () => now });
  const syncing = await syncingWith(fake.baseUrl, now);
  const source = sourceAt(fake.baseUrl, options);
  let seeing: Promise<void> = Promise.resolve();
  const sync = (request: Partial<SyncRequest> = {}) =>
    syncSource(
      {
        ...syncing.deps,
        isKeyShared: () => isShared,
        serviceFor: ({ baseUrl, apiKey }) => {
          const service = createServiceClient({ destinations: ON_LOOPBACK, baseUrl, apiKey, backOffMs: 1, retries: 1 });
          return {
            fetchConsentLogPage: async (query, signal) => {
              const page = await service.fetchConsentLogPage(query, signal);
              await seeing;
              const isShown = ({ bytes }: { bytes: Buffer }) =>
                query.bannerId !== null || isInWhole({ bannerId: /bnr_\w+?(?=_\d)/.exec(String(bytes))?.[0] ?? '' });
              return { ...page, rows: page.rows.filter(isShown) };
            },
          };
        },
      },
      { source, actor: 'test', atOnce: 1, ...request },
    );
  /** Adds a decision to the read models before the page being fetched arrives. */
  const see = (bannerId: string | null) =>
    (seeing = syncing.store.foldTransaction((tx) =>
      tx.insertMany('decision_history', [decisionRow({ seq: Math.floor(Math.random() * 1e9), banner_id: bannerId })]),
    ));
  const status = () => loadSyncStatus(syncing.store.read, () => syncing.now, [source]);
  const project = async () => {
    const projector = createProjector({
      store: syncing.store,
      optionsUpTo: async () => ({ of: () => source.options, rereadAt: 0 }),
    });
    await projector.catchUp();
    await projector.close();
  };
  return { fake, syncing, source, sync, see, status, project };
}

describe('syncing a source', () => {
  it('never pulls the whole log with a key that another source has too: it may hold other clients’ rows', async () => {
    const { sync, see, fake } = await world({}, () => true, true);
    expect(await sync()).toMatchObject({
      outcome: 'not-configured',
      reason: expect.stringContaining('same API key as another source'),
    });
    await see('bnr_seen');
    expect(await sync()).toMatchObject({ outcome: 'done', banners: [{ bannerId: 'bnr_seen', stored: 12 }] });
    expect(fake.requests.every((query) => query.get('banner_id') === 'bnr_seen')).toBe(true);
  });

  it('pulls the banners of its options and those seen in decisions, each once, and reports its progress', async () => {
    const { sync, see, syncing, source } = await world({ banners: ['bnr_2', 'bnr_1'] });
    await see('bnr_seen');
    await see('bnr_1');
    await see(null);
    expect(await loadBannerIds(syncing.store.read, source)).toEqual(['bnr_2', 'bnr_1', 'bnr_seen']);
    const told: SyncProgress[] = [];
    const result = await sync({ onProgress: (progress) => told.push(progress) });
    expect(result).toMatchObject({
      outcome: 'done',
      banners: [{ bannerId: 'bnr_2', stored: 12 }, { bannerId: 'bnr_1' }, { bannerId: 'bnr_seen' }],
    });
    expect(told.map(({ bannerId, done, total, stored }) => [bannerId, done, total, stored])).toEqual([
      ['bnr_2', 0, 3, 10],
      ['bnr_2', 0, 3, 12],
      ['bnr_1', 1, 3, 10],
      ['bnr_1', 1, 3, 12],
      ['bnr_seen', 2, 3, 10],
      ['bnr_seen', 2, 3, 12],
    ]);
  });

  it('pulls the whole log if the options name no banner, even if deliveries name some', async () => {
    const { sync, see, fake, status } = await world();
    await see('bnr_1');
    // bnr_2 and bnr_seen are still unknown here.
    expect(await sync()).toMatchObject({
      outcome: 'done',
      banners: [{ bannerId: null, stored: 36 }, { bannerId: 'bnr_1' }],
    });
    expect(fake.requests[0]?.has('banner_id')).toBe(false);
    fake.rows.push(...minuteRows(2, '2026-07-09T23:00:00.000Z', 'bnr_new'));
    expect(await sync()).toMatchObject({
      outcome: 'done',
      banners: [{ bannerId: null, stored: 2 }, { bannerId: 'bnr_1' }],
    });
    expect((await status()).filter(({ gap }) => gap !== null)).toEqual([]);
  });

  it('pulls each known banner if the service does not answer without one, and leaves no failing position', async () => {
    const { sync, see, fake, status } = await world();
    await see('bnr_1');
    await see('bnr_2');
    fake.options = {
      ...fake.options,
      fault: (_, query) => (query.has('banner_id') ? null : { type: 'status', status: 400 }),
    };
    const byBanner = { outcome: 'done', banners: [{ bannerId: 'bnr_1' }, { bannerId: 'bnr_2' }] };
    expect(await sync()).toMatchObject(byBanner);
    expect((await status()).map(({ bannerId, state, rows }) => [bannerId, state, rows])).toEqual([
      ['bnr_1', 'up-to-date', 12],
      ['bnr_2', 'up-to-date', 12],
    ]);
    // It is not tried again every time.
    const before = fake.requests.length;
    expect(await sync()).toMatchObject(byBanner);
    expect(fake.requests.slice(before).every((query) => query.has('banner_id'))).toBe(true);
  });

  it('pulls the whole log although one banner was pulled by name before', async () => {
    const { sync, status, fake } = await world();
    expect(await sync({ banners: ['bnr_1'] })).toMatchObject({ banners: [{ bannerId: 'bnr_1', stored: 12 }] });
    expect(await sync()).toMatchObject({
      outcome: 'done',
      banners: [
        { bannerId: null, stored: 24, duplicates: 12 },
        { bannerId: 'bnr_1', stored: 0 },
      ],
    });
    fake.rows.push(...minuteRows(2, '2026-07-09T23:00:00.000Z', 'bnr_unheard'));
    expect(await sync()).toMatchObject({ banners: [{ bannerId: null, stored: 2 }, {}] });
    expect((await status()).map(({ bannerId, state }) => [bannerId, state])).toEqual([
      [null, 'up-to-date'],
      ['bnr_1', 'up-to-date'],
    ]);
  });

  it('pulls in every run a banner that the whole log leaves out', async () => {
    const { sync, see, fake, syncing, project } = await world({}, ({ bannerId }) => bannerId !== 'bnr_seen');
    await see('bnr_seen');
    const both = { outcome: 'done', banners: [{ bannerId: null }, { bannerId: 'bnr_seen' }] };
    expect(await sync()).toMatchObject(both);
    expect(await syncing.bodies()).toHaveLength(36);
    await project();
    fake.rows.push(...minuteRows(2, '2026-07-09T23:00:00.000Z', 'bnr_seen'));
    expect(await sync()).toMatchObject({
      outcome: 'done',
      banners: [{ stored: 0 }, { bannerId: 'bnr_seen', stored: 2 }],
    });
    expect(await syncing.bodies()).toHaveLength(38);
  });

  it('does not store a row twice if rows do not name their banner and deliveries do', async () => {
    const { sync, see, fake, syncing, project } = await world();
    fake.rows = fake.rows.map((row) => ({ ...row, text: row.text.replace(/"banner_id":"\w+",/, '') }));
    await sync();
    await project();
    await see('bnr_1');
    expect(await sync()).toMatchObject({ outcome: 'done', banners: [{ bannerId: null, stored: 0 }] });
    expect(await syncing.bodies()).toHaveLength(36);
  });

  it('shows as failing a log that is now refused as a whole, and continues by banner', async () => {
    const { sync, see, fake, status } = await world();
    await see('bnr_1');
    await sync();
    const refuse = {
      fault: (_: number, query: URLSearchParams) =>
        query.has('banner_id') ? null : ({ type: 'status', status: 400 } as const),
    };
    fake.options = { ...fake.options, ...refuse };
    expect(await sync()).toMatchObject({
      outcome: 'failed',
      banners: [
        { bannerId: null, outcome: 'failed', reason: 'bad-request' },
        { bannerId: 'bnr_1', outcome: 'finished' },
      ],
    });
    expect((await status()).map(({ bannerId, state }) => [bannerId, state])).toEqual([
      [null, 'failing'],
      ['bnr_1', 'up-to-date'],
    ]);
  });

  it('does not rely on a single refusal of the whole log', async () => {
    const { sync, see, fake, syncing } = await world();
    await see('bnr_1');
    let refused = 0;
    const fault = (_: number, query: URLSearchParams) =>
      query.has('banner_id') || (refused += 1) > 1 ? null : ({ type: 'status', status: 400 } as const);
    fake.options = { ...fake.options, fault };
    await sync();
    expect(refused).toBeGreaterThan(1);
    expect(await syncing.bodies()).toHaveLength(36);
  });

  it('tries the whole log again a day after it was refused', async () => {
    const { sync, see, fake, syncing, status } = await world();
    await see('bnr_1');
    const { options } = fake;
    fake.options = {
      ...options,
      fault: (_, query) => (query.has('banner_id') ? null : { type: 'status', status: 404 }),
    };
    await sync();
    expect((await status()).map(({ bannerId }) => bannerId)).toEqual(['bnr_1']);
    fake.options = options;
    expect(await sync()).toMatchObject({ banners: [{ bannerId: 'bnr_1' }] });
    syncing.now = new Date(now.getTime() + 25 * 3_600_000);
    expect(await sync()).toMatchObject({ banners: [{ bannerId: null, stored: 24 }, { bannerId: 'bnr_1' }] });
    expect(await syncing.bodies()).toHaveLength(36);
  });

  it('continues with the other banners if one is refused, and stops if the key is', async () => {
    const { sync, fake } = await world({ banners: ['bnr_1', 'bnr_2'] });
    fake.options = {
      fault: (_, query) => (query.get('banner_id') === 'bnr_1' ? { type: 'status', status: 404 } : null),
    };
    expect(await sync()).toMatchObject({
      outcome: 'failed',
      banners: [{ outcome: 'failed' }, { outcome: 'finished' }],
    });
    fake.options = { fault: () => ({ type: 'status', status: 401 }) };
    expect(await sync()).toMatchObject({
      outcome: 'stopped',
      banners: [{ outcome: 'failed', reason: 'unauthorized' }],
      left: ['bnr_2'],
    });
  });

  it('pulls a few banners concurrently, each with every row once', async () => {
    const { sync, fake, syncing } = await world({ banners: ['bnr_1', 'bnr_2', 'bnr_seen'] });
    const told: SyncProgress[] = [];
    let isAsked = (): void => undefined;
    const second = new Promise<void>((resolve) => (isAsked = resolve));
    fake.options = {
      pageRows: 2,
      // The first banner gets no response until the second has sent its request: in sequence, this would never end.
      wait: (query) => {
        if (query.get('banner_id') === 'bnr_2') isAsked();
        return query.get('banner_id') === 'bnr_1' ? second : null;
      },
    };
    const result = await sync({ atOnce: 2, onProgress: (progress) => told.push(progress) });
    expect(result).toMatchObject({
      outcome: 'done',
      banners: [
        { bannerId: 'bnr_1', stored: 12 },
        { bannerId: 'bnr_2', stored: 12 },
        { bannerId: 'bnr_seen', stored: 12 },
      ],
    });
    expect((await syncing.bodies()).sort()).toEqual(fake.rows.map(({ text }) => text).sort());
    expect(told.at(-1)).toMatchObject({ total: 3 });
  });

  it('follows a banner that deliveries name for the first time while it runs', async () => {
    const { sync, see, fake } = await world({ banners: ['bnr_1'] });
    let isSeen: Promise<void> | null = null;
    fake.options = {
      ...fake.options,
      fault: () => {
        isSeen ??= see('bnr_seen');
        return null;
      },
    };
    const result = await sync();
    expect(result).toMatchObject({
      outcome: 'done',
      banners: [{ bannerId: 'bnr_1' }, { bannerId: 'bnr_seen', stored: 12 }],
    });
  });

  it('leaves no position for a mistyped banner, but keeps the failure of a known one', async () => {
    const { sync, status, see, fake } = await world();
    fake.options = { fault: (_, query) => (query.has('banner_id') ? { type: 'status', status: 404 } : null) };
    const typo = await sync({ banners: ['bnr_tpyo'] });
    expect(typo).toMatchObject({ banners: [{ outcome: 'failed', reason: 'not-found' }] });
    expect(JSON.stringify(typo)).toContain('does not know the banner bnr_tpyo');
    expect(await status()).toEqual([]);
    await see('bnr_gone');
    await sync({ banners: ['bnr_gone'] });
    expect(await status()).toMatchObject([{ bannerId: 'bnr_gone', state: 'failing' }]);
  });

  it('stops when it is cancelled', async () => {
    const { sync } = await world({ banners: ['bnr_1', 'bnr_2'] });
    const controller = new AbortController();
    const result = await sync({ signal: controller.signal, onProgress: () => controller.abort() });
    expect(result).toMatchObject({
      outcome: 'stopped',
      banners: [{ outcome: 'cancelled', stored: 10 }],
      left: ['bnr_2'],
    });
  });

  it('says what is missing if a source has no key to pull with', async () => {
    const { sync } = await world();
    expect(await sync({ source: { ...sourceAt(null), apiKey: null } })).toMatchObject({
      outcome: 'not-configured',
      reason: expect.stringContaining('no API address and no API key') as string,
    });
  });
});

describe('the status of a sync', () => {
  it('shows position, lag and rows of each banner, and banners never pulled as such', async () => {
    const { sync, see, status, syncing } = await world({ banners: ['bnr_1'] });
    await see('bnr_seen');
    expect((await status()).map(({ bannerId, state, lagMs }) => [bannerId, state, lagMs])).toEqual([
      ['bnr_1', 'never-pulled', null],
      ['bnr_seen', 'never-pulled', null],
    ]);
    expect((await status()).map(({ gap }) => gap)).toEqual([
      'never pulled',
      'deliveries name this banner, but it was never pulled',
    ]);
    await sync({ banners: ['bnr_1'] });
    syncing.now = new Date(now.getTime() + 90_000);
    expect((await status())[0]).toEqual({
      source: 'acme',
      bannerId: 'bnr_1',
      state: 'up-to-date',
      run: null,
      watermark: now.toISOString(),
      lagMs: 90_000,
      rows: 12,
      lastSuccessAt: now.toISOString(),
      lastError: null,
      lastErrorAt: null,
      earliest: start,
      unreadable: 0,
      recount: null,
      form: null,
      gap: null,
    });
  });

  it('shows an interrupted run and a failing one, until the next success', async () => {
    const { sync, status, fake, syncing } = await world({ banners: ['bnr_1'] });
    const controller = new AbortController();
    await sync({ signal: controller.signal, onProgress: () => controller.abort() });
    const place = { rows: 10, watermark: null, gap: expect.stringContaining('after its position') as string };
    syncing.now = new Date(now.getTime() + 180_000);
    expect(await status()).toMatchObject([
      {
        state: 'interrupted',
        run: { startedAt: now.toISOString(), lastPageAt: now.toISOString(), from: null },
        ...place,
      },
    ]);
    fake.options = { fault: () => ({ type: 'status', status: 402 }) };
    await sync();
    expect(await status()).toMatchObject([
      { state: 'failing', lastError: expect.stringContaining('subscription') as string },
    ]);
    fake.options = {};
    await sync();
    expect(await status()).toMatchObject([{ state: 'up-to-date', rows: 12, lastError: null }]);
  });
});

it('a sync reads large pages one at a time, over all banners and sources of a process', async () => {
  const syncing = await syncingWith('http://127.0.0.1:9/api/v1', now);
  let held = 0;
  let most = 0;
  const asked: string[] = [];
  const sync = (slug: string) =>
    syncSource(
      {
        ...syncing.deps,
        // A page is kept in memory from its response until its last batch is committed.
        ledger: {
          ...syncing.deps.ledger,
          async append(entries, also) {
            const appended = await syncing.deps.ledger.append(entries, also);
            if (entries.some(({ kind }) => kind === 'consent-log')) held -= 1;
            return appended;
          },
        },
        serviceFor: () => ({
          async fetchConsentLogPage({ bannerId, cursor }, _signal, maxBytes) {
            asked.push(maxBytes === undefined ? 'large' : 'usual');
            if (maxBytes !== undefined) throw new ServiceError('too-large');
            held += 1;
            most = Math.max(most, held);
            const bytes = Buffer.from(JSON.stringify({ id: `${slug} ${bannerId} ${cursor}` }));
            const row = { bytes, value: JSON.parse(String(bytes)) as unknown, isUtf8: true };
            return { rows: [row], nextCursor: cursor === null ? 'c' : null, serverDate: null, damage: null };
          },
        }),
      },
      { source: { ...sourceAt('http://x/api/v1', { banners: ['a', 'b', 'c'] }), slug }, actor: 'test' },
    );
  const ended = await Promise.all(['one', 'two'].map(sync));
  expect(ended.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
  expect(most).toBe(1);
  // Once a walk has met a large page, it requests the next one as large.
  expect(asked.filter((size) => size === 'large')).toHaveLength(12);
  expect(asked.filter((size) => size === 'usual')).toHaveLength(6);
});
