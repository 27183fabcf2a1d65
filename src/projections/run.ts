import { performance } from 'node:perf_hooks';
import { StoreUnavailable } from '../core/errors.ts';
import { knownEvents } from '../core/vocabulary.ts';
import { lastSeq } from '../store/queries/fold-position.ts';
import type { Store, StoreTransaction } from '../store/store.ts';
import type { Fold } from '../tracing/trace.ts';
import { advance, type Target } from './advance.ts';
import { allProjections } from './index.ts';
import { createPageReader, type OptionsUpTo, type PageLimits } from './load-entries.ts';
import { createPlacementCheck, type OnMisplaced } from './placement.ts';
import { loadFoldPosition, type Position, startPosition } from './position.ts';
import type { ProjectedEntry, Projection, ProjectorLog, Readers } from './projection.ts';

export interface ProjectorOptions {
  readonly store: Store;
  /** Replaces the real readers in tests whose bodies state their facts. */
  readonly read?: Readers;
  readonly optionsUpTo: OptionsUpTo;
  readonly log?: ProjectorLog;
  /** Entries that are read and folded at once, default 2000. */
  readonly batchSize?: number;
  /** Bytes of them, default 4 MiB. */
  readonly batchBytes?: number;
  /** How long full pages share one transaction, milliseconds, default 500; three times as long if far behind. */
  readonly togetherMs?: number;
  /** How often to look at the ledger unprompted, milliseconds, default 1000: other processes append too. */
  readonly pollMs?: number;
  /** How long a run waits under load for its batch to fill, milliseconds, default 25: each transaction costs a sync to disk. */
  readonly lingerMs?: number;
  /** See {@link createPlacementCheck}. */
  readonly onMisplaced?: OnMisplaced;
  /**
   * Starts measuring how busy the receiver of deliveries is, and returns a function that gives the share, 0 to 1.
   * Default: the event loop of this thread.
   */
  readonly watchLoad?: () => () => number;
  /** Called when this process finds or moves the position, or when the pause of appends ({@link pauseFor}) changes. */
  readonly onReached?: (seq: number, behindMs: number) => void;
  /** Called with each batch once it is committed. */
  readonly onFolded?: (fold: Fold) => void;
  /** Replaces the list of all read models, for tests. */
  readonly projections?: readonly Projection[];
}

/** Share of time that the event loop is busy without the projector, above which deliveries take precedence. */
export const BUSY = 0.7;
/** The projector then rests this many times as long as its run took, so it gets a fifth of the time. */
const RESTS = 4;
/** The longest such rest, milliseconds. */
const REST_MS = 6000;
/** If the oldest entry not yet projected is older than this, milliseconds, the projector no longer yields to deliveries. */
const BEHIND_MS = 30_000;
/**
 * Beyond {@link BEHIND_MS}, appends wait a millisecond for each of these steps, up to eight ({@link pauseFor}). With
 * shorter steps the rate oscillates, because the age shows the effect of a pause only later.
 */
const PAUSE_STEP_MS = 7500;
const LONGEST_PAUSE_MS = 8;
/**
 * If the oldest entry is older than this, milliseconds, transactions last this many times as long: the more entries
 * share one, the fewer times a page of an index is written (docs/decisions.md#large-batches-for-the-projector).
 */
export const FAR_BEHIND_MS = 5000;
const FAR_BEHIND_TIMES = 3;
/** Milliseconds of rest used to measure how busy the process is. */
const LOOK_MS = 10;

/** Number of entries behind above which progress is logged, and milliseconds between two logs. */
const FAR_BEHIND = 10_000;
const REPORT_MS = 5000;

/**
 * What one run did: `projected` a batch, was already `caught-up`, or `lost` the race against another process or left
 * the entries to it.
 */
type RunOutcome = 'projected' | 'caught-up' | 'lost';

interface Ran {
  readonly outcome: RunOutcome;
  readonly full: boolean;
  /** Age of the oldest entry of the batch. */
  readonly behindMs: number;
}

/** Turns entries into read models, in order and exactly once, even if several processes try. */
export interface Projector {
  /** Projects the next batch, if any. */
  runOnce(): Promise<RunOutcome>;
  /** Projects at least up to the current end of the ledger; resolves with the position. */
  catchUp(): Promise<number>;
  /** Keeps projecting, woken by `onAppended` (Ledger.onAppended) and by polling for entries of other processes, until closed. */
  start(onAppended?: (listener: (seq: number) => void) => () => void): void;
  /** Resolves when the read models contain the entry `seq`. Rejects if the projector is closed before. */
  projected(seq: number): Promise<void>;
  /** The position this process saw last. */
  position(): number;
  /**
   * How late the entries of the last batch were projected, milliseconds: the age of the oldest, but at most the time
   * for which this process has been behind. 0 if another process projects.
   */
  behindMs(): number;
  /** Finishes the current batch and stops. */
  close(): Promise<void>;
}

const silent: ProjectorLog = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Creates the projector of the live read models. */
export function createProjector(options: ProjectorOptions): Projector {
  const { store, log = silent, pollMs = 1000, lingerMs = 25, watchLoad = watchEventLoop } = options;
  const projections = options.projections ?? allProjections;
  const limits = pageLimits(options);
  const pages = createPageReader(store.read, options.read, options.optionsUpTo, limits);
  const target: Target = { store, state: (query) => query, position: 'projector', tableName: (table) => table };
  const reach = createReach(options.onReached);
  const placement = createPlacementCheck(store, log, options.onMisplaced);
  const reportProgress = createProgressReport(store, log);
  const rest = createPause();
  let closed = false;
  let running: Promise<unknown> = Promise.resolve();
  let loop: Promise<void> | null = null;
  let stopListening: () => void = () => undefined;
  /** An append was announced during a run. */
  let told = false;
  /** Announced appends do not end the current pause: it lets the batch fill, or the store recover. */
  let lingering = false;
  /** The process was busy during the last rest, without the projector. */
  let busy = false;
  /** When this process last read up to the end of the ledger. */
  let caughtUpAt = performance.now();
  /** The position last read or written. */
  let seen: number | null = null;

  /** `yields`: if another process has moved the position since this one last looked, leave the entries to it. */
  async function run(yields: boolean): Promise<Ran> {
    const from = (await loadFoldPosition(store.read, 'projector')) ?? (await store.foldTransaction(beginPosition));
    const hasMoved = seen !== null && from.seq > seen;
    seen = from.seq;
    if (yields && hasMoved && !reach.isAwaited()) {
      reach.moved(reach.position(), 0);
      return { outcome: 'lost', full: false, behindMs: 0 };
    }
    const page = await pages.load(from);
    if (await placement.wasPutRight(from, page)) return { outcome: 'lost', full: true, behindMs: 0 };
    const startedAt = Date.now();
    const oldest = page?.entries[0];
    const behindMs = oldest === undefined ? 0 : startedAt - Date.parse(oldest.receivedAt);
    if (!page?.full) caughtUpAt = performance.now();
    // Entries may be old because they come from a copy, or because the clock was set.
    const lateMs = Math.min(behindMs, performance.now() - caughtUpAt);
    reach.moved(from.seq, lateMs);
    if (page === null) return { outcome: 'caught-up', full: false, behindMs: 0 };
    if (page.full) await reportProgress(from.seq);
    const traced: Fold['entries'][number][] = [];
    let full = false;
    const together = pages.from(page, {
      togetherMs: limits.togetherMs * (behindMs > FAR_BEHIND_MS ? FAR_BEHIND_TIMES : 1),
      onPage(taken) {
        full = taken.full;
        if (options.onFolded !== undefined) traced.push(...taken.entries.map(tracedEntry));
      },
    });
    const reached = await advance({ target, projections, log }, together, from);
    if (reached === null) return { outcome: 'lost', full: true, behindMs: 0 };
    options.onFolded?.({ entries: traced.filter(({ seq }) => seq <= reached), startedAt, endedAt: Date.now() });
    seen = reached;
    placement.moved({ ...from, seq: reached });
    reach.moved(reached, lateMs);
    return { outcome: 'projected', full, behindMs };
  }

  /** One run at a time in this process: two would race each other. */
  function runAlone({ yields = false } = {}): Promise<Ran> {
    if (closed) return Promise.reject(new Error('the projector is closed'));
    const next = running.then(
      () => run(yields),
      () => run(yields),
    );
    running = next.catch(() => undefined);
    return next;
  }

  async function goOn(): Promise<void> {
    let failures = 0;
    while (!closed) {
      told = false;
      try {
        const started = performance.now();
        const ran = await runAlone({ yields: true });
        failures = 0;
        const tookMs = performance.now() - started;
        const ms = closed ? 0 : restAfter(ran, { tookMs, told, busy, awaited: reach.isAwaited(), lingerMs, pollMs });
        lingering = ran.outcome !== 'caught-up';
        const utilization = watchLoad();
        if (ms > 0) await rest.pause(ms);
        if (ms > 0) busy = utilization() > BUSY;
      } catch (error) {
        const retryMs = Math.min(5000, 100 * 2 ** Math.min(failures, 6));
        failures += 1;
        if (error instanceof StoreUnavailable) log.warn({ err: error, retryMs }, 'the projector waits for the store');
        else log.error({ err: error, retryMs }, 'the projector failed and tries again');
        lingering = true;
        if (!closed) await rest.pause(retryMs);
      }
    }
  }

  const projector: Projector = {
    runOnce: async () => (await runAlone()).outcome,
    async catchUp() {
      // Deliveries may come faster than they are folded, so entries appended from now on are not waited for.
      const end = await lastSeq(store.read);
      for (;;) {
        const outcome = await projector.runOnce();
        if (outcome === 'caught-up' || (outcome === 'projected' && reach.position() >= end)) return reach.position();
        // Yields to the event loop between batches, so that deliveries are answered.
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    start(onAppended) {
      if (loop !== null || closed) return;
      stopListening =
        onAppended?.((seq) => {
          if (seq <= reach.position()) return;
          told = true;
          if (!lingering) rest.end();
        }) ?? stopListening;
      loop = goOn();
    },
    async projected(seq) {
      if (seq <= reach.position()) return;
      if (closed) throw new Error('the projector is closed');
      if (loop === null) {
        await projector.catchUp();
        if (seq <= reach.position()) return;
      }
      const isReached = reach.wait(seq);
      rest.end();
      await isReached;
    },
    position: () => reach.position(),
    behindMs: () => reach.behindMs(),
    async close() {
      closed = true;
      stopListening();
      rest.end();
      await loop;
      await running;
      await pages.close();
      reach.close();
    },
  };
  return projector;
}

/** The position this process has seen, and the callers waiting for one. */
function createReach(onReached: (seq: number, behindMs: number) => void = () => undefined) {
  const waiting = new Set<{ seq: number; resolve(): void; reject(error: Error): void }>();
  let known = 0;
  let behind = 0;
  return {
    position: () => known,
    behindMs: () => behind,
    isAwaited: () => waiting.size > 0,
    wait: (seq: number) => new Promise<void>((resolve, reject) => void waiting.add({ seq, resolve, reject })),
    moved(seq: number, behindMs: number): void {
      if (seq !== known || pauseFor(behindMs) !== pauseFor(behind)) onReached(seq, behindMs);
      known = seq;
      behind = behindMs;
      for (const waiter of waiting) {
        if (waiter.seq > seq) continue;
        waiting.delete(waiter);
        waiter.resolve();
      }
    },
    close(): void {
      for (const { reject } of waiting) reject(new Error('the projector was closed'));
      waiting.clear();
    },
  };
}

/** A pause that can be ended early. */
function createPause() {
  let end: () => void = () => undefined;
  return {
    /** Resolves after `ms`, or when ended. */
    pause: (ms: number) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(done, ms);
        function done(): void {
          clearTimeout(timer);
          end = () => undefined;
          resolve();
        }
        end = done;
      }),
    end: () => end(),
  };
}

/** Logs progress every few seconds while the read models are far behind, such as after an upgrade or if their file was lost. */
function createProgressReport(store: Store, log: ProjectorLog): (folded: number) => Promise<void> {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return async (folded) => {
    const now = performance.now();
    if (now - reportedAt < REPORT_MS) return;
    reportedAt = now;
    const entries = await lastSeq(store.read);
    if (entries - folded > FAR_BEHIND) log.info({ folded, entries }, 'folding the read models');
  };
}

interface RestCircumstances {
  readonly tookMs: number;
  /** Entries have been appended since the run began. */
  readonly told: boolean;
  readonly busy: boolean;
  /** Someone is waiting for an entry. */
  readonly awaited: boolean;
  readonly lingerMs: number;
  readonly pollMs: number;
}

/** How long the projector rests after a run, milliseconds. Exported for tests. */
export function restAfter({ outcome, full, behindMs }: Ran, circumstances: RestCircumstances): number {
  const { tookMs, told, busy, awaited, lingerMs, pollMs } = circumstances;
  switch (outcome) {
    case 'caught-up':
      if (told) return 0;
      return awaited ? Math.min(lingerMs, pollMs) : pollMs;
    case 'lost':
      // Another process is projecting, and this one would only repeat its work. So it only checks now and then whether
      // the other still is, with pauses longer than the other's rests.
      if (awaited) return Math.min(lingerMs, pollMs);
      return busy ? pollMs + REST_MS : pollMs;
    case 'projected':
      if (awaited) return 0;
      if (told && busy && behindMs < BEHIND_MS) return Math.max(lingerMs, Math.min(tookMs * RESTS, REST_MS));
      if (!full) return lingerMs;
      // If nobody appends, project the next batch at once; otherwise rest just long enough to see how busy the process
      // is without the projector.
      return told ? Math.min(lingerMs, LOOK_MS) : 0;
  }
}

/** Returns a function that gives the share of the time since now that the event loop was busy. */
function watchEventLoop(): () => number {
  const before = performance.eventLoopUtilization();
  return () => performance.eventLoopUtilization(before).utilization;
}

/** The first run of all creates the position, unless another process was faster. */
async function beginPosition(tx: StoreTransaction): Promise<Position> {
  await startPosition(tx, 'projector');
  const position = await loadFoldPosition(tx.query, 'projector');
  if (position === null) throw new Error('the position of the projector was created but cannot be found');
  return position;
}

/** What a trace says about an entry: only names that the service documents or that are ours, never one that a sender chose. */
function tracedEntry({ seq, kind, reading, action }: ProjectedEntry): Fold['entries'][number] {
  const name = reading?.event ?? null;
  if (kind === 'webhook') return { seq, event: knownEvents.find((known) => known === name) ?? 'other' };
  return { seq, event: action?.action };
}

/**
 * How long appends wait before each commit while the read models are this far behind, milliseconds: the more deliveries
 * share a commit, the more time is left for folding (docs/decisions.md#deliveries-go-first).
 */
export function pauseFor(behindMs: number): number {
  return Math.min(LONGEST_PAUSE_MS, Math.max(0, Math.ceil((behindMs - BEHIND_MS) / PAUSE_STEP_MS)));
}

/** The size of a batch, with its defaults. */
export function pageLimits(options: Pick<ProjectorOptions, 'batchSize' | 'batchBytes' | 'togetherMs'>): PageLimits {
  const { batchSize = 2000, batchBytes = 4 << 20, togetherMs = 500 } = options;
  return { entries: batchSize, bytes: batchBytes, togetherMs };
}
