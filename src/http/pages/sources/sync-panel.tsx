import { counted, formatCount, formatDuration } from '../../../../reports/format.ts';
import { AGREEMENT_DAYS, type FindingCounts } from '../../../attention/officer-attention.ts';
import type { BannerStatus } from '../../../sync/status.ts';
import type { PageFrame } from '../parts/layout.tsx';
import { Badge, BannerName, type Column, Moment, Panel, SourceChoice, Table } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { syncText } from '../parts/words.ts';
import type { Today } from '../today/load-today.ts';

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
              total={banners.length}
              isNamed={today.sources.length > 1}
              frame={frame}
            />
          )}
          <AgreementText agreement={today.attention.agreement} source={today.source} />
          {frame.canWork && isToChoose(today) ? (
            <ChooseSource />
          ) : frame.canWork ? (
            <PostForm frame={frame} class="buttons" action="/sync">
              <SourceChoice id="sync-source" frame={frame} sources={pulled} />
              <button class="quiet" type="submit">
                Sync now
              </button>
            </PostForm>
          ) : null}
        </>
      )}
    </Panel>
  );
}

/** Above this number, sources are not listed, because the list would take up most of the page. */
const SOURCES_LISTED = 100;

/** Whether a source must be selected in the header before anything can be done for one. */
export function isToChoose({ source, sources }: Pick<Today, 'source' | 'sources'>): boolean {
  return source === null && sources.length > SOURCES_LISTED;
}

export function ChooseSource() {
  return (
    <p class="soft">
      <a href="#current-source">Choose a source</a> in the header first.
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
  readonly total: number;
  /** Whether each source is named. */
  readonly isNamed: boolean;
  readonly frame: PageFrame;
}

function BannerTable({ banners, names, total, isNamed, frame }: BannerTableProps) {
  const some = total > banners.length ? `${banners.length} of ${formatCount(total)} banners, gaps first. ` : '';
  const columns: readonly Column<BannerStatus>[] = [
    {
      title: 'Banner',
      cell: ({ bannerId, source }) => (
        <>
          {bannerId === null ? 'all banners' : <BannerName id={bannerId} names={names(source)} />}
          {isNamed ? <span class="soft"> · {frame.sourceName(source)}</span> : null}
        </>
      ),
    },
    {
      title: 'State',
      cell: (banner) => (
        <div>
          <Badge {...syncText(banner.state)} />
          {banner.state === 'failing' && banner.lastError !== null ? <p class="hint">{banner.lastError}</p> : null}
          <DismissForm banner={banner} frame={frame} />
        </div>
      ),
    },
    {
      title: 'Complete until',
      cell: ({ watermark, lagMs }) => (
        <div>
          {watermark === null ? '–' : <Moment iso={watermark} timeZone={frame.timeZone} />}
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
  frame,
}: {
  banner: BannerStatus;
  frame: PageFrame;
}) {
  if (!frame.canWork) return null;
  const isDismissed = state === 'dismissed';
  const neverCame = lastSuccessAt === null && (state === 'failing' || state === 'never-pulled');
  if (bannerId === null || !(isDismissed || neverCame)) return null;
  const words = isDismissed ? 'Resume' : 'Stop pulling';
  return (
    <PostForm frame={frame} class="buttons" action="/sync/dismiss">
      <input type="hidden" name="source" value={source} />
      <input type="hidden" name="banner" value={bannerId} />
      {isDismissed ? <input type="hidden" name="restore" value="yes" /> : null}
      <button class="quiet" type="submit" aria-label={`${words}: banner ${bannerId}`}>
        {words}
      </button>
    </PostForm>
  );
}
