import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { computeCase, readDeadlineCase } from '../../src/law/deadline-calculator.ts';
import { createRegimeTable } from '../../src/law/regime-table.ts';

/**
 * Cases written from the statutes, each with its citation, and computed by hand with a calendar, never by this program.
 * If one differs, the statute decides which is wrong. `laws`: these apply; `notLaws`: these do not; `lawsUnconfirmed`:
 * these apply and are marked as unconfirmed.
 */
const caseSchema = z.strictObject({
  name: z.string(),
  citation: z.string().min(5),
  input: z.unknown(),
  expect: z.strictObject({
    limit: z.string().nullable().optional(),
    atOnce: z.boolean().optional(),
    aimFor: z.string().optional(),
    acknowledgeBy: z.string().nullable().optional(),
    law: z.string().nullable().optional(),
    laws: z.array(z.string()).optional(),
    notLaws: z.array(z.string()).optional(),
    lawsUnconfirmed: z.array(z.string()).optional(),
  }),
});
const lines = readFileSync(join(import.meta.dirname, 'statute-cases.jsonl'), 'utf8')
  .trim()
  .split('\n');
const cases = lines.map((line) => caseSchema.parse(JSON.parse(line)));
const regimes = createRegimeTable();

function answerTo(input: unknown) {
  const read = readDeadlineCase(input);
  if (read.outcome === 'refused') throw new Error(read.problems.join(' '));
  return computeCase(read.value, regimes).answer;
}

describe('the cases written from the statutes', () => {
  it('are many, and each has a different name', () => {
    expect(cases.length).toBeGreaterThanOrEqual(150);
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  });

  it.each(cases)('$name ($citation)', ({ input, expect: expected }) => {
    const answer = answerTo(input);
    const { laws = [], notLaws = [], lawsUnconfirmed = [], ...values } = expected;
    expect(answer).toMatchObject(values);
    const ids = answer.laws.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(laws));
    for (const id of notLaws) expect(ids).not.toContain(id);
    for (const id of lawsUnconfirmed)
      expect(answer.laws).toContainEqual(expect.objectContaining({ id, confirmed: false }));
  });

  it('never warn on a Saturday or a Sunday, nor after the limit', () => {
    const warned = cases.map(({ input }) => answerTo(input)).filter(({ warnOn }) => warnOn !== null);
    expect(warned.length).toBeGreaterThan(50);
    for (const { warnOn, limit } of warned) {
      expect([0, 6]).not.toContain(new Date(`${warnOn}T12:00:00Z`).getUTCDay());
      expect(String(warnOn) <= String(limit)).toBe(true);
    }
  });

  it('are decided by the earliest limit of the laws that apply', () => {
    for (const { input } of cases) {
      const { limit, law, laws } = answerTo(input);
      const [first] = laws.map((one) => one.limit).sort();
      expect([limit, law === null]).toEqual([first ?? null, laws.length === 0]);
    }
  });
});
