import { actions, bannerEvidence } from './actions.ts';
import { ambiguousRepeats } from './ambiguous-repeats.ts';
import { calls, listedPolicies } from './calls.ts';
import { cases } from './cases.ts';
import { decisions } from './decisions.ts';
import { deliveries, quarantine, setAside } from './deliveries.ts';
import { documents } from './documents.ts';
import { settledFindings } from './findings.ts';
import { integrations } from './integrations.ts';
import { policies } from './policies.ts';
import type { Projection } from './projection.ts';
import { scans } from './scans.ts';
import { snapshots } from './snapshots.ts';

/** Every read model. */
export const allProjections: readonly Projection[] = [
  quarantine,
  deliveries,
  setAside,
  settledFindings,
  policies,
  decisions,
  ambiguousRepeats,
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
