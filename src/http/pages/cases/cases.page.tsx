import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { counted, formatCount } from '../../../../reports/format.ts';
import { type CsvColumn, renderCsv } from '../../../../reports/render/csv-json.ts';
import {
  isCountedIn,
  listUnmatched,
  MATCHED,
  type RequestFigure,
  requestFigures,
} from '../../../attention/officer-attention.ts';
import { partsOfAssignee } from '../../../cases/assignee.ts';
import { listCases } from '../../../cases/list-cases.ts';
import { caseStates } from '../../../cases/moves.ts';
import type { CaseView } from '../../../cases/view.ts';
import type { Context } from '../../../context.ts';
import { CodedError } from '../../../core/errors.ts';
import type { Source } from '../../../core/source.ts';
import { INSTALLATION, requestKinds } from '../../../core/vocabulary.ts';
import { dateIn, localTimeOf } from '../../../core/zoned-days.ts';
import { decidingLaw, isOwnLimit } from '../../../law/deadlines.ts';
import { appendAction } from '../../../ledger/append-action.ts';
import {
  loadSavedViews,
  removeView,
  renameView,
  type SavedView,
  SAVED_VIEWS,
  saveView,
  VIEW_NAME_LENGTH,
} from '../../../people/saved-views.ts';
import { listWorkers, type Person } from '../../../people/people.ts';
import { calendarToken, personOfCalendar, renewCalendarToken } from '../../../people/calendar-address.ts';
import { sourcesOf } from '../../auth/access.ts';
import { officerOf } from '../../auth/sessions.ts';
import { icalendarOf } from './calendar.ts';
import { attachment } from '../parts/attachment.ts';
import { type Exchange, formOf, html, pageFrame } from '../parts/page-frame.ts';
import { Csrf, Page, type PageFrame, renderPage } from '../parts/layout.tsx';
import { Choice, Done, FilterForm, Input, OWN_RULE, Pages, Panel, Problems, SourceFilter } from '../parts/parts.tsx';
import { RequestTable } from './request-table.tsx';
import { identityText, kindsText, kindText, stateText } from '../parts/words.ts';

/** Requests per page, and the most that a search shows. */
const SHOWN = 50;
const FOUND = 100;

/** All requests: filtered, sorted and paged; searched; as a file; as a calendar. */
export async function requestRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/cases', (request, reply) => showRequests({ context, request, reply }));
  app.get('/cases/file', (request, reply) => downloadRequests({ context, request, reply }));
  app.post('/cases/search', (request, reply) => search({ context, request, reply }));
  app.post('/cases/views', (request, reply) => changeViews({ context, request, reply }));
  app.post('/cases/calendar', (request, reply) => renewCalendar({ context, request, reply }));
}

async function showRequests(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const form = formOf(request.query);
  const permitted = sourcesOf(context, request);
  const source = permitted.findAny(form['source'] ?? '')?.slug ?? null;
  const filter = filterOf(form, source);
  const after = settledCursor(form['settled'] ?? '');
  const scope = { ...scopeOf(context, permitted, source), ...conditionsOf(filter), limit: SHOWN + 1 };
  const [views, workers, calendar, savedViews] = await Promise.all([
    listCases(context.cases, after === null ? scope : { ...scope, settledAfter: after }),
    listWorkers(context, permitted.slugs),
    calendarAddress(exchange),
    viewsOf(exchange),
  ]);
  const { open: opened, settled } = partsOf(views);
  const all = sorted(await openOnes(context, opened, filter), filter.sort);
  const { after: last } = form;
  const start = last === undefined ? 0 : all.findIndex(({ row }) => row.case_id === last) + 1;
  const open = all.slice(start, start + SHOWN);
  const shown = settled.slice(0, SHOWN);
  const [lastOpen, lastSettled] = [open.at(-1), shown.at(-1)];
  const address = (more: Record<string, string>) => `/cases?${new URLSearchParams({ ...filter, ...more }).toString()}`;
  const page = (
    <RequestsPage
      frame={pageFrame(context, request, reply)}
      sources={permitted.list()}
      filter={filter}
      assignees={assigneesOf(exchange, workers, views, filter['assignee'] ?? '')}
      open={after === null ? { views: open, total: all.length } : null}
      openPages={{
        first: start === 0 ? null : address({}),
        next: lastOpen !== undefined && start + SHOWN < all.length ? address({ after: lastOpen.row.case_id }) : null,
      }}
      settled={start === 0 && filter['which'] === undefined ? shown : null}
      settledPages={{
        first: after === null ? null : address({}),
        next:
          lastSettled !== undefined && settled.length > SHOWN
            ? address({ settled: `${lastSettled.row.receipt_at} ${lastSettled.row.opened_seq}` })
            : null,
      }}
      calendar={calendar}
      views={savedViews}
      done={doneTexts[form['done'] ?? ''] ?? null}
    />
  );
  return html(reply, renderPage(page));
}

/** Settled requests read at once for a file. */
const SETTLED_READ = 500;

/** The filtered list as CSV, open requests first. Each download is an entry. */
async function downloadRequests({ context, request, reply }: Exchange): Promise<FastifyReply> {
  const form = formOf(request.query);
  const permitted = sourcesOf(context, request);
  const source = permitted.findAny(form['source'] ?? '');
  const filter = filterOf(form, source?.slug ?? null);
  const scope = { ...scopeOf(context, permitted, source?.slug ?? null), ...conditionsOf(filter), limit: SETTLED_READ };
  const { officer } = officerOf(request);
  await appendAction(
    context.ledger,
    source?.slug ?? INSTALLATION,
    {
      action: 'record.viewed',
      actor: officer,
      object: 'requests as a file',
      hour: `${scope.now.slice(0, 13)}:00:00.000Z`,
    },
    ['record.viewed', randomUUID()],
    scope.now,
  );
  const { timeZone } = context.config;
  const nameOf = (slug: string) => context.sources.findAny(slug)?.name ?? slug;
  const name = `requests${source === null ? '' : ` ${source.name}`} ${dateIn(scope.now, timeZone)}.csv`;
  const rows = renderCsv(fileColumns(nameOf, timeZone), requestsOf(context, scope, filter));
  return reply
    .header('content-disposition', attachment(name))
    .type('text/csv; charset=utf-8')
    .send(Readable.from(rows));
}

async function* requestsOf(
  context: Context,
  scope: Parameters<typeof listCases>[1],
  filter: Filter,
): AsyncGenerator<CaseView> {
  let page = await listCases(context.cases, scope);
  yield* sorted(await openOnes(context, partsOf(page).open, filter), filter.sort);
  while (filter['which'] === undefined) {
    const { settled } = partsOf(page);
    yield* settled;
    const last = settled.at(-1);
    if (last === undefined || settled.length < SETTLED_READ) return;
    page = await listCases(context.cases, { ...scope, settledAfter: last.row });
  }
}

function fileColumns(nameOf: (slug: string) => string, timeZone: string): readonly CsvColumn<CaseView>[] {
  return [
    { title: 'Request', value: ({ row }) => row.case_id },
    { title: 'Source', value: ({ row }) => nameOf(row.source) },
    { title: 'Kind', value: ({ kinds }) => kindsText(kinds) },
    { title: 'State', value: ({ row }) => stateText(row.state) },
    { title: 'Requester', value: ({ row }) => row.requester_name },
    { title: 'E-mail', value: ({ row }) => row.requester_email },
    { title: 'Place', value: ({ row }) => row.jurisdiction },
    { title: 'Channel', value: ({ row }) => row.channel },
    { title: `Received (${timeZone})`, value: ({ row }) => localTimeOf(row.receipt_at, timeZone).replace('T', ' ') },
    { title: 'Aim for', value: ({ deadline }) => deadline.aimFor },
    { title: 'Legal limit', value: ({ deadline }) => deadline.limit },
    { title: 'Days left', value: ({ open, daysLeft }) => (open ? daysLeft : null) },
    { title: 'Law', value: ({ deadline }) => lawText(deadline) },
    { title: 'Identity', value: (view) => identityText(view).text },
    {
      title: 'Assigned to',
      value: ({ folded }) => (folded.assignee === null ? null : partsOfAssignee(folded.assignee).name),
    },
  ];
}

/** The deciding law; says so if its date follows a rule that the installation wrote. */
function lawText(deadline: CaseView['deadline']): string | null {
  const law = decidingLaw(deadline);
  return law === null ? null : `${law.name}${isOwnLimit(deadline) ? ` (${OWN_RULE})` : ''}`;
}

/** Posted, because people search for names and addresses, which must not be logged. */
async function search(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const { text = '' } = formOf(request.body);
  const wanted = text.trim();
  const problems =
    wanted === '' ? ['Enter a name, an address or a number.'] : wanted.length > 200 ? ['The text is too long.'] : [];
  const permitted = sourcesOf(context, request);
  const found =
    problems.length > 0
      ? []
      : await listCases(context.cases, { ...scopeOf(context, permitted, null), text: wanted, limit: FOUND + 1 });
  const props = { frame: pageFrame(context, request, reply), text, problems, found };
  return html(
    reply,
    renderPage(<SearchPage {...props} several={permitted.list().length > 1} />),
    problems.length > 0 ? 422 : 200,
  );
}

async function changeViews(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const { personId } = officerOf(request);
  if (personId === null)
    throw new CodedError('not_allowed', 'A view belongs to an account: create one for yourself first.');
  const form = formOf(request.body);
  const source = sourcesOf(context, request).findAny(form['source'] ?? '')?.slug ?? null;
  const filter = filterOf(form, source);
  const address = (done: string) => `/cases?${new URLSearchParams({ ...filter, done }).toString()}`;
  if (form['do'] === 'remove') {
    await removeView(context.store, personId, form['name'] ?? '');
    return reply.redirect(address('view-removed'), 303);
  }
  if (form['do'] === 'rename') {
    const { outcome } = await renameView(context.store, personId, form['name'] ?? '', form['to'] ?? '');
    return reply.redirect(address(renamed[outcome]), 303);
  }
  const { outcome } = await saveView(context.store, personId, { name: form['name'] ?? '', filter });
  return reply.redirect(address(saved[outcome]), 303);
}

const renamed = {
  renamed: 'view-renamed',
  taken: 'view-taken',
  unknown: 'view-unknown',
  unnamed: 'view-not-renamed',
} as const;
const saved = { saved: 'view-saved', full: 'views-full', unnamed: 'view-unnamed' } as const;

async function renewCalendar(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const { personId } = officerOf(request);
  if (personId === null)
    throw new CodedError('not_allowed', 'A calendar belongs to an account: create one for yourself first.');
  await renewCalendarToken(calendarDeps(context), personId);
  return reply.redirect('/cases?done=calendar#calendar', 303);
}

async function calendarAddress(exchange: Exchange): Promise<string | null> {
  const { context, request } = exchange;
  const { personId } = officerOf(request);
  if (personId === null) return null;
  const token = await calendarToken(calendarDeps(context), personId);
  return `${request.protocol}://${request.host}/calendar/${token}`;
}

async function viewsOf(exchange: Exchange): Promise<readonly SavedView[] | null> {
  const { context, request } = exchange;
  const { personId } = officerOf(request);
  return personId === null ? null : loadSavedViews(context.store, personId);
}

/** Who can be chosen as an assignee: the reader, nobody, other accounts, and people without one who have open requests. */
function assigneesOf(
  { request }: Exchange,
  workers: readonly Person[],
  views: readonly CaseView[],
  chosen: string,
): RequestsProps['assignees'] {
  const { personId } = officerOf(request);
  const choices = new Map([
    ['', 'Anyone'],
    ...(personId === null ? [] : [[personId, 'Mine'] as const]),
    ['nobody', 'Nobody'],
  ]);
  for (const { personId: id, name } of workers) if (!choices.has(id)) choices.set(id, name);
  for (const { folded } of views) {
    if (folded.assignee === null) continue;
    const { personId: id, name } = partsOfAssignee(folded.assignee);
    if (!choices.has(id ?? name)) choices.set(id ?? name, name);
  }
  if (!choices.has(chosen)) choices.set(chosen, chosen);
  return [...choices];
}

function scopeOf(context: Context, { slugs }: { readonly slugs: readonly string[] | null }, source: string | null) {
  const now = context.clock().toISOString();
  return { now, ...(source !== null ? { source } : slugs !== null ? { sources: slugs } : {}) };
}

/** The feed itself, for programs that cannot sign in: its address is the secret. */
export async function calendarRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get<{ Params: { token: string } }>('/calendar/:token', async (request, reply): Promise<FastifyReply> => {
    const person = await personOfCalendar(calendarDeps(context), request.params.token);
    if (person === null) throw new CodedError('not_found');
    const now = context.clock().toISOString();
    const views = await listCases(context.cases, {
      open: true,
      now,
      ...(person.sources === null ? {} : { sources: person.sources }),
    });
    const origin = `${request.protocol}://${request.host}`;
    const link = (caseId: string) => `${origin}/cases/${encodeURIComponent(caseId)}`;
    return reply
      .type('text/calendar; charset=utf-8')
      .send(icalendarOf(views, { instance: context.instance, now, link }));
  });
}

function calendarDeps({ store, keys }: Context) {
  return { store, keys };
}

/** Confirmations that an address may refer to. */
const doneTexts: Readonly<Record<string, string>> = {
  taken: 'The request is assigned to you.',
  calendar: 'The calendar has a new address. The old one no longer works.',
  'view-saved': 'The view has been saved. It appears above the list.',
  'view-removed': 'The view has been removed.',
  'view-renamed': 'The view has its new name.',
  'view-not-renamed': `Nothing was renamed: enter a name of 1 to ${VIEW_NAME_LENGTH} characters.`,
  'view-taken': 'Nothing was renamed: another view has this name.',
  'view-unknown': 'Nothing was renamed: the view no longer exists.',
  'view-unnamed': `Nothing was saved: give the view a name of 1 to ${VIEW_NAME_LENGTH} characters.`,
  'views-full': `Nothing was saved: there are already ${SAVED_VIEWS} views. Remove one first.`,
};

interface Filter extends Record<string, string> {
  readonly source: string;
  readonly state: string;
  readonly kind: string;
  readonly sort: string;
}

const sorts = [
  ['due', 'Legal limit, nearest first'],
  ['newest', 'Receipt, latest first'],
  ['oldest', 'Receipt, earliest first'],
  ['assignee', 'Person assigned'],
] as const;

function filterOf(form: Readonly<Record<string, string>>, source: string | null): Filter {
  const { state = '', kind = '', sort = '' } = form;
  const assignee = (form['assignee'] ?? '').trim().slice(0, 300);
  const which = requestFigures.find((one) => one === form['which']);
  return {
    source: source ?? '',
    state: caseStates.find((one) => one === state) ?? '',
    kind: requestKinds.find((one) => one === kind) ?? '',
    // Views saved by earlier versions have neither.
    ...(assignee === '' ? {} : { assignee }),
    ...(which === undefined ? {} : { which }),
    sort: sorts.find(([one]) => one === sort)?.[0] ?? 'due',
  };
}

function conditionsOf({ state, kind, assignee = '' }: Filter) {
  return {
    ...(assignee === '' ? {} : { assignee: assignee === 'nobody' ? null : assignee }),
    ...(state === '' ? {} : { state }),
    ...(kind === '' ? {} : { kind }),
  };
}

/** A list's open requests, which come first, and its settled ones. */
function partsOf(views: readonly CaseView[]): {
  readonly open: readonly CaseView[];
  readonly settled: readonly CaseView[];
} {
  const settled = views.slice(views.findLastIndex((view) => view.open) + 1);
  return { open: views.slice(0, views.length - settled.length), settled };
}

/** These open requests, or those among them that a figure on Today counts. */
async function openOnes(context: Context, open: readonly CaseView[], filter: Filter): Promise<readonly CaseView[]> {
  const which = requestFigures.find((one) => one === filter['which']);
  if (which === undefined) return open;
  return which === 'unmatched' ? listUnmatched(context.cases, open) : open.filter((view) => isCountedIn(which, view));
}

/** What a figure counts, in the words of a filter. */
const figureTexts: Readonly<Record<RequestFigure, string>> = {
  overdue: 'overdue',
  'due-soon': 'due within 7 days',
  undated: 'without a date',
  unmatched: `not found in the consent records (of the first ${MATCHED})`,
  'opt-out': 'opt-outs and limits, which take effect at once',
  unclear: 'of an unclear kind',
  'place-missing': 'without a place',
};

function sorted(views: readonly CaseView[], sort: string): readonly CaseView[] {
  if (sort === 'due') return views;
  if (sort === 'assignee') {
    const { compare } = new Intl.Collator('en');
    return views.toSorted((a, b) => compare(a.folded.assignee ?? '', b.folded.assignee ?? ''));
  }
  const byReceipt = [...views].sort(
    (a, b) => a.row.receipt_at.localeCompare(b.row.receipt_at) || a.row.opened_seq - b.row.opened_seq,
  );
  return sort === 'oldest' ? byReceipt : byReceipt.reverse();
}

function settledCursor(text: string): { receipt_at: string; opened_seq: number } | null {
  const [, at = '', seq = ''] = /^(\d{4}-[\d:.TZ-]{5,30}) (\d{1,15})$/.exec(text) ?? [];
  return at === '' ? null : { receipt_at: at, opened_seq: Number(seq) };
}

interface PageLinks {
  readonly first: string | null;
  readonly next: string | null;
}

interface RequestsProps {
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
function RequestsPage(props: RequestsProps) {
  const { frame, sources, filter, open, openPages, settled, settledPages, done } = props;
  const filtered =
    filter.source !== '' ||
    filter.state !== '' ||
    filter.kind !== '' ||
    filter['assignee'] !== undefined ||
    filter['which'] !== undefined;
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
      {open === null ? null : (
        <p class="lead">
          {formatCount(open.total)} open. <a href={fileAddress(filter)}>Download the list (CSV)</a>
        </p>
      )}
      <Done text={done} />
      <ViewList {...props} />
      <div class="columns">
        <FilterPanel {...props} />
        <SearchPanel frame={frame} text="" />
      </div>
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

function FilterPanel({ frame, sources, filter, assignees, views }: RequestsProps) {
  return (
    <Panel id="filter" title="What to show">
      <FilterForm action="/cases" wide>
        <SourceFilter sources={sources} value={filter.source} />
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
          label="Open ones that are"
          value={filter['which'] ?? ''}
          options={[['', 'Any'], ...requestFigures.map((which) => [which, figureTexts[which]] as const)]}
        />
        <Choice id="sort" label="Open ones by" value={filter.sort} options={sorts} />
      </FilterForm>
      {views === null ? null : <KeepView frame={frame} filter={filter} views={views} />}
    </Panel>
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
        <form method="post" action="/cases/views">
          <Csrf token={frame.csrf} />
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
        </form>
        {views.length === 0 ? null : (
          <ul class="plain">
            {views.map(({ name }) => (
              <li key={name}>
                <form method="post" action="/cases/views" class="buttons">
                  <Csrf token={frame.csrf} />
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
                </form>
              </li>
            ))}
          </ul>
        )}
      </div>
    </details>
  );
}

function SearchPanel({ frame, text }: { frame: PageFrame; text: string }) {
  return (
    <Panel id="search" title="Search">
      <form method="post" action="/cases/search">
        <Csrf token={frame.csrf} />
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
      </form>
    </Panel>
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
      <form method="post" action="/cases/calendar">
        <Csrf token={frame.csrf} />
        <button type="submit" class="quiet">
          Make a new address
        </button>
        <p class="hint">The current one stops working.</p>
      </form>
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

function SearchPage({ frame, text, problems, found, several }: SearchProps) {
  return (
    <Page title="Search for requests" frame={frame} within="requests">
      <h1>Search for requests</h1>
      <Problems title="Nothing was searched for:" problems={problems} />
      <SearchPanel frame={frame} text={text} />
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
