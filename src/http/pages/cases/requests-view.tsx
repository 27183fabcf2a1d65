import { counted, formatCount } from '../../../../reports/format.ts';
import { spreadsheetNote } from '../../../../reports/render/csv-json.ts';
import { MATCHED, type RequestFigure, requestFigures } from '../../../attention/officer-attention.ts';
import { caseStates } from '../../../cases/moves.ts';
import type { CaseView } from '../../../cases/view.ts';
import type { Source } from '../../../core/source.ts';
import { requestKinds } from '../../../core/vocabulary.ts';
import { type SavedView, VIEW_NAME_LENGTH } from '../../../people/saved-views.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { Choice, chipsOf, Done, FilterForm, Input, Pages, Panel, Problems, SourceFilter } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { kindText, stateText } from '../parts/words.ts';
import { type Filter, sorts } from './request-filter.ts';
import { RequestTable } from './request-table.tsx';

/** The most requests that a search shows. */
export const FOUND = 100;

/** What a figure counts, in the words of a filter. */
const figureTexts: Readonly<Record<RequestFigure, string>> = {
  overdue: 'overdue',
  'due-soon': 'due within 7 days',
  undated: 'without a date',
  unmatched: `not found in the consent records (of the first ${MATCHED})`,
  'opt-out': 'opt-outs and limits, which take effect at once',
  unclear: 'of an unclear kind',
  'place-missing': 'without a place',
  'law-not-recorded': 'under a law that is not recorded here',
};

interface PageLinks {
  readonly first: string | null;
  readonly next: string | null;
}

export interface RequestsProps {
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  readonly filter: Filter;
  /** Assignees to choose from. */
  readonly assignees: readonly (readonly [value: string, text: string])[];
  /** Null: this is a later page of settled requests. */
  readonly open: { readonly views: readonly CaseView[]; readonly total: number } | null;
  readonly openPages: PageLinks;
  readonly settled: readonly CaseView[] | null;
  readonly settledPages: PageLinks;
  /** Null: signed in without an account. */
  readonly calendar: string | null;
  /** The person's saved filters; null: signed in without an account. */
  readonly views: readonly SavedView[] | null;
  readonly done: string | null;
}

/** Every open request, and the settled ones page by page. */
export function RequestsPage(props: RequestsProps) {
  const { frame, sources, filter, open, openPages, settled, settledPages, views, done } = props;
  const filtered =
    filter.source !== '' ||
    filter.state !== '' ||
    filter.kind !== '' ||
    filter['assignee'] !== undefined ||
    filter['which'] !== undefined ||
    filter['messages'] !== undefined;
  const table = (views: readonly CaseView[], caption: string, none: string) =>
    views.length === 0 ? (
      <p>
        {none} {filtered ? <a href="/cases">Show all requests</a> : null}
      </p>
    ) : (
      <RequestTable
        caption={caption}
        requests={views.map((view) => ({ view }))}
        sourceName={sources.length > 1 && filter.source === '' ? frame.sourceName : null}
        frame={frame}
        from={{ list: 'requests', filter: new URLSearchParams(filter).toString() }}
      />
    );
  return (
    <Page title="All requests" frame={frame} current="requests">
      <h1>All requests</h1>
      {open === null ? null : <p class="lead">{formatCount(open.total)} open.</p>}
      <Done text={done} />
      <ViewList {...props} />
      <SearchLine frame={frame} text="" />
      <FilterLine {...props} />
      {open === null ? null : (
        <Panel id="open" title="Open">
          {table(
            open.views,
            sorts.find(([sort]) => sort === filter.sort)?.[1] ?? '',
            filtered ? 'No open request matches.' : 'No open requests.',
          )}
          <Pages {...openPages} />
        </Panel>
      )}
      {settled === null ? null : (
        <Panel id="settled" title="Settled">
          {table(settled, 'By receipt, latest first', filtered ? 'No settled request matches.' : 'None yet.')}
          <Pages {...settledPages} />
        </Panel>
      )}
      {views === null ? null : <KeepView frame={frame} filter={filter} views={views} />}
      <Panel id="file" title="Download">
        <p>
          <a href={fileAddress(filter)}>Download the list (CSV)</a> <span class="small">{spreadsheetNote}</span>
        </p>
      </Panel>
      <CalendarPanel {...props} />
    </Page>
  );
}

function fileAddress(filter: Filter): string {
  return `/cases/file?${new URLSearchParams(filter).toString()}`;
}

/** The person's own views, as links. */
function ViewList({ views, filter }: RequestsProps) {
  if (views === null || views.length === 0) return null;
  const query = (of: Readonly<Record<string, string>>) => new URLSearchParams(of).toString();
  return (
    <nav class="views" aria-label="Your views">
      <ul>
        <li>
          <a href="/cases">All</a>
        </li>
        {views.map((view) => (
          <li key={view.name}>
            <a
              href={`/cases?${query(view.filter)}`}
              {...(query(view.filter) === query(filter) ? { 'aria-current': 'page' as const } : {})}
            >
              <bdi>{view.name}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function FilterLine({ frame, sources, filter, assignees }: RequestsProps) {
  const chips = chipsOf(
    '/cases',
    { ...filter },
    {
      state: (state) => stateText(state),
      kind: (kind) => kindText(kind),
      assignee: (value) => assignees.find(([one]) => one === value)?.[1] ?? value,
      which: (which) => figureTexts[which as RequestFigure] ?? which,
      messages: () => 'waiting for a reply',
    },
  );
  return (
    <FilterForm action="/cases" chips={chips}>
      <SourceFilter frame={frame} sources={sources} value={filter.source} />
      <Choice
        id="state"
        label="State"
        value={filter.state}
        options={[['', 'Every state'], ...caseStates.map((state) => [state, stateText(state)] as const)]}
      />
      <Choice
        id="kind"
        label="Kind"
        value={filter.kind}
        options={[['', 'Every kind'], ...requestKinds.map((kind) => [kind, kindText(kind)] as const)]}
      />
      <Choice id="assignee" label="Assigned to" value={filter['assignee'] ?? ''} options={assignees} />
      <Choice
        id="which"
        label="Open ones"
        value={filter['which'] ?? ''}
        options={[['', 'Any'], ...requestFigures.map((which) => [which, figureTexts[which]] as const)]}
      />
      <Choice
        id="messages"
        label="Messages"
        value={filter['messages'] ?? ''}
        options={[
          ['', 'Any'],
          ['open', 'waiting for a reply'],
        ]}
      />
      <Choice id="sort" label="Order" value={filter.sort} options={sorts} />
    </FilterForm>
  );
}

/** Saves the current filter under a name, and deletes saved ones. */
function KeepView({
  frame,
  filter,
  views,
}: Pick<RequestsProps, 'frame' | 'filter'> & { readonly views: readonly SavedView[] }) {
  const hidden = Object.entries(filter).map(([name, value]) => (
    <input key={name} type="hidden" name={name} value={value} />
  ));
  return (
    <details class="more">
      <summary>Your views</summary>
      <div>
        <PostForm frame={frame} action="/cases/views">
          {hidden}
          <Input
            id="view-name"
            name="name"
            label="Save this filter as"
            maxLength={VIEW_NAME_LENGTH}
            autocomplete="off"
            hint="It appears above the list, for you only. Saving under an existing name replaces that view."
          />
          <button type="submit" class="quiet">
            Keep
          </button>
        </PostForm>
        {views.length === 0 ? null : (
          <ul class="plain">
            {views.map(({ name }) => (
              <li key={name}>
                <PostForm frame={frame} action="/cases/views" class="buttons">
                  {hidden}
                  <input type="hidden" name="name" value={name} />
                  <bdi>{name}</bdi>
                  <input
                    type="text"
                    name="to"
                    maxLength={VIEW_NAME_LENGTH}
                    autocomplete="off"
                    aria-label={`New name of ${name}`}
                    placeholder="New name"
                  />
                  <button type="submit" name="do" value="rename" class="quiet slim" aria-label={`Rename ${name}`}>
                    Rename
                  </button>
                  <button type="submit" name="do" value="remove" class="quiet slim" aria-label={`Remove ${name}`}>
                    Remove
                  </button>
                </PostForm>
              </li>
            ))}
          </ul>
        )}
      </div>
    </details>
  );
}

function SearchLine({ frame, text }: { frame: PageFrame; text: string }) {
  return (
    <search>
      <PostForm frame={frame} action="/cases/search" class="filters">
        <Input
          id="text"
          label="Name, address or number"
          value={text}
          maxLength={200}
          autocomplete="off"
          spellcheck={false}
          hint="Of the requester, the visitor, the case, or the request at the service; part of it is enough."
        />
        <button type="submit">Search</button>
      </PostForm>
    </search>
  );
}

function CalendarPanel({ frame, calendar }: Pick<RequestsProps, 'frame' | 'calendar'>) {
  if (calendar === null) return null;
  return (
    <Panel id="calendar" title="Calendar">
      <p>
        Subscribe to this address in a calendar program to see the legal limits of open requests. It contains no names.
        Anyone who has the address can see the dates: keep it to yourself.
      </p>
      <p>
        <a class="mono" href={calendar}>
          {calendar}
        </a>
      </p>
      <PostForm frame={frame} action="/cases/calendar">
        <button type="submit" class="quiet">
          Make a new address
        </button>
        <p class="hint">The current one stops working.</p>
      </PostForm>
    </Panel>
  );
}

interface SearchProps {
  readonly frame: PageFrame;
  readonly text: string;
  readonly problems: readonly string[];
  readonly found: readonly CaseView[];
  readonly several: boolean;
}

/** The page of a search: what was found, or why nothing was searched for. */
export function SearchPage({ frame, text, problems, found, several }: SearchProps) {
  return (
    <Page title="Search for requests" frame={frame} within="requests">
      <h1>Search for requests</h1>
      <Problems title="Nothing was searched for:" problems={problems} />
      <SearchLine frame={frame} text={text} />
      {problems.length > 0 ? null : (
        <Panel id="found" title={found.length > FOUND ? 'Requests' : counted(found.length, 'request', 'requests')}>
          {found.length === 0 ? (
            <p>
              No request matches. <a href="/cases">Show all requests</a>
            </p>
          ) : (
            <RequestTable
              caption={found.length > FOUND ? `The first ${FOUND}: enter more of the name.` : 'Open ones first'}
              requests={found.slice(0, FOUND).map((view) => ({ view }))}
              sourceName={several ? frame.sourceName : null}
              frame={frame}
              from={{ list: 'requests', filter: '' }}
            />
          )}
        </Panel>
      )}
    </Page>
  );
}
