import type { Discovery, EventDiscovery } from '../../../receivers/discover/discover.ts';
import { counted } from '../../../reports/format.ts';
import { visibleText } from '../../../reports/render/text.ts';
import type { Source } from '../../core/source.ts';
import type { FieldMapping } from '../../sources/changes.ts';
import { Csrf, Page, type PageFrame } from './layout.tsx';
import { hasOwnNames, RereadForm } from './reread.tsx';
import { type Column, Done, Facts, Panel, Problems, Table } from './parts.tsx';

interface FieldsProps {
  readonly frame: PageFrame;
  readonly source: Source;
  readonly found: Discovery;
  /** Null: nothing should change. */
  readonly proposal: FieldMapping | null;
  /** E-mail addresses of the admins. */
  readonly admins: readonly string[];
  readonly problems?: readonly string[];
  readonly done?: string | null;
}

/** Which fields of a source's payloads are understood; a proposal is accepted with one click. */
export function FieldsPage(props: FieldsProps) {
  const { frame, source, found, proposal, admins, problems = [], done = null } = props;
  return (
    <Page title={`Fields of ${source.name}`} frame={frame} within="sources">
      <h1>
        Fields of <bdi>{source.name}</bdi>
      </h1>
      <p class="lead">
        What <a href={`/sources/${source.slug}`}>the source</a> sent recently, as shapes without values, and which of
        them are understood.
      </p>
      <Done text={done} />
      <Problems title="Nothing was changed:" problems={problems} />
      {proposal === null ? null : <ProposalPanel {...props} proposal={proposal} />}
      {found.samples === 0 ? (
        <Panel id="nothing" title="Nothing yet">
          <p>
            No deliveries and no rows yet. <a href={`/sources/${source.slug}`}>Set up the webhook or pull the log</a>,
            and come back.
          </p>
        </Panel>
      ) : proposal === null ? (
        <p>Nothing needs changing.</p>
      ) : null}
      {hasOwnNames(source) ? (
        <Panel id="earlier" title="Earlier deliveries">
          <p>
            What arrived before names were accepted is still read without them. It can be read again with the current
            ones.
          </p>
          <RereadForm frame={frame} source={source} admins={admins} />
        </Panel>
      ) : null}
      {found.notJson === 0 ? null : (
        <p>{counted(found.notJson, 'body is', 'bodies are')} not a JSON object and could not be examined.</p>
      )}
      {found.events.map((event, place) => (
        <EventPanel key={place} event={event} place={place} />
      ))}
    </Page>
  );
}

function ProposalPanel({ frame, source, found, proposal }: FieldsProps & { readonly proposal: FieldMapping }) {
  return (
    <Panel id="proposal" title="Proposal">
      <p>
        Review it first: a wrong name is worse than none. It applies to everything that arrives from now on; afterwards,
        earlier deliveries can be read again as well.
      </p>
      <ul class="plain">
        {Object.entries(proposal.eventNames).map(([given, documented]) => (
          <li key={given} class="outside">
            The event “{visibleText(given)}” seems to be <code>{documented}</code>.
          </li>
        ))}
        {found.events.flatMap(({ event, samples, proposals }) =>
          proposals.map(({ field, what, path, because, foundBefore, foundAfter }) => (
            <li key={`${event ?? ''} ${field} ${path}`} class="outside">
              {what} seems to be in <code>{visibleText(path)}</code>: {because.join(', ')}. Found in {foundAfter} of{' '}
              {samples} instead of {foundBefore}.
            </li>
          )),
        )}
        {Object.entries(proposal.secretEncodings).map(([id, encoding]) => (
          <li key={id}>
            The signing secret <code>{id}</code> matches when decoded as {encoding}.{' '}
            <a href="/deliveries/refused">Readmit the refused deliveries</a> afterwards.
          </li>
        ))}
      </ul>
      {frame.canWork ? (
        <form class="buttons" method="post" action={`/sources/${source.slug}/fields`}>
          <Csrf token={frame.csrf} />
          <input type="hidden" name="proposal" value={proposal.proposalId} />
          <button type="submit">Accept the proposal</button>
        </form>
      ) : null}
    </Panel>
  );
}

type Path = EventDiscovery['paths'][number];

const pathColumns: readonly Column<Path>[] = [
  { title: 'Field', cell: ({ path }) => <bdi class="outside">{visibleText(path)}</bdi> },
  { title: 'In', isNumber: true, cell: ({ present }) => present },
  { title: 'Different values', isNumber: true, cell: ({ distinct }) => distinct },
  { title: 'Values look like', cell: ({ shapes }) => <bdi class="outside">{visibleText(shapes.join(' | '))}</bdi> },
];

function EventPanel({ event, place }: { readonly event: EventDiscovery; readonly place: number }) {
  const name =
    event.event === 'row'
      ? 'Rows of the consent log'
      : event.event === null
        ? 'Unknown events'
        : visibleText(event.event);
  const list = (words: readonly string[]) => (words.length === 0 ? 'none' : words.map(visibleText).join(', '));
  return (
    <Panel id={`event-${place}`} title={`${name} (${event.samples})`}>
      <Facts
        rows={[
          ['Understood', list(event.understood)],
          ['Not in every payload', list(event.missing)],
          event.unread.length === 0 ? null : ['Not read', <span class="outside">{list(event.unread)}</span>],
        ]}
      />
      <details class="more">
        <summary>{counted(event.paths.length, 'field', 'fields')}</summary>
        <div>
          <Table caption={null} columns={pathColumns} rows={event.paths} />
        </div>
      </details>
    </Panel>
  );
}
