import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

/** A turn of the event loop that takes less than this, in milliseconds, had nothing to do. */
const IDLE_TURN_MS = 0.1;

/**
 * Yields to the event loop during long work, so deliveries are answered in between.
 * @param sliceMs milliseconds of work between yields
 * @param restMs milliseconds of rest at each yield if others have work
 */
export function createTurns(sliceMs = 5, restMs = 0) {
  let sliceEnds = performance.now() + sliceMs;
  return {
    /** Whether it is time to yield. Separate from `take`, to avoid needless awaits. */
    areDue: () => performance.now() >= sliceEnds,
    /** Resolves when everything else that was waiting has had its turn. */
    async take(): Promise<void> {
      const from = performance.now();
      await nextTurn();
      if (restMs > 0 && performance.now() - from >= IDLE_TURN_MS) await delay(restMs);
      sliceEnds = performance.now() + sliceMs;
    },
  };
}

export type Turns = ReturnType<typeof createTurns>;

/**
 * Turns for work in the background of a server, so that deliveries go first. A delivery takes several turns of the event
 * loop, each of which may have to wait for a slice, hence the short ones.
 */
export const createBackgroundTurns = () => createTurns(0.3, 1);
