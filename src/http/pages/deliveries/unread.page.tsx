import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { counted, formatCount } from '../../../../reports/format.ts';
import { visibleText } from '../../../../reports/render/text.ts';
import { loadUnread, setAside, type UnreadGroup } from '../../../attention/unread.ts';
import type { Context } from '../../../context.ts';
import { can } from '../../../core/roles.ts';
import type { Source } from '../../../core/source.ts';
import { INSTALLATION } from '../../../core/vocabulary.ts';
import { sourcesOf } from '../../auth/access.ts';
import { officerOf } from '../../auth/sessions.ts';
import { formOf, html, pageFrame, untilProjected } from '../parts/page-frame.ts';
import { Page, type PageFrame, renderPage } from '../parts/layout.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { type Column, Done, FilterForm, Moment, Panel, Problems, SourceFilter, Table } from '../parts/parts.tsx';
import { hasOwnNames, RereadForm } from '../sources/reread.tsx';

const doneTexts: Readonly<Record<string, string>> = {
  aside: 'Set aside. Your name, the time and the entries are in the ledger; new ones will be shown again.',
  nothing: 'These had already been set aside.',
};

/** What could not be understood, by source and event, and what can be done about it. */
export async function unreadRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/deliveries/unread', (request, reply) => {
    const { source = '', done = '' } = formOf(request.query);
    return send(request, reply, { source, done: doneTexts[done] ?? null });
  });

  app.post('/deliveries/unread/set-aside', async (request, reply) => {
    const { source = '', event = '', upTo = '', named = '' } = formOf(request.body);
    const isKnown = source === INSTALLATION || context.sources.findAny(source) !== null;
    if (!isKnown || !/^[1-9]\d{0,14}$/.test(upTo))
      return send(request, reply, { source: '', problems: ['Reload the page: this was not one of its buttons.'] }, 422);
    await context.projector.catchUp();
    const actor = officerOf(request).officer;
    const wanted = { source, event: named === 'yes' ? event : null, upTo: Number(upTo), actor };
    const outcome = await setAside(context, wanted);
    if (outcome.outcome === 'recorded') await untilProjected(context, outcome.seq);
    return reply.redirect(`/deliveries/unread?done=${outcome.outcome === 'recorded' ? 'aside' : 'nothing'}`, 303);
  });

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    shown: { readonly source: string; readonly done?: string | null; readonly problems?: readonly string[] },
    status = 200,
  ): Promise<FastifyReply> {
    const permitted = sourcesOf(context, request);
    const source = permitted.findAny(shown.source)?.slug ?? null;
    const groups = await loadUnread(context.store.read, (source === null ? permitted.slugs : [source]) ?? undefined);
    const props = {
      frame: pageFrame(context, request, reply),
      sources: permitted.list(),
      source,
      groups,
      done: shown.done ?? null,
      problems: shown.problems ?? [],
    };
    return html(reply, renderPage(<UnreadPage {...props} />), status);
  }
}

interface UnreadProps {
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  /** The selected source; null: all. */
  readonly source: string | null;
  readonly groups: readonly UnreadGroup[];
  readonly done: string | null;
  readonly problems: readonly string[];
}

function UnreadPage(props: UnreadProps) {
  const { frame, sources, source, groups, done, problems } = props;
  const total = groups.reduce((sum, { entries }) => sum + entries, 0);
  return (
    <Page title="Not understood" frame={frame} current="unread">
      <h1>Not understood</h1>
      <p class="lead">
        {total === 0
          ? 'Everything that arrived was understood, or somebody has looked at it.'
          : `${counted(total, 'delivery or row', 'deliveries and rows')} that could not be understood. They are stored exactly as received, but nothing was read from them, and a request of a data subject may be among them.`}
      </p>
      <Done text={done} />
      <Problems title="Nothing was set aside:" problems={problems} />
      {sources.length > 1 ? (
        <FilterForm action="/deliveries/unread">
          <SourceFilter sources={sources} value={source ?? ''} />
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
