import type { CallList } from '../core/call.ts';
import type { Query } from '../store/store.ts';

/** A policy of which the service's list says something else than its deliveries, and what each of them says. */
export interface Disagreement {
  readonly source: string;
  readonly policyId: string;
  /** A whole sentence. */
  readonly sentence: string;
}

/** How far the time in a list and the time in a delivery may lie apart, and how old a change must be before its delivery is missed. */
const TOLERANCE_MS = 600_000;

/**
 * Compares the newest list of published policies (docs/service.md §4.3) with the last delivery about each policy (§6). Only deliveries that came before the
 * list count: what came after it, the next list tells. A policy that no delivery told of is not compared.
 */
export async function findDisagreements(read: Query, source?: string): Promise<readonly Disagreement[]> {
  let lists = read.selectFrom('policy_lists').select(['source', 'seq', 'fetched_at']);
  if (source !== undefined) lists = lists.where('source', '=', source);
  const found: Disagreement[] = [];
  for (const list of await lists.orderBy('source').execute()) {
    const rows = await read
      .selectFrom('policies as told')
      .leftJoin('listed_policies as listed', (join) =>
        join.onRef('listed.source', '=', 'told.source').onRef('listed.policy_id', '=', 'told.policy_id'),
      )
      .select(['told.policy_id', 'told.policy_type', 'told.status', 'told.last_at', 'told.published_at'])
      .select(['listed.list_id', 'listed.gone_at', 'listed.updated_at'])
      .where('told.source', '=', list.source)
      .where('told.last_seq', '<', list.seq)
      .orderBy('told.policy_id')
      .execute();
    const isWhole = rows.length > 0 && (await loadWhole(read, list.seq));
    for (const row of rows) {
      const difference = differenceOf(row, { isWhole, fetchedAt: list.fetched_at });
      if (difference === null) continue;
      const name = row.policy_type === null ? row.policy_id : `${row.policy_id} (${row.policy_type})`;
      found.push({
        source: list.source,
        policyId: row.policy_id,
        sentence: `The service's list and its deliveries disagree about ${name}: ${difference}.`,
      });
    }
  }
  return found;
}

interface Told {
  readonly status: string;
  readonly last_at: string;
  readonly published_at: string | null;
  readonly list_id: string | null;
  readonly gone_at: string | null;
  readonly updated_at: string | null;
}

/** What each side says; null: they agree, or nothing can be said. */
function differenceOf(told: Told, list: { readonly isWhole: boolean; readonly fetchedAt: string }): string | null {
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

/** Milliseconds of a time that names its offset: of any other nobody can say when it is. */
function timeOf(text: string | null): number | null {
  const at = text !== null && /T.*(Z|[+-]\d{2}:?\d{2})$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

/** Of any offset, in UTC to the minute. */
function minuteOf(text: string): string {
  return new Date(text).toISOString().slice(0, 16).replace('T', ' ');
}

/** Whether the list says itself that it leaves nothing out. */
async function loadWhole(read: Query, seq: number): Promise<boolean> {
  const entry = await read.selectFrom('entries').select('meta').where('seq', '=', seq).executeTakeFirst();
  return entry?.meta != null && (JSON.parse(entry.meta.toString('utf8')) as CallList).whole;
}
