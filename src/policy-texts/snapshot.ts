import { z } from 'zod';

/** How long the service's edge may keep serving a response (docs/service.md §8), milliseconds. */
export const EDGE_CACHE_MS = 5 * 60_000;

/** A fetch this long after a change shows its result: the edge's cache time plus a minute, in milliseconds. */
export const SETTLED_AFTER_MS = EDGE_CACHE_MS + 60_000;

/** The type that lists all policies; only for the embed endpoint (docs/service.md §2.6). */
export const HUB = 'hub';

/** What is fetched: `embed:<type>`, `hosted:<policy id>` or `openapi`. */
export type SnapshotTarget = `embed:${string}` | `hosted:${string}` | 'openapi';

const text = z.string();
const optional = z.string().nullable();

/** Meta of an entry of kind `snapshot`: how a response was obtained, never a token or key. */
export const snapshotMetaSchema = z.object({
  what: z.enum(['policy', 'openapi']),
  /** One per fetch: a job that runs twice records it once. */
  fetchId: text,
  /** What requested it: a delivery, a publication by this program, the schedule or a person. */
  why: z.enum(['webhook', 'publish', 'schedule', 'command']),
  /** `provisional`: the edge may still have served the text from before the last known change. */
  phase: z.enum(['provisional', 'settled']),
  target: text,
  policyType: optional,
  /** The policy of the page; for the embed endpoint, the policy named in its response. */
  policyId: optional,
  status: z.number().int(),
  /** `absent`: the service answered that there is nothing (404, 410). */
  outcome: z.enum(['present', 'absent']),
  /** Without its query. */
  url: text,
  redirects: z.number().int(),
  headers: z.object({
    date: optional,
    age: z.number().int().nullable(),
    etag: optional,
    lastModified: optional,
    cacheControl: optional,
    contentType: optional,
  }),
  requestedAt: text,
  receivedAt: text,
  /** The service produced this response between these times, taking caches into account. */
  originFrom: text,
  originTo: text,
  bytes: z.number().int(),
  bodySha256: text,
  /** Hash of the visible text (texts/policy-text.ts), and how it was extracted; null if there is none. */
  textSha256: optional,
  textForm: optional,
  /** The entry with the same bytes; the body of this entry then only refers to it. */
  equals: z.object({ seq: z.number().int(), sha256: text }).nullable(),
  /** OpenAPI only: what the client relies on but the description no longer has. */
  findings: z.array(text).nullable(),
});
export type SnapshotMeta = z.infer<typeof snapshotMetaSchema>;

/** The parts of a response that date it. Times are ISO 8601 UTC, our clock. */
interface DatedAnswer {
  readonly requestedAt: string;
  readonly receivedAt: string;
  readonly headers: {
    /** Seconds (RFC 9111 §5.1). */
    readonly age: number | null;
    readonly date: string | null;
    readonly cacheControl: string | null;
  };
}

/** A Date further in the past indicates a wrong clock instead of an old cache; milliseconds. */
const DATE_BELIEVED_MS = 24 * 3_600_000;

/**
 * The times between which the service must have produced a response. With an Age header (whole seconds, RFC 9111 §5.1),
 * that long before it arrived; without one, up to `cacheMs` before, or longer if a cacheable response (`cacheMs` over
 * 0) says so. An earlier Date header moves the beginning to it: either a cache sends no Age, or a clock is behind,
 * which cannot be distinguished.
 */
export function originWindow(answer: DatedAnswer, cacheMs: number): { originFrom: string; originTo: string } {
  const { age, date, cacheControl } = answer.headers;
  const requested = Date.parse(answer.requestedAt);
  const received = Date.parse(answer.receivedAt);
  // Another second, because the header counts whole seconds.
  const oldest = age === null ? longestKept(cacheMs, cacheControl) : age * 1000 + 1000;
  const youngest = age === null ? 0 : age * 1000;
  const stated = date === null ? Number.NaN : Date.parse(date);
  const from = stated >= requested - DATE_BELIEVED_MS ? Math.min(stated, requested - oldest) : requested - oldest;
  return { originFrom: isoAt(from), originTo: isoAt(Math.max(received - youngest, from)) };
}

/**
 * How long a cache may serve a response: the known time, or according to its Cache-Control (RFC 9111 §5.2.2, RFC 5861
 * §3); milliseconds.
 */
function longestKept(cacheMs: number, cacheControl: string | null): number {
  if (cacheMs === 0 || cacheControl === null) return cacheMs;
  const seconds = (directive: string): number =>
    Number(new RegExp(`(?:^|[\\s,])${directive}="?(\\d{1,9})(?!\\d)`, 'i').exec(cacheControl)?.[1] ?? 0);
  const fresh = Math.max(cacheMs, 1000 * (seconds('s-maxage') || seconds('max-age')));
  return fresh + 1000 * seconds('stale-while-revalidate');
}

/**
 * Whether a response shows the result of a change: requested when the edge could no longer have the old text, and
 * produced after the change according to its headers.
 */
export function showsChange(changedAt: string, requestedAt: string, originFrom: string): boolean {
  const changed = Date.parse(changedAt);
  return Date.parse(requestedAt) >= changed + SETTLED_AFTER_MS && Date.parse(originFrom) >= changed;
}

function isoAt(time: number): string {
  return new Date(time).toISOString();
}
