import { actions, bannerEvidence } from './actions.ts';
import { createAmbiguousRepeats } from './ambiguous-repeats.ts';
import { calls, listedPolicies } from './calls.ts';
import { createCases } from './cases.ts';
import { createDecisions } from './decisions.ts';
import { deliveries, quarantine } from './deliveries.ts';
import { documents } from './documents.ts';
import { integrations } from './integrations.ts';
import { policies } from './policies.ts';
import type { caseFold } from '../cases/fold.ts';
import { type Projection, readers } from './projection.ts';
import { scans } from './scans.ts';
import { snapshots } from './snapshots.ts';

/** Tests of the read models put simpler readers and cases in the place of the real ones. */
export interface ProjectionRules {
  readonly read?: typeof readers;
  readonly cases?: typeof caseFold;
}

/** Every read model there is. */
export function allProjections({ read = readers, cases }: ProjectionRules = {}): readonly Projection[] {
  return [
    quarantine,
    deliveries,
    policies,
    createDecisions(read),
    createAmbiguousRepeats(read),
    createCases(cases),
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
