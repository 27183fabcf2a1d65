// SQLite only: the attacks are statements in its dialect, against files that are copied for each of them.
import { expect, test } from 'vitest';
import { isPossible, mustBeFound, tableInDocs } from './attack-table.ts';
import { createAttackedWorld, findAttack } from './attack-world.ts';
import { attacks } from './attacks.ts';

// Every fifth attack, by an attacker who has only the database; attacks.long.test.ts has all of them, by every
// attacker.

const all = attacks.flatMap(([group, list]) => list.map((attack) => ({ group, attack })));

test('every change to the database is found, or listed as a limit', async () => {
  const world = await createAttackedWorld();
  try {
    const wrong: string[] = [];
    for (const { group, attack } of all.filter(
      ({ attack }, place) => place % 5 === 0 && isPossible(attack, 'database'),
    )) {
      const finder = await findAttack(world, group, attack, 'database');
      if ((finder === null) === mustBeFound(attack, 'database')) wrong.push(`${attack.what}: ${finder ?? 'nobody'}`);
    }
    expect(wrong).toEqual([]);
  } finally {
    await world.remove();
  }
});

test('docs/threats.md lists every attack, in order', async () => {
  expect(all.length).toBeGreaterThanOrEqual(80);
  const rows = (await tableInDocs()).flatMap((line) => /^\| ([^*|][^|]*?) \|/.exec(line)?.[1] ?? []);
  expect(rows.slice(1)).toEqual(all.map(({ attack }) => attack.what));
});
