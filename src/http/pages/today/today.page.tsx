import { z } from 'zod';
import { formatCount } from '../../../../reports/format.ts';
import { findReport, reports } from '../../../../reports/index.ts';
import { spreadsheetNote } from '../../../../reports/render/csv-json.ts';
import type { ReportFormat } from '../../../../reports/report.ts';
import type { LedgerState } from '../../../attention/ledger-state.ts';
import { type AttentionPart, MATCHED } from '../../../attention/officer-attention.ts';
import type { Context } from '../../../context/context.ts';
import { type Choice as ConsentChoice, choiceNames } from '../../../core/consent-judgement.ts';
import { addDays, calendarProblem, dateIn } from '../../../core/zoned-days.ts';
import { reportJob } from '../../../documents/document-jobs.ts';
import { dismissBanner } from '../../../sync/banners.ts';
import { syncJob } from '../../../sync/sync-jobs.ts';
import { RequestTable } from '../cases/request-table.tsx';
import { DocumentTable } from '../documents/document-table.tsx';
import { pagesWith, type Said, text, ticked } from '../parts/define-page.ts';
import { JobList } from '../parts/job-list.tsx';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  Badge,
  Choice,
  DayBars,
  Done,
  Facts,
  Input,
  Moment,
  NoSources,
  Panel,
  Problems,
  SourceChoice,
} from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { consentChoiceTexts, type Tone } from '../parts/words.ts';
import { ChooseSource, isToChoose, SyncPanel } from '../sources/sync-panel.tsx';
import { DAYS_SHOWN, loadToday, SOURCES_COUNTED, type Today, type TodayNeeds } from './load-today.ts';
import { TasksPanel, TrustLine } from './today-tasks.tsx';

const { page, form } = pagesWith<TodayNeeds | 'projector' | 'sync'>();

/** The Today page: an officer's work of the day. */
const today = page({
  path: '/',
  rule: { who: 'read', source: 'query', views: 'requests' },
  query: z.object({ source: text }),
  done: {
    taken: 'The request is assigned to you.',
    report: 'The report is being created. It will appear under the documents.',
    sync: 'The sync has been requested.',
    dismissed: 'The banner is no longer pulled. Its rows are kept, and you can resume it.',
    restored: 'The next sync will pull the banner again.',
  },
  async load({ context, permitted, by, fields }, said: Said<{ readonly report: ReportForm }>) {
    const source = permitted.find(fields.source)?.slug ?? null;
    return {
      today: await loadToday(context, source, permitted, by),
      form: said.report ?? proposedForm(context, source ?? ''),
    };
  },
  show: (data, { frame, said }) => <TodayPage frame={frame} {...data} said={said} />,
});

const createReport = form({
  path: '/reports',
  rule: { who: 'work', source: 'form' },
  body: z.object({ name: text, source: text, format: text, from: text, to: text, subject: text }),
  async act(visit) {
    const { context, by, fields } = visit;
    const report = { ...fields, subject: fields.subject.trim() };
    const problems = problemsOf(context, report);
    if (problems.length > 0) return today.again(visit, { fields: { source: '' }, said: { report, problems } });
    const { name, source, from, to, format, subject } = report;
    const { id } = await context.jobs.enqueue(
      reportJob({
        name,
        source,
        from,
        to: addDays(to, 1),
        format: format as ReportFormat,
        ...(subject === '' ? {} : { subject }),
        actor: by.officer,
      }),
    );
    await visit.doneSoon(id);
    return visit.goTo('/?done=report');
  },
});

const sync = form({
  path: '/sync',
  rule: { who: 'work', source: 'form' },
  body: z.object({ source: text }),
  async act(visit) {
    const { context, by, fields } = visit;
    if (context.sources.find(fields.source) === null)
      return today.again(visit, { fields: { source: '' }, said: { problems: ['Unknown source.'] } });
    const { id } = await context.jobs.enqueue(syncJob(fields.source, by.officer));
    await visit.doneSoon(id);
    return visit.goTo('/?done=sync');
  },
});

/** Stops pulling a banner, or resumes it. */
const dismiss = form({
  path: '/sync/dismiss',
  rule: { who: 'work', source: 'form' },
  body: z.object({ source: text, banner: text, restore: ticked }),
  async act(visit) {
    const { context, by, fields } = visit;
    const { banner: bannerId, restore: isRestored } = fields;
    const source = context.sources.find(fields.source);
    await context.projector.catchUp();
    const dismissal =
      source === null ? null : await dismissBanner(context.sync, { source, bannerId, actor: by.officer, isRestored });
    if (dismissal === null || dismissal.outcome === 'unknown')
      return today.again(visit, { fields: { source: '' }, said: { problems: ['Unknown banner.'] } });
    return visit.goTo(isRestored ? '/?done=restored' : '/?done=dismissed');
  },
});

export const routes = [today, createReport, sync, dismiss];

/** Last month, the usual period of an audit. */
function proposedForm({ clock, config }: Pick<Context, 'clock' | 'config'>, source: string): ReportForm {
  const day = dateIn(clock().toISOString(), config.timeZone);
  const to = addDays(`${day.slice(0, 7)}-01`, -1);
  return {
    name: reports[0]?.name ?? '',
    source,
    format: 'pdf',
    subject: '',
    from: `${to.slice(0, 7)}-01`,
    to,
  };
}

function problemsOf({ sources }: Pick<Context, 'sources'>, form: ReportForm): readonly string[] {
  const problems: string[] = [];
  const report = findReport(form.name);
  if (report === null) problems.push('Unknown report.');
  else if (!(report.formats as readonly string[]).includes(form.format))
    problems.push(`${report.title} is not available as ${form.format.toUpperCase()}.`);
  if (form.subject !== '' && report?.takesSubject === false)
    problems.push(`${report.title} has no appendix for a subject: leave that field empty.`);
  if (form.subject.length > 300) problems.push('The subject is too long.');
  if (sources.find(form.source) === null) problems.push('Unknown source.');
  const before = problems.length;
  for (const [name, date] of [
    ['first', form.from],
    ['last', form.to],
  ] as const) {
    const problem = dateProblem(date);
    if (problem !== null) problems.push(`Invalid ${name} day "${date.slice(0, 30)}": ${problem}`);
  }
  if (problems.length === before && form.from > form.to) problems.push('The last day is before the first day.');
  return problems;
}

/** What is wrong with a day, given the years that a report can cover; null: nothing. */
function dateProblem(text: string): string | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return 'use YYYY-MM-DD.';
  return /^(?:19|20|21)/.test(text) ? calendarProblem(text) : 'the year must be 1900 to 2199.';
}

/** The input of the report form: the officer's, or the proposed one. */
interface ReportForm {
  readonly name: string;
  readonly source: string;
  readonly format: string;
  /** YYYY-MM-DD, both included. */
  readonly from: string;
  readonly to: string;
  /** Subject of the appendix; empty: none. */
  readonly subject: string;
}

interface TodayProps {
  readonly frame: PageFrame;
  readonly today: Today;
  readonly form: ReportForm;
  readonly said: Said;
}

/** The start page: an officer's work of the day. */
function TodayPage({ frame, today, form, said }: TodayProps) {
  const { attention, sources, source } = today;
  const several = sources.length > 1;
  return (
    <Page title="Today" frame={frame} current="today">
      <h1>Today</h1>
      <p class="lead">
        <Figures parts={attention.parts} source={source} />
      </p>
      <Done text={said.done} />
      <Problems title="The request failed:" problems={said.problems} />
      <TrustLine frame={frame} today={today} />
      {frame.canWork ? <TasksPanel frame={frame} today={today} /> : null}
      <Panel id="month" title={`Decisions of the last ${DAYS_SHOWN} days`}>
        {today.days === null ? (
          <p>You see more than {SOURCES_COUNTED} sources: choose one in the header for its chart.</p>
        ) : (
          <DayBars
            what={`Decisions by day (${frame.timeZone})`}
            series={choiceNames.map((choice) => ({
              name: consentChoiceTexts[choice],
              tone: choiceTones[choice],
              href: decisionsAddress(today, choice),
            }))}
            days={today.days}
          />
        )}
      </Panel>
      <Panel id="requests" title="Requests">
        <OpenRequests frame={frame} today={today} withSource={several && source === null} />
        <p class="small">
          <a href="/deadline">Deadline calculator</a> for a request not recorded here
        </p>
      </Panel>
      <div class="columns">
        <div>
          <Panel id="documents" title="Documents to download">
            <DocumentTable
              frame={frame}
              documents={today.documents}
              awaiting={today.awaiting}
              total={today.documentCount}
            />
            <p class="small">
              <a href="/documents">All documents</a> · <a href="/documents/check">Check a file</a>
            </p>
          </Panel>
          <SyncPanel frame={frame} today={today} />
        </div>
        <div>
          {today.jobs.length === 0 ? null : (
            <Panel id="work" title="In progress and recently completed">
              <JobList
                frame={frame}
                jobs={today.jobs}
                again={source === null ? '/' : `/?source=${encodeURIComponent(source)}`}
              />
            </Panel>
          )}
          {frame.canWork ? <ReportPanel frame={frame} today={today} form={form} /> : null}
          <LedgerPanel frame={frame} today={today} />
        </div>
      </div>
    </Page>
  );
}

const choiceTones: Readonly<Record<ConsentChoice, Tone>> = {
  given: 'good',
  'partly-given': 'calm',
  refused: 'warn',
  withdrawn: 'bad',
};

/** The list of the decisions that a figure of the chart counts. */
function decisionsAddress({ days, source }: Today, choice: ConsentChoice): string {
  const [from = '', to = ''] = [days?.[0]?.day, days?.at(-1)?.day];
  const query = { ...(source === null ? {} : { source }), choice, from, to };
  return `/consent/decisions?${new URLSearchParams(query).toString()}`;
}

const figureLinks: Readonly<Record<AttentionPart['about'], string>> = {
  requests: '/cases',
  messages: '/cases?messages=open',
  gaps: '/#sync',
  undelivered: '/consent/undelivered',
  contradictions: '/consent/contradictions',
  'due-tasks': '/#tasks',
  'consent-after': '/#tasks',
  'before-consent': '/#tasks',
  integrations: '/#tasks',
  unread: '/deliveries/unread',
  'unclear-choices': '/#tasks',
};

/** The figures of the day, each linking to what it counts. */
function Figures({ parts, source }: { parts: readonly AttentionPart[]; source: string | null }) {
  const [query, of] = source === null ? ['', ''] : ['?source=', encodeURIComponent(source)];
  return (
    <>
      {parts.map(({ about, text, requests }, place) => {
        const [path = '', anchor] = figureLinks[about].split('#');
        return (
          <span key={about}>
            {place === 0 ? '' : ' '}
            <a href={anchor === undefined ? `${path}${query}${of}` : `#${anchor}`}>{requests?.all ?? text}</a>
            {requests?.some.map(({ which, text: words }, nth) => (
              <>
                {nth === 0 ? ': ' : ', '}
                <a href={`/cases?${new URLSearchParams({ ...(source === null ? {} : { source }), which }).toString()}`}>
                  {words}
                </a>
              </>
            ))}
            {/* Without a break before the dot. */ place === parts.length - 1 ? '' : '\u00a0·'}
          </span>
        );
      })}
    </>
  );
}

function OpenRequests({ frame, today, withSource }: { frame: PageFrame; today: Today; withSource: boolean }) {
  const { open, requests } = today.attention;
  if (open.length === 0) return <p>No open requests.</p>;
  const query = new URLSearchParams(today.source === null ? {} : { source: today.source });
  const more = open.length > MATCHED ? `The first ${MATCHED} of ${formatCount(open.length)}: ` : '';
  return (
    <RequestTable
      caption={`${more}open requests by legal limit. Dates are days in ${frame.timeZone}.`.replace(/^o/, 'O')}
      requests={requests}
      sourceName={withSource ? frame.sourceName : null}
      frame={frame}
      from={{ list: 'today', filter: query.toString() }}
    />
  );
}

function ReportPanel({ frame, today, form }: { frame: PageFrame; today: Today; form: ReportForm }) {
  const formats = [...new Set(reports.flatMap((report) => report.formats))];
  const [only] = today.sources;
  return (
    <Panel id="report" title="Create a report">
      {only === undefined ? (
        <NoSources frame={frame} />
      ) : isToChoose(today) ? (
        <ChooseSource />
      ) : (
        <PostForm frame={frame} action="/reports">
          <Choice
            id="report-name"
            label="Report"
            name="name"
            value={form.name}
            options={reports.map(({ name, title }) => [name, title])}
          />
          <details>
            <summary>About the reports</summary>
            <div>
              {reports.map(({ name, title, description }) => (
                <p key={name} class="small">
                  <strong>{title}.</strong> {description}
                </p>
              ))}
              <p class="small">{spreadsheetNote}</p>
            </div>
          </details>
          <br />
          {today.source !== null && today.sources.length > 100 ? (
            <input type="hidden" name="source" value={today.source} />
          ) : (
            <SourceChoice id="report-source" frame={frame} sources={today.sources} value={form.source} />
          )}
          <div class="pair">
            <Input id="report-from" label="First day" name="from" type="date" value={form.from} />
            <Input id="report-to" label="Last day" name="to" type="date" value={form.to} />
          </div>
          <Choice
            id="report-format"
            label="Format"
            name="format"
            value={form.format}
            options={formats.map((format) => [format, format.toUpperCase()])}
          />
          <Input
            id="report-subject"
            label="One subject"
            name="subject"
            maxLength={300}
            value={form.subject}
            optional
            hint="Consent audit only: appends the whole history of this visitor hash."
          />
          <button type="submit">Create the report</button>
        </PostForm>
      )}
    </Panel>
  );
}

/** Each witness with the time of its last checkpoint, or how far it lags behind. */
function witnessedText(
  frame: PageFrame,
  witnesses: NonNullable<LedgerState['witnesses']>,
  checkpoint: LedgerState['checkpoint'],
) {
  if (witnesses.length === 0) return <Badge text="not yet" tone="warn" />;
  return (
    <>
      {witnesses.map(({ name, size, at }, place) => (
        <>
          {place === 0 ? null : <br />}
          {at === null ? (
            <Badge text={`not yet by ${name}`} tone="warn" />
          ) : (
            <>
              by {name}
              {size === checkpoint?.size ? '' : ` over ${formatCount(size)} entries`},{' '}
              <Moment iso={at} timeZone={frame.timeZone} />
            </>
          )}
        </>
      ))}
    </>
  );
}

function LedgerPanel({ frame, today }: { frame: PageFrame; today: Today }) {
  const { entries, checkpoint, witnesses, quarantined, ambiguousRepeats } = today.ledger;
  const unsealed = entries - (checkpoint?.size ?? 0);
  return (
    <Panel id="ledger" title="Ledger">
      <Facts
        rows={[
          ['Entries', formatCount(entries)],
          [
            'Sealed',
            checkpoint === null ? (
              'none yet'
            ) : (
              <>
                over {checkpoint.size === 1 ? '1 entry' : `${formatCount(checkpoint.size)} entries`},{' '}
                <Moment iso={checkpoint.createdAt} timeZone={frame.timeZone} />
                <br />
                <span class="mono" title={checkpoint.rootHex}>
                  root {checkpoint.rootHex.slice(0, 16)}…
                </span>
              </>
            ),
          ],
          ...(witnesses === null ? [] : [['Witnessed', witnessedText(frame, witnesses, checkpoint)] as const]),
          ['Not yet sealed', formatCount(unsealed)],
          [
            'Quarantine',
            quarantined === 0 ? 'empty' : <a href="/deliveries/unread">{formatCount(quarantined)} not read</a>,
          ],
          [
            'Ambiguous repeats',
            ambiguousRepeats === 0 ? (
              'none'
            ) : (
              <Badge text={`${formatCount(ambiguousRepeats)} unresolved`} tone="warn" />
            ),
          ],
        ]}
      />
      <p class="hint">
        <a href="/evidence#verification">Verify every entry</a> against its hash, key and checkpoint
      </p>
    </Panel>
  );
}
