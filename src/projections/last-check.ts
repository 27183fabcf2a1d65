import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { PositionFault } from '../store/queries/fold-position.ts';
import { readSetting, UNFINISHED_ERASURE, writeSetting } from '../store/settings.ts';
import type { Store } from '../store/store.ts';
import { inTurn, type RebuildReport } from './rebuild.ts';

const SETTING = 'read_models_checked';

/** In ledgers up to this many entries (a second or two of computing), every document is preceded by its own comparison. */
const FEW_ENTRIES = 10_000;
/** In larger ledgers, a comparison without differences from the last day is enough: the schedule makes one every night. */
const VALID_HOURS = 25;
/** How long to wait for another process's comparison, milliseconds. */
const PATIENCE_MS = 600_000;

const storedSchema = z.object({ at: z.string(), found: z.string().nullable(), mac: z.string() });

interface ReadModelCheckOptions {
  readonly store: Store;
  readonly ledger: Pick<Ledger, 'keyOf'>;
  readonly clock: Clock;
  /**
   * Entries under the newest checkpoint, 0 if its signature is not valid. Rows say nothing about the size of the ledger:
   * one forged entry with a high number would make it a large one.
   */
  readonly sealedEntries: () => Promise<number>;
  /** Rejects with CodedError `conflict` if another one is running, unless it takes over. */
  readonly compare: (takesOver: boolean, onProgress?: (done: number, total: number) => void) => Promise<RebuildReport>;
  /** Whether the read models still hold what an earlier version of the program read (readings.ts): they then differ from what this one reads. */
  readonly pendingReading: () => Promise<unknown>;
}

/**
 * Compares the read models with the ledger and stores the result with a MAC, so that someone who can only write to the
 * database cannot fake a comparison.
 */
export function createReadModelCheck(options: ReadModelCheckOptions) {
  const { store, ledger, clock, sealedEntries, compare, pendingReading } = options;
  const macOf = (at: string, found: string | null) =>
    ledger.keyOf(SETTING, at, found === null ? 'sound' : `differs: ${found}`).toString('hex');
  let running: Promise<RebuildReport> | null = null;

  async function last(): Promise<{ readonly at: string; readonly found: string | null } | null> {
    const text = await readSetting(store, SETTING);
    if (text === null) return null;
    try {
      const { at, found, mac } = storedSchema.parse(JSON.parse(text));
      return mac === macOf(at, found) ? { at, found } : null;
    } catch {
      return null;
    }
  }

  async function note(found: string | null): Promise<void> {
    const at = clock().toISOString();
    await writeSetting(store, SETTING, JSON.stringify({ at, found, mac: macOf(at, found) }));
  }

  async function compareAndNote(...wanted: Parameters<typeof compare>): Promise<RebuildReport> {
    const report = await compare(...wanted);
    // Rows that an earlier version read do differ: a comparison says something only once this version's reading is in force.
    if ((await pendingReading()) === null) await note(textOf(report));
    return report;
  }

  /**
   * Runs one comparison at a time in this process, and waits for one that another process is running. Returns the
   * differences as text.
   */
  async function checkShared(): Promise<string | null> {
    const begun = clock().toISOString();
    let isFirst = true;
    return inTurn(
      store,
      async (takesOver) => {
        const other = isFirst ? null : await last();
        isFirst = false;
        if (other !== null && other.at >= begun) return other.found;
        running ??= compareAndNote(takesOver).finally(() => {
          running = null;
        });
        return textOf(await running);
      },
      { patienceMs: PATIENCE_MS },
    );
  }

  return {
    check: (onProgress?: (done: number, total: number) => void) => compareAndNote(true, onProgress),
    note,
    /** The last comparison and its differences; null if there was none or it was forged. */
    last,
    /** Before a document is made: compares if due, and describes what is wrong in a sentence. */
    async fault(): Promise<string | null> {
      if ((await pendingReading()) !== null) return WAITS_FOR_READING;
      const known = await last();
      const age = known === null ? Number.POSITIVE_INFINITY : clock().getTime() - Date.parse(known.at);
      const isFresh = known?.found === null && age >= 0 && age < VALID_HOURS * 3_600_000;
      const found = isFresh && (await sealedEntries()) > FEW_ENTRIES ? null : await checkShared();
      if (found !== null && (await readSetting(store, UNFINISHED_ERASURE)) !== null) return WAITS_FOR_ERASURE;
      return found === null
        ? null
        : `Rows of the read models differ from the ledger: ${found}. Nothing was produced. Run \`consent-ledger ledger rebuild --check\` to list them, then \`consent-ledger ledger verify\` and \`consent-ledger ledger rebuild\`.`;
    },
  };
}

/** Why no document is made while the read models hold an earlier reading. */
const WAITS_FOR_READING =
  'This version of the program reads some earlier records differently, and the list of them has not been approved yet. Nothing was produced. An admin finds it on Today (/readings, or `consent-ledger ledger readings`), and puts the new reading in force there.';

/** Why no document is made while sums over erased entries are still in the read models. */
const WAITS_FOR_ERASURE =
  'An erasure is not finished: the read models have not been folded again without what was erased. Nothing was produced. Try again in a few minutes. If nobody is erasing any more, run `consent-ledger ledger erase --finish` first.';

/** The differences, as `table (rows), …`; null if there are none. */
function textOf({ counts, position, indexes }: RebuildReport): string | null {
  const tables = Object.entries(counts).map(([table, count]) => `${table} (${count})`);
  if (position !== null) tables.push(`position (${wordOf(position)})`);
  if (indexes.length > 0) tables.push(`indexes (${indexes.length})`);
  return tables.length === 0 ? null : tables.join(', ');
}

function wordOf(fault: PositionFault): string {
  switch (fault.what) {
    case 'ahead':
      return `${fault.by} ahead`;
    case 'set-back':
      return `set back by ${fault.rows - fault.at}`;
    case 'not-held':
      return `at ${fault.at}, which is missing`;
  }
}
