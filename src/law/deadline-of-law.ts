import { Temporal } from 'temporal-polyfill';
import { type Calendar, calendarOf, isWorkingDay, publicHolidays, workingDayBefore } from './calendars.ts';
import {
  amountOf,
  type DeadlineFlag,
  type LawDeadline,
  type OneLawInput,
  type Standstill,
  show,
  wordsOfDoubts,
  wordsOfPause,
  wordsOfPeriods,
  wordsOfReceipt,
} from './deadline-words.ts';
import type { LegalPeriod, RegimeRow } from './regime-schema.ts';

type Day = Temporal.PlainDate;

/**
 * Computes when a request must be answered under one law, as dates and in words (docs/deadlines.md). Pure: everything
 * about the law comes from the row. Throws RangeError if a time or zone cannot be read.
 */
export function deadlineOfLaw(input: OneLawInput): LawDeadline {
  const { row, regime, timeZone } = input;
  const flags = new Set<DeadlineFlag>();
  const words: string[] = [];
  const dayOf = (iso: string) => Temporal.Instant.from(iso).toZonedDateTimeISO(timeZone).toPlainDate();
  const receipt = dayOf(input.receivedAt);
  words.push(wordsOfReceipt(input, receipt, flags));
  const calendar = calendarOf(regime, input.place, input.home);
  const period = row.period;
  const dates =
    period === 'at-once'
      ? countAtOnce(input, receipt, flags, words)
      : countPeriod(
          {
            input: { ...input, row: { ...row, period } },
            today: input.asOf === undefined ? null : dayOf(input.asOf),
            ...{ calendar, dayOf },
          },
          receipt,
          flags,
          words,
        );

  const acknowledgeBy = row.acknowledge === null ? null : addPeriod(receipt, row.acknowledge, calendar);
  if (acknowledgeBy !== null) words.push(`confirm receipt by ${show(acknowledgeBy)}`);
  const silent = row.rollOver === 'none' && period !== 'at-once';
  const before = silent ? workingDayBefore(dates.limit, calendar, publicHolidays(input.home)) : null;
  const warnOn = before === null || isBefore(before, receipt) ? null : before;
  if (silent) words.push('the law states no roll-over');
  words.push(...wordsOfDoubts(input, calendar, flags));
  words.push(row.citation);
  return {
    id: regime.id,
    name: regime.law,
    why: input.why,
    row,
    startsOn: dates.start.toString(),
    limit: dates.limit.toString(),
    atOnce: period === 'at-once',
    aimFor: earlier(dates.aimFor, dates.limit).toString(),
    firstLimit: dates.firstLimit.toString(),
    acknowledgeBy: acknowledgeBy?.toString() ?? null,
    warnOn: warnOn?.toString() ?? null,
    citation: row.citation,
    readOn: row.readOn,
    confirmed: row.confirmed,
    explanation: words,
    flags: [...flags],
  };
}

interface Dates {
  readonly start: Day;
  readonly aimFor: Day;
  readonly limit: Day;
  readonly firstLimit: Day;
}

function countAtOnce(input: OneLawInput, receipt: Day, flags: Set<DeadlineFlag>, words: string[]): Dates {
  flags.add('at-once');
  if (input.extension != null) flags.add('extension-unavailable');
  words.push(`takes effect at once: due ${show(receipt)}`);
  return { start: receipt, aimFor: receipt, limit: receipt, firstLimit: receipt };
}

type Counted = OneLawInput & { readonly row: RegimeRow & { readonly period: LegalPeriod } };

/** What a period is counted from and by. */
interface Counting {
  readonly input: Counted;
  /** Null: it is not asked how matters stand on a day. */
  readonly today: Day | null;
  readonly calendar: Calendar;
  readonly dayOf: (iso: string) => Day;
}

function countPeriod(counting: Counting, receipt: Day, flags: Set<DeadlineFlag>, words: string[]): Dates {
  const { calendar } = counting;
  const start = findStart(counting, receipt, flags, words);
  const { firstLimit, extension, periods, paused, computed } = limitsFrom(counting, start, flags);
  const announced = extension === null ? null : announcedEnd(extension, firstLimit, computed);
  const { aimFor, end, limit } = announced ?? computed;

  wordsOfPauses(paused, flags, words);
  const until = extension?.until ?? null;
  if (extension !== null) {
    flags.add('extended');
    words.push(`extended by the notice of ${show(extension.noticed)}${until === null ? '' : ` until ${show(until)}`}`);
  }
  if (until !== null && limit.equals(end)) words.push(`ends ${show(end)}`);
  else words.push(`${wordsOfPeriods(periods)} ${show(end)}`);
  if (!limit.equals(end)) {
    flags.add('rolled-over');
    const holiday = calendar.holiday(end);
    words.push(holiday === null ? 'not a working day' : `not a working day (${holiday})`);
  }
  words.push(`due ${show(limit)}`);
  return { start, aimFor, limit, firstLimit };
}

/** Where the period ends that begins on a day, with its pauses and its extension. */
function limitsFrom(counting: Counting, start: Day, flags: Set<DeadlineFlag>) {
  const { input, calendar, dayOf } = counting;
  const { row } = input;
  const pauses = findPauses(counting, start, flags);
  const plainEnd = endOf(row, start, [row.period], calendar);
  const firstLimit = roll(row, addPauses(row, start, plainEnd, pauses).end, calendar);
  const extension = judgeExtension(input, firstLimit, dayOf, flags);
  const periods = extension === null || extension.by === 'as-notified' ? [row.period] : [row.period, extension.by];
  const longest = endOf(row, start, periods, calendar);
  const paused = addPauses(row, start, longest, pauses);
  const computed = { aimFor: longest, end: paused.end, limit: roll(row, paused.end, calendar) };
  return { firstLimit, extension, periods, paused, computed };
}

interface Ends {
  readonly aimFor: Day;
  /** Before it is moved to a working day. */
  readonly end: Day;
  readonly limit: Day;
}

/** The date announced to the requester, which is binding and is not moved; null if none that matters was announced. */
function announcedEnd({ by, until }: Extension, firstLimit: Day, computed: Ends): Ends | null {
  if (until === null || (by !== 'as-notified' && !isBefore(until, computed.limit))) return null;
  const told = later(until, firstLimit);
  return { aimFor: by === 'as-notified' ? told : earlier(computed.aimFor, told), end: told, limit: told };
}

function wordsOfPauses(
  { counted, uncounted }: ReturnType<typeof addPauses>,
  flags: Set<DeadlineFlag>,
  words: string[],
): void {
  for (const pause of counted) {
    flags.add('paused');
    if (pause.open) flags.add('clock-stopped');
    words.push(wordsOfPause(pause));
  }
  for (const pause of uncounted) {
    flags.add('pause-uncounted');
    words.push(`${pause.why} on ${show(pause.from)}, outside the running period: not counted`);
  }
}

/**
 * The latest of receipt, identity information and fee, if the row says so; otherwise the receipt. What was requested
 * only after the period had ended does not begin it again.
 */
function findStart(counting: Counting, receipt: Day, flags: Set<DeadlineFlag>, words: string[]): Day {
  const { input, today, dayOf } = counting;
  if (input.row.runsFrom === 'receipt') return receipt;
  let start = receipt;
  const requested = (
    [
      ['identity information', input.identity ?? null],
      ['fee', input.fee ?? null],
    ] as const
  ).flatMap(([what, asked]) => (asked === null ? [] : [{ what, asked, on: dayOf(asked.askedAt) }]));
  for (const { what, asked, on } of requested.sort((a, b) => Temporal.PlainDate.compare(a.on, b.on))) {
    const { limit } = limitsFrom(counting, start, new Set()).computed;
    if (asked.askedUnknown !== true && isBefore(limit, on)) {
      flags.add('pause-uncounted');
      words.push(`${what} asked for on ${show(on)}, after the period had ended: not counted`);
    } else if (asked.receivedAt === null) {
      flags.add('clock-not-started');
      words.push(`${what} asked for on ${show(on)} and not received: the clock has not started`);
      if (today !== null) start = later(start, today);
    } else {
      const day = dayOf(asked.receivedAt);
      words.push(`${what} received ${show(day)}`);
      start = later(start, day);
    }
  }
  if (!start.equals(receipt)) words.push(`the period runs from ${show(start)}`);
  return start;
}

function findPauses({ input, today, dayOf }: Counting, start: Day, flags: Set<DeadlineFlag>): readonly Standstill[] {
  const { row } = input;
  const guidance = row.stopClock === 'guidance' && input.suspendByGuidance === true;
  if (row.stopClock !== 'clarification' && !guidance) return [];
  const asked = (input.clarifications ?? []).map((one) => ({ ...one, why: 'clarification' }));
  // Under guidance, identity also stops the clock; if the law runs from the identity, it is already in the start.
  if (guidance && row.runsFrom === 'receipt' && input.identity)
    asked.push({ ...input.identity, why: 'identity information' });
  if (guidance && asked.length > 0) flags.add('pause-by-guidance');
  const pauses = asked.map(({ askedAt, receivedAt, why }) => {
    const from = dayOf(askedAt);
    const to = receivedAt === null ? later(from, today ?? from) : later(from, dayOf(receivedAt));
    return { from, to, open: receivedAt === null, why: `${why} asked` };
  });
  return mergePauses(pauses.filter((pause) => row.countsReceiptDay || isBefore(start, pause.to)));
}

/** Merges overlapping waits, which stop the clock once. */
function mergePauses(pauses: readonly Standstill[]): readonly Standstill[] {
  const merged: Standstill[] = [];
  for (const pause of [...pauses].sort((a, b) => Temporal.PlainDate.compare(a.from, b.from))) {
    const last = merged.at(-1);
    if (last === undefined || isBefore(last.to, pause.from)) merged.push(pause);
    else merged[merged.length - 1] = { ...last, to: later(last.to, pause.to), open: last.open || pause.open };
  }
  return merged;
}

/**
 * Adds the paused days: both the day of asking and the day of the answer are left out. A wait that began after the end
 * stops nothing.
 */
function addPauses(row: RegimeRow, start: Day, end: Day, pauses: readonly Standstill[]) {
  const counted: Standstill[] = [];
  const uncounted: Standstill[] = [];
  const firstDay = row.countsReceiptDay ? start : start.add({ days: 1 });
  let shifted = end;
  for (const pause of pauses) {
    if (isBefore(shifted, pause.from)) {
      uncounted.push(pause);
      continue;
    }
    const from = later(pause.from, firstDay);
    shifted = shifted.add({ days: from.until(pause.to).days + 1 });
    counted.push({ ...pause, from });
  }
  return { end: shifted, counted, uncounted };
}

interface Extension {
  readonly by: LegalPeriod | 'as-notified';
  /** The date that the notice announced. */
  readonly until: Day | null;
  readonly noticed: Day;
}

/** An extension counts if the law has a confirmed one, in a confirmed row, and its notice was sent within the law's first period. */
function judgeExtension(
  input: Counted,
  firstLimit: Day,
  dayOf: (iso: string) => Day,
  flags: Set<DeadlineFlag>,
): Extension | null {
  if (input.extension == null) return null;
  const noticed = dayOf(input.extension.noticeAt);
  const until = input.extension.until == null ? null : Temporal.PlainDate.from(input.extension.until);
  const rule = input.row.extension;
  if (rule === null || !input.row.confirmed || !rule.confirmed || (rule.by === 'as-notified' && until === null)) {
    flags.add('extension-unavailable');
    return null;
  }
  if (isBefore(firstLimit, noticed)) {
    flags.add('extension-late');
    return null;
  }
  return { by: rule.by, until, noticed };
}

/** The end of consecutive periods from one start. Months are added together, so 31 Jan + 3 months is 30 Apr. */
function endOf(row: RegimeRow, start: Day, periods: readonly LegalPeriod[], calendar: Calendar): Day {
  const months = amountOf(periods, 'months');
  const days = amountOf(periods, 'days');
  let end = start.add({ months }).add({ days });
  const business = amountOf(periods, 'business-days');
  if (business > 0) end = addPeriod(end, { amount: business, unit: 'business-days' }, calendar);
  return row.countsReceiptDay && business === 0 ? end.subtract({ days: 1 }) : end;
}

function addPeriod(from: Day, period: LegalPeriod, calendar: Calendar): Day {
  if (period.unit === 'months') return from.add({ months: period.amount });
  if (period.unit === 'days') return from.add({ days: period.amount });
  let day = from;
  for (let counted = 0; counted < period.amount; ) {
    day = day.add({ days: 1 });
    if (isWorkingDay(day, calendar)) counted++;
  }
  return day;
}

function roll(row: RegimeRow, day: Day, calendar: Calendar): Day {
  if (row.rollOver === 'none') return day;
  let end = day;
  while (!isWorkingDay(end, calendar)) end = end.add({ days: 1 });
  return end;
}

const isBefore = (a: Day, b: Day) => Temporal.PlainDate.compare(a, b) < 0;
const later = (a: Day, b: Day) => (isBefore(a, b) ? b : a);
const earlier = (a: Day, b: Day) => (isBefore(a, b) ? a : b);
