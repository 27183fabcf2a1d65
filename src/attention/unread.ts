import { sql } from 'kysely';
import type { Clock } from '../core/clock.ts';
import { isoNow } from '../core/clock.ts';
import { TEST_EVENT } from '../core/vocabulary.ts';
import { appendAction } from '../ledger/append-action.ts';
import { chunksOf } from '../ledger/erase.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Query, Store } from '../store/store.ts';

/**
 * Entries of one event that could not be understood and that nobody has set aside: in quarantine, or deliveries of an
 * unknown event or without one. A request may be among them.
 */
export interface UnreadGroup {
  readonly source: string;
  /** As given; null: they name none. */
  readonly event: string | null;
  readonly entries: number;
  /** How many of them are in quarantine: their event is known, but they lack something. */
  readonly quarantined: number;
  /** The last entry that was set aside before; 0: none. */
  readonly after: number;
  readonly last: { readonly seq: number; readonly receivedAt: string; readonly reason: string | null };
}

/** Groups that are listed; the names are the senders'. */
const LISTED = 200;

/** What could not be understood, newest first. Absent `sources`: of all. */
export async function loadUnread(read: Query, sources?: readonly string[]): Promise<readonly UnreadGroup[]> {
  const { rows } = await sql<{
    source: string;
    event: string;
    entries: number;
    quarantined: number;
    after: number | null;
    last: number;
  }>`select u.source, u.event, count(*) as entries, sum(u.quarantined) as quarantined, max(s.up_to) as after, max(u.seq) as last
    from (${unread(read, sources)}) as u left join set_aside as s on s.source = u.source and s.event = u.event
    where s.up_to is null or u.seq > s.up_to
    group by u.source, u.event order by max(u.seq) desc limit ${LISTED}`.execute(read);
  const lasts = await loadLasts(
    read,
    rows.map(({ last }) => Number(last)),
  );
  return rows.map(({ source, event, entries, quarantined, after, last }) => ({
    source,
    event: event === '' ? null : event,
    entries: Number(entries),
    quarantined: Number(quarantined),
    after: Number(after ?? 0),
    last: { seq: Number(last), ...(lasts.get(Number(last)) ?? { receivedAt: '', reason: null }) },
  }));
}

/** The number of such entries by source. */
export async function countUnread(read: Query, sources?: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ source: string; entries: number }>`select u.source, count(*) as entries
    from (${unread(read, sources)}) as u left join set_aside as s on s.source = u.source and s.event = u.event
    where s.up_to is null or u.seq > s.up_to group by u.source order by u.source`.execute(read);
  return new Map(rows.map(({ source, entries }) => [source, Number(entries)]));
}

/** Every such entry, set aside or not: deliveries in quarantine are in both tables and counted from it. */
function unread(read: Query, sources: readonly string[] | undefined) {
  const quarantined = read
    .selectFrom('quarantine as q')
    .select(['q.source', sql<string>`coalesce(q.event, '')`.as('event'), 'q.seq', sql<number>`1`.as('quarantined')])
    .$if(sources !== undefined, (some) => some.where('q.source', 'in', [...(sources ?? [])]));
  const unknown = read
    .selectFrom('delivery_history as d')
    .select(['d.source', sql<string>`coalesce(d.event, '')`.as('event'), 'd.seq', sql<number>`0`.as('quarantined')])
    // A literal condition, so that SQLite uses the index on these few rows.
    .where(sql<boolean>`d.outcome = 'unknown-event'`)
    .where((eb) => eb.or([eb('d.event', 'is', null), eb('d.event', '<>', TEST_EVENT)]))
    .$if(sources !== undefined, (some) => some.where('d.source', 'in', [...(sources ?? [])]));
  return quarantined.unionAll(unknown);
}

async function loadLasts(
  read: Query,
  seqs: readonly number[],
): Promise<ReadonlyMap<number, { readonly receivedAt: string; readonly reason: string | null }>> {
  const found = new Map<number, { receivedAt: string; reason: string | null }>();
  const columns = ['seq', 'received_at', 'reason'] as const;
  for (const chunk of chunksOf(seqs)) {
    const delivered = await read.selectFrom('delivery_history').select(columns).where('seq', 'in', chunk).execute();
    const quarantined = await read.selectFrom('quarantine').select(columns).where('seq', 'in', chunk).execute();
    for (const { seq, received_at: receivedAt, reason } of [...delivered, ...quarantined])
      found.set(seq, { receivedAt, reason });
  }
  return found;
}

/**
 * Records that an officer looked at a group and found nothing to do; entries after `upTo` stay. Records nothing if nobody
 * would see a difference.
 */
export async function setAside(
  { store, ledger, clock }: { readonly store: Pick<Store, 'read'>; readonly ledger: Ledger; readonly clock: Clock },
  request: { readonly source: string; readonly event: string | null; readonly upTo: number; readonly actor: string },
): Promise<{ readonly outcome: 'recorded'; readonly seq: number } | { readonly outcome: 'nothing' }> {
  const { source, event, upTo, actor } = request;
  const groups = await loadUnread(store.read, [source]);
  const group = groups.find((one) => one.event === event);
  if (group === undefined || upTo <= group.after) return { outcome: 'nothing' };
  const { rows } = await sql<{ n: number }>`select count(*) as n from (${unread(store.read, [source])}) as u
    where u.event = ${event ?? ''} and u.seq > ${group.after} and u.seq <= ${upTo}`.execute(store.read);
  const entries = Number(rows[0]?.n ?? 0);
  if (entries === 0) return { outcome: 'nothing' };
  const action = { action: 'unread.set-aside' as const, actor, event, upTo, entries };
  const { seq } = await appendAction(
    ledger,
    source,
    action,
    [action.action, source, event ?? '', String(upTo)],
    isoNow(clock),
  );
  return { outcome: 'recorded', seq };
}

/** Choices that were not understood, by source: they count as no consent. `since`: ISO 8601 UTC. */
export async function countUnclearChoices(
  read: Query,
  sources: readonly string[],
  since: string,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const chunk of chunksOf(sources)) {
    const rows = await read
      .selectFrom('decision_history as d')
      .select((eb) => ['d.source', eb.fn.countAll<number>().as('n')])
      .where('d.source', 'in', chunk)
      .where('d.at', '>=', since)
      // Literal conditions, so that SQLite uses the index on these few rows.
      .where(sql<boolean>`d.label = 'unknown' and d.is_first = 1`)
      // Another record of the decision may have said what it was.
      .where(
        sql<boolean>`not exists (select 1 from decision_judgements as j where j.source = d.source
          and j.decision_id = d.decision_id and j.label <> 'unknown')`,
      )
      .groupBy('d.source')
      .execute();
    for (const { source, n } of rows) counts.set(source, Number(n));
  }
  return counts;
}
