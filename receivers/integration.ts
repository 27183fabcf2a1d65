import { fieldsOfFamilies } from './field-names.ts';
import type { Occurred } from './occurred.ts';
import { hostOf, textOf } from './parse.ts';
import type { Family } from './payload.ts';

/** An integration was connected, disconnected, or lost (disconnected by an error instead of by choice). */
export interface IntegrationFact {
  readonly type: 'integration';
  readonly change: 'connected' | 'disconnected' | 'lost';
  /** The reason in the payload's words. */
  readonly error: string | null;
  readonly integrationId: string | null;
  readonly name: string | null;
  readonly site: string | null;
  readonly occurred: Occurred;
}

/** Integrations (docs/service.md §6, integration.connected and .disconnected; their payloads are not documented). */
export const integrationFamily: Family<IntegrationFact> = {
  type: 'integration',
  events: ['integration.connected', 'integration.disconnected'],
  objects: ['integration', 'connection'],
  fields: ['eventId', 'occurredAt', ...fieldsOfFamilies('integration')],
  eventIdOf: () => null,
  read: (event, payload): IntegrationFact => {
    const connected = event === 'integration.connected';
    const status = payload.text('integrationStatus');
    const error = payload.first('integrationError', errorOf);
    return {
      type: 'integration',
      change: connected ? 'connected' : isLoss(status, error) ? 'lost' : 'disconnected',
      error: connected ? null : error,
      integrationId: payload.text('integrationId'),
      name: payload.first('integrationName', nameOf),
      site: payload.first('integrationSite', siteOf),
      occurred: payload.occurred(connected ? 'connectedAt' : 'disconnectedAt', 'occurredAt'),
    };
  },
};

const BROKEN = /lost|fail|error|expir|broken|revok|invalid|unauthori[sz]ed|denied|\b40[13]\b|timed?.?out|unreachable/i;
const CHOSEN = /\b(?:by|user|admin|owner|customer|manual(?:ly)?|request(?:ed)?|uninstalled|removed)\b/i;

/** Whether a disconnection was unintended: its status or reason indicates a failure rather than someone's choice. */
function isLoss(status: string | null, error: string | null): boolean {
  return [status, error].some((words) => words !== null && BROKEN.test(words) && !CHOSEN.test(words));
}

/** A sentence or word, shortened if long. A flag is not a reason. */
function errorOf(value: unknown): string | null {
  return typeof value === 'string' ? textOf(value.slice(0, 300)) : null;
}

// `type` often contains the event's name.
function nameOf(value: unknown): string | null {
  const text = textOf(value);
  return text === null || text.toLowerCase().startsWith('integration.') ? null : text;
}

/** A host, or the name of a shop without one. */
function siteOf(value: unknown): string | null {
  const host = hostOf(value);
  if (host !== null) return host;
  const text = textOf(value);
  return text === null || /[/?#@]/.test(text) ? null : text;
}
