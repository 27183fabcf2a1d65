import type { RequestKind } from '../../../src/core/vocabulary.ts';

/** A request as a tool sends it, with values of our own, and what it states. docs/assumptions.md has the sources. */
export interface RequestShape {
  readonly tool: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The kinds in the order of the case: its main kind first. */
  readonly kinds: readonly RequestKind[];
  readonly email: string | null;
  readonly name?: string;
  readonly requestId?: string;
  readonly place?: string | null;
  /** The time of the request; null: not stated. */
  readonly at: string | null;
}

const AT = '2026-06-20T09:30:00.000Z';
const EMAIL = 'ann@example.org';

export const requestShapes: readonly RequestShape[] = [
  {
    tool: 'Data Rights Protocol 1.0',
    payload: {
      'agent-id': 'agent-7',
      'business-id': 'shop-1',
      'agent-request-id': 'drp-42',
      'issued-at': AT,
      'expires-at': '2026-06-20T09:40:00Z',
      'drp.version': '1.0',
      exercise: 'sale:opt-out',
      regime: 'ccpa',
      relationships: ['customer'],
      status_callback: 'https://agent.example.com/status',
      name: 'Ann Other',
      email: EMAIL,
      email_verified: true,
    },
    kinds: ['opt-out'],
    email: EMAIL,
    name: 'Ann Other',
    requestId: 'drp-42',
    place: 'ccpa',
    at: AT,
  },
  {
    tool: 'Data Rights Protocol, opt-in',
    payload: { 'agent-id': 'agent-7', 'issued-at': AT, exercise: 'sale:opt_in', email: EMAIL },
    kinds: ['unknown'],
    email: EMAIL,
    at: AT,
  },
  {
    tool: 'OpenDSR 2.0',
    payload: {
      regulation: 'gdpr',
      subject_request_id: 'b7551968-d5d6-44b2-9831-815ac9017798',
      subject_request_type: 'erasure',
      submitted_time: AT,
      subject_identities: [
        { identity_type: 'controller_customer_id', identity_value: 'c-1', identity_format: 'raw' },
        { identity_type: 'email', identity_value: EMAIL, identity_format: 'raw' },
      ],
      status_callback_urls: ['https://controller.example.com/callbacks'],
      api_version: '2.0',
    },
    kinds: ['erasure'],
    email: EMAIL,
    requestId: 'b7551968-d5d6-44b2-9831-815ac9017798',
    place: 'gdpr',
    at: AT,
  },
  {
    tool: 'Shopify customers/data_request without its header',
    payload: {
      shop_id: 7,
      shop_domain: 'shop.example.com',
      orders_requested: [1, 2],
      customer: { id: 9, email: EMAIL, phone: '555-0100' },
      data_request: { id: 9999 },
    },
    kinds: ['access'],
    email: EMAIL,
    requestId: '9999',
    at: null,
  },
  {
    tool: 'Shopify customers/redact',
    payload: {
      topic: 'customers/redact',
      shop_id: 7,
      customer: { id: 9, email: EMAIL, phone: '555-0100' },
      orders_to_redact: [1],
    },
    kinds: ['erasure'],
    email: EMAIL,
    at: null,
  },
  {
    tool: 'Shopify customers/redact without its header',
    payload: { shop_id: 7, customer: { id: 9, email: EMAIL }, orders_to_redact: [] },
    kinds: ['erasure'],
    email: EMAIL,
    at: null,
  },
  {
    tool: 'Shopify shop/redact',
    payload: { topic: 'shop/redact', shop_id: 7, shop_domain: 'shop.example.com' },
    kinds: ['erasure'],
    email: null,
    at: null,
  },
  {
    tool: 'OneTrust request queue',
    payload: {
      requestQueueRefId: 'OT-7',
      requestQueueId: 'd3cf…',
      firstName: 'Ann',
      lastName: 'Other',
      email: EMAIL,
      status: 'New',
      country: 'DE',
      requestTypes: ['Info Request', 'Data Deletion'],
      subjectTypes: ['Customer'],
      dateCreated: AT,
      deadline: '2026-07-20T09:30:00Z',
      additionalData: { formField11: 'Please delete my account' },
    },
    kinds: ['erasure', 'access'],
    email: EMAIL,
    name: 'Ann Other',
    requestId: 'OT-7',
    place: 'DE',
    at: AT,
  },
  {
    tool: 'Transcend new privacy request job',
    payload: {
      type: 'ERASURE',
      dataSubject: { type: 'customer' },
      isTest: false,
      coreIdentifier: { value: EMAIL },
      extras: {
        request: {
          id: 'tr-1',
          link: 'https://app.example.com/r/1',
          type: 'ERASURE',
          locale: 'de',
          createdAt: AT,
          country: 'DE',
        },
        profile: { identifier: EMAIL, type: 'email' },
        organization: { id: 'org-1', name: 'Shop' },
      },
    },
    kinds: ['erasure'],
    email: EMAIL,
    requestId: 'tr-1',
    place: 'DE',
    at: AT,
  },
  {
    tool: 'Transcend contact opt-out',
    payload: {
      type: 'CONTACT_OPT_OUT',
      coreIdentifier: { value: 'u-1' },
      extras: { profile: { identifier: EMAIL, type: 'email' } },
    },
    kinds: ['objection'],
    email: EMAIL,
    at: null,
  },
  {
    tool: 'Ketch forwarder DeleteRequest',
    payload: {
      apiVersion: 'dsr/v1',
      kind: 'DeleteRequest',
      metadata: { uid: 'k-1', tenant: 'shop' },
      request: {
        property: 'shop.example.com',
        regulation: 'ccpa',
        jurisdiction: 'us_ccpa_zone',
        identities: [{ identitySpace: 'email', identityFormat: 'raw', identityValue: 'other@example.org' }],
        subject: {
          email: EMAIL,
          firstName: 'Ann',
          lastName: 'Other',
          stateRegionCode: 'MA',
          countryCode: 'US',
          description: 'Delete my data',
        },
        submittedTimestamp: 1781947800,
        dueTimestamp: 1784539800,
      },
    },
    kinds: ['erasure'],
    email: EMAIL,
    name: 'Ann Other',
    requestId: 'k-1',
    place: 'US-MA',
    at: AT,
  },
  {
    tool: 'Ketch forwarder RestrictProcessingRequest',
    payload: {
      apiVersion: 'dsr/v1',
      kind: 'RestrictProcessingRequest',
      metadata: { uid: 'k-2' },
      request: { identities: [{ identitySpace: 'email', identityValue: EMAIL }], submittedTimestamp: 1781947800 },
    },
    kinds: ['restriction'],
    email: EMAIL,
    at: AT,
  },
  {
    tool: 'Fides privacy request',
    payload: {
      external_id: 'f-1',
      requested_at: AT,
      policy_key: 'default_erasure_policy',
      identity: { phone_number: '+15550100', email: EMAIL },
    },
    kinds: ['erasure'],
    email: EMAIL,
    requestId: 'f-1',
    at: AT,
  },
  {
    tool: 'Fides identity with labels',
    payload: {
      privacy_request_id: 'pri_1',
      policy_key: 'default_access_policy',
      identity: { loyalty_id: { label: 'Loyalty', value: 'L1' }, email: { label: 'E-mail', value: EMAIL } },
    },
    kinds: ['access'],
    email: EMAIL,
    requestId: 'pri_1',
    at: null,
  },
  {
    tool: 'Kertos webhook',
    payload: { data_subject_identifier: EMAIL, operation: 'read', received_at: AT },
    kinds: ['access'],
    email: EMAIL,
    at: AT,
  },
  {
    tool: 'Kertos ingress',
    payload: {
      requested_actions: ['access', 'delete'],
      data_subject: {
        first_name: 'Ann',
        last_name: 'Other',
        identifiers: [
          { identifier_type: 'PhoneNumber', identifier: '+15550100' },
          { identifier_type: 'Email', identifier: EMAIL, is_verified: true },
        ],
      },
      received_at: AT,
      channel: 'website',
      inquiry: 'All of it, please',
    },
    kinds: ['erasure', 'access'],
    email: EMAIL,
    name: 'Ann Other',
    at: AT,
  },
  {
    tool: 'Osano webhook made of its variables',
    payload: {
      dsarId: 'os-1',
      dsaRequestType: 'CORRECT',
      dsarDetails: { email: EMAIL, 'given-name': 'Ann', 'family-name': 'Other' },
      created: AT,
      due: '2026-07-20T00:00:00.000Z',
    },
    kinds: ['rectification'],
    email: EMAIL,
    name: 'Ann Other',
    requestId: 'os-1',
    at: AT,
  },
  {
    tool: 'DataGrail privacy request',
    payload: {
      request_uuid: 'dg-1',
      privacy_right: 'opt_out',
      identifiers: { emails: [EMAIL], phone_numbers: [] },
      date_submitted: AT,
    },
    kinds: ['opt-out'],
    email: EMAIL,
    at: AT,
  },
  {
    tool: 'Microsoft Graph subjectRightsRequest',
    payload: {
      id: 'ms-1',
      type: 'delete',
      dataSubject: { firstName: 'Ann', lastName: 'Other', email: EMAIL, residency: 'SE' },
      createdDateTime: AT,
      internalDueDateTime: '2026-07-20T00:00:00Z',
      regulations: ['GDPR'],
    },
    kinds: ['erasure'],
    email: EMAIL,
    name: 'Ann Other',
    place: 'SE',
    at: AT,
  },
  {
    tool: 'a form with flags',
    payload: {
      rights: { access: true, erasure: false, portability: true },
      e_mail: EMAIL,
      email: EMAIL,
      submitted_on: AT,
    },
    kinds: ['access', 'portability'],
    email: EMAIL,
    at: AT,
  },
  {
    tool: 'a form with objects and something unknown',
    payload: {
      request_types: [
        { id: 1, label: 'Löschung' },
        { id: 2, label: 'Frobnicate' },
      ],
      email: EMAIL,
      submitted_at: AT,
    },
    kinds: ['erasure', 'unknown'],
    email: EMAIL,
    at: AT,
  },
];
