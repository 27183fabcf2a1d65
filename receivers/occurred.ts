import { momentAt } from '../src/core/zoned-days.ts';

/** Where a time comes from: the event's payload, a pulled row, our own clock, or a payload time without an offset. */
type TimeBasis = 'payload' | 'row' | 'received' | 'assumed-offset';

/** When something happened, the basis of that time, and whether it counts (docs/architecture.md, Time). */
export interface Occurred {
  /** ISO 8601 UTC, milliseconds. */
  readonly at: string;
  readonly basis: TimeBasis;
  /** False if the claimed time is outside [received − 10 years, received + 5 minutes]; reports then use `received`. */
  readonly counts: boolean;
}

/** What is needed to judge a claimed time. */
export interface TimeContext {
  /** Our clock, ISO 8601 UTC. */
  readonly receivedAt: string;
  /** What a time without an offset means, e.g. `+00:00`. */
  readonly assumedOffset: string;
  readonly basis: 'payload' | 'row';
}

/** A time as ISO 8601 UTC, and whether its offset had to be assumed. */
export interface ParsedTime {
  readonly at: string;
  readonly assumed: boolean;
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?(Z|z|UTC|GMT)| ?([+-]\d\d)(?::?(\d\d))?)?)?$/;
/** Without separators: `20260701T100000Z`, `20260701100000`. */
const COMPACT = /^(\d{4})(\d\d)(\d\d)T?(\d\d)(\d\d)(\d\d)(?:[.,](\d{1,9}))?(?:(Z)|([+-]\d\d):?(\d\d)?)?$/;
/** The form of the result, on a day that its month has every year. */
const AS_READ =
  /^[1-9]\d{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
const EPOCH = /^\d{9,19}(?:\.\d{1,9})?$/;
/** Longer texts are not read as times. */
const MAX_WRITTEN = 100;

/** Times claimed to be more than this after receipt do not count. */
const MAX_AHEAD_MS = 5 * 60_000;
/** Times claimed to be more than this before receipt do not count. */
const MAX_BEHIND_YEARS = 10;

/**
 * Reads a time: ISO 8601 with or without separators, offset or time of day; as HTTP, mail, JavaScript and spreadsheets write it out (`Tue, 01 Jul
 * 2026 10:00:00 GMT`, `07/01/2026, 3:00 PM` only if day and month cannot be confused); with the name of a zone; the objects of Firestore, MongoDB
 * and PHP; or the time since 1970 as a number or digits. The unit of a number follows from its size: below 10^11 seconds, below 10^14
 * milliseconds, below 10^17 microseconds, otherwise nanoseconds. Null for anything else, and for dates that do not exist.
 */
export function parseTime(value: unknown, assumedOffset: string): ParsedTime | null {
  if (typeof value === 'number') return fromEpoch(value);
  if (typeof value === 'object' && value !== null) return fromObject(value, assumedOffset);
  if (typeof value !== 'string' || value.length > MAX_WRITTEN) return null;
  const text = value.trim();
  if (AS_READ.test(text)) return { at: text, assumed: false };
  if (!/\d/.test(text)) return null;
  // As .NET writes it.
  const ticks = /^\/Date\((\d{9,14})(?:[+-]\d{4})?\)\/$/.exec(text);
  if (ticks !== null) return fromEpoch(Number(ticks[1]));
  const iso = ISO.exec(text);
  if (iso !== null) return fromIso(iso, assumedOffset);
  const compact = COMPACT.exec(text);
  // Fourteen digits may also be milliseconds, but not of this century.
  if (compact !== null && /^(?:19|20)/.test(text)) return fromIso(compact, assumedOffset);
  if (EPOCH.test(text)) return fromEpoch(Number(text));
  return fromWritten(text, assumedOffset);
}

/** `{"_seconds": …}` of Firestore, `{"$date": …}` of MongoDB, `{"date": …, "timezone": …}` of PHP. */
function fromObject(value: object, assumedOffset: string): ParsedTime | null {
  if (Array.isArray(value)) return fromParts(value, assumedOffset);
  const fields = value as Readonly<Record<string, unknown>>;
  const seconds = fields['_seconds'] ?? fields['seconds'];
  if (typeof seconds === 'number' || (typeof seconds === 'string' && /^\d{9,11}$/.test(seconds))) {
    const nanos = Number(fields['_nanoseconds'] ?? fields['nanoseconds'] ?? fields['nanos'] ?? 0);
    return fromEpoch(Number(seconds) + (Number.isFinite(nanos) ? nanos / 1e9 : 0));
  }
  const inner = fields['$date'] ?? fields['$numberLong'];
  if (inner !== undefined) return parseTime(inner, assumedOffset);
  const { date, timezone } = fields;
  if (typeof date !== 'string' || typeof timezone !== 'string') return null;
  return parseTime(`${date} ${timezone}`, assumedOffset) ?? parseTime(date, assumedOffset);
}

/** `[2026, 7, 1, 10, 0, 0]`, as Java writes a time without a zone. */
function fromParts(parts: readonly unknown[], assumedOffset: string): ParsedTime | null {
  if (parts.length < 5 || parts.length > 7 || !parts.every(Number.isSafeInteger)) return null;
  const [year, month, day, hour, minute, second = 0] = parts.map((part) => String(part).padStart(2, '0'));
  return parseTime(`${year}-${month}-${day}T${hour}:${minute}:${String(second).padStart(2, '0')}`, assumedOffset);
}

const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
/** Abbreviations of zones that have one meaning in consent and mail software, minutes east of UTC. */
const zones: Readonly<Record<string, number>> = {
  ...{ utc: 0, gmt: 0, z: 0, wet: 0, west: 60, bst: 60, cet: 60, cest: 120, mez: 60, mesz: 120, eet: 120, eest: 180 },
  ...{ est: -300, edt: -240, cdt: -300, mst: -420, mdt: -360, pst: -480, pdt: -420, aest: 600, aedt: 660, jst: 540 },
};
const TIME_OF_DAY = /(?:^|[T ,(])(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*([ap]\.?m\.?)?/i;

/** A time written out, in any order of its parts that leaves no doubt. */
function fromWritten(text: string, assumedOffset: string): ParsedTime | null {
  const clock = TIME_OF_DAY.exec(text);
  const [whole = '', hour = '0', minute = '00', second = '00', fraction = '', half = ''] = clock ?? [];
  const date = dateWritten(text.replace(whole, ' '));
  if (date === null) return null;
  const [year, month, day, rest] = date;
  let hours = Number(hour);
  if (half !== '') {
    if (hours < 1 || hours > 12) return null;
    hours = (hours % 12) + (/^p/i.test(half) ? 12 : 0);
  }
  const two = (part: number | string) => String(part).padStart(2, '0');
  const local = `${year}-${two(month)}-${two(day)}T${two(hours)}:${minute}:${two(second)}${fraction === '' ? '' : `.${fraction}`}`;
  const offset = offsetWritten(rest);
  const zone = /\b[A-Z][A-Za-z]+\/[A-Za-z_]+(?:\/[A-Za-z_]+)?\b/.exec(rest)?.[0];
  if (offset === null && zone !== undefined) return inZone(local, zone);
  if (offset === null && /[A-Za-z]/.test(rest.replace(/\(.*\)/, ''))) return null;
  const iso = ISO.exec(`${local}${offset ?? ''}`);
  return iso === null ? null : fromIso(iso, assumedOffset);
}

/** Year, month, day, and what else the text says. */
function dateWritten(text: string): readonly [number, number, number, string] | null {
  const named =
    /(\d{1,2})?(?:st|nd|rd|th)?[ .-]*\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?[ ,-]*(\d{1,2}(?!\d))?(?:st|nd|rd|th)?[ ,-]*(\d{4})?/i.exec(
      text,
    );
  if (named !== null) {
    const [whole, before, name = '', after, yearAfter] = named;
    const rest = text.replace(whole, ' ').replace(/\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\b,?/i, ' ');
    const year = yearAfter ?? /(?:^| )(\d{4})(?= |$)/.exec(rest)?.[1];
    const day = before ?? after;
    if (year === undefined || day === undefined || (before !== undefined && after !== undefined)) return null;
    return [
      Number(year),
      monthNames.indexOf(name.toLowerCase()) + 1,
      Number(day),
      yearAfter === undefined ? rest.replace(year, ' ') : rest,
    ];
  }
  const yearFirst = /(?:^| )(\d{4})([/.-])(\d{1,2})\2(\d{1,2})(?!\d)T?/.exec(text);
  if (yearFirst !== null)
    return [Number(yearFirst[1]), Number(yearFirst[3]), Number(yearFirst[4]), text.replace(yearFirst[0], ' ')];
  const yearLast = /(?:^| )(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?!\d)/.exec(text);
  if (yearLast === null) return null;
  const [whole, first = '', separator, second = '', year] = yearLast;
  const rest = text.replace(whole, ' ');
  const [a, b] = [Number(first), Number(second)];
  // With points, the day comes first everywhere; with other separators, only a number above 12 shows which is the day.
  if (separator === '.' || a > 12 || a === b) return [Number(year), b, a, rest];
  return b > 12 ? [Number(year), a, b, rest] : null;
}

/** `+0100`, `GMT-5`, `CET` as an offset `+hh:mm`; null if none is written. */
function offsetWritten(text: string): string | null {
  const digits = /([+-])(\d{1,2}):?(\d\d)?(?!\d)/.exec(text);
  if (digits !== null) return `${digits[1]}${(digits[2] ?? '').padStart(2, '0')}:${digits[3] ?? '00'}`;
  for (const [word] of text.matchAll(/\b[A-Za-z]{1,4}\b(?!\/)/g)) {
    const minutes = zones[word.toLowerCase()];
    if (minutes === undefined) continue;
    const of = (part: number) => String(Math.floor(Math.abs(part))).padStart(2, '0');
    return `${minutes < 0 ? '-' : '+'}${of(minutes / 60)}:${of(minutes % 60)}`;
  }
  return null;
}

function inZone(local: string, zone: string): ParsedTime | null {
  try {
    return { at: momentAt(local, zone), assumed: false };
  } catch {
    return null;
  }
}

function fromIso(parts: RegExpExecArray, assumedOffset: string): ParsedTime | null {
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zulu, hours, minutes] = parts;
  const y = Number(year);
  const [mo, d, h, mi, s] = [Number(month), Number(day), Number(hour), Number(minute), Number(second)];
  // A leap second (:60) becomes the next second, as in POSIX.
  if (h > 23 || mi > 59 || s > 60) return null;
  const midnight = new Date(0);
  midnight.setUTCFullYear(y, mo - 1, d);
  if (midnight.getUTCMonth() !== mo - 1 || midnight.getUTCDate() !== d) return null;
  const assumed = zulu === undefined && hours === undefined;
  const offset =
    zulu !== undefined ? 0 : assumed ? offsetMinutes(assumedOffset) : toMinutes(hours ?? '', minutes ?? '00');
  if (offset === null) return null;
  const millis = Number(fraction.slice(0, 3).padEnd(3, '0'));
  return toParsed(midnight.getTime() + ((h * 60 + mi - offset) * 60 + s) * 1000 + millis, assumed);
}

function fromEpoch(value: number): ParsedTime | null {
  // A number below 10^8 is more likely a year, a date in digits or a count.
  if (!Number.isFinite(value) || value < 1e8) return null;
  const millis = value < 1e11 ? value * 1000 : value < 1e14 ? value : value < 1e17 ? value / 1e3 : value / 1e6;
  return toParsed(Math.floor(millis), false);
}

function toParsed(millis: number, assumed: boolean): ParsedTime | null {
  // Only four-digit years: others do not sort as text.
  if (!(millis >= Date.UTC(1000, 0) && millis < Date.UTC(10000, 0))) return null;
  return { at: new Date(millis).toISOString(), assumed };
}

/** Minutes east of UTC for `+hh:mm`; null if it is not an offset. */
function offsetMinutes(offset: string): number | null {
  const parts = /^([+-]\d\d):?(\d\d)$/.exec(offset);
  return parts === null ? null : toMinutes(parts[1] ?? '', parts[2] ?? '');
}

function toMinutes(hours: string, minutes: string): number | null {
  const [h, m] = [Number(hours.slice(1)), Number(minutes)];
  if (h > 23 || m > 59) return null;
  return (hours.startsWith('-') ? -1 : 1) * (h * 60 + m);
}

/**
 * When something happened (docs/architecture.md, Time): the claimed time with its basis, or the receipt if none is
 * claimed. A claim counts only within [received − 10 years, received + 5 minutes]; it is always kept.
 */
export function occurredOf(claimed: ParsedTime | null, context: TimeContext): Occurred {
  if (claimed === null) return { at: context.receivedAt, basis: 'received', counts: true };
  const received = new Date(context.receivedAt);
  const latest = received.getTime() + MAX_AHEAD_MS;
  const earliest = received.setUTCFullYear(received.getUTCFullYear() - MAX_BEHIND_YEARS);
  const at = Date.parse(claimed.at);
  const counts = at >= earliest && at <= latest;
  return { at: claimed.at, basis: claimed.assumed ? 'assumed-offset' : context.basis, counts };
}
