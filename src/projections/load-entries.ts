import { performance } from 'node:perf_hooks';
import type { Reading } from '../../receivers/read.ts';
import { actionSchema } from '../core/action.ts';
import type { SourceOptions } from '../core/source.ts';
import { isEntryKind } from '../core/vocabulary.ts';
import { createTurns } from '../jobs/event-loop.ts';
import type { OptionsInForce } from '../sources/options-in-force.ts';
import { readEntryPage } from '../store/queries/entry-pages.ts';
import type { Query } from '../store/store.ts';
import { storableFact, storableText } from './columns.ts';
import type { Position } from './position.ts';
import { type ProjectedEntry, type QuarantineReason, type Readers, readers } from './projection.ts';

/** Loads the options for reading the entries appended so far (sources/options-in-force.ts). */
export type OptionsUpTo = () => Promise<OptionsInForce>;

/** Limits of one page. */
export interface PageLimits {
  readonly entries: number;
  /** Bytes of bodies and meta; a single larger entry is still a page. */
  readonly bytes: number;
  /** How long pages are added to a transaction, milliseconds: others wait that long for the read models' write lock. */
  readonly togetherMs: number;
}

/** Which pages share a transaction. */
interface Together {
  readonly upTo?: number;
  /** Instead of {@link PageLimits.togetherMs}. */
  readonly togetherMs?: number;
  onPage?(page: LoadedPage): void;
}

/** The next entries after a position, and the position they lead to. Null at the end of the ledger. */
export interface LoadedPage {
  readonly to: number;
  /** There may be more entries after it. */
  readonly full: boolean;
  /** Without erased entries, which have nothing left to read. */
  readonly entries: readonly ProjectedEntry[];
}

/**
 * Reads pages of entries. Bodies are parsed here, outside any transaction and in slices, so that the event loop can
 * serve deliveries.
 */
export function createPageReader(query: Query, read: Readers = readers, optionsUpTo: OptionsUpTo, limits: PageLimits) {
  let ahead: {
    readonly after: number;
    readonly upTo: number;
    readonly generation: number;
    readonly page: Promise<LoadedPage | null>;
  } | null = null;

  let rereadAt = 0;
  async function loadPage(after: number, upTo: number): Promise<LoadedPage | null> {
    const page = await readEntryPage(query, after, upTo, limits);
    if (page === null) return null;
    const { rows, to, full } = page;
    // Loaded after the entries, so that it includes everything recorded before any of them.
    const options = await optionsUpTo();
    rereadAt = Math.max(rereadAt, options.rereadAt);
    const entries: ProjectedEntry[] = [];
    const turns = createTurns(SLICE_MS);
    let events = 0;
    for (const row of rows) {
      if (row.meta === null || row.body === null) continue;
      const entry = readEntry(row as ContentRow, read, options.of(row.source, row.seq));
      entries.push(entry);
      events += 1 + (entry.reading?.more?.length ?? 0);
      // A compressed body may hold far more than its bytes: the rest is the next page.
      if (events > MAX_EVENTS_IN_PAGE && row !== rows.at(-1)) return { to: Number(row.seq), full: true, entries };
      if (turns.areDue()) await turns.take();
    }
    return { to: Number(to), full, entries };
  }

  const reader = {
    /**
     * The page after a position, up to `upTo`. While it is projected, the next one is already being read; that one is
     * read again if the position's generation has changed since, as it may contain content that has been erased in the
     * meantime.
     */
    async load(from: Position, upTo: number = Number.MAX_SAFE_INTEGER): Promise<LoadedPage | null> {
      const { seq: after, generation } = from;
      const isAhead = ahead?.after === after && ahead.upTo === upTo && ahead.generation === generation;
      const kept = isAhead ? ahead?.page : null;
      ahead = null;
      // If there was nothing to read ahead, entries may have been appended since.
      const page = (await kept) ?? (await loadPage(after, upTo));
      if (page?.full && page.to < upTo) {
        const next = loadPage(page.to, upTo);
        // Avoids an unhandled rejection; the caller that asks for the page gets the error.
        next.catch(() => undefined);
        ahead = { after: page.to, upTo, generation, page: next };
      }
      return page;
    },
    /**
     * The pages to project in one transaction, beginning with one that was loaded: more follow while they are full and
     * time is left. One with an erasure is left to the next transaction, because rows of what it erased may have to be
     * removed first (placement.ts).
     */
    from(first: LoadedPage, { upTo, togetherMs = limits.togetherMs, onPage }: Together = {}) {
      const until = performance.now() + togetherMs;
      let page: LoadedPage | null = null;
      return async (after: Position): Promise<LoadedPage | null> => {
        if (page === null) page = first;
        else if (!page.full || performance.now() >= until) return null;
        else page = await reader.load(after, upTo);
        if (page === null || (page !== first && page.entries.some(({ kind }) => kind === 'erasure'))) return null;
        onPage?.(page);
        return page;
      };
    },
    /** The newest `source.reread` that applied when a page was read: earlier pages may have been read without it. */
    rereadAt: () => rereadAt,
    /** Waits for a page that is being read ahead. */
    async close(): Promise<void> {
      await ahead?.page.catch(() => undefined);
      ahead = null;
    },
  };
  return reader;
}

export type PageReader = ReturnType<typeof createPageReader>;

/** Events in the memory of one page. */
const MAX_EVENTS_IN_PAGE = 10_000;
/** Milliseconds of parsing bodies before yielding to the event loop. */
const SLICE_MS = 3;

interface ContentRow {
  readonly seq: number;
  readonly source: string;
  readonly kind: ProjectedEntry['kind'];
  readonly received_at: string;
  readonly meta: Buffer;
  readonly body: Buffer;
  readonly commitment: Buffer;
}

/** Reads one entry. Never throws: an entry that cannot be read has a fault. */
function readEntry(row: ContentRow, read: Readers, options: SourceOptions): ProjectedEntry {
  const meta = parseMeta(row.meta);
  const entry = {
    seq: row.seq,
    source: row.source,
    kind: row.kind,
    receivedAt: row.received_at,
    meta,
    body: row.body,
    commitment: row.commitment.toString('hex'),
    reading: null,
    action: null,
    fault: null,
  };
  if (row.kind === 'action') return { ...entry, ...readAction(row.body, meta) };
  if (!isEntryKind(row.kind)) {
    const reason = `the kind ${JSON.stringify(row.kind)} of the entry is unknown: run \`consent-ledger ledger verify\``;
    return { ...entry, fault: { event: guessEvent(row.body), reason: storableText(reason) } };
  }
  if (row.kind !== 'webhook' && row.kind !== 'consent-log') return entry;
  const context = { receivedAt: row.received_at, options, encoding: encodingIn(meta) };
  const reading = underBanner(readFact(row, read, context), row.kind, meta);
  return { ...entry, reading, fault: faultOf(reading) };
}

const BRACE = '{'.charCodeAt(0);

/** The Content-Encoding of a delivery, from its meta; null: not recorded. */
export function encodingOf(meta: Buffer): string | null {
  return encodingIn(parseMeta(meta));
}

function encodingIn({ headers }: ProjectedEntry['meta']): string | null {
  if (typeof headers !== 'object' || headers === null) return null;
  const encoding = (headers as Readonly<Record<string, unknown>>)['content-encoding'];
  return typeof encoding === 'string' ? encoding : null;
}

/** The first event that could not be read, with the number of those like it. */
function faultOf(reading: Reading): QuarantineReason | null {
  if (reading.more === undefined)
    return reading.outcome === 'unreadable' ? { event: reading.event, reason: reading.reason } : null;
  const readings = [reading, ...reading.more];
  const [first, ...others] = readings.filter((one) => one.outcome === 'unreadable');
  if (first === undefined) return null;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return { event: first.event, reason: `Of its ${readings.length} events: ${first.reason}${more}` };
}

function readFact(row: ContentRow, read: Readers, context: Parameters<Readers['readDelivery']>[1]): Reading {
  try {
    const reader = row.kind === 'webhook' ? read.readDelivery : read.readConsentRow;
    const reading = reader(row.body, context);
    // Only an escape can put U+0000 or half a surrogate pair into JSON text, and almost no body contains one; other forms
    // have escapes of their own.
    const isPlain = row.body[0] === BRACE && !row.body.includes('\\u') && !row.body.includes(0);
    return isPlain ? reading : storableFact(reading);
  } catch (error) {
    // A bug in a reader. The event name is still extracted, because a request must open its case all the same.
    const reason = `reader failed: ${error instanceof Error ? error.message : String(error)}`;
    return { outcome: 'unreadable', event: guessEvent(row.body), reason: storableText(reason) };
  }
}

/** A pulled row that names no banner belongs to the banner that was requested. */
function underBanner(reading: Reading, kind: ContentRow['kind'], meta: ProjectedEntry['meta']): Reading {
  const { bannerId } = meta;
  if (kind !== 'consent-log' || typeof bannerId !== 'string' || reading.outcome !== 'read') return reading;
  const { fact } = reading;
  if (fact.type !== 'decision' || fact.bannerId !== null) return reading;
  return { ...reading, fact: { ...fact, bannerId: storableText(bannerId) } };
}

function guessEvent(body: Buffer): string {
  return /"(?:event|type)"\s*:\s*"([a-z_]{1,40}\.[a-z_]{1,40})"/.exec(body.toString('utf8'))?.[1] ?? 'unknown';
}

function readAction(body: Buffer, meta: ProjectedEntry['meta']): Pick<ProjectedEntry, 'action' | 'fault'> {
  const named = meta['action'];
  const event = typeof named === 'string' ? named : null;
  try {
    const parsed = actionSchema.safeParse(JSON.parse(body.toString('utf8')));
    if (parsed.success) return { action: storableFact(parsed.data), fault: null };
    const problem = parsed.error.issues[0];
    return { action: null, fault: actionFault(event, `${problem?.path.join('.')}: ${problem?.message}`) };
  } catch (error) {
    return { action: null, fault: actionFault(event, error instanceof Error ? error.message : String(error)) };
  }
}

function actionFault(event: string | null, problem: string): QuarantineReason {
  return { event, reason: storableText(`not an action that this version knows: ${problem}`) };
}

/** Meta is written by this program; anything else in it is ignored. */
function parseMeta(bytes: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}
