import { expect, it } from 'vitest';
import { createOfficeWorld, signedIn } from './office-world.ts';

it('a page says what was done only in its own words', async () => {
  const world = await createOfficeWorld();
  const owner = await signedIn(world);
  const said = async (address: string) => (await owner.get(address)).text.includes('class="notice good"');
  expect(await said('/banners?done=named')).toBe(true);
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
    expect([name, await said(`/banners?done=${name}`), await said(`/?done=${name}`)]).toEqual([name, false, false]);
  // The evidence page has good and bad news.
  const newsOf = async (name: string) =>
    /class="notice (?:undefined|good)"/.test((await owner.get(`/evidence?done=${name}`)).text);
  expect(await newsOf('sealed')).toBe(true);
  for (const name of ['constructor', 'toString', '__proto__'])
    expect([name, await newsOf(name)]).toEqual([name, false]);
});
