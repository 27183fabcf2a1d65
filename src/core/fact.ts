import { isNecessary } from './consent-judgement.ts';
import type { ConsentState, RequestKind } from './vocabulary.ts';

/** Where a time comes from: the event's payload, a pulled row, our own clock, or a payload time without an offset. */
type TimeBasis = 'payload' | 'row' | 'received' | 'assumed-offset';

/** When something happened, the basis of that time, and whether it counts (docs/architecture.md, Time). */
export interface Occurred {
  /** ISO 8601 UTC, milliseconds. */
  readonly at: string;
  readonly basis: TimeBasis;
  /** False if the claimed time is outside [received − 10 years, received + 5 minutes]; reports then use `received`. */
  readonly counts: boolean;
}

/** A change of a policy (policy.published, .updated, .deleted, .created). */
export interface PolicyFact {
  readonly type: 'policy';
  readonly event: string;
  readonly change: 'created' | 'updated' | 'published' | 'deleted';
  readonly policyId: string;
  readonly policyType: string | null;
  readonly title: string | null;
  readonly brandName: string | null;
  readonly jurisdiction: string | null;
  readonly language: string | null;
  readonly userId: string | null;
  readonly version: string | null;
  /** Without its query: the service puts a token there. */
  readonly hostedUrl: string | null;
  readonly occurred: Occurred;
}

/** One recorded consent choice, from a webhook or a pulled row. */
export interface DecisionFact {
  readonly type: 'decision';
  readonly via: 'webhook' | 'pull';
  /** The service's own id of the record, if given. */
  readonly recordId: string | null;
  /** The hashed identifier of the visitor, as received. */
  readonly subject: string | null;
  readonly bannerId: string | null;
  readonly bannerVersion: string | null;
  /** As stated in the record; the label is judged with the subject's history (consent-judgement.ts). */
  readonly state: ConsentState;
  /** The record's own word for what the visitor did: `accept_all`, `save_preferences`. */
  readonly action: string | null;
  /** How consent was asked for: `banner`, `preference-centre`. */
  readonly method: string | null;
  /** Host of the site, lower case. */
  readonly domain: string | null;
  /** Where the choice was made: origin and path, never the query, which may contain personal data. */
  readonly page: string | null;
  /** Accompanying statements that are not purposes: Global Privacy Control, an IAB TCF string, fields of Google's consent mode. */
  readonly signals: Readonly<Record<string, string>>;
  /** The choice for each purpose. Empty if the payload names none. */
  readonly purposes: Readonly<Record<string, 'granted' | 'denied'>>;
  readonly policyId: string | null;
  readonly policyVersion: string | null;
  readonly region: string | null;
  readonly language: string | null;
  /** ISO 8601 UTC, if the record says until when it is valid. */
  readonly expiresAt: string | null;
  readonly occurred: Occurred;
}

/** A data subject request as reported by the service. Every field may be missing: the case is opened anyway. */
export interface RequestFact {
  readonly type: 'request';
  /** The service's own id of the request. */
  readonly requestId: string | null;
  readonly kind: RequestKind;
  /** The payload's own word for the kind. */
  readonly kindAsGiven: string | null;
  readonly requesterName: string | null;
  readonly requesterEmail: string | null;
  /** A visitor hash sent by the requester. */
  readonly subject: string | null;
  readonly jurisdiction: string | null;
  readonly language: string | null;
  readonly message: string | null;
  readonly occurred: Occurred;
}

/** A finished cookie scan. Listed items beyond the reader's limits, or in an unreadable form, are counted and stay in the body. */
export interface ScanFact {
  readonly type: 'scan';
  readonly scanId: string | null;
  readonly domain: string | null;
  readonly status: string | null;
  readonly cookiesFound: number | null;
  readonly trackersFound: number | null;
  readonly uncategorised: number | null;
  /** Items set before the visitor had chosen although they need consent; null: the scan does not say. */
  readonly beforeConsent: number | null;
  readonly score: number | null;
  /** True if its status says that the scan failed or was cut short: its list is then not an inventory. */
  readonly failed: boolean;
  /** Its findings one by one; null if it gives only numbers. */
  readonly items: readonly ScanItem[] | null;
  /** Listed items that could not be read. */
  readonly unreadItems: number;
  readonly occurred: Occurred;
}

/** An integration was connected, disconnected, or lost (disconnected by an error instead of by choice). */
export interface IntegrationFact {
  readonly type: 'integration';
  readonly change: 'connected' | 'disconnected' | 'lost';
  /** The reason in the payload's words. */
  readonly error: string | null;
  readonly integrationId: string | null;
  readonly name: string | null;
  readonly site: string | null;
  readonly occurred: Occurred;
}

/** What a receiver reads from the body of a delivery or a pulled row. */
export type Fact = PolicyFact | DecisionFact | RequestFact | ScanFact | IntegrationFact;

/**
 * The result of reading a body: facts; nothing to read (an event unknown to this program, a body that is not JSON: kept
 * and shown, not a fault); or a known event that could not be read, which is quarantined.
 */
export type Reading =
  | { readonly outcome: 'read'; readonly event: string; readonly fact: Fact; readonly unread: readonly string[] }
  | { readonly outcome: 'unknown-event'; readonly event: string | null; readonly reason: string }
  | { readonly outcome: 'unreadable'; readonly event: string; readonly reason: string };

/** One cookie or tracker found on a site by a scan. */
export interface ScanItem {
  readonly kind: 'cookie' | 'tracker';
  /** Its name, or the address of a script without its query. */
  readonly name: string;
  /** As named by the scan; null: the scan gives none, or says that there is none. */
  readonly category: string | null;
  /** Host that sets or serves it, lower case. */
  readonly domain: string | null;
  readonly provider: string | null;
  /** Whether it was set before the visitor had chosen; null: the scan does not say. */
  readonly beforeConsent: boolean | null;
  readonly thirdParty: boolean | null;
}

/** What changed between two scans of a site. */
export interface ScanChange {
  readonly change: 'new' | 'gone' | 'category-changed' | 'now-before-consent' | 'no-longer-before-consent';
  /** As in the later scan; for something gone, as in the earlier one. */
  readonly item: ScanItem;
  /** As in the earlier scan; null for something new. */
  readonly was: ScanItem | null;
}

/**
 * Whether it may be set only after consent: everything but what is strictly necessary (ePrivacy Directive Art. 5(3)),
 * including items without a category.
 */
export function needsConsent({ category }: ScanItem): boolean {
  return category === null || !isNecessary(category);
}

/** Items set before the visitor's choice although they need consent. */
export function foundBeforeConsent(items: readonly ScanItem[]): readonly ScanItem[] {
  return items.filter((item) => item.beforeConsent === true && needsConsent(item));
}

/** Orders by name, then domain, like every inventory. */
export function byName(a: ScanItem, b: ScanItem): number {
  const [first, second] = [identityOf(a), identityOf(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** Cookies are the same if name and domain are equal; kind, category and provider are statements of the scan. */
function identityOf({ name, domain }: ScanItem): string {
  return JSON.stringify([name, domain]);
}

/** The differences of a later scan from an earlier one, by name. One item may have changed in two ways. */
export function driftBetween(before: readonly ScanItem[], after: readonly ScanItem[]): readonly ScanChange[] {
  const earlier = new Map(before.map((item) => [identityOf(item), item]));
  const changes: ScanChange[] = [];
  for (const item of after) {
    const was = earlier.get(identityOf(item)) ?? null;
    earlier.delete(identityOf(item));
    if (was === null) {
      changes.push({ change: 'new', item, was });
      continue;
    }
    if (was.category !== item.category) changes.push({ change: 'category-changed', item, was });
    if (was.beforeConsent !== null && item.beforeConsent !== null && was.beforeConsent !== item.beforeConsent)
      changes.push({ change: item.beforeConsent ? 'now-before-consent' : 'no-longer-before-consent', item, was });
  }
  for (const was of earlier.values()) changes.push({ change: 'gone', item: was, was });
  return changes.sort((a, b) => byName(a.item, b.item));
}

/**
 * Whether a repeated delivery of the same bytes may be a new event instead of a repeat: the body has neither an event
 * id nor a time. (The id of a policy or integration identifies the thing, not the event.)
 */
export function isAnonymousRepeat(fact: Fact): boolean {
  if (fact.occurred.basis !== 'received') return false;
  switch (fact.type) {
    case 'decision':
      return fact.recordId === null;
    case 'request':
      return fact.requestId === null;
    case 'scan':
      return fact.scanId === null;
    case 'policy':
    case 'integration':
      return true;
  }
}
