import { describe, expect, it } from 'vitest';
import { clauses, manyReadings, plainReading, steps, stepsOf, waysOf } from './readings.ts';
import { createStrangerWorld, type StrangerWorld, takeSteps } from './stranger-world.ts';

describe('a service that follows its documentation', { timeout: 900_000 }, () => {
  it('has each interpretation of each clause in one of a few readings', () => {
    for (const clause of clauses)
      expect([clause, new Set(Object.values(manyReadings).map((reading) => reading[clause])).size]).toEqual([
        clause,
        waysOf(clause).length,
      ]);
  });

  it('works in full under each of a few readings', async () => {
    const world = await createStrangerWorld(manyReadings);
    const faults: string[] = [];
    for (const [slug, reading] of Object.entries(manyReadings)) faults.push(...(await faultsOf(world, slug, reading)));
    expect(faults).toEqual([]);
  });

  it('works under each interpretation of a single clause, with all others read plainly', async () => {
    const readings = clauses.flatMap((clause) =>
      waysOf(clause).map((way, nth) => ({
        slug: `${clause}-${nth}`.toLowerCase(),
        reading: { ...plainReading, [clause]: way },
        wanted: stepsOf(clause),
      })),
    );
    const world = await createStrangerWorld(Object.fromEntries(readings.map(({ slug, reading }) => [slug, reading])));
    const faults: string[] = [];
    for (const { slug, reading, wanted } of readings) faults.push(...(await faultsOf(world, slug, reading, wanted)));
    expect(faults).toEqual([]);
  });
});

async function faultsOf(world: StrangerWorld, slug: string, ...[reading, wanted = steps]: FaultsOf): Promise<string[]> {
  return takeSteps(world, slug, reading, wanted).then(
    () => [],
    (error: unknown) => [`${slug}: ${String(error)} ${world.services.get(slug)?.refusals.join(', ')}`],
  );
}

type FaultsOf = readonly [Parameters<typeof takeSteps>[2], Parameters<typeof takeSteps>[3]?];
