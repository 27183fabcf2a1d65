import { randomUUID } from 'node:crypto';
import { isoNow } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import type { PullDeps, PullRequest, PullResult } from './contract.ts';
import { type Piece, planOf } from './plan.ts';
import { gapsOfPosition, isBeyond, loadPosition, planOfPosition, readToOf, type SyncPosition } from './position.ts';
import { pullWindow, type Window } from './pull-window.ts';

/** How far before the watermark an incremental run begins. */
const DEFAULT_LOOK_BACK_MS = 24 * 60 * 60 * 1000;

/**
 * Pulls the consent log of one banner into the ledger (docs/service.md §4.5). Each page is committed together with the cursor
 * that leads on from it, so a run that was interrupted anywhere goes on where it stopped; rows that come twice are
 * stored once. An interrupted run is ended first, and what is new since then follows in the same call.
 * Errors: StoreUnavailable; CodedError `overloaded` when the waiting line stays full; UsageError for dates that are none.
 */
export async function pullConsentLogs(deps: PullDeps, request: PullRequest): Promise<PullResult> {
  assertDates(request);
  const explicit = request.full === true || request.from !== undefined || request.to !== undefined;
  const position = await loadPosition(deps.store.read, request.source.slug, request.bannerId);
  if (explicit) return pullWindow(deps, request, explicitWindow(request, gapsOfPosition(position)));

  const interrupted = resumedWindow(position);
  if (interrupted === null) return pullWindow(deps, request, incrementalWindow(deps, request, position));
  const resumed = await pullWindow(deps, request, interrupted);
  if (resumed.outcome !== 'finished') return resumed;
  const ended = await loadPosition(deps.store.read, request.source.slug, request.bannerId);
  const rest = await pullWindow(deps, request, incrementalWindow(deps, request, ended), resumed);
  return { ...rest, resumed: true, restarted: resumed.restarted || rest.restarted };
}

function explicitWindow(request: PullRequest, gaps: readonly Piece[]): Window {
  const full = request.full === true;
  const period = { from: full ? null : withOffset(request.from), to: full ? null : withOffset(request.to) };
  // All of it is read again, and what is missing afterwards is found anew.
  const isAll = period.from === null && period.to === null;
  return newWindow(period, isAll ? {} : { left: gaps });
}

function newWindow(period: Pick<Window, 'from' | 'to'>, gaps: Parameters<typeof planOf>[1]): Window {
  return { ...period, runId: randomUUID(), plan: planOf(period, gaps), isResumed: false, asOf: null };
}

/** Gaps tried again in one run. */
const GAPS_AGAIN = 20;

/**
 * Open at its end: a row that the service dates in the future would never be seen otherwise. Everything, where no row was ever there: to ask for
 * all of nothing costs no more, and what the service shows only later is found. Everything, too, where the place lies in the future: the
 * clock that set it was wrong, and nobody knows by how much.
 */
function incrementalWindow(deps: PullDeps, request: PullRequest, position: SyncPosition | null): Window {
  const readTo = readToOf(position);
  if (readTo === null || position?.rows_total === 0 || isBeyond(readTo, deps.clock()))
    return newWindow({ from: null, to: null }, {});
  const mark = Math.min(Date.parse(readTo), Date.parse(isoNow(deps.clock)));
  const from = new Date(mark - (request.lookBackMs ?? DEFAULT_LOOK_BACK_MS)).toISOString();
  // The last of them were tried longest ago.
  const gaps = gapsOfPosition(position);
  return newWindow({ from, to: null }, { again: gaps.slice(0, GAPS_AGAIN), left: gaps.slice(GAPS_AGAIN) });
}

/**
 * Under a run id of its own: should the interrupted run still be alive somewhere, it finds itself superseded. Under the same, where all is read
 * and only the end is missing: whichever process notes it first has noted it.
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

/** A time without an offset is taken as UTC, whatever this machine's time zone, and said so to the service; a date stays a date. */
function withOffset(time: string | undefined): string | null {
  if (time === undefined || /^\d{4}-\d\d-\d\d$/.test(time) || /(?:Z|[+-]\d\d:?\d\d)$/i.test(time)) return time ?? null;
  return new Date(`${time.replace(' ', 'T')}Z`).toISOString();
}

function assertDates({ from, to, full }: PullRequest): void {
  const problems: string[] = [];
  for (const [name, value] of [
    ['from', from],
    ['to', to],
  ] as const) {
    if (value !== undefined && (!/^\d{4}-\d\d-\d\d/.test(value) || Number.isNaN(Date.parse(value)))) {
      problems.push(`${name} is not an ISO 8601 date: give it as 2026-07-01 or 2026-07-01T12:00:00Z.`);
    }
  }
  if (problems.length === 0 && from !== undefined && to !== undefined && Date.parse(from) > Date.parse(to)) {
    problems.push('from is later than to: exchange them.');
  }
  if (full === true && (from !== undefined || to !== undefined))
    problems.push('full pulls everything: leave out from and to, or full.');
  if (problems.length > 0) throw new UsageError(problems);
}
