import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Context } from '../../../context.ts';
import { CodedError, UsageError } from '../../../core/errors.ts';
import { type ErasureReason, erasureReasonCodes } from '../../../core/erasure.ts';
import { addDays, startOfDay } from '../../../core/zoned-days.ts';
import { choose, type ErasureChoice, periodKinds } from '../../../erasure/choose.ts';
import { isUnfinished } from '../../../erasure/erase.ts';
import { startErasure } from '../../../erasure/jobs.ts';
import { type ErasurePlan, planErasure } from '../../../erasure/plan.ts';
import {
  digestOfPlan,
  type ErasureProposal,
  findProposal,
  keepProposal,
  listWaitingProposals,
  sourcesNeedingSecondOfficer,
  withdrawProposal,
} from '../../../erasure/proposal.ts';
import { findLaws } from '../../../law/regime-table.ts';
import { type Job, payloadText } from '../../../jobs/job.ts';
import { listAdminAddresses } from '../../../people/people.ts';
import { sourcesOf } from '../../auth/access.ts';
import { officerOf } from '../../auth/sessions.ts';
import { addressOf, despiteOf, OnePage, PreviewPage, StartPage } from './erasure-view.tsx';
import { type Exchange, formOf, html, pageFrame, untilDoneSoon } from '../parts/page-frame.ts';
import { renderPage } from '../parts/layout.tsx';
import { allowLive } from '../parts/live-script.ts';

/** The most documents named in a preview. */
const SHOWN = 20;

type Form = Readonly<Record<string, string>>;

const changed = 'The data to be erased has changed since this was proposed: withdraw the proposal and make a new one.';

interface ErasureParams {
  readonly Params: { readonly erasureId: string };
}

/** Manual erasure: preview, approval by a second person if the controller requires one, then a job. */
export async function erasureRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/settings/erasures', (request, reply) => sendStart({ context, request, reply }, formOf(request.query)));
  app.post('/settings/erasures/preview', (request, reply) => preview({ context, request, reply }));
  app.post('/settings/erasures', (request, reply) => propose({ context, request, reply }));
  app.get<ErasureParams>('/settings/erasures/:erasureId', (request, reply) =>
    sendOne({ context, request, reply }, request.params.erasureId),
  );
  app.post<ErasureParams>('/settings/erasures/:erasureId', (request, reply) =>
    decide({ context, request, reply }, request.params.erasureId),
  );
}

async function preview(exchange: Exchange): Promise<FastifyReply> {
  const form = formOf(exchange.request.body);
  const looked = await look(exchange, form);
  return looked.outcome === 'refused'
    ? sendStart(exchange, form, looked.problems, 422)
    : sendPreview(exchange, form, looked.plan);
}

/** Starts the previewed erasure, or keeps it until a second person approves it. */
async function propose(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const form = formOf(request.body);
  const looked = await look(exchange, form);
  if (looked.outcome === 'refused') return sendStart(exchange, form, looked.problems, 422);
  const { plan, choice } = looked;
  const reason = reasonOf(form);
  const problems = problemsOfConfirmation(context, form, plan);
  if (problems.length > 0 || reason === null) return sendPreview(exchange, form, plan, problems, 422);
  const { officer, personId } = officerOf(request);
  const needsSecond = await needsTwo(context, plan);
  if (needsSecond && personId === null) {
    const problem = 'This needs a second person’s approval, so you have to sign in with an account.';
    return sendPreview(exchange, form, plan, [problem], 422);
  }
  const proposal = await keepProposal(context, {
    ...{ choice, digest: digestOfPlan(plan), reason, law: form['law'] ?? '', despite: despiteOf(form) },
    ...{ officer, personId, needsSecond, confirmedBy: null, source: form['source'] || null },
  });
  if (!needsSecond) await start(context, proposal);
  return reply.redirect(addressOf(proposal.id), 303);
}

/** The fields missing from the form below a preview. */
function problemsOfConfirmation(context: Context, form: Form, plan: ErasurePlan): readonly string[] {
  const despite = despiteOf(form);
  return [
    ...(form['digest'] === digestOfPlan(plan)
      ? []
      : ['The data to be erased has changed since you opened this page. Check it again before you confirm.']),
    ...(reasonOf(form) === null ? ['Choose a reason.'] : []),
    ...(context.cases.regimes.regimes.has(form['law'] ?? '') ? [] : ['Choose the law that applies.']),
    ...(form['sure'] === 'yes' ? [] : ['Tick the box to confirm that this cannot be undone.']),
    ...plan.needs
      .filter(({ name }) => !despite.includes(name))
      .map(({ name, why }) => `Some of it is still needed for ${name} (${why}): tick the box to erase it anyway.`),
  ];
}

/** Withdraws or approves a proposal. */
async function decide(exchange: Exchange, erasureId: string): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const proposal = await findProposal(context, erasureId);
  const job = await findJob(context, erasureId);
  if (proposal === null || job !== null) return reply.redirect(addressOf(erasureId), 303);
  const { officer, personId } = officerOf(request);
  if (formOf(request.body)['decision'] === 'withdraw') {
    const isWithdrawn = await withdrawProposal(context, erasureId);
    return reply.redirect(isWithdrawn ? '/settings/erasures?done=withdrawn' : addressOf(erasureId), 303);
  }
  if (proposal.needsSecond && personId === null)
    return sendOne(exchange, erasureId, ['Only someone with an account can approve: sign in with yours.']);
  if (proposal.needsSecond && personId === proposal.personId)
    return sendOne(exchange, erasureId, ['You proposed this: another person must approve it.']);
  const looked = await lookAt(exchange, proposal.choice);
  if (looked.outcome === 'refused' || digestOfPlan(looked.plan) !== proposal.digest)
    return sendOne(exchange, erasureId, [changed]);
  await start(context, { ...proposal, confirmedBy: proposal.needsSecond ? officer : null });
  return reply.redirect(addressOf(erasureId), 303);
}

async function start(context: Context, proposal: ErasureProposal): Promise<void> {
  const id = await startErasure(context, proposal);
  if (id !== null) await untilDoneSoon(context, id);
}

async function findJob({ jobs }: Context, erasureId: string): Promise<Job | null> {
  const [job = null] = await jobs.list({ kind: 'erase', key: erasureId, limit: 1 });
  return job;
}

/** Loads the plan for the choice in a form. */
async function look(exchange: Exchange, form: Form) {
  const choice = choiceOf(form, exchange.context.config.timeZone);
  return 'problems' in choice
    ? { outcome: 'refused' as const, problems: choice.problems }
    : { ...(await lookAt(exchange, choice)), choice };
}

async function lookAt(
  { context, request }: Exchange,
  choice: ErasureChoice,
): Promise<{ outcome: 'found'; plan: ErasurePlan } | { outcome: 'refused'; problems: readonly string[] }> {
  const { erasure, sources } = context;
  const { slugs } = sourcesOf(context, request);
  const refused = (...problems: string[]) => ({ outcome: 'refused' as const, problems });
  if (choice.by === 'case' && slugs !== null && !(await isCaseOf(context, choice.caseId, slugs)))
    return refused(`Unknown request ${choice.caseId}.`);
  const chosen = await choose({ ...erasure, sources }, choice);
  if (chosen.outcome === 'refused') return chosen;
  const plan = await planErasure(erasure, chosen.chosen);
  if (slugs !== null && [...plan.entries, ...plan.suppress].some(({ source }) => !slugs.includes(source)))
    return refused('Some of it belongs to sources that you cannot see: ask a colleague who can see every source.');
  if (plan.refusals.length > 0)
    return refused(
      ...plan.refusals.slice(0, SHOWN).map(({ seq, reason }) => `Entry ${seq} cannot be erased: ${reason}.`),
    );
  if (plan.entries.length + plan.documents.length + plan.suppress.length === 0)
    return refused(plan.alreadyErased.length > 0 ? 'All of it is already erased.' : 'There is nothing to erase.');
  return { outcome: 'found', plan };
}

async function isCaseOf(context: Context, caseId: string, slugs: readonly string[]): Promise<boolean> {
  const row = await context.store.read
    .selectFrom('cases')
    .select('source')
    .where('case_id', '=', caseId)
    .executeTakeFirst();
  return row !== undefined && slugs.includes(row.source);
}

/** Whether a profile requires two people, or cannot be read. */
async function needsTwo(context: Context, plan: ErasurePlan): Promise<boolean> {
  try {
    return (await sourcesNeedingSecondOfficer(context, plan)).length > 0;
  } catch (error) {
    if (error instanceof UsageError) return true;
    throw error;
  }
}

async function sendStart(
  { context, request, reply }: Exchange,
  form: Form,
  problems: readonly string[] = [],
  status = 200,
): Promise<FastifyReply> {
  const { slugs, list } = sourcesOf(context, request);
  const waiting = (await listWaitingProposals(context)).filter(
    ({ source }) => slugs === null || slugs.includes(source ?? ''),
  );
  const jobs = (await context.jobs.list({ kind: 'erase' })).filter(
    (job) => slugs === null || slugs.includes(payloadText(job, 'source') ?? ''),
  );
  const page = (
    <StartPage
      frame={pageFrame(context, request, reply)}
      sources={list()}
      seesAll={slugs === null}
      waiting={waiting}
      jobs={jobs}
      isLeft={jobs.every(({ finishedAt }) => finishedAt !== null) && (await isUnfinished(context.erasure))}
      form={form}
      problems={problems}
      done={form['done'] === 'withdrawn' ? 'The proposal has been withdrawn. Nothing was erased.' : null}
    />
  );
  return html(reply, renderPage(page), status);
}

async function sendPreview(
  { context, request, reply }: Exchange,
  form: Form,
  plan: ErasurePlan,
  problems: readonly string[] = [],
  status = 200,
): Promise<FastifyReply> {
  const page = (
    <PreviewPage
      frame={pageFrame(context, request, reply)}
      form={form}
      plan={plan}
      admins={await listAdminAddresses(context)}
      laws={await lawOptions(context, form)}
      needsSecond={await needsTwo(context, plan)}
      problems={problems}
    />
  );
  return html(reply, renderPage(page), status);
}

async function sendOne(
  { context, request, reply }: Exchange,
  erasureId: string,
  problems: readonly string[] = [],
): Promise<FastifyReply> {
  const [proposal, job] = [await findProposal(context, erasureId), await findJob(context, erasureId)];
  if (proposal === null && job === null) throw new CodedError('not_found');
  const isWaiting = proposal !== null && job === null;
  const looked = isWaiting ? await lookAt({ context, request, reply }, proposal.choice) : null;
  if (job?.finishedAt === null) allowLive(reply);
  const plan = looked?.outcome === 'found' ? looked.plan : null;
  const page = (
    <OnePage
      frame={pageFrame(context, request, reply)}
      erasureId={erasureId}
      proposal={isWaiting ? proposal : null}
      plan={plan}
      admins={await listAdminAddresses(context)}
      job={job}
      lawName={proposal === null ? '' : (context.cases.regimes.regimes.get(proposal.law)?.law ?? proposal.law)}
      mayApprove={proposal?.needsSecond === false || proposal?.personId !== officerOf(request).personId}
      problems={[
        ...problems,
        ...(looked?.outcome === 'refused' ? looked.problems : []),
        ...(plan !== null && proposal !== null && problems.length === 0 && digestOfPlan(plan) !== proposal.digest
          ? [changed]
          : []),
      ]}
    />
  );
  return html(reply, renderPage(page), problems.length > 0 ? 422 : 200);
}

/** All laws by name, after those that apply to the request, or to the controller if no request is erased. */
async function lawOptions({ cases, loadProfile, sources }: Context, form: Form) {
  const row =
    form['by'] === 'case'
      ? await cases.store.read
          .selectFrom('cases')
          .select(['source', 'jurisdiction'])
          .where('case_id', '=', (form['caseId'] ?? '').trim())
          .executeTakeFirst()
      : undefined;
  // A profile that cannot be read only changes their order.
  const profile = await loadProfile(sources.findAny(row?.source ?? form['source'] ?? '')).catch(() => null);
  const establishment = { country: null, region: null, ...profile };
  const applicable = findLaws(cases.regimes, row?.jurisdiction ?? null, establishment).laws.map(
    ({ regime }) => regime.id,
  );
  const rank = (id: string) => (applicable.includes(id) ? applicable.indexOf(id) : applicable.length);
  return [...cases.regimes.regimes]
    .map(([id, { law }]) => [id, law] as const)
    .sort(([a, nameA], [b, nameB]) => rank(a) - rank(b) || nameA.localeCompare(nameB, 'en'));
}

function reasonOf(form: Form): ErasureReason | null {
  return erasureReasonCodes.find((code) => code === form['reason']) ?? null;
}

/** Reads what a form asks to erase. */
function choiceOf(form: Form, timeZone: string): ErasureChoice | { readonly problems: readonly string[] } {
  const text = (name: string) => (form[name] ?? '').trim();
  const source = text('source');
  switch (form['by']) {
    case 'subject':
      if (text('identifier') === '')
        return { problems: ['Enter the person: an e-mail address, a visitor or a record.'] };
      if (source === '') return { problems: ['Choose the source of the person.'] };
      return { by: 'subject', source, identifier: text('identifier'), withCases: form['withCases'] === 'yes' };
    case 'case':
      return text('caseId') === '' ? { problems: ['Enter the request.'] } : { by: 'case', caseId: text('caseId') };
    case 'entries': {
      const entries = text('entries')
        .split(/[\s,]+/)
        .filter((one) => one !== '');
      return entries.length === 0 ? { problems: ['Enter entry numbers.'] } : { by: 'entries', entries };
    }
    case 'period': {
      const kinds = periodKinds.filter((kind) => form[`kind-${kind}`] === 'yes');
      if (text('to') === '') return { problems: ['Enter the last day.'] };
      if (kinds.length === 0) return { problems: ['Choose the kinds of data received.'] };
      try {
        return {
          by: 'period',
          source: source === '' ? null : source,
          from: text('from') === '' ? null : startOfDay(text('from'), timeZone),
          to: startOfDay(addDays(text('to'), 1), timeZone),
          kinds,
        };
      } catch {
        return { problems: ['Enter days as YYYY-MM-DD.'] };
      }
    }
    default:
      return { problems: ['Choose what to erase.'] };
  }
}
