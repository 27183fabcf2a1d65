import { counted, formatCount } from '../../../../reports/format.ts';
import { erasureReasonCodes, erasureReasons } from '../../../core/erasure.ts';
import { can } from '../../../core/roles.ts';
import type { Source } from '../../../core/source.ts';
import { addDays, dateIn } from '../../../core/zoned-days.ts';
import { type ErasureChoice, periodKinds } from '../../../erasure/choose.ts';
import { erasureOf } from '../../../erasure/erasure-jobs.ts';
import type { ErasurePlan } from '../../../erasure/plan.ts';
import { digestOfPlan, type ErasureProposal, PROPOSAL_DAYS } from '../../../erasure/proposal.ts';
import { summaryOf } from '../../../erasure/summary.ts';
import type { Job } from '../../../jobs/job.ts';
import { JobProgress } from '../parts/job-progress.tsx';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { liveScriptPath } from '../parts/live-script.ts';
import {
  AskAdmin,
  Choice,
  type Column,
  Day,
  Done,
  Facts,
  Field,
  Input,
  Moment,
  NoSources,
  Notice,
  Panel,
  Problems,
  SourceChoice,
  Table,
  WithCommands,
} from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';

/** Number of documents that a preview names. */
const SHOWN = 20;

type Form = Readonly<Record<string, string>>;

const kindTexts: Readonly<Record<(typeof periodKinds)[number], string>> = {
  webhook: 'Deliveries',
  'consent-log': 'Rows of the consent log',
  snapshot: 'Policy texts as published',
};

/** The address of one erasure. */
export function addressOf(erasureId: string): string {
  return `/settings/erasures/${erasureId}`;
}

/** Names of the needs to override. */
export function despiteOf(form: Form): readonly string[] {
  return Object.entries(form).flatMap(([name, value]) => (name.startsWith('despite-') ? [value] : []));
}

interface StartProps {
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  readonly seesAll: boolean;
  readonly waiting: readonly ErasureProposal[];
  readonly jobs: readonly Job[];
  /** Whether an erasure was interrupted and no job continues it. */
  readonly isLeft: boolean;
  readonly form: Form;
  readonly problems: readonly string[];
  readonly done: string | null;
}

/** The page to choose an erasure, with waiting, running and completed ones. */
export function StartPage(props: StartProps) {
  const { frame, sources, waiting, jobs, isLeft, problems, done } = props;
  const running = jobs.filter(({ finishedAt }) => finishedAt === null);
  const ended = jobs.filter(({ finishedAt }) => finishedAt !== null).slice(0, 5);
  return (
    <Page title="Erase" frame={frame} current="erasures">
      <h1>Erase</h1>
      <p class="lead">
        Removes content from the ledger for good. You first see what would be erased and what would stay. Each entry
        keeps its position and its proof, and the erasure itself is recorded as an entry.
      </p>
      <Done text={done} />
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

/** The last day on which a proposal can be approved. */
export function lastDayOf({ at }: Pick<ErasureProposal, 'at'>, timeZone: string): string {
  return addDays(dateIn(at, timeZone), PROPOSAL_DAYS);
}

/** Describes the scope of a proposal. */
export function whatText({ choice }: Pick<ErasureProposal, 'choice'>, frame: PageFrame): string {
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

type ChoiceProps = Pick<StartProps, 'frame' | 'sources' | 'seesAll' | 'form'>;

/** One form for each kind of choice. */
function ChoiceForms(props: ChoiceProps) {
  return (
    <Panel id="what" title="What to erase">
      <SubjectChoice {...props} />
      <CaseChoice {...props} />
      <PeriodChoice {...props} />
      <EntriesChoice {...props} />
    </Panel>
  );
}

function SubjectChoice({ frame, sources, form }: ChoiceProps) {
  return (
    <ChoiceForm by="subject" title="A person" frame={frame} form={form}>
      <SourceChoice id="subject-source" frame={frame} sources={sources} value={valueIn(form, 'subject', 'source')} />
      <Input
        id="identifier"
        label="Person"
        maxLength={300}
        autocomplete="off"
        value={valueIn(form, 'subject', 'identifier')}
        hint="E-mail address, visitor hash or record id. Finds everything about the person in this source; their earlier rows are not pulled again."
      />
      <label class="box">
        <input type="checkbox" name="withCases" value="yes" checked={valueIn(form, 'subject', 'withCases') === 'yes'} />{' '}
        Also the person’s requests
      </label>
      <p class="hint">Otherwise they stay, to prove how and when each request was answered.</p>
    </ChoiceForm>
  );
}

function CaseChoice({ frame, sources, seesAll, form }: ChoiceProps) {
  return (
    <ChoiceForm by="case" title="A request" frame={frame} form={form}>
      {seesAll ? (
        <input type="hidden" name="source" value="" />
      ) : (
        <SourceChoice id="case-source" frame={frame} sources={sources} value={valueIn(form, 'case', 'source')} />
      )}
      <Input
        id="caseId"
        label="Request"
        maxLength={300}
        autocomplete="off"
        value={valueIn(form, 'case', 'caseId')}
        hint="Everything recorded about it, and its documents. Withdrawals of consent that it caused stay."
      />
    </ChoiceForm>
  );
}

function PeriodChoice({ frame, sources, seesAll, form }: ChoiceProps) {
  return (
    <ChoiceForm by="period" title="A period" frame={frame} form={form}>
      <SourceChoice
        id="period-source"
        frame={frame}
        sources={sources}
        value={valueIn(form, 'period', 'source')}
        every={seesAll ? 'Every source' : undefined}
      />
      <div class="pair">
        <Input id="from" label="Received from" type="date" optional value={valueIn(form, 'period', 'from')} />
        <Input id="to" label="Received up to" type="date" value={valueIn(form, 'period', 'to')} />
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
    </ChoiceForm>
  );
}

function EntriesChoice({ frame, sources, seesAll, form }: ChoiceProps) {
  return (
    <ChoiceForm by="entries" title="Single entries" frame={frame} form={form}>
      {seesAll ? (
        <input type="hidden" name="source" value="" />
      ) : (
        <SourceChoice id="entries-source" frame={frame} sources={sources} value={valueIn(form, 'entries', 'source')} />
      )}
      <Input
        id="entries"
        label="Numbers"
        maxLength={2000}
        autocomplete="off"
        value={valueIn(form, 'entries', 'entries')}
        hint="Separate them with spaces; write a range as 15-20."
      />
    </ChoiceForm>
  );
}

/** The form for one kind of choice; open if it was sent, or if it is the default. */
function ChoiceForm({
  by,
  title,
  frame,
  form,
  children,
}: {
  readonly by: ErasureChoice['by'];
  readonly title: string;
  readonly frame: PageFrame;
  readonly form: Form;
  readonly children: preact.ComponentChildren;
}) {
  const first = form['caseId'] === undefined ? 'subject' : 'case';
  return (
    <details open={by === (form['by'] ?? first)} name="what">
      <summary>{title}</summary>
      <PostForm frame={frame} action="/settings/erasures/preview">
        <input type="hidden" name="by" value={by} />
        {children}
        <div class="buttons">
          <button type="submit">Show what would be erased</button>
        </div>
      </PostForm>
    </details>
  );
}

/** The value entered into the form for this kind of choice. */
function valueIn(form: Form, by: ErasureChoice['by'], name: string): string {
  return form['by'] === by || form['by'] === undefined ? (form[name] ?? '') : '';
}

/** The tables of a plan: what it erases, what it keeps, and what stays elsewhere for a while. */
function PlanTables({
  frame,
  plan,
  admins,
}: {
  readonly frame: PageFrame;
  readonly plan: ErasurePlan;
  readonly admins: readonly string[];
}) {
  const { erased, kept } = summaryOf(plan);
  const { residues } = plan;
  const administers = can(frame.role, 'administer');
  const doing: Column<(typeof residues)[number]> = {
    title: 'Note',
    cell: ({ hint }) => (hint === undefined ? null : <WithCommands text={hint} />),
  };
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
              ...(administers ? [doing] : []),
            ]}
            rows={residues}
          />
          {administers ? (
            <p class="hint">
              The program cannot delete what is outside it. Deleting it is up to you and the other admins, on the server
              and where its backups are kept.
            </p>
          ) : (
            <>
              <p class="hint">The operator of the server has to delete what is outside the program.</p>
              <AskAdmin admins={admins} subject="Erasure: what remains outside the ledger" text={residueText(plan)} />
            </>
          )}
        </Panel>
      )}
    </>
  );
}

/** Does not name the person, because an erasure does not cover mail. */
function residueText({ residues }: ErasurePlan): string {
  const lines = residues.map(
    ({ where, until, hint }) => `- ${where}: ${until}${hint === undefined ? '' : ` (${hint})`}`,
  );
  return `After an erasure, this remains:\n\n${lines.join('\n')}\n\nPlease delete what you are responsible for, and tell me when you have done so, or when it will expire by itself.`;
}

/** The preview of an erasure, with the form that confirms it. */
export function PreviewPage({
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
      <PlanTables frame={frame} plan={plan} admins={admins} />
      <Panel id="confirm" title={needsSecond ? 'Propose the erasure' : 'Erase it'}>
        {needsSecond ? <p>The controller requires two people: erasing starts once another person approves.</p> : null}
        <PostForm frame={frame} action="/settings/erasures">
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
            <Choice
              id="law"
              label="Law that applies"
              value={form['law'] ?? ''}
              options={[['', 'Choose'], ...laws]}
              hint="The laws of the request and of the controller come first."
            />
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
            At the end the database is rewritten, which takes longer for a large ledger. Deliveries have to wait for it;
            the service sends them again if they time out.
          </p>
          <div class="buttons">
            <button type="submit">{needsSecond ? 'Propose the erasure' : 'Erase for good'}</button>
          </div>
        </PostForm>
      </Panel>
    </Page>
  );
}

/** One erasure: proposed, running or done. */
export function OnePage({
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
      {result === null ? null : <ResultPanel result={result} />}
      {proposal === null ? null : (
        <>
          <ProposalPanel proposal={proposal} lawName={lawName} frame={frame} />
          {plan === null ? null : <PlanTables frame={frame} plan={plan} admins={admins} />}
          {frame.canWork ? (
            <DecisionPanel proposal={proposal} frame={frame} mayApprove={mayApprove} isFound={plan !== null} />
          ) : null}
        </>
      )}
    </Page>
  );
}

/** The result of an erasure. */
function ResultPanel({ result }: { readonly result: NonNullable<ReturnType<typeof erasureOf>> }) {
  return (
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
  );
}

function ProposalPanel({
  proposal,
  lawName,
  frame,
}: {
  readonly proposal: ErasureProposal;
  readonly lawName: string;
  readonly frame: PageFrame;
}) {
  return (
    <Panel id="proposal" title="What was proposed">
      <Facts
        rows={[
          ['What', whatText(proposal, frame)],
          proposal.choice.by === 'subject' ? ['Person', <bdi>{proposal.choice.identifier}</bdi>] : null,
          ['Why', erasureReasons[proposal.reason]],
          ['Law', lawName],
          ['Proposed', <Moment iso={proposal.at} timeZone={frame.timeZone} />],
          ['Approve by', <Day date={lastDayOf(proposal, frame.timeZone)} />],
          ['By', <bdi>{proposal.officer}</bdi>],
          proposal.despite.length === 0 ? null : ['Erased despite', proposal.despite.join(', ')],
        ]}
      />
    </Panel>
  );
}

function DecisionPanel({
  proposal,
  frame,
  mayApprove,
  isFound,
}: {
  readonly proposal: ErasureProposal;
  readonly frame: PageFrame;
  readonly mayApprove: boolean;
  /** Whether the content of the proposal can still be erased. */
  readonly isFound: boolean;
}) {
  return (
    <Panel id="decide" title="Decide">
      {mayApprove ? null : <p>You proposed this: another person must approve it.</p>}
      <PostForm frame={frame} action={addressOf(proposal.id)} class="buttons">
        {mayApprove && isFound ? (
          <button type="submit" name="decision" value="approve">
            {proposal.needsSecond ? 'Approve and erase for good' : 'Erase for good'}
          </button>
        ) : null}
        <button type="submit" class="quiet" name="decision" value="withdraw">
          Withdraw the proposal
        </button>
      </PostForm>
    </Panel>
  );
}
