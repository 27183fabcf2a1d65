import { Temporal } from 'temporal-polyfill';

/** A named period: a day, a week, a month. Times are ISO 8601 UTC with milliseconds, the end exclusive. */
export interface CalendarPeriod {
  /** YYYY-MM-DD of its first day (of a month: YYYY-MM). */
  readonly name: string;
  readonly start: string;
  readonly end: string;
}

/**
 * What is wrong with the date at the start of a text, in words that follow `Invalid date "…": `; null: it exists.
 * Needed because `Date` reads 31 June as 1 July.
 */
export function calendarProblem(text: string): string | null {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)/.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return 'use YYYY-MM-DD.';
  if (month < 1 || month > 12) return 'the month is 01 to 12.';
  const { daysInMonth } = Temporal.PlainYearMonth.from({ year, month });
  if (day >= 1 && day <= daysInMonth) return null;
  const name = new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' }).format(Date.UTC(2000, month - 1));
  return `${name}${month === 2 ? ` ${String(year).padStart(4, '0')}` : ''} has ${daysInMonth} days.`;
}

/**
 * When a date (YYYY-MM-DD) begins in a time zone, ISO 8601 UTC with milliseconds. Throws RangeError if date or zone
 * does not exist.
 */
export function startOfDay(date: string, timeZone: string): string {
  return isoOf(Temporal.PlainDate.from(date), timeZone);
}

/**
 * A local time (`YYYY-MM-DDTHH:MM`, as sent by a form) as ISO 8601 UTC with milliseconds. A time that the clock skips
 * or repeats follows the zone's rules. Throws RangeError if it is not a time.
 */
export function momentAt(local: string, timeZone: string): string {
  return new Date(Temporal.PlainDateTime.from(local).toZonedDateTime(timeZone).epochMilliseconds).toISOString();
}

/** A time that was read, or why it could not be. */
export type ReadTime = { readonly at: string; readonly problem?: never } | { readonly problem: string };

const TIME =
  /^(\d{4}-\d\d-\d\d)[T ]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?)(?:(Z)|([+-]\d\d)(?::?(\d\d))?)?$/i;

/**
 * A time as people write it: ISO 8601 with an offset, of which seconds, `T` and minutes and colon of the offset may be
 * missing (`2026-11-27T10:00Z`, `…+0100`). With a time zone, also a local time without an offset, and a day, which begins at midnight.
 * `at`: ISO 8601 UTC with milliseconds. `problem`: what is wrong, in words that follow `Invalid time "…": `.
 */
export function readTime(text: string, timeZone: string | null): ReadTime {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text);
  const [, day, clock, utc, hours, minutes = '00'] = TIME.exec(text) ?? [];
  const example = '2026-07-01T14:02Z or 2026-07-01T16:02:00+02:00';
  const problem = isDay || day !== undefined ? calendarProblem(text) : null;
  if (problem !== null) return { problem };
  if (timeZone === null) {
    if (isDay) return { problem: `a day is not enough, add the time with an offset, e.g. ${example}.` };
    if (day !== undefined && utc === undefined && hours === undefined)
      return { problem: `add the offset from UTC, e.g. ${example}.` };
  }
  try {
    if (isDay) return { at: startOfDay(text, timeZone ?? 'UTC') };
    if (day !== undefined && utc === undefined && hours === undefined)
      return { at: momentAt(`${day}T${clock}`, timeZone ?? 'UTC') };
    if (day !== undefined)
      return { at: new Date(`${day}T${clock}${utc === undefined ? `${hours}:${minutes}` : 'Z'}`).toISOString() };
  } catch {
    // An offset that no place has, or a year that no zone covers.
  }
  return { problem: `use ISO 8601, e.g. ${example}${timeZone === null ? '' : ', or a day, e.g. 2026-07-01'}.` };
}

/** A time in a time zone, `YYYY-MM-DDTHH:MM`. */
export function localTimeOf(iso: string, timeZone: string): string {
  return Temporal.Instant.from(iso).toZonedDateTimeISO(timeZone).toPlainDateTime().toString({ smallestUnit: 'minute' });
}

/** A time in a time zone, ISO 8601 with its offset: `2026-10-28T14:12:06-04:00`. */
export function localTime(iso: string, timeZone: string): string {
  return Temporal.Instant.from(iso).toString({ timeZone });
}

/** The date (YYYY-MM-DD) of a time in a time zone. */
export function dateIn(iso: string, timeZone: string): string {
  return Temporal.Instant.from(iso).toZonedDateTimeISO(timeZone).toPlainDate().toString();
}

/** A date some days later (or earlier), YYYY-MM-DD. */
export function addDays(date: string, days: number): string {
  return Temporal.PlainDate.from(date).add({ days }).toString();
}

/** The date (YYYY-MM-DD) this many days or months before; the last day of a month that has no such day. */
export function earlierDate(date: string, period: { readonly days: number } | { readonly months: number }): string {
  return Temporal.PlainDate.from(date).subtract(period).toString();
}

/** Every date from one to before another, YYYY-MM-DD. */
export function datesBetween(from: string, to: string): readonly string[] {
  const dates: string[] = [];
  // Days of UTC have 24 hours, and a report may have tens of thousands.
  const end = Date.parse(`${to}T00:00:00Z`);
  for (let at = Date.parse(`${from}T00:00:00Z`); at < end; at += 86_400_000)
    dates.push(new Date(at).toISOString().slice(0, 10));
  return dates;
}

/** Days from one date to another. */
export function daysBetween(from: string, to: string): number {
  return Temporal.PlainDate.from(from).until(Temporal.PlainDate.from(to), { largestUnit: 'days' }).days;
}

/**
 * The days, weeks (from Monday) or months of a period, in order, without gap or overlap. `to` is exclusive; the first
 * and last span are cut at the period's ends.
 */
export function spansOf(
  from: string,
  to: string,
  timeZone: string,
  unit: 'day' | 'week' | 'month',
): readonly CalendarPeriod[] {
  const end = Temporal.PlainDate.from(to);
  const spans: CalendarPeriod[] = [];
  let first = Temporal.PlainDate.from(from);
  while (Temporal.PlainDate.compare(first, end) < 0) {
    const next = earlier(nextStart(first, unit), end);
    const name = unit === 'month' ? first.toString().slice(0, 7) : first.toString();
    spans.push({ name, start: isoOf(first, timeZone), end: isoOf(next, timeZone) });
    first = next;
  }
  return spans;
}

function nextStart(date: Temporal.PlainDate, unit: 'day' | 'week' | 'month'): Temporal.PlainDate {
  switch (unit) {
    case 'day':
      return date.add({ days: 1 });
    case 'week':
      return date.add({ days: 8 - date.dayOfWeek });
    case 'month':
      return date.with({ day: 1 }).add({ months: 1 });
  }
}

function earlier(a: Temporal.PlainDate, b: Temporal.PlainDate): Temporal.PlainDate {
  return Temporal.PlainDate.compare(a, b) < 0 ? a : b;
}

function isoOf(date: Temporal.PlainDate, timeZone: string): string {
  return new Date(date.toZonedDateTime(timeZone).epochMilliseconds).toISOString();
}
