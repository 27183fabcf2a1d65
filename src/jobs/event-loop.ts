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
