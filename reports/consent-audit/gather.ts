import type { ActionName } from '../../src/core/action.ts';
import { missingProfileParts } from '../../src/core/profile.ts';
import {
  ALL_PURPOSES,
  type Judged,
  necessaryIn,
  outcomesOf,
  type PurposeChoices,
} from '../../src/core/consent-judgement.ts';
import { standingAt, timelineOf } from '../../src/core/consent-timeline.ts';
import type { ConsentState } from '../../src/core/vocabulary.ts';
import { addDays, daysBetween, spansOf, startOfDay } from '../../src/core/zoned-days.ts';
import type {
  ChoiceCount,
  ConsentAfterWithdrawal,
  DecisionTotals,
  JudgedRow,
} from '../../src/store/queries/history-decisions.ts';
import type { Period } from '../../src/store/queries/scope.ts';
import { byText } from '../format.ts';
import { periodOf, type ReportInput } from '../report.ts';
import { stateOrder } from '../words.ts';
import { limits, noLegalAdvice } from '../closing.ts';
import { loadSubjectAppendix, type SubjectAppendix } from './subject.ts';
import { loadCompleteness, type Completeness } from './completeness.ts';
import { type BannerAudit, loadBannerAudit } from './banner-evidence.ts';
import { latestVersions, loadPolicyIntervals, type PolicyInterval } from '../policy-intervals.ts';
import { loadPolicyTextIntervals, type PolicyTextInterval } from '../policy-texts.ts';

export interface StateCount {
  /** As judged by purpose with what is known at asOf. */
  readonly state: Judged;
  readonly decisions: number;
}
/** Decisions about one purpose that needs consent. */
export interface PurposeCount {
  readonly purpose: string;
  readonly granted: number;
  /** Denied, and not granted before. */
  readonly refused: number;
  readonly withdrawn: number;
  /** Named by decisions whose records contradict each other: counted here alone. */
  readonly disputed: number;
  /** Consents that stand at the end of the period. */
  readonly standing: number;
}
export interface Withdrawals {
  readonly decisions: number;
  /** Of these: other purposes stay granted; carried out at a data subject's request. */
  readonly partly: number;
  readonly byRequest: number;
  /** Until the withdrawal stood in the ledger, from the time it states; only where that time counts. */
  readonly recordedWithin: {
    readonly minute: number;
    readonly hour: number;
    readonly day: number;
    readonly longer: number;
  };
  readonly withoutOwnTime: number;
  /** Milliseconds; null without any. */
  readonly longest: number | null;
  /** Consent recorded in the period after a withdrawal by request of the same subject. */
  readonly consentAfter: readonly ConsentAfterWithdrawal[];
}
export interface Standing {
  readonly policyId: string | null;
  readonly policyVersion: string | null;
  /** True when another version of the policy was the last known one at the end of the period. */
  readonly superseded: boolean;
  readonly consents: number;
  readonly withoutExpiry: number;
  readonly expired: number;
  readonly within30Days: number;
  readonly within90Days: number;
}
export interface Access {
  readonly at: string;
  readonly seq: number;
  readonly actor: string;
  readonly action: string;
  readonly documentId: string | null;
  /** Of the document, where it was produced in the period. */
  readonly name: string | null;
}

/** The report as data: what the JSON says, and what the pages are written from. */
export interface ConsentAudit {
  readonly timeUsed: string;
  readonly filters: string;
  readonly controller: object | null;
  readonly missingFromProfile: readonly string[];
  readonly totals: DecisionTotals;
  readonly byState: readonly StateCount[];
  /** As the records state it, before it is judged. */
  readonly byStatedState: readonly { readonly state: ConsentState; readonly decisions: number }[];
  readonly byPurpose: readonly PurposeCount[];
  /** Purposes that need no consent, and how many decisions name them: no consent is counted for them. */
  readonly necessary: readonly { readonly purpose: string; readonly decisions: number }[];
  readonly withoutPurposes: number;
  readonly byRegion: readonly { region: string | null; decisions: number; states: readonly StateCount[] }[];
  readonly byBanner: readonly { bannerId: string | null; decisions: number }[];
  readonly byPolicyVersion: readonly {
    policyId: string | null;
    policyVersion: string | null;
    decisions: number;
    states: readonly StateCount[];
  }[];
  readonly byMonth: readonly { month: string; decisions: number; states: readonly StateCount[] }[];
  readonly overTime: {
    readonly unit: 'day' | 'week' | 'month';
    readonly spans: readonly { span: string; states: readonly StateCount[] }[];
  };
  readonly completeness: Completeness;
  readonly policies: readonly PolicyInterval[];
  readonly policyTexts: readonly PolicyTextInterval[];
  readonly banners: BannerAudit;
  readonly withdrawals: Withdrawals;
  readonly standing: readonly Standing[];
  /** Subjects on a banner whose latest decision would leave consent standing, were it not disputed. */
  readonly disputedStanding: number;
  readonly access: {
    readonly produced: number;
    readonly downloaded: number;
    readonly lookedUp: number;
    readonly last: readonly Access[];
  };
  /** The history of one subject, where it was asked for. */
  readonly subjectAppendix: SubjectAppendix | null;
  readonly limits: readonly string[];
}

const ACCESS_LISTED = 200;

/** Puts the report together. Totals come from the database's GROUP BY; no list here grows with the number of decisions. */
export async function gatherConsentAudit(input: ReportInput): Promise<ConsentAudit> {
  const { history, profile } = input;
  const period = periodOf(input);
  const totals = await history.decisionTotals(period);
  const overTime = await loadOverTime(input, period);
  const policies = await loadPolicyIntervals(history.policyRows({ ...period }), period.from, period.to);
  const standing = await loadStanding(input, period, latestVersions(policies));
  const choices = purposeCounts(await history.decisionsByChoice(period), standing.byPurpose);
  return {
    timeUsed: 'the time stated for a decision where it counts, else the time of receipt',
    filters: 'none: all banners, all regions, all states',
    controller:
      profile === null
        ? null
        : {
            name: profile.name,
            role: profile.role,
            address: profile.address,
            country: profile.country,
            email: profile.email,
          },
    missingFromProfile: profile === null ? ['the controller profile as a whole'] : missingProfileParts(profile),
    totals,
    byStatedState: await history.decisionsByStatedState(period),
    byState: [...(await history.decisionsByState(period))].sort(byStateOrder),
    byPurpose: choices.counts,
    necessary: choices.necessary,
    withoutPurposes: choices.without,
    byRegion: grouped(await history.decisionsByRegion(period), ({ region }) => region)
      .map(({ key, decisions, states }) => ({ region: key, decisions, states }))
      .sort((a, b) => b.decisions - a.decisions || byText<typeof a>((one) => one.region)(a, b)),
    byBanner: [...(await history.decisionsByBanner(period))].sort(byText(({ bannerId }) => bannerId)),
    byPolicyVersion: grouped(await history.decisionsByPolicyVersion(period), ({ policyId, policyVersion }) =>
      JSON.stringify([policyId, policyVersion]),
    )
      .sort(byText(({ key }) => key))
      .map(({ key, decisions, states }) => {
        const [policyId, policyVersion] = JSON.parse(key) as [string | null, string | null];
        return { policyId, policyVersion, decisions, states };
      }),
    byMonth: await loadMonths(input, period, overTime),
    overTime,
    completeness: await loadCompleteness(input, period, totals.conflicts),
    policies,
    banners: await loadBannerAudit(input, period),
    policyTexts: await loadPolicyTextIntervals(history.textLooks(period), period.from, period.to),
    withdrawals: await loadWithdrawals(input, period),
    standing: standing.rows,
    disputedStanding: standing.disputed,
    access: await loadAccess(input, period),
    subjectAppendix: await loadSubjectAppendix(input),
    limits: [...limits, noLegalAdvice],
  };
}

/** Bars that can still be told apart: days up to a quarter, weeks up to two years, else months. */
async function loadOverTime(input: ReportInput, period: Period): Promise<ConsentAudit['overTime']> {
  const days = daysBetween(input.from, input.to);
  const unit = days <= 93 ? 'day' : days <= 731 ? 'week' : 'month';
  return { unit, spans: await overSpans(input, period, unit) };
}

/** Months of the period: summed up where its days were counted already. */
async function loadMonths(
  input: ReportInput,
  period: Period,
  { unit, spans }: ConsentAudit['overTime'],
): Promise<ConsentAudit['byMonth']> {
  if (unit !== 'day')
    return (await overSpans(input, period, 'month')).map(({ span, states }) => ({
      month: span,
      decisions: sumOf(states),
      states,
    }));
  const months = new Map<string, Map<Judged, number>>();
  for (const { span, states } of spans) {
    const month = months.get(span.slice(0, 7)) ?? new Map<Judged, number>();
    months.set(span.slice(0, 7), month);
    for (const { state, decisions } of states) month.set(state, (month.get(state) ?? 0) + decisions);
  }
  return [...months].map(([month, counts]) => {
    const states = [...counts].map(([state, decisions]) => ({ state, decisions })).sort(byStateOrder);
    return { month, decisions: sumOf(states), states };
  });
}

async function overSpans(
  input: ReportInput,
  period: Period,
  unit: 'day' | 'week' | 'month',
): Promise<{ span: string; states: StateCount[] }[]> {
  const spans = spansOf(input.from, input.to, input.timeZone, unit);
  const counts = new Map<string, StateCount[]>(spans.map(({ name }) => [name, []]));
  for (const { span, state, decisions } of await input.history.decisionsBySpan(period, spans))
    counts.get(span)?.push({ state, decisions });
  return [...counts].map(([span, states]) => ({ span, states: states.sort(byStateOrder) }));
}

function purposeCounts(
  choices: readonly ChoiceCount[],
  standing: ReadonlyMap<string, number>,
): { counts: PurposeCount[]; necessary: { purpose: string; decisions: number }[]; without: number } {
  type Counts = { granted: number; refused: number; withdrawn: number; disputed: number };
  const counts = new Map<string, Counts>();
  const necessary = new Map<string, number>();
  const add = (purpose: string, outcome: keyof Counts, decisions: number) => {
    const count = counts.get(purpose) ?? { granted: 0, refused: 0, withdrawn: 0, disputed: 0 };
    count[outcome] += decisions;
    counts.set(purpose, count);
  };
  let without = 0;
  for (const { purposes, state, withdraws, disputed, decisions } of choices) {
    const said = { state, purposes: JSON.parse(purposes) as PurposeChoices };
    for (const purpose of necessaryIn(said.purposes)) necessary.set(purpose, (necessary.get(purpose) ?? 0) + decisions);
    const outcomes = outcomesOf(said, JSON.parse(withdraws) as string[]);
    if (outcomes.size === 0) without += decisions;
    for (const [purpose, outcome] of outcomes) add(purpose, disputed ? 'disputed' : outcome, decisions);
  }
  for (const purpose of standing.keys()) if (purpose !== ALL_PURPOSES) add(purpose, 'granted', 0);
  return {
    counts: [...counts]
      .map(([purpose, count]) => ({ purpose, ...count, standing: standing.get(purpose) ?? 0 }))
      .sort(byText(({ purpose }) => purpose)),
    necessary: [...necessary]
      .map(([purpose, decisions]) => ({ purpose, decisions }))
      .sort(byText(({ purpose }) => purpose)),
    without,
  };
}

function grouped<Row extends StateCount, Key extends string | null>(
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
): { key: Key; decisions: number; states: StateCount[] }[] {
  const groups = new Map<Key, StateCount[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const states = groups.get(key) ?? [];
    states.push({ state: row.state, decisions: row.decisions });
    groups.set(key, states);
  }
  return [...groups].map(([key, states]) => ({ key, decisions: sumOf(states), states: states.sort(byStateOrder) }));
}

async function loadWithdrawals(input: ReportInput, period: Period): Promise<Withdrawals> {
  const within = { minute: 0, hour: 0, day: 0, longer: 0 };
  let [decisions, partly, byRequest, withoutOwnTime] = [0, 0, 0, 0];
  let longest: number | null = null;
  for await (const row of input.history.withdrawalTimes(period)) {
    decisions += 1;
    if (row.judged === 'partly-withdrawn') partly += 1;
    if (row.via === 'request') byRequest += 1;
    if (row.occurred_counts === 0 || row.occurred_basis === 'received') {
      withoutOwnTime += 1;
      continue;
    }
    const took = Math.max(0, Date.parse(row.received_at) - Date.parse(row.at));
    within[took <= 60_000 ? 'minute' : took <= 3_600_000 ? 'hour' : took <= 86_400_000 ? 'day' : 'longer'] += 1;
    if (longest === null || took > longest) longest = took;
  }
  const { source, asOf, from, to } = period;
  const after = await input.history.consentsAfterWithdrawal({ source, asOf, from });
  const consentAfter = after.filter(({ at }) => at < to);
  return { decisions, partly, byRequest, recordedWithin: within, withoutOwnTime, longest, consentAfter };
}

async function loadStanding(
  input: ReportInput,
  period: Period,
  latest: ReadonlyMap<string, string>,
): Promise<{ rows: readonly Standing[]; byPurpose: ReadonlyMap<string, number>; disputed: number }> {
  const at = (days: number) => startOfDay(addDays(input.to, days), input.timeZone);
  const rows = new Map<string, Standing>();
  const byPurpose = new Map<string, number>();
  let disputed = 0;
  for (const { stands, contested, ...row } of await input.history.standingConsents(period, at(30), at(90))) {
    // What a disputed decision granted does not come to stand by a later choice about something else.
    const purposes = (JSON.parse(stands) as string[]).filter(
      contested === null ? () => true : await provenFor(input, period, contested),
    );
    if (row.disputed === 1 || purposes.length === 0) {
      disputed += row.consents;
      continue;
    }
    for (const purpose of purposes) byPurpose.set(purpose, (byPurpose.get(purpose) ?? 0) + row.consents - row.expired);
    const last = row.policyId === null ? undefined : latest.get(row.policyId);
    const superseded = last !== undefined && row.policyVersion !== null && row.policyVersion !== last;
    const key = JSON.stringify([row.policyId, row.policyVersion]);
    const known = rows.get(key);
    rows.set(key, {
      policyId: row.policyId,
      policyVersion: row.policyVersion,
      superseded,
      consents: row.consents + (known?.consents ?? 0),
      withoutExpiry: row.withoutExpiry + (known?.withoutExpiry ?? 0),
      expired: row.expired + (known?.expired ?? 0),
      within30Days: row.within30Days + (known?.within30Days ?? 0),
      within90Days: row.within90Days + (known?.within90Days ?? 0),
    });
  }
  const sorted = [...rows.values()].sort(
    (a, b) => byText<Standing>((one) => one.policyId)(a, b) || byText<Standing>((one) => one.policyVersion)(a, b),
  );
  return { rows: sorted, byPurpose, disputed };
}

/** Which purposes are granted at the end of the period to a subject of whom some decision is disputed, decision by decision. */
async function provenFor(
  input: ReportInput,
  period: Period,
  { subject, bannerId }: { readonly subject: string; readonly bannerId: string | null },
): Promise<(purpose: string) => boolean> {
  const rows: JudgedRow[] = [];
  for await (const row of input.history.decisionRowsOf(period, [subject])) if (row.at < period.to) rows.push(row);
  const banner = standingAt(timelineOf(rows), period.to).find((one) => one.bannerId === bannerId);
  const doubtful = new Set(banner?.purposes.flatMap(({ purpose, state }) => (state === 'disputed' ? [purpose] : [])));
  return (purpose) => !doubtful.has(purpose);
}

async function loadAccess(input: ReportInput, period: Period): Promise<ConsentAudit['access']> {
  let [produced, downloaded, lookedUp] = [0, 0, 0];
  const last: Access[] = [];
  const names = new Map<string, string>();
  for await (const row of input.history.actionRows(period, accessActions)) {
    const { action, object } = row;
    if (action === 'document.produced') produced += 1;
    else if (action === 'document.downloaded') downloaded += 1;
    else lookedUp += 1;
    if (action === 'document.produced' && object !== null) names.set(object, nameOf(row.details));
    // Whose records were looked up stays in its entry.
    const documentId = action.startsWith('document.') ? object : null;
    const name = documentId === null ? null : names.get(documentId) || null;
    last.push({ at: row.received_at, seq: row.seq, actor: row.actor, action, documentId, name });
    if (last.length > ACCESS_LISTED) last.shift();
  }
  return { produced, downloaded, lookedUp, last };
}

const accessActions: readonly ActionName[] = ['document.produced', 'document.downloaded', 'consent.looked-up'];

function nameOf(details: string): string {
  const { name } = JSON.parse(details) as { name?: unknown };
  return typeof name === 'string' ? name : '';
}

function byStateOrder(a: { state: string }, b: { state: string }): number {
  return stateOrder(a.state) - stateOrder(b.state);
}

export function sumOf(states: readonly StateCount[]): number {
  return states.reduce((sum, { decisions }) => sum + decisions, 0);
}
