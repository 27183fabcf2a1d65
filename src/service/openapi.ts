import { sha256Hex } from '../crypto/hash.ts';
import { describesPaths, findGone } from './relied-on.ts';
import { ServiceError } from './service-error.ts';
import { createTransport, type TransportOptions } from './transport.ts';

/** The service's own description as it came (docs/service.md §4.6). */
export interface Description {
  /** Without query. */
  readonly url: string;
  readonly bytes: Buffer;
  /** Of the bytes, lower-case hex. */
  readonly sha256: string;
  readonly date: string | null;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly contentType: string | null;
  /** What the client relies on and the description does not have; a sentence each. */
  readonly gone: readonly string[];
}

/** `silent`: the service has none, or none that can be read, which is no alarm. `refused`: asking failed. */
export type DescriptionFetch =
  | { readonly outcome: 'fetched'; readonly description: Description }
  | { readonly outcome: 'silent'; readonly sentence: string }
  | { readonly outcome: 'refused'; readonly transient: boolean; readonly sentence: string };

const MAX_BYTES = 5 * 1024 * 1024;

/** Fetches the OpenAPI description and compares it with what the client relies on. Rejects with the signal's reason when aborted. */
export async function fetchDescription(
  options: Pick<TransportOptions, 'baseUrl' | 'apiKey' | 'retries'>,
  signal?: AbortSignal,
): Promise<DescriptionFetch> {
  try {
    return await createTransport({ maxBytes: MAX_BYTES, ...options }).request({
      path: '/openapi',
      signal,
      read: ({ bytes, headers }): DescriptionFetch => {
        const gone = findGoneIn(bytes);
        if (gone === null)
          return {
            outcome: 'silent',
            sentence: 'What the service gives as its OpenAPI description is no JSON with paths.',
          };
        const header = (name: string) => headers.get(name)?.slice(0, 200) ?? null;
        return {
          outcome: 'fetched',
          description: {
            url: `${options.baseUrl.replace(/(?<!\/)\/+$/, '')}/openapi`,
            bytes,
            sha256: sha256Hex(bytes),
            date: header('date'),
            etag: header('etag'),
            lastModified: header('last-modified'),
            contentType: header('content-type'),
            gone,
          },
        };
      },
    });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.kind === 'not-found' || error.kind === 'gone')
      return { outcome: 'silent', sentence: 'The service has no OpenAPI description at this address.' };
    const transient = ['rate-limited', 'server-error', 'network', 'timeout'].includes(error.kind);
    return { outcome: 'refused', transient, sentence: error.message };
  }
}

/** What is gone from a description; null when it is none: no JSON, or nothing that describes any path. */
export function findGoneIn(bytes: Buffer): readonly string[] | null {
  try {
    const json: unknown = JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''));
    return describesPaths(json) ? findGone(json) : null;
  } catch {
    return null;
  }
}
