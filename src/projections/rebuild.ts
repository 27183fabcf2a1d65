import { setTimeout as delay } from 'node:timers/promises';
import { CodedError } from '../core/errors.ts';
import { findPositionFault, type PositionFault } from '../store/queries/fold-position.ts';
import type { Store, StoreTransaction } from '../store/store.ts';
import { advance, foldPage, ProjectionFailure, type Target, writeAll } from './advance.ts';
import { type Comparison, createComparison, type Differences } from './differences.ts';
import { allProjections } from './index.ts';
import { createPageReader, type PageReader } from './load-entries.ts';
import {
  correctPosition,
  loadFoldPosition,
  movePosition,
  nextGeneration,
  type Position,
  projectedEntries,
  startPosition,
} from './position.ts';
import { type ProjectorOptions, pageLimits } from './run.ts';
import { createShadows, dropShadows, emptyShadows, overShadows, shadowName } from './shadow.ts';
import { historyNames } from './tables.ts';

interface RebuildOptions extends Omit<ProjectorOptions, 'pollMs' | 'lingerMs'> {
  /** Whether to end a rebuild that is running elsewhere, the default. If not, this one rejects with CodedError `conflict`. */
  readonly takesOver?: boolean;
  readonly onProgress?: (done: number, total: number) => void;
  /** Awaited between two transactions of entries. */
  readonly giveWay?: () => Promise<void>;
}

/** What differed from the live tables. */
export interface RebuildReport extends Differences {
  /** Entries up to this seq were projected again. */
  readonly seq: number;
  /** What was wrong with the position of the live tables; null: nothing. */
  readonly position: PositionFault | null;
  /** Where an index of the live tables did not match its rows, in phrases. */
  readonly indexes: readonly string[];
}

/**
 * Projects all entries again into shadow tables while the live ones stay in use and up to date; then, in one
 * transaction at the same position of both, writes what differs into the live tables. If nothing differs, nothing is
 * written. Rejects with CodedError `conflict` if another rebuild was started in the meantime; that one continues
 * instead.
 */
export function rebuild(options: RebuildOptions): Promise<RebuildReport> {
  return projectAgain(options, true);
}

/** Like rebuild, but only reports whether the live tables match the ledger, and does not change them. */
export function compareWithRebuild(options: RebuildOptions): Promise<RebuildReport> {
  return projectAgain(options, false);
}

async function projectAgain(options: RebuildOptions, replace: boolean): Promise<RebuildReport> {
  // The comparison reads tables by their keys, pages and documents through indexes: one that lacks rows would hide them.
  const indexes = await options.store.indexFaults('read-models');
  if (replace && indexes.length > 0) await options.store.reindexReadModels();
  for (let position: PositionFault | null = null; ; ) {
    const projected = await projectOnce(options, replace);
    position ??= projected.position;
    if ('seq' in projected) return { ...projected, position, indexes };
  }
}

/**
 * Resolves without a report if a source was read again during the replay, so only the later entries were read with its
 * new options.
 */
async function projectOnce(
  options: RebuildOptions,
  replace: boolean,
): Promise<Omit<RebuildReport, 'indexes'> | Pick<RebuildReport, 'position'>> {
  const { store } = options;
  const comparison = createComparison(store.read);
  const target: Target = {
    store,
    state: overShadows,
    position: 'rebuild',
    tableName: shadowName,
    onWrite: (write) => comparison.written(write),
  };
  const pages = createPageReader(store.read, options.read, options.optionsUpTo, pageLimits(options));
  const { started, position } = await begin(store, replace, options.takesOver ?? true);
  try {
    const { rereadAt } = await options.optionsUpTo();
    let at = started;
    for (let attempt = 0; ; attempt += 1) {
      at = await replay(options, target, pages, at);
      if (pages.rereadAt() > rereadAt) return { position };
      await comparison.compareUpTo(at.seq);
      const finished = await finish(
        options,
        { target, pages, from: at },
        { comparison, replace, maxPages: 2 ** attempt, rereadAt },
      );
      if (finished !== null) return { ...finished, position };
    }
  } finally {
    await pages.close();
    await cleanUp(store, started);
  }
}

/**
 * How often to check a rebuild or comparison that runs elsewhere, and how long it may make no progress before it counts
 * as dead, in milliseconds.
 */
const LOOK_MS = 250;
const STALLED_MS = 15_000;

/**
 * Does `work` (a rebuild or comparison) once none runs elsewhere: calls it again as long as it rejects with CodedError
 * `conflict`, for at most `patienceMs`. `takesOver`: the other one counts as dead.
 */
export async function inTurn<T>(
  store: Pick<Store, 'read'>,
  work: (takesOver: boolean) => Promise<T>,
  { patienceMs = Number.POSITIVE_INFINITY, signal, onWait }: InTurnOptions = {},
): Promise<T> {
  let seen = '';
  let stalled = 0;
  for (let waited = 0; ; waited += LOOK_MS) {
    try {
      return await work(stalled >= STALLED_MS);
    } catch (error) {
      if (!(error instanceof CodedError && error.code === 'conflict') || waited >= patienceMs) throw error;
    }
    onWait?.();
    await delay(LOOK_MS, undefined, signal === undefined ? {} : { signal });
    const position = JSON.stringify(await loadFoldPosition(store.read, 'rebuild'));
    stalled = position === seen ? stalled + LOOK_MS : 0;
    seen = position;
  }
}

interface InTurnOptions {
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
  /** Called before each wait. */
  readonly onWait?: () => void;
}

/** Creates empty shadow tables. A rebuild still running elsewhere finds a new generation and stops. */
function begin(
  store: Store,
  replace: boolean,
  takesOver: boolean,
): Promise<{ readonly started: Position; readonly position: PositionFault | null }> {
  return store.foldTransaction(async (tx) => {
    if (!takesOver && (await loadFoldPosition(tx.query, 'rebuild')) !== null)
      throw new CodedError('conflict', 'The read models are being rebuilt or compared elsewhere.');
    await startPosition(tx, 'projector');
    const position = replace ? await correctPosition(tx, historyNames) : await findPositionFault(tx.query);
    await tx.query.deleteFrom('fold_positions').where('name', '=', 'rebuild').execute();
    await startPosition(tx, 'rebuild');
    await nextGeneration(tx, 'rebuild');
    await createShadows(tx.query);
    return { started: (await loadFoldPosition(tx.query, 'rebuild')) as Position, position };
  });
}

/**
 * Drops the shadow tables, unless another rebuild is filling them now. Long histories are first emptied in parts,
 * because dropping a large table overwrites all of it while appends wait.
 */
async function cleanUp(store: Store, started: Position): Promise<void> {
  const ours = async (tx: StoreTransaction) =>
    (await loadFoldPosition(tx.query, 'rebuild'))?.generation === started.generation;
  const last = (await loadFoldPosition(store.read, 'rebuild'))?.seq ?? 0;
  for (let upTo = EMPTIED; upTo < last; upTo += EMPTIED) {
    await store.foldTransaction(async (tx) => {
      if (await ours(tx)) await emptyShadows(tx.query, upTo);
    });
  }
  await store.foldTransaction(async (tx) => {
    if (!(await ours(tx))) return;
    await dropShadows(tx.query);
    // A position row exists only during a rebuild; the generation is kept.
    await tx.query.deleteFrom('fold_positions').where('name', '=', 'rebuild').execute();
  });
}

/** Seqs whose rows are deleted in one transaction. */
const EMPTIED = 20_000;

/** Projects into the shadow tables until the live position is reached. */
async function replay(options: RebuildOptions, target: Target, pages: PageReader, from: Position): Promise<Position> {
  const { store, log = quiet, onProgress } = options;
  const projections = options.projections ?? allProjections;
  const live = await projectedEntries(store.read);
  let at = from;
  while (at.seq < live) {
    const first = await pages.load(at, live);
    if (first === null) throw new Error(`the ledger ends at ${at.seq}, before the position ${live} of the projector`);
    const reached = await advance({ target, projections, log }, pages.from(first, { upTo: live }), at);
    if (reached === null) throw takenOver();
    at = { ...at, seq: reached };
    onProgress?.(at.seq, live);
    if (at.seq < live) await options.giveWay?.();
  }
  return at;
}

/** State of the last step of a rebuild. */
interface Finishing {
  readonly comparison: Comparison;
  readonly replace: boolean;
  /** Pages that may be projected under the write lock. Doubles with every attempt, so that the end is reached under any load. */
  readonly maxPages: number;
  /** The newest `source.reread` when this one began. */
  readonly rereadAt: number;
}

/**
 * The last step, under the write lock so that the live position is fixed: projects the last entries, compares the rest,
 * and replaces what differs. Null if the live projector is too far ahead; then replay again.
 */
async function finish(
  options: RebuildOptions,
  { target, pages, from }: { readonly target: Target; readonly pages: PageReader; readonly from: Position },
  finishing: Finishing,
): Promise<Omit<RebuildReport, 'position' | 'indexes'> | null> {
  const projections = options.projections ?? allProjections;
  try {
    return await options.store.foldTransaction(async (tx) => {
      const live = await projectedEntries(tx.query);
      let at = from.seq;
      for (let pagesLeft = finishing.maxPages; at < live; pagesLeft -= 1) {
        const page = pagesLeft > 0 ? await pages.load({ ...from, seq: at }, live) : null;
        if (page === null) throw new FurtherAhead();
        await writeAll(tx, target, await foldPage(target.state(tx.query), projections, page.entries));
        at = page.to;
      }
      // The replay then begins again.
      if (pages.rereadAt() > finishing.rereadAt) throw new FurtherAhead();
      if (!(await movePosition(tx, 'rebuild', from, at))) throw takenOver();
      const found = await finishing.comparison.finish(tx, finishing.replace);
      // The live projector may be folding over the old rows right now: its batch must fail and be folded again.
      if (finishing.replace && found.differences.length > 0) await nextGeneration(tx, 'projector');
      return { seq: at, ...found };
    });
  } catch (error) {
    // After a projection failure, replaying finds the entry that caused it.
    if (error instanceof FurtherAhead || error instanceof ProjectionFailure) return null;
    throw error;
  }
}

/** The live projector is further ahead than may be projected under the write lock. */
class FurtherAhead extends Error {}

function takenOver(): CodedError {
  return new CodedError('conflict', 'Another rebuild has started and continues in place of this one.');
}

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
