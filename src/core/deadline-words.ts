import { Temporal } from 'temporal-polyfill';
import type { Calendar } from './calendars.ts';
import type { DeadlineFlag, OneLawInput } from './deadline-model.ts';
import type { Period } from './regime-schema.ts';

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

export function wordsOfReceipt(input: OneLawInput, receipt: Temporal.PlainDate, flags: Set<DeadlineFlag>): string {
  if (input.receivedAsDay === true) return `received ${show(receipt)} (${input.timeZone})`;
  const utc = Temporal.Instant.from(input.receivedAt).toZonedDateTimeISO('UTC');
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

/** How many of a unit these periods have together. */
export function amountOf(periods: readonly Period[], unit: Period['unit']): number {
  return periods.reduce((total, period) => total + (period.unit === unit ? period.amount : 0), 0);
}

/** What was noted and could not be counted, whose days off were used, and what is not confirmed. */
export function wordsOfDoubts(input: OneLawInput, calendar: Calendar, flags: Set<DeadlineFlag>): readonly string[] {
  const { row, regime } = input;
  const words: string[] = [];
  if (flags.has('extension-late')) words.push('the notice of extension came after the first period: not counted');
  if (flags.has('extension-unavailable')) {
    words.push(
      row.extension === null
        ? 'this law has no extension: the notice changes nothing here'
        : row.extension.confirmed
          ? 'the notice of extension names no new date: not counted'
          : 'the extension is not confirmed: not counted',
    );
  }
  const waits = [
    ...(input.clarifications ?? []),
    ...(input.identity && row.runsFrom === 'receipt' ? [input.identity] : []),
  ];
  if (waits.length > 0 && row.stopClock !== 'clarification' && !flags.has('pause-by-guidance')) {
    words.push('waiting for the requester does not move the date');
  }
  if (flags.has('pause-by-guidance')) words.push('the standstill rests on guidance only (EDPB: “may”)');
  const inDays = (period: Period | 'at-once' | null) =>
    period !== null && period !== 'at-once' && period.unit === 'business-days';
  const counts = inDays(row.period) || inDays(row.acknowledge);
  if (counts) {
    words.push(
      regime.workingDay ??
        `the law does not define the working day: Saturdays, Sundays and the public holidays of ${calendar.of} were left out`,
    );
  }
  if ((counts || row.rollOver !== 'none') && calendar.doubt !== null) {
    flags.add('holidays-unknown');
    words.push(calendar.doubt);
  }
  if (input.disabled === true) {
    flags.add('switched-off');
    words.push('switched off by this installation');
  }
  if (!row.confirmed) {
    flags.add('unconfirmed');
    words.push('this rule is unconfirmed: check with counsel');
  }
  return words;
}
