import { z } from 'zod';
import { counted } from '../../../../reports/format.ts';
import { findReport, reports } from '../../../../reports/index.ts';
import type { Source } from '../../../core/source.ts';
import {
  addDocumentSchedule,
  covers,
  type DocumentSchedule,
  listDocumentSchedules,
  mayGet,
  removeDocumentSchedule,
  scheduleForEverySource,
} from '../../../documents/schedules.ts';
import { listAdminAddresses, listPeople, type Person } from '../../../people/people.ts';
import { pagesWith, type Said, several, text, ticked } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  Choice,
  type Column,
  Done,
  EVERY_SOURCE,
  Input,
  Moment,
  NoMail,
  NoSources,
  Panel,
  Problems,
  SourceChoice,
  Table,
} from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';

const { page, form } = pagesWith<'store' | 'config' | 'clock' | 'sources' | 'ledger' | 'keys'>();

/** Recurring reports: filed, and mailed to people with an account. */
const schedules = page({
  path: '/documents/schedules',
  rule: { who: 'read', source: 'query' },
  done: {
    added: 'The report is scheduled.',
    removed: 'The schedule has been removed. Its documents are kept.',
    gone: 'The schedule no longer exists.',
  },
  async load({ context, permitted }, _said: Said<{ recipients: readonly string[] }>) {
    const [all, people, admins] = await Promise.all([
      listDocumentSchedules(context.store.read, permitted.slugs),
      listPeople(context),
      listAdminAddresses(context),
    ]);
    const sources = permitted.list();
    return {
      schedules: all,
      sources,
      // Only colleagues who share a source with the viewer.
      people: people.filter((person) => sources.some(({ slug }) => mayGet(person, slug))),
      seesAll: permitted.slugs === null,
      admins,
      isMailed: context.config.mail !== null,
    };
  },
  show: (data, { frame, said }) => <SchedulesPage frame={frame} {...data} {...said} />,
});

const add = form({
  path: '/documents/schedules',
  rule: { who: 'work', source: 'form' },
  body: z.object({
    ...{ name: text, source: text, format: text, when: text, cron: text, period: text },
    ...{ limited: ticked, recipients: several },
  }),
  async act(visit) {
    const { name, source, format, when, period, limited } = visit.fields;
    const cron = visit.fields.cron.trim();
    const recipients = visit.fields.recipients.filter((id) => id.length < 100);
    const refuse = (problems: readonly string[]) =>
      schedules.again(visit, { fields: {}, said: { problems, recipients } });
    if (when !== 'cron' && cron !== '')
      return refuse(['Choose “as a cron expression”, or leave the cron expression empty.']);
    const { officer: actor } = visit.by;
    const wanted = { name, format, recipients, covers: period, cron: when === 'cron' ? cron : when, actor };
    if (source === EVERY_SOURCE) {
      const all = await scheduleForEverySource(visit.context, { ...wanted, toLimited: limited });
      if (all.outcome === 'refused') return refuse(all.problems);
      return schedules.again(visit, { fields: {}, said: { done: everySourceText(all), form: {} }, status: 200 });
    }
    const added = await addDocumentSchedule(visit.context, { ...wanted, source });
    if (added.outcome === 'refused') return refuse(added.problems);
    return visit.goTo('/documents/schedules?done=added');
  },
});

const remove = form({
  path: '/documents/schedules/remove',
  rule: { who: 'work', source: 'form' },
  body: z.object({ source: text, schedule: text }),
  async act({ context, fields: { source, schedule: scheduleId }, by: { officer: actor }, goTo }) {
    const isRemoved = await removeDocumentSchedule(context, { scheduleId, source, actor });
    return goTo(`/documents/schedules?done=${isRemoved ? 'removed' : 'gone'}`);
  },
});

export const routes = [schedules, add, remove];

/** Times as a cron expression and in words. `cron`: the officer writes the expression. */
const times = [
  ['0 6 1 * *', 'monthly, on the 1st at 06:00'],
  ['0 6 1 1,4,7,10 *', 'quarterly, on the 1st at 06:00'],
  ['0 6 * * 1', 'weekly, on Monday at 06:00'],
  ['0 6 * * *', 'daily at 06:00'],
  ['cron', 'as a cron expression'],
] as const;

const coversTexts: Readonly<Record<(typeof covers)[number], string>> = {
  day: 'the day before',
  week: 'the last whole week',
  month: 'the last whole month',
  quarter: 'the last whole quarter',
  year: 'the last whole year',
};

/** In the field of the source: a schedule for each. No slug contains it, so people with limited access get 404. */

function everySourceText({ added, present }: { readonly added: number; readonly present: number }): string {
  const already = present === 0 ? '' : ` ${counted(present, 'source', 'sources')} had it already.`;
  return `The report is scheduled for ${counted(added, 'source', 'sources')}.${already}`;
}

interface SchedulesProps {
  readonly frame: PageFrame;
  readonly schedules: readonly DocumentSchedule[];
  readonly sources: readonly Source[];
  readonly people: readonly Person[];
  readonly seesAll: boolean;
  /** E-mail addresses of the admins. */
  readonly admins: readonly string[];
  /** Whether mail can be sent. */
  readonly isMailed: boolean;
  readonly problems: readonly string[];
  readonly done: string | null;
  readonly form: Readonly<Record<string, string>>;
  /** Those ticked in the form. */
  readonly recipients?: readonly string[];
}

function SchedulesPage(props: SchedulesProps) {
  const { frame, schedules, sources, problems, done } = props;
  return (
    <Page title="Scheduled documents" frame={frame} current="schedules">
      <h1>Scheduled documents</h1>
      <p class="lead">Reports generated on a schedule, filed in the library, and mailed to colleagues.</p>
      <Done text={done} />
      <Problems title="Nothing was scheduled:" problems={problems} />
      <Panel id="list" title="Schedules">
        {schedules.length === 0 ? (
          <p>None yet. {frame.canWork ? 'A monthly consent audit is a good start.' : null}</p>
        ) : (
          <Table caption={null} columns={columnsOf(props)} rows={schedules} />
        )}
        <p class="small">
          Their documents are in the <a href="/documents">library</a>.
        </p>
      </Panel>
      {!frame.canWork ? null : (
        <Panel id="add" title="Schedule a report">
          {sources.length === 0 ? <NoSources frame={frame} /> : <ScheduleForm {...props} />}
        </Panel>
      )}
    </Page>
  );
}

function columnsOf({ frame, people, sources }: SchedulesProps): readonly Column<DocumentSchedule>[] {
  const nameOf = (id: string) => people.find(({ personId }) => personId === id)?.name ?? 'someone who left';
  return [
    {
      title: 'Report',
      cell: ({ name, format, source }) => (
        <>
          {findReport(name)?.title ?? name} <span class="soft">({format.toUpperCase()})</span>
          {sources.length > 1 ? (
            <>
              <br />
              <span class="soft small">{frame.sourceName(source)}</span>
            </>
          ) : null}
        </>
      ),
    },
    { title: 'Covers', cell: ({ covers: period }) => coversTexts[period] },
    {
      title: 'When',
      cell: ({ cron, nextAt, lastAt }) => (
        <div>
          {times.find(([expression]) => expression === cron)?.[1] ?? <span class="mono">{cron}</span>}
          <p class="hint">
            next <Moment iso={nextAt} timeZone={frame.timeZone} />
            {lastAt === null ? null : (
              <>
                , last <Moment iso={lastAt} timeZone={frame.timeZone} />
              </>
            )}
          </p>
        </div>
      ),
    },
    {
      title: 'Mailed to',
      cell: ({ recipients }) => (recipients.length === 0 ? 'nobody' : <bdi>{recipients.map(nameOf).join(', ')}</bdi>),
    },
    ...(frame.canWork
      ? [
          {
            title: 'Change',
            cell: ({ scheduleId, source, name }: DocumentSchedule) => (
              <PostForm frame={frame} action="/documents/schedules/remove">
                <input type="hidden" name="source" value={source} />
                <input type="hidden" name="schedule" value={scheduleId} />
                <button
                  class="quiet slim"
                  type="submit"
                  aria-label={`Remove: ${findReport(name)?.title ?? name}, ${frame.sourceName(source)}`}
                >
                  Remove
                </button>
              </PostForm>
            ),
          },
        ]
      : []),
  ];
}

function ScheduleForm(props: SchedulesProps) {
  const { frame, sources, people, seesAll, admins, isMailed, form, recipients = [] } = props;
  const formats = [...new Set(reports.flatMap((report) => report.formats))];
  return (
    <PostForm frame={frame} action="/documents/schedules">
      <div class="pair">
        <Choice
          id="name"
          label="Report"
          value={form['name']}
          options={reports.map(({ name, title }) => [name, title] as const)}
        />
        <SourceChoice
          frame={frame}
          sources={sources}
          value={form['source']}
          every={seesAll && sources.length > 1 ? 'Every source, a report for each' : undefined}
        />
        <Choice
          id="format"
          label="Format"
          value={form['format']}
          options={formats.map((format) => [format, format.toUpperCase()] as const)}
        />
        <Choice
          id="period"
          label="Covers"
          value={form['period'] ?? 'month'}
          options={covers.map((one) => [one, coversTexts[one]] as const)}
        />
        <Choice id="when" label="When" value={form['when']} options={times} hint={`Times are in ${frame.timeZone}.`} />
        <Input
          id="cron"
          label="Cron expression"
          optional
          value={form['cron'] ?? ''}
          maxLength={100}
          autocomplete="off"
          spellcheck={false}
          hint="Only with “as a cron expression”: minute hour day month weekday, for example 0 7 * * 1-5."
        />
      </div>
      {!isMailed ? (
        <>
          <p class="hint">Documents are only filed: no mail server is set up here.</p>
          <NoMail frame={frame} admins={admins} />
        </>
      ) : people.length === 0 ? (
        <p class="hint">No account that may see this source can receive mail.</p>
      ) : (
        <fieldset>
          <legend>Mail it to</legend>
          <div class="boxes">
            {people.map(({ personId, name }) => (
              <label class="box" key={personId}>
                <input type="checkbox" name="recipients" value={personId} checked={recipients.includes(personId)} />{' '}
                <bdi>{name}</bdi>
              </label>
            ))}
          </div>
          {seesAll && sources.length > 1 ? (
            <label class="box">
              <input type="checkbox" name="limited" value="yes" checked={form['limited'] === 'yes'} /> everyone whose
              access is limited, each for their own sources (only with “every source”)
            </label>
          ) : null}
          <p class="hint">
            You can only choose people who may see the source. Someone who loses access gets no more mail.
          </p>
        </fieldset>
      )}
      <div class="buttons">
        <button type="submit">Schedule</button>
      </div>
    </PostForm>
  );
}
