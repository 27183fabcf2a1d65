import { type CallMeta, callSchema } from '../core/call.ts';
import type { ProjectedEntry } from './projection.ts';
import { storableFact } from './storable.ts';

/** An entry of kind `call` with its meta read. */
export interface CallEntry {
  readonly entry: ProjectedEntry;
  readonly meta: CallMeta;
}

/** The `call` entries of a batch that this version knows. Its own program wrote them; others say nothing. */
export function callsOf(batch: readonly ProjectedEntry[]): CallEntry[] {
  return batch.flatMap((entry) => {
    if (entry.kind !== 'call') return [];
    const parsed = callSchema.safeParse(entry.meta);
    return parsed.success ? [{ entry, meta: storableFact(parsed.data) }] : [];
  });
}
