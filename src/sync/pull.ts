import { randomUUID } from 'node:crypto';
import { isoNow } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import type { PullDeps, PullRequest, PullResult } from './contract.ts';
import { loadPosition, type SyncPosition } from './position.ts';
import { pullWindow, type Window } from './pull-window.ts';

/** How far before the watermark an incremental run begins. */
export const DEFAULT_LOOK_BACK_MS = 24 * 60 * 60 * 1000;

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
  if (explicit) return pullWindow(deps, request, explicitWindow(request));

  const interrupted = resumedWindow(position);
  if (interrupted === null)
    return pullWindow(deps, request, incrementalWindow(deps, request, position?.watermark ?? null));
  const resumed = await pullWindow(deps, request, interrupted);
  if (resumed.outcome !== 'finished') return resumed;
  const rest = await pullWindow(deps, request, incrementalWindow(deps, request, resumed.watermark), resumed);
  return { ...rest, resumed: true, restarted: resumed.restarted || rest.restarted };
}

function explicitWindow(request: PullRequest): Window {
  const full = request.full === true;
  return {
    runId: randomUUID(),
    from: full ? null : (request.from ?? null),
    to: full ? null : (request.to ?? null),
    cursor: null,
    asOf: null,
  };
}

/** Open at its end: a row that the service dates in the future would never be seen otherwise. */
function incrementalWindow(deps: PullDeps, request: PullRequest, watermark: string | null): Window {
  if (watermark === null) return { runId: randomUUID(), from: null, to: null, cursor: null, asOf: null };
  // A clock that was ahead once must not keep later runs from looking at the present.
  const mark = Math.min(Date.parse(watermark), Date.parse(isoNow(deps.clock)));
  const from = new Date(mark - (request.lookBackMs ?? DEFAULT_LOOK_BACK_MS)).toISOString();
  return { runId: randomUUID(), from, to: null, cursor: null, asOf: null };
}

/** Under a run id of its own: should the interrupted run still be alive somewhere, it finds itself superseded. */
function resumedWindow(position: SyncPosition | null): Window | null {
  if (position === null || position.cursor === null || position.run_as_of === null) return null;
  return {
    runId: randomUUID(),
    from: position.run_from,
    to: position.run_to,
    cursor: position.cursor,
    asOf: position.run_as_of,
  };
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
