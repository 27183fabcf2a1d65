import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { consentRecordOf, consentRecordSchema } from '../../reports/consent-record.ts';
import { timelineOf } from '../../src/core/consent-timeline.ts';
import { consentStates } from '../../src/core/vocabulary.ts';
import { type ControllerProfile, profileSchema } from '../../src/law/profile.ts';
import type { DecisionRow } from '../../src/store/queries/history-decisions.ts';
import { type DecisionInsert, decision, profile } from '../reports/world.ts';
import { quadsOf, readRecord, roundTrip, statementsIn, violationsOf } from './record-graph.ts';

/** A profile that states every part of a consent record. */
const complete = profileSchema.parse({
  ...profile,
  purposes: profile.purposes.map((one, place) => ({ ...one, names: ['analytics, statistics', 'marketing'][place] })),
  recipients: profile.recipients.map((one) => ({
    ...one,
    address: '1 High Street, London',
    contact: 'dpo@ps.example',
  })),
  storedIn: ['de', 'EU'],
});

function recordOf(changes: Partial<DecisionInsert> = {}, by: ControllerProfile | null = complete) {
  const row = decision(11, '2026-06-03T10:00:00.000Z', { subject: 'visitor-7', action: 'accept_all', ...changes });
  const [first] = timelineOf([row as unknown as DecisionRow]);
  if (first === undefined) throw new Error('no decision');
  return consentRecordOf({
    source: 'default',
    asOf: 20,
    decision: first,
    signatures: new Map([[11, 'verified']]),
    citation: { known: 'never-fetched', texts: [] } as never,
    banner: [],
    profile: by,
    checkpoint: null,
    proofs: new Map(),
  });
}
const missingIn = (record: ReturnType<typeof recordOf>) =>
  record.evidence.conformance.missing.map(({ section, part }) => `${section} ${part}`).sort();
const basis = (record: ReturnType<typeof recordOf>) =>
  Object.fromEntries(
    record.processing.purposes.map(({ purpose, lawful_basis }) => [
      'title' in purpose ? purpose.title : '',
      lawful_basis,
    ]),
  );

describe('a consent record as JSON-LD 1.1', () => {
  it('loses nothing in expansion and compaction, and gives one statement for each of its values', async () => {
    for (const record of [recordOf(), recordOf({}, null), recordOf({ purposes: '{}', subject: null, region: null })]) {
      expect(consentRecordSchema.parse(record)).toEqual(record);
      expect(await roundTrip(record)).toEqual(readRecord(record));
      expect(await quadsOf(record)).toHaveLength(statementsIn(readRecord(record)));
    }
  });

  it('has states, legal bases, parties and types as IRIs, and keeps notice versions and evidence', async () => {
    const text = (await quadsOf(recordOf({ purposes: '{"analytics":"granted","necessary":"necessary"}' }))).join('\n');
    for (const said of [
      /hasConsentStatus> <https:\/\/w3id\.org\/dpv#ConsentGiven>/,
      /hasLegalBasis> <https:\/\/w3id\.org\/dpv\/legal\/eu\/gdpr#A6-1-a>/,
      /hasDataController> <urn:consent-ledger:party:/,
      /hasRecipient> <urn:consent-ledger:party:Policy%20Service%20Ltd>/,
      /<https:\/\/schema\.org\/version> "3"/,
      /isIndicatedAtTime> "2026-06-03T10:00:00\.000Z"\^\^<http:\/\/www\.w3\.org\/2001\/XMLSchema#dateTime>/,
      /terms:evidence> ".*commitment.*"\^\^<http:\/\/www\.w3\.org\/1999\/02\/22-rdf-syntax-ns#JSON>/,
    ])
      expect(text).toMatch(said);
  });
});

describe('a consent record and the profile dpv-27560', () => {
  it('claims to conform if the shapes pass', async () => {
    const record = recordOf();
    expect(await violationsOf(record)).toEqual([]);
    expect(record.header.schema_version).toBe('https://w3id.org/dpv/schema/dpv-27560#record');
    expect(missingIn(record)).toEqual([]);
  });

  it.each([
    ['8.1.1', 'header.schema_version'],
    ['8.1.2', 'header.record_id'],
    ['8.1.2', 'header.record_identifier'],
    ['8.1.3', 'header.pii_principal_id'],
    ['8.2.1', 'notice.privacy_notice.0'],
    ['8.2.1', 'notice.privacy_notice.0.notice_id'],
    ['8.2.2', 'notice.language'],
    ['8.3.1', 'processing.@type'],
    ['8.3.2', 'processing.purposes.1.purpose'],
    ['8.3.3', 'processing.pii_information'],
    ['8.3.3', 'processing.pii_information.1.pii_type'],
    ['8.3.4.2', 'processing.storage_location'],
    ['8.3.4.2', 'processing.purposes.0.retention_period'],
    ['8.3.4.2', 'processing.purposes.0.retention_period.duration.value'],
    ['8.3.5', 'processing.pii_controllers'],
    ['8.3.7', 'processing.recipients'],
    ['8.3.8', 'processing.withdrawal_method.exercised_at'],
    ['8.3.9', 'processing.jurisdiction'],
    ['8.3.10', 'processing.privacy_rights'],
    ['8.4.1', 'party_identification.1.party_name'],
    ['8.4.2', 'party_identification.2.party_id'],
    ['8.4.3', 'party_identification.2.@type'],
    ['8.4.4', 'party_identification.1.party_contact.0'],
    ['8.4.4.1', 'party_identification.0.party_address.text'],
    ['8.5.1', 'events.0.event_type'],
    ['8.5.2', 'events.0.event_state'],
    ['8.5.3', 'events.1.event_time'],
    ['8.5.4', 'events.0.validity_duration'],
    ['8.5.5', 'events.0.entity_id'],
  ])('violates the shape of section %s without %s', async (section, path) => {
    const record = readRecord(recordOf()) as Record<string, unknown>;
    const place = path.split('.');
    const last = place.pop() ?? '';
    let holder = record as unknown;
    for (const name of place) holder = (holder as Record<string, unknown>)[name];
    if (Array.isArray(holder)) holder.splice(Number(last), 1);
    else delete (holder as Record<string, unknown>)[last];
    expect((await violationsOf(record)).map((message) => message.split(' ')[0])).toContain(section);
  });

  it('without a profile, names every mandatory part that is missing and claims nothing', async () => {
    const record = recordOf({ subject: null, banner_id: null, language: null }, null);
    expect(await violationsOf(record)).toEqual(['8.1.1 schema version', ...missingIn(record)].sort());
    expect(record.header.schema_version).toEqual({
      not_known: expect.stringMatching(/^not claimed: .*rights \(8\.3\.10\)/) as string,
    });
    expect(missingIn(record).map((part) => part.split(' ')[0])).toEqual(
      '8.1.3 8.2.1 8.2.2 8.3.10 8.3.3 8.3.4.2 8.3.4.2 8.3.5 8.3.7 8.3.8'.split(' '),
    );
  });

  it('claims it exactly where the shapes pass, whatever the decision and the profile', async () => {
    const text = fc.oneof(
      fc.constantFrom('DE', 'US-CA', 'California', 'accept_all', 'de', ''),
      fc.string(),
      fc.string({ unit: 'binary' }),
    );
    const maybe = fc.option(text, { nil: null });
    const purposes = fc.dictionary(
      fc.oneof(fc.constantFrom('analytics', 'Marketing', 'necessary', '*'), fc.string({ maxLength: 12 })),
      fc.constantFrom('granted', 'denied', 'necessary'),
      { maxKeys: 4 },
    );
    const row = fc.record({
      state: fc.constantFrom(...consentStates),
      purposes: purposes.map((one) => JSON.stringify(one)),
      subject: maybe,
      banner_id: maybe,
      policy_id: maybe,
      language: maybe,
      region: maybe,
      action: maybe,
      decision_id: fc.string({ minLength: 1 }),
      via: fc.constantFrom('webhook' as const, 'pull' as const, 'request' as const),
      expires_at: fc.constantFrom(null, '2027-06-03T10:00:00.000Z'),
      signals: fc.option(
        fc.dictionary(fc.string(), fc.string(), { minKeys: 1 }).map((one) => JSON.stringify(one)),
        { nil: null },
      ),
    });
    const parts = fc.subarray([
      'storedIn',
      'recipients',
      'dataCategories',
      'withdrawalMethod',
      'email',
      'address',
      'purposes',
      'supervisoryAuthority',
    ] as const);
    const role = fc.constantFrom('controller', 'joint', 'processor');
    await fc.assert(
      fc.asyncProperty(row, fc.option(parts, { nil: null }), role, async (changes, without, role) => {
        const all: Partial<Record<keyof ControllerProfile, unknown>> = { ...complete, role };
        for (const part of without ?? []) delete all[part];
        const record = recordOf(changes, without === null ? null : profileSchema.parse(all));
        expect(consentRecordSchema.parse(record)).toEqual(record);
        expect(await roundTrip(record)).toEqual(readRecord(record));
        expect(await quadsOf(record)).toHaveLength(statementsIn(readRecord(record)));
        const missing = missingIn(record);
        const claims = record.header.schema_version === 'https://w3id.org/dpv/schema/dpv-27560#record';
        expect(claims).toBe(missing.length === 0);
        expect(await violationsOf(record)).toEqual([...(claims ? [] : ['8.1.1 schema version']), ...missing].sort());
      }),
      { numRuns: 50 },
    );
  });
});

describe('the legal basis in a consent record', () => {
  const on = (lawfulBasis: string) =>
    profileSchema.parse({ ...complete, purposes: [{ purpose: 'Analytics', lawfulBasis, retention: '13 months' }] });
  const stated = { purposes: '{"analytics":"granted"}' };

  it.each([
    ['GDPR Art. 6(1)(a)', ['dpv:Consent', 'eu-gdpr:A6-1-a']],
    ['consent, GDPR Art. 6(1)(a)', ['dpv:Consent', 'eu-gdpr:A6-1-a']],
    ['Art. 6 Abs. 1 Buchst. a DSGVO', ['dpv:Consent', 'eu-gdpr:A6-1-a']],
    ['Art. 6 Abs. 1 S. 1 lit. f DSGVO', ['dpv:LegitimateInterest', 'eu-gdpr:A6-1-f']],
    ['art. 6.1.c RGPD', ['dpv:LegalObligation', 'eu-gdpr:A6-1-c']],
    ['GDPR Art. 6(1)(c) with Art. 7(1)', ['dpv:LegalObligation', 'eu-gdpr:A6-1-c']],
    ['GDPR Art. 9(2)(a)', ['dpv:Consent', 'eu-gdpr:A9-2-a']],
    ['UK GDPR Art. 6(1)(f)', ['dpv:LegitimateInterest']],
    ['legitimate interests', ['dpv:LegitimateInterest']],
    ['berechtigtes Interesse', ['dpv:LegitimateInterest']],
    ['legittimo interesse', ['dpv:LegitimateInterest']],
    ['interesses legítimos', ['dpv:LegitimateInterest']],
    ['GDPR Art. 6(1) sentence 1 (f)', ['dpv:LegitimateInterest', 'eu-gdpr:A6-1-f']],
    ['Einwilligung', ['dpv:Consent']],
    ['performance of a contract', ['dpv:Contract']],
  ])('is the one that the profile states: %s', async (words, terms) => {
    const record = recordOf(stated, on(words));
    expect(basis(record)).toEqual({ analytics: terms });
    const isConsent = terms.includes('dpv:Consent');
    expect(record.events.map(({ event_type }) => event_type)).toEqual([
      isConsent ? 'dpv:ExpressedConsent' : { not_known: `not consent: the controller profile states: ${words}` },
    ]);
    expect((await violationsOf(record)).includes('8.5.1 type of consent')).toBe(!isConsent);
  });

  it.each(['no consent needed', 'our own rules'])('is not guessed from: %s', (words) => {
    expect(basis(recordOf(stated, on(words)))).toEqual({
      analytics: [{ not_known: `no term of the vocabulary is known for what the controller profile states: ${words}` }],
    });
  });

  it.each(['US-CA', 'California', 'US', 'us_va'])('is never consent for a visitor in %s', (region) => {
    for (const by of [complete, on('consent'), null]) {
      const record = recordOf({ ...stated, region }, by);
      const why = expect.stringContaining('the law lets people opt out and does not ask for consent') as string;
      expect(basis(record)).toEqual({ analytics: [{ not_known: why }] });
      expect(record.events[0]?.event_type).toEqual({ not_known: why });
      expect(record.header.schema_version).toHaveProperty('not_known');
    }
    expect(basis(recordOf({ ...stated, region }, on('legitimate interests')))).toEqual({
      analytics: ['dpv:LegitimateInterest'],
    });
  });

  it('is consent where the profile states nothing about the purpose', () => {
    expect(basis(recordOf({ purposes: '{"fonts":"granted"}' }))).toEqual({ fonts: ['dpv:Consent'] });
  });

  it('keeps apart purposes on consent and on another basis', () => {
    const two = profileSchema.parse({
      ...complete,
      purposes: [...complete.purposes, { purpose: 'fraud', lawfulBasis: 'legitimate interests', retention: '1 year' }],
    });
    const { events } = recordOf({ purposes: '{"analytics":"granted","fraud":"granted"}' }, two);
    expect(
      events.map(({ event_type, purposes }) => [typeof event_type, purposes.map((id) => id.split(':').at(-1))]),
    ).toEqual([
      ['string', ['analytics']],
      ['object', ['fraud']],
    ]);
  });
});

describe('what a consent record says about its purposes', () => {
  const kept = (record: ReturnType<typeof recordOf>) =>
    record.processing.purposes.map(({ retention_period: one }) => ('duration' in one ? one.duration : one.not_known));

  it('is the retention that the profile states, by the name of the purpose or one of its names on banners', () => {
    expect(kept(recordOf({ purposes: '{"Statistics":"granted","marketing":"denied"}' }))).toEqual([
      { '@type': 'dpv:TemporalDuration', value: 'P14M', stated: '14 months' },
      { '@type': 'dpv:UntilEventDuration', value: 'until withdrawn, at most 13 months' },
    ]);
  });

  it('names what the profile states if it has no purpose of that name', () => {
    expect(kept(recordOf({ purposes: '{"fonts":"granted"}' }))).toEqual([
      'the controller profile has no purpose with the name “fonts”; it states: “Measuring how the shop is used”: 14 months; “Advertising”: until withdrawn, at most 13 months',
    ]);
  });

  it('leaves purposes that need no consent to the evidence', () => {
    const { processing, evidence } = recordOf({ purposes: '{"necessary":"granted","analytics":"granted"}' });
    expect(processing.purposes).toHaveLength(1);
    expect(evidence.needs_no_consent).toEqual(['necessary']);
  });

  it('names the controller of a processor as the controller', async () => {
    const by = profileSchema.parse({ ...complete, role: 'processor', controllerOrJointContact: 'Shop SE' });
    const record = recordOf({}, by);
    expect(record.processing.pii_controllers).toEqual(['urn:consent-ledger:party:Shop%20SE']);
    expect(record.processing.pii_processors).toEqual([
      'urn:consent-ledger:party:F%C3%B6rster%20%26%20S%C3%B6hne%20GmbH',
    ]);
    expect(await violationsOf(record)).toEqual([
      '8.1.1 schema version',
      '8.4.4 contact of each party',
      '8.4.4.1 postal address of each party',
    ]);
  });

  it('names the rights with where to exercise each: complaints with the authority, withdrawal as on the website', () => {
    const at = (record: ReturnType<typeof recordOf>) =>
      record.processing.privacy_rights.map((right) =>
        'title' in right ? [[right['@type']].flat().at(-1), right.exercised_at] : right.not_known,
      );
    const gdpr = at(recordOf());
    expect(gdpr).toHaveLength(8);
    expect(gdpr).toContainEqual(['eu-gdpr:A7-3', complete.withdrawalMethod]);
    expect(gdpr).toContainEqual(['eu-gdpr:A15', complete.email]);
    expect(gdpr).toContainEqual(['eu-gdpr:A77', 'https://www.lda.bayern.de']);
    expect(at(recordOf({}, profileSchema.parse({ ...complete, supervisoryAuthority: null })))).toHaveLength(7);
    // GDPR Art. 3(1) binds the controller for visitors elsewhere too.
    expect(at(recordOf({ region: 'GB' }))).toContainEqual(['dpv:DataSubjectRight', complete.email]);
    expect(at(recordOf({ region: 'GB' }))).toHaveLength(9);
  });

  it('is that a choice without a recorded act is consent of no special type', () => {
    expect(recordOf({ action: null }).events.map(({ event_type }) => event_type)).toEqual([
      'dpv:Consent',
      'dpv:Consent',
    ]);
  });
});
