import { webUrlOf } from '../core/address.ts';
import type { DestinationRule } from '../core/destination.ts';
import { sha256Hex } from '../crypto/hash.ts';
import { HUB } from '../policy-texts/snapshot.ts';
import { readEnvelope } from './answer-json.ts';
import { exchange, type HttpAnswer, HttpTimeout, PrivateDestination, withDeadline } from './outgoing-http.ts';

/** A request without credentials for a page or answer that everyone can see (docs/service.md §2.2, §4.7). */
interface PublicRequest {
  /** Public origin of the service, as configured for the source. Nothing outside it is requested. */
  readonly siteUrl: string;
  /** Where that origin may lead. */
  readonly destinations: DestinationRule;
  /** The requested address; it may come from a payload and is not trusted. */
  readonly url: string;
  readonly accept: string;
  readonly signal?: AbortSignal | undefined;
}

/** Limits of a fetch, and replacements for tests. */
interface PublicFetchOptions {
  /** Maximum body in bytes, default 5 MiB. */
  readonly maxBytes?: number;
  /** Maximum total time in milliseconds, including redirects and body, default 20,000. */
  readonly timeoutMs?: number;
  readonly now?: () => Date;
}

/** Headers that date a response and say how to read it. Each is cut at 200 characters. */
interface AnswerHeaders {
  readonly date: string | null;
  /** Seconds that a cache had kept the response (RFC 9111 §5.1); null if the header is missing or not a number. */
  readonly age: number | null;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly cacheControl: string | null;
  readonly contentType: string | null;
}

/** A response, unchanged. */
export interface PublicAnswer {
  readonly status: number;
  /** The exact bytes: no encoding is requested. */
  readonly bytes: Buffer;
  /** Of the bytes, lower-case hex. */
  readonly sha256: string;
  readonly headers: AnswerHeaders;
  /** Its final address without the query, which contains a token or a site key. */
  readonly url: string;
  readonly redirects: number;
  /** Our clock before the request was sent and after the last byte arrived, ISO 8601 UTC. */
  readonly requestedAt: string;
  readonly receivedAt: string;
}

/**
 * Why nothing was fetched. `not-allowed`: the address, or one to which it redirects, is not under the configured
 * origin, and nothing was requested there. The others concern the response or the connection; `transient` says whether
 * a retry may help.
 */
type RefusalKind = 'not-allowed' | 'too-many-redirects' | 'too-large' | 'timeout' | 'network' | 'unexpected-status';

export type PublicFetch =
  | { readonly outcome: 'answered'; readonly answer: PublicAnswer }
  | {
      readonly outcome: 'refused';
      readonly kind: RefusalKind;
      readonly transient: boolean;
      /** For people; contains no token. */
      readonly sentence: string;
    };

type Refusal = Extract<PublicFetch, { outcome: 'refused' }>;

const MEBIBYTE = 1024 * 1024;
const MAX_REDIRECTS = 3;
const MAX_HEADER = 200;

/**
 * Fetches a public address of the service: only under `siteUrl` (scheme, host and port compared exactly, also for
 * redirects), without credentials or cookies, limited in bytes and time. Statuses 200, 404 and 410 are answers; all
 * others are refusals. Rejects only with the signal's reason if it was aborted.
 */
export async function fetchPublic(request: PublicRequest, options: PublicFetchOptions = {}): Promise<PublicFetch> {
  const now = options.now ?? (() => new Date());
  const origin = new URL(request.siteUrl).origin;
  const requestedAt = now().toISOString();
  const timeoutMs = options.timeoutMs ?? 20_000;
  try {
    return await withDeadline(timeoutMs, request.signal, (signal) =>
      follow(request, origin, { ...options, now, signal, requestedAt, timeoutMs }),
    );
  } catch (error) {
    request.signal?.throwIfAborted();
    if (error instanceof HttpTimeout)
      return refusal('timeout', true, `${origin} did not respond in time; it will be tried again later.`);
    if (error instanceof PrivateDestination)
      return refusal(
        'not-allowed',
        false,
        `${origin} leads to this machine or a private network, so nothing was requested. If that is intended, the server’s operator can add its host to PRIVATE_ALLOWED_HOSTS.`,
      );
    return refusal('network', true, `${origin} could not be reached (${causeOf(error)}).`);
  }
}

interface Settings extends PublicFetchOptions {
  readonly now: () => Date;
  readonly signal: AbortSignal;
  readonly requestedAt: string;
  readonly timeoutMs: number;
}

async function follow(request: PublicRequest, origin: string, settings: Settings): Promise<PublicFetch> {
  let address: string | null = request.url;
  let url = allowed(address, origin);
  for (let redirects = 0; ; redirects += 1) {
    if (url === null) return notAllowed(origin, address, redirects);
    if (redirects > MAX_REDIRECTS)
      return refusal('too-many-redirects', false, `${nameOf(url)} redirects more than ${MAX_REDIRECTS} times.`);
    const response = await exchange({
      url: url.href,
      destinations: request.destinations,
      signal: settings.signal,
      timeoutMs: settings.timeoutMs,
      maxBytes: settings.maxBytes ?? 5 * MEBIBYTE,
      // `identity`, so that the stored bytes are the bytes sent.
      headers: { accept: request.accept, 'accept-encoding': 'identity', 'user-agent': 'consent-ledger' },
    });
    if (response.status >= 300 && response.status < 400) {
      const location = response.headers.get('location');
      address = location !== null && URL.canParse(location, url.href) ? new URL(location, url.href).href : null;
      url = allowed(address, origin);
      continue;
    }
    return read(response, url, redirects, settings);
  }
}

function read(response: HttpAnswer, url: URL, redirects: number, settings: Settings): PublicFetch {
  const { status, bytes, fault, isCutOff } = response;
  if (status !== 200 && status !== 404 && status !== 410) {
    const transient = status === 429 || status >= 500;
    return refusal('unexpected-status', transient, `${nameOf(url)} answered with HTTP ${status}.`);
  }
  const maxBytes = settings.maxBytes ?? 5 * MEBIBYTE;
  if (bytes === null && fault?.type !== 'too-large')
    return refusal('network', true, `The response from ${nameOf(url)} is broken (${fault?.detail}).`);
  if (bytes === null)
    return refusal('too-large', false, `The response from ${nameOf(url)} is over ${maxBytes} bytes and was rejected.`);
  if (isCutOff) return refusal('network', true, `The response from ${nameOf(url)} is broken (it ends too early).`);
  return {
    outcome: 'answered',
    answer: {
      status,
      bytes,
      sha256: sha256Hex(bytes),
      headers: headersOf(response.headers),
      url: withoutQuery(url),
      redirects,
      requestedAt: settings.requestedAt,
      receivedAt: settings.now().toISOString(),
    },
  };
}

/** The address if it is under the origin and has no credentials; otherwise null. */
function allowed(address: string | null, origin: string): URL | null {
  const url = address === null ? null : webUrlOf(address);
  return url?.origin === origin ? url : null;
}

/** Names only the origin of an address elsewhere, because its query may contain a token. */
function notAllowed(origin: string, address: string | null, redirects: number): Refusal {
  const what = redirects === 0 ? 'The address given' : 'The address that it redirects to';
  const elsewhere = address === null ? null : webUrlOf(address);
  if (elsewhere === null || elsewhere.origin === origin)
    return refusal('not-allowed', false, `${what} is not under ${origin}, so it was not requested.`);
  const there = elsewhere.origin.slice(0, 200);
  return refusal(
    'not-allowed',
    false,
    `${what} (${there}) is not under ${origin}, so it was not requested. If the service publishes there, set SERVICE_SITE_URL or \`source change --site-url\`.`,
  );
}

function refusal(kind: RefusalKind, transient: boolean, sentence: string): Refusal {
  return { outcome: 'refused', kind, transient, sentence };
}

function withoutQuery(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/** Shortened for messages: a redirect may lead to an address of any length. */
function nameOf(url: URL): string {
  const name = withoutQuery(url);
  return name.length > MAX_HEADER ? `${name.slice(0, MAX_HEADER)}…` : name;
}

function headersOf(headers: Headers): AnswerHeaders {
  const text = (name: string) => headers.get(name)?.slice(0, MAX_HEADER) ?? null;
  const age = text('age');
  return {
    date: text('date'),
    age: age !== null && /^\d{1,9}$/.test(age) ? Number(age) : null,
    etag: text('etag'),
    lastModified: text('last-modified'),
    cacheControl: text('cache-control'),
    contentType: text('content-type'),
  };
}

/** The code of the failure, because the message could quote the address with its query. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code } = cause as { code?: unknown };
  return typeof code === 'string' ? code : cause instanceof Error ? cause.name : 'unknown';
}

/** Which text: that of a policy type, or `hub`. */
export interface EmbedRequest {
  readonly siteUrl: string;
  readonly destinations: DestinationRule;
  /** Used only in the query: it doubles as a legacy API key (docs/service.md §2.5). */
  readonly siteKey: string;
  readonly type: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Fetches the live text that the embed endpoint shows to visitors (docs/service.md §4.7); up to five minutes old. A
 * response saying that there is no text (404, 410) is only believed if the same key gets the list of all texts;
 * otherwise the key itself may be wrong, revoked or abandoned, which says nothing about any text. An error with a
 * success status is not a text either. Rejects like fetchPublic.
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
  const sentence = `The embed endpoint of ${new URL(request.siteUrl).origin} does not accept the site key, or returns nothing for it (${code}): this says nothing about the text. Check SERVICE_SITE_KEY, or \`source change --site-key-file\`.`;
  return { outcome: 'refused', kind: 'unexpected-status', transient: false, sentence };
}

function isText({ status, bytes }: PublicAnswer): boolean {
  if (status !== 200) return false;
  const { code, detail } = readEnvelope(bytes.toString('utf8'), null);
  return code === undefined && detail === undefined;
}

function ask(request: EmbedRequest, options?: PublicFetchOptions): Promise<PublicFetch> {
  const { siteUrl, destinations, siteKey, type, signal } = request;
  const url = new URL('/api/embed/policy', siteUrl);
  url.searchParams.set('siteKey', siteKey);
  url.searchParams.set('type', type);
  return fetchPublic(
    { siteUrl, destinations, url: url.href, accept: 'application/json, text/html;q=0.9, */*;q=0.5', signal },
    options,
  );
}

/** Which page. `url` is the address from the service, including its token (docs/service.md §2.2). */
export interface HostedRequest {
  readonly siteUrl: string;
  readonly destinations: DestinationRule;
  readonly url: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Fetches the public page of a policy if its address is under the configured origin (docs/service.md §2.2). Rejects
 * like fetchPublic.
 */
export function fetchHostedPolicy(request: HostedRequest, options?: PublicFetchOptions): Promise<PublicFetch> {
  return fetchPublic({ ...request, accept: 'text/html, */*;q=0.5' }, options);
}
