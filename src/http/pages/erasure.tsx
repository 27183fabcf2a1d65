import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { counted, formatCount } from '../../../reports/format.ts';
import type { Context } from '../../context.ts';
import { CodedError, UsageError } from '../../core/errors.ts';
import { type ErasureReason, erasureReasonCodes, erasureReasons } from '../../core/erasure.ts';
import type { Source } from '../../core/source.ts';
import { addDays, startOfDay } from '../../core/zoned-days.ts';
import { choose, type ErasureChoice, periodKinds } from '../../erasure/choose.ts';
import { isUnfinished } from '../../erasure/erase.ts';
import { erasureJob, erasureOf } from '../../erasure/jobs.ts';
import { type ErasurePlan, planErasure } from '../../erasure/plan.ts';
import {
  digestOfPlan,
  type ErasureProposal,
  findProposal,
  keepProposal,
  listProposals,
  PROPOSAL_DAYS,
  removeProposal,
  sourcesNeedingSecondOfficer,
} from '../../erasure/proposal.ts';
import { summaryOf } from '../../erasure/summary.ts';
import type { Job } from '../../jobs/job.ts';
import { listAdminAddresses } from '../../people/people.ts';
import { sourcesOf } from '../auth/access.ts';
import { officerOf } from '../auth/sessions.ts';
import { formOf, html, pageFrame, untilDoneSoon } from './frame.ts';
import { JobProgress } from './job-progress.tsx';
import { Csrf, Page, type PageFrame, renderPage } from './layout.tsx';
import { allowLive, liveScriptPath } from './live-script.ts';
import { payloadText } from './load-today.ts';
import {
  AskAdmin,
  Choice,
  Facts,
  Field,
  Input,
  Moment,
  NoSources,
  Notice,
  Panel,
  Problems,
  sourceOptions,
  Table,
} from './parts.tsx';

/** Documents that a preview names. */
const SHOWN = 20;

type Form = Readonly<Record<string, string>>;

const changed = 'The data to be erased has changed since this was proposed: withdraw the proposal and make a new one.';

const kindTexts: Readonly<Record<(typeof periodKinds)[number], string>> = {
  webhook: 'Deliveries',
  'consent-log': 'Rows of the consent log',
  snapshot: 'Policy texts as published',
};

/** Erasing by hand: preview, approval by a second person where the controller requires one, then a job. */
export async function erasureRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/settings/erasures', (request, reply) => sendStart(request, reply, formOf(request.query)));

  app.post('/settings/erasures/preview', async (request, reply) => {
    const form = formOf(request.body);
    const looked = await look(request, form);
    return looked.outcome === 'refused'
      ? sendStart(request, reply, form, looked.problems, 422)
      : sendPreview(request, reply, form, looked.plan);
  });

  app.post('/settings/erasures', async (request, reply) => {
    const form = formOf(request.body);
    const looked = await look(request, form);
    if (looked.outcome === 'refused') return sendStart(request, reply, form, looked.problems, 422);
    const { plan, choice } = looked;
    const reason = reasonOf(form);
    const despite = despiteOf(form);
    const problems = [
      ...(form['digest'] === digestOfPlan(plan)
        ? []
        : ['The data to be erased has changed since you opened this page. Check it again before you confirm.']),
      ...(reason === null ? ['Choose a reason.'] : []),
      ...(context.cases.regimes.regimes.has(form['law'] ?? '') ? [] : ['Choose the law that applies.']),
      ...(form['sure'] === 'yes' ? [] : ['Tick the box to confirm that this cannot be undone.']),
      ...plan.needs
        .filter(({ name }) => !despite.includes(name))
        .map(({ name, why }) => `Some of it is still needed for ${name} (${why}): tick the box to erase it anyway.`),
    ];
    if (problems.length > 0 || reason === null) return sendPreview(request, reply, form, plan, problems, 422);
    const { officer, personId } = officerOf(request);
    const needsSecond = await needsTwo(plan);
    if (needsSecond && personId === null)
      return sendPreview(
        request,
        reply,
        form,
        plan,
        ['This needs a second person’s approval, so you have to sign in with an account.'],
        422,
      );
    const proposal = await keepProposal(context, {
      ...{ choice, digest: digestOfPlan(plan), reason, law: form['law'] ?? '', despite },
      ...{ officer, personId, needsSecond, confirmedBy: null, source: form['source'] || null },
    });
    if (!needsSecond) await start(proposal);
    return reply.redirect(addressOf(proposal.id), 303);
  });

  app.get<{ Params: { erasureId: string } }>('/settings/erasures/:erasureId', (request, reply) =>
    sendOne(request, reply, request.params.erasureId),
  );

  app.post<{ Params: { erasureId: string } }>('/settings/erasures/:erasureId', async (request, reply) => {
    const { erasureId } = request.params;
    const proposal = await findProposal(context, erasureId);
    const job = await findJob(erasureId);
    if (proposal === null || job !== null) return reply.redirect(addressOf(erasureId), 303);
    const { officer, personId } = officerOf(request);
    if (formOf(request.body)['decision'] === 'withdraw') {
      await removeProposal(context, erasureId);
      return reply.redirect('/settings/erasures?done=withdrawn', 303);
    }
    if (proposal.needsSecond && (personId === null || personId === proposal.personId))
      return sendOne(request, reply, erasureId, [
        personId === null
          ? 'Only someone with an account can approve: sign in with yours.'
          : 'You proposed this: another person must approve it.',
      ]);
    const looked = await lookAt(request, proposal.choice);
    if (looked.outcome === 'refused' || digestOfPlan(looked.plan) !== proposal.digest)
      return sendOne(request, reply, erasureId, [changed]);
    await start(await keepProposal(context, { ...proposal, confirmedBy: proposal.needsSecond ? officer : null }));
    return reply.redirect(addressOf(erasureId), 303);
  });

  async function start(proposal: ErasureProposal): Promise<void> {
    const { id } = await context.jobs.enqueue(erasureJob(proposal, proposal.officer));
    await untilDoneSoon(context, id);
  }

  async function findJob(erasureId: string): Promise<Job | null> {
    const [job = null] = await context.jobs.list({ kind: 'erase', key: erasureId, limit: 1 });
    return job;
  }

  /** What belongs to the choice of a form. */
  async function look(request: FastifyRequest, form: Form) {
    const choice = choiceOf(form, context.config.timeZone);
    return 'problems' in choice
      ? { outcome: 'refused' as const, problems: choice.problems }
      : { ...(await lookAt(request, choice)), choice };
  }

  async function lookAt(
    request: FastifyRequest,
    choice: ErasureChoice,
  ): Promise<{ outcome: 'found'; plan: ErasurePlan } | { outcome: 'refused'; problems: readonly string[] }> {
    const { erasure, sources } = context;
    const { slugs } = sourcesOf(context, request);
    const refused = (...problems: string[]) => ({ outcome: 'refused' as const, problems });
    if (choice.by === 'case' && slugs !== null && !(await isCaseOf(choice.caseId, slugs)))
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

  async function isCaseOf(caseId: string, slugs: readonly string[]): Promise<boolean> {
    const row = await context.store.read
      .selectFrom('cases')
      .select('source')
      .where('case_id', '=', caseId)
      .executeTakeFirst();
    return row !== undefined && slugs.includes(row.source);
  }

  /** Whether a profile requires two people, or cannot be read to tell. */
  async function needsTwo(plan: ErasurePlan): Promise<boolean> {
    try {
      return (await sourcesNeedingSecondOfficer(context, plan)).length > 0;
    } catch (error) {
      if (error instanceof UsageError) return true;
      throw error;
    }
  }

  async function sendStart(
    request: FastifyRequest,
    reply: FastifyReply,
    form: Form,
    problems: readonly string[] = [],
    status = 200,
  ): Promise<FastifyReply> {
    const { slugs, list } = sourcesOf(context, request);
    const proposals = (await listProposals(context)).filter(
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
        proposals={proposals}
        jobs={jobs}
        isLeft={jobs.every(({ finishedAt }) => finishedAt !== null) && (await isUnfinished(context.erasure))}
        form={form}
        problems={problems}
        done={form['done'] === 'withdrawn' ? 'The proposal is withdrawn. Nothing was erased.' : null}
      />
    );
    return html(reply, renderPage(page), status);
  }

  async function sendPreview(
    request: FastifyRequest,
    reply: FastifyReply,
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
        laws={lawOptions()}
        needsSecond={await needsTwo(plan)}
        problems={problems}
      />
    );
    return html(reply, renderPage(page), status);
  }

  async function sendOne(
    request: FastifyRequest,
    reply: FastifyReply,
    erasureId: string,
    problems: readonly string[] = [],
  ): Promise<FastifyReply> {
    const [proposal, job] = [await findProposal(context, erasureId), await findJob(erasureId)];
    if (proposal === null && job === null) throw new CodedError('not_found');
    const isWaiting = proposal !== null && job === null;
    const looked = isWaiting ? await lookAt(request, proposal.choice) : null;
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

  function lawOptions() {
    return [...context.cases.regimes.regimes]
      .map(([id, { law }]) => [id, law] as const)
      .sort(([, a], [, b]) => a.localeCompare(b, 'en'));
  }
}

function addressOf(erasureId: string): string {
  return `/settings/erasures/${erasureId}`;
}

function reasonOf(form: Form): ErasureReason | null {
  return erasureReasonCodes.find((code) => code === form['reason']) ?? null;
}

/** Names of the needs to override. */
function despiteOf(form: Form): readonly string[] {
  return Object.entries(form).flatMap(([name, value]) => (name.startsWith('despite-') ? [value] : []));
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

interface StartProps {
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  readonly seesAll: boolean;
  readonly proposals: readonly ErasureProposal[];
  readonly jobs: readonly Job[];
  /** An erasure was interrupted and no job continues it. */
  readonly isLeft: boolean;
  readonly form: Form;
  readonly problems: readonly string[];
  readonly done: string | null;
}

function StartPage(props: StartProps) {
  const { frame, sources, proposals, jobs, isLeft, problems, done } = props;
  const running = jobs.filter(({ finishedAt }) => finishedAt === null);
  const ended = jobs.filter(({ finishedAt }) => finishedAt !== null).slice(0, 5);
  const waiting = proposals.filter(({ id }) => !jobs.some(({ key }) => key === id));
  return (
    <Page title="Erase" frame={frame} current="erasures">
      <h1>Erase</h1>
      <p class="lead">
        Removes content from the ledger for good. You first see what would be erased and what would stay. Each entry
        keeps its position and its proof, and the erasure itself is recorded as an entry.
      </p>
      {done === null ? null : (
        <Notice tone="good">
          <p>{done}</p>
        </Notice>
      )}
      {isLeft ? (
        <Notice tone="warn">
          <p>
            An erasure was interrupted. It will be finished tonight, or with the next erasure, whichever comes first.
          </p>
        </Notice>
      ) : null}
      <Problems title="Nothing was erased:" problems={problems} />
      {waiting.length === 0 ? null : (
        <Panel id="waiting" title="Waiting for approval">
          <Table
            caption={`A proposal that is not approved within ${PROPOSAL_DAYS} days is withdrawn. Nothing is erased.`}
            columns={[
              { title: 'What', cell: (one: ErasureProposal) => <a href={addressOf(one.id)}>{whatText(one, frame)}</a> },
              { title: 'Why', cell: ({ reason }) => erasureReasons[reason] },
              { title: 'Proposed', cell: ({ at }) => <Moment iso={at} timeZone={frame.timeZone} /> },
              { title: 'By', cell: ({ officer }) => <bdi>{officer}</bdi> },
            ]}
            rows={waiting}
          />
        </Panel>
      )}
      {running.map((job) => (
        <Notice key={job.id} tone="calm">
          <p>
            An erasure is running. <a href={addressOf(job.key ?? '')}>Show its progress</a>
          </p>
        </Notice>
      ))}
      {sources.length === 0 ? <NoSources frame={frame} /> : <ChoiceForms {...props} />}
      {ended.length === 0 ? null : (
        <Panel id="ended" title="Recent erasures">
          <ul>
            {ended.map((job) => (
              <li key={job.id}>
                <a href={addressOf(job.key ?? '')}>
                  <Moment iso={job.finishedAt ?? job.createdAt} timeZone={frame.timeZone} />
                </a>
                : {job.state === 'done' ? resultText(job) : 'nothing was erased'}
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <p>
        Every erasure is listed under <a href="/evidence#erasures">Evidence</a>. For what is erased automatically when
        its retention period ends, see <a href="/settings/retention">Retention and holds</a>.
      </p>
    </Page>
  );
}

function resultText({ result }: Job): string {
  const made = erasureOf(result);
  return made === null ? 'done' : `${counted(made.entries, 'entry', 'entries')} erased`;
}

function whatText({ choice }: Pick<ErasureProposal, 'choice'>, frame: PageFrame): string {
  switch (choice.by) {
    case 'subject':
      return `One person, ${frame.sourceName(choice.source)}`;
    case 'case':
      return `Request ${choice.caseId}`;
    case 'period':
      return `Received in a period, ${choice.source === null ? 'every source' : frame.sourceName(choice.source)}`;
    case 'entries':
      return `Entries ${choice.entries.slice(0, 5).join(', ')}${choice.entries.length > 5 ? ' …' : ''}`;
  }
}

/** One form for each kind of choice. */
function ChoiceForms({ frame, sources, seesAll, form }: StartProps) {
  const value = (by: string, name: string) => (form['by'] === by || form['by'] === undefined ? (form[name] ?? '') : '');
  const isOpen = (by: string) =>
    form['by'] === by || (form['by'] === undefined && by === (form['caseId'] === undefined ? 'subject' : 'case'));
  const every = seesAll ? [['', 'Every source'] as const] : [];
  const one = (by: string, title: string, fields: preact.ComponentChildren) => (
    <details open={isOpen(by)} name="what">
      <summary>{title}</summary>
      <form method="post" action="/settings/erasures/preview">
        <Csrf token={frame.csrf} />
        <input type="hidden" name="by" value={by} />
        {fields}
        <div class="buttons">
          <button type="submit">Show what would be erased</button>
        </div>
      </form>
    </details>
  );
  const source = (by: string, options: readonly (readonly [string, string])[]) => (
    <Choice id={`${by}-source`} name="source" label="Source" value={value(by, 'source')} options={options} />
  );
  return (
    <Panel id="what" title="What to erase">
      {one(
        'subject',
        'A person',
        <>
          {source('subject', sourceOptions(sources))}
          <Input
            id="identifier"
            label="Person"
            maxLength={300}
            autocomplete="off"
            value={value('subject', 'identifier')}
            hint="E-mail address, visitor id or record id. Finds everything about the person in this source; their earlier rows are not pulled again."
          />
          <label class="box">
            <input type="checkbox" name="withCases" value="yes" checked={value('subject', 'withCases') === 'yes'} />{' '}
            Also the person’s requests
          </label>
          <p class="hint">Otherwise they stay, to prove how and when each request was answered.</p>
        </>,
      )}
      {one(
        'case',
        'A request',
        <>
          {seesAll ? <input type="hidden" name="source" value="" /> : source('case', sourceOptions(sources))}
          <Input
            id="caseId"
            label="Request"
            maxLength={300}
            autocomplete="off"
            value={value('case', 'caseId')}
            hint="Everything recorded about it, and its documents. Withdrawals of consent that it caused stay."
          />
        </>,
      )}
      {one(
        'period',
        'A period',
        <>
          {source('period', [...every, ...sourceOptions(sources)])}
          <div class="pair">
            <Input id="from" label="Received from" type="date" optional value={value('period', 'from')} />
            <Input id="to" label="Received up to" type="date" value={value('period', 'to')} />
          </div>
          <Field id="kind-webhook" label="What was received">
            {periodKinds.map((kind) => (
              <label class="box" key={kind}>
                <input
                  id={`kind-${kind}`}
                  type="checkbox"
                  name={`kind-${kind}`}
                  value="yes"
                  checked={form['by'] !== 'period' || form[`kind-${kind}`] === 'yes'}
                />{' '}
                {kindTexts[kind]}
              </label>
            ))}
          </Field>
        </>,
      )}
      {one(
        'entries',
        'Single entries',
        <>
          {source('entries', [...every, ...sourceOptions(sources)])}
          <Input
            id="entries"
            label="Numbers"
            maxLength={2000}
            autocomplete="off"
            value={value('entries', 'entries')}
            hint="Separate them with spaces; write a range as 15-20."
          />
        </>,
      )}
    </Panel>
  );
}

/** What a plan erases, what it keeps, and what stays elsewhere for a while. */
function PlanTables({ plan, admins }: { readonly plan: ErasurePlan; readonly admins: readonly string[] }) {
  const { erased, kept, residues } = summaryOf(plan);
  return (
    <>
      <Panel id="erased" title="What is erased">
        <Table
          caption={`${counted(plan.entries.length, 'entry', 'entries')}${plan.alreadyErased.length > 0 ? `; ${formatCount(plan.alreadyErased.length)} more are already erased` : ''}.`}
          columns={[
            { title: 'What', cell: ({ what }) => what },
            { title: 'How many', isNumber: true, cell: ({ count }) => formatCount(count) },
          ]}
          rows={erased}
        />
        {plan.documents.length === 0 ? null : (
          <details>
            <summary>{counted(plan.documents.length, 'document', 'documents')}</summary>
            <ul>
              {plan.documents.slice(0, SHOWN).map(({ documentId, name, why }) => (
                <li key={documentId}>
                  {name} <span class="soft small">{documentId}</span>: {why}
                </li>
              ))}
              {plan.documents.length > SHOWN ? <li>and {formatCount(plan.documents.length - SHOWN)} more</li> : null}
            </ul>
          </details>
        )}
        {plan.suppress.length === 0 ? null : (
          <p class="hint">
            Earlier rows about this person are not pulled again; a keyed hash is kept to recognise them.
          </p>
        )}
      </Panel>
      {kept.length === 0 ? null : (
        <Panel id="kept" title="What stays">
          <Table
            caption={null}
            columns={[
              { title: 'What', cell: ({ what }) => what },
              { title: 'Why', cell: ({ why }) => why },
              { title: 'Entries', isNumber: true, cell: ({ count }) => formatCount(count) },
            ]}
            rows={kept}
          />
        </Panel>
      )}
      {residues.length === 0 ? null : (
        <Panel id="residues" title="What remains elsewhere">
          <Table
            caption={null}
            columns={[
              { title: 'Where', cell: ({ where }) => where },
              { title: 'How long', cell: ({ until }) => until },
            ]}
            rows={residues}
          />
          <p class="hint">What is outside the program is deleted by whoever runs the server.</p>
          <AskAdmin admins={admins} subject="Erasure: what remains outside the ledger" text={residueText(plan)} />
        </Panel>
      )}
    </>
  );
}

/** Names no person: mail is not part of what is erased. */
function residueText({ residues }: ErasurePlan): string {
  const lines = residues.map(
    ({ where, until, hint }) => `- ${where}: ${until}${hint === undefined ? '' : ` (${hint})`}`,
  );
  return `After an erasure, this remains:\n\n${lines.join('\n')}\n\nPlease delete what is yours to delete, and tell me when it is done, or when it ends by itself.`;
}

function PreviewPage({
  frame,
  form,
  plan,
  admins,
  laws,
  needsSecond,
  problems,
}: {
  readonly frame: PageFrame;
  readonly form: Form;
  readonly plan: ErasurePlan;
  readonly admins: readonly string[];
  readonly laws: readonly (readonly [string, string])[];
  readonly needsSecond: boolean;
  readonly problems: readonly string[];
}) {
  const chosen = ['by', 'source', 'identifier', 'withCases', 'caseId', 'from', 'to', 'entries'];
  const hidden = [...chosen, ...periodKinds.map((kind) => `kind-${kind}`)].filter((name) => form[name] !== undefined);
  const despite = despiteOf(form);
  return (
    <Page title="Erase: preview" frame={frame} within="erasures">
      <p>
        <a href="/settings/erasures">Erase</a>
      </p>
      <h1>What would be erased</h1>
      <p class="lead">Nothing is erased yet.</p>
      <Problems title="Nothing was erased:" problems={problems} />
      <PlanTables plan={plan} admins={admins} />
      <Panel id="confirm" title={needsSecond ? 'Propose the erasure' : 'Erase it'}>
        {needsSecond ? <p>The controller requires two people: erasing starts once another person approves.</p> : null}
        <form method="post" action="/settings/erasures">
          <Csrf token={frame.csrf} />
          {hidden.map((name) => (
            <input key={name} type="hidden" name={name} value={form[name]} />
          ))}
          <input type="hidden" name="digest" value={digestOfPlan(plan)} />
          <div class="pair">
            <Choice
              id="reason"
              label="Why"
              value={form['reason'] ?? ''}
              options={[
                ['', 'Choose'],
                ...erasureReasonCodes
                  .filter((code) => code !== 'retention')
                  .map((code) => [code, erasureReasons[code]] as const),
              ]}
            />
            <Choice id="law" label="Law that applies" value={form['law'] ?? ''} options={[['', 'Choose'], ...laws]} />
          </div>
          {plan.needs.map(({ name, why, seqs }, place) => (
            <label class="box" key={name}>
              <input type="checkbox" name={`despite-${place}`} value={name} checked={despite.includes(name)} />{' '}
              {counted(seqs.length, 'entry is', 'entries are')} still needed for {name} ({why}). Erase anyway.
            </label>
          ))}
          <label class="box">
            <input type="checkbox" name="sure" value="yes" required /> I understand that this cannot be undone, not even
            from a backup.
          </label>
          <p class="hint">
            At the end the database is rewritten. Deliveries wait meanwhile, longer for a large ledger; the service
            sends them again if they time out.
          </p>
          <div class="buttons">
            <button type="submit">{needsSecond ? 'Propose the erasure' : 'Erase for good'}</button>
          </div>
        </form>
      </Panel>
    </Page>
  );
}

function OnePage({
  frame,
  erasureId,
  proposal,
  plan,
  admins,
  job,
  lawName,
  mayApprove,
  problems,
}: {
  readonly frame: PageFrame;
  readonly erasureId: string;
  /** Null: not waiting for approval. */
  readonly proposal: ErasureProposal | null;
  readonly plan: ErasurePlan | null;
  readonly admins: readonly string[];
  readonly job: Job | null;
  readonly lawName: string;
  readonly mayApprove: boolean;
  readonly problems: readonly string[];
}) {
  const isRunning = job?.finishedAt === null;
  const title =
    proposal === null
      ? 'Erasure'
      : proposal.needsSecond
        ? 'Erasure, waiting for a second person'
        : 'Erasure, not started';
  const result = job?.state === 'done' ? erasureOf(job.result) : null;
  return (
    <Page title={title} frame={frame} within="erasures" {...(isRunning ? { script: liveScriptPath } : {})}>
      <p>
        <a href="/settings/erasures">Erase</a>
      </p>
      <h1>{title}</h1>
      <Problems title="Nothing was erased:" problems={problems} />
      {isRunning ? <JobProgress job={job} what="Erasure" again={addressOf(erasureId)} /> : null}
      {job?.state === 'failed' || job?.state === 'cancelled' ? (
        <Notice tone="bad">
          <p>{job.error ?? 'It was cancelled.'}</p>
        </Notice>
      ) : null}
      {result === null ? null : (
        <Panel id="result" title="Done">
          <Facts
            rows={[
              [
                'Erased',
                `${counted(result.entries, 'entry', 'entries')}, ${counted(result.documents, 'document', 'documents')}`,
              ],
              [
                'Recorded as',
                result.seqs.map((seq, place) => (
                  <>
                    {place === 0 ? '' : ', '}
                    <a href={`/entries/${seq}`}>entry {formatCount(seq)}</a>
                  </>
                )),
              ],
              [
                'Certificate',
                result.certificate === null ? (
                  (result.problem ?? 'none')
                ) : (
                  <a href={`/documents/${result.certificate}/download`} download>
                    PDF for the requester
                  </a>
                ),
              ],
            ]}
          />
        </Panel>
      )}
      {proposal === null ? null : (
        <>
          <Panel id="proposal" title="What was proposed">
            <Facts
              rows={[
                ['What', whatText(proposal, frame)],
                proposal.choice.by === 'subject' ? ['Person', <bdi>{proposal.choice.identifier}</bdi>] : null,
                ['Why', erasureReasons[proposal.reason]],
                ['Law', lawName],
                ['Proposed', <Moment iso={proposal.at} timeZone={frame.timeZone} />],
                ['By', <bdi>{proposal.officer}</bdi>],
                proposal.despite.length === 0 ? null : ['Erased despite', proposal.despite.join(', ')],
              ]}
            />
          </Panel>
          {plan === null ? null : <PlanTables plan={plan} admins={admins} />}
          {frame.canWork ? (
            <Panel id="decide" title="Decide">
              {mayApprove ? null : <p>You proposed this: another person must approve it.</p>}
              <form method="post" action={addressOf(erasureId)} class="buttons">
                <Csrf token={frame.csrf} />
                {mayApprove && plan !== null ? (
                  <button type="submit" name="decision" value="approve">
                    {proposal.needsSecond ? 'Approve and erase for good' : 'Erase for good'}
                  </button>
                ) : null}
                <button type="submit" class="quiet" name="decision" value="withdraw">
                  Withdraw the proposal
                </button>
              </form>
            </Panel>
          ) : null}
        </>
      )}
    </Page>
  );
}
