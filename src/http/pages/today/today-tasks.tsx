import { type ComponentChildren, Fragment } from 'preact';
import { counted, formatCount } from '../../../../reports/format.ts';
import { siteWord } from '../../../../reports/scan-audit/findings.ts';
import { isUntouched } from '../../../attention/find-notices.ts';
import { AGREEMENT_DAYS } from '../../../attention/officer-attention.ts';
import type { Warning } from '../../../attention/operator-warnings.ts';
import { isAssignedTo } from '../../../cases/assignee.ts';
import { choiceTexts } from '../../../cases/moves.ts';
import type { CaseView } from '../../../cases/view.ts';
import { can } from '../../../core/roles.ts';
import type { PageFrame } from '../parts/layout.tsx';
import { Badge, Day, LegalLimit, Moment, mailToAdmins, Panel, Table, WithCommands } from '../parts/parts.tsx';
import { kindsText, type Worded } from '../parts/words.ts';
import { addressOf, lastDayOf, whatText } from '../settings/erasure-view.tsx';
import type { Today } from './load-today.ts';

/** One thing to do: what, by when, and where. */
interface Task {
  readonly key: string;
  readonly what: ComponentChildren;
  readonly by: ComponentChildren;
  /** `about` distinguishes links with the same text for screen reader users. */
  readonly action: { readonly href: string; readonly label: string; readonly about: string };
}

/** Tasks shown, and requests among them, which also have their own list; the rest is combined in one line. */
const SHOWN = 10;
const REQUESTS_AMONG = 5;
/** Tasks, and warnings of one kind, on the page at most, folded ones included. */
const LISTED = 100;
/**
 * Up to this many warnings of one kind have separate tasks; more than that share one, since they usually have the same
 * cause.
 */
const ALIKE = 3;
/** Sources named in one line. */
const NAMED = 3;
/** Requests due later are not among today's tasks. */
const DUE_DAYS = 7;

/** What to do today. */
export function TasksPanel({ frame, today }: { frame: PageFrame; today: Today }) {
  const tasks = tasksOf(frame, today);
  const rest = tasks.slice(SHOWN);
  const unlisted = tasks.length - LISTED;
  return (
    <Panel id="tasks" title="To do">
      {tasks.length === 0 ? (
        <p>Nothing is waiting for you.</p>
      ) : (
        <TaskTable tasks={tasks.slice(0, SHOWN)} caption="The most urgent first" />
      )}
      {rest.length === 0 ? null : (
        <details>
          <summary>{formatCount(rest.length)} more</summary>
          <div>
            <TaskTable tasks={rest.slice(0, LISTED - SHOWN)} caption={null} />
            {unlisted > 0 ? <p class="hint">{formatCount(unlisted)} more will be listed once these are done.</p> : null}
          </div>
        </details>
      )}
    </Panel>
  );
}

function TaskTable({ tasks, caption }: { tasks: readonly Task[]; caption: string | null }) {
  return (
    <Table
      caption={caption}
      columns={[
        { title: 'What', cell: ({ what }: Task) => what },
        { title: 'By when', cell: ({ by }) => by },
        {
          title: 'Where',
          label: '',
          cell: ({ action: { href, label, about } }) => (
            <a class="button quiet slim" href={href} aria-label={`${label}: ${about}`}>
              {label}
            </a>
          ),
        },
      ]}
      rows={tasks}
    />
  );
}

function tasksOf(frame: PageFrame, today: Today): readonly Task[] {
  const urgent = urgentRequests(today);
  return [
    ...firstSourceTasks(frame, today),
    ...profileTasks(frame, today),
    ...incompleteTasks(frame, today),
    ...requestTasks(frame, urgent, today),
    ...newRequestTasks(urgent, today),
    ...messageTasks(frame, today),
    ...unreadTasks(today),
    ...dueTasks(today),
    ...proposalTasks(frame, today),
    ...warningTasks(frame, today),
    ...recordTasks(today),
    ...unclearTasks(frame, today),
    ...scanTasks(frame, today),
  ];
}

/** An installation without a source receives nothing: only an admin can add the first one. */
function firstSourceTasks(frame: PageFrame, { sources }: Today): readonly Task[] {
  if (sources.length > 0 || !can(frame.role, 'administer')) return [];
  const what = 'Add the first source: an account of the service to follow here';
  return [
    { key: 'source', what, by: <Badge {...soon} />, action: { href: '/sources/new', label: 'Start', about: what } },
  ];
}

/** Without a controller profile, no request can be answered. People who may not create it can ask an admin. */
function profileTasks(frame: PageFrame, { profileless, admins }: Today): readonly Task[] {
  if (profileless === null) return [];
  const { slug, name } = profileless;
  const what = 'Fill in the controller profile: letters and packs state it, and no request is ready without it';
  const text = `There is no controller profile for ${name} yet. Please fill it in under Settings, Controller profile: letters and packs state it, and no request can be answered without it.`;
  const action = can(frame.role, 'administer')
    ? { href: `/settings/profile?source=${encodeURIComponent(slug)}`, label: 'Start' }
    : { href: mailToAdmins(admins, 'Please fill in the controller profile', text), label: 'Tell an admin' };
  return [{ key: 'profile', what, by: <Badge {...soon} />, action: { ...action, about: what } }];
}

/** Clients that were imported and never finished: letters would name another, or their deliveries are refused. */
function incompleteTasks(frame: PageFrame, { incomplete, admins }: Today): readonly Task[] {
  if (incomplete.length === 0) return [];
  const shown = incomplete.slice(0, NAMED);
  const title = `Complete ${counted(incomplete.length, 'source', 'sources')}`;
  const what = (
    <>
      {title}:{' '}
      {shown.map(({ name }, place) => (
        <Fragment key={name}>
          {place === 0 ? '' : ', '}
          <bdi>{name}</bdi>
        </Fragment>
      ))}
      {incomplete.length > NAMED ? ' …' : ''}
    </>
  );
  const lines = incomplete
    .slice(0, LISTED)
    .map(({ name, gaps }) => `${name}: ${gaps.map((gap) => gap.what).join(', ')}`);
  const text = `Please complete these sources, under Sources:\n\n${lines.join('\n')}`;
  const action = can(frame.role, 'administer')
    ? { href: '/sources?missing=yes', label: 'Look' }
    : { href: mailToAdmins(admins, title, text), label: 'Tell an admin' };
  return [{ key: 'incomplete', what, by: <Badge {...soon} />, action: { ...action, about: title } }];
}

/** Requests that nobody has taken up, in one line if there are several. */
function newRequestTasks(urgent: readonly CaseView[], { attention, source }: Today): readonly Task[] {
  const untouched = attention.requests.flatMap(({ view }) => (isUntouched(view) && !urgent.includes(view) ? view : []));
  const [first, ...more] = untouched;
  if (first === undefined) return [];
  const { row, kinds } = first;
  const what =
    more.length === 0
      ? `Take up the new request ${row.case_id} (${kindsText(kinds)})`
      : `Take up ${counted(untouched.length, 'new request', 'new requests')}`;
  const query = new URLSearchParams({ ...(source === null ? {} : { source }), sort: 'newest' }).toString();
  return [
    {
      key: 'new requests',
      what,
      by: <LegalLimit view={first} />,
      action: {
        href: more.length === 0 ? `/cases/${encodeURIComponent(row.case_id)}` : `/cases?${query}`,
        label: 'Open',
        about: what,
      },
    },
  ];
}

/** The first requests that are overdue, due soon, cannot have a date yet, or wait for a second person. */
function urgentRequests({ attention, toApprove }: Today): readonly CaseView[] {
  const first: CaseView[] = [];
  for (const view of attention.open) {
    if (first.length === REQUESTS_AMONG) break;
    if (view.overdue || view.deadline.atOnce || (view.daysLeft ?? 0) <= DUE_DAYS || toApprove.has(view.row.case_id))
      first.push(view);
  }
  return first;
}

function requestTasks({ personId }: PageFrame, urgent: readonly CaseView[], { toApprove }: Today): readonly Task[] {
  return urgent.map((view) => {
    const { row, kinds, deadline } = view;
    const title = `request ${row.case_id}`;
    const href = `/cases/${encodeURIComponent(row.case_id)}`;
    return {
      key: row.case_id,
      what: (
        <>
          {deadline.placeMissing
            ? 'Choose the place of'
            : deadline.limit === null && deadline.unrecorded.length > 0
              ? 'Find out the deadline of'
              : toApprove.has(row.case_id)
                ? 'Approve the answer to'
                : 'Answer'}{' '}
          {title}
          {row.requester_name === null ? null : (
            <>
              {' '}
              from <bdi>{row.requester_name}</bdi>
            </>
          )}{' '}
          ({kindsText(kinds)}){' '}
          {isAssignedTo(view.folded.assignee, personId) ? <Badge text="yours" tone="calm" /> : null}
        </>
      ),
      by: <LegalLimit view={view} />,
      action: { href, label: 'Open', about: title },
    };
  });
}

/** Requests with messages that nobody has answered yet. No law sets a date for a reply, so the task says since when. */
function messageTasks(frame: PageFrame, { attention }: Today): readonly Task[] {
  return attention.messages.map(({ caseId, name, count, about, at }) => ({
    key: `message ${caseId}`,
    what: (
      <>
        Answer {count === 1 ? 'the message' : `${formatCount(count)} messages`} of{' '}
        {name === null ? 'the requester' : <bdi>{name}</bdi>} ({caseId}), open since{' '}
        <Moment iso={at} timeZone={frame.timeZone} />: {choiceTexts[about].toLowerCase()}
      </>
    ),
    by: <Badge {...(about === 'objection' ? now : soon)} />,
    action: { href: `/cases/${encodeURIComponent(caseId)}#messages`, label: 'Open', about: `messages of ${caseId}` },
  }));
}

/** Deliveries and rows that could not be understood: a request may be among them, so they come before other work. */
function unreadTasks({ attention: { unread }, source }: Today): readonly Task[] {
  if (unread === 0) return [];
  const count = counted(unread, 'delivery', 'deliveries');
  const what = `Look at ${count} that could not be understood: a request may be among them`;
  const query = source === null ? '' : `?source=${encodeURIComponent(source)}`;
  const action = { href: `/deliveries/unread${query}`, label: 'Look', about: what };
  return [{ key: 'unread', what, by: <Badge {...now} />, action }];
}

/** Choices whose meaning is unknown, by source. */
function unclearTasks(frame: PageFrame, { attention }: Today): readonly Task[] {
  return attention.unclearChoices.map(({ source, decisions }) => {
    const of = encodeURIComponent(source);
    const what = `Find out what ${counted(decisions, 'choice', 'choices')} of ${frame.sourceName(source)} in the last ${AGREEMENT_DAYS} days ${decisions === 1 ? 'means' : 'mean'}: until then they do not count as consent`;
    return {
      key: `unclear ${source}`,
      what,
      by: <Badge {...soon} />,
      action: { href: `/consent/decisions?source=${of}&choice=unknown`, label: 'Look', about: what },
    };
  });
}

/** Tasks of other systems' owners that are due and not reported as done. */
function dueTasks({ attention }: Today): readonly Task[] {
  return attention.dueTasks.map(({ caseId, task, what, owner, due }) => ({
    key: `task ${caseId} ${task}`,
    what: (
      <>
        Ask {owner === null ? 'the owner' : <bdi class="outside">{owner}</bdi>} about “<bdi class="outside">{what}</bdi>
        ” for {caseId}
      </>
    ),
    by: <Day date={due} />,
    action: { href: `/cases/${encodeURIComponent(caseId)}#tasks`, label: 'Open', about: `task ${task} of ${caseId}` },
  }));
}

/** Erasures that wait for a decision. Auditors cannot decide. */
function proposalTasks(frame: PageFrame, { proposals }: Today): readonly Task[] {
  if (!frame.canWork) return [];
  return proposals.map((proposal) => ({
    key: `erasure ${proposal.id}`,
    what: (
      <>
        Approve or withdraw the erasure that <bdi>{proposal.officer}</bdi> proposed: {whatText(proposal, frame)}
      </>
    ),
    by: <Day date={lastDayOf(proposal, frame.timeZone)} />,
    action: { href: addressOf(proposal.id), label: 'Open', about: `erasure ${proposal.id}` },
  }));
}

const now: Worded = { text: 'now', tone: 'bad' };
const soon: Worded = { text: 'when you can', tone: 'calm' };

/** The page on which a warning can be examined or resolved. */
const warningPages: Partial<Record<Warning['code'], string>> = {
  'silent-source': '/deliveries',
  'refused-surge': '/deliveries/refused',
  'sync-failing': '#sync',
  'sync-lag': '#sync',
  'verification-overdue': '/evidence#verification',
  'unknown-call': '/policies/calls?open=yes',
  'reading-pending': '/readings',
};

const VERIFY = '/evidence#verification';
/** What an admin does on a page; for the other warnings, the remedy names a command or a setting. */
const adminRemedies: Partial<Record<Warning['code'], { readonly page: string; readonly text: string }>> = {
  'seal-failed': {
    page: VERIFY,
    text: 'Check that a worker is running, then press “Verify now” on the Evidence page: it lists each fault.',
  },
  'reading-pending': {
    page: '/readings',
    text: 'The page lists every record that is read differently. Look at it, then put the new reading in force there.',
  },
  'verification-faults': {
    page: VERIFY,
    text: 'Keep DATA_DIR and the database as they are. The Evidence page lists each fault. The task on Today disappears once a verification finds none.',
  },
  'verification-overdue': {
    page: VERIFY,
    text: 'Press “Verify now” on the Evidence page. Check that a worker is running and that VERIFY_SCHEDULE is not off.',
  },
  'witness-forked': {
    page: VERIFY,
    text: 'Keep DATA_DIR and the database as they are, and press “Verify now” on the Evidence page: either an older state was restored, or the ledger was rewritten.',
  },
  'refused-surge': {
    page: '/deliveries/refused',
    text: 'The Refused page under Deliveries says why. If the signing secret was changed, add the new one there, then readmit the refused deliveries.',
  },
  'sync-failing': {
    page: '#sync',
    text: 'Start a sync on the Today page. If it fails again, check the API key on the source’s page.',
  },
  'sync-lag': {
    page: '#sync',
    text: 'Start a sync on the Today page. If it does not begin, check that a worker is running.',
  },
  'policies-disagree': {
    page: '/policies/generate',
    text: 'Check the policy in the service’s dashboard, then fetch the list again under Policies: Generate.',
  },
};

/** The hint for people who cannot change anything on the server; the remedy with its commands is in the mail to the admins. */
function hintFor(code: Warning['code'], page: string | undefined): string {
  if (code === 'unknown-call')
    return 'Check in the service’s dashboard whether it was carried out, and record the outcome.';
  return page === undefined
    ? 'An admin has to fix this.'
    : 'Find out what it is about, and tell an admin if it persists.';
}

function warningTasks(frame: PageFrame, today: Today): readonly Task[] {
  const byCode = new Map<Warning['code'], Warning[]>();
  // Officers have a task of their own for what was not understood.
  const warnings = today.warnings.filter(({ code }) => code !== 'quarantine');
  for (const warning of warnings) byCode.set(warning.code, [...(byCode.get(warning.code) ?? []), warning]);
  return [...byCode.values()].flatMap(([first, ...more]) => {
    if (first === undefined) return [];
    if (more.length >= ALIKE) return [warningTask(frame, today, first, more)];
    return [first, ...more].map((warning) => warningTask(frame, today, warning));
  });
}

/**
 * Warnings for the server's operator: for what the pages cannot do, a mail to the admins contains what they need to act
 * on it.
 */
function warningTask(
  frame: PageFrame,
  today: Today,
  { code, source, sentence, remedy }: Warning,
  more: readonly Warning[] = [],
): Task {
  const administers = can(frame.role, 'administer');
  const onPage = adminRemedies[code];
  const page = (administers ? onPage?.page : undefined) ?? warningPages[code];
  const about = more.length === 0 ? sentence : `${sentence} ${formatCount(more.length)} more like it.`;
  const mail = mailToAdmins(today.admins, `consent-ledger: ${sentence}`, `${about}\n\n${onPage?.text ?? remedy}`);
  return {
    key: `${code} ${source}`,
    what: (
      <>
        <strong>{sentence}</strong>
        {more.length === 0 ? null : (
          <details>
            <summary>{formatCount(more.length)} more like it</summary>
            <ul>
              {more.slice(0, LISTED).map((one) => (
                <li key={one.source}>{one.sentence}</li>
              ))}
              {more.length > LISTED ? <li>and {formatCount(more.length - LISTED)} more</li> : null}
            </ul>
          </details>
        )}
        <p class="hint">
          {administers && code !== 'unknown-call' ? (
            <WithCommands text={onPage?.text ?? remedy} />
          ) : (
            hintFor(code, page)
          )}
        </p>
      </>
    ),
    by: <Badge {...now} />,
    action:
      page !== undefined
        ? { href: page, label: 'Look', about }
        : { href: mail, label: administers ? 'Forward' : 'Tell an admin', about },
  };
}

/** Questions raised by the records. */
function recordTasks({ attention, source }: Today): readonly Task[] {
  const { agreement, consentAfterWithdrawal, gaps } = attention;
  const query = source === null ? '' : `?source=${encodeURIComponent(source)}`;
  const tasks: Task[] = consentAfterWithdrawal.map((caseId) => ({
    key: `after ${caseId}`,
    what: `Consent was recorded after it was withdrawn at the request of the same person: check whether they were asked again (${caseId})`,
    by: <Badge {...soon} />,
    action: { href: `/cases/${encodeURIComponent(caseId)}#records`, label: 'Open', about: caseId },
  }));
  const add = (count: number, key: string, what: string, href: string) => {
    if (count > 0) tasks.push({ key, what, by: <Badge {...soon} />, action: { href, label: 'Look', about: what } });
  };
  const { contradicting, undelivered } = agreement;
  add(
    contradicting,
    'contradicting',
    `Resolve ${counted(contradicting, 'contradictory decision', 'contradictory decisions')}: until then they do not count as consent`,
    `/consent/contradictions${query}`,
  );
  add(gaps.length, 'gaps', `Close ${counted(gaps.length, 'gap', 'gaps')} in the pulled consent log`, '#sync');
  add(
    undelivered,
    'undelivered',
    `Find out why ${counted(undelivered, 'decision was', 'decisions were')} never delivered`,
    `/consent/undelivered${query}`,
  );
  return tasks;
}

/** Tasks about scans and integrations; each disappears with a clean scan or a new connection. */
function scanTasks(frame: PageFrame, { attention }: Today): readonly Task[] {
  const { beforeConsent, integrations } = attention.scans;
  const of = (source: string) => `/scans?source=${encodeURIComponent(source)}`;
  return [
    ...beforeConsent.map(
      ({ source, site, found, at }): Task => ({
        key: `site ${source} ${site}`,
        what: (
          <>
            <a href={of(source)}>{siteWord(site)}</a>: {found}{' '}
            {found === 1 ? 'cookie or tracker' : 'cookies or trackers'} set before consent (scan of{' '}
            <Moment iso={at} timeZone={frame.timeZone} />)
            <p class="hint">Block it until the visitor has made a choice, then scan again.</p>
          </>
        ),
        by: <Badge {...soon} />,
        action: { href: of(source), label: 'Look', about: siteWord(site) },
      }),
    ),
    ...integrations.map((one): Task => {
      const name = one.name ?? one.integration_id ?? 'an integration';
      return {
        key: `integration ${one.source} ${one.integration_key}`,
        what: (
          <>
            <bdi>{name}</bdi>
            {one.site === null ? '' : ` of ${one.site}`}: {one.status} <Moment iso={one.at} timeZone={frame.timeZone} />
            {one.error === null ? '' : ` (${one.error})`}
            <p class="hint">Reconnect it in the service if this was not intended.</p>
          </>
        ),
        by: <Badge {...soon} />,
        action: { href: `${of(one.source)}#integrations`, label: 'Look', about: name },
      };
    }),
  ];
}

/** One line about what can be relied on: sealed, witnessed, verified, synced. */
export function TrustLine({ frame, today }: { frame: PageFrame; today: Today }) {
  const { ledger, attention, verification, compared } = today;
  const { checkpoint, witnesses } = ledger;
  const time = (iso: string) => <Moment iso={iso} timeZone={frame.timeZone} />;
  const witnessed =
    (witnesses ?? [])
      .flatMap(({ at }) => at ?? [])
      .sort()
      .at(-1) ?? null;
  const marks = attention.banners.flatMap(({ watermark, state }) =>
    state === 'dismissed' || watermark === null ? [] : [watermark],
  );
  const synced = marks.sort()[0];
  return (
    <p class="trust small">
      {checkpoint === null ? 'Not sealed yet' : <>Sealed {time(checkpoint.createdAt)}</>}
      {' · '}
      {witnesses === null ? (
        'no witnesses configured'
      ) : witnessed === null ? (
        'not witnessed yet'
      ) : (
        <>witnessed {time(witnessed)}</>
      )}
      {' · '}
      <a href="/evidence#verification">
        {verification === null ? (
          'not verified yet'
        ) : verification.faults > 0 ? (
          <Badge text={`verification found ${counted(verification.faults, 'fault', 'faults')}`} tone="bad" />
        ) : (
          <>verified {time(verification.at)}</>
        )}
      </a>
      {' · '}
      {compared === null ? 'read models not compared with the ledger yet' : <>read models compared {time(compared)}</>}
      {' · '}
      {synced === undefined ? 'nothing synced' : <>synced up to {time(synced)}</>}
    </p>
  );
}
