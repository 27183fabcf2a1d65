import type { Source } from '../core/source.ts';
import type { Query } from '../store/store.ts';
import type { AddressList, SnapshotDeps } from './fetching.ts';

/** The public address of a policy with its token, or why there is none. It is used and forgotten, never kept or shown. */
export type HostedUrl =
  | {
      readonly outcome: 'found';
      readonly url: string;
      readonly policyType: string | null;
      /** Whether the service's list of published policies names the policy; null where the list could not be had. */
      readonly isListed: boolean | null;
    }
  | { readonly outcome: 'unknown'; readonly policyType: string | null }
  | { readonly outcome: 'failed'; readonly transient: boolean; readonly sentence: string };

/** Finds public addresses. The service's list is asked for once for many policies. */
export interface HostedUrls {
  /** `since`: a list from before this moment (ISO 8601 UTC) is asked for again; null: ten minutes old is good enough. */
  find(source: Source, policyId: string, since: string | null, signal?: AbortSignal): Promise<HostedUrl>;
}

const LIST_GOOD_MS = 10 * 60_000;
const LISTS_KEPT = 20;

/** The list goes first; where it does not name the policy or cannot be had, the delivery that told its address. */
export function createHostedUrls(deps: Pick<SnapshotDeps, 'listAddresses' | 'clock' | 'store'>): HostedUrls {
  const lists = new Map<string, { readonly at: number; readonly list: AddressList }>();

  async function listOf(source: Source, since: string | null, signal?: AbortSignal): Promise<AddressList> {
    const now = deps.clock().getTime();
    const kept = lists.get(source.slug);
    const oldest = since === null ? now - LIST_GOOD_MS : Date.parse(since);
    if (kept !== undefined && kept.at > oldest && kept.at > now - LIST_GOOD_MS) return kept.list;
    const list = await deps.listAddresses(source, signal);
    lists.delete(source.slug);
    if (list.outcome === 'listed') lists.set(source.slug, { at: now, list });
    for (const slug of lists.keys()) if (lists.size > LISTS_KEPT) lists.delete(slug);
    return list;
  }

  return {
    async find(source, policyId, since, signal) {
      const list = await listOf(source, since, signal);
      const listed =
        list.outcome === 'listed' ? list.policies.find((policy) => policy.policyId === policyId) : undefined;
      const isListed = list.outcome === 'listed' ? listed !== undefined : null;
      if (listed?.url != null) return { outcome: 'found', url: listed.url, policyType: listed.policyType, isListed };
      const told = await findToldUrl(deps.store.read, source.slug, policyId);
      const policyType = listed?.policyType ?? null;
      if (told !== null) return { outcome: 'found', url: told, policyType, isListed };
      if (list.outcome === 'failed') return list;
      return { outcome: 'unknown', policyType };
    },
  };
}

/** The address that the newest delivery gave, as it stands in its body: the read model has it without its token. */
async function findToldUrl(read: Query, source: string, policyId: string): Promise<string | null> {
  const row = await read
    .selectFrom('policy_history')
    .innerJoin('entries', 'entries.seq', 'policy_history.seq')
    .select(['policy_history.hosted_url as url', 'entries.body as body'])
    .where('policy_history.source', '=', source)
    .where('policy_history.policy_id', '=', policyId)
    .where('policy_history.hosted_url', 'is not', null)
    .orderBy('policy_history.seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row?.url == null || row.body === null) return null;
  try {
    return findAddress(JSON.parse(row.body.toString('utf8')), row.url, MAX_DEPTH);
  } catch {
    return null;
  }
}

const MAX_DEPTH = 6;

/** The text in a payload that is this address and more. */
function findAddress(value: unknown, address: string, depth: number): string | null {
  if (typeof value === 'string') {
    return value === address || value.startsWith(`${address}?`) || value.startsWith(`${address}#`) ? value : null;
  }
  if (typeof value !== 'object' || value === null || depth === 0) return null;
  for (const member of Object.values(value)) {
    const found = findAddress(member, address, depth - 1);
    if (found !== null) return found;
  }
  return null;
}
