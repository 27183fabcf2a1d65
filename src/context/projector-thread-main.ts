import { cpus } from 'node:os';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { withinTime } from '../jobs/time-limits.ts';
import type { ProjectorLog } from '../projections/projection.ts';
import { compareWithRebuild, rebuild } from '../projections/rebuild.ts';
import { BUSY, createProjector, FAR_BEHIND_MS, type Projector } from '../projections/run.ts';
import { createOptionsInForce } from '../sources/options-in-force.ts';
import type { Store } from '../store/store.ts';
import { openStore } from './engines.ts';
import {
  type FromThread,
  fromThreadError,
  type ThreadGiven,
  type ToThread,
  toThreadError,
} from './projector-thread.ts';

/** Runs in the projector's thread (projector-thread.ts): an ordinary projector with its own connections, called by messages. */
if (parentPort === null) throw new Error('projector-thread-main is started by projector-thread');
const port = parentPort;
const say = (said: FromThread) => port.postMessage(said);

const toMain =
  (level: keyof ProjectorLog) =>
  (details: object, message: string): void => {
    const plain = Object.entries(details).map(([name, value]) => [
      name,
      value instanceof Error ? toThreadError(value) : (value as unknown),
    ]);
    say({ type: 'log', level, details: Object.fromEntries(plain) as object, message });
  };
const log: ProjectorLog = { info: toMain('info'), warn: toMain('warn'), error: toMain('error') };

/** Limits memory: a page, the next one and their rows are in memory at once, in addition to the main thread's. */
const BATCH_BYTES = 2 << 20;

/**
 * The longest rest of a comparison between two batches, of half a second each, and how often it looks whether it still
 * has to rest, milliseconds.
 */
const REST_MS = 2000;
const LOOK_MS = 20;
/** For how long the main thread counts as busy after it was, milliseconds. */
const BUSY_MS = 100;

/** How long to wait for the batch that is being folded, milliseconds. */
const CLOSE_MS = 2000;

let appended: (seq: number) => void = () => undefined;
let utilization = 0;
let busyAt = Number.NEGATIVE_INFINITY;
/** Ids of cancelled comparisons and rebuilds. */
const cancelled = new Set<number>();
const machine = createMachineLoad();
let putRight: { resolve(): void; reject(error: Error): void } | null = null;

const opened = openProjector(workerData as ThreadGiven);
// The caller gets the error.
opened.catch(() => undefined);

async function openProjector({ database, tracing }: ThreadGiven) {
  const store = await openStore(database);
  const projector = createProjector({
    store,
    optionsUpTo: createOptionsInForce(store.read),
    log,
    batchBytes: BATCH_BYTES,
    // Deliveries are answered by the main thread and by other processes on this machine.
    watchLoad() {
      const before = processorTimes();
      return () => {
        machine.look(before, processorTimes());
        return machine.isBusy() ? 1 : utilization;
      };
    },
    ...(tracing ? { onFolded: (fold) => say({ type: 'folded', fold }) } : {}),
    onReached: (seq, behindMs) => say({ type: 'position', seq, behindMs }),
    onMisplaced: (reason) =>
      new Promise<void>((resolve, reject) => {
        putRight = { resolve, reject };
        say({ type: 'misplaced', reason });
      }),
  });
  return { store, projector };
}

/** Milliseconds of all CPUs since the machine started, in total and idle. */
function processorTimes(): { readonly all: number; readonly idle: number } {
  let [all, idle] = [0, 0];
  for (const { times } of cpus()) {
    all += times.user + times.nice + times.sys + times.idle + times.irq;
    idle += times.idle;
  }
  return { all, idle };
}

/** With fewer idle CPUs than this, folding slows down deliveries. */
const SPARE = 0.75;
/** CPU milliseconds per sample; the kernel counts in hundredths of a second. */
const LOOKED_AT_MS = 200;

/** Measures, while nothing is being folded, whether the machine has a CPU to spare. */
function createMachineLoad() {
  let [all, idle, busy] = [0, 0, false];
  return {
    look(from: ReturnType<typeof processorTimes>, to: ReturnType<typeof processorTimes>): void {
      all += to.all - from.all;
      idle += to.idle - from.idle;
      if (all < LOOKED_AT_MS) return;
      busy = (idle / all) * cpus().length < SPARE;
      [all, idle] = [0, 0];
    },
    isBusy: () => busy,
  };
}

/** Deliveries and folding go first: a comparison rests while the main thread is busy or the read models are late. */
async function restFor(projector: Projector): Promise<void> {
  const until = performance.now() + REST_MS;
  for (let now = performance.now(); now < until; now = performance.now()) {
    if (now - busyAt > BUSY_MS && projector.behindMs() < FAR_BEHIND_MS) return;
    await delay(LOOK_MS, undefined, { ref: false });
  }
}

/** How everything is projected again. */
function again(store: Store, { id, takesOver }: Extract<ToThread, { readonly takesOver: boolean }>) {
  return {
    store,
    // Not that of the projector: its cache must not survive a change of the database from outside.
    optionsUpTo: createOptionsInForce(store.read),
    log,
    batchBytes: BATCH_BYTES,
    takesOver,
    onProgress(done: number, total: number) {
      if (cancelled.delete(id)) throw new Error('It was cancelled.');
      say({ type: 'progress', id, done, total });
    },
  };
}

async function answer(asked: Extract<ToThread, { type: 'call' }>): Promise<unknown> {
  const { store, projector } = await opened;
  switch (asked.method) {
    case 'runOnce':
      return projector.runOnce();
    case 'catchUp':
      return projector.catchUp();
    case 'projected':
      return projector.projected(asked.seq);
    case 'start':
      return projector.start((listener) => {
        appended = listener;
        return () => (appended = () => undefined);
      });
    case 'compare':
      return compareWithRebuild({ ...again(store, asked), giveWay: () => restFor(projector) });
    case 'rebuild':
      return rebuild(again(store, asked));
    case 'close':
      // A comparison may hold the lock. It ends when the store closes.
      await withinTime(projector.close(), CLOSE_MS);
      return store.close();
  }
}

async function handle(asked: Extract<ToThread, { type: 'call' }>): Promise<void> {
  const { id, method } = asked;
  try {
    const value = await answer(asked);
    say({ type: 'answer', id, value });
  } catch (error) {
    say({ type: 'answer', id, error: toThreadError(error) });
    // The store could not be opened: the next thread tries again.
    if (
      await opened.then(
        () => false,
        () => true,
      )
    )
      port.close();
  }
  if (method === 'close') port.close();
}

port.on('message', (asked: ToThread) => {
  switch (asked.type) {
    case 'call':
      void handle(asked);
      return;
    case 'appended':
      utilization = asked.utilization;
      if (utilization > BUSY) busyAt = performance.now();
      appended(asked.seq);
      return;
    case 'cancel':
      cancelled.add(asked.id);
      return;
    case 'put-right':
      if (asked.error === null) putRight?.resolve();
      else putRight?.reject(fromThreadError(asked.error));
      putRight = null;
  }
});
