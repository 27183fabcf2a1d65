import type { Dialect } from '../dialect.ts';
import type { DecisionHappening, Happening } from '../happenings.ts';

/** UTC, but without saying so. */
function withoutOffset(at: Date): string {
  return at.toISOString().slice(0, 19).replace('T', ' ');
}

function decisionFields(decision: DecisionHappening): Record<string, unknown> {
  const names = (wanted: boolean): string[] =>
    Object.entries(decision.purposes).flatMap(([purpose, granted]) => (granted === wanted ? [purpose] : []));
  return {
    uid: decision.recordId,
    banner: decision.bannerId,
    hash: decision.visitorHash,
    accepted: names(true),
    rejected: names(false),
    ...(decision.choice === 'withdraw' ? { withdrawn: true } : {}),
    country: decision.region,
    lang: decision.language,
  };
}

function fieldsOf(happening: Happening): Record<string, unknown> {
  switch (happening.event) {
    case 'consent.recorded':
      return decisionFields(happening);
    case 'dsar.submitted':
      return {
        ref: happening.requestId,
        type: happening.kind === 'erasure' ? 'delete' : happening.kind === 'opt-out' ? 'optout' : happening.kind,
        from: `${happening.name} <${happening.email}>`,
        email: happening.email,
        hash: happening.visitorHash,
        country: happening.jurisdiction,
        lang: happening.language,
        text: happening.message,
      };
    case 'cookie_scan.completed':
      return {
        uid: happening.scanId,
        host: happening.domain,
        cookies: happening.cookiesFound,
        trackers: happening.trackersFound,
        score: happening.score,
      };
    case 'integration.connected':
    case 'integration.disconnected':
      return { uid: happening.integrationId, app: happening.name, host: happening.site };
    default:
      return {
        uid: happening.policyId,
        doc: happening.policyType,
        country: happening.jurisdiction,
        lang: happening.language,
        rev: happening.version,
      };
  }
}

/** As little as possible: short names, lists of accepted and rejected purposes, local-looking times without an offset. */
export const terse: Dialect = {
  name: 'terse',
  summary: 'short flat names, lists of accepted and rejected purposes, times without offset, rows oldest first',
  rowOrder: 'oldest-first',
  lastPage: 'null',
  createdStatus: 200,
  list: 'cursor',
  embed: 'fields',
  tellsRemaining: true,
  openapiNeedsKey: true,
  publishBody: 'optional',
  contentType: 'text/plain; charset=utf-8',
  limitHeaders: 'ratelimit',
  errors: 'object',
  deliveryIds: 'dlv',
  layout: 'compact',
  drawn: [],
  headers: () => ({}),
  row: (decision) => ({ ...decisionFields(decision), time: withoutOffset(decision.at) }),
  payload: (happening) => ({ event_type: happening.event, ...fieldsOf(happening), time: withoutOffset(happening.at) }),
};
