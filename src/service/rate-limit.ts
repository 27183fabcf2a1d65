/** Just what is needed of `Headers`. */
interface HeaderReader {
  get(name: string): string | null;
}

/**
 * How long the service asks to wait before the next request, in milliseconds; null when it does not say.
 * Retry-After as RFC 9110 §10.2.3 (seconds or a date). The service reports limits in headers whose names it does not
 * document (docs/service.md §8), so the common spellings are read: `retry-after-ms`, and `ratelimit-reset` or
 * `x-ratelimit-reset` as seconds to go, a duration (`6m0s`), a Unix time in seconds or milliseconds, or a date, and `ratelimit` with its parameters (`"default";r=0;t=30`,
 * or `limit=10, remaining=0, reset=30` of earlier drafts). Dates are counted from the Date header of the same answer, so that a clock of ours
 * that is off does no harm; `now`, in ms since 1970, is taken where there is none. At most {@link LONGEST_ASKED_MS}.
 */
export function waitFromHeaders(headers: HeaderReader, now: number): number | null {
  const asOf = Date.parse(headers.get('date') ?? '');
  const wait = readWait(headers, Number.isNaN(asOf) ? now : asOf);
  return wait === null ? null : Math.min(wait, LONGEST_ASKED_MS);
}

/** A day, the longest window that the service documents (docs/service.md §8): what asks for more is taken for a mistake. */
export const LONGEST_ASKED_MS = 86_400_000;

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
  // Several policies may be listed; the longest of their waits ends them all.
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

/** A number alone, or the first of several: a header that was sent twice comes as a list. */
function plainNumber(value: string | null): number | null {
  const first = /^\s*(\d+(?:\.\d+)?)\s*(?:,|$)/.exec(value ?? '')?.[1];
  return first === undefined ? null : Number(first);
}
