import { z } from 'zod';
import { counted, formatCount } from '../../../../reports/format.ts';
import type { Context } from '../../../context/context.ts';
import type { Source } from '../../../core/source.ts';
import { type Job, payloadText } from '../../../jobs/job.ts';
import { isCallable } from '../../../policies/callable-source.ts';
import { formASchema } from '../../../policies/generate.ts';
import { fetchPolicyList, loadPublishedLink } from '../../../policies/list.ts';
import { generateJob, OUTCOME_UNKNOWN } from '../../../policies/policy-jobs.ts';
import { loadCalls, loadQuotas, type PublicAddress, publicAddressOf, type Quota } from '../../../policies/show.ts';
import { pagesWith, type Said, text, ticked } from '../parts/define-page.ts';
import { JobProgress } from '../parts/job-progress.tsx';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { allowLive, liveScriptPath } from '../parts/live-script.ts';
import {
  Badge,
  Done,
  ErrorText,
  Facts,
  Input,
  Moment,
  NoCallableSource,
  NoSources,
  Panel,
  Problems,
  SourceChoice,
} from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { jobsOfSources } from '../today/load-today.ts';
import { PublishLink } from './publish-link.tsx';
import { PublicLink } from './text-parts.tsx';

const { page, form } = pagesWith<'store' | 'jobs' | 'sources' | 'projector' | 'policies'>();

/** The newest generations and publishings on the page, and sources whose quota is shown. */
const JOBS_SHOWN = 10;
const QUOTAS_SHOWN = 20;

type Form = Readonly<Record<string, string>>;

/** Single policies: generated, published. `job`: a call that failed, to be corrected. */
const policies = page({
  path: '/policies/generate',
  rule: { who: 'work', source: 'installation' },
  query: z.object({ job: text }),
  done: {
    listed: 'The list of published policies was fetched.',
    unchanged: 'The list of published policies is unchanged.',
  },
  async load({ context, permitted, reply, fields }) {
    const failed = await failedCall(context, permitted.slugs, fields.job);
    await context.projector.catchUp();
    const { read } = context.store;
    const sources = permitted.list().filter(isCallable);
    const jobs = await loadJobs(context, permitted.slugs);
    if (jobs.some(({ finishedAt }) => finishedAt === null)) allowLive(reply);
    return {
      sources,
      hasSources: permitted.list().length > 0,
      quotas: await loadQuotas(
        read,
        sources.slice(0, QUOTAS_SHOWN).map(({ slug }) => slug),
      ),
      jobs,
      publicAt: await loadAddresses(read, jobs),
      open: new Set(
        (await loadCalls(read, { sources: permitted.slugs, open: true, limit: 200 })).map(({ source }) => source),
      ),
      failed,
    };
  },
  show: (data, { frame, said }) => <GeneratePage frame={frame} {...data} said={said} />,
});

const fieldsOfForm = formASchema.keyof().options;

const generate = form({
  path: '/policies/generate',
  rule: { who: 'work', source: 'form', isWritten: true },
  body: z.object({ source: text, again: ticked }),
  async act(visit) {
    const { context, by, fields, typed } = visit;
    const { source, again } = fields;
    const given = Object.fromEntries(
      fieldsOfForm.flatMap((name) => {
        const value = (typed[name] ?? '').trim();
        return value === '' ? [] : [[name, value]];
      }),
    );
    const parsed = formASchema.safeParse(given);
    const problems = [
      ...problemsOf(context, source),
      ...(parsed.success
        ? []
        : parsed.error.issues.map(({ path, message }) => `${labelOf(String(path[0]))} ${message}.`)),
    ];
    if (!parsed.success || problems.length > 0)
      return policies.again(visit, { fields: { job: '' }, said: { problems } });
    const { id } = await context.jobs.enqueue(generateJob({ source, actor: by.officer, form: parsed.data, again }));
    await visit.doneSoon(id);
    const failed = (await context.jobs.find(id))?.state === 'failed';
    return visit.goTo(failed ? correctionOf(id) : '/policies/generate#made');
  },
});

const fetchList = form({
  path: '/policies/list',
  rule: { who: 'work', source: 'form' },
  body: z.object({ source: text }),
  async act(visit) {
    const { context, by, fields } = visit;
    const refuse = (problem: string, status: number) =>
      policies.again(visit, { fields: { job: '' }, said: { problems: [problem], form: {} }, status });
    const source = context.sources.find(fields.source);
    if (source === null) return refuse('Unknown source.', 422);
    const listed = await fetchPolicyList(context.policies, { source, actor: by.officer });
    if (listed.outcome === 'failed' || listed.outcome === 'not-configured') return refuse(listed.reason, 502);
    return visit.goTo(`/policies/generate?done=${listed.outcome === 'unchanged' ? 'unchanged' : 'listed'}`);
  },
});

export const routes = [policies, generate, fetchList];

/** What was typed for a call that failed, to be corrected, and why it failed; null: unknown, or it did not fail. */
async function failedCall(
  { jobs, store }: Pick<Context, 'jobs' | 'store'>,
  slugs: readonly string[] | null,
  id: string,
): Promise<GenerateProps['failed']> {
  const found = id === '' ? null : await jobs.find(id);
  if (found?.kind !== 'policy-generate' || found.state !== 'failed') return null;
  const [job] = await jobsOfSources([found], slugs, store);
  if (job === undefined) return null;
  const { source, form: sent, again } = job.payload as { source: string; form: Form; again: boolean };
  const isUnknown = job.error?.startsWith(OUTCOME_UNKNOWN) === true;
  return { form: { ...sent, source, ...(again ? { again: 'yes' } : {}) }, refusal: isUnknown ? null : job.error };
}

function problemsOf({ sources }: Pick<Context, 'sources'>, slug: string): readonly string[] {
  const source = sources.find(slug);
  if (source === null) return ['Unknown source.'];
  return isCallable(source) ? [] : ['This source has no API address or no API key: set them on its page.'];
}

async function loadJobs(
  { jobs, store }: Pick<Context, 'jobs' | 'store'>,
  slugs: readonly string[] | null,
): Promise<readonly Job[]> {
  const found = await Promise.all(['policy-generate', 'policy-publish'].map((kind) => jobs.list({ kind, limit: 50 })));
  return [...(await jobsOfSources(found.flat(), slugs, store))]
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
    .slice(0, JOBS_SHOWN);
}

/** The working addresses of what these jobs published, by job. */
async function loadAddresses(
  read: Context['store']['read'],
  jobs: readonly Job[],
): Promise<ReadonlyMap<string, PublicAddress>> {
  const found = await Promise.all(
    jobs.map(async ({ id, result }) => {
      const { policyId, address, seq } = (result ?? {}) as { policyId?: string; address?: string; seq?: number };
      if (policyId === undefined || address == null || seq === undefined) return null;
      const link = await loadPublishedLink(read, { answer_seq: seq, policy_id: policyId });
      const publicAt = publicAddressOf(link ?? address);
      return publicAt === null ? null : ([id, publicAt] as const);
    }),
  );
  return new Map(found.filter((one) => one !== null));
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
  /** The addresses of what they published, by job. */
  readonly publicAt: ReadonlyMap<string, PublicAddress>;
  /** Sources with calls whose outcome is still unknown. */
  readonly open: ReadonlySet<string>;
  /** A call that failed: what was typed for it, and why it failed if that is known. */
  readonly failed: { readonly form: Form; readonly refusal: string | null } | null;
  readonly said: Said;
}

/** The address of the form with what was typed for a call that failed. */
function correctionOf(jobId: string): string {
  return `/policies/generate?job=${jobId}`;
}

function GeneratePage(props: GenerateProps) {
  const { frame, sources, hasSources, jobs, failed, said } = props;
  const refusal = failed?.refusal ?? null;
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
      <Done text={said.done} />
      <Problems title="Nothing was sent:" problems={said.problems} />
      <Problems title="Correct it, then send it again:" problems={refusal === null ? [] : [refusal]} />
      {jobs.length === 0 ? null : (
        <Panel id="made" title="In progress and recently completed">
          <ul class="jobs">
            {jobs.map((job) => (
              <li key={job.id}>
                <MakeJob
                  frame={frame}
                  job={job}
                  published={published}
                  open={props.open}
                  publicAt={props.publicAt.get(job.id)}
                />
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
  publicAt,
}: {
  readonly frame: PageFrame;
  readonly job: Job;
  readonly publicAt: PublicAddress | undefined;
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
        {publicAt !== undefined ? (
          <>
            , at <PublicLink {...publicAt} />
          </>
        ) : address == null ? (
          ''
        ) : (
          `, at ${address}`
        )}
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
            <PublishLink source={source} policyId={policyId} />
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

function GenerateForm({ frame, sources, quotas, failed, said }: GenerateProps) {
  const form = failed?.form ?? said.form;
  const value = (name: string) => form[name] ?? '';
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
    <PostForm frame={frame} action="/policies/generate">
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
        <SourceChoice frame={frame} sources={sources} value={form['source']} />
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
    </PostForm>
  );
}

function ListPanel({ frame, sources }: GenerateProps) {
  return (
    <Panel id="list" title="The service’s list">
      <p>Fetches the list of published policies, so that the catalogue includes those that no delivery reported.</p>
      <PostForm frame={frame} action="/policies/list" class="buttons">
        <SourceChoice id="list-source" frame={frame} sources={sources} />
        <button class="quiet" type="submit">
          Fetch the list
        </button>
      </PostForm>
    </Panel>
  );
}
