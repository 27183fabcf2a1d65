import { isNecessary } from './consent-judgement.ts';
import type { ConsentState, RequestKind } from './vocabulary.ts';

/** Where a time comes from: the event's payload, a pulled row, our own clock, or a payload time without an offset. */
type TimeBasis = 'payload' | 'row' | 'received' | 'assumed-offset';

/** When something happened, by whose word, and whether that word counts (docs/architecture.md, Time). */
export interface Occurred {
  /** ISO 8601 UTC, milliseconds. */
  readonly at: string;
  readonly basis: TimeBasis;
  /** False when the claimed time lies outside [received − 10 years, received + 5 minutes]; reports then use `received`. */
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
  /** The service's own id of the record, where it gives one. */
  readonly recordId: string | null;
  /** The hashed identifier of the visitor, as received. */
  readonly subject: string | null;
  readonly bannerId: string | null;
  readonly bannerVersion: string | null;
  /** As the record states it; what it amounts to is judged with the subject's history (consent-judgement.ts). */
  readonly state: ConsentState;
  /** The record's own word for what the visitor did: `accept_all`, `save_preferences`. */
  readonly action: string | null;
  /** How consent was asked for: `banner`, `preference-centre`. */
  readonly method: string | null;
  /** Host of the site, lower case. */
  readonly domain: string | null;
  /** Where the choice was made: origin and path, never the query, which may hold personal data. */
  readonly page: string | null;
  /** Statements that came along and are not purposes: Global Privacy Control, an IAB TCF string, fields of Google's consent mode. */
  readonly signals: Readonly<Record<string, string>>;
  /** What was chosen for each purpose. Empty when the payload names none. */
  readonly purposes: Readonly<Record<string, 'granted' | 'denied'>>;
  readonly policyId: string | null;
  readonly policyVersion: string | null;
  readonly region: string | null;
  readonly language: string | null;
  /** ISO 8601 UTC, where the record says until when it is valid. */
  readonly expiresAt: string | null;
  readonly occurred: Occurred;
}

/** A data subject request as the service reported it. Every field may be missing: the case still opens. */
export interface RequestFact {
  readonly type: 'request';
  /** The service's own id of the request. */
  readonly requestId: string | null;
  readonly kind: RequestKind;
  /** The payload's own word for the kind. */
  readonly kindAsGiven: string | null;
  readonly requesterName: string | null;
  readonly requesterEmail: string | null;
  /** A visitor hash that the requester sent along. */
  readonly subject: string | null;
  readonly jurisdiction: string | null;
  readonly language: string | null;
  readonly message: string | null;
  readonly occurred: Occurred;
}

/** A finished cookie scan. What it lists beyond the bounds of the reader, or in a form that cannot be read, is counted and stays in the body. */
export interface ScanFact {
  readonly type: 'scan';
  readonly scanId: string | null;
  readonly domain: string | null;
  readonly status: string | null;
  readonly cookiesFound: number | null;
  readonly trackersFound: number | null;
  readonly uncategorised: number | null;
  /** Found before the visitor had chosen, although they need consent; null: the scan does not say. */
  readonly beforeConsent: number | null;
  readonly score: number | null;
  /** True when its status says that the scan failed or was cut short: what it lists is then no inventory. */
  readonly failed: boolean;
  /** What it found, one by one; null when it gives numbers alone. */
  readonly items: readonly ScanItem[] | null;
  /** Things in its lists that could not be read. */
  readonly unreadItems: number;
  readonly occurred: Occurred;
}

/** An integration was connected, disconnected, or lost: disconnected by an error and not by choice. */
export interface IntegrationFact {
  readonly type: 'integration';
  readonly change: 'connected' | 'disconnected' | 'lost';
  /** Why, in the payload's own words. */
  readonly error: string | null;
  readonly integrationId: string | null;
  readonly name: string | null;
  readonly site: string | null;
  readonly occurred: Occurred;
}

/** What a receiver reads out of the body of a delivery or a pulled row. */
export type Fact = PolicyFact | DecisionFact | RequestFact | ScanFact | IntegrationFact;

/**
 * The outcome of reading a body: facts; nothing to read (an event this program does not know, a body that is not JSON:
 * kept and shown, no fault); or a known event that could not be read, which goes to the quarantine.
 */
export type Reading =
  | { readonly outcome: 'read'; readonly event: string; readonly fact: Fact; readonly unread: readonly string[] }
  | { readonly outcome: 'unknown-event'; readonly event: string | null; readonly reason: string }
  | { readonly outcome: 'unreadable'; readonly event: string; readonly reason: string };

/** One cookie or tracker that a scan of a site found. */
export interface ScanItem {
  readonly kind: 'cookie' | 'tracker';
  /** Its name, or the address of a script without its query. */
  readonly name: string;
  /** As the scan names it; null: the scan gives none, or says that it has none. */
  readonly category: string | null;
  /** Host that sets or serves it, lower case. */
  readonly domain: string | null;
  readonly provider: string | null;
  /** Whether it was there before the visitor had chosen; null: the scan does not say. */
  readonly beforeConsent: boolean | null;
  readonly thirdParty: boolean | null;
}

/** What changed between two scans of a site. */
export interface ScanChange {
  readonly change: 'new' | 'gone' | 'category-changed' | 'now-before-consent' | 'no-longer-before-consent';
  /** As the later scan has it; of what is gone, as the earlier one had it. */
  readonly item: ScanItem;
  /** As the earlier scan had it; null of what is new. */
  readonly was: ScanItem | null;
}

/** Whether it may be set only after consent: all but what is strictly necessary (ePrivacy Directive Art. 5(3)), so also what has no category. */
export function needsConsent({ category }: ScanItem): boolean {
  return category === null || !isNecessary(category);
}

/** What a scan found before the visitor's choice although it needs consent. */
export function foundBeforeConsent(items: readonly ScanItem[]): readonly ScanItem[] {
  return items.filter((item) => item.beforeConsent === true && needsConsent(item));
}

/** By name, then domain: the order of every inventory. */
export function byName(a: ScanItem, b: ScanItem): number {
  const [first, second] = [identityOf(a), identityOf(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** A cookie is the same when name and domain are: its kind, category and provider are what the scan says about it. */
function identityOf({ name, domain }: ScanItem): string {
  return JSON.stringify([name, domain]);
}

/** What a later scan has otherwise than an earlier one, by name. One thing may have changed in two ways. */
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
