import { type RawBuilder, sql } from 'kysely';
import type { EvidenceMediaType } from '../../core/action.ts';
import type { Query } from '../store.ts';
import { givenSources, type Scope, SOURCES_TOGETHER } from './scope.ts';

/** A file that, according to an officer, shows a banner as it was in a period (src/banners/evidence.ts). */
export interface BannerEvidence {
  /** The entry that commits to the file; documents cite it. */
  readonly seq: number;
  readonly source: string;
  /** When the officer added it, ISO 8601 UTC. This is proven; the period is the officer's statement. */
  readonly addedAt: string;
  readonly actor: string;
  readonly bannerId: string;
  /** Of the file. */
  readonly sha256: string;
  readonly bytes: number;
  readonly mediaType: EvidenceMediaType;
  readonly fileName: string;
  /** ISO 8601 UTC; `to` is exclusive. Null: still shown when it was added. */
  readonly from: string;
  readonly to: string | null;
  readonly note: string | null;
  /** Of the entry, hexadecimal. */
  readonly commitment: string;
  readonly retraction: {
    readonly seq: number;
    readonly at: string;
    readonly actor: string;
    readonly reason: string;
  } | null;
}

export type BannerNames = ReadonlyMap<string, string>;

export function createBannerQueries(query: Query) {
  const named = query
    .selectFrom('banner_evidence')
    .select(['source', 'banner_id', 'note'])
    .where('change', '=', 'named')
    .orderBy('seq');
  return {
    /**
     * The evidence that officers added for a source's banners, including what was retracted by `asOf`. Ordered by
     * banner, then by start of the period.
     */
    async bannerEvidence({ source, asOf }: Scope): Promise<readonly BannerEvidence[]> {
      const rows = await query
        .selectFrom('banner_evidence')
        .selectAll()
        .where('source', '=', source)
        .where('seq', '<=', asOf)
        .orderBy('seq')
        .execute();
      const retractions = new Map<number, BannerEvidence['retraction']>();
      for (const row of rows) {
        if (row.change === 'retracted' && !retractions.has(row.evidence))
          retractions.set(row.evidence, {
            seq: row.seq,
            at: row.received_at,
            actor: row.actor,
            reason: row.note ?? '',
          });
      }
      const added = rows.flatMap((row): BannerEvidence[] =>
        row.change === 'added'
          ? [
              {
                seq: row.seq,
                source: row.source,
                addedAt: row.received_at,
                actor: row.actor,
                bannerId: row.banner_id,
                sha256: row.sha256 ?? '',
                bytes: row.bytes ?? 0,
                mediaType: row.media_type as EvidenceMediaType,
                fileName: row.file_name ?? '',
                from: row.shown_from ?? '',
                to: row.shown_to,
                note: row.note,
                commitment: row.commitment,
                retraction: retractions.get(row.seq) ?? null,
              },
            ]
          : [],
      );
      const place = (one: BannerEvidence) => `${one.bannerId}\n${one.from}`;
      return added.sort((a, b) => (place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : a.seq - b.seq));
    },
    /** Banner ids that any decision of a source names, at any position. */
    seenBanners: (source: string) => seenBanners(query, source),
    /** Banner ids that any row of the pulled log names. */
    async bannersInLog({ source, asOf }: Scope): Promise<ReadonlySet<string>> {
      const rows = await foundBanners(query, [source])
        .where(
          sql<boolean>`exists (select 1 from decision_history as d where d.source = ${source} and d.banner_id = found.banner_id
            and d.via = 'pull' and d.seq <= ${asOf})`,
        )
        .execute();
      return new Set(rows.flatMap(({ banner_id: id }) => id ?? []));
    },
    /** The names that officers had given a source's banners at `asOf`, by banner id. */
    async bannerNames({ source, asOf }: Scope): Promise<BannerNames> {
      const rows = await named.where('source', '=', source).where('seq', '<=', asOf).execute();
      return namesIn(rows);
    },
    /** The current names, for every source that has any. */
    async bannerNamesBySource(): Promise<ReadonlyMap<string, BannerNames>> {
      const rows = await named.execute();
      return new Map(
        [...new Set(rows.map(({ source }) => source))].map((slug) => [
          slug,
          namesIn(rows.filter(({ source }) => source === slug)),
        ]),
      );
    },
  };
}

/** Banner ids that decisions name; the empty one is left out. */
export async function seenBanners(query: Query, source: string): Promise<readonly string[]> {
  return namesOf(await foundBanners(query, [source]).execute());
}

/**
 * Banner ids that decisions name but no pulled row does. Empty if some pulled rows name no banner, because they may
 * belong to any.
 */
export async function unpulledBanners(query: Query, source: string): Promise<readonly string[]> {
  const isPulled = (banner: RawBuilder<unknown>) =>
    sql<boolean>`exists (select 1 from decision_history as d where d.source = ${source} and d.banner_id ${banner} and d.via = 'pull')`;
  const rows = await foundBanners(query, [source])
    .where(({ not }) => not(isPulled(sql`= found.banner_id`)))
    .where(({ not }) => not(isPulled(sql`is null`)))
    .execute();
  return namesOf(rows);
}

function namesOf(rows: readonly { readonly banner_id: string | null }[]): readonly string[] {
  return rows.flatMap(({ banner_id: id }) => (id === null || id === '' ? [] : [id]));
}

/** The banners that decisions of each of these sources name, ordered by id. */
export async function seenBannersOf(
  query: Query,
  sources: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const seen = new Map<string, string[]>(sources.map((source) => [source, []]));
  for (let first = 0; first < sources.length; first += SOURCES_TOGETHER) {
    const rows = await foundBanners(query, sources.slice(first, first + SOURCES_TOGETHER)).execute();
    for (const { source, banner_id: id } of rows) if (id !== null && id !== '') seen.get(source)?.push(id);
  }
  for (const ids of seen.values()) ids.sort();
  return seen;
}

/** Steps from banner to banner along their index: a source has millions of decisions but few banners. */
function foundBanners(query: Query, sources: readonly string[]) {
  return query
    .withRecursive('found(source, banner_id)', (db) =>
      db
        .selectFrom(givenSources(sources).as('wanted'))
        .select((eb) => [
          'wanted.source',
          eb
            .selectFrom('decision_history as d')
            .select((inner) => inner.fn.min<string | null>('d.banner_id').as('banner_id'))
            .whereRef('d.source', '=', 'wanted.source')
            .where('d.banner_id', '>=', '')
            .as('banner_id'),
        ])
        .unionAll(
          db
            .selectFrom('found')
            .select((eb) => [
              'found.source',
              eb
                .selectFrom('decision_history as d')
                .select((inner) => inner.fn.min<string | null>('d.banner_id').as('banner_id'))
                .whereRef('d.source', '=', 'found.source')
                .whereRef('d.banner_id', '>', 'found.banner_id')
                .as('banner_id'),
            ])
            .where('found.banner_id', 'is not', null),
        ),
    )
    .selectFrom('found')
    .select(['source', 'banner_id']);
}

/** The latest name of each banner that has one. */
function namesIn(rows: readonly { readonly banner_id: string; readonly note: string | null }[]): BannerNames {
  const last = new Map(rows.map(({ banner_id: bannerId, note }) => [bannerId, note]));
  return new Map([...last].flatMap(([bannerId, name]) => (name === null ? [] : [[bannerId, name] as const])));
}

/** The evidence of a banner at a time, whether added before or later, without retracted evidence. */
export type CiteBanner = (decision: {
  readonly bannerId: string | null;
  readonly at: string;
}) => readonly BannerEvidence[];

export function createBannerCitation(evidence: readonly BannerEvidence[]): CiteBanner {
  const byBanner = new Map<string, BannerEvidence[]>();
  for (const one of evidence) {
    if (one.retraction !== null) continue;
    const known = byBanner.get(one.bannerId);
    if (known === undefined) byBanner.set(one.bannerId, [one]);
    else known.push(one);
  }
  return ({ bannerId, at }) =>
    bannerId === null
      ? []
      : (byBanner.get(bannerId) ?? []).filter(({ from, to }) => from <= at && (to === null || at < to));
}
