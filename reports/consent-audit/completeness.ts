import { actionSchema } from '../../src/core/action.ts';
import type { AmbiguousCounts } from '../../src/store/queries/history-evidence.ts';
import type { Period } from '../../src/store/queries/history.ts';
import { byText } from '../format.ts';
import type { ReportInput } from '../report.ts';

/** A stretch of time in ISO 8601 UTC, the end exclusive. */
export interface Window {
  readonly from: string;
  readonly to: string;
}

/** What the pull of one banner's consent log covered. */
export interface BannerPull {
  readonly bannerId: string | null;
  readonly runs: number;
  readonly failedRuns: number;
  readonly rows: number;
  readonly stored: number;
  readonly duplicates: number;
  readonly malformed: number;
  readonly lastError: string | null;
  /** Stretches of the period that no finished run asked for. */
  readonly gaps: readonly Window[];
}

export interface Completeness {
  readonly waysIn: { readonly both: number; readonly webhookOnly: number; readonly pullOnly: number };
  readonly conflicts: number;
  readonly deliveries: readonly { event: string | null; verdict: string; outcome: string; deliveries: number }[];
  readonly daysWithoutDelivery: readonly string[];
  readonly quarantine: readonly { event: string | null; entries: number }[];
  readonly pulls: readonly BannerPull[];
  /** Counted outside the ledger, when the document was made. */
  readonly outsideTheLedger: {
    readonly repeats: { deliveries: number; repeats: number };
    readonly ambiguous: AmbiguousCounts;
    readonly rejected: readonly { reason: string; deliveries: number }[];
  };
}

/** How complete the records of a period are, by everything that this installation could see. */
export async function loadCompleteness(input: ReportInput, period: Period, conflicts: number): Promise<Completeness> {
  const { history } = input;
  const waysIn = { both: 0, webhookOnly: 0, pullOnly: 0 };
  for (const { via, bothWays, decisions } of await history.decisionsByWayIn(period)) {
    waysIn[bothWays ? 'both' : via === 'webhook' ? 'webhookOnly' : 'pullOnly'] += decisions;
  }
  const deliveries = (await history.deliveryCounts(period)).map(({ bytes: _, ...count }) => count);
  const seen = new Set((await history.deliveriesByDay(period)).map(({ day }) => day));
  // What was counted in the minute of making this document may still grow: left out.
  const counted: Period = { ...period, to: period.to < input.generatedAt ? period.to : input.generatedAt };
  return {
    waysIn,
    conflicts,
    deliveries: deliveries.sort(byText(({ event, verdict, outcome }) => `${event ?? '\uffff'} ${verdict} ${outcome}`)),
    daysWithoutDelivery: utcDaysOf({ from: period.from, to: counted.to }).filter((day) => !seen.has(day)),
    quarantine: [...(await history.quarantineCounts(period))].sort(byText(({ event }) => event)),
    pulls: await loadPulls(input, period),
    outsideTheLedger: {
      repeats: await history.repeatCounts(period),
      ambiguous: await history.ambiguousCounts(period),
      rejected:
        counted.from < counted.to
          ? [...(await history.rejectedCounts(counted))].sort(byText(({ reason }) => reason))
          : [],
    },
  };
}

/**
 * The pulls that say something about the period. A run that asked for a window after it began and finished may come later than the
 * period's end, so runs are read up to asOf; only those inside the period are counted as its runs.
 */
async function loadPulls(input: ReportInput, period: Period): Promise<readonly BannerPull[]> {
  const banners = new Map<string | null, { readonly pull: Mutable<BannerPull>; windows: Window[] }>();
  const untilNow = { ...period, to: '9999-12-31T00:00:00.000Z' };
  for await (const row of input.history.actionRows(untilNow, ['sync.finished', 'sync.failed'])) {
    const parsed = actionSchema.safeParse(parseJson(row.details));
    if (!parsed.success || (parsed.data.action !== 'sync.finished' && parsed.data.action !== 'sync.failed')) continue;
    const run = parsed.data;
    const known = banners.get(run.bannerId) ?? { pull: emptyPull(run.bannerId), windows: [] as Window[] };
    banners.set(run.bannerId, known);
    if (run.action === 'sync.finished') {
      known.windows = mergeWindows([...known.windows, { from: run.from ?? '', to: run.to ?? row.received_at }]);
    }
    if (row.received_at >= period.to) continue;
    known.pull.runs += 1;
    known.pull.rows += run.rows;
    known.pull.stored += run.stored;
    known.pull.duplicates += run.duplicates;
    known.pull.malformed += run.malformed;
    if (run.action === 'sync.failed') {
      known.pull.failedRuns += 1;
      known.pull.lastError = run.error;
    }
  }
  const until = period.to < input.generatedAt ? period.to : input.generatedAt;
  return [...banners.values()]
    .map(({ pull, windows }) => ({ ...pull, gaps: gapsIn({ from: period.from, to: until }, windows) }))
    .sort(byText(({ bannerId }) => bannerId));
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function emptyPull(bannerId: string | null): Mutable<BannerPull> {
  return {
    bannerId,
    runs: 0,
    failedRuns: 0,
    rows: 0,
    stored: 0,
    duplicates: 0,
    malformed: 0,
    lastError: null,
    gaps: [],
  };
}

/** Windows that touch or overlap become one, in order of time. */
export function mergeWindows(windows: readonly Window[]): Window[] {
  const merged: Window[] = [];
  for (const window of [...windows].filter(({ from, to }) => from < to).sort(byText(({ from }) => from))) {
    const last = merged[merged.length - 1];
    if (last !== undefined && window.from <= last.to) {
      merged[merged.length - 1] = { from: last.from, to: window.to > last.to ? window.to : last.to };
    } else {
      merged.push(window);
    }
  }
  return merged;
}

/** What of a window is not covered by others. */
export function gapsIn(whole: Window, covered: readonly Window[]): Window[] {
  const gaps: Window[] = [];
  let from = whole.from;
  for (const window of mergeWindows(covered)) {
    if (window.from > from) gaps.push({ from, to: window.from < whole.to ? window.from : whole.to });
    if (window.to > from) from = window.to;
    if (from >= whole.to) break;
  }
  if (from < whole.to) gaps.push({ from, to: whole.to });
  return gaps.filter((gap) => gap.from < gap.to);
}

/** The UTC days that lie in a window as a whole. */
function utcDaysOf({ from, to }: Window): string[] {
  const days: string[] = [];
  const day = 86_400_000;
  for (let time = Math.ceil(Date.parse(from) / day) * day; time + day <= Date.parse(to); time += day)
    days.push(new Date(time).toISOString().slice(0, 10));
  return days;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
