import { describe, expect, it } from 'vitest';
import { loadSyncStatus } from '../../src/sync/status.ts';
import { type FakeOptions, fakeConsentLog, minuteRows } from './fake-consent-log.ts';
import { sourceAt, syncingWith } from './syncing.ts';

const now = new Date('2026-07-10T12:00:00.000Z');

async function world(options: FakeOptions) {
  const rows = minuteRows(45, '2026-07-10T11:00:00.000Z');
  const fake = await fakeConsentLog(rows, { pageRows: 10, date: () => now, ...options });
  const syncing = await syncingWith(fake.baseUrl, now);
  const form = async () => (await loadSyncStatus(syncing.store.read, () => now, [sourceAt(fake.baseUrl)]))[0]?.form;
  return { fake, syncing, form };
}

describe('a service that accepts requests in another form', () => {
  it.each([
    ['dates only', { takesDatesOnly: true }, 'whole days only'],
    ['no fractions of seconds', { takesSecondsOnly: true }, 'times in whole seconds'],
    ['no offsets', { takesNoOffset: true }, 'times without an offset (UTC)'],
    ['no period without an end', { wantsBothEnds: 'always' as const }, 'times, both ends of the period required'],
    ['both ends of a period or none', { wantsBothEnds: 'or-none' as const }, 'times, both ends of the period required'],
    [
      'both ends, as dates',
      { wantsBothEnds: 'always' as const, takesDatesOnly: true },
      'whole days only, both ends of the period required',
    ],
  ])('gets that form from the second pull on: %s', async (_, options, words) => {
    const { fake, syncing, form } = await world(options);
    await syncing.pull();
    fake.rows = [...fake.rows, { bannerId: 'bnr_1', at: now.getTime(), text: '{"id":"later"}' }];
    syncing.now = new Date(now.getTime() + 3_600_000);
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', stored: 1 });
    expect(await syncing.actions()).toContainEqual(expect.objectContaining({ action: 'sync.form-learned' }));
    expect(await form()).toBe(words);
    const before = fake.requests.length;
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', stored: 0 });
    // The form of the query is not probed again: one request per page.
    expect(fake.requests.length - before).toBe(5);
  });

  it('gets the cursor alone if it refuses it together with other parameters', async () => {
    const { fake, syncing, form } = await world({ takesCursorAlone: true });
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', stored: 45, duplicates: 0 });
    expect(await form()).toBe('times, a cursor only without other parameters');
    const before = fake.requests.length;
    await syncing.pull();
    expect(fake.requests.length - before).toBe(5);
  });

  it('is read to its end by the day if its cursors expire as well', async () => {
    const { fake, syncing } = await world({ takesDatesOnly: true, cursorsExpireAfter: { pages: 3, status: 400 } });
    fake.rows = Array.from({ length: 200 }, (_, index) => {
      const at = Date.parse('2026-06-10T00:00:00Z') + index * 3 * 3_600_000;
      return { bannerId: 'bnr_1', at, text: JSON.stringify({ id: index, created_at: new Date(at).toISOString() }) };
    });
    expect(await syncing.pull()).toMatchObject({ outcome: 'finished', stored: 200 });
  });
});
