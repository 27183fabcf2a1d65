import { type ConsentLogPage, type ConsentLogQuery, fetchConsentLogPage } from './consent-logs.ts';
import { type ListedPolicy, listPolicies } from './policies.ts';
import { createTransport, type TransportOptions } from './transport.ts';

/** The service as one source's key sees it. One member per resource of docs/service.md §4 that this program uses. */
export interface ServiceClient {
  /** One page of the consent log (docs/service.md §4.5). Errors: ServiceError; the signal's reason when aborted. */
  fetchConsentLogPage(query: ConsentLogQuery, signal?: AbortSignal): Promise<ConsentLogPage>;
  /** All published policies (docs/service.md §4.3). Errors: ServiceError; the signal's reason when aborted. */
  listPolicies(signal?: AbortSignal): Promise<readonly ListedPolicy[]>;
}

/** Builds a client. Errors: TypeError when the base URL is no http(s) URL. */
export function createServiceClient(options: TransportOptions): ServiceClient {
  const transport = createTransport(options);
  return {
    fetchConsentLogPage: (query, signal) => fetchConsentLogPage(transport, query, signal),
    listPolicies: (signal) => listPolicies(transport, signal),
  };
}
