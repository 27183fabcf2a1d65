import type { Action } from '../core/action.ts';
import { isoNow } from '../core/clock.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Appended } from '../ledger/ledger.ts';
import type { Query, StoreTransaction } from '../store/store.ts';
import { isKnownBanner, loadBannerIds, loadCompletedBanners } from './banners.ts';
import {
  failureOfError,
  failureOfFault,
  type PullFailure,
  isRefused,
  unknownBanner,
  unreachable,
  foreignBanner,
} from './failure.ts';
import { joinGaps, type Plan } from './plan.ts';
import {
  advancePosition,
  failPosition,
  finishPosition,
  loadForm,
  loadPosition,
  noteForm,
  releasePosition,
  type Run,
} from './position.ts';
import { readPlan, type ReadStep } from './read-plan.ts';
import type { Asking, RequestForm } from './request-form.ts';
import type { PullDeps, PullReport, PullRequest, PullResult, PullTotals } from './contract.ts';
import { appendPage } from './log-pages.ts';
import { addPage, countNew, earliestOf, joinTotals, noTotals, type Totals } from './totals.ts';

/** One run over one window of a banner's log. */
export interface Window {
  readonly runId: string;
  /** As the service understands them; null: from the beginning, to the end. */
  readonly from: string | null;
  readonly to: string | null;
  /** What is to be read of it. */
  readonly plan: Plan;
  /** It goes on in the place of an interrupted run. */
  readonly isResumed: boolean;
  /** Of an interrupted run: when it began. */
  readonly asOf: string | null;
  /** Of an interrupted run: the earliest row that it, or one before it, saw. */
  readonly earliest?: string | null;
}

/**
 * Reads one window to its end and says in the ledger how that ended. `before`: counts of an earlier window of the same call.
 * Errors: see pullConsentLogs.
 */
export async function pullWindow(
  deps: PullDeps,
  request: PullRequest,
  window: Window,
  before?: PullTotals,
): Promise<PullResult> {
  const own: Totals = { ...noTotals(), earliest: window.earliest ?? null };
  const began = isoNow(deps.clock);
  let run: Run = {
    source: request.source.slug,
    bannerId: request.bannerId,
    runId: window.runId,
    from: window.from,
    to: window.to,
    asOf: window.asOf ?? began,
  };
  let isClaimed = false;
  let restarted = false;
  let watermark: string | null = null;
  const report = (): PullReport => ({
    ...joinTotals(before, own),
    source: run.source,
    bannerId: run.bannerId,
    runId: run.runId,
    from: run.from,
    to: run.to,
    resumed: window.isResumed,
    restarted,
    watermark,
  });

  const form = await loadForm(deps.store.read, run.source);
  const asking: Asking = { form, cursorWorked: false, clock: deps.clock };
  let savedForm = asking.form;
  const loadBanners = async () =>
    run.bannerId === '' ? (await loadBannerIds(deps.store.read, request.source)).filter((id) => id !== '') : [];
  const reading = { ...request, asking, runId: run.runId, loadBannerIds: loadBanners };

  try {
    let { plan } = window;
    for await (const step of readPlan(deps, reading, window.plan)) {
      ({ plan } = step.type === 'fault' ? { plan } : step);
      restarted ||= plan.hasRestarted && !window.plan.hasRestarted;
      if (step.type === 'fault') return await fail(failureOfFault(step.fault));
      if (step.type === 'read') continue;
      if (!isClaimed && window.asOf === null) run = { ...run, asOf: earlierOf(began, step.page.serverDate) };
      const claim = { isFirst: !isClaimed, carriesOn: window.asOf !== null };
      const state = await commitPage(deps, run, step, claim, own);
      if (state === 'superseded') return { ...report(), outcome: 'superseded' };
      isClaimed = true;
      if (asking.form !== savedForm) {
        savedForm = asking.form;
        await noteLearnedForm(savedForm);
      }
      request.onProgress?.({ ...joinTotals(before, own), source: run.source, bannerId: run.bannerId });
    }
    if (plan.unreachable.length > 0) {
      const failure = unreachable(joinGaps(plan.unreachable));
      await conclude('sync.failed', failure.error, async (tx, at) => {
        ({ watermark } = await finishPosition(tx.query, run, plan, failure.error, at));
      });
      return { ...report(), outcome: 'failed', reason: failure.reason, error: failure.error };
    }
    await conclude('sync.finished', null, async (tx, at) => {
      ({ watermark } = await finishPosition(tx.query, run, plan, null, at));
    });
    return { ...report(), outcome: 'finished' };
  } catch (error) {
    if (request.signal?.aborted === true) {
      if (isClaimed) await deps.store.transaction((tx) => releasePosition(tx.query, run)).catch(() => undefined);
      return { ...report(), outcome: 'cancelled' };
    }
    const failure = failureOfError(error);
    if (failure === null) throw error;
    // A run whose parts are refused would begin with the same refusal for ever.
    return fail(isRefused(failure.reason) ? { ...failure, forgetCursor: true } : failure);
  }

  async function fail(found: PullFailure): Promise<PullResult> {
    // A mistyped banner must leave no position behind, which every later run would stumble over.
    const isUnknown =
      found.reason === 'not-found' &&
      own.pages === 0 &&
      !(await isKnownBanner(deps.store.read, request.source, request.bannerId));
    const isForeign = !isUnknown && (await isOnlyNamedByDeliveries(found));
    const failure = isUnknown
      ? unknownBanner(request.bannerId, found)
      : isForeign
        ? foreignBanner(run.source, run.bannerId, found)
        : found;
    const leavesNothing = isUnknown || (request.tentative === true && own.pages === 0 && isRefused(found.reason));
    await conclude('sync.failed', failure.error, async (tx, at) => {
      if (!leavesNothing) await failPosition(tx.query, run, failure.error, failure.forgetCursor, at);
    });
    if (isForeign) return { ...report(), outcome: 'unknown-banner', error: failure.error };
    return { ...report(), outcome: 'failed', reason: failure.reason, error: failure.error };
  }

  /** A 404 for a banner that was never pulled, and that nobody set, is an answer about it; so is a 400 where the service gives another log. */
  async function isOnlyNamedByDeliveries({ reason }: PullFailure): Promise<boolean> {
    if (!isRefused(reason) || run.bannerId === '' || request.source.options.banners.includes(run.bannerId))
      return false;
    if (reason === 'bad-request' && (await loadCompletedBanners(deps.store.read, run.source)).length === 0)
      return false;
    const position = await loadPosition(deps.store.read, run.source, run.bannerId);
    return position === null || (position.last_success_at === null && position.rows_total === 0);
  }

  /** So that a restart need not find out again, and everybody can see how the service was asked. */
  async function noteLearnedForm(form: RequestForm): Promise<void> {
    const at = isoNow(deps.clock);
    const body: Action = { action: 'sync.form-learned', actor: request.actor, runId: run.runId, ...form };
    const key = [body.action, run.source, run.runId, form.period, form.range, form.cursor];
    await appendAction(deps.ledger, run.source, body, key, at, (tx) => noteForm(tx.query, run.source, form));
  }

  /** The action and the position it speaks of commit together. */
  async function conclude(
    action: Extract<Action, { duplicates: number }>['action'],
    error: string | null,
    move: (tx: StoreTransaction, at: string) => Promise<void>,
  ): Promise<void> {
    const at = isoNow(deps.clock);
    const { runId, from, to } = run;
    const body: Action = {
      action,
      actor: request.actor,
      bannerId: run.bannerId || null,
      runId,
      from,
      to,
      asOf: run.asOf,
      ...own,
      error,
    };
    await appendAction(deps.ledger, run.source, body, [action, run.source, run.bannerId, runId], at, (tx) =>
      move(tx, at),
    );
  }
}

/** Stores a page; its last batch carries the plan that leads on from it. */
async function commitPage(
  deps: PullDeps,
  run: Run,
  { page, plan }: Extract<ReadStep, { type: 'page' }>,
  claim: { readonly isFirst: boolean; readonly carriesOn: boolean },
  counts: Totals,
): Promise<'advanced' | 'superseded'> {
  let state: 'advanced' | 'superseded' = 'advanced';
  const first = earliestOf(page.rows);
  const earliest = first !== null && (counts.earliest === null || first < counts.earliest) ? first : null;
  const advance = async (query: Query, appended: readonly Appended[]) => {
    const { stored, unreadable } = countNew(page.rows, appended);
    const isCut = page.isCut === true;
    const step = { plan, stored, unreadable, isCut, earliest, ...claim, at: isoNow(deps.clock) };
    state = await advancePosition(query, run, step);
  };
  let appended: readonly Appended[] = [];
  if (page.rows.length === 0) await deps.store.transaction((tx) => advance(tx.query, []));
  else appended = await appendPage(deps.ledger, page.rows, (tx, outcome) => advance(tx.query, outcome));
  addPage(counts, page.rows, countNew(page.rows, appended).stored);
  return state;
}

function earlierOf(ours: string, theirs: Date | null): string {
  return theirs === null || theirs.getTime() > Date.parse(ours) ? ours : theirs.toISOString();
}
