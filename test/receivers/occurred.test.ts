import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { occurredOf, parseTime } from '../../receivers/occurred.ts';
import { anyCharacter } from '../any-character.ts';

const RECEIVED = '2026-07-01T12:00:00.000Z';
const context = { receivedAt: RECEIVED, assumedOffset: '+02:00', basis: 'payload' } as const;

describe('a time is read from', () => {
  it.each<[unknown, string]>([
    ['2026-07-01T11:59:58Z', '2026-07-01T11:59:58.000Z'],
    ['2026-07-01T11:59:58.123456Z', '2026-07-01T11:59:58.123Z'],
    ['2026-07-01T13:59:58+02:00', '2026-07-01T11:59:58.000Z'],
    ['2026-07-01T13:59:58+0200', '2026-07-01T11:59:58.000Z'],
    ['2026-07-01 06:29:58-05:30', '2026-07-01T11:59:58.000Z'],
    ['2026-07-01 11:59:58 UTC', '2026-07-01T11:59:58.000Z'],
    ['2026-07-01T11:59Z', '2026-07-01T11:59:00.000Z'],
    [' 2026-07-01t11:59:58z ', '2026-07-01T11:59:58.000Z'],
    ['2026-07-01T11:59:58,5Z', '2026-07-01T11:59:58.500Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['Wed, 01 Jul 2026 11:59:58 GMT', '2026-07-01T11:59:58.000Z'],
    [1782907198, '2026-07-01T11:59:58.000Z'],
    [1782907198.25, '2026-07-01T11:59:58.250Z'],
    [1782907198123, '2026-07-01T11:59:58.123Z'],
    [1782907198123456, '2026-07-01T11:59:58.123Z'],
    ['1782907198', '2026-07-01T11:59:58.000Z'],
    ['1782907198123', '2026-07-01T11:59:58.123Z'],
    ['1782907198123456789', '2026-07-01T11:59:58.123Z'],
    ['1782907198.5', '2026-07-01T11:59:58.500Z'],
  ])('%j', (value, at) => {
    expect(parseTime(value, '+02:00')).toEqual({ at, assumed: false });
  });
  it.each<[string, string, string]>([
    ['2026-07-01T14:00:00', '+02:00', '2026-07-01T12:00:00.000Z'],
    ['2026-07-01T14:00:00', '+00:00', '2026-07-01T14:00:00.000Z'],
    ['2026-07-01 14:00', '-05:30', '2026-07-01T19:30:00.000Z'],
    ['2026-07-01', '+02:00', '2026-06-30T22:00:00.000Z'],
  ])('%s, with the offset %s assumed', (value, offset, at) => {
    expect(parseTime(value, offset)).toEqual({ at, assumed: true });
  });
  it.each<[unknown]>([
    ['2026-02-30T00:00:00Z'],
    ['2025-02-29'],
    ['2026-13-01'],
    ['2026-00-10'],
    ['2026-07-01T24:30:00Z'],
    ['2026-07-01T11:60:00Z'],
    ['2026-07-01T10:00:00+25:00'],
    ['01/07/2026'],
    ['yesterday'],
    [''],
    ['2026'],
    [2026],
    [20260701],
    ['20260701'],
    [-1782907198],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [1e300],
    [true],
    [null],
    [undefined],
    [{}],
    [[]],
    ['0000-01-01T00:00:00Z'],
    ['99999999999999999999'],
  ])('not %j', (value) => {
    expect(parseTime(value, '+00:00')).toBeNull();
  });
  it('any ISO time with any offset, as JavaScript reads it', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1970-01-02'), max: new Date('9998-01-01'), noInvalidDate: true }),
        fc.integer({ min: -14 * 60, max: 14 * 60 }),
        (date, offset) => {
          const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, -1);
          const minutes = Math.abs(offset);
          const suffix = `${offset < 0 ? '-' : '+'}${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
          expect(parseTime(local + suffix, '+00:00')).toEqual({ at: date.toISOString(), assumed: false });
          expect(parseTime(local, suffix)).toEqual({ at: date.toISOString(), assumed: true });
        },
      ),
    );
  });
  it('gives a result or null for any string', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const time = parseTime(text, '+00:00');
        return time === null || new Date(time.at).toISOString() === time.at;
      }),
    );
  });
});

describe('a claimed time', () => {
  const claim = (at: string) => occurredOf({ at, assumed: false }, context);
  it.each([
    ['the moment of receipt', RECEIVED, true],
    ['five minutes ahead', '2026-07-01T12:05:00.000Z', true],
    ['more than five minutes ahead', '2026-07-01T12:05:00.001Z', false],
    ['ten years ago', '2016-07-01T12:00:00.000Z', true],
    ['more than ten years ago', '2016-07-01T11:59:59.999Z', false],
  ])('%s', (_name, at, counts) => {
    expect(claim(at)).toEqual({ at, basis: 'payload', counts });
  });
  it('says which field it comes from', () => {
    const at = '2026-07-01T10:00:00.000Z';
    expect(occurredOf({ at, assumed: true }, context).basis).toBe('assumed-offset');
    expect(occurredOf({ at, assumed: false }, { ...context, basis: 'row' }).basis).toBe('row');
    expect(occurredOf(null, context)).toEqual({ at: RECEIVED, basis: 'received', counts: true });
  });
});

describe('a time written out', () => {
  it.each<[unknown, string | null]>([
    ['20260701T100000Z', '2026-07-01T10:00:00.000Z'],
    ['2026-07-01 10:00:00 AM', '2026-07-01T10:00:00.000Z'],
    ['07/31/2026, 3:00:00 PM', '2026-07-31T15:00:00.000Z'],
    ['07/06/2026 15:00', null],
    ['26.06.2026 16:00:00 CET', '2026-06-26T15:00:00.000Z'],
    ['Wed Jul 01 2026 12:00:00 GMT+0200 (Central European Summer Time)', '2026-07-01T10:00:00.000Z'],
    ['2026-07-01T12:00:00+02:00[Europe/Berlin]', '2026-07-01T10:00:00.000Z'],
    ['2026-07-01 12:00:00 Europe/Berlin', '2026-07-01T10:00:00.000Z'],
    ['July 1, 2026 10:00 AM', '2026-07-01T10:00:00.000Z'],
    [{ _seconds: 1782900000, _nanoseconds: 0 }, '2026-07-01T10:00:00.000Z'],
    [{ $date: { $numberLong: '1782900000000' } }, '2026-07-01T10:00:00.000Z'],
    [{ date: '2026-07-01 10:00:00.000000', timezone_type: 3, timezone: 'UTC' }, '2026-07-01T10:00:00.000Z'],
    [[2026, 7, 1, 10, 0], '2026-07-01T10:00:00.000Z'],
    ['/Date(1782900000000)/', '2026-07-01T10:00:00.000Z'],
    ['31 Feb 2026 10:00 UTC', null],
    ['version 1.2.2026', null],
    ['Nov 2026', null],
  ])('%j', (value, at) => {
    expect(parseTime(value, '+00:00')?.at ?? null).toBe(at);
  });
});

it('a time in UTC with milliseconds is read as with any other offset of nothing, on every day that may or may not exist', () => {
  const two = (part: number) => String(part).padStart(2, '0');
  for (const year of ['0099', '1000', '1900', '2023', '2024'])
    for (let month = 0; month <= 13; month += 1)
      for (let day = 0; day <= 32; day += 1)
        for (const clock of ['00:00:00.000', '23:59:59.999', '23:59:60.000', '24:00:00.000', '10:60:00.000']) {
          const local = `${year}-${two(month)}-${two(day)}T${clock}`;
          expect(parseTime(`${local}Z`, '+02:00')).toEqual(parseTime(`${local}+00:00`, '+02:00'));
        }
});
