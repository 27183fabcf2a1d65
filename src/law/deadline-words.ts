import { Temporal } from 'temporal-polyfill';
import type { Calendar, HolidayPlace } from './calendars.ts';
import type { LegalPeriod, Regime, RegimeRow } from './regime-schema.ts';
import type { ApplicableLaw } from './regime-table.ts';

/** Days on which the clock was stopped, both included. */
export interface Standstill {
  readonly from: Temporal.PlainDate;
  readonly to: Temporal.PlainDate;
  /** The answer is still outstanding. */
  readonly open: boolean;
  /** What was requested, e.g. `clarification asked`. */
  readonly why: string;
}

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** `Wed 1 Jul 2026`. */
export const show = (day: Temporal.PlainDate) =>
  `${weekdays[day.dayOfWeek - 1]} ${day.day} ${months[day.month - 1]} ${day.year}`;

export function wordsOfReceipt(input: OneLawInput, receipt: Temporal.PlainDate, flags: Set<DeadlineFlag>): string {
  if (input.receivedAsDay === true) return `received ${show(receipt)} (${input.timeZone})`;
  const local = Temporal.Instant.from(input.receivedAt).toZonedDateTimeISO(input.timeZone);
  const clock = local.toPlainTime().toString({ smallestUnit: 'minute' });
  const text = `received ${show(receipt)}, ${clock} (${input.timeZone})`;
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
  if (pause.open) return `${pause.why}: the clock has been stopped since ${show(pause.from)}`;
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

export function wordsOfPeriods(periods: readonly LegalPeriod[]): string {
  const unit = periods[0]?.unit ?? 'days';
  const same = periods.every((period) => period.unit === unit);
  const parts = same ? [{ unit, amount: amountOf(periods, unit) }] : periods;
  const text = parts.map(wordsOfPeriod).join(' and ');
  const single = parts.length === 1 && parts[0]?.amount === 1;
  return `${text} ${single ? 'ends' : 'end'}`;
}

/** `one month`, `45 days`, `15 business days`. */
function wordsOfPeriod(period: LegalPeriod): string {
  const count = period.unit === 'months' ? (numbers[period.amount] ?? period.amount) : period.amount;
  const unit = { months: 'month', days: 'day', 'business-days': 'business day' }[period.unit];
  return `${count} ${unit}${period.amount === 1 ? '' : 's'}`;
}

/** The total of these periods in a unit. */
export function amountOf(periods: readonly LegalPeriod[], unit: LegalPeriod['unit']): number {
  return periods.reduce((total, period) => total + (period.unit === unit ? period.amount : 0), 0);
}

/** What could not be counted, whose days off were used, and what is unconfirmed. */
export function wordsOfDoubts(input: OneLawInput, calendar: Calendar, flags: Set<DeadlineFlag>): readonly string[] {
  const { row, regime } = input;
  const words: string[] = [];
  if (flags.has('extension-late')) words.push('the notice of extension came after the first period: not counted');
  if (flags.has('extension-unavailable')) {
    words.push(
      row.extension === null
        ? 'this law has no extension: the notice changes nothing here'
        : row.confirmed && row.extension.confirmed
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
  if (flags.has('pause-by-guidance'))
    words.push('the pause rests on guidance only (EDPB: “may”): this installation chose to count it');
  const inDays = (period: LegalPeriod | 'at-once' | null) =>
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

/** Something requested that has been received or is still outstanding (null). ISO 8601 UTC. */
export interface RequestedItem {
  readonly askedAt: string;
  readonly receivedAt: string | null;
  /** Only the receipt is known (calculator): `askedAt` repeats it. */
  readonly askedUnknown?: true;
}

/** The events of a request that affect its dates. */
export interface LawInput {
  /** When the request reached any channel of the controller, ISO 8601 UTC (EDPB 01/2022 §159). */
  readonly receivedAt: string;
  /** Its basis. `received` is only the arrival of the webhook, and is flagged as such. */
  readonly receiptBasis: 'payload' | 'received' | 'officer' | 'form' | 'assumed-offset';
  /** Only the day of receipt is known (calculator), so its time is not stated. */
  readonly receivedAsDay?: boolean;
  readonly extension?: {
    /** When the requester was told, ISO 8601 UTC. */
    readonly noticeAt: string;
    /** A date named in the notice, YYYY-MM-DD; never beyond what the regime allows. */
    readonly until?: string | null;
  } | null;
  /** Clarifications asked of the requester. */
  readonly clarifications?: readonly RequestedItem[];
  /** Identity information asked of the requester. */
  readonly identity?: RequestedItem | null;
  readonly fee?: RequestedItem | null;
  /** Count the optional pause that guidance allows (off by default). */
  readonly suspendByGuidance?: boolean;
  /** ISO 8601 UTC: the time up to which open waits are counted; absent: as if everything had been answered at once. */
  readonly asOf?: string;
}

/** A request under one law. */
export interface OneLawInput extends LawInput {
  readonly regime: Regime;
  readonly row: RegimeRow;
  readonly why: ApplicableLaw['why'];
  readonly timeZone: string;
  /** Countries of the controller's establishment and of the person, for their days off. */
  readonly home: HolidayPlace | null;
  readonly place: HolidayPlace | null;
  /** The installation considers the law not applicable. */
  readonly disabled?: boolean;
}

/** Something unusual about a deadline, for display. */
export type DeadlineFlag =
  | 'receipt-is-arrival'
  | 'receipt-offset-assumed'
  | 'at-once'
  | 'rolled-over'
  | 'extended'
  | 'extension-late'
  | 'extension-unavailable'
  | 'paused'
  | 'clock-stopped'
  | 'clock-not-started'
  | 'pause-uncounted'
  | 'pause-by-guidance'
  | 'holidays-unknown'
  | 'switched-off'
  | 'unconfirmed';

/** When a request is due under one law. All dates are YYYY-MM-DD in the controller's time zone. */
export interface LawDeadline {
  /** Id of the regime. */
  readonly id: string;
  /** Name of the law, for people. */
  readonly name: string;
  /** Whether it applies because of the establishment or the person's place. */
  readonly why: ApplicableLaw['why'];
  /** The applied rule, which also gives identity, extension, appeal and notes. */
  readonly row: RegimeRow;
  /** The day from which the period runs (day 0, unless the row counts it). */
  readonly startsOn: string;
  /** The last day for a timely answer. */
  readonly limit: string;
  readonly atOnce: boolean;
  /** Without roll-over and pauses. */
  readonly aimFor: string;
  /** The last day of the first period: an extension must be notified by then. */
  readonly firstLimit: string;
  readonly acknowledgeBy: string | null;
  /** The working day before the limit, if the law states no roll-over. */
  readonly warnOn: string | null;
  readonly citation: string;
  /** The day on which the source was read, YYYY-MM-DD; null: never. */
  readonly readOn: string | null;
  readonly confirmed: boolean;
  /** Words and dates; joined with `; ` they form one sentence. */
  readonly explanation: readonly string[];
  readonly flags: readonly DeadlineFlag[];
}
