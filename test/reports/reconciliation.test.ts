import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { consentAudit } from '../../reports/consent-audit.ts';
import type { Agreement } from '../../reports/reconciliation/agreement.ts';
import { reconciliation } from '../../reports/reconciliation.ts';
import type { ReportInput } from '../../reports/report.ts';
import { pdfText } from './files.ts';
import { collect, decision, fillMonth, observe, openWorld, syncRun, type World } from './world.ts';

/** A month with an outage on 25 June, a banner that is never pulled, and a log that begins on 1 June at 06:00. */
let world: World;
beforeAll(async () => {
  world = await openWorld();
  await fillMonth(world);
  await world.store.foldTransaction(async ({ query }) => {
    const [from, to] = ['2026-06-25T02', '2026-06-25T23'];
    await query.deleteFrom('decision_history').where('at', '>', from).where('at', '<', to).execute();
    await query.deleteFrom('delivery_history').where('received_at', '>', from).where('received_at', '<', to).execute();
  });
  await world.insert('decision_history', [
    ...Array.from({ length: 14 }, (_, hour) =>
      decision(3000 + hour, `2026-06-25T${String(hour + 3).padStart(2, '0')}:05:00.000Z`, {
        via: 'pull',
        occurred_basis: 'row',
      }),
    ),
    decision(3100, '2026-06-11T12:00:00.000Z', { banner_id: 'banner-footer' }),
    decision(3101, '2026-06-12T12:10:00.000Z', { banner_id: 'banner-footer' }),
    decision(3102, '2026-06-13T12:10:00.000Z', { decision_id: 'r:two', subject: 'subject-two' }),
    decision(3103, '2026-06-13T12:10:00.000Z', {
      decision_id: 'r:two',
      subject: 'subject-two',
      via: 'pull',
      is_first: 0,
      conflicts: 1,
      state: 'refused',
      policy_version: '4',
    }),
  ]);
  await world.insert('action_history', [
    syncRun(3200, '2026-06-09T00:00:00.000Z', null, '2026-06-08T00:00:00.000Z', {
      earliest: '2026-06-01T06:00:01.000Z',
    }),
  ]);
  await world.insert('rejected_counts', [
    { source: 'default', minute: '2026-06-25T11:31', reason: 'mismatch', count: 9 },
  ]);
  await observe(world, 3300);
});
afterAll(() => world.close());

const produce = (changes: Partial<ReportInput>, report = reconciliation) =>
  collect(report.produce(world.input({ asOf: 4000, ...changes })));

interface Document {
  readonly agreement: Agreement;
  readonly concerns: readonly string[];
  readonly onlyDelivered: readonly { readonly decision: string }[];
  readonly onlyPulled: readonly { readonly decision: string; readonly entries: readonly { readonly seq: number }[] }[];
  readonly contradicting: readonly { readonly decision: string }[];
}
const json = async (changes: Partial<ReportInput> = {}) =>
  JSON.parse((await produce({ ...changes, format: 'json' })).toString('utf8')) as Document;

test('the reconciliation report names the outage with its ends, the deliveries refused during it, and the decisions that arrived only by pull', async () => {
  const { agreement, onlyPulled } = await json();
  expect(agreement.undelivered).toMatchObject({
    longer: 1,
    inLonger: 14,
    outages: [
      {
        decisions: 14,
        firstAt: '2026-06-25T03:05:00.000Z',
        lastAt: '2026-06-25T16:05:00.000Z',
        firstSeq: 3000,
        lastSeq: 3013,
        keptMeanwhile: 0,
        refusedMeanwhile: 9,
      },
    ],
  });
  const [outage] = agreement.undelivered.outages;
  expect(outage?.deliveredBefore?.slice(0, 10)).toBe('2026-06-24');
  expect(outage?.deliveredAfter?.slice(0, 10)).toBe('2026-06-26');
  expect(onlyPulled.map(({ entries }) => entries[0]?.seq)).toEqual(Array.from({ length: 14 }, (_, n) => 3000 + n));
});

test('the reconciliation report says how far each banner was pulled, and names one that never was', async () => {
  const { agreement, concerns } = await json();
  expect(agreement.nothingBefore).toBe('2026-06-01T06:00:01.000Z');
  const [footer, main] = agreement.banners;
  expect(footer).toMatchObject({ bannerId: 'banner-footer', notPulled: true, onlyWebhook: 2, missingFromLog: 0 });
  expect(main).toMatchObject({ bannerId: 'banner-main', notPulled: false });
  // The failed run of 20 June left a gap.
  expect(main?.lastPulled).toBe('2026-06-30T22:00:00.000Z');
  expect(main?.gaps).toEqual([{ from: '2026-06-19T23:45:00.000Z', to: '2026-06-20T23:30:00.000Z' }]);
  expect(main?.missingFromLog).toBeGreaterThan(0);
  expect(concerns.join('\n')).toMatch(/For 1 banner \(banner-footer\) no finished pull covers any part of the period/);
  expect(concerns.join('\n')).toMatch(/returned nothing before 2026-06-01 08:00:01 \+02:00/);
  expect(concerns.join('\n')).toMatch(
    /14 decisions came only from the pulled log: 14 in 1 stretch without any decision delivered/,
  );
});

test('the reconciliation report lists exactly the counted findings, in JSON and in CSV', async () => {
  const { agreement, onlyDelivered, onlyPulled, contradicting } = await json();
  const { totals } = agreement;
  expect([onlyDelivered.length, onlyPulled.length, contradicting.length]).toEqual([
    totals.onlyWebhook,
    totals.onlyPulled,
    totals.conflicting,
  ]);
  expect(totals.both + totals.onlyWebhook + totals.onlyPulled).toBe(totals.decisions);
  const rows = parse<Record<string, string>>(await produce({ format: 'csv' }), { bom: true, columns: true });
  expect(rows).toHaveLength(totals.onlyWebhook + totals.onlyPulled + totals.conflicting);
  const two = rows.find((row) => row['decision'] === 'r:two');
  expect(two).toMatchObject({
    finding: 'conflicting',
    entries_delivered: '3102',
    entries_pulled: '3103',
    contradicts: '3103 contradicts 3102: state: Given / Refused; policy version: 3 / 4',
  });
  expect(rows.find((row) => row['finding'] === 'only-pulled')).toMatchObject({ entries_pulled: '3000' });
});

test('the reconciliation report says the same on its pages, and in the statement of the consent audit', async () => {
  const pages = pdfText(await produce({ format: 'pdf' }));
  for (const words of [
    'no finished pull',
    'Outages of the endpoint',
    '9 refused',
    'state: Given / Refused',
    '3,000 – 3,013',
  ])
    expect(pages).toContain(words);
  const audit = pdfText(await produce({ format: 'pdf' }, consentAudit));
  for (const words of [
    'banner-footer',
    'nothing before',
    'Stretches in which no decision was delivered',
    'Given / Refused',
  ])
    expect(audit).toContain(words);
  const empty = (await produce({ format: 'html', source: 'nobody' })).toString('utf8');
  expect(empty).toContain('No decision of the period is known, and no log was pulled for it.');
});

test('the reconciliation report is not changed by entries after asOf', async () => {
  const before = await json({ asOf: 3001 });
  expect(before.agreement.totals.onlyPulled).toBe(2);
  expect(before.agreement.totals.conflicting).toBe((await json()).agreement.totals.conflicting - 1);
});
