import createFetchClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './schema.ts';

export type { components, paths } from './schema.ts';

/** A client of one installation's API (docs/api.md): a method for each HTTP method, typed by path. */
export type ApiClient = Client<paths>;
/** What the API answers instead of data: RFC 9457, with a `code` for programs. */
export type Problem = components['schemas']['Problem'];

export interface ClientOptions {
  /** Of the admin listener: `https://ledger.example`. */
  readonly url: string;
  /** An API token, `clt_…`. */
  readonly token: string;
  /** Default: the runtime's own. */
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * Opens a client. Its calls resolve with `data`, or with `error` (a {@link Problem}) and the response; they reject only when there is no answer.
 * Throws TypeError for an address that is none, or that would send the token across a network without TLS.
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

/** A page of a list, as every list of the API comes. */
interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/**
 * Every item of a list, page by page. `load` asks for the page at a cursor (undefined: the first).
 * Rejects with an Error whose `cause` is the {@link Problem} when a page is refused.
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
