import { z } from 'zod';
import { ALL_PURPOSES, isNecessary } from '../src/core/consent-judgement.ts';
import type { PurposeState, TimedDecision } from '../src/core/consent-timeline.ts';
import { parseJson } from '../src/core/json.ts';
import type { ControllerProfile } from '../src/law/profile.ts';
import type { BannerEvidence } from '../src/store/queries/history-banners.ts';
import type { DecisionRow } from '../src/store/queries/history-decisions.ts';
import type { TextCitation } from './policy-texts.ts';
import type { CheckpointToPrint } from './report.ts';
import { contradictionWords, signalsOf } from './signal-words.ts';

/** The facts from which a consent record is written. The same facts give the same bytes. */
interface ConsentRecordFacts {
  readonly source: string;
  /** The last entry of the ledger that the record takes into account. */
  readonly asOf: number;
  readonly decision: TimedDecision<DecisionRow>;
  /** Verdict on the signature of each delivery among its entries, by seq. */
  readonly signatures: ReadonlyMap<number, string>;
  readonly citation: TextCitation;
  readonly banner: readonly BannerEvidence[];
  readonly profile: ControllerProfile | null;
  readonly checkpoint: CheckpointToPrint | null;
  /** Proofs of its entries without their content (C2SP tlog-proof), by seq; absent if an entry is not sealed yet. */
  readonly proofs: ReadonlyMap<number, string>;
}

/** The profile of ISO/IEC TS 27560 defined by the W3C's Data Privacy Vocabulary group. */
const RECORD_SCHEMA = 'https://w3id.org/dpv/schema/dpv-27560#record';

/**
 * The names of ISO/IEC TS 27560 as terms of the Data Privacy Vocabulary (DPVCG, Guide for consent records 27560).
 * Contained in every record, so that nothing has to be fetched to read it. The sections of the standard are only groups
 * (`@nest`): their fields belong to the record.
 */
const context = {
  dpv: 'https://w3id.org/dpv#',
  dct: 'http://purl.org/dc/terms/',
  ledger: 'urn:consent-ledger:terms:',
  header: '@nest',
  processing: '@nest',
  schema_version: 'dct:conformsTo',
  record_id: 'dct:identifier',
  pii_principal_id: 'dpv:hasDataSubject',
  privacy_notice: 'dpv:hasNotice',
  language: 'dct:language',
  purposes: 'dpv:hasProcess',
  purpose: 'dpv:hasPurpose',
  lawful_basis: 'dpv:hasLegalBasis',
  pii_information: 'dpv:hasPersonalData',
  pii_controllers: 'dpv:hasDataController',
  storage_location: 'dpv:hasLocation',
  retention_period: 'dpv:hasDuration',
  jurisdiction: 'dpv:hasJurisdiction',
  recipients: 'dpv:hasRecipient',
  withdrawal_method: 'dpv:hasConsentControl',
  party_identification: 'dpv:hasEntity',
  party_id: '@id',
  party_type: '@type',
  party_name: 'dpv:hasName',
  party_address: 'dpv:hasAddress',
  party_contact: 'dpv:hasContact',
  events: 'dpv:hasConsentStatus',
  event_time: 'dpv:isIndicatedAtTime',
  event_type: 'dpv:hasIndicationMethod',
  validity_duration: 'dpv:hasDuration',
  entity_id: 'dpv:isIndicatedBy',
  event_state: '@type',
  not_known: 'ledger:notKnown',
  evidence: 'ledger:evidence',
} as const;

const notKnownSchema = z.strictObject({ not_known: z.string().min(1) });
type NotKnown = z.infer<typeof notKnownSchema>;
const known = z.string().min(1);
const orNotKnown = known.or(notKnownSchema);
const listOrNotKnown = z.array(known).min(1).or(notKnownSchema);
const hex = z.string().regex(/^[0-9a-f]{64}$/);
const time = z.iso.datetime();
const dpvStates = [
  'dpv:ConsentGiven',
  'dpv:RenewedConsentGiven',
  'dpv:ConsentRefused',
  'dpv:ConsentWithdrawn',
  'dpv:ConsentExpired',
  'dpv:ConsentRevoked',
  'dpv:ConsentInvalidated',
  'dpv:ConsentRequested',
  'dpv:ConsentRequestDeferred',
  'dpv:ConsentUnknown',
] as const;

/** A consent record: the fields of ISO/IEC TS 27560 with DPV terms, and this program's evidence. */
export const consentRecordSchema = z.strictObject({
  '@context': z.record(z.string(), z.string()),
  '@id': z.string().startsWith('urn:consent-ledger:'),
  '@type': z.literal('dpv:ConsentRecord'),
  header: z.strictObject({ schema_version: z.literal(RECORD_SCHEMA), record_id: known, pii_principal_id: orNotKnown }),
  processing: z.strictObject({
    privacy_notice: z.array(
      z.strictObject({
        '@type': z.enum(['dpv:ConsentNotice', 'dpv:PrivacyNotice']),
        record_id: orNotKnown,
        version: orNotKnown,
      }),
    ),
    language: orNotKnown,
    purposes: z.array(
      z.strictObject({
        '@type': z.literal('dpv:Process'),
        purpose: known,
        lawful_basis: known,
        event_state: z.enum(dpvStates).nullable(),
        retention_period: orNotKnown,
      }),
    ),
    pii_information: listOrNotKnown,
    pii_controllers: z.array(known).min(1).or(notKnownSchema),
    storage_location: orNotKnown,
    jurisdiction: orNotKnown,
    recipients: listOrNotKnown,
    withdrawal_method: orNotKnown,
  }),
  party_identification: z.array(
    z.strictObject({
      party_id: known,
      party_type: z.enum(['dpv:DataController', 'dpv:DataProcessor', 'dpv:JointDataControllers', 'dpv:Recipient']),
      party_name: known,
      party_address: orNotKnown,
      party_contact: orNotKnown,
    }),
  ),
  events: z
    .array(
      z.strictObject({
        event_time: time,
        event_type: orNotKnown,
        event_state: z.enum(dpvStates),
        purposes: z.array(known),
        validity_duration: orNotKnown,
        entity_id: orNotKnown,
      }),
    )
    .min(1),
  evidence: z.strictObject({
    time_basis: known,
    disputed: z.boolean(),
    disputed_purposes: z.array(known),
    request: z.string().nullable(),
    act: z.strictObject({
      action: z.string().nullable(),
      method: z.string().nullable(),
      domain: z.string().nullable(),
      page: z.string().nullable(),
    }),
    signals: z.record(z.string(), z.string()),
    /** Left out if the record has no signals. */
    signals_say: z
      .array(z.strictObject({ signal: known, title: known, says: z.array(known).min(1) }))
      .min(1)
      .optional(),
    signals_contradict: z.array(known).optional(),
    entries: z
      .array(
        z.strictObject({
          entry: z.number().int().positive(),
          way_in: z.enum(['webhook', 'pull', 'request']),
          received: time,
          commitment: z.string(),
          signature: z.string().nullable(),
          tlog_proof: z.string().nullable(),
        }),
      )
      .min(1),
    policy_text: z.strictObject({
      known: z.string(),
      texts: z.array(
        z.strictObject({
          text_sha256: hex.nullable(),
          entry: z.number().int().positive(),
          commitment: z.string().nullable(),
          not_before: time.nullable(),
          first_seen: time,
          last_seen: time,
        }),
      ),
    }),
    banner_as_shown: z
      .array(
        z.strictObject({
          entry: z.number().int().positive(),
          file_sha256: hex,
          media_type: z.string(),
          shown_from: time,
          shown_to: time.nullable(),
          added: time,
          added_by: z.string(),
          note: z.string().nullable(),
        }),
      )
      .min(1)
      .or(z.literal('not evidenced')),
    ledger: z.strictObject({
      source: known,
      as_of: z.number().int().nonnegative(),
      checkpoint: z
        .strictObject({ size: z.number().int(), root: z.string(), note: z.string(), verifier_key: z.string() })
        .nullable(),
    }),
    limits: z.array(z.string()),
    seal: z
      .strictObject({
        salt: hex,
        entry: z.number().int().positive(),
        meta: z.string(),
        body: z.string(),
        tlog_proof: z.string(),
        verifier_key: z.string(),
      })
      .nullable(),
  }),
});
export type ConsentRecord = z.infer<typeof consentRecordSchema>;

/**
 * A decision as a consent record (ISO/IEC TS 27560; DPVCG's guide for it). Each unknown value is marked as unknown,
 * with the reason; every value comes from the records or the controller's profile.
 */
export function consentRecordOf(facts: ConsentRecordFacts): ConsentRecord {
  const { decision, profile, source } = facts;
  return {
    '@context': { ...context },
    '@id': `urn:consent-ledger:${source}:${encodeURIComponent(decision.decisionId)}`,
    '@type': 'dpv:ConsentRecord',
    header: {
      schema_version: RECORD_SCHEMA,
      record_id: decision.decisionId,
      pii_principal_id: told(facts, 'subject') ?? notKnown('the record names no visitor'),
    },
    processing: processingOf(facts),
    party_identification: partiesOf(profile),
    events: eventsOf(facts),
    evidence: evidenceOf(facts),
  };
}

/** A field from the first record that has it. */
function told<Field extends keyof DecisionRow>({ decision }: ConsentRecordFacts, field: Field) {
  return decision.rows.find((row) => row[field] !== null)?.[field] ?? null;
}

function processingOf(facts: ConsentRecordFacts): ConsentRecord['processing'] {
  const { decision, profile } = facts;
  return {
    privacy_notice: [
      {
        '@type': 'dpv:ConsentNotice',
        record_id: decision.bannerId ?? notKnown('the record names no banner'),
        version: told(facts, 'banner_version') ?? notKnown('the record names no version of the banner'),
      },
      {
        '@type': 'dpv:PrivacyNotice',
        record_id: told(facts, 'policy_id') ?? notKnown('the record names no policy'),
        version: told(facts, 'policy_version') ?? notKnown('the record names no version of the policy'),
      },
    ],
    language: told(facts, 'language') ?? notKnown('the record names no language'),
    purposes: purposesOf(facts),
    pii_information: listOf(profile?.dataCategories, 'categories of data'),
    pii_controllers: profile === null ? profileLacks('the controller') : [controllerId(profile)],
    storage_location: notKnown('neither the records nor the controller profile say where the data is stored'),
    jurisdiction: told(facts, 'region') ?? profile?.country ?? notKnown('stated in neither the record nor the profile'),
    recipients: listOf(
      profile?.recipients.map(({ name }) => name),
      'recipients',
    ),
    withdrawal_method: profile?.withdrawalMethod ?? profileLacks('how consent is withdrawn'),
  };
}

function evidenceOf(facts: ConsentRecordFacts): ConsentRecord['evidence'] {
  const { decision, source, asOf } = facts;
  const { rows } = decision;
  const [first] = rows;
  const said = signalsOf(rows);
  return {
    time_basis: Number(first.occurred_counts) === 1 ? first.occurred_basis : 'received',
    disputed: decision.disputed,
    disputed_purposes: [...decision.outcomes].filter(([, state]) => state === 'disputed').map(([purpose]) => purpose),
    request: first.case_id,
    act: {
      action: told(facts, 'action'),
      method: told(facts, 'method'),
      domain: told(facts, 'domain'),
      page: told(facts, 'page'),
    },
    signals: parseJson(told(facts, 'signals') ?? '{}') as Record<string, string>,
    ...(said === null
      ? {}
      : {
          signals_say: said.words.map(({ signal, title, says }) => ({ signal, title, says: [...says] })),
          signals_contradict: [...contradictionWords(said.contradictions)],
        }),
    entries: rows.map((row) => ({
      entry: Number(row.seq),
      way_in: row.via,
      received: row.received_at,
      commitment: row.commitment,
      signature: facts.signatures.get(Number(row.seq)) ?? null,
      tlog_proof: facts.proofs.get(Number(row.seq)) ?? null,
    })),
    policy_text: policyTextOf(facts),
    banner_as_shown: bannerAsShown(facts),
    ledger: { source, as_of: asOf, checkpoint: checkpointOf(facts) },
    limits: [
      'An entry is unchanged since the checkpoint that covers it. Who sent a delivery is not proven: an HMAC convinces only those who hold its secret.',
      'tlog_proof shows that an entry was sealed under a signed checkpoint, with its number, time and commitment: `node verify.mjs RECORD.json` (docs/proofs.md).',
      'A commitment is checked with the entry’s body, meta and salt (docs/ledger-format.md, Checking a commitment).',
      'evidence.seal proves that the text of this record is the one that was handed out; that it follows from its entries was checked then, and can be checked again in their bodies.',
      'When and how the banner was shown is the statement of the officer who added its evidence.',
    ],
    seal: null,
  };
}

function policyTextOf({ citation }: ConsentRecordFacts): ConsentRecord['evidence']['policy_text'] {
  return {
    known: citation.known,
    texts: citation.texts.map((text) => ({
      text_sha256: text.textSha256,
      entry: Number(text.bodySeq),
      commitment: text.commitment,
      not_before: text.notBefore,
      first_seen: text.firstSeen,
      last_seen: text.lastSeen,
    })),
  };
}

function bannerAsShown({ banner }: ConsentRecordFacts): ConsentRecord['evidence']['banner_as_shown'] {
  if (banner.length === 0) return 'not evidenced';
  return banner.map((one) => ({
    entry: Number(one.seq),
    file_sha256: one.sha256,
    media_type: one.mediaType,
    shown_from: one.from,
    shown_to: one.to,
    added: one.addedAt,
    added_by: one.actor,
    note: one.note,
  }));
}

function checkpointOf({ checkpoint }: ConsentRecordFacts): ConsentRecord['evidence']['ledger']['checkpoint'] {
  if (checkpoint === null) return null;
  const { size, rootHex: root, note, verifierKey } = checkpoint;
  return { size: Number(size), root, note, verifier_key: verifierKey };
}

/** The text that is hashed in the entry that seals a record: the record with nothing but the salt in its seal (docs/proofs.md). */
export function sealedText(record: ConsentRecord, salt: string): string {
  return `${JSON.stringify({ ...record, evidence: { ...record.evidence, seal: { salt } } }, null, 2)}\n`;
}

/** The record as the bytes of a file; the same record gives the same bytes. */
export function consentRecordText(record: ConsentRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

function notKnown(why: string): NotKnown {
  return { not_known: why };
}

function profileLacks(part: string): NotKnown {
  return notKnown(`the controller profile does not state: ${part}`);
}

function listOf(values: readonly string[] | undefined, part: string): string[] | NotKnown {
  return values === undefined || values.length === 0 ? profileLacks(part) : [...values];
}

/** Every purpose that the records name, with its state after the decision. A purpose that needs no consent has no consent state. */
function purposesOf({ decision, profile }: ConsentRecordFacts): ConsentRecord['processing']['purposes'] {
  const named = new Set([...Object.keys(decision.purposes), ...decision.outcomes.keys()]);
  return [...named].sort().map((purpose) => {
    const stated = profile?.purposes.find((one) => one.purpose.toLowerCase() === purpose.toLowerCase());
    const state = decision.outcomes.get(purpose);
    return {
      '@type': 'dpv:Process' as const,
      purpose: purposeWord(purpose),
      lawful_basis: isNecessary(purpose) ? 'dpv:LegalBasis: not consent, named as necessary' : 'dpv:Consent',
      event_state: state === undefined ? null : dpvStateOf(state, decision),
      retention_period: stated?.retention ?? profileLacks(`retention for “${purposeWord(purpose)}”`),
    };
  });
}

function purposeWord(purpose: string): string {
  return purpose === ALL_PURPOSES ? 'all purposes (the record names none)' : purpose;
}

/** One event for each state that the decision gives to purposes; one without purposes if it concerns none. */
function eventsOf({ decision }: ConsentRecordFacts): ConsentRecord['events'] {
  const [first] = decision.rows;
  const byRequest = first.via === 'request';
  const same = {
    event_time: decision.at,
    event_type: first.action ?? first.method ?? notKnown('the record does not say what the visitor did'),
    validity_duration:
      decision.expiresAt === null ? notKnown('the record states no end date') : `until ${decision.expiresAt}`,
    entity_id: byRequest ? 'dpv:DataSubject, carried out by an officer' : 'dpv:DataSubject',
  };
  const groups = new Map<ConsentRecord['events'][number]['event_state'], string[]>();
  for (const [purpose, state] of decision.outcomes) {
    const dpv = dpvStateOf(state, decision);
    groups.set(dpv, [...(groups.get(dpv) ?? []), purposeWord(purpose)]);
  }
  if (groups.size === 0) groups.set(stateOfWhole(first.state), []);
  return [...groups]
    .sort(([a], [b]) => dpvStates.indexOf(a) - dpvStates.indexOf(b))
    .map(([event_state, purposes]) => {
      const { event_time, event_type, validity_duration, entity_id } = same;
      return { event_time, event_type, event_state, purposes, validity_duration, entity_id };
    });
}

function dpvStateOf(state: PurposeState, decision: TimedDecision<DecisionRow>): (typeof dpvStates)[number] {
  switch (state) {
    case 'granted':
      return decision.rows[0].state === 'renewed-given' ? 'dpv:RenewedConsentGiven' : 'dpv:ConsentGiven';
    case 'refused':
      return 'dpv:ConsentRefused';
    case 'withdrawn':
      return 'dpv:ConsentWithdrawn';
    case 'disputed':
    case 'unclear':
      return 'dpv:ConsentUnknown';
    case 'expired':
      return 'dpv:ConsentExpired';
    case 'terminated':
      return 'dpv:ConsentRevoked';
    case 'invalidated':
      return 'dpv:ConsentInvalidated';
    default:
      return state satisfies never;
  }
}

function stateOfWhole(state: DecisionRow['state']): (typeof dpvStates)[number] {
  const words: Readonly<Record<DecisionRow['state'], (typeof dpvStates)[number]>> = {
    given: 'dpv:ConsentGiven',
    'renewed-given': 'dpv:RenewedConsentGiven',
    refused: 'dpv:ConsentRefused',
    withdrawn: 'dpv:ConsentWithdrawn',
    expired: 'dpv:ConsentExpired',
    terminated: 'dpv:ConsentRevoked',
    invalidated: 'dpv:ConsentInvalidated',
    requested: 'dpv:ConsentRequested',
    'request-deferred': 'dpv:ConsentRequestDeferred',
    unknown: 'dpv:ConsentUnknown',
  };
  return words[state];
}

function controllerId({ name }: ControllerProfile): string {
  return `urn:consent-ledger:party:${encodeURIComponent(name)}`;
}

const partyTypes = {
  controller: 'dpv:DataController',
  processor: 'dpv:DataProcessor',
  joint: 'dpv:JointDataControllers',
} as const;

function partiesOf(profile: ControllerProfile | null): ConsentRecord['party_identification'] {
  if (profile === null) return [];
  return [
    {
      party_id: controllerId(profile),
      party_type: partyTypes[profile.role],
      party_name: profile.name,
      party_address: profile.address.length === 0 ? profileLacks('its postal address') : profile.address.join(', '),
      party_contact: profile.email ?? profile.phone ?? profile.website ?? profileLacks('how to reach it'),
    },
    ...profile.recipients.map(({ name, country }) => ({
      party_id: `urn:consent-ledger:party:${encodeURIComponent(name)}`,
      party_type: 'dpv:Recipient' as const,
      party_name: name,
      party_address: country ?? profileLacks('its address'),
      party_contact: profileLacks('how to reach it'),
    })),
  ];
}
