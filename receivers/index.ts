import { consentFamily } from './consent.ts';
import { dsarFamily } from './dsar.ts';
import { integrationFamily } from './integration.ts';
import type { Family } from './payload.ts';
import { policyFamily } from './policy.ts';
import { scanFamily } from './scan.ts';

const listed = [policyFamily, consentFamily, dsarFamily, scanFamily, integrationFamily] as const;

/** What is read from the body of a delivery or a pulled row. */
export type Fact = (typeof listed)[number] extends infer One ? (One extends Family<infer F> ? F : never) : never;

/** All families of events that this program reads. */
export const families: readonly Family<Fact>[] = listed;

/**
 * Whether a repeated delivery of the same bytes may be a new event instead of a repeat: the body has neither an event
 * id nor a time.
 */
export function isAnonymousRepeat(fact: Fact): boolean {
  const family = families.find(({ type }) => type === fact.type);
  return fact.occurred.basis === 'received' && (family === undefined || family.eventIdOf(fact) === null);
}
