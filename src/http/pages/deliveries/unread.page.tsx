import { z } from 'zod';
import { counted, formatCount } from '../../../../reports/format.ts';
import { visibleText } from '../../../../reports/render/text.ts';
import { loadUnread, setAside, type UnreadGroup } from '../../../attention/unread.ts';
import { can } from '../../../core/roles.ts';
import type { Source } from '../../../core/source.ts';
import { INSTALLATION } from '../../../core/vocabulary.ts';
import { number, pagesWith, type Said, text, ticked } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { type Column, Done, FilterForm, Moment, Panel, Problems, SourceFilter, Table } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { hasOwnNames, RereadForm } from '../sources/reread.tsx';

const { page, form } = pagesWith<'store' | 'ledger' | 'clock' | 'sources' | 'projector'>();

/** What could not be understood, by source and event, and what can be done about it. */
const unread = page({
  path: '/deliveries/unread',
  rule: { who: 'read', source: 'query', views: 'deliveries' },
  query: z.object({ source: text }),
  done: {
    aside: 'Set aside. Your name, the time and the entries are in the ledger; new ones will be shown again.',
    nothing: 'These had already been set aside.',
  },
  async load({ context, permitted, fields }) {
    const source = permitted.findAny(fields.source)?.slug ?? null;
    const groups = await loadUnread(context.store.read, (source === null ? permitted.slugs : [source]) ?? undefined);
    return { sources: permitted.list(), source, groups };
  },
  show: (data, { frame, said }) => <UnreadPage frame={frame} {...data} said={said} />,
});

const nothingToDo = form({
  path: '/deliveries/unread/set-aside',
  rule: { who: 'work', source: 'form' },
  body: z.object({ source: text, event: text, upTo: number, named: ticked }),
  async act(visit) {
    const { context, by, fields } = visit;
    const { source, event, upTo, named } = fields;
    const isKnown = source === INSTALLATION || context.sources.findAny(source) !== null;
    if (!isKnown || upTo === null || upTo === 0)
      return unread.again(visit, {
        fields: { source: '' },
        said: { problems: ['Reload the page: this was not one of its buttons.'] },
      });
    await context.projector.catchUp();
    const outcome = await setAside(context, { source, event: named ? event : null, upTo, actor: by.officer });
    if (outcome.outcome === 'recorded') await visit.projected(outcome.seq);
    return visit.goTo(`/deliveries/unread?done=${outcome.outcome === 'recorded' ? 'aside' : 'nothing'}`);
  },
});

export const routes = [unread, nothingToDo];

interface UnreadProps {
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  /** The selected source; null: all. */
  readonly source: string | null;
  readonly groups: readonly UnreadGroup[];
  readonly said: Said;
}

function UnreadPage(props: UnreadProps) {
  const { frame, sources, source, groups, said } = props;
  const total = groups.reduce((sum, { entries }) => sum + entries, 0);
  return (
    <Page title="Not understood" frame={frame} current="unread">
      <h1>Not understood</h1>
      <p class="lead">
        {total === 0
          ? 'Everything that arrived was understood, or somebody has looked at it.'
          : `${counted(total, 'delivery or row', 'deliveries and rows')} that could not be understood. They are stored exactly as received, but nothing was read from them, and a request of a data subject may be among them.`}
      </p>
      <Done text={said.done} />
      <Problems title="Nothing was set aside:" problems={said.problems} />
      {sources.length > 1 ? (
        <FilterForm action="/deliveries/unread">
          <SourceFilter frame={frame} sources={sources} value={source ?? ''} />
        </FilterForm>
      ) : null}
      {groups.length === 0 ? null : (
        <Panel id="groups" title="By event">
          <Table caption="Newest first." columns={columnsOf(props)} rows={groups} />
        </Panel>
      )}
    </Page>
  );
}

function columnsOf({ frame, sources }: UnreadProps): readonly Column<UnreadGroup>[] {
  return [
    {
      title: 'Event',
      cell: ({ source, event, quarantined }) => (
        <>
          <bdi class="outside">{event === null ? 'event not named' : visibleText(event)}</bdi>
          <br />
          <span class="soft small">
            {source === INSTALLATION ? 'this installation' : frame.sourceName(source)}
            {quarantined === 0 ? '' : ' · known event, in quarantine'}
          </span>
        </>
      ),
    },
    { title: 'How many', isNumber: true, cell: ({ entries }) => formatCount(entries) },
    {
      title: 'The last one',
      cell: ({ last }) => (
        <div>
          <a href={`/entries/${last.seq}`}>Entry {formatCount(last.seq)}</a>,{' '}
          <Moment iso={last.receivedAt} timeZone={frame.timeZone} />
          {last.reason === null ? null : <p class="hint outside">{visibleText(last.reason)}</p>}
        </div>
      ),
    },
    {
      title: 'What to do',
      cell: (group) => (
        <Remedies frame={frame} group={group} source={sources.find(({ slug }) => slug === group.source) ?? null} />
      ),
    },
  ];
}

/** Read it; teach the source its names and read again; or nothing. */
function Remedies({ frame, group, source }: { frame: PageFrame; group: UnreadGroup; source: Source | null }) {
  const { event, entries, quarantined, last } = group;
  const about = `${event ?? 'event not named'} of ${frame.sourceName(group.source)}`;
  const list = new URLSearchParams({
    source: group.source,
    ...(event === null ? {} : { event }),
    outcome: quarantined > 0 ? 'unreadable' : 'unknown-event',
  }).toString();
  return (
    <>
      <p class="small">
        <a href={`/deliveries?${list}`} aria-label={`See all: ${about}`}>
          See {entries === 1 ? 'it' : 'all'}
        </a>
        {source === null ? null : (
          <>
            {' · '}
            <a href={`/sources/${source.slug}/fields`} aria-label={`Name its fields: ${about}`}>
              Name its fields
            </a>
          </>
        )}
        {' · '}
        <a href="/cases/new" aria-label={`Record a request: ${about}`}>
          Record a request
        </a>
      </p>
      {source !== null && hasOwnNames(source) && can(frame.role, 'administer') ? (
        <RereadForm frame={frame} source={source} admins={[]} />
      ) : null}
      {frame.canWork ? (
        <PostForm frame={frame} action="/deliveries/unread/set-aside" class="buttons">
          <input type="hidden" name="source" value={group.source} />
          <input type="hidden" name="named" value={event === null ? 'no' : 'yes'} />
          <input type="hidden" name="event" value={event ?? ''} />
          <input type="hidden" name="upTo" value={String(last.seq)} />
          <button type="submit" class="quiet slim" aria-label={`Nothing to do: ${about}`}>
            Nothing to do
          </button>
        </PostForm>
      ) : null}
    </>
  );
}
