import type { Source } from '../core/source.ts';
import type { Query } from '../store/store.ts';
import { choose, type ErasureChoice } from './choose.ts';
import { type ErasureDeps, type ErasurePlan, planErasure } from './plan.ts';

/** The most refusals that are named. */
const NAMED = 20;

/** What would be erased, or why nothing would. */
export type PlanFound =
  | { readonly outcome: 'found'; readonly plan: ErasurePlan }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/** Plans what a person asks to be erased. `slugs`: the sources that the person may see; null: all. */
export async function planFor(
  deps: ErasureDeps & { readonly sources: { findAny(slug: string): Source | null } },
  choice: ErasureChoice,
  slugs: readonly string[] | null,
): Promise<PlanFound> {
  const refused = (...problems: string[]) => ({ outcome: 'refused' as const, problems });
  if (choice.by === 'case' && slugs !== null) {
    const place = await findCasePlace(deps.store.read, choice.caseId);
    if (place === null || !slugs.includes(place.source)) return refused(`Unknown request ${choice.caseId}.`);
  }
  const chosen = await choose(deps, choice);
  if (chosen.outcome === 'refused') return chosen;
  const plan = await planErasure(deps, chosen.chosen);
  if (slugs !== null && [...plan.entries, ...plan.suppress].some(({ source }) => !slugs.includes(source)))
    return refused('Some of it belongs to sources that you cannot see: ask a colleague who can see every source.');
  if (plan.refusals.length > 0)
    return refused(
      ...plan.refusals.slice(0, NAMED).map(({ seq, reason }) => `Entry ${seq} cannot be erased: ${reason}.`),
    );
  if (plan.entries.length + plan.documents.length + plan.suppress.length === 0)
    return refused(plan.alreadyErased.length > 0 ? 'All of it is already erased.' : 'There is nothing to erase.');
  return { outcome: 'found', plan };
}

/** The source and the jurisdiction of a request; null: there is none. */
export async function findCasePlace(
  read: Query,
  caseId: string,
): Promise<{ readonly source: string; readonly jurisdiction: string | null } | null> {
  const row = await read
    .selectFrom('cases')
    .select(['source', 'jurisdiction'])
    .where('case_id', '=', caseId)
    .executeTakeFirst();
  return row ?? null;
}
