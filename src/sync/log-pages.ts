import { setTimeout as delay } from 'node:timers/promises';
import { readConsentRow } from '../../receivers/read.ts';
import { isoNow } from '../core/clock.ts';
import { CodedError } from '../core/errors.ts';
import type { SourceOptions } from '../core/source.ts';
import type { NewEntry } from '../crypto/entry.ts';
import { sha256Hex } from '../crypto/hash.ts';
import { createTurns } from '../jobs/event-loop.ts';
import type { Appended, Ledger } from '../ledger/ledger.ts';
import { type IsSuppressed, loadSuppression } from '../ledger/suppression.ts';
import type { ConsentLogPage } from '../service/consent-logs.ts';
import { ServiceError } from '../service/service-error.ts';
import type { StoreTransaction } from '../store/store.ts';
import { followCursors, type PageRequest, type WalkPage, type WalkStep } from './follow-cursors.ts';
import { type Piece, periodOf } from './periods-to-read.ts';
import type { PullDeps, PullRequest } from './pull-result.ts';
import { type Asking, askInForm } from './query-form.ts';
import { createRowReader, type RowEntry, rowNamesOf } from './row.ts';

/** Whose log to read, and the page size. */
export interface LogRequest extends Pick<PullRequest, 'source' | 'bannerId' | 'pageRows' | 'signal'> {
  readonly asking: Asking;
}

/** The part of the log that is read, and the run that reads it. */
interface LogPart {
  readonly runId: string;
  readonly piece: Piece;
}

/** A page whose rows are ready to be appended. */
export interface ReadyPage extends WalkPage {
  /** From 1, within its walk. */
  readonly number: number;
  /** The cursor of the request. */
  readonly asked: string | null;
  /** Emptied when the caller asks for the next step. */
  readonly rows: RowEntry[];
  readonly serverDate: Date | null;
  /** Other large pages wait until it is done. */
  readonly isLarge: boolean;
}

/**
 * Walks part of a banner's log from a cursor, or from its beginning if null. While the caller works on a large page,
 * other walks wait with theirs. Errors: those of the client.
 */
export async function* readLogPages(
  deps: Pick<PullDeps, 'ledger' | 'clock' | 'service' | 'store'>,
  request: LogRequest,
  part: LogPart,
  cursor: string | null,
): AsyncGenerator<WalkStep<ReadyPage>, void, undefined> {
  const places: Places = { byPage: new Map(), areLarge: false };
  try {
    const steps = followCursors<FetchedLogPage, ReadyPage>({
      fetchPage: (wanted) => fetchOne(deps, request, { part, wanted }, places),
      readPage: async (page, wanted) => ({
        ...(await readRows(deps, request, { part, page, wanted })),
        isLarge: places.areLarge,
      }),
      cursor,
      signal: request.signal,
    });
    for await (const step of steps) {
      yield step;
      if (step.type === 'fault') continue;
      // The generators that passed the page on still hold it, and a walk may wait long before its next large page.
      step.page.rows.length = 0;
      leave(places, step.page.number);
    }
  } finally {
    for (const page of [...places.byPage.keys()]) leave(places, page);
  }
}

/** The places of a walk in the queue for large pages. */
interface Places {
  /** By page number: releases the place, which lets the next large page in. */
  readonly byPage: Map<number, () => void>;
  /** One page of this walk was large, so the others are requested as large too. */
  areLarge: boolean;
}

/** Releases a page's place, now or as soon as it is granted. */
function leave({ byPage }: Places, page: number): void {
  byPage.get(page)?.();
  byPage.delete(page);
}

/**
 * Size limit in bytes for pages that are read concurrently: five kilobytes for each of the 200 documented rows. Larger
 * pages are read one at a time in this process, because parsing takes several times their size in memory.
 */
const USUAL_PAGE_BYTES = 1024 * 1024;
const largePages = createGate();

type FetchedLogPage = ConsentLogPage & { readonly isCut: boolean };

/** Servers accept request lines of 16 KiB at most; cursors are usually a few hundred characters. */
const MAX_CURSOR = 8192;

async function fetchOne(
  deps: Pick<PullDeps, 'service'>,
  request: LogRequest,
  { part: { piece }, wanted: { cursor, signal, number } }: { readonly part: LogPart; readonly wanted: PageRequest },
  places: Places,
): Promise<FetchedLogPage> {
  if (cursor !== null && cursor.length > MAX_CURSOR) {
    const detail = `its cursor is longer than ${MAX_CURSOR} characters and was not sent back`;
    throw new ServiceError('bad-request', { detail, unsent: true });
  }
  const asked = { bannerId: piece.bannerId ?? request.bannerId, ...periodOf(piece), cursor };
  const limit = request.pageRows === undefined ? {} : { limit: request.pageRows };
  const fetch = (maxBytes?: number) =>
    askInForm(request.asking, { ...asked, ...limit }, (query) =>
      deps.service.fetchConsentLogPage(query, signal, maxBytes),
    );
  const fetchLarge = async () => {
    places.areLarge = true;
    // If a page is requested again, nobody reads the first response.
    leave(places, number);
    const entered = largePages.enter(signal);
    places.byPage.set(number, () => void entered.then((end) => end()).catch(() => undefined));
    await entered;
    return fetch();
  };
  const page = await (places.areLarge
    ? fetchLarge()
    : fetch(USUAL_PAGE_BYTES).catch((error: unknown) => {
        if (error instanceof ServiceError && error.kind === 'too-large') return fetchLarge();
        throw error;
      }));
  // Do not keep all of an overlong cursor either.
  const nextCursor = page.nextCursor?.slice(0, MAX_CURSOR + 1) ?? null;
  return { ...page, nextCursor, isCut: page.damage?.cursorLost === true };
}

/**
 * Milliseconds of converting rows before yielding, so that deliveries and the commit of the previous page get their
 * turn.
 */
const SLICE_MS = 0.5;

/**
 * Whether a row concerns someone whose records have been erased. A row without a time that counts is treated as new.
 */
function wasErased(isSuppressed: IsSuppressed, bytes: Buffer, { entry }: RowEntry, options: SourceOptions): boolean {
  const reading = readConsentRow(bytes, { receivedAt: entry.receivedAt, options });
  if (reading.outcome !== 'read' || reading.fact.type !== 'decision') return false;
  const { subject, occurred } = reading.fact;
  return subject !== null && occurred.counts && isSuppressed(subject, occurred.at);
}

/** Turns the rows of a page into entries; runs while the previous page is committed. */
async function readRows(
  deps: Pick<PullDeps, 'ledger' | 'clock' | 'store'>,
  request: LogRequest,
  { part, page, wanted }: { readonly part: LogPart; readonly page: FetchedLogPage; readonly wanted: PageRequest },
): Promise<Omit<ReadyPage, 'isLarge'>> {
  const { source, bannerId } = request;
  const { readRow, readUnreadable } = createRowReader(deps.ledger.keyOf, {
    source: source.slug,
    names: rowNamesOf(source.options),
    bannerId: part.piece.bannerId ?? bannerId,
    keyedBy: bannerId,
    runId: part.runId,
    page: wanted.number,
    cursorSha256: wanted.cursor === null ? null : sha256Hex(Buffer.from(wanted.cursor, 'utf8')),
    serverDate: page.serverDate,
    receivedAt: isoNow(deps.clock),
  });
  const rows: RowEntry[] = [];
  const turns = createTurns(SLICE_MS);
  const isSuppressed = page.rows.length === 0 ? null : await loadSuppression(deps.store.read, deps.ledger, source.slug);
  for (const row of page.rows) {
    const read = readRow(row);
    const isErased = isSuppressed !== null && wasErased(isSuppressed, row.bytes, read, source.options);
    rows.push(isErased ? { ...read, type: 'suppressed' } : read);
    if (turns.areDue()) await turns.take();
  }
  for (const bytes of page.damage?.unreadable ?? []) {
    rows.push(readUnreadable(bytes));
    if (turns.areDue()) await turns.take();
  }
  const { nextCursor, serverDate, isCut } = page;
  return {
    number: wanted.number,
    rows,
    nextCursor,
    serverDate,
    isCut,
    asked: wanted.cursor,
    identity: identityOf(rows),
  };
}

/** Sums the deduplication keys, which ignore volatile fields. A sum does not depend on the order of the rows. */
function identityOf(rows: readonly RowEntry[]): string | null {
  if (rows.length === 0) return null;
  const sums = new Uint32Array(16);
  for (const { entry } of rows)
    for (let place = 0; place < sums.length; place += 1)
      sums[place] = (sums[place] ?? 0) + (entry.dedupeKey[place] ?? 0);
  return sums.join(' ');
}

/** The most that goes into one append (docs/architecture.md, One append path). */
const BATCH_ENTRIES = 256;
const BATCH_BYTES = 4 * 1024 * 1024;

/** What happened to a row: appended, or left out because its subject was erased. */
export type PlacedRow = Appended | { readonly outcome: 'suppressed'; readonly seq: null };

/** What is known about a row before its page is appended; null: nothing, so it must be appended. */
type KnownRow = PlacedRow | null;

/** Which rows of a page are stored already, read without the write lock. Another process may be storing the others. */
export async function findKnown(
  { store }: Pick<PullDeps, 'store'>,
  rows: readonly RowEntry[],
): Promise<readonly KnownRow[]> {
  const kept = rows.filter(({ type }) => type !== 'suppressed');
  const seqs = kept.length === 0 ? [] : await store.findSeqs(kept.map(({ entry }) => entry));
  const next = seqs.values();
  return knowNothing(rows).map((known): KnownRow => {
    if (known !== null) return known;
    const seq = next.next().value ?? null;
    return seq === null ? null : { outcome: 'duplicate', seq };
  });
}

/** Without looking any row up. */
export function knowNothing(rows: readonly RowEntry[]): readonly KnownRow[] {
  return rows.map(({ type }) => (type === 'suppressed' ? { outcome: 'suppressed', seq: null } : null));
}

/** Whether no row needs to be appended. */
export function isAllKnown(known: readonly KnownRow[]): known is readonly PlacedRow[] {
  return known.every((one) => one !== null);
}

/** Whether the rows of a page and the entry that ends their run can be appended together, before the next large page. */
export function fitsWithEnd({ rows, isLarge }: ReadyPage): boolean {
  return rows.length < BATCH_ENTRIES && !isLarge;
}

/**
 * Appends the rows of a page that are not known, in several batches if they are large. `also` commits with the last
 * batch and receives all outcomes. Deliveries have priority: while the queue of appends is full, it waits, up to ten
 * seconds per batch.
 */
export async function appendPage(
  { store, ledger }: Pick<PullDeps, 'store' | 'ledger'>,
  rows: readonly RowEntry[],
  known: readonly KnownRow[],
  also: (tx: StoreTransaction, placed: readonly PlacedRow[]) => Promise<void>,
): Promise<readonly PlacedRow[]> {
  const place = (appended: readonly Appended[]): readonly PlacedRow[] => {
    const next = appended.values();
    return known.map((one) => one ?? (next.next().value as Appended));
  };
  const appended: Appended[] = [];
  const batches = batchesOf(rows.filter((_, index) => known[index] === null).map(({ entry }) => entry));
  const last = batches.pop();
  for (const batch of batches) appended.push(...(await appendPatiently(ledger, batch)));
  if (last === undefined) await store.transaction((tx) => also(tx, place([])));
  else {
    const earlier = [...appended];
    appended.push(...(await appendPatiently(ledger, last, (tx, outcome) => also(tx, place([...earlier, ...outcome])))));
  }
  return place(appended);
}

/** Waits while the queue of appends is full, up to ten seconds. */
export async function appendPatiently(
  ledger: Ledger,
  entries: readonly NewEntry[],
  also?: Parameters<Ledger['append']>[1],
) {
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

/** Lets one at a time through, in order of arrival. */
function createGate() {
  let last: Promise<void> = Promise.resolve();
  return {
    /** Resolves when it is the caller's turn, with a function that ends it. Errors: the signal's reason if aborted before. */
    async enter(signal: AbortSignal): Promise<() => void> {
      const before = last;
      let leave = (): void => undefined;
      last = new Promise((resolve) => {
        leave = resolve;
      });
      let onAbort = (): void => undefined;
      const aborted = new Promise<void>((resolve) => {
        onAbort = resolve;
        signal.addEventListener('abort', onAbort, { once: true });
        if (signal.aborted) resolve();
      });
      await Promise.race([before, aborted]);
      signal.removeEventListener('abort', onAbort);
      if (signal.aborted) {
        // Those behind it still wait for the one before it.
        void before.then(leave);
        signal.throwIfAborted();
      }
      return leave;
    },
  };
}
