import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Gives the event loop its turn within long work, so that deliveries are answered meanwhile.
 * @param sliceMs milliseconds of work between two turns
 */
export function createTurns(sliceMs = 5) {
  let sliceEnds = performance.now() + sliceMs;
  return {
    /** Whether the work has gone on for long enough; asks in passing, so that nothing is awaited in vain. */
    areDue: () => performance.now() >= sliceEnds,
    /** Resolves when everything else that waited had its turn. */
    async take(): Promise<void> {
      await nextTurn();
      sliceEnds = performance.now() + sliceMs;
    },
  };
}

export type Turns = ReturnType<typeof createTurns>;

/** Builds a gate that is open. */
export function createGate() {
  let last: Promise<void> = Promise.resolve();
  return {
    /** Resolves when it is one's turn, with what ends it. Errors: the signal's reason when aborted before. */
    async enter(signal: AbortSignal): Promise<() => void> {
      const before = last;
      let leave = (): void => undefined;
      last = new Promise((resolve) => {
        leave = resolve;
      });
      let onAbort = (): void => undefined;
      const aborted = new Promise<void>((resolve) => {
        onAbort = resolve;
        signal.addEventListener('abort', onAbort, { once: true });
        if (signal.aborted) resolve();
      });
      await Promise.race([before, aborted]);
      signal.removeEventListener('abort', onAbort);
      if (signal.aborted) {
        // Those behind wait for the one before.
        void before.then(leave);
        signal.throwIfAborted();
      }
      return leave;
    },
  };
}

/** Whether the work ends within so many milliseconds; if not, it continues. Rejects as the work does. */
export async function withinTime(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Where a part that did not close is reported. */
interface CloseLog {
  warn(details: object, message: string): void;
}

/**
 * Closes one part of the program within so many milliseconds: where it takes longer or fails, that is logged and the rest is closed all
 * the same. A part that waits for a server that is away must not keep the process from ending.
 */
export async function closeWithin(
  milliseconds: number,
  part: string,
  close: () => Promise<unknown>,
  log: CloseLog,
): Promise<boolean> {
  try {
    const closing = close();
    // It may still fail after it was given up.
    closing.catch(() => undefined);
    if (await withinTime(closing, milliseconds)) return true;
    log.warn({ part, milliseconds }, 'a component did not close in time and was abandoned');
  } catch (error) {
    log.warn({ part, err: error }, 'a component could not be closed');
  }
  return false;
}
