// SQLite only: the service is the hostile one, so the companion's engine does not matter.
import { expect, it } from 'vitest';
import { hostileAnswers } from './hostile-answers.ts';
import { createHostileWorld, deliverAlong, meetAll } from './hostile-world.ts';

/** Responses that the companion once failed on, and some others. hostile.long.test.ts has all of them. */
const once = [
  'consent log: a cursor of 5 MiB',
  'consent log: an object with something else',
  'generate: an id of 5 MiB',
  'list: an address of 5 MiB',
  'embed: a redirect of 60,000 characters',
  'embed: JSON 200,000 deep',
  'public page: a page of 6 MiB',
  'OpenAPI: schemas that double at each step',
];
const spread = hostileAnswers.filter(({ name }, nth) => once.includes(name) || nth % 25 === 12);

it('the program ends its commands in time with a plain message if the service is hostile, and still answers webhooks', async () => {
  expect(spread.filter(({ name }) => once.includes(name))).toHaveLength(once.length);
  const world = await createHostileWorld(spread);
  const stop = deliverAlong(world.serving);
  expect(await meetAll(world, spread)).toEqual([]);
  const along = await stop();
  expect(along.refused).toBe(0);
  expect(along.sent).toBeGreaterThan(0);
  expect(world.serving.peakMemory()).toBeLessThan(300);
  expect((await world.run('ledger', 'verify')).code).toBe(0);
  expect(await world.serving.stop()).toBe(0);
});
