import { expect, test } from 'vitest';
import { CodedError } from '../../src/core/errors.ts';
import { sealEntry } from '../../src/crypto/entry.ts';
import { createReadModelCheck } from '../../src/projections/last-check.ts';
import type { RebuildReport } from '../../src/projections/rebuild.ts';
import { temporaryLedger, testKeys } from '../temporary.ts';

const sound: RebuildReport = { seq: 1, position: null, counts: {}, differences: [], indexes: [] };
const HOUR = 3_600_000;

/** A check over a ledger that ends at `last`, and the number of its comparisons. */
async function open(last: number, sealed = last) {
  const { store, ledger } = await temporaryLedger();
  const entry = { source: 'default', kind: 'webhook', receivedAt: '2026-03-01T10:00:00.000Z' } as const;
  const content = { meta: Buffer.from('{}'), body: Buffer.from('{}'), dedupeKey: Buffer.alloc(32, 1) };
  await store.transaction(async (tx) => {
    await tx.insertEntries([sealEntry({ ...entry, ...content }, last, 1, Buffer.alloc(32, 2), testKeys.append)]);
  });
  await store.foldTransaction((tx) => tx.insertMany('fold_positions', [{ name: 'projector', seq: last }]));
  const world = { compared: 0, now: Date.parse('2026-03-01T12:00:00Z'), report: sound, fails: null as Error | null };
  const openCheck = () =>
    createReadModelCheck({
      pendingReading: async () => null,
      store,
      ledger,
      clock: () => new Date(world.now),
      sealedEntries: () => Promise.resolve(sealed),
      compare: () => {
        world.compared += 1;
        const error = world.fails;
        world.fails = null;
        return error === null ? Promise.resolve(world.report) : Promise.reject(error);
      },
    });
  return { store, world, check: openCheck(), another: openCheck() };
}

test('in a small ledger every document is preceded by a comparison', async () => {
  const { world, check } = await open(10_000);
  for (const times of [1, 2, 3]) {
    expect(await check.fault()).toBeNull();
    expect(world.compared).toBe(times);
  }
  world.report = { ...sound, counts: { cases: 2 }, position: { what: 'ahead', at: 5, by: 4 } };
  expect(await check.fault()).toContain('cases (2), position (4 ahead)');
  expect((await check.last())?.found).toBe('cases (2), position (4 ahead)');
});

test('a ledger does not become a large one by an entry with a high number', async () => {
  const { world, check } = await open(20_000, 1811);
  expect([await check.fault(), await check.fault(), world.compared]).toEqual([null, null, 2]);
});

test('in a large ledger a sound comparison of the last day is enough, and nobody without the keys can claim one', async () => {
  const { store, world, check, another } = await open(10_001);
  await check.check();
  expect(await another.fault()).toBeNull();
  expect(world.compared).toBe(1);

  world.now += 26 * HOUR;
  expect(await another.fault()).toBeNull();
  expect(world.compared).toBe(2);

  const { value } = await store.read
    .selectFrom('settings')
    .select('value')
    .where('name', '=', 'read_models_checked')
    .executeTakeFirstOrThrow();
  world.now += 48 * HOUR;
  const forged = JSON.stringify({ ...(JSON.parse(value) as object), at: new Date(world.now).toISOString() });
  await store.transaction((tx) =>
    tx.insertMany('settings', [{ name: 'read_models_checked', value: forged }], 'replace'),
  );
  world.report = { ...sound, counts: { decisions: 1 } };
  expect(await another.fault()).toContain('decisions (1)');
  expect(world.compared).toBe(3);
  // After a difference it compares again: it may have been corrected.
  world.report = sound;
  expect(await another.fault()).toBeNull();
  expect(world.compared).toBe(4);
});

test('when another process compares at the same time, its result counts', async () => {
  const { world, check, another } = await open(5);
  world.fails = new CodedError('conflict', 'Another rebuild was started meanwhile.');
  const waiting = check.fault();
  await expect.poll(() => world.compared).toBe(1);
  world.report = { ...sound, counts: { cases: 1 } };
  await another.check();
  expect(await waiting).toContain('cases (1)');
  expect(world.compared).toBe(2);
});
