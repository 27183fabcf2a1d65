import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { hostileAnswers, type Meeting } from './hostile-answers.ts';
import { createHostileWorld, deliverAlong, meetAll } from './hostile-world.ts';

it('the program ends every command in time with a plain message, and stores nothing wrong, whatever the service answers', {
  timeout: 1_800_000,
}, async () => {
  expect(hostileAnswers.length).toBeGreaterThan(300);
  expect(new Set(hostileAnswers.map(({ name }) => name)).size).toBe(hostileAnswers.length);
  // In the meantime the jobs of `serve` pull all sources every minute.
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

/** A page of the largest accepted size, with only new rows. */
function largePage({ response, nth, key }: Meeting): void {
  const rows = Array.from({ length: 4900 }, (_, row) =>
    JSON.stringify({ id: `${key}-${nth}-${row}`, banner_id: 'b', purposes: { ads: true }, note: 'x'.repeat(720) }),
  );
  response.end(`{"data":[${rows.join(',')}],"next_cursor":"c${nth}"}`);
}

// Measured: 370 MiB. The folding thread alone keeps up to 48 MiB of new objects (context/projector-thread.ts) and
// 32 MiB of database pages (store/sqlite/open.ts).
it('the program stays under 512 MiB and answers webhooks while twelve logs give the largest pages without end', async () => {
  const answers = Array.from({ length: 12 }, (_, nth) => ({
    name: `large pages ${nth}`,
    at: 'log' as const,
    respond: largePage,
  }));
  const world = await createHostileWorld(answers, { SYNC_SCHEDULE: '* * * * *', SYNC_RECOUNT_DAYS: '0' });
  const stop = deliverAlong(world.serving);
  // The sync begins with the next minute.
  await delay(100_000);
  const along = await stop();
  const memory = world.serving.peakMemory();
  console.log({ memory, ...along });
  // Faster machines read more pages at once: 370 MiB on one, 425 on another for the same program.
  expect(memory).toBeLessThan(512);
  expect(along.refused).toBe(0);
});
