import { type Selectable, sql } from 'kysely';
import type { ScanItem } from '../../core/site-inventory.ts';
import type { Tables } from '../schema.ts';
import type { Query } from '../store.ts';
import { afterRow, pageByKey, type RowPlace, type Scope } from './scope.ts';

/** A finished scan, without its items. */
export type ScanRow = Omit<Selectable<Tables['scan_history']>, 'items' | 'domain'> & {
  /** The domain; '' if the scan names none. */
  readonly site: string;
  /** Of the entry, lower-case hex. */
  readonly commitment: string | null;
};
export type IntegrationRow = Selectable<Tables['integration_history']> & { readonly commitment: string | null };

/** Which scans. Times are those of the scans, ISO 8601 UTC, `to` exclusive. */
export interface ScanFilter extends Scope {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly site?: string | undefined;
  /** Only inventories. */
  readonly listed?: boolean;
}

/** The most sites distinguished within one source. */
const MAX_SITES = 1000;

/** Scans of sites, and integrations. */
export function createScanQueries(query: Query) {
  const scans = ({ source, asOf, from, to, site, listed }: ScanFilter) =>
    query
      .selectFrom('scan_history as s')
      .where('s.source', '=', source)
      .where('s.seq', '<=', asOf)
      .$if(from !== undefined, (some) => some.where('s.at', '>=', from ?? ''))
      .$if(to !== undefined, (some) => some.where('s.at', '<', to ?? ''))
      .$if(site !== undefined, (some) =>
        site === '' ? some.where('s.domain', 'is', null) : some.where('s.domain', '=', site ?? ''),
      )
      .$if(listed === true, (some) => some.where('s.listed', '=', 1));

  const rowsOf = (found: ReturnType<typeof scans>) =>
    found
      .leftJoin('delivery_history as d', 'd.seq', 's.seq')
      .select([
        's.seq',
        's.part',
        's.source',
        's.received_at',
        's.occurred_at',
        's.occurred_basis',
        's.occurred_counts',
        's.at',
      ])
      .select(['s.scan_id', 's.status', 's.cookies_found', 's.trackers_found', 's.uncategorised', 's.score'])
      .select(['s.before_consent', 's.unread_items', 's.listed', 'd.commitment'])
      .select((eb) => eb.fn.coalesce('s.domain', sql<string>`''`).as('site'));

  return {
    /** Newest first. */
    scanRows: (filter: ScanFilter & { readonly limit: number }): Promise<readonly ScanRow[]> =>
      rowsOf(scans(filter))
        .orderBy('s.at', 'desc')
        .orderBy('s.seq', 'desc')
        .orderBy('s.part', 'desc')
        .limit(filter.limit)
        .execute(),

    /** The last inventory of each site before `to`, by site. */
    async lastInventories(filter: ScanFilter): Promise<readonly ScanRow[]> {
      const ranked = scans({ ...filter, listed: true }).select([
        's.seq',
        's.part',
        sql<number>`row_number() over (partition by s.domain order by s.at desc, s.seq desc, s.part desc)`.as('place'),
      ]);
      const last = query.selectFrom(ranked.as('r')).select(['r.seq', 'r.part']).where('r.place', '=', 1);
      return rowsOf(scans({ source: filter.source, asOf: filter.asOf }).where(sql<boolean>`(s.seq, s.part) in ${last}`))
        .orderBy('site')
        .limit(MAX_SITES)
        .execute();
    },

    /** The items that a scan found, by name; empty if it lists none. */
    async scanItems({ source, asOf }: Scope, { seq, part }: RowPlace): Promise<readonly ScanItem[]> {
      const row = await scans({ source, asOf })
        .select('s.items')
        .where('s.seq', '=', seq)
        .where('s.part', '=', part)
        .executeTakeFirst();
      return row?.items == null ? [] : (JSON.parse(row.items) as readonly ScanItem[]);
    },

    /** Connections and disconnections dated before `to`, in ledger order. */
    integrationRows: ({
      source,
      asOf,
      to,
    }: Scope & { readonly to?: string | undefined }): AsyncIterable<IntegrationRow> =>
      pageByKey<IntegrationRow>((after, limit) =>
        query
          .selectFrom('integration_history as i')
          .leftJoin('delivery_history as d', 'd.seq', 'i.seq')
          .selectAll('i')
          .select('d.commitment')
          .where('i.source', '=', source)
          .where('i.seq', '<=', asOf)
          .where(afterRow('i', after))
          .$if(to !== undefined, (some) => some.where('i.at', '<', to ?? ''))
          .orderBy('i.seq')
          .orderBy('i.part')
          .limit(limit)
          .execute(),
      ),
  };
}

export type ScanQueries = ReturnType<typeof createScanQueries>;

/** A site whose last scan that reports it found items set before consent. */
export interface BeforeConsent {
  readonly source: string;
  /** '' if the scan names none. */
  readonly site: string;
  readonly found: number;
  readonly seq: number;
  readonly at: string;
}
export type BrokenIntegration = Selectable<Tables['integrations']>;

/** The most rows of each kind that are listed. */
const NAMED = 200;

/** Current findings of scans and integrations that need an officer. `since`: earlier disconnections are assumed to be intended. */
export async function loadScanAttention(
  query: Query,
  { sources, since }: { readonly sources?: readonly string[] | undefined; readonly since: string },
): Promise<{ readonly beforeConsent: readonly BeforeConsent[]; readonly integrations: readonly BrokenIntegration[] }> {
  const findings = query
    .selectFrom('scans')
    .selectAll()
    .where('before_consent', '>', 0)
    .$if(sources !== undefined, (some) => some.where('source', 'in', [...(sources ?? [])]))
    .orderBy('source')
    .orderBy('domain')
    .limit(NAMED)
    .execute();
  const broken = query
    .selectFrom('integrations')
    .selectAll()
    .where('status', '!=', 'connected')
    .where('at', '>=', since)
    .$if(sources !== undefined, (some) => some.where('source', 'in', [...(sources ?? [])]))
    .orderBy('source')
    .orderBy('integration_key')
    .limit(NAMED)
    .execute();
  const [sites, integrations] = await Promise.all([findings, broken]);
  const beforeConsent = sites.map((row) => ({
    source: row.source,
    site: row.domain,
    found: row.before_consent ?? 0,
    seq: row.before_consent_seq ?? row.last_seq,
    at: row.before_consent_at ?? row.at,
  }));
  return { beforeConsent, integrations };
}
