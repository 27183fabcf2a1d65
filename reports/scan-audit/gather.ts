import { driftBetween, foundBeforeConsent, type ScanChange, type ScanItem } from '../../src/core/fact.ts';
import { foldIntegration, keyOf } from '../../src/projections/integrations.ts';
import type { Row } from '../../src/projections/projection.ts';
import type { IntegrationRow, ScanQueries, ScanRow } from '../../src/store/queries/history-scans.ts';
import type { Period, Scope } from '../../src/store/queries/scope.ts';

/** The last inventory of a site by a moment, and what is otherwise than in the one that it is set against. */
export interface SiteInventory {
  readonly site: string;
  readonly scan: ScanRow;
  readonly items: readonly ScanItem[];
  /** Found before consent although they need it. */
  readonly beforeConsent: readonly ScanItem[];
  /** The earlier inventory; null: there is none. */
  readonly base: ScanRow | null;
  readonly drift: readonly ScanChange[];
}

/** One change between two inventories of a site. */
export interface DatedChange extends ScanChange {
  readonly site: string;
  /** The scan that shows it, and the one before. */
  readonly scan: ScanRow;
  readonly base: ScanRow;
}

/** Scans, inventories and integrations of a source over a period. */
export interface ScanAudit {
  /** In the period, the newest first. */
  readonly scans: readonly ScanRow[];
  /** True: there were more scans in the period than are compared. */
  readonly cut: boolean;
  /** At the end of the period. */
  readonly sites: readonly SiteInventory[];
  /** In the period, scan by scan. */
  readonly changes: readonly DatedChange[];
  readonly integrations: Integrations;
}

export interface Integrations {
  /** How each stood at the end. */
  readonly states: readonly Row<'integrations'>[];
  /** What happened in the period, the newest last. */
  readonly changes: readonly IntegrationRow[];
}

/** Scans of a period that are compared, one with the next. */
const MAX_SCANS = 2000;
/** Changes that are told. */
const MAX_CHANGES = 20_000;

/** Puts together what the scans of a period found, from history alone. */
export async function gatherScanAudit(history: ScanQueries, period: Period): Promise<ScanAudit> {
  const found = await history.scanRows({ ...period, limit: MAX_SCANS + 1 });
  const scans = found.slice(0, MAX_SCANS);
  const { source, asOf, from, to } = period;
  const bases = await history.lastInventories({ source, asOf, to: from });
  const changes: DatedChange[] = [];
  const last = new Map<string, { scan: ScanRow; items: readonly ScanItem[] }>();
  for (const scan of bases) last.set(scan.site, { scan, items: await history.scanItems(period, scan.seq) });
  for (const scan of scans.filter(({ listed }) => listed === 1).reverse()) {
    const before = last.get(scan.site);
    const items = await history.scanItems(period, scan.seq);
    last.set(scan.site, { scan, items });
    if (before === undefined) continue;
    for (const change of driftBetween(before.items, items))
      if (changes.length < MAX_CHANGES) changes.push({ ...change, site: scan.site, scan, base: before.scan });
  }
  return {
    scans,
    cut: found.length > MAX_SCANS || changes.length === MAX_CHANGES,
    sites: await loadInventories(history, { source, asOf, to }),
    changes,
    integrations: await loadIntegrations(history, period),
  };
}

/**
 * The inventory of each site (or of one) before `to`, set against the one before it, or against the last one by `since`.
 * Times are ISO 8601 UTC.
 */
export async function loadInventories(
  history: ScanQueries,
  { since, ...filter }: Scope & { readonly to?: string; readonly site?: string; readonly since?: string },
): Promise<readonly SiteInventory[]> {
  const inventories: SiteInventory[] = [];
  for (const scan of await history.lastInventories(filter)) {
    const { site } = scan;
    const earlier =
      since === undefined
        ? (await history.scanRows({ ...filter, site, listed: true, limit: 2 })).slice(1)
        : await history.lastInventories({ ...filter, site, to: since });
    const base = earlier.find(({ seq }) => seq !== scan.seq) ?? null;
    const items = await history.scanItems(filter, scan.seq);
    const drift = base === null ? [] : driftBetween(await history.scanItems(filter, base.seq), items);
    inventories.push({ site, scan, items, beforeConsent: foundBeforeConsent(items), base, drift });
  }
  return inventories;
}

/** How the integrations of a source stood before `to`, and their changes from `from` on. */
export async function loadIntegrations(
  history: ScanQueries,
  { from = '', ...filter }: Scope & { readonly from?: string; readonly to?: string },
): Promise<Integrations> {
  const states = new Map<string, Row<'integrations'>>();
  const changes: IntegrationRow[] = [];
  for await (const row of history.integrationRows(filter)) {
    const key = keyOf(row);
    states.set(key, foldIntegration(states.get(key), row));
    if (row.at >= from) changes.push(row);
    if (changes.length > MAX_CHANGES) changes.shift();
  }
  changes.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.seq - b.seq));
  return { states: [...states.values()].sort(byKey), changes };
}

function byKey(a: Row<'integrations'>, b: Row<'integrations'>): number {
  return a.integration_key < b.integration_key ? -1 : 1;
}
