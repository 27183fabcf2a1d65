import { setTimeout as delay } from 'node:timers/promises';
import pRetry from 'p-retry';
import { networkFaultOf } from './network-fault.ts';
import { waitFromHeaders } from './rate-limit.ts';
import { cleanText, readEnvelope } from './error-envelope.ts';
import { isTransient, kindOfStatus, ServiceError, type ServiceSubject } from './service-error.ts';

/** How to reach the service for one source (docs/service.md §4, §5). */
export interface TransportOptions {
  /** API root ending in /api/v1. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer …` (docs/service.md §5). Never logged, never part of an error. */
  readonly apiKey: string;
  /** Longest time for one attempt, answer read to its end, in milliseconds. */
  readonly timeoutMs?: number;
  /** Largest answer taken, in bytes after decompression. */
  readonly maxBytes?: number;
  /** Further attempts of a safe request after the first. */
  readonly retries?: number;
  /** First back-off in milliseconds; doubles each time, with jitter. */
  readonly backOffMs?: number;
  /** Longest wait that the service may ask for within one call, in milliseconds; beyond it the call fails as `rate-limited`. */
  readonly maxWaitMs?: number;
  /** Told before each further attempt, for logs and progress. */
  readonly onRetry?: (error: ServiceError, attempt: number) => void;
  readonly fetch?: typeof fetch;
  readonly now?: () => number;
}

/** One request. Parameters that are null or undefined are left out. */
export interface ServiceRequest<T> {
  readonly method?: 'GET' | 'POST';
  /** Below the API root, with a leading slash. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | null | undefined>>;
  /** Sent as JSON; bytes are sent as they are. */
  readonly body?: unknown;
  /** What it is about, for the words of errors. */
  readonly about?: ServiceSubject;
  /**
   * Reads the answer, inside the attempt: a ServiceError `unreadable` thrown here (a truncated answer) is tried again.
   */
  readonly read: (answer: ServiceAnswer) => T;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
}

/** A 2xx answer. */
export interface ServiceAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The service's Date header; null where it is missing or unreadable. */
  readonly serverDate: Date | null;
}

/** Sends requests to the service. */
export interface Transport {
  /**
   * Sends one request and reads its answer. Only GET is tried again, and only after failures that may pass
   * (429, 5xx, network, time-out, unreadable answer), with jittered back-off and Retry-After honoured.
   * Errors: ServiceError; the signal's reason when it was aborted.
   */
  request<T>(request: ServiceRequest<T>): Promise<T>;
}

const SECOND = 1000;
const MEBIBYTE = 1024 * 1024;

/** Builds a transport over the runtime's fetch, which keeps connections alive. Errors: TypeError when baseUrl is no http(s) URL. */
export function createTransport(options: TransportOptions): Transport {
  const root = options.baseUrl.replace(/\/+$/, '');
  if (!/^https?:$/.test(new URL(root).protocol))
    throw new TypeError('the base URL of the service must be http or https');
  const settings: Settings = {
    root,
    apiKey: options.apiKey,
    timeoutMs: options.timeoutMs ?? 30 * SECOND,
    maxBytes: options.maxBytes ?? 16 * MEBIBYTE,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    now: options.now ?? Date.now,
  };
  const retries = options.retries ?? 5;
  const maxWaitMs = options.maxWaitMs ?? 120 * SECOND;

  return {
    async request(request) {
      const { signal } = request;
      if ((request.method ?? 'GET') !== 'GET') return attempt(settings, request);
      return pRetry(() => attempt(settings, request), {
        retries,
        minTimeout: options.backOffMs ?? 500,
        maxTimeout: 30 * SECOND,
        randomize: true,
        ...(signal === undefined ? {} : { signal }),
        // Asked only while attempts are left, so nobody waits in vain.
        shouldRetry: async ({ error, attemptNumber }) => {
          if (!(error instanceof ServiceError) || !isTransient(error.kind)) return false;
          const wait = error.retryAfterMs ?? 0;
          if (wait > maxWaitMs) return false;
          options.onRetry?.(error, attemptNumber + 1);
          if (wait > 0) await delay(wait, undefined, signal === undefined ? {} : { signal }).catch(() => {});
          return true;
        },
      });
    },
  };
}

interface Settings {
  readonly root: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly fetch: typeof fetch;
  readonly now: () => number;
}

async function attempt<T>(settings: Settings, request: ServiceRequest<T>): Promise<T> {
  request.signal?.throwIfAborted();
  // A controller of its own: AbortSignal.any over a signal that lives for a whole run would pile up listeners on it.
  const controller = new AbortController();
  const onAbort = () => controller.abort(request.signal?.reason);
  request.signal?.addEventListener('abort', onAbort, { once: true });
  const timeout = new ServiceError('timeout', aboutOf(request.about));
  const timer = setTimeout(() => controller.abort(timeout), request.timeoutMs ?? settings.timeoutMs);
  try {
    const response = await settings.fetch(urlOf(settings.root, request), {
      method: request.method ?? 'GET',
      redirect: 'manual',
      signal: controller.signal,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${settings.apiKey}`,
        'user-agent': 'consent-ledger',
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(request.body === undefined ? {} : { body: bodyOf(request.body) }),
    });
    if (!response.ok)
      throw refusalOf(response, await readRefusal(response, settings.maxBytes), settings, request.about);
    const bytes = await readBody(response, settings.maxBytes, request.about);
    return request.read({
      status: response.status,
      headers: response.headers,
      bytes,
      serverDate: dateOf(response.headers),
    });
  } catch (error) {
    request.signal?.throwIfAborted();
    if (controller.signal.aborted) throw timeout;
    if (error instanceof ServiceError) throw error;
    throw asNetworkError(error, settings.apiKey, request.about);
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener('abort', onAbort);
  }
}

function urlOf(root: string, request: Pick<ServiceRequest<unknown>, 'path' | 'query'>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query ?? {})) {
    if (value !== null && value !== undefined) query.set(name, String(value));
  }
  const text = query.toString();
  return `${root}${request.path}${text === '' ? '' : `?${text}`}`;
}

/** The status says what became of the request, however the body that explains it ends: null where it cannot be read. */
function readRefusal(response: Response, maxBytes: number): Promise<Buffer | null> {
  return readBody(response, maxBytes, undefined).catch(() => null);
}

/** The whole body, at most `maxBytes` of it: a length that was announced is trusted only when nothing is compressed. */
async function readBody(response: Response, maxBytes: number, about: ServiceSubject | undefined): Promise<Buffer> {
  const announced = response.headers.get('content-length');
  const length = announced === null ? null : Number(announced);
  if (length !== null && length > maxBytes) {
    await response.body?.cancel();
    throw new ServiceError('too-large', {
      ...aboutOf(about),
      detail: `${length} bytes, at most ${maxBytes} are taken`,
    });
  }
  if (length !== null && response.headers.get('content-encoding') === null)
    return Buffer.from(await response.arrayBuffer());
  if (response.body === null) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    total += chunk.length;
    // Leaving the loop cancels the stream.
    if (total > maxBytes)
      throw new ServiceError('too-large', { ...aboutOf(about), detail: `at most ${maxBytes} bytes are taken` });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, total);
}

function bodyOf(body: unknown): string | Uint8Array<ArrayBuffer> {
  return body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body);
}

function aboutOf(about: ServiceSubject | undefined): { about?: ServiceSubject } {
  return about === undefined ? {} : { about };
}

function refusalOf(
  response: Response,
  bytes: Buffer | null,
  settings: Settings,
  about: ServiceSubject | undefined,
): ServiceError {
  const wait = waitFromHeaders(response.headers, settings.now());
  const kind = kindOfStatus(response.status);
  return new ServiceError(kind, {
    status: response.status,
    ...aboutOf(about),
    ...(bytes === null ? {} : { answer: bytes, ...readEnvelope(bytes.toString('utf8'), settings.apiKey) }),
    // A reset time is sent with other refusals too; only these ask to wait.
    ...(wait !== null && (kind === 'rate-limited' || response.status === 503) ? { retryAfterMs: wait } : {}),
  });
}

function dateOf(headers: Headers): Date | null {
  const text = headers.get('date');
  const time = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? null : new Date(time);
}

/** What the runtime says of a broken connection is in the cause: `connect ECONNREFUSED …`, `other side closed`. */
function asNetworkError(error: unknown, apiKey: string, about: ServiceSubject | undefined): ServiceError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const detail = cause instanceof Error ? cleanText(textOf(cause), apiKey, 200) : '';
  // The cause itself is not handed on: runtimes put the request, with its headers, into some of them.
  return new ServiceError('network', {
    fault: networkFaultOf(cause),
    ...aboutOf(about),
    ...(detail === '' ? {} : { detail }),
  });
}

/** Several addresses were tried: the message is empty, each try has its own. */
function textOf(cause: Error): string {
  if (cause.message !== '' || !(cause instanceof AggregateError)) return cause.message;
  return cause.errors.map((one: unknown) => (one instanceof Error ? one.message : '')).join(', ');
}
