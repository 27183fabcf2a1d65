import type { ControllerProfile } from '../law/profile.ts';
import { rebuildCase } from './fold.ts';
import type { CaseFolded } from './folded.ts';
import { type Match, matchCase } from './match-subject.ts';
import type { Disclosure } from './moves.ts';
import { caseReadiness, disclosureOf, type Readiness } from './readiness.ts';
import { type CaseReading, type CaseView, type IdentityStanding, viewCase } from './view.ts';

/** What a pack needs to know about its case, as of an entry of the ledger. */
export interface PackCase {
  readonly view: CaseView;
  readonly profile: ControllerProfile | null;
  readonly match: Match;
  readonly disclosure: Disclosure;
  readonly readiness: Readiness;
  /** Whether the required identity check was made, and how, in words; never a document. */
  readonly identity: { readonly status: IdentityStanding; readonly how: string | null };
  /** The controller's other systems as marked in the case; null: not marked. */
  readonly systems: readonly {
    readonly name: string;
    readonly result: CaseFolded['systems'][string]['result'] | null;
  }[];
}

/**
 * Loads a case for its pack from the history up to the entry `asOf`: the same ledger, asOf and `now` give the same
 * result. Null if the case did not exist yet.
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
    .orderBy('part')
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
