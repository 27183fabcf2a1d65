import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareWithRebuild } from '../../src/projections/rebuild.ts';
import { entrySequences } from './events.ts';
import { createWorld, dump, forgetProjections, rules } from './world.ts';


test('a live run in batches of any size gives the rows of a rebuild, of one big batch and of single entries', async () => {
  const { store, ledger, projector } = await createWorld();
  let sequences = 0;
  await fc.assert(
    fc.asyncProperty(
      entrySequences,
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 }),
      async (entries, sizes) => {
        await store.transaction(async (tx) => {
          await tx.query.deleteFrom('entries').execute();
          await tx.query.deleteFrom('arrivals').execute();
        });
        await forgetProjections(store);
        // Each slice is appended and projected before the next, as deliveries come in.
        const runs = sizes.map((batchSize) => projector({ batchSize }));
        for (let from = 0, turn = 0; from < entries.length; turn += 1) {
          const size = sizes[turn % sizes.length] as number;
          await ledger.append(entries.slice(from, from + size));
          from += size;
          await runs[turn % runs.length]?.runOnce();
        }
        await projector({ batchSize: 7 }).catchUp();
        const live = await dump(store.read);

        const compared = await compareWithRebuild({ ...rules(store), batchSize: sizes[0] as number });
        expect(compared.differences).toEqual([]);
        expect(await dump(store.read)).toEqual(live);

        for (const batchSize of [1, 500]) {
          await forgetProjections(store);
          await projector({ batchSize }).catchUp();
          expect(await dump(store.read)).toEqual(live);
        }
        sequences += 1;
      },
    ),
    { numRuns: 40 },
  );
  expect(sequences).toBeGreaterThanOrEqual(40);
});
