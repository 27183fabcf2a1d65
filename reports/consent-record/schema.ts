import { z } from 'zod';

/** The profile of ISO/IEC TS 27560 defined by the W3C's Data Privacy Vocabulary group. */
export const RECORD_SCHEMA = 'https://w3id.org/dpv/schema/dpv-27560#record';

export const notKnownSchema = z.strictObject({ not_known: z.string().min(1) });
export type NotKnown = z.infer<typeof notKnownSchema>;
const known = z.string().min(1);
const orNotKnown = known.or(notKnownSchema);
const hex = z.string().regex(/^[0-9a-f]{64}$/);
const time = z.iso.datetime();
const iri = z.string().regex(/^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i);
/** At least one IRI, or one statement that none is known. */
const irisOrNotKnown = z.array(iri.or(notKnownSchema)).min(1);

/** States of consent of the Data Privacy Vocabulary 2.3 (its guide also names `ConsentTerminated`, which the vocabulary does not define). */
export const dpvStates = [
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
export type DpvState = (typeof dpvStates)[number];

const durationSchema = z.strictObject({
  '@type': z.enum(['dpv:TemporalDuration', 'dpv:UntilTimeDuration', 'dpv:UntilEventDuration']),
  /** ISO 8601: a period or a time; for an event, words. */
  value: known,
  /** As the profile states it. */
  stated: known.optional(),
});
export type Duration = z.infer<typeof durationSchema>;

const placeSchema = z.strictObject({ '@id': iri.optional(), '@type': z.literal('dpv:Location'), title: known });
export type Place = z.infer<typeof placeSchema>;

const partyTypes = [
  'dpv:DataController',
  'dpv:DataProcessor',
  'dpv:JointDataControllers',
  'dpv:Recipient',
  'dpv:Authority',
] as const;
const addressSchema = z.strictObject({ '@id': iri, '@type': z.literal('schema:PostalAddress'), text: known });
const contactSchema = z.strictObject({
  '@type': z.literal('schema:ContactPoint'),
  email: known.optional(),
  phone: known.optional(),
  url: known.optional(),
  description: known.optional(),
});
const partySchema = z.strictObject({
  '@id': iri,
  '@type': z.enum(partyTypes).or(z.array(z.enum(partyTypes)).min(2)),
  party_id: iri,
  party_name: known,
  party_address: addressSchema.or(notKnownSchema),
  /** The address again, by reference: the guide's table lists it as a contact point, its text as an address. */
  party_contact: z.array(contactSchema.or(z.strictObject({ '@id': iri })).or(notKnownSchema)).min(1),
});
export type Party = z.infer<typeof partySchema>;

/** A consent record: the fields of ISO/IEC TS 27560 with DPV terms, and this program's evidence. */
export const consentRecordSchema = z.strictObject({
  '@context': z.record(z.string(), z.unknown()),
  '@id': z.string().startsWith('urn:consent-ledger:'),
  '@type': z.literal('dpv:ConsentRecord'),
  header: z.strictObject({
    /** Only if no mandatory part of the profile is missing; otherwise it says what is. */
    schema_version: z.literal(RECORD_SCHEMA).or(notKnownSchema),
    record_id: known,
    record_identifier: known,
    pii_principal_id: z
      .strictObject({ '@id': iri, '@type': z.literal('dpv:DataSubject'), identifier: known })
      .or(notKnownSchema),
  }),
  notice: z.strictObject({
    privacy_notice: z.array(
      z.strictObject({
        '@type': z.enum(['dpv:ConsentNotice', 'dpv:PrivacyNotice']),
        notice_id: orNotKnown,
        version: orNotKnown,
        language: known.optional(),
      }),
    ),
    language: orNotKnown,
  }),
  /** What the purposes have in common, and the purposes, each a process inside it. */
  processing: z.strictObject({
    '@type': z.literal('dpv:Process'),
    /** Purposes that need consent; those that need none are in `evidence`. */
    purposes: z.array(
      z.strictObject({
        '@type': z.literal('dpv:Process'),
        purpose: z
          .strictObject({ '@id': iri, '@type': z.literal('dpv:Purpose'), title: known })
          .or(notKnownSchema.extend({ '@id': iri })),
        lawful_basis: irisOrNotKnown,
        lawful_basis_stated: known.optional(),
        event_state: z.enum(dpvStates).optional(),
        retention_period: z
          .strictObject({ '@type': z.literal('dpv:StorageDuration'), duration: durationSchema })
          .or(notKnownSchema),
      }),
    ),
    pii_information: z
      .array(z.strictObject({ '@type': z.literal('dpv:PersonalData'), title: known, pii_type: iri }).or(notKnownSchema))
      .min(1),
    pii_controllers: irisOrNotKnown,
    pii_processors: z.array(iri).min(1).optional(),
    storage_location: z
      .strictObject({ '@type': z.literal('dpv:StorageLocation'), locations: z.array(placeSchema).min(1) })
      .or(notKnownSchema),
    jurisdiction: placeSchema.or(notKnownSchema),
    recipients: irisOrNotKnown,
    withdrawal_method: z
      .strictObject({ '@type': z.literal('dpv:WithdrawConsent'), exercised_at: known })
      .or(notKnownSchema),
    privacy_rights: z
      .array(
        z
          .strictObject({
            '@type': z.literal('dpv:DataSubjectRight').or(z.tuple([z.literal('dpv:DataSubjectRight'), iri])),
            title: known,
            exercised_at: known,
          })
          .or(notKnownSchema),
      )
      .min(1),
    authority_party: iri.or(notKnownSchema),
  }),
  party_identification: z.array(partySchema),
  events: z
    .array(
      z.strictObject({
        event_state: z.enum(dpvStates),
        event_time: time,
        /** The type of consent. */
        event_type: iri.or(notKnownSchema),
        /** What the visitor did. */
        event_method: orNotKnown,
        /** By the ids of the purposes. */
        purposes: z.array(iri),
        validity_duration: durationSchema,
        entity_id: iri,
        carried_out_by: known.optional(),
      }),
    )
    .min(1),
  evidence: z.strictObject({
    time_basis: known,
    disputed: z.boolean(),
    disputed_purposes: z.array(z.string()),
    /** Purposes that the records name and that need no consent. */
    needs_no_consent: z.array(z.string()),
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
    /** The check on which `schema_version` depends: the mandatory parts of the profile that the record lacks. */
    conformance: z.strictObject({
      profile: z.literal(RECORD_SCHEMA),
      missing: z.array(z.strictObject({ section: known, part: known })),
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
