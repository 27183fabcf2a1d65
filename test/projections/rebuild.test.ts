import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { CodedError } from '../../src/core/errors.ts';
import { allProjections } from '../../src/projections/index.ts';
import { compareWithRebuild, rebuild } from '../../src/projections/rebuild.ts';
import { readModelNames } from '../../src/projections/tables.ts';
import { migrationsFor } from '../../src/store/migrations.ts';
import { findPositionFault } from '../../src/store/queries/fold-position.ts';
import type { Store } from '../../src/store/store.ts';
import { PATIENTLY, runs } from '../temporary.ts';
import { entrySequences } from './events.ts';
import { beginAnew, createWorld, decisionFact, dump, forgetProjections, rules, type World, webhook } from './world.ts';

test('a live run in batches of any size gives the rows of a rebuild, of one big batch and of single entries', async () => {
  const { store, projector } = await createWorld();
  let sequences = 0;
  const numRuns = runs(3);
  await fc.assert(
    fc.asyncProperty(
      entrySequences,
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 }),
      async (entries, sizes) => {
        const ledger = await beginAnew(store);
        // Each slice is appended and projected before the next one, as with real deliveries.
        const projectors = sizes.map((batchSize) => projector({ batchSize }));
        for (let from = 0, turn = 0; from < entries.length; turn += 1) {
          const size = sizes[turn % sizes.length] as number;
          await ledger.append(entries.slice(from, from + size));
          from += size;
          await projectors[turn % projectors.length]?.runOnce();
        }
        await projector({ batchSize: 7 }).catchUp();
        const live = await dump(store.read);

        const compared = await compareWithRebuild({ ...rules(store), batchSize: sizes[0] as number });
        expect(compared.differences).toEqual([]);
        expect(await dump(store.read)).toEqual(live);

        // A migration counts decisions from their histories.
        await store.foldTransaction(async ({ query }) => {
          await query.deleteFrom('decision_quarters').execute();
          await sql.raw(countDecisions).execute(query);
        });
        expect(await dump(store.read)).toEqual(live);

        for (const [batchSize, togetherMs] of [
          [1, 0],
          [500, 0],
          [3, 60_000],
        ] as const) {
          await forgetProjections(store);
          await projector({ batchSize, togetherMs }).catchUp();
          expect(await dump(store.read)).toEqual(live);
        }
        sequences += 1;
      },
    ),
    // The time limit ends the search for a smaller example, so a failure shows one.
    { numRuns, interruptAfterTimeLimit: PATIENTLY.timeout },
  );
  expect(sequences).toBeGreaterThan(0);
});

const [, countDecisions = ''] = migrationsFor({ big: 'bigint', real: 'real', blob: 'blob', id: 'integer' })[7] ?? [];

const at = '2026-03-01T10:00:00.000Z';

test('decisions are counted by quarter of an hour as judged now, also after a further record or an earlier decision', async () => {
  const world = await createWorld();
  const time = (moment: string) => ({ at: `2026-03-01T${moment}:00.000Z`, basis: 'payload', counts: true }) as const;
  const tell = async (said: Parameters<typeof decisionFact>[0]) => {
    await world.ledger.append([webhook('acme', { event: 'consent.recorded', fact: decisionFact(said) }, at)]);
    await world.projector().catchUp();
    const rows = await world.store.read.selectFrom('decision_quarters').selectAll().orderBy('quarter').execute();
    return rows.map(({ quarter, given, refused, withdrawn, other }) => [
      quarter.slice(11),
      ...[given, refused, withdrawn, other].map(Number),
    ]);
  };
  const no = { state: 'refused', purposes: { analytics: 'denied' } } as const;
  expect(await tell({ recordId: '2', ...no, occurred: time('09:20') })).toEqual([['09:15', 0, 1, 0, 0]]);
  // Consent given before makes the refusal a withdrawal.
  const yes = { state: 'given', purposes: { analytics: 'granted' } } as const;
  expect(await tell({ recordId: '1', ...yes, occurred: time('09:05') })).toEqual([
    ['09:00', 1, 0, 0, 0],
    ['09:15', 0, 0, 1, 0],
  ]);
  // A further record contradicts the consent: disputed, but what was once consented to is still withdrawn.
  expect(await tell({ recordId: '1', ...no, occurred: time('09:05') })).toEqual([
    ['09:00', 0, 0, 0, 1],
    ['09:15', 0, 0, 1, 0],
  ]);
});

async function deliver(world: World, from: number, count: number): Promise<void> {
  const entries = Array.from({ length: count }, (_, place) => {
    const nonce = from + place;
    const fact = decisionFact({
      recordId: `${nonce % 40}`,
      subject: `s${nonce % 9}`,
      state: nonce % 3 ? 'given' : 'refused',
    });
    return webhook(nonce % 2 ? 'acme' : 'bolt', { event: 'consent.recorded', fact, nonce }, at);
  });
  for (let next = 0; next < count; next += 50) await world.ledger.append(entries.slice(next, next + 50));
}

test('a decision that names a purpose twice, in different case, is judged the same when it is read back', async () => {
  const world = await createWorld();
  const told = [
    { recordId: '1', subject: null },
    { recordId: '2', purposes: { A: 'granted', a: 'granted' } },
    { recordId: '1' },
  ] as const;
  await world.ledger.append(
    told.map((said, nonce) => {
      const fact = decisionFact(said);
      return webhook('acme', { event: 'consent.recorded', fact, nonce }, at);
    }),
  );
  await world.projector().catchUp();
  const compared = await compareWithRebuild({ ...rules(world.store), batchSize: 1 });
  expect(compared.differences).toEqual([]);
});

test('an expiry that only a further record names ends the consent before the next decision, in batches of any size', async () => {
  const world = await createWorld();
  const [morning, evening] = ['2026-03-01T00:00:00.000Z', '2026-03-01T03:00:00.000Z'];
  const time = (moment: string) => ({ at: moment, basis: 'payload', counts: true }) as const;
  const told = [
    { recordId: '2', state: 'given', purposes: {}, occurred: time(evening) },
    { recordId: '1', state: 'given', purposes: {}, occurred: time(morning) },
    { recordId: '1', state: 'given', purposes: {}, occurred: time(morning), expiresAt: '2026-03-01T01:00:00.000Z' },
    { recordId: '2', state: 'given', purposes: { analytics: 'denied' }, occurred: time(evening) },
  ] as const;
  for (const [nonce, said] of told.entries()) {
    const fact = decisionFact(said);
    await world.ledger.append([webhook('acme', { event: 'consent.recorded', fact, nonce }, at)]);
    await world.projector().catchUp();
  }
  const [last] = await world.store.read.selectFrom('decisions').select(['label', 'withdraws']).execute();
  expect(last).toEqual({ label: 'refused', withdraws: '[]' });
  const compared = await compareWithRebuild(rules(world.store));
  expect(compared.differences).toEqual([]);
});

test('the policy version that only a further record names belongs to consent that had expired when it was given, in batches of any size', async () => {
  const world = await createWorld();
  const given = { recordId: '2', state: 'given', purposes: {}, expiresAt: '2026-03-01T00:00:00.000Z' } as const;
  const told = [
    { ...given, subject: '1' },
    { ...given, subject: null, policyVersion: '7' },
    // Names its subject late, so a batch with it reads the history of the subject again.
    { recordId: '1', state: 'given', subject: null },
    { recordId: '1', state: 'given', subject: '1' },
  ] as const;
  const held = async () => {
    const rows = await world.store.read.selectFrom('decisions').select('held').execute();
    return rows.map((row) => (JSON.parse(row.held) as { policyVersion: string | null }[])[0]?.policyVersion);
  };
  for (const [nonce, said] of told.entries()) {
    const fact = decisionFact(said);
    await world.ledger.append([webhook('acme', { event: 'consent.recorded', fact, nonce }, at)]);
    await world.projector().catchUp();
    if (nonce === 1) expect(await held()).toEqual(['7']);
  }
  const compared = await compareWithRebuild(rules(world.store));
  expect(compared.differences).toEqual([]);
});

test('a further record that names only necessary purposes turns consent to everything into a refusal, live as in a rebuild', async () => {
  const world = await createWorld();
  for (const [nonce, purposes] of [{}, { necessary: 'granted' } as const].entries()) {
    const fact = decisionFact({ recordId: '1', state: 'given', purposes });
    await world.ledger.append([webhook('acme', { event: 'consent.recorded', fact, nonce }, at)]);
    await world.projector().catchUp();
  }
  const [last] = await world.store.read.selectFrom('decisions').select(['label', 'stands']).execute();
  expect(last).toEqual({ label: 'refused', stands: '[]' });
  const compared = await compareWithRebuild(rules(world.store));
  expect(compared.differences).toEqual([]);
});

test('a rebuild corrects rows that were altered, added or removed in the read models, and says which', async () => {
  const world = await createWorld();
  await deliver(world, 0, 120);
  await world.projector().catchUp();
  const right = await dump(world.store.read);
  await world.store.foldTransaction(async ({ query }) => {
    await query.updateTable('decisions').set({ state: 'given' }).where('source', '=', 'bolt').execute();
    await query.updateTable('decision_history').set({ subject: 'someone else' }).where('seq', '=', 17).execute();
    await query.deleteFrom('delivery_history').where('seq', 'in', [3, 99]).execute();
    await query.deleteFrom('decisions').where('subject', '=', 's1').execute();
    await query
      .insertInto('ambiguous_repeats')
      .values({ seq: 5, source: 'acme', event: 'x', resolution: 'repeat', settled_repeats: 0 })
      .execute();
    // Numbers that no entry has: a document would read the first one now, and the second one once the ledger has grown.
    for (const seq of [-1, 500])
      await query
        .insertInto('quarantine')
        .values({ seq, source: 'acme', event: 'x', reason: 'x', received_at: at })
        .execute();
  });
  const altered = await dump(world.store.read);

  const compared = await compareWithRebuild(rules(world.store));
  expect(await dump(world.store.read)).toEqual(altered);
  const report = await rebuild(rules(world.store));
  expect(report).toEqual(compared);
  expect(report).toMatchObject({
    seq: 120,
    position: null,
    counts: { quarantine: 2, delivery_history: 2, decision_history: 1 },
  });
  const named = report.differences.map(
    ({ table, key, live, rebuilt }) => `${table} ${key} ${live ? '1' : '0'}${rebuilt ? '1' : '0'}`,
  );
  expect(named).toEqual(
    expect.arrayContaining([
      'decision_history seq=17 part=0 11',
      'delivery_history seq=3 01',
      'delivery_history seq=99 01',
      'ambiguous_repeats seq=5 10',
      'decisions source=acme subject=s1 banner_id=b1 01',
    ]),
  );
  expect(await dump(world.store.read)).toEqual(right);
  expect((await compareWithRebuild(rules(world.store))).differences).toEqual([]);
});

test('a rebuild next to a live projector under load neither stops it nor is confused by it', async () => {
  const world = await createWorld();
  await deliver(world, 0, 300);
  const live = world.projector({ batchSize: 20, lingerMs: 0 });
  live.start(world.ledger.onAppended);
  await live.projected(100);
  await world.store.foldTransaction(async ({ query }) => {
    await query.updateTable('decisions').set({ region: 'altered' }).execute();
    await query.updateTable('decision_history').set({ region: 'altered' }).where('seq', '<', 50).execute();
  });
  // Entries arrive ten times during each rebuild, however fast the machine is.
  let next = 300;
  const arriving: Promise<void>[] = [];
  const underLoad = () => {
    let left = 10;
    return () => {
      if (left > 0) arriving.push(deliver(world, next, 25));
      if (left > 0) next += 25;
      left -= 1;
    };
  };
  const report = await rebuild({ ...rules(world.store), batchSize: 25, onProgress: underLoad() });
  expect(report.differences.length).toBeGreaterThan(0);
  const during = live.position();
  await rebuild({ ...rules(world.store), batchSize: 25, onProgress: underLoad() });
  await Promise.all(arriving);
  await live.projected(next);
  expect(live.position()).toBeGreaterThan(during);
  await live.catchUp();
  expect((await compareWithRebuild(rules(world.store))).differences).toEqual([]);
});

test('a comparison gives way between its batches, and what is folded meanwhile is compared too', async () => {
  const world = await createWorld();
  await deliver(world, 0, 30);
  const live = world.projector();
  await live.catchUp();
  let times = 0;
  const giveWay = async () => {
    await deliver(world, 100 * (times += 1), 5);
    if (times < 3) await live.catchUp();
  };
  const compared = await compareWithRebuild({ ...rules(world.store), batchSize: 10, giveWay });
  expect(compared).toMatchObject({ seq: 40, counts: {}, differences: [] });
  expect(times).toBe(2);
});

test('a comparison that may not take over waits for the one in progress, and then runs', async () => {
  const world = await createWorld();
  await deliver(world, 0, 200);
  await world.projector().catchUp();
  const sound = { seq: 200, position: null, counts: {}, differences: [], indexes: [] };
  const politely = { ...rules(world.store), takesOver: false };
  let begun = () => {};
  const first = new Promise<void>((resolve) => (begun = resolve));
  const earlier = compareWithRebuild({ ...politely, batchSize: 10, onProgress: () => begun() });
  await first;
  await expect(compareWithRebuild(politely)).rejects.toMatchObject({ code: 'conflict' });
  expect(await earlier).toEqual(sound);
  expect(await compareWithRebuild(politely)).toEqual(sound);
});

test('the later of two rebuilds at once finishes, and the earlier one says so and stops', async () => {
  const world = await createWorld();
  await deliver(world, 0, 200);
  await world.projector().catchUp();
  let begun = () => {};
  const first = new Promise<void>((resolve) => (begun = resolve));
  const earlier = rebuild({ ...rules(world.store), batchSize: 10, onProgress: () => begun() });
  const stopped = expect(earlier).rejects.toMatchObject({ code: 'conflict' });
  await first;
  expect(await compareWithRebuild(rules(world.store))).toEqual({
    seq: 200,
    position: null,
    counts: {},
    differences: [],
    indexes: [],
  });
  await stopped;
  const left = await world.store.read.introspection.getTables();
  expect(left.map(({ name }) => name).filter((name) => name.startsWith('rebuild_'))).toEqual([]);
});

test('a batch that was folded before a rebuild was swapped in is folded again, not written over it', async () => {
  const world = await createWorld();
  await deliver(world, 0, 40);
  const slow = world.projector({ batchSize: 20 });
  await slow.runOnce();
  await world.store.foldTransaction(
    async ({ query }) => void (await query.updateTable('decisions').set({ changes: 1000 }).execute()),
  );
  // The rebuild is swapped in after the batch was folded over the altered rows, and before it is written.
  let swapped = false;
  const store: Store = {
    ...world.store,
    foldTransaction: async (work) => {
      if (!swapped) {
        swapped = true;
        expect((await rebuild(rules(world.store))).differences).not.toEqual([]);
      }
      return world.store.foldTransaction(work);
    },
  };
  const interrupted = world.projector({ store, batchSize: 20 });
  expect(await interrupted.runOnce()).toBe('lost');
  await interrupted.catchUp();
  expect((await compareWithRebuild(rules(world.store))).differences).toEqual([]);
});

test('every table that a projection writes is known to the rebuild, with all its columns', () => {
  const written = allProjections.flatMap(({ tables }) => tables);
  expect([...written].sort()).toEqual([...readModelNames].sort());
});

test('read models that are almost entirely wrong are replaced as a whole', async () => {
  const world = await createWorld();
  await deliver(world, 0, 30);
  await world.projector().catchUp();
  const right = await dump(world.store.read);
  const wrong = Array.from({ length: 25_000 }, (_, place) => ({
    source: 'acme',
    day: `${place}`,
    event: 'x',
    deliveries: 1,
  }));
  await world.store.foldTransaction((tx) => tx.insertMany('delivery_counts', wrong));
  const { counts, differences } = await rebuild(rules(world.store));
  expect(counts.delivery_counts).toBeGreaterThanOrEqual(25_000);
  expect(differences.length).toBeGreaterThan(0);
  expect(differences.length).toBeLessThan(100);
  expect(await dump(world.store.read)).toEqual(right);
});

test('a rebuild corrects a position that is ahead of the ledger, and the rows of missing entries', async () => {
  const world = await createWorld();
  await deliver(world, 0, 30);
  await world.projector().catchUp();
  const whole = await dump(world.store.read);
  await deliver(world, 30, 10);
  await world.projector().catchUp();
  // An attacker removes the end, or a database is restored without its read models.
  await world.store.transaction((tx) => tx.query.deleteFrom('entries').where('seq', '>', 30).execute());
  const fault = { what: 'ahead', at: 40, by: 10 };
  expect(await findPositionFault(world.store.read)).toEqual(fault);
  const ahead = await compareWithRebuild(rules(world.store));
  expect(ahead).toMatchObject({ seq: 30, position: { what: 'ahead', by: 10 }, counts: { delivery_history: 10 } });
  expect(await findPositionFault(world.store.read)).toEqual(fault);
  await rebuild(rules(world.store));
  expect(await findPositionFault(world.store.read)).toBeNull();
  await world.projector().catchUp();
  expect(await dump(world.store.read)).toEqual(whole);
});

test('a running projector notices that it is ahead and has this corrected, so the next entries are projected', async () => {
  const world = await createWorld();
  await deliver(world, 0, 5);
  await world.projector().catchUp();
  await setPosition(world, 1000);
  const projector = world.projector({ pollMs: 20, onMisplaced: () => rebuild(rules(world.store)) });
  projector.start();
  await expect.poll(() => findPositionFault(world.store.read)).toBeNull();
  await deliver(world, 5, 5);
  await expect
    .poll(async () => (await world.store.read.selectFrom('delivery_history').select('seq').execute()).length)
    .toBe(10);
});

/** Sets the position, or removes it with null, as an attacker with write access might. */
const setPosition = (world: World, seq: number | null) =>
  world.store.foldTransaction(async ({ query }) => {
    if (seq === null) await query.deleteFrom('fold_positions').execute();
    else await query.updateTable('fold_positions').set({ seq }).where('name', '=', 'projector').execute();
  });

const misplacements = [
  ['set back', 7, 'set-back'],
  ['set back to the beginning', 0, 'set-back'],
  ['removed', null, 'set-back'],
  ['set forward past entries that were not projected', 45, 'not-held'],
] as const;

test.each(misplacements)(
  'a position %s is reported by a comparison and corrected by a rebuild',
  async (_how, to, what) => {
    const world = await createWorld();
    await deliver(world, 0, 30);
    await world.projector().catchUp();
    await deliver(world, 30, 20);
    await setPosition(world, to);
    const position = { what, at: to ?? 0 };
    expect(await compareWithRebuild(rules(world.store))).toMatchObject({ position });
    expect(await rebuild(rules(world.store))).toMatchObject({ position, seq: 50 });
    expect(await compareWithRebuild(rules(world.store))).toEqual({
      seq: 50,
      position: null,
      counts: {},
      differences: [],
      indexes: [],
    });
  },
);

test.each(misplacements)(
  'a projector that finds the position %s folds no entry twice and skips none',
  async (_how, to, what) => {
    const world = await createWorld();
    await deliver(world, 0, 30);
    await world.projector().catchUp();
    const onMisplaced = vi.fn(() => rebuild(rules(world.store)));
    const running = world.projector({ batchSize: 5, onMisplaced });
    expect(await running.catchUp()).toBe(30);
    expect(onMisplaced).not.toHaveBeenCalled();
    await deliver(world, 30, 20);
    await setPosition(world, to);
    // A running projector, and one that starts now.
    const starting = world.projector({ batchSize: 5, onMisplaced });
    await Promise.all([running.catchUp(), starting.catchUp()]);
    expect(onMisplaced).toHaveBeenCalledWith(
      expect.stringContaining(what === 'set-back' ? 'the position was set back or removed' : 'entries were skipped'),
    );
    await deliver(world, 50, 5);
    await running.catchUp();
    expect(await compareWithRebuild(rules(world.store))).toEqual({
      seq: 55,
      position: null,
      counts: {},
      differences: [],
      indexes: [],
    });
  },
);

test.each([
  ['this process', null],
  ['another one', new CodedError('conflict', 'Another rebuild has started.')],
])(
  'a position changed again while %s corrects it is corrected too, so no entry is folded twice',
  async (_by, error) => {
    const world = await createWorld();
    await deliver(world, 0, 30);
    await world.projector().catchUp();
    await setPosition(world, 7);
    const onMisplaced = vi.fn(async () => {
      await rebuild(rules(world.store));
      if (onMisplaced.mock.calls.length > 1) return;
      await setPosition(world, 7);
      if (error !== null) throw error;
    });
    await world.projector({ batchSize: 5, onMisplaced }).catchUp();
    expect(onMisplaced).toHaveBeenCalledTimes(2);
    expect(await compareWithRebuild(rules(world.store))).toMatchObject({ seq: 30, position: null, differences: [] });
  },
);

test('a projector next to another one that folds does not mistake its position for a wrong one', async () => {
  const world = await createWorld();
  const onMisplaced = vi.fn(async () => undefined);
  const racers = [3, 7, 11].map((batchSize) => world.projector({ batchSize, onMisplaced }));
  await Promise.all([
    deliver(world, 0, 300),
    ...racers.map(async (racer) => {
      while (racer.position() < 300) await racer.runOnce();
    }),
  ]);
  expect(onMisplaced).not.toHaveBeenCalled();
});
