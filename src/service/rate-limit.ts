import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** The part of `Headers` that is needed. */
interface HeaderReader {
  get(name: string): string | null;
}

/**
 * How long the service asks us to wait before the next request, in milliseconds; null if it does not say. Retry-After
 * as RFC 9110 §10.2.3 (seconds or a date). The service reports limits in headers whose names it does not document
 * (docs/service.md §8), so the common spellings are read: `retry-after-ms`, and `ratelimit-reset` or
 * `x-ratelimit-reset` as remaining seconds, a duration (`6m0s`), a Unix time in seconds or milliseconds, or a date, and
 * `ratelimit` with its parameters (`"default";r=0;t=30`, or `limit=10, remaining=0, reset=30` of earlier drafts). Dates
 * are relative to the Date header of the same response, so a wrong local clock does not matter; without one, `now` (ms
 * since 1970) is used. At most {@link LONGEST_ASKED_MS}.
 */
export function waitFromHeaders(headers: HeaderReader, now: number): number | null {
  const asOf = Date.parse(headers.get('date') ?? '');
  const wait = readWait(headers, Number.isNaN(asOf) ? now : asOf);
  return wait === null ? null : Math.min(wait, LONGEST_ASKED_MS);
}

/** A day, the longest window that the service documents (docs/service.md §8); longer times are assumed to be mistakes. */
const LONGEST_ASKED_MS = 86_400_000;

function readWait(headers: HeaderReader, now: number): number | null {
  const exact = plainNumber(headers.get('retry-after-ms'));
  if (exact !== null) return Math.round(exact);
  const retryAfter = headers.get('retry-after');
  if (retryAfter !== null) {
    const seconds = plainNumber(retryAfter);
    if (seconds !== null) return Math.round(seconds * 1000);
    const until = Date.parse(retryAfter);
    if (!Number.isNaN(until)) return Math.max(0, until - now);
  }
  for (const name of ['ratelimit-reset', 'x-ratelimit-reset-after', 'x-ratelimit-reset', 'x-rate-limit-reset']) {
    const wait = waitUntilReset(headers.get(name), now);
    if (wait !== null) return wait;
  }
  // Several policies may be listed; after the longest of their waits, all have ended.
  const waits = [...(headers.get('ratelimit') ?? '').matchAll(/(?:^|[;,\s])(?:t|reset)=(\d{1,9})(?![\d.])/g)];
  return waits.length === 0 ? null : Math.max(...waits.map(([, seconds]) => Number(seconds) * 1000));
}

const YEAR_2001_SECONDS = 1_000_000_000;
const YEAR_2001_MS = YEAR_2001_SECONDS * 1000;

function waitUntilReset(value: string | null, now: number): number | null {
  if (value === null) return null;
  const number = plainNumber(value);
  if (number === null) {
    const duration = /^\s*(?=\d)(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9}(?:\.\d{1,9})?)s)?\s*$/.exec(value);
    if (duration !== null) {
      const [hours = 0, minutes = 0, seconds = 0] = duration.slice(1).map((part?: string) => Number(part ?? 0));
      return Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000);
    }
    const until = Date.parse(value);
    return Number.isNaN(until) ? null : Math.max(0, until - now);
  }
  if (number >= YEAR_2001_MS) return Math.max(0, number - now);
  if (number >= YEAR_2001_SECONDS) return Math.max(0, number * 1000 - now);
  return Math.round(number * 1000);
}

/** A number alone, or the first of several: a header sent twice arrives as a list. */
function plainNumber(value: string | null): number | null {
  const first = /^\s*(\d+(?:\.\d+)?)\s*(?:,|$)/.exec(value ?? '')?.[1];
  return first === undefined ? null : Number(first);
}

/**
 * Keeps all reads with one key within what the service says is left (docs/service.md §8: per-key rate limits in
 * response headers): if nothing is left, or one read was told to wait, all wait until the window ends.
 */
export type ReadPace = ReturnType<typeof createReadPace>;

/** Longest wait without asking again, in milliseconds, since the header may be wrong. */
const MAX_WAIT = 120_000;

export function createReadPace(now: () => number = Date.now) {
  let until = 0;
  const hold = (wait: number): void => {
    until = Math.max(until, now() + Math.min(wait, MAX_WAIT));
  };
  return {
    /** Waits for its turn. Rejects with the signal's reason if it is aborted while waiting. */
    async beforeRead(signal?: AbortSignal): Promise<void> {
      for (let wait = until - now(); wait > 0; wait = until - now()) {
        signal?.throwIfAborted();
        await delay(wait, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
      }
      signal?.throwIfAborted();
    },
    /** Records what a response says about the limit. */
    answered(headers: HeaderReader): void {
      const left = remainingFromHeaders(headers);
      if (left === null || left.remaining > 0) return;
      const wait = left.resetMs ?? waitFromHeaders(headers, now());
      if (wait !== null) hold(wait);
    },
    /** Records that the service asked us to wait this many milliseconds. */
    refused: hold,
  };
}

/**
 * Requests left in the window, in the common spellings: `RateLimit: "name";r=5;t=30` (and its older form `limit=100,
 * remaining=5, reset=30`), `RateLimit-Remaining`, `X-RateLimit-Remaining`. `resetMs` is set if the same header says
 * when the window ends. Null: no header says anything.
 */
export function remainingFromHeaders(
  headers: HeaderReader,
): { readonly remaining: number; readonly resetMs: number | null } | null {
  const one = headers.get('ratelimit');
  if (one !== null) {
    const remaining = /(?:^|[;,\s])(?:r|remaining)=(\d+)/.exec(one)?.[1];
    const reset = /(?:^|[;,\s])(?:t|reset)=(\d+)/.exec(one)?.[1];
    if (remaining !== undefined)
      return { remaining: Number(remaining), resetMs: reset === undefined ? null : Number(reset) * 1000 };
  }
  for (const name of ['ratelimit-remaining', 'x-ratelimit-remaining', 'x-rate-limit-remaining']) {
    const value = headers.get(name);
    if (value !== null && /^\s*\d+\s*$/.test(value)) return { remaining: Number(value), resetMs: null };
  }
  return null;
}

/** One pace per key and service, however many clients are created for it: sources may share a key. */
export function createReadPaces(): (baseUrl: string, apiKey: string) => ReadPace {
  const paces = new Map<string, ReadPace>();
  return (baseUrl, apiKey) => {
    const name = createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex');
    const pace = paces.get(name) ?? createReadPace();
    paces.set(name, pace);
    return pace;
  };
}
