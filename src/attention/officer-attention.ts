import { type DueTask, listCases, listDueTasks, listMessages, type WaitingMessage } from '../cases/list-cases.ts';
import { type Match, matchCases } from '../cases/match-subject.ts';
import type { CaseReading, CaseView } from '../cases/view.ts';
import type { Clock } from '../core/clock.ts';
import type { Source } from '../core/source.ts';
import type { RequestKind } from '../core/vocabulary.ts';
import { dateIn } from '../core/zoned-days.ts';
import { createHistory } from '../store/queries/history.ts';
import { type BeforeConsent, type BrokenIntegration, loadScanAttention } from '../store/queries/history-scans.ts';
import type { Query } from '../store/store.ts';
import { type BannerStatus, loadSyncStatus } from '../sync/status.ts';
import { countUnclearChoices, countUnread } from './unread.ts';

/** A request that still waits for an answer, and how its requester was found in the consent records. */
interface OpenRequest {
  readonly view: CaseView;
  readonly match?: Match;
}

/** Figures about open requests. */
interface OpenFigures {
  readonly count: number;
  readonly overdue: number;
  /** Days left of those due soon. */
  readonly soon: readonly number[];
  readonly dateless: number;
  readonly optOuts: number;
  readonly unclear: number;
  readonly placeless: number;
  /** Those under a law that is not recorded. */
  readonly lawless: number;
  /** Those that are ready to be answered. */
  readonly ready: readonly CaseView[];
}

/** What needs the officer's attention. */
export interface OfficerAttention {
  /** `3 requests: 1 due in 4 days, 1 unmatched, 1 opt-out · 2 gaps`. */
  readonly sentence: string;
  /** The parts of the sentence, each with what it is about. */
  readonly parts: readonly AttentionPart[];
  /** Open requests by legal limit, nearest first. */
  readonly open: readonly CaseView[];
  /** The first {@link MATCHED} of them. */
  readonly requests: readonly OpenRequest[];
  /** Those that are ready to be answered. */
  readonly ready: readonly CaseView[];
  /** The state of each banner's pull. */
  readonly banners: readonly BannerStatus[];
  /** Banners whose consent log may be incomplete. */
  readonly gaps: readonly BannerStatus[];
  readonly agreement: FindingCounts;
  /** Cases whose subject has consented again since the withdrawal, over the last {@link AGREEMENT_DAYS} days. */
  readonly consentAfterWithdrawal: readonly string[];
  readonly scans: ScanAttention;
  /** Requests with messages that nobody has answered yet, the one that waits longest first. */
  readonly messages: readonly WaitingMessage[];
  /** Open tasks for other systems that are due, earliest first. */
  readonly dueTasks: readonly DueTask[];
  /** Entries that could not be understood and that nobody has set aside. */
  readonly unread: number;
  /** Sources whose choices of the last {@link AGREEMENT_DAYS} days were not all understood, most first. */
  readonly unclearChoices: readonly { readonly source: string; readonly decisions: number }[];
}

/** A figure, and where its details are. */
export interface AttentionPart {
  readonly about:
    | 'requests'
    | 'messages'
    | 'due-tasks'
    | 'gaps'
    | 'undelivered'
    | 'contradictions'
    | 'consent-after'
    | 'before-consent'
    | 'integrations'
    | 'unread'
    | 'unclear-choices';
  readonly text: string;
  /** Of open requests: their number in words, and figures about some of them. */
  readonly requests?: {
    readonly all: string;
    readonly some: readonly { readonly which: RequestFigure; readonly text: string }[];
  };
}

/** Figures about open requests; each is a filter of the list of requests. */
export const requestFigures = [
  'overdue',
  'due-soon',
  'undated',
  'unmatched',
  'opt-out',
  'unclear',
  'place-missing',
  'law-not-recorded',
] as const;
export type RequestFigure = (typeof requestFigures)[number];

/** Whether an open request is counted in a figure. Those without a match are found by looking up the first {@link MATCHED}. */
export function isCountedIn(which: Exclude<RequestFigure, 'unmatched'>, view: CaseView): boolean {
  const { daysLeft, deadline, kinds, parts } = view;
  const isToDo = (kind: RequestKind) =>
    kinds.includes(kind) && !parts.some((part) => part.kind === kind && part.outcome !== null);
  switch (which) {
    case 'overdue':
      return daysLeft !== null && daysLeft < 0;
    case 'due-soon':
      return daysLeft !== null && daysLeft >= 0 && daysLeft <= DUE_SOON_DAYS;
    case 'undated':
      return deadline.limit === null;
    case 'opt-out':
      // They take effect at once, without an identity check (CCPA §1798.120, §1798.121).
      return isToDo('opt-out') || isToDo('limit');
    case 'unclear':
      return isToDo('unknown');
    case 'place-missing':
      return deadline.placeMissing;
    case 'law-not-recorded':
      return deadline.unrecorded.length > 0;
  }
}

/** Of the first {@link MATCHED} open requests, those whose requester was not found in the consent records. */
export async function listUnmatched(cases: CaseReading, open: readonly CaseView[]): Promise<readonly CaseView[]> {
  const looked = await withMatches(cases, open.slice(0, MATCHED));
  return looked.filter(isUnmatched).map(({ view }) => view);
}

function isUnmatched({ match }: OpenRequest): boolean {
  return match?.status === 'none';
}

/** What needs attention about scans and integrations. */
interface ScanAttention {
  /** Sites whose last scan found items set before consent although they need it. */
  readonly beforeConsent: readonly BeforeConsent[];
  /** Disconnected or lost in the last {@link AGREEMENT_DAYS} days, and not connected since. */
  readonly integrations: readonly BrokenIntegration[];
}

/** How deliveries and the pulled log agree over the last {@link AGREEMENT_DAYS} days. */
export interface FindingCounts {
  /** Decisions only in the log: the endpoint was down, or the event is not subscribed. */
  readonly undelivered: number;
  /** Decisions with two records that contradict each other. */
  readonly contradicting: number;
}

/** Days over which deliveries and the log are compared for the officer; the consent audit does it for any period. */
export const AGREEMENT_DAYS = 31;

/** Days before its legal limit from which a request is listed with the days left. */
const DUE_SOON_DAYS = 7;
/** How many open requests are looked up in the consent records. Today lists as many. */
export const MATCHED = 40;

/**
 * Gathers what needs the officer's attention, for some sources or all. `pulled`: the followed sources whose
 * consent log is pulled.
 */
export async function loadOfficerAttention(
  given: {
    readonly cases: CaseReading;
    readonly clock: Clock;
    readonly followed: readonly Source[];
    readonly pulled: readonly Source[];
  },
  sources?: readonly string[],
): Promise<OfficerAttention> {
  const { cases, clock } = given;
  const { read } = cases.store;
  const now = clock();
  const since = new Date(now.getTime() - AGREEMENT_DAYS * 86_400_000).toISOString();
  const among = (some: readonly Source[]) => some.filter(({ slug }) => sources?.includes(slug) ?? true);
  const [followed, pulled] = [among(given.followed), among(given.pulled)];
  const of = sources === undefined ? {} : { sources };
  const listed = listCases(cases, { open: true, now: now.toISOString(), ...of });
  const [open, requests, banners, agreement, after, scans, messages, dueTasks, unreadOf, unclearOf] = await Promise.all(
    [
      listed,
      listed.then((views) => withMatches(cases, views.slice(0, MATCHED))),
      loadSyncStatus(read, clock, pulled),
      loadAgreement(read, followed, since, now.toISOString()),
      createHistory(read).consentsAfterWithdrawal({ asOf: Number.MAX_SAFE_INTEGER, receivedFrom: since, ...of }),
      loadScanAttention(read, { sources, since }),
      listMessages(read, sources),
      listDueTasks(read, dateIn(now.toISOString(), cases.timeZone), sources),
      countUnread(read, sources),
      countUnclearChoices(
        read,
        followed.map(({ slug }) => slug),
        since,
      ),
    ],
  );
  const figures = figuresOf(open);
  const consentAfterWithdrawal = [...new Set(after.map(({ caseId }) => caseId))];
  const gaps = banners.filter(isGap);
  const unread = sumOf(unreadOf);
  const unclearChoices = [...unclearOf]
    .map(([source, decisions]) => ({ source, decisions }))
    .sort((a, b) => b.decisions - a.decisions);
  const parts = attentionParts(figures, requests, {
    gaps: gaps.length,
    agreement,
    consentAfter: consentAfterWithdrawal.length,
    scans,
    messages: messages.length,
    dueTasks: dueTasks.length,
    unread,
    unclearChoices: sumOf(unclearOf),
  });
  const found = {
    open,
    requests,
    ready: figures.ready,
    banners,
    gaps,
    agreement,
    consentAfterWithdrawal,
    scans,
    messages,
    dueTasks,
    unread,
    unclearChoices,
  };
  return { sentence: sentenceOf(parts), parts, ...found };
}

async function withMatches(cases: CaseReading, views: readonly CaseView[]): Promise<readonly OpenRequest[]> {
  const matches = await matchCases(
    cases,
    views.map(({ row }) => row),
  );
  return views.map((view, place) => {
    const match = matches[place];
    return match === undefined ? { view } : { view, match };
  });
}

/** Whether a banner's consent log may be incomplete. A run in progress is a gap only if something is known to be missing. */
export function isGap({ state, gap }: Pick<BannerStatus, 'state' | 'gap'>): boolean {
  return state !== 'up-to-date' && state !== 'dismissed' && (state !== 'running' || gap !== null);
}

async function loadAgreement(
  read: Query,
  followed: readonly Source[],
  from: string,
  to: string,
): Promise<FindingCounts> {
  const history = createHistory(read);
  const some = await Promise.all([history.sourcesWith('conflicting'), history.sourcesWith('only-pulled')]);
  const { onlyPulled, conflicting } = await history.disagreement(
    followed.flatMap(({ slug }) => (some.some((sources) => sources.has(slug)) ? slug : [])),
    { from, to, asOf: Number.MAX_SAFE_INTEGER },
  );
  return { undelivered: onlyPulled, contradicting: conflicting };
}

/** The figures of a list, which stays the same array while nothing changes (list-cases.ts): it may be long. */
const keptFigures = new WeakMap<readonly CaseView[], OpenFigures>();

function figuresOf(views: readonly CaseView[]): OpenFigures {
  const kept = keptFigures.get(views) ?? countOpen(views);
  keptFigures.set(views, kept);
  return kept;
}

function countOpen(views: readonly CaseView[]): OpenFigures {
  const among = (which: Parameters<typeof isCountedIn>[0]) => views.filter((view) => isCountedIn(which, view));
  return {
    count: views.length,
    overdue: among('overdue').length,
    soon: among('due-soon').flatMap(({ daysLeft }) => daysLeft ?? []),
    dateless: among('undated').length,
    optOuts: among('opt-out').length,
    unclear: among('unclear').length,
    placeless: among('place-missing').length,
    lawless: among('law-not-recorded').length,
    ready: views.filter((view) => view.row.state === 'ready'),
  };
}

/** What needs attention besides the requests themselves; what is absent is 0. */
interface FoundBesides {
  readonly gaps: number;
  readonly agreement: FindingCounts;
  readonly consentAfter?: number;
  readonly scans?: ScanAttention;
  readonly messages?: number;
  readonly dueTasks?: number;
  readonly unread?: number;
  readonly unclearChoices?: number;
}

/** One sentence for the head of the page and the command line. A request may be counted in several of its parts. */
export function describeAttention(requests: readonly OpenRequest[], besides: FoundBesides): string {
  return sentenceOf(attentionParts(countOpen(requests.map(({ view }) => view)), requests, besides));
}

function sentenceOf(parts: readonly AttentionPart[]): string {
  return parts.map(({ text }) => text).join(' · ');
}

function attentionParts(
  { count: open, overdue, soon, dateless, optOuts, unclear, placeless, lawless }: OpenFigures,
  matched: readonly OpenRequest[],
  besides: FoundBesides,
): readonly AttentionPart[] {
  const some: { which: RequestFigure; text: string }[] = [];
  const add = (which: RequestFigure, count: number, words: string) => {
    if (count > 0) some.push({ which, text: `${count} ${words}` });
  };
  add('overdue', overdue, 'overdue');
  if (soon.length > 0) add('due-soon', soon.length, wordsOfDue(soon));
  add('undated', dateless, 'without a date');
  add(
    'unmatched',
    matched.filter(isUnmatched).length,
    open > MATCHED ? `unmatched among the first ${MATCHED}` : 'unmatched',
  );
  add('opt-out', optOuts, 'opt-out');
  add('unclear', unclear, 'unclear');
  add('place-missing', placeless, 'without a place');
  add('law-not-recorded', lawless, 'under a law that is not recorded');
  const all = open === 0 ? 'No open requests' : counted(open, 'request');
  const head = some.length === 0 ? all : `${all}: ${some.map(({ text }) => text).join(', ')}`;
  const { gaps, consentAfter = 0, messages = 0, dueTasks = 0, unread = 0, unclearChoices = 0 } = besides;
  const { scans = { beforeConsent: [], integrations: [] } } = besides;
  const { undelivered, contradicting } = besides.agreement;
  const [sites, broken] = [scans.beforeConsent.length, scans.integrations.length];
  const parts: AttentionPart[] = [{ about: 'requests', text: head, requests: { all, some } }];
  const tell = (part: AttentionPart['about'], n: number, text: string) => {
    if (n > 0) parts.push({ about: part, text });
  };
  tell('messages', messages, `${counted(messages, 'request')} with an open message`);
  tell('unread', unread, `${counted(unread, 'delivery', 'deliveries')} not understood`);
  tell('due-tasks', dueTasks, `${counted(dueTasks, 'task')} of other systems due`);
  tell('gaps', gaps, counted(gaps, 'gap'));
  tell('undelivered', undelivered, `${counted(undelivered, 'decision')} never delivered`);
  tell('contradictions', contradicting, counted(contradicting, 'contradictory decision'));
  tell('unclear-choices', unclearChoices, `${counted(unclearChoices, 'choice')} not understood`);
  tell('consent-after', consentAfter, `consent after withdrawal in ${counted(consentAfter, 'case')}`);
  tell('before-consent', sites, `cookies set before consent on ${counted(sites, 'site')}`);
  tell('integrations', broken, `${counted(broken, 'integration')} disconnected`);
  return parts;
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function wordsOfDue(days: readonly number[]): string {
  const [first, last] = [Math.min(...days), Math.max(...days)];
  if (last === 0) return 'due today';
  if (first === last) return `due in ${counted(last, 'day')}`;
  return `due within ${last} days`;
}

function counted(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}
