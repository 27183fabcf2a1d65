import type { Selectable } from 'kysely';
import { withoutToken } from '../service/answer-json.ts';
import type { Sources } from '../sources/sources.ts';
import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';
import { type ListedRow, listedPolicyKey, loadListedLinks, loadPublishedLink } from './list.ts';
import { type CallRow, findCall, type ItemRow } from './settle-calls.ts';
import { askedOf } from './unsettled-call.ts';

/** Everything known of one policy. */
export interface PolicyView {
  readonly source: string;
  readonly policyId: string;
  /** As deliveries reported it; null if none did. */
  readonly policy: Selectable<Tables['policies']> | null;
  /** Oldest first. */
  readonly history: readonly Selectable<Tables['policy_history']>[];
  /** As the service listed it. */
  readonly listed: ListedRow | null;
  /** Calls from here that made or published it, oldest first. */
  readonly calls: readonly CallRow[];
  /** What was requested from here, singly or in a batch; null if it was not generated from here. */
  readonly asked: ReturnType<typeof askedOf> | null;
}

/** What is known of a policy in every source that knows it, or in one. */
export async function loadPolicy(read: Query, policyId: string, source?: string): Promise<readonly PolicyView[]> {
  const inSource = <T extends { source: string }>(rows: readonly T[]) =>
    source === undefined ? rows : rows.filter((row) => row.source === source);
  const policies = inSource(await read.selectFrom('policies').selectAll().where('policy_id', '=', policyId).execute());
  const listed = inSource(
    await read.selectFrom('listed_policies').selectAll().where('policy_id', '=', policyId).execute(),
  );
  const made = await read
    .selectFrom('call_items')
    .select(['source', 'request_id', 'item'])
    .where('policy_id', '=', policyId)
    .execute();
  const batches = made.flatMap(({ request_id: id }) => (id === null ? [] : [id]));
  const calls = inSource(
    await read
      .selectFrom('calls')
      .selectAll()
      .where((eb) =>
        eb.or([eb('policy_id', '=', policyId), ...(batches.length > 0 ? [eb('request_id', 'in', batches)] : [])]),
      )
      .orderBy('intent_seq')
      .execute(),
  );
  const sources = [...new Set([...policies, ...listed, ...calls].map((row) => row.source))].sort();
  return Promise.all(
    sources.map(async (slug) => ({
      source: slug,
      asked: whatWasAsked(
        calls.find((row) => row.source === slug && row.operation === 'generate'),
        made.find((row) => row.source === slug),
      ),
      policyId,
      policy: policies.find((row) => row.source === slug) ?? null,
      history: await read
        .selectFrom('policy_history')
        .selectAll()
        .where('source', '=', slug)
        .where('policy_id', '=', policyId)
        .orderBy('seq')
        .orderBy('part')
        .execute(),
      listed: listed.find((row) => row.source === slug) ?? null,
      calls: calls.filter((row) => row.source === slug),
    })),
  );
}

/** The working link: from the service's list, or else from the last publish made here. It contains a token. */
export async function loadWorkingLink(read: Query, view: PolicyView): Promise<string | null> {
  const { listed } = view;
  const links = listed === null || listed.gone_at !== null ? null : await loadListedLinks(read, [listed]);
  return links?.get(listedPolicyKey(view.source, view.policyId)) ?? (await loadPublishedLink(read, lastPublish(view)));
}

/** The last successful publish made here. */
export function lastPublish({ calls }: Pick<PolicyView, 'calls'>): CallRow | undefined {
  return calls.findLast(({ operation, state }) => operation === 'publish' && state === 'done');
}

/** A public address as people see it: `href` works, `words` are without the token. Both begin with http(s). */
export interface PublicAddress {
  readonly href: string;
  readonly words: string;
}

/** The address of a link from the service; null unless it is one of http or https. */
export function publicAddressOf(link: string | null | undefined): PublicAddress | null {
  const words = withoutToken(link ?? null);
  return link == null || words === null ? null : { href: link, words };
}

/** Where anyone can read the policy, as far as known; null: it is not known to be public. */
export async function loadPublicAddress(read: Query, view: PolicyView): Promise<PublicAddress | null> {
  if (view.policy?.status === 'deleted') return null;
  const link = await loadWorkingLink(read, view);
  return publicAddressOf(link ?? view.listed?.url ?? view.policy?.hosted_url ?? lastPublish(view)?.hosted_url);
}

/** Policies as deliveries reported them, by source and id. */
export function loadReported(
  read: Query,
  filter: {
    /** Null: all. */
    readonly sources: readonly string[] | null;
    readonly policyId?: string | undefined;
    readonly limit: number;
  },
): Promise<readonly Selectable<Tables['policies']>[]> {
  let query = read.selectFrom('policies').selectAll();
  if (filter.sources !== null) query = query.where('source', 'in', [...filter.sources]);
  if (filter.policyId !== undefined) query = query.where('policy_id', '=', filter.policyId);
  return query.orderBy('source').orderBy('policy_id').limit(filter.limit).execute();
}

/**
 * The other source to which a policy belongs according to the ledger; null: it belongs to this one, or nothing says. The
 * service does not distinguish sources that share an API key; with different keys it does, and their policies may have
 * the same ids. A policy made from here counts as its source's; without that, what deliveries named counts more than the
 * list, which names the policies of all of them.
 */
export async function findOtherOwner(
  { store: { read }, sources }: { readonly store: { readonly read: Query }; readonly sources: Pick<Sources, 'find'> },
  policyId: string,
  source: string,
): Promise<string | null> {
  const found = await Promise.all([
    read
      .selectFrom('calls')
      .select('source')
      .where('policy_id', '=', policyId)
      .where('operation', '=', 'generate')
      .unionAll(read.selectFrom('call_items').select('source').where('policy_id', '=', policyId))
      .execute(),
    read.selectFrom('policies').select('source').where('policy_id', '=', policyId).execute(),
    read.selectFrom('listed_policies').select('source').where('policy_id', '=', policyId).execute(),
  ]);
  const own = sources.find(source);
  // An offboarded source is not found; its policies are still its own.
  const sharesKey = (slug: string) => {
    const other = sources.find(slug);
    return other === null || other.apiKey === null || (other.apiKey === own?.apiKey && other.baseUrl === own.baseUrl);
  };
  const owners = found.map((rows) =>
    rows.map((row) => row.source).filter((slug) => slug === source || sharesKey(slug)),
  );
  const strongest = owners.find((slugs) => slugs.length > 0) ?? [];
  return strongest.includes(source) ? null : (strongest[0] ?? null);
}

function whatWasAsked(call: CallRow | undefined, item: Pick<ItemRow, 'item'> | undefined): PolicyView['asked'] {
  return call ?? (item === undefined ? null : askedOf(item));
}

/** The items with an unknown outcome of each of these batches, by position from 0. */
export async function loadUnknownItems(
  read: Query,
  calls: readonly Pick<CallRow, 'request_id' | 'plan_id'>[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const batches = calls.flatMap(({ request_id: id, plan_id: plan }) => (plan === null ? [] : [id]));
  const found = new Map<string, number[]>();
  if (batches.length === 0) return found;
  const rows = await read
    .selectFrom('call_items')
    .select(['request_id', 'position'])
    .where('request_id', 'in', batches)
    .where('state', '=', 'unknown')
    .orderBy('position')
    .execute();
  for (const { request_id: id, position } of rows) found.set(id ?? '', [...(found.get(id ?? '') ?? []), position]);
  return found;
}

/** Calls to the service, newest first. `open`: only calls whose outcome, or that of some items, is unknown. */
export async function loadCalls(
  read: Query,
  filter: {
    readonly source?: string | undefined;
    /** Null: all. */
    readonly sources?: readonly string[] | null;
    readonly open?: boolean | undefined;
    /** Only calls requested before this entry. */
    readonly before?: number | undefined;
    readonly limit: number;
  },
): Promise<readonly CallRow[]> {
  let query = read.selectFrom('calls').selectAll();
  if (filter.source !== undefined) query = query.where('source', '=', filter.source);
  if (filter.sources != null) query = query.where('source', 'in', [...filter.sources]);
  if (filter.before !== undefined) query = query.where('intent_seq', '<', filter.before);
  if (filter.open === true)
    query = query.where((eb) =>
      eb.or([
        eb('state', 'in', ['sent', 'unknown']),
        // Answered, but not for every item of the batch.
        eb('request_id', 'in', eb.selectFrom('call_items').select('request_id').where('state', '=', 'unknown')),
      ]),
    );
  return query.orderBy('intent_seq', 'desc').limit(filter.limit).execute();
}

/** Whether this source has such a call. */
export async function hasCall(read: Query, source: string, requestId: string): Promise<boolean> {
  return (await findCall(read, requestId, source)) !== null;
}

/** The rest of a source’s quota, as last reported by the service. */
export interface Quota {
  readonly source: string;
  readonly remaining: number;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** The quotas of these sources; those of which the service has reported none are left out. */
export async function loadQuotas(read: Query, slugs: readonly string[]): Promise<readonly Quota[]> {
  const quotas: Quota[] = [];
  for (const slug of slugs) {
    const last = await read
      .selectFrom('calls')
      .select(['remaining', 'finished_at', 'asked_at'])
      .where('source', '=', slug)
      .where('remaining', 'is not', null)
      .orderBy('intent_seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (last?.remaining != null)
      quotas.push({ source: slug, remaining: Number(last.remaining), at: last.finished_at ?? last.asked_at });
  }
  return quotas;
}
