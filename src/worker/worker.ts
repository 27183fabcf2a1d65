import { setTimeout as delay } from 'node:timers/promises';
import { createNotifyJobs } from '../attention/send-notices.ts';
import { copyErasuresToBackups, createBackupJobs } from '../backup/bucket-backups.ts';
import { createExportJobs, removeOldExports } from '../backup/export-file.ts';
import { extendWithdrawals } from '../cases/withdrawal.ts';
import type { Context } from '../context/context.ts';
import { createOffboardJobs } from '../context/offboard.ts';
import { compareReadingsJob, createReadingsJobs } from '../context/readings-job.ts';
import { createRereadJobs } from '../context/reread-job.ts';
import { createVerifyJobs } from '../context/verify-job.ts';
import { StoreUnavailable, UsageError } from '../core/errors.ts';
import { findDocument } from '../documents/check.ts';
import { createDocumentJobs } from '../documents/document-jobs.ts';
import { createLetterMailJobs } from '../documents/mail-letter.ts';
import { removeOldDrafts } from '../documents/register.ts';
import { createScheduleJobs, mailJobs } from '../documents/schedules.ts';
import { createErasureJobs } from '../erasure/erasure-jobs.ts';
import { removeOldProposals } from '../erasure/proposal.ts';
import { noteExpired } from '../hand-over/hand-over.ts';
import { createReplyMailJobs } from '../hand-over/mail-reply.ts';
import { createTaskMailJobs } from '../hand-over/mail-task.ts';
import { type JobHandlers, lanesOf, selectKinds } from '../jobs/job.ts';
import { createDistributedRunner, createRunner } from '../jobs/runner.ts';
import { createScheduler, type Schedule } from '../jobs/schedule.ts';
import { closeWithin } from '../jobs/time-limits.ts';
import { createAddressJobs } from '../people/change-address.ts';
import { createPolicyJobs } from '../policies/policy-jobs.ts';
import { createSnapshotJobs, startSnapshotTriggers } from '../policy-snapshots/snapshot-jobs.ts';
import { createRequestFormJobs } from '../request-form/confirm-receipt.ts';
import { settleRepeats } from '../sync/settle-repeats.ts';
import { createSyncJobs } from '../sync/sync-jobs.ts';

/** Does jobs and runs schedules until stopped. */
export interface Worker {
  /** The kinds of jobs it works on. */
  readonly kinds: readonly string[];
  /** Waits a while for running jobs, then releases them unfinished. */
  stop(): Promise<void>;
}

interface WorkerOptions {
  /** Kinds of jobs, or queues; default: all. */
  readonly kinds?: readonly string[] | undefined;
  /** Concurrent jobs in each queue; default: as in src/jobs/job.ts. */
  readonly concurrency?: number | undefined;
  /** Milliseconds after which others take over the jobs of a silent worker; default 30,000. */
  readonly lease?: number | undefined;
}

/**
 * Starts a worker; any number of processes may run one. All of them run the schedules, whatever kinds they work on.
 * Throws UsageError for unknown kinds.
 */
export async function startWorker(context: Context, options: WorkerOptions = {}): Promise<Worker> {
  const { jobs, clock, log, store, config } = context;
  await context.recordRegimes();
  const handlers = createJobHandlers(context);
  const kinds = chooseKinds(Object.keys(handlers), options.kinds);
  const scheduler = createScheduler({ store, jobs, timeZone: config.timeZone, clock, log });
  const schedules: Schedule[] = [
    { name: 'seal', kind: 'seal', cron: '*/5 * * * *' },
    { name: 'maintenance', kind: 'maintenance', cron: '17 3 * * *' },
    { name: 'check-read-models', kind: 'check-read-models', cron: '53 4 * * *' },
    { name: 'retention', kind: 'retention', cron: '7 1 * * *' },
    { name: 'settle-calls', kind: 'settle-calls', cron: '*/3 * * * *' },
    { name: 'snapshots', kind: 'snapshot-all', cron: '41 2 * * *' },
    { name: 'openapi-watch', kind: 'openapi-watch-all', cron: '23 4 * * *' },
  ];
  if (config.syncSchedule !== null) schedules.push({ name: 'sync', kind: 'sync-all', cron: config.syncSchedule });
  if (config.syncSchedule !== null && config.syncRecountDays > 0)
    schedules.push({ name: 'recount', kind: 'recount-all', cron: '40 3 * * *' });
  if (config.verifySchedule !== null) schedules.push({ name: 'verify', kind: 'verify', cron: config.verifySchedule });
  if (config.witnesses !== null && config.witnessSchedule !== null)
    schedules.push({ name: 'witness', kind: 'witness', cron: config.witnessSchedule });
  if (config.backup.schedule !== null) schedules.push({ name: 'backup', kind: 'backup', cron: config.backup.schedule });
  const { mail, notify, checkpointMail } = config;
  const isTold = mail !== null || notify.chatUrl !== null || notify.webhook !== null;
  if (isTold && notify.schedule !== null) schedules.push({ name: 'notify', kind: 'notify', cron: notify.schedule });
  if (mail !== null && notify.digest !== null) schedules.push({ name: 'digest', kind: 'digest', cron: notify.digest });
  if (mail !== null && checkpointMail.to.length > 0 && checkpointMail.schedule !== null)
    schedules.push({ name: 'checkpoint-mail', kind: 'mail-checkpoint', cron: checkpointMail.schedule });
  await patiently(async () => {
    await scheduler.replaceAll(schedules);
    if ((await context.readings.pending()) !== null) await jobs.enqueue(compareReadingsJob());
  }, log);
  const lanes = lanesOf(kinds, options.concurrency);
  const distribution = (await context.distribution?.open()) ?? null;
  const running = {
    jobs,
    handlers,
    lanes,
    clock,
    log,
    ...(options.lease === undefined ? {} : { lease: options.lease }),
  };
  const runner = distribution === null ? createRunner(running) : createDistributedRunner({ ...running, distribution });
  // From here on nothing may fail: whoever starts a worker that did not start cannot stop it.
  scheduler.start();
  runner.start();
  const triggers = startSnapshotTriggers(context);
  return {
    kinds,
    async stop() {
      await Promise.all([
        closeWithin(STOP_MS, 'schedules', () => scheduler.stop(), log),
        closeWithin(STOP_MS, 'triggers', () => triggers.stop(), log),
      ]);
      // Waits for running jobs itself.
      await closeWithin(3 * STOP_MS, 'jobs', () => runner.stop(), log);
    },
  };
}

/** Milliseconds that a part may take to stop. */
const STOP_MS = 5000;

/** A process that stalls in the middle of a write delays the others, for at most half of this. */
const PATIENCE_MS = 30_000;

/** Rejects with StoreUnavailable if it does not succeed in time. */
async function patiently(work: () => Promise<void>, log: Context['log']): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || Date.now() > until) throw error;
      log.warn({ err: error }, 'the worker waits for the database');
      await delay(1000);
    }
  }
}

function chooseKinds(known: readonly string[], named: readonly string[] | undefined): readonly string[] {
  if (named === undefined) return known;
  const { kinds, unknown } = selectKinds(named, known);
  if (unknown.length === 0 && kinds.length > 0) return kinds;
  const all = lanesOf(known).map((lane) => `${lane.queue} (${lane.kinds.join(', ')})`);
  const problem = unknown.length === 0 ? 'none is named' : `unknown: ${unknown.join(', ')}`;
  throw new UsageError([`--kinds takes queues or kinds of jobs; ${problem}. Use one of: ${all.join('; ')}.`]);
}

/** Days for which finished jobs stay listed. */
const JOBS_KEPT_DAYS = 30;

type Needs = Pick<
  Context,
  | 'config'
  | 'log'
  | 'store'
  | 'keys'
  | 'ledger'
  | 'refusal'
  | 'instance'
  | 'epoch'
  | 'version'
  | 'sources'
  | 'sync'
  | 'seal'
  | 'witness'
  | 'documents'
  | 'cases'
  | 'jobs'
  | 'clock'
  | 'snapshots'
  | 'policies'
  | 'readModels'
  | 'rejected'
  | 'erasure'
  | 'notifying'
  | 'verify'
  | 'lastVerification'
  | 'projector'
  | 'rebuildInTurn'
  | 'readings'
  | 'verifierKey'
>;

/** The handlers of all kinds of jobs. All are idempotent, because the ledger deduplicates. */
export function createJobHandlers(context: Needs): JobHandlers {
  return {
    ...createSyncJobs(context),
    ...createDocumentJobs(context, (report, document) => mailJobs(context.sources, report, document)),
    ...createScheduleJobs(context),
    ...createSnapshotJobs(context),
    ...createPolicyJobs(context),
    ...createNotifyJobs(context.notifying),
    ...createAddressJobs(context),
    ...createVerifyJobs(context),
    ...createRereadJobs(context),
    ...createReadingsJobs(context),
    ...createExportJobs(context),
    ...createLetterMailJobs(context),
    ...createTaskMailJobs(context),
    ...createReplyMailJobs(context),
    ...createRequestFormJobs(context),
    ...createErasureJobs(context),
    ...createBackupJobs(context),
    ...createOffboardJobs(context),

    async seal() {
      const sealing = await context.seal();
      await copyErasuresToBackups(context);
      return sealing.outcome === 'sealed' || sealing.outcome === 'unchanged'
        ? { outcome: sealing.outcome, size: sealing.checkpoint.size }
        : { outcome: sealing.outcome };
    },

    // A failure is retried by the schedule: retrying at once would keep a slow witness busy.
    async witness() {
      const witnessing = await context.witness();
      if (witnessing.outcome !== 'witnessed') return { outcome: witnessing.outcome };
      const { size, quorum } = witnessing;
      const witnesses = witnessing.results.map(({ name, result }) => {
        const reason = 'reason' in result ? result.reason : null;
        if (reason !== null) context.log.warn({ witness: name, reason }, 'a witness did not sign the checkpoint');
        return { name, outcome: result.outcome, ...(reason === null ? {} : { reason }) };
      });
      return { outcome: 'witnessed', size, quorum, witnesses };
    },

    async maintenance(_payload, { signal }) {
      const settledRepeats = { ...(await settleRepeats(context.sync, { source: null, actor: 'schedule', signal })) };
      let extendedWithdrawals = 0;
      for (const { slug } of context.sources.list()) extendedWithdrawals += await extendWithdrawals(context.sync, slug);
      const before = new Date(context.clock().getTime() - JOBS_KEPT_DAYS * 86_400_000);
      return {
        purgedJobs: await context.jobs.purge(before),
        removedDrafts: await removeOldDrafts({
          folder: context.documents.folder,
          now: context.clock(),
          isRegistered: async (documentId) => {
            await context.projector.catchUp();
            return (await findDocument(context.store.read, documentId)) !== null;
          },
        }),
        removedExports: await removeOldExports(context.config.dataDir, context.clock()),
        expiredHandOvers: await noteExpired(context),
        destroyedSecrets: await context.sources.destroyRetired('schedule'),
        removedProposals: await removeOldProposals(context),
        extendedWithdrawals,
        settledRepeats,
      };
    },
  };
}
