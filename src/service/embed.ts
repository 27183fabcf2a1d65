import { HUB } from '../texts/snapshot.ts';
import { readEnvelope } from './error-envelope.ts';
import { fetchPublic, type PublicAnswer, type PublicFetch, type PublicFetchOptions } from './public-fetch.ts';

/** Which text: the policy of a type, or `hub`. */
export interface EmbedRequest {
  readonly siteUrl: string;
  /** Goes into the query and nowhere else: it doubles as a legacy API key (docs/service.md §2.5). */
  readonly siteKey: string;
  readonly type: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Fetches the live text as the embed endpoint gives it to visitors (docs/service.md §4.7); up to five minutes old. That there is no
 * text is only believed (404, 410) when the same key is given the list of all texts: else the key itself may be wrong, revoked or given up, and that says
 * nothing about any text. An error with a success status is no text either. Rejects as fetchPublic.
 */
export async function fetchEmbedPolicy(request: EmbedRequest, options?: PublicFetchOptions): Promise<PublicFetch> {
  const fetched = await ask(request, options);
  if (fetched.outcome === 'refused' || isText(fetched.answer)) return fetched;
  const { answer } = fetched;
  const code = readEnvelope(answer.bytes.toString('utf8'), request.siteKey).code ?? `HTTP ${answer.status}`;
  if (answer.status !== 200 && request.type !== HUB) {
    const hub = await ask({ ...request, type: HUB }, options);
    if (hub.outcome === 'refused' && hub.transient) return hub;
    if (hub.outcome === 'answered' && isText(hub.answer)) return fetched;
  }
  const sentence = `The embed endpoint of ${new URL(request.siteUrl).origin} does not accept the site key, or gives it nothing at all (${code}): this says nothing about the text. Check SERVICE_SITE_KEY, or \`source change --site-key-file\`.`;
  return { outcome: 'refused', kind: 'unexpected-status', transient: false, sentence };
}

function isText({ status, bytes }: PublicAnswer): boolean {
  if (status !== 200) return false;
  const { code, detail } = readEnvelope(bytes.toString('utf8'), null);
  return code === undefined && detail === undefined;
}

function ask(request: EmbedRequest, options?: PublicFetchOptions): Promise<PublicFetch> {
  const { siteUrl, siteKey, type, signal } = request;
  const url = new URL('/api/embed/policy', siteUrl);
  url.searchParams.set('siteKey', siteKey);
  url.searchParams.set('type', type);
  return fetchPublic(
    { siteUrl, url: url.href, accept: 'application/json, text/html;q=0.9, */*;q=0.5', signal },
    options,
  );
}
