import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { waitFromHeaders } from './rate-limit.ts';

/** Just what is needed of `Headers`. */
interface HeaderReader {
  get(name: string): string | null;
}

/**
 * Keeps all reads with one key within what the service says is left (docs/service.md §8: per-key rate limits in response headers): when
 * nothing is left, or one of them was told to wait, all wait until the window is over.
 */
export interface ReadPace {
  /** Waits for its turn. Rejects with the signal's reason when it is aborted meanwhile. */
  beforeRead(signal?: AbortSignal): Promise<void>;
  /** Takes note of what an answer says about the limit. */
  answered(headers: HeaderReader): void;
  /** The service asked to wait so many milliseconds. */
  refused(waitMs: number): void;
}

/** Longest wait that is kept without asking again, in milliseconds: the header may be wrong. */
const MAX_WAIT = 120_000;

export function createReadPace(now: () => number = Date.now): ReadPace {
  let until = 0;
  const hold = (wait: number): void => {
    until = Math.max(until, now() + Math.min(wait, MAX_WAIT));
  };
  return {
    async beforeRead(signal) {
      for (let wait = until - now(); wait > 0; wait = until - now()) {
        signal?.throwIfAborted();
        await delay(wait, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
      }
      signal?.throwIfAborted();
    },
    answered(headers) {
      const left = remainingFromHeaders(headers);
      if (left === null || left.remaining > 0) return;
      const wait = left.resetMs ?? waitFromHeaders(headers, now());
      if (wait !== null) hold(wait);
    },
    refused: hold,
  };
}

/**
 * Requests left in the window, as the common spellings say it: `RateLimit: "name";r=5;t=30` (and its older form
 * `limit=100, remaining=5, reset=30`), `RateLimit-Remaining`, `X-RateLimit-Remaining`. `resetMs`: where the same header says when
 * the window ends. Null: nothing is said.
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

/** One pace per key and service, however many clients are made for it: sources may share a key. */
export function createReadPaces(): (baseUrl: string, apiKey: string) => ReadPace {
  const paces = new Map<string, ReadPace>();
  return (baseUrl, apiKey) => {
    const name = createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex');
    const pace = paces.get(name) ?? createReadPace();
    paces.set(name, pace);
    return pace;
  };
}
