import { expect, it } from 'vitest';
import { timeOf } from '../../src/commands/command-io.ts';
import { calendarProblem, readTime } from '../../src/core/zoned-days.ts';

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
  expect(() => timeOf('2026-06-31T10:00:00Z', '--received', 'UTC')).toThrow(
    'Invalid time "2026-06-31T10:00:00Z" for --received: June has 30 days.',
  );
  expect(timeOf('2026-06-30T10:00:00Z', '--received', 'UTC')).toBe('2026-06-30T10:00:00.000Z');
});

it.each([
  ['2026-11-27T10:00Z', '2026-11-27T10:00:00.000Z'],
  ['2026-11-27t10:00:05.1234567z', '2026-11-27T10:00:05.123Z'],
  ['2026-11-27T10:00:00+0100', '2026-11-27T09:00:00.000Z'],
  ['2026-11-27T10:00+01:00', '2026-11-27T09:00:00.000Z'],
  ['2026-11-27 10:00-05', '2026-11-27T15:00:00.000Z'],
  ['2026-11-27', '2026-11-26T23:00:00.000Z'],
  ['2026-07-01 10:00', '2026-07-01T08:00:00.000Z'],
])('a time may be written as %s', (text, at) => {
  expect(readTime(text, 'Europe/Berlin')).toEqual({ at });
  const hasOffset = /(?:z|[+-]\d\d(?::?\d\d)?)$/i.test(text.slice(11));
  expect(readTime(text, null)).toEqual(hasOffset ? { at } : { problem: expect.stringContaining('2026-07-01T14:02Z') });
});

it.each([
  '27.11.2026',
  '1',
  'Nov 27 2026',
  '2026-11-27T24:00Z',
  '2026-11-27T10Z',
  '2026-11-27T10:00+99',
  '2026-11-27T10:00 CET',
  '',
])('"%s" is not a time, and the problem has an example', (text) => {
  for (const zone of ['Europe/Berlin', null])
    expect(readTime(text, zone)).toEqual({ problem: expect.stringContaining('e.g. 2026-07-01T14:02Z') });
  expect(readTime('2026-02-31T10:00Z', 'UTC')).toEqual({ problem: 'February 2026 has 28 days.' });
});
