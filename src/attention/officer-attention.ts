import { type DueTask, listCases, listDueTasks, listMessages, type WaitingMessage } from '../cases/list-cases.ts';
import { type Match, matchCases } from '../cases/match.ts';
import type { CaseReading, CaseView } from '../cases/view.ts';
import type { Clock } from '../core/clock.ts';
import type { Source } from '../core/source.ts';
import { dateIn } from '../core/zoned-days.ts';
import { createHistory } from '../store/queries/history.ts';
import { type BeforeConsent, type BrokenIntegration, loadScanAttention } from '../store/queries/history-scans.ts';
import type { Query } from '../store/store.ts';
import { type BannerStatus, loadSyncStatus } from '../sync/status.ts';

/**
 * A request that still waits for an answer, and how its requester was found in the consent records (only for the first
 * {@link MATCHED}).
 */
interface OpenRequest {
  readonly view: CaseView;
  readonly match?: Match;
}

/** What needs the officer's attention. */
export interface OfficerAttention {
  /** `3 requests: 1 due in 4 days, 1 unmatched, 1 opt-out · 2 gaps`. */
  readonly sentence: string;
  /** The parts of the sentence, each with what it is about. */
  readonly parts: readonly AttentionPart[];
  /** By legal limit, nearest first. */
  readonly requests: readonly OpenRequest[];
  /** The state of each banner's pull. */
  readonly banners: readonly BannerStatus[];
  /** Banners whose consent log may be incomplete. */
  readonly gaps: readonly BannerStatus[];
  readonly agreement: Agreement;
  /** Cases whose subject has consented again since the withdrawal, over the last {@link AGREEMENT_DAYS} days. */
  readonly consentAfterWithdrawal: readonly string[];
  readonly scans: ScanAttention;
  /** Messages from requesters, oldest first. */
  readonly messages: readonly WaitingMessage[];
  /** Open tasks for other systems that are due, earliest first. */
  readonly dueTasks: readonly DueTask[];
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
    | 'integrations';
  readonly text: string;
}

/** What needs attention about scans and integrations. */
interface ScanAttention {
  /** Sites whose last scan found items set before consent although they need it. */
  readonly beforeConsent: readonly BeforeConsent[];
  /** Disconnected or lost in the last {@link AGREEMENT_DAYS} days, and not connected since. */
  readonly integrations: readonly BrokenIntegration[];
}

/** How deliveries and the pulled log agree over the last {@link AGREEMENT_DAYS} days. */
export interface Agreement {
  /** Decisions only in the log: the endpoint was down, or the event is not subscribed. */
  readonly undelivered: number;
  /** Decisions with two records that contradict each other. */
  readonly contradicting: number;
}

/** Days over which deliveries and the log are compared for the officer; the consent audit does it for any period. */
export const AGREEMENT_DAYS = 31;

/** Days before its legal limit from which a request is listed with the days left. */
const DUE_SOON_DAYS = 7;
/** How many open requests are looked up in the consent records. */
export const MATCHED = 50;

/** Gathers what needs the officer's attention, for some sources or all. `pulled`: the sources whose consent log is pulled. */
export async function loadOfficerAttention(
  given: { readonly cases: CaseReading; readonly clock: Clock; readonly pulled: readonly Source[] },
  sources?: readonly string[],
): Promise<OfficerAttention> {
  const { cases, clock } = given;
  const { read } = cases.store;
  const now = clock();
  const since = new Date(now.getTime() - AGREEMENT_DAYS * 86_400_000).toISOString();
  const pulled = given.pulled.filter(({ slug }) => sources?.includes(slug) ?? true);
  const of = sources === undefined ? {} : { sources };
  const [views, banners, agreement, after, scans, messages, dueTasks] = await Promise.all([
    listCases(cases, { open: true, now: now.toISOString(), ...of }),
    loadSyncStatus(read, clock, pulled),
    loadAgreement(read, pulled, since, now.toISOString()),
    createHistory(read).consentsAfterWithdrawal({ asOf: Number.MAX_SAFE_INTEGER, receivedFrom: since, ...of }),
    loadScanAttention(read, { sources, since }),
    listMessages(read, sources),
    listDueTasks(read, dateIn(now.toISOString(), cases.timeZone), sources),
  ]);
  const firstRows = views.slice(0, MATCHED).map(({ row }) => row);
  const matches = await matchCases(cases, firstRows);
  const requests = views.map((view, place): OpenRequest => {
    const match = matches[place];
    return match === undefined ? { view } : { view, match };
  });
  const consentAfterWithdrawal = [...new Set(after.map(({ caseId }) => caseId))];
  const gaps = banners.filter(isGap);
  const parts = attentionParts(
    requests,
    gaps.length,
    agreement,
    consentAfterWithdrawal.length,
    scans,
    messages.length,
    dueTasks.length,
  );
  const found = { requests, banners, gaps, agreement, consentAfterWithdrawal, scans, messages, dueTasks };
  return { sentence: sentenceOf(parts), parts, ...found };
}

/** Whether a banner's consent log may be incomplete. A run in progress is a gap only if something is known to be missing. */
export function isGap({ state, gap }: Pick<BannerStatus, 'state' | 'gap'>): boolean {
  return state !== 'up-to-date' && state !== 'dismissed' && (state !== 'running' || gap !== null);
}

async function loadAgreement(read: Query, pulled: readonly Source[], from: string, to: string): Promise<Agreement> {
  const history = createHistory(read);
  const sum = { undelivered: 0, contradicting: 0 };
  const some = [await history.sourcesWith('conflicting'), await history.sourcesWith('only-pulled')];
  for (const { slug } of pulled) {
    if (!some.some((sources) => sources.has(slug))) continue;
    const period = { source: slug, from, to, asOf: Number.MAX_SAFE_INTEGER };
    const { onlyPulled, conflicting } = await history.disagreement(period);
    sum.undelivered += onlyPulled;
    sum.contradicting += conflicting;
  }
  return sum;
}

/** One sentence for the head of the page and the command line. A request may be counted in several of its parts. */
export function describeAttention(...found: Parameters<typeof attentionParts>): string {
  return sentenceOf(attentionParts(...found));
}

function sentenceOf(parts: readonly AttentionPart[]): string {
  return parts.map(({ text }) => text).join(' · ');
}

function attentionParts(
  requests: readonly OpenRequest[],
  gaps: number,
  agreement: Agreement,
  consentAfter = 0,
  scans: ScanAttention = { beforeConsent: [], integrations: [] },
  messages = 0,
  dueTasks = 0,
): readonly AttentionPart[] {
  const about: string[] = [];
  const add = (count: number, words: string) => {
    if (count > 0) about.push(`${count} ${words}`);
  };
  // One pass: ten thousand requests are read on each visit to Today.
  let [overdue, dateless, unmatched, optOuts, unclear, placeless] = [0, 0, 0, 0, 0, 0];
  const soon: number[] = [];
  for (const { view, match } of requests) {
    const { daysLeft, deadline, kind } = view;
    if (daysLeft !== null && daysLeft < 0) overdue += 1;
    else if (daysLeft !== null && daysLeft <= DUE_SOON_DAYS) soon.push(daysLeft);
    if (deadline.limit === null) dateless += 1;
    if (deadline.placeMissing) placeless += 1;
    if (match?.status === 'none') unmatched += 1;
    // They take effect at once, without an identity check (CCPA §1798.120, §1798.121).
    if (kind === 'opt-out' || kind === 'limit') optOuts += 1;
    if (kind === 'unknown') unclear += 1;
  }
  add(overdue, 'overdue');
  if (soon.length > 0) add(soon.length, wordsOfDue(soon));
  add(dateless, 'without a date');
  add(unmatched, requests.length > MATCHED ? `unmatched among the first ${MATCHED}` : 'unmatched');
  add(optOuts, 'opt-out');
  add(unclear, 'unclear');
  add(placeless, 'of a place to choose');
  const count = requests.length === 0 ? 'No open requests' : counted(requests.length, 'request');
  const head = about.length === 0 ? count : `${count}: ${about.join(', ')}`;
  const { undelivered, contradicting } = agreement;
  const [sites, broken] = [scans.beforeConsent.length, scans.integrations.length];
  const parts: AttentionPart[] = [{ about: 'requests', text: head }];
  const tell = (part: AttentionPart['about'], n: number, text: string) => {
    if (n > 0) parts.push({ about: part, text });
  };
  tell('messages', messages, `${counted(messages, 'request')} with a message to read`);
  tell('due-tasks', dueTasks, `${counted(dueTasks, 'task')} of other systems due`);
  tell('gaps', gaps, counted(gaps, 'gap'));
  tell('undelivered', undelivered, `${counted(undelivered, 'decision')} never delivered`);
  tell('contradictions', contradicting, `${contradicting} contradictory`);
  tell('consent-after', consentAfter, `consent after withdrawal in ${counted(consentAfter, 'case')}`);
  tell('before-consent', sites, `set before consent on ${counted(sites, 'site')}`);
  tell('integrations', broken, `${counted(broken, 'integration')} disconnected`);
  return parts;
}

function wordsOfDue(days: readonly number[]): string {
  const [first, last] = [Math.min(...days), Math.max(...days)];
  if (last === 0) return 'due today';
  if (first === last) return `due in ${counted(last, 'day')}`;
  return `due within ${last} days`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
