import { actions, bannerEvidence } from './actions.ts';
import { createAmbiguousRepeats } from './ambiguous-repeats.ts';
import { calls, listedPolicies } from './calls.ts';
import { cases } from './cases.ts';
import { createDecisions } from './decisions.ts';
import { deliveries, quarantine } from './deliveries.ts';
import { documents } from './documents.ts';
import { integrations } from './integrations.ts';
import { policies } from './policies.ts';
import { type Projection, readers } from './projection.ts';
import { scans } from './scans.ts';
import { snapshots } from './snapshots.ts';

/** Every read model. Tests may pass simpler readers. */
export function allProjections(read = readers): readonly Projection[] {
  return [
    quarantine,
    deliveries,
    policies,
    createDecisions(read),
    createAmbiguousRepeats(read),
    cases,
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
