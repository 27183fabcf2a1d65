import { actionSchema } from '../core/action.ts';
import { sha256Hex } from '../core/hash.ts';
import type { Reading } from '../core/fact.ts';
import type { SourceOptions } from '../core/source.ts';
import type { Query } from '../store/store.ts';
import type { Fault, ProjectedEntry, Readers } from './projection.ts';
import { storableFact, storableText } from './storable.ts';

/** How much is taken at a time. */
export interface PageLimits {
  readonly entries: number;
  /** Bytes of bodies and meta; one entry is taken however large it is. */
  readonly bytes: number;
}

/** The next entries behind a position, and the position that they lead to. Null at the end of the ledger. */
export interface Page {
  readonly to: number;
  /** Without the erased ones: there is nothing left to read in them. */
  readonly entries: readonly ProjectedEntry[];
}

export interface PageReader {
  /** The page behind `after`, not beyond `upTo`. */
  load(query: Query, after: number, upTo?: number): Promise<Page | null>;
}

/** How a source is set at the moment. */
export type OptionsOf = (source: string) => SourceOptions | Promise<SourceOptions>;

/** Reads pages of entries. Bodies are read here, outside any transaction and in slices that leave the event loop to deliveries. */
export function createPageReader(read: Readers, optionsOf: OptionsOf, limits: PageLimits): PageReader {
  return {
    async load(query, after, upTo = Number.MAX_SAFE_INTEGER) {
      const sizes = await query
        .selectFrom('entries')
        .select((eb) => ['seq', eb.fn<number | null>('length', ['body']).as('body'), eb.fn<number | null>('length', ['meta']).as('meta')])
        .where('seq', '>', after)
        .where('seq', '<=', upTo)
        .orderBy('seq')
        .limit(limits.entries)
        .execute();
      let to = 0;
      let bytes = 0;
      for (const size of sizes) {
        bytes += (size.body ?? 0) + (size.meta ?? 0);
        if (to !== 0 && bytes > limits.bytes) break;
        to = size.seq;
      }
      if (to === 0) return null;
      const rows = await query
        .selectFrom('entries')
        .select(['seq', 'source', 'kind', 'received_at', 'meta', 'body'])
        .where('seq', '>', after)
        .where('seq', '<=', to)
        .orderBy('seq')
        .execute();
      const options = new Map<string, SourceOptions>();
      const entries: ProjectedEntry[] = [];
      let sliceEnds = performance.now() + SLICE_MS;
      for (const row of rows) {
        if (row.meta === null || row.body === null) continue;
        let option = options.get(row.source);
        if (option === undefined) options.set(row.source, (option = await optionsOf(row.source)));
        entries.push(readEntry({ ...row, meta: row.meta, body: row.body }, read, option));
        if (performance.now() < sliceEnds) continue;
        await new Promise((resolve) => setImmediate(resolve));
        sliceEnds = performance.now() + SLICE_MS;
      }
      return { to, entries };
    },
  };
}

/** How long bodies are read before the event loop has its turn. */
const SLICE_MS = 3;

interface ContentRow {
  readonly seq: number;
  readonly source: string;
  readonly kind: ProjectedEntry['kind'];
  readonly received_at: string;
  readonly meta: Buffer;
  readonly body: Buffer;
}

/** Reads one entry. Never throws: what cannot be read carries a fault. */
export function readEntry(row: ContentRow, read: Readers, options: SourceOptions): ProjectedEntry {
  const meta = parseMeta(row.meta);
  const entry = {
    seq: row.seq,
    source: row.source,
    kind: row.kind,
    receivedAt: row.received_at,
    meta,
    body: row.body,
    bodySha256: sha256Hex(row.body),
    reading: null,
    action: null,
    fault: null,
  };
  if (row.kind === 'action') return { ...entry, ...readAction(row.body, meta) };
  if (row.kind !== 'webhook' && row.kind !== 'consent-log') return entry;
  const reading = underBanner(readFact(row, read, { receivedAt: row.received_at, options }), row.kind, meta);
  const fault = reading.outcome === 'unreadable' ? { event: reading.event, reason: reading.reason } : null;
  return { ...entry, reading, fault };
}

function readFact(row: ContentRow, read: Readers, context: Parameters<Readers['readDelivery']>[1]): Reading {
  try {
    const reader = row.kind === 'webhook' ? read.readDelivery : read.readConsentRow;
    return storableFact(reader(row.body, context));
  } catch (error) {
    // A bug of a reader. The event's name is still looked for, because a request must open its case all the same.
    const reason = `reader failed: ${error instanceof Error ? error.message : String(error)}`;
    return { outcome: 'unreadable', event: guessEvent(row.body), reason: storableText(reason) };
  }
}

/** A pulled row that names no banner belongs to the banner it was asked for. */
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

function actionFault(event: string | null, problem: string): Fault {
  return { event, reason: storableText(`not an action that this version knows: ${problem}`) };
}

/** Meta is written by this program; anything else in it is treated as saying nothing. */
function parseMeta(bytes: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
