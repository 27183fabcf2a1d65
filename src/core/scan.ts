import { isNecessary } from './consent-judgement.ts';

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
