import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { waiting } from './suites.ts';

/**
 * Vitest's own order, except that suites that mostly wait are spread over the first half of their project: each waits
 * while others compute, and none is still waiting when all others are done. On a fresh clone vitest has no durations
 * and would start the smallest file last, however long it waits.
 */
export class WaitingEarly extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specs);
    const { root } = this.ctx.config;
    const projects = new Set(sorted.map(({ project }) => project.name));
    return [...projects].flatMap((name) =>
      spread(
        sorted.filter(({ project }) => project.name === name),
        ({ moduleId }) => waiting.indexOf(relative(root, moduleId)),
      ),
    );
  }
}

/** Moves what has a rank (not -1), by rank, to places at equal distances in the first half of the list. */
export function spread<T>(items: readonly T[], rankOf: (item: T) => number): T[] {
  const ranked = items.filter((item) => rankOf(item) !== -1).sort((a, b) => rankOf(a) - rankOf(b));
  const spreading = items.filter((item) => rankOf(item) === -1);
  const distance = Math.floor(spreading.length / 2 / Math.max(1, ranked.length));
  for (const [place, item] of ranked.entries()) spreading.splice(place * (distance + 1), 0, item);
  return spreading;
}
