import type { Clock } from '../core/clock.ts';
import type { Source } from '../core/source.ts';
import { seenBannersOf } from '../store/queries/history-banners.ts';
import type { Query } from '../store/store.ts';
import { describeGaps } from './periods-to-read.ts';
import {
  bannerOf,
  gapsOfPosition,
  isRefusal,
  type RecountSummary,
  recountSummarySchema,
  type SyncPosition,
} from './position.ts';
import { describeForm, requestFormSchema } from './query-form.ts';

/** The state of one banner's pull. */
export interface BannerStatus {
  readonly source: string;
  /** Null: the log pulled without naming a banner. */
  readonly bannerId: string | null;
  /**
   * `never-pulled`: known from the options or from deliveries, but no run has finished: a gap. `running`: a run stored
   * a page within the last two minutes; `interrupted`: it did not; its position is kept. `dismissed`: an officer set
   * the banner aside.
   */
  readonly state: 'never-pulled' | 'up-to-date' | 'running' | 'interrupted' | 'failing' | 'dismissed';
  /** The run that has begun but not ended; null if there is none. */
  readonly run: BannerRun | null;
  /** Everything that the service dates before this has been pulled at least once. ISO 8601 UTC. */
  readonly watermark: string | null;
  /** Milliseconds since the watermark; null before the first finished run. */
  readonly lagMs: number | null;
  /** Distinct rows in the ledger. */
  readonly rows: number;
  readonly lastSuccessAt: string | null;
  readonly lastError: string | null;
  readonly lastErrorAt: string | null;
  /**
   * Earliest time of a row that counts; the service returned nothing earlier. Null if there are no rows, or until a run
   * has read the log from its beginning.
   */
  readonly earliest: string | null;
  /** Pieces of broken pages that are kept as bytes but could not be read as rows. */
  readonly unreadable: number;
  /** Result of the last recount of recent days; null before the first. */
  readonly recount: (RecountSummary & { readonly at: string }) | null;
  /** The form in which the service accepts requests, in words; null: the usual one. */
  readonly form: string | null;
  /** What is missing from this banner's log, in words; null if nothing is known to be. */
  readonly gap: string | null;
}

/** A running or interrupted run. Times ISO 8601 UTC. */
interface BannerRun {
  readonly startedAt: string;
  /** When its last page was stored. */
  readonly lastPageAt: string;
  /** The period requested; null: from the beginning, to the end. */
  readonly from: string | null;
  readonly to: string | null;
}

/** A run that stored no page for this long has most likely ended. */
const SILENT_MS = 120_000;

/** The state of every banner's pull for these sources, in the order given; banners ordered by id. */
export async function loadSyncStatus(
  read: Query,
  clock: Clock,
  sources: readonly Pick<Source, 'slug' | 'options'>[],
): Promise<readonly BannerStatus[]> {
  const now = clock().getTime();
  const status: BannerStatus[] = [];
  const positions = await loadPositions(
    read,
    sources.map(({ slug }) => slug),
  );
  const pulls = sources.map(({ slug, options }) => {
    const given = (positions.get(slug) ?? []).filter((position) => !isRefusal(position));
    const byBanner = new Map(given.map((position) => [bannerOf(position.banner_id), position]));
    const known = [...new Set([...options.banners, ...byBanner.keys()])].filter((id) => id !== null);
    // A pull without a banner covers all banners that the key may see.
    return { slug, byBanner, known, isWhole: byBanner.has(null) };
  });
  const seenOf = await seenBannersOf(
    read,
    pulls.filter(({ isWhole }) => !isWhole).map(({ slug }) => slug),
  );
  for (const { slug, byBanner, known, isWhole } of pulls) {
    const seen = (seenOf.get(slug) ?? []).filter((id) => !known.includes(id));
    for (const bannerId of [...(isWhole ? [null] : []), ...[...known, ...seen].sort()])
      status.push(
        statusOf(
          {
            source: slug,
            bannerId,
            position: byBanner.get(bannerId),
            isSeen: bannerId !== null && seen.includes(bannerId),
          },
          now,
        ),
      );
  }
  return status;
}

/** Sources whose positions are loaded in one query. */
const SOURCES_TOGETHER = 500;

async function loadPositions(read: Query, slugs: readonly string[]): Promise<ReadonlyMap<string, SyncPosition[]>> {
  const found = new Map<string, SyncPosition[]>(slugs.map((slug) => [slug, []]));
  for (let first = 0; first < slugs.length; first += SOURCES_TOGETHER) {
    const some = slugs.slice(first, first + SOURCES_TOGETHER);
    const rows = await read.selectFrom('sync_positions').selectAll().where('source', 'in', some).execute();
    for (const row of rows) found.get(row.source)?.push(row);
  }
  return found;
}

function recountOf(position: SyncPosition | undefined): BannerStatus['recount'] {
  if (position?.recount == null || position.recounted_at === null) return null;
  return { ...recountSummarySchema.parse(JSON.parse(position.recount)), at: position.recounted_at };
}

function gapOf(position: SyncPosition | undefined, isSeen: boolean): string | null {
  if (position?.dismissed_at != null) return null;
  if (position === undefined || (position.last_success_at === null && position.rows_total === 0))
    return isSeen ? 'deliveries name this banner, but it was never pulled' : 'never pulled';
  if (position.last_success_at === null)
    return 'the first run has not finished: everything after its position is missing';
  const gaps = gapsOfPosition(position);
  if (gaps.length > 0) return `the service does not return these periods completely: ${describeGaps(gaps)}`;
  if (position.watermark === null)
    return 'no run has read the log completely from its beginning: run `consent-ledger sync --full`';
  if (position.last_error !== null) return `records after ${position.watermark} may be incomplete`;
  return null;
}

function statusOf(
  {
    source,
    bannerId,
    position,
    isSeen,
  }: {
    readonly source: string;
    readonly bannerId: string | null;
    readonly position: SyncPosition | undefined;
    readonly isSeen: boolean;
  },
  now: number,
): BannerStatus {
  const watermark = position?.watermark ?? null;
  return {
    source,
    bannerId,
    state: stateOf(position, now),
    run: runOf(position),
    watermark,
    lagMs: watermark === null ? null : Math.max(0, now - Date.parse(watermark)),
    rows: position?.rows_total ?? 0,
    lastSuccessAt: position?.last_success_at ?? null,
    lastError: position?.last_error ?? null,
    lastErrorAt: position?.last_error_at ?? null,
    // Before that, earlier rows may still come.
    earliest: watermark === null ? null : (position?.earliest ?? null),
    unreadable: position?.unreadable_total ?? 0,
    recount: recountOf(position),
    form: position?.form == null ? null : describeForm(requestFormSchema.parse(JSON.parse(position.form))),
    gap: gapOf(position, isSeen),
  };
}

function runOf(position: SyncPosition | undefined): BannerRun | null {
  if (position === undefined || !isOpen(position)) return null;
  const { run_as_of: startedAt, run_from: from, run_to: to, updated_at: lastPageAt } = position;
  return { startedAt: startedAt ?? lastPageAt, lastPageAt, from, to };
}

/** A run stopped on request gives up its id and keeps its position. */
function isOpen({ run_id, run_plan }: SyncPosition): boolean {
  return run_id !== null || run_plan !== null;
}

function stateOf(position: SyncPosition | undefined, now: number): BannerStatus['state'] {
  if (position === undefined) return 'never-pulled';
  if (position.dismissed_at !== null) return 'dismissed';
  const { last_error: error, last_error_at: errorAt, run_id: run, updated_at: updatedAt } = position;
  const isNewer = error === null || (errorAt !== null && updatedAt > errorAt);
  if (run !== null && isNewer && now - Date.parse(updatedAt) < SILENT_MS) return 'running';
  if (error !== null) return 'failing';
  if (isOpen(position)) return 'interrupted';
  return position.last_success_at === null ? 'never-pulled' : 'up-to-date';
}
