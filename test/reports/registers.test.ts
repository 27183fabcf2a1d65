import { parse } from 'csv-parse/sync';
import type { Insertable } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deliveryLog } from '../../reports/delivery-log.ts';
import { dsarRegister } from '../../reports/dsar-register.ts';
import { findReport, reports } from '../../reports/index.ts';
import type { ReportInput } from '../../reports/report.ts';
import { profileSchema } from '../../src/law/profile.ts';
import type { Tables } from '../../src/store/schema.ts';
import { pdfText } from './files.ts';
import { collect, decision, delivery, openWorld, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const csv = async (report: typeof dsarRegister, changes: Partial<ReportInput> = {}) =>
  parse<Record<string, string>>(await collect(report.produce(world.input({ format: 'csv', ...changes }))), {
    bom: true,
    columns: true,
  });

function move(
  seq: number,
  caseId: string,
  version: number,
  name: string,
  toState: string,
  details: object,
  at = '2026-06-10T09:00:00.000Z',
): Insertable<Tables['case_history']> {
  return {
    seq,
    source: 'default',
    received_at: at,
    case_id: caseId,
    version,
    move: name,
    from_state: version === 0 ? null : 'in-progress',
    to_state: toState,
    actor: 'weiss',
    details: JSON.stringify(name === 'opened' ? { case_id: caseId, ...details } : details),
  };
}
const opening = (receiptAt: string, changes: object = {}) => ({
  request_id: null,
  kind: 'access',
  jurisdiction: 'DE',
  channel: 'webhook',
  receipt_at: receiptAt,
  receipt_basis: 'payload',
  requester_name: 'Zoë',
  requester_email: null,
  subject: null,
  language: null,
  message: null,
  kindAsGiven: null,
  ...changes,
});

test('every report has a name, a description and formats, and is found by its name', () => {
  expect(reports.map(({ name }) => name)).toEqual([
    'consent-audit',
    'dsar-register',
    'delivery-log',
    'reconciliation',
    'scan-audit',
  ]);
  for (const report of reports) {
    expect(findReport(report.name)).toBe(report);
    expect(report.description.length).toBeGreaterThan(20);
    expect(report.formats.length).toBeGreaterThan(0);
  }
  expect(findReport('nothing')).toBeNull();
});

test('every format of every report can be made from an empty ledger, and a format that it lacks is refused', async () => {
  for (const report of reports) {
    for (const format of report.formats)
      expect((await collect(report.produce(world.input({ format, asOf: 0 })))).length).toBeGreaterThan(10);
    await expect(collect(report.produce(world.input({ format: 'xlsx' as 'csv' })))).rejects.toThrow(
      `the report ${report.name} has no format xlsx`,
    );
  }
});

test('the register lists the requests of the period with the fields of 11 CCR 7101 and the computed dates', async () => {
  await world.insert('case_history', [
    move(1, 'default-1', 0, 'opened', 'opened', opening('2026-05-31T10:00:00.000Z'), '2026-05-31T10:00:01.000Z'),
    move(2, 'default-2', 0, 'opened', 'opened', opening('2026-06-05T10:00:00.000Z', { kind: 'erasure' })),
    move(3, 'default-3', 0, 'opened', 'opened', opening('2026-06-06T10:00:00.000Z')),
    move(4, 'default-2', 1, 'refuse', 'refused', {
      reasons: 'manifestly excessive',
      basis: 'Art. 12(5)(b) GDPR',
      remedies: 'authority, court',
      at: '2026-06-20T08:00:00.000Z',
    }),
    move(5, 'default-3', 1, 'start', 'in-progress', {}),
    move(6, 'default-3', 2, 'mark-ready', 'ready', {}),
    move(7, 'default-3', 3, 'answer', 'answered', {
      channel: 'e-mail',
      disclosure: 'full',
      at: '2026-06-25T08:00:00.000Z',
    }),
  ]);
  const rows = await csv(dsarRegister);
  expect(
    rows.map((row) => [row['case'], row['nature'], row['state'], row['response_date'], row['basis_of_denial']]),
  ).toEqual([
    ['default-2', 'erasure', 'refused', '2026-06-20T08:00:00.000Z', 'Art. 12(5)(b) GDPR'],
    ['default-3', 'access', 'answered', '2026-06-25T08:00:00.000Z', ''],
  ]);
  expect(rows[0]).toMatchObject({
    regime: 'eu-gdpr',
    legal_limit: '2026-07-06',
    aim_for: '2026-07-05',
    manner: 'webhook',
  });
  expect(rows[0]?.['computation']).toContain('one month');
  expect(rows[0]?.['computation']).not.toContain(rows[0]?.['citation']);
  expect(JSON.stringify(rows)).not.toContain('Zoë');
});

test('the register names a law that is not recorded, and counts an answer under it neither as in time nor as late', async () => {
  await world.insert('case_history', [
    move(1, 'default-1', 0, 'opened', 'opened', opening('2026-06-05T10:00:00.000Z', { jurisdiction: 'MN' })),
    move(2, 'default-1', 1, 'refuse', 'refused', {
      reasons: 'manifestly excessive',
      basis: 'none',
      remedies: 'court',
      at: '2026-06-20T08:00:00.000Z',
    }),
    move(3, 'default-2', 0, 'opened', 'opened', opening('2026-06-06T10:00:00.000Z', { jurisdiction: 'MN' })),
  ]);
  const american = profileSchema.parse({ name: 'Acme', country: 'US', region: 'NY', ownTargetDays: 10 });
  const [refused] = await csv(dsarRegister, { profile: american });
  const text = 'no date computed: the law of Mongolia is not recorded here; it may set one';
  expect(refused).toMatchObject({
    law: text,
    legal_limit: '',
    not_recorded: 'MN',
    own_target: '2026-06-15',
    in_time: '–',
  });
  const json = JSON.parse(
    (await collect(dsarRegister.produce(world.input({ format: 'json', profile: american })))).toString(),
  ) as { totals: { all: object } };
  expect(json.totals.all).toMatchObject({ answered: 1, answeredWithLimit: 0, answeredInTime: 0, notRecorded: 2 });
  const pdf = pdfText(await collect(dsarRegister.produce(world.input({ format: 'pdf', profile: american }))));
  const printed = pdf.replaceAll(/\s+/g, ' ');
  expect(printed).toContain('own target');
  expect(printed).toContain('2 requests come under a law that is not recorded here');

  const [german] = await csv(dsarRegister);
  expect(german).toMatchObject({ regime: 'eu-gdpr', legal_limit: '2026-07-06', not_recorded: 'MN', own_target: '' });
  expect(german?.['computation']).toContain('but the law of Mongolia is not recorded here; it may set an earlier date');
});

test('the register names every right of a request, and counts each among those of its kind', async () => {
  await world.insert('case_history', [
    move(
      1,
      'default-1',
      0,
      'opened',
      'opened',
      opening('2026-06-01T10:00:00.000Z', { kind: 'erasure', furtherKinds: ['access'] }),
    ),
    move(2, 'default-1', 1, 'settle-part', 'opened', {
      kind: 'erasure',
      outcome: 'refused',
      ground: 'Art. 17(3)(b) GDPR',
    }),
    move(3, 'default-1', 2, 'settle-part', 'opened', { kind: 'access', outcome: 'done' }),
    move(4, 'default-1', 3, 'start', 'in-progress', {}),
    move(5, 'default-1', 4, 'mark-ready', 'ready', {}),
    move(6, 'default-1', 5, 'answer', 'answered', {
      channel: 'e-mail',
      disclosure: 'full',
      at: '2026-06-25T08:00:00.000Z',
    }),
  ]);
  const [row] = await csv(dsarRegister);
  expect(row).toMatchObject({
    ...{ nature: 'erasure + access', outcome: 'in-part', in_time: 'in time', basis_of_denial: 'Art. 17(3)(b) GDPR' },
    response: 'Answered by e-mail. Erasure: refused (Art. 17(3)(b) GDPR). Access: done.',
  });
  const json = JSON.parse(String(await collect(dsarRegister.produce(world.input({ format: 'json' }))))) as Record<
    'totals',
    { byKind: { kind: string; received: number; outcomes: Record<string, number> }[]; all: { received: number } }
  >;
  expect(json.totals).toMatchObject({
    all: { received: 1 },
    byKind: [
      { kind: 'erasure', received: 1, outcomes: { denied: 1 } },
      { kind: 'access', received: 1, outcomes: { complied: 1 } },
    ],
  });
});

test('a corrected receipt moves the request into the period, but not for a register as of an earlier time', async () => {
  await world.insert('case_history', [
    move(1, 'default-1', 0, 'opened', 'opened', opening('2026-07-01T10:00:00.000Z')),
    move(2, 'default-1', 1, 'amend', 'opened', {
      receivedAt: '2026-06-28T10:00:00.000Z',
      reason: 'a letter lay in the mail room',
    }),
    move(3, 'default-1', 2, 'extend', 'opened', { reasons: 'complex', at: '2026-07-01T08:00:00.000Z' }),
  ]);
  expect(await csv(dsarRegister, { asOf: 1 })).toEqual([]);
  const [row] = await csv(dsarRegister);
  expect(row).toMatchObject({
    received: '2026-06-28T10:00:00.000Z',
    receipt_basis: 'officer',
    extended: 'yes',
    legal_limit: '2026-09-28',
  });
});

test('the register says whether each answer was in time, after how many days, and what was done, in words', async () => {
  const answered = (from: number, caseId: string, at: string, more: object) => [
    move(from, caseId, 1, 'acknowledge', 'acknowledged', { at: '2026-06-03T09:00:00.000Z' }),
    move(from + 1, caseId, 2, 'start', 'in-progress', {}),
    move(from + 2, caseId, 3, 'extend', 'in-progress', { reasons: 'many systems', at: '2026-06-20T09:00:00.000Z' }),
    move(from + 3, caseId, 4, 'mark-ready', 'ready', {}),
    move(from + 4, caseId, 5, 'answer', 'answered', { channel: 'letter', disclosure: 'categories-only', at, ...more }),
  ];
  await world.insert('case_history', [
    move(1, 'default-1', 0, 'opened', 'opened', opening('2026-06-01T10:00:00.000Z', { kind: 'erasure' })),
    ...answered(2, 'default-1', '2026-06-11T10:00:00.000Z', {
      parts: [
        { what: 'Newsletter profile', outcome: 'done' },
        { what: 'Proof of consent', outcome: 'refused', ground: 'Art. 17(3)(e) GDPR' },
      ],
    }),
    move(10, 'default-10', 0, 'opened', 'opened', opening('2026-06-02T10:00:00.000Z', { kind: 'erasure' })),
    ...answered(11, 'default-10', '2026-10-05T10:00:00.000Z', {}),
    move(20, 'default-20', 0, 'opened', 'opened', opening('2026-06-03T10:00:00.000Z')),
  ]);
  const made = { generatedAt: '2026-10-20T08:00:00.000Z' };
  const rows = await csv(dsarRegister, made);
  expect(rows.map((row) => [row['in_time'], row['days'], row['outcome'], row['acknowledged']])).toEqual([
    ['in time', '10', 'in-part', '2026-06-03T09:00:00.000Z'],
    ['late', '125', 'not-recorded', '2026-06-03T09:00:00.000Z'],
    ['open, late', '139', 'open', ''],
  ]);
  expect(rows[0]).toMatchObject({
    extension_reason: 'many systems',
    response: 'Answered by letter. Newsletter profile: done. Proof of consent: refused (Art. 17(3)(e) GDPR).',
    basis_of_denial: 'Art. 17(3)(e) GDPR',
  });
  expect(rows[1]?.['response']).toBe('Answered by letter. What was done about the erasure was not recorded.');
  const pages = pdfText(await collect(dsarRegister.produce(world.input({ format: 'pdf', ...made }))));
  expect(pages).toMatch(/50\.0 %/);
  expect(pages).toMatch(/Erasure\s+2\s+0\s+1\s+0\s+1\s+0\s+0\s+50\.0 %\s+67\.5/);
  // Judged as of the day on which it is made: the request that is late now was not late in June.
  const [, , earlier] = await csv(dsarRegister, { generatedAt: '2026-06-20T08:00:00.000Z' });
  expect(earlier?.['in_time']).toBe('open');
});

test('the register says which consents an answer ended if no parts were listed', async () => {
  const answered = (seq: number, caseId: string, kind: string) => [
    move(seq, caseId, 0, 'opened', 'opened', opening('2026-06-02T10:00:00.000Z', { kind })),
    move(seq + 1, caseId, 1, 'start', 'in-progress', {}),
    move(seq + 2, caseId, 2, 'mark-ready', 'ready', {}),
    move(seq + 3, caseId, 3, 'answer', 'answered', {
      channel: 'letter',
      disclosure: 'categories-only',
      at: '2026-06-02T11:00:00.000Z',
    }),
  ];
  const withdrawal = (seq: number, caseId: string, purposes: object) =>
    decision(seq, '2026-06-02T11:00:00.000Z', {
      via: 'request',
      case_id: caseId,
      state: 'withdrawn',
      purposes: JSON.stringify(purposes),
    });
  await world.insert('case_history', [
    ...answered(1, 'default-1', 'withdraw-consent'),
    ...answered(11, 'default-11', 'opt-out'),
    ...answered(21, 'default-21', 'objection'),
  ]);
  await world.insert('decision_history', [
    withdrawal(5, 'default-1', {}),
    withdrawal(6, 'default-1', {}),
    withdrawal(15, 'default-11', { marketing: 'denied' }),
  ]);
  const rows = await csv(dsarRegister);
  expect(rows.map(({ outcome, response }) => [outcome, response])).toEqual([
    ['complied', 'Answered by letter. Consent was withdrawn in the consent records: all purposes (entries 5, 6).'],
    ['in-part', 'Answered by letter. Consent was withdrawn in the consent records: marketing (entry 15).'],
    ['not-recorded', 'Answered by letter. What was done about the objection was not recorded.'],
  ]);
  // As of the entry before the withdrawal.
  expect((await csv(dsarRegister, { asOf: 4 }))[0]?.['outcome']).toBe('not-recorded');
});

test('the delivery log has one row per delivery, even over three pages of the database, and the totals on its pages', async () => {
  await world.insert(
    'delivery_history',
    Array.from({ length: 2500 }, (_, i) => delivery(i + 1, new Date(Date.UTC(2026, 5, 2, 0, 0, i)).toISOString())),
  );
  const rows = await csv(deliveryLog, { asOf: 2400 });
  expect(rows.map((row) => Number(row['entry']))).toEqual(Array.from({ length: 2400 }, (_, i) => i + 1));
  const text = pdfText(await collect(deliveryLog.produce(world.input({ format: 'pdf', asOf: 2400 }))));
  expect(text).toMatch(/consent\.recorded\s+verified\s+read\s+2,400/);
  expect(text).toMatch(/2 June 2026\s+2,400/);
});

test('in the UK the register counts from the identity information, as the case does', async () => {
  await world.store.foldTransaction((tx) =>
    tx.insertMany('case_history', [
      move(900, 'uk-1', 0, 'opened', 'opened', opening('2026-06-02T09:00:00.000Z', { jurisdiction: 'GB' })),
      move(901, 'uk-1', 1, 'ask-identity', 'waiting-identity', {
        at: '2026-06-03T09:00:00.000Z',
        doubt: 'x',
        asked: 'y',
      }),
      move(902, 'uk-1', 2, 'confirm-identity', 'in-progress', {
        at: '2026-06-20T09:00:00.000Z',
        informationAt: '2026-06-18T09:00:00.000Z',
        how: 'z',
      }),
      move(903, 'uk-2', 0, 'opened', 'opened', opening('2026-06-02T09:00:00.000Z', { jurisdiction: 'GB' })),
    ]),
  );
  const british = { ...world.input({}).profile, country: 'GB', region: 'ENG' } as ReportInput['profile'];
  const rows = await csv(dsarRegister, { from: '2026-06-01', to: '2026-07-01', asOf: 1000, profile: british });
  const text = JSON.stringify(rows);
  expect(rows).toHaveLength(2);
  expect(text).toContain('2026-07-20'); // Saturday 18 July rolls over to Monday
  expect(text).toContain('2026-07-02');
});

test('the register names every law that applies to a request, and the one that decides', async () => {
  await world.insert('case_history', [
    move(
      950,
      'ca-1',
      0,
      'opened',
      'opened',
      opening('2026-06-26T09:00:00.000Z', { jurisdiction: 'US-CA', kind: 'opt-out' }),
    ),
  ]);
  const german = { ...world.input({}).profile, country: 'DE', region: 'BE' } as ReportInput['profile'];
  const [row] = await csv(dsarRegister, { from: '2026-06-01', to: '2026-07-01', asOf: 1000, profile: german });
  expect(row).toMatchObject({ regime: 'us-ca', legal_limit: '2026-07-17' });
  expect(row?.['computation']).toContain('also applies: GDPR (EU) 2016/679, due 2026-07-27 (GDPR Art. 12(3)');
});
