import { TEST_EVENT } from '../core/vocabulary.ts';
import type { Query } from '../store/store.ts';

/** Times of the first and last delivery of each source, by slug. The events of `delivery test` do not count. ISO 8601 UTC. */
export type DeliveryEnds = ReadonlyMap<string, { readonly first: string; readonly last: string }>;

/**
 * Loads the first and last delivery of each source. Steps from source to source along the index: one statement, whose
 * time grows with the number of sources, not of deliveries.
 */
export async function loadDeliveryEnds(read: Query): Promise<DeliveryEnds> {
  const rows = await read
    .withRecursive('found(source)', (db) =>
      db
        .selectFrom('delivery_history')
        .select((eb) => eb.fn.min<string | null>('source').as('source'))
        .unionAll(
          db
            .selectFrom('found')
            .select((eb) =>
              eb
                .selectFrom('delivery_history')
                .select((inner) => inner.fn.min<string | null>('delivery_history.source').as('source'))
                .whereRef('delivery_history.source', '>', 'found.source')
                .as('source'),
            )
            .where('found.source', 'is not', null),
        ),
    )
    .selectFrom('found')
    .select((eb) => {
      const of = eb
        .selectFrom('delivery_history')
        .select('delivery_history.received_at')
        .whereRef('delivery_history.source', '=', 'found.source')
        .where((own) => own.or([own('event', 'is', null), own('event', '<>', TEST_EVENT)]))
        .limit(1);
      return [
        'found.source',
        of.orderBy('delivery_history.seq').as('first'),
        of.orderBy('delivery_history.seq', 'desc').as('last'),
      ];
    })
    .where('found.source', 'is not', null)
    .execute();
  return new Map(
    rows.flatMap(({ source, first, last }) =>
      source === null || first === null || last === null ? [] : [[source, { first, last }] as const],
    ),
  );
}
