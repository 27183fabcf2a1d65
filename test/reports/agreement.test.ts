import { expect, onTestFinished, test } from 'vitest';
import type { Completeness } from '../../reports/consent-audit/completeness-blocks.ts';
import { consentAudit } from '../../reports/consent-audit.ts';
import type { Agreement } from '../../reports/reconciliation/agreement.ts';
import { reconciliation } from '../../reports/reconciliation.ts';
import type { ReportInput } from '../../reports/report.ts';
import { isLong } from '../temporary.ts';
import { collect, decision, delivery, observe, openWorld, syncRun, type World } from './world.ts';

// What the completeness statement says about each gap, and must not say. June 2026 in Berlin: from 31 May 22:00 UTC.

interface Said {
  readonly agreement: Agreement;
  readonly concerns: readonly string[];
}

async function open(): Promise<World> {
  const world = await openWorld();
  onTestFinished(() => world.close());
  return world;
}

async function said(world: World, changes: Partial<ReportInput> = {}): Promise<Said> {
  const bytes = await collect(reconciliation.produce(world.input({ asOf: 5000, ...changes, format: 'json' })));
  return JSON.parse(bytes.toString('utf8')) as Said;
}

async function page(world: World, changes: Partial<ReportInput> = {}): Promise<string> {
  const bytes = await collect(reconciliation.produce(world.input({ asOf: 5000, ...changes, format: 'html' })));
  return bytes.toString('utf8');
}

const at = (day: number, time = '10:00:00.000') => `2026-06-${String(day).padStart(2, '0')}T${time}Z`;
const pulled = { via: 'pull', occurred_basis: 'row' } as const;
/** A run over the whole log that ended after the month. */
const wholeLog = (seq: number, changes: object = {}) =>
  syncRun(seq, '2026-07-01T06:00:00.000Z', null, null, {
    bannerId: null,
    earliest: '2026-05-01T00:00:00.000Z',
    ...changes,
  });

test('a source that was never pulled is not said to agree, with decisions or without', async () => {
  const world = await open();
  expect((await said(world)).concerns).toEqual([
    'No finished pull of the consent log covers any part of the period: anything undelivered is unknown.',
  ]);
  expect(await page(world)).not.toContain('Both channels agree');
  await world.insert('decision_history', [decision(1, at(3))]);
  const { concerns, agreement } = await said(world);
  expect(concerns.join()).toContain('and nothing confirms what was');
  expect(agreement.banners).toMatchObject([{ bannerId: 'banner-main', notPulled: true, missingFromLog: 0 }]);
});

test('identical records on both sides, under a pull of the whole period, are enough for agreement', async () => {
  const world = await open();
  await world.insert('decision_history', [
    decision(1, at(3)),
    decision(2, at(3), { decision_id: 'r:rec-1', is_first: 0, ...pulled }),
  ]);
  await world.insert('action_history', [wholeLog(3)]);
  expect((await said(world)).concerns).toEqual([]);
  expect(await page(world)).toContain('Both channels agree');
});

test('a run covers nothing after its start, whatever end it requested, and reads dates with their offset', async () => {
  const world = await open();
  await world.insert('action_history', [
    syncRun(1, '2026-06-10T12:00:00.000Z', '2026-06-01T00:00:00-05:00', '2026-12-31', {
      bannerId: 'banner-main',
      asOf: '2026-06-10T09:00:00.000Z',
    }),
    syncRun(2, '2026-06-12T12:00:00.000Z', '2026-06-11T00:00:00.000Z', '2026-12-31', { bannerId: 'banner-main' }),
    syncRun(3, '2026-06-13T12:00:00.000Z', 'some day', null, { bannerId: 'banner-main' }),
  ]);
  const { agreement } = await said(world);
  expect(agreement.gaps).toEqual([
    { from: '2026-05-31T22:00:00.000Z', to: '2026-06-01T05:00:00.000Z', bannerIds: null },
    { from: '2026-06-10T09:00:00.000Z', to: '2026-06-11T00:00:00.000Z', bannerIds: null },
    { from: '2026-06-12T12:00:00.000Z', to: '2026-06-30T22:00:00.000Z', bannerIds: null },
  ]);
});

test('a pull of the whole log does not count for a banner that none of its rows names', async () => {
  const world = await open();
  await world.insert('decision_history', [
    decision(1, at(3)),
    decision(2, at(4), { banner_id: 'banner-new' }),
    decision(3, at(5), { banner_id: null }),
    // Rows of an earlier month show that the whole log has this banner.
    decision(4, '2026-04-01T00:00:00.000Z', { banner_id: 'banner-main', ...pulled }),
  ]);
  await world.insert('action_history', [wholeLog(9)]);
  const { agreement, concerns } = await said(world);
  expect(
    agreement.banners.map(({ bannerId, notPulled, missingFromLog }) => [bannerId, notPulled, missingFromLog]),
  ).toEqual([
    ['banner-main', false, 1],
    ['banner-new', true, 0],
    [null, false, 1],
  ]);
  expect(concerns.join('\n')).toMatch(/For 1 banner \(banner-new\) no finished pull covers any part/);
  expect(concerns.join('\n')).toMatch(/2 decisions were delivered but are not in the pulled log/);
  expect(concerns.join('\n')).toMatch(/1 decision was delivered in stretches that were not pulled/);
});

test('a banner that was pulled only before the period is not reported as never pulled', async () => {
  const world = await open();
  await world.insert('decision_history', [decision(2, at(4))]);
  await world.insert('action_history', [syncRun(1, '2026-05-20T00:00:00.000Z', null, null)]);
  expect((await said(world)).concerns.join()).not.toContain('never');
  expect(await page(world)).toContain('no finished pull');
});

test('deliveries and rows with neither id nor time cannot be matched, and are counted neither as missing nor as an outage', async () => {
  const world = await open();
  const nameless = { record_id: null, occurred_basis: 'received' } as const;
  await world.insert('decision_history', [
    decision(1, at(3), { ...nameless, decision_id: 'c:1' }),
    decision(2, at(3, '12:00:00.000'), { ...nameless, decision_id: 'c:2', via: 'pull' }),
    decision(3, at(3, '12:00:00.000'), { ...nameless, decision_id: 'c:3', via: 'pull' }),
    // With an id, but without a time that counts: placed at the time of its pull.
    decision(4, at(3, '12:00:00.000'), { via: 'pull', occurred_basis: 'row', occurred_counts: 0 }),
  ]);
  await world.insert('action_history', [wholeLog(9)]);
  const { agreement, concerns } = await said(world);
  expect(agreement.totals).toMatchObject({
    onlyWebhook: 1,
    onlyPulled: 3,
    unmatchableDelivered: 1,
    unmatchablePulled: 2,
  });
  expect(agreement.banners[0]?.missingFromLog).toBe(0);
  expect(agreement.undelivered).toEqual({ stretches: 0, longer: 0, inLonger: 0, untimed: 3, outages: [] });
  expect(concerns).toEqual([
    expect.stringMatching(/^No delivery matches a row of the log/),
    '3 decisions came only from the pulled log: 3 whose time is unknown.',
    '3 decisions were reported with neither a record id nor a time (1 by delivery, 2 by the pulled log), so that they cannot be matched: the same choice may be counted once from either.',
  ]);
});

test('deliveries during an outage are counted within it, except a late delivery of the decision before', async () => {
  const world = await open();
  await world.insert('decision_history', [
    decision(1, at(5, '08:00:00.000'), { received_at: at(5, '08:00:02.000') }),
    decision(2, at(5, '08:30:00.000'), pulled),
    decision(3, at(5, '11:00:00.000'), pulled),
    decision(4, at(5, '12:00:00.000'), { received_at: at(5, '12:00:02.000') }),
    decision(5, at(6, '08:00:00.000'), pulled),
    decision(6, at(6, '09:00:00.000'), pulled),
    decision(7, at(7), {}),
  ]);
  await world.insert('delivery_history', [
    delivery(1, at(5, '08:00:02.000')),
    delivery(4, at(5, '12:00:02.000')),
    delivery(8, at(6, '08:20:00.000'), { event: 'policy.updated' }),
    delivery(9, at(6, '08:20:00.000'), { event: 'policy.updated', source: 'another' }),
  ]);
  await world.insert('rejected_counts', [
    { source: 'default', minute: '2026-06-06T08:30', reason: 'mismatch', count: 4 },
    { source: 'default', minute: '2026-06-06T09:30', reason: 'mismatch', count: 8 },
  ]);
  await observe(world, 20);
  const { agreement } = await said(world);
  expect(
    agreement.undelivered.outages.map(({ firstSeq, keptMeanwhile, refusedMeanwhile }) => [
      firstSeq,
      keptMeanwhile,
      refusedMeanwhile,
    ]),
  ).toEqual([
    [2, 0, 0],
    [5, 1, 4],
  ]);
  expect(await page(world)).toContain('nothing arrived');
  // The counts of refused deliveries are deleted after 400 days.
  const later = { generatedAt: '2028-01-01T00:00:00.000Z' };
  await observe(world, 21, later);
  expect(await page(world, later)).not.toContain('nothing arrived');
  const audit = await collect(consentAudit.produce(world.input({ asOf: 5000, format: 'html', ...later })));
  expect(audit.toString('utf8')).toMatch(/those from before 2026-11-27 .* are no longer available/);
});

test('a banner or source without any delivery is named as such', async () => {
  const world = await open();
  await world.insert('decision_history', [
    decision(1, at(3), { banner_id: 'banner-silent', ...pulled }),
    decision(2, at(4), { banner_id: 'banner-silent', ...pulled }),
  ]);
  await world.insert('action_history', [wholeLog(9)]);
  expect((await said(world)).concerns[0]).toMatch(/^No decision of the period was delivered:/);
  await world.insert('decision_history', [
    decision(3, at(5)),
    decision(4, at(5), { decision_id: 'r:rec-3', is_first: 0, ...pulled }),
  ]);
  expect((await said(world)).concerns[0]).toMatch(
    /^For 1 banner \(banner-silent\) no decision was delivered: what is known of it \(2 decisions\)/,
  );
});

test('a decision that was delivered late, after its pull, came both ways and is not an outage', async () => {
  const world = await open();
  await world.insert('decision_history', [
    decision(1, at(3), pulled),
    decision(2, at(3), { decision_id: 'r:rec-1', is_first: 0, received_at: at(9) }),
  ]);
  await world.insert('action_history', [wholeLog(9)]);
  const { agreement, concerns } = await said(world);
  expect([agreement.totals.both, concerns]).toEqual([1, []]);
  // As of an entry before its arrival, it is missing.
  expect((await said(world, { asOf: 1 })).agreement.totals).toMatchObject({ both: 0, onlyPulled: 1 });
});

test('a later answer that begins later does not undo earlier pulls of the time before', async () => {
  const world = await open();
  await world.insert('action_history', [wholeLog(9, { earliest: at(10) })]);
  const nothingBefore = 'returned nothing before 2026-06-10 12:00:00 +02:00';
  expect((await said(world)).concerns.join()).toContain(nothingBefore);
  await world.insert('decision_history', [decision(1, '2026-05-02T00:00:00.000Z', pulled)]);
  expect((await said(world)).concerns).toEqual([]);
});

test('gaps are counted by banner: a late pull of one banner leaves no gap if the whole log was pulled', async () => {
  const world = await open();
  await world.insert('decision_history', [
    decision(1, at(3)),
    decision(2, at(3), { decision_id: 'r:rec-1', is_first: 0, ...pulled }),
  ]);
  await world.insert('action_history', [syncRun(8, at(20), at(19), null, { bannerId: 'banner-main' }), wholeLog(9)]);
  expect((await said(world)).agreement.gaps).toEqual([]);
  const bytes = await collect(consentAudit.produce(world.input({ asOf: 5000, format: 'json' })));
  const { completeness } = JSON.parse(bytes.toString('utf8')) as { completeness: Completeness };
  expect(completeness.agreement.gaps).toEqual([]);
  const audit = await collect(consentAudit.produce(world.input({ asOf: 5000, format: 'html' })));
  expect(audit.toString('utf8')).not.toContain('not covered by a finished pull');
});

test('a gap without a decision is named, and so is a pull of named banners only', async () => {
  const world = await open();
  await world.insert('action_history', [
    syncRun(1, at(11), null, null, { bannerId: null, earliest: null }),
    syncRun(2, '2026-07-01T06:00:00.000Z', at(12), null, { bannerId: null }),
  ]);
  const { concerns, agreement } = await said(world);
  expect(agreement.gaps).toEqual([{ from: at(11), to: at(12), bannerIds: null }]);
  expect(concerns).toEqual([
    '1 stretch of the period, of 24.0 h, was not covered by a finished pull of the consent log: anything undelivered then is unknown.',
  ]);
  const named = await open();
  await named.insert('action_history', [syncRun(1, '2026-07-01T06:00:00.000Z', null, null)]);
  expect(await page(named)).toContain('A banner named neither in the settings of this source nor in a delivery');
  expect(await page(world)).not.toContain('A banner named neither');
});

test('the time after the last pull of a current period is not a gap, and the report says up to when the log was pulled', async () => {
  const world = await open();
  await world.insert('decision_history', [
    decision(1, at(3)),
    decision(2, at(3), { decision_id: 'r:rec-1', is_first: 0, ...pulled }),
  ]);
  await world.insert('action_history', [wholeLog(9, { asOf: at(20) })]);
  const during = { generatedAt: at(21) };
  const { agreement, concerns } = await said(world, during);
  expect(agreement.gaps).toEqual([]);
  expect(concerns).toEqual([
    'The period was not over when this report was made.',
    'The log was pulled up to 2026-06-20 12:00:00 +02:00 so far: anything undelivered since then is unknown.',
  ]);
  expect(await page(world, during)).not.toContain('the whole period');
  // Once the period is over, it is a gap.
  expect((await said(world)).agreement.gaps).toEqual([
    { from: at(20), to: '2026-06-30T22:00:00.000Z', bannerIds: null },
  ]);
});

test('a delivery of the six hours before the last pull is not missing from the log: its row may be shown late', async () => {
  const world = await open();
  await world.insert('decision_history', [
    decision(1, at(20, '03:00:00.000')),
    decision(2, at(20, '08:30:00.000')),
    decision(3, at(20, '03:00:00.000'), pulled),
  ]);
  await world.insert('action_history', [wholeLog(9, { asOf: at(20) })]);
  const during = { generatedAt: at(20, '10:05:00.000') };
  const { agreement, concerns } = await said(world, during);
  expect(agreement.banners.map(({ missingFromLog }) => missingFromLog)).toEqual([1]);
  expect(concerns.join('\n')).toMatch(/1 decision was delivered in .*six hours before the last pull.*confirms it/);
  // The next pulls would have brought it.
  await world.insert('action_history', [wholeLog(10, { asOf: at(20, '15:00:00.000') })]);
  const later = await said(world, { generatedAt: at(20, '15:05:00.000') });
  expect(later.agreement.banners.map(({ missingFromLog }) => missingFromLog)).toEqual([2]);
});

test('decisions missing from a recount are named once, and only those of the period', async () => {
  const world = await open();
  await world.insert('decision_history', [
    decision(1, at(3), pulled),
    decision(2, '2026-05-30T10:00:00.000Z', pulled),
    decision(3, at(4), { decision_id: 'r:rec-1', is_first: 0 }),
  ]);
  const recount = (seq: number, day: number, gone: number, goneSeqs: readonly number[], found = 0) => {
    const { details: _, ...row } = syncRun(seq, at(day), null, null);
    const details = {
      ...{ action: 'sync.recounted', actor: 'schedule', bannerId: null, runId: `r${seq}`, rows: 5 },
      ...{ from: '2026-05-28T00:00:00.000Z', to: at(day), found, foundSeqs: [], gone, goneSeqs },
    };
    return { ...row, action: 'sync.recounted', details: JSON.stringify(details) };
  };
  await world.insert('action_history', [recount(7, 4, 2, [1, 2], 3), recount(8, 5, 2, [1, 2]), wholeLog(9)]);
  const { agreement, concerns } = await said(world);
  expect(agreement.recounts).toEqual({ recounts: 2, found: 3, goneSeqs: [1], moreGone: false });
  expect(concerns.join('\n')).toContain('1 decision that had been pulled was missing when the log');
  expect(await page(world)).toContain('read again 2 times');
  await world.insert('action_history', [recount(10, 6, 500, [1])]);
  expect((await said(world)).concerns.join('\n')).toContain('At least 1 decision that had been pulled');
});

test('erased entries of the source are reported as missing on one side', async () => {
  const world = await open();
  const entry = (seq: number, kind: 'webhook' | 'erasure', said: object, source = 'default') => {
    const body = Buffer.from(JSON.stringify(said));
    return {
      ...{ seq, source, source_seq: seq, kind, dedupe_key: Buffer.from([seq]), received_at: at(3), meta: body, body },
      ...{ salt: body, commitment: Buffer.alloc(32), leaf_hash: Buffer.alloc(32), mac: Buffer.alloc(32) },
    };
  };
  await world.insert('entries', [
    entry(1, 'webhook', {}),
    entry(2, 'webhook', {}, 'another'),
    entry(3, 'webhook', {}),
    entry(4, 'erasure', { seqs: [1, 2, 3] }),
  ]);
  await world.store.transaction(({ query }) =>
    query.updateTable('entries').set({ meta: null, body: null, salt: null }).where('seq', '<=', 2).execute(),
  );
  await world.insert('action_history', [wholeLog(9)]);
  expect((await said(world)).concerns).toEqual([
    expect.stringMatching(/^The content of 1 entry of this source was erased/),
  ]);
  expect((await said(world, { asOf: 3 })).agreement.erasedEntries).toBe(0);
});

test('the pages list some of hundreds of banners and say so, and the JSON has all', async () => {
  const world = await open();
  await world.insert(
    'decision_history',
    Array.from({ length: 200 }, (_, n) =>
      decision(n + 1, at(3), { banner_id: `banner-${String(n).padStart(3, '0')}` }),
    ),
  );
  expect(await page(world)).toContain('The first 50 of 200 banners');
  expect((await said(world)).agreement.banners).toHaveLength(200);
});

test('a source with more banners than a statement can have parameters is compared like any other', async () => {
  const world = await open();
  // Three parameters per banner would exceed SQLite's limit of 32,766, and in long runs PostgreSQL's of 65,535.
  const banners = isLong ? 40_000 : 11_000;
  const bannerId = (n: number) => `banner-${n}'"\\{}`;
  const start = Date.parse(at(3));
  await world.insert(
    'decision_history',
    Array.from({ length: banners }, (_, n) =>
      decision(n + 1, new Date(start + n * 1000).toISOString(), {
        decision_id: `r:rec-${n}`,
        banner_id: bannerId(n),
        ...pulled,
      }),
    ),
  );
  // Only delivered: for a banner in the middle, for none, and for one that no row of the log names.
  await world.insert('decision_history', [
    decision(banners + 1, at(4), { decision_id: 'r:a', banner_id: bannerId(5000) }),
    decision(banners + 2, at(4), { decision_id: 'r:b', banner_id: null }),
    decision(banners + 3, at(4), { decision_id: 'r:c', banner_id: 'banner-never-pulled' }),
  ]);
  await world.insert('action_history', [wholeLog(banners + 4)]);
  const asOf = banners + 4;
  const { agreement } = await said(world, { asOf });
  const missing = agreement.banners.filter(({ missingFromLog }) => missingFromLog > 0);
  expect(missing.map((one) => [one.bannerId, one.missingFromLog])).toEqual(
    expect.arrayContaining([
      [bannerId(5000), 1],
      [null, 1],
    ]),
  );
  expect(missing).toHaveLength(2);
  expect(agreement.totals).toMatchObject({ decisions: banners + 3, onlyPulled: banners, onlyWebhook: 3 });
});
