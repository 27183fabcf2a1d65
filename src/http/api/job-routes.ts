import { z } from 'zod';
import type { Context } from '../../context/context.ts';
import { verificationOf } from '../../context/verify-job.ts';
import { CodedError } from '../../core/errors.ts';
import type { Job } from '../../jobs/job.ts';
import { loadSyncStatus } from '../../sync/status.ts';
import { cancelSyncJobs, syncJob } from '../../sync/sync-jobs.ts';
import { sourcesOf } from '../auth/access.ts';
import { sendJobEvents } from '../job-events.ts';
import { jobsOfSources } from '../pages/today/load-today.ts';
import { RefusedRequest, routesWith, sourceQuery } from './route.ts';

const defineRoute = routesWith<'store' | 'clock' | 'sources' | 'jobs' | 'projector' | 'log'>();

export const jobSchema = z
  .object({
    jobId: z.string(),
    kind: z.string(),
    state: z.enum(['waiting', 'running', 'done', 'failed', 'cancelled']),
    attempts: z.int(),
    progress: z.object({ done: z.number(), total: z.number().nullable(), message: z.string().nullable() }).nullable(),
    result: z.unknown().meta({ description: 'Of a document: its documentId, sha256, bytes and seq.' }),
    error: z.string().nullable(),
    createdAt: z.string(),
    finishedAt: z.string().nullable(),
  })
  .meta({
    id: 'Job',
    description: 'Work that takes a while: a document, a pull of consent logs, a call to the service.',
  });

function jobOf(job: Job): z.input<typeof jobSchema> {
  const { id, kind, state, attempts, progress, error, createdAt, finishedAt } = job;
  return { jobId: id, kind, state, attempts, progress, result: job.result, error, createdAt, finishedAt };
}

/**
 * A newly requested job. `slugs`: the sources that the caller may see (null: all); the faults of a verification may be
 * about any.
 */
export async function shownJob({ jobs }: Pick<Context, 'jobs'>, id: string, slugs: readonly string[] | null = null) {
  const job = await jobs.find(id);
  if (job === null) throw new CodedError('not_found');
  const verified = slugs === null || job.kind !== 'verify' ? null : verificationOf(job.result);
  return jobOf(verified === null ? job : { ...job, result: { ...verified, faults: [] } });
}

const JOBS_SHOWN = 100;
/** Kinds of jobs that people request. */
const jobKinds = ['document', 'sync', 'verify', 'reread', 'policy-generate', 'policy-publish', 'policy-bulk'] as const;

const syncSchema = z
  .object({
    source: z.string(),
    bannerId: z.string().nullable(),
    state: z.enum(['never-pulled', 'up-to-date', 'running', 'interrupted', 'failing', 'dismissed']),
    watermark: z
      .string()
      .nullable()
      .meta({ description: 'Everything dated before this has been pulled at least once.' }),
    lagMs: z.number().nullable(),
    rows: z.int(),
    lastSuccessAt: z.string().nullable(),
    lastError: z.string().nullable(),
    lastErrorAt: z.string().nullable(),
    earliest: z.string().nullable(),
    unreadable: z.int(),
    gap: z.string().nullable(),
  })
  .meta({ id: 'SyncStatus', description: 'The state of pulling one banner’s consent log.' });

export const workApi = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/syncs',
    name: 'listSyncs',
    tag: 'Sources and syncs',
    summary: 'The state of pulling consent logs, per source and banner',
    query: sourceQuery,
    answer: z.object({ items: z.array(syncSchema) }),
    async handle(context, { query, request }) {
      const permitted = sourcesOf(context, request).list();
      const sources = permitted.filter(({ slug }) => query.source === undefined || slug === query.source);
      await context.projector.catchUp();
      return { items: [...(await loadSyncStatus(context.store.read, context.clock, sources))] };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/syncs',
    name: 'startSync',
    tag: 'Sources and syncs',
    summary: 'Pull the consent logs of a source now',
    body: z.strictObject({ source: z.string().max(100) }),
    status: 202,
    answer: jobSchema,
    async handle(context, { body, by }) {
      if (context.sources.find(body.source) === null) throw new CodedError('not_found', 'Unknown source.');
      const { id } = await context.jobs.enqueue(syncJob(body.source, by.officer));
      return shownJob(context, id);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/syncs/stop',
    name: 'stopSyncs',
    tag: 'Sources and syncs',
    summary: 'Stop the syncs of a source that are running or waiting',
    description: 'Stored rows are kept, and the next sync continues from there.',
    body: z.strictObject({ source: z.string().max(100) }),
    answer: z.object({
      items: z.array(z.object({ jobId: z.string(), outcome: z.enum(['cancelled', 'requested']) })),
    }),
    async handle(context, { body }) {
      if (context.sources.find(body.source) === null) throw new CodedError('not_found', 'Unknown source.');
      const stopped = await cancelSyncJobs(context.jobs, body.source);
      return { items: stopped.map(({ id, outcome }) => ({ jobId: id, outcome })) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/jobs',
    name: 'listJobs',
    tag: 'Jobs',
    summary: `The latest ${JOBS_SHOWN} documents, pulls, verifications, readings of earlier deliveries and calls to the service, waiting, running or finished`,
    query: sourceQuery.extend({
      kind: z.enum(jobKinds).optional(),
      state: z.enum(['waiting', 'running', 'done', 'failed', 'cancelled']).optional(),
    }),
    answer: z.object({ items: z.array(jobSchema) }),
    async handle(context, { query, request }) {
      const { source, state, kind } = query;
      const only = source === undefined ? sourcesOf(context, request).slugs : [source];
      const kinds = kind === undefined ? jobKinds : [kind];
      const found = await Promise.all(
        kinds.map((one) =>
          context.jobs.list({ kind: one, limit: JOBS_SHOWN, ...(state === undefined ? {} : { state }) }),
        ),
      );
      const jobs = await jobsOfSources(found.flat(), only, context.store);
      const latest = [...jobs].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1)).slice(0, JOBS_SHOWN);
      return { items: latest.map(jobOf) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/jobs/{jobId}',
    name: 'getJob',
    tag: 'Jobs',
    summary: 'One job: its state, progress and result',
    params: z.strictObject({ jobId: z.string().max(100) }),
    answer: jobSchema,
    handle: (context, { params, request }) => shownJob(context, params.jobId, sourcesOf(context, request).slugs),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/jobs/{jobId}/events',
    name: 'followJob',
    tag: 'Jobs',
    summary: 'A job’s progress, as server-sent events',
    description:
      'Events `progress` with `done`, `total` and `text`, and `end` with the last `state`. A stream lasts at most a minute: open it again, or read the job, until it has ended.',
    params: z.strictObject({ jobId: z.string().max(100) }),
    answer: null,
    handle: (context, { params, request, reply }) =>
      sendJobEvents(context, reply, params.jobId, request.server.closing),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/jobs/{jobId}/stop',
    name: 'stopJob',
    tag: 'Jobs',
    summary: 'Stop a sync or a bulk generation',
    description: 'Its results stay, and starting the same again continues from there.',
    params: z.strictObject({ jobId: z.string().max(100) }),
    answer: jobSchema,
    async handle(context, { params: { jobId } }) {
      const job = await context.jobs.find(jobId);
      if (job === null) throw new CodedError('not_found');
      if (job.kind !== 'sync' && job.kind !== 'policy-bulk')
        throw new RefusedRequest('refused', ['Only syncs and bulk generations can be stopped.']);
      await context.jobs.cancel(jobId);
      return shownJob(context, jobId);
    },
  }),
];
