import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { isoNow } from '../core/clock.ts';
import type { NewEntry } from '../core/entry.ts';
import { CodedError } from '../core/errors.ts';
import { sha256Hex } from '../core/hash.ts';
import type { Appended, Ledger } from '../ledger/ledger.ts';
import type { ConsentLogPage } from '../service/consent-logs.ts';
import type { PullDeps, PullRequest } from './contract.ts';
import { type Asking, askInForm } from './request-form.ts';
import { ServiceError } from '../service/service-error.ts';
import { type Piece, periodOf } from './plan.ts';
import { createRowReader, type RowEntry, rowNamesOf } from './row.ts';
import { type PageRequest, type WalkPage, type WalkStep, walkPages } from './walk.ts';

/** Whose log, and how much of a page is asked for. */
export interface LogRequest extends Pick<PullRequest, 'source' | 'bannerId' | 'pageRows' | 'signal'> {
  readonly asking: Asking;
}

/** Which part of the log, and for which run. */
export interface LogPart {
  readonly runId: string;
  readonly piece: Piece;
}

/** A page whose rows are ready to be appended. */
export interface ReadyPage extends WalkPage {
  /** The cursor that it was asked with. */
  readonly asked: string | null;
  readonly rows: readonly RowEntry[];
  readonly serverDate: Date | null;
}

/** Walks over a part of a banner's log from a cursor on, null: from its beginning. Errors: those of the client. */
export function walkLog(
  deps: Pick<PullDeps, 'ledger' | 'clock' | 'service'>,
  request: LogRequest,
  part: LogPart,
  cursor: string | null,
): AsyncGenerator<WalkStep<ReadyPage>, void, undefined> {
  return walkPages<FetchedLogPage, ReadyPage>({
    fetchPage: (wanted) => fetchOne(deps, request, part, wanted),
    readPage: (page, wanted) => readRows(deps, request, part, page, wanted),
    cursor,
    signal: request.signal,
  });
}

type FetchedLogPage = ConsentLogPage & { readonly isCut: boolean };

/** A request line of 16 KiB is what servers take at most; cursors are a few hundred characters long. */
const MAX_CURSOR = 8192;

async function fetchOne(
  deps: Pick<PullDeps, 'service'>,
  request: LogRequest,
  { piece }: LogPart,
  { cursor, signal }: PageRequest,
): Promise<FetchedLogPage> {
  if (cursor !== null && cursor.length > MAX_CURSOR) {
    const detail = `its cursor is longer than ${MAX_CURSOR} characters and was not sent back`;
    throw new ServiceError('bad-request', { detail, unsent: true });
  }
  const asked = { bannerId: piece.bannerId ?? (request.bannerId || null), ...periodOf(piece), cursor };
  const limit = request.pageRows === undefined ? {} : { limit: request.pageRows };
  const page = await askInForm(request.asking, { ...asked, ...limit }, (query) =>
    deps.service.fetchConsentLogPage(query, signal),
  );
  // One that is too long is not kept whole either.
  const nextCursor = page.nextCursor?.slice(0, MAX_CURSOR + 1) ?? null;
  return { ...page, nextCursor, isCut: page.damage?.cursorLost === true };
}

/** Rows that are made entries in one go, about a third of a millisecond: deliveries and the commit of the page before come in between. */
const SLICE = 32;

/** Makes the rows of a page entries, which happens while the page before is committed. */
async function readRows(
  deps: Pick<PullDeps, 'ledger' | 'clock'>,
  request: LogRequest,
  part: LogPart,
  page: FetchedLogPage,
  wanted: PageRequest,
): Promise<ReadyPage> {
  const { source, bannerId } = request;
  const { readRow, readUnreadable } = createRowReader(deps.ledger.keyOf, {
    source: source.slug,
    names: rowNamesOf(source.options),
    bannerId: part.piece.bannerId ?? (bannerId || null),
    keyedBy: bannerId,
    runId: part.runId,
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

/** Over the deduplication keys, which leave out what is volatile; their sum, so that it is the same in whatever order the rows come. */
function identityOf(rows: readonly RowEntry[]): string | null {
  if (rows.length === 0) return null;
  const sums = new Uint32Array(16);
  for (const { entry } of rows)
    for (let place = 0; place < sums.length; place += 1)
      sums[place] = (sums[place] ?? 0) + (entry.dedupeKey[place] ?? 0);
  return sums.join(' ');
}

/** At most this much goes into one append (docs/architecture.md, The append transaction). */
const BATCH_ENTRIES = 256;
const BATCH_BYTES = 4 * 1024 * 1024;

/**
 * Appends the rows of a page, in more than one batch where they are large; `also` commits with the last of them and is told how all
 * ended. Deliveries go first: it waits while the waiting line is full, up to ten seconds a batch.
 */
export async function appendPage(
  ledger: Ledger,
  rows: readonly RowEntry[],
  also?: Parameters<Ledger['append']>[1],
): Promise<readonly Appended[]> {
  const appended: Appended[] = [];
  const batches = batchesOf(rows.map(({ entry }) => entry));
  const last = batches.pop();
  for (const batch of batches) appended.push(...(await appendPatiently(ledger, batch)));
  if (last === undefined) return appended;
  const earlier = [...appended];
  appended.push(
    ...(await appendPatiently(
      ledger,
      last,
      also === undefined ? undefined : (tx, outcome) => also(tx, [...earlier, ...outcome]),
    )),
  );
  return appended;
}

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
