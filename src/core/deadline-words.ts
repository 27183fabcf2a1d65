import { Temporal } from 'temporal-polyfill';
import { amountOf, type DeadlineFlag, type DeadlineInput } from './deadline-model.ts';
import { findHoliday, knowsHolidays } from './holidays.ts';
import type { Period } from './regime-schema.ts';
import type { HolidayPlace } from './regime-table.ts';

/** Days on which the clock stood still, both included. */
export interface Standstill {
  readonly from: Temporal.PlainDate;
  readonly to: Temporal.PlainDate;
  /** The answer is still awaited. */
  readonly open: boolean;
  /** What was asked, e.g. `clarification asked`. */
  readonly why: string;
}

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
/** `Wed 2026-07-01`. */
export const show = (day: Temporal.PlainDate) => `${weekdays[day.dayOfWeek - 1]} ${day.toString()}`;

export function wordsOfReceipt(input: DeadlineInput, receipt: Temporal.PlainDate, flags: Set<DeadlineFlag>): string {
  const utc = Temporal.Instant.from(input.receiptAt).toZonedDateTimeISO('UTC');
  const clock = utc.toPlainTime().toString({ smallestUnit: 'minute' });
  const there = utc.toPlainDate().equals(receipt) ? '' : `: there ${show(receipt)}`;
  const text = `received ${show(utc.toPlainDate())} ${clock} UTC (${input.timeZone}${there})`;
  if (input.receiptBasis === 'received') {
    flags.add('receipt-is-arrival');
    return `${text}, the arrival of the notice: no earlier receipt is known`;
  }
  if (input.receiptBasis === 'assumed-offset') {
    flags.add('receipt-offset-assumed');
    return `${text}, its offset from UTC is assumed`;
  }
  return text;
}

export function wordsOfPause(pause: Standstill): string {
  if (pause.open) return `${pause.why}: the clock stands still since ${show(pause.from)}`;
  const days = pause.from.until(pause.to).days + 1;
  return `${pause.why}: clock stopped ${show(pause.from)} to ${show(pause.to)} (${days} ${days === 1 ? 'day' : 'days'} left out)`;
}

const numbers = [
  'no',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
];

export function wordsOfPeriods(periods: readonly Period[]): string {
  const unit = periods[0]?.unit ?? 'days';
  const same = periods.every((period) => period.unit === unit);
  const parts = same ? [{ unit, amount: amountOf(periods, unit) }] : periods;
  const text = parts.map(wordsOfPeriod).join(' and ');
  const single = parts.length === 1 && parts[0]?.amount === 1;
  return `${text} ${single ? 'ends' : 'end'}`;
}

/** `one month`, `45 days`, `15 business days`. */
export function wordsOfPeriod(period: Period): string {
  const count = period.unit === 'months' ? (numbers[period.amount] ?? period.amount) : period.amount;
  const unit = { months: 'month', days: 'day', 'business-days': 'business day' }[period.unit];
  return `${count} ${unit}${period.amount === 1 ? '' : 's'}`;
}

export function wordsOfRest(day: Temporal.PlainDate, place: HolidayPlace | null): string {
  const holiday = findHoliday(day.toString(), place);
  return holiday === null ? 'not a working day' : `not a working day (${holiday})`;
}

export function wordsOfDoubts(input: DeadlineInput, flags: Set<DeadlineFlag>): readonly string[] {
  const words: string[] = [];
  if (flags.has('extension-late')) words.push('the notice of extension came after the first period: not counted');
  if (flags.has('extension-unavailable')) words.push('an extension was noted, but none can be counted here');
  const waits = [...(input.clarifications ?? []), ...(input.identity ? [input.identity] : [])];
  if (waits.length > 0 && input.row.stopClock !== 'clarification' && !flags.has('pause-by-guidance')) {
    words.push('waiting for the requester does not move the date');
  }
  if (flags.has('pause-by-guidance')) words.push('the standstill rests on guidance only (EDPB: “may”)');
  const usesHolidays =
    input.row.rollOver !== 'none' || input.row.period.unit === 'business-days' || input.row.acknowledge !== null;
  const known = knowsHolidays(input.holidays);
  if (usesHolidays && !known.country) {
    flags.add('holidays-unknown');
    words.push('no public holidays are known for this place: only Saturdays and Sundays were counted');
  } else if (usesHolidays && !known.region) {
    flags.add('holidays-unknown');
    words.push(
      `the region ${input.holidays?.region} is unknown: only the holidays of all ${input.holidays?.country} were counted`,
    );
  }
  if (!input.row.confirmed) {
    flags.add('unconfirmed');
    words.push('this rule is not confirmed: check with counsel');
  }
  return words;
}
