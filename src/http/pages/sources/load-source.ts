import type { Discovery } from '../../../../receivers/discover/discover.ts';
import { loadRefusedCounts } from '../../../attention/deliveries.ts';
import { loadLastTimes } from '../../../attention/figures.ts';
import type { Context } from '../../../context/context.ts';
import { publicUrlOf } from '../../../core/address.ts';
import type { Source } from '../../../core/source.ts';
import { dateIn } from '../../../core/zoned-days.ts';
import { listAdminAddresses } from '../../../people/people.ts';
import { requestFormState } from '../../../request-form/offered.ts';
import type { FieldMapping } from '../../../sources/changes.ts';
import { doubtfulController } from '../../../sources/controller.ts';
import { gatherSamples, isEmptyProposal, proposalFrom } from '../../../sources/discovery.ts';
import { findSourceFaults, leftoverFault } from '../../../sources/faults.ts';
import { createBannerQueries } from '../../../store/queries/history-banners.ts';
import { countReusedIds } from '../../../store/queries/reused-ids.ts';
import { listSyncRuns } from '../../../sync/runs.ts';
import { loadSyncStatus } from '../../../sync/status.ts';
import { loadSyncJobs } from '../../../sync/sync-jobs.ts';
import type { SourceState } from './source-view.tsx';

/** Number of sync runs on the page. */
const RUNS_SHOWN = 20;
/**
 * Number of payloads of each kind that the page of fields reads, and their largest size in bytes.
 */
const LOOKED_AT = 50;
const LARGEST = 16 * 1024;

/** Whether it is the source from the environment, whose address and keys are set there. */
export function isConfigured({ config }: Pick<Context, 'config'>, slug: string): boolean {
  return config.defaultSource?.slug === slug;
}

/**
 * Examines recent payloads of a source, without a request to the service. `including`: paths of doubtful proposals that a person
 * typed.
 */
export async function examineFields(
  { store, rejected, clock, discoverFields }: Pick<Context, 'store' | 'rejected' | 'clock' | 'discoverFields'>,
  source: Source,
  including: readonly string[] = [],
): Promise<{ readonly found: Discovery; readonly proposal: FieldMapping | null }> {
  await rejected.flush();
  const deps = { store, rejected, clock, serviceFor: null, lookedAt: LOOKED_AT, largest: LARGEST };
  const { samples, encodings } = await gatherSamples(deps, source);
  const found = await discoverFields(samples, source.options, including);
  const proposal = proposalFrom(source.slug, found, encodings, including);
  return { found, proposal: isEmptyProposal(proposal) ? null : proposal };
}

/** Loads the state for the pages of a source. */
export async function loadSourceState(
  context: Pick<Context, 'store' | 'projector' | 'rejected' | 'clock' | 'jobs' | 'loadProfile' | 'config' | 'sources'>,
  source: Source,
): Promise<SourceState> {
  const { slug } = source;
  const { read } = context.store;
  await context.projector.catchUp();
  await context.rejected.flush();
  const [times, refused, banners, jobs, runs, names, profile, admins, [reread = null], reusedIds] = await Promise.all([
    loadLastTimes(read, { sources: [slug], pulled: [slug] }),
    loadRefusedCounts(context, slug),
    loadSyncStatus(read, context.clock, [source]),
    loadSyncJobs(context.jobs, slug),
    listSyncRuns(read, slug, RUNS_SHOWN),
    createBannerQueries(read).bannerNames({ source: slug, asOf: Number.MAX_SAFE_INTEGER }),
    // Errors in its file are shown on its own page.
    context.loadProfile(source).catch(() => null),
    listAdminAddresses(context),
    context.jobs.list({ kind: 'reread', key: slug, limit: 1 }),
    countReusedIds(read, slug),
  ]);
  const publicUrl = publicUrlOf(context.config, context.config.port);
  const secretTimes = context.sources.secretTimes(slug);
  return {
    source,
    isConfigured: isConfigured(context, slug),
    faults: findSourceFaults(source, context.sources.sharingKey()),
    leftovers: context.sources
      .leftovers()
      .filter((one) => one.slug === slug)
      .map((one) => leftoverFault(one, dateIn(one.endedAt, context.config.timeZone)))
      .map(({ sentence, remedy }) => `${sentence} ${remedy}`),
    admins,
    webhookUrl: `${publicUrl}/webhooks/${slug}`,
    secrets: source.webhookSecrets.map(({ id, encoding = 'text' }) => ({
      id,
      encoding,
      addedAt: secretTimes.get(id)?.addedAt ?? null,
      retireAt: secretTimes.get(id)?.retireAt ?? null,
    })),
    now: context.clock(),
    lastDelivery: times.delivered.get(slug) ?? null,
    refused: refused.reduce((sum, { count }) => sum + count, 0),
    banners,
    jobs,
    runs,
    reread,
    reusedIds,
    bannerNames: names,
    doubtful: doubtfulController(profile, source, context.sources),
    requestForm: requestFormState(profile, source, context.sources),
    requestFormUrl: `${publicUrl}/r/${slug}`,
  };
}
