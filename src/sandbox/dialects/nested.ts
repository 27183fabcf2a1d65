import type { Dialect } from '../dialect.ts';
import type { Choice, DecisionHappening, Happening } from '../happenings.ts';

const decisions: Record<Choice, string> = {
  accept: 'ACCEPTED',
  reject: 'REJECTED',
  choose: 'PARTIALLY_ACCEPTED',
  withdraw: 'REVOKED',
};

/** Central European summer time, with its offset and without fractions. */
function withOffset(at: Date): string {
  return `${new Date(at.getTime() + 2 * 3_600_000).toISOString().slice(0, 19)}+02:00`;
}

function consentParts(decision: DecisionHappening): Record<string, unknown> {
  return {
    consent: {
      recordId: decision.recordId,
      decision: decisions[decision.choice],
      categories: Object.entries(decision.purposes).map(([name, allowed]) => ({
        name,
        state: allowed ? 'allow' : 'deny',
      })),
      validUntil: withOffset(decision.expiresAt),
    },
    visitor: { hashedId: decision.visitorHash, region: decision.region, language: decision.language },
    banner: { id: decision.bannerId, domain: decision.domain },
    policy: { id: decision.policyId, version: decision.policyVersion },
  };
}

function payloadOf(happening: Happening): Record<string, unknown> {
  switch (happening.event) {
    case 'consent.recorded':
      return consentParts(happening);
    case 'dsar.submitted':
      return {
        request: { id: happening.requestId, type: happening.kind.toUpperCase(), comment: happening.message },
        dataSubject: {
          name: happening.name,
          email: happening.email,
          ...(happening.visitorHash === null ? {} : { hashedId: happening.visitorHash }),
          country: happening.jurisdiction,
          language: happening.language,
        },
      };
    case 'cookie_scan.completed':
      return {
        scan: { id: happening.scanId, result: 'OK', score: happening.score, pages: happening.pages },
        site: { domain: happening.domain },
        cookies: {
          total: happening.cookiesFound,
          trackers: happening.trackersFound,
          uncategorized: happening.uncategorised,
          items: happening.found?.map((cookie) => ({
            label: cookie.name,
            purpose: { name: cookie.category ?? 'unclassified' },
            domain: cookie.domain,
            setBeforeConsent: cookie.beforeConsent ? 'yes' : 'no',
          })),
        },
      };
    case 'integration.connected':
    case 'integration.disconnected':
      return {
        integration: { id: happening.integrationId, name: happening.name },
        site: { url: happening.site },
        ...(happening.reason === undefined ? {} : { error: { message: happening.reason } }),
      };
    default:
      return {
        policy: {
          id: happening.policyId,
          type: happening.policyType,
          name: happening.title,
          brand: happening.brandName,
          jurisdiction: happening.jurisdiction,
          language: happening.language,
          version: happening.version,
        },
        user: { id: happening.userId },
      };
  }
}

/** Objects inside objects, capital words, times with an offset, rows newest first. */
export const nested: Dialect = {
  name: 'nested',
  summary: 'nested camelCase under payload, times with +02:00, rows newest first, next_cursor empty at the end',
  rowOrder: 'newest-first',
  lastPage: 'empty',
  createdStatus: 201,
  list: 'count',
  embed: 'fields',
  tellsRemaining: true,
  openapiNeedsKey: true,
  publishBody: 'optional',
  contentType: 'application/json',
  limitHeaders: 'ratelimit',
  errors: 'object',
  deliveryIds: 'dlv',
  layout: 'compact',
  drawn: [],
  headers: (_event, deliveryId) => ({ 'webhook-id': deliveryId }),
  row: (decision) => ({ ...consentParts(decision), recordedAt: withOffset(decision.at) }),
  payload: (happening) => ({
    event: happening.event,
    occurredAt: withOffset(happening.at),
    payload: payloadOf(happening),
  }),
};
