import { listCases } from '../cases/list-cases.ts';
import type { CaseReading } from '../cases/view.ts';
import type { Verdict } from '../core/vocabulary.ts';
import type { Query } from '../store/store.ts';
import { loadDeliveryTimes } from './delivery-ends.ts';

/** How near the legal limit of an open request is. `none`: no law sets one, or the applicable law is unknown. */
export type DueState = 'overdue' | 'within-7-days' | 'later' | 'none';

const DUE_SOON_DAYS = 7;

/**
 * Counts open requests by how near their legal limit is; every state is included. Throws UsageError if a controller
 * profile is invalid.
 */
export async function countDue(cases: CaseReading, now: Date): Promise<ReadonlyMap<DueState, number>> {
  const counts = new Map<DueState, number>([
    ['overdue', 0],
    ['within-7-days', 0],
    ['later', 0],
    ['none', 0],
  ]);
  for (const { daysLeft } of await listCases(cases, { open: true, now: now.toISOString() })) {
    const state = dueState(daysLeft);
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return counts;
}

function dueState(daysLeft: number | null): DueState {
  if (daysLeft === null) return 'none';
  if (daysLeft < 0) return 'overdue';
  return daysLeft <= DUE_SOON_DAYS ? 'within-7-days' : 'later';
}

/** When each source last delivered and was pulled, ISO 8601 UTC; absent if never. */
export interface LastTimes {
  /** The last stored delivery of each source. */
  readonly delivered: ReadonlyMap<string, string>;
  /** The last successful pull of each source; if several banners are pulled, the one pulled longest ago. */
  readonly synced: ReadonlyMap<string, string>;
}

/** Loads the times of the last delivery and pull. `pulled`: the sources whose consent log is pulled. */
export async function loadLastTimes(
  read: Query,
  { sources, pulled }: { readonly sources: readonly string[]; readonly pulled: readonly string[] },
): Promise<LastTimes> {
  const [delivered, positions] = await Promise.all([
    loadDeliveryTimes(read, 'last', sources),
    read
      .selectFrom('sync_positions')
      .select((eb) => ['source', eb.fn.min('last_success_at').as('at')])
      .where('dismissed_at', 'is', null)
      .where('last_success_at', 'is not', null)
      .groupBy('source')
      .execute(),
  ]);
  const isPulled = new Set(pulled);
  const synced = new Map(
    positions.flatMap(({ source, at }) => (at !== null && isPulled.has(source) ? [[source, at] as const] : [])),
  );
  return { delivered, synced };
}

/** When the ledger was last sealed, ISO 8601 UTC; null if never. */
export interface SealTimes {
  /** The last checkpoint. */
  readonly sealed: string | null;
  /**
   * The oldest entry that no checkpoint covers, apart from readmitted deliveries: they keep their time of arrival, up to
   * days before they became entries.
   */
  readonly unsealed: string | null;
}

/** Loads the times of the last checkpoint and of the oldest entry after it. */
export async function loadSealTimes(read: Query): Promise<SealTimes> {
  const checkpoint = await read
    .selectFrom('checkpoints')
    .select(['size', 'created_at'])
    .orderBy('epoch', 'desc')
    .orderBy('size', 'desc')
    .limit(1)
    .executeTakeFirst();
  const open = await read
    .selectFrom('entries')
    .select('received_at')
    .where('seq', '>', Number(checkpoint?.size ?? 0))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('delivery_history')
            .select('delivery_history.seq')
            .whereRef('delivery_history.seq', '=', 'entries.seq')
            .where('verdict', '=', 'verified-late' satisfies Verdict),
        ),
      ),
    )
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return { sealed: checkpoint?.created_at ?? null, unsealed: open?.received_at ?? null };
}
