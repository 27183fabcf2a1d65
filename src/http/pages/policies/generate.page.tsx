import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { counted, formatCount } from '../../../../reports/format.ts';
import type { Context } from '../../../context.ts';
import type { Source } from '../../../core/source.ts';
import { type Job, payloadText } from '../../../jobs/job.ts';
import { policyIdSchema } from '../../../core/call.ts';
import { isCallable } from '../../../policies/callable-source.ts';
import { formASchema } from '../../../policies/generate.ts';
import { generateJob, OUTCOME_UNKNOWN, publishJob } from '../../../policies/jobs.ts';
import { fetchPolicyList } from '../../../policies/list.ts';
import { loadCalls } from '../../../policies/show.ts';
import { assertPolicyOf, sourcesOf } from '../../auth/access.ts';
import { officerOf } from '../../auth/sessions.ts';
import { formOf, html, pageFrame, untilDoneSoon } from '../parts/page-frame.ts';
import { JobProgress } from '../parts/job-progress.tsx';
import { Csrf, Page, type PageFrame, renderPage } from '../parts/layout.tsx';
import { allowLive, liveScriptPath } from '../parts/live-script.ts';
import { jobsOfSources } from '../today/load-today.ts';
import {
  ErrorText,
  Badge,
  Choice,
  Done,
  Facts,
  Input,
  Moment,
  NoCallableSource,
  NoSources,
  Panel,
  Problems,
  sourceOptions,
} from '../parts/parts.tsx';

/** The newest generations and publishings on the page. */
const JOBS_SHOWN = 10;

type Form = Readonly<Record<string, string>>;

/** Confirmations that an address may refer to. */
const doneTexts: Readonly<Record<string, string>> = {
  listed: 'The list of published policies was fetched.',
  unchanged: 'The list of published policies is unchanged.',
};

/** The rest of a source’s quota, as last reported by the service. */
interface Quota {
  readonly source: string;
  readonly remaining: number;
  readonly at: string;
}

/** Generates and publishes single policies, and fetches the service’s list. */
export async function policyMakeRoutes(app: FastifyInstance, context: Context): Promise<void> {
  const { read } = context.store;

  app.get('/policies/generate', (request, reply) => {
    const { done = '', job = '' } = formOf(request.query);
    return refusedBy(request, job).then((refused) =>
      send(request, reply, { done: doneTexts[done] ?? null, ...refused }),
    );
  });

  app.post('/policies/generate', async (request, reply) => {
    const form = formOf(request.body);
    const { source = '', again = '' } = form;
    const given = Object.fromEntries(
      Object.keys(formASchema.shape).flatMap((name) => {
        const value = (form[name] ?? '').trim();
        return value === '' ? [] : [[name, value]];
      }),
    );
    const parsed = formASchema.safeParse(given);
    const problems = [
      ...problemsOf(source),
      ...(parsed.success
        ? []
        : parsed.error.issues.map(({ path, message }) => `${labelOf(String(path[0]))} ${message}.`)),
    ];
    if (!parsed.success || problems.length > 0) return send(request, reply, { problems, form }, 422);
    const actor = officerOf(request).officer;
    const { id } = await context.jobs.enqueue(
      generateJob({ source, actor, form: parsed.data, again: again === 'yes' }),
    );
    await untilDoneSoon(context, id);
    const failed = (await context.jobs.find(id))?.state === 'failed';
    return reply.redirect(failed ? correctionOf(id) : '/policies/generate#made', 303);
  });

  /** What was typed for a call that failed, to be corrected, and why it failed. */
  async function refusedBy(request: FastifyRequest, id: string): Promise<Pick<GenerateProps, 'form' | 'refusal'>> {
    const found = id === '' ? null : await context.jobs.find(id);
    if (found?.kind !== 'policy-generate' || found.state !== 'failed') return {};
    const [job] = await jobsOfSources([found], sourcesOf(context, request).slugs, context.store);
    if (job === undefined) return {};
    const { source, form, again } = job.payload as { source: string; form: Form; again: boolean };
    const isUnknown = job.error?.startsWith(OUTCOME_UNKNOWN) === true;
    return { form: { ...form, source, ...(again ? { again: 'yes' } : {}) }, refusal: isUnknown ? null : job.error };
  }

  app.post('/policies/publish', async (request, reply) => {
    const { source = '', policy: policyId = '' } = formOf(request.body);
    const problems = [
      ...problemsOf(source),
      ...(policyIdSchema.safeParse(policyId).success ? [] : ['Unknown policy.']),
    ];
    if (problems.length > 0) return send(request, reply, { problems }, 422);
    await assertPolicyOf(context, request, source, policyId);
    const { id } = await context.jobs.enqueue(publishJob({ source, policyId, actor: officerOf(request).officer }));
    await untilDoneSoon(context, id);
    return reply.redirect('/policies/generate#made', 303);
  });

  app.post('/policies/list', async (request, reply) => {
    const { source: slug = '' } = formOf(request.body);
    const source = context.sources.find(slug);
    if (source === null) return send(request, reply, { problems: ['Unknown source.'] }, 422);
    const listed = await fetchPolicyList(context.policies, { source, actor: officerOf(request).officer });
    if (listed.outcome === 'failed' || listed.outcome === 'not-configured')
      return send(request, reply, { problems: [listed.reason] }, 502);
    const done = listed.outcome === 'unchanged' ? 'unchanged' : 'listed';
    return reply.redirect(`/policies/generate?done=${done}`, 303);
  });

  function problemsOf(slug: string): readonly string[] {
    const source = context.sources.find(slug);
    if (source === null) return ['Unknown source.'];
    return isCallable(source) ? [] : ['This source has no API address or no API key: set them on its page.'];
  }

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    shown: Pick<GenerateProps, 'problems' | 'refusal' | 'done' | 'form'>,
    status = 200,
  ): Promise<FastifyReply> {
    await context.projector.catchUp();
    const permitted = sourcesOf(context, request);
    const sources = permitted.list().filter(isCallable);
    const jobs = await loadJobs(permitted.slugs);
    if (jobs.some(({ finishedAt }) => finishedAt === null)) allowLive(reply);
    const props = {
      frame: pageFrame(context, request, reply),
      sources,
      hasSources: permitted.list().length > 0,
      quotas: await loadQuotas(sources),
      jobs,
      open: new Set(
        (await loadCalls(read, { sources: permitted.slugs, open: true, limit: 200 })).map(({ source }) => source),
      ),
      ...shown,
    };
    return html(reply, renderPage(<GeneratePage {...props} />), status);
  }

  async function loadJobs(slugs: readonly string[] | null): Promise<readonly Job[]> {
    const found = await Promise.all(
      ['policy-generate', 'policy-publish'].map((kind) => context.jobs.list({ kind, limit: 50 })),
    );
    return [...(await jobsOfSources(found.flat(), slugs, context.store))]
      .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
      .slice(0, JOBS_SHOWN);
  }

  async function loadQuotas(sources: readonly Source[]): Promise<readonly Quota[]> {
    const quotas: Quota[] = [];
    for (const { slug } of sources.slice(0, 20)) {
      const last = await read
        .selectFrom('calls')
        .select(['remaining', 'finished_at', 'asked_at'])
        .where('source', '=', slug)
        .where('remaining', 'is not', null)
        .orderBy('intent_seq', 'desc')
        .limit(1)
        .executeTakeFirst();
      if (last?.remaining != null)
        quotas.push({ source: slug, remaining: Number(last.remaining), at: last.finished_at ?? last.asked_at });
    }
    return quotas;
  }
}

const labels: Readonly<Record<keyof typeof formASchema.shape, string>> = {
  policy_type: 'Type',
  jurisdiction: 'Jurisdiction',
  language: 'Language',
  business_name: 'Business name',
  domain: 'Website',
  industry: 'Industry',
  business_type: 'Legal form',
};

function labelOf(name: string): string {
  return labels[name as keyof typeof labels] ?? name;
}

interface GenerateProps {
  readonly frame: PageFrame;
  /** The sources that can be called. */
  readonly sources: readonly Source[];
  readonly hasSources: boolean;
  readonly quotas: readonly Quota[];
  readonly jobs: readonly Job[];
  /** Sources with calls whose outcome is still unknown. */
  readonly open: ReadonlySet<string>;
  readonly problems?: readonly string[];
  /** Why the call with this form failed. */
  readonly refusal?: string | null;
  readonly done?: string | null;
  readonly form?: Form;
}

/** The address of the form with what was typed for a call that failed. */
function correctionOf(jobId: string): string {
  return `/policies/generate?job=${jobId}`;
}

function GeneratePage(props: GenerateProps) {
  const { frame, sources, hasSources, jobs, problems = [], refusal = null, done = null } = props;
  const isRunning = jobs.some(({ finishedAt }) => finishedAt === null);
  const published = new Set(
    jobs
      .filter(({ kind, state }) => kind === 'policy-publish' && state === 'done')
      .map((job) => payloadText(job, 'policyId')),
  );
  return (
    <Page title="Generate a policy" frame={frame} current="generate" {...(isRunning ? { script: liveScriptPath } : {})}>
      <h1>Generate a policy</h1>
      <p class="lead">
        The service writes the text, which takes up to two minutes and counts against the quota. It is public only when
        you publish it.
      </p>
      <Done text={done} />
      <Problems title="Nothing was sent:" problems={problems} />
      <Problems title="Correct it, then send it again:" problems={refusal === null ? [] : [refusal]} />
      {jobs.length === 0 ? null : (
        <Panel id="made" title="In progress and recently completed">
          <ul class="jobs">
            {jobs.map((job) => (
              <li key={job.id}>
                <MakeJob frame={frame} job={job} published={published} open={props.open} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <Panel id="generate" title="What to generate">
        {!hasSources ? (
          <NoSources frame={frame} />
        ) : sources.length === 0 ? (
          <NoCallableSource />
        ) : (
          <GenerateForm {...props} />
        )}
      </Panel>
      {sources.length === 0 ? null : <ListPanel {...props} />}
    </Page>
  );
}

function FailedBadge({
  job: { state, error },
  isOpen,
}: {
  readonly job: Pick<Job, 'state' | 'error'>;
  readonly isOpen: boolean;
}) {
  if (state === 'cancelled') return <Badge text="cancelled" tone="bad" />;
  if (error?.startsWith(OUTCOME_UNKNOWN) !== true) return <Badge text="not done" tone="bad" />;
  return isOpen ? <Badge text="outcome unknown" tone="warn" /> : <Badge text="outcome settled later" tone="calm" />;
}

function MakeJob({
  frame,
  job,
  published,
  open,
}: {
  readonly frame: PageFrame;
  readonly job: Job;
  readonly open: ReadonlySet<string>;
  /** Ids of the policies that have been published since. */
  readonly published: ReadonlySet<string | null>;
}) {
  const isPublish = job.kind === 'policy-publish';
  const source = payloadText(job, 'source') ?? '';
  const { form } = job.payload as { form?: { policy_type?: string; jurisdiction?: string; language?: string } };
  const about = isPublish
    ? (payloadText(job, 'policyId') ?? '')
    : [form?.policy_type, form?.jurisdiction, form?.language].filter((part) => part !== undefined).join(', ');
  const what = `${isPublish ? 'Publish' : 'Generate'} ${about}, ${frame.sourceName(source)}`;
  if (job.finishedAt === null) return <JobProgress job={job} what={what} again="/policies/generate#made" />;
  const { policyId, remaining, address, webhooksQueued } = (job.result ?? {}) as {
    policyId?: string;
    remaining?: number | null;
    address?: string | null;
    webhooksQueued?: number | null;
  };
  return (
    <div class="outside">
      {what}{' '}
      {job.state === 'done' ? (
        <Badge text={isPublish ? 'published' : 'generated'} tone="good" />
      ) : (
        <FailedBadge job={job} isOpen={open.has(source)} />
      )}
      <br />
      <span class="soft small">
        requested <Moment iso={job.createdAt} timeZone={frame.timeZone} /> by {payloadText(job, 'actor')}
        {remaining == null ? '' : `, ${formatCount(remaining)} left of the quota`}
        {webhooksQueued == null ? '' : `, ${counted(webhooksQueued, 'webhook', 'webhooks')} queued`}
        {address == null ? '' : `, at ${address}`}
      </span>
      {job.error === null || job.state === 'done' ? null : (
        <p class="hint">
          <ErrorText text={job.error} frame={frame} />
        </p>
      )}
      {policyId === undefined ? null : (
        <div class="buttons">
          <a href={`/policies/policy?${new URLSearchParams({ source, id: policyId }).toString()}`}>See the policy</a>
          {isPublish || !frame.canWork || published.has(policyId) ? null : (
            <PublishForm frame={frame} source={source} policyId={policyId} />
          )}
        </div>
      )}
      {job.state === 'failed' ? (
        <p class="small">
          {isPublish || !frame.canWork ? null : (
            <>
              <a href={`${correctionOf(job.id)}#generate`}>Correct it and send it again</a> ·{' '}
            </>
          )}
          <a href={`/policies/calls?${new URLSearchParams({ source }).toString()}`}>See the calls</a>
        </p>
      ) : null}
    </div>
  );
}

/** Makes a policy public. */
export function PublishForm({
  frame,
  source,
  policyId,
  again = false,
}: {
  readonly frame: PageFrame;
  readonly source: string;
  readonly policyId: string;
  /** Whether it is already public. */
  readonly again?: boolean;
}) {
  return (
    <form method="post" action="/policies/publish">
      <Csrf token={frame.csrf} />
      <input type="hidden" name="source" value={source} />
      <input type="hidden" name="policy" value={policyId} />
      <button class="quiet" type="submit" aria-label={`${again ? 'Publish again' : 'Publish'}: ${policyId}`}>
        {again ? 'Publish again' : 'Publish'}
      </button>
    </form>
  );
}

function GenerateForm({ frame, sources, quotas, form = {} }: GenerateProps) {
  const value = (name: string) => form[name] ?? '';
  const [only] = sources;
  const text = (name: keyof typeof labels, hint: string, isRequired = false) => (
    <Input
      id={name}
      label={labels[name]}
      value={value(name)}
      optional={!isRequired}
      maxLength={500}
      autocomplete="off"
      hint={hint}
    />
  );
  return (
    <form method="post" action="/policies/generate">
      <Csrf token={frame.csrf} />
      {quotas.length === 0 ? null : (
        <Facts
          rows={quotas.map(({ source, remaining, at }) => [
            sources.length > 1 ? `Quota of ${frame.sourceName(source)}` : 'Quota',
            <>
              {formatCount(remaining)} left, according to the service <Moment iso={at} timeZone={frame.timeZone} />
            </>,
          ])}
        />
      )}
      <br />
      <div class="pair">
        {sources.length === 1 ? (
          <input type="hidden" name="source" value={only?.slug} />
        ) : (
          <Choice id="source" label="Source" value={form['source']} options={sourceOptions(sources)} />
        )}
        {text('policy_type', 'Such as privacy-policy or cookie-policy.', true)}
        {text('jurisdiction', 'Such as GB, US-CA or EU.', true)}
        {text('language', 'Two letters; English if empty.')}
        {text('business_name', 'The business named in the policy.')}
        {text('domain', 'Its website.')}
        {text('industry', 'Such as e-commerce, saas or healthcare.')}
        {text('business_type', 'Such as limited-company, gmbh or sole-trader.')}
      </div>
      <label class="box">
        <input type="checkbox" name="again" value="yes" checked={form['again'] === 'yes'} /> Send it although the
        outcome of an identical request is still unknown; both may count against the quota
      </label>
      <div class="buttons">
        <button type="submit">Generate</button>
        <a href="/policies/bulk">Many at once</a>
      </div>
    </form>
  );
}

function ListPanel({ frame, sources }: GenerateProps) {
  const [only] = sources;
  return (
    <Panel id="list" title="The service’s list">
      <p>Fetches the list of published policies, so that the catalogue includes those that no delivery reported.</p>
      <form class="buttons" method="post" action="/policies/list">
        <Csrf token={frame.csrf} />
        {sources.length === 1 ? (
          <input type="hidden" name="source" value={only?.slug} />
        ) : (
          <Choice id="list-source" name="source" label="Source" options={sourceOptions(sources)} />
        )}
        <button class="quiet" type="submit">
          Fetch the list
        </button>
      </form>
    </Panel>
  );
}
