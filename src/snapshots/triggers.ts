import type { Clock } from '../core/clock.ts';
import type { Jobs, WakeUp } from '../jobs/jobs.ts';
import type { Query, Store } from '../store/store.ts';
import { requestSnapshotsIn, type SnapshotWish } from './request.ts';

/** Turns changes of policies, told by deliveries or made from here, into fetches of their text. */
export interface SnapshotTriggers {
  /** Looks at the changes behind the positions; how many of them asked for a fetch. */
  tick(): Promise<number>;
}

export interface SnapshotTriggersOptions {
  readonly store: Pick<Store, 'read' | 'transaction'>;
  readonly jobs: Jobs;
  readonly clock: Clock;
  /** Whether texts of this source can be fetched at all. */
  isFollowed(source: string): boolean;
}

/** A page of changes behind a position; null when there are none. */
interface Changes {
  readonly to: number;
  readonly wishes: readonly SnapshotWish[];
}

const PAGE = 200;
/** A change that is older asks for nothing: the schedule comes round every day (a ledger from before this reader existed). */
const WORTHWHILE_MS = 24 * 3_600_000;

const readers: readonly { readonly position: string; load(read: Query, after: number): Promise<Changes | null> }[] = [
  { position: 'snapshot-triggers', load: loadToldChanges },
  { position: 'snapshot-triggers:publish', load: loadPublished },
];

/**
 * Readers of what was projected, each with a position of its own. Position and jobs commit together and the position moves by
 * compare-and-set: after a crash nothing is lost and nothing asked for twice, however many processes read.
 */
export function createSnapshotTriggers(options: SnapshotTriggersOptions): SnapshotTriggers {
  const { store, jobs, clock } = options;

  async function advance({ position, load }: (typeof readers)[number]): Promise<number> {
    const row = await store.read.selectFrom('positions').select('seq').where('name', '=', position).executeTakeFirst();
    const from = row?.seq ?? 0;
    const changes = await load(store.read, from);
    if (changes === null) return 0;
    const since = new Date(clock().getTime() - WORTHWHILE_MS).toISOString();
    const wanted = changes.wishes.filter(({ changedAt, source }) => changedAt >= since && options.isFollowed(source));
    const wakeUps: WakeUp[] = [];
    const moved = await store.transaction(async (tx) => {
      await tx.insertMany('positions', [{ name: position, seq: 0 }], 'keep');
      const { numUpdatedRows } = await tx.query
        .updateTable('positions')
        .set({ seq: changes.to })
        .where('name', '=', position)
        .where('seq', '=', from)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows !== 1n) return false;
      for (const wish of wanted) wakeUps.push(...(await requestSnapshotsIn(tx, jobs, wish)));
      return true;
    });
    if (!moved) return 0;
    jobs.wake(wakeUps);
    return wanted.length;
  }

  return {
    async tick() {
      let asked = 0;
      for (const reader of readers) asked += await advance(reader);
      return asked;
    },
  };
}

/** Changes that deliveries told of. What is only generated has no public text yet. */
async function loadToldChanges(read: Query, after: number): Promise<Changes | null> {
  const rows = await read
    .selectFrom('policy_history')
    .select(['seq', 'source', 'policy_id', 'policy_type', 'change', 'received_at'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(PAGE)
    .execute();
  const last = rows.at(-1);
  if (last === undefined) return null;
  const wishes = rows
    .filter(({ change }) => change !== 'created')
    .map((row): SnapshotWish => {
      const { source, policy_id: policyId, policy_type: policyType, received_at: changedAt } = row;
      return { source, policyId, policyType, why: 'webhook', changedAt };
    });
  return { to: last.seq, wishes };
}

/** States of a publishing that is under way, or certainly changed nothing. */
const unchanged: ReadonlySet<string> = new Set(['sent', 'refused', 'not-happened']);

/** Policies that were published from here, or may have been: an outcome that nobody knows asks for a look, too. */
async function loadPublished(read: Query, after: number): Promise<Changes | null> {
  const rows = await read
    .selectFrom('calls')
    .select(['last_seq', 'source', 'policy_id', 'policy_type', 'state', 'asked_at', 'finished_at'])
    .where('operation', '=', 'publish')
    .where('last_seq', '>', after)
    .orderBy('last_seq')
    .limit(PAGE)
    .execute();
  const last = rows.at(-1);
  if (last === undefined) return null;
  const wishes = rows
    .filter(({ state, policy_id: policyId }) => policyId !== null && !unchanged.has(state))
    .map((row): SnapshotWish => {
      const { source, policy_id: policyId, policy_type: policyType } = row;
      return { source, policyId, policyType, why: 'publish', changedAt: row.finished_at ?? row.asked_at };
    });
  return { to: last.last_seq, wishes };
}
