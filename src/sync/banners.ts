import type { Source } from '../core/source.ts';
import type { Query } from '../store/store.ts';

/**
 * The banners to pull for a source: those of its options, those pulled before, and those seen in decisions, in that order, each
 * once. Empty when none is known.
 */
export async function loadBannerIds(read: Query, source: Pick<Source, 'slug' | 'options'>): Promise<readonly string[]> {
  const pulled = await read
    .selectFrom('sync_positions')
    .select('banner_id')
    .where('source', '=', source.slug)
    .where('banner_id', '!=', '')
    .orderBy('banner_id')
    .execute();
  const known = [...new Set([...source.options.banners, ...pulled.map((row) => row.banner_id)])];
  return [...known, ...(await loadSeenBanners(read, source.slug, known))];
}

/** Whether anything but the request at hand ever named this banner: the options, a run that stored or finished, or a decision. */
export async function isKnownBanner(
  read: Query,
  source: Pick<Source, 'slug' | 'options'>,
  bannerId: string,
): Promise<boolean> {
  if (bannerId === '' || source.options.banners.includes(bannerId)) return true;
  const position = await read
    .selectFrom('sync_positions')
    .select('banner_id')
    .where('source', '=', source.slug)
    .where('banner_id', '=', bannerId)
    .executeTakeFirst();
  return position !== undefined || (await loadSeenBanners(read, source.slug, [])).includes(bannerId);
}

/**
 * Whether the log is pulled banner by banner although the options name none: that has worked before, and asking for all of it at once was
 * refused, which leaves no position. Where it only failed it stands among the positions, and is asked for again.
 */
export async function isPulledByBanner(read: Query, source: string): Promise<boolean> {
  const rows = await read
    .selectFrom('sync_positions')
    .select(['banner_id', 'last_success_at'])
    .where('source', '=', source)
    .execute();
  return rows.some((row) => row.last_success_at !== null) && rows.every((row) => row.banner_id !== '');
}

/** Banner ids that deliveries name and no pulled row does: a log that is asked for as a whole may leave them out. */
export async function loadUnpulledBanners(read: Query, source: string): Promise<readonly string[]> {
  const pulled = await read
    .selectFrom('decision_history')
    .select('banner_id')
    .distinct()
    .where('source', '=', source)
    .where('via', '=', 'pull')
    .where('banner_id', 'is not', null)
    .execute();
  return loadSeenBanners(
    read,
    source,
    pulled.flatMap(({ banner_id }) => (banner_id === null ? [] : [banner_id])),
  );
}

/** Banner ids that decisions name and that are not among `known`. */
export async function loadSeenBanners(
  read: Query,
  source: string,
  known: readonly string[],
): Promise<readonly string[]> {
  let query = read
    .selectFrom('decision_history')
    .select('banner_id')
    .distinct()
    .where('source', '=', source)
    .where('banner_id', 'is not', null)
    .where('banner_id', '!=', '')
    .orderBy('banner_id');
  if (known.length > 0) query = query.where('banner_id', 'not in', known);
  const rows = await query.execute();
  return rows.flatMap(({ banner_id }) => (banner_id === null ? [] : [banner_id]));
}
