import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { counted, formatCount } from '../../../../reports/format.ts';
import type { Context } from '../../../context.ts';
import { CodedError, UsageError } from '../../../core/errors.ts';
import type { Source } from '../../../core/source.ts';
import { type Job, payloadText } from '../../../jobs/job.ts';
import { loadPlanItems, planBulk } from '../../../policies/bulk.ts';
import { formAFields, LARGEST_BULK_FILE } from '../../../policies/bulk-file.ts';
import { isCallable } from '../../../policies/callable-source.ts';
import type { FormA } from '../../../policies/generate.ts';
import { bulkJob, publishJob } from '../../../policies/jobs.ts';
import type { ItemRow } from '../../../policies/settle-calls.ts';
import { sourcesOf } from '../../auth/access.ts';
import { officerOf } from '../../auth/sessions.ts';
import { formOf, html, pageFrame, untilDoneSoon } from '../parts/page-frame.ts';
import { JobProgress } from '../parts/job-progress.tsx';
import { Csrf, Page, type PageFrame, renderPage } from '../parts/layout.tsx';
import { allowLive, liveScriptPath } from '../parts/live-script.ts';
import {
  ErrorText,
  Badge,
  Choice,
  type Column,
  Field,
  Input,
  Moment,
  NoCallableSource,
  NoSources,
  Notice,
  Panel,
  Problems,
  sourceOptions,
  Table,
} from '../parts/parts.tsx';
import { uploadForm } from '../parts/upload.ts';
import type { Worded } from '../parts/words.ts';

/** Lists, and items of one list, per page. */
const SHOWN = 50;
const ITEMS_SHOWN = 200;

const stateTexts: Readonly<Record<ItemRow['state'], Worded>> = {
  created: { text: 'created', tone: 'good' },
  skipped: { text: 'skipped: beyond the quota', tone: 'warn' },
  failed: { text: 'failed', tone: 'bad' },
  unknown: { text: 'outcome unknown', tone: 'warn' },
  sent: { text: 'sent, no response yet', tone: 'calm' },
  planned: { text: 'not sent', tone: 'calm' },
};

type Form = Readonly<Record<string, string>>;

interface Plan {
  readonly plan_id: string;
  readonly source: string;
  readonly actor: string;
  readonly file: string | null;
  readonly items: number;
  readonly created_at: string;
}

/** Many policies at once, in batches within the service’s limits: nothing is sent twice, and the rest can be sent later. */
export async function policyBulkRoutes(app: FastifyInstance, context: Context): Promise<void> {
  const { read } = context.store;

  app.get('/policies/bulk', (request, reply) => sendList(context, request, reply, {}, []));

  app.post('/policies/bulk', (request, reply) => {
    const form = formOf(request.body);
    return sendItems(context, request, reply, form, { bytes: Buffer.from(form['list'] ?? ''), fileName: null });
  });

  app.get('/policies/bulk/plan', async (request, reply) => {
    const { source = '', id = '', done = '' } = formOf(request.query);
    await context.projector.catchUp();
    const plan = await findPlan(request, source, id);
    const job = await findJob(plan.plan_id);
    const items = await loadPlanItems(context.policies, plan.plan_id);
    if (job?.finishedAt === null && job.state === 'running') allowLive(reply);
    const page = (
      <PlanPage
        frame={pageFrame(context, request, reply)}
        plan={plan}
        items={items}
        unpublished={await unpublishedOf(plan.source, items)}
        job={job}
        hasBegunBefore={done === 'exists'}
        isPublishing={done === 'publishing'}
      />
    );
    return html(reply, renderPage(page));
  });

  app.post('/policies/bulk/send', async (request, reply) => {
    const { source = '', plan: id = '', failed = '' } = formOf(request.body);
    const { plan_id: planId } = await findPlan(request, source, id);
    const actor = officerOf(request).officer;
    const job = await context.jobs.enqueue(bulkJob({ source, planId, actor, retryFailed: failed === 'yes' }));
    await untilDoneSoon(context, job.id);
    return reply.redirect(addressOf(source, planId), 303);
  });

  app.post('/policies/bulk/publish', async (request, reply) => {
    const { source = '', plan: id = '' } = formOf(request.body);
    const { plan_id: planId } = await findPlan(request, source, id);
    await context.projector.catchUp();
    const actor = officerOf(request).officer;
    const waiting = await unpublishedOf(source, await loadPlanItems(context.policies, planId));
    await context.jobs.enqueueAll(waiting.map((policyId) => publishJob({ source, policyId, actor })));
    return reply.redirect(`${addressOf(source, planId)}&done=publishing`, 303);
  });

  app.post('/policies/bulk/stop', async (request, reply) => {
    const { source = '', plan: id = '' } = formOf(request.body);
    const { plan_id: planId } = await findPlan(request, source, id);
    const job = await findJob(planId);
    if (job !== null && job.finishedAt === null) await context.jobs.cancel(job.id);
    return reply.redirect(addressOf(source, planId), 303);
  });

  async function findPlan(request: FastifyRequest, slug: string, id: string): Promise<Plan> {
    const source = sourcesOf(context, request).findAny(slug);
    const plan =
      source === null
        ? undefined
        : await read
            .selectFrom('call_plans')
            .selectAll()
            .where('plan_id', '=', id)
            .where('source', '=', source.slug)
            .executeTakeFirst();
    if (plan === undefined) throw new CodedError('not_found');
    return plan;
  }

  /** The policies that a plan created and that neither a delivery nor a call from here says were published. */
  async function unpublishedOf(source: string, items: readonly ItemRow[]): Promise<readonly string[]> {
    const created = items.flatMap(({ policy_id: policyId }) => policyId ?? []);
    if (created.length === 0) return [];
    const [told, called] = await Promise.all([
      read
        .selectFrom('policies')
        .select('policy_id')
        .where('source', '=', source)
        .where('published_at', 'is not', null)
        .execute(),
      read
        .selectFrom('calls')
        .select('policy_id')
        .where('source', '=', source)
        .where('operation', '=', 'publish')
        .where('state', 'in', ['done', 'happened'])
        .execute(),
    ]);
    const published = new Set([...told, ...called].map(({ policy_id: policyId }) => policyId));
    return created.filter((policyId) => !published.has(policyId));
  }

  /** The current job of a plan: waiting and running ones come before ended ones. */
  async function findJob(planId: string): Promise<Job | null> {
    const jobs = (await context.jobs.list({ kind: 'policy-bulk', limit: 200 })).filter(
      (job) => payloadText(job, 'planId') === planId,
    );
    return jobs.find(({ finishedAt }) => finishedAt === null) ?? jobs[0] ?? null;
  }
}

/** The same list as an uploaded file. */
export async function policyBulkUploadRoutes(app: FastifyInstance, context: Context): Promise<void> {
  await uploadForm(app, {
    path: '/policies/bulk/file',
    bytes: LARGEST_BULK_FILE,
    tooLarge: (request, reply) =>
      sendList(context, request, reply, {}, ['The file is larger than 5 MiB: split it.'], 413),
    handler: (request, reply, file) => {
      const form = formOf(request.body);
      return file === null
        ? sendList(context, request, reply, form, ['Choose a file.'], 422)
        : sendItems(context, request, reply, form, { ...file, fileName: file.fileName.slice(0, 200) });
    },
  });
}

/** Sends the items of a list, unless it has problems. */
async function sendItems(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  form: Form,
  { bytes, fileName }: { readonly bytes: Buffer; readonly fileName: string | null },
): Promise<FastifyReply> {
  const refuse = (problems: readonly string[], status = 422) =>
    sendList(context, request, reply, form, problems, status);
  const source = context.sources.find(form['source'] ?? '');
  if (source === null || !isCallable(source)) return refuse(['Choose a source with an API address and an API key.']);
  let items: readonly FormA[];
  try {
    items = await context.readBulkItems(bytes, fileName === null ? 'The list' : 'The file');
  } catch (error) {
    if (error instanceof UsageError) return refuse(error.problems);
    throw error;
  }
  const actor = officerOf(request).officer;
  const planned = await planBulk(context.policies, {
    ...{ source, actor, items, again: form['again'] === 'yes' },
    file: fileName === '' ? null : fileName,
  });
  switch (planned.outcome) {
    case 'planned': {
      const { planId } = planned;
      const { id } = await context.jobs.enqueue(bulkJob({ source: source.slug, planId, actor, retryFailed: false }));
      await untilDoneSoon(context, id);
      return reply.redirect(addressOf(source.slug, planId), 303);
    }
    case 'exists':
      return reply.redirect(`${addressOf(source.slug, planned.plan.plan_id)}&done=exists`, 303);
    case 'sent-before': {
      const { positions } = planned;
      const which = positions
        .slice(0, 10)
        .map((position) => position + 1)
        .join(', ');
      const problem = `${counted(positions.length, 'item was', 'items were')} already sent (${which}${positions.length > 10 ? ', …' : ''}): leave them out, or tick the box to generate them a second time.`;
      return refuse([problem], 409);
    }
    default:
      return planned satisfies never;
  }
}

async function sendList(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  form: Form,
  problems: readonly string[],
  status = 200,
): Promise<FastifyReply> {
  await context.projector.catchUp();
  const permitted = sourcesOf(context, request);
  const { slugs } = permitted;
  const plans = await context.store.read
    .selectFrom('call_plans')
    .selectAll()
    .$if(slugs !== null, (some) => some.where('source', 'in', [...(slugs ?? [])]))
    .orderBy('seq', 'desc')
    .limit(SHOWN)
    .execute();
  const props = {
    frame: pageFrame(context, request, reply),
    plans,
    sources: permitted.list().filter(isCallable),
    hasSources: permitted.list().length > 0,
    form,
    problems,
  };
  return html(reply, renderPage(<BulkPage {...props} />), status);
}

function addressOf(source: string, id: string): string {
  return `/policies/bulk/plan?${new URLSearchParams({ source, id }).toString()}`;
}

interface BulkProps {
  readonly frame: PageFrame;
  readonly plans: readonly Plan[];
  readonly sources: readonly Source[];
  readonly hasSources: boolean;
  readonly form: Form;
  readonly problems: readonly string[];
}

function BulkPage({ frame, plans, sources, hasSources, form, problems }: BulkProps) {
  const sourceField = (id: string) =>
    sources.length === 1 ? (
      <input type="hidden" name="source" value={sources[0]?.slug} />
    ) : (
      <Choice id={id} name="source" label="Source" value={form['source']} options={sourceOptions(sources)} />
    );
  const again = (
    <label class="box">
      <input type="checkbox" name="again" value="yes" checked={form['again'] === 'yes'} /> Generate again items already
      sent
    </label>
  );
  return (
    <Page title="Bulk generation" frame={frame} current="bulk">
      <h1>Bulk generation</h1>
      <p class="lead">
        Many policies at once, in batches within the service’s limits. Nothing is sent twice; items beyond the quota can
        be sent later.
      </p>
      <Problems title="Nothing was sent:" problems={problems} />
      <Panel id="plans" title="Lists">
        {plans.length === 0 ? (
          <p>None yet.</p>
        ) : (
          <Table
            caption={`Newest first${plans.length === SHOWN ? `, the last ${SHOWN}` : ''}.`}
            columns={planColumns(frame)}
            rows={plans}
          />
        )}
      </Panel>
      {!frame.canWork ? null : (
        <Panel id="new" title="Send a list">
          {!hasSources ? (
            <NoSources frame={frame} />
          ) : sources.length === 0 ? (
            <NoCallableSource />
          ) : (
            <>
              <form method="post" action="/policies/bulk/file" enctype="multipart/form-data">
                <Csrf token={frame.csrf} />
                {sourceField('file-source')}
                <Input
                  id="file"
                  label="File"
                  type="file"
                  accept=".csv,.json,text/csv,text/plain,application/json"
                  hint={`CSV with commas, semicolons or tabs, or JSON: a line or object for each policy with ${formAFields.join(', ')}. Only the first two are needed. At most 5 MiB.`}
                />
                {again}
                <div class="buttons">
                  <button type="submit">Send the file</button>
                </div>
              </form>
              <details open={form['list'] !== undefined}>
                <summary>Or paste the list</summary>
                <form method="post" action="/policies/bulk">
                  <Csrf token={frame.csrf} />
                  {sourceField('source')}
                  <Field
                    id="list"
                    label="Policies"
                    hint="Rows copied from a spreadsheet, including the header row, up to 60,000 characters."
                  >
                    <textarea id="list" name="list" rows={12} required aria-describedby="list-hint" spellcheck={false}>
                      {form['list'] ?? 'policy_type,jurisdiction,language,business_name\n'}
                    </textarea>
                  </Field>
                  {again}
                  <div class="buttons">
                    <button type="submit">Send the list</button>
                  </div>
                </form>
              </details>
            </>
          )}
        </Panel>
      )}
    </Page>
  );
}

function planColumns(frame: PageFrame): readonly Column<Plan>[] {
  return [
    {
      title: 'List',
      cell: ({ plan_id: id, source, file, created_at: at }) => (
        <>
          <a href={addressOf(source, id)}>
            {file === null ? <Moment iso={at} timeZone={frame.timeZone} /> : <bdi>{file}</bdi>}
          </a>
          <br />
          <span class="soft small">{frame.sourceName(source)}</span>
        </>
      ),
    },
    { title: 'Policies', isNumber: true, cell: ({ items }) => formatCount(items) },
    { title: 'Begun', cell: ({ created_at: at }) => <Moment iso={at} timeZone={frame.timeZone} /> },
    { title: 'By', cell: ({ actor }) => <bdi>{actor}</bdi> },
  ];
}

interface PlanProps {
  readonly frame: PageFrame;
  readonly plan: Plan;
  readonly items: readonly ItemRow[];
  /** Ids of created policies that are not published yet. */
  readonly unpublished: readonly string[];
  readonly job: Job | null;
  readonly hasBegunBefore: boolean;
  readonly isPublishing: boolean;
}

function PlanPage({ frame, plan, items, unpublished, job, hasBegunBefore, isPublishing }: PlanProps) {
  const isOpen = job !== null && job.finishedAt === null;
  const count = (state: ItemRow['state']) => items.filter((item) => item.state === state).length;
  const here = addressOf(plan.source, plan.plan_id);
  const rest = count('planned') + count('skipped');
  return (
    <Page
      title={`Bulk generation of ${counted(plan.items, 'policy', 'policies')}`}
      frame={frame}
      within="bulk"
      {...(isOpen && job.state === 'running' ? { script: liveScriptPath } : {})}
    >
      <h1>Bulk generation</h1>
      <p class="lead">
        {counted(plan.items, 'policy', 'policies')} for {frame.sourceName(plan.source)}, begun{' '}
        <Moment iso={plan.created_at} timeZone={frame.timeZone} /> by <bdi>{plan.actor}</bdi>
      </p>
      {hasBegunBefore ? (
        <Notice tone="warn">
          <p>This list was started before. Nothing was sent a second time.</p>
        </Notice>
      ) : null}
      <Panel id="progress" title="Progress">
        <p>
          {(Object.keys(stateTexts) as ItemRow['state'][])
            .filter((state) => count(state) > 0)
            .map((state) => (
              <span key={state}>
                <Badge
                  text={`${formatCount(count(state))} ${stateTexts[state].text}`}
                  tone={stateTexts[state].tone}
                />{' '}
              </span>
            ))}
        </p>
        {isOpen ? (
          <>
            <JobProgress job={job} what="Sending" again={here} />
            {job.state === 'waiting' && job.runAt > job.updatedAt ? (
              <p class="hint">
                It continues <Moment iso={job.runAt} timeZone={frame.timeZone} />: the service’s limits allow nothing
                before.
              </p>
            ) : null}
          </>
        ) : job?.state === 'failed' ? (
          <Notice tone="bad">
            <p>
              <ErrorText text={job.error ?? ''} frame={frame} />
            </p>
          </Notice>
        ) : null}
        {!frame.canWork ? null : isOpen ? (
          <form class="buttons" method="post" action="/policies/bulk/stop">
            <Csrf token={frame.csrf} />
            <input type="hidden" name="source" value={plan.source} />
            <input type="hidden" name="plan" value={plan.plan_id} />
            <button class="quiet" type="submit">
              Stop
            </button>
          </form>
        ) : rest + count('failed') > 0 ? (
          <form class="buttons" method="post" action="/policies/bulk/send">
            <Csrf token={frame.csrf} />
            <input type="hidden" name="source" value={plan.source} />
            <input type="hidden" name="plan" value={plan.plan_id} />
            {count('failed') === 0 ? null : (
              <label class="box">
                <input type="checkbox" name="failed" value="yes" checked={rest === 0} /> also failed items
              </label>
            )}
            <button type="submit">Send the rest</button>
          </form>
        ) : null}
        {count('unknown') > 0 ? (
          <p class="small">
            Items with an unknown outcome are not sent again automatically:{' '}
            <a href={`/policies/calls?open=yes&source=${plan.source}`}>settle it</a>
          </p>
        ) : null}
      </Panel>
      {isPublishing ? (
        <Notice tone="good">
          <p>
            The policies are being published, one after the other. <a href={here}>See how far it is</a>
          </p>
        </Notice>
      ) : null}
      <Panel id="items" title="Policies">
        {unpublished.length === 0 ? null : !frame.canWork || isOpen ? (
          <p>{counted(unpublished.length, 'policy is', 'policies are')} not published yet.</p>
        ) : (
          <form class="buttons" method="post" action="/policies/bulk/publish">
            <Csrf token={frame.csrf} />
            <input type="hidden" name="source" value={plan.source} />
            <input type="hidden" name="plan" value={plan.plan_id} />
            <button type="submit">
              {unpublished.length === 1
                ? 'Publish the policy'
                : `Publish all ${formatCount(unpublished.length)} policies`}
            </button>
          </form>
        )}
        <Table
          caption={items.length > ITEMS_SHOWN ? `The first ${ITEMS_SHOWN} of ${formatCount(items.length)}.` : null}
          columns={itemColumns(new Set(unpublished))}
          rows={items.slice(0, ITEMS_SHOWN)}
        />
      </Panel>
    </Page>
  );
}

const itemColumns = (unpublished: ReadonlySet<string>): readonly Column<ItemRow>[] => [
  {
    title: 'Policy',
    cell: ({ item, position }) => {
      const { policy_type: type, jurisdiction, language } = JSON.parse(item) as FormA;
      return (
        <>
          {position + 1}. {[type, jurisdiction, language].filter((part) => part !== undefined).join(', ')}
        </>
      );
    },
  },
  {
    title: 'Business',
    cell: ({ item }) => <bdi class="outside">{(JSON.parse(item) as FormA).business_name ?? ''}</bdi>,
  },
  {
    title: 'Result',
    cell: ({ state, policy_id: id }) =>
      id === null || unpublished.has(id) ? <Badge {...stateTexts[state]} /> : <Badge text="published" tone="good" />,
  },
  {
    title: 'Id',
    cell: ({ policy_id: id, source }) =>
      id === null ? null : (
        <a class="outside" href={`/policies/policy?${new URLSearchParams({ source, id }).toString()}`}>
          <bdi>{id}</bdi>
        </a>
      ),
  },
];
