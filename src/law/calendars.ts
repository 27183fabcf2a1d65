import { createRequire } from 'node:module';
import type Holidays from 'date-holidays';
import { Temporal } from 'temporal-polyfill';
import type { Regime } from './regime-schema.ts';

/** A country and, if known, the region, whose public holidays count. */
export interface HolidayPlace {
  readonly country: string;
  readonly region: string | null;
}

const require = createRequire(import.meta.url);
/** Loaded on first use: loading the holidays of the whole world takes longer than most commands run. */
const loadLibrary = () => require('date-holidays') as typeof Holidays;

/** Public holidays by date (YYYY-MM-DD) of one place and year. */
type YearOfHolidays = ReadonlyMap<string, string>;

const cache = new Map<string, YearOfHolidays>();
const known = new Map<string, { readonly country: boolean; readonly region: boolean }>();
const DAY_MS = 86_400_000;

/** Countries whose holidays in the library include some that one of their parts works on (Easter Monday in Scotland). */
const partsOfCountries: Readonly<Record<string, readonly string[]>> = { GB: ['ENG', 'SCT', 'WLS', 'NIR'] };

/**
 * Name of the public holiday on a date (YYYY-MM-DD) in a place, in English if the library has it; null on other days.
 * Only whole days of the type "public" count: half days and days off for banks or schools never move a deadline.
 * Without a region that the library knows, only the holidays of the whole country count.
 */
export function findHoliday(date: string, place: HolidayPlace | null): string | null {
  return place === null ? null : (holidaysOf(place, Number(date.slice(0, 4))).get(date) ?? null);
}

/** Whether the library knows this country and region. */
export function knowsHolidays(place: HolidayPlace | null): { readonly country: boolean; readonly region: boolean } {
  if (place === null) return { country: false, region: false };
  const key = `${place.country}/${place.region ?? ''}`;
  const answered = known.get(key);
  if (answered !== undefined) return answered;
  const Library = loadLibrary();
  const places = new Library();
  const country = Object.hasOwn(places.getCountries(), place.country);
  const states: Record<string, string> = (country && places.getStates(place.country)) || {};
  const answer = { country, region: place.region === null || Object.hasOwn(states, place.region) };
  known.set(key, answer);
  return answer;
}

function holidaysOf(place: HolidayPlace, year: number): YearOfHolidays {
  const key = `${place.country}/${place.region ?? ''}/${year}`;
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const options = { languages: ['en'] };
  const Library = loadLibrary();
  const region = knowsHolidays(place).region ? place.region : null;
  const calendar = region === null ? new Library(place.country, options) : new Library(place.country, region, options);
  const days = new Map<string, string>();
  // A holiday of several days that begins before New Year belongs to the previous year.
  for (const holiday of [...calendar.getHolidays(year - 1), ...calendar.getHolidays(year)]) {
    if (holiday.type !== 'public') continue;
    const [first = '', time = ''] = holiday.date.split(' ');
    const whole = Math.floor((holiday.end.getTime() - holiday.start.getTime() + DAY_MS / 12) / DAY_MS);
    const skipped = time === '00:00:00' ? 0 : 1;
    for (let day = skipped; day < whole + skipped; day++) {
      const date = new Date(Date.parse(`${first}T00:00:00Z`) + day * DAY_MS).toISOString().slice(0, 10);
      const right = corrected(date, holiday.name, place);
      if (right !== null && !days.has(right)) days.set(right, holiday.name);
    }
  }
  const parts = region === null ? (partsOfCountries[place.country] ?? []) : [];
  const shared = parts.map((part) => holidaysOf({ country: place.country, region: part }, year));
  for (const date of days.keys()) if (shared.some((part) => !part.has(date))) days.delete(date);
  cache.set(key, days);
  return days;
}

/**
 * The date of a holiday where the library errs; null: it is none. It has Cyprus’s Clean Monday on a Tuesday, the day of
 * Cantabria in June instead of on 28 July, and lists as public holidays the Fridays on which
 * only Liechtenstein’s offices close (Feiertagsbrücke), a Monday after 1 May on a Saturday in Catalonia, which moves
 * only Sundays, if any (Estatuto de los Trabajadores Art. 37.2), and the day on which only children are free in the
 * People’s Republic of China (Regulation on Public Holidays Art. 3).
 */
function corrected(date: string, name: string, { country, region }: HolidayPlace): string | null {
  if (name === 'Feiertagsbrücke') return null;
  if (country === 'CN' && name === "Children's Day") return null;
  if (country === 'ES' && region === 'CT' && name === 'Labour Day (substitute day)' && date.endsWith('-05-03'))
    return null;
  if (country === 'ES' && region === 'CB' && date.endsWith('-06-28')) return date.replace('-06-28', '-07-28');
  const day = Temporal.PlainDate.from(date);
  return name === 'Clean Monday' && day.dayOfWeek === 2 ? day.subtract({ days: 1 }).toString() : date;
}

type Day = Temporal.PlainDate;

/** Public holidays. Saturdays and Sundays are never working days either (Reg. 1182/71 Art. 2(2)). */
export interface Calendar {
  /** Name of the holiday on a day; null: no holiday. */
  holiday(day: Day): string | null;
  /** Caveats, such as unknown holidays. */
  readonly doubt: string | null;
  /** The place whose days off these are, in words. */
  readonly of: string;
}

/** Whether a day is a working day in all of the calendars. */
export function isWorkingDay(day: Day, ...calendars: readonly Calendar[]): boolean {
  return day.dayOfWeek < 6 && calendars.every((calendar) => calendar.holiday(day) === null);
}

/** The last working day before this one. */
export function workingDayBefore(day: Day, ...calendars: readonly Calendar[]): Day {
  let before = day.subtract({ days: 1 });
  while (!isWorkingDay(before, ...calendars)) before = before.subtract({ days: 1 });
  return before;
}

/**
 * The days off that count under a law: its own list if the statute has one; otherwise those of the controller's
 * establishment if that is in the law's territory (Reg. 1182/71 Art. 2(1) refers to the member state in which action is
 * taken), otherwise those of the person's place there, otherwise those of a law's only country. For a law that protects
 * residents only, the person's place comes first.
 */
export function calendarOf(regime: Regime, place: HolidayPlace | null, home: HolidayPlace | null): Calendar {
  if (regime.calendar !== 'territory') return statutory[regime.calendar];
  const inside = (where: HolidayPlace | null) => where !== null && regime.territory.includes(where.country);
  // A law that protects residents only uses the days off of their state.
  const [first, second] = regime.reach === null ? [place, home] : [home, place];
  if (inside(first)) return publicHolidays(first);
  if (inside(second)) return publicHolidays(second);
  const [only, ...others] = regime.territory;
  return publicHolidays(only !== undefined && others.length === 0 ? { country: only, region: null } : null);
}

/** The public holidays of a place, from the library. */
export function publicHolidays(place: HolidayPlace | null): Calendar {
  const known = knowsHolidays(place);
  const doubt =
    place === null || !known.country
      ? 'no public holidays are known for this place: only Saturdays and Sundays were counted'
      : known.region
        ? null
        : `the region ${place.region} is unknown: only the nationwide holidays of ${place.country} were counted`;
  const of = place === null ? 'no place' : [place.country, ...(place.region === null ? [] : [place.region])].join('-');
  return { holiday: (day) => findHoliday(day.toString(), place), doubt, of };
}

/** Whether a day is the nth (1 to 5) of a weekday (1 = Monday) in a month. */
const isNth = (day: Day, month: number, weekday: number, nth: number) =>
  day.month === month && day.dayOfWeek === weekday && Math.ceil(day.day / 7) === nth;
const isLastMonday = (day: Day, month: number) =>
  day.month === month && day.dayOfWeek === 1 && day.day > day.daysInMonth - 7;

/** Western Easter Sunday (the anonymous Gregorian computus). */
export function easterSunday(year: number): Day {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const h = (19 * a + b - Math.floor(b / 4) - Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3) + 15) % 30;
  const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7;
  const m = Math.floor((a + 11 * h + 22 * l) / 451);
  const month = Math.floor((h + l - 7 * m + 114) / 31);
  return Temporal.PlainDate.from({ year, month, day: ((h + l - 7 * m + 114) % 31) + 1 });
}
const fromEaster = (day: Day) => easterSunday(day.year).until(day).days;

/**
 * California, Gov. Code §§ 6700–6701. A fixed holiday on a Sunday moves to Monday; on a Saturday it does not move,
 * except 11 November, which moves to Friday. Only days that state employees have off count (§ 19853). Left out are Lincoln
 * Day, Admission Day and Columbus Day, which § 6700 lists and on which they work; Lunar New Year, Genocide Remembrance
 * Day, Juneteenth, Native American Day and Diwali, which they take by choice; and Good Friday (noon to three). Leaving a
 * day out gives the earlier date.
 */
function californiaHoliday(day: Day): string | null {
  const fixed: Readonly<Record<string, string>> = {
    '1-1': 'New Year’s Day',
    '3-31': 'Cesar Chavez Day',
    '7-4': 'Independence Day',
    '11-11': 'Veterans Day',
    '12-25': 'Christmas Day',
  };
  const nameOf = (date: Day) => fixed[`${date.month}-${date.day}`];
  const own = nameOf(day);
  if (own !== undefined) return own;
  const sunday = day.dayOfWeek === 1 ? nameOf(day.subtract({ days: 1 })) : undefined;
  if (sunday !== undefined) return `${sunday} (Monday after)`;
  if (day.month === 11 && day.day === 10 && day.dayOfWeek === 5) return 'Veterans Day (Friday before)';
  if (isNth(day, 1, 1, 3)) return 'Dr. Martin Luther King, Jr. Day';
  if (isNth(day, 2, 1, 3)) return 'third Monday in February';
  if (isLastMonday(day, 5)) return 'last Monday in May';
  if (isNth(day, 9, 1, 1)) return 'first Monday in September';
  if (isNth(day, 11, 4, 4)) return 'Thanksgiving Day';
  return null;
}

/** New Zealand, Privacy Act 2020 s 7(1) "working day": regional anniversaries count as working days. */
function newZealandHoliday(day: Day): string | null {
  if ((day.month === 12 && day.day >= 25) || (day.month === 1 && day.day <= 2)) return '25 December to 2 January';
  const newYear = Temporal.PlainDate.from({ year: day.year, month: 1, day: 1 }).dayOfWeek;
  if (day.month === 1 && day.day <= 4) {
    if (newYear >= 5 && day.dayOfWeek === 1) return '1 January on a Friday, Saturday or Sunday: Monday after';
    if (newYear >= 6 && day.dayOfWeek === 2) return '1 January on a Saturday or Sunday: Tuesday after';
  }
  for (const [month, date, name] of [
    [2, 6, 'Waitangi Day'],
    [4, 25, 'Anzac Day'],
  ] as const) {
    if (day.month === month && day.day === date) return name;
    if (day.month === month && day.dayOfWeek === 1 && (day.day === date + 1 || day.day === date + 2))
      return `${name} (Monday after)`;
  }
  if (fromEaster(day) === -2) return 'Good Friday';
  if (fromEaster(day) === 1) return 'Easter Monday';
  if (isNth(day, 6, 1, 1)) return 'Sovereign’s birthday';
  if (isNth(day, 10, 1, 4)) return 'Labour Day';
  if (day.month === 6 || day.month === 7) {
    // A schedule of the Act of 2022 lists the dates of Matariki; the library has them.
    const name = findHoliday(day.toString(), { country: 'NZ', region: null });
    if (name === 'Matariki') return name;
  }
  return null;
}

/** British Columbia: PIPA s 1 excludes holidays and Saturdays; holidays are those of the Interpretation Act s 29. */
function britishColumbiaHoliday(day: Day): string | null {
  const fixed: Readonly<Record<string, string>> = {
    '1-1': 'New Year’s Day',
    '7-1': 'Canada Day',
    '9-30': 'National Day for Truth and Reconciliation',
    '11-11': 'Remembrance Day',
    '12-25': 'Christmas Day',
    '12-26': 'December 26',
  };
  const own = fixed[`${day.month}-${day.day}`];
  if (own !== undefined) return own;
  if (day.month === 7 && day.day === 2 && day.dayOfWeek === 1) return 'Canada Day (Monday after)';
  if (isNth(day, 2, 1, 3)) return 'Family Day';
  if (fromEaster(day) === -2) return 'Good Friday';
  if (fromEaster(day) === 1) return 'Easter Monday';
  if (day.month === 5 && day.dayOfWeek === 1 && day.day >= 18 && day.day <= 24) return 'Victoria Day';
  if (isNth(day, 8, 1, 1)) return 'British Columbia Day';
  if (isNth(day, 9, 1, 1)) return 'Labour Day';
  if (isNth(day, 10, 1, 2)) return 'Thanksgiving Day';
  return null;
}

const statutory: Readonly<Record<Exclude<Regime['calendar'], 'territory'>, Calendar>> = {
  'us-ca': { holiday: californiaHoliday, doubt: null, of: 'California' },
  nz: { holiday: newZealandHoliday, doubt: null, of: 'New Zealand' },
  'ca-bc': { holiday: britishColumbiaHoliday, doubt: null, of: 'British Columbia' },
};
