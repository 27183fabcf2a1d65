import {
  driftBetween,
  foundBeforeConsent,
  needsConsent,
  type ScanChange,
  type ScanItem,
} from '../../src/core/site-inventory.ts';
import { foldIntegration, integrationKey } from '../../src/projections/integrations.ts';
import type { Row } from '../../src/projections/projection.ts';
import type { IntegrationRow, ScanQueries, ScanRow } from '../../src/store/queries/history-scans.ts';
import type { Period, Scope } from '../../src/store/queries/scope.ts';
import { formatCount } from '../format.ts';
import type { ShownColumn } from '../render/blocks.ts';
import type { CsvColumn } from '../render/csv-json.ts';
import { notStated } from '../words.ts';

/** One line about scans and integrations: an item of a site, a change, or the fate of an integration. */
export interface ScanFinding {
  readonly record: 'inventory' | ScanChange['change'] | IntegrationRow['change'];
  readonly site: string;
  /** Time of the scan or change, ISO 8601 UTC. */
  readonly at: string;
  readonly entry: number;
  readonly name: string;
  readonly item: ScanItem | null;
  readonly was: ScanItem | null;
  /** Why an integration was lost. */
  readonly reason: string | null;
  readonly commitment: string | null;
}

function itemFinding(scan: ScanRow, item: ScanItem, change?: ScanChange): ScanFinding {
  return {
    record: change?.change ?? 'inventory',
    ...{ site: scan.site, at: scan.at, entry: scan.seq, commitment: scan.commitment },
    ...{ name: item.name, item, was: change?.was ?? null, reason: null },
  };
}

export function inventoryFindings({ scan, items }: SiteInventory): ScanFinding[] {
  return items.map((item) => itemFinding(scan, item));
}

export function driftFindings(changes: readonly (ScanChange & { readonly scan: ScanRow })[]): ScanFinding[] {
  return changes.map((change) => itemFinding(change.scan, change.item, change));
}

export function integrationFinding(row: IntegrationRow): ScanFinding {
  return {
    record: row.change,
    ...{ site: row.site ?? '', at: row.at, entry: row.seq, commitment: row.commitment },
    ...{ name: nameOfIntegration(row), item: null, was: null, reason: row.error },
  };
}

/** Every line of an audit: inventories at the end, changes in the period, integrations. */
export function* findingsOf({ sites, changes, integrations }: ScanAudit): Generator<ScanFinding> {
  for (const site of sites) yield* inventoryFindings(site);
  yield* driftFindings(changes);
  yield* integrations.changes.map(integrationFinding);
}

const yesNo = (flag: boolean | null | undefined) => (flag == null ? null : flag ? 'yes' : 'no');

/** A finding as a row of CSV. */
export const findingColumns: readonly CsvColumn<ScanFinding>[] = [
  { title: 'record', value: ({ record }) => record },
  { title: 'site', value: ({ site }) => site || null },
  { title: 'time', value: ({ at }) => at },
  { title: 'name', value: ({ name }) => name },
  { title: 'kind', value: ({ item }) => item?.kind ?? 'integration' },
  { title: 'category', value: ({ item }) => item?.category ?? null },
  { title: 'category_before', value: ({ was }) => was?.category ?? null },
  { title: 'domain', value: ({ item }) => item?.domain ?? null },
  { title: 'provider', value: ({ item }) => item?.provider ?? null },
  { title: 'third_party', value: ({ item }) => yesNo(item?.thirdParty) },
  { title: 'before_consent', value: ({ item }) => yesNo(item?.beforeConsent) },
  { title: 'needs_consent', value: ({ item }) => yesNo(item === null ? null : needsConsent(item)) },
  { title: 'reason', value: ({ reason }) => reason },
  { title: 'entry', value: ({ entry }) => entry },
  { title: 'commitment', value: ({ commitment }) => commitment },
];

export const siteWord = (site: string | null): string => site || 'site not named';
const categoryWord = (item: Pick<ScanItem, 'category'> | null): string => item?.category ?? 'none';
const countWord = (count: number | null) => (count === null ? notStated : formatCount(count));

/** The name, with what else distinguishes the item. */
export function nameOfItem({ name, domain }: ScanItem): string {
  return domain === null || name.includes(domain) ? name : `${name} (${domain})`;
}

function beforeConsentWord(item: ScanItem): string {
  if (item.beforeConsent === null) return notStated;
  if (!item.beforeConsent) return 'no';
  return needsConsent(item) ? 'yes' : 'yes, necessary';
}

/** Describes a change. */
export function changeWords({ record, item, was }: ScanFinding): string {
  switch (record) {
    case 'new':
      return `new, category ${categoryWord(item)}${item?.beforeConsent === true && needsConsent(item) ? ', set before consent' : ''}`;
    case 'gone':
      return `gone, was category ${categoryWord(was)}`;
    case 'category-changed':
      return `category changed: ${categoryWord(was)} → ${categoryWord(item)}`;
    case 'now-before-consent':
      return 'now set before consent';
    case 'no-longer-before-consent':
      return 'no longer set before consent';
    default:
      return record;
  }
}

export const itemColumns: readonly ShownColumn<ScanFinding>[] = [
  { title: 'Name', share: 3.6, value: ({ name }) => name },
  { title: 'Kind', share: 1.5, value: ({ item }) => item?.kind ?? '' },
  { title: 'Category', share: 2.2, value: ({ item }) => categoryWord(item) },
  { title: 'Domain', share: 2.8, whole: true, value: ({ item }) => item?.domain ?? notStated },
  { title: 'Provider', share: 2, value: ({ item }) => item?.provider ?? notStated },
  {
    title: 'Party',
    share: 1.5,
    value: ({ item }) => (item?.thirdParty == null ? notStated : item.thirdParty ? 'third' : 'first'),
  },
  { title: 'Before consent', share: 1.9, value: ({ item }) => (item === null ? '' : beforeConsentWord(item)) },
];

export const changeColumns: readonly ShownColumn<ScanFinding>[] = [
  { title: 'Scan', share: 3, value: ({ at }, time) => time(at) },
  { title: 'Site', share: 2.6, whole: true, value: ({ site }) => siteWord(site) },
  { title: 'Cookie or tracker', share: 4, value: ({ name, item }) => (item === null ? name : nameOfItem(item)) },
  { title: 'Change', share: 4, value: changeWords },
  { title: 'Entry', share: 1.2, align: 'right', value: ({ entry }) => formatCount(entry) },
];

export const scanColumns: readonly ShownColumn<ScanRow>[] = [
  { title: 'Scan', share: 3, value: ({ at }, time) => time(at) },
  { title: 'Site', share: 3, whole: true, value: ({ site }) => siteWord(site) },
  { title: 'Status', share: 2, value: ({ status }) => status ?? notStated },
  { title: 'Cookies', share: 1.6, align: 'right', value: (scan) => countWord(scan.cookies_found) },
  { title: 'Trackers', share: 1.6, align: 'right', value: (scan) => countWord(scan.trackers_found) },
  { title: 'No category', share: 1.6, align: 'right', value: (scan) => countWord(scan.uncategorised) },
  { title: 'Before consent', share: 1.6, align: 'right', value: (scan) => countWord(scan.before_consent) },
  {
    title: 'Not readable',
    share: 1.6,
    align: 'right',
    value: ({ listed, unread_items: unread }) =>
      unread > 0 ? formatCount(unread) : listed === 1 ? '0' : 'no inventory',
  },
  { title: 'Entry', share: 1.2, align: 'right', value: ({ seq }) => formatCount(seq) },
];

function nameOfIntegration(row: { readonly name: string | null; readonly integration_id: string | null }): string {
  return row.name ?? row.integration_id ?? 'not named';
}

export const integrationColumns: readonly ShownColumn<Row<'integrations'>>[] = [
  { title: 'Integration', share: 3, value: nameOfIntegration },
  { title: 'Site', share: 3, whole: true, value: ({ site }) => siteWord(site) },
  { title: 'State', share: 2, value: ({ status }) => status },
  { title: 'Since', share: 3, value: ({ at }, time) => time(at) },
  { title: 'Reason', share: 4, value: ({ error, status }) => error ?? (status === 'connected' ? '–' : notStated) },
  { title: 'Entry', share: 1.2, align: 'right', value: ({ last_seq: seq }) => formatCount(seq) },
];

const asRecord = (finding: ScanFinding) =>
  Object.fromEntries(findingColumns.map(({ title, value }) => [title, value(finding)]));

/** A scan as JSON. */
export function scanJson(scan: ScanRow) {
  return {
    entry: scan.seq,
    site: scan.site || null,
    scannedAt: scan.at,
    scanId: scan.scan_id,
    status: scan.status,
    cookies: scan.cookies_found,
    trackers: scan.trackers_found,
    uncategorised: scan.uncategorised,
    beforeConsent: scan.before_consent,
    score: scan.score,
    notReadable: scan.unread_items,
    isInventory: scan.listed === 1,
    commitment: scan.commitment,
  };
}

/** The inventory of a site as JSON, with its drift. */
export function inventoryJson(inventory: SiteInventory) {
  const { site, scan, base, drift } = inventory;
  return {
    site: site || null,
    scan: scanJson(scan),
    comparedWith: base === null ? null : scanJson(base),
    inventory: inventoryFindings(inventory).map(asRecord),
    drift: driftFindings(drift.map((change) => ({ ...change, scan }))).map(asRecord),
  };
}

/** Integrations as JSON. */
export function integrationsJson({ states, changes }: Integrations) {
  return {
    states: states.map((row) => ({
      integrationId: row.integration_id,
      name: row.name,
      site: row.site,
      state: row.status,
      since: row.at,
      reason: row.error,
      entry: row.last_seq,
    })),
    changes: changes.map((row) => asRecord(integrationFinding(row))),
  };
}

/** An audit as JSON. */
export function scanAuditJson({ scans, cut, sites, changes, integrations }: ScanAudit) {
  return {
    scans: scans.map(scanJson),
    onlyTheLastScansAreCompared: cut,
    sites: sites.map(inventoryJson),
    changesInPeriod: driftFindings(changes).map(asRecord),
    integrations: integrationsJson(integrations),
  };
}

/** The last inventory of a site by a given time, and its differences from an earlier one. */
export interface SiteInventory {
  readonly site: string;
  readonly scan: ScanRow;
  readonly items: readonly ScanItem[];
  /** Set before consent although they need it. */
  readonly beforeConsent: readonly ScanItem[];
  /** The earlier inventory; null if there is none. */
  readonly base: ScanRow | null;
  readonly drift: readonly ScanChange[];
}

/** One change between two inventories of a site. */
interface DatedChange extends ScanChange {
  readonly site: string;
  /** The scan that shows the change, and the one before. */
  readonly scan: ScanRow;
  readonly base: ScanRow;
}

/** Scans, inventories and integrations of a source over a period. */
export interface ScanAudit {
  /** Those in the period, newest first. */
  readonly scans: readonly ScanRow[];
  /** There were more scans in the period than are compared. */
  readonly cut: boolean;
  /** At the end of the period. */
  readonly sites: readonly SiteInventory[];
  /** Changes in the period, scan by scan. */
  readonly changes: readonly DatedChange[];
  readonly integrations: Integrations;
}

export interface Integrations {
  /** The state of each at the end. */
  readonly states: readonly Row<'integrations'>[];
  /** Changes in the period, newest last. */
  readonly changes: readonly IntegrationRow[];
}

/** The most scans of a period that are compared with their predecessors. */
const MAX_SCANS = 2000;
/** The most changes that are reported. */
const MAX_CHANGES = 20_000;

/** Gathers the findings of a period's scans, from history alone. */
export async function gatherScanAudit(history: ScanQueries, period: Period): Promise<ScanAudit> {
  const found = await history.scanRows({ ...period, limit: MAX_SCANS + 1 });
  const scans = found.slice(0, MAX_SCANS);
  const { source, asOf, from, to } = period;
  const bases = await history.lastInventories({ source, asOf, to: from });
  const changes: DatedChange[] = [];
  const last = new Map<string, { scan: ScanRow; items: readonly ScanItem[] }>();
  for (const scan of bases) last.set(scan.site, { scan, items: await history.scanItems(period, scan) });
  for (const scan of scans.filter(({ listed }) => listed === 1).reverse()) {
    const before = last.get(scan.site);
    const items = await history.scanItems(period, scan);
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
 * The inventory of each site (or of one) before `to`, compared with the previous one, or with the last one by `since`.
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
    const items = await history.scanItems(filter, scan);
    const drift = base === null ? [] : driftBetween(await history.scanItems(filter, base), items);
    inventories.push({ site, scan, items, beforeConsent: foundBeforeConsent(items), base, drift });
  }
  return inventories;
}

/** The state of a source's integrations before `to`, and their changes since `from`. */
export async function loadIntegrations(
  history: ScanQueries,
  { from = '', ...filter }: Scope & { readonly from?: string; readonly to?: string },
): Promise<Integrations> {
  const states = new Map<string, Row<'integrations'>>();
  const changes: IntegrationRow[] = [];
  for await (const row of history.integrationRows(filter)) {
    const key = integrationKey(row);
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
