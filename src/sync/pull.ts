import { randomUUID } from 'node:crypto';
import type { Action } from '../core/action.ts';
import { isoNow } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { readTime } from '../core/zoned-days.ts';
import { appendAction, entryOf } from '../ledger/append-action.ts';
import type { Query, StoreTransaction } from '../store/store.ts';
import { isKnownBanner, loadBannerIds, loadCompletedBanners } from './banners.ts';
import type { WalkFault } from './follow-cursors.ts';
import { appendPage, appendPatiently, findKnown, fitsWithEnd, isAllKnown, knowNothing } from './log-pages.ts';
import { type LookBack, shiftOf, startOfRun } from './look-back.ts';
import { joinGaps, type Piece, type Plan, planOf } from './periods-to-read.ts';
import {
  advancePosition,
  type Beginning,
  completeBeforeGaps,
  failPosition,
  finishPosition,
  gapsOfPosition,
  isBeyond,
  loadBeginning,
  loadPosition,
  noteForm,
  planOfPosition,
  type Run,
  readToOf,
  releasePosition,
  type SyncPosition,
} from './position.ts';
import {
  failureOfError,
  failureOfFault,
  foreignBanner,
  isRefused,
  type PullDeps,
  type PullFailure,
  type PullReport,
  type PullRequest,
  type PullResult,
  unknownBanner,
  unreachable,
} from './pull-result.ts';
import type { Asking, RequestForm } from './query-form.ts';
import { type PageStep, readPlan } from './read-plan.ts';
import { addPage, countNew, earliestOf, joinTotals, noTotals, type PullTotals, type Totals } from './row.ts';

/**
 * Pulls the consent log of one banner into the ledger (docs/service.md §4.5). Each page with new rows is committed
 * together with its next cursor, the last page together with the end of the run, so a run interrupted anywhere continues
 * where it stopped or earlier; rows that come twice are stored once. An interrupted run is finished first; the same call then pulls what is new since. Errors: StoreUnavailable; CodedError
 * `overloaded` if the queue of appends stays full; UsageError for invalid dates.
 */
export async function pullConsentLogs(deps: PullDeps, request: PullRequest): Promise<PullResult> {
  assertDates(request);
  const explicit = request.full === true || request.from !== undefined || request.to !== undefined;
  const load = () => loadBeginning(deps.store.read, request.source.slug, request.bannerId);
  const beginning = request.beginning ?? (await load());
  const { position } = beginning;
  if (explicit)
    return pullWindow(deps, request, { beginning, window: explicitWindow(request, gapsOfPosition(position)) });

  const interrupted = resumedWindow(position);
  if (interrupted === null)
    return pullWindow(deps, request, { beginning, window: incrementalWindow(deps, request, beginning) });
  const resumed = await pullWindow(deps, request, { beginning, window: interrupted });
  if (resumed.outcome !== 'finished') return resumed;
  const ended = await load();
  const rest = await pullWindow(deps, request, {
    beginning: ended,
    window: incrementalWindow(deps, request, ended),
    before: resumed,
  });
  return { ...rest, resumed: true, restarted: resumed.restarted || rest.restarted };
}

function explicitWindow(request: PullRequest, gaps: readonly Piece[]): Window {
  const full = request.full === true;
  const period = { from: full ? null : withOffset(request.from), to: full ? null : withOffset(request.to) };
  // Everything is read again, so gaps are determined afresh.
  const isAll = period.from === null && period.to === null;
  return newWindow(period, isAll ? {} : { left: gaps });
}

function newWindow(period: Pick<Window, 'from' | 'to'>, gaps: Parameters<typeof planOf>[1]): Window {
  return { ...period, runId: randomUUID(), plan: planOf(period, gaps), isResumed: false, asOf: null };
}

function lookBackOf({ lookBackMs }: PullDeps, { source, bannerId }: PullRequest, form: RequestForm): LookBack {
  return { farMs: lookBackMs, shiftMs: shiftOf(source.slug, bannerId), form };
}

/** Gaps to retry in one run. */
const GAPS_AGAIN = 20;

/**
 * Has no end, or rows that the service dates in the future would never be seen. Covers everything if no row was ever
 * found (requesting everything costs no more if there is nothing, and rows shown later are found), or if the position
 * lies in the future: the clock that set it was wrong by an unknown amount.
 */
function incrementalWindow(deps: PullDeps, request: PullRequest, { position, form }: Beginning): Window {
  const now = deps.clock();
  const readTo = readToOf(position);
  if (readTo === null || position?.rows_total === 0 || isBeyond(completeBeforeGaps(position) ?? readTo, now))
    return newWindow({ from: null, to: null }, {});
  const from = new Date(startOfRun(Date.parse(readTo), now.getTime(), lookBackOf(deps, request, form))).toISOString();
  // Those that were tried longest ago come first.
  const gaps = gapsOfPosition(position);
  return newWindow({ from, to: null }, { again: gaps.slice(0, GAPS_AGAIN), left: gaps.slice(GAPS_AGAIN) });
}

/**
 * Gets a new run id, so that the interrupted run, if still alive somewhere, finds itself superseded. If everything is
 * read and only the end is missing, the id stays: whichever process records the end first, it is recorded once.
 */
function resumedWindow(position: SyncPosition | null): Window | null {
  const plan = planOfPosition(position);
  if (position === null || plan === null || position.run_as_of === null) return null;
  const isRead = plan.pieces.length === 0;
  return {
    runId: isRead && position.run_id !== null ? position.run_id : randomUUID(),
    from: position.run_from,
    to: position.run_to,
    plan,
    isResumed: true,
    asOf: position.run_as_of,
    earliest: position.earliest,
  };
}

/**
 * A time without an offset is taken as UTC, whatever this machine's time zone, and sent with an offset; a date stays a
 * date.
 */
function withOffset(time: string | undefined): string | null {
  if (time === undefined || /^\d{4}-\d\d-\d\d$/.test(time)) return time ?? null;
  const read = readTime(time, 'UTC');
  return read.problem === undefined ? read.at : time;
}

function assertDates({ from, to, full }: PullRequest): void {
  const problems: string[] = [];
  for (const [name, value] of [
    ['from', from],
    ['to', to],
  ] as const) {
    const { problem } = value === undefined ? {} : readTime(value, 'UTC');
    if (problem !== undefined) problems.push(`Invalid time "${value}" for ${name}: ${problem}`);
  }
  if (problems.length === 0 && from !== undefined && to !== undefined && Date.parse(from) > Date.parse(to)) {
    problems.push('from is later than to: swap them.');
  }
  if (full === true && (from !== undefined || to !== undefined))
    problems.push('full pulls everything: leave out either full, or from and to.');
  if (problems.length > 0) throw new UsageError(problems);
}

/** One run over one window of a banner's log. */
interface Window {
  readonly runId: string;
  /** As sent to the service; null: from the beginning, to the end. */
  readonly from: string | null;
  readonly to: string | null;
  /** What is left to read of it. */
  readonly plan: Plan;
  /** It continues an interrupted run. */
  readonly isResumed: boolean;
  /** When the interrupted run began; null for a new run. */
  readonly asOf: string | null;
  /** The earliest row that the interrupted run, or one before it, saw. */
  readonly earliest?: string | null;
}

/** A run over one window, with its progress. */
interface Pull {
  readonly deps: PullDeps;
  readonly request: PullRequest;
  readonly window: Window;
  /** The banner's position before the run. */
  readonly position: SyncPosition | null;
  readonly asking: Asking;
  readonly totals: Totals;
  /** Counts of an earlier window of the same call. */
  readonly before: PullTotals | undefined;
  run: Run;
  plan: Plan;
  /** Whether a page of this run was committed, so the position belongs to this run. */
  isClaimed: boolean;
  /** The last page: it is recorded with the end of the run. */
  last: PageStep | null;
  /** Whether the next rows are probably stored already, as when a log is read again. */
  expectsKnown: boolean;
  /** Pages since the last commit: all of their rows were stored already. */
  uncommitted: number;
  /** The earliest time of a row, as the position has it. */
  savedEarliest: string | null;
  restarted: boolean;
  watermark: string | null;
}

/** The result of a run, without its counts. */
type Ending =
  | Pick<Extract<PullResult, { outcome: 'finished' | 'superseded' | 'cancelled' }>, 'outcome'>
  | Pick<Extract<PullResult, { outcome: 'failed' }>, 'outcome' | 'reason' | 'error'>
  | Pick<Extract<PullResult, { outcome: 'unknown-banner' }>, 'outcome' | 'error'>;

/** Reads one window to its end and records the result in the ledger. Errors: see pullConsentLogs. */
async function pullWindow(
  deps: PullDeps,
  request: PullRequest,
  {
    beginning,
    window,
    before,
  }: { readonly beginning: Beginning; readonly window: Window; readonly before?: PullTotals },
): Promise<PullResult> {
  const pull = beginPull(deps, request, { beginning, window, before });
  const ending = await readToEnding(pull);
  return { ...reportOf(pull), ...ending };
}

function beginPull(
  deps: PullDeps,
  request: PullRequest,
  {
    beginning: { position, form },
    window,
    before,
  }: { readonly beginning: Beginning; readonly window: Window; readonly before: PullTotals | undefined },
): Pull {
  const { runId, from, to, plan } = window;
  const { source, bannerId } = request;
  const asOf = window.asOf ?? isoNow(deps.clock);
  return {
    deps,
    request,
    window,
    position,
    asking: { form, cursorWorked: false, clock: deps.clock },
    totals: { ...noTotals(), earliest: window.earliest ?? null },
    before,
    run: { source: source.slug, bannerId, runId, from, to, asOf },
    plan,
    isClaimed: false,
    last: null,
    expectsKnown: (position?.rows_total ?? 0) > 0,
    uncommitted: 0,
    savedEarliest: window.earliest ?? null,
    restarted: false,
    watermark: null,
  };
}

function reportOf({ run, window, before, totals, restarted, watermark }: Pull): PullReport {
  const { source, bannerId, runId, from, to } = run;
  const resumed = window.isResumed;
  return { ...joinTotals(before, totals), source, bannerId, runId, from, to, resumed, restarted, watermark };
}

async function readToEnding(pull: Pull): Promise<Ending> {
  const { deps, request } = pull;
  try {
    const stopped = await readPages(pull);
    if (stopped === 'superseded') return { outcome: 'superseded' };
    return stopped === null ? await finish(pull) : await fail(pull, failureOfFault(stopped));
  } catch (error) {
    if (request.signal?.aborted === true) {
      if (pull.isClaimed) await deps.store.transaction((tx) => release(tx.query, pull)).catch(() => undefined);
      return { outcome: 'cancelled' };
    }
    const failure = failureOfError(error);
    if (failure === null) throw error;
    // If parts of a run are refused, continuing it would meet the same refusal every time.
    return fail(pull, isRefused(failure.reason) ? { ...failure, forgetCursor: true } : failure);
  }
}

/** Commits page after page, except the last. Null: everything reachable was read. */
async function readPages(pull: Pull): Promise<WalkFault | 'superseded' | null> {
  const { deps, request, window, asking } = pull;
  const { bannerId, runId } = pull.run;
  const loadBanners = async () => (bannerId === null ? await loadBannerIds(deps.store.read, request.source) : []);
  const reading = { ...request, asking, runId, loadBannerIds: loadBanners };
  let savedForm = asking.form;
  for await (const step of readPlan(deps, reading, window.plan)) {
    if (step.type === 'fault') return step.fault;
    pull.plan = step.plan;
    pull.restarted ||= step.plan.hasRestarted && !window.plan.hasRestarted;
    if (step.type === 'read') continue;
    if (!pull.isClaimed && window.asOf === null)
      pull.run = { ...pull.run, asOf: startedAt(pull.run.asOf, step.page.serverDate) };
    const isLast = step.plan.pieces.length === 0 && step.page.nextCursor === null && step.page.isCut !== true;
    // The usual scheduled run has one page, and a single commit records everything.
    if (isLast && asking.form === savedForm && fitsWithEnd(step.page)) {
      // The walk empties the rows of its page.
      pull.last = { ...step, page: { ...step.page, rows: [...step.page.rows] } };
      continue;
    }
    const state = await takePage(pull, step, asking.form !== savedForm);
    if (state === 'superseded') return 'superseded';
    if (asking.form !== savedForm) {
      savedForm = asking.form;
      await noteLearnedForm(pull, savedForm);
    }
    tellProgress(pull);
  }
  return null;
}

function tellProgress({ request, run, before, totals }: Pull): void {
  request.onProgress?.({ ...joinTotals(before, totals), source: run.source, bannerId: run.bannerId });
}

/** Concludes a run that read everything reachable; unreachable rows make it a failure that keeps its place. */
async function finish(pull: Pull): Promise<Ending> {
  const { plan, last } = pull;
  const failure = plan.unreachable.length === 0 ? null : unreachable(joinGaps(plan.unreachable));
  const error = failure?.error ?? null;
  const action = failure === null ? 'sync.finished' : 'sync.failed';
  if (last === null || !(await concludeWith(pull, last, action, error))) {
    if (last !== null && (await takePage(pull, last, true)) === 'superseded') return { outcome: 'superseded' };
    await conclude(pull, action, error, async (tx, at) => {
      const end = { ...endOf(pull, error, at), begins: null, stored: 0, earliest: null };
      ({ watermark: pull.watermark } = await finishPosition(tx.query, pull.run, end));
    });
  }
  if (last !== null) tellProgress(pull);
  if (failure === null) return { outcome: 'finished' };
  return { outcome: 'failed', reason: failure.reason, error: failure.error };
}

async function fail(pull: Pull, found: PullFailure): Promise<Ending> {
  const { deps, request, run, totals } = pull;
  const { failure, isForeign, leavesPosition } = await explain(deps, request, found, totals.pages);
  await conclude(pull, 'sync.failed', failure.error, async (tx, at) => {
    await keepPlace(tx.query, pull, at);
    if (leavesPosition) await failPosition(tx.query, run, { error: failure.error, forget: failure.forgetCursor, at });
  });
  if (isForeign) return { outcome: 'unknown-banner', error: failure.error };
  return { outcome: 'failed', reason: failure.reason, error: failure.error };
}

/** Moves the position past the pages since the last commit. */
async function keepPlace(query: Query, { run, plan, uncommitted, totals }: Pull, at: string): Promise<void> {
  if (uncommitted === 0) return;
  const nothing = { stored: 0, unreadable: 0, isCut: false, isFirst: false, carriesOn: false };
  await advancePosition(query, run, { plan, ...nothing, earliest: totals.earliest, at });
}

async function release(query: Query, pull: Pull): Promise<void> {
  await keepPlace(query, pull, isoNow(pull.deps.clock));
  await releasePosition(query, pull.run);
}

/** Recorded so that a restart need not learn it again, and so that it can be seen how the service was asked. */
async function noteLearnedForm({ deps, request, run }: Pull, form: RequestForm): Promise<void> {
  const at = isoNow(deps.clock);
  const body: Action = { action: 'sync.form-learned', actor: request.actor, runId: run.runId, ...form };
  const key = [body.action, run.source, run.runId, form.period, form.range, form.cursor];
  await appendAction(deps.ledger, run.source, body, key, at, (tx) => noteForm(tx.query, run.source, form));
}

type EndAction = Extract<Action, { duplicates: number }>['action'];

/** The action and the position it reports commit together. */
async function conclude(
  { deps, request, run, totals }: Pull,
  action: EndAction,
  error: string | null,
  move: (tx: StoreTransaction, at: string) => Promise<void>,
): Promise<void> {
  const at = isoNow(deps.clock);
  const body = endActionOf(request, run, { action, totals, error });
  await appendAction(deps.ledger, run.source, body, endKeyOf(run, action), at, (tx) => move(tx, at));
}

function endActionOf(
  { actor }: PullRequest,
  run: Run,
  { action, totals, error }: { readonly action: EndAction; readonly totals: Totals; readonly error: string | null },
): Action {
  const { bannerId, runId, from, to, asOf } = run;
  return { action, actor, bannerId, runId, from, to, asOf, ...totals, error };
}

function endKeyOf({ source, bannerId, runId }: Run, action: EndAction): readonly string[] {
  return [action, source, bannerId ?? '', runId];
}

function endOf({ deps, request, asking, plan, position }: Pull, error: string | null, at: string) {
  return { plan, error, at, position, lookBack: lookBackOf(deps, request, asking.form) };
}

/** The look-up before the commit is out of date. */
class Overtaken extends Error {}

/**
 * The same, with the last page in the same commit. Its rows are looked up before, because the action counts those that
 * are new. False, with nothing written, if that does not tell: another process has stored some of them or taken the
 * banner over in the meantime, two are equal, or a piece of the page is unreadable.
 */
async function concludeWith(pull: Pull, last: PageStep, action: EndAction, error: string | null): Promise<boolean> {
  const { deps, request, run, window, totals } = pull;
  const { rows } = last.page;
  const known = await findKnown(deps, rows);
  const unknown = rows.filter((_, place) => known[place] === null);
  const keys = new Set(unknown.map(({ entry }) => Buffer.from(entry.dedupeKey).toString('latin1')));
  if (keys.size < unknown.length || unknown.some(({ type }) => type === 'unreadable')) return false;
  const counts = { ...totals };
  addPage(counts, rows, unknown.length);
  const at = isoNow(deps.clock);
  const body = endActionOf(request, run, { action, totals: counts, error });
  const ending = entryOf(deps.ledger, run.source, { action: body, keyParts: endKeyOf(run, action) }, at);
  const end = {
    ...endOf(pull, error, at),
    begins: pull.isClaimed ? null : { carriesOn: window.asOf !== null },
    stored: unknown.length,
    earliest: counts.earliest === pull.savedEarliest ? null : counts.earliest,
  };
  try {
    await appendPatiently(deps.ledger, [...unknown.map(({ entry }) => entry), ending], async (tx, appended) => {
      if (appended.some(({ outcome }) => outcome !== 'stored')) throw new Overtaken();
      const { outcome, watermark } = await finishPosition(tx.query, run, end);
      if (outcome === 'superseded') throw new Overtaken();
      pull.watermark = watermark;
    });
  } catch (failure) {
    if (failure instanceof Overtaken) return false;
    throw failure;
  }
  Object.assign(totals, counts);
  return true;
}

/** What a failure means for the requested banner, given how many pages were read before it. */
async function explain(
  { store }: PullDeps,
  { source, bannerId, tentative }: PullRequest,
  found: PullFailure,
  pages: number,
): Promise<{ failure: PullFailure; isForeign: boolean; leavesPosition: boolean }> {
  const leavesPosition = !(tentative === true && pages === 0 && isRefused(found.reason));
  if (bannerId === null) return { failure: found, isForeign: false, leavesPosition };
  if (found.reason === 'not-found' && pages === 0 && !(await isKnownBanner(store.read, source, bannerId)))
    // A mistyped banner must leave no position behind: every later run would fail on it.
    return { failure: unknownBanner(bannerId, found), isForeign: false, leavesPosition: false };
  if (await isOnlyNamedByDeliveries(store.read, source, bannerId, found))
    return { failure: foreignBanner(bannerId, found), isForeign: true, leavesPosition };
  return { failure: found, isForeign: false, leavesPosition };
}

/**
 * For a banner that was never pulled and is not configured, a 404 is an answer about the banner; so is a 400 if the
 * service returns another log.
 */
async function isOnlyNamedByDeliveries(
  read: Query,
  source: PullRequest['source'],
  bannerId: string,
  { reason }: PullFailure,
): Promise<boolean> {
  if (!isRefused(reason) || source.options.banners.includes(bannerId)) return false;
  if (reason === 'bad-request' && (await loadCompletedBanners(read, source.slug)).length === 0) return false;
  const position = await loadPosition(read, source.slug, bannerId);
  return position === null || (position.last_success_at === null && position.rows_total === 0);
}

/** Pages that may be read before the position is moved on. After a crash, they are requested again. */
const MAX_UNCOMMITTED = 20;

/**
 * Stores a page; the last batch also commits the plan that follows it. If all of its rows are known, the plan is
 * committed with a later page, unless it `mustCommit`: the position stays behind, which loses nothing.
 */
async function takePage(pull: Pull, { page, plan }: PageStep, mustCommit: boolean): Promise<'advanced' | 'superseded'> {
  const { deps, run, totals, isClaimed } = pull;
  const known = pull.expectsKnown ? await findKnown(deps, page.rows) : knowNothing(page.rows);
  const isCut = page.isCut === true;
  if (isClaimed && !mustCommit && !isCut && isAllKnown(known) && pull.uncommitted < MAX_UNCOMMITTED) {
    pull.uncommitted += 1;
    addPage(totals, page.rows, 0);
    return 'advanced';
  }
  let state = 'advanced' as 'advanced' | 'superseded';
  const claim = { isFirst: !isClaimed, carriesOn: pull.window.asOf !== null };
  const soFar = earlierOf(totals.earliest, earliestOf(page.rows));
  const earliest = soFar === pull.savedEarliest ? null : soFar;
  const placed = await appendPage(deps, page.rows, known, async (tx, outcome) => {
    const step = { plan, isCut, earliest, ...countNew(page.rows, outcome), ...claim, at: isoNow(deps.clock) };
    state = await advancePosition(tx.query, run, step);
  });
  addPage(totals, page.rows, countNew(page.rows, placed).stored);
  if (state === 'superseded') return state;
  pull.isClaimed = true;
  pull.uncommitted = 0;
  pull.savedEarliest = soFar;
  pull.expectsKnown = placed.some(({ outcome }) => outcome === 'duplicate');
  return state;
}

function earlierOf(one: string | null, other: string | null): string | null {
  return one === null || (other !== null && other < one) ? other : one;
}

function startedAt(ours: string, theirs: Date | null): string {
  return theirs === null || theirs.getTime() > Date.parse(ours) ? ours : theirs.toISOString();
}
