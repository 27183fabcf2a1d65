import { Readable } from 'node:stream';
import { z } from 'zod';
import { renderCsv } from '../../../../reports/render/csv-json.ts';
import { partsOfAssignee } from '../../../cases/assignee.ts';
import { listCases } from '../../../cases/list-cases.ts';
import type { CaseView } from '../../../cases/view.ts';
import { CodedError } from '../../../core/errors.ts';
import { INSTALLATION } from '../../../core/vocabulary.ts';
import { dateIn } from '../../../core/zoned-days.ts';
import { appendView } from '../../../ledger/append-view.ts';
import { calendarToken, renewCalendarToken } from '../../../people/calendar-address.ts';
import { listWorkers, type Person } from '../../../people/people.ts';
import {
  loadSavedViews,
  removeView,
  renameView,
  SAVED_VIEWS,
  saveView,
  VIEW_NAME_LENGTH,
} from '../../../people/saved-views.ts';
import type { Session } from '../../../people/sessions.ts';
import { adminAddressOf } from '../../admin-address.ts';
import { attachment } from '../parts/attachment.ts';
import { pagesWith, text } from '../parts/define-page.ts';
import {
  conditionsOf,
  filterFields,
  filterOf,
  openOnes,
  partsOf,
  scopeOf,
  settledCursor,
  sorted,
} from './request-filter.ts';
import { fileColumns, requestsOf, SETTLED_READ } from './requests-file.ts';
import { FOUND, RequestsPage, type RequestsProps, SearchPage } from './requests-view.tsx';

const { page, form, file } = pagesWith<'store' | 'cases' | 'clock' | 'keys' | 'ledger' | 'config' | 'sources'>();

/** Requests per page. */
const SHOWN = 50;

/** All requests, filtered, sorted and paged. */
const requests = page({
  path: '/cases',
  rule: { who: 'read', source: 'query', views: 'requests' },
  query: filterFields.extend({ settled: text, after: text }),
  done: {
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
  },
  async load({ context, permitted, by, request, fields }) {
    const source = permitted.findAny(fields.source)?.slug ?? null;
    const filter = filterOf(fields, source);
    const after = settledCursor(fields.settled);
    const scope = { ...scopeOf(context, permitted, source), ...conditionsOf(filter), limit: SHOWN + 1 };
    const [views, workers, calendar, savedViews] = await Promise.all([
      listCases(context.cases, after === null ? scope : { ...scope, settledAfter: after }),
      listWorkers(context, permitted.slugs),
      by.personId === null ? null : calendarToken(context, by.personId),
      by.personId === null ? null : loadSavedViews(context.store, by.personId),
    ]);
    const { open: opened, settled } = partsOf(views);
    const all = sorted(await openOnes(context.cases, opened, filter), filter.sort);
    const start = all.findIndex(({ row }) => row.case_id === fields.after) + 1;
    const open = all.slice(start, start + SHOWN);
    const shown = settled.slice(0, SHOWN);
    const [lastOpen, lastSettled] = [open.at(-1), shown.at(-1)];
    const address = (more: Record<string, string>) =>
      `/cases?${new URLSearchParams({ ...filter, ...more }).toString()}`;
    return {
      sources: permitted.list(),
      filter,
      assignees: assigneesOf(by, workers, views, filter['assignee'] ?? ''),
      open: after === null ? { views: open, total: all.length } : null,
      openPages: {
        first: start === 0 ? null : address({}),
        next: lastOpen !== undefined && start + SHOWN < all.length ? address({ after: lastOpen.row.case_id }) : null,
      },
      settled: start === 0 && filter['which'] === undefined ? shown : null,
      settledPages: {
        first: after === null ? null : address({}),
        next:
          lastSettled !== undefined && settled.length > SHOWN
            ? address({ settled: `${lastSettled.row.receipt_at} ${lastSettled.row.opened_seq}` })
            : null,
      },
      calendar: calendar === null ? null : `${adminAddressOf(context.config, request)}/calendar/${calendar}`,
      views: savedViews,
    };
  },
  show: (data, { frame, said }) => <RequestsPage frame={frame} {...data} done={said.done} />,
});

/** The filtered list as CSV, open requests first. Each download is an entry. */
const requestsFile = file({
  path: '/cases/file',
  rule: { who: 'read', source: 'query', views: 'requests' },
  query: filterFields,
  async send({ context, permitted, by, fields, reply }) {
    const source = permitted.findAny(fields.source);
    const filter = filterOf(fields, source?.slug ?? null);
    const scope = {
      ...scopeOf(context, permitted, source?.slug ?? null),
      ...conditionsOf(filter),
      limit: SETTLED_READ,
    };
    const view = { actor: by.officer, object: 'requests as a file' };
    await appendView(context.ledger, source?.slug ?? INSTALLATION, view, scope.now);
    const { timeZone } = context.config;
    const nameOf = (slug: string) => context.sources.findAny(slug)?.name ?? slug;
    const name = `requests${source === null ? '' : ` ${source.name}`} ${dateIn(scope.now, timeZone)}.csv`;
    const rows = renderCsv(fileColumns(nameOf, timeZone), requestsOf(context.cases, scope, filter));
    return reply
      .header('content-disposition', attachment(name))
      .type('text/csv; charset=utf-8')
      .send(Readable.from(rows));
  },
});

/** Posted, because people search for names and addresses, which must not be logged. */
const search = page({
  path: '/cases/search',
  isPosted: true,
  rule: { who: 'read', source: 'installation', views: 'requests' },
  query: z.object({ text }),
  async load({ context, permitted, fields }) {
    const wanted = fields.text.trim();
    const problems =
      wanted === '' ? ['Enter a name, an address or a number.'] : wanted.length > 200 ? ['The text is too long.'] : [];
    const found =
      problems.length > 0
        ? []
        : await listCases(context.cases, { ...scopeOf(context, permitted, null), text: wanted, limit: FOUND + 1 });
    return { text: fields.text, problems, found, several: permitted.list().length > 1 };
  },
  show: (data, { frame }) => <SearchPage frame={frame} {...data} />,
  status: ({ problems }) => (problems.length > 0 ? 422 : 200),
});

const changeViews = form({
  path: '/cases/views',
  rule: { who: 'read', source: 'installation' },
  body: filterFields.extend({ name: text, do: text, to: text }),
  async act({ context, permitted, by: { personId }, fields, goTo }) {
    if (personId === null)
      throw new CodedError('not_allowed', 'A view belongs to an account: create one for yourself first.');
    const { name, to } = fields;
    const filter = filterOf(fields, permitted.findAny(fields.source)?.slug ?? null);
    const address = (done: string) => `/cases?${new URLSearchParams({ ...filter, done }).toString()}`;
    if (fields.do === 'remove') {
      await removeView(context.store, personId, name);
      return goTo(address('view-removed'));
    }
    if (fields.do === 'rename') {
      const { outcome } = await renameView(context.store, personId, name, to);
      return goTo(address(renamed[outcome]));
    }
    const { outcome } = await saveView(context.store, personId, { name, filter });
    return goTo(address(saved[outcome]));
  },
});

const renewCalendar = form({
  path: '/cases/calendar',
  rule: { who: 'read', source: 'installation' },
  async act({ context, by: { personId }, goTo }) {
    if (personId === null)
      throw new CodedError('not_allowed', 'A calendar belongs to an account: create one for yourself first.');
    await renewCalendarToken(context, personId);
    return goTo('/cases?done=calendar#calendar');
  },
});

export const routes = [requests, requestsFile, search, changeViews, renewCalendar];

const renamed = {
  renamed: 'view-renamed',
  taken: 'view-taken',
  unknown: 'view-unknown',
  unnamed: 'view-not-renamed',
} as const;
const saved = { saved: 'view-saved', full: 'views-full', unnamed: 'view-unnamed' } as const;

/** Who can be chosen as an assignee: the reader, nobody, other accounts, and people without one who have open requests. */
function assigneesOf(
  { personId }: Session,
  workers: readonly Person[],
  views: readonly CaseView[],
  chosen: string,
): RequestsProps['assignees'] {
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
