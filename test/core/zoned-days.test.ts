import { expect, it } from 'vitest';
import { momentFrom } from '../../src/commands/command-io.ts';
import { calendarProblem } from '../../src/core/zoned-days.ts';

it.each([
  ['2026-06-30', null],
  ['2028-02-29', null],
  ['2026-06-31', 'June has 30 days.'],
  ['2026-06-00', 'June has 30 days.'],
  ['2026-02-29', 'February 2026 has 28 days.'],
  ['2026-13-01', 'the month is 01 to 12.'],
  ['31.06.2026', 'use YYYY-MM-DD.'],
])('the reader of dates explains the invalid date %s: %s', (date, problem) => {
  expect(calendarProblem(date)).toBe(problem);
});

it('a time on a day that does not exist is refused instead of read as the next day', () => {
  expect(() => momentFrom('--received')('2026-06-31T10:00:00Z')).toThrow(
    'Invalid time "2026-06-31T10:00:00Z" for --received: June has 30 days.',
  );
  expect(momentFrom('--received')('2026-06-30T10:00:00Z')).toBe('2026-06-30T10:00:00.000Z');
});
