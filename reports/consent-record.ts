import { ALL_PURPOSES } from '../src/core/consent-judgement.ts';
import type { PurposeState, TimedDecision } from '../src/core/consent-timeline.ts';
import { parseJson } from '../src/core/json.ts';
import { mapJurisdiction } from '../src/law/jurisdictions.ts';
import { type ControllerProfile, type StatedPurpose, statedPurpose } from '../src/law/profile.ts';
import type { BannerEvidence } from '../src/store/queries/history-banners.ts';
import type { DecisionRow } from '../src/store/queries/history-decisions.ts';
import { type MissingPart, missingPartsOf } from './consent-record/conformance.ts';
import { recordContext } from './consent-record/context.ts';
import { type LawfulBasis, lawfulBasisOf } from './consent-record/lawful-basis.ts';
import { authorityOf, controllersOf, iriPart, partiesOf, recipientsOf } from './consent-record/parties.ts';
import { dataTypeOf, keptFor, placeOf, rightsOf } from './consent-record/processing-words.ts';
import { type ConsentRecord, type DpvState, dpvStates, type NotKnown, RECORD_SCHEMA } from './consent-record/schema.ts';
import type { TextCitation } from './policy-texts.ts';
import type { CheckpointToPrint } from './report.ts';
import { contradictionWords, signalsOf } from './signal-words.ts';

export { type ConsentRecord, consentRecordSchema } from './consent-record/schema.ts';

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

/** Facts and what follows from them for several parts of a record. */
interface Writing extends ConsentRecordFacts {
  /** The record's own IRI; those of its purposes and of the data subject begin with it. */
  readonly id: string;
  /** The visitor's place according to the record, otherwise the controller's country; null: not known, or not certain. */
  readonly place: string | null;
  /** The purposes that need consent, sorted, each with what the profile states about it. */
  readonly purposes: ReadonlyMap<string, { readonly stated: StatedPurpose | null; readonly basis: LawfulBasis }>;
  readonly necessary: readonly string[];
}

/**
 * A decision as a consent record (ISO/IEC TS 27560; DPVCG's guide for it) in JSON-LD 1.1. Each unknown value is marked
 * as unknown, with the reason; every value comes from the records or the controller's profile. It claims to conform to
 * the profile only if no mandatory part is missing; otherwise it names the missing parts.
 */
export function consentRecordOf(facts: ConsentRecordFacts): ConsentRecord {
  const writing = writingOf(facts);
  const { decision, id } = writing;
  const subject = told(facts, 'subject');
  const header = {
    record_id: decision.decisionId,
    record_identifier: id,
    pii_principal_id:
      subject === null
        ? notKnown('the record names no visitor')
        : { '@id': `${id}#data-subject`, '@type': 'dpv:DataSubject' as const, identifier: subject },
  };
  const content = {
    notice: noticeOf(facts),
    processing: processingOf(writing),
    party_identification: partiesOf(facts.profile),
    events: eventsOf(writing, subject === null ? 'dpv:DataSubject' : `${id}#data-subject`),
  };
  const start = {
    '@context': structuredClone(recordContext) as ConsentRecord['@context'],
    '@id': id,
    '@type': 'dpv:ConsentRecord' as const,
  };
  const missing = missingPartsOf({ ...start, ...content, header: { schema_version: RECORD_SCHEMA, ...header } });
  const schema_version =
    missing.length === 0
      ? RECORD_SCHEMA
      : notKnown(
          `not claimed: of the mandatory parts of ${RECORD_SCHEMA}, this record lacks ${missing.map(({ section, part }) => `${part} (${section})`).join('; ')}`,
        );
  return {
    ...start,
    header: { schema_version, ...header },
    ...content,
    evidence: evidenceOf(writing, missing),
  };
}

function writingOf(facts: ConsentRecordFacts): Writing {
  const { decision, profile, source } = facts;
  const region = told(facts, 'region');
  const place = region === null ? (profile?.country ?? null) : mapJurisdiction(region);
  const named = [...new Set([...Object.keys(decision.purposes), ...decision.outcomes.keys()])].sort();
  const necessary = decision.necessary.filter((purpose) => !decision.outcomes.has(purpose));
  const purposes = named
    .filter((purpose) => !necessary.includes(purpose))
    .map((purpose) => {
      const stated = profile === null ? null : statedPurpose(profile, purpose);
      return [purpose, { stated, basis: lawfulBasisOf(stated?.lawfulBasis ?? null, place) }] as const;
    });
  return {
    ...facts,
    id: `urn:consent-ledger:${source}:${iriPart(decision.decisionId)}`,
    place,
    purposes: new Map(purposes),
    necessary,
  };
}

/** A field from the first record that has it. */
function told<Field extends keyof DecisionRow>({ decision }: ConsentRecordFacts, field: Field) {
  return decision.rows.find((row) => row[field] !== null && row[field] !== '')?.[field] ?? null;
}

function noticeOf(facts: ConsentRecordFacts): ConsentRecord['notice'] {
  const language = told(facts, 'language');
  return {
    privacy_notice: [
      {
        '@type': 'dpv:ConsentNotice',
        notice_id: facts.decision.bannerId || notKnown('the record names no banner'),
        version: told(facts, 'banner_version') ?? versionShown(facts),
        ...(language === null ? {} : { language }),
      },
      {
        '@type': 'dpv:PrivacyNotice',
        notice_id: told(facts, 'policy_id') ?? notKnown('the record names no policy'),
        version: told(facts, 'policy_version') ?? notKnown('the record names no version of the policy'),
      },
    ],
    language: language ?? notKnown('the record names no language'),
  };
}

/** Without a version in the record, the banner as the evidence for that time shows it. */
function versionShown({ banner }: ConsentRecordFacts): string | NotKnown {
  return banner.length === 0
    ? notKnown('the record names no version of the banner, and no evidence shows it')
    : `as shown, SHA-256 ${banner.map(({ sha256 }) => sha256).join(', ')}`;
}

function processingOf(writing: Writing): ConsentRecord['processing'] {
  const { profile, place } = writing;
  const { controllers, processors } = controllersOf(profile);
  const region = told(writing, 'region') ?? profile?.country ?? null;
  return {
    '@type': 'dpv:Process',
    purposes: purposesOf(writing),
    pii_information:
      profile === null || profile.dataCategories.length === 0
        ? [profileLacks('categories of data')]
        : profile.dataCategories.map((title) => ({
            '@type': 'dpv:PersonalData',
            title,
            pii_type: dataTypeOf(title),
          })),
    pii_controllers: controllers,
    ...(processors.length === 0 ? {} : { pii_processors: processors }),
    storage_location:
      profile?.storedIn === undefined || profile.storedIn.length === 0
        ? profileLacks('where the data is stored')
        : { '@type': 'dpv:StorageLocation', locations: profile.storedIn.map(placeOf) },
    jurisdiction: region === null ? notKnown('stated in neither the record nor the profile') : placeOf(region),
    recipients: recipientsOf(profile),
    withdrawal_method:
      profile?.withdrawalMethod == null
        ? profileLacks('how consent is withdrawn')
        : { '@type': 'dpv:WithdrawConsent', exercised_at: profile.withdrawalMethod },
    privacy_rights: rightsOf(profile, place),
    authority_party: authorityOf(profile),
  };
}

function evidenceOf(facts: Writing, missing: readonly MissingPart[]): ConsentRecord['evidence'] {
  const { decision, source, asOf } = facts;
  const { rows } = decision;
  const [first] = rows;
  const said = signalsOf(rows);
  return {
    time_basis: Number(first.occurred_counts) === 1 ? first.occurred_basis : 'received',
    disputed: decision.disputed,
    disputed_purposes: [...decision.outcomes].filter(([, state]) => state === 'disputed').map(([purpose]) => purpose),
    needs_no_consent: [...facts.necessary],
    request: first.case_id,
    act: {
      action: told(facts, 'action'),
      method: told(facts, 'method'),
      domain: told(facts, 'domain'),
      page: told(facts, 'page'),
    },
    signals: parseJson(told(facts, 'signals') ?? '{}') as Record<string, string>,
    ...(said === null || said.words.length === 0
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
    conformance: { profile: RECORD_SCHEMA, missing: [...missing] },
    limits: [
      'Categories of data are in the words of the controller profile; pii_type is dpv:PersonalData where they name no single type.',
      'schema_version claims conformance only if every mandatory part of the profile is present; conformance.missing names the others. That what is stated is true is not checked.',
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

/** Every purpose that the records name and that needs consent, with its state after the decision. */
function purposesOf(writing: Writing): ConsentRecord['processing']['purposes'] {
  const { decision, profile } = writing;
  return [...writing.purposes].map(([purpose, { stated, basis }]) => {
    const state = decision.outcomes.get(purpose);
    return {
      '@type': 'dpv:Process' as const,
      purpose:
        purpose === ALL_PURPOSES || purpose === ''
          ? { '@id': purposeId(writing, purpose), ...notKnown('all purposes: the record names none') }
          : { '@id': purposeId(writing, purpose), '@type': 'dpv:Purpose' as const, title: purpose },
      lawful_basis: basis.terms.length > 0 ? [...basis.terms] : [notKnown(basis.why ?? 'not stated')],
      ...(stated === null ? {} : { lawful_basis_stated: stated.lawfulBasis }),
      ...(state === undefined ? {} : { event_state: dpvStateOf(state, decision) }),
      retention_period:
        stated === null
          ? notKnown(retentionNotStated(profile, purpose))
          : { '@type': 'dpv:StorageDuration' as const, duration: keptFor(stated.retention) },
    };
  });
}

/** Why there is no retention, with the purposes for which the profile states one, as the letter of a pack lists them. */
function retentionNotStated(profile: ControllerProfile | null, purpose: string): string {
  const others = (profile?.purposes ?? []).map((one) => `“${one.purpose}”: ${one.retention}`);
  const word = purpose === ALL_PURPOSES ? 'all purposes' : `“${purpose}”`;
  return others.length === 0
    ? `the controller profile does not state: retention for ${word}`
    : `the controller profile has no purpose with the name ${word}; it states: ${others.join('; ')}`;
}

function purposeId({ id }: Writing, purpose: string): string {
  return `${id}#purpose:${iriPart(purpose)}`;
}

/**
 * One event for each state that the decision gives to purposes, separately for those that rest on consent and those that
 * do not; one without purposes if it concerns none.
 */
function eventsOf(writing: Writing, entity: string): ConsentRecord['events'] {
  const { decision } = writing;
  const [first] = decision.rows;
  const method = told(writing, 'action') ?? told(writing, 'method');
  const groups = new Map<string, { state: DpvState; why: string | null; purposes: string[] }>();
  for (const [purpose, outcome] of decision.outcomes) {
    const of = writing.purposes.get(purpose);
    if (of === undefined) continue;
    const state = dpvStateOf(outcome, decision);
    const why = of.basis.isConsent ? null : (of.basis.why ?? 'not consent');
    const key = JSON.stringify([state, why]);
    groups.set(key, { state, why, purposes: [...(groups.get(key)?.purposes ?? []), purposeId(writing, purpose)] });
  }
  if (groups.size === 0) {
    const { isConsent, why } = lawfulBasisOf(null, writing.place);
    groups.set('', { state: stateOfWhole(first.state), why: isConsent ? null : why, purposes: [] });
  }
  const byRequest = first.via === 'request';
  return [...groups.values()]
    .sort((a, b) => dpvStates.indexOf(a.state) - dpvStates.indexOf(b.state))
    .map(({ state, why, purposes }) => ({
      event_state: state,
      event_time: decision.at,
      // A choice by an act is expressed; without a recorded act, only that it is about consent is known.
      event_type: why !== null ? notKnown(why) : method === null && !byRequest ? 'dpv:Consent' : 'dpv:ExpressedConsent',
      event_method: method ?? notKnown('the record does not say what the visitor did'),
      purposes,
      validity_duration:
        decision.expiresAt === null
          ? {
              '@type': 'dpv:UntilEventDuration' as const,
              value: 'until a later decision or withdrawal: the record states no end date',
            }
          : { '@type': 'dpv:UntilTimeDuration' as const, value: decision.expiresAt },
      entity_id: entity,
      ...(byRequest ? { carried_out_by: 'an officer' } : {}),
    }));
}

function dpvStateOf(state: PurposeState, decision: TimedDecision<DecisionRow>): DpvState {
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

function stateOfWhole(state: DecisionRow['state']): DpvState {
  const words: Readonly<Record<DecisionRow['state'], DpvState>> = {
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
