import { actionSchema } from '../src/core/action.ts';
import type { Period } from '../src/store/queries/history.ts';
import { byText } from './format.ts';
import type { ReportInput } from './report.ts';

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
  /** Stretches of the period that finished runs asked for. */
  readonly covered: readonly Window[];
  /** Stretches of the period that no finished run asked for. */
  readonly gaps: readonly Window[];
  /** The earliest row that the service returned when it was asked for everything; null when it never was, or had no row. */
  readonly nothingBefore: string | null;
}

/**
 * The pulls that say something about the period. A run that asked for a window after it began and finished may come later than the
 * period's end, so runs are read up to asOf; only those inside the period are counted as its runs.
 */
export async function loadPulls(input: ReportInput, period: Period): Promise<readonly BannerPull[]> {
  const banners = new Map<string | null, { readonly pull: Mutable<BannerPull>; windows: Window[] }>();
  const untilNow = { ...period, to: '9999-12-31T00:00:00.000Z' };
  for await (const row of input.history.actionRows(untilNow, ['sync.finished', 'sync.failed'])) {
    const parsed = actionSchema.safeParse(parseJson(row.details));
    if (!parsed.success || (parsed.data.action !== 'sync.finished' && parsed.data.action !== 'sync.failed')) continue;
    const run = parsed.data;
    const known = banners.get(run.bannerId) ?? { pull: emptyPull(run.bannerId), windows: [] as Window[] };
    banners.set(run.bannerId, known);
    if (run.action === 'sync.finished') {
      if (run.from === null && run.earliest !== null)
        known.pull.nothingBefore = [known.pull.nothingBefore ?? run.earliest, run.earliest].sort()[0] ?? null;
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
    .map(({ pull, windows }) => {
      const whole = { from: period.from, to: until };
      return { ...pull, covered: within(whole, windows), gaps: gapsIn(whole, windows) };
    })
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
    covered: [],
    gaps: [],
    nothingBefore: null,
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

/** What of windows lies in a whole. */
export function within(whole: Window, windows: readonly Window[]): Window[] {
  return mergeWindows(windows)
    .map(({ from, to }) => ({ from: from > whole.from ? from : whole.from, to: to < whole.to ? to : whole.to }))
    .filter(({ from, to }) => from < to);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
