import { closingBlocks, createReport, openingBlocks } from './create-report.ts';
import { counted, formatCount, formatTime } from './format.ts';
import { type Block, fine, type ShownColumn, table } from './render/blocks.ts';
import { renderCsv } from './render/csv-json.ts';
import { type ReportInput, reportPeriod } from './report.ts';
import {
  changeColumns,
  changeWords,
  driftFindings,
  findingColumns,
  findingsOf,
  gatherScanAudit,
  integrationColumns,
  integrationFinding,
  inventoryFindings,
  itemColumns,
  nameOfItem,
  type ScanAudit,
  scanAuditJson,
  scanColumns,
  siteWord,
} from './scan-audit/findings.ts';

const title = 'Scans and integrations';

const gather = (input: ReportInput): Promise<ScanAudit> => gatherScanAudit(input.history, reportPeriod(input));

/** Findings of a period's scans on each site, how they changed, and which integrations were connected or lost. */
export const scanAudit = createReport({
  name: 'scan-audit',
  title,
  description:
    'Cookies and trackers of each site at the end of a period, what was new, gone or changed in it, what was set before consent, and integrations connected and lost. CSV: one row per cookie, change and integration.',
  async *csv(input) {
    yield* renderCsv(findingColumns, findingsOf(await gather(input)));
  },
  json: async (input) => ({ ...scanAuditJson(await gather(input)) }),
  async *blocks(input) {
    yield* openingBlocks(title, input, { scope: 'all sites and integrations', time: 'scanned or changed' });
    yield { block: 'heading', level: 1, text: '1  Scans and integrations' };
    yield* scanBlocks(await gather(input), input, { rows: 5000 });
    yield* closingBlocks(input, 2);
  },
});

/** What was set before consent, in a sentence; null if no scan says so. */
export function beforeConsentSentence({ sites, scans }: ScanAudit): string {
  const found = sites.filter(({ beforeConsent }) => beforeConsent.length > 0);
  const count = found.reduce((sum, { beforeConsent }) => sum + beforeConsent.length, 0);
  if (count > 0)
    return `${counted(count, 'cookie or tracker that needs consent was', 'cookies or trackers that need consent were')} set before it on ${counted(found.length, 'site', 'sites')}, by the last scan of the period.`;
  if (scans.some((scan) => (scan.before_consent ?? 0) > 0))
    return 'Scans of the period report trackers before consent; the last inventory of each site names none.';
  return sites.some(({ items }) => items.some(({ beforeConsent }) => beforeConsent !== null))
    ? 'The last scan of each site found none before consent.'
    : 'The scans do not say what was set before consent.';
}

/** Inventory, drift and integrations. `rows`: lines per table; the rest is counted. */
export function* scanBlocks(
  audit: ScanAudit,
  input: ReportInput,
  { rows, level = 2 }: { readonly rows: number; readonly level?: 1 | 2 },
): Generator<Block> {
  const { scans, sites, changes, integrations } = audit;
  const time = (iso: string) => formatTime(iso, input.timeZone);
  const lost = integrations.changes.filter(({ change }) => change !== 'connected').length;
  yield {
    block: 'paragraph',
    text: `${counted(scans.length, 'scan', 'scans')} in the period${audit.cut ? ' (only the latest of them are compared)' : ''}, ${counted(changes.length, 'change', 'changes')} of what they found; ${counted(integrations.changes.length - lost, 'integration', 'integrations')} connected and ${formatCount(lost)} disconnected or lost. ${beforeConsentSentence(audit)}`,
  };
  const early = sites.flatMap(({ site, beforeConsent }) =>
    beforeConsent.map((item) => `${nameOfItem(item)} on ${siteWord(site)}, category ${item.category ?? 'none'}`),
  );
  if (early.length > 0)
    yield {
      block: 'notice',
      tone: 'warning',
      title: 'Before consent',
      text: 'The last scan of the period found these before the visitor had chosen, although they are not strictly necessary (ePrivacy Directive Art. 5(3)):',
      items: [
        ...early.slice(0, rows),
        ...(early.length > rows ? [`and ${formatCount(early.length - rows)} more`] : []),
      ],
    };
  yield { block: 'heading', level, text: 'Inventory at the end of the period' };
  for (const inventory of sites) {
    const { site, scan, items } = inventory;
    const unread = scan.unread_items;
    yield* tableOf(itemColumns, inventoryFindings(inventory), {
      caption: `${siteWord(site)}: scan of ${time(scan.at)}, entry ${formatCount(scan.seq)}${unread === 0 ? '' : `; ${formatCount(unread)} more could not be read`}`,
      empty: `The last scan of ${siteWord(site)} (${time(scan.at)}) found nothing.`,
      ...{ rows, time, count: items.length },
    });
  }
  if (sites.length === 0)
    yield { block: 'paragraph', text: 'No scan up to the end of the period lists what it found.' };
  yield { block: 'heading', level, text: 'Drift in the period' };
  yield* tableOf(changeColumns, driftFindings(changes).slice(-rows), {
    caption: 'New, gone or changed, from one scan of a site to the next',
    empty: 'No change was found in the period.',
    ...{ rows, time, count: changes.length },
  });
  yield { block: 'heading', level, text: 'Scans' };
  yield* tableOf(scanColumns, scans, {
    caption: 'Scans of the period, the newest first',
    empty: 'No scan finished in the period.',
    ...{ rows, time, count: scans.length },
  });
  yield { block: 'heading', level, text: 'Integrations' };
  yield* tableOf(integrationColumns, integrations.states, {
    caption: 'Integrations at the end of the period',
    empty: 'No integration was connected or disconnected up to the end of the period.',
    ...{ rows, time, count: integrations.states.length },
  });
  if (integrations.changes.length > 0)
    yield* tableOf(integrationChanges, integrations.changes.slice(-rows).map(integrationFinding), {
      caption: 'Connected and lost in the period',
      empty: '',
      ...{ rows, time, count: integrations.changes.length },
    });
  yield fine(
    'What a scan found is as stated by the service’s scanner. A scan that failed or gives only numbers does not change an inventory. Anything that could not be read is counted and kept in the entry.',
  );
}

const integrationChanges: readonly ShownColumn<ReturnType<typeof integrationFinding>>[] = [
  { title: 'When', share: 3, value: ({ at }, time) => time(at) },
  { title: 'Integration', share: 3, value: ({ name }) => name },
  { title: 'Site', share: 3, whole: true, value: ({ site }) => siteWord(site) },
  { title: 'Change', share: 2, value: changeWords },
  { title: 'Reason', share: 4, value: ({ reason }) => reason ?? '–' },
  { title: 'Entry', share: 1.2, align: 'right', value: ({ entry }) => formatCount(entry) },
];

function* tableOf<T>(
  columns: readonly ShownColumn<T>[],
  all: readonly T[],
  {
    caption,
    empty,
    rows,
    count,
    time,
  }: {
    readonly caption: string;
    readonly empty: string;
    readonly rows: number;
    readonly count: number;
    readonly time: (iso: string) => string;
  },
): Generator<Block> {
  yield table({ caption, columns, rows: all.slice(0, rows), empty, time });
  if (count > rows)
    yield fine(`${formatCount(rows)} of ${formatCount(count)}; the report scan-audit as CSV or JSON has them all.`);
}
