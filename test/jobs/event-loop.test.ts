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
  return { now: () => now, stop: () => (busy = false) };
}

test('long work that goes last lets others work four times as long as itself', async () => {
  const loop = busyLoop();
  const turns = createTurns(2, 4);
  await turns.take();
  expect(loop.now()).toBeGreaterThanOrEqual(8);
  expect(loop.now()).toBeLessThan(12);
});

test('it goes on at once when nothing else is waiting', async () => {
  const loop = busyLoop();
  loop.stop();
  await nextTurn();
  await nextTurn();
  const from = loop.now();
  await createTurns(2, 4).take();
  expect(loop.now()).toBe(from);
});
