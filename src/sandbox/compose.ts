import { createHmac } from 'node:crypto';
import type { SandboxClient } from './clients.ts';
import type { Dialect } from './dialect.ts';
import { renderBody } from './dialects.ts';
import type { Faults } from './faults.ts';
import type { Happening } from './happenings.ts';
import type { DeliveryNote, Disturbance, OutgoingDelivery } from './webhooks.ts';

/** How often the service tries a delivery that gets no 2xx. */
const TRIES = 4;

/** Options for sending an event made on demand. */
export interface SendOptions {
  /** Merged over the happening before it is rendered, e.g. `{ jurisdiction: 'US-CA' }`. */
  readonly happening?: Record<string, unknown>;
  /** Top-level fields of the finished payload to set. */
  readonly set?: Record<string, unknown>;
  /** Address to use instead of the client's endpoints. */
  readonly url?: string;
  /** What is wrong with the delivery (docs/sandbox.md, Controls). Default `sound`. */
  readonly note?: DeliveryNote;
}

/** How long before its delivery a `late` happening took place, milliseconds. */
export const LATE_MS = 86_400_000;

/** Event and body of deliveries without an event documented by the service. */
export function oddBody(note: 'unknown-event' | 'not-json', client: Pick<SandboxClient, 'domain'>) {
  return note === 'not-json'
    ? { event: 'ping', body: Buffer.from(`ping from ${client.domain}\n`, 'utf8') }
    : {
        event: 'loyalty.points_awarded',
        body: Buffer.from(JSON.stringify({ event: 'loyalty.points_awarded', points: 12, member: 'm-77' }), 'utf8'),
      };
}

/** The bytes and headers of a delivery, without an address. */
export interface Parcel {
  readonly id: string;
  readonly event: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly note: DeliveryNote;
}

/** Renders and signs a happening in the dialect of the sandbox. */
export function composeHappening(
  client: SandboxClient,
  dialect: Dialect,
  {
    happening,
    id,
    note = 'sound',
  }: { readonly happening: Happening; readonly id: string; readonly note?: DeliveryNote },
): Parcel {
  return composeBytes(client, dialect, { event: happening.event, body: renderBody(dialect, happening, id), id, note });
}

/** Signs given bytes as the note says: with the secret, an old one, a wrong one or not at all. */
export function composeBytes(
  client: SandboxClient,
  dialect: Dialect,
  {
    event,
    body,
    id,
    note,
  }: { readonly event: string; readonly body: Buffer; readonly id: string; readonly note: DeliveryNote },
): Parcel {
  const secret =
    note === 'old-secret' ? client.previousWebhookSecret : note === 'forged' ? 'a guess' : client.webhookSecret;
  const headers = {
    'content-type': note === 'not-json' ? 'text/plain' : dialect.contentType,
    'user-agent': 'compliance-service-webhooks/1 (sandbox)',
    ...dialect.headers(event, id),
    ...(note === 'unsigned' ? {} : signatureHeaders(secret, body)),
  };
  return { id, event, headers, body, note };
}

/** Addresses a parcel. A delivery that cannot be accepted is tried once. */
export function address(parcel: Parcel, client: SandboxClient, url: string): OutgoingDelivery {
  const hopeless = parcel.note === 'forged' || parcel.note === 'unsigned' || parcel.note === 'old-secret';
  return { ...parcel, client: client.slug, url, tries: hopeless ? 1 : TRIES };
}

/** The addresses of a client that are subscribed to an event. */
export function subscribers(client: SandboxClient, event: string): string[] {
  return client.endpoints.flatMap(({ url, events }) => (events === 'all' || events.includes(event) ? [url] : []));
}

/**
 * The two signature headers of a delivery (docs/service.md §6): HMAC-SHA256 over the raw body, once as plain lower-case
 * hex, once prefixed. The sandbox has its own implementation and shares nothing with the receiver, so that the two can
 * disagree.
 */
function signatureHeaders(secret: string, body: Uint8Array): Record<string, string> {
  const digest = createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('hex');
  return { 'x-service-signature': digest, 'x-service-signature-256': `sha256=${digest}` };
}

/** Applies the current faults to a delivery. */
export function createWebhookFaults(
  faults: Faults,
  clients: readonly SandboxClient[],
): (delivery: OutgoingDelivery) => Disturbance {
  return (delivery) => {
    const drawn = faults.draw('webhooks');
    const client = clients.find(({ slug }) => slug === delivery.client);
    const secret =
      drawn.find('webhook-wrong-secret') !== null
        ? 'a guess'
        : drawn.find('webhook-old-secret') !== null
          ? client?.previousWebhookSecret
          : undefined;
    const reordered = drawn.find('webhook-reordered');
    return {
      holdBack: reordered === null ? null : { deliveries: reordered.by, ms: reordered.ms },
      isLost: drawn.find('webhook-lost') !== null,
      delayMs: drawn.find('webhook-delayed')?.ms ?? 0,
      copies: drawn.find('webhook-duplicated') === null ? 1 : 2,
      headers: secret === undefined ? {} : signatureHeaders(secret, delivery.body),
    };
  };
}
