import { actionSchema } from '../src/core/action.ts';
import type { Period } from '../src/store/queries/scope.ts';
import { byText } from './format.ts';
import type { ReportInput } from './report.ts';

/** A period in ISO 8601 UTC, end exclusive. */
export interface Span {
  readonly from: string;
  readonly to: string;
}

/** The coverage of one banner's consent log by pulls. */
export interface BannerPull {
  /** Null: the log as a whole. */
  readonly bannerId: string | null;
  readonly runs: number;
  readonly failedRuns: number;
  readonly rows: number;
  readonly stored: number;
  readonly duplicates: number;
  readonly malformed: number;
  readonly lastError: string | null;
  /** Parts of the period that finished runs requested. */
  readonly covered: readonly Span[];
  /** Parts of the period that no finished run requested. */
  readonly gaps: readonly Span[];
  /** The last moment that a finished run covered, in the period or after it; null if none did. */
  readonly pulledTo: string | null;
  /** The earliest row that the service returned when everything was requested; null if that never happened or there was no row. */
  readonly nothingBefore: string | null;
}

/** How often recent days were recounted, and the results. */
export interface Recounts {
  readonly recounts: number;
  /** Rows that no run had brought before: they came late or had changed. They are in the ledger now. */
  readonly found: number;
  /** Entries of pulled decisions of the period that the service no longer returned. */
  readonly goneSeqs: readonly number[];
  /** There were more of these than a recount names. */
  readonly moreGone: boolean;
}

/** The part of the period that can be known: up to its end, or up to the time at which the document is made. */
export function knownPart(input: ReportInput, period: Period): Span {
  return { from: period.from, to: period.to < input.generatedAt ? period.to : input.generatedAt };
}

/**
 * The pulls that say something about the period. A run may begin and finish after the period and still cover it, so
 * runs are read up to asOf; only those inside the period are counted as its runs.
 */
export async function loadPulls(input: ReportInput, period: Period): Promise<readonly BannerPull[]> {
  const banners = new Map<string | null, { readonly pull: Mutable<BannerPull>; windows: Span[] }>();
  const untilNow = { ...period, to: '9999-12-31T00:00:00.000Z' };
  for await (const row of input.history.actionRows(untilNow, ['sync.finished', 'sync.failed'])) {
    const parsed = actionSchema.safeParse(parseJson(row.details));
    if (!parsed.success || (parsed.data.action !== 'sync.finished' && parsed.data.action !== 'sync.failed')) continue;
    const run = parsed.data;
    const known = banners.get(run.bannerId) ?? { pull: emptyPull(run.bannerId), windows: [] as Span[] };
    banners.set(run.bannerId, known);
    if (run.action === 'sync.finished') {
      if (run.from === null && run.earliest !== null)
        known.pull.nothingBefore = [known.pull.nothingBefore ?? run.earliest, run.earliest].sort()[0] ?? null;
      const window = askedFor(run.from, run.to, run.asOf ?? row.received_at);
      if (window !== null) known.windows = mergeSpans([...known.windows, window]);
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
  const whole = knownPart(input, period);
  return [...banners.values()]
    .map(({ pull, windows }) => ({
      ...pull,
      covered: within(whole, windows),
      gaps: gapsIn(whole, windows),
      pulledTo: windows.at(-1)?.to ?? null,
    }))
    .sort(byText(({ bannerId }) => bannerId));
}

/** Results of recounts of recent days, as far as they concern the period. */
export async function loadRecounts(input: ReportInput, period: Period): Promise<Recounts> {
  const untilNow = { ...period, to: '9999-12-31T00:00:00.000Z' };
  const gone = new Set<number>();
  let [recounts, found, moreGone] = [0, 0, false];
  for await (const row of input.history.actionRows(untilNow, ['sync.recounted'])) {
    const parsed = actionSchema.safeParse(parseJson(row.details));
    if (!parsed.success || parsed.data.action !== 'sync.recounted') continue;
    const recount = parsed.data;
    if (recount.from >= period.to || recount.to <= period.from) continue;
    recounts += 1;
    found += recount.found;
    for (const seq of recount.goneSeqs) gone.add(seq);
    moreGone ||= recount.gone > recount.goneSeqs.length;
  }
  const goneSeqs = await input.history.decisionsAmong(period, [...gone]);
  return { recounts, found, goneSeqs, moreGone: moreGone && goneSeqs.length > 0 };
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
    pulledTo: null,
    nothingBefore: null,
  };
}

/**
 * What a finished run covers: the requested window, but nothing after `asOf`, whatever end it named. Null for dates
 * that cannot be read. A bare date begins in UTC, as does a time without an offset.
 */
function askedFor(from: string | null, to: string | null, asOf: string): Span | null {
  const [begins, ends] = [from === null ? '' : instantOf(from), to === null ? asOf : instantOf(to)];
  return begins === null || ends === null ? null : { from: begins, to: ends < asOf ? ends : asOf };
}

function instantOf(text: string): string | null {
  const hasOffset = text.length <= 10 || /(?:Z|[+-]\d\d:?\d\d)$/i.test(text);
  const time = Date.parse(hasOffset ? text : `${text}Z`);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** Joins spans that touch or overlap, in order of time. */
export function mergeSpans(windows: readonly Span[]): Span[] {
  const merged: Span[] = [];
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

/** The parts of a window that others do not cover. */
export function gapsIn(whole: Span, covered: readonly Span[]): Span[] {
  const gaps: Span[] = [];
  let from = whole.from;
  for (const window of mergeSpans(covered)) {
    if (window.from > from) gaps.push({ from, to: window.from < whole.to ? window.from : whole.to });
    if (window.to > from) from = window.to;
    if (from >= whole.to) break;
  }
  if (from < whole.to) gaps.push({ from, to: whole.to });
  return gaps.filter((gap) => gap.from < gap.to);
}

/** The parts of windows that lie in a whole. */
function within(whole: Span, windows: readonly Span[]): Span[] {
  return mergeSpans(windows)
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
