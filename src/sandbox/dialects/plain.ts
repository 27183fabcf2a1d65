import type { Dialect } from '../dialect.ts';
import type { Choice, DecisionHappening } from '../happenings.ts';

const actions: Record<Choice, string> = {
  accept: 'accept_all',
  reject: 'reject_all',
  choose: 'custom',
  withdraw: 'withdraw',
};

function decisionFields(decision: DecisionHappening): Record<string, unknown> {
  return {
    banner_id: decision.bannerId,
    visitor_hash: decision.visitorHash,
    action: actions[decision.choice],
    categories: decision.purposes,
    region: decision.region,
    language: decision.language,
    policy_id: decision.policyId,
    policy_version: decision.policyVersion,
    domain: decision.domain,
    expires_at: decision.expiresAt.toISOString(),
  };
}

/** Flat snake_case with ISO times: models everything on the documented policy.published. */
export const plain: Dialect = {
  name: 'plain',
  summary: 'flat snake_case, ISO 8601 UTC with milliseconds, rows oldest first, next_cursor null at the end',
  rowOrder: 'oldest-first',
  lastPage: 'null',
  createdStatus: 200,
  list: 'count',
  embed: 'fields',
  tellsRemaining: true,
  openapiNeedsKey: true,
  publishBody: 'optional',
  contentType: 'application/json',
  limitHeaders: 'x-ratelimit',
  errors: 'object',
  deliveryIds: 'dlv',
  layout: 'compact',
  drawn: [],
  headers: (event, deliveryId) => ({ 'x-service-event': event, 'x-service-delivery': deliveryId }),
  row: (decision) => ({ id: decision.recordId, ...decisionFields(decision), created_at: decision.at.toISOString() }),
  payload: (happening) => {
    const { event } = happening;
    const timestamp = happening.at.toISOString();
    switch (happening.event) {
      case 'consent.recorded':
        return { event, record_id: happening.recordId, ...decisionFields(happening), timestamp };
      case 'dsar.submitted':
        return {
          event,
          request_id: happening.requestId,
          request_type: happening.kind.replaceAll('-', '_'),
          name: happening.name,
          email: happening.email,
          ...(happening.visitorHash === null ? {} : { visitor_hash: happening.visitorHash }),
          jurisdiction: happening.jurisdiction,
          language: happening.language,
          message: happening.message,
          timestamp,
        };
      case 'cookie_scan.completed':
        return {
          event,
          scan_id: happening.scanId,
          domain: happening.domain,
          status: 'completed',
          pages_scanned: happening.pages,
          cookies_found: happening.cookiesFound,
          trackers_found: happening.trackersFound,
          uncategorised: happening.uncategorised,
          score: happening.score,
          cookies: happening.found?.map(({ beforeConsent, kind, ...cookie }) => ({
            ...cookie,
            type: kind,
            before_consent: beforeConsent,
            third_party: cookie.domain !== happening.domain,
          })),
          timestamp,
        };
      case 'integration.connected':
      case 'integration.disconnected':
        return {
          event,
          integration_id: happening.integrationId,
          integration: happening.name,
          site: happening.site,
          reason: happening.reason,
          timestamp,
        };
      default:
        return {
          event,
          policy_id: happening.policyId,
          policy_type: happening.policyType,
          title: happening.title,
          brand_name: happening.brandName,
          jurisdiction: happening.jurisdiction,
          language: happening.language,
          user_id: happening.userId,
          version: happening.version,
          timestamp,
        };
    }
  },
};
