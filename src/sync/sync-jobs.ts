import { z } from 'zod';
import { extendWithdrawals } from '../cases/withdrawal.ts';
import type { Clock } from '../core/clock.ts';
import { unknownSource } from '../core/errors.ts';
import { type Job, type JobHandler, JobRefused, readPayload } from '../jobs/job.ts';
import type { Jobs, NewJob } from '../jobs/jobs.ts';
import type { Sources } from '../sources/sources.ts';
import { loadCompletedBanners } from './banners.ts';
import { recountConsentLogs } from './recount.ts';
import { type SyncDeps, syncSource } from './sync-source.ts';

const syncPayload = z.object({ source: z.string(), actor: z.string(), full: z.boolean().optional() });
const recountPayload = z.object({
  source: z.string(),
  actor: z.string(),
  days: z.number().int().min(1).max(366).optional(),
});

interface Needs {
  readonly config: { readonly syncRecountDays: number };
  readonly sources: Pick<Sources, 'find' | 'list'>;
  readonly sync: SyncDeps;
  readonly jobs: Pick<Jobs, 'enqueueAll'>;
  readonly clock: Clock;
}

/** A job that pulls one source's logs. Enqueuing it again while one is pending or running gives the same job. */
export function syncJob(source: string, actor: string): NewJob {
  return { kind: 'sync', key: source, payload: { source, actor }, priority: 1, maxAttempts: 2 };
}

/** A sync or recount that a worker is running or will run. */
export interface SyncJob {
  readonly id: string;
  readonly kind: 'sync' | 'recount';
  readonly source: string;
  readonly state: 'waiting' | 'running';
  /** Banners done, banners in total, and what was read of the current one. */
  readonly progress: Job['progress'];
}

const kinds = ['sync', 'recount'] as const;
const states = ['running', 'waiting'] as const;

/** Pending and running pulls of one source, or of all; running ones come first. */
export async function loadSyncJobs(jobs: Pick<Jobs, 'list'>, source?: string): Promise<readonly SyncJob[]> {
  const found: SyncJob[] = [];
  for (const state of states)
    for (const kind of kinds)
      for (const { id, key, progress } of await jobs.list({ kind, state, limit: 10_000 }))
        if (key !== null && (source === undefined || key === source))
          found.push({ id, kind, source: key, state, progress });
  return found;
}

/**
 * Stops pulls of one source, or of all: pending ones are cancelled, running ones are asked to stop. Stored rows are
 * kept, and the next sync continues from there.
 */
export async function cancelSyncJobs(
  jobs: Pick<Jobs, 'list' | 'cancel'>,
  source?: string,
): Promise<readonly (Pick<SyncJob, 'id' | 'kind' | 'source'> & { readonly outcome: 'cancelled' | 'requested' })[]> {
  const cancelled: (Pick<SyncJob, 'id' | 'kind' | 'source'> & { outcome: 'cancelled' | 'requested' })[] = [];
  for (const job of await loadSyncJobs(jobs, source)) {
    const outcome = await jobs.cancel(job.id);
    if (outcome === 'cancelled' || outcome === 'requested')
      cancelled.push({ id: job.id, kind: job.kind, source: job.source, outcome });
  }
  return cancelled;
}

/** Jobs that pull consent logs. */
export function createSyncJobs(context: Needs) {
  return {
    sync: (payload, job) => sync(context, payload, job),
    /** Scheduled: one job per source that can be pulled. Sources that share a key start one after the other. */
    'sync-all': () =>
      enqueuePerSource(context, (source) => ({ kind: 'sync', payload: { source, actor: 'schedule' }, maxAttempts: 2 })),
    recount: (payload, job) => recount(context, payload, job),
    /** Scheduled at night: one recount per source that can be pulled. */
    'recount-all': () =>
      enqueuePerSource(context, (source) => ({
        kind: 'recount',
        payload: { source, actor: 'schedule', days: context.config.syncRecountDays },
        maxAttempts: 3,
      })),
  } satisfies Record<string, JobHandler>;
}

async function sync(context: Needs, ...[payload, { signal, progress }]: Parameters<JobHandler>) {
  const { source: slug, actor, full } = readPayload(syncPayload, payload);
  const source = context.sources.find(slug);
  if (source === null) throw new JobRefused(unknownSource(slug));
  const result = await syncSource(context.sync, {
    source,
    actor,
    full,
    signal,
    onProgress: ({ bannerId, done, total, rows, stored }) =>
      progress({ done, total, message: `${nameOf(bannerId)}: ${rows} rows, ${stored} new` }),
  });
  if (result.outcome === 'not-configured') throw new JobRefused(result.reason);
  signal.throwIfAborted();
  const failed = result.banners.filter((banner) => banner.outcome === 'failed');
  // Each failure is already an entry and shown in the sync status; the schedule tries again anyway.
  return { outcome: result.outcome, banners: result.banners.length, failed: failed.length };
}

/** Reads the log of recent days again and compares it with the ledger (recount.ts). */
async function recount(context: Needs, ...[payload, { signal, progress }]: Parameters<JobHandler>) {
  const { source: slug, actor, days } = readPayload(recountPayload, payload);
  const source = context.sources.find(slug);
  if (source?.baseUrl == null || source.apiKey === null) throw new JobRefused(`The source ${slug} cannot be pulled.`);
  const service = context.sync.serviceFor({ source, baseUrl: source.baseUrl, apiKey: source.apiKey });
  const deps = { ...context.sync, service };
  const completed = await loadCompletedBanners(context.sync.store.read, source.slug);
  const bannerIds = context.sync.isKeyShared(source) ? completed.filter((id) => id !== null) : completed;
  const summary = { counted: 0, found: 0, gone: 0, failed: 0 };
  let firstError = '';
  for (const [done, bannerId] of bannerIds.entries()) {
    progress({ done, total: bannerIds.length, message: nameOf(bannerId) });
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
  await extendWithdrawals(context.sync, slug);
  if (summary.failed > 0) throw new Error(`${summary.failed} of ${bannerIds.length} recounts failed: ${firstError}`);
  return summary;
}

async function enqueuePerSource(
  { sources, jobs, clock }: Needs,
  jobFor: (slug: string) => Pick<NewJob, 'payload' | 'maxAttempts'> & { readonly kind: string },
) {
  const pulled = sources.list().filter(({ baseUrl, apiKey }) => baseUrl !== null && apiKey !== null);
  const delays = staggerByKey(pulled);
  const now = clock().getTime();
  await jobs.enqueueAll(
    pulled.map(({ slug }, place) => ({ ...jobFor(slug), key: slug, runAt: new Date(now + (delays[place] ?? 0)) })),
  );
  return { sources: pulled.length };
}

function nameOf(bannerId: string | null): string {
  return bannerId ?? 'all banners';
}

/**
 * Milliseconds between the starts of sources that share a key; shorter if they would otherwise take longer than WINDOW.
 */
const STEP = 5_000;
const WINDOW = 300_000;

/**
 * When each source starts, in milliseconds from now, in the order given. Sources that share a key share its rate limit,
 * so they start one after the other; other sources start at once.
 */
export function staggerByKey(
  sources: readonly { readonly baseUrl: string | null; readonly apiKey: string | null }[],
): number[] {
  const nameOf = ({ baseUrl, apiKey }: (typeof sources)[number]) => `${baseUrl}\n${apiKey}`;
  const sizes = new Map<string, number>();
  for (const source of sources) sizes.set(nameOf(source), (sizes.get(nameOf(source)) ?? 0) + 1);
  const places = new Map<string, number>();
  return sources.map((source) => {
    const name = nameOf(source);
    const place = places.get(name) ?? 0;
    places.set(name, place + 1);
    return Math.round(place * Math.min(STEP, WINDOW / (sizes.get(name) ?? 1)));
  });
}
