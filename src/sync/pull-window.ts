import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import type { Action } from '../core/action.ts';
import { isoNow } from '../core/clock.ts';
import type { NewEntry } from '../core/entry.ts';
import { CodedError } from '../core/errors.ts';
import { sha256, sha256Hex } from '../core/hash.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Appended, Ledger } from '../ledger/ledger.ts';
import type { ConsentLogPage } from '../service/consent-logs.ts';
import type { Query, StoreTransaction } from '../store/store.ts';
import { isKnownBanner } from './banners.ts';
import {
  expiredTwice,
  failureOfError,
  failureOfFault,
  isCursorRefusal,
  type PullFailure,
  unknownBanner,
} from './failure.ts';
import { advancePosition, failPosition, finishPosition, type Run } from './position.ts';
import type { PullDeps, PullReport, PullRequest, PullResult, PullTotals } from './contract.ts';
import { addPage, countNew, joinTotals, noTotals, type Totals } from './totals.ts';
import { createRowReader, type RowEntry, rowNamesOf } from './row.ts';
import { type PageRequest, type WalkFault, type WalkPage, walkPages } from './walk.ts';

/** One run over one window of a banner's log. */
export interface Window {
  readonly runId: string;
  readonly from: string | null;
  readonly to: string | null;
  /** Of an interrupted run: where to go on. */
  readonly cursor: string | null;
  /** Of an interrupted run: when it began. */
  readonly asOf: string | null;
}

/** At most this much goes into one append (docs/architecture.md, The append transaction). */
const BATCH_ENTRIES = 256;
const BATCH_BYTES = 4 * 1024 * 1024;

/** A page whose rows are ready to be appended. */
interface ReadyPage extends WalkPage {
  /** The cursor that it was asked with. */
  readonly asked: string | null;
  readonly rows: readonly RowEntry[];
  readonly serverDate: Date | null;
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
  const own = noTotals();
  // New pieces of broken pages: the next run is to ask for them again.
  let newlyUnreadable = 0;
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
    const fetchPage = (wanted: PageRequest) => fetchOne(deps, request, window, wanted);
    const readPage = (page: FetchedLogPage, wanted: PageRequest) => readRows(deps, request, window, page, wanted);
    for await (const step of walkPages({ fetchPage, readPage, cursor, signal: request.signal })) {
      if (step.type === 'fault') return step.fault;
      if (!isClaimed && window.asOf === null) run = { ...run, asOf: earlierOf(began, step.page.serverDate) };
      const { state, unreadable } = await commitPage(deps, run, step.page, !isClaimed, own);
      newlyUnreadable += unreadable;
      if (state === 'superseded') return state;
      isClaimed = true;
      request.onProgress?.({ ...joinTotals(before, own), source: run.source, bannerId: run.bannerId });
    }
    return null;
  };

  try {
    const ended = await read(window.cursor).catch((error: unknown) => {
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
      const ending = { at, earliest: own.earliest, holdBack: newlyUnreadable > 0 };
      ({ watermark } = await finishPosition(tx.query, run, ending));
    });
    return { ...report(), outcome: 'finished' };
  } catch (error) {
    if (request.signal?.aborted === true) return { ...report(), outcome: 'cancelled' };
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
    await conclude('sync.failed', failure.error, async (tx, at) => {
      if (!isUnknown) await failPosition(tx.query, run, failure.error, failure.forgetCursor, at);
    });
    return { ...report(), outcome: 'failed', reason: failure.reason, error: failure.error };
  }

  /** The action and the position it speaks of commit together. */
  async function conclude(
    action: Extract<Action, { runId: string }>['action'],
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
      ...own,
      error,
    };
    await appendAction(deps.ledger, run.source, body, [action, run.source, run.bannerId, runId], at, (tx) =>
      move(tx, at),
    );
  }
}

type FetchedLogPage = ConsentLogPage & { readonly isCut: boolean };

async function fetchOne(
  deps: PullDeps,
  request: PullRequest,
  window: Window,
  wanted: PageRequest,
): Promise<FetchedLogPage> {
  const { bannerId, pageRows } = request;
  const page = await deps.service.fetchConsentLogPage(
    {
      bannerId: bannerId || null,
      from: window.from,
      to: window.to,
      cursor: wanted.cursor,
      ...(pageRows === undefined ? {} : { limit: pageRows }),
    },
    wanted.signal,
  );
  return { ...page, isCut: page.damage?.cursorLost === true };
}

/** Rows that are made entries in one go, about a third of a millisecond: deliveries and the commit of the page before come in between. */
const SLICE = 32;

/** Makes the rows of a page entries, which happens while the page before is committed. */
async function readRows(
  deps: PullDeps,
  request: PullRequest,
  window: Window,
  page: FetchedLogPage,
  wanted: PageRequest,
): Promise<ReadyPage> {
  const { source, bannerId } = request;
  const { readRow, readUnreadable } = createRowReader(deps.ledger.keyOf, {
    source: source.slug,
    names: rowNamesOf(source.options),
    bannerId: bannerId || null,
    runId: window.runId,
    page: wanted.number,
    cursorSha256: wanted.cursor === null ? null : sha256Hex(Buffer.from(wanted.cursor, 'utf8')),
    serverDate: page.serverDate,
    receivedAt: isoNow(deps.clock),
  });
  const rows: RowEntry[] = [];
  for (const row of page.rows) {
    rows.push(readRow(row));
    if (rows.length % SLICE === 0) await turn();
  }
  for (const bytes of page.damage?.unreadable ?? []) rows.push(readUnreadable(bytes));
  const { nextCursor, serverDate, isCut } = page;
  return { rows, nextCursor, serverDate, isCut, asked: wanted.cursor, identity: identityOf(rows) };
}

/** Over the deduplication keys, which leave out what is volatile. */
function identityOf(rows: readonly RowEntry[]): string | null {
  if (rows.length === 0) return null;
  return sha256(Buffer.concat(rows.map(({ entry }) => entry.dedupeKey))).toString('latin1', 0, 16);
}

/** Stores a page; its last batch carries the cursor that leads on from it. A page whose cursor was lost is asked for again. */
async function commitPage(
  deps: PullDeps,
  run: Run,
  page: ReadyPage,
  isFirst: boolean,
  counts: Totals,
): Promise<{ state: 'advanced' | 'superseded'; unreadable: number }> {
  let state: 'advanced' | 'superseded' = 'advanced';
  const advance = async (query: Query, appended: readonly Appended[]) => {
    const { stored, unreadable } = countNew(page.rows, appended);
    const cursor = page.isCut === true ? page.asked : page.nextCursor;
    state = await advancePosition(query, run, { cursor, stored, unreadable, isFirst, at: isoNow(deps.clock) });
  };
  const appended: Appended[] = [];
  const batches = batchesOf(page.rows.map(({ entry }) => entry));
  const last = batches.pop();
  for (const batch of batches) appended.push(...(await appendPatiently(deps.ledger, batch)));
  if (last === undefined) {
    await deps.store.transaction((tx) => advance(tx.query, []));
  } else {
    const earlier = [...appended];
    const also = (tx: StoreTransaction, outcome: readonly Appended[]) => advance(tx.query, [...earlier, ...outcome]);
    appended.push(...(await appendPatiently(deps.ledger, last, also)));
  }
  const { stored, unreadable } = countNew(page.rows, appended);
  addPage(counts, page.rows, stored);
  return { state, unreadable };
}

/** Deliveries go first: a pull waits while the waiting line is full, up to ten seconds. */
async function appendPatiently(ledger: Ledger, entries: readonly NewEntry[], also?: Parameters<Ledger['append']>[1]) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ledger.append(entries, also);
    } catch (error) {
      if (!(error instanceof CodedError) || error.code !== 'overloaded' || attempt === 50) throw error;
      await delay(200);
    }
  }
}

function batchesOf(entries: readonly NewEntry[]): NewEntry[][] {
  const batches: NewEntry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = entry.body.length + entry.meta.length;
    const batch = batches.at(-1);
    if (batch === undefined || batch.length === BATCH_ENTRIES || bytes + size > BATCH_BYTES) {
      batches.push([entry]);
      bytes = size;
    } else {
      batch.push(entry);
      bytes += size;
    }
  }
  return batches;
}

function earlierOf(ours: string, theirs: Date | null): string {
  return theirs === null || theirs.getTime() > Date.parse(ours) ? ours : theirs.toISOString();
}
