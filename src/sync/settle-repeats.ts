import type { Clock } from '../core/clock.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Store } from '../store/store.ts';
import { SLOT_MS } from './look-back.ts';
import { columnOf, readToOf } from './position.ts';

interface SettleDeps {
  readonly store: Pick<Store, 'read'>;
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** How late rows may appear. Milliseconds. */
  readonly lookBackMs: number;
  /** Projects everything appended so far, since the decision is based on projected rows. */
  readonly catchUp: () => Promise<unknown>;
}

/** Counts of what was decided. `open`: the log does not tell (yet). */
interface Settled {
  readonly repeats: number;
  readonly newChoices: number;
  readonly open: number;
}

/** A choice is made at most this long before it is delivered, retries included. */
const BEFORE_MS = 60 * 60_000;
/** Clocks may differ by this much. */
const SKEW_MS = 5 * 60_000;
const AT_ONCE = 500;

/**
 * Decides from the pulled log whether repeats of consent deliveries with neither id nor time were new choices. Two rows
 * with the same subject, choice and banner around the arrivals: at least one repeat was a new choice. One row, and the
 * log pulled so far beyond the last arrival that rows shown late would have been seen: it was a repeat. Anything else stays open. Each decision is an entry that
 * names its rows, because it rests on what was known then and a rebuild must reach the same result. Deciding twice
 * changes nothing. Errors: those of the store and the ledger.
 */
export async function settleRepeats(
  deps: SettleDeps,
  request: { readonly source: string | null; readonly actor: string; readonly signal?: AbortSignal | undefined },
): Promise<Settled> {
  await deps.catchUp();
  const total = { repeats: 0, newChoices: 0, open: 0 };
  let after = 0;
  for (;;) {
    const page = await loadOpen(deps, request.source, after);
    for (const delivery of page) {
      request.signal?.throwIfAborted();
      const decided = await decide(deps, delivery);
      if (decided === null) {
        total.open += 1;
        continue;
      }
      await appendAction(
        deps.ledger,
        delivery.source,
        {
          action: 'repeat.settled',
          actor: request.actor,
          delivery: delivery.seq,
          event: delivery.event,
          repeats: delivery.repeats,
          ...decided,
          rows: [...decided.rows],
        },
        ['repeat.settled', delivery.source, String(delivery.seq), String(delivery.repeats)],
        deps.clock().toISOString(),
      );
      total[decided.resolution === 'repeat' ? 'repeats' : 'newChoices'] += 1;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < AT_ONCE) break;
    after = last.seq;
  }
  if (total.repeats + total.newChoices > 0) await deps.catchUp();
  return total;
}

type OpenDelivery = Awaited<ReturnType<typeof loadOpen>>[number];

/** Repeated consent deliveries that are undecided, or were repeated again since, with their content. */
async function loadOpen({ store }: SettleDeps, source: string | null, after: number) {
  let query = store.read
    .selectFrom('arrivals as r')
    .innerJoin('ambiguous_repeats as a', 'a.seq', 'r.seq')
    .innerJoin('decision_history as d', 'd.seq', 'r.seq')
    .whereRef('r.count', '>', 'a.settled_repeats')
    // A body with several events is repeated as a whole: the log cannot settle that.
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('delivery_history as h').select('h.seq').whereRef('h.seq', '=', 'r.seq').where('h.events', '>', 1),
        ),
      ),
    )
    .where('r.seq', '>', after)
    .select([
      'r.seq',
      'r.count as repeats',
      'r.last_at as lastAt',
      'a.source',
      'a.event',
      'd.received_at as firstAt',
      'd.subject',
      'd.banner_id as bannerId',
      'd.state',
      'd.purposes',
    ])
    .orderBy('r.seq')
    .limit(AT_ONCE);
  if (source !== null) query = query.where('a.source', '=', source);
  return query.execute();
}

async function decide(
  { store, lookBackMs }: SettleDeps,
  delivery: OpenDelivery,
): Promise<{
  readonly resolution: 'repeat' | 'new-choice';
  readonly rows: readonly number[];
  readonly from: string;
  readonly to: string;
} | null> {
  // Without a subject, the choices of different visitors look the same.
  if (delivery.subject === null) return null;
  const from = new Date(Date.parse(delivery.firstAt) - BEFORE_MS).toISOString();
  const to = new Date(Date.parse(delivery.lastAt) + SKEW_MS).toISOString();
  const pulled = await store.read
    .selectFrom('decision_history')
    .select(['seq', 'decision_id', 'banner_id', 'purposes'])
    .where('source', '=', delivery.source)
    .where('subject', '=', delivery.subject)
    .where('via', '=', 'pull')
    .where('state', '=', delivery.state)
    .where('at', '>=', from)
    .where('at', '<=', to)
    .orderBy('seq')
    .execute();
  const rows = new Map<string, number>();
  for (const row of pulled) {
    const sameBanner = row.banner_id === null || delivery.bannerId === null || row.banner_id === delivery.bannerId;
    if (sameBanner && agree(row.purposes, delivery.purposes) && !rows.has(row.decision_id))
      rows.set(row.decision_id, row.seq);
  }
  const found = { rows: [...rows.values()], from, to };
  if (rows.size >= 2) return { resolution: 'new-choice', ...found };
  if (rows.size === 0) return null;
  const readTo = await loadReadTo({ store }, delivery);
  // A row that appears late is read up to a slot later.
  const isThrough = readTo !== null && Date.parse(readTo) >= Date.parse(delivery.lastAt) + lookBackMs + SLOT_MS;
  return isThrough ? { resolution: 'repeat', ...found } : null;
}

/** The time up to which the log of the delivery's banner has been pulled, with the look-back and without gaps. */
async function loadReadTo(
  { store }: Pick<SettleDeps, 'store'>,
  { source, bannerId }: OpenDelivery,
): Promise<string | null> {
  const positions = await store.read
    .selectFrom('sync_positions')
    .select(['watermark', 'read_to'])
    .where('source', '=', source)
    .where('banner_id', 'in', [columnOf(null), columnOf(bannerId)])
    .execute();
  return (
    positions
      .flatMap((position) => [position.watermark, readToOf(position)].filter((time) => time !== null).sort()[0] ?? [])
      .sort()
      .at(-1) ?? null
  );
}

/** Whether two choices contradict each other on no purpose; the pulled row may list more purposes. */
function agree(a: string, b: string): boolean {
  const [first, second] = [JSON.parse(a), JSON.parse(b)] as Record<string, string>[];
  return Object.entries(first ?? {}).every(
    ([purpose, answer]) => second === undefined || !Object.hasOwn(second, purpose) || second[purpose] === answer,
  );
}
