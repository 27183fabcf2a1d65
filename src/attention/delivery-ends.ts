import type { ExpressionBuilder } from 'kysely';
import { TEST_EVENT } from '../core/vocabulary.ts';
import { givenSources, SOURCES_TOGETHER } from '../store/queries/scope.ts';
import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';

/** The time of each source's first or last delivery, ISO 8601 UTC; absent if it has none. */
export type DeliveryTimes = ReadonlyMap<string, string>;

/** The first or last delivery of each of these sources. The events of `delivery test` do not count. */
export async function loadDeliveryTimes(
  read: Query,
  which: 'first' | 'last',
  sources: readonly string[],
): Promise<DeliveryTimes> {
  const times = new Map<string, string>();
  for (let from = 0; from < sources.length; from += SOURCES_TOGETHER) {
    const rows = await read
      .selectFrom(givenSources(sources.slice(from, from + SOURCES_TOGETHER)).as('found'))
      .select(['found.source', (eb) => deliveryOf(eb, which).as('at')])
      .execute();
    for (const { source, at } of rows) if (at !== null) times.set(source, at);
  }
  return times;
}

/**
 * The last delivery of each source that has delivered nothing later than `until`. Steps from source to source along the
 * index: one statement, whose time grows with the number of sources, not of deliveries.
 */
export async function loadLastDeliveriesUntil(read: Query, until: string): Promise<DeliveryTimes> {
  const lasts = read
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
    .select(['found.source', (eb) => deliveryOf(eb, 'last').as('at')]);
  const rows = await read.selectFrom(lasts.as('lasts')).select(['source', 'at']).where('at', '<=', until).execute();
  return new Map(rows.flatMap(({ source, at }) => (source === null || at === null ? [] : [[source, at] as const])));
}

/** The time of the first or last delivery of the source in `found`. */
function deliveryOf(
  eb: ExpressionBuilder<Tables & { found: { source: string | null } }, 'found'>,
  which: 'first' | 'last',
) {
  return eb
    .selectFrom('delivery_history')
    .select('delivery_history.received_at')
    .whereRef('delivery_history.source', '=', 'found.source')
    .where((own) => own.or([own('event', 'is', null), own('event', '<>', TEST_EVENT)]))
    .orderBy('delivery_history.seq', which === 'first' ? 'asc' : 'desc')
    .limit(1);
}
