import type { Fact, Occurred } from '../core/fact.ts';
import type { ProjectedEntry } from './projection.ts';

/** The columns that every history row begins with. */
export function historyColumns(entry: ProjectedEntry): { seq: number; source: string; received_at: string } {
  return { seq: entry.seq, source: entry.source, received_at: entry.receivedAt };
}

/** When it happened, by whose word, and `at`: that time where it counts, else when we received it. */
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

type FactOf<T extends Fact['type']> = Extract<Fact, { type: T }>;

/** The entries of a batch that were read as facts of one type, with that fact and the event that carried it. */
export function factsOf<T extends Fact['type']>(
  batch: readonly ProjectedEntry[],
  type: T,
): { readonly entry: ProjectedEntry; readonly event: string; readonly fact: FactOf<T> }[] {
  const found: { entry: ProjectedEntry; event: string; fact: FactOf<T> }[] = [];
  for (const entry of batch) {
    if (entry.reading?.outcome === 'read' && entry.reading.fact.type === type) {
      found.push({ entry, event: entry.reading.event, fact: entry.reading.fact as FactOf<T> });
    }
  }
  return found;
}
