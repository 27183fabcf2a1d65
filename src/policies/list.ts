import { createHash, randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { CallList } from '../core/call.ts';
import type { Source } from '../core/source.ts';
import { momentText } from '../core/time-words.ts';
import { withoutToken } from '../service/answer-json.ts';
import { type ListedPolicy, type PolicyList, readLinks, readPublished } from '../service/policies.ts';
import { ServiceError } from '../service/service-error.ts';
import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';
import { appendCall, storable } from './call-once.ts';
import { isCallable, type PolicyDeps, whyNotCallable } from './callable-source.ts';
import type { CallRow } from './settle-calls.ts';

export type ListedRow = Selectable<Tables['listed_policies']>;

/**
 * `unchanged`: the same bytes as the last time, at the given time; nothing was written. Not `whole`: the list itself
 * says that there are more policies, so missing ones do not count as gone.
 */
export type ListOutcome =
  | { readonly outcome: 'stored'; readonly policies: number; readonly whole: boolean }
  | { readonly outcome: 'unchanged'; readonly policies: number; readonly whole: boolean; readonly since: string }
  | { readonly outcome: 'failed'; readonly reason: string }
  | { readonly outcome: 'not-configured'; readonly reason: string };

/**
 * Reads the list of published policies (docs/service.md §4.3) into the local catalogue. Each response is stored byte
 * for byte as an entry; an identical list is stored once, and again only after deliveries reported changes. A read, so
 * it needs no intent and may be retried.
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
    await appendCall(deps, source.slug, { meta, keyParts: [listId, String(page)], body: bytes });
  }
  await deps.catchUp();
  return { outcome: 'stored', policies, whole };
}

/** Whether deliveries reported changes after that entry: then an identical list is news, because it does not show them. */
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

/** The catalogue: the policies listed now, optionally also those no longer listed. */
export async function loadCatalogue(
  deps: Pick<PolicyDeps, 'store'>,
  filter: { readonly source?: string | undefined; readonly gone?: boolean | undefined } = {},
): Promise<readonly ListedRow[]> {
  let query = deps.store.read.selectFrom('listed_policies').selectAll();
  if (filter.source !== undefined) query = query.where('source', '=', filter.source);
  if (filter.gone !== true) query = query.where('gone_at', 'is', null);
  return query.orderBy('source').orderBy('policy_type').orderBy('jurisdiction').orderBy('policy_id').execute();
}

/** The key of a source's policy in the maps of this file. */
export function listedPolicyKey(source: string, policyId: string): string {
  return `${source}\n${policyId}`;
}

/**
 * The links of listed policies with their tokens, without which they answer 404 (docs/service.md §2.2). Read models
 * contain no tokens, so they are read from the stored lists.
 */
export async function loadListedLinks(
  read: Query,
  rows: readonly Pick<ListedRow, 'source' | 'policy_id' | 'last_seq'>[],
): Promise<ReadonlyMap<string, string>> {
  const links = new Map<string, string>();
  for (const seq of new Set(rows.map(({ last_seq }) => last_seq))) {
    const body = await loadBody(read, seq);
    if (body === null) continue;
    const named = readLinks(body);
    for (const { source, policy_id: policyId, last_seq: lastSeq } of rows) {
      const link = lastSeq === seq ? named.get(policyId) : undefined;
      if (link !== undefined) links.set(listedPolicyKey(source, policyId), link);
    }
  }
  return links;
}

/** The same from the response to a successful publish; null if it has none. */
export async function loadPublishedLink(
  read: Query,
  call: Pick<CallRow, 'answer_seq' | 'policy_id'> | undefined,
): Promise<string | null> {
  if (call?.answer_seq == null || call.policy_id === null) return null;
  const body = await loadBody(read, call.answer_seq);
  try {
    return body === null ? null : readPublished(body, call.policy_id).link;
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

async function loadBody(read: Query, seq: number): Promise<Buffer | null> {
  const row = await read.selectFrom('entries').select('body').where('seq', '=', seq).executeTakeFirst();
  return row?.body ?? null;
}

/** A policy on which the service's list and its deliveries disagree, and what each says. */
export interface Disagreement {
  readonly source: string;
  readonly policyId: string;
  /** A whole sentence. */
  readonly sentence: string;
}

/** How far the times in a list and in a delivery may differ, and how old a change must be before its delivery counts as missing. */
const TOLERANCE_MS = 600_000;

/**
 * Compares the newest list of published policies (docs/service.md §4.3) with the last delivery about each policy (§6).
 * Only deliveries before the list count; later changes will be in the next list. A policy that no delivery reported is
 * not compared.
 */
export async function findDisagreements(
  read: Query,
  { timeZone, source }: { readonly timeZone: string; readonly source?: string | undefined },
): Promise<readonly Disagreement[]> {
  const rows = await read
    .selectFrom('policy_lists as list')
    .innerJoin('policies as told', (join) =>
      join.onRef('told.source', '=', 'list.source').onRef('told.last_seq', '<', 'list.seq'),
    )
    .leftJoin('listed_policies as listed', (join) =>
      join.onRef('listed.source', '=', 'told.source').onRef('listed.policy_id', '=', 'told.policy_id'),
    )
    .select(['list.source', 'list.seq', 'list.fetched_at'])
    .select(['told.policy_id', 'told.policy_type', 'told.status', 'told.last_at', 'told.published_at'])
    .select(['listed.list_id', 'listed.gone_at', 'listed.updated_at'])
    .$if(source !== undefined, (some) => some.where('list.source', '=', source ?? ''))
    .orderBy('list.source')
    .orderBy('told.policy_id')
    .execute();
  // Only of the lists that lack a policy.
  const whole = new Map<number, boolean>();
  for (const { seq, list_id: listId } of rows)
    if (listId === null && !whole.has(seq)) whole.set(seq, await loadWhole(read, seq));
  return rows.flatMap((row) => {
    const isWhole = whole.get(row.seq) ?? false;
    const difference = differenceOf(row, { isWhole, fetchedAt: row.fetched_at }, timeZone);
    if (difference === null) return [];
    const { source: slug, policy_id: policyId, policy_type: type } = row;
    const name = type === null ? policyId : `${policyId} (${type})`;
    const sentence = `The service's list and its deliveries disagree about ${name}: ${difference}.`;
    return [{ source: slug, policyId, sentence }];
  });
}

interface Told {
  readonly status: string;
  readonly last_at: string;
  readonly published_at: string | null;
  readonly list_id: string | null;
  readonly gone_at: string | null;
  readonly updated_at: string | null;
}

/** What each side says; null: they agree, or nothing can be concluded. */
function differenceOf(
  told: Told,
  list: { readonly isWhole: boolean; readonly fetchedAt: string },
  timeZone: string,
): string | null {
  const minuteOf = (text: string) => momentText(text, timeZone);
  const isListed = told.list_id !== null && told.gone_at === null;
  if (told.status === 'deleted')
    return isListed
      ? `a delivery says that it was deleted on ${minuteOf(told.last_at)}, but the list still contains it`
      : null;
  if (!isListed) {
    if (told.published_at === null || (told.list_id === null && !list.isWhole)) return null;
    return `a delivery says that it was published on ${minuteOf(told.published_at)}, but the list does not contain it`;
  }
  const updatedAt = timeOf(told.updated_at);
  if (told.updated_at === null || updatedAt === null) return null;
  const ahead = updatedAt - Date.parse(told.last_at);
  if (ahead > TOLERANCE_MS && Date.parse(list.fetchedAt) - updatedAt > TOLERANCE_MS)
    return `the list says that it changed on ${minuteOf(told.updated_at)}, but the last change reported by a delivery was on ${minuteOf(told.last_at)}`;
  if (told.status === 'updated' && ahead < -TOLERANCE_MS)
    return `a delivery says that it changed on ${minuteOf(told.last_at)}, but the list says that it last changed on ${minuteOf(told.updated_at)}`;
  return null;
}

/** Milliseconds of a time with an offset; null for any other, which is ambiguous. */
function timeOf(text: string | null): number | null {
  const at = text !== null && /T.*(Z|[+-]\d{2}:?\d{2})$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

/** Whether the list itself says that it is complete. */
async function loadWhole(read: Query, seq: number): Promise<boolean> {
  const entry = await read.selectFrom('entries').select('meta').where('seq', '=', seq).executeTakeFirst();
  return entry?.meta != null && (JSON.parse(entry.meta.toString('utf8')) as CallList).whole;
}
