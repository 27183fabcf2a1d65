/**
 * The vocabulary of this program. Every other file uses these words in this sense; docs/glossary.md has the complete
 * list.
 *
 * - source: one account or client of the service that this installation follows.
 * - delivery: one HTTP request on the webhook endpoint.
 * - entry: one immutable line of the ledger, `seq` from 1 without gaps.
 * - ledger: all entries in commit order, sealed into a Merkle tree.
 * - checkpoint: a signed tree head.
 * - fact: what a receiver reads out of an entry's body.
 * - history, state: read models folded from facts.
 * - decision: one recorded consent choice of one hashed subject on one banner.
 * - state, label: what the record of a decision states, and what it amounts to when judged by purpose (core/consent-judgement.ts).
 * - case: one data subject request from receipt to closing.
 * - regime: the law whose rules a case follows.
 * - pack, report, document: the ZIP that answers a case; an audit document over a period; either of them as a registered file.
 * - officer: a person with an account.
 */

/** Kinds of ledger entries. */
export const entryKinds = ['webhook', 'consent-log', 'call', 'snapshot', 'action', 'erasure'] as const;
export type EntryKind = (typeof entryKinds)[number];

/** Whether a value from the database is exactly the name of a kind of entry. */
export function isEntryKind(value: unknown): value is EntryKind {
  return (entryKinds as readonly unknown[]).includes(value);
}

/** Days for which counts of refused deliveries are kept outside the ledger. */
export const REFUSED_COUNT_DAYS = 400;

/** The oldest minute whose counts are kept, YYYY-MM-DDTHH:MM. */
export function oldestCount(now: Date): string {
  return new Date(now.getTime() - REFUSED_COUNT_DAYS * 86_400_000).toISOString().slice(0, 16);
}

/** Refused deliveries in one minute that are more than there can be. */
export const MOST_REFUSED = 2 ** 30;

/**
 * The event that `delivery test` sends. It is not an event of the service and never a consent, since a test must not
 * look like a visitor's choice.
 */
export const TEST_EVENT = 'consent-ledger.test';

/** Events that the service documents (docs/service.md §6). */
export const documentedEvents = [
  'policy.published',
  'policy.updated',
  'policy.deleted',
  'consent.recorded',
  'dsar.submitted',
  'cookie_scan.completed',
  'integration.connected',
  'integration.disconnected',
] as const;

/** The documented events and `policy.created`, which the service mentions without listing it. */
export const knownEvents = [...documentedEvents, 'policy.created'] as const;
export type KnownEvent = (typeof knownEvents)[number];

/**
 * States that the record of a decision may state, named as in ISO/IEC TS 27560. The judged result is a label
 * (consent-judgement.ts). Only `given` and `renewed-given` permit processing.
 */
export const consentStates = [
  'given',
  'renewed-given',
  'refused',
  'withdrawn',
  'expired',
  'terminated',
  'invalidated',
  'requested',
  'request-deferred',
  'unknown',
] as const;
export type ConsentState = (typeof consentStates)[number];

/** Kinds of data subject requests. */
export const requestKinds = [
  'access',
  'portability',
  'erasure',
  'rectification',
  'restriction',
  'objection',
  'opt-out',
  'limit',
  'withdraw-consent',
  'unknown',
] as const;
export type RequestKind = (typeof requestKinds)[number];

/**
 * Kinds of request, those first that take effect soonest: the first one of a request is its main kind. Kinds that end
 * consent come before all others.
 */
const byUrgency: readonly RequestKind[] = [
  'withdraw-consent',
  'opt-out',
  'objection',
  'limit',
  'erasure',
  'restriction',
  'rectification',
  'access',
  'portability',
  'unknown',
];

/** Kinds without repeats, the main kind of a request first. */
export function inUrgency(kinds: Iterable<RequestKind>): RequestKind[] {
  const wanted = new Set(kinds);
  return byUrgency.filter((kind) => wanted.has(kind));
}

/** The verdict on a delivery's signature; `verified-late` means that it was readmitted. */
export type Verdict = 'verified' | 'verified-headers-disagree' | 'verified-late';

/** The pseudo-source of entries that concern the whole installation (sign-ins, sources added). */
export const INSTALLATION = 'installation';

/** The object of entries that record the installation's own deadline rules. */
export const REGIMES = 'regimes';

/** A source's slug: lower-case letters, digits and hyphens, 1 to 63, no hyphen at either end. */
export const sourceSlugPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
