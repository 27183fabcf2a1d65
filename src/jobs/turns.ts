import { setImmediate as nextTurn } from 'node:timers/promises';

/** @param sliceMs milliseconds of work between two turns */
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

/** Gives the event loop its turn within long work, so that deliveries are answered meanwhile. */
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
      const aborted = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
        if (signal.aborted) resolve();
      });
      await Promise.race([before, aborted]);
      if (signal.aborted) {
        // Those behind wait for the one before.
        void before.then(leave);
        signal.throwIfAborted();
      }
      return leave;
    },
  };
}
