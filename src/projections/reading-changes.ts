import { recordsOf } from '../../receivers/discover/effects.ts';
import { parseJson } from '../core/json.ts';
import {
  changesBetween,
  decisionReadOf,
  type ReadingChange,
  type RecordRead,
  readingChanges,
  readWords,
} from '../core/reading-change.ts';
import { lastSeq } from '../store/queries/fold-position.ts';
import type { Query, Store } from '../store/store.ts';
import { createPageReader, type OptionsUpTo } from './load-entries.ts';
import { loadFoldPosition } from './position.ts';
import type { ProjectedEntry } from './projection.ts';
import { pageLimits } from './run.ts';

/** A record that this program reads differently from what the read models hold. */
export interface ChangedRecord {
  readonly seq: number;
  /** Which event of the entry, from 0. */
  readonly part: number;
  readonly source: string;
  readonly receivedAt: string;
  readonly changes: readonly ReadingChange[];
  /** As read before and now, in a few words. */
  readonly before: string;
  readonly after: string;
}

interface CompareOptions {
  readonly store: Pick<Store, 'read'>;
  /** How each entry would be read. */
  readonly optionsUpTo: OptionsUpTo;
  /** Only this source; absent: all. */
  readonly source?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Reads every delivery and row again and yields those whose choice, time, visitor or request differs from what the read models hold, in
 * ledger order; changes nothing. Entries that are not folded yet, and erased ones, are left out.
 */
export async function* changedReadings(options: CompareOptions): AsyncGenerator<ChangedRecord> {
  const { store, optionsUpTo, source, signal, onProgress } = options;
  const { read } = store;
  const pages = createPageReader(read, undefined, optionsUpTo, pageLimits({}));
  const folded = (await loadFoldPosition(read, 'projector'))?.seq ?? 0;
  const upTo = Math.min(folded, await lastSeq(read));
  try {
    for (let seq = 0; seq < upTo; ) {
      signal?.throwIfAborted();
      const page = await pages.load({ seq, generation: 0 }, upTo);
      if (page === null) break;
      const entries = page.entries.filter(
        (entry) =>
          (entry.kind === 'webhook' || entry.kind === 'consent-log') && (source ?? entry.source) === entry.source,
      );
      if (entries.length > 0) {
        const known = await loadKnown(read, entries);
        for (const entry of entries) yield* changesIn(entry, known.get(entry.seq) ?? []);
      }
      seq = page.to;
      onProgress?.(seq, upTo);
    }
  } finally {
    await pages.close();
  }
}

function* changesIn(entry: ProjectedEntry, before: readonly RecordRead[]): Generator<ChangedRecord> {
  const after = entry.reading === null ? [] : recordsOf(entry.reading);
  for (let part = 0; part < Math.max(before.length, after.length); part += 1) {
    const [was, is] = [before[part] ?? null, after[part] ?? null];
    const changes = changesBetween(was, is);
    if (changes.length === 0) continue;
    const withTime = changes.some((change) => change === 'time-changes' || change === 'time-is-found');
    const { seq, source, receivedAt } = entry;
    yield { seq, part, source, receivedAt, changes, before: readWords(was, withTime), after: readWords(is, withTime) };
  }
}

/** What the read models hold of each entry, by part. */
async function loadKnown(
  read: Query,
  entries: readonly ProjectedEntry[],
): Promise<ReadonlyMap<number, readonly RecordRead[]>> {
  const [first, last] = [entries[0]?.seq ?? 0, entries.at(-1)?.seq ?? 0];
  const known = new Map<number, RecordRead[]>();
  const put = (seq: number, part: number, record: RecordRead) => {
    const records = known.get(seq) ?? [];
    known.set(seq, records);
    while (records.length < part) records.push(null);
    records[part] = record;
  };
  const decisions = await read
    .selectFrom('decision_history')
    .select(['seq', 'part', 'state', 'purposes', 'doubts', 'occurred_at', 'occurred_basis', 'subject'])
    .where('seq', '>=', first)
    .where('seq', '<=', last)
    .where('via', '<>', 'request')
    .execute();
  for (const row of decisions) put(Number(row.seq), Number(row.part), decisionReadOf(row));
  const requests = await read
    .selectFrom('case_history')
    .select(['seq', 'part', 'details'])
    .where('seq', '>=', first)
    .where('seq', '<=', last)
    .where('actor', '=', 'service')
    .execute();
  for (const { seq, part, details } of requests)
    put(Number(seq), Number(part), { type: 'request', kind: kindIn(details) });
  return known;
}

/** The kind in the details of a case's opening or of a report under the same id. */
function kindIn(details: string): string {
  const { kind = 'unknown', furtherKinds = [] } = parseJson(details) as { kind?: string; furtherKinds?: string[] };
  return [kind, ...furtherKinds].join(', ');
}

/** Counts changed records by source and change, the worst first, with the entries of each source as `12-14,19`. */
export function createReadingSummary() {
  const counts = new Map<string, Map<ReadingChange, number>>();
  const ranges = new Map<string, { from: number; to: number }[]>();
  return {
    add({ source, seq, changes }: ChangedRecord): void {
      const ofSource = counts.get(source) ?? new Map<ReadingChange, number>();
      counts.set(source, ofSource);
      for (const change of changes) ofSource.set(change, (ofSource.get(change) ?? 0) + 1);
      const some = ranges.get(source) ?? [];
      ranges.set(source, some);
      const last = some.at(-1);
      if (last !== undefined && seq <= last.to + 1) last.to = seq;
      else some.push({ from: seq, to: seq });
    },
    sources(): readonly SourceReadings[] {
      return [...counts]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([source, found]) => {
          const some = ranges.get(source) ?? [];
          return {
            source,
            changes: readingChanges.flatMap((change) => {
              const count = found.get(change) ?? 0;
              return count === 0 ? [] : [{ change, count }];
            }),
            entries: some
              .slice(0, RANGES_KEPT)
              .map(({ from, to }) => (from === to ? String(from) : `${from}-${to}`))
              .join(','),
            isWhole: some.length <= RANGES_KEPT,
          };
        });
    },
  };
}

/** Ranges of entries that are recorded for a source: an entry of the ledger has limits. */
const RANGES_KEPT = 20_000;

/** What is read differently of one source. */
export interface SourceReadings {
  readonly source: string;
  readonly changes: readonly { readonly change: ReadingChange; readonly count: number }[];
  /** The entries, as `12-14,19`. */
  readonly entries: string;
  /** All entries are named. */
  readonly isWhole: boolean;
}
