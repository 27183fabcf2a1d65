import { cpus } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { ProjectorLog } from '../projections/projection.ts';
import { createProjector } from '../projections/run.ts';
import { createOptionsInForce } from '../sources/options-in-force.ts';
import { openStore } from './engines.ts';
import { type Asked, fromThreadError, type Said, type ThreadGiven, toThreadError } from './projector-thread.ts';

/** Runs in the projector's thread (projector-thread.ts): an ordinary projector with its own connections, called by messages. */
if (parentPort === null) throw new Error('projector-thread-main is started by projector-thread');
const port = parentPort;
const say = (said: Said) => port.postMessage(said);

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

let appended: (seq: number) => void = () => undefined;
let utilization = 0;
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

async function answer(asked: Extract<Asked, { type: 'call' }>): Promise<unknown> {
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
    case 'close':
      await projector.close();
      return store.close();
  }
}

async function handle(asked: Extract<Asked, { type: 'call' }>): Promise<void> {
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

port.on('message', (asked: Asked) => {
  switch (asked.type) {
    case 'call':
      void handle(asked);
      return;
    case 'appended':
      utilization = asked.utilization;
      appended(asked.seq);
      return;
    case 'put-right':
      if (asked.error === null) putRight?.resolve();
      else putRight?.reject(fromThreadError(asked.error));
      putRight = null;
  }
});
