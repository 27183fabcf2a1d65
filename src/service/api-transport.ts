import { setTimeout as delay } from 'node:timers/promises';
import pRetry from 'p-retry';
import type { DestinationRule } from '../core/destination.ts';
import { type OpenSpan, traced } from '../tracing/trace.ts';
import { cleanText, readEnvelope } from './answer-json.ts';
import { ACCEPT_ENCODING, type BodyFault, exchange, type HttpAnswer, HttpTimeout, longest } from './outgoing-http.ts';
import { waitFromHeaders } from './rate-limit.ts';
import { isTransient, kindOfStatus, networkFaultOf, ServiceError, type ServiceSubject } from './service-error.ts';

/** How to reach the service for one source (docs/service.md §4, §5). */
export interface TransportOptions {
  /** API root ending in /api/v1. */
  readonly baseUrl: string;
  /** Where that address may lead. */
  readonly destinations: DestinationRule;
  /** Sent as `Authorization: Bearer …` (docs/service.md §5). Never logged, never part of an error. */
  readonly apiKey: string;
  /** Maximum time in milliseconds for one attempt, including reading the response. */
  readonly timeoutMs?: number;
  /** Maximum answer in bytes after decompression. */
  readonly maxBytes?: number;
  /** Retries of a safe request after the first attempt. */
  readonly retries?: number;
  /** First back-off in milliseconds; doubles each time, with jitter. */
  readonly backOffMs?: number;
  /** Longest wait in milliseconds that the service may ask for within one call; beyond it the call fails as `rate-limited`. */
  readonly maxWaitMs?: number;
  /** Called before each retry, for logs and progress. */
  readonly onRetry?: (error: ServiceError, attempt: number) => void;
  readonly now?: () => number;
}

/** One request. Parameters that are null or undefined are left out. */
interface ServiceRequest<T> {
  readonly method?: 'GET' | 'POST';
  /** Below the API root, with a leading slash. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | null | undefined>>;
  /** Sent as JSON; bytes are sent unchanged. */
  readonly body?: unknown;
  /** The subject, for the wording of errors. */
  readonly about?: ServiceSubject;
  /** Reads a 2xx answer. Throws ServiceError if it is not what the service documents. */
  readonly read: (answer: ServiceAnswer) => T | Promise<T>;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
  /** Maximum answer in bytes, if less than the transport's. */
  readonly maxBytes?: number | undefined;
}

/** A 2xx answer. */
export interface ServiceAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The service's Date header; null if missing or unreadable. */
  readonly serverDate: Date | null;
}

/** Sends requests to the service. */
export interface Transport {
  /**
   * Sends one request and reads its response. Only GET is retried, and only after failures that may be temporary (429,
   * 5xx, network, time-out, unreadable response), with jittered back-off and respecting Retry-After. Errors:
   * ServiceError; the signal's reason if it was aborted.
   */
  request<T>(request: ServiceRequest<T>): Promise<T>;
}

const SECOND = 1000;
const MEBIBYTE = 1024 * 1024;

/**
 * Creates a transport over src/service/outgoing-http.ts, which keeps connections alive. Errors: TypeError if baseUrl is not an
 * http(s) URL.
 */
export function createTransport(options: TransportOptions): Transport {
  const root = options.baseUrl.replace(/(?<!\/)\/+$/, '');
  if (!/^https?:$/.test(new URL(root).protocol))
    throw new TypeError('the base URL of the service must be http or https');
  const settings: Settings = {
    root,
    destinations: options.destinations,
    apiKey: options.apiKey,
    timeoutMs: options.timeoutMs ?? 30 * SECOND,
    maxBytes: options.maxBytes ?? 16 * MEBIBYTE,
    now: options.now ?? Date.now,
  };
  const retries = options.retries ?? 5;
  const maxWaitMs = Math.min(options.maxWaitMs ?? 120 * SECOND, longest.pauseMs);

  return {
    async request(request) {
      const { signal } = request;
      if ((request.method ?? 'GET') !== 'GET') return attempt(settings, request);
      return pRetry(() => attempt(settings, request), {
        retries,
        minTimeout: Math.min(options.backOffMs ?? 500, longest.pauseMs),
        maxTimeout: Math.min(30 * SECOND, longest.pauseMs),
        randomize: true,
        ...(signal === undefined ? {} : { signal }),
        // Only called while attempts are left, so it never waits in vain.
        shouldRetry: async ({ error, attemptNumber }) => {
          if (!(error instanceof ServiceError) || !isTransient(error.kind) || error.fault === 'not-allowed')
            return false;
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
  readonly destinations: DestinationRule;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly now: () => number;
}

function attempt<T>(settings: Settings, request: ServiceRequest<T>): Promise<T> {
  return traced('request', { method: request.method ?? 'GET' }, (span) => send(settings, request, span));
}

async function send<T>(settings: Settings, request: ServiceRequest<T>, span: OpenSpan): Promise<T> {
  const { about, body, signal } = request;
  const answer = await exchange({
    url: urlOf(settings.root, request),
    destinations: settings.destinations,
    method: request.method ?? 'GET',
    timeoutMs: request.timeoutMs ?? settings.timeoutMs,
    maxBytes: Math.min(request.maxBytes ?? settings.maxBytes, settings.maxBytes),
    maxErrorBytes: Math.min(settings.maxBytes, MAX_ERROR_BYTES),
    signal,
    headers: {
      accept: 'application/json',
      'accept-encoding': ACCEPT_ENCODING,
      authorization: `Bearer ${settings.apiKey}`,
      'user-agent': 'consent-ledger',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
  }).catch((error: unknown) => {
    signal?.throwIfAborted();
    if (error instanceof HttpTimeout) throw new ServiceError('timeout', aboutOf(about));
    throw asNetworkError(error, settings.apiKey, about);
  });
  const { status, headers, bytes, fault } = answer;
  span.set({ status, bytes: bytes?.length });
  // The status determines the outcome, even if the body that explains it is broken.
  if (status < 200 || status >= 300) throw refusalOf(answer, settings, about);
  if (bytes === null) throw bodyError(fault, settings.apiKey, about);
  return request.read({ status, headers, bytes, serverDate: dateOf(headers) });
}

/** Explanations of refusals are short; the rest of a longer one is not read. */
const MAX_ERROR_BYTES = MEBIBYTE;

function bodyError(fault: BodyFault | null, apiKey: string, about: ServiceSubject | undefined): ServiceError {
  switch (fault?.type) {
    case 'too-large':
      return new ServiceError('too-large', { ...aboutOf(about), detail: fault.detail });
    case 'encoding':
      return new ServiceError('unreadable', { ...aboutOf(about), detail: fault.detail });
    case 'broken':
    case undefined:
      return asNetworkError(fault?.cause, apiKey, about);
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

function aboutOf(about: ServiceSubject | undefined): { about?: ServiceSubject } {
  return about === undefined ? {} : { about };
}

function refusalOf(
  { status, headers, bytes }: HttpAnswer,
  settings: Settings,
  about: ServiceSubject | undefined,
): ServiceError {
  const wait = waitFromHeaders(headers, settings.now());
  const kind = kindOfStatus(status);
  return new ServiceError(kind, {
    status,
    ...aboutOf(about),
    ...(bytes === null ? {} : { answer: bytes, ...readEnvelope(bytes.toString('utf8'), settings.apiKey) }),
    // Other refusals also carry a reset time, but only these ask us to wait.
    ...(wait !== null && (kind === 'rate-limited' || status === 503) ? { retryAfterMs: wait } : {}),
  });
}

function dateOf(headers: Headers): Date | null {
  const text = headers.get('date');
  const time = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? null : new Date(time);
}

/** The runtime's reason for a broken connection is in the cause: `connect ECONNREFUSED …`, `other side closed`. */
function asNetworkError(error: unknown, apiKey: string, about: ServiceSubject | undefined): ServiceError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const detail = cause instanceof Error ? cleanText(textOf(cause), apiKey, 200) : '';
  // The cause itself is not passed on: runtimes put the request with its headers into some of them.
  return new ServiceError('network', {
    fault: networkFaultOf(cause),
    ...aboutOf(about),
    ...(detail === '' ? {} : { detail }),
  });
}

/** If several addresses were tried, the message is empty and each attempt has its own. */
function textOf(cause: Error): string {
  if (cause.message !== '' || !(cause instanceof AggregateError)) return cause.message;
  return cause.errors.map((one: unknown) => (one instanceof Error ? one.message : '')).join(', ');
}
