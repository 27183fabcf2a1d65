import { setImmediate as nextTurn } from 'node:timers/promises';

/** Gives the event loop its turn within long work, so that deliveries are answered meanwhile. */
export interface Turns {
  /** Whether the work has gone on for long enough; asks in passing, so that nothing is awaited in vain. */
  areDue(): boolean;
  /** Resolves when everything else that waited had its turn. */
  take(): Promise<void>;
}

/** @param sliceMs milliseconds of work between two turns */
export function createTurns(sliceMs = 5): Turns {
  let sliceEnds = performance.now() + sliceMs;
  return {
    areDue: () => performance.now() >= sliceEnds,
    async take() {
      await nextTurn();
      sliceEnds = performance.now() + sliceMs;
    },
  };
}

/** Lets one in at a time, in the order of asking. */
interface Gate {
  /** Resolves when it is one's turn, with what ends it. Errors: the signal's reason when aborted before. */
  enter(signal: AbortSignal): Promise<() => void>;
}

/** Builds a gate that is open. */
export function createGate(): Gate {
  let last: Promise<void> = Promise.resolve();
  return {
    async enter(signal) {
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
