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
  /** `provisional`: so soon after a change that the edge may still have served the text of before. */
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
  /** Of the visible text (core/policy-text.ts), and how it was found; null where there is none. */
  textSha256: optional,
  textForm: optional,
  /** The entry that holds the same bytes; this one's body then only says so. */
  equals: z.object({ seq: z.number().int(), sha256: text }).nullable(),
  /** OpenAPI only: what the client relies on and the description no longer has. */
  findings: z.array(text).nullable(),
});
export type SnapshotMeta = z.infer<typeof snapshotMetaSchema>;

/**
 * Between which moments the service must have made an answer that was asked for and received at these times (ISO 8601 UTC).
 * With an Age header (whole seconds, RFC 9111 §5.1) that much earlier; without one, anything up to `cacheMs` earlier.
 */
export function originWindow(
  answer: { readonly requestedAt: string; readonly receivedAt: string; readonly age: number | null },
  cacheMs: number,
): { originFrom: string; originTo: string } {
  const requested = Date.parse(answer.requestedAt);
  const received = Date.parse(answer.receivedAt);
  // A second more, because the header counts whole ones.
  const oldest = answer.age === null ? cacheMs : answer.age * 1000 + 1000;
  const youngest = answer.age === null ? 0 : answer.age * 1000;
  return { originFrom: isoAt(requested - oldest), originTo: isoAt(Math.max(received - youngest, requested - oldest)) };
}

function isoAt(time: number): string {
  return new Date(time).toISOString();
}
