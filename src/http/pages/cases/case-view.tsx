import { counted, formatCount } from '../../../../reports/format.ts';
import { type LetterStep, letterSteps } from '../../../../reports/letters/texts.ts';
import { isAssignedTo } from '../../../cases/assignee.ts';
import { choiceTexts, isMoveName, moves } from '../../../cases/moves.ts';
import { ALL_PURPOSES, parsePurposes } from '../../../core/consent-judgement.ts';
import { languageText } from '../../../core/language.ts';
import { momentText } from '../../../core/time-words.ts';
import { ATTACHMENTS } from '../../../documents/attachments.ts';
import { isAnswer, isRefusalLetter } from '../../../documents/awaiting-approval.ts';
import type { DocumentRow } from '../../../documents/check.ts';
import { type Deadlines, isOwnLimit } from '../../../law/deadlines.ts';
import { jurisdictionText } from '../../../law/jurisdictions.ts';
import { datelessText, unrecordedText } from '../../../law/not-recorded.ts';
import { missingProfileParts } from '../../../law/profile.ts';
import { DocumentTable } from '../documents/document-table.tsx';
import { detailTexts } from '../parts/fields.tsx';
import { JobList } from '../parts/job-list.tsx';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  Assignee,
  Badge,
  type Column,
  Day,
  Done,
  EntryNumber,
  Facts,
  Input,
  LawList,
  LegalLimit,
  Moment,
  Notice,
  OWN_RULE,
  ownAssignee,
  Panel,
  Problems,
  Select,
  Table,
} from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { typingScriptPath } from '../parts/typing-script.ts';
import {
  identityText,
  kindsText,
  kindText,
  letterText,
  matchText,
  phrase,
  receiptText,
  stateText,
} from '../parts/words.ts';
import { DoubtfulNotice } from './doubtful-notice.tsx';
import { HandOverPanel, type NewHandOver } from './hand-over-panel.tsx';
import { PackForm } from './letter-language-select.tsx';
import { Recorded } from './letter-record.tsx';
import type { CasePageData } from './load-case.ts';
import { MessagePanel } from './message-panel.tsx';
import { CaseForm, MoveForms } from './move-forms.tsx';
import { StepList } from './next-step.tsx';
import { SamePanel } from './same-panel.tsx';
import { TaskPanel } from './task-panel.tsx';

interface CasePageProps {
  readonly frame: PageFrame;
  readonly data: CasePageData;
  readonly problems?: readonly string[];
  /** The refused form, to be corrected. */
  readonly refused?: { readonly move: string; readonly form: Readonly<Record<string, string>> } | null;
  readonly done?: string | null;
  /** The entry of an earlier task that pre-fills a new one. */
  readonly again?: string | null;
  /** A new link, shown only this once. */
  readonly handedOver?: NewHandOver | null;
  /** A refused form for a link, to be corrected. */
  readonly refusedLink?: Readonly<Record<string, string>> | null;
  /** A refused mail: its letter, and the ids of the ticked files. */
  readonly refusedMail?: RefusedMail | null;
}

/** Everything about one request, and what can be done next. */
export function CasePage(props: CasePageProps) {
  const { frame, data, problems = [], refused = null, done = null, again = null, handedOver = null } = props;
  const { refusedLink = null, refusedMail = null } = props;
  const { shown, documents, jobs } = data;
  const { view } = shown;
  const { row } = view;
  const open = view.folded.openMessages ?? [];
  const [first] = open;
  const title = `${kindsText(view.kinds)} · ${row.case_id}`;
  const packs = documents.filter(({ name }) => name === 'dsar-pack');
  return (
    <Page title={title} frame={frame} within="requests" script={typingScriptPath}>
      <p class="small">
        <a href="/">← Today</a>
      </p>
      <h1>{title}</h1>
      <p class="lead">
        {stateText(row.state)}. Legal limit <LegalLimit view={view} />
      </p>
      <StepList data={data} />
      <AssigneeLine frame={frame} data={data} />
      <Done text={done} />
      {first === undefined ? null : (
        <Notice tone="warn">
          <p>
            The requester wrote <Moment iso={first.at} timeZone={frame.timeZone} />:{' '}
            {choiceTexts[first.about].toLowerCase()}
            {open.length === 1 ? '.' : `, and ${counted(open.length - 1, 'message', 'messages')} since.`}{' '}
            <a href="#messages">Read and answer</a>; this stays open until somebody replies or records that it needs no
            reply.
          </p>
        </Notice>
      )}
      {data.doubtful === null || row.state === 'closed' ? null : (
        <DoubtfulNotice {...data.doubtful} what="Letters and packs of this request name" />
      )}
      <Problems title="This was not done:" problems={problems} />
      <div class="columns">
        <div>
          {frame.canWork ? (
            <Panel id="moves" title="Next step">
              <MoveForms frame={frame} data={data} refused={refused} />
            </Panel>
          ) : null}
          <RequestPanel frame={frame} data={data} />
          <SamePanel frame={frame} data={data} />
          <MessagePanel frame={frame} data={data} refused={refused} />
          <TaskPanel frame={frame} data={data} refused={refused} again={again} />
          <DeadlinePanel data={data} />
          <RecordsPanel frame={frame} data={data} />
          <HistoryPanel frame={frame} data={data} />
        </div>
        <div>
          <ReadinessPanel data={data} />
          <LettersPanel data={data} frame={frame} refused={refusedMail} />
          <Panel id="pack" title="Response pack">
            <p class="small">
              A ZIP with the latest answer letter (or a draft if there is none), the history in words, tables and a
              manifest with hashes.
            </p>
            {jobs.length === 0 ? null : (
              <JobList frame={frame} jobs={jobs} again={`/cases/${encodeURIComponent(row.case_id)}`} />
            )}
            {packs.length === 0 ? null : <DocumentTable frame={frame} documents={packs} awaiting={data.awaiting} />}
            {frame.canWork ? <PackForm frame={frame} data={data} isNext={false} /> : null}
          </Panel>
          <HandOverPanel frame={frame} data={data} fresh={handedOver} refused={refusedLink} />
        </div>
      </div>
    </Page>
  );
}

/** Who handles the request, and a button to take it. */
function AssigneeLine({ frame, data }: { frame: PageFrame; data: CasePageData }) {
  const { folded, moves: allowed } = data.shown.view;
  const own = ownAssignee(frame);
  const isOwn = folded.assignee === own || isAssignedTo(folded.assignee, frame.personId);
  const line = (
    <>
      Assigned to <Assignee assignee={folded.assignee} viewer={frame.personId} />
    </>
  );
  if (isOwn || !frame.canWork || !allowed.includes('assign')) return <p>{line}</p>;
  return (
    <CaseForm frame={frame} data={data} move="assign">
      <input type="hidden" name="assignee" value={own} />
      <p>
        {line}{' '}
        <button class="quiet slim" type="submit">
          Take it
        </button>
      </p>
    </CaseForm>
  );
}

/** A letter that could not be mailed, and the ids of the files that were ticked. */
interface RefusedMail {
  readonly documentId: string;
  readonly attachments: readonly string[];
}

/** Whether a letter was mailed, and the button that mails it. Why it may not be sent is shown when the button is used. */
function mailColumn(
  { shown, documents, held, mailed, mails, canMail, doubtful }: CasePageData,
  frame: PageFrame,
  refused: RefusedMail | null,
): Column<DocumentRow> {
  const { case_id: caseId, requester_email: email } = shown.view.row;
  const files = documents.filter(({ name, erased_at: erasedAt }) => name === 'attachment' && erasedAt === null);
  return {
    title: 'By e-mail',
    cell: (document) => {
      const { document_id: id, erased_at: erasedAt, file_name: file } = document;
      const sent = mailed.get(id);
      const job = mails.get(id);
      if (sent !== undefined)
        return (
          <span class="small">
            sent <Moment iso={sent.at} timeZone={frame.timeZone} />
            {sent.attachments.length === 0 ? null : <bdi class="outside"> with {namesOf(sent.attachments, files)}</bdi>}
          </span>
        );
      if (job?.state === 'waiting' || job?.state === 'running') return <Badge text="being sent" tone="calm" />;
      if (!canMail || email === null || erasedAt !== null || !frame.canWork) return <span class="soft">not sent</span>;
      const move = isRefusalLetter(document) ? 'refuse' : isAnswer(document) ? 'answer' : null;
      const why = move === null || !shown.view.open ? undefined : held.get(move);
      if (why !== undefined) return <span class="small">not sent. {why}</span>;
      return (
        <PostForm frame={frame} action={`/cases/${encodeURIComponent(caseId)}/letters/${encodeURIComponent(id)}/mail`}>
          {job?.error == null ? null : <p class="small">{job.error}</p>}
          {doubtful === null ? null : (
            <p class="small">
              Check first: is <bdi>{doubtful.controller}</bdi> the controller?
            </p>
          )}
          {files.map(({ document_id: added, file_name: name }) => (
            <label key={added} class="box small">
              <input
                type="checkbox"
                name={`file-${added}`}
                value="yes"
                checked={refused?.documentId === id && refused.attachments.includes(added)}
              />{' '}
              with <bdi class="outside">{name}</bdi>
            </label>
          ))}
          <button class="quiet slim" type="submit" aria-label={`Send ${file} to the requester`}>
            Send to <bdi class="outside">{email}</bdi>
          </button>
        </PostForm>
      );
    },
  };
}

/** The names of files that were sent; those erased since have none. */
function namesOf(ids: readonly string[], files: readonly DocumentRow[]): string {
  return ids.map((id) => files.find((file) => file.document_id === id)?.file_name ?? 'an erased file').join(', ');
}

/** The files that can be sent with letters, and the form that adds one. */
function Attachments({ data, frame }: PartProps & { frame: PageFrame }) {
  const { shown, documents, canMail } = data;
  const files = documents.filter(({ name }) => name === 'attachment');
  return (
    <>
      <h3>Files to send with a letter or hand over</h3>
      {files.length === 0 ? null : <DocumentTable frame={frame} documents={files} awaiting={data.awaiting} />}
      {frame.canWork ? (
        <PostForm frame={frame} action={`/cases/${encodeURIComponent(shown.view.row.case_id)}/attachments`} hasFile>
          <Input
            id="file"
            label="File"
            type="file"
            hint={`At most ${ATTACHMENTS} files, 20 MiB in all. Each is kept as a document of this request.${canMail ? ' E-mail is not encrypted: hand records over through a link instead.' : ''}`}
          />
          <button class="quiet" type="submit">
            Add the file
          </button>
        </PostForm>
      ) : null}
    </>
  );
}

/** The letters that were made, and which one to write next. */
function LettersPanel({ data, frame, refused }: PartProps & { frame: PageFrame; refused: RefusedMail | null }) {
  const { canWork } = frame;
  const { shown, documents } = data;
  const { row } = shown.view;
  const letters = documents.filter(({ name }) => name === 'letter');
  return (
    <Panel id="letters" title="Letters">
      {letters.length > 0 ? (
        <DocumentTable
          frame={frame}
          documents={letters}
          awaiting={data.awaiting}
          also={[
            mailColumn(data, frame, refused),
            { title: 'Recorded', cell: (document) => <Recorded frame={frame} data={data} document={document} /> },
          ]}
        />
      ) : canWork ? null : (
        <p>None yet.</p>
      )}
      {canWork ? (
        <form method="get" action={`/cases/${encodeURIComponent(row.case_id)}/letter`}>
          <div class="buttons">
            <label for="letter-step">Letter</label>
            <Select
              id="letter-step"
              name="step"
              value={nextLetter(data)}
              options={letterSteps.map((step) => [step, letterText(step)] as const)}
            />
            <button class="quiet" type="submit">
              Write letter
            </button>
          </div>
        </form>
      ) : null}
      {canWork || documents.some(({ name }) => name === 'attachment') ? (
        <Attachments data={data} frame={frame} />
      ) : null}
    </Panel>
  );
}

/** The letter for the state of the case. */
function nextLetter({ shown: { view } }: CasePageData): LetterStep {
  switch (view.row.state) {
    case 'opened':
      return 'acknowledgement';
    case 'waiting-identity':
      return 'identity';
    case 'waiting-clarification':
      return 'clarification';
    default:
      return view.folded.refusal === null ? 'answer' : 'refusal';
  }
}

function placeText({ row, folded }: CasePageData['shown']['view']): string {
  if (row.jurisdiction !== null) return jurisdictionText(row.jurisdiction);
  return folded.placeAsGiven === null ? 'no place given' : `place stated as “${folded.placeAsGiven}”`;
}

interface PartProps {
  readonly data: CasePageData;
}

function RequestPanel({ frame, data }: PartProps & { frame: PageFrame }) {
  const { view, profile } = data.shown;
  const { row, deadline, folded } = view;
  return (
    <Panel id="request" title="Request">
      <Facts
        rows={[
          [
            'Requester',
            <>
              <bdi>{row.requester_name ?? 'not named'}</bdi>
              {row.requester_email === null ? null : (
                <span class="soft">
                  {' '}
                  · <bdi>{row.requester_email}</bdi>
                  {folded.emailConfirmed === undefined
                    ? row.receipt_basis === 'form'
                      ? ' (not confirmed)'
                      : null
                    : ' (confirmed)'}
                </span>
              )}
              {folded.address === undefined ? null : (
                <span class="soft">
                  {' '}
                  · <bdi>{folded.address.replaceAll('\n', ', ')}</bdi>
                </span>
              )}
            </>,
          ],
          [
            'Received',
            <>
              <Moment iso={row.receipt_at} timeZone={frame.timeZone} />{' '}
              <span class="soft">({receiptText(row.receipt_basis)})</span>
            </>,
          ],
          view.parts.length === 0 ? null : ['Rights', <Parts parts={view.parts} />],
          folded.kindAsGiven === null || !view.kinds.includes('unknown')
            ? null
            : ['Requested in these words', <bdi class="outside">{folded.kindAsGiven}</bdi>],
          ['Channel', row.channel === 'webhook' ? 'the service' : row.channel],
          ['Source', frame.sourceName(row.source)],
          row.request_id === null ? null : ['Id at the service', row.request_id],
          [
            'Law',
            <>
              {deadline.laws.length === 0
                ? (unrecordedText(deadline) ?? 'none recorded here gives this right')
                : deadline.laws.map((law) => law.name).join('; ')}{' '}
              <span class="soft">· {placeText(view)}</span>
            </>,
          ],
          ['Identity', <Badge {...identityText(view)} />],
          ['Language', <LanguageCell {...view} />],
          ['Controller', profile === null ? 'no controller profile' : profile.name],
        ]}
      />
      {row.message === null ? null : (
        <>
          <h3>Message</h3>
          <blockquote>
            <bdi>{row.message}</bdi>
          </blockquote>
        </>
      )}
    </Panel>
  );
}

/** The requester's language; without it every letter has to ask. */
function LanguageCell({ row, open }: Pick<CasePageData['shown']['view'], 'row' | 'open'>) {
  return (
    <>
      {languageText(row.language)} {row.language === null && open ? <a href="#moves">Correct the request</a> : null}
    </>
  );
}

/** Each right of a request with several, its limit, and what was done about it. */
function Parts({ parts }: { parts: CasePageData['shown']['view']['parts'] }) {
  return (
    <ul>
      {parts.map(({ kind, outcome, ground, note, deadline }) => (
        <li key={kind}>
          {kindText(kind)}:{' '}
          {outcome === null ? (
            <>
              nothing recorded yet, legal limit{' '}
              {deadline.limit === null ? (datelessText(deadline) ?? '') : <Day date={deadline.limit} />}{' '}
              {isOwnLimit(deadline) ? <Badge text={OWN_RULE} tone="warn" /> : null}
            </>
          ) : (
            <>
              {choiceTexts[outcome].toLowerCase()}
              {[ground, note]
                .filter((text) => text !== null)
                .map((text) => (
                  <bdi key={text} class="outside">
                    {' '}
                    · {text}
                  </bdi>
                ))}
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The deciding dates, then every law that applies with its own computation. */
function DeadlinePanel({ data }: PartProps) {
  const { deadline, folded, open } = data.shown.view;
  const caveat = datelessText(deadline) ?? unrecordedText(deadline);
  return (
    <Panel id="deadline" title="Deadline">
      {deadline.says.length === 0 ? null : (
        <Notice tone={deadline.limit === null ? 'bad' : 'warn'}>
          {deadline.says.map((text, i) => (
            <p key={text}>
              {text} {i === 0 && open && deadline.placeMissing ? <a href="#moves">Correct the request</a> : null}
            </p>
          ))}
        </Notice>
      )}
      <Facts
        rows={[
          ['Aim for', <Day date={deadline.aimFor} />],
          [
            'Legal limit',
            <>
              <Day date={deadline.limit} /> {caveat === null ? null : <Badge text={caveat} tone="bad" />}{' '}
              {deadline.atOnce ? <Badge text="takes effect immediately" tone="bad" /> : null}
            </>,
          ],
          deadline.ownTarget === null
            ? null
            : [
                'Your own target',
                <>
                  <Day date={deadline.ownTarget} /> <span class="soft">(set in the controller profile; no law’s)</span>
                </>,
              ],
          deadline.warnOn === null ? null : ['Warning from', <Day date={deadline.warnOn} />],
          deadline.acknowledgeBy === null
            ? null
            : [
                'Confirm receipt by',
                <>
                  <Day date={deadline.acknowledgeBy} />{' '}
                  {folded.acknowledgedAt === null ? null : <Badge text="done" tone="good" />}
                </>,
              ],
          deadline.laws.every((law) => law.row.extension === null)
            ? null
            : [
                folded.extension === null ? 'Extend by' : 'Extended; notice was due',
                <>
                  <Day date={deadline.firstLimit} /> <span class="soft">{extendsText(deadline)}</span>
                </>,
              ],
        ]}
      />
      <LawList deadline={deadline} />
      <p class="small">
        <a href={calculatorLink(data)}>Try other dates in the calculator</a>
      </p>
    </Panel>
  );
}

/** The calculator, filled in with this case. */
function calculatorLink({ shown }: CasePageData): string {
  const { view, profile } = shown;
  const filled = {
    kind: view.kind,
    received: view.deadline.receivedOn,
    place: view.row.jurisdiction ?? '',
    country: profile?.country ?? '',
    region: profile?.region ?? '',
  };
  return `/deadline?${new URLSearchParams(filled).toString()}`;
}

/** Names the laws whose date an extension would move, if not all of them allow one. */
function extendsText({ laws }: Deadlines): string {
  const without = laws.filter((law) => law.row.extension === null).map(({ name }) => name);
  return without.length === 0 ? '' : `(no extension, so the date stays: ${without.join('; ')})`;
}

function ReadinessPanel({ data }: PartProps) {
  const { readiness, disclosure, view, profile } = data.shown;
  const blocking = readiness.lacks.filter((lack) => lack.blocking);
  const others = readiness.lacks
    .filter((lack) => !lack.blocking && lack.code !== 'profile-part')
    .map(({ text }) => text);
  const missing = profile === null ? [] : missingProfileParts(profile);
  if (missing.length > 0) others.push(`The controller profile lacks: ${missing.join('; ')}.`);
  const holds = {
    full: 'the person’s records',
    'categories-only': 'categories only, nothing about the person',
    'no-match': 'a statement that we cannot link the requester to records',
  };
  return (
    <Panel id="readiness" title="Is it ready?">
      {view.open ? (
        <p>
          {readiness.ready ? (
            <Badge text="Ready to send" tone="good" />
          ) : (
            <Badge text={`${blocking.length} to resolve first`} tone="warn" />
          )}
        </p>
      ) : (
        <p>The case is settled.</p>
      )}
      {blocking.length === 0 ? null : (
        <ul class="plain">
          {blocking.map(({ text }) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {others.length === 0 ? null : (
        <>
          <h3>Notes</h3>
          <ul class="plain small outside">
            {others.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </>
      )}
      <p class="small soft">The answer may contain: {holds[disclosure]}.</p>
    </Panel>
  );
}

function RecordsPanel({ frame, data }: PartProps & { frame: PageFrame }) {
  const { match, consentAfter } = data.shown;
  const { decisions } = data;
  return (
    <Panel id="records" title="Consent records">
      <p>
        <Badge {...matchText(match)} /> {match.says}
      </p>
      {match.subjects.length === 0 ? null : (
        <p class="small">
          Subject: <span class="mono">{match.subjects.join(', ')}</span>
        </p>
      )}
      {consentAfter.length === 0 ? null : (
        <Notice tone="warn">
          <p>
            Consent was recorded after this case withdrew it: entries{' '}
            {consentAfter.slice(0, 10).map(({ seq, at }, place) => (
              <>
                {place === 0 ? '' : ', '}
                <EntryNumber seq={seq} /> ({momentText(at, frame.timeZone)})
              </>
            ))}
            {consentAfter.length > 10 ? ` and ${formatCount(consentAfter.length - 10)} more` : ''}. Check whether the
            person was asked again.
          </p>
        </Notice>
      )}
      {decisions.length === 0 ? null : (
        <Table
          caption={
            match.decisions > decisions.length
              ? `The latest ${decisions.length} of ${formatCount(match.decisions)} decisions`
              : 'Every recorded decision, latest first'
          }
          columns={[
            { title: 'When', cell: ({ at }) => <Moment iso={at} timeZone={frame.timeZone} /> },
            {
              title: 'Decision',
              cell: (decision) => (
                <span>
                  {decision.disputed === 1 ? 'Disputed' : phrase(decision.label)}
                  {decision.via === 'request' ? ' by request' : ''}
                  <br />
                  <span class="soft small">{decisionText(decision)}</span>
                </span>
              ),
            },
            {
              title: 'Banner',
              cell: ({ banner_id: id }) =>
                id === null ? '–' : <span title={id}>{data.bannerNames.get(id) ?? id}</span>,
            },
            { title: 'Policy version', label: 'Version', cell: ({ policy_version }) => policy_version ?? '–' },
            { title: 'Entry', cell: ({ seq }) => <EntryNumber seq={seq} /> },
          ]}
          rows={decisions}
        />
      )}
    </Panel>
  );
}

/** The choice, its place and act, and the record's own statement if it differs from the judgement. */
function decisionText(decision: CasePageData['decisions'][number]): string {
  const { state, label, disputed, action, page, domain, via } = decision;
  const stated = disputed === 1 || state !== label ? `stated as ${phrase(state).toLowerCase()}` : null;
  const withdrawn = (JSON.parse(decision.withdraws) as readonly string[]).map((purpose) =>
    purpose === ALL_PURPOSES ? 'every purpose' : purpose,
  );
  const parts = [
    purposesText(decision.chosen),
    withdrawn.length === 0 ? null : `withdraws ${withdrawn.join(', ')}`,
    via === 'request' ? null : stated,
    via === 'request' ? null : action,
    page ?? domain,
  ];
  return parts.filter((part) => part !== null && part !== '').join(' · ');
}

/** `analytics granted, marketing denied`. */
function purposesText(purposes: string): string {
  const choices = parsePurposes(purposes);
  return Object.entries(choices)
    .map(([purpose, choice]) => `${purpose} ${choice}`)
    .join(', ');
}

function HistoryPanel({ frame, data }: PartProps & { frame: PageFrame }) {
  return (
    <Panel id="history" title="History">
      <Table
        caption="Every move is a ledger entry."
        columns={[
          { title: 'When', cell: (move) => <Moment iso={move.received_at} timeZone={frame.timeZone} /> },
          {
            title: 'What',
            cell: ({ move, details }) => (
              <div>
                {moveText(move)}
                {move === 'opened' || move === 'reported-again'
                  ? null
                  : detailTexts(
                      details,
                      frame.timeZone,
                      data.shown.profile?.otherSystems,
                      new Map(data.documents.map(({ sha256, file_name: name }) => [sha256, name])),
                    ).map(([label, text]) => (
                      <p key={label} class="hint">
                        {label}: <bdi>{text}</bdi>
                      </p>
                    ))}
              </div>
            ),
          },
          { title: 'By', cell: ({ actor }) => actor },
          { title: 'Entry', cell: ({ seq }) => <EntryNumber seq={seq} /> },
        ]}
        rows={data.shown.history}
      />
      {frame.canWork ? (
        <p>
          <a
            href={`/settings/erasures?${new URLSearchParams({ by: 'case', source: data.shown.view.row.source, caseId: data.shown.view.row.case_id }).toString()}`}
          >
            Erase this request
          </a>
        </p>
      ) : null}
    </Panel>
  );
}

function moveText(move: string): string {
  return isMoveName(move) ? moves[move].label : phrase(move);
}
