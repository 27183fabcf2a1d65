/**
 * `consent-ledger/receivers`: what an application of your own needs to receive the service's webhooks.
 *
 * ```ts
 * import Fastify from 'fastify';
 * import { webhookEndpoint } from 'consent-ledger/receivers';
 *
 * const app = Fastify();
 * await app.register(webhookEndpoint, {
 *   bodyLimit: 1_048_576,
 *   findSource: (slug) => (slug === 'default' ? { secrets: [{ id: 'main', value: process.env.WEBHOOK_SECRET ?? '' }] } : null),
 *   accept: async (delivery) => ({ outcome: 'stored', seq: await keep(delivery.rawBody) }),
 * });
 * await app.listen({ port: 8080 });
 * ```
 *
 * Without Fastify, give {@link verifySignature} the raw bytes of the body and the headers, and answer 401 unless it says `verified`.
 */
export { CodedError, StoreUnavailable } from '../src/core/errors.ts';
export {
  type RefusedUnread,
  type RejectedDelivery,
  type VerifiedDelivery,
  type WebhookEndpointOptions,
  webhookEndpoint,
} from './endpoint.ts';
export type { InFlightLimits } from './in-flight.ts';
export {
  type HeaderValues,
  SIGNATURE_256_HEADER,
  SIGNATURE_HEADER,
  type SignatureInput,
  type SignatureVerdict,
  type SigningSecret,
  verifySignature,
} from './signature-node.ts';
