import type { Source } from '../core/source.ts';
import type { Jobs, NewJob, WakeUp } from '../jobs/jobs.ts';
import { HUB, SETTLED_AFTER_MS, type SnapshotMeta } from '../policy-texts/snapshot.ts';
import type { StoreTransaction } from '../store/store.ts';
import type { SnapshotDeps } from './fetching.ts';

/** The job kind for fetching texts. */
export const SNAPSHOT_JOB = 'snapshot';

/** A changed policy whose text is to be fetched. Either id or type is enough. */
export interface SnapshotWish {
  readonly source: string;
  readonly policyId: string | null;
  readonly policyType: string | null;
  readonly why: SnapshotMeta['why'];
  /** When we learned of the change, our clock, ISO 8601 UTC. */
  readonly changedAt: string;
  readonly hostedOnly?: boolean | undefined;
}

const MINUTE = 60_000;

/**
 * Requests a fetch now, which may still return the old text, and another for when the edge can no longer have it
 * (docs/service.md §8). Requesting again before then adds nothing. Runs in the caller's transaction; the caller passes
 * the result to `jobs.wake` once it has committed.
 */
export async function requestSnapshotsIn(
  tx: StoreTransaction,
  jobs: Jobs,
  wish: SnapshotWish,
): Promise<readonly WakeUp[]> {
  const wanted = jobsFor(wish);
  for (const job of wanted) await jobs.enqueueIn(tx, job);
  return wanted.map(wakeUpOf);
}

/** The wake-up for a job. */
export function wakeUpOf({ kind, runAt }: NewJob): WakeUp {
  return { kind, at: runAt ?? null };
}

function jobsFor(wish: SnapshotWish): NewJob[] {
  return [{ kind: SNAPSHOT_JOB, key: `${subjectOf(wish)}/now`, payload: payloadOf(wish) }, settledJob(wish)];
}

/** With the back-off of jobs, this outlasts an outage of the service of an hour. */
const SETTLING_ATTEMPTS = 15;

/**
 * The fetch that counts. Its key includes the minute at which it begins: requests within one minute share a job, and
 * none depends on a job that begins too early for it.
 */
function settledJob(wish: SnapshotWish, after = wish.changedAt): NewJob {
  const runAt = new Date(Math.ceil((Date.parse(after) + SETTLED_AFTER_MS) / MINUTE) * MINUTE);
  return {
    kind: SNAPSHOT_JOB,
    key: `${subjectOf(wish)}/${runAt.toISOString().slice(0, 16)}`,
    payload: payloadOf(wish),
    runAt,
    maxAttempts: SETTLING_ATTEMPTS,
  };
}

/** If an edge still serves the old text after this long, the scheduled fetch will find the new one. */
const PATIENCE_MS = 3_600_000;

/**
 * The next fetch after a response, requested at `requestedAt`, that may predate the change: when the edge's cache must
 * have expired, or as long again if it should have expired already. Null: it has been tried for an hour.
 */
export function lookAgainJob(wish: SnapshotWish, requestedAt: string): NewJob | null {
  const since = Date.parse(requestedAt) - Date.parse(wish.changedAt);
  if (since < SETTLED_AFTER_MS) return settledJob(wish);
  return since < PATIENCE_MS ? settledJob(wish, requestedAt) : null;
}

/** A scheduled fetch, without a change. */
function routineJob(wish: Omit<SnapshotWish, 'changedAt'>, runAt: Date): NewJob {
  return {
    kind: SNAPSHOT_JOB,
    key: `${subjectOf(wish)}/routine`,
    payload: payloadOf({ ...wish, changedAt: null }),
    runAt,
    maxAttempts: 3,
  };
}

function subjectOf({ source, policyId, policyType }: Omit<SnapshotWish, 'changedAt' | 'why'>): string {
  if (policyId === null && policyType === null) throw new RangeError('a snapshot needs the id or the type of a policy');
  return `${source}/${policyId ?? `type:${policyType}`}`;
}

function payloadOf(
  wish: Omit<SnapshotWish, 'changedAt'> & { readonly changedAt: string | null },
): NonNullable<NewJob['payload']> {
  const { source, policyId, policyType, why, changedAt, hostedOnly } = wish;
  return { source, policyId, policyType, why, changedAt, ...(hostedOnly === true ? { hostedOnly } : {}) };
}

/** A policy with a public text, or a type for which the embed endpoint shows one. */
export interface KnownPolicy {
  readonly policyId: string | null;
  readonly policyType: string | null;
  /** The embed endpoint is asked for its type because of another policy. */
  readonly hostedOnly: boolean;
}

/** Jobs of one round are distributed over this time, and at most this far apart. */
const ROUND_MS = 3_600_000;
const APART_MS = 5_000;

/** Requests a fetch of every known policy of these sources and of their `hub`, in sequence; returns the number. */
export async function requestRoutineSnapshots(
  deps: SnapshotDeps,
  sources: readonly Source[],
  signal?: AbortSignal,
): Promise<number> {
  const wishes: (KnownPolicy & { readonly source: string })[] = [];
  for (const source of sources) {
    signal?.throwIfAborted();
    if (source.siteUrl === null) continue;
    for (const policy of await loadKnownPolicies(deps, source, signal)) wishes.push({ source: source.slug, ...policy });
  }
  const start = deps.clock().getTime();
  const apart = Math.min(APART_MS, ROUND_MS / Math.max(1, wishes.length));
  for (const [place, wish] of wishes.entries()) {
    await deps.jobs.enqueue(routineJob({ ...wish, why: 'schedule' }, new Date(start + Math.round(place * apart))));
  }
  return wishes.length;
}

/**
 * Everything that can be fetched: policies reported by deliveries or listed by the service, each type of the embed
 * endpoint once, and `hub`. Without the list, only what the deliveries reported.
 */
export async function loadKnownPolicies(
  deps: Pick<SnapshotDeps, 'store' | 'listAddresses'>,
  source: Source,
  signal?: AbortSignal,
): Promise<readonly KnownPolicy[]> {
  const types = new Map<string, string | null>();
  const rows = await deps.store.read
    .selectFrom('policies')
    .select(['policy_id', 'policy_type'])
    .where('source', '=', source.slug)
    .where('status', 'in', ['published', 'updated'])
    .orderBy('policy_id')
    .execute();
  for (const row of rows) types.set(row.policy_id, row.policy_type);
  const list = await deps.listAddresses(source, signal);
  if (list.outcome === 'listed')
    for (const { policyId, policyType } of list.policies)
      types.set(policyId, policyType ?? types.get(policyId) ?? null);
  const seen = new Set<string>();
  const known = [...types].map(([policyId, policyType]): KnownPolicy => {
    const hostedOnly = policyType !== null && seen.has(policyType);
    if (policyType !== null) seen.add(policyType);
    return { policyId, policyType, hostedOnly };
  });
  return source.siteKey === null ? known : [...known, { policyId: null, policyType: HUB, hostedOnly: false }];
}
