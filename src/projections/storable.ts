import type { CallMeta } from '../core/call.ts';
import type { Action } from '../core/action.ts';
import type { Reading } from '../core/fact.ts';
import { isWellFormed } from '../crypto/canonical.ts';

/**
 * The same reading, action or call with texts that every database returns as they were stored: U+0000 (PostgreSQL refuses it) and lone
 * surrogates (they have no UTF-8 form) become U+FFFD. It happens before any folding, because a key that came back changed
 * would not be found again, and the result would depend on how entries were cut into batches. The exact bytes stay in the entry.
 */
export function storableFact<T extends Reading | Action | CallMeta>(value: T): T {
  return storable(value) as T;
}

function storable(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const items = value.map(storable);
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  let changed: Record<string, unknown> | null = null;
  for (const [key, item] of Object.entries(value)) {
    const cleanKey = storableText(key);
    const cleanItem = storable(item);
    if (cleanKey === key && cleanItem === item) continue;
    changed ??= { ...value };
    if (cleanKey !== key) delete changed[key];
    changed[cleanKey] = cleanItem;
  }
  return changed ?? value;
}

/** One text without U+0000 and lone surrogates. */
export function storableText(text: string): string {
  const wellFormed = isWellFormed(text) ? text : (text as string & { toWellFormed(): string }).toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\uFFFD') : wellFormed;
}
