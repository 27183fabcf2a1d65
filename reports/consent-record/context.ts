/**
 * The JSON-LD 1.1 context of a consent record: the names of ISO/IEC TS 27560 as terms of the Data Privacy Vocabulary
 * (DPVCG, "Consent Records and Receipts as per ISO/IEC TS 27560:2023 using DPV", chapter 8). Contained in every record,
 * so that nothing has to be fetched to read it. Every name of a record is in it, so that expansion drops nothing; names
 * that mean different things in different places are defined for each place (property-scoped contexts).
 *
 * `header` and `notice` are only groups (`@nest`): their fields belong to the record. `evidence` is a JSON literal
 * (`@json`): it contains names from outside (signals, pages), and its order and empty values matter to the seal.
 */
export const recordContext = {
  '@version': 1.1,
  dpv: 'https://w3id.org/dpv#',
  'eu-gdpr': 'https://w3id.org/dpv/legal/eu/gdpr#',
  loc: 'https://w3id.org/dpv/loc#',
  pd: 'https://w3id.org/dpv/pd#',
  dct: 'http://purl.org/dc/terms/',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  skos: 'http://www.w3.org/2004/02/skos/core#',
  schema: 'https://schema.org/',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  ledger: 'urn:consent-ledger:terms:',
  not_known: 'ledger:notKnown',
  title: 'dct:title',
  value: 'rdf:value',
  stated: 'ledger:stated',
  header: '@nest',
  schema_version: { '@id': 'dct:conformsTo', '@type': '@id', '@nest': 'header' },
  record_id: { '@id': 'dct:identifier', '@nest': 'header' },
  record_identifier: { '@id': 'dpv:hasIdentifier', '@nest': 'header' },
  pii_principal_id: {
    '@id': 'dpv:hasDataSubject',
    '@nest': 'header',
    '@context': { record_id: null, identifier: 'dct:identifier' },
  },
  notice: '@nest',
  privacy_notice: {
    '@id': 'dpv:hasNotice',
    '@container': '@set',
    '@nest': 'notice',
    '@context': { record_id: null, notice_id: 'dct:identifier', version: 'schema:version', language: 'dct:language' },
  },
  language: { '@id': 'dct:language', '@nest': 'notice' },
  processing: {
    '@id': 'dpv:hasProcess',
    '@context': {
      processing: null,
      purposes: {
        '@id': 'dpv:hasProcess',
        '@container': '@set',
        '@context': {
          storage_location: null,
          events: null,
          purpose: 'dpv:hasPurpose',
          lawful_basis: { '@id': 'dpv:hasLegalBasis', '@type': '@id', '@container': '@set' },
          lawful_basis_stated: 'ledger:lawfulBasisStated',
          event_state: { '@id': 'dpv:hasConsentStatus', '@type': '@id' },
          retention_period: 'dpv:hasStorageCondition',
          duration: 'dpv:hasDuration',
        },
      },
      pii_information: {
        '@id': 'dpv:hasPersonalData',
        '@container': '@set',
        '@context': { pii_type: { '@id': 'skos:broader', '@type': '@id' } },
      },
      pii_controllers: { '@id': 'dpv:hasDataController', '@type': '@id', '@container': '@set' },
      pii_processors: { '@id': 'dpv:hasDataProcessor', '@type': '@id', '@container': '@set' },
      storage_location: {
        '@id': 'dpv:hasStorageCondition',
        '@context': { locations: { '@id': 'dpv:hasLocation', '@container': '@set' } },
      },
      jurisdiction: 'dpv:hasJurisdiction',
      recipients: { '@id': 'dpv:hasRecipient', '@type': '@id', '@container': '@set' },
      withdrawal_method: 'dpv:hasConsentControl',
      privacy_rights: { '@id': 'dpv:hasRight', '@container': '@set' },
      authority_party: { '@id': 'dpv:hasAuthority', '@type': '@id' },
      exercised_at: 'dpv:isExercisedAt',
    },
  },
  party_identification: {
    '@id': 'dpv:hasEntity',
    '@container': '@set',
    '@context': {
      record_identifier: null,
      party_id: 'dpv:hasIdentifier',
      party_name: 'dpv:hasName',
      party_address: 'schema:address',
      party_contact: { '@id': 'schema:contactPoint', '@container': '@set' },
      text: 'schema:streetAddress',
      email: 'schema:email',
      phone: 'schema:telephone',
      url: 'schema:url',
      description: 'schema:description',
    },
  },
  events: {
    '@id': 'dpv:hasConsentStatus',
    '@container': '@set',
    '@context': {
      event_state: '@type',
      event_time: { '@id': 'dpv:isIndicatedAtTime', '@type': 'xsd:dateTime' },
      event_type: { '@id': 'dpv:hasLegalBasis', '@type': '@id' },
      event_method: 'dpv:hasIndicationMethod',
      purposes: { '@id': 'dpv:hasPurpose', '@type': '@id', '@container': '@set' },
      validity_duration: { '@id': 'dpv:hasDuration', '@context': { event_state: null } },
      entity_id: { '@id': 'dpv:isIndicatedBy', '@type': '@id' },
      carried_out_by: 'ledger:carriedOutBy',
    },
  },
  evidence: { '@id': 'ledger:evidence', '@type': '@json' },
} as const;

/** The context of a file of several records, each with its own context: expansion gives them all. */
export const recordsContext = {
  '@version': 1.1,
  case: 'urn:consent-ledger:terms:case',
  records: '@included',
} as const;
