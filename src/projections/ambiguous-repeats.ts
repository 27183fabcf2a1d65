import type { Query } from '../store/store.ts';
import { type Projection, type Readers, replaceIn, type Row } from './projection.ts';

/**
 * Deliveries that name neither an id nor a time: should one be repeated, nobody can tell a new choice from a repeat.
 *
 * A repeat is not an entry (it is counted in `arrivals`), so it moves no position and no projection sees it. This table
 * therefore holds what depends on entries only, every delivery of that sort, repeated or not, and a rebuild gives the same
 * rows. Which of them were in fact repeated is asked when it is read: {@link loadAmbiguousRepeats}. What the pulled log decided
 * about them is an entry of its own (src/sync/settle-repeats.ts), for it was decided from what was known at that time.
 */
export function createAmbiguousRepeats(readers: Pick<Readers, 'isAnonymousRepeat'>): Projection {
  return {
    name: 'ambiguous-repeats',
    tables: ['ambiguous_repeats'],
    async fold(state, batch) {
      const rows = new Map<number, Row<'ambiguous_repeats'>>();
      const settled = batch.flatMap(({ action }) => (action?.action === 'repeat.settled' ? [action] : []));
      for (const row of await loadRows(
        state,
        settled.map(({ delivery }) => delivery),
      ))
        rows.set(row.seq, row);
      const written = new Set<number>();
      for (const { seq, source, kind, reading, action } of batch) {
        if (kind === 'webhook' && reading?.outcome === 'read' && readers.isAnonymousRepeat(reading.fact)) {
          rows.set(seq, { seq, source, event: reading.event, resolution: 'unresolved', settled_repeats: 0 });
          written.add(seq);
        } else if (action?.action === 'repeat.settled') {
          const row = rows.get(action.delivery);
          if (row === undefined || row.source !== source) continue;
          rows.set(row.seq, { ...row, resolution: action.resolution, settled_repeats: action.repeats });
          written.add(row.seq);
        }
      }
      return written.size === 0
        ? []
        : [
            replaceIn(
              'ambiguous_repeats',
              [...rows.values()].filter(({ seq }) => written.has(seq)),
            ),
          ];
    },
  };
}

async function loadRows(state: Query, seqs: readonly number[]): Promise<Row<'ambiguous_repeats'>[]> {
  if (seqs.length === 0) return [];
  return state.selectFrom('ambiguous_repeats').selectAll().where('seq', 'in', seqs).execute();
}

/** A delivery that was repeated and may stand for as many choices as it arrived times. With repeats after it was resolved it is unresolved again. */
interface AmbiguousRepeat extends Omit<Row<'ambiguous_repeats'>, 'settled_repeats'> {
  /** Repeats beyond the first arrival. */
  readonly repeats: number;
  readonly lastAt: string;
}

/** Ambiguous repeats by seq, those with seq ≤ asOf. `source` null: of all sources. */
export async function loadAmbiguousRepeats(
  query: Query,
  filter: { readonly source: string | null; readonly asOf?: number; readonly limit?: number },
): Promise<readonly AmbiguousRepeat[]> {
  const rows = await ambiguousRepeats(query, filter)
    .select([
      'ambiguous_repeats.seq',
      'ambiguous_repeats.source',
      'ambiguous_repeats.event',
      'ambiguous_repeats.resolution',
      'ambiguous_repeats.settled_repeats as settled',
      'arrivals.count as repeats',
      'arrivals.last_at as lastAt',
    ])
    .orderBy('ambiguous_repeats.seq')
    .limit(filter.limit ?? 1000)
    .execute();
  return rows.map(({ settled, ...row }) => (row.repeats > settled ? { ...row, resolution: 'unresolved' } : row));
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
