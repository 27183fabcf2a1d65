import { expect, it } from 'vitest';
import { UsageError } from '../../src/core/errors.ts';
import { parseBulkItems } from '../../src/policies/bulk-file.ts';

function problemsOf(text: string): readonly string[] {
  try {
    parseBulkItems(Buffer.from(text), 'items.csv');
  } catch (error) {
    if (error instanceof UsageError) return error.problems;
    throw error;
  }
  return [];
}

const rows = (count: number) =>
  `policy_type,jurisdiction,business_name\n${Array.from({ length: count }, (_, n) => `eula,GB,Shop ${n}\n`).join('')}`;

it('the reader of bulk files accepts ten thousand items, and refuses one more, as CSV and as JSON', () => {
  expect(parseBulkItems(Buffer.from(rows(10_000)), 'items.csv')).toHaveLength(10_000);
  const tooMany = ['items.csv has more than 10000 items, which is the limit: split it.'];
  expect(problemsOf(rows(10_001))).toEqual(tooMany);
  expect(problemsOf(`[${'{},'.repeat(10_000)}{}]`)).toEqual(tooMany);
});

it('the reader of bulk files refuses a CSV line that is too long for an item', () => {
  expect(problemsOf(`policy_type,jurisdiction${',x'.repeat(100_000)}\n`)).toEqual([
    expect.stringContaining('items.csv is not valid CSV'),
  ]);
});

it('the reader of bulk files names some of the unknown fields of an item, and counts the rest', () => {
  const fields = Array.from({ length: 50_000 }, (_, n) => `"k${n}":1`).join(',');
  const [problem = ''] = problemsOf(`[{"policy_type":"eula","jurisdiction":"GB",${fields}}]`);
  expect(problem).toMatch(/item 1: unknown field k0, k1, .*, k19 and 49980 more; valid fields are policy_type, /);
  expect(problem.length).toBeLessThan(500);
});
