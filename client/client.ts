import createFetchClient, { type Client, type Middleware } from 'openapi-fetch';
import type { components, paths } from './schema.ts';

export type { components, paths } from './schema.ts';

/** A client for one installation's API (docs/api.md): a method for each HTTP method, typed by path. */
export type ApiClient = Client<paths>;
/**
 * What a call resolves with instead of data: RFC 9457, with a `code` for programs. The codes `unexpected_response` (a
 * proxy, or another server, responded instead of the API) and `no_response` are this client's own.
 */
export type Problem = components['schemas']['Problem'];

export interface ClientOptions {
  /** Address of the admin listener: `https://ledger.example`. */
  readonly url: string;
  /** An API token, `clt_…`. */
  readonly token: string;
  /** Default: the runtime's own. */
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * Creates a client. Each call resolves with `data` and no `error`, or with `error` (a {@link Problem} with a status) and
 * no data, also if a proxy responds, if a redirect leads elsewhere (it is never followed) or if nothing responds. A call
 * rejects only if its caller aborts it, or while a stream is read. Throws TypeError for an invalid address, or one that
 * would send the token across a network without TLS.
 */
export function createClient({ url, token, fetch }: ClientOptions): ApiClient {
  const { protocol, hostname, origin } = new URL(url);
  if (protocol !== 'https:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname))
    throw new TypeError(`${origin} is not https: the token would be sent unencrypted.`);
  const client = createFetchClient<paths>({
    baseUrl: url.replace(/\/+$/, ''),
    headers: { authorization: `Bearer ${token}` },
    // The page behind a redirect would look like a success, and a POST would become a GET.
    redirect: 'manual',
    ...(fetch === undefined ? {} : { fetch }),
  });
  client.use(failuresAsProblems);
  return client;
}

/**
 * Replaces every failure that the API did not describe itself. The API responds with JSON, except to downloads and
 * streams, and never without content.
 */
const failuresAsProblems: Middleware = {
  async onResponse({ request, response, options }) {
    const { ok, status, headers } = response;
    if (ok && options.parseAs !== 'json') {
      const isPage = /^text\/html\b/i.test(headers.get('content-type') ?? '') && !headers.has('ratelimit-limit');
      return isPage || status === 204 ? unexpectedResponse(request, response, true) : undefined;
    }
    let text: string;
    try {
      text = await response.text();
    } catch (error) {
      if (request.signal.aborted) throw error;
      const detail = `The response with ${status} broke off (${reasonOf(error)}). ${repeatText(request)}`;
      return problemResponse('unexpected_response', ok ? 502 : status, detail, headers);
    }
    const json = parsed(text);
    if (ok ? json === undefined : !isProblem(json)) return unexpectedResponse(request, response, text !== '');
    return problemOrData(text, response);
  },
  onError({ request, error }) {
    if (request.signal.aborted) return undefined;
    const { origin } = new URL(request.url);
    const detail = `${origin} did not respond (${reasonOf(error)}). ${repeatText(request)}`;
    return problemResponse('no_response', 503, detail);
  },
};

/** The problem for a response that is not the API's. Its status is the response's, or 502 if that says no failure. */
function unexpectedResponse(request: Request, { status, type, headers }: Response, hasContent: boolean): Response {
  const [kind = ''] = (headers.get('content-type') ?? '').split(';');
  const content = hasContent ? `with ${kind === '' ? 'content of no type' : kind}` : 'without content';
  const url = new URL(request.url);
  const target = headers.get('location') ?? '';
  // A browser shows neither status nor target of a redirect.
  const isRedirect = type === 'opaqueredirect' || (status >= 300 && status < 400 && target !== '');
  const detail = isRedirect
    ? `The request was redirected${targetText(target, url)}, and not carried out. The API redirects nowhere: check the address, and whether a proxy asks for a sign-in.`
    : `${url.origin} responded ${status} ${content}, which is not a response of the API. Check the proxies in between. ${
        status >= 400 && status < 500 ? '' : repeatText(request)
      }`;
  const isFailure = status >= 400 || (isRedirect && status !== 0);
  return problemResponse('unexpected_response', isFailure ? status : isRedirect ? 302 : 502, detail, headers);
}

/** Where a redirect leads, without the query, which may hold secrets. */
function targetText(target: string, from: URL): string {
  if (!URL.canParse(target, from)) return '';
  const { origin, pathname } = new URL(target, from);
  return ` to ${origin}${pathname}`;
}

function problemResponse(code: Problem['code'], status: number, detail: string, headers = new Headers()): Response {
  const title = code === 'no_response' ? 'No response' : 'Not a response of the API';
  const problem: Problem = { type: 'about:blank', title, status, code, detail: detail.trimEnd() };
  return problemOrData(JSON.stringify(problem), { status, headers }, 'application/problem+json');
}

/** A response with this text, whatever the headers said about the length and coding of the content. */
function problemOrData(
  text: string,
  { status, headers: given }: Pick<Response, 'status' | 'headers'>,
  type?: string,
): Response {
  const headers = new Headers(given);
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.delete(name);
  if (type !== undefined) headers.set('content-type', type);
  return new Response(text, { status, headers });
}

const repeatText = ({ method }: Request) =>
  method === 'GET'
    ? ''
    : `Whether the ${method} was carried out is unknown: repeat it with the same Idempotency-Key, or look first.`;

/** What failed: fetch says only that it failed, its cause says why. */
function reasonOf(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  const { code, message } = cause as { code?: unknown; message?: unknown };
  return String(code ?? message ?? cause);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isProblem(json: unknown): json is Problem {
  const { code, status, detail } = (json ?? {}) as Partial<Record<keyof Problem, unknown>>;
  return typeof code === 'string' && typeof status === 'number' && typeof detail === 'string';
}

/** A page, as returned by every list of the API. */
interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/**
 * Every item of a list, page by page. `load` requests the page at a cursor (undefined: the first). If a page is
 * refused or does not come, rejects with an Error whose `cause` is the {@link Problem}.
 */
export async function* eachItem<Item>(
  load: (cursor: string | undefined) => Promise<{ data?: ListPage<Item> | undefined; error?: Problem | undefined }>,
): AsyncGenerator<Item> {
  let cursor: string | undefined;
  do {
    const { data, error } = await load(cursor);
    if (data === undefined) throw new Error(error?.detail ?? 'the list could not be read', { cause: error });
    yield* data.items;
    cursor = data.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
