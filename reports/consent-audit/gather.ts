import { missingProfileParts } from '../../src/core/profile.ts';
import type { ConsentState } from '../../src/core/vocabulary.ts';
import { addDays, daysBetween, spansOf, startOfDay } from '../../src/core/zoned-days.ts';
import type { DecisionTotals } from '../../src/store/queries/history-decisions.ts';
import type { Period } from '../../src/store/queries/scope.ts';
import { byText } from '../format.ts';
import { periodOf, type ReportInput } from '../report.ts';
import { stateOrder } from '../words.ts';
import { limits, noLegalAdvice } from '../closing.ts';
import { loadCompleteness, type Completeness } from './completeness.ts';
import { latestVersions, loadPolicyIntervals, type PolicyInterval } from '../policy-intervals.ts';
import { loadPolicyTextIntervals, type PolicyTextInterval } from '../policy-texts.ts';

export interface StateCount {
  readonly state: ConsentState;
  readonly decisions: number;
}
export interface PurposeCount {
  readonly purpose: string;
  readonly granted: number;
  readonly denied: number;
}
export interface Withdrawals {
  readonly decisions: number;
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
}

/** The report as data: what the JSON says, and what the pages are written from. */
export interface ConsentAudit {
  readonly timeUsed: string;
  readonly filters: string;
  readonly controller: object | null;
  readonly missingFromProfile: readonly string[];
  readonly totals: DecisionTotals;
  readonly byState: readonly StateCount[];
  readonly byPurpose: readonly PurposeCount[];
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
  readonly withdrawals: Withdrawals;
  readonly standing: readonly Standing[];
  readonly access: { readonly produced: number; readonly downloaded: number; readonly last: readonly Access[] };
  readonly limits: readonly string[];
}

const ACCESS_LISTED = 200;

/** Puts the report together. Totals come from the database's GROUP BY; no list here grows with the number of decisions. */
export async function gatherConsentAudit(input: ReportInput): Promise<ConsentAudit> {
  const { history, profile } = input;
  const period = periodOf(input);
  const totals = await history.decisionTotals(period);
  const choices = purposeCounts(await history.decisionsByChoice(period));
  const overTime = await loadOverTime(input, period);
  const policies = await loadPolicyIntervals(history.policyRows({ ...period }), period.from, period.to);
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
    byState: [...(await history.decisionsByState(period))].sort(byStateOrder),
    byPurpose: choices.counts,
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
    policyTexts: await loadPolicyTextIntervals(history.textLooks(period), period.from, period.to),
    withdrawals: await loadWithdrawals(input, period),
    standing: await loadStanding(input, period, latestVersions(policies)),
    access: await loadAccess(input, period),
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
  const months = new Map<string, Map<ConsentState, number>>();
  for (const { span, states } of spans) {
    const month = months.get(span.slice(0, 7)) ?? new Map<ConsentState, number>();
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

function purposeCounts(choices: readonly { purposes: string; decisions: number }[]): {
  counts: PurposeCount[];
  without: number;
} {
  const counts = new Map<string, { granted: number; denied: number }>();
  let without = 0;
  for (const { purposes, decisions } of choices) {
    const chosen = Object.entries(JSON.parse(purposes) as Record<string, string>);
    if (chosen.length === 0) without += decisions;
    for (const [purpose, answer] of chosen) {
      const count = counts.get(purpose) ?? { granted: 0, denied: 0 };
      if (answer === 'granted') count.granted += decisions;
      else count.denied += decisions;
      counts.set(purpose, count);
    }
  }
  return {
    counts: [...counts].map(([purpose, count]) => ({ purpose, ...count })).sort(byText(({ purpose }) => purpose)),
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
  let [decisions, withoutOwnTime] = [0, 0];
  let longest: number | null = null;
  for await (const row of input.history.withdrawalTimes(period)) {
    decisions += 1;
    if (row.occurred_counts === 0 || row.occurred_basis === 'received') {
      withoutOwnTime += 1;
      continue;
    }
    const took = Math.max(0, Date.parse(row.received_at) - Date.parse(row.at));
    within[took <= 60_000 ? 'minute' : took <= 3_600_000 ? 'hour' : took <= 86_400_000 ? 'day' : 'longer'] += 1;
    if (longest === null || took > longest) longest = took;
  }
  return { decisions, recordedWithin: within, withoutOwnTime, longest };
}

async function loadStanding(
  input: ReportInput,
  period: Period,
  latest: ReadonlyMap<string, string>,
): Promise<readonly Standing[]> {
  const at = (days: number) => startOfDay(addDays(input.to, days), input.timeZone);
  const rows = await input.history.standingConsents(period, at(30), at(90));
  return rows
    .map((row) => {
      const last = row.policyId === null ? undefined : latest.get(row.policyId);
      return { ...row, superseded: last !== undefined && row.policyVersion !== null && row.policyVersion !== last };
    })
    .sort(
      (a, b) => byText<Standing>((one) => one.policyId)(a, b) || byText<Standing>((one) => one.policyVersion)(a, b),
    );
}

async function loadAccess(input: ReportInput, period: Period): Promise<ConsentAudit['access']> {
  let [produced, downloaded] = [0, 0];
  const last: Access[] = [];
  for await (const row of input.history.actionRows(period, ['document.produced', 'document.downloaded'])) {
    if (row.action === 'document.produced') produced += 1;
    else downloaded += 1;
    last.push({ at: row.received_at, seq: row.seq, actor: row.actor, action: row.action, documentId: row.object });
    if (last.length > ACCESS_LISTED) last.shift();
  }
  return { produced, downloaded, last };
}

function byStateOrder(a: { state: string }, b: { state: string }): number {
  return stateOrder(a.state) - stateOrder(b.state);
}

export function sumOf(states: readonly StateCount[]): number {
  return states.reduce((sum, { decisions }) => sum + decisions, 0);
}
