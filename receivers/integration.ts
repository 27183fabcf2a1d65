import type { IntegrationFact } from '../src/core/fact.ts';
import type { Family } from './family.ts';
import { hostOf } from './scan.ts';
import { textOf } from './text.ts';

/** Integrations (docs/service.md §6, integration.connected and .disconnected; their payloads are not documented). */
export const integrationFamily: Family = {
  events: ['integration.connected', 'integration.disconnected'],
  objects: ['integration', 'connection'],
  fields: [
    'eventId',
    'occurredAt',
    'integrationId',
    'integrationName',
    'integrationSite',
    'connectedAt',
    'disconnectedAt',
  ],
  // What is connected may be named by these; they are no part of the picture.
  alsoReads: ['status', 'state'],
  read: (event, payload): IntegrationFact => {
    const change = event === 'integration.connected' ? 'connected' : 'disconnected';
    return {
      type: 'integration',
      change,
      integrationId: payload.text('integrationId'),
      name: payload.first('integrationName', nameOf),
      site: payload.first('integrationSite', siteOf),
      occurred: payload.occurred(change === 'connected' ? 'connectedAt' : 'disconnectedAt', 'occurredAt'),
    };
  },
};

// `type` is often the name of the event.
function nameOf(value: unknown): string | null {
  const text = textOf(value);
  return text === null || text.toLowerCase().startsWith('integration.') ? null : text;
}

/** A host, or the name of a shop that is none. */
function siteOf(value: unknown): string | null {
  const host = hostOf(value);
  if (host !== null) return host;
  const text = textOf(value);
  return text === null || /[/?#@]/.test(text) ? null : text;
}
