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
      expect(await quadsOf(record)).toHaveLength(statementsIn(readRecord(record) as Record<string, unknown>));
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
        const missing = missingIn(record);
        const claims = record.header.schema_version === 'https://w3id.org/dpv/schema/dpv-27560#record';
        expect(claims).toBe(missing.length === 0);
        expect(await violationsOf(record)).toEqual([...(claims ? [] : ['8.1.1 schema version']), ...missing].sort());
      }),
      { numRuns: 50 },
    );
  });
});
