import type { CallResult } from '../core/call.ts';
import type { BulkItemResult } from '../service/bulk.ts';

type ItemResult = CallResult['items'][number];

/** An item of a batch as it was sent. */
export interface SentItem {
  readonly position: number;
  readonly policyType: string;
}

/**
 * Which result belongs to which item. The service gives one result per item and names id, type and status (docs/service.md §2.4); that they come in the
 * order of the items is not documented. So a type's results go to the type's items in order, provided that there are as many of both; else nobody
 * can tell, and the items of that type are `unknown`.
 */
export function assignResults(items: readonly SentItem[], results: readonly BulkItemResult[]): ItemResult[] {
  const inOrder = items.length === results.length && items.every((item, at) => isOfType(results[at], item.policyType));
  if (inOrder) return items.map((item, at) => resultOf(item, results[at]));
  return items.map((item) => {
    const alike = items.filter(({ policyType }) => policyType === item.policyType);
    const told = results.filter((result) => result.policyType === item.policyType);
    return resultOf(item, told.length === alike.length ? told[alike.indexOf(item)] : undefined);
  });
}

function isOfType(result: BulkItemResult | undefined, policyType: string): boolean {
  return result !== undefined && (result.policyType === null || result.policyType === policyType);
}

function resultOf({ position }: SentItem, result: BulkItemResult | undefined): ItemResult {
  return { position, status: result?.status ?? 'unknown', policyId: result?.id ?? null };
}
