import { z } from 'zod';

/** How long the service's edge may go on serving what it has (docs/service.md §8), milliseconds. */
export const EDGE_CACHE_MS = 5 * 60_000;

/** A fetch this long after a change shows what came of it: the edge's time and a minute, milliseconds. */
export const SETTLED_AFTER_MS = EDGE_CACHE_MS + 60_000;

/** The type that lists all policies, of the embed endpoint only (docs/service.md §2.6). */
export const HUB = 'hub';

/** What is looked at: `embed:<type>`, `hosted:<policy id>` or `openapi`. */
export type SnapshotTarget = `embed:${string}` | `hosted:${string}` | 'openapi';

const text = z.string();
const optional = z.string().nullable();

/** Meta of an entry of kind `snapshot`: how an answer came, never a token or key. */
export const snapshotMetaSchema = z.object({
  what: z.enum(['policy', 'openapi']),
  /** One per fetch: a job that runs twice records one. */
  fetchId: text,
  /** What asked for it: a delivery, a publication by this program, the schedule or a person. */
  why: z.enum(['webhook', 'publish', 'schedule', 'command']),
  /** `provisional`: the edge may still have served the text of before the last change that was known. */
  phase: z.enum(['provisional', 'settled']),
  target: text,
  policyType: optional,
  /** Of the page fetched; of the embed endpoint the policy that its answer names. */
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
  /** The service gave this answer out no sooner and no later than this, caches taken into account. */
  originFrom: text,
  originTo: text,
  bytes: z.number().int(),
  bodySha256: text,
  /** Of the visible text (texts/policy-text.ts), and how it was found; null where there is none. */
  textSha256: optional,
  textForm: optional,
  /** The entry that holds the same bytes; this one's body then only says so. */
  equals: z.object({ seq: z.number().int(), sha256: text }).nullable(),
  /** OpenAPI only: what the client relies on and the description no longer has. */
  findings: z.array(text).nullable(),
});
export type SnapshotMeta = z.infer<typeof snapshotMetaSchema>;

/** An answer as far as its headers say when it was made. Times are ISO 8601 UTC, our clock. */
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

/** A Date that lies further back says that a clock is wrong, not that a cache is old; milliseconds. */
const DATE_BELIEVED_MS = 24 * 3_600_000;

/**
 * Between which moments the service must have made an answer. With an Age header (whole seconds, RFC 9111 §5.1) that much before it
 * came; without one, anything up to `cacheMs` before, or longer where an answer that is cached (`cacheMs` over 0) says that it may be. An
 * earlier Date header moves the beginning to it: a cache that names no Age, or a clock that is behind, which cannot be told apart.
 */
export function originWindow(answer: DatedAnswer, cacheMs: number): { originFrom: string; originTo: string } {
  const { age, date, cacheControl } = answer.headers;
  const requested = Date.parse(answer.requestedAt);
  const received = Date.parse(answer.receivedAt);
  // A second more, because the header counts whole ones.
  const oldest = age === null ? longestKept(cacheMs, cacheControl) : age * 1000 + 1000;
  const youngest = age === null ? 0 : age * 1000;
  const stated = date === null ? Number.NaN : Date.parse(date);
  const from = stated >= requested - DATE_BELIEVED_MS ? Math.min(stated, requested - oldest) : requested - oldest;
  return { originFrom: isoAt(from), originTo: isoAt(Math.max(received - youngest, from)) };
}

/** How long a cache may go on serving an answer: as is known of it, or as its Cache-Control says (RFC 9111 §5.2.2, RFC 5861 §3); milliseconds. */
function longestKept(cacheMs: number, cacheControl: string | null): number {
  if (cacheMs === 0 || cacheControl === null) return cacheMs;
  const seconds = (directive: string): number =>
    Number(new RegExp(`(?:^|[\\s,])${directive}="?(\\d{1,9})(?!\\d)`, 'i').exec(cacheControl)?.[1] ?? 0);
  const fresh = Math.max(cacheMs, 1000 * (seconds('s-maxage') || seconds('max-age')));
  return fresh + 1000 * seconds('stale-while-revalidate');
}

/**
 * Whether an answer shows what came of a change: asked for when the edge cannot have kept the text of before any longer, and made after
 * the change as far as its headers say.
 */
export function showsChange(changedAt: string, requestedAt: string, originFrom: string): boolean {
  const changed = Date.parse(changedAt);
  return Date.parse(requestedAt) >= changed + SETTLED_AFTER_MS && Date.parse(originFrom) >= changed;
}

function isoAt(time: number): string {
  return new Date(time).toISOString();
}
