import { addDays, dateIn } from '../src/core/zoned-days.ts';

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** `12,345`. */
export function formatCount(n: number): string {
  return n.toLocaleString('en-US');
}

/** `1 decision`, `1,204 decisions`. */
export function counted(n: number, one: string, many: string): string {
  return `${formatCount(n)} ${n === 1 ? one : many}`;
}

/** The first five of some names: `a, b, c, d, e and 7 more`. */
export function listed(names: readonly string[]): string {
  return `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;
}

/** `83.2 %`; a dash if the whole is 0. */
export function formatShare(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((part / whole) * 100).toFixed(1)} %`;
}

/** Shares that add up to 100.0 % of their sum, by largest remainder; dashes where there is nothing. */
export function formatShares(parts: readonly number[]): readonly string[] {
  const whole = parts.reduce((sum, part) => sum + part, 0);
  if (whole === 0) return parts.map(() => '–');
  const exact = parts.map((part) => (part / whole) * 1000);
  const tenths = exact.map(Math.floor);
  const missing = 1000 - tenths.reduce((sum, n) => sum + n, 0);
  const byRemainder = exact
    .map((n, place) => ({ place, rest: n - Math.floor(n) }))
    .sort((a, b) => b.rest - a.rest || a.place - b.place);
  for (const { place } of byRemainder.slice(0, missing)) tenths[place] = (tenths[place] ?? 0) + 1;
  return tenths.map((n) => `${(n / 10).toFixed(1)} %`);
}

/** `1 June 2026` for 2026-06-01. */
export function formatDate(date: string): string {
  const [year, month, day] = date.split('-').map(Number);
  return `${day} ${months[(month ?? 1) - 1]} ${year}`;
}

/** `1 Jun`, for an axis. */
export function formatDayShort(date: string): string {
  const [, month, day] = date.split('-').map(Number);
  return `${day} ${(months[(month ?? 1) - 1] ?? '').slice(0, 3)}`;
}

/** `June 2026` for 2026-06. */
export function formatMonth(month: string): string {
  const [year, n] = month.split('-').map(Number);
  return `${months[(n ?? 1) - 1]} ${year}`;
}

/** The days of a period in words. `to` is exclusive; the printed date is not. */
export function formatPeriod(from: string, to: string): string {
  const last = addDays(to, -1);
  return last === from ? formatDate(from) : `${formatDate(from)} to ${formatDate(last)}`;
}

/** `2026-06-01 14:02:33 +02:00`: the time in a zone, with its offset from UTC. */
export function formatTime(iso: string, timeZone: string): string {
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'longOffset',
    })
      .formatToParts(new Date(iso))
      .map(({ type, value }) => [type, value]),
  );
  const offset = parts['timeZoneName'] === 'GMT' ? 'UTC' : (parts['timeZoneName'] ?? '').replace('GMT', '');
  return `${dateIn(iso, timeZone)} ${parts['hour']}:${parts['minute']}:${parts['second']} ${offset}`;
}

/** `3 s`, `12 min`, `5.2 h`, `3.1 days`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86_400).toFixed(1)} days`;
}

/** The explanation of a computed deadline as one sentence, without the citation if that is printed next to it. */
export function formatComputation(explanation: readonly string[], citation: string): string {
  return explanation.filter((words) => words !== citation).join('; ');
}

/** Compares text by code units: the same order on every machine and database. Null comes last. */
export function byText<T>(read: (item: T) => string | null): (a: T, b: T) => number {
  return (left, right) => {
    const [a, b] = [read(left), read(right)];
    if (a === b) return 0;
    if (a === null) return 1;
    if (b === null) return -1;
    return a < b ? -1 : 1;
  };
}
