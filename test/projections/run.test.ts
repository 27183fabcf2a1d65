import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { deliveries } from '../../src/projections/deliveries.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { compareWithRebuild } from '../../src/projections/rebuild.ts';
import { createProjector, pauseFor, restAfter } from '../../src/projections/run.ts';
import type { Store } from '../../src/store/store.ts';
import type { Fold } from '../../src/tracing/trace.ts';
import { PATIENTLY } from '../temporary.ts';
import { createWorld, rules, type World, webhook } from './world.ts';

const at = '2026-03-01T10:00:00.000Z';

async function deliver(world: World, count: number, from = 0): Promise<void> {
  const entries = Array.from({ length: count }, (_, nonce) =>
    webhook('acme', { event: 'ping', nonce: from + nonce }, at),
  );
  for (let next = 0; next < entries.length; next += 100) await world.ledger.append(entries.slice(next, next + 100));
}

async function countsOf(store: Store): Promise<{ history: number; counted: number }> {
  const history = await store.read.selectFrom('delivery_history').select('seq').execute();
  const counts = await store.read.selectFrom('delivery_counts').select('deliveries').execute();
  return { history: history.length, counted: counts.reduce((sum, row) => sum + row.deliveries, 0) };
}

test('projectors that race on one database project every entry exactly once', async () => {
  const world = await createWorld();
  const racers = [3, 7, 11, 50].map((batchSize) => world.projector({ batchSize }));
  let lost = 0;
  const race = async (racer: (typeof racers)[number]) => {
    for (let idle = 0; idle < 20; ) {
      const outcome = await racer.runOnce();
      if (outcome === 'lost') lost += 1;
      if (outcome === 'caught-up') {
        idle += 1;
        await sleep(2);
      }
    }
  };
  await Promise.all([deliver(world, 700), ...racers.map(race)]);
  for (const racer of racers) await racer.catchUp();
  expect(await countsOf(world.store)).toEqual({ history: 700, counted: 700 });
  expect(lost).toBeGreaterThan(0);
  expect((await compareWithRebuild(rules(world.store))).differences).toEqual([]);
});

test('a projector that is closed stops catching up after the current batch', async () => {
  const world = await createWorld();
  await deliver(world, 50);
  const closing: Promise<void>[] = [];
  const onFolded = () => void closing.push(projector.close());
  const projector = world.projector({ batchSize: 5, togetherMs: 0, onFolded });
  await expect(projector.catchUp()).rejects.toThrow('the projector is closed');
  await Promise.all(closing);
  expect(projector.position()).toBeLessThan(50);
  await expect(projector.catchUp()).rejects.toThrow('the projector is closed');
});

test('catching up reaches the end again after a batch that ended exactly there', async () => {
  const world = await createWorld();
  const projector = world.projector({ batchSize: 20 });
  await deliver(world, 20);
  expect(await projector.catchUp()).toBe(20);
  await deliver(world, 5, 20);
  expect(await projector.catchUp()).toBe(25);
});

/** A store whose process ends inside a transaction of the projector. */
function dyingStore(store: Store, moment: string): Store {
  const die = () => {
    throw new StoreUnavailable(`the process died ${moment}`);
  };
  const fatal = { 'before the history': 'delivery_history', 'before the counts': 'delivery_counts' }[moment];
  return {
    ...store,
    foldTransaction: (work) =>
      store.foldTransaction(async (tx) => {
        const insertMany: typeof tx.insertMany = async (table, ...rest) => {
          if (table === fatal) die();
          await tx.insertMany(table, ...rest);
        };
        const result = await work({ ...tx, insertMany });
        const position = await tx.query
          .selectFrom('fold_positions')
          .select('seq')
          .where('name', '=', 'projector')
          .executeTakeFirst();
        return moment === 'before the commit' && position?.seq !== 0 ? die() : result;
      }),
  };
}

test('a projector that dies at any moment of its transaction leaves nothing half done', async () => {
  const world = await createWorld();
  await deliver(world, 60);
  const projector = world.projector({ batchSize: 20 });
  for (const done of [0, 20, 40]) {
    for (const moment of ['before the history', 'before the counts', 'before the commit']) {
      const dying = dyingStore(world.store, moment);
      await expect(createProjector({ ...rules(dying), batchSize: 20 }).runOnce()).rejects.toThrow(`died ${moment}`);
      expect(await countsOf(world.store)).toEqual({ history: done, counted: done });
    }
    expect(await projector.runOnce()).toBe('projected');
  }
  expect(await countsOf(world.store)).toEqual({ history: 60, counted: 60 });
});

test('catchUp() ends at what was appended before it, however fast deliveries arrive', async () => {
  const world = await createWorld();
  await deliver(world, 50);
  let appended = 50;
  // 30 entries arrive while a batch of 20 is folded.
  const flooded: Store = {
    ...world.store,
    async foldTransaction(work) {
      if (appended < 2000) await deliver(world, 30, appended);
      appended += 30;
      return world.store.foldTransaction(work);
    },
  };
  const projector = world.projector({ store: flooded, batchSize: 20 });
  const reached = await projector.catchUp();
  expect(reached).toBeGreaterThanOrEqual(50);
  expect(reached).toBeLessThan(100);
});

test('the loop leaves entries to the process that moves the position, and folds them if a caller waits', async () => {
  const world = await createWorld();
  let tell: (seq: number) => void = () => undefined;
  let [folds, runs] = [0, 0];
  const counted: Store = {
    ...world.store,
    foldTransaction: (work) => {
      folds += 1;
      return world.store.foldTransaction(work);
    },
  };
  const other = world.projector({ batchSize: 3 });
  await other.catchUp();
  const watchLoad = () => {
    runs += 1;
    return () => 0;
  };
  const projector = world.projector({ store: counted, pollMs: 600_000, watchLoad });
  projector.start((listener) => {
    tell = listener;
    return () => undefined;
  });
  await vi.waitFor(() => expect(runs).toBe(1), PATIENTLY);
  await deliver(world, 5);
  expect(await other.runOnce()).toBe('projected');
  tell(5);
  await vi.waitFor(() => expect(runs).toBe(2), PATIENTLY);
  expect(folds).toBe(0);
  await projector.projected(5);
  expect(folds).toBe(1);
  expect(await countsOf(world.store)).toEqual({ history: 5, counted: 5 });
  await projector.close();
});

test('the loop projects entries of its own ledger and of another process', async () => {
  const world = await createWorld();
  const told = world.projector({ pollMs: 60_000, lingerMs: 1 });
  told.start(world.ledger.onAppended);
  await deliver(world, 5);
  await told.projected(5);
  expect(await countsOf(world.store)).toEqual({ history: 5, counted: 5 });
  await told.close();

  const untold = world.projector({ pollMs: 20 });
  untold.start();
  await sleep(50);
  await deliver(world, 5, 5);
  await untold.projected(10);
  expect(await countsOf(world.store)).toEqual({ history: 10, counted: 10 });
});

test('projected() projects by itself if the projector was not started', async () => {
  const world = await createWorld();
  await deliver(world, 5);
  const projector = world.projector({ batchSize: 2 });
  await projector.projected(3);
  expect(projector.position()).toBe(5);
});

test('projected() for an entry that never comes is refused when the projector closes', async () => {
  const world = await createWorld();
  const projector = world.projector();
  projector.start();
  const waiting = projector.projected(1);
  await Promise.all([expect(waiting).rejects.toThrow('closed'), projector.close()]);
});

test('the loop outlives an outage of the store', async () => {
  const world = await createWorld();
  let down = true;
  const shaky: Store = {
    ...world.store,
    foldTransaction: (work) =>
      down ? Promise.reject(new StoreUnavailable('disk full')) : world.store.foldTransaction(work),
  };
  const warnings: string[] = [];
  const projector = world.projector({
    store: shaky,
    log: {
      info: () => undefined,
      warn: (_, message) => warnings.push(message),
      error: (_, message) => warnings.push(message),
    },
  });
  await deliver(world, 3);
  projector.start(world.ledger.onAppended);
  await vi.waitFor(() => expect(warnings).toContain('the projector waits for the store'), PATIENTLY);
  down = false;
  await projector.projected(3);
  expect(await countsOf(world.store)).toEqual({ history: 3, counted: 3 });
  expect(await world.store.read.selectFrom('quarantine').selectAll().execute()).toEqual([]);
});

test('a projection that fails on one entry loses neither that entry nor any other', async () => {
  const world = await createWorld();
  await deliver(world, 40);
  const broken: Projection = {
    name: 'broken',
    tables: [],
    fold: (_, batch) =>
      batch.some(({ seq }) => seq === 23) ? Promise.reject(new Error('a bug')) : Promise.resolve([]),
  };
  const errors: object[] = [];
  const log = { info: () => undefined, warn: () => undefined, error: (details: object) => void errors.push(details) };
  await world.projector({ projections: [deliveries, broken], log }).catchUp();
  expect(await countsOf(world.store)).toEqual({ history: 40, counted: 40 });
  expect(await world.store.read.selectFrom('quarantine').selectAll().execute()).toEqual([
    { seq: 23, source: 'acme', event: 'ping', reason: 'projection failed: broken: a bug', received_at: at },
  ]);
  expect(errors).toEqual([expect.objectContaining({ seq: 23, projection: 'broken' })]);
});

/** A store that remembers the seq that each of its transactions ended at. */
function watched(store: Store) {
  const ended: number[] = [];
  const foldTransaction: Store['foldTransaction'] = async (work) => {
    const result = await store.foldTransaction(work);
    const [position] = await store.read
      .selectFrom('fold_positions')
      .select('seq')
      .where('name', '=', 'projector')
      .execute();
    ended.push(position?.seq ?? 0);
    return result;
  };
  return { store: { ...store, foldTransaction }, ended };
}

const MINUTE = 60_000;

describe('full pages share a transaction', () => {
  it('until one is not full, and give the rows of a rebuild', async () => {
    const world = await createWorld();
    await deliver(world, 105);
    const { store, ended } = watched(world.store);
    const projector = world.projector({ store, batchSize: 10, togetherMs: MINUTE });
    expect([await projector.runOnce(), projector.position(), ended]).toEqual(['projected', 105, [0, 105]]);
    expect(await countsOf(world.store)).toEqual({ history: 105, counted: 105 });
    expect((await compareWithRebuild(rules(world.store))).differences).toEqual([]);
    const rebuilt = await compareWithRebuild({ ...rules(world.store), batchSize: 10, togetherMs: MINUTE });
    expect([rebuilt.seq, rebuilt.differences]).toEqual([105, []]);
  });

  it('and if the process dies in it, none of them is written', async () => {
    const world = await createWorld();
    await deliver(world, 60);
    let inserts = 0;
    const dying: Store = {
      ...world.store,
      foldTransaction: (work) =>
        world.store.foldTransaction((tx) =>
          work({
            ...tx,
            insertMany: async (table, ...rest) => {
              if (table === 'delivery_history') inserts += 1;
              if (inserts === 3) throw new StoreUnavailable('the process died');
              await tx.insertMany(table, ...rest);
            },
          }),
        ),
    };
    const projector = world.projector({ store: dying, batchSize: 20, togetherMs: MINUTE });
    await expect(projector.runOnce()).rejects.toThrow('the process died');
    expect(await countsOf(world.store)).toEqual({ history: 0, counted: 0 });
    expect(await world.projector({ togetherMs: MINUTE }).catchUp()).toBe(60);
    expect(await countsOf(world.store)).toEqual({ history: 60, counted: 60 });
  });

  it('and if a projection fails in a later one, the earlier ones are written, and only its entry is quarantined', async () => {
    const world = await createWorld();
    await deliver(world, 40);
    const broken: Projection = {
      name: 'broken',
      tables: [],
      fold: (_, batch) =>
        batch.some(({ seq }) => seq === 23) ? Promise.reject(new Error('a bug')) : Promise.resolve([]),
    };
    const folded: Fold[] = [];
    const projector = world.projector({
      projections: [deliveries, broken],
      batchSize: 10,
      togetherMs: MINUTE,
      onFolded: (fold) => folded.push(fold),
    });
    expect(await projector.catchUp()).toBe(40);
    expect(await countsOf(world.store)).toEqual({ history: 40, counted: 40 });
    const quarantined = await world.store.read.selectFrom('quarantine').select('seq').execute();
    expect(quarantined).toEqual([{ seq: 23 }]);
    // Each entry is reported as folded once.
    const told = folded.flatMap(({ entries }) => entries.map(({ seq }) => seq));
    expect(told).toEqual(Array.from({ length: 40 }, (_, place) => place + 1));
  });

  it('but a page with an erasure begins one of its own', async () => {
    const world = await createWorld();
    await deliver(world, 30);
    await world.ledger.append([{ ...webhook('acme', { event: 'erased' }, at), kind: 'erasure' }]);
    await deliver(world, 30, 30);
    const { store, ended } = watched(world.store);
    await world.projector({ store, batchSize: 10, togetherMs: MINUTE }).catchUp();
    expect(ended).toEqual([0, 30, 61]);
  });
});

test('rows that the database refuses are a projection failure too, and are reported the same way', async () => {
  const world = await createWorld();
  await deliver(world, 10);
  const row = { source: 'acme', event: 'ping', reason: 'x', received_at: at };
  const colliding: Projection = {
    name: 'colliding',
    tables: [],
    fold: (_, batch) =>
      Promise.resolve([
        {
          table: 'ambiguous_repeats' as const,
          rows: batch.map(({ seq }) => ({
            seq: seq === 7 ? 1 : seq,
            source: 'acme',
            event: row.event,
            resolution: 'unresolved' as const,
            settled_repeats: 0,
          })),
          onConflict: 'fail' as const,
        },
      ]),
  };
  await world.projector({ projections: [deliveries, colliding] }).catchUp();
  const quarantined = await world.store.read.selectFrom('quarantine').select(['seq', 'reason']).execute();
  expect(quarantined.map(({ seq }) => seq)).toEqual([7]);
  expect(quarantined[0]?.reason).toMatch(/^projection failed: colliding: .*unique/i);
  const written = await world.store.read.selectFrom('ambiguous_repeats').select('seq').execute();
  expect(written.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 8, 9, 10]);
});

test('a page is bounded in bytes, and one entry larger than the bound is taken alone', async () => {
  const world = await createWorld();
  const large = 'x'.repeat(50_000);
  const bodies = [1, 2, 3].map((nonce) => webhook('acme', { event: large, nonce }, at));
  await world.ledger.append([
    ...bodies,
    webhook('acme', { event: 'small' }, at),
    webhook('acme', { event: 'tiny' }, at),
  ]);
  const projector = world.projector({ batchBytes: 60_000 });
  const positions: number[] = [];
  while ((await projector.runOnce()) !== 'caught-up') positions.push(projector.position());
  expect(positions).toEqual([1, 2, 5]);
});

test('erased entries are skipped, and the position moves past them', async () => {
  const world = await createWorld();
  await deliver(world, 4);
  await world.store.transaction(async (tx) => {
    await tx.query
      .updateTable('entries')
      .set({ meta: null, body: null, salt: null })
      .where('seq', 'in', [2, 4])
      .execute();
  });
  expect(await world.projector().catchUp()).toBe(4);
  const seqs = await world.store.read.selectFrom('delivery_history').select('seq').orderBy('seq').execute();
  expect(seqs.map(({ seq }) => seq)).toEqual([1, 3]);
});

test('from half a minute behind, appends pause, and the longer the further behind, up to 8 ms', () => {
  expect([0, 29_000, 30_000, 31_000, 45_000, 60_000, 90_000, 3_600_000].map(pauseFor)).toEqual([
    0, 0, 0, 1, 2, 4, 8, 8,
  ]);
});

test('the projector tells how long it has been behind, and that it has caught up', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => now.mockRestore());
  const world = await createWorld();
  const told: number[] = [];
  const projector = world.projector({ batchSize: 2, onReached: (_seq, behindMs) => told.push(behindMs) });
  // Old, but this process has only just begun.
  await deliver(world, 6);
  await projector.runOnce();
  expect(projector.behindMs()).toBe(0);
  now.mockReturnValue(40_000);
  await projector.runOnce();
  expect(projector.behindMs()).toBe(40_000);
  await projector.catchUp();
  await projector.catchUp();
  expect([projector.behindMs(), told.at(-1)]).toEqual([0, 0]);
});

test('deliveries go first while the process is busy, unless a caller waits for the read models or they are half a minute behind', () => {
  const busy = { tookMs: 100, told: true, busy: true, awaited: false, lingerMs: 25, pollMs: 1000 };
  const ran = { outcome: 'projected', full: true, behindMs: 2000 } as const;
  expect(restAfter(ran, busy)).toBe(400);
  expect(restAfter({ ...ran, full: false }, { ...busy, tookMs: 1 })).toBe(25);
  expect(restAfter(ran, { ...busy, tookMs: 60_000 })).toBe(6000);
  expect(restAfter(ran, { ...busy, awaited: true })).toBe(0);
  expect(restAfter({ ...ran, behindMs: 30_000 }, busy)).toBe(10);
  expect(restAfter(ran, { ...busy, told: false })).toBe(0);
  expect(restAfter(ran, { ...busy, busy: false })).toBe(10);
  expect(restAfter({ ...ran, full: false }, { ...busy, busy: false })).toBe(25);
});

test('a projector that lost the race leaves the work to the other, unless a caller waits', () => {
  const calm = { tookMs: 100, told: true, busy: false, awaited: false, lingerMs: 25, pollMs: 1000 };
  const lost = { outcome: 'lost', full: true, behindMs: 0 } as const;
  expect(restAfter(lost, calm)).toBe(1000);
  expect(restAfter(lost, { ...calm, awaited: true })).toBe(25);
  // Longer than the longest pause of the other one.
  expect(restAfter(lost, { ...calm, busy: true })).toBe(7000);
});
