import { expect, it } from 'vitest';
import { hostileAnswers } from './hostile-answers.ts';
import { createHostileWorld, deliverAlong, meetAll } from './hostile-world.ts';

it('ends every command in time with a sentence, and keeps nothing wrong, whatever the service answers', {
  timeout: 1_800_000,
}, async () => {
  expect(hostileAnswers.length).toBeGreaterThan(300);
  expect(new Set(hostileAnswers.map(({ name }) => name)).size).toBe(hostileAnswers.length);
  // The jobs of `serve` pull all the sources beside it, each minute.
  const world = await createHostileWorld(hostileAnswers, { SYNC_SCHEDULE: '* * * * *', SYNC_RECOUNT_DAYS: '0' });
  const stop = deliverAlong(world.serving);
  expect(await meetAll(world, hostileAnswers)).toEqual([]);
  const along = await stop();
  const memory = world.serving.peakMemory();
  console.log({ memory, ...along });
  expect(memory).toBeLessThan(300);
  expect(along.refused).toBe(0);
  expect(along.sent).toBeGreaterThan(100);
  expect(along.slowestMs).toBeLessThan(1000);
  expect((await world.run('ledger', 'verify')).code).toBe(0);
  expect(await world.serving.stop()).toBe(0);
});
