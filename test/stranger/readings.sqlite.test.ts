// SQLite only: the service is what differs, so the companion's engine does not matter.
import { expect, it } from 'vitest';
import { manyReadings, steps } from './readings.ts';
import { createStrangerWorld, takeSteps } from './stranger-world.ts';

it('the program works in full with a service that follows an unusual reading of its documentation', async () => {
  // readings.long.test.ts has all readings, and each interpretation alone.
  const { 'reading-1': all, 'reading-4': log } = manyReadings;
  if (all === undefined || log === undefined) expect.unreachable();
  const world = await createStrangerWorld({ all, log });
  await takeSteps(world, 'all', all, steps);
  await takeSteps(world, 'log', log, ['log']);
  expect(await world.serving.stop()).toBe(0);
});
