import { describe, expect, it } from 'vitest';
import { dismissBanner } from '../../src/sync/banners.ts';
import { loadSyncStatus } from '../../src/sync/status.ts';
import { syncSource } from '../../src/sync/sync-source.ts';
import { decisionRow } from './decision-row.ts';
import { fakeConsentLog, minuteRows } from './fake-consent-log.ts';
import { sourceAt, syncingWith } from './syncing.ts';

const now = new Date('2026-07-10T00:00:00.000Z');

async function world(status = 404) {
  const fake = await fakeConsentLog(minuteRows(5, '2026-07-01T00:00:00.000Z'), {
    date: () => now,
    fault: (_, query) => (query.get('banner_id') === 'bnr_gone' ? { type: 'status', status } : null),
  });
  const syncing = await syncingWith(fake.baseUrl, now);
  // A delivery named a banner that the service does not know.
  await syncing.store.foldTransaction(({ query }) =>
    query
      .insertInto('decision_history')
      .values(decisionRow({ seq: 1, source: 'acme', banner_id: 'bnr_gone', via: 'webhook' }))
      .execute(),
  );
  const source = sourceAt(fake.baseUrl, { banners: ['bnr_1'] });
  const deps = { ...syncing.deps, serviceFor: () => syncing.deps.service };
  const sync = (more: object = {}) => syncSource(deps, { source, actor: 'test', ...more });
  const states = async () => {
    const banners = await loadSyncStatus(syncing.store.read, () => now, [source]);
    return Object.fromEntries(banners.map(({ bannerId, state }) => [bannerId, state]));
  };
  const dismiss = (more: object = {}) =>
    dismissBanner(syncing.deps, { source, bannerId: 'bnr_gone', actor: 'officer', ...more });
  return { fake, syncing, sync, status: states, dismiss };
}

describe('a banner that only deliveries name and the service does not know', () => {
  it('fails the sync if the answer is 400 and nothing else was ever read', async () => {
    const { fake, sync } = await world(400);
    fake.options = { ...fake.options, fault: () => ({ type: 'status', status: 400 }) };
    expect(await sync()).toMatchObject({ outcome: 'failed' });
  });

  it.each([404, 400])('does not fail the sync if the answer is %i, and the others are pulled', async (code) => {
    const { sync, status } = await world(code);
    if (code === 400) await sync();
    for (let run = 0; run < 2; run += 1)
      expect(await sync()).toMatchObject({
        outcome: 'done',
        banners: [
          { bannerId: 'bnr_1', outcome: 'finished' },
          { bannerId: 'bnr_gone', outcome: 'unknown-banner' },
        ],
      });
    expect(await status()).toEqual({ bnr_1: 'up-to-date', bnr_gone: 'failing' });
  });

  it('is no longer pulled once an officer has dismissed it, until it is restored', async () => {
    const { fake, syncing, sync, status, dismiss } = await world();
    await sync();
    expect(await dismiss()).toMatchObject({ outcome: 'recorded' });
    expect(await status()).toEqual({ bnr_1: 'up-to-date', bnr_gone: 'dismissed' });
    const before = fake.requests.length;
    expect(await sync()).toMatchObject({ outcome: 'done', banners: [{ bannerId: 'bnr_1' }] });
    expect(fake.requests.slice(before).map((query) => query.get('banner_id'))).not.toContain('bnr_gone');
    await dismiss({ isRestored: true });
    const restored = fake.requests.length;
    await sync();
    expect(fake.requests.slice(restored).map((query) => query.get('banner_id'))).toContain('bnr_gone');
    const actions = (await syncing.actions()).map(({ action }) => action);
    expect(actions).toEqual(expect.arrayContaining(['sync.banner-dismissed', 'sync.banner-restored']));
  });

  it('cannot be dismissed if nothing names it', async () => {
    const { dismiss } = await world();
    expect(await dismiss({ bannerId: 'bnr_typo' })).toEqual({ outcome: 'unknown' });
  });
});
