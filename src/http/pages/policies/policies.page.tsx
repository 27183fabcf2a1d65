import { z } from 'zod';
import { counted, formatCount } from '../../../../reports/format.ts';
import { isoNow } from '../../../core/clock.ts';
import { CodedError } from '../../../core/errors.ts';
import type { Source } from '../../../core/source.ts';
import { localTimeOf, readTime } from '../../../core/zoned-days.ts';
import { isCallable } from '../../../policies/callable-source.ts';
import { type CatalogueRow, listPolicyTypes, loadCataloguePage } from '../../../policies/catalogue.ts';
import { loadPolicy, loadPublicAddress, type PolicyView, type PublicAddress } from '../../../policies/show.ts';
import { findTextAt, loadTextOfEntry, loadTextPage, type TextRow } from '../../../policy-snapshots/stored-texts.ts';
import { pagesWith, smallNumber, text } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  Badge,
  Choice,
  type Column,
  chipsOf,
  EntryNumber,
  Facts,
  FilterForm,
  Input,
  Moment,
  Notice,
  Pages,
  Panel,
  Problems,
  SourceFilter,
  Table,
} from '../parts/parts.tsx';
import type { Worded } from '../parts/words.ts';
import { callStateText } from './call-words.ts';
import { PublishLink } from './publish-link.tsx';
import {
  Came,
  differenceAddress,
  Lines,
  PublicLink,
  policyAddress,
  sourceNamed,
  type Texts,
  textAddress,
} from './text-parts.tsx';

const { page } = pagesWith<'store' | 'sources' | 'projector' | 'config' | 'clock'>();

/** Policies, and texts of one policy, per page. */
const SHOWN = 50;
const TEXTS_SHOWN = 20;
/** The newest deliveries about a policy that its page lists; others are in the list of all deliveries. */
const CHANGES_SHOWN = 50;
const statusTexts: Readonly<Record<NonNullable<CatalogueRow['status']>, Worded>> = {
  created: { text: 'created, not published', tone: 'warn' },
  updated: { text: 'updated', tone: 'calm' },
  published: { text: 'published', tone: 'good' },
  deleted: { text: 'deleted', tone: 'bad' },
};

/** Every policy, page by page. */
const policies = page({
  path: '/policies',
  rule: { who: 'read', source: 'query' },
  query: z.object({ source: text, type: text, after: text }),
  async load({ context, permitted, fields: { source: slug, type, after } }) {
    const { read } = context.store;
    const source = permitted.findAny(slug)?.slug ?? null;
    const [, afterSource, afterId] = /^(\S+) (.+)$/s.exec(after) ?? [];
    const [rows, types] = await Promise.all([
      loadCataloguePage(read, {
        sources: source === null ? permitted.slugs : [source],
        keyShared: [...context.sources.sharingKey()],
        policyType: type === '' ? undefined : type,
        after:
          afterSource === undefined || afterId === undefined ? undefined : { source: afterSource, policyId: afterId },
        limit: SHOWN + 1,
      }),
      listPolicyTypes(read, permitted.slugs),
    ]);
    const filter = { source: source ?? '', type };
    const shown = rows.slice(0, SHOWN);
    const last = shown.at(-1);
    const address = (more: Record<string, string>) =>
      `/policies?${new URLSearchParams({ ...filter, ...more }).toString()}`;
    return {
      sources: permitted.list(),
      types,
      filter,
      rows: shown,
      first: after === '' ? null : address({}),
      next: rows.length > SHOWN && last ? address({ after: `${last.source} ${last.policyId}` }) : null,
    };
  },
  show: (data, { frame }) => <PoliciesPage frame={frame} {...data} />,
});

/** One policy, its texts, and the text at a time. */
const onePolicy = page({
  path: '/policies/policy',
  rule: { who: 'read', source: 'query' },
  query: z.object({ source: text, id: text, via: text, at: text, before: smallNumber }),
  async load({ context, permitted, fields }) {
    const { id, via, at, before } = fields;
    const { read } = context.store;
    const { timeZone } = context.config;
    const known = sourceNamed(permitted, fields.source);
    const source = known.slug;
    await context.projector.catchUp();
    const [view] = await loadPolicy(read, id, source);
    if (view === undefined) throw new CodedError('not_found');
    const type = view.policy?.policy_type ?? view.listed?.policy_type ?? view.asked?.policy_type ?? null;
    const target = via === 'embed' && type !== null ? `embed:${type}` : `hosted:${id}`;
    const typed = at === '' ? null : readTime(at.trim(), timeZone);
    const entered = typed?.problem === undefined ? (typed?.at ?? null) : null;
    const wrong = typed?.problem === undefined ? null : `Invalid time "${at.slice(0, 60)}": ${typed.problem}`;
    const isFuture = entered !== null && entered > isoNow(context.clock);
    const moment = isFuture ? null : entered;
    const [texts, found] = await Promise.all([
      loadTextPage(read, { source, target, before, limit: TEXTS_SHOWN + 1 }),
      moment === null ? null : findTextAt(read, source, target, moment),
    ]);
    const inForce = found?.outcome === 'certain' ? await loadTextOfEntry(read, source, found.version.first_seq) : null;
    return {
      view,
      publicAt: await loadPublicAddress(read, view),
      type,
      isCallable: isCallable(known),
      via: target.startsWith('embed:') ? ('embed' as const) : ('hosted' as const),
      texts,
      at: at === '' ? localTimeOf(context.clock().toISOString(), timeZone) : at,
      found: found === null || moment === null ? null : { moment, found, inForce },
      before,
      problems: [isFuture ? 'The time is in the future.' : wrong].filter((problem) => problem !== null),
    };
  },
  show: (data, { frame }) => <PolicyPage frame={frame} {...data} />,
  status: ({ problems }) => (problems.length > 0 ? 422 : 200),
});

export const routes = [policies, onePolicy];

interface PoliciesProps {
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  readonly types: readonly string[];
  readonly filter: { readonly source: string; readonly type: string };
  readonly rows: readonly CatalogueRow[];
  readonly first: string | null;
  readonly next: string | null;
}

function PoliciesPage({ frame, sources, types, filter, rows, first, next }: PoliciesProps) {
  const isFiltered = filter.source !== '' || filter.type !== '';
  return (
    <Page title="Policies" frame={frame} current="policies">
      <h1>Policies</h1>
      <p class="lead">Every policy that the service reported or listed, with the texts fetched from its public page.</p>
      <FilterForm action="/policies" chips={chipsOf('/policies', filter, { type: (type) => type })}>
        <SourceFilter frame={frame} sources={sources} value={filter.source} />
        <Choice
          id="type"
          label="Type"
          value={filter.type}
          options={[['', 'Every type'], ...types.map((type) => [type, type] as const)]}
        />
      </FilterForm>
      <Panel id="list" title="Policies">
        {rows.length > 0 ? (
          <Table caption="By source and id." columns={catalogueColumns(frame, sources.length > 1)} rows={rows} />
        ) : isFiltered ? (
          <p>
            No policy matches. <a href="/policies">Show all of them</a>
          </p>
        ) : (
          <p>
            No policies yet. They appear when the service delivers an event about one, such as{' '}
            <code>policy.published</code>, or when its{' '}
            {frame.canWork ? <a href="/policies/generate#list">list is fetched</a> : 'list is fetched'}. What has
            arrived is under <a href="/deliveries">Deliveries</a>.
          </p>
        )}
        <Pages first={first} next={next} />
      </Panel>
    </Page>
  );
}

function catalogueColumns(frame: PageFrame, withSource: boolean): readonly Column<CatalogueRow>[] {
  return [
    {
      title: 'Policy',
      cell: ({ source, policyId, policyType, title }) => (
        <div class="outside">
          <a href={policyAddress(source, policyId)}>
            <bdi>{title ?? policyType ?? policyId}</bdi>
          </a>
          <br />
          <span class="soft small">
            <bdi>{[title === null ? null : policyType, policyId].filter((one) => one !== null).join(' · ')}</bdi>
            {withSource ? ` · ${frame.sourceName(source)}` : ''}
          </span>
        </div>
      ),
    },
    { title: 'Jurisdiction', cell: ({ jurisdiction }) => jurisdiction ?? 'not named' },
    { title: 'Language', cell: ({ language }) => language ?? 'not named' },
    { title: 'Status', cell: (row) => <Status {...row} /> },
    {
      title: 'Newest text',
      cell: ({ texts }) =>
        texts === null ? (
          <span class="soft">none fetched</span>
        ) : (
          <div>
            since <Moment iso={texts.changedAt} timeZone={frame.timeZone} />
            <br />
            <span class="soft small">
              {counted(texts.count, 'text', 'texts')}, seen <Moment iso={texts.seenAt} timeZone={frame.timeZone} />
            </span>
          </div>
        ),
    },
  ];
}

function Status({ status, listed }: Pick<CatalogueRow, 'status' | 'listed'>) {
  const isGone = listed !== null && listed.gone_at !== null;
  return (
    <div>
      {status === null ? <Badge text="listed only" tone="calm" /> : <Badge {...statusTexts[status]} />}
      {isGone ? (
        <>
          {' '}
          <Badge text="no longer listed" tone="warn" />
        </>
      ) : null}
    </div>
  );
}

interface Found {
  readonly moment: string;
  readonly found: Awaited<ReturnType<typeof findTextAt>>;
  readonly inForce: Texts;
}

interface PolicyProps {
  readonly frame: PageFrame;
  readonly view: PolicyView;
  /** Null: none is known. */
  readonly publicAt: PublicAddress | null;
  readonly type: string | null;
  /** Whether the source has an address and a key, and so can be called. */
  readonly isCallable: boolean;
  /** Which texts are shown: those of the public page, or of the embed endpoint for the type. */
  readonly via: 'hosted' | 'embed';
  /** Newest first, with one extra. */
  readonly texts: readonly TextRow[];
  readonly at: string;
  readonly found: Found | null;
  readonly before: number | null;
  readonly problems: readonly string[];
}

function PolicyPage(props: PolicyProps) {
  const { frame, view, problems } = props;
  const { source, policyId, policy, listed } = view;
  const title = policy?.title ?? listed?.title ?? props.type ?? policyId;
  return (
    <Page title={title} frame={frame} within="policies">
      <h1>
        <bdi>{title}</bdi>
      </h1>
      <p class="lead">
        <bdi>{policyId}</bdi>, {frame.sourceName(source)}
      </p>
      <Problems title="The text could not be looked up:" problems={problems} />
      <KnownPanel {...props} />
      <TextAtTimePanel {...props} />
      <TextsPanel {...props} />
      <HistoryPanel {...props} />
      <CallsPanel {...props} />
    </Page>
  );
}

function KnownPanel({ frame, view, publicAt, type, isCallable: mayBeCalled }: PolicyProps) {
  const { source, policyId, policy, listed, asked, calls } = view;
  const moment = (iso: string | null | undefined) =>
    iso == null ? 'no' : <Moment iso={iso} timeZone={frame.timeZone} />;
  const publish = calls.findLast(
    ({ operation, state }) => operation === 'publish' && (state === 'done' || state === 'happened'),
  );
  return (
    <Panel id="about" title="What is known">
      <Facts
        rows={[
          ['Type', type ?? 'not named'],
          ['Jurisdiction', policy?.jurisdiction ?? listed?.jurisdiction ?? asked?.jurisdiction ?? 'not named'],
          ['Language', policy?.language ?? listed?.language ?? asked?.language ?? 'not named'],
          [
            'Status',
            policy === null && listed === null ? (
              <Badge text={publish === undefined ? 'generated from here' : 'published from here'} tone="calm" />
            ) : (
              <Status status={policy?.status ?? null} listed={listed} />
            ),
          ],
          policy?.version == null ? null : ['Version', <bdi>{policy.version}</bdi>],
          ['Published', moment(policy?.published_at ?? publish?.finished_at ?? publish?.asked_at)],
          publicAt === null ? null : ['Public address', <PublicLink {...publicAt} />],
          listed === null
            ? ['Listed by the service', 'never']
            : [
                'Listed by the service',
                <>
                  since {moment(listed.first_listed_at)}
                  {listed.gone_at === null ? '' : <>, no longer since {moment(listed.gone_at)}</>}
                </>,
              ],
        ]}
      />
      {frame.canWork && mayBeCalled && policy?.status !== 'deleted' ? (
        <div class="buttons">
          <PublishLink
            source={source}
            policyId={policyId}
            again={
              policy?.status === 'published' ||
              (listed !== null && listed.gone_at === null) ||
              (policy === null && publish !== undefined)
            }
          />
        </div>
      ) : null}
    </Panel>
  );
}

function TextAtTimePanel({ frame, view, type, via, at, found }: PolicyProps) {
  const { source, policyId } = view;
  return (
    <Panel id="at-time" title="Text at a time">
      <form method="get" action="/policies/policy">
        <input type="hidden" name="source" value={source} />
        <input type="hidden" name="id" value={policyId} />
        <div class="pair thirds">
          <Input id="at" label="At" type="datetime-local" value={at} hint={`In ${frame.timeZone}.`} />
          <Choice
            id="via"
            label="Where"
            value={via}
            options={[
              ['hosted', 'public page of the policy'],
              ...(type === null ? [] : [['embed', `embed endpoint for ${type}`] as const]),
            ]}
          />
        </div>
        <button type="submit" class="quiet">
          Show the text
        </button>
      </form>
      {found === null ? null : <TextAtTime frame={frame} source={source} {...found} />}
    </Panel>
  );
}

function TextsPanel({ frame, view, via, texts, before }: PolicyProps) {
  const shown = texts.slice(0, TEXTS_SHOWN);
  const address = (more: Record<string, string>) => policyAddress(view.source, view.policyId, { via, ...more });
  return (
    <Panel id="texts" title={via === 'hosted' ? 'Texts of the public page' : 'Texts of the embed endpoint'}>
      {shown.length === 0 ? (
        <p>None fetched. They are fetched once a day and after each change while the server runs.</p>
      ) : (
        <Table
          caption="Newest first. Each text appeared between the last fetch without it and the first fetch with it."
          columns={textColumns(frame, texts)}
          rows={shown}
        />
      )}
      <Pages
        first={before === null ? null : address({})}
        next={texts.length > TEXTS_SHOWN ? address({ before: String(shown.at(-1)?.version ?? 0) }) : null}
      />
    </Panel>
  );
}

function HistoryPanel({ frame, view: { history } }: PolicyProps) {
  return (
    <Panel id="history" title="What deliveries reported">
      {history.length === 0 ? (
        <p>Nothing.</p>
      ) : (
        <Table
          caption={history.length > CHANGES_SHOWN ? `The newest ${CHANGES_SHOWN} of ${history.length}.` : null}
          columns={[
            { title: 'Change', cell: ({ change }) => <Badge {...statusTexts[change]} /> },
            { title: 'At', cell: ({ at }) => <Moment iso={at} timeZone={frame.timeZone} /> },
            { title: 'Version', cell: ({ version }) => (version === null ? null : <bdi>{version}</bdi>) },
            { title: 'Entry', cell: ({ seq }) => <EntryNumber seq={seq} /> },
          ]}
          rows={history.slice(-CHANGES_SHOWN).reverse()}
        />
      )}
    </Panel>
  );
}

function CallsPanel({ frame, view: { calls } }: PolicyProps) {
  if (calls.length === 0) return null;
  return (
    <Panel id="calls" title="Calls from here">
      <Table
        caption={null}
        columns={[
          { title: 'Call', cell: ({ operation, via }) => (via === 'mcp' ? `${operation} (MCP)` : operation) },
          { title: 'Sent', cell: ({ asked_at: iso }) => <Moment iso={iso} timeZone={frame.timeZone} /> },
          { title: 'By', cell: ({ actor }) => <bdi>{actor}</bdi> },
          { title: 'Outcome', cell: (row) => <Badge {...callStateText(row, 0)} /> },
        ]}
        rows={calls.slice(-CHANGES_SHOWN).reverse()}
      />
    </Panel>
  );
}

function textColumns(frame: PageFrame, texts: readonly TextRow[]): readonly Column<TextRow>[] {
  return [
    {
      title: 'Text',
      cell: ({ source, version, first_seq: seq, text_sha256: hash, settled }) => (
        <>
          <a href={textAddress(source, seq)}>Text {version}</a>
          {hash === null ? (
            <>
              {' '}
              <Badge text="no text: the page was gone" tone="warn" />
            </>
          ) : null}
          {settled === 1 ? null : (
            <>
              {' '}
              <Badge text="provisional" tone="calm" />
            </>
          )}
          <br />
          <span class="soft small">entry {formatCount(seq)}</span>
        </>
      ),
    },
    { title: 'Came', cell: (text) => <Came text={text} timeZone={frame.timeZone} /> },
    {
      title: 'Last seen',
      cell: ({ first_seen: first, last_seen: last }) => (
        <Moment iso={last < first ? first : last} timeZone={frame.timeZone} />
      ),
    },
    { title: 'Looks', isNumber: true, cell: ({ sightings }) => formatCount(sightings) },
    {
      title: 'Compared',
      cell: (text) => {
        const before = texts.find(({ version }) => version === text.version - 1);
        if (before === undefined || before.text_sha256 === null || text.text_sha256 === null) return null;
        return (
          <a href={differenceAddress(text.source, before.first_seq, text.first_seq)}>with text {before.version}</a>
        );
      },
    },
  ];
}

function TextAtTime({ frame, source, moment, found, inForce }: Found & { frame: PageFrame; source: string }) {
  const asked = <Moment iso={moment} timeZone={frame.timeZone} />;
  switch (found.outcome) {
    case 'certain': {
      const { version, first_seq: seq } = found.version;
      return (
        <>
          <h3>
            <a href={textAddress(source, seq)}>Text {version}</a> was in force at {asked}
          </h3>
          <p class="small soft">
            {found.seenSince
              ? 'It was seen before and after.'
              : 'It is the last one seen; it has not been fetched since.'}
          </p>
          <Lines text={inForce} />
        </>
      );
    }
    case 'between': {
      const { earlier, later } = found;
      return (
        <Notice tone="warn">
          The text changed around {asked}: either{' '}
          <a href={textAddress(source, earlier.first_seq)}>text {earlier.version}</a> or{' '}
          <a href={textAddress(source, later.first_seq)}>text {later.version}</a> was in force.{' '}
          {earlier.text_sha256 === null || later.text_sha256 === null ? null : (
            <a href={differenceAddress(source, earlier.first_seq, later.first_seq)}>Compare them</a>
          )}
        </Notice>
      );
    }
    case 'before-first':
      return (
        <Notice tone="warn">
          The text in force at {asked} is unknown:{' '}
          {found.first === null ? (
            'no text was ever fetched.'
          ) : (
            <>
              the first one was seen at <Moment iso={found.first.first_seen} timeZone={frame.timeZone} />.
            </>
          )}
        </Notice>
      );
    default:
      return found satisfies never;
  }
}
