import { HUB } from '../texts/snapshot.ts';
import type { Source } from '../core/source.ts';
import type { SnapshotDeps } from './fetching.ts';
import { routineJob } from './request.ts';

/** A policy that has a public text, or a type of which the embed endpoint shows one. */
export interface KnownPolicy {
  readonly policyId: string | null;
  readonly policyType: string | null;
  /** The embed endpoint is asked for its type on account of another one. */
  readonly hostedOnly: boolean;
}

/** Jobs of one round are spread over this long, at most this far apart. */
const ROUND_MS = 3_600_000;
const APART_MS = 5_000;

/** Asks for a look at every known policy of these sources and at their `hub`; how many. One after the other, not all at once. */
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
 * What can be looked at: policies that deliveries told of or that the service lists, each type of the embed endpoint once, and `hub`. A list
 * that cannot be had leaves what the deliveries told.
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
