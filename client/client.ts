import createFetchClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './schema.ts';

export type { components, paths } from './schema.ts';

/** A client for one installation's API (docs/api.md): a method for each HTTP method, typed by path. */
export type ApiClient = Client<paths>;
/** The API's answer instead of data: RFC 9457, with a `code` for programs. */
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
 * Creates a client. Its calls resolve with `data`, or with `error` (a {@link Problem}) and the response; they reject
 * only if there is no answer. Throws TypeError for an invalid address, or one that would send the token across a
 * network without TLS.
 */
export function createClient({ url, token, fetch }: ClientOptions): ApiClient {
  const { protocol, hostname, origin } = new URL(url);
  if (protocol !== 'https:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname))
    throw new TypeError(`${origin} is not https: the token would be sent unencrypted.`);
  return createFetchClient<paths>({
    baseUrl: url.replace(/\/+$/, ''),
    headers: { authorization: `Bearer ${token}` },
    ...(fetch === undefined ? {} : { fetch }),
  });
}

/** A page, as returned by every list of the API. */
interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/**
 * Every item of a list, page by page. `load` requests the page at a cursor (undefined: the first). If a page is
 * refused, rejects with an Error whose `cause` is the {@link Problem}.
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
