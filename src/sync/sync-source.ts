import type { CaseReading } from '../cases/view.ts';
import { extendWithdrawals } from '../cases/withdrawal.ts';
import { isoNow } from '../core/clock.ts';
import type { Source } from '../core/source.ts';
import type { ServiceClient } from '../service/client.ts';
import { loadBannerIds, loadBannersBeside } from './banners.ts';
import { isRefused, type PullDeps, type PullRequest, type PullResult } from './pull-result.ts';
import { pullConsentLogs } from './pull.ts';
import { loadWholeLog, noteRefusal } from './position.ts';
import { traced } from '../tracing/trace.ts';

/** What the sync of a source needs. */
export interface SyncDeps extends Omit<PullDeps, 'service'> {
  /** Brings the read models up to the end of the ledger. */
  readonly catchUp: () => Promise<unknown>;
  /** How a source derives subjects from e-mail addresses. */
  readonly recipeOf: CaseReading['recipeOf'];
  /** Creates the client for a source that has a base URL and a key. */
  readonly serviceFor: (access: ServiceAccess) => Pick<ServiceClient, 'fetchConsentLogPage'>;
}

/** Where a source's service is, and the key for it. */
interface ServiceAccess {
  readonly source: Source;
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface SyncRequest extends Omit<PullRequest, 'bannerId' | 'onProgress'> {
  /** Banners pulled concurrently, default 3; the client keeps them within the key's rate limit. */
  readonly atOnce?: number | undefined;
  /** Only these banners; default: all known ones (src/sync/banners.ts). */
  readonly banners?: readonly string[] | undefined;
  readonly onProgress?: ((progress: SyncProgress) => void) | undefined;
}

export interface SyncProgress {
  readonly source: string;
  /** Null: the log as a whole. */
  readonly bannerId: string | null;
  /** Banners done, and in total. */
  readonly done: number;
  readonly total: number;
  /** Counts for the current banner. */
  readonly pages: number;
  readonly rows: number;
  readonly stored: number;
}

/**
 * `done`: every banner was read to its end. `failed`: every banner was tried, and at least one failed; its result says
 * how. `not-configured`: the base URL or the key is missing. `stopped`: the whole account was refused, or the run was
 * cancelled or superseded; the banners in `left` were not tried.
 */
export type SyncResult = { readonly source: string } & (
  | { readonly outcome: 'done' | 'failed'; readonly banners: readonly PullResult[] }
  | { readonly outcome: 'stopped'; readonly banners: readonly PullResult[]; readonly left: readonly (string | null)[] }
  | { readonly outcome: 'not-configured'; readonly reason: string }
);

const AT_ONCE = 3;

/**
 * Pulls the consent log of a source. If its options name banners: those and all other known ones, a few concurrently;
 * banners that become known meanwhile follow in the same call. Otherwise: the whole log, requested without a banner
 * because some banners may be unknown here, and also the banners that it leaves out (src/sync/banners.ts). If the
 * service refuses to answer without a banner, each known banner is requested from then on.
 * Unless cancelled, it then extends withdrawals by request to newly known banners (src/cases/withdrawal.ts) and, if
 * rows came, brings the read models up to date. Errors: see pullConsentLogs; the other banners under way are finished
 * first.
 */
export function syncSource(deps: SyncDeps, request: SyncRequest): Promise<SyncResult> {
  return traced('sync', { source: request.source.slug }, async (span) => {
    const result = await syncWhole(deps, request);
    const entries = 'banners' in result ? result.banners.reduce((sum, { stored }) => sum + stored, 0) : 0;
    span.set({ outcome: result.outcome, entries });
    return result;
  });
}

async function syncWhole(deps: SyncDeps, request: SyncRequest): Promise<SyncResult> {
  const { source } = request;
  const { baseUrl, apiKey } = source;
  if (baseUrl === null || apiKey === null) {
    const missing = [baseUrl === null ? 'base URL of the service' : '', apiKey === null ? 'API key' : '']
      .filter(Boolean)
      .join(' and no ');
    return {
      source: source.slug,
      outcome: 'not-configured',
      reason: `The source ${source.slug} has no ${missing}, so nothing can be pulled. Set SERVICE_BASE_URL and SERVICE_API_KEY, or change the source.`,
    };
  }
  const service = deps.serviceFor({ source, baseUrl, apiKey });
  const { read } = deps.store;
  const known = request.banners?.filter((id) => id !== '') ?? (await loadBannerIds(read, source));
  const wholeLog = await loadWholeLog(read, source.slug, deps.clock());
  const isWhole =
    known.length === 0 || (request.banners === undefined && source.options.banners.length === 0 && !wholeLog.isRefused);
  // If a log that used to come as a whole no longer does, that is a failure.
  const isTentative = isWhole && known.length > 0 && !wholeLog.wasGiven;
  let wanted: (string | null)[] = isWhole ? [null] : [...known];
  const left = [...wanted];
  const results = new Map<string | null, PullResult>();
  let isStopped = false;

  const pullNext = async (): Promise<void> => {
    for (let bannerId = left.shift(); bannerId !== undefined; bannerId = isStopped ? undefined : left.shift()) {
      const own = bannerId;
      const progress = { source: source.slug, bannerId: own };
      const result = await pullConsentLogs(
        { ...deps, service },
        {
          ...request,
          bannerId: own,
          tentative: isTentative,
          onProgress: ({ pages, rows, stored }) =>
            request.onProgress?.({ ...progress, done: results.size, total: wanted.length, pages, rows, stored }),
        },
      ).catch((error: unknown) => {
        isStopped = true;
        throw error;
      });
      results.set(own, result);
      if (concernsAll(result)) isStopped = true;
    }
  };
  const pullAll = async (): Promise<void> => {
    const lanes = Array.from({ length: Math.min(request.atOnce ?? AT_ONCE, left.length) }, () => pullNext());
    for (const lane of await Promise.allSettled(lanes)) if (lane.status === 'rejected') throw lane.reason;
  };

  await pullAll();
  const refusalOfWhole = (): PullResult | null => {
    const whole = results.get(null);
    return whole?.outcome === 'failed' && isRefused(whole.reason) && known.length > 0 ? whole : null;
  };
  // One refusal may be an accident; a second one is definite.
  if (request.banners === undefined && !isStopped && isTentative && refusalOfWhole()?.pages === 0) {
    left.push(null);
    await pullAll();
  }
  if (request.banners === undefined && !isStopped) {
    const refusal = refusalOfWhole();
    if (isTentative && refusal?.pages === 0) {
      await deps.store.transaction((tx) => noteRefusal(tx.query, source.slug, isoNow(deps.clock)));
      wanted = [];
    }
    const more =
      isWhole && refusal === null ? await loadBannersBeside(read, source.slug) : await loadBannerIds(read, source);
    left.push(...more.filter((id) => !results.has(id)));
    wanted.push(...left);
    await pullAll();
  }
  const banners = wanted.flatMap((id) => results.get(id) ?? []);
  if (request.signal?.aborted !== true) {
    // Banners named by deliveries during this run are folded soon, and the next run sees them.
    if (banners.some(({ stored }) => stored > 0)) await deps.catchUp();
    await extendWithdrawals(deps, source.slug);
  }
  const ended = (outcome: PullResult['outcome']) => banners.some((banner) => banner.outcome === outcome);
  if (left.length > 0 || ended('cancelled') || ended('superseded'))
    return { source: source.slug, outcome: 'stopped', banners, left };
  return { source: source.slug, outcome: ended('failed') ? 'failed' : 'done', banners };
}

/** Whether the other banners of the key would end in the same way, so that requesting each is pointless. */
function concernsAll(result: PullResult): boolean {
  switch (result.outcome) {
    case 'cancelled':
      return true;
    case 'failed':
      return ['unauthorized', 'payment-required', 'rate-limited', 'network', 'redirected'].includes(result.reason);
    case 'finished':
    case 'unknown-banner':
    case 'superseded':
      return false;
  }
}
