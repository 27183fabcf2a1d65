import { consentFamily } from './consent.ts';
import { dsarFamily } from './dsar.ts';
import type { Family } from './payload.ts';
import { integrationFamily } from './integration.ts';
import { policyFamily } from './policy.ts';
import { scanFamily } from './scan.ts';

/** All families of events that this program reads. */
export const families: readonly Family[] = [policyFamily, consentFamily, dsarFamily, scanFamily, integrationFamily];
