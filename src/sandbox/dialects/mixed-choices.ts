import type { RequestKind } from '../../core/vocabulary.ts';
import { embedForms, errorForms, listForms, publishBodies } from '../dialect.ts';
import type { Choice, Purpose } from '../happenings.ts';

/** Spellings of names, as they are joined out of words. */
export const nameCases = {
  snake_case: (name: string) => name,
  camelCase: (name: string) => name.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase()),
  PascalCase: (name: string) => name.replace(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase()),
  'kebab-case': (name: string) => name.replaceAll('_', '-'),
} as const satisfies Record<string, (name: string) => string>;

/** Ways to write a time. */
export const timeForms = {
  'ISO 8601, milliseconds': (at: Date) => at.toISOString(),
  'ISO 8601, seconds': (at: Date) => `${at.toISOString().slice(0, 19)}Z`,
  'ISO 8601, microseconds': (at: Date) => `${at.toISOString().slice(0, 23)}000Z`,
  'ISO 8601 with +02:00': (at: Date) => `${shifted(at, 2).slice(0, 19)}+02:00`,
  'ISO 8601 with -0500': (at: Date) => `${shifted(at, -5).slice(0, 23)}-0500`,
  'UTC without saying so': (at: Date) => at.toISOString().slice(0, 19).replace('T', ' '),
  'Unix seconds': (at: Date) => Math.floor(at.getTime() / 1000),
  'Unix milliseconds': (at: Date) => at.getTime(),
  'Unix seconds as text': (at: Date) => String(Math.floor(at.getTime() / 1000)),
  'HTTP date': (at: Date) => at.toUTCString(),
} as const satisfies Record<string, (at: Date) => string | number>;

function shifted(at: Date, hours: number): string {
  return new Date(at.getTime() + hours * 3_600_000).toISOString();
}

/** Words for what a visitor did. */
export const choiceWords = {
  'accept_all …': { accept: 'accept_all', reject: 'reject_all', choose: 'custom', withdraw: 'withdraw' },
  'granted …': { accept: 'granted', reject: 'denied', choose: 'partial', withdraw: 'withdrawn' },
  'ACCEPTED …': { accept: 'ACCEPTED', reject: 'REJECTED', choose: 'PARTIALLY_ACCEPTED', withdraw: 'REVOKED' },
  'opt-in …': { accept: 'opt-in', reject: 'opt-out', choose: 'custom', withdraw: 'revoked' },
  'allow_all …': { accept: 'allow_all', reject: 'deny_all', choose: 'save_preferences', withdraw: 'withdraw_consent' },
  'Accepted …': { accept: 'Accepted', reject: 'Declined', choose: 'Customized', withdraw: 'Withdrawn' },
} as const satisfies Record<string, Record<Choice, string>>;

/** Words for what a request asks. */
export const requestWords = {
  'opt_out …': (kind: RequestKind) => kind.replaceAll('-', '_'),
  'OPT-OUT …': (kind: RequestKind) => kind.toUpperCase(),
  'right_of_access …': (kind: RequestKind) => rights[kind],
} as const satisfies Record<string, (kind: RequestKind) => string>;

const rights: Record<RequestKind, string> = {
  access: 'right_of_access',
  portability: 'data_portability',
  erasure: 'right_to_be_forgotten',
  rectification: 'correct_my_data',
  restriction: 'restrict_processing',
  objection: 'object_to_processing',
  'opt-out': 'do_not_sell_or_share',
  limit: 'limit_sensitive_data',
  'withdraw-consent': 'consent_withdrawal',
  unknown: 'other',
};

/** What the purposes of a banner are called. */
export const purposeWords = {
  'necessary preferences analytics marketing': ['necessary', 'preferences', 'analytics', 'marketing'],
  'essential functional performance targeting': ['essential', 'functional', 'performance', 'targeting'],
  'strictly_necessary functionality statistics advertising': [
    'strictly_necessary',
    'functionality',
    'statistics',
    'advertising',
  ],
} as const satisfies Record<string, readonly [string, string, string, string]>;
export const purposeOrder: readonly Purpose[] = ['necessary', 'preferences', 'analytics', 'marketing'];

function namesOf<T extends object>(options: T): readonly (keyof T)[] {
  return Object.keys(options) as (keyof T)[];
}

/** Every open choice and what it may be; the order of the entries means nothing. */
export const openChoices = {
  names: namesOf(nameCases),
  shape: ['flat', 'grouped'],
  envelope: ['none', 'data', 'payload', 'data.object'],
  eventName: ['event', 'event_type', 'type', 'topic', 'event_name'],
  payloadTimes: namesOf(timeForms),
  rowTimes: namesOf(timeForms),
  choiceWords: namesOf(choiceWords),
  requestWords: namesOf(requestWords),
  purposeWords: namesOf(purposeWords),
  purposes: ['flags', 'words', 'numbers', 'objects', 'two lists', 'list of granted', 'fields of their own'],
  region: ['code', 'country and region', 'geo'],
  requester: ['name and email', 'first and last name', 'object'],
  deliveryIds: ['dlv', 'evt', 'uuid', 'number'],
  deliveryIdIn: ['nowhere', 'payload', 'webhook-id', 'x-service-delivery', 'x-request-id', 'idempotency-key'],
  contentType: [
    'application/json',
    'application/json; charset=utf-8',
    'text/plain; charset=utf-8',
    'application/x-json',
  ],
  layout: ['compact', 'indented', 'ascii'],
  rowOrder: ['oldest-first', 'newest-first'],
  lastPage: ['null', 'absent', 'empty'],
  createdStatus: [200, 201],
  list: [...listForms],
  embed: [...embedForms],
  remainingQuota: ['told', 'not told'],
  openapi: ['with a key', 'without a key'],
  publishBody: [...publishBodies],
  limitHeaders: ['x-ratelimit', 'ratelimit', 'ratelimit-ietf'],
  errors: [...errorForms],
} as const satisfies Record<string, readonly (string | number)[]>;

type OpenChoice = keyof typeof openChoices;
export type Choices = { readonly [Name in OpenChoice]: (typeof openChoices)[Name][number] };

/** What a field may be called, before the case of the names is applied. */
export const fieldSpellings = {
  recordId: ['record_id', 'consent_id', 'id', 'consent_log_id', 'uuid'],
  bannerId: ['banner_id', 'consent_banner_id', 'banner', 'widget_id'],
  visitorHash: ['visitor_hash', 'hashed_visitor_id', 'visitor_id', 'subject_hash', 'identifier_hash', 'anonymous_id'],
  choice: ['action', 'decision', 'status', 'choice', 'consent_status'],
  purposes: ['purposes', 'categories', 'consents', 'selections', 'consent_categories'],
  granted: ['accepted', 'granted', 'accepted_categories', 'allowed_purposes'],
  denied: ['rejected', 'denied', 'rejected_categories', 'denied_purposes'],
  region: ['region', 'jurisdiction', 'country'],
  language: ['language', 'lang', 'locale'],
  domain: ['domain', 'site_domain', 'hostname'],
  expiresAt: ['expires_at', 'valid_until', 'expiry_date'],
  rowAt: ['created_at', 'recorded_at', 'timestamp', 'consented_at', 'date'],
  payloadAt: ['timestamp', 'occurred_at', 'event_time', 'created_at', 'sent_at'],
  requestId: ['request_id', 'dsar_id', 'reference', 'id', 'ticket_id'],
  requestKind: ['request_type', 'dsar_type', 'request_kind', 'right'],
  requester: ['requester', 'data_subject', 'consumer', 'contact'],
  requesterName: ['name', 'full_name', 'requester_name'],
  requesterEmail: ['email', 'email_address', 'requester_email'],
  message: ['message', 'description', 'details', 'comment'],
  scanId: ['scan_id', 'id', 'report_id'],
  cookiesFound: ['cookies_found', 'total_cookies', 'cookie_count'],
  trackersFound: ['trackers_found', 'total_trackers', 'tracker_count'],
  uncategorised: ['uncategorised', 'uncategorized_cookies', 'unclassified', 'unknown_cookies'],
  score: ['score', 'compliance_score', 'overall_score'],
  integrationId: ['integration_id', 'id', 'connection_id'],
  integrationName: ['integration', 'integration_name', 'provider', 'platform'],
  site: ['site', 'site_url', 'store_url', 'shop_domain'],
  policyId: ['policy_id', 'id', 'document_id'],
  policyType: ['policy_type', 'document_type', 'slug'],
  title: ['title', 'policy_title', 'name'],
  brandName: ['brand_name', 'brand', 'company_name', 'business_name'],
  policyJurisdiction: ['jurisdiction', 'country', 'jurisdiction_code'],
  userId: ['user_id', 'account_id', 'updated_by'],
  version: ['version', 'policy_version', 'revision'],
} as const satisfies Record<string, readonly string[]>;
export type Field = keyof typeof fieldSpellings;
