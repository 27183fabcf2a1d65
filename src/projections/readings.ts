import { READING_VERSION } from '../../receivers/reading-version.ts';
import type { Clock } from '../core/clock.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { READING, readSetting, writeSetting } from '../store/settings.ts';
import type { Store } from '../store/store.ts';
import type { OptionsUpTo } from './load-entries.ts';
import { loadFoldPosition } from './position.ts';
import { type ChangedRecord, changedReadings, createReadingSummary, type SourceReadings } from './reading-changes.ts';
import type { RebuildReport } from './rebuild.ts';

/** The reading in force before versions were recorded. */
const FIRST = 1;

interface ReadingOptions {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly optionsUpTo: () => OptionsUpTo;
  /** Folds every entry again. */
  readonly rebuild: (onProgress?: OnProgress, takesOver?: boolean) => Promise<RebuildReport>;
}

type OnProgress = (done: number, total: number) => void;

/** Two versions of reading: what the read models hold was read with `before`; this program reads with `now`. */
export interface PendingReading {
  readonly before: number;
  readonly now: number;
}

export interface CompareOptions {
  readonly source?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: OnProgress;
  readonly onRecord?: (record: ChangedRecord) => void;
}

export interface AdoptedReading {
  readonly sources: readonly SourceReadings[];
  readonly report: RebuildReport;
}

/**
 * What a new version of the program reads differently. Until somebody has put the new reading in force, the read models keep what was
 * read before, and no document is made. New deliveries are read with the new one.
 */
export function createReadings({ store, ledger, clock, optionsUpTo, rebuild }: ReadingOptions) {
  /** Null: the read models hold what this program reads. */
  async function pending(): Promise<PendingReading | null> {
    const before = Number((await readSetting(store, READING)) ?? FIRST);
    return before === READING_VERSION ? null : { before, now: READING_VERSION };
  }

  async function compare({ onRecord, ...wanted }: CompareOptions = {}): Promise<readonly SourceReadings[]> {
    const summary = createReadingSummary();
    for await (const record of changedReadings({ store, optionsUpTo: optionsUpTo(), ...wanted })) {
      summary.add(record);
      onRecord?.(record);
    }
    return summary.sources();
  }

  /** Records what changes, by source, in the ledger. */
  async function record(actor: string, { before, now }: PendingReading, sources: readonly SourceReadings[]) {
    const at = clock().toISOString();
    for (const { source, changes, entries, isWhole } of sources)
      await appendAction(
        ledger,
        source,
        { action: 'reading.adopted', actor, before, version: now, changes: [...changes], entries, isWhole },
        ['reading.adopted', source, String(now), at],
        at,
      );
    await appendAction(
      ledger,
      INSTALLATION,
      { action: 'reading.adopted', actor, before, version: now, changes: totalOf(sources), entries: '', isWhole: true },
      ['reading.adopted', INSTALLATION, String(now), at],
      at,
    );
  }

  return {
    pending,
    compare,
    /** Called when the installation is opened: what has never been folded is read with this version. */
    async begin(): Promise<void> {
      if ((await pending()) === null) return;
      const folded = (await loadFoldPosition(store.read, 'projector'))?.seq ?? 0;
      if (folded === 0) await writeSetting(store, READING, String(READING_VERSION));
    },
    /**
     * Puts this version's reading in force: compares, records the differences as entries, and folds everything again. Resolves with
     * the differences, or null if it is in force already.
     */
    async adopt(
      actor: string,
      wanted: Omit<CompareOptions, 'source' | 'onRecord'> & { readonly takesOver?: boolean } = {},
    ): Promise<AdoptedReading | null> {
      const waiting = await pending();
      if (waiting === null) return null;
      const { takesOver, ...compared } = wanted;
      const sources = await compare(compared);
      await record(actor, waiting, sources);
      const report = await rebuild(wanted.onProgress, takesOver);
      await writeSetting(store, READING, String(READING_VERSION));
      return { sources, report };
    },
  };
}

export type Readings = ReturnType<typeof createReadings>;

function totalOf(sources: readonly SourceReadings[]): SourceReadings['changes'][number][] {
  const counts = new Map<SourceReadings['changes'][number]['change'], number>();
  for (const { changes } of sources)
    for (const { change, count } of changes) counts.set(change, (counts.get(change) ?? 0) + count);
  return [...counts].map(([change, count]) => ({ change, count }));
}
