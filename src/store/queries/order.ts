import type { OrderByItemBuilder } from 'kysely';

/** Ascending, and what is missing before all else: said in words, because SQLite and PostgreSQL differ where nothing is said. */
export function nullsFirst(order: OrderByItemBuilder): OrderByItemBuilder {
  return order.asc().nullsFirst();
}
