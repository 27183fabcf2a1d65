import { placeQuestion } from '../cases/folded.ts';
import type { Match } from '../cases/match.ts';
import type { CaseView } from '../cases/view.ts';
import type { BannerStatus } from '../sync/status.ts';

/** A request that still waits for an answer, and how its sender was found in the consent records. */
export interface OpenRequest {
  readonly view: CaseView;
  readonly match: Match;
}

/** What the officer has to look at. */
export interface OfficerAttention {
  /** `3 requests: 1 due in 4 days, 1 unmatched, 1 opt-out · 2 gaps`. */
  readonly sentence: string;
  /** By legal limit, the nearest first. */
  readonly requests: readonly OpenRequest[];
  /** How the pull of each banner stands. */
  readonly banners: readonly BannerStatus[];
  /** Banners whose consent log is not known to be complete. */
  readonly gaps: readonly BannerStatus[];
  readonly agreement: Agreement;
  /** Cases after whose withdrawal the same subject's consent was recorded again, over the last {@link AGREEMENT_DAYS} days. */
  readonly consentAfterWithdrawal: readonly string[];
}

/** How deliveries and the pulled log agree over the last {@link AGREEMENT_DAYS} days. */
export interface Agreement {
  /** Decisions that came by the log alone: the endpoint was away, or the event is not subscribed. */
  readonly undelivered: number;
  /** Decisions of which two records say different things. */
  readonly contradicting: number;
}

/** Days that deliveries and the log are set against each other for the officer; the consent audit does it for any period. */
export const AGREEMENT_DAYS = 31;

/** The queries behind it; the composition root hands them in. */
export interface AttentionQueries {
  /** Open cases by legal limit. */
  openCases(): Promise<readonly CaseView[]>;
  match(row: CaseView['row']): Promise<Match>;
  syncStatus(): Promise<readonly BannerStatus[]>;
  agreement(): Promise<Agreement>;
  /** Ids of the cases, each once. */
  consentAfterWithdrawal(): Promise<readonly string[]>;
}

/** A request whose legal limit is this near is named with its days. */
export const DUE_SOON_DAYS = 7;
/** Cases that are matched at once: each takes some queries. */
const TOGETHER = 8;

/** Gathers what needs the officer's attention. */
export async function loadOfficerAttention(queries: AttentionQueries): Promise<OfficerAttention> {
  const [cases, banners, agreement, consentAfterWithdrawal] = await Promise.all([
    queries.openCases(),
    queries.syncStatus(),
    queries.agreement(),
    queries.consentAfterWithdrawal(),
  ]);
  const requests: OpenRequest[] = [];
  for (let first = 0; first < cases.length; first += TOGETHER) {
    const some = cases.slice(first, first + TOGETHER);
    requests.push(...(await Promise.all(some.map(async (view) => ({ view, match: await queries.match(view.row) })))));
  }
  const gaps = banners.filter(
    ({ state, gap }) => state !== 'up-to-date' && state !== 'dismissed' && (state !== 'running' || gap !== null),
  );
  const sentence = describeAttention(requests, gaps.length, agreement, consentAfterWithdrawal.length);
  return { sentence, requests, banners, gaps, agreement, consentAfterWithdrawal };
}

/** One sentence for the head of the page and the command line. A request may count under several of its words. */
export function describeAttention(
  requests: readonly OpenRequest[],
  gaps: number,
  agreement: Agreement,
  consentAfter = 0,
): string {
  const parts: string[] = [];
  const add = (count: number, words: string) => {
    if (count > 0) parts.push(`${count} ${words}`);
  };
  const days = requests.flatMap(({ view }) => (view.daysLeft === null ? [] : [view.daysLeft]));
  const soon = days.filter((left) => left >= 0 && left <= DUE_SOON_DAYS);
  add(days.filter((left) => left < 0).length, 'overdue');
  add(soon.length, wordsOfDue(soon));
  add(requests.filter(({ view }) => view.deadline.limit === null).length, 'without a date');
  add(requests.filter(({ match }) => match.status === 'none').length, 'unmatched');
  add(requests.filter(({ view }) => isOptOut(view)).length, 'opt-out');
  add(requests.filter(({ view }) => view.kind === 'unknown').length, 'unclear');
  add(requests.filter(({ view }) => isPlaceless(view)).length, 'of a place to choose');
  const count = requests.length === 0 ? 'No open requests' : counted(requests.length, 'request');
  const head = parts.length === 0 ? count : `${count}: ${parts.join(', ')}`;
  const { undelivered, contradicting } = agreement;
  return [
    head,
    ...(gaps > 0 ? [counted(gaps, 'gap')] : []),
    ...(undelivered > 0 ? [`${counted(undelivered, 'decision')} never delivered`] : []),
    ...(contradicting > 0 ? [`${contradicting} contradictory`] : []),
    ...(consentAfter > 0 ? [`consent after withdrawal in ${counted(consentAfter, 'case')}`] : []),
  ].join(' · ');
}

/** Requests that stop something at once, whoever asks (CCPA §1798.120, §1798.121). */
function isOptOut(view: CaseView): boolean {
  return view.kind === 'opt-out' || view.kind === 'limit';
}

/** The place is not known, or what was said of it is on no list. */
function isPlaceless(view: CaseView): boolean {
  return view.deadline.placeMissing || placeQuestion(view.folded) !== null;
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
