import { fetchPublic, type PublicFetch, type PublicFetchOptions } from './public-fetch.ts';

/** Which text: the policy of a type, or `hub`. */
export interface EmbedRequest {
  readonly siteUrl: string;
  /** Goes into the query and nowhere else: it doubles as a legacy API key (docs/service.md §2.5). */
  readonly siteKey: string;
  readonly type: string;
  readonly signal?: AbortSignal | undefined;
}

/** Fetches the live text as the embed endpoint gives it to visitors (docs/service.md §4.7); up to five minutes old. Rejects as fetchPublic. */
export function fetchEmbedPolicy(request: EmbedRequest, options?: PublicFetchOptions): Promise<PublicFetch> {
  const { siteUrl, siteKey, type, signal } = request;
  const url = new URL('/api/embed/policy', siteUrl);
  url.searchParams.set('siteKey', siteKey);
  url.searchParams.set('type', type);
  return fetchPublic(
    { siteUrl, url: url.href, accept: 'application/json, text/html;q=0.9, */*;q=0.5', signal },
    options,
  );
}
