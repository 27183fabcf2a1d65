import { expect, test } from 'vitest';
import { lanesOf, queueNames, queueOf, selectKinds } from '../../src/jobs/job.ts';
import { createJobs } from '../../src/jobs/jobs.ts';
import { loadQueueFigures } from '../../src/jobs/queue-figures.ts';
import { createJobHandlers } from '../../src/worker/worker.ts';
import { temporaryStore } from '../temporary.ts';

test('every kind with a handler is in one queue, and sealing waits for no other kind', () => {
  // The handlers use their context only when they run.
  const kinds = Object.keys(createJobHandlers({} as Parameters<typeof createJobHandlers>[0]));
  const lanes = lanesOf(kinds);
  expect(lanes.flatMap((lane) => lane.kinds).sort()).toEqual([...kinds].sort());
  expect(lanes.find((lane) => lane.kinds.includes('seal'))?.kinds).toEqual(['seal']);
  expect(queueOf('sync')).not.toBe(queueOf('document'));
  for (const { queue } of lanes) expect(queueNames).toContain(queue);
});

test('kinds are chosen by name or by queue, and an unknown name is reported', () => {
  const known = ['sync', 'sync-all', 'document', 'seal'];
  expect(selectKinds(['documents', 'sync-all'], known)).toEqual({ kinds: ['sync-all', 'document'], unknown: [] });
  expect(selectKinds(['maintenance'], known)).toEqual({ kinds: ['sync-all'], unknown: [] });
  expect(selectKinds(['sync', 'reports'], known)).toEqual({ kinds: ['sync'], unknown: ['reports'] });
  expect(lanesOf(['document'], 7)).toEqual([{ queue: 'documents', kinds: ['document'], concurrency: 7 }]);
});

test('the figures of a queue are those of the table: waiting, due later, running, failed, and ended in all', async () => {
  const store = await temporaryStore();
  let now = Date.parse('2026-03-01T10:00:00Z');
  const clock = () => new Date(now);
  const jobs = createJobs({ store, clock });
  const take = async () => {
    const claim = await jobs.claim('me', ['document'], 30_000);
    if (claim === null) throw new Error('nothing is due');
    return claim;
  };
  const of = async (name: string) => (await loadQueueFigures(store.read, clock())).find(({ queue }) => queue === name);
  const nothing = { done: 0, failed: 0, cancelled: 0 };
  expect(await of('documents')).toEqual({
    queue: 'documents',
    waiting: 0,
    delayed: 0,
    running: 0,
    failed: 0,
    oldestDueSeconds: 0,
    ended: nothing,
  });

  for (let at = 0; at < 6; at++, now++) await jobs.enqueue({ kind: 'document' });
  await jobs.enqueue({ kind: 'document', runAt: new Date(now + 3_600_000) });
  await jobs.complete(await take(), null);
  await jobs.complete(await take(), null);
  await jobs.fail(await take(), 'no', false);
  await jobs.fail(await take(), 'not yet', true);
  await take();
  now += 90_000;
  // The lease of the running one has expired, and another takes it.
  const again = await take();
  await jobs.cancel(again.job.id);
  await jobs.markCancelled(again);
  await jobs.cancel((await jobs.enqueue({ kind: 'document' })).id);
  await jobs.enqueue({ kind: 'seal' });

  expect(await of('documents')).toEqual({
    queue: 'documents',
    waiting: 2,
    delayed: 1,
    running: 0,
    failed: 1,
    oldestDueSeconds: expect.closeTo(90, 1) as number,
    ended: { done: 2, failed: 1, cancelled: 2 },
  });
  expect(await of('sealing')).toMatchObject({ waiting: 1, ended: nothing });

  // Purging the rows forgets failures, but not how many ended in all.
  await jobs.purge(new Date(now + 1));
  expect(await of('documents')).toMatchObject({ failed: 0, ended: { done: 2, failed: 1, cancelled: 2 } });
});

test('a job whose worker died in its last attempt counts as failed', async () => {
  const store = await temporaryStore();
  let now = Date.parse('2026-03-01T10:00:00Z');
  const jobs = createJobs({ store, clock: () => new Date(now) });
  const { id } = await jobs.enqueue({ kind: 'seal', maxAttempts: 1 });
  await jobs.claim('first', ['seal'], 1000);
  now += 2000;
  expect(await jobs.claim('second', ['seal'], 1000)).toBeNull();
  expect(await jobs.find(id)).toMatchObject({ state: 'failed', error: 'The worker died in its last attempt.' });
  const figures = await loadQueueFigures(store.read, new Date(now));
  expect(figures.find(({ queue }) => queue === 'sealing')).toMatchObject({ failed: 1, ended: { failed: 1 } });
});
