import type { ActionName } from '../../src/core/action.ts';
import {
  ALL_PURPOSES,
  type Judged,
  necessaryIn,
  outcomesOf,
  type PurposeChoices,
  parsePurposes,
  purposeKey,
} from '../../src/core/consent-judgement.ts';
import { type HeldConsent, isExpired, type JudgedDecision } from '../../src/core/consent-timeline.ts';
import type { ConsentState } from '../../src/core/vocabulary.ts';
import { addDays, type CalendarPeriod, daysBetween, spansOf, startOfDay } from '../../src/core/zoned-days.ts';
import { missingProfileParts } from '../../src/law/profile.ts';
import type { DecisionGroup, DecisionTotals, RecordTotals } from '../../src/store/queries/history-decision-counts.ts';
import type { AdoptedReading } from '../../src/store/queries/history-readings.ts';
import { agreementByBanner, type BannerWindow } from '../../src/store/queries/history-reconciliation.ts';
import type { ConsentAfterWithdrawal } from '../../src/store/queries/history-withdrawals.ts';
import type { Period } from '../../src/store/queries/scope.ts';
import { limits, noLegalAdvice } from '../create-report.ts';
import { byText } from '../format.ts';
import {
  loadPolicyIntervals,
  loadPolicyTextIntervals,
  type PolicyInterval,
  type PolicyTextInterval,
  supersededBy,
} from '../policy-texts.ts';
import { loadCoverage, windowsOf } from '../reconciliation/agreement.ts';
import { type ReportInput, reportPeriod } from '../report.ts';
import { gatherScanAudit, type ScanAudit } from '../scan-audit/findings.ts';
import { stateOrder } from '../words.ts';
import { type BannerAudit, loadBannerAudit } from './banner-evidence.ts';
import { type Completeness, loadCompleteness } from './completeness-blocks.ts';
import { loadSubjectAppendix, type SubjectAppendix } from './subject.ts';

/** What this report does not prove, besides {@link limits}. */
export const auditLimits: readonly string[] = [
  'It does not show that a consent was valid: whether people were informed, chose freely, and could withdraw as easily as they consented cannot be seen in these records.',
  'A consent without a stated expiry is counted as standing. How long a consent may be relied on is not judged here.',
];

export interface StateCount {
  /** As judged by purpose, with what is known at asOf. */
  readonly state: Judged;
  readonly decisions: number;
}
/** Decisions about one purpose that needs consent. */
interface PurposeCount {
  readonly purpose: string;
  readonly granted: number;
  /** Denied and not granted before. */
  readonly refused: number;
  readonly withdrawn: number;
  /** Named by decisions whose records contradict each other; counted only here. */
  readonly disputed: number;
  /** Consents that are still valid at the end of the period. */
  readonly standing: number;
}
interface Withdrawals {
  readonly decisions: number;
  /** Among these: withdrawals that leave other purposes granted, and those carried out at a data subject's request. */
  readonly partly: number;
  readonly byRequest: number;
  /** From the stated time of a withdrawal until it was in the ledger; only if that time counts. */
  readonly recordedWithin: {
    readonly minute: number;
    readonly hour: number;
    readonly day: number;
    readonly longer: number;
  };
  readonly withoutOwnTime: number;
  /** Milliseconds; null if there are none. */
  readonly longest: number | null;
  /** Consent recorded in the period after the same subject had withdrawn by request. */
  readonly consentAfter: readonly ConsentAfterWithdrawal[];
}
/** Consents that one decision granted on a banner and that have not been ended entirely since. */
export interface PolicyConsents {
  readonly policyId: string | null;
  readonly policyVersion: string | null;
  /** True if another version of the policy, published last, was in force at the end of the period. */
  readonly superseded: boolean;
  readonly consents: number;
  readonly withoutExpiry: number;
  readonly expired: number;
  readonly within30Days: number;
  readonly within90Days: number;
}
interface Access {
  readonly at: string;
  readonly seq: number;
  readonly actor: string;
  readonly action: string;
  readonly documentId: string | null;
  /** Name of the document, if it was produced in the period. */
  readonly name: string | null;
}

/** The report as data, from which JSON and pages are written. */
export interface ConsentAudit {
  readonly timeUsed: string;
  readonly filters: string;
  readonly controller: object | null;
  readonly missingFromProfile: readonly string[];
  readonly totals: DecisionTotals;
  readonly byState: readonly StateCount[];
  /** As the records state it, without judging by purpose. */
  readonly byStatedState: readonly { readonly state: ConsentState; readonly decisions: number }[];
  readonly byPurpose: readonly PurposeCount[];
  /** Purposes that need no consent, and how many decisions name them; no consent is counted for them. */
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
  /** Readings of later versions that were put in force; absent: none. */
  readonly readings?: readonly AdoptedReading[];
  readonly policies: readonly PolicyInterval[];
  readonly policyTexts: readonly PolicyTextInterval[];
  readonly banners: BannerAudit;
  readonly withdrawals: Withdrawals;
  readonly standing: readonly PolicyConsents[];
  /** Subjects who hold a doubtful consent on a banner: its records contradict each other, or a later choice could not be read. */
  readonly disputedStanding: number;
  readonly scans: ScanAudit;
  readonly access: {
    readonly produced: number;
    readonly downloaded: number;
    readonly lookedUp: number;
    readonly last: readonly Access[];
  };
  /** The history of one subject, if requested. */
  readonly subjectAppendix: SubjectAppendix | null;
  readonly limits: readonly string[];
}

const ACCESS_LISTED = 200;

/** Gathers the report. Totals come from the database's GROUP BY; no list here grows with the number of decisions. */
export async function gatherConsentAudit(input: ReportInput): Promise<ConsentAudit> {
  const { history, profile } = input;
  const period = reportPeriod(input);
  const coverage = await loadCoverage(input, period);
  const { groups, overTime, byMonth } = await countDecisions(input, period, windowsOf(coverage));
  const totals = totalsOf(groups, await history.recordTotals(period));
  const readings = await history.adoptedReadings(period);
  const policies = await loadPolicyIntervals(history.policyRows({ ...period }), period.from, period.to);
  const standing = await loadStanding(input, period, supersededBy(policies));
  const disputed: JudgedDecision[] = [];
  for await (const decision of history.disputedDecisions(period)) disputed.push(decision);
  const byBanner = [...countBy(groups, ({ bannerId }) => bannerId)]
    .map(([bannerId, decisions]) => ({ bannerId, decisions }))
    .sort(byText(({ bannerId }) => bannerId));
  const choices = purposeCounts(
    groups.filter((group) => !group.disputed),
    disputed,
    standing.byPurpose,
  );
  return {
    timeUsed: 'the stated time of a decision if usable, otherwise the time of receipt',
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
    byStatedState: [...countBy(groups, ({ stated }) => stated)]
      .map(([state, decisions]) => ({ state, decisions }))
      .sort(byText(({ state }) => state)),
    byState: statesOf(groups),
    byPurpose: choices.counts,
    necessary: choices.necessary,
    withoutPurposes: choices.without,
    byRegion: grouped(groups, ({ region }) => region)
      .map(({ key, decisions, states }) => ({ region: key, decisions, states }))
      .sort((a, b) => b.decisions - a.decisions || byText<typeof a>((one) => one.region)(a, b)),
    byBanner,
    byPolicyVersion: grouped(groups, ({ policyId, policyVersion }) => JSON.stringify([policyId, policyVersion]))
      .sort(byText(({ key }) => key))
      .map(({ key, decisions, states }) => {
        const [policyId, policyVersion] = JSON.parse(key) as [string | null, string | null];
        return { policyId, policyVersion, decisions, states };
      }),
    byMonth,
    overTime,
    ...(readings.length === 0 ? {} : { readings }),
    completeness: await loadCompleteness(input, period, {
      coverage,
      counts: agreementByBanner(groups),
      conflicts: totals.conflicts,
    }),
    policies,
    banners: await loadBannerAudit(input, period, byBanner),
    policyTexts: await loadPolicyTextIntervals(history.textLooks(period), period.from, period.to),
    withdrawals: await loadWithdrawals(input, period),
    standing: standing.rows,
    disputedStanding: standing.disputed,
    scans: await gatherScanAudit(history, period),
    access: await loadAccess(input, period),
    subjectAppendix: await loadSubjectAppendix(input),
    limits: [...auditLimits, ...limits, noLegalAdvice],
  };
}

/**
 * Counts the decisions of the period in total, by span of time, and by month. Each part that lies in one span and one
 * month is queried separately, and only sums are kept.
 */
async function countDecisions(
  input: ReportInput,
  period: Period,
  windows: readonly BannerWindow[],
): Promise<Pick<ConsentAudit, 'overTime' | 'byMonth'> & { readonly groups: readonly DecisionGroup[] }> {
  // As many bars as can be distinguished: days up to a quarter, weeks up to two years, otherwise months.
  const days = daysBetween(input.from, input.to);
  const unit = days <= 93 ? 'day' : days <= 731 ? 'week' : 'month';
  const spans = countsIn(spansOf(input.from, input.to, input.timeZone, unit));
  const months = countsIn(spansOf(input.from, input.to, input.timeZone, 'month'));
  const groups = new Map<string, DecisionGroup>();
  const starts = [...new Set([...spans.starts, ...months.starts])].sort();
  for (const [place, from] of starts.entries()) {
    const some = await input.history.decisionGroups({ ...period, from, to: starts[place + 1] ?? period.to }, windows);
    for (const group of some) {
      const key = JSON.stringify({ ...group, decisions: 0 });
      groups.set(key, { ...group, decisions: group.decisions + (groups.get(key)?.decisions ?? 0) });
    }
    spans.add(from, some);
    months.add(from, some);
  }
  return {
    groups: [...groups.values()],
    overTime: { unit, spans: spans.states().map(({ name, states }) => ({ span: name, states })) },
    byMonth: months.states().map(({ name, states }) => ({ month: name, decisions: sumOf(states), states })),
  };
}

/** Counts by state in adjoining spans, including spans without decisions. */
function countsIn(spans: readonly CalendarPeriod[]) {
  const counts = spans.map(({ name }) => ({ name, groups: [] as StateCount[] }));
  let place = 0;
  return {
    starts: spans.map(({ start }) => start),
    /** Adds groups of decisions from a time on, in order of time. */
    add(from: string, groups: readonly DecisionGroup[]): void {
      while ((spans[place + 1]?.start ?? '~') <= from) place += 1;
      counts[place]?.groups.push(...statesOf(groups));
    },
    states: () => counts.map(({ name, groups }) => ({ name, states: addedUp(groups) })),
  };
}

function totalsOf(groups: readonly DecisionGroup[], { rows, subjects, conflicts }: RecordTotals): DecisionTotals {
  const count = (isMeant: (group: DecisionGroup) => boolean) => sumOf(groups.filter(isMeant));
  return {
    decisions: sumOf(groups),
    rows,
    subjects,
    withoutSubject: count(({ owned }) => !owned),
    conflicts,
    timesNotCounted: count(({ timeCounts }) => !timeCounts),
    timedByReceipt: count(({ timeBasis }) => timeBasis === 'received'),
    offsetAssumed: count(({ timeBasis }) => timeBasis === 'assumed-offset'),
  };
}

function purposeCounts(
  choices: readonly DecisionGroup[],
  disputed: readonly JudgedDecision[],
  standing: ReadonlyMap<string, number>,
): { counts: PurposeCount[]; necessary: { purpose: string; decisions: number }[]; without: number } {
  type Counts = { granted: number; refused: number; withdrawn: number; disputed: number; standing: number };
  const counts = new Map<string, Counts>();
  const necessary = new Map<string, number>();
  const names = createNames();
  const add = (purpose: string, outcome: keyof Counts, decisions: number) => {
    const key = names.count(purpose, decisions);
    const count = counts.get(key) ?? { granted: 0, refused: 0, withdrawn: 0, disputed: 0, standing: 0 };
    count[outcome] += decisions;
    counts.set(key, count);
  };
  let without = 0;
  const count = (purposes: PurposeChoices, outcomes: JudgedDecision['outcomes'], decisions: number) => {
    for (const key of new Set(necessaryIn(purposes).map((purpose) => names.count(purpose, decisions))))
      necessary.set(key, (necessary.get(key) ?? 0) + decisions);
    const named = [...outcomes].filter(([purpose]) => purpose !== ALL_PURPOSES);
    if (named.length === 0) without += decisions;
    for (const [purpose, outcome] of named) add(purpose, outcome, decisions);
  };
  for (const { purposes, state, withdraws, decisions } of choices) {
    const said = { state, purposes: parsePurposes(purposes) };
    count(said.purposes, outcomesOf(said, JSON.parse(withdraws) as string[]), decisions);
  }
  for (const { purposes, outcomes } of disputed) count(purposes, outcomes, 1);
  for (const [purpose, consents] of standing) if (purpose !== ALL_PURPOSES) add(purpose, 'standing', consents);
  return {
    counts: [...counts]
      .map(([key, count]) => ({ purpose: names.of(key), ...count }))
      .sort(byText(({ purpose }) => purpose)),
    necessary: [...necessary]
      .map(([key, decisions]) => ({ purpose: names.of(key), decisions }))
      .sort(byText(({ purpose }) => purpose)),
    without,
  };
}

/** Maps spellings of the same purpose to the one that most decisions use. */
function createNames() {
  const spellings = new Map<string, Map<string, number>>();
  return {
    count(purpose: string, decisions: number): string {
      const key = purposeKey(purpose);
      const known = spellings.get(key) ?? new Map<string, number>();
      spellings.set(key, known.set(purpose, (known.get(purpose) ?? 0) + decisions));
      return key;
    },
    of(key: string): string {
      const known = [...(spellings.get(key) ?? [])];
      return known.sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))[0]?.[0] ?? key;
    },
  };
}

/** Decisions by key, in the order in which the keys occur. */
function countBy<Key>(
  groups: readonly DecisionGroup[],
  keyOf: (group: DecisionGroup) => Key,
): ReadonlyMap<Key, number> {
  const counts = new Map<Key, number>();
  for (const group of groups) counts.set(keyOf(group), (counts.get(keyOf(group)) ?? 0) + group.decisions);
  return counts;
}

function statesOf(groups: readonly DecisionGroup[]): StateCount[] {
  return addedUp(groups.map(({ judged: state, decisions }) => ({ state, decisions })));
}

function addedUp(counts: readonly StateCount[]): StateCount[] {
  const states = new Map<Judged, number>();
  for (const { state, decisions } of counts) states.set(state, (states.get(state) ?? 0) + decisions);
  return [...states].map(([state, decisions]) => ({ state, decisions })).sort(byStateOrder);
}

function grouped<Key extends string | null>(
  groups: readonly DecisionGroup[],
  keyOf: (group: DecisionGroup) => Key,
): { key: Key; decisions: number; states: StateCount[] }[] {
  const byKey = new Map<Key, DecisionGroup[]>();
  for (const group of groups) {
    const known = byKey.get(keyOf(group));
    if (known === undefined) byKey.set(keyOf(group), [group]);
    else known.push(group);
  }
  return [...byKey].map(([key, some]) => {
    const states = statesOf(some);
    return { key, decisions: sumOf(states), states };
  });
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
  superseded: ReturnType<typeof supersededBy>,
): Promise<{ rows: readonly PolicyConsents[]; byPurpose: ReadonlyMap<string, number>; disputed: number }> {
  const [in30Days, in90Days] = [30, 90].map((days) => startOfDay(addDays(input.to, days), input.timeZone)) as [
    string,
    string,
  ];
  const rows = new Map<string, Omit<PolicyConsents, 'superseded'>>();
  const byPurpose = new Map<string, number>();
  const add = (row: Omit<PolicyConsents, 'superseded'>, purposes: readonly string[]) => {
    for (const purpose of row.consents > row.expired ? purposes : [])
      byPurpose.set(purpose, (byPurpose.get(purpose) ?? 0) + row.consents - row.expired);
    const key = JSON.stringify([row.policyId, row.policyVersion]);
    const known = rows.get(key);
    rows.set(key, {
      policyId: row.policyId,
      policyVersion: row.policyVersion,
      consents: row.consents + (known?.consents ?? 0),
      withoutExpiry: row.withoutExpiry + (known?.withoutExpiry ?? 0),
      expired: row.expired + (known?.expired ?? 0),
      within30Days: row.within30Days + (known?.within30Days ?? 0),
      within90Days: row.within90Days + (known?.within90Days ?? 0),
    });
  };
  const { consents, held } = await input.history.standingConsents(period, in30Days, in90Days);
  for (const { stands, ...row } of consents) add(row, JSON.parse(stands) as string[]);
  let disputed = 0;
  for await (const holds of input.history.heldConsents(period, held)) {
    if ([...holds.values()].some((hold) => hold.doubt !== null && !isExpired(hold, period.to))) disputed += 1;
    // Each decision that still stands in part is one consent, with its own expiry and text.
    const byDecision = new Map<string, HeldConsent[]>();
    for (const hold of holds.values())
      if (hold.doubt === null) byDecision.set(hold.decisionId, [...(byDecision.get(hold.decisionId) ?? []), hold]);
    for (const granted of byDecision.values()) {
      const { policyId = null, policyVersion = null, expiresAt = null } = granted[0] ?? {};
      const [expired, within30Days, within90Days] = [period.to, in30Days, in90Days].map((end, place) =>
        expiresAt !== null && (place === 0 ? expiresAt <= end : expiresAt < end) ? 1 : 0,
      ) as [number, number, number];
      add(
        {
          ...{ policyId, policyVersion, consents: 1, withoutExpiry: expiresAt === null ? 1 : 0, expired },
          ...{ within30Days: within30Days - expired, within90Days: within90Days - within30Days },
        },
        granted.map(({ purpose }) => purpose),
      );
    }
  }
  const sorted = [...rows.values()]
    .map((row) => ({ ...row, superseded: superseded(row.policyId, row.policyVersion) }))
    .sort(
      (a, b) =>
        byText<PolicyConsents>((one) => one.policyId)(a, b) || byText<PolicyConsents>((one) => one.policyVersion)(a, b),
    );
  return { rows: sorted, byPurpose, disputed };
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
    // Leave out whose records were looked up; that stays in the entry.
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

export function sumOf(counts: readonly Pick<StateCount, 'decisions'>[]): number {
  return counts.reduce((sum, { decisions }) => sum + decisions, 0);
}
