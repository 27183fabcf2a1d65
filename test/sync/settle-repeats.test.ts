import { expect, it } from 'vitest';
import { loadAmbiguousRepeats } from '../../src/projections/ambiguous-repeats.ts';
import { compareWithRebuild } from '../../src/projections/rebuild.ts';
import { readCounters } from '../../src/store/queries/counters.ts';
import { settleRepeats } from '../../src/sync/settle-repeats.ts';
import { createWorld, decisionFact, pulledRow, rules, type World, webhook } from '../projections/world.ts';

const day = (time: string) => `2026-03-0${time}:00.000Z`;

/** An anonymous decision of a subject that arrives at the given times. */
async function deliver(world: World, subject: string | null, times: readonly string[]): Promise<void> {
  for (const time of times) {
    const occurred = { at: day(time), basis: 'received' as const, counts: true };
    // Identical bytes, so unlike in other tests the body must not contain the time of receipt.
    const fact = decisionFact({ subject, occurred: { ...occurred, at: day(times[0] ?? '') } });
    await world.ledger.append([webhook('acme', { event: 'consent.recorded', fact }, day(time))]);
  }
}

async function pull(world: World, recordId: string, subject: string, time: string): Promise<void> {
  const fact = decisionFact({
    via: 'pull',
    recordId,
    subject,
    occurred: { at: day(time), basis: 'row', counts: true },
  });
  await world.ledger.append([pulledRow('acme', { event: 'consent.recorded', fact }, day('9T00:00'))]);
}

async function setWatermark(world: World, watermark: string, readTo = watermark): Promise<void> {
  const none = { cursor: null, run_id: null, run_from: null, run_to: null, run_as_of: null };
  await world.store.transaction(async (tx) => {
    await tx.query.deleteFrom('sync_positions').execute();
    await tx.query
      .insertInto('sync_positions')
      .values({
        source: 'acme',
        banner_id: 'b1',
        ...none,
        watermark,
        read_to: readTo,
        rows_total: 0,
        last_success_at: null,
        last_error: null,
        last_error_at: null,
        updated_at: watermark,
      })
      .execute();
  });
}

it('the pulled log settles repeats with an entry that names the rows, and a rebuild gives the same', async () => {
  const world = await createWorld();
  const projector = world.projector();
  await deliver(world, 'twice', ['1T09:00', '1T09:30']);
  await deliver(world, 'once', ['1T10:00', '1T10:01', '1T10:02']);
  await deliver(world, 'unknown to the log', ['1T11:00', '1T11:01']);
  await deliver(world, null, ['1T12:00', '1T12:01']);
  await deliver(world, 'never repeated', ['1T13:00']);
  await pull(world, 'r1', 'twice', '1T08:59');
  await pull(world, 'r2', 'twice', '1T09:29');
  await pull(world, 'r3', 'once', '1T10:00');
  // Too long before: a different decision.
  await pull(world, 'r0', 'once', '1T08:00');
  const settle = () =>
    settleRepeats(
      {
        store: world.store,
        ledger: world.ledger,
        clock: () => new Date(day('9T00:00')),
        lookBackMs: 24 * 3_600_000,
        catchUp: () => projector.catchUp(),
      },
      { source: null, actor: 'schedule' },
    );
  const resolutions = async () =>
    Object.fromEntries(
      (await loadAmbiguousRepeats(world.store.read, { source: 'acme' })).map(({ seq, resolution }) => [
        seq,
        resolution,
      ]),
    );

  // Rows may appear a day late and are then pulled within six hours: until then, only existing rows count.
  await setWatermark(world, day('2T15:00'));
  expect(await settle()).toEqual({ repeats: 0, newChoices: 1, open: 3 });
  // Pulled so far, but with a shorter look-back: rows shown late may be missing.
  await setWatermark(world, day('2T16:30'), day('2T15:00'));
  expect(await settle()).toEqual({ repeats: 0, newChoices: 0, open: 3 });
  await setWatermark(world, day('2T16:30'));
  expect(await settle()).toEqual({ repeats: 1, newChoices: 0, open: 2 });
  expect(await settle()).toEqual({ repeats: 0, newChoices: 0, open: 2 });
  expect(await resolutions()).toEqual({ 1: 'new-choice', 2: 'repeat', 3: 'unresolved', 4: 'unresolved' });

  const settled = await world.store.read
    .selectFrom('action_history')
    .select(['object', 'details'])
    .where('action', '=', 'repeat.settled')
    .orderBy('seq')
    .execute();
  expect(settled.map(({ object, details }) => [object, JSON.parse(details)])).toMatchObject([
    ['1', { repeats: 1, resolution: 'new-choice', rows: [6, 7] }],
    ['2', { repeats: 2, resolution: 'repeat', rows: [8] }],
  ]);
  expect((await compareWithRebuild(rules(world.store))).differences).toEqual([]);
  const period = { source: 'acme', asOf: 1000, from: day('1T00:00'), to: day('2T00:00') };
  expect((await readCounters(world.store.read, period, day('3T00:00'))).ambiguous).toEqual({
    deliveries: 4,
    repeats: 5,
    unresolved: 2,
    newChoices: 1,
  });

  // Repeated once more: the earlier resolution does not cover this repeat.
  await deliver(world, 'once', ['1T10:00', '1T10:40']);
  expect((await resolutions())[2]).toBe('unresolved');
});
