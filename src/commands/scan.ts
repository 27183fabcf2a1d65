import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import type { ShownColumn } from '../../reports/render/blocks.ts';
import { renderCsv, spreadsheetNote } from '../../reports/render/csv-json.ts';
import {
  changeColumns,
  driftFindings,
  findingColumns,
  integrationColumns,
  integrationFinding,
  integrationsJson,
  inventoryFindings,
  inventoryJson,
  itemColumns,
  loadIntegrations,
  loadInventories,
  nameOfItem,
  type ScanFinding,
  type SiteInventory,
  scanColumns,
  scanJson,
  siteWord,
} from '../../reports/scan-audit/findings.ts';
import { UsageError } from '../core/errors.ts';
import { addDays } from '../core/zoned-days.ts';
import { createScanQueries } from '../store/queries/history-scans.ts';
import {
  type CommandIo,
  counted,
  isDay,
  printable,
  printResult,
  tableText,
  timeOf,
  timeText,
  wholeNumberFrom,
  withJson,
} from './command-io.ts';
import { findOnlySource, withContext } from './run-context.ts';

/** `scan list|show`: what scans found on each site, and how that changed. */
export function registerScan(program: CommandUnknownOpts, io: CommandIo): void {
  const scan = program.command('scan').description('cookies and trackers found by scans, over time');

  withJson(scan.command('list'))
    .description('list the scans of a source’s sites, newest first')
    .option('--source <slug>', 'source (default: `default`, or the only one)')
    .option('--site <domain>', 'only this site')
    .option('--limit <number>', 'maximum number of rows', wholeNumberFrom(1), 50)
    .action((flags) =>
      withContext(async (context) => {
        const { slug: source } = findOnlySource(context, flags.source);
        const asOf = await context.projector.catchUp();
        const { site, limit } = flags;
        const rows = await createScanQueries(context.store.read).scanRows({ source, asOf, site, limit });
        printResult(io, flags, rows.map(scanJson), () => shownTable(scanColumns, rows, noScan(site)));
      }),
    );

  withJson(scan.command('show'))
    .description(
      'show each site’s inventory at a given time, what was set before consent, and changes since the previous scan',
    )
    .option('--source <slug>', 'source (default: `default`, or the only one)')
    .option('--site <domain>', 'only this site')
    .option('--at <time>', 'ISO 8601 time, or the end of a day (YYYY-MM-DD in TIME_ZONE); default: now')
    .option(
      '--since <time>',
      'show changes since the last scan before this time (a day means its end); default: since the previous scan',
    )
    .option('--csv', `print CSV: one row per cookie, tracker and change. ${spreadsheetNote}`)
    .action((flags) =>
      withContext(async (context) => {
        const { slug: source } = findOnlySource(context, flags.source);
        if (flags.csv === true && flags.json === true) throw new UsageError(['Use --csv or --json, not both.']);
        const asOf = await context.projector.catchUp();
        const { site } = flags;
        const { timeZone } = context.config;
        const [to, since] = [endOf(flags.at, '--at', timeZone), endOf(flags.since, '--since', timeZone)];
        const found = await loadInventories(createScanQueries(context.store.read), {
          ...{ source, asOf },
          ...(to && { to }),
          ...(since && { since }),
          ...(site !== undefined && { site }),
        });
        if (found.length === 0 && site !== undefined) io.exitCode = 1;
        if (flags.csv === true) {
          for await (const chunk of renderCsv(findingColumns, found.flatMap(findingsOfSite))) io.stdout.write(chunk);
          return;
        }
        printResult(io, flags, found.map(inventoryJson), () =>
          found.length === 0 ? noScan(site) : found.map(siteText).join('\n\n'),
        );
      }),
    );
}

/** `integration list`: connected and lost integrations. */
export function registerIntegration(program: CommandUnknownOpts, io: CommandIo): void {
  withJson(program.command('integration').description('integrations connected at the service').command('list'))
    .description('list the integrations of a source with their state')
    .option('--source <slug>', 'source (default: `default`, or the only one)')
    .option('--history', 'list every connection and disconnection in order')
    .action((flags) =>
      withContext(async (context) => {
        const { slug: source } = findOnlySource(context, flags.source);
        const asOf = await context.projector.catchUp();
        const found = await loadIntegrations(createScanQueries(context.store.read), { source, asOf });
        const { states, changes } = integrationsJson(found);
        const nothing = 'No integrations have been connected or disconnected yet.';
        printResult(io, flags, flags.history === true ? changes : states, () =>
          flags.history === true
            ? tableText(
                ['when', 'integration', 'site', 'change', 'reason', 'entry'],
                found.changes
                  .map(integrationFinding)
                  .map((one) => [one.at, one.name, siteWord(one.site), one.record, one.reason, one.entry]),
                nothing,
              )
            : shownTable(integrationColumns, found.states, nothing),
        );
      }),
    );
}

/**
 * The first moment after a time: for a day, the start of the next day; otherwise a millisecond later, since events at
 * that time count.
 */
function endOf(text: string | undefined, flag: string, timeZone: string): string | undefined {
  if (text === undefined) return undefined;
  const start = timeOf(text, flag, timeZone);
  return isDay(text) ? timeOf(addDays(text, 1), flag, timeZone) : new Date(Date.parse(start) + 1).toISOString();
}

function noScan(site: string | undefined): string {
  return site === undefined
    ? 'No inventory yet: no scan that lists cookies or trackers has arrived. See `consent-ledger scan list`; if scans are listed there without an inventory, `consent-ledger source discover` proposes how to read them.'
    : `No scan of ${printable(site)}: see \`consent-ledger scan list\` for the sites.`;
}

function shownTable<T>(columns: readonly ShownColumn<T>[], rows: readonly T[], nothing: string): string {
  return tableText(
    columns.map(({ title }) => title.toLowerCase()),
    rows.map((row) => columns.map(({ value }) => value(row, (iso) => iso))),
    nothing,
  );
}

function findingsOfSite(inventory: SiteInventory): ScanFinding[] {
  const { scan, drift } = inventory;
  return [...inventoryFindings(inventory), ...driftFindings(drift.map((change) => ({ ...change, scan })))];
}

function siteText(inventory: SiteInventory): string {
  const { site, scan, items, beforeConsent, base, drift } = inventory;
  const names = beforeConsent.map(nameOfItem).join(', ');
  const early =
    beforeConsent.length > 0
      ? pc.yellow(
          `${beforeConsent.length} ${beforeConsent.length === 1 ? 'needs' : 'need'} consent and ${beforeConsent.length === 1 ? 'was' : 'were'} set before it: ${printable(names)}`,
        )
      : items.some((item) => item.beforeConsent !== null)
        ? 'none that needs consent'
        : 'not stated by the scan';
  const changes = driftFindings(drift.map((change) => ({ ...change, scan })));
  return [
    pc.bold(`${printable(siteWord(site))}  scanned ${timeText(scan.at)} (entry ${scan.seq})`),
    `found           ${counted(items.length, 'cookie or tracker', 'cookies and trackers')}${scan.unread_items > 0 ? `; ${scan.unread_items} more could not be read and are kept in the entry` : ''}`,
    `before consent  ${early}`,
    '',
    shownTable(itemColumns, inventoryFindings(inventory), 'The scan found nothing.'),
    '',
    base === null
      ? 'No earlier inventory to compare it with.'
      : pc.bold(`Since the scan of ${timeText(base.at)} (entry ${base.seq})`),
    ...(base === null ? [] : [shownTable(changeColumns.slice(2, 4), changes, 'Nothing changed.')]),
  ].join('\n');
}
