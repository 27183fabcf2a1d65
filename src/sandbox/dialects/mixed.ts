import type { RequestKind } from '../../core/vocabulary.ts';
import { type Dialect, embedForms, errorForms, listForms, publishBodies } from '../dialect.ts';
import type {
  Choice,
  DecisionHappening,
  Happening,
  PolicyHappening,
  Purpose,
  RequestHappening,
  ScanHappening,
} from '../happenings.ts';
import { mulberry32, pick, seedOf } from '../prng.ts';

/** Spellings of names, joined from words. */
const nameCases = {
  snake_case: (name: string) => name,
  camelCase: (name: string) => name.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase()),
  PascalCase: (name: string) => name.replace(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase()),
  'kebab-case': (name: string) => name.replaceAll('_', '-'),
} as const satisfies Record<string, (name: string) => string>;

/** Ways to write a time. */
const timeForms = {
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
const choiceWords = {
  'accept_all …': { accept: 'accept_all', reject: 'reject_all', choose: 'custom', withdraw: 'withdraw' },
  'granted …': { accept: 'granted', reject: 'denied', choose: 'partial', withdraw: 'withdrawn' },
  'ACCEPTED …': { accept: 'ACCEPTED', reject: 'REJECTED', choose: 'PARTIALLY_ACCEPTED', withdraw: 'REVOKED' },
  'opt-in …': { accept: 'opt-in', reject: 'opt-out', choose: 'custom', withdraw: 'revoked' },
  'allow_all …': { accept: 'allow_all', reject: 'deny_all', choose: 'save_preferences', withdraw: 'withdraw_consent' },
  'Accepted …': { accept: 'Accepted', reject: 'Declined', choose: 'Customized', withdraw: 'Withdrawn' },
} as const satisfies Record<string, Record<Choice, string>>;

/** Words for kinds of requests. */
const requestWords = {
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

/** Names for the purposes of a banner. */
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

/** Every open choice with its possible values; the order of the entries means nothing. */
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
type Choices = { readonly [Name in OpenChoice]: (typeof openChoices)[Name][number] };

/** Possible names of a field, before the case of names is applied. */
const fieldSpellings = {
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
type Field = keyof typeof fieldSpellings;

type Fields = Record<string, unknown>;

/** Draws every open choice of a seed, each from its own stream: adding a choice changes none of the others. */
export function drawChoices(seed: number): Choices {
  const drawn = Object.entries(openChoices).map(([name, options]) => [
    name,
    pick<string | number>(mulberry32(seedOf(seed, 'mixed', name)), options),
  ]);
  return Object.fromEntries(drawn) as Choices;
}

/**
 * The dialect drawn from a seed: names, shapes, words, times, order, ends, forms of ids, errors and lists, each
 * independently. So there are thousands of dialects, including combinations that nobody thought of. The same seed gives
 * the same dialect.
 */
export function createMixed(seed: number): Dialect {
  const choices = drawChoices(seed);
  const toCase = nameCases[choices.names];
  const spell = (field: Field): string =>
    toCase(pick<string>(mulberry32(seedOf(seed, 'mixed', 'field', field)), fieldSpellings[field]));
  const rendering: Rendering = { choices, toCase, spell };
  return {
    name: 'mixed',
    summary: 'every open choice drawn from the seed, as listed below',
    rowOrder: choices.rowOrder,
    lastPage: choices.lastPage,
    createdStatus: choices.createdStatus,
    list: choices.list,
    embed: choices.embed,
    tellsRemaining: choices.remainingQuota === 'told',
    openapiNeedsKey: choices.openapi === 'with a key',
    publishBody: choices.publishBody,
    contentType: choices.contentType,
    limitHeaders: choices.limitHeaders,
    errors: choices.errors,
    deliveryIds: choices.deliveryIds,
    layout: choices.layout,
    drawn: [
      [
        'names',
        `${choices.names}, ${choices.shape}: ${spell('recordId')}, ${spell('visitorHash')}, ${spell('choice')}`,
      ],
      ['envelope', `${choices.envelope}; the event in ${toCase(choices.eventName)}`],
      ['times', `${choices.payloadTimes} in payloads, ${choices.rowTimes} in rows`],
      ['decisions', choiceWords[choices.choiceWords].accept],
      ['purposes', `${choices.purposes}: ${choices.purposeWords}`],
      ['region', choices.region],
      ['requests', `${choices.requestWords} by ${choices.requester}`],
      ['delivery ids', `${choices.deliveryIds}, in ${choices.deliveryIdIn}`],
      ['JSON', `${choices.layout}, ${choices.contentType}`],
    ],
    headers: (_event, deliveryId) => {
      const { deliveryIdIn } = choices;
      return deliveryIdIn === 'nowhere' || deliveryIdIn === 'payload' ? {} : { [deliveryIdIn]: deliveryId };
    },
    row: (decision) => ({
      ...decisionFields(rendering, decision),
      [spell('rowAt')]: timeForms[choices.rowTimes](decision.at),
    }),
    payload: (happening, deliveryId) => wrap(rendering, happening, deliveryId),
  };
}

interface Rendering {
  readonly choices: Choices;
  readonly toCase: (name: string) => string;
  readonly spell: (field: Field) => string;
}

function wrap({ choices, toCase, spell }: Rendering, happening: Happening, deliveryId: string): Fields {
  const about = fieldsOf({ choices, toCase, spell }, happening);
  // Among the fields of an updated policy, `created_at` would be another time than that of the event.
  const timeName =
    choices.envelope === 'none' && spell('payloadAt') === toCase('created_at')
      ? toCase('timestamp')
      : spell('payloadAt');
  const head = {
    ...(choices.deliveryIdIn === 'payload'
      ? // Next to an envelope, `id` can only be the delivery's; among the fields of the thing it would be the thing's.
        { [toCase(choices.envelope === 'none' ? 'delivery_id' : 'id')]: deliveryId }
      : {}),
    [toCase(choices.eventName)]: happening.event,
    [timeName]: timeForms[choices.payloadTimes](happening.at),
  };
  switch (choices.envelope) {
    case 'none':
      return { ...head, ...about };
    case 'data':
    case 'payload':
      return { ...head, [toCase(choices.envelope)]: about };
    case 'data.object':
      return { ...head, [toCase('data')]: { [toCase('object')]: about } };
  }
}

function fieldsOf(rendering: Rendering, happening: Happening): Fields {
  switch (happening.event) {
    case 'consent.recorded':
      return decisionFields(rendering, happening);
    case 'dsar.submitted':
      return requestFields(rendering, happening);
    case 'cookie_scan.completed':
      return scanFields(rendering, happening);
    case 'integration.connected':
    case 'integration.disconnected': {
      const { spell } = rendering;
      return {
        [spell('integrationId')]: happening.integrationId,
        [spell('integrationName')]: happening.name,
        [spell('site')]: happening.site,
        ...(happening.reason === undefined ? {} : { [rendering.toCase('reason')]: happening.reason }),
      };
    }
    default:
      return policyFields(rendering, happening);
  }
}

function decisionFields(rendering: Rendering, decision: DecisionHappening): Fields {
  const { choices, toCase, spell } = rendering;
  const choice = { [spell('choice')]: choiceWords[choices.choiceWords][decision.choice] };
  const expiry = { [spell('expiresAt')]: timeForms[choices.rowTimes](decision.expiresAt) };
  const language = { [spell('language')]: decision.language };
  const purposes = purposeFields(rendering, decision);
  const policy = { id: decision.policyId, version: decision.policyVersion };
  if (choices.shape === 'flat') {
    return {
      [spell('recordId')]: decision.recordId,
      [spell('bannerId')]: decision.bannerId,
      [spell('visitorHash')]: decision.visitorHash,
      ...choice,
      ...purposes,
      ...regionFields(rendering, decision.region),
      ...language,
      [toCase('policy_id')]: policy.id,
      [toCase('policy_version')]: policy.version,
      [spell('domain')]: decision.domain,
      ...expiry,
    };
  }
  return {
    [toCase('consent')]: { [spell('recordId')]: decision.recordId, ...choice, ...purposes, ...expiry },
    [toCase('visitor')]: { [toCase('hash')]: decision.visitorHash, ...language },
    ...regionFields(rendering, decision.region),
    [toCase('banner')]: { [toCase('id')]: decision.bannerId, [spell('domain')]: decision.domain },
    [toCase('policy')]: { [toCase('id')]: policy.id, [toCase('version')]: policy.version },
  };
}

function purposeFields({ choices, toCase, spell }: Rendering, decision: DecisionHappening): Fields {
  const words = purposeWords[choices.purposeWords];
  const named = purposeOrder.map((purpose, index): [string, boolean] => [
    words[index] ?? purpose,
    decision.purposes[purpose],
  ]);
  const those = (wanted: boolean): string[] => named.flatMap(([name, granted]) => (granted === wanted ? [name] : []));
  const mapped = (value: (granted: boolean) => unknown): Fields =>
    Object.fromEntries(named.map(([name, granted]) => [name, value(granted)]));
  switch (choices.purposes) {
    case 'flags':
      return { [spell('purposes')]: mapped((granted) => granted) };
    case 'words':
      return { [spell('purposes')]: mapped((granted) => (granted ? 'granted' : 'denied')) };
    case 'numbers':
      return { [spell('purposes')]: mapped(Number) };
    case 'objects':
      return {
        [spell('purposes')]: named.map(([name, granted]) => ({ [toCase('name')]: name, [toCase('granted')]: granted })),
      };
    case 'two lists':
      return { [spell('granted')]: those(true), [spell('denied')]: those(false) };
    case 'list of granted':
      return { [spell('granted')]: those(true) };
    case 'fields of their own':
      return mapped((granted) => granted);
  }
}

function regionFields({ choices, toCase, spell }: Rendering, code: string): Fields {
  const [country = code, region = null] = code.split('-');
  switch (choices.region) {
    case 'code':
      return { [spell('region')]: code };
    case 'country and region':
      return { [toCase('country_code')]: country, [toCase('region_code')]: region };
    case 'geo':
      return { [toCase('geo')]: { [toCase('country')]: country, [toCase('region')]: region } };
  }
}

function requestFields(rendering: Rendering, request: RequestHappening): Fields {
  const { choices, toCase, spell } = rendering;
  const [first = request.name, ...others] = request.name.split(' ');
  const email = { [spell('requesterEmail')]: request.email };
  const fullName = { [spell('requesterName')]: request.name };
  const parts = { [toCase('first_name')]: first, [toCase('last_name')]: others.join(' ') };
  const hash = request.visitorHash === null ? {} : { [toCase('visitor_hash')]: request.visitorHash };
  const requester =
    choices.requester === 'object'
      ? { [spell('requester')]: { [toCase('name')]: request.name, [toCase('email')]: request.email } }
      : choices.requester === 'first and last name'
        ? { ...parts, ...email }
        : { ...fullName, ...email };
  return {
    [spell('requestId')]: request.requestId,
    [spell('requestKind')]: requestWords[choices.requestWords](request.kind),
    ...requester,
    ...hash,
    ...regionFields(rendering, request.jurisdiction),
    [spell('language')]: request.language,
    [spell('message')]: request.message,
  };
}

function scanFields({ choices, toCase, spell }: Rendering, scan: ScanHappening): Fields {
  return {
    [spell('scanId')]: scan.scanId,
    [spell('domain')]: scan.domain,
    [toCase('status')]: 'completed',
    [toCase('pages_scanned')]: scan.pages,
    [spell('cookiesFound')]: scan.cookiesFound,
    [spell('trackersFound')]: scan.trackersFound,
    [spell('uncategorised')]: scan.uncategorised,
    [spell('score')]: scan.score,
    ...(choices.shape === 'flat' && scan.found !== undefined
      ? {
          [toCase('cookie_list')]: scan.found.map((cookie) => ({
            [toCase('cookie_name')]: cookie.name,
            [toCase('category')]: cookie.category,
            [toCase('domain')]: cookie.domain,
            [toCase('before_consent')]: cookie.beforeConsent,
          })),
        }
      : {}),
  };
}

function policyFields({ choices, toCase, spell }: Rendering, policy: PolicyHappening): Fields {
  const fields = {
    [spell('policyId')]: policy.policyId,
    [spell('policyType')]: policy.policyType,
    [spell('title')]: policy.title,
    [spell('brandName')]: policy.brandName,
    [spell('policyJurisdiction')]: policy.jurisdiction,
    [spell('language')]: policy.language,
    [spell('userId')]: policy.userId,
    [spell('version')]: policy.version,
  };
  return choices.shape === 'flat' ? fields : { [toCase('policy')]: fields };
}
