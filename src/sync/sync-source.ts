import type { CaseReading } from '../cases/view.ts';
import { extendWithdrawals } from '../cases/withdrawal.ts';
import { isoNow } from '../core/clock.ts';
import type { Source } from '../core/source.ts';
import type { ServiceClient } from '../service/client.ts';
import { traced } from '../tracing/trace.ts';
import { loadBannerIds, loadBannersBeside } from './banners.ts';
import { beginningOf, loadPositions, noteRefusal, type SyncPosition, wholeLogOf } from './position.ts';
import { pullConsentLogs } from './pull.ts';
import { isRefused, type PullDeps, type PullRequest, type PullResult } from './pull-result.ts';

/** What the sync of a source needs. */
export interface SyncDeps extends Omit<PullDeps, 'service'> {
  /** Brings the read models up to the end of the ledger. */
  readonly catchUp: () => Promise<unknown>;
  /** How a source derives subjects from e-mail addresses. */
  readonly recipeOf: CaseReading['recipeOf'];
  /** Whether another source has the same API key: then the log without a banner may hold rows of other clients. */
  readonly isKeyShared: (source: Source) => boolean;
  /** Creates the client for a source that has a base URL and a key. */
  readonly serviceFor: (access: ServiceAccess) => Pick<ServiceClient, 'fetchConsentLogPage'>;
}

/** Where a source's service is, and the key for it. */
interface ServiceAccess {
  readonly source: Source;
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface SyncRequest extends Omit<PullRequest, 'bannerId' | 'beginning' | 'onProgress'> {
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
 * banners that become known during the sync follow in the same call. Otherwise: the whole log, requested without a
 * banner because some banners may be unknown here, and also the banners that it leaves out (src/sync/banners.ts). If
 * the service refuses to answer without a banner, or another source has the same API key, each known banner is
 * requested from then on. Unless cancelled, it
 * then extends withdrawals by request to newly known banners (src/cases/withdrawal.ts) and, if rows came, brings the
 * read models up to date. Errors: see pullConsentLogs; banners already being pulled are finished first.
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
  if (baseUrl === null || apiKey === null) return notConfigured(source);
  const { read } = deps.store;
  const positions = await loadPositions(read, source.slug);
  const isShared = deps.isKeyShared(source);
  const wholeLog = isShared ? { wasGiven: false, isRefused: true } : wholeLogOf(positions, deps.clock());
  const isUnnamed = request.banners === undefined && source.options.banners.length === 0;
  // The usual sync: the whole log came before, and no other banner needs to be known.
  const known =
    isUnnamed && wholeLog.wasGiven
      ? []
      : (request.banners?.filter((id) => id !== '') ?? (await loadBannerIds(read, source, positions)));
  if (isShared && known.length === 0) return keyOfOthers(source);
  const isWhole = known.length === 0 || (isUnnamed && !wholeLog.isRefused);
  // If a log that used to come as a whole no longer does, that is a failure.
  const isTentative = isWhole && known.length > 0 && !wholeLog.wasGiven;

  const pulls = createPulls({ ...deps, service: deps.serviceFor({ source, baseUrl, apiKey }) }, request, isTentative);
  await pulls.pull(isWhole ? [null] : known, positions);
  if (request.banners === undefined) {
    const isWholeRefused = () => pulls.isRefused(null);
    // One refusal may be an accident; a second one is definite.
    if (isTentative && isWholeRefused() && pulls.pagesOf(null) === 0) await pulls.pull([null]);
    if (isTentative && isWholeRefused() && pulls.pagesOf(null) === 0) {
      await deps.store.transaction((tx) => noteRefusal(tx.query, source.slug, isoNow(deps.clock)));
      pulls.forget(null);
    }
    if (!pulls.isStopped()) {
      const isComplete = isWhole && !isWholeRefused();
      await pulls.pullNew(
        await (isComplete ? loadBannersBeside(read, source.slug, positions) : loadBannerIds(read, source)),
      );
    }
  }

  const banners = pulls.results();
  if (request.signal?.aborted !== true) {
    // Banners named by deliveries during this run are folded soon, and the next run sees them.
    if (banners.some(({ stored }) => stored > 0)) await deps.catchUp();
    await extendWithdrawals(deps, source.slug);
  }
  const ended = (outcome: PullResult['outcome']) => banners.some((banner) => banner.outcome === outcome);
  const left = pulls.left();
  if (left.length > 0 || ended('cancelled') || ended('superseded'))
    return { source: source.slug, outcome: 'stopped', banners, left };
  return { source: source.slug, outcome: ended('failed') ? 'failed' : 'done', banners };
}

function notConfigured({ slug, baseUrl, apiKey }: Source): SyncResult {
  const missing = [baseUrl === null ? 'API address' : '', apiKey === null ? 'API key' : '']
    .filter(Boolean)
    .join(' and no ');
  return {
    source: slug,
    outcome: 'not-configured',
    reason: `The source ${slug} has no ${missing}, so nothing can be pulled. Set them for the source.`,
  };
}

function keyOfOthers({ slug }: Source): SyncResult {
  return {
    source: slug,
    outcome: 'not-configured',
    reason: `The source ${slug} has the same API key as another source, so the whole log of the key may hold rows of other clients, and no banner of ${slug} is known. Give it a key that is limited to this client, or name its banners.`,
  };
}

/** The pulls of one sync, by banner; null is the log as a whole. They stop when one result concerns all banners. */
function createPulls(deps: PullDeps, request: SyncRequest, tentative: boolean) {
  const wanted = new Set<string | null>();
  const left: (string | null)[] = [];
  const results = new Map<string | null, PullResult>();
  let isStopped = false;

  const pullOne = async (bannerId: string | null, positions?: readonly SyncPosition[]): Promise<void> => {
    const result = await pullConsentLogs(deps, {
      ...request,
      bannerId,
      beginning: positions && beginningOf(positions, bannerId),
      tentative,
      onProgress: ({ pages, rows, stored }) =>
        request.onProgress?.({
          ...{ source: request.source.slug, bannerId, done: results.size, total: wanted.size },
          ...{ pages, rows, stored },
        }),
    }).catch((error: unknown) => {
      isStopped = true;
      throw error;
    });
    results.set(bannerId, result);
    if (concernsAll(result)) isStopped = true;
  };
  const pullLane = async (positions?: readonly SyncPosition[]): Promise<void> => {
    let justRead = positions;
    for (let next = left.shift(); next !== undefined; next = isStopped ? undefined : left.shift()) {
      await pullOne(next, justRead);
      justRead = undefined;
    }
  };
  /** Pulls these banners, a few concurrently. `positions`: those of the source, if they were just read. */
  const pull = async (bannerIds: readonly (string | null)[], positions?: readonly SyncPosition[]): Promise<void> => {
    for (const id of bannerIds) wanted.add(id);
    left.push(...bannerIds);
    const lanes = Array.from({ length: Math.min(request.atOnce ?? AT_ONCE, left.length) }, () => pullLane(positions));
    for (const lane of await Promise.allSettled(lanes)) if (lane.status === 'rejected') throw lane.reason;
  };
  return {
    pull,
    pullNew: (bannerIds: readonly string[]) => pull(bannerIds.filter((id) => !results.has(id))),
    isStopped: () => isStopped,
    isRefused(bannerId: string | null): boolean {
      const result = results.get(bannerId);
      return result?.outcome === 'failed' && isRefused(result.reason);
    },
    pagesOf: (bannerId: string | null) => results.get(bannerId)?.pages,
    /** Leaves a banner out of the results. */
    forget: (bannerId: string | null) => void wanted.delete(bannerId),
    /** In the order in which they were requested. */
    results: () => [...wanted].flatMap((id) => results.get(id) ?? []),
    /** Not tried, because the pulls stopped before. */
    left: () => left,
  };
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
