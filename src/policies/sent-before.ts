import { canonicalJson } from '../crypto/canonical.ts';
import type { Query } from '../store/store.ts';
import { aboutOf, type FormA } from './generate.ts';
import { isTwin, loadOpenGenerations } from './twin.ts';

/** Items that were made or may have been, by their positions from 0, and what the first of them was sent with. */
export interface SentBefore {
  readonly positions: readonly number[];
  readonly first: SentWith;
}

/** A plan, or a single call, that items were sent with. */
export interface SentWith {
  readonly id: string;
  /** Of a plan: the name of its file, for people. */
  readonly file: string | null;
  readonly at: string;
}

/** Which of the items were made, or may have been, with other files of the source or one by one: a file that grew is not sent a second time as a whole. */
export async function findSentBefore(read: Query, source: string, items: readonly FormA[]): Promise<SentBefore | null> {
  const planned = await read
    .selectFrom('call_items as item')
    .innerJoin('call_plans as plan', 'plan.plan_id', 'item.plan_id')
    .select(['item.item', 'plan.plan_id', 'plan.file', 'plan.created_at'])
    .where('item.source', '=', source)
    .where('item.state', 'in', ['sent', 'unknown', 'created'])
    .execute();
  const single = await loadOpenGenerations(read, source);
  const byItem = new Map<string, SentWith>();
  for (const { item, plan_id: id, file, created_at: at } of planned) byItem.set(item, { id, file, at });
  const found = items.flatMap((item, position) => {
    const twin = single.find((call) => isTwin(call, aboutOf(item)));
    const first =
      byItem.get(canonicalJson(item).toString('utf8')) ??
      (twin === undefined ? undefined : { id: twin.request_id, file: null, at: twin.asked_at });
    return first === undefined ? [] : [{ position, first }];
  });
  const [one] = found;
  if (one === undefined) return null;
  return { positions: found.map(({ position }) => position), first: one.first };
}
