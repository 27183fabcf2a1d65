import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { createHighWater } from '../../src/ledger/high-water.ts';
import { temporaryFolder } from '../temporary.ts';

it('each process knows the highest mark of all, and those that begin take over the files of those that ended', async () => {
  const folder = await temporaryFolder();
  const server = createHighWater(folder);
  server.note(5);
  for (let seq = 6; seq < 40; seq += 1) {
    const command = createHighWater(folder);
    command.note(seq);
    command.close();
  }
  expect(server.highest()).toBe(39);
  expect((await readdir(folder)).length).toBeLessThanOrEqual(2);
  // A later process, with a lower number of its own, loses nothing.
  const later = createHighWater(folder);
  later.note(7);
  expect([later.highest(), server.highest()]).toEqual([39, 39]);
  server.note(41);
  expect(later.highest()).toBe(41);
  later.close();
  server.close();
  expect(createHighWater(folder).highest()).toBe(41);
});
