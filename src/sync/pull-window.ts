import type { Action } from '../core/action.ts';
import { isoNow } from '../core/clock.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Appended } from '../ledger/ledger.ts';
import type { Query, StoreTransaction } from '../store/store.ts';
import { isKnownBanner } from './banners.ts';
import {
  expiredTwice,
  failureOfError,
  failureOfFault,
  isCursorRefusal,
  type PullFailure,
  isRefused,
  unknownBanner,
} from './failure.ts';
import {
  advancePosition,
  failPosition,
  finishPosition,
  READ_TO_THE_END,
  releasePosition,
  type Run,
} from './position.ts';
import type { PullDeps, PullReport, PullRequest, PullResult, PullTotals } from './contract.ts';
import { appendPage, type LogWindow, type ReadyPage, walkLog } from './log-pages.ts';
import { addPage, countNew, earliestOf, joinTotals, noTotals, type Totals } from './totals.ts';
import type { WalkFault } from './walk.ts';

/** One run over one window of a banner's log. */
export interface Window extends LogWindow {
  /** Of an interrupted run: where to go on; READ_TO_THE_END: nowhere, only its end is missing. */
  readonly cursor: string | null;
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
    resumed: window.cursor !== null,
    restarted,
    watermark,
  });

  /** Reads from a cursor on; what it returns is why it could not read to the end. */
  const read = async (cursor: string | null): Promise<WalkFault | 'superseded' | null> => {
    for await (const step of walkLog(deps, request, window, cursor)) {
      if (step.type === 'fault') return step.fault;
      if (!isClaimed && window.asOf === null) run = { ...run, asOf: earlierOf(began, step.page.serverDate) };
      const claim = { isFirst: !isClaimed, carriesOn: window.asOf !== null };
      const state = await commitPage(deps, run, step.page, claim, own);
      if (state === 'superseded') return state;
      isClaimed = true;
      request.onProgress?.({ ...joinTotals(before, own), source: run.source, bannerId: run.bannerId });
    }
    return null;
  };

  try {
    const isRead = window.cursor === READ_TO_THE_END;
    const ended = await (isRead ? Promise.resolve(null) : read(window.cursor)).catch((error: unknown) => {
      // The first request of a new window has no cursor that could have expired.
      if (!isCursorRefusal(error) || (own.pages === 0 && window.cursor === null)) throw error;
      restarted = true;
      const pagesBefore = own.pages;
      return read(null).catch((again: unknown) => {
        if (isCursorRefusal(again) && own.pages > pagesBefore) return expiredTwice;
        throw again;
      });
    });
    if (ended === 'superseded') return { ...report(), outcome: 'superseded' };
    if (ended !== null) return await fail('error' in ended ? ended : failureOfFault(ended));
    await conclude('sync.finished', null, async (tx, at) => {
      ({ watermark } = await finishPosition(tx.query, run, at));
    });
    return { ...report(), outcome: 'finished' };
  } catch (error) {
    if (request.signal?.aborted === true) {
      if (isClaimed) await deps.store.transaction((tx) => releasePosition(tx.query, run)).catch(() => undefined);
      return { ...report(), outcome: 'cancelled' };
    }
    const failure = failureOfError(error);
    if (failure === null) throw error;
    return fail(failure);
  }

  async function fail(found: PullFailure): Promise<PullResult> {
    // A mistyped banner must leave no position behind, which every later run would stumble over.
    const isUnknown =
      found.reason === 'not-found' &&
      own.pages === 0 &&
      !(await isKnownBanner(deps.store.read, request.source, request.bannerId));
    const failure = isUnknown ? unknownBanner(request.bannerId, found) : found;
    const leavesNothing = isUnknown || (request.tentative === true && own.pages === 0 && isRefused(found.reason));
    await conclude('sync.failed', failure.error, async (tx, at) => {
      if (!leavesNothing) await failPosition(tx.query, run, failure.error, failure.forgetCursor, at);
    });
    return { ...report(), outcome: 'failed', reason: failure.reason, error: failure.error };
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

/** Stores a page; its last batch carries the cursor that leads on from it. A page whose cursor was lost is asked for again. */
async function commitPage(
  deps: PullDeps,
  run: Run,
  page: ReadyPage,
  claim: { readonly isFirst: boolean; readonly carriesOn: boolean },
  counts: Totals,
): Promise<'advanced' | 'superseded'> {
  let state: 'advanced' | 'superseded' = 'advanced';
  const first = earliestOf(page.rows);
  const earliest = first !== null && (counts.earliest === null || first < counts.earliest) ? first : null;
  const advance = async (query: Query, appended: readonly Appended[]) => {
    const { stored, unreadable } = countNew(page.rows, appended);
    const isCut = page.isCut === true;
    const cursor = isCut ? page.asked : (page.nextCursor ?? READ_TO_THE_END);
    const step = { cursor, stored, unreadable, isCut, earliest, ...claim, at: isoNow(deps.clock) };
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
