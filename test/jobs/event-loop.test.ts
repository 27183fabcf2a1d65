import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createTurns } from '../../src/jobs/event-loop.ts';

/** A clock on which nothing takes time but the work of others: a millisecond for each turn of the event loop. */
function busyLoop() {
  let now = 0;
  let busy = true;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const others = async () => {
    for (; busy; now += 1) await nextTurn();
  };
  const working = others();
  onTestFinished(async () => {
    busy = false;
    await working;
    vi.restoreAllMocks();
  });
  return { turns: () => now, stop: () => (busy = false) };
}

test('work in the background rests while others have work, and otherwise does not', async () => {
  const loop = busyLoop();
  await createTurns(2, 100).take();
  expect(loop.turns()).toBeGreaterThan(5);
  loop.stop();
  await nextTurn();
  await nextTurn();
  const HOUR = 3_600_000;
  await createTurns(2, HOUR).take();
});
