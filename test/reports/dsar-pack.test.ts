import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ConsentRecord } from '../../reports/consent-record.ts';
import { type DsarPackInput, packDeadline } from '../../reports/dsar-pack/gather.ts';
import { emptyFolded, foldedColumn } from '../../src/cases/folded.ts';
import { commitmentOf } from '../../src/crypto/entry.ts';
import { computeDeadlines } from '../../src/law/deadlines.ts';
import { createRegimeTable } from '../../src/law/regime-table.ts';
import { quadsOf, violationsOf } from '../consent/record-graph.ts';
import { pdfText, zipFile, zipNames } from './files.ts';
import { produceDsarPack } from './whole-pack.ts';
import {
  anHourLater,
  collect,
  decision,
  ledgerEntry,
  openWorld,
  packInput,
  policyChange,
  profile,
  type World,
} from './world.ts';

const own = 'subject-own';
const other = 'subject-other';
let world: World;

beforeEach(async () => {
  world = await openWorld();
  await world.insert('decision_history', [
    decision(11, '2026-06-03T10:00:00.000Z', { subject: own, record_id: '=HYPERLINK("x")' }),
    decision(12, '2026-06-03T10:00:00.000Z', { subject: own, decision_id: 'r:rec-11', via: 'pull', is_first: 0 }),
    decision(13, '2026-06-04T10:00:00.000Z', { subject: other }),
    decision(14, '2026-06-20T10:00:00.000Z', {
      subject: own,
      state: 'withdrawn',
      policy_version: '4',
      purposes: '{"analytics":"denied"}',
    }),
    decision(15, '2026-06-20T10:00:00.000Z', { subject: own, source: 'another-client' }),
  ]);
  await world.insert('policy_history', [
    policyChange(1, '2026-01-01T00:00:00.000Z'),
    policyChange(2, '2026-06-10T00:00:00.000Z', { version: '4', change: 'updated' }),
    policyChange(3, '2026-01-01T00:00:00.000Z', { policy_id: 'pol-2', title: 'Terms' }),
  ]);
});
afterEach(() => world.close());

const input = (changes: Partial<DsarPackInput> = {}) =>
  packInput(world, { match: { status: 'from-device', subjects: [own] }, ...changes });
const pack = (changes: Partial<DsarPackInput> = {}) => collect(produceDsarPack(input(changes)));
const letterOf = (zip: Buffer) =>
  pdfText(zipFile(zip, /^\S+\.pdf$/m.exec(zipNames(zip).join('\n'))?.[0] ?? '')).replaceAll(/\s+/g, ' ');
const jsonOf = (zip: Buffer, name: string) =>
  JSON.parse(zipFile(zip, name).toString('utf8')) as Record<string, unknown>;
const everything = (zip: Buffer) =>
  zipNames(zip)
    .map((name) => (name.endsWith('.pdf') ? pdfText(zipFile(zip, name)) : zipFile(zip, name).toString('utf8')))
    .join('\n');
/** Values of specific records that must not appear anywhere in the pack. */
const pieces = [own, 'rec-11', 'rec-14', 'pol-1', 'banner-main'];

test('a full pack holds the letter, the readable history, the data in two forms, the exact records, the policies, the case and a manifest', async () => {
  const zip = await pack();
  expect(zipNames(zip)).toEqual([
    'letter.pdf',
    'history.html',
    'decisions.csv',
    'decisions.json',
    'records-27560.json',
    'records.jsonl',
    'policies.json',
    'case.json',
    'README.txt',
    'manifest.json',
  ]);
});

test('its consent records are JSON-LD, claim to conform exactly where the shapes pass, and state the retention of the letter', async () => {
  const named = {
    ...profile,
    purposes: profile.purposes.map((one, place) => ({ ...one, names: ['analytics', 'marketing'][place] })),
    recipients: profile.recipients.map((one) => ({ ...one, address: '1 High Street', contact: 'dpo@ps.example' })),
    storedIn: ['DE'],
  };
  for (const by of [profile, named]) {
    const zip = await pack({ profile: by });
    const file = jsonOf(zip, 'records-27560.json');
    const records = file['records'] as ConsentRecord[];
    expect(records).toHaveLength(2);
    for (const record of records) {
      const missing = record.evidence.conformance.missing.map(({ section, part }) => `${section} ${part}`);
      const claims = record.header.schema_version === 'https://w3id.org/dpv/schema/dpv-27560#record';
      expect(claims).toBe(by === named);
      expect(await violationsOf(record)).toEqual([...(claims ? [] : ['8.1.1 schema version']), ...missing].sort());
      for (const { retention_period: kept } of record.processing.purposes) {
        if (by === named) expect(kept).toHaveProperty('duration');
        const said =
          'duration' in kept ? [kept.duration.stated ?? kept.duration.value] : by.purposes.map((one) => one.retention);
        for (const retention of said) {
          expect(letterOf(zip)).toContain(`; kept: ${retention})`);
          expect(JSON.stringify(kept)).toContain(retention);
        }
      }
    }
    const quads = await quadsOf(file);
    expect(quads.filter((quad) => quad.includes('<https://w3id.org/dpv#ConsentRecord>'))).toHaveLength(2);
  }
});

test('the pack of a request for several rights names each, what was done about it, and encloses the copy', async () => {
  const none = { by: null, at: null, note: null };
  const parts = [
    { kind: 'erasure' as const, outcome: 'refused' as const, ground: 'Art. 17(3)(b) GDPR', ...none },
    { kind: 'access' as const, outcome: 'done' as const, ground: null, ...none },
  ];
  const folded = foldedColumn({ ...emptyFolded(null), parts });
  const zip = await pack({ case: { ...input().case, kind: 'erasure', folded } });
  expect(jsonOf(zip, 'case.json')).toMatchObject({
    case: {
      kind: 'erasure',
      rights: [
        { kind: 'erasure', outcome: 'refused' },
        { kind: 'access', outcome: 'done' },
      ],
    },
  });
  expect(zipNames(zip)).toContain('records.jsonl');
  const letter = letterOf(zip);
  expect(letter).toMatch(/refused.*Art\. 17\(3\)\(b\) GDPR/i);
  expect(jsonOf(await pack(), 'case.json')['case']).not.toHaveProperty('rights');
});

test('case.json names a law that is not recorded, and the controller’s own target apart from the legal limit', async () => {
  const deadline = packDeadline(
    computeDeadlines({
      kind: 'access',
      place: 'MN',
      controller: { country: 'US', region: 'NY', timeZone: 'UTC' },
      regimes: createRegimeTable(),
      receivedAt: '2026-07-01T12:00:00.000Z',
      receiptBasis: 'payload',
      ownTargetDays: 10,
    }),
  );
  expect(jsonOf(await pack({ deadline }), 'case.json')['deadline']).toMatchObject({
    regime: 'none',
    legalLimit: null,
    notRecorded: ['MN'],
    ownTarget: '2026-07-11',
    explanation: ['no date computed: the law of Mongolia is not recorded here; it may set one'],
  });
});

test('the manifest gives the true size and SHA-256 of every other file, the checkpoint and how to verify', async () => {
  const zip = await pack();
  const manifest = jsonOf(zip, 'manifest.json') as {
    files: { name: string; bytes: number; sha256: string }[];
    checkpoint: unknown;
    verify: string[];
  };
  expect(manifest.files.map(({ name }) => name)).toEqual(zipNames(zip).slice(0, -1));
  for (const { name, bytes, sha256 } of manifest.files) {
    const content = zipFile(zip, name);
    expect(content.length, name).toBe(bytes);
    expect(createHash('sha256').update(content).digest('hex'), name).toBe(sha256);
  }
  expect(manifest.checkpoint).toEqual(input().checkpoint);
  expect(manifest.verify.join(' ')).toContain('document check');
});

test('the data files hold all records of the person from this source, and no one else’s', async () => {
  const zip = await pack();
  const rows = parse<Record<string, string>>(zipFile(zip, 'decisions.csv'), { bom: true, columns: true });
  expect(rows.map((row) => row['entry'])).toEqual(['11', '12', '14']);
  expect(rows[0]?.['record_id']).toBe(`'=HYPERLINK("x")`);
  const { records } = jsonOf(zip, 'decisions.json') as { records: Record<string, unknown>[] };
  expect(records.map((record) => record['entry'])).toEqual([11, 12, 14]);
  expect(records[2]).toMatchObject({ state: 'withdrawn', purposes: { analytics: 'denied' } });
  const { policies } = jsonOf(zip, 'policies.json') as { policies: { policyId: string; version: string }[] };
  expect(policies.map(({ policyId, version }) => [policyId, version])).toEqual([
    ['pol-1', '3'],
    ['pol-1', '4'],
  ]);
  expect(everything(zip)).not.toContain(other);
});

test('the records are enclosed byte for byte as they were received, and an erased one is named as erased', async () => {
  const body = Buffer.from('{ "visitor":"Zoë",  "big": 12345678901234567890 }\n');
  const bytes = Buffer.from([0xff, 0x00, 0x41]);
  await world.insert('entries', [ledgerEntry(11, body), ledgerEntry(12, bytes), ledgerEntry(14, null)]);
  const lines = zipFile(await pack(), 'records.jsonl')
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.map(({ entry: seq }) => seq)).toEqual([11, 12, 14]);
  expect(lines[0]?.['body']).toBe(body.toString('utf8'));
  expect(Buffer.from(lines[1]?.['body_base64'] as string, 'base64')).toEqual(bytes);
  expect(lines[2]).toMatchObject({ erased: true });
});

test('each exact record can be checked against its commitment, and no file gives a bare hash of its body, which would outlive an erasure', async () => {
  const body = Buffer.from('{"visitor":"Zoë"}');
  const [meta, salt] = [Buffer.from('{"verdict":"verified"}'), Buffer.alloc(32, 7)];
  const commitment = commitmentOf(salt, meta, body);
  await world.insert('entries', [ledgerEntry(11, body, { meta, salt, commitment })]);
  const zip = await pack();
  const line = JSON.parse(zipFile(zip, 'records.jsonl').toString('utf8')) as Record<string, string>;
  const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();
  // As specified in docs/ledger-format.md, Checking a commitment.
  const recomputed = sha256(
    Buffer.concat([
      Buffer.from('consent-ledger/commitment/v1\n'),
      Buffer.from(line['salt'] ?? '', 'hex'),
      Buffer.from(line['meta_sha256'] ?? '', 'hex'),
      sha256(Buffer.from(line['body'] ?? '')),
    ]),
  ).toString('hex');
  expect(recomputed).toBe(commitment.toString('hex'));
  expect(line['commitment']).toBe(recomputed);
  expect(everything(zip)).not.toContain(sha256(body).toString('hex'));
});

test('the letter is addressed, answers point by point in the order of GDPR Art. 15, and holds no calculation', async () => {
  const letter = letterOf(await pack());
  for (const words of [
    'Förster & Söhne GmbH',
    'Lindenstraße 12, 80331 München',
    'Zoë Krüger-Łącka',
    'Our reference: default-3',
    'On 1 July 2026 you asked us for access to your personal data.',
    'Yes, we process personal data about you (Art. 15 GDPR).',
    'from 3 June 2026 to 20 June 2026; number of decisions: 2',
    'Advertising (legal basis: consent, GDPR Art. 6(1)(a); kept: until withdrawn',
    'hashed visitor identifier',
    'Policy Service Ltd (United Kingdom): operates the consent banner',
    'the consent banner of our web shop',
    'adequacy decision (EU) 2021/1772',
    'Automated decisions none',
    'You may ask us to correct or erase',
    'Bayerisches Landesamt für Datenschutzaufsicht',
    'Customer database: searched, nothing found',
  ])
    expect(letter).toContain(words);
  expect(letter).not.toMatch(/one month ends|Reg\. 1182|entry \d|legal advice/);
  expect(jsonOf(await pack(), 'case.json')).toMatchObject({ deadline: { legalLimit: '2026-08-03' } });
});

test('the letter is in the language of the requester, dates included, or in that of the controller if it is missing', async () => {
  const inLanguage = async (language: string | null, controller: string | null = null) =>
    letterOf(
      await pack({ case: { ...input().case, language }, profile: { ...input().profile!, language: controller } }),
    );
  expect(await inLanguage('de-AT')).toContain(
    'am 1. Juli 2026 haben Sie bei uns Auskunft über Ihre personenbezogenen Daten verlangt.',
  );
  expect(await inLanguage('en-US')).toContain('On July 1, 2026, you asked us');
  expect(await inLanguage('tlh', 'de')).toContain('Guten Tag Zoë Krüger-Łącka,');
  expect(await inLanguage(null)).toContain('Dear Zoë Krüger-Łącka,');
});

test('an answer without its officer’s text is a draft, and includes the text once written', async () => {
  const asked = { ...input().case, kind: 'erasure' as const };
  expect(letterOf(await pack({ case: asked }))).toContain('DRAFT');
  const written = {
    step: 'answer' as const,
    language: 'de',
    locale: 'de-DE',
    text: 'Wir haben Ihr Kundenkonto gelöscht.',
  };
  const letter = letterOf(
    await pack({
      case: asked,
      letter: {
        laws: ['eu-gdpr'],
        limit: '2026-08-03',
        firstLimit: null,
        unchecked: false,
        irrefusable: null,
        written,
      },
    }),
  );
  expect(letter).toContain('Wir haben Ihr Kundenkonto gelöscht.');
  expect(letter).toContain('Art. 17 Abs. 3 Buchst. b und e DSGVO');
  expect(letter).not.toMatch(/ENTWURF|DRAFT/);
});

test('an erasure speaks of the proof of consent only if some is linked to the identified person, with the period that erases it', async () => {
  const erasure = { ...input().case, kind: 'erasure' };
  const { profile } = input();
  const answer = async (changes: Partial<DsarPackInput>) =>
    letterOf(await pack({ case: erasure, disclosure: 'categories-only', ...changes }));
  const set = { ...profile!, retention: { decisions: { months: 18 } } };
  expect(await answer({})).toContain('We keep the proof');
  expect(await answer({})).not.toContain('retention period');
  expect(await answer({ profile: set })).toContain('The retention period set for it is 18 months');
  // Whoever sets any period has the others erased after the usual one.
  expect(await answer({ profile: { ...profile!, retention: { packs: { days: 7 } } } })).toContain('is 36 months');
  const held = { ...profile!, retention: { decisions: { forEver: 'ordered by a court' } } };
  expect(await answer({ profile: held })).not.toContain('retention period');
  for (const changes of [
    { match: { status: 'none', subjects: [] } },
    { match: { status: 'shared', subjects: ['v-1'] } },
    { disclosure: 'no-match' },
    { identity: { status: 'needed', how: null } },
  ] as const)
    expect(await answer({ profile: set, ...changes })).not.toMatch(/We keep the proof|retention period/);
});

test('without a match the answer is that nobody can be linked, never that nothing is held, and says how to help', async () => {
  for (const changes of [
    { disclosure: 'no-match' },
    { match: { status: 'none', subjects: [] } },
    { match: { status: 'from-device', subjects: ['unknown-subject'] } },
  ] as const) {
    const zip = await pack(changes);
    const letter = letterOf(zip);
    expect(letter).toContain('We cannot link you to a consent record');
    expect(letter).toContain('Art. 11(2) GDPR');
    expect(letter).toContain('This is how you can help us find them:');
    expect(letter).toContain('This does not mean that there are none.');
    expect(everything(zip)).not.toMatch(/hold no|no (?:personal )?data (?:about|on|of) you|do not (?:hold|process)/i);
    expect(zipNames(zip)).toEqual(['letter.pdf', 'case.json', 'README.txt', 'manifest.json']);
  }
});

test('no specific piece of data is enclosed without the identity check, for a shared address, or in a refusal, whatever the caller requests', async () => {
  const refusal = {
    at: '2026-07-02T00:00:00.000Z',
    reasons: 'The request is manifestly excessive.',
    basis: 'Art. 12(5)(b) GDPR',
    remedies: 'Complain to the authority or go to court.',
    approvedBy: null,
    by: 'ada',
  };
  const base = input().case;
  const folded = foldedColumn({ ...emptyFolded(null), refusal });
  for (const changes of [
    { identity: { status: 'needed', how: null } },
    { identity: { status: 'failed', how: null } },
    { match: { status: 'shared', subjects: [own] } },
    { disclosure: 'categories-only' },
    { case: { ...base, folded } },
  ] as const) {
    const zip = await pack(changes);
    expect(zipNames(zip)).toEqual(['letter.pdf', 'case.json', 'README.txt', 'manifest.json']);
    const text = everything(zip);
    for (const piece of pieces) expect(text, JSON.stringify(changes)).not.toContain(piece);
  }
  const refused = letterOf(await pack({ case: { ...base, folded } }));
  expect(refused).toContain('The request is manifestly excessive.');
  expect(refused).toContain('Legal basis of the refusal: Art. 12(5)(b) GDPR');
  expect(refused).toContain('judicial remedy (Art. 79 GDPR)');
});

test('California: government ids and account numbers are never disclosed, and an unverified requester gets categories', async () => {
  const deadline = { ...input().deadline, regime: 'us-ca' };
  await world.insert('decision_history', [
    decision(16, '2026-06-21T10:00:00.000Z', {
      subject: own,
      record_id: 'ssn 078-05-1120',
      region: '4111 1111 1111 1111',
      purposes: '{"078051120":"granted"}',
      decision_id: 'r:078-05-1120',
    }),
  ]);
  const verified = await pack({ deadline });
  expect(zipNames(verified)).toContain('decisions.csv');
  expect(zipNames(verified)).not.toContain('records.jsonl');
  const text = everything(verified);
  for (const id of ['078-05-1120', '078051120', '4111 1111 1111 1111']) expect(text).not.toContain(id);
  expect(text).toContain('[withheld: Social Security number, 11 CCR § 7024(d)]');
  expect(text).toContain('[withheld: account, card or identification number, 11 CCR § 7024(d)]');
  // The requester is told which kinds are held, without their values.
  const told = 'a number that has the form of a Social Security number; a long number that may be a financial account';
  expect(letterOf(verified)).toContain('We hold the following about you. The law does not allow us to disclose it');
  expect(letterOf(verified).split(told.slice(0, 53))).toHaveLength(2);
  // Where the GDPR decides the date, California's ban on disclosure is still stated.
  const laws = ['eu-gdpr', 'us-ca'];
  const both = await pack({
    letter: { laws, limit: null, firstLimit: null, unchecked: false, irrefusable: null, written: null },
  });
  expect(zipNames(both)).not.toContain('records.jsonl');
  for (const id of ['078-05-1120', '078051120', '4111 1111 1111 1111']) expect(everything(both)).not.toContain(id);
  expect(letterOf(both)).toContain('The law does not allow us to disclose it');
  // Some states have the same ban, each in its own act.
  const inState = async (jurisdiction: string) =>
    await pack({ deadline: { ...deadline, regime: 'us-45' }, case: { ...input().case, jurisdiction } });
  for (const [state, source] of [
    ['US-MN', 'Minn. Stat. § 325M.14'],
    ['US-MT', 'Mont. Code § 30-14-2808'],
    ['US-CT', 'Conn. Gen. Stat. § 42-518'],
  ] as const) {
    const zip = await inState(state);
    expect(everything(zip), state).not.toContain('078-05-1120');
    expect(everything(zip), state).toContain(`[withheld: Social Security number, ${source}]`);
    expect(letterOf(zip), state).toContain(`left it out of the copy (${source}): a long number`);
  }
  expect(everything(await inState('US-VA'))).toContain('078-05-1120');
  const unverified = await pack({ deadline, identity: { status: 'failed', how: null } });
  expect(letterOf(unverified)).toContain('we do not disclose individual records');
  expect(letterOf(unverified)).toContain('hashed visitor identifier');
  expect(zipNames(unverified)).not.toContain('decisions.csv');
});

test('the letter of a full pack lists every file of the pack, and no other', async () => {
  // If nothing is sealed, no proofs and no verifier are enclosed.
  const unsealed = { checkpoint: null };
  const california = { ...unsealed, deadline: { ...input().deadline, regime: 'us-ca' } };
  for (const zip of [await pack(unsealed), await pack(california)]) {
    const [letter, ...files] = zipNames(zip);
    expect(letter).toBe('letter.pdf');
    const listed =
      /A copy of all these records is enclosed:(.*?)What this answer covers/.exec(letterOf(zip))?.[1] ?? '';
    expect([...listed.matchAll(/[\w-]+\.(?:html|csv|jsonl?|txt)\b/g)].map(([name]) => name).sort()).toEqual(
      files.sort(),
    );
  }
});

test('facts missing from the profile are named in the letter and in the manifest', async () => {
  const { profile } = input();
  const zip = await pack({ profile: { ...profile!, recipients: [], automatedDecisions: null } });
  const letter = letterOf(zip);
  expect(letter).toContain('Not stated in this answer: recipients; automated decisions');
  expect(jsonOf(zip, 'manifest.json')['notStatedByTheController']).toEqual(['recipients', 'automated decisions']);
  expect(letterOf(await pack({ profile: null }))).toContain(
    'Not stated in this answer: postal address; contact e-mail',
  );
});

test('a processor drafts under the letterhead of the controller', async () => {
  const { profile } = input();
  const letter = letterOf(
    await pack({
      profile: {
        ...profile!,
        name: 'Agency Ltd',
        role: 'processor',
        controllerOrJointContact: 'Client & Co\nHigh Street 1, Dublin',
      },
    }),
  );
  expect(letter.trimStart().startsWith('Client & Co High Street 1, Dublin')).toBe(true);
  expect(letter).not.toContain('Agency Ltd');
});

test('a name that the font cannot print makes the letter a page of HTML, and the manifest says why', async () => {
  const zip = await pack({ case: { ...input().case, requester_name: '\u{10A60} <b>花子</b>' } });
  expect(zipNames(zip)[0]).toBe('letter.html');
  expect(zipFile(zip, 'letter.html').toString('utf8')).toContain('Dear \u{10A60} &lt;b>花子&lt;/b>,');
  expect(JSON.stringify(jsonOf(zip, 'manifest.json'))).toContain('the PDF font lacks some of its characters');
});

test('internal notes of officers and the text of the request stay out of the pack', async () => {
  const folded = emptyFolded(null);
  const identity = { ...folded.identity, doubt: 'sounds like a competitor' };
  const zip = await pack({ case: { ...input().case, folded: foldedColumn({ ...folded, identity }) } });
  expect(everything(zip)).not.toContain('competitor');
  expect(everything(zip)).not.toContain('078-05-1120');
});

test('the same case gives the same bytes, and records after asOf change none of them', async () => {
  const first = await pack({ sample: true });
  anHourLater();
  await world.insert('decision_history', [decision(2001, '2026-06-22T10:00:00.000Z', { subject: own })]);
  await world.insert('policy_history', [policyChange(2002, '2026-06-21T00:00:00.000Z', { version: '5' })]);
  expect((await pack({ sample: true })).equals(first)).toBe(true);
  expect((await pack({ sample: true, asOf: 3000 })).equals(first)).toBe(false);
});
