import { fetchPublic, type PublicFetch, type PublicFetchOptions } from './public-fetch.ts';

/** Which page. `url` is the address as the service gave it, token included (docs/service.md §2.2). */
export interface HostedRequest {
  readonly siteUrl: string;
  readonly url: string;
  readonly signal?: AbortSignal | undefined;
}

/** Fetches the public page of a policy, if its address lies under the configured origin (docs/service.md §2.2). Rejects as fetchPublic. */
export function fetchHostedPolicy(request: HostedRequest, options?: PublicFetchOptions): Promise<PublicFetch> {
  return fetchPublic({ ...request, accept: 'text/html, */*;q=0.5' }, options);
}
