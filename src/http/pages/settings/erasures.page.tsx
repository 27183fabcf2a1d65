import { z } from 'zod';
import type { Context } from '../../../context/context.ts';
import { type ErasureReason, erasureReasonCodes } from '../../../core/erasure.ts';
import { CodedError, UsageError } from '../../../core/errors.ts';
import { addDays, startOfDay } from '../../../core/zoned-days.ts';
import { type ErasureChoice, periodKinds } from '../../../erasure/choose.ts';
import { isUnfinished } from '../../../erasure/erase.ts';
import { startErasure } from '../../../erasure/erasure-jobs.ts';
import type { ErasurePlan } from '../../../erasure/plan.ts';
import { findCasePlace, planFor } from '../../../erasure/plan-for.ts';
import {
  digestOfPlan,
  type ErasureProposal,
  findProposal,
  keepProposal,
  listWaitingProposals,
  sourcesNeedingSecondOfficer,
  withdrawProposal,
} from '../../../erasure/proposal.ts';
import { type Job, payloadText } from '../../../jobs/job.ts';
import { findLaws } from '../../../law/regime-table.ts';
import { listAdminAddresses } from '../../../people/people.ts';
import { pagesWith, type Said, text, type Visit } from '../parts/define-page.ts';
import { allowLive } from '../parts/live-script.ts';
import { EVERY_SOURCE } from '../parts/parts.tsx';
import { addressOf, despiteOf, OnePage, PreviewPage, StartPage } from './erasure-view.tsx';

const { page, form } = pagesWith<
  'store' | 'keys' | 'clock' | 'jobs' | 'cases' | 'config' | 'erasure' | 'sources' | 'loadProfile'
>();
type Parts = 'erasure' | 'sources' | 'config';

type Form = Readonly<Record<string, string>>;

const changed = 'The data to be erased has changed since this was proposed: withdraw the proposal and make a new one.';

/** Manual erasure: a choice, its preview, approval by a second person if the controller requires one, then a job. */
const start = page({
  path: '/settings/erasures',
  rule: { who: 'work', source: 'installation' },
  done: { withdrawn: 'The proposal has been withdrawn. Nothing was erased.' },
  load: loadStart,
  show: (data, { frame, said: { problems, done } }) => (
    <StartPage frame={frame} {...data} problems={problems} done={done} />
  ),
});

const preview = page({
  path: '/settings/erasures/preview',
  rule: { who: 'work', source: 'form' },
  isPosted: true,
  async load(visit, said: Said<{ plan: ErasurePlan }>) {
    const { context, typed } = visit;
    const looked = said.plan === undefined ? await look(visit) : { outcome: 'found' as const, plan: said.plan };
    if (looked.outcome === 'refused') return { start: { ...(await loadStart(visit)), problems: looked.problems } };
    const { plan } = looked;
    return {
      ...{ form: typed, plan },
      admins: await listAdminAddresses(context),
      laws: await lawOptions(context, typed),
      needsSecond: await needsTwo(context, plan),
    };
  },
  show: (data, { frame, said }) =>
    'start' in data ? (
      <StartPage frame={frame} {...data.start} done={null} />
    ) : (
      <PreviewPage frame={frame} {...data} problems={said.problems} />
    ),
  status: (data) => ('start' in data ? 422 : 200),
});

/** Starts the previewed erasure, or keeps it until a second person approves it. */
const propose = form({
  path: '/settings/erasures',
  rule: { who: 'work', source: 'form' },
  body: z.object({ source: text, law: text }),
  async act(visit) {
    const { context, fields, typed } = visit;
    const { officer, personId } = visit.by;
    const looked = await look(visit);
    if (looked.outcome === 'refused') return start.again(visit, { fields: {}, said: { problems: looked.problems } });
    const { plan, choice } = looked;
    const again = (problems: readonly string[]) => preview.again(visit, { fields: {}, said: { problems, plan } });
    const reason = reasonOf(typed);
    const problems = problemsOfConfirmation(context, typed, plan);
    if (problems.length > 0 || reason === null) return again(problems);
    const needsSecond = await needsTwo(context, plan);
    if (needsSecond && personId === null)
      return again(['This needs a second person’s approval, so you have to sign in with an account.']);
    const proposal = await keepProposal(context, {
      ...{ choice, digest: digestOfPlan(plan), reason, law: fields.law, despite: despiteOf(typed) },
      ...{
        officer,
        personId,
        needsSecond,
        confirmedBy: null,
        source: fields.source === EVERY_SOURCE ? null : fields.source || null,
      },
    });
    if (!needsSecond) await begin(visit, proposal);
    return visit.goTo(addressOf(proposal.id));
  },
});

/** One erasure, from its proposal to its result. */
const one = page({
  path: '/settings/erasures/:erasureId',
  rule: { who: 'work', source: 'erasure', views: 'object' },
  async load(visit, said) {
    const { context, params, permitted, by, reply } = visit;
    const { erasureId } = params;
    const [proposal, job] = [await findProposal(context, erasureId), await findJob(context, erasureId)];
    if (proposal === null && job === null) throw new CodedError('not_found');
    const isWaiting = proposal !== null && job === null;
    const looked = isWaiting ? await planFor(planDeps(context), proposal.choice, permitted.slugs) : null;
    if (job?.finishedAt === null) allowLive(reply);
    const plan = looked?.outcome === 'found' ? looked.plan : null;
    return {
      ...{ erasureId, plan, job },
      proposal: isWaiting ? proposal : null,
      admins: await listAdminAddresses(context),
      lawName: proposal === null ? '' : (context.cases.regimes.regimes.get(proposal.law)?.law ?? proposal.law),
      mayApprove: proposal?.needsSecond === false || proposal?.personId !== by.personId,
      problems: [
        ...said.problems,
        ...(looked?.outcome === 'refused' ? looked.problems : []),
        ...(plan !== null && proposal !== null && said.problems.length === 0 && digestOfPlan(plan) !== proposal.digest
          ? [changed]
          : []),
      ],
    };
  },
  show: (data, { frame }) => <OnePage frame={frame} {...data} />,
});

/** Withdraws or approves a proposal. */
const decide = form({
  path: '/settings/erasures/:erasureId',
  rule: { who: 'work', source: 'erasure' },
  body: z.object({ decision: text }),
  async act(visit) {
    const { context, params, fields, permitted } = visit;
    const { erasureId } = params;
    const { officer, personId } = visit.by;
    const proposal = await findProposal(context, erasureId);
    const job = await findJob(context, erasureId);
    if (proposal === null || job !== null) return visit.goTo(addressOf(erasureId));
    if (fields.decision === 'withdraw') {
      const isWithdrawn = await withdrawProposal(context, erasureId);
      return visit.goTo(isWithdrawn ? '/settings/erasures?done=withdrawn' : addressOf(erasureId));
    }
    const refuse = (problem: string) => one.again(visit, { fields: {}, params, said: { problems: [problem] } });
    if (proposal.needsSecond && personId === null)
      return refuse('Only someone with an account can approve: sign in with yours.');
    if (proposal.needsSecond && personId === proposal.personId)
      return refuse('You proposed this: another person must approve it.');
    const looked = await planFor(planDeps(context), proposal.choice, permitted.slugs);
    if (looked.outcome === 'refused' || digestOfPlan(looked.plan) !== proposal.digest) return refuse(changed);
    await begin(visit, { ...proposal, confirmedBy: proposal.needsSecond ? officer : null });
    return visit.goTo(addressOf(erasureId));
  },
});

export const routes = [start, preview, propose, one, decide];

async function loadStart({
  context,
  permitted: { slugs, list },
  typed,
}: Pick<Visit<'store' | 'keys' | 'clock' | 'jobs' | 'erasure'>, 'context' | 'permitted' | 'typed'>) {
  const waiting = (await listWaitingProposals(context)).filter(
    ({ source }) => slugs === null || slugs.includes(source ?? ''),
  );
  const jobs = (await context.jobs.list({ kind: 'erase' })).filter(
    (job) => slugs === null || slugs.includes(payloadText(job, 'source') ?? ''),
  );
  return {
    ...{ waiting, jobs, form: typed },
    sources: list(),
    seesAll: slugs === null,
    isLeft: jobs.every(({ finishedAt }) => finishedAt !== null) && (await isUnfinished(context.erasure)),
  };
}

/** The fields missing from the form below a preview. */
function problemsOfConfirmation({ cases }: Pick<Context, 'cases'>, form: Form, plan: ErasurePlan): readonly string[] {
  const despite = despiteOf(form);
  return [
    ...(form['digest'] === digestOfPlan(plan)
      ? []
      : ['The data to be erased has changed since you opened this page. Check it again before you confirm.']),
    ...(reasonOf(form) === null ? ['Choose a reason.'] : []),
    ...(cases.regimes.regimes.has(form['law'] ?? '') ? [] : ['Choose the law that applies.']),
    ...(form['sure'] === 'yes' ? [] : ['Tick the box to confirm that this cannot be undone.']),
    ...plan.needs
      .filter(({ name }) => !despite.includes(name))
      .map(({ name, why }) => `Some of it is still needed for ${name} (${why}): tick the box to erase it anyway.`),
  ];
}

async function begin(
  { context, doneSoon }: Pick<Visit<'store' | 'keys' | 'jobs'>, 'context' | 'doneSoon'>,
  proposal: ErasureProposal,
): Promise<void> {
  const id = await startErasure(context, proposal);
  if (id !== null) await doneSoon(id);
}

async function findJob({ jobs }: Pick<Context, 'jobs'>, erasureId: string): Promise<Job | null> {
  const [job = null] = await jobs.list({ kind: 'erase', key: erasureId, limit: 1 });
  return job;
}

/** Loads the plan for the choice in a form. */
async function look({ context, typed, permitted }: Pick<Visit<Parts>, 'context' | 'typed' | 'permitted'>) {
  const choice = choiceOf(typed, context.config.timeZone);
  return 'problems' in choice
    ? { outcome: 'refused' as const, problems: choice.problems }
    : { ...(await planFor(planDeps(context), choice, permitted.slugs)), choice };
}

const planDeps = ({ erasure, sources }: Pick<Context, 'erasure' | 'sources'>) => ({ ...erasure, sources });

/** Whether a profile requires two people, or cannot be read. */
async function needsTwo(
  context: Parameters<typeof sourcesNeedingSecondOfficer>[0],
  plan: ErasurePlan,
): Promise<boolean> {
  try {
    return (await sourcesNeedingSecondOfficer(context, plan)).length > 0;
  } catch (error) {
    if (error instanceof UsageError) return true;
    throw error;
  }
}

/** All laws by name, after those that apply to the request, or to the controller if no request is erased. */
async function lawOptions(
  { cases, loadProfile, sources }: Pick<Context, 'cases' | 'loadProfile' | 'sources'>,
  form: Form,
) {
  const place = form['by'] === 'case' ? await findCasePlace(cases.store.read, (form['caseId'] ?? '').trim()) : null;
  // A profile that cannot be read only changes their order.
  const profile = await loadProfile(sources.findAny(place?.source ?? form['source'] ?? '')).catch(() => null);
  const establishment = { country: null, region: null, ...profile };
  const applicable = findLaws(cases.regimes, place?.jurisdiction ?? null, establishment).laws.map(
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
  const value = (name: string) => (form[name] ?? '').trim();
  const source = value('source');
  switch (form['by']) {
    case 'subject':
      if (value('identifier') === '')
        return { problems: ['Enter the person: an e-mail address, a visitor or a record.'] };
      if (source === '') return { problems: ['Choose the source of the person.'] };
      return { by: 'subject', source, identifier: value('identifier'), withCases: form['withCases'] === 'yes' };
    case 'case':
      return value('caseId') === '' ? { problems: ['Enter the request.'] } : { by: 'case', caseId: value('caseId') };
    case 'entries': {
      const entries = value('entries')
        .split(/[\s,]+/)
        .filter((one) => one !== '');
      return entries.length === 0 ? { problems: ['Enter entry numbers.'] } : { by: 'entries', entries };
    }
    case 'period': {
      const kinds = periodKinds.filter((kind) => form[`kind-${kind}`] === 'yes');
      if (value('to') === '') return { problems: ['Enter the last day.'] };
      if (kinds.length === 0) return { problems: ['Choose the kinds of data received.'] };
      if (source === '') return { problems: ['Choose a source, or every source.'] };
      try {
        return {
          by: 'period',
          source: source === EVERY_SOURCE ? null : source,
          from: value('from') === '' ? null : startOfDay(value('from'), timeZone),
          to: startOfDay(addDays(value('to'), 1), timeZone),
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
