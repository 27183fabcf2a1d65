import type { RequestKind } from '../../core/vocabulary.ts';
import type { Dialect } from '../dialect.ts';
import type { Choice, DecisionHappening, Happening } from '../happenings.ts';

const statuses: Record<Choice, string> = {
  accept: 'granted',
  reject: 'denied',
  choose: 'partial',
  withdraw: 'withdrawn',
};

const kinds: Record<RequestKind, string> = {
  access: 'right_of_access',
  portability: 'data_portability',
  erasure: 'right_to_be_forgotten',
  rectification: 'correction',
  restriction: 'restrict_processing',
  objection: 'object_to_processing',
  'opt-out': 'do_not_sell_or_share',
  limit: 'limit_sensitive_data',
  'withdraw-consent': 'consent_withdrawal',
  unknown: 'other',
};

const seconds = (at: Date): number => Math.floor(at.getTime() / 1000);

function splitRegion(code: string): { country: string; region: string | null } {
  const [country = code, region = null] = code.split('-');
  return { country, region };
}

function decisionObject(decision: DecisionHappening): Record<string, unknown> {
  return {
    id: decision.recordId,
    object: 'consent',
    bannerId: decision.bannerId,
    subject: { hash: decision.visitorHash, algorithm: 'sha256' },
    status: statuses[decision.choice],
    purposes: Object.entries(decision.purposes).map(([purpose, granted]) => ({ purpose, granted })),
    geo: splitRegion(decision.region),
    locale: decision.language,
    policy: decision.policyId === null ? null : { id: decision.policyId, version: `v${decision.policyVersion}` },
    validUntil: seconds(decision.expiresAt),
    createdAt: seconds(decision.at),
  };
}

function objectOf(happening: Happening): Record<string, unknown> {
  switch (happening.event) {
    case 'consent.recorded':
      return decisionObject(happening);
    case 'dsar.submitted':
      return {
        id: happening.requestId,
        object: 'dsar',
        kind: kinds[happening.kind],
        requester: { fullName: happening.name, emailAddress: happening.email, locale: happening.language },
        subject: happening.visitorHash === null ? null : { hash: happening.visitorHash, algorithm: 'sha256' },
        geo: splitRegion(happening.jurisdiction),
        description: happening.message,
        submittedAt: seconds(happening.at),
      };
    case 'cookie_scan.completed':
      return {
        id: happening.scanId,
        object: 'scan',
        website: `https://${happening.domain}/`,
        state: 'finished',
        totals: {
          pages: happening.pages,
          cookies: happening.cookiesFound,
          trackers: happening.trackersFound,
          unknown: happening.uncategorised,
        },
        complianceScore: happening.score,
        inventory: happening.found?.map((cookie) => ({
          cookieName: cookie.name,
          isTracker: cookie.kind === 'tracker',
          cookieCategory: cookie.category,
          host: `.${cookie.domain}`,
          vendor: { name: cookie.provider },
          phase: cookie.beforeConsent ? 'before' : 'after',
        })),
        finishedAt: seconds(happening.at),
      };
    case 'integration.connected':
    case 'integration.disconnected':
      return {
        id: happening.integrationId,
        object: 'integration',
        provider: happening.name,
        siteUrl: happening.site,
        errorMessage: happening.reason,
      };
    default:
      return {
        id: happening.policyId,
        object: 'policy',
        policyType: happening.policyType,
        title: happening.title,
        brandName: happening.brandName,
        jurisdiction: happening.jurisdiction,
        language: happening.language,
        userId: happening.userId,
        version: happening.version,
        updatedAt: seconds(happening.at),
      };
  }
}

/** An envelope around camelCase objects, with Unix seconds. */
export const enveloped: Dialect = {
  name: 'enveloped',
  summary:
    'envelope {id, type, created, data.object}, camelCase, Unix seconds, rows oldest first, no next_cursor at the end',
  rowOrder: 'oldest-first',
  lastPage: 'absent',
  createdStatus: 201,
  list: 'cursor',
  embed: 'fields',
  tellsRemaining: true,
  openapiNeedsKey: true,
  publishBody: 'optional',
  contentType: 'application/json; charset=utf-8',
  limitHeaders: 'ratelimit-ietf',
  errors: 'object',
  deliveryIds: 'dlv',
  layout: 'compact',
  drawn: [],
  headers: () => ({}),
  row: decisionObject,
  payload: (happening, deliveryId) => ({
    id: deliveryId,
    type: happening.event,
    created: seconds(happening.at),
    apiVersion: 'v1',
    data: { object: objectOf(happening) },
  }),
};
