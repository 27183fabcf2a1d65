import { expect, it } from 'vitest';
import { sideBySide } from '../../src/core/side-by-side.ts';

const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

it('sideBySide runs at most the given number at once, and keeps the order of the items', async () => {
  let running = 0;
  let most = 0;
  const results = await sideBySide([5, 1, 4, 2, 3], 2, async (item) => {
    most = Math.max(most, ++running);
    for (let nth = 0; nth < item; nth += 1) await turn();
    running -= 1;
    return item * 10;
  });
  expect(results).toEqual([50, 10, 40, 20, 30]);
  expect(most).toBe(2);
  expect(await sideBySide([], 4, turn)).toEqual([]);
});

it('sideBySide begins no more once one has failed, and waits for running ones', async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const working = sideBySide([1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item);
    if (item === 1) throw new Error('the first');
    await turn();
    ended.push(item);
  });
  await expect(working).rejects.toThrow('the first');
  expect(begun).toEqual([1, 2]);
  expect(ended).toEqual([2]);
});
