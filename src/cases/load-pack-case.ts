import type { ControllerProfile } from '../law/profile.ts';
import { type CaseReading, type CaseView, type IdentityStanding, viewCase } from './view.ts';
import { caseReadiness, disclosureOf, type Readiness } from './readiness.ts';
import { rebuildCase } from './fold.ts';
import type { CaseFolded } from './folded.ts';
import { type Match, matchCase } from './match.ts';
import type { Disclosure } from './moves.ts';

/** What a pack needs to know of its case, as it stood at an entry of the ledger. */
export interface PackCase {
  readonly view: CaseView;
  readonly profile: ControllerProfile | null;
  readonly match: Match;
  readonly disclosure: Disclosure;
  readonly readiness: Readiness;
  /** Whether the identity check that applies was made, and how in words; never a document. */
  readonly identity: { readonly status: IdentityStanding; readonly how: string | null };
  /** The controller's other systems as the case marks them; null: not marked. */
  readonly systems: readonly {
    readonly name: string;
    readonly result: CaseFolded['systems'][string]['result'] | null;
  }[];
}

/**
 * Loads a case for its pack out of the history up to the entry `asOf`: same ledger, same asOf, same `now`, same answer.
 * Null when the case was not there yet.
 */
export async function loadPackCase(
  deps: CaseReading,
  caseId: string,
  asOf: number,
  now: string,
): Promise<PackCase | null> {
  const history = await deps.store.read
    .selectFrom('case_history')
    .selectAll()
    .where('case_id', '=', caseId)
    .where('seq', '<=', asOf)
    .orderBy('seq')
    .execute();
  const row = rebuildCase(history);
  if (row === null) return null;
  const profile = await deps.profileOf(row.source);
  const view = viewCase(row, { regimes: deps.regimes, timeZone: deps.timeZone, profile, now });
  const match = await matchCase(deps, row, asOf);
  return {
    view,
    profile,
    match,
    disclosure: disclosureOf(view, match),
    readiness: caseReadiness(view, profile, match),
    identity: { status: view.identity, how: view.folded.identity.how },
    systems: (profile?.otherSystems ?? []).map(({ id, name }) => ({
      name,
      result: view.folded.systems[id]?.result ?? null,
    })),
  };
}
