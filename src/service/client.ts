import { createTransport, type ServiceAnswer, type TransportOptions } from './api-transport.ts';
import { type ConsentLogPage, type ConsentLogQuery, fetchConsentLogPage } from './consent-logs.ts';
import {
  fetchPolicyPages,
  type ListedPolicy,
  listPolicies,
  type PolicyList,
  type Sending,
  sendBulk,
  sendGenerate,
  sendPublish,
} from './policies.ts';
import type { ReadPace } from './rate-limit.ts';

/**
 * The service as seen with one source's key; one member for each resource of docs/service.md §4 that this program uses.
 * Calls that change something are sent exactly once with the given bytes, and return the received bytes; the functions
 * that read those are next to them (policies.ts).
 */
export interface ServiceClient {
  /** One page of the consent log (docs/service.md §4.5), of at most `maxBytes`. Errors: ServiceError; the signal's reason when aborted. */
  fetchConsentLogPage(query: ConsentLogQuery, signal?: AbortSignal, maxBytes?: number): Promise<ConsentLogPage>;
  /** All published policies (docs/service.md §4.3). Errors: ServiceError; the signal's reason when aborted. */
  listPolicies(signal?: AbortSignal): Promise<readonly ListedPolicy[]>;
  /** All published policies with the bytes of each response. */
  fetchPolicyPages(signal?: AbortSignal): Promise<PolicyList>;
  /** Generates one policy (docs/service.md §4.1). */
  generatePolicy(body: Buffer, sending?: Sending): Promise<ServiceAnswer>;
  /** Generates a batch (docs/service.md §4.2). */
  generateBulk(body: Buffer, sending?: Sending): Promise<ServiceAnswer>;
  /** Publishes a policy (docs/service.md §4.4). */
  publishPolicy(policyId: string, body: Buffer, sending?: Sending): Promise<ServiceAnswer>;
}

interface ClientOptions extends TransportOptions {
  /** Shared by all clients of one key, so that together they keep within its read limit. */
  readonly pace?: ReadPace;
}

/** Creates a client. Errors: TypeError if the base URL is not an http(s) URL. */
export function createServiceClient(options: ClientOptions): ServiceClient {
  const { pace } = options;
  const transport = createTransport({
    ...options,
    onRetry(error, attempt) {
      if (error.retryAfterMs !== null) pace?.refused(error.retryAfterMs);
      options.onRetry?.(error, attempt);
    },
  });
  return {
    fetchConsentLogPage: (query, signal, maxBytes) => fetchConsentLogPage(transport, query, { signal, pace, maxBytes }),
    listPolicies: (signal) => listPolicies(transport, signal),
    fetchPolicyPages: (signal) => fetchPolicyPages(transport, signal),
    generatePolicy: (body, sending) => sendGenerate(transport, body, sending),
    generateBulk: (body, sending) => sendBulk(transport, body, sending),
    publishPolicy: (policyId, body, sending) => sendPublish(transport, policyId, body, sending),
  };
}
