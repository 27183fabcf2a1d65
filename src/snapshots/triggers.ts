import type { Clock } from '../core/clock.ts';
import type { Jobs, WakeUp } from '../jobs/jobs.ts';
import type { Store } from '../store/store.ts';
import { requestSnapshotsIn } from './request.ts';

/** Turns changes of policies that deliveries told of into fetches of their text. */
export interface SnapshotTriggers {
  /** Looks at the changes behind the position; how many of them asked for a fetch. */
  tick(): Promise<number>;
}

export interface SnapshotTriggersOptions {
  readonly store: Pick<Store, 'read' | 'transaction'>;
  readonly jobs: Jobs;
  readonly clock: Clock;
  /** Whether texts of this source can be fetched at all. */
  isFollowed(source: string): boolean;
}

const POSITION = 'snapshot-triggers';
const PAGE = 200;
/** A change that is older asks for nothing: the schedule comes round every day (a ledger from before this reader existed). */
const WORTHWHILE_MS = 24 * 3_600_000;

/**
 * A reader of the policies' history with a position of its own. Position and jobs commit together and the position moves by
 * compare-and-set: after a crash nothing is lost and nothing asked for twice, however many processes read.
 */
export function createSnapshotTriggers(options: SnapshotTriggersOptions): SnapshotTriggers {
  const { store, jobs, clock } = options;
  return {
    async tick() {
      const position = await store.read
        .selectFrom('positions')
        .select('seq')
        .where('name', '=', POSITION)
        .executeTakeFirst();
      const from = position?.seq ?? 0;
      const changes = await store.read
        .selectFrom('policy_history')
        .select(['seq', 'source', 'policy_id', 'policy_type', 'change', 'received_at'])
        .where('seq', '>', from)
        .orderBy('seq')
        .limit(PAGE)
        .execute();
      const last = changes.at(-1);
      if (last === undefined) return 0;
      const since = new Date(clock().getTime() - WORTHWHILE_MS).toISOString();
      // What is only generated has no public text yet.
      const wanted = changes.filter(
        ({ change, received_at: at, source }) => change !== 'created' && at >= since && options.isFollowed(source),
      );
      const wakeUps: WakeUp[] = [];
      const moved = await store.transaction(async (tx) => {
        await tx.insertMany('positions', [{ name: POSITION, seq: 0 }], 'keep');
        const { numUpdatedRows } = await tx.query
          .updateTable('positions')
          .set({ seq: last.seq })
          .where('name', '=', POSITION)
          .where('seq', '=', from)
          .executeTakeFirstOrThrow();
        if (numUpdatedRows !== 1n) return false;
        for (const change of wanted) {
          const asked = await requestSnapshotsIn(tx, jobs, {
            source: change.source,
            policyId: change.policy_id,
            policyType: change.policy_type,
            why: 'webhook',
            changedAt: change.received_at,
          });
          wakeUps.push(...asked);
        }
        return true;
      });
      if (!moved) return 0;
      jobs.wake(wakeUps);
      return wanted.length;
    },
  };
}
