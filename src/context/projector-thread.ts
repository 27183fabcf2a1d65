import { performance } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import type { DatabaseAddress } from '../config/read-values.ts';
import { CodedError, type ErrorCode, StoreUnavailable } from '../core/errors.ts';
import type { Log } from '../log/log.ts';
import type { RebuildReport } from '../projections/rebuild.ts';
import type { Projector } from '../projections/run.ts';
import { type Fold, isTracing, tracedFold } from '../tracing/trace.ts';

export interface ProjectorThreadOptions {
  readonly database: DatabaseAddress;
  readonly log: Log;
  /** As for a projector in the same thread; called in this thread. */
  readonly onMisplaced: (reason: string) => Promise<unknown>;
  /** Replaces the real thread in tests. */
  readonly openThread?: (given: ThreadGiven) => Thread;
}

/** What the thread is started with. */
export interface ThreadGiven {
  readonly database: DatabaseAddress;
  /** Whether it reports each batch. */
  readonly tracing: boolean;
}

/**
 * Size of the young generation. Most of a batch is garbage when the next one comes: with a third of this, garbage
 * collection takes another tenth of the thread's time.
 */
const YOUNG_MB = 48;

/** The part of a worker thread that is used. */
type Thread = Pick<Worker, 'postMessage' | 'on' | 'once'>;

const openWorker = (given: ThreadGiven): Thread =>
  new Worker(new URL('./projector-thread-main.js', import.meta.url), {
    workerData: given,
    name: 'projector',
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });

/** Messages to the thread. */
export type ToThread =
  | { readonly type: 'call'; readonly id: number; readonly method: 'runOnce' | 'catchUp' | 'start' | 'close' }
  | { readonly type: 'call'; readonly id: number; readonly method: 'projected'; readonly seq: number }
  | { readonly type: 'call'; readonly id: number; readonly method: 'compare' | 'rebuild'; readonly takesOver: boolean }
  /** Entries up to `seq` were appended. `utilization`: how busy this thread's event loop was lately, 0 to 1. */
  | { readonly type: 'appended'; readonly seq: number; readonly utilization: number }
  /** Ends the comparison or rebuild that was asked for with this id, with its next progress. */
  | { readonly type: 'cancel'; readonly id: number }
  | { readonly type: 'put-right'; readonly error: ThreadError | null };

/** Messages from the thread. */
export type FromThread =
  | { readonly type: 'answer'; readonly id: number; readonly value?: unknown; readonly error?: ThreadError }
  /** Of a comparison or rebuild. */
  | { readonly type: 'progress'; readonly id: number; readonly done: number; readonly total: number }
  | { readonly type: 'position'; readonly seq: number; readonly behindMs: number }
  | { readonly type: 'folded'; readonly fold: Fold }
  | { readonly type: 'misplaced'; readonly reason: string }
  | {
      readonly type: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly details: object;
      readonly message: string;
    };

/** An error in transit between threads, which would otherwise lose its class. The names are those of pino's serializer. */
export interface ThreadError {
  readonly type: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: ErrorCode | null;
}

export function toThreadError(error: unknown): ThreadError {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  return { type: name, message, stack, code: error instanceof CodedError ? error.code : null };
}

export function fromThreadError({ type, message, code }: ThreadError): Error {
  if (code !== null) return new CodedError(code, message);
  return type === 'StoreUnavailable' ? new StoreUnavailable(message) : new Error(message);
}

/** Milliseconds between messages about appends. */
const TELL_MS = 5;
/** Milliseconds until a thread that ended unexpectedly is restarted. */
const RESTART_MS = 1000;

type OnProgress = (done: number, total: number) => void;
type Pending = { resolve(value: unknown): void; reject(error: Error): void; readonly onProgress: OnProgress };
type Call =
  Extract<ToThread, { type: 'call' }> extends infer C ? (C extends unknown ? Omit<C, 'type' | 'id'> : never) : never;

/** A projector that also compares the read models with the ledger, and makes them again. */
interface ComparingProjector extends Projector {
  /** Like compareWithRebuild; ends if `onProgress` throws. */
  compare(takesOver: boolean, onProgress?: OnProgress): Promise<RebuildReport>;
  /** Like rebuild; ends if `onProgress` throws. */
  rebuild(takesOver: boolean, onProgress?: OnProgress): Promise<RebuildReport>;
}

/**
 * A projector in its own thread with its own connections, so that deliveries are answered while entries are folded. The
 * thread starts with the first call. If it ends unexpectedly, it is restarted, and pending calls reject with
 * StoreUnavailable.
 */
export function createProjectorThread(options: ProjectorThreadOptions): ComparingProjector {
  const { database, log, onMisplaced, openThread = openWorker } = options;
  let worker: Thread | null = null;
  let known = 0;
  let behindMs = 0;
  let nextId = 0;
  let started = false;
  let closed = false;
  let stopListening: () => void = () => undefined;
  const pending = new Map<number, Pending>();

  function thread(): Thread {
    if (worker !== null) return worker;
    const opened = openThread({ database, tracing: isTracing() });
    opened.on('message', (said: FromThread) => hear(opened, said));
    opened.on('error', (error) => log.error({ err: error }, 'the thread of the projector failed'));
    opened.on('exit', () => ended(opened));
    worker = opened;
    return opened;
  }

  function ended(one: Thread): void {
    if (worker === one) worker = null;
    const reason = closed
      ? new Error('the projector was closed')
      : new StoreUnavailable('the projector was interrupted');
    for (const { reject } of pending.values()) reject(reason);
    pending.clear();
    if (!started || closed) return;
    setTimeout(() => {
      if (!closed) call({ method: 'start' }).catch(() => undefined);
    }, RESTART_MS);
  }

  function hear(from: Thread, said: FromThread): void {
    switch (said.type) {
      case 'answer': {
        const call = pending.get(said.id);
        pending.delete(said.id);
        if (said.error) call?.reject(fromThreadError(said.error));
        else call?.resolve(said.value);
        return;
      }
      case 'progress':
        report(from, said);
        return;
      case 'position':
        known = said.seq;
        behindMs = said.behindMs;
        return;
      case 'folded':
        tracedFold(said.fold);
        return;
      case 'misplaced':
        void putRight(from, said.reason);
        return;
      case 'log':
        log[said.level](said.details, said.message);
    }
  }

  /** A callback that throws cancels its comparison or rebuild, as in the same thread. */
  function report(from: Thread, { id, done, total }: Extract<FromThread, { type: 'progress' }>): void {
    const call = pending.get(id);
    try {
      call?.onProgress(done, total);
    } catch (error) {
      pending.delete(id);
      call?.reject(error as Error);
      from.postMessage({ type: 'cancel', id } satisfies ToThread);
    }
  }

  async function putRight(from: Thread, reason: string): Promise<void> {
    const error = await onMisplaced(reason).then(
      () => null,
      (failure: unknown) => toThreadError(failure),
    );
    from.postMessage({ type: 'put-right', error } satisfies ToThread);
  }

  function call(asked: Call, onProgress: OnProgress = () => undefined): Promise<unknown> {
    if (closed) return Promise.reject(new Error('the projector is closed'));
    const id = (nextId += 1);
    return new Promise((resolve, reject) => {
      pending.set(id, { resolve, reject, onProgress });
      thread().postMessage({ type: 'call', id, ...asked });
    });
  }

  const tell = createTeller((asked) => worker?.postMessage(asked));

  return {
    runOnce: () => call({ method: 'runOnce' }) as ReturnType<Projector['runOnce']>,
    catchUp: async () => (known = Number(await call({ method: 'catchUp' }))),
    start(onAppended) {
      if (started || closed) return;
      started = true;
      stopListening =
        onAppended?.((seq) => {
          if (seq > known) tell.appended(seq);
        }) ?? stopListening;
      call({ method: 'start' }).catch(() => undefined);
    },
    async projected(seq) {
      if (seq > known) await call({ method: 'projected', seq });
    },
    compare: (takesOver, onProgress) => call({ method: 'compare', takesOver }, onProgress) as Promise<RebuildReport>,
    rebuild: (takesOver, onProgress) => call({ method: 'rebuild', takesOver }, onProgress) as Promise<RebuildReport>,
    position: () => known,
    behindMs: () => behindMs,
    async close() {
      if (closed) return;
      stopListening();
      tell.stop();
      const last = worker;
      const exited = new Promise((resolve) => (last === null ? resolve(null) : last.once('exit', resolve)));
      // Finishes the current batch.
      if (last !== null) await call({ method: 'close' }).catch(() => undefined);
      closed = true;
      await exited;
    },
  };
}

/** Tells the thread about appends, but not about each one: a message costs as much as a small delivery. */
function createTeller(post: (asked: ToThread) => void) {
  let highest = 0;
  let timer: NodeJS.Timeout | null = null;
  let before = performance.eventLoopUtilization();
  const send = () => {
    timer = null;
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    post({ type: 'appended', seq: highest, utilization });
  };
  return {
    appended(seq: number): void {
      highest = seq;
      timer ??= setTimeout(send, TELL_MS).unref();
    },
    stop(): void {
      if (timer !== null) clearTimeout(timer);
    },
  };
}
