import { counted, formatCount, formatDuration } from '../../../../reports/format.ts';
import { type FindingCounts, AGREEMENT_DAYS } from '../../../attention/officer-attention.ts';
import type { BannerStatus } from '../../../sync/status.ts';
import { Csrf, type PageFrame } from '../parts/layout.tsx';
import type { Today } from '../today/load-today.ts';
import { Badge, BannerName, type Column, Moment, Panel, Select, sourceOptions, Table } from '../parts/parts.tsx';
import { syncText } from '../parts/words.ts';

/** Banners on the page; those not up to date come first. */
const BANNERS_SHOWN = 30;

/** The state of the consent log pull, and a button to pull now. */
export function SyncPanel({ frame, today }: { frame: PageFrame; today: Today }) {
  const pulled = today.sources.filter(
    ({ slug, baseUrl, apiKey }) =>
      baseUrl !== null && apiKey !== null && (today.source === null || slug === today.source),
  );
  const { banners, gaps } = today.attention;
  const shown = [...gaps, ...banners.filter((banner) => !gaps.includes(banner))].slice(0, BANNERS_SHOWN);
  return (
    <Panel id="sync" title="Consent log">
      {pulled.length === 0 ? (
        <p>
          No source has an API key: deliveries are stored but nothing is pulled. <a href="/sources">See the sources</a>
        </p>
      ) : (
        <>
          {shown.length === 0 ? (
            <p>No banners known yet. The first pull requests everything the key has access to.</p>
          ) : (
            <BannerTable
              banners={shown}
              names={today.bannerNames}
              csrf={frame.canWork ? frame.csrf : null}
              total={banners.length}
              sourceName={today.sources.length > 1 ? frame.sourceName : null}
              timeZone={frame.timeZone}
            />
          )}
          <AgreementText agreement={today.attention.agreement} source={today.source} />
          {frame.canWork && isToChoose(today) ? (
            <ChooseSource />
          ) : frame.canWork ? (
            <form class="buttons" method="post" action="/sync">
              <Csrf token={frame.csrf} />
              {pulled.length === 1 ? (
                <input type="hidden" name="source" value={pulled[0]?.slug} />
              ) : (
                <>
                  <label for="sync-source">Source</label>
                  <Select id="sync-source" name="source" options={sourceOptions(pulled)} />
                </>
              )}
              <button class="quiet" type="submit">
                Sync now
              </button>
            </form>
          ) : null}
        </>
      )}
    </Panel>
  );
}

/** Above this number, sources are not listed, because the list would take up most of the page. */
const SOURCES_LISTED = 100;

/** Whether a source must be selected at the head of the page before anything can be done for one. */
export function isToChoose({ source, sources }: Pick<Today, 'source' | 'sources'>): boolean {
  return source === null && sources.length > SOURCES_LISTED;
}

export function ChooseSource() {
  return (
    <p class="soft">
      <a href="#source-filter">Choose a source</a> at the top of the page first.
    </p>
  );
}

function AgreementText({ agreement, source }: { agreement: FindingCounts; source: string | null }) {
  const { undelivered, contradicting } = agreement;
  const query = source === null ? '' : `?source=${encodeURIComponent(source)}`;
  if (undelivered === 0 && contradicting === 0) return null;
  return (
    <p>
      In the last {AGREEMENT_DAYS} days{' '}
      <a href={`/consent/undelivered${query}`}>{counted(undelivered, 'decision', 'decisions')}</a> arrived through the
      consent log only, and <a href={`/consent/contradictions${query}`}>{formatCount(contradicting)}</a> have records
      that contradict each other.
    </p>
  );
}

interface BannerTableProps {
  readonly banners: readonly BannerStatus[];
  readonly names: Today['bannerNames'];
  /** Null: the viewer may change nothing. */
  readonly csrf: string | null;
  readonly total: number;
  readonly sourceName: PageFrame['sourceName'] | null;
  readonly timeZone: string;
}

function BannerTable({ banners, names, csrf, total, sourceName, timeZone }: BannerTableProps) {
  const some = total > banners.length ? `${banners.length} of ${formatCount(total)} banners, gaps first. ` : '';
  const columns: readonly Column<BannerStatus>[] = [
    {
      title: 'Banner',
      cell: ({ bannerId, source }) => (
        <>
          {bannerId === null ? 'all banners' : <BannerName id={bannerId} names={names(source)} />}
          {sourceName === null ? null : <span class="soft"> · {sourceName(source)}</span>}
        </>
      ),
    },
    {
      title: 'State',
      cell: (banner) => (
        <div>
          <Badge {...syncText(banner.state)} />
          {banner.state === 'failing' && banner.lastError !== null ? <p class="hint">{banner.lastError}</p> : null}
          <DismissForm banner={banner} csrf={csrf} />
        </div>
      ),
    },
    {
      title: 'Complete until',
      cell: ({ watermark, lagMs }) => (
        <div>
          {watermark === null ? '–' : <Moment iso={watermark} timeZone={timeZone} />}
          {lagMs === null ? null : <span class="soft"> ({formatDuration(lagMs)} ago)</span>}
        </div>
      ),
    },
    { title: 'Rows', isNumber: true, cell: ({ rows }) => formatCount(rows) },
  ];
  return <Table caption={`${some}Sync status of each banner`} columns={columns} rows={banners} />;
}

/**
 * Sets aside a banner that was never pulled, or brings it back: for banners that only deliveries name and that the
 * service does not know.
 */
function DismissForm({
  banner: { source, bannerId, state, lastSuccessAt },
  csrf,
}: {
  banner: BannerStatus;
  csrf: string | null;
}) {
  if (csrf === null) return null;
  const isDismissed = state === 'dismissed';
  const neverCame = lastSuccessAt === null && (state === 'failing' || state === 'never-pulled');
  if (bannerId === null || !(isDismissed || neverCame)) return null;
  const words = isDismissed ? 'Resume' : 'Stop pulling';
  return (
    <form class="buttons" method="post" action="/sync/dismiss">
      <Csrf token={csrf} />
      <input type="hidden" name="source" value={source} />
      <input type="hidden" name="banner" value={bannerId} />
      {isDismissed ? <input type="hidden" name="restore" value="yes" /> : null}
      <button class="quiet" type="submit" aria-label={`${words}: banner ${bannerId}`}>
        {words}
      </button>
    </form>
  );
}
