import type { Context } from '../context.ts';
import type { Query } from '../store/store.ts';

interface Filter {
  readonly source: string | undefined;
  readonly event: string | undefined;
  readonly limit: number;
}

/** Deliveries that were stored, newest first, as the command line shows them. */
export async function loadDeliveries(read: Query, { source, event, limit }: Filter) {
  let query = read
    .selectFrom('delivery_history')
    .leftJoin('arrivals', 'arrivals.seq', 'delivery_history.seq')
    .select([
      'delivery_history.seq',
      'delivery_history.source',
      'delivery_history.received_at as receivedAt',
      'delivery_history.event',
      'delivery_history.verdict',
      'delivery_history.outcome',
      'delivery_history.content_type as contentType',
      'delivery_history.bytes',
      'delivery_history.commitment',
      'delivery_history.reason as note',
      'arrivals.count as repeats',
    ]);
  if (source !== undefined) query = query.where('delivery_history.source', '=', source);
  if (event !== undefined) query = query.where('delivery_history.event', '=', event);
  const rows = await query.orderBy('delivery_history.seq', 'desc').limit(limit).execute();
  return rows.map((row) => ({ ...row, repeats: row.repeats ?? 0 }));
}

/** Entries that could not be read, and deliveries that nothing was read from (no JSON, no event, an event that is not known), newest first. */
export async function loadQuarantine(read: Query, { source, event, limit }: Filter) {
  const columns = ['seq', 'source', 'event', 'reason', 'received_at as receivedAt'] as const;
  let quarantined = read.selectFrom('quarantine').select(columns);
  let unread = read.selectFrom('delivery_history').select(columns).where('outcome', '=', 'unknown-event');
  if (source !== undefined) {
    quarantined = quarantined.where('source', '=', source);
    unread = unread.where('source', '=', source);
  }
  if (event !== undefined) {
    quarantined = quarantined.where('event', '=', event);
    unread = unread.where('event', '=', event);
  }
  const rows = [
    ...(await quarantined.orderBy('seq', 'desc').limit(limit).execute()),
    ...(await unread.orderBy('seq', 'desc').limit(limit).execute()),
  ];
  return rows.sort((a, b) => b.seq - a.seq).slice(0, limit);
}

const HOURS = 72;

/** How many deliveries were refused in the last 72 hours, by source and reason. */
export async function loadRefusedCounts(
  { rejected, clock }: Pick<Context, 'rejected' | 'clock'>,
  source: string | undefined,
): Promise<readonly { readonly source: string; readonly reason: string; readonly count: number }[]> {
  const sums = new Map<string, { source: string; reason: string; count: number }>();
  for (const row of await rejected.counts(new Date(clock().getTime() - HOURS * 3_600_000).toISOString())) {
    if (source !== undefined && row.source !== source) continue;
    const key = JSON.stringify([row.source, row.reason]);
    const sum = sums.get(key) ?? { source: row.source, reason: row.reason, count: 0 };
    sum.count += row.count;
    sums.set(key, sum);
  }
  return [...sums.values()];
}
