import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findReport, reports } from '../../../reports/index.ts';
import type { Context } from '../../context.ts';
import { addDays, calendarProblem, dateIn } from '../../core/zoned-days.ts';
import { renderPage } from '../../dashboard/layout.tsx';
import { loadToday } from '../../dashboard/load-today.ts';
import { type ReportForm, TodayPage } from '../../dashboard/today-page.tsx';
import { dismissBanner } from '../../sync/dismiss.ts';
import { officerOf } from '../auth/guard.ts';
import { formOf, html } from '../html.ts';
import { frameOf, untilDoneSoon } from './frame.ts';

/** What an address may say was just done; the address never carries the text itself. */
const doneTexts: Readonly<Record<string, string>> = {
  report: 'The report is being created. It will appear under the documents.',
  sync: 'The sync has been requested.',
  dismissed: 'The banner is no longer pulled. Its rows are kept, and you can resume it.',
  restored: 'The next sync will pull the banner again.',
};

/** The page Today and what it asks for: reports and syncs. */
export async function todayRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/', (request, reply) => {
    const { source = '', done = '' } = formOf(request.query);
    return sendToday(request, reply, { source, done: doneTexts[done] ?? null });
  });

  app.post('/reports', async (request, reply) => {
    const form = formOf(request.body);
    const wanted = reportFormOf(form);
    const problems = problemsOf(wanted);
    if (problems.length > 0) return sendToday(request, reply, { source: '', form: wanted, problems }, 422);
    const { name, source, from, format, subject } = wanted;
    const to = addDays(wanted.to, 1);
    const { id } = await context.jobs.enqueue({
      kind: 'document',
      // A double click asks for one document.
      key: ['report', name, source, from, to, format, subject].join(' ').trim(),
      payload: {
        type: 'report',
        name,
        source,
        from,
        to,
        format,
        ...(subject === '' ? {} : { subject }),
        actor: officerOf(request).officer,
      },
      priority: 1,
    });
    await untilDoneSoon(context, id);
    return reply.redirect('/?done=report', 303);
  });

  app.post('/sync', async (request, reply) => {
    const { source = '' } = formOf(request.body);
    if (context.sources.find(source) === null)
      return sendToday(request, reply, { source: '', problems: ['Unknown source.'] }, 422);
    const payload = { source, actor: officerOf(request).officer };
    const { id } = await context.jobs.enqueue({ kind: 'sync', key: source, payload, priority: 1, maxAttempts: 2 });
    await untilDoneSoon(context, id);
    return reply.redirect('/?done=sync', 303);
  });

  app.post('/sync/dismiss', async (request, reply) => {
    const { source: slug = '', banner: bannerId = '', restore = '' } = formOf(request.body);
    const source = context.sources.find(slug);
    const isRestored = restore === 'yes';
    const { officer: actor } = officerOf(request);
    await context.projector.catchUp();
    const dismissal =
      source === null ? null : await dismissBanner(context.sync, { source, bannerId, actor, isRestored });
    if (dismissal === null || dismissal.outcome === 'unknown')
      return sendToday(request, reply, { source: '', problems: ['Unknown banner.'] }, 422);
    return reply.redirect(isRestored ? '/?done=restored' : '/?done=dismissed', 303);
  });

  interface Shown {
    readonly source: string;
    readonly form?: ReportForm;
    readonly problems?: readonly string[];
    readonly done?: string | null;
  }

  async function sendToday(
    request: FastifyRequest,
    reply: FastifyReply,
    shown: Shown,
    status = 200,
  ): Promise<FastifyReply> {
    const source = context.sources.find(shown.source)?.slug ?? null;
    const today = await loadToday(context, source);
    const props = {
      today,
      form: shown.form ?? proposedForm(source),
      problems: shown.problems ?? [],
      done: shown.done ?? null,
    };
    return html(reply, renderPage(<TodayPage frame={frameOf(context, request, reply)} {...props} />), status);
  }

  /** Last month, as most audits ask for it. */
  function proposedForm(source: string | null): ReportForm {
    const today = dateIn(context.clock().toISOString(), context.config.timeZone);
    const to = addDays(`${today.slice(0, 7)}-01`, -1);
    const [first] = context.sources.list();
    return {
      name: reports[0]?.name ?? '',
      source: source ?? first?.slug ?? '',
      format: 'pdf',
      subject: '',
      from: `${to.slice(0, 7)}-01`,
      to,
    };
  }

  function problemsOf(form: ReportForm): readonly string[] {
    const problems: string[] = [];
    const report = findReport(form.name);
    if (report === null) problems.push('Unknown report.');
    else if (!(report.formats as readonly string[]).includes(form.format))
      problems.push(`${report.title} is not available as ${form.format.toUpperCase()}.`);
    if (form.subject !== '' && report?.takesSubject === false)
      problems.push(`${report.title} has no appendix for a subject: leave that field empty.`);
    if (form.subject.length > 300) problems.push('The subject is too long.');
    if (context.sources.find(form.source) === null) problems.push('Unknown source.');
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
}

function reportFormOf(form: Readonly<Record<string, string>>): ReportForm {
  const { name = '', source = '', format = '', from = '', to = '', subject = '' } = form;
  return { name, source, format, from, to, subject: subject.trim() };
}

/** What is wrong with a day, in the years that a report can be about; null: nothing. */
function dateProblem(text: string): string | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return 'use YYYY-MM-DD.';
  return /^(?:19|20|21)/.test(text) ? calendarProblem(text) : 'the year must be 1900 to 2199.';
}
