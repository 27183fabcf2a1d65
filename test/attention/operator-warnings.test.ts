import type { Insertable } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { findWarnings, type Surroundings } from '../../src/attention/operator-warnings.ts';
import { TEST_EVENT, type Verdict } from '../../src/core/vocabulary.ts';
import type { Tables } from '../../src/store/schema.ts';
import type { Store } from '../../src/store/store.ts';
import { temporaryStore } from '../temporary.ts';
import { calmSurroundings } from './surroundings.ts';

const now = new Date('2026-07-10T12:00:00.000Z');
const calm: Surroundings = {
  ...calmSurroundings(now),
  pulled: ['shop'],
  disk: { free: 50 * 2 ** 30, total: 100 * 2 ** 30 },
  verifyEveryMs: 7 * 86_400_000,
};
const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString();

const firstEntry: Insertable<Tables['entries']> = {
  seq: 1,
  source: 'shop',
  source_seq: 1,
  kind: 'webhook',
  received_at: ago(0),
  meta: Buffer.from('{}'),
  body: Buffer.from('{}'),
  dedupe_key: Buffer.alloc(32),
  salt: Buffer.alloc(16),
  commitment: Buffer.alloc(32),
  leaf_hash: Buffer.alloc(32),
  mac: Buffer.alloc(32),
};

let store: Store;
beforeEach(async () => {
  store = await temporaryStore();
});

const codes = async (around: Partial<Surroundings> = {}) =>
  (await findWarnings(store.read, { ...calm, ...around })).map(({ code, source }) => [code, source]);

async function delivered(
  seq: number,
  minutesAgo: number,
  event = 'consent.recorded',
  verdict: Verdict = 'verified',
): Promise<void> {
  const received_at = ago(minutesAgo);
  await store.foldTransaction(async (tx) => {
    await tx.insertMany('delivery_history', [
      {
        seq,
        source: 'shop',
        received_at,
        event,
        verdict,
        outcome: 'read',
        reason: null,
        content_type: null,
        bytes: 2,
        commitment: '',
      },
    ]);
    await tx.insertMany(
      'delivery_counts',
      [{ source: 'shop', day: received_at.slice(0, 10), event, deliveries: 1 }],
      'replace',
    );
  });
}
const refused = (count: number, minutesAgo: number, reason = 'mismatch') =>
  store.transaction((tx) =>
    tx.insertMany('rejected_counts', [{ source: 'shop', minute: ago(minutesAgo).slice(0, 16), reason, count }]),
  );
const synced = (row: Partial<Insertable<Tables['sync_positions']>> & { last_success_at: string | null }) =>
  store.transaction((tx) =>
    tx.insertMany('sync_positions', [
      {
        source: 'shop',
        banner_id: 'b1',
        cursor: null,
        run_id: null,
        run_from: null,
        run_to: null,
        run_as_of: null,
        watermark: null,
        rows_total: 0,
        last_error: null,
        last_error_at: null,
        updated_at: now.toISOString(),
        ...row,
      },
    ]),
  );

test('a fresh installation has no warnings', async () => {
  expect(await codes()).toEqual([]);
});

describe('the operator’s warnings', () => {
  test('name a source that stopped delivering, but not one that delivered yesterday', async () => {
    await delivered(1, 60 * 24 * 5);
    expect(await codes({ pulled: [] })).toEqual([['silent-source', 'shop']]);
    await delivered(2, 60 * 24);
    expect(await codes({ pulled: [] })).toEqual([]);
  });

  test('ignore the operator’s own test events: they end no silence, and a source with nothing else has delivered nothing', async () => {
    const daysAgo = (days: number, event?: string) => delivered(100 - days, 60 * 24 * days, event);
    await daysAgo(5, TEST_EVENT);
    expect(await codes({ pulled: [] })).toEqual([]);
    await daysAgo(4);
    await daysAgo(1, TEST_EVENT);
    expect(await codes({ pulled: [] })).toEqual([['silent-source', 'shop']]);
    // Days on which only tests were sent do not make a seldom sender a frequent one.
    await daysAgo(18);
    await daysAgo(32);
    for (let days = 6; days < 18; days += 1) await daysAgo(days, TEST_EVENT);
    expect(await codes({ pulled: [] })).toEqual([]);
  });

  test('treat a weekly sender as silent after two weeks, a daily one after two days', async () => {
    for (let week = 0; week < 4; week += 1) await delivered(10 - week, 60 * 24 * (10 + 7 * week));
    expect(await codes({ pulled: [] })).toEqual([]);
    const later = new Date(now.getTime() + 5 * 86_400_000);
    expect(await codes({ pulled: [], now: later })).toEqual([['silent-source', 'shop']]);
    for (let day = 0; day < 28; day += 1) await delivered(100 - day, 60 * 24 * (3 + day) + 1);
    expect(await codes({ pulled: [] })).toEqual([['silent-source', 'shop']]);
  });

  test('name a ledger that has not been verified for twice the interval, or is older than that and was never verified', async () => {
    const overdue = async (days: number, verification: Surroundings['verification'] = null) => {
      const found = await codes({ pulled: [], verification, now: new Date(now.getTime() + days * 86_400_000) });
      return found.filter(([code]) => code !== 'seal-failed');
    };
    expect(await overdue(100)).toEqual([]);
    await store.transaction((tx) => tx.insertMany('entries', [firstEntry]));
    expect(await overdue(13)).toEqual([]);
    expect(await overdue(15)).toEqual([['verification-overdue', null]]);
    expect(await overdue(27, { at: ago(-60 * 24 * 14), faults: 0 })).toEqual([]);
    expect(await overdue(29, { at: ago(-60 * 24 * 14), faults: 0 })).toEqual([['verification-overdue', null]]);
  });

  test('name entries that have not been sealed for over an hour', async () => {
    await store.transaction((tx) =>
      tx.insertMany('entries', [firstEntry, { ...firstEntry, seq: 2, source_seq: 2, dedupe_key: Buffer.alloc(32, 2) }]),
    );
    const at = (minutes: number) => codes({ pulled: [], now: new Date(now.getTime() + minutes * 60_000) });
    expect(await at(59)).toEqual([]);
    expect(await at(61)).toEqual([['seal-failed', null]]);
    const checkpoint = (epoch: number, size: number) => ({
      ...{
        epoch,
        size,
        root: Buffer.alloc(32),
        frontier: Buffer.alloc(0),
        note: '',
        created_at: ago(0),
        mac: Buffer.alloc(32),
      },
    });
    await store.transaction((tx) => tx.insertMany('checkpoints', [checkpoint(1, 1)]));
    expect(await at(61)).toEqual([['seal-failed', null]]);
    await store.transaction((tx) => tx.insertMany('checkpoints', [checkpoint(2, 2)]));
    expect(await at(61)).toEqual([]);
  });

  test('do not take a delivery that was just readmitted for one that has waited since it arrived', async () => {
    const entry = (seq: number, minutes: number) => ({
      ...{ ...firstEntry, seq, source_seq: seq, dedupe_key: Buffer.alloc(32, seq) },
      received_at: ago(minutes),
    });
    await store.transaction((tx) => tx.insertMany('entries', [entry(1, 2000), entry(2, 1)]));
    await delivered(1, 2000, undefined, 'verified-late');
    await store.foldTransaction((tx) => tx.insertMany('fold_positions', [{ name: 'projector', seq: 1 }]));
    expect(await codes({ pulled: [] })).toEqual([]);
    // Others that came since are not overlooked.
    expect(await codes({ pulled: [], now: new Date(now.getTime() + 61 * 60_000) })).toEqual([['seal-failed', null]]);
  });

  test('name a surge of refused signatures, but not a few of them, old ones, or oversized bodies', async () => {
    await refused(9, 5);
    await refused(500, 60);
    await refused(500, 4, 'too-large');
    expect(await codes()).toEqual([]);
    await refused(3, 3);
    expect(await codes()).toEqual([['refused-surge', 'shop']]);
  });

  test('name no surge if fewer deliveries were refused than accepted', async () => {
    await refused(10, 5);
    for (let seq = 1; seq <= 10; seq += 1) await delivered(seq, 5);
    expect(await codes()).toEqual([]);
  });

  test('name a sync that lags and one that fails, but no error before the last success', async () => {
    await synced({ last_success_at: ago(60 * 4) });
    expect(await codes()).toEqual([['sync-lag', 'shop']]);
    expect(await codes({ pulled: [] })).toEqual([]);
  });
  test('do not name an unsynced source whose first delivery came an hour ago', async () => {
    await delivered(1, 60);
    expect(await codes()).toEqual([]);
  });
  test('name a source that has delivered for hours and was never synced', async () => {
    await delivered(1, 60 * 4);
    const [warning, ...others] = await findWarnings(store.read, calm);
    expect(warning).toMatchObject({ code: 'sync-lag', source: 'shop' });
    expect(warning?.sentence).toBe(
      'shop sends deliveries, but its consent log has never been synced: check that a worker is running.',
    );
    expect(others).toEqual([]);
    expect(await codes({ pulled: [] })).toEqual([]);
  });
  test('name a first sync that stopped before its end, but not one still running', async () => {
    await synced({ last_success_at: null, run_id: 'r', updated_at: ago(60) });
    expect(await codes()).toEqual([]);
    await synced({ last_success_at: null, run_id: 'r', updated_at: ago(60 * 4), banner_id: '' });
    expect((await findWarnings(store.read, calm)).map(({ code, sentence }) => [code, sentence])).toEqual([
      ['sync-lag', 'The first sync of shop did not finish.'],
    ]);
  });
  test('name a failing sync with its error', async () => {
    await synced({ last_success_at: ago(30), last_error: 'the key was revoked', last_error_at: ago(10) });
    const [warning] = await findWarnings(store.read, calm);
    expect(warning).toMatchObject({ code: 'sync-failing', source: 'shop' });
    expect(warning?.sentence).toContain('the key was revoked');
    expect(warning?.remedy).toContain('consent-ledger sync --source shop');
  });
  test('omit an error that was followed by a success', async () => {
    await synced({ last_success_at: ago(10), last_error: 'the key was revoked', last_error_at: ago(30) });
    expect(await codes()).toEqual([]);
  });

  test('name a disk that is nearly full, in bytes or as a share', async () => {
    expect(await codes({ disk: { free: 500 * 2 ** 20, total: 2 * 2 ** 30 } })).toEqual([['disk-low', null]]);
    expect(await codes({ disk: { free: 40 * 2 ** 30, total: 1000 * 2 ** 30 } })).toEqual([['disk-low', null]]);
    expect(await codes({ disk: null })).toEqual([]);
  });

  test('name faults of the last verification until one finds none', async () => {
    const [warning] = await findWarnings(store.read, { ...calm, verification: { at: ago(60), faults: 2 } });
    expect(warning).toMatchObject({ code: 'verification-faults', source: null });
    expect(warning?.sentence).toContain('found 2 faults');
    expect(await codes({ verification: { at: ago(1), faults: 0 } })).toEqual([]);
  });

  test('name a failed seal, refused appends, and entries that could not be read', async () => {
    await store.foldTransaction((tx) =>
      tx.insertMany('quarantine', [
        { seq: 1, source: 'shop', event: 'consent.recorded', reason: 'no banner', received_at: ago(1) },
        { seq: 2, source: 'bolt', event: 'consent.recorded', reason: 'no banner', received_at: ago(1) },
        { seq: 3, source: 'installation', event: null, reason: 'unknown action', received_at: ago(1) },
      ]),
    );
    const refusal = { code: 'journal-ahead', reason: 'the journal is ahead', remedy: 'put it back' } as const;
    expect(await codes({ sealFailure: 'entry 7: it was altered', refusal })).toEqual([
      ['journal-ahead', null],
      ['seal-failed', null],
      ['quarantine', 'bolt'],
      ['quarantine', null],
      ['quarantine', 'shop'],
    ]);
  });
});
