import { readCheckpoint } from '../crypto/checkpoint.ts';
import { newestCheckpoint } from '../ledger/stored-checkpoints.ts';
import { createReadModelCheck } from '../projections/last-check.ts';
import { createReadings } from '../projections/readings.ts';
import { compareWithRebuild, inTurn, type RebuildReport, rebuild } from '../projections/rebuild.ts';
import { createProjector, pauseFor } from '../projections/run.ts';
import { createOptionsInForce } from '../sources/options-in-force.ts';
import type { Store } from '../store/store.ts';
import { tracedFold } from '../tracing/trace.ts';
import type { Base, Identity } from './open-identity.ts';
import type { Ledgers } from './open-ledger.ts';
import { createProjectorThread } from './projector-thread.ts';

export type ReadModels = ReturnType<typeof openReadModels>;

/** Opens the projector, and what compares and rebuilds the read models. */
export function openReadModels(
  { config, log, clock, opened, foldsInThread }: Base,
  { store, keys }: Identity,
  { ledger }: Ledgers,
) {
  // Created for each fold: its cache of the ledger must not survive a change of the database from outside.
  const rules = (over: Store) => ({ store: over, optionsUpTo: createOptionsInForce(over.read), log });
  const readings = createReadings({
    store,
    ledger,
    clock,
    optionsUpTo: () => createOptionsInForce(store.read),
    rebuild: (onProgress, takesOver) => rebuildOnly(onProgress, takesOver),
  });
  const readModels = createReadModelCheck({
    store,
    pendingReading: () => readings.pending(),
    ledger,
    clock,
    sealedEntries: () => sealedEntries({ store, keys }),
    compare: (takesOver, onProgress) =>
      thread !== null
        ? thread.compare(takesOver, onProgress)
        : compareWithRebuild({ ...rules(store), takesOver, ...(onProgress ? { onProgress } : {}) }),
  });
  type OnProgress = (done: number, total: number) => void;
  const rebuildOnly = async (onProgress?: OnProgress, takesOver = true): Promise<RebuildReport> => {
    const report =
      thread !== null
        ? await thread.rebuild(takesOver, onProgress)
        : await rebuild({ ...rules(store), takesOver, ...(onProgress ? { onProgress } : {}) });
    await readModels.note(null);
    return report;
  };
  // Whatever folds everything again also puts a new reading in force, and records what changes.
  const rebuildAll = async (onProgress?: OnProgress, takesOver = true): Promise<RebuildReport> => {
    const adopted = await readings.adopt('consent-ledger', { takesOver, ...(onProgress ? { onProgress } : {}) });
    return adopted?.report ?? rebuildOnly(onProgress, takesOver);
  };
  const onMisplaced = async (reason: string) => {
    // Prevents documents until the rebuild is finished, even if the process ends before.
    await readModels.note(reason);
    await rebuildAll();
  };
  const thread = foldsInThread ? createProjectorThread({ database: config.database, log, onMisplaced }) : null;
  const projector =
    thread ??
    createProjector({ ...rules(store), onMisplaced, ...(config.tracing === null ? {} : { onFolded: tracedFold }) });
  opened.add('projector', async () => projector.close());
  ledger.pauseBy(() => pauseFor(projector.behindMs()));
  return {
    projector,
    rebuild: rebuildAll,
    /** Like rebuild, but waits for a rebuild or comparison that runs elsewhere, and starts again if another takes over. */
    rebuildInTurn: (onProgress: OnProgress, waiting: { readonly signal: AbortSignal; readonly onWait: () => void }) =>
      inTurn(store, (takesOver) => rebuildAll(onProgress, takesOver), waiting),
    /** Whether they match the ledger. */
    readModels,
    /** What this version reads differently from an earlier one. */
    readings,
    /** A projector with the same rules for another store. */
    projectorOver: (other: Store) => createProjector(rules(other)),
  };
}

async function sealedEntries({ store, keys }: Pick<Identity, 'store' | 'keys'>): Promise<number> {
  const newest = await newestCheckpoint(store.read);
  const reading = newest === null ? null : readCheckpoint(newest.note, keys.verifying);
  return reading?.outcome === 'valid' ? reading.head.size : 0;
}
