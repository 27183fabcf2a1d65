import { expect, test } from 'vitest';
import { features } from './features.ts';
import { fillIn, compareMoved } from './compare.ts';
import { backupAndRestore } from './movements.ts';

test('an installation with every feature is the same after `backup` and `restore`', async () => {
  const filled = await fillIn(features, 'sqlite');
  expect.soft(filled.unfulfilled).toEqual([]);
  expect(await compareMoved(filled, backupAndRestore)).toEqual([]);
});
