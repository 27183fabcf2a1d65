import { expect, test } from 'vitest';
import { type Found, isPossible, mustBeFound, tableInDocs, tableOf, writeTable } from './attack-table.ts';
import { createAttackedWorld, findAttack, levels } from './attack-world.ts';
import { attacks } from './attacks.ts';

test('each attack is found by the party that docs/threats.md names, and none stays silent', async () => {
  const world = await createAttackedWorld();
  const found = new Map<Parameters<Found['get']>[0], Record<string, string | null>>();
  const wrong: string[] = [];
  try {
    for (const [group, list] of attacks) {
      for (const attack of list) {
        const finders: Record<string, string | null> = {};
        for (const level of levels) {
          if (!isPossible(attack, level)) continue;
          const finder = await findAttack(world, group, attack, level);
          finders[level] = finder;
          if ((finder === null) === mustBeFound(attack, level))
            wrong.push(`${level}: ${attack.what}: ${finder ?? 'nobody'}`);
        }
        found.set(attack, finders);
      }
    }
  } finally {
    await world.remove();
  }
  expect(wrong).toEqual([]);
  if (process.env.UPDATE_DOCS === 'yes') await writeTable(tableOf(found));
  expect(await tableInDocs()).toEqual(tableOf(found));
});
