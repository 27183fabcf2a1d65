import { actionSchema, type Counters } from '../../src/core/action.ts';
import { choicesThatDiffer, doubtWords } from '../../src/core/consent-judgement.ts';
import { REFUSED_COUNT_DAYS } from '../../src/core/vocabulary.ts';
import type { History } from '../../src/store/queries/history.ts';
import type { DecisionRow } from '../../src/store/queries/history-decisions.ts';
import {
  type BannerReconciliation,
  type BannerWindow,
  noDecisions,
  type ReconciledDecision,
  type Reconciliation,
  type UndeliveredStretch,
} from '../../src/store/queries/history-reconciliation.ts';
import type { Period } from '../../src/store/queries/scope.ts';
import { SLOT_MS } from '../../src/sync/look-back.ts';
import { byText } from '../format.ts';
import {
  type BannerPull,
  gapsIn,
  knownPart,
  loadPulls,
  loadRecounts,
  mergeSpans,
  type Recounts,
  type Span,
} from '../pulls.ts';
import type { ReportInput } from '../report.ts';
import { stateWord } from '../words.ts';

/** How the two channels agree on one banner, and what was pulled for it. */
export interface BannerAgreement extends BannerReconciliation {
  /** No finished pull covered any part of the period, so it is unknown whether anything is undelivered. */
  readonly notPulled: boolean;
  /** The last moment of the period that a finished pull covered; null if none of it was pulled. */
  readonly lastPulled: string | null;
  /** Parts that no finished pull requested, except the time after the last pull if the period is still running. */
  readonly gaps: readonly Span[];
}

/** Consecutive decisions that were only pulled, and what reached the endpoint during that time. */
export interface Outage extends UndeliveredStretch {
  /** Stored deliveries of any event between the first and the last of them, by our clock. */
  readonly keptMeanwhile: number;
  /** Deliveries refused during that time, by whole minutes (`counters.observed`); null: not counted by asOf. */
  readonly refusedMeanwhile: number | null;
}

/** A part of the period that no finished pull requested. */
interface Gap extends Span {
  /** Null: the whole log. Banners that were never pulled are listed elsewhere. */
  readonly bannerIds: readonly (string | null)[] | null;
}

/** Milliseconds. */
export function lengthOf({ from, to }: Span): number {
  return Date.parse(to) - Date.parse(from);
}

export interface Agreement {
  readonly totals: Reconciliation;
  readonly banners: readonly BannerAgreement[];
  /** A finished pull requested some part of the period. */
  readonly pulled: boolean;
  /**
   * If the period is still running: the time up to which all pulled banners were pulled. Null if it is over or none of
   * it was pulled.
   */
  readonly pulledSoFar: string | null;
  readonly gaps: readonly Gap[];
  /** The log was only pulled banner by banner, so unknown banners were not looked for. */
  readonly byBannerOnly: boolean;
  /** The earliest row that the service returned when everything was requested; null if that never happened. */
  readonly nothingBefore: string | null;
  readonly recounts: Recounts;
  readonly undelivered: {
    readonly stretches: number;
    /** Stretches of more than one decision: an outage of the endpoint rather than one lost delivery. */
    readonly longer: number;
    readonly inLonger: number;
    /** Decisions only in the pulled log whose time is unknown; they belong to no stretch. */
    readonly untimed: number;
    /** The longest stretches of more than one decision, in order of time. */
    readonly outages: readonly Outage[];
  };
  readonly contradictions: readonly Contradiction[];
  /** Recorded counters of repeats and refusals; null: not observed by asOf. */
  readonly counters: ObservedCounters | null;
  /** Erased entries of the source: one of two records of a decision may be among them. */
  readonly erasedEntries: number;
}

interface AgreementLimits {
  readonly stretches: number;
  readonly contradictions: number;
}

/** What was pulled, and which banners the pulls can have contained. */
export interface Coverage {
  readonly pulls: readonly BannerPull[];
  /** The pulled parts of the period, for each banner that a decision or a pull names. */
  readonly covered: ReadonlyMap<string | null, readonly Span[]>;
  /** The time up to which each of them should have every row, even one that the service shows a little late. */
  readonly confirmedTo: ReadonlyMap<string | null, string>;
}

/**
 * Compares the deliveries and pulled rows of a period. `counts`: how they agree by banner, within the windows of the
 * coverage. Lists are bounded; totals are not.
 */
export async function loadAgreement(
  input: ReportInput,
  period: Period,
  { coverage, counts }: { readonly coverage: Coverage; readonly counts: readonly BannerReconciliation[] },
  limits: AgreementLimits,
): Promise<Agreement> {
  const { history } = input;
  const { pulls } = coverage;
  const banners = bannersOf(input, period, coverage, counts);
  const counters = await loadCounters(input, period);
  const totals = banners.reduce(sum, noDecisions);
  const contradictions: Contradiction[] = [];
  if (totals.conflicting > 0)
    for await (const decision of history.reconciledDecisions(period, 'conflicting', limits.contradictions))
      contradictions.push(...contradictionsOf(decision));
  return {
    totals,
    banners,
    pulled: pulls.some(({ covered }) => covered.length > 0),
    pulledSoFar: isOver(input, period) ? null : (earliestOf(banners, pulls) ?? null),
    gaps: gapsOf(banners, pulls, knownPart(input, period), isOver(input, period)),
    byBannerOnly: pulls.length > 0 && pulls.every(({ bannerId }) => bannerId !== null),
    nothingBefore: await loadBeginning(history, period, pulls),
    recounts: await loadRecounts(input, period),
    undelivered: await loadUndelivered(history, period, totals, { limit: limits.stretches, counters }),
    counters,
    contradictions: contradictions.slice(0, limits.contradictions),
    erasedEntries: await history.erasedEntries(period),
  };
}

/** Which part of the period was pulled for which banner. */
export async function loadCoverage(input: ReportInput, period: Period): Promise<Coverage> {
  const { history } = input;
  const pulls = await loadPulls(input, period);
  const named = pulls.flatMap(({ bannerId }) => bannerId ?? []);
  const covered = new Map<string | null, readonly Span[]>();
  const confirmedTo = new Map<string | null, string>();
  // Which banners a pull covers that names none is undocumented: it counts for banners that some log row names, and for
  // decisions that name none.
  const inLog = named.length < pulls.length ? await history.bannersInLog(period) : null;
  for (const bannerId of new Set([null, '', ...(await history.seenBanners(period.source)), ...named])) {
    const ofWhole = inLog !== null && (bannerId === null || inLog.has(bannerId));
    const own = pulls.filter((pull) => pull.bannerId === bannerId || (pull.bannerId === null && ofWhole));
    covered.set(bannerId, mergeSpans(own.flatMap((pull) => pull.covered)));
    const pulledTo = own
      .flatMap((pull) => pull.pulledTo ?? [])
      .sort()
      .at(-1);
    if (pulledTo !== undefined) confirmedTo.set(bannerId, new Date(Date.parse(pulledTo) - SLOT_MS).toISOString());
  }
  return { pulls, covered, confirmedTo };
}

/**
 * The periods in which the log should contain every delivered decision. They leave out the hours before the last pull,
 * because a row shown late is found by the next pull that looks far back.
 */
export function windowsOf({ covered, confirmedTo }: Coverage): readonly BannerWindow[] {
  return [...covered].flatMap(([bannerId, some]) => {
    const end = confirmedTo.get(bannerId) ?? '';
    return some.flatMap(({ from, to }) => (from < end ? { bannerId, from, to: to < end ? to : end } : []));
  });
}

/** The banners of the period's decisions, and those pulled by name. */
function bannersOf(
  input: ReportInput,
  period: Period,
  { pulls, covered }: Coverage,
  counts: readonly BannerReconciliation[],
): readonly BannerAgreement[] {
  const whole = knownPart(input, period);
  const known = new Map(counts.map((one) => [one.bannerId, one] as const));
  const ids = new Set([...known.keys(), ...pulls.flatMap(({ bannerId }) => bannerId ?? [])]);
  return [...ids].sort(byText((id) => id)).map((bannerId) => {
    const some = covered.get(bannerId) ?? [];
    return {
      ...(known.get(bannerId) ?? { ...noDecisions, bannerId, missingFromLog: 0 }),
      notPulled: some.length === 0,
      lastPulled: some.at(-1)?.to ?? null,
      gaps: withoutTail(gapsIn(whole, some), whole, isOver(input, period)),
    };
  });
}

/** While the period is still running, the time after the last pull is not a gap: the next pull covers it. */
function withoutTail(gaps: readonly Span[], whole: Span, over: boolean): readonly Span[] {
  return over ? gaps : gaps.filter(({ to }) => to < whole.to);
}

function isOver(input: ReportInput, period: Period): boolean {
  return period.to <= input.generatedAt;
}

function earliestOf(banners: readonly BannerAgreement[], pulls: readonly BannerPull[]): string | undefined {
  const ends =
    banners.length === 0
      ? pulls.map(({ covered }) => covered.at(-1)?.to ?? null)
      : banners.map(({ lastPulled }) => lastPulled);
  return ends.filter((end) => end !== null).sort()[0];
}

/** Gaps of the pulled banners, each period once. */
function gapsOf(banners: readonly BannerAgreement[], pulls: readonly BannerPull[], whole: Span, over: boolean): Gap[] {
  const pulled = banners.filter(({ notPulled }) => !notPulled);
  if (banners.length === 0)
    return pulls.flatMap(({ covered, gaps }) =>
      covered.length === 0 ? [] : withoutTail(gaps, whole, over).map((gap) => ({ ...gap, bannerIds: null })),
    );
  const found = new Map<string, { window: Span; bannerIds: (string | null)[] }>();
  for (const { bannerId, gaps } of pulled)
    for (const window of gaps) {
      const key = `${window.from} ${window.to}`;
      const known = found.get(key) ?? { window, bannerIds: [] };
      found.set(key, known);
      known.bannerIds.push(bannerId);
    }
  return [...found.values()]
    .map(({ window, bannerIds }) => ({ ...window, bannerIds: bannerIds.length === banners.length ? null : bannerIds }))
    .sort(byText(({ from, to }) => `${from} ${to}`));
}

/** Where the service's log begins. Rows pulled from before the beginning of a later answer take precedence. */
async function loadBeginning(history: History, period: Period, pulls: readonly BannerPull[]): Promise<string | null> {
  const said = pulls.flatMap(({ nothingBefore }) => nothingBefore ?? []).sort()[0] ?? null;
  if (said === null || said <= period.from) return said;
  const earliest = await history.earliestPulled(period);
  return earliest !== null && earliest < said ? earliest : said;
}

async function loadUndelivered(
  history: History,
  period: Period,
  { onlyPulled }: Reconciliation,
  { limit, counters }: { readonly limit: number; readonly counters: ObservedCounters | null },
): Promise<Agreement['undelivered']> {
  if (onlyPulled === 0) return { stretches: 0, longer: 0, inLonger: 0, untimed: 0, outages: [] };
  const { longest, ...counts } = await history.undelivered(period, limit);
  const outages = longest.filter(({ decisions }) => decisions > 1).sort(byText(({ firstAt }) => firstAt));
  const kept = await history.keptBetween(
    period,
    outages.map(({ firstAt, lastAt }) => ({ from: firstAt, to: lastAt })),
  );
  return {
    ...counts,
    untimed: onlyPulled - counts.inLonger - (counts.stretches - counts.longer),
    outages: outages.map((stretch, place) => ({
      ...stretch,
      keptMeanwhile: kept[place] ?? 0,
      refusedMeanwhile: counters === null ? null : refusedBetween(counters, stretch.firstAt, stretch.lastAt),
    })),
  };
}

function sum(a: Reconciliation, b: Reconciliation): Reconciliation {
  const add = (field: keyof Reconciliation) => a[field] + b[field];
  return {
    decisions: add('decisions'),
    both: add('both'),
    onlyWebhook: add('onlyWebhook'),
    onlyPulled: add('onlyPulled'),
    conflicting: add('conflicting'),
    unmatchableDelivered: add('unmatchableDelivered'),
    unmatchablePulled: add('unmatchablePulled'),
  };
}

/** Two records of one decision that cannot both be true. */
export interface Contradiction {
  readonly decisionId: string;
  readonly at: string;
  readonly bannerId: string | null;
  /** The first entry, which counts, and the one that contradicts it. */
  readonly first: number;
  readonly other: number;
  /** `state: given / refused`, for each field that differs. */
  readonly differs: readonly string[];
}

const fields = [
  ['subject', 'subject'],
  ['banner_id', 'banner'],
  ['policy_id', 'policy'],
  ['policy_version', 'policy version'],
] as const;

/** The rows of a decision that contradict an earlier one, each with the first row from which it differs. */
export function contradictionsOf({ decisionId, rows }: ReconciledDecision): Contradiction[] {
  const found: Contradiction[] = [];
  for (const [place, row] of rows.entries()) {
    if (row.conflicts !== 1) continue;
    const earlier = rows.slice(0, place).find((one) => differencesOf(one, row).length > 0) ?? rows[0];
    if (earlier === undefined) continue;
    found.push({
      decisionId,
      at: (rows[0] ?? row).at,
      bannerId: row.banner_id,
      first: earlier.seq,
      other: row.seq,
      differs: [...doubtWords(row.doubts), ...(earlier === row ? [] : differencesOf(earlier, row))],
    });
  }
  return found;
}

/** Differences between two rows; a field missing in one of them is not a difference. For subjects it only says that they differ. */
export function differencesOf(a: DecisionRow, b: DecisionRow): string[] {
  const differs: string[] = [];
  if (a.state !== b.state && a.state !== 'unknown' && b.state !== 'unknown')
    differs.push(`state: ${stateWord(a.state)} / ${stateWord(b.state)}`);
  for (const [field, word] of fields) {
    if (a[field] === null || b[field] === null || a[field] === b[field]) continue;
    differs.push(field === 'subject' ? word : `${word}: ${a[field]} / ${b[field]}`);
  }
  for (const { purpose, choices } of choicesThatDiffer(a, b)) differs.push(`${purpose}: ${choices.join(' / ')}`);
  return differs;
}

/** Repeats and refusals of the period, as recorded in a ledger entry. Times are ISO 8601 UTC. */
export interface ObservedCounters extends Counters {
  /** The entry, and when it was made. */
  readonly seq: number;
  readonly observedAt: string;
}

/** The latest observation of this period's counters up to asOf; null if there is none. */
async function loadCounters({ history }: ReportInput, period: Period): Promise<ObservedCounters | null> {
  const row = await history.observedCounters(period);
  if (row === null) return null;
  const action = actionSchema.parse(JSON.parse(row.details));
  if (action.action !== 'counters.observed') throw new Error(`entry ${row.seq} is not an observation of counters`);
  return { ...action, seq: row.seq, observedAt: row.received_at };
}

/** How far back the counts of refused deliveries reached when they were read; older ones are not kept. */
export function refusedSince({ observedAt }: ObservedCounters): string {
  return new Date(Date.parse(observedAt) - REFUSED_COUNT_DAYS * 86_400_000).toISOString();
}

/** Refused deliveries by reason, in the order of the reasons. */
export function refusedByReason({ refused }: ObservedCounters): readonly { reason: string; deliveries: number }[] {
  const sums = new Map<string, number>();
  for (const [, reason, n] of refused.counts) sums.set(reason, (sums.get(reason) ?? 0) + n);
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([reason, deliveries]) => ({ reason, deliveries }));
}

/** Refused deliveries between two times, both included, by whole spans of the observation (usually minutes). */
function refusedBetween({ refused }: ObservedCounters, from: string, to: string): number {
  return refused.counts.reduce((sum, [span, , n]) => {
    const isWithin = span >= from.slice(0, span.length) && span <= to.slice(0, span.length);
    return isWithin ? sum + n : sum;
  }, 0);
}
