import { expect, test } from 'vitest';
import { unclaimedOf, whatThereIs } from './claims.ts';
import { compareMoved, fillIn } from './compare.ts';
import { features } from './features.ts';
import { backupAndRestore } from './movements.ts';

test('every table, action, setting and file in DATA_DIR is left by a feature of the matrix', async () => {
  expect(unclaimedOf(features, await whatThereIs())).toEqual([]);
});

test('an installation with every feature is the same after `backup` and `restore`', async () => {
  const filled = await fillIn(features);
  expect.soft(filled.unfulfilled).toEqual([]);
  expect.soft(filled.unclaimed).toEqual([]);
  expect((await compareMoved(filled, backupAndRestore)).found).toEqual([]);
});
