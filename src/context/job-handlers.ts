import { extendWithdrawals } from '../cases/withdrawal.ts';
import type { Context } from '../context.ts';
import { createDocumentJobs } from '../documents/jobs.ts';
import { removeOldDrafts } from '../documents/register.ts';
import type { JobHandlers } from '../jobs/handler.ts';
import { createPolicyJobs } from '../policies/jobs.ts';
import { createSnapshotJobs } from '../snapshots/jobs.ts';
import { createSyncJobs } from '../sync/jobs.ts';
import { settleRepeats } from '../sync/settle-repeats.ts';

/** Days that finished jobs stay listed. */
const JOBS_KEPT_DAYS = 30;

type Needs = Pick<
  Context,
  | 'config'
  | 'sources'
  | 'sync'
  | 'seal'
  | 'documents'
  | 'cases'
  | 'jobs'
  | 'clock'
  | 'snapshots'
  | 'policies'
  | 'readModels'
>;

/** What each kind of job does. All of them are harmless to repeat: the ledger deduplicates. */
export function createJobHandlers(context: Needs): JobHandlers {
  return {
    ...createSyncJobs(context),
    ...createDocumentJobs(context),
    ...createSnapshotJobs(context),
    ...createPolicyJobs(context),

    async seal() {
      const sealing = await context.seal();
      return sealing.outcome === 'sealed' || sealing.outcome === 'unchanged'
        ? { outcome: sealing.outcome, size: sealing.checkpoint.size }
        : { outcome: sealing.outcome };
    },

    async 'check-read-models'() {
      const { seq, ahead, counts } = await context.readModels.check();
      return { seq, ahead, counts };
    },

    async maintenance(_payload, { signal }) {
      const settledRepeats = { ...(await settleRepeats(context.sync, { source: null, actor: 'schedule', signal })) };
      let extendedWithdrawals = 0;
      for (const { slug } of context.sources.list()) extendedWithdrawals += await extendWithdrawals(context.sync, slug);
      const before = new Date(context.clock().getTime() - JOBS_KEPT_DAYS * 86_400_000);
      return {
        purgedJobs: await context.jobs.purge(before),
        removedDrafts: await removeOldDrafts(context.documents.folder, context.clock()),
        destroyedSecrets: await context.sources.destroyRetired('schedule'),
        extendedWithdrawals,
        settledRepeats,
      };
    },
  };
}
