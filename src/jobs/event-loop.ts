import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Yields to the event loop within long work, so that deliveries are answered meanwhile.
 * @param sliceMs milliseconds of work between yields
 */
export function createTurns(sliceMs = 5) {
  let sliceEnds = performance.now() + sliceMs;
  return {
    /** Whether it is time to yield. Separate from `take`, to avoid needless awaits. */
    areDue: () => performance.now() >= sliceEnds,
    /** Resolves when everything else that was waiting had its turn. */
    async take(): Promise<void> {
      await nextTurn();
      sliceEnds = performance.now() + sliceMs;
    },
  };
}

export type Turns = ReturnType<typeof createTurns>;
