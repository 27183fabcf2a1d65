import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConsentAudit } from '../../reports/consent-audit/gather.ts';
import { consentAudit } from '../../reports/consent-audit.ts';
import { limits } from '../../reports/create-report.ts';
import { gapsIn, mergeSpans } from '../../reports/pulls.ts';
import type { ReportInput } from '../../reports/report.ts';
import { type ToldDecision, timelineOf } from '../../src/core/consent-timeline.ts';
import { pdfAttachment, pdfText } from './files.ts';
import {
  anHourLater,
  collect,
  decision,
  delivery,
  fillMonth,
  judged,
  openWorld,
  policyChange,
  syncRun,
  type World,
} from './world.ts';

let month: World;
beforeAll(async () => {
  month = await openWorld();
  await fillMonth(month);
});
afterAll(() => month.close());

const produce = (world: World, changes: Partial<ReportInput>) => collect(consentAudit.produce(world.input(changes)));
const json = async (world: World, changes: Partial<ReportInput> = {}) =>
  JSON.parse((await produce(world, { ...changes, format: 'json' })).toString('utf8')) as ConsentAudit;

async function inWorld<T>(work: (world: World) => Promise<T>): Promise<T> {
  const world = await openWorld();
  try {
    return await work(world);
  } finally {
    await world.close();
  }
}

test('all totals of the report add up to the number of decisions', async () => {
  const audit = await json(month);
  const { decisions } = audit.totals;
  expect(decisions).toBeGreaterThan(300);
  const sum = (rows: readonly { decisions: number }[]) => rows.reduce((total, row) => total + row.decisions, 0);
  for (const rows of [audit.byState, audit.byRegion, audit.byBanner, audit.byPolicyVersion, audit.byMonth])
    expect(sum(rows)).toBe(decisions);
  expect(sum(audit.overTime.spans.flatMap(({ states }) => states))).toBe(decisions);
  const { both, onlyWebhook, onlyPulled } = audit.completeness.agreement.totals;
  expect(both + onlyWebhook + onlyPulled).toBe(decisions);
  for (const { granted, refused, withdrawn, disputed } of audit.byPurpose)
    expect(granted + refused + withdrawn + disputed).toBe(decisions);
});

test('a decision recorded twice counts once, a contradicting row is a conflict, and both are rows of the CSV', () =>
  inWorld(async (world) => {
    const told = [
      decision(1, '2026-06-03T10:00:00.000Z', { decision_id: 'r:a' }),
      decision(2, '2026-06-03T10:00:00.000Z', {
        ...{ decision_id: 'r:a', via: 'pull', subject: 'subject-1' },
        ...{ is_first: 0, conflicts: 1, state: 'refused' },
      }),
      decision(3, '2026-06-04T10:00:00.000Z', { decision_id: 'r:b', via: 'pull' }),
    ];
    await world.insert('decision_history', judged(told));
    const audit = await json(world);
    expect(audit.totals).toMatchObject({ decisions: 2, rows: 3, conflicts: 1, subjects: 2 });
    expect(audit.byState).toEqual([
      { state: 'partly-given', decisions: 1 },
      { state: 'disputed', decisions: 1 },
    ]);
    expect(audit.byStatedState).toEqual([{ state: 'given', decisions: 2 }]);
    expect(audit.byPurpose).toEqual([
      { purpose: 'analytics', granted: 1, refused: 0, withdrawn: 0, disputed: 1, standing: 1 },
      { purpose: 'marketing', granted: 0, refused: 2, withdrawn: 0, disputed: 0, standing: 0 },
    ]);
    expect(audit).toMatchObject({ disputedStanding: 1, standing: [{ consents: 1 }] });
    expect(audit.completeness.agreement.totals).toMatchObject({ both: 1, onlyWebhook: 0, onlyPulled: 1 });
    const rows = parse<Record<string, string>>(await produce(world, { format: 'csv' }), { bom: true, columns: true });
    expect(rows.map((row) => row['granted_afterwards'])).toEqual(['[]', '[]', '["analytics"]']);
    expect(rows.map((row) => [row['entry'], row['first_of_decision'], row['contradicts_earlier']])).toEqual([
      ['1', 'yes', 'no'],
      ['2', 'no', 'yes'],
      ['3', 'yes', 'no'],
    ]);
  }));

test('days are those of the time zone: a decision just after local midnight belongs to the new day, even when clocks change', () =>
  inWorld(async (world) => {
    await world.insert('decision_history', [
      decision(1, '2026-05-31T21:59:59.999Z'),
      decision(2, '2026-05-31T22:00:00.000Z'),
      decision(3, '2026-06-30T21:59:59.999Z'),
      decision(4, '2026-06-30T22:00:00.000Z'),
      decision(5, '2026-10-24T21:30:00.000Z'),
      decision(6, '2026-10-25T22:30:00.000Z'),
    ]);
    const june = await json(world);
    expect(june.totals.decisions).toBe(2);
    expect(june.overTime.spans.filter(({ states }) => states.length > 0).map(({ span }) => span)).toEqual([
      '2026-06-01',
      '2026-06-30',
    ]);
    const october = await json(world, { from: '2026-10-24', to: '2026-10-27' });
    expect(october.overTime.spans.filter(({ states }) => states.length > 0).map(({ span }) => span)).toEqual([
      '2026-10-24',
      '2026-10-25',
    ]);
  }));

test('a row beyond asOf does not change a byte of the report, in any format', () =>
  inWorld(async (world) => {
    await world.insert('decision_history', [
      decision(10, '2026-06-03T10:00:00.000Z'),
      decision(11, '2026-06-05T10:00:00.000Z', { subject: 's', expires_at: '2026-07-09T00:00:00.000Z' }),
    ]);
    await world.insert('policy_history', [policyChange(12, '2026-06-01T10:00:00.000Z')]);
    await world.insert('delivery_history', [delivery(10, '2026-06-03T10:00:00.000Z')]);
    await world.insert('action_history', [
      syncRun(13, '2026-06-06T10:00:00.000Z', '2026-05-01T00:00:00.000Z', '2026-06-06T00:00:00.000Z'),
    ]);
    const all = async () => Promise.all(consentAudit.formats.map((format) => produce(world, { format, asOf: 100 })));
    const before = await all();
    await world.insert('decision_history', [
      decision(101, '2026-06-03T11:00:00.000Z'),
      decision(102, '2026-06-03T10:00:00.000Z', { decision_id: 'r:rec-10', via: 'pull', is_first: 0, conflicts: 1 }),
      decision(103, '2026-06-20T10:00:00.000Z', { subject: 's', state: 'withdrawn' }),
    ]);
    await world.insert('policy_history', [policyChange(104, '2026-06-02T10:00:00.000Z', { version: '9' })]);
    await world.insert('delivery_history', [delivery(105, '2026-06-03T10:00:00.000Z')]);
    await world.insert('action_history', [
      syncRun(106, '2026-06-07T10:00:00.000Z', '2026-06-06T00:00:00.000Z', '2026-06-30T00:00:00.000Z'),
    ]);
    const after = await all();
    after.forEach((bytes, i) => expect(bytes.equals(before[i] as Buffer), consentAudit.formats[i]).toBe(true));
    expect(
      (await produce(world, { format: 'csv', asOf: 200 })).equals(
        before[consentAudit.formats.indexOf('csv')] as Buffer,
      ),
    ).toBe(false);
  }));

test('the same input gives the same bytes an hour later, without other sources', async () => {
  const first = await Promise.all(consentAudit.formats.map((format) => produce(month, { format })));
  anHourLater();
  const second = await Promise.all(consentAudit.formats.map((format) => produce(month, { format })));
  first.forEach((bytes, i) => expect(bytes.equals(second[i] as Buffer), consentAudit.formats[i]).toBe(true));
  expect((await json(month, { source: 'another' })).totals.decisions).toBe(0);
});

test('the pages of the PDF say who, what, when, how complete, how to verify, and what it does not prove', async () => {
  const text = pdfText(await produce(month, { format: 'pdf', sample: true })).replaceAll(/\s+/g, ' ');
  for (const words of [
    'Consent audit',
    'Förster & Söhne GmbH, Lindenstraße 12, 80331 München',
    '1 June 2026 to 30 June 2026',
    'source default (Förster shop)',
    'entries 1 to 1,000 of the ledger',
    'Decisions per day by state',
    'Day (Europe/Berlin)',
    'Refused: signature mismatch',
    'By purpose',
    'Time until the withdrawal was recorded',
    '3 (superseded)',
    'Root hash (SHA-256)',
    'Banner as shown: not evidenced.',
    'It is not legal advice',
  ])
    expect(text).toContain(words);
  for (const limit of limits) expect(text).toContain(limit);
  expect(text).toContain('could withdraw as easily as they consented cannot be seen in these records');
  expect(text).toContain('How long a consent may be relied on is not judged here.');
  const { totals } = await json(month);
  expect(text).toContain(`All ${totals.decisions} 100.0 %`);
});

test('facts missing from the profile are named, and so is a missing profile', async () => {
  const audit = await json(month, { profile: null });
  expect(audit.missingFromProfile).toEqual(['the controller profile as a whole']);
  const input = month.input();
  const text = pdfText(await produce(month, { format: 'pdf', profile: { ...input.profile!, recipients: [] } }));
  expect(text).toContain('Missing from the controller profile');
  expect(text).toMatch(/•\s+recipients/);
});

test('gaps of the pulled log are the times that no finished run requested, and a failed run covers nothing', async () => {
  const audit = await json(month);
  expect(audit.completeness.pulls).toHaveLength(1);
  expect(audit.completeness.pulls[0]).toMatchObject({
    bannerId: 'banner-main',
    failedRuns: 1,
    lastError: '503 from the service',
  });
  expect(audit.completeness.pulls[0]?.gaps).toEqual([
    { from: '2026-05-31T22:00:00.000Z', to: '2026-05-31T23:30:00.000Z' },
    { from: '2026-06-19T23:45:00.000Z', to: '2026-06-20T23:30:00.000Z' },
  ]);
});

test('windows that touch merge, and gaps are the rest', () => {
  const windows = [
    { from: '5', to: '7' },
    { from: '1', to: '3' },
    { from: '3', to: '4' },
    { from: '6', to: '6' },
  ];
  expect(mergeSpans(windows)).toEqual([
    { from: '1', to: '4' },
    { from: '5', to: '7' },
  ]);
  expect(gapsIn({ from: '0', to: '9' }, windows)).toEqual([
    { from: '0', to: '1' },
    { from: '4', to: '5' },
    { from: '7', to: '9' },
  ]);
  expect(gapsIn({ from: '2', to: '3' }, windows)).toEqual([]);
  expect(gapsIn({ from: '0', to: '9' }, [])).toEqual([{ from: '0', to: '9' }]);
});

test('a consent stands until a later decision of the same subject on the same banner; expiry and old versions are counted', () =>
  inWorld(async (world) => {
    const at = (day: number) => `2026-06-${String(day).padStart(2, '0')}T10:00:00.000Z`;
    await world.insert('policy_history', [
      policyChange(1, '2026-01-01T00:00:00.000Z'),
      policyChange(2, '2026-06-10T00:00:00.000Z', { version: '4' }),
      // Edited but not published, so nothing new is in force.
      policyChange(3, '2026-06-20T00:00:00.000Z', { version: '5', change: 'updated', event: 'policy.updated' }),
    ]);
    await world.insert('decision_history', [
      decision(11, at(1), { subject: 'stays', expires_at: '2026-06-20T00:00:00.000Z' }),
      decision(12, at(1), { subject: 'withdraws' }),
      decision(13, at(2), { subject: 'withdraws', state: 'withdrawn' }),
      decision(14, at(1), { subject: 'elsewhere' }),
      decision(15, at(2), { subject: 'elsewhere', banner_id: 'other', state: 'withdrawn' }),
      decision(16, at(12), { subject: 'new', policy_version: '4', expires_at: '2026-07-15T00:00:00.000Z' }),
      decision(17, at(12), { subject: 'later', policy_version: '4', expires_at: '2026-09-01T00:00:00.000Z' }),
    ]);
    expect((await json(world)).standing).toEqual([
      {
        policyId: 'pol-1',
        policyVersion: '3',
        superseded: true,
        consents: 2,
        withoutExpiry: 1,
        expired: 1,
        within30Days: 0,
        within90Days: 0,
      },
      {
        policyId: 'pol-1',
        policyVersion: '4',
        superseded: false,
        consents: 2,
        withoutExpiry: 0,
        expired: 0,
        within30Days: 1,
        within90Days: 1,
      },
    ]);
  }));

test('times that were not stated are flagged, and withdrawals show how long it took to record them', () =>
  inWorld(async (world) => {
    const at = '2026-06-03T10:00:00.000Z';
    await world.insert('decision_history', [
      decision(1, at, { occurred_basis: 'received', state: 'withdrawn' }),
      decision(2, at, { occurred_counts: 0, occurred_at: '2099-01-01T00:00:00.000Z' }),
      decision(3, at, { occurred_basis: 'assumed-offset', subject: null }),
      decision(4, at, { state: 'withdrawn', received_at: '2026-06-03T10:30:00.000Z' }),
      decision(5, at, { state: 'withdrawn', received_at: '2026-06-06T10:00:00.000Z' }),
    ]);
    const audit = await json(world);
    expect(audit.totals).toMatchObject({ timedByReceipt: 1, timesNotCounted: 1, offsetAssumed: 1, withoutSubject: 1 });
    expect(audit.withdrawals).toEqual({
      decisions: 3,
      partly: 0,
      byRequest: 0,
      consentAfter: [],
      recordedWithin: { minute: 0, hour: 1, day: 0, longer: 1 },
      withoutOwnTime: 1,
      longest: 3 * 86_400_000,
    });
  }));

test('a decision judged again later counts as known at asOf, and consent after a withdrawal by request is named', () =>
  inWorld(async (world) => {
    const at = (day: number) => `2026-06-0${day}T10:00:00.000Z`;
    await world.insert('decision_history', [
      decision(1, at(3), { subject: 's', state: 'refused', purposes: '{"analytics":"denied"}' }),
      // Made earlier but known later: the refusal turns out to be a withdrawal.
      decision(2, at(1), { subject: 's', purposes: '{"analytics":"granted"}' }),
      decision(3, at(4), {
        ...{ subject: 's', via: 'request', case_id: 'case-7', state: 'withdrawn', purposes: '{}' },
        ...{ occurred_basis: 'officer', record_id: null, decision_id: 'q:3' },
      }),
      decision(4, at(5), { subject: 's', purposes: '{"analytics":"granted","necessary":"granted"}' }),
      decision(5, at(6), { subject: 's', state: 'refused', purposes: '{"analytics":"denied"}' }),
    ]);
    await world.insert('decision_judgements', [
      {
        seq: 2,
        source: 'default',
        decision_id: 'r:rec-1',
        state: 'refused',
        purposes: '{"analytics":"denied"}',
        label: 'withdrawn',
        withdraws: '["analytics"]',
        stands: '[]',
        held: '[]',
      },
    ]);
    const before = await json(world, { asOf: 1 });
    expect(before.byState).toEqual([{ state: 'refused', decisions: 1 }]);
    const after = await json(world, { asOf: 4 });
    expect(after.byState).toEqual([
      { state: 'given', decisions: 2 },
      { state: 'withdrawn', decisions: 2 },
    ]);
    expect(after.byPurpose).toEqual([
      { purpose: 'analytics', granted: 2, refused: 0, withdrawn: 1, disputed: 0, standing: 1 },
    ]);
    expect(after.necessary).toEqual([{ purpose: 'necessary', decisions: 1 }]);
    expect(after.withdrawals).toMatchObject({
      decisions: 2,
      byRequest: 1,
      consentAfter: [{ caseId: 'case-7', seq: 4, purposes: ['analytics'], bannerId: 'banner-main' }],
    });
    const rows = parse<Record<string, string>>(await produce(world, { format: 'csv', asOf: 4 }), {
      bom: true,
      columns: true,
    });
    expect(rows.map((row) => [row['entry'], row['state'], row['judged'], row['case']])).toEqual([
      ['2', 'given', 'given', ''],
      ['1', 'refused', 'withdrawn', ''],
      ['3', 'withdrawn', 'withdrawn', 'case-7'],
      ['4', 'given', 'given', ''],
    ]);
    expect(pdfText(await produce(world, { format: 'pdf', asOf: 4 }))).toContain(
      'Consent recorded after a withdrawal by request',
    );
  }));

test('the signed checkpoint is printed unbroken on the last pages and attached to the PDF', async () => {
  const pdf = await produce(month, { format: 'pdf' });
  const { note, verifierKey } = month.input().checkpoint ?? { note: '', verifierKey: '' };
  expect(pdfAttachment(pdf, 'checkpoint.txt').toString('utf8')).toBe(note);
  const text = pdfText(pdf);
  for (const line of note.trimEnd().split('\n')) expect(text).toContain(line);
  expect(text.replaceAll(/\s/g, '')).toContain(verifierKey);
});

test('an empty month still gives a report, and a period without a day is refused', () =>
  inWorld(async (world) => {
    const text = pdfText(await produce(world, { format: 'pdf', checkpoint: null }));
    expect(text).toContain('No decisions in the period.');
    expect(text).toContain('Not sealed');
    await expect(produce(world, { to: '2026-06-01' })).rejects.toThrow(RangeError);
  }));

test('the cover answers an authority’s questions on one page, and says where to find the details', async () => {
  const [cover = '', second = ''] = pdfText(await produce(month, { format: 'pdf' })).split('\f');
  for (const question of [
    'Are the records complete?',
    'To what did people consent?',
    'Who withdrew',
    'Which policy was in force?',
    'What does this not prove?',
  ])
    expect(cover.replace(/\s+/g, ' ')).toContain(question);
  expect(second).toContain('Decisions over time');
});

test('a policy is in force from its publication; creating or editing it changes nothing', () =>
  inWorld(async (world) => {
    await world.insert('policy_history', [
      policyChange(1, '2026-06-02T00:00:00.000Z', { version: '1', change: 'created', event: 'policy.created' }),
      policyChange(2, '2026-06-05T00:00:00.000Z', { version: '1' }),
      policyChange(3, '2026-06-10T00:00:00.000Z', { version: '2', change: 'updated', event: 'policy.updated' }),
      policyChange(4, '2026-06-20T00:00:00.000Z', { version: '2' }),
    ]);
    const { policies } = await json(world);
    expect(policies.map(({ seq, inForceFrom, inForceUntil }) => [seq, inForceFrom, inForceUntil])).toEqual([
      [1, null, null],
      [2, '2026-06-05T00:00:00.000Z', '2026-06-20T00:00:00.000Z'],
      [3, null, null],
      [4, '2026-06-20T00:00:00.000Z', null],
    ]);
  }));

test('the history of one subject is appended on request, with every state, not only the last', () =>
  inWorld(async (world) => {
    await world.insert('decision_history', [
      decision(1, '2026-05-03T10:00:00.000Z', { subject: 'v-1' }),
      decision(2, '2026-06-04T10:00:00.000Z', { subject: 'v-1', state: 'withdrawn' }),
      decision(3, '2026-06-05T10:00:00.000Z', { subject: 'v-2' }),
    ]);
    expect((await json(world)).subjectAppendix).toBeNull();
    const { subjectAppendix } = await json(world, { subject: 'v-1' });
    expect(subjectAppendix?.decisions.map(({ seq, state }) => [seq, state])).toEqual([
      [1, 'given'],
      [2, 'withdrawn'],
    ]);
    const pages = pdfText(await produce(world, { format: 'pdf', subject: 'v-1' }));
    expect(pages.slice(pages.lastIndexOf('History of one subject'))).toMatch(/Given[\s\S]*Withdrawn/);
  }));

test('a consent that expired before the end of the period stands for no purpose', () =>
  inWorld(async (world) => {
    await world.insert('decision_history', [
      decision(1, '2026-06-03T10:00:00.000Z', { expires_at: '2026-06-10T10:00:00.000Z' }),
      decision(2, '2026-06-04T10:00:00.000Z', { expires_at: '2027-06-04T10:00:00.000Z' }),
    ]);
    const { byPurpose, standing } = await json(world);
    expect(byPurpose[0]).toMatchObject({ purpose: 'analytics', granted: 2, standing: 1 });
    expect(standing).toMatchObject([{ consents: 2, expired: 1 }]);
  }));

test('totals by purpose of disputed decisions match the look-up of each person', () =>
  inWorld(async (world) => {
    const [yes, no] = ['granted', 'denied'];
    type Saying = readonly [state: string, purposes: Readonly<Record<string, string | undefined>>];
    /** What was granted before, and the two records of the disputed decision. */
    const people: readonly (readonly [Saying | null, Saying, Saying])[] = [
      [null, ['given', { analytics: yes, marketing: no }], ['given', { analytics: no, marketing: no }]],
      [
        ['given', { marketing: yes }],
        ['given', { analytics: yes, marketing: no }],
        ['refused', { marketing: no }],
      ],
      [
        ['given', { analytics: yes }],
        ['given', {}],
        ['given', { analytics: no }],
      ],
      [null, ['given', {}], ['given', { analytics: no }]],
      [
        ['given', { analytics: yes, ads: yes }],
        ['refused', {}],
        ['given', { marketing: yes }],
      ],
      [null, ['withdrawn', { ads: no }], ['given', { ads: no, functional: yes }]],
      [
        ['given', { analytics: yes }],
        ['expired', {}],
        ['given', { analytics: yes }],
      ],
      [null, ['requested', { ads: no }], ['given', { functional: yes, necessary: yes }]],
      [
        ['given', {}],
        ['given', {}],
        ['given', { analytics: no }],
      ],
      [
        ['given', {}],
        ['refused', {}],
        ['refused', { analytics: no }],
      ],
      [
        ['given', {}],
        ['withdrawn', { ads: no }],
        ['given', { ads: yes, analytics: no }],
      ],
    ];
    const told = people.flatMap(([before, first, second], person) => {
      const seq = person * 3;
      const of = (place: number, [state, purposes]: Saying, changes: Parameters<typeof decision>[2]) =>
        decision(seq + place, `2026-06-0${place === 1 ? 1 : 2}T10:00:00.000Z`, {
          ...{ subject: `v-${person}`, state: state as 'given', purposes: JSON.stringify(purposes), ...changes },
        });
      const decision_id = `r:${person}`;
      return [
        ...(before === null ? [] : [of(1, before, { decision_id: `b:${person}` })]),
        of(2, first, { decision_id }),
        of(3, second, { decision_id, is_first: 0, conflicts: 1 }),
      ];
    });
    await world.insert('decision_history', judged(told));
    const counted = new Map<string, number>();
    for (const person of people.keys())
      for (const { outcomes } of timelineOf(
        judged(told.filter(({ subject }) => subject === `v-${person}`)) as ToldDecision[],
      ))
        for (const [purpose, state] of outcomes)
          if (purpose !== '*') counted.set(`${purpose} ${state}`, (counted.get(`${purpose} ${state}`) ?? 0) + 1);
    const { byPurpose } = await json(world);
    const totals = byPurpose.flatMap(({ purpose, ...counts }) =>
      (['granted', 'refused', 'withdrawn', 'disputed'] as const).flatMap((state) =>
        counts[state] === 0 ? [] : [[`${purpose} ${state}`, counts[state]] as const],
      ),
    );
    expect(new Map(totals)).toEqual(counted);
    expect(counted.get('analytics disputed')).toBeGreaterThan(1);
  }));

test('a purpose granted by a disputed decision does not become a standing consent by a later choice about another purpose', () =>
  inWorld(async (world) => {
    const of = (seq: number, at: string, changes: Parameters<typeof decision>[2]) =>
      decision(seq, at, { subject: 'v-1', ...changes });
    const told = [
      of(1, '2026-06-03T10:00:00.000Z', { decision_id: 'r:a', purposes: '{"analytics":"granted"}' }),
      of(2, '2026-06-03T10:00:00.000Z', {
        ...{ decision_id: 'r:a', is_first: 0, conflicts: 1 },
        ...{ state: 'refused', purposes: '{"analytics":"denied"}' },
      }),
      of(3, '2026-06-04T10:00:00.000Z', { purposes: '{"functional":"granted"}' }),
    ];
    await world.insert('decision_history', judged(told));
    const { byPurpose, disputedStanding } = await json(world);
    expect(byPurpose.map(({ purpose, standing }) => [purpose, standing])).toEqual([
      ['analytics', 0],
      ['functional', 1],
    ]);
    expect(disputedStanding).toBe(1);
    // Nor does the row of the later decision list it.
    const rows = parse<Record<string, string>>(await produce(world, { format: 'csv' }), { bom: true, columns: true });
    expect(rows.map((row) => row['granted_afterwards'])).toEqual(['[]', '[]', '["functional"]']);
  }));

test('a consent keeps its own expiry and text when a later choice is about another purpose', () =>
  inWorld(async (world) => {
    const of = (seq: number, day: number, changes: Parameters<typeof decision>[2]) =>
      decision(seq, `2026-06-${day}T10:00:00.000Z`, { subject: 'v-1', ...changes });
    const told = [
      of(1, 15, { purposes: '{"Analytics":"granted"}', expires_at: '2026-06-20T00:00:00.000Z' }),
      of(2, 16, { purposes: '{"functional":"granted"}', policy_version: '4' }),
    ];
    const other = decision(3, '2026-06-17T10:00:00.000Z', { purposes: '{"analytics":"granted"}', policy_version: '4' });
    await world.insert('decision_history', judged([...told, other]));
    const { byPurpose, standing } = await json(world);
    // Names that differ only in case are one purpose.
    expect(byPurpose).toMatchObject([
      { purpose: 'analytics', granted: 2, standing: 1 },
      { purpose: 'functional', granted: 1, standing: 1 },
    ]);
    expect(standing).toMatchObject([
      { policyVersion: '3', consents: 1, expired: 1, withoutExpiry: 0 },
      { policyVersion: '4', consents: 2, expired: 0, withoutExpiry: 2 },
    ]);
  }));

test('every standing consent is counted in one column of expiry', async () => {
  const text = pdfText(await produce(month, { format: 'pdf' }));
  const [, row = ''] = /Standing consents by policy version and expiry[\s\S]*?\n\s*All\s+([\d,\s]+)\n/.exec(text) ?? [];
  const [consents = 0, ...columns] = row
    .trim()
    .split(/\s+/)
    .map((n) => Number(n.replaceAll(',', '')));
  expect(consents).toBeGreaterThan(0);
  expect(columns.reduce((sum, n) => sum + n, 0)).toBe(consents);
});

test('look-ups of single subjects are counted by account, without naming the subject', () =>
  inWorld(async (world) => {
    const looked = (seq: number, action: string, object: string | null, details: object) => ({
      seq,
      source: 'default',
      received_at: '2026-06-21T08:00:00.000Z',
      action,
      actor: 'weiss',
      object,
      details: JSON.stringify(details),
    });
    await world.insert('action_history', [
      looked(1, 'document.produced', 'ref-sha', { name: 'dsar-register' }),
      looked(2, 'consent.looked-up', 'v-secret', {}),
    ]);
    const { access } = await json(world);
    expect(access).toMatchObject({ produced: 1, downloaded: 0, lookedUp: 1 });
    expect(access.last).toMatchObject([
      { documentId: 'ref-sha', name: 'dsar-register' },
      { documentId: null, action: 'consent.looked-up' },
    ]);
    expect(JSON.stringify(access)).not.toContain('v-secret');
  }));
