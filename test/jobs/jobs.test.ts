import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Claim } from '../../src/jobs/job.ts';
import { createJobs } from '../../src/jobs/jobs.ts';
import { backOff } from '../../src/jobs/lease.ts';
import type { StoreTransaction } from '../../src/store/store.ts';
import { temporaryStore } from '../temporary.ts';

const START = Date.parse('2026-03-01T10:00:00.000Z');

async function open() {
  const store = await temporaryStore();
  let now = START;
  const jobs = createJobs({ store, clock: () => new Date(now) });
  const take = async (owner = 'w1'): Promise<Claim> => {
    const claim = await jobs.claim(owner, ['k', 'other'], 1000);
    if (claim === null) throw new Error('nothing is due');
    return claim;
  };
  return { store, jobs, take, pass: (milliseconds: number) => (now += milliseconds) };
}

test('a job is claimed once, carries its payload, and keeps its result', async () => {
  const { jobs, take } = await open();
  const { id } = await jobs.enqueue({ kind: 'k', payload: { to: '2026', deep: [1, null] } });
  const claim = await take();
  expect(claim.job).toMatchObject({ id, state: 'running', attempts: 1, payload: { to: '2026', deep: [1, null] } });
  expect(await jobs.claim('w2', ['k'], 1000)).toBeNull();
  expect(await jobs.complete(claim, { rows: 3 })).toBe(true);
  expect(await jobs.find(id)).toMatchObject({
    state: 'done',
    result: { rows: 3 },
    finishedAt: '2026-03-01T10:00:00.000Z',
  });
  expect(await jobs.find('nobody')).toBeNull();
});

test('many jobs are enqueued in a few transactions, each once, and the runners are notified', async () => {
  const { store, jobs } = await open();
  let transactions = 0;
  const counting: typeof store = { ...store, transaction: (work) => (++transactions, store.transaction(work)) };
  const told: string[] = [];
  const announced = createJobs({
    store: counting,
    clock: () => new Date(START),
    announce: async (wakeUps) => told.push(...wakeUps.map(({ kind }) => kind)) > 0,
  });
  const { id } = await jobs.enqueue({ kind: 'k', key: 's7', payload: 'first' });
  const runAt = new Date(START + 5000);
  await announced.enqueueAll(Array.from({ length: 450 }, (_, n) => ({ kind: 'k', key: `s${n}`, payload: n, runAt })));
  expect(transactions).toBe(3);
  expect(told).toHaveLength(450);
  const all = await jobs.list({ limit: 1000 });
  expect(new Set(all.map(({ key }) => key)).size).toBe(450);
  expect(all).toHaveLength(450);
  expect(all.find(({ key }) => key === 's7')).toMatchObject({ id, payload: 'first' });
  expect(all.find(({ key }) => key === 's449')).toMatchObject({ payload: 449, runAt: runAt.toISOString() });
});

test('at most one unfinished job exists per kind and key, even if many are enqueued at once', async () => {
  const { jobs, take } = await open();
  const all = await Promise.all(Array.from({ length: 20 }, () => jobs.enqueue({ kind: 'k', key: 'acme' })));
  expect(all.filter(({ outcome }) => outcome === 'enqueued')).toHaveLength(1);
  expect(new Set(all.map(({ id }) => id)).size).toBe(1);
  expect((await jobs.enqueue({ kind: 'other', key: 'acme' })).outcome).toBe('enqueued');
  expect((await jobs.enqueue({ kind: 'k', key: 'zeta' })).outcome).toBe('enqueued');
  for (let n = 0; n < 3; n++) {
    const claim = await take();
    if (claim.job.key === 'acme')
      expect((await jobs.enqueue({ kind: claim.job.kind, key: 'acme' })).outcome).toBe('exists');
    await jobs.complete(claim, null);
  }
  expect((await jobs.enqueue({ kind: 'k', key: 'acme' })).outcome).toBe('enqueued');
});

test('jobs are claimed by priority, then age; jobs that are not due or of another kind wait', async () => {
  const { jobs, take, pass } = await open();
  await jobs.enqueue({ kind: 'k', payload: 'first' });
  pass(1);
  await jobs.enqueue({ kind: 'k', payload: 'second' });
  await jobs.enqueue({ kind: 'k', payload: 'urgent', priority: 5 });
  await jobs.enqueue({ kind: 'k', payload: 'later', priority: 9, runAt: new Date(START + 60_000) });
  await jobs.enqueue({ kind: 'foreign', payload: 'foreign', priority: 9 });
  expect([(await take()).job.payload, (await take()).job.payload, (await take()).job.payload]).toEqual([
    'urgent',
    'first',
    'second',
  ]);
  expect(await jobs.claim('w', ['k'], 1000)).toBeNull();
  pass(60_000);
  expect((await take()).job.payload).toBe('later');
});

describe('a failing job', () => {
  test('is retried later, and fails when its attempts are used up', async () => {
    const { jobs, take, pass } = await open();
    const { id } = await jobs.enqueue({ kind: 'k', maxAttempts: 2 });
    await jobs.fail(await take(), 'the network is away', true);
    expect(await jobs.find(id)).toMatchObject({ state: 'waiting', error: 'the network is away', attempts: 1 });
    expect(await jobs.claim('w', ['k'], 1000)).toBeNull();
    pass(2400);
    await jobs.fail(await take(), 'still', true);
    expect(await jobs.find(id)).toMatchObject({ state: 'failed', error: 'still', attempts: 2 });
    pass(86_400_000);
    expect(await jobs.claim('w', ['k'], 1000)).toBeNull();
  });

  test('is not retried if a retry cannot help', async () => {
    const { jobs, take } = await open();
    const { id } = await jobs.enqueue({ kind: 'k' });
    await jobs.fail(await take(), 'no such case', false);
    expect(await jobs.find(id)).toMatchObject({ state: 'failed', attempts: 1 });
  });

  test('waits longer each time, within bounds', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        (attempt, random) => {
          const wait = backOff(attempt, () => random);
          expect(wait).toBeGreaterThanOrEqual(1600);
          expect(wait).toBeLessThanOrEqual(720_000);
          expect(backOff(attempt + 2, () => random)).toBeGreaterThanOrEqual(wait);
        },
      ),
    );
  });
});

describe('a worker that falls silent', () => {
  test('loses its job to another, and can then do nothing more to it', async () => {
    const { store, jobs, take, pass } = await open();
    const { id } = await jobs.enqueue({ kind: 'k' });
    const paused = await take('paused');
    pass(1001);
    const second = await take('second');
    expect(second.job).toMatchObject({ id, attempts: 2 });
    expect(await jobs.heartbeat(paused, 1000)).toBe('lost');
    expect(await jobs.progress(paused, { done: 1, total: 2, message: null })).toBe('lost');
    expect(await jobs.complete(paused, 'wrong')).toBe(false);
    expect(await jobs.fail(paused, 'wrong', true)).toBe(false);
    expect(await jobs.release(paused)).toBe(false);
    expect(await jobs.markCancelled(paused)).toBe(false);
    expect(await store.transaction((tx) => jobs.holdsIn(tx, paused))).toBe(false);
    expect(await store.transaction((tx) => jobs.holdsIn(tx, second))).toBe(true);
    expect(await jobs.complete(second, 'right')).toBe(true);
    expect(await jobs.find(id)).toMatchObject({ state: 'done', result: 'right' });
  });

  test('keeps it while its heartbeat continues', async () => {
    const { jobs, take, pass } = await open();
    await jobs.enqueue({ kind: 'k' });
    const claim = await take();
    for (let n = 0; n < 5; n++) {
      pass(900);
      expect(await jobs.heartbeat(claim, 1000)).toBe('held');
      expect(await jobs.claim('w2', ['k'], 1000)).toBeNull();
    }
  });

  test('uses up an attempt each time, so a job that kills its workers ends', async () => {
    const { jobs, take, pass } = await open();
    const { id } = await jobs.enqueue({ kind: 'k', maxAttempts: 2 });
    await take();
    pass(1001);
    await take();
    pass(1001);
    expect(await jobs.claim('w', ['k'], 1000)).toBeNull();
    expect(await jobs.find(id)).toMatchObject({ state: 'failed', error: 'The worker died in its last attempt.' });
  });
});

describe('cancelling', () => {
  test('a waiting job ends it, a running one asks it to stop', async () => {
    const { jobs, take } = await open();
    const waiting = await jobs.enqueue({ kind: 'k' });
    expect(await jobs.cancel(waiting.id)).toBe('cancelled');
    expect(await jobs.claim('w', ['k'], 1000)).toBeNull();
    expect(await jobs.cancel(waiting.id)).toBe('finished');
    expect(await jobs.cancel('nobody')).toBe('unknown');

    const running = await jobs.enqueue({ kind: 'k' });
    const claim = await take();
    expect(await jobs.cancel(running.id)).toBe('requested');
    expect(await jobs.standing(claim)).toBe('cancel-requested');
    expect(await jobs.heartbeat(claim, 1000)).toBe('cancel-requested');
    expect(await jobs.markCancelled(claim)).toBe(true);
    expect(await jobs.find(running.id)).toMatchObject({ state: 'cancelled' });
  });

  test.each(['fail', 'release', 'die'] as const)('holds when the worker answers with: %s', async (how) => {
    const { jobs, take, pass } = await open();
    const { id } = await jobs.enqueue({ kind: 'k' });
    const claim = await take();
    await jobs.cancel(id);
    if (how === 'fail') await jobs.fail(claim, 'x', true);
    if (how === 'release') await jobs.release(claim);
    pass(3_600_000);
    expect(await jobs.claim('w', ['k'], 1000)).toBeNull();
    expect(await jobs.find(id)).toMatchObject({ state: 'cancelled' });
  });
});

test('a released job is due at once, and its attempt is not used up', async () => {
  const { jobs, take } = await open();
  await jobs.enqueue({ kind: 'k' });
  await jobs.release(await take());
  expect((await take()).job.attempts).toBe(1);
});

test('an enqueued job is rolled back with its transaction', async () => {
  const { store, jobs } = await open();
  await expect(
    store.transaction(async (tx) => {
      await jobs.enqueueIn(tx, { kind: 'k' });
      throw new Error('taken back');
    }),
  ).rejects.toThrow('taken back');
  expect(await jobs.list()).toEqual([]);
  await store.transaction((tx) => jobs.enqueueIn(tx, { kind: 'k' }));
  expect(await jobs.list({ kind: 'k', state: 'waiting' })).toHaveLength(1);
  expect(await jobs.list({ kind: 'other' })).toEqual([]);
});

test('old finished jobs are removed, unfinished ones never', async () => {
  const { jobs, take, pass } = await open();
  await jobs.enqueue({ kind: 'k' });
  await jobs.complete(await take(), null);
  const { id } = await jobs.enqueue({ kind: 'k' });
  expect(await jobs.purge(new Date(START))).toBe(0);
  pass(1000);
  expect(await jobs.purge(new Date(START + 1))).toBe(1);
  expect((await jobs.list()).map((job) => job.id)).toEqual([id]);
});

test('two processes that claim at once never hold one job together', async () => {
  const { store, jobs } = await open();
  const other = createJobs({ store, clock: () => new Date(START) });
  for (let n = 0; n < 30; n++) await jobs.enqueue({ kind: 'k' });
  const claims = await Promise.all(
    Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? jobs : other).claim(`w${n}`, ['k'], 1000)),
  );
  const ids = claims.flatMap((claim) => (claim === null ? [] : [claim.job.id]));
  expect(ids).toHaveLength(30);
  expect(new Set(ids).size).toBe(30);
});

test('a job completed in the transaction of its effect is done exactly when the effect is committed', async () => {
  const { store, jobs, take, pass } = await open();
  const effect = (tx: StoreTransaction) => tx.insertMany('settings', [{ name: 'effect', value: '' }], 'replace');
  const effects = () => store.read.selectFrom('settings').selectAll().where('name', '=', 'effect').execute();
  const { id } = await jobs.enqueue({ kind: 'k' });
  const first = await take();

  const undone = store.transaction(async (tx) => {
    await effect(tx);
    await jobs.completeIn(tx, first, { n: 1 });
    throw new Error('the transaction fails');
  });
  await expect(undone).rejects.toThrow('the transaction fails');
  expect([(await jobs.find(id))?.state, await effects()]).toEqual(['running', []]);

  // The holder was paused and another took over: its effect is rolled back.
  pass(2000);
  const second = await take('w2');
  const late = store.transaction(async (tx) => {
    await effect(tx);
    if (!(await jobs.completeIn(tx, first, { n: 1 }))) throw new Error('lost');
  });
  await expect(late).rejects.toThrow('lost');
  expect(await effects()).toEqual([]);

  await store.transaction(async (tx) => {
    await effect(tx);
    expect(await jobs.completeIn(tx, second, { n: 2 })).toBe(true);
  });
  expect([(await jobs.find(id))?.result, (await effects()).length]).toEqual([{ n: 2 }, 1]);
  // The runner's later completion is not a loss, and changes nothing.
  expect(await jobs.complete(second, { n: 3 })).toBe(true);
  expect((await jobs.find(id))?.result).toEqual({ n: 2 });
  expect(await jobs.claim('w3', ['k'], 1000)).toBeNull();
});
