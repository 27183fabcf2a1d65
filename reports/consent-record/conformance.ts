import type { ConsentRecord } from './schema.ts';

/** A mandatory part of the profile that a record lacks. */
export interface MissingPart {
  /** Its section in the guide. */
  readonly section: string;
  readonly part: string;
}

type Checked = Omit<ConsentRecord, 'evidence'>;

/**
 * The mandatory parts of the profile `dpv-27560` by their section in the DPVCG guide ("This field MUST be present"),
 * and whether a record has them. The same parts as in test/consent/dpv-27560.shapes.ttl, which a SHACL validator checks.
 * Those that {@link ConsentRecord} requires (8.1.2 record identifier, 8.3.1 process, 8.4.1 to 8.4.3 name, identifier and
 * role of parties, 8.5.2 to 8.5.5 state, time, duration and entity of events) cannot be missing.
 */
const mandatory: readonly (readonly [section: string, part: string, has: (record: Checked) => boolean])[] = [
  ['8.1.3', 'data subject', ({ header }) => isKnown(header.pii_principal_id)],
  [
    '8.2.1',
    'consent notice',
    ({ notice }) => notice.privacy_notice.some((one) => one['@type'] === 'dpv:ConsentNotice' && isKnown(one.notice_id)),
  ],
  ['8.2.2', 'language of the notice', ({ notice }) => isKnown(notice.language)],
  [
    '8.3.2',
    'purpose',
    ({ processing: { purposes } }) => purposes.length > 0 && purposes.every(({ purpose }) => isKnown(purpose)),
  ],
  ['8.3.3', 'personal data and its type', ({ processing }) => processing.pii_information.every(isKnown)],
  ['8.3.4.2', 'storage location', ({ processing }) => isKnown(processing.storage_location)],
  [
    '8.3.4.2',
    'storage duration of each purpose',
    ({ processing: { purposes } }) => purposes.every(({ retention_period: kept }) => isKnown(kept)),
  ],
  ['8.3.5', 'data controller', ({ processing }) => processing.pii_controllers.every(isKnown)],
  ['8.3.7', 'recipients', ({ processing }) => processing.recipients.every(isKnown)],
  ['8.3.8', 'how consent is withdrawn', ({ processing }) => isKnown(processing.withdrawal_method)],
  ['8.3.9', 'jurisdiction', ({ processing }) => isKnown(processing.jurisdiction)],
  ['8.3.10', 'rights', ({ processing }) => processing.privacy_rights.every(isKnown)],
  [
    '8.4.4',
    'contact of each party',
    ({ party_identification: parties }) =>
      parties.every(({ party_contact: contacts }) => contacts.some((one) => '@type' in one)),
  ],
  [
    '8.4.4.1',
    'postal address of each party',
    ({ party_identification: parties }) => parties.every((party) => isKnown(party.party_address)),
  ],
  ['8.5.1', 'type of consent', ({ events }) => events.every((event) => isKnown(event.event_type))],
];

/** The mandatory parts that a record lacks, in the order of the guide; empty: it conforms to the profile. */
export function missingPartsOf(record: Checked): readonly MissingPart[] {
  return mandatory.flatMap(([section, part, has]) => (has(record) ? [] : [{ section, part }]));
}

function isKnown(value: string | object): boolean {
  return typeof value === 'string' || !('not_known' in value);
}
