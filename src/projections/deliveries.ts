import type { Reading } from '../../receivers/read.ts';
import { joinKey, KeysBySource, quarterOf, readingsOf } from './columns.ts';
import { appendTo, type ProjectedEntry, type Projection, quarantineRows, type Row, replaceIn } from './projection.ts';

/** Arrivals on the webhook endpoint: every delivery, readable or not, and counts per event by day and by quarter of an hour. */
export const deliveries: Projection = {
  name: 'deliveries',
  tables: ['delivery_history', 'delivery_counts', 'delivery_quarters'],
  async fold(state, batch) {
    const rows: Row<'delivery_history'>[] = [];
    const keys = new KeysBySource();
    const quarters = new KeysBySource();
    for (const entry of batch) {
      if (entry.kind !== 'webhook') continue;
      rows.push(deliveryRow(entry));
      keys.add(entry.source, dayOf(entry.receivedAt));
      quarters.add(entry.source, quarterOf(entry.receivedAt));
    }
    if (rows.length === 0) return [];
    const counts = new Map<string, Row<'delivery_counts'>>();
    for (const row of await state.selectFrom('delivery_counts').selectAll().where(keys.where('day')).execute()) {
      counts.set(joinKey(row.source, row.day, row.event), row);
    }
    const touched = new Map<string, Row<'delivery_counts'>>();
    for (const row of rows) {
      const day = dayOf(row.received_at);
      const event = row.event ?? '';
      const key = joinKey(row.source, day, event);
      const count = touched.get(key) ?? { ...(counts.get(key) ?? { source: row.source, day, event, deliveries: 0 }) };
      count.deliveries += 1;
      touched.set(key, count);
    }
    const byQuarter = new Map<string, Row<'delivery_quarters'>>();
    for (const [source, quarter] of quarters.pairs())
      byQuarter.set(joinKey(source, quarter), { source, quarter, deliveries: 0 });
    const known = await state.selectFrom('delivery_quarters').selectAll().where(quarters.where('quarter')).execute();
    for (const row of known) byQuarter.set(joinKey(row.source, row.quarter), { ...row });
    for (const { source, received_at: at } of rows) {
      const count = byQuarter.get(joinKey(source, quarterOf(at)));
      if (count !== undefined) count.deliveries += 1;
    }
    return [
      appendTo('delivery_history', rows),
      replaceIn('delivery_counts', [...touched.values()]),
      replaceIn('delivery_quarters', [...byQuarter.values()]),
    ];
  },
};

function deliveryRow(entry: ProjectedEntry): Row<'delivery_history'> {
  const { verdict, contentType } = entry.meta;
  const readings = readingsOf(entry);
  return {
    seq: entry.seq,
    source: entry.source,
    received_at: entry.receivedAt,
    event: entry.reading?.event ?? null,
    verdict: typeof verdict === 'string' ? verdict : 'unknown',
    ...outcomeOf(readings),
    content_type: typeof contentType === 'string' ? contentType : null,
    bytes: entry.body.length,
    events: Math.max(1, readings.length),
    commitment: entry.commitment,
  };
}

/** What came of a delivery: of several events, the worst, and how many of each there are. */
function outcomeOf(readings: readonly Reading[]): Pick<Row<'delivery_history'>, 'outcome' | 'reason'> {
  const [first = { outcome: 'unknown-event', event: null, reason: 'not read' } satisfies Reading, ...more] = readings;
  if (more.length === 0)
    return { outcome: first.outcome, reason: first.outcome === 'read' ? unreadText(first.unread) : first.reason };
  const unread = readings.filter((reading) => reading.outcome !== 'read');
  const counts = new Map<string, number>();
  for (const { event } of readings)
    counts.set(event ?? 'without a name', (counts.get(event ?? 'without a name') ?? 0) + 1);
  const named = [...counts].slice(0, EVENTS_NAMED).map(([event, count]) => `${count} ${event}`);
  const rest = counts.size > EVENTS_NAMED ? ' and others' : '';
  const bad = unread.find(({ outcome }) => outcome === 'unreadable') ?? unread[0];
  const reason = `${readings.length} events: ${named.join(', ')}${rest}`;
  if (bad === undefined) return { outcome: 'read', reason };
  return { outcome: bad.outcome, reason: `${reason}; ${unread.length} not read: ${bad.reason}` };
}

const EVENTS_NAMED = 5;

/** Lists the fields of a payload that were not used; null if there are none. */
function unreadText(fields: readonly string[]): string | null {
  if (fields.length === 0) return null;
  const shown = fields.slice(0, 20).join(', ');
  return `fields not used: ${shown}${fields.length > 20 ? ` and ${fields.length - 20} more` : ''}`;
}

/** The UTC date of an ISO 8601 time. */
function dayOf(at: string): string {
  return at.slice(0, 10);
}

/** What officers set aside of what could not be understood. */
export const setAside: Projection = {
  name: 'set-aside',
  tables: ['set_aside'],
  async fold(state, batch) {
    const done = batch.flatMap(({ action, seq, source }) =>
      action?.action === 'unread.set-aside' ? [{ source, event: action.event ?? '', up_to: action.upTo, seq }] : [],
    );
    if (done.length === 0) return [];
    const keys = new KeysBySource();
    for (const { source, event } of done) keys.add(source, event);
    const rows = new Map<string, Row<'set_aside'>>();
    for (const row of await state.selectFrom('set_aside').selectAll().where(keys.where('event')).execute())
      rows.set(joinKey(row.source, row.event), row);
    for (const row of done) {
      const key = joinKey(row.source, row.event);
      const before = rows.get(key)?.up_to ?? 0;
      rows.set(key, { ...row, up_to: Math.max(before, row.up_to) });
    }
    return [replaceIn('set_aside', [...rows.values()])];
  },
};

/** Entries that could not be read, with the reason, so that none is skipped silently. */
export const quarantine: Projection = {
  name: 'quarantine',
  tables: ['quarantine'],
  async fold(_state, batch) {
    const rows: Row<'quarantine'>[] = [];
    for (const { seq, source, receivedAt, fault } of batch) {
      if (fault !== null) rows.push({ seq, source, event: fault.event, reason: fault.reason, received_at: receivedAt });
    }
    return rows.length === 0 ? [] : [quarantineRows(rows)];
  },
};
