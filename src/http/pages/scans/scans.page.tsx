import { z } from 'zod';
import type { ShownColumn } from '../../../../reports/render/blocks.ts';
import {
  changeColumns,
  driftFindings,
  type Integrations,
  integrationColumns,
  inventoryFindings,
  itemColumns,
  loadIntegrations,
  loadInventories,
  nameOfItem,
  type SiteInventory,
  scanColumns,
  siteWord,
} from '../../../../reports/scan-audit/findings.ts';
import type { Source } from '../../../core/source.ts';
import { momentText } from '../../../core/time-words.ts';
import { addDays, startOfDay } from '../../../core/zoned-days.ts';
import { createScanQueries, type ScanRow } from '../../../store/queries/history-scans.ts';
import { pagesWith, text } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  Choice,
  Facts,
  FilterForm,
  Input,
  Moment,
  NoSources,
  Notice,
  Panel,
  Problems,
  sourceOptions,
  Table,
  WebhookAddress,
} from '../parts/parts.tsx';

const { page } = pagesWith<'store' | 'config'>();

/** Scans listed on the page. */
const SCANS_SHOWN = 25;
/** If there are more sites than this, one is shown at a time. */
const SITES_TOGETHER = 5;
/** Cookies of a site listed on the page. */
const ITEMS_SHOWN = 300;

/** Findings of scans, and integrations. */
const scans = page({
  path: '/scans',
  rule: { who: 'read', source: 'query' },
  query: z.object({ source: text, site: text, at: text }),
  async load({ context, permitted, fields: { source: asked, site: wanted, at } }) {
    const sources = permitted.list();
    const source = permitted.findAny(asked)?.slug ?? (sources.length === 1 ? sources[0]?.slug : undefined) ?? '';
    const to = endOf(at, context.config.timeZone);
    const scope = { source, asOf: Number.MAX_SAFE_INTEGER, ...(to && { to }) };
    const history = createScanQueries(context.store.read);
    const sites = (await history.lastInventories(scope)).map((row) => row.site);
    const site = sites.includes(wanted) && wanted !== '' ? wanted : null;
    const shown = site ?? (sites.length > SITES_TOGETHER ? sites[0] : undefined);
    return {
      ...{ sources, source, sites, site: shown ?? null, at: to === undefined ? '' : at },
      inventories: await loadInventories(history, { ...scope, ...(shown !== undefined && { site: shown }) }),
      scans: await history.scanRows({ ...scope, ...(shown !== undefined && { site: shown }), limit: SCANS_SHOWN }),
      integrations: (await loadIntegrations(history, scope)).states,
      problems: at !== '' && to === undefined ? ['Enter the day as YYYY-MM-DD.'] : [],
    };
  },
  show: (data, { frame }) => <ScansPage frame={frame} {...data} />,
  status: ({ problems }) => (problems.length > 0 ? 422 : 200),
});

export const routes = [scans];

/** The first moment after a day; undefined if the text is not a day. */
function endOf(day: string, timeZone: string): string | undefined {
  try {
    return startOfDay(addDays(day, 1), timeZone);
  } catch {
    return undefined;
  }
}

interface ScansProps {
  readonly frame: PageFrame;
  readonly sources: readonly Pick<Source, 'slug' | 'name'>[];
  readonly source: string;
  /** All scanned sites of the source. */
  readonly sites: readonly string[];
  /** The selected site; null: all. */
  readonly site: string | null;
  /** YYYY-MM-DD: the state at the end of this day; empty: now. */
  readonly at: string;
  readonly inventories: readonly SiteInventory[];
  readonly scans: readonly ScanRow[];
  readonly integrations: Integrations['states'];
  readonly problems: readonly string[];
}

/** Findings of scans on a source's sites, how they changed, and what is connected. */
function ScansPage(props: ScansProps) {
  const { frame, source, problems } = props;
  return (
    <Page title="Scans and integrations" frame={frame} current="scans">
      <h1>Scans and integrations</h1>
      <p class="lead">
        Cookies and trackers as the service’s scanner found them on each site, what changed since the previous scan, and
        which integrations are connected.
      </p>
      <Problems title="The scans cannot be shown:" problems={problems} />
      {props.sources.length === 0 ? null : <ChoicePanel {...props} />}
      {source === '' && props.sources.length > 1 ? (
        <p>Choose the source whose sites you want to see.</p>
      ) : (
        <Found {...props} />
      )}
    </Page>
  );
}

/** Inventories, scans and integrations of the chosen source. */
function Found(props: ScansProps) {
  const { frame, source, at, inventories, scans, integrations } = props;
  const time = (iso: string) => momentText(iso, frame.timeZone);
  return (
    <>
      {inventories.map((inventory) => (
        <Inventory key={inventory.site} frame={frame} inventory={inventory} />
      ))}
      <Panel id="scans" title="Scans">
        {props.sources.length === 0 ? (
          <NoSources frame={frame} />
        ) : scans.length === 0 && at === '' ? (
          <p>
            No scans yet. Run one in the service: it appears here once the service delivers{' '}
            <span class="mono">cookie_scan.completed</span> to the{' '}
            <WebhookAddress sources={props.sources.filter(({ slug }) => slug === source)} />.{' '}
            <a href={`/deliveries?source=${encodeURIComponent(source)}`}>See what it has delivered</a>
          </p>
        ) : (
          <>
            <ShownTable
              caption={`The last ${SCANS_SHOWN}, newest first. Only a scan that lists its findings counts as an inventory.`}
              columns={scanColumns}
              rows={scans}
              time={time}
              empty="No scan had finished by then."
            />
            <p class="small">
              For a whole period: <a href={`/?source=${encodeURIComponent(source)}#report`}>create the report</a> “Scans
              and integrations”.
            </p>
          </>
        )}
      </Panel>
      <Panel id="integrations" title="Integrations">
        <ShownTable
          caption="Current state. Lost means disconnected by an error rather than by choice."
          columns={integrationColumns}
          rows={integrations}
          time={time}
          empty={
            at === ''
              ? 'No integrations have been connected or disconnected yet. The service reports this with integration.connected and integration.disconnected.'
              : 'No integrations had been connected or disconnected by then.'
          }
        />
      </Panel>
    </>
  );
}

function ChoicePanel({ sources, source, sites, site, at, frame }: ScansProps) {
  return (
    <Panel id="choice" title="What to show">
      <FilterForm action="/scans">
        {sources.length > 1 ? (
          <Choice
            id="source"
            label="Source"
            value={source}
            options={[['', 'Choose …'], ...sourceOptions(sources)]}
            required
          />
        ) : null}
        {sites.length > 1 ? (
          <Choice
            id="site"
            label="Site"
            value={site ?? ''}
            options={[
              ...(sites.length > SITES_TOGETHER ? [] : [['', 'All sites'] as const]),
              ...sites.map((one) => [one, siteWord(one)] as const),
            ]}
          />
        ) : null}
        <Input
          id="at"
          label="At the end of"
          type="date"
          value={at}
          optional
          hint={`A day in ${frame.timeZone}; leave empty for now.`}
        />
      </FilterForm>
    </Panel>
  );
}

function Inventory({ frame, inventory }: { readonly frame: PageFrame; readonly inventory: SiteInventory }) {
  const { site, scan, items, beforeConsent, base, drift } = inventory;
  const time = (iso: string) => momentText(iso, frame.timeZone);
  const says = items.some((item) => item.beforeConsent !== null);
  return (
    <Panel id={`site-${encodeURIComponent(site)}`} title={siteWord(site)}>
      {beforeConsent.length > 0 ? (
        <Notice tone="warn">
          <p>
            <strong>Set before consent but not strictly necessary:</strong>{' '}
            {beforeConsent.slice(0, 10).map(nameOfItem).join(', ')}
            {beforeConsent.length > 10 ? ` and ${beforeConsent.length - 10} more` : ''}. Block them until the visitor
            has chosen, then scan again.
          </p>
        </Notice>
      ) : null}
      <Facts
        rows={[
          [
            'Last inventory',
            <>
              <Moment iso={scan.at} timeZone={frame.timeZone} /> (entry {scan.seq})
            </>,
          ],
          [
            'Found',
            `${items.length} ${items.length === 1 ? 'cookie or tracker' : 'cookies and trackers'}${scan.unread_items > 0 ? `; ${scan.unread_items} more could not be read and are kept in the entry` : ''}`,
          ],
          beforeConsent.length > 0
            ? null
            : ['Before consent', says ? 'none that needs consent' : 'not stated by the scan'],
        ]}
      />
      <h3>Changes since the previous scan</h3>
      {base === null ? (
        <p>This is the site’s first inventory: there is nothing to compare it with.</p>
      ) : (
        <ShownTable
          caption={`Compared with the scan of ${time(base.at)} (entry ${base.seq}).`}
          columns={changeColumns.slice(2, 4)}
          rows={driftFindings(drift.slice(0, ITEMS_SHOWN).map((change) => ({ ...change, scan })))}
          time={time}
          empty={`Nothing changed since the scan of ${time(base.at)}.`}
        />
      )}
      <h3>Inventory</h3>
      <ShownTable
        caption={
          items.length > ITEMS_SHOWN
            ? `The first ${ITEMS_SHOWN} of ${items.length}; the report lists all of them.`
            : null
        }
        columns={itemColumns}
        rows={inventoryFindings(inventory).slice(0, ITEMS_SHOWN)}
        time={time}
        empty="The scan found nothing."
      />
    </Panel>
  );
}

/** A table with the columns that documents have. */
function ShownTable<T>({
  caption,
  columns,
  rows,
  time,
  empty,
}: {
  readonly caption: string | null;
  readonly columns: readonly ShownColumn<T>[];
  readonly rows: readonly T[];
  readonly time: (iso: string) => string;
  readonly empty: string;
}) {
  if (rows.length === 0) return <p>{empty}</p>;
  const shown = columns.map(({ title, align, value }) => ({
    title,
    isNumber: align === 'right',
    cell: (row: T) => <bdi class="outside">{value(row, time)}</bdi>,
  }));
  return <Table caption={caption} columns={shown} rows={rows} />;
}
