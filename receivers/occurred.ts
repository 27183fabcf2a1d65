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
interface ParsedTime {
  readonly at: string;
  readonly assumed: boolean;
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?(Z|z|UTC|GMT)| ?([+-]\d\d)(?::?(\d\d))?)?)?$/;
/** As in HTTP and mail (RFC 5322): `Tue, 01 Jul 2026 10:00:00 GMT`. */
const WRITTEN_OUT = /^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d (?:GMT|UTC|[+-]\d{4})$/;
const EPOCH = /^\d{9,19}(?:\.\d{1,9})?$/;

/** Times claimed to be more than this after receipt do not count. */
const MAX_AHEAD_MS = 5 * 60_000;
/** Times claimed to be more than this before receipt do not count. */
const MAX_BEHIND_YEARS = 10;

/**
 * Reads a time: ISO 8601 with or without an offset (or only a date), the form of HTTP dates, or the time since 1970 as
 * a number or digits. The unit of a number follows from its size: below 10^11 seconds, below 10^14 milliseconds, below
 * 10^17 microseconds, otherwise nanoseconds. Null for anything else, and for dates that do not exist.
 */
export function parseTime(value: unknown, assumedOffset: string): ParsedTime | null {
  if (typeof value === 'number') return fromEpoch(value);
  if (typeof value !== 'string') return null;
  const text = value.trim();
  const iso = ISO.exec(text);
  if (iso !== null) return fromIso(iso, assumedOffset);
  if (EPOCH.test(text)) return fromEpoch(Number(text));
  return WRITTEN_OUT.test(text) ? toParsed(Date.parse(text), false) : null;
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
