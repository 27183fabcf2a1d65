import { z } from 'zod';
import { counted, formatCount, formatTime } from '../../../../reports/format.ts';
import type { Context } from '../../../context/context.ts';
import { CodedError, UsageError } from '../../../core/errors.ts';
import type { Source } from '../../../core/source.ts';
import type { Job } from '../../../jobs/job.ts';
import {
  listPlans,
  listUnpublished,
  loadPlan,
  loadPlanItems,
  type PlanRow,
  planBulk,
  sentBeforeText,
} from '../../../policies/bulk.ts';
import { formAFields, LARGEST_BULK_FILE } from '../../../policies/bulk-file.ts';
import { isCallable } from '../../../policies/callable-source.ts';
import type { FormA } from '../../../policies/generate.ts';
import { bulkJob, findBulkJob, publishJob } from '../../../policies/policy-jobs.ts';
import type { ItemRow } from '../../../policies/settle-calls.ts';
import { pagesWith, text, ticked, type Visit } from '../parts/define-page.ts';
import { JobProgress } from '../parts/job-progress.tsx';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { allowLive, liveScriptPath } from '../parts/live-script.ts';
import {
  Badge,
  type Column,
  ErrorText,
  Field,
  Input,
  Moment,
  NoCallableSource,
  NoSources,
  Notice,
  Panel,
  Problems,
  SourceChoice,
  Table,
} from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import type { Worded } from '../parts/words.ts';

type Needs = 'config' | 'store' | 'jobs' | 'sources' | 'projector' | 'policies' | 'readBulkItems';
const { page, form, upload } = pagesWith<Needs>();

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

/** Many policies at once, in batches within the service’s limits: nothing is sent twice, and the rest can be sent later. */
const bulk = page({
  path: '/policies/bulk',
  rule: { who: 'read', source: 'installation' },
  async load({ context, permitted }) {
    await context.projector.catchUp();
    const plans = await listPlans(context.store.read, { sources: permitted.slugs, limit: SHOWN });
    return { plans, sources: permitted.list().filter(isCallable), hasSources: permitted.list().length > 0 };
  },
  show: (data, { frame, said }) => <BulkPage frame={frame} {...data} form={said.form} problems={said.problems} />,
});

const listFields = z.object({ source: text, list: text, again: ticked });

const pasted = form({
  path: '/policies/bulk',
  rule: { who: 'work', source: 'form', isWritten: true },
  body: listFields,
  act: (visit) => sendItems(visit, { bytes: Buffer.from(visit.fields.list), fileName: null }),
});

/** The same list as an uploaded file. */
const uploaded = upload({
  path: '/policies/bulk/file',
  rule: { who: 'work', source: 'form' },
  body: listFields,
  bytes: LARGEST_BULK_FILE,
  tooLarge: (visit) => refuse(visit, ['The file is larger than 5 MiB: split it.'], { form: {}, status: 413 }),
  act: async (visit, file) =>
    file === null
      ? refuse(visit, ['Choose a file.'])
      : sendItems(visit, { ...file, fileName: file.fileName.slice(0, 200) }),
});

/** A list that was sent: what became of each item. */
const onePlan = page({
  path: '/policies/bulk/plan',
  rule: { who: 'read', source: 'query' },
  query: z.object({ source: text, id: text }),
  async load({ context, permitted, reply, fields, typed }) {
    const { done } = typed;
    await context.projector.catchUp();
    const plan = await findPlan(context, permitted, fields.source, fields.id);
    const job = await findBulkJob(context.jobs, plan.plan_id);
    const items = await loadPlanItems(context.policies, plan.plan_id);
    if (job?.finishedAt === null && job.state === 'running') allowLive(reply);
    return {
      plan,
      items,
      unpublished: await listUnpublished(context.store.read, plan.source, items),
      job,
      hasBegunBefore: done === 'exists',
      isPublishing: done === 'publishing',
    };
  },
  show: (data, { frame, said }) => <PlanPage frame={frame} {...data} problems={said.problems} />,
});

const send = form({
  path: '/policies/bulk/send',
  rule: { who: 'work', source: 'form' },
  body: z.object({ source: text, plan: text, failed: ticked }),
  async act({ context, permitted, by, fields: { source, plan, failed }, doneSoon, goTo }) {
    const { plan_id: planId } = await findPlan(context, permitted, source, plan);
    const job = await context.jobs.enqueue(bulkJob({ source, planId, actor: by.officer, retryFailed: failed }));
    await doneSoon(job.id);
    return goTo(addressOf(source, planId));
  },
});

const publish = form({
  path: '/policies/bulk/publish',
  rule: { who: 'work', source: 'form' },
  body: z.object({ source: text, plan: text, read: ticked }),
  async act(visit) {
    const { context, permitted, by, fields } = visit;
    const { source, plan } = fields;
    const { plan_id: planId } = await findPlan(context, permitted, source, plan);
    if (!fields.read)
      return onePlan.again(visit, {
        fields: { source, id: planId },
        said: { problems: ['Read the texts in the service first, then tick that you did.'] },
      });
    await context.projector.catchUp();
    const waiting = await listUnpublished(context.store.read, source, await loadPlanItems(context.policies, planId));
    // The response to a batch has no texts, so none could be shown.
    const shown = { textSha256: null, seq: null, readInService: true };
    await context.jobs.enqueueAll(
      waiting.map((policyId) => publishJob({ source, policyId, actor: by.officer, shown })),
    );
    return visit.goTo(`${addressOf(source, planId)}&done=publishing`);
  },
});

const stop = form({
  path: '/policies/bulk/stop',
  rule: { who: 'work', source: 'form' },
  body: z.object({ source: text, plan: text }),
  async act({ context, permitted, fields: { source, plan }, goTo }) {
    const { plan_id: planId } = await findPlan(context, permitted, source, plan);
    const job = await findBulkJob(context.jobs, planId);
    if (job !== null && job.finishedAt === null) await context.jobs.cancel(job.id);
    return goTo(addressOf(source, planId));
  },
});

export const routes = [bulk, pasted, uploaded, onePlan, send, publish, stop];

function refuse(
  visit: Visit<Needs>,
  problems: readonly string[],
  { form: typed = visit.typed, status = 422 }: { readonly form?: Form; readonly status?: number } = {},
) {
  return bulk.again(visit, { fields: {}, said: { problems, form: typed }, status });
}

/** Sends the items of a list, unless it has problems. */
async function sendItems(
  visit: Visit<Needs, z.infer<typeof listFields>>,
  { bytes, fileName }: { readonly bytes: Buffer; readonly fileName: string | null },
) {
  const { context, by, fields } = visit;
  const source = context.sources.find(fields.source);
  if (source === null || !isCallable(source))
    return refuse(visit, ['Choose a source with an API address and an API key.']);
  let items: readonly FormA[];
  try {
    items = await context.readBulkItems(bytes, fileName === null ? 'The list' : 'The file');
  } catch (error) {
    if (error instanceof UsageError) return refuse(visit, error.problems);
    throw error;
  }
  const actor = by.officer;
  const planned = await planBulk(context.policies, {
    ...{ source, actor, items, again: fields.again },
    file: fileName === '' ? null : fileName,
  });
  switch (planned.outcome) {
    case 'planned': {
      const { planId } = planned;
      const { id } = await context.jobs.enqueue(bulkJob({ source: source.slug, planId, actor, retryFailed: false }));
      await visit.doneSoon(id);
      return visit.goTo(addressOf(source.slug, planId));
    }
    case 'exists':
      return visit.goTo(`${addressOf(source.slug, planned.plan.plan_id)}&done=exists`);
    case 'sent-before': {
      const problem = `${sentBeforeText(planned, items.length, (at) => formatTime(at, context.config.timeZone))} Leave them out, or tick the box to generate them a second time.`;
      return refuse(visit, [problem], { status: 409 });
    }
    default:
      return planned satisfies never;
  }
}

async function findPlan(
  { store }: Pick<Context, 'store'>,
  permitted: Visit<Needs>['permitted'],
  slug: string,
  id: string,
): Promise<PlanRow> {
  const source = permitted.findAny(slug);
  const plan = source === null ? null : await loadPlan(store.read, source.slug, id);
  if (plan === null) throw new CodedError('not_found');
  return plan;
}

function addressOf(source: string, id: string): string {
  return `/policies/bulk/plan?${new URLSearchParams({ source, id }).toString()}`;
}

interface BulkProps {
  readonly frame: PageFrame;
  readonly plans: readonly PlanRow[];
  readonly sources: readonly Source[];
  readonly hasSources: boolean;
  readonly form: Form;
  readonly problems: readonly string[];
}

function BulkPage({ frame, plans, sources, hasSources, form, problems }: BulkProps) {
  const sourceField = (id: string) => <SourceChoice id={id} frame={frame} sources={sources} value={form['source']} />;
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
              <PostForm frame={frame} action="/policies/bulk/file" hasFile>
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
              </PostForm>
              <details open={form['list'] !== undefined}>
                <summary>Or paste the list</summary>
                <PostForm frame={frame} action="/policies/bulk">
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
                </PostForm>
              </details>
            </>
          )}
        </Panel>
      )}
    </Page>
  );
}

function planColumns(frame: PageFrame): readonly Column<PlanRow>[] {
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
  readonly plan: PlanRow;
  readonly items: readonly ItemRow[];
  /** Ids of created policies that are not published yet. */
  readonly unpublished: readonly string[];
  readonly job: Job | null;
  readonly hasBegunBefore: boolean;
  readonly isPublishing: boolean;
  readonly problems: readonly string[];
}

function PlanPage({ frame, plan, items, unpublished, job, hasBegunBefore, isPublishing, problems }: PlanProps) {
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
      <Problems title="Nothing was published:" problems={problems} />
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
          <PostForm frame={frame} action="/policies/bulk/stop" class="buttons">
            <input type="hidden" name="source" value={plan.source} />
            <input type="hidden" name="plan" value={plan.plan_id} />
            <button class="quiet" type="submit">
              Stop
            </button>
          </PostForm>
        ) : rest + count('failed') > 0 ? (
          <PostForm frame={frame} action="/policies/bulk/send" class="buttons">
            <input type="hidden" name="source" value={plan.source} />
            <input type="hidden" name="plan" value={plan.plan_id} />
            {count('failed') === 0 ? null : (
              <label class="box">
                <input type="checkbox" name="failed" value="yes" checked={rest === 0} /> also failed items
              </label>
            )}
            <button type="submit">Send the rest</button>
          </PostForm>
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
          <PostForm frame={frame} action="/policies/bulk/publish" class="buttons">
            <input type="hidden" name="source" value={plan.source} />
            <input type="hidden" name="plan" value={plan.plan_id} />
            <p>
              The service does not send the texts of a bulk generation, so they are not known here before they are
              public. What becomes public is what the service has saved by then.
            </p>
            <label class="box">
              <input type="checkbox" name="read" value="yes" required /> I have read{' '}
              {unpublished.length === 1 ? 'the text' : `the ${formatCount(unpublished.length)} texts`} in the service
            </label>
            <button type="submit">
              {unpublished.length === 1
                ? 'Publish the policy'
                : `Publish all ${formatCount(unpublished.length)} policies`}
            </button>
          </PostForm>
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
