import { isAnonymousRepeat } from '../../receivers/index.ts';
import type { Query } from '../store/store.ts';
import { forEachReading } from './columns.ts';
import { type ProjectedEntry, type Projection, type Row, replaceIn } from './projection.ts';

/**
 * Deliveries with neither an id nor a time: if one is repeated, a new choice cannot be distinguished from a repeat.
 *
 * A repeat is not an entry (it is counted in `arrivals`), so it moves no position and no projection sees it. This table
 * therefore holds only what follows from entries, that is every such delivery, repeated or not, and a rebuild gives the
 * same rows. {@link loadAmbiguousRepeats} finds out which were repeated. What the pulled log decides about them is a
 * separate entry (src/sync/settle-repeats.ts), because it depends on what was known at the time.
 */
export const ambiguousRepeats: Projection = {
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
    for (const entry of batch) {
      const { seq, source, kind, action } = entry;
      const event = kind === 'webhook' ? anonymousEventOf(entry) : null;
      if (event !== null) {
        rows.set(seq, { seq, source, event, resolution: 'unresolved', settled_repeats: 0 });
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

/** The first event of a delivery whose repeat may be a new one. */
function anonymousEventOf(entry: ProjectedEntry): string | null {
  let event: string | null = null;
  forEachReading(entry, (reading) => {
    if (reading.outcome === 'read' && isAnonymousRepeat(reading.fact)) event ??= reading.event;
  });
  return event;
}

async function loadRows(state: Query, seqs: readonly number[]): Promise<Row<'ambiguous_repeats'>[]> {
  if (seqs.length === 0) return [];
  return state.selectFrom('ambiguous_repeats').selectAll().where('seq', 'in', seqs).execute();
}

/**
 * A repeated delivery that may stand for as many choices as it had arrivals. If it is repeated after being resolved, it
 * is unresolved again.
 */
interface AmbiguousRepeat extends Omit<Row<'ambiguous_repeats'>, 'settled_repeats'> {
  /** Arrivals after the first. */
  readonly repeats: number;
  readonly lastAt: string;
}

/** Ambiguous repeats with seq ≤ asOf, ordered by seq. A null `source` means all sources. */
export async function loadAmbiguousRepeats(
  query: Query,
  filter: { readonly source: string | null; readonly asOf?: number; readonly limit?: number },
): Promise<readonly AmbiguousRepeat[]> {
  const rows = await repeatsOf(query, filter)
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

/** The number of ambiguous deliveries, and the total of their repeats. */
export async function countAmbiguousRepeats(
  query: Query,
  filter: { readonly source: string | null; readonly asOf?: number },
): Promise<{ deliveries: number; repeats: number }> {
  const row = await repeatsOf(query, filter)
    .select((eb) => [eb.fn.countAll().as('deliveries'), eb.fn.sum('arrivals.count').as('repeats')])
    .executeTakeFirstOrThrow();
  return { deliveries: Number(row.deliveries), repeats: Number(row.repeats ?? 0) };
}

function repeatsOf(query: Query, { source, asOf }: { readonly source: string | null; readonly asOf?: number }) {
  let found = query.selectFrom('arrivals').innerJoin('ambiguous_repeats', 'ambiguous_repeats.seq', 'arrivals.seq');
  if (source !== null) found = found.where('ambiguous_repeats.source', '=', source);
  if (asOf !== undefined) found = found.where('ambiguous_repeats.seq', '<=', asOf);
  return found;
}
