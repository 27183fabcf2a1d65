import { factsOf, joinKey, KeysBySource, occurredColumns, partColumns } from './columns.ts';
import { appendTo, type Projection, type Row, replaceIn } from './projection.ts';

/** Cookie scans: all of them, and the latest by time for each domain. */
export const scans: Projection = {
  name: 'scans',
  tables: ['scan_history', 'scans'],
  async fold(state, batch) {
    const history: Row<'scan_history'>[] = [];
    const keys = new KeysBySource();
    for (const { entry, part, fact } of factsOf(batch, 'scan')) {
      history.push({
        ...partColumns(entry, part),
        ...occurredColumns(fact.occurred, entry.receivedAt),
        scan_id: fact.scanId,
        domain: fact.domain,
        status: fact.status,
        cookies_found: fact.cookiesFound,
        trackers_found: fact.trackersFound,
        uncategorised: fact.uncategorised,
        score: fact.score,
        before_consent: fact.beforeConsent,
        items: fact.items === null ? null : JSON.stringify(fact.items),
        unread_items: fact.unreadItems,
        listed: fact.isInventory ? 1 : 0,
      });
      keys.add(entry.source, fact.domain ?? '');
    }
    if (history.length === 0) return [];
    const known = new Map<string, Row<'scans'>>();
    for (const row of await state.selectFrom('scans').selectAll().where(keys.where('domain')).execute()) {
      known.set(joinKey(row.source, row.domain), row);
    }
    const touched = new Map<string, Row<'scans'>>();
    for (const row of history) {
      const key = joinKey(row.source, row.domain ?? '');
      touched.set(key, foldScan(touched.get(key) ?? known.get(key), row));
    }
    return [appendTo('scan_history', history), replaceIn('scans', [...touched.values()])];
  },
};

/** A domain's state after one more scan. A scan that arrives late changes only what no later scan states. */
function foldScan(before: Row<'scans'> | undefined, scan: Row<'scan_history'>): Row<'scans'> {
  const isLatest = before === undefined || scan.at >= before.at;
  const latest = isLatest
    ? {
        cookies_found: scan.cookies_found,
        trackers_found: scan.trackers_found,
        uncategorised: scan.uncategorised,
        score: scan.score,
        last_seq: scan.seq,
        at: scan.at,
      }
    : before;
  const known = before?.before_consent_at ?? null;
  const told =
    scan.before_consent !== null && (known === null || scan.at >= known)
      ? { before_consent: scan.before_consent, before_consent_seq: scan.seq, before_consent_at: scan.at }
      : {
          before_consent: before?.before_consent ?? null,
          before_consent_seq: before?.before_consent_seq ?? null,
          before_consent_at: known,
        };
  return { ...latest, ...told, source: scan.source, domain: scan.domain ?? '', scans: (before?.scans ?? 0) + 1 };
}
