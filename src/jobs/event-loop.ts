import { setImmediate as nextTurn } from 'node:timers/promises';

/** A turn of the event loop that takes less, milliseconds, had nothing to do. */
const IDLE_TURN_MS = 0.1;

/**
 * Yields to the event loop within long work, so that deliveries are answered meanwhile.
 * @param sliceMs milliseconds of work between yields
 * @param yields each yield lasts until nothing else is waiting, or others had this many times a slice; 0: one turn
 */
export function createTurns(sliceMs = 5, yields = 0) {
  let sliceEnds = performance.now() + sliceMs;
  return {
    /** Whether it is time to yield. Separate from `take`, to avoid needless awaits. */
    areDue: () => performance.now() >= sliceEnds,
    /** Resolves when everything else that was waiting had its turn. */
    async take(): Promise<void> {
      const from = performance.now();
      for (let before = from, now = from; ; before = now) {
        await nextTurn();
        now = performance.now();
        if (now - from >= yields * sliceMs || now - before < IDLE_TURN_MS) break;
      }
      sliceEnds = performance.now() + sliceMs;
    },
  };
}

export type Turns = ReturnType<typeof createTurns>;
