import { type Clock, isoNow } from '../core/clock.ts';
import type { Source } from '../core/source.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { seenBanners, unpulledBanners } from '../store/queries/history-banners.ts';
import type { Query, Store } from '../store/store.ts';
import { bannerOf, loadPositions, type SyncPosition, setDismissed } from './position.ts';

/**
 * Ids of the banners to pull for a source: those in its options, then those pulled before, then those seen in
 * decisions, without repeats. `positions`: those of the source, if they were just read.
 */
export async function loadBannerIds(
  read: Query,
  source: Pick<Source, 'slug' | 'options'>,
  positions?: readonly BannerPosition[],
): Promise<readonly string[]> {
  const { pulled, dismissed } = pulledByThemselves(positions ?? (await loadPositions(read, source.slug)));
  const known = [...new Set([...source.options.banners, ...pulled])];
  const all = [...known, ...(await loadSeenBanners(read, source.slug, known))];
  return all.filter((bannerId) => source.options.banners.includes(bannerId) || !dismissed.has(bannerId));
}

/** Whether the banner is known apart from the present request: from the options, an earlier run, or a decision. */
export async function isKnownBanner(
  read: Query,
  source: Pick<Source, 'slug' | 'options'>,
  bannerId: string,
): Promise<boolean> {
  if (source.options.banners.includes(bannerId)) return true;
  const position = await read
    .selectFrom('sync_positions')
    .select('banner_id')
    .where('source', '=', source.slug)
    .where('banner_id', '=', bannerId)
    .executeTakeFirst();
  return position !== undefined || (await loadSeenBanners(read, source.slug, [])).includes(bannerId);
}

type BannerPosition = Pick<SyncPosition, 'banner_id' | 'dismissed_at'>;

/**
 * Banners pulled by name, ordered by id. `dismissed`: an officer set them aside, so they are pulled only if the
 * source's settings or a person names them.
 */
function pulledByThemselves(positions: readonly BannerPosition[]): {
  readonly pulled: readonly string[];
  readonly dismissed: ReadonlySet<string>;
} {
  const named = positions.filter((one) => bannerOf(one.banner_id) !== null);
  return {
    pulled: named.map(({ banner_id }) => banner_id),
    dismissed: new Set(named.flatMap((one) => (one.dismissed_at === null ? [] : [one.banner_id]))),
  };
}

/**
 * Banners whose log has been read to its end, ordered by id. Null, which comes first, stands for the log pulled without
 * naming a banner.
 */
export async function loadCompletedBanners(read: Query, source: string): Promise<readonly (string | null)[]> {
  const positions = await read
    .selectFrom('sync_positions')
    .select('banner_id')
    .where('source', '=', source)
    .where('last_success_at', 'is not', null)
    .orderBy('banner_id')
    .execute();
  return positions.map(({ banner_id }) => bannerOf(banner_id));
}

/**
 * Banners to pull in addition to the whole log, which may leave some out: those pulled by name before, and those that
 * deliveries name but no pulled row does. If some pulled rows name no banner, the latter are skipped: we cannot tell
 * which banners the whole log covers, and each row might be stored twice.
 */
export async function loadBannersBeside(
  read: Query,
  source: string,
  positions: readonly BannerPosition[],
): Promise<readonly string[]> {
  const { pulled, dismissed } = pulledByThemselves(positions);
  const beside = [...new Set([...pulled, ...(await unpulledBanners(read, source))])];
  return beside.filter((bannerId) => !dismissed.has(bannerId));
}

/** Banner ids that decisions name, without those in `known`. */
export async function loadSeenBanners(
  read: Query,
  source: string,
  known: readonly string[],
): Promise<readonly string[]> {
  return (await seenBanners(read, source)).filter((id) => !known.includes(id));
}

/** `unknown`: nothing ever named this banner. */
type Dismissal = { readonly outcome: 'recorded'; readonly seq: number } | { readonly outcome: 'unknown' };

/**
 * Sets a banner aside, so that it is neither pulled nor shown as failing, or brings it back (`isRestored`). Its rows
 * stay. It is still pulled if the source's settings or `sync --banner` name it.
 */
export async function dismissBanner(
  deps: { readonly store: Pick<Store, 'read'>; readonly ledger: Ledger; readonly clock: Clock },
  request: {
    readonly source: Source;
    readonly bannerId: string;
    readonly actor: string;
    readonly isRestored?: boolean;
  },
): Promise<Dismissal> {
  const { source, bannerId, actor, isRestored = false } = request;
  if (bannerId === '' || !(await isKnownBanner(deps.store.read, source, bannerId))) return { outcome: 'unknown' };
  const at = isoNow(deps.clock);
  const action = isRestored ? ('sync.banner-restored' as const) : ('sync.banner-dismissed' as const);
  const key = [action, source.slug, bannerId, at];
  const { seq } = await appendAction(deps.ledger, source.slug, { action, actor, bannerId }, key, at, (tx) =>
    setDismissed(tx.query, { source: source.slug, bannerId, dismissedAt: isRestored ? null : at }, at),
  );
  return { outcome: 'recorded', seq };
}
