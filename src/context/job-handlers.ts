import { z } from 'zod';
import type { Context } from './contract.ts';
import { type JobHandler, JobRefused } from '../jobs/handler.ts';
import type { DocumentDeps, RegisteredDocument } from '../documents/deps.ts';
import { producePack } from '../documents/produce-pack.ts';
import { produceReport } from '../documents/produce-report.ts';
import { removeOldDrafts } from '../documents/register.ts';
import { settleRepeats } from '../sync/settle-repeats.ts';
import { loadCompletedBanners } from '../sync/banners.ts';
import { recountConsentLogs } from '../sync/recount.ts';
import { staggerByKey } from '../sync/stagger.ts';
import { syncSource } from '../sync/sync-source.ts';
import { createPolicyJobs } from './policy-jobs.ts';
import { createSnapshotJobs } from './snapshot-jobs.ts';

const syncPayload = z.object({ source: z.string(), actor: z.string(), full: z.boolean().optional() });
const recountPayload = z.object({
  source: z.string(),
  actor: z.string(),
  days: z.number().int().min(1).max(366).optional(),
});
const reportFormats = z.enum(['pdf', 'csv', 'json', 'html']);
const packPayload = z.object({ type: z.literal('pack'), caseId: z.string(), actor: z.string() });
const reportPayload = z.object({
  type: z.literal('report'),
  name: z.string(),
  source: z.string(),
  from: z.string(),
  to: z.string(),
  format: reportFormats,
  subject: z.string().optional(),
  actor: z.string(),
});

const documentPayload = z.discriminatedUnion('type', [packPayload, reportPayload]);

type Needs = Pick<
  Context,
  | 'config'
  | 'sources'
  | 'sync'
  | 'projector'
  | 'seal'
  | 'documents'
  | 'cases'
  | 'jobs'
  | 'clock'
  | 'snapshots'
  | 'policies'
>;

/** Days that finished jobs stay listed. */
const JOBS_KEPT_DAYS = 30;

/** What each kind of job does. All of them are harmless to repeat: the ledger deduplicates. */
export function createJobHandlers(context: Needs): Readonly<Record<string, JobHandler>> {
  return {
    ...createSnapshotJobs(context),
    ...createPolicyJobs(context),

    async sync(payload, { signal, progress }) {
      const { source: slug, actor, full } = parse(syncPayload, payload);
      const source = context.sources.find(slug);
      if (source === null) throw new JobRefused(`There is no source ${slug}.`);
      const result = await syncSource(context.sync, {
        source,
        actor,
        full,
        signal,
        onProgress: ({ bannerId, done, total, rows, stored }) =>
          progress({
            done,
            total,
            message: `${bannerId === '' ? 'all banners' : bannerId}: ${rows} rows, ${stored} new`,
          }),
      });
      if (result.outcome === 'not-configured') throw new JobRefused(result.reason);
      signal.throwIfAborted();
      const failed = result.banners.filter((banner) => banner.outcome === 'failed');
      // Each failure is an entry already and stands in the sync status; the schedule comes round again by itself.
      return { outcome: result.outcome, banners: result.banners.length, failed: failed.length };
    },

    /** The schedule's turn: one job per source that can be pulled; sources that share a key start one after the other. */
    async 'sync-all'() {
      const sources = context.sources.list().filter(({ baseUrl, apiKey }) => baseUrl !== null && apiKey !== null);
      const delays = staggerByKey(sources);
      for (const [place, { slug }] of sources.entries()) {
        await context.jobs.enqueue({
          kind: 'sync',
          key: slug,
          payload: { source: slug, actor: 'schedule' },
          runAt: new Date(context.clock().getTime() + (delays[place] ?? 0)),
          maxAttempts: 2,
        });
      }
      return { sources: sources.length };
    },

    /** Reads the log of recent days again and compares; see src/sync/recount.ts. */
    async recount(payload, { signal, progress }) {
      const { source: slug, actor, days } = parse(recountPayload, payload);
      const source = context.sources.find(slug);
      if (source?.baseUrl == null || source.apiKey === null)
        throw new JobRefused(`The source ${slug} cannot be pulled.`);
      const service = context.sync.serviceFor({ source, baseUrl: source.baseUrl, apiKey: source.apiKey });
      const deps = { ...context.sync, service, catchUp: () => context.projector.catchUp() };
      const bannerIds = await loadCompletedBanners(context.sync.store.read, source.slug);
      const summary = { counted: 0, found: 0, gone: 0, failed: 0 };
      let firstError = '';
      for (const [done, bannerId] of bannerIds.entries()) {
        progress({ done, total: bannerIds.length, message: bannerId === '' ? 'all banners' : bannerId });
        const result = await recountConsentLogs(deps, { source, bannerId, actor, days, signal });
        if (result.outcome === 'failed') {
          summary.failed += 1;
          firstError ||= result.error;
        }
        if (result.outcome !== 'counted') continue;
        summary.counted += 1;
        summary.found += result.found;
        summary.gone += result.gone;
      }
      if (summary.failed > 0)
        throw new Error(`${summary.failed} of ${bannerIds.length} recounts failed: ${firstError}`);
      return summary;
    },

    /** The night's turn: one recount per source that can be pulled. */
    async 'recount-all'() {
      const days = context.config.syncRecountDays;
      const sources = context.sources.list().filter(({ baseUrl, apiKey }) => baseUrl !== null && apiKey !== null);
      const delays = staggerByKey(sources);
      for (const [place, { slug }] of sources.entries()) {
        await context.jobs.enqueue({
          kind: 'recount',
          key: slug,
          payload: { source: slug, actor: 'schedule', days },
          runAt: new Date(context.clock().getTime() + (delays[place] ?? 0)),
          maxAttempts: 3,
        });
      }
      return { sources: sources.length };
    },

    async document(payload, { signal, assertHeld, completeIn }) {
      const request = parse(documentPayload, payload);
      const documents: DocumentDeps = {
        ...context.documents,
        assertHeld,
        registeredIn: (tx, document) => completeIn(tx, resultOf(document)),
      };
      const produced =
        request.type === 'report'
          ? await produceReport(documents, request, signal)
          : await producePack({ ...documents, cases: context.cases }, request, signal);
      switch (produced.outcome) {
        case 'produced':
          return resultOf(produced);
        case 'invalid':
          throw new JobRefused(produced.problem);
        case 'unknown-source':
          throw new JobRefused(`There is no source ${produced.source}.`);
        case 'unknown-case':
          throw new JobRefused(`There is no case ${produced.caseId}.`);
        default:
          return produced satisfies never;
      }
    },

    async seal() {
      const sealing = await context.seal();
      return sealing.outcome === 'sealed' || sealing.outcome === 'unchanged'
        ? { outcome: sealing.outcome, size: sealing.checkpoint.size }
        : { outcome: sealing.outcome };
    },

    async maintenance(_payload, { signal }) {
      const settling = { ...context.sync, catchUp: () => context.projector.catchUp() };
      const before = new Date(context.clock().getTime() - JOBS_KEPT_DAYS * 86_400_000);
      return {
        purgedJobs: await context.jobs.purge(before),
        removedDrafts: await removeOldDrafts(context.documents.folder, context.clock()),
        destroyedSecrets: await context.sources.destroyRetired('schedule'),
        settledRepeats: { ...(await settleRepeats(settling, { source: null, actor: 'schedule', signal })) },
      };
    },
  };
}

function resultOf({ documentId, sha256, bytes, seq }: RegisteredDocument) {
  return { documentId, sha256, bytes, seq };
}

function parse<T extends z.ZodType>(schema: T, payload: unknown): z.infer<T> {
  const parsed = schema.safeParse(payload);
  if (!parsed.success) throw new JobRefused(`The job's payload is not valid: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
