import { createHash, randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { CallList } from '../core/call.ts';
import type { Source } from '../core/source.ts';
import { withoutToken } from '../service/answer-json.ts';
import type { ListedPolicy, PolicyList } from '../service/policies.ts';
import { ServiceError } from '../service/service-error.ts';
import type { Tables } from '../store/schema.ts';
import { appendCall, storable } from './append-call.ts';
import { isCallable, type PolicyDeps, whyNotCallable } from './callable.ts';

export type ListedRow = Selectable<Tables['listed_policies']>;

/**
 * `unchanged`: the same bytes as the last time, which was then; nothing was written. Not `whole`: the list says itself that there are more policies
 * than it names, so none that it leaves out counts as gone.
 */
export type ListOutcome =
  | { readonly outcome: 'stored'; readonly policies: number; readonly whole: boolean }
  | { readonly outcome: 'unchanged'; readonly policies: number; readonly whole: boolean; readonly since: string }
  | { readonly outcome: 'failed'; readonly reason: string }
  | { readonly outcome: 'not-configured'; readonly reason: string };

/**
 * Takes the list of published policies (docs/service.md §4.3) into the local catalogue. Each answer is kept byte for byte as an entry; an equal list is
 * kept once, and again only after deliveries told of changes. A read: it needs no intent, and may be tried again.
 */
export async function fetchPolicyList(
  deps: PolicyDeps,
  request: { readonly source: Source; readonly actor: string; readonly signal?: AbortSignal | undefined },
): Promise<ListOutcome> {
  const { source, actor, signal } = request;
  if (!isCallable(source)) return { outcome: 'not-configured', reason: whyNotCallable(source) ?? '' };
  let list: PolicyList;
  try {
    list = await deps.clientFor(source).fetchPolicyPages(signal);
  } catch (error) {
    if (signal?.aborted) return { outcome: 'failed', reason: 'Stopped before the service answered.' };
    if (!(error instanceof ServiceError)) throw error;
    return { outcome: 'failed', reason: error.message };
  }
  const { pages, whole } = list;
  const hash = createHash('sha256');
  for (const { bytes } of pages) hash.update(bytes);
  const digest = hash.digest('hex');
  await deps.catchUp();
  const before = await deps.store.read
    .selectFrom('policy_lists')
    .selectAll()
    .where('source', '=', source.slug)
    .executeTakeFirst();
  const policies = pages.reduce((sum, page) => sum + page.policies.length, 0);
  if (before?.digest === digest && !(await toldSince(deps, source.slug, before.seq)))
    return { outcome: 'unchanged', policies, whole, since: before.fetched_at };
  const listId = `list-${randomUUID()}`;
  for (const [page, { policies: listed, bytes }] of pages.entries()) {
    const meta: CallList = {
      call: 'list',
      listId,
      actor,
      page,
      pages: pages.length,
      digest,
      whole,
      policies: listed.map(factsOf),
    };
    await appendCall(deps, source.slug, meta, [listId, String(page)], bytes);
  }
  await deps.catchUp();
  return { outcome: 'stored', policies, whole };
}

/** Whether deliveries told of changes after that entry: an equal list is then news, since it does not show them. */
async function toldSince({ store }: Pick<PolicyDeps, 'store'>, source: string, seq: number): Promise<boolean> {
  const query = store.read
    .selectFrom('policy_history')
    .select('seq')
    .where('source', '=', source)
    .where('seq', '>', seq);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

function factsOf(policy: ListedPolicy): CallList['policies'][number] {
  const text = (value: string | null | undefined) => (value ? storable(value).slice(0, 500) : null);
  return {
    id: storable(policy.id),
    policyType: text(policy.policy_type),
    title: text(policy.title),
    jurisdiction: text(policy.jurisdiction),
    language: text(policy.language),
    updatedAt: text(policy.updated_at),
    url: text(withoutToken(policy.url ?? null)),
  };
}

/** The catalogue: what is listed now, or also what is not any more. */
export async function loadCatalogue(
  deps: Pick<PolicyDeps, 'store'>,
  filter: { readonly source?: string | undefined; readonly gone?: boolean | undefined } = {},
): Promise<readonly ListedRow[]> {
  let query = deps.store.read.selectFrom('listed_policies').selectAll();
  if (filter.source !== undefined) query = query.where('source', '=', filter.source);
  if (filter.gone !== true) query = query.where('gone_at', 'is', null);
  return query.orderBy('source').orderBy('policy_type').orderBy('jurisdiction').orderBy('policy_id').execute();
}
