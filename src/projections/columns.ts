import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { Fact } from '../../receivers/index.ts';
import type { Occurred } from '../../receivers/occurred.ts';
import type { Reading } from '../../receivers/read.ts';
import type { Action } from '../core/action.ts';
import type { CallMeta } from '../core/call.ts';
import { isWellFormed } from '../crypto/canonical.ts';
import type { TableName, Tables } from '../store/schema.ts';
import type { ProjectedEntry } from './projection.ts';

/** The first columns of every history row. */
export function historyColumns(entry: ProjectedEntry): { seq: number; source: string; received_at: string } {
  return { seq: entry.seq, source: entry.source, received_at: entry.receivedAt };
}

/** Like {@link historyColumns}, for the rows of one event of the entry. */
export function partColumns(entry: ProjectedEntry, part: number): ReturnType<typeof historyColumns> & { part: number } {
  return { ...historyColumns(entry), part };
}

/**
 * Calls `take` with each event read from an entry's body, in order, and with its place, which is the `part` of its rows.
 * Usually there is one: nothing is allocated, as every projection does this with every entry.
 */
export function forEachReading(
  { reading }: Pick<ProjectedEntry, 'reading'>,
  take: (reading: Reading, part: number) => void,
): void {
  if (reading === null) return;
  take(reading, 0);
  for (const [place, one] of reading.more?.entries() ?? NONE) take(one, place + 1);
}
const NONE: readonly (readonly [number, Reading])[] = [];

/** The events read from an entry's body, in order. */
export function readingsOf({ reading }: Pick<ProjectedEntry, 'reading'>): readonly Reading[] {
  return reading === null ? [] : [reading, ...(reading.more ?? [])];
}

/** When it happened, on what basis, and `at`: that time if it counts, otherwise the time of receipt. */
export function occurredColumns(
  occurred: Occurred,
  receivedAt: string,
): { occurred_at: string; occurred_basis: Occurred['basis']; occurred_counts: number; at: string } {
  return {
    occurred_at: occurred.at,
    occurred_basis: occurred.basis,
    occurred_counts: occurred.counts ? 1 : 0,
    at: occurred.counts ? occurred.at : receivedAt,
  };
}

/** The UTC quarter of an hour of an ISO 8601 time, YYYY-MM-DDTHH:MM. */
export function quarterOf(at: string): string {
  const minute = Math.floor(Number(at.slice(14, 16)) / 15) * 15;
  return `${at.slice(0, 14)}${String(minute).padStart(2, '0')}`;
}

type FactOf<T extends Fact['type']> = Extract<Fact, { type: T }>;
interface FoundFact<T extends Fact['type']> {
  readonly entry: ProjectedEntry;
  readonly part: number;
  readonly event: string;
  readonly fact: FactOf<T>;
}

/** The events of a batch of entries that were read as facts of one type, each with its entry, place in it and name. */
export function factsOf<T extends Fact['type']>(batch: readonly ProjectedEntry[], type: T): FoundFact<T>[] {
  const found: FoundFact<T>[] = [];
  for (const entry of batch)
    forEachReading(entry, (reading, part) => {
      if (reading.outcome === 'read' && reading.fact.type === type)
        found.push({ entry, part, event: reading.event, fact: reading.fact as FactOf<T> });
    });
  return found;
}

/** Collects the keys of a batch by source, so that one query loads the rows for all sources. */
export class KeysBySource {
  readonly #ids = new Map<string, Set<string>>();

  add(source: string, id: string): void {
    const ids = this.#ids.get(source);
    if (ids === undefined) this.#ids.set(source, new Set([id]));
    else ids.add(id);
  }

  /** Every key. */
  *pairs(): Generator<readonly [source: string, id: string]> {
    for (const [source, ids] of this.#ids) for (const id of ids) yield [source, id];
  }

  get empty(): boolean {
    return this.#ids.size === 0;
  }

  /**
   * `(source = a and column in (…)) or (source = b and …)`: both databases answer each branch from an index on (source,
   * column). Row values would read better, but SQLite accepts them only from a subquery.
   */
  where<T extends TableName>(column: string) {
    return (eb: ExpressionBuilder<Tables, T>): Expression<SqlBool> => {
      const plain = eb as unknown as ExpressionBuilder<Record<string, Record<string, unknown>>, string>;
      return plain.or(
        [...this.#ids].map(([source, ids]) =>
          plain.and([plain('source', '=', source), plain(column, 'in', padded(ids))]),
        ),
      );
    };
  }
}

/** The ids, padded to a power of four with copies of the last one, so that few distinct statements have to be kept prepared. */
function padded(ids: ReadonlySet<string>): string[] {
  const list = [...ids];
  const last = list.at(-1);
  if (last === undefined) return list;
  let size = 1;
  while (size < list.length) size *= 4;
  while (list.length < size) list.push(last);
  return list;
}

/** Joins key parts into one string. Stored text cannot contain NUL, so different lists never give the same key. */
export function joinKey(...parts: readonly string[]): string {
  return parts.join('\0');
}

/**
 * The same reading, action or call, with text that every database returns unchanged: U+0000 (refused by PostgreSQL) and
 * lone surrogates (no UTF-8 form) become U+FFFD. This happens before any folding, because a key that came back changed
 * would not be found again, and the result would depend on how entries were cut into batches. The exact bytes stay in
 * the entry.
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

/** Replaces U+0000 and lone surrogates. */
export function storableText(text: string): string {
  const wellFormed = isWellFormed(text) ? text : (text as string & { toWellFormed(): string }).toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\uFFFD') : wellFormed;
}
