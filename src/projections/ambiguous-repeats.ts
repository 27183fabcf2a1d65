import type { Query } from '../store/store.ts';
import type { Projection, Readers, Row } from './projection.ts';

/**
 * Deliveries that name neither an id nor a time: should one be repeated, nobody can tell a new choice from a repeat.
 *
 * A repeat is no entry (it is counted in `arrivals`), so it moves no position and no projection sees it. This table
 * therefore holds what depends on entries only, every delivery of that sort, repeated or not, and a rebuild gives the same
 * rows. Which of them were in fact repeated is asked when it is read: {@link loadAmbiguousRepeats}.
 */
export function createAmbiguousRepeats(readers: Pick<Readers, 'isAnonymousRepeat'>): Projection {
  return {
    name: 'ambiguous-repeats',
    tables: ['ambiguous_repeats'],
    async fold(_state, batch) {
      const rows: Row<'ambiguous_repeats'>[] = [];
      for (const { seq, source, kind, reading } of batch) {
        if (kind !== 'webhook' || reading?.outcome !== 'read' || !readers.isAnonymousRepeat(reading.fact)) continue;
        rows.push({ seq, source, event: reading.event, resolution: 'unresolved' });
      }
      return rows.length === 0 ? [] : [{ table: 'ambiguous_repeats', rows, onConflict: 'fail' }];
    },
  };
}

/** A delivery that was repeated and may stand for as many choices as it arrived times. */
export interface AmbiguousRepeat extends Row<'ambiguous_repeats'> {
  /** Repeats beyond the first arrival. */
  readonly repeats: number;
  readonly lastAt: string;
}

/** Ambiguous repeats by seq, those with seq ≤ asOf. `source` null: of all sources. */
export async function loadAmbiguousRepeats(
  query: Query,
  filter: { readonly source: string | null; readonly asOf?: number; readonly limit?: number },
): Promise<readonly AmbiguousRepeat[]> {
  return ambiguousRepeats(query, filter)
    .select([
      'ambiguous_repeats.seq',
      'ambiguous_repeats.source',
      'ambiguous_repeats.event',
      'ambiguous_repeats.resolution',
      'arrivals.count as repeats',
      'arrivals.last_at as lastAt',
    ])
    .orderBy('ambiguous_repeats.seq')
    .limit(filter.limit ?? 1000)
    .execute();
}

/** How many deliveries are ambiguous, and how many repeats they had in all. */
export async function countAmbiguousRepeats(
  query: Query,
  filter: { readonly source: string | null; readonly asOf?: number },
): Promise<{ deliveries: number; repeats: number }> {
  const row = await ambiguousRepeats(query, filter)
    .select((eb) => [eb.fn.countAll().as('deliveries'), eb.fn.sum('arrivals.count').as('repeats')])
    .executeTakeFirstOrThrow();
  return { deliveries: Number(row.deliveries), repeats: Number(row.repeats ?? 0) };
}

function ambiguousRepeats(query: Query, { source, asOf }: { readonly source: string | null; readonly asOf?: number }) {
  let found = query.selectFrom('arrivals').innerJoin('ambiguous_repeats', 'ambiguous_repeats.seq', 'arrivals.seq');
  if (source !== null) found = found.where('ambiguous_repeats.source', '=', source);
  if (asOf !== undefined) found = found.where('ambiguous_repeats.seq', '<=', asOf);
  return found;
}
