import { isNecessary } from './consent-judgement.ts';

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
