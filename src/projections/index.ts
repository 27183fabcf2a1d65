import { actions } from './actions.ts';
import { createAmbiguousRepeats } from './ambiguous-repeats.ts';
import { calls } from './calls.ts';
import { bannerEvidence } from './banner-evidence.ts';
import { createCases } from './cases.ts';
import { createDecisions } from './decisions.ts';
import { deliveries } from './deliveries.ts';
import { documents } from './documents.ts';
import { listedPolicies } from './listed-policies.ts';
import { integrations } from './integrations.ts';
import { policies } from './policies.ts';
import type { CaseFold, Projection, Readers } from './projection.ts';
import { quarantine } from './quarantine.ts';
import { scans } from './scans.ts';
import { snapshots } from './snapshots.ts';

/** Every read model there is. */
export function allProjections(rules: { readonly read: Readers; readonly cases: CaseFold }): readonly Projection[] {
  return [
    quarantine,
    deliveries,
    policies,
    createDecisions(rules.read),
    createAmbiguousRepeats(rules.read),
    createCases(rules.cases),
    scans,
    integrations,
    actions,
    bannerEvidence,
    documents,
    calls,
    listedPolicies,
    snapshots,
  ];
}
