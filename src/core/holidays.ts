import { createRequire } from 'node:module';
import type Holidays from 'date-holidays';

/** A country and, where it is known, the region whose public holidays count. */
export interface HolidayPlace {
  readonly country: string;
  readonly region: string | null;
}

const require = createRequire(import.meta.url);
/** Loaded with the first question: the holidays of the whole world take longer to load than most commands take to run. */
const loadLibrary = () => require('date-holidays') as typeof Holidays;

/** Public holidays by date (YYYY-MM-DD) of one place and year. */
type YearOfHolidays = ReadonlyMap<string, string>;

const cache = new Map<string, YearOfHolidays>();
const known = new Map<string, { readonly country: boolean; readonly region: boolean }>();
const DAY_MS = 86_400_000;

/**
 * Name of the public holiday on a date (YYYY-MM-DD) in a place, in English where the library has it; null on other days.
 * Only whole days of the type "public" count: a half day, a bank's or a school's day off never moves a deadline.
 */
export function findHoliday(date: string, place: HolidayPlace | null): string | null {
  return place === null ? null : (holidaysOf(place, Number(date.slice(0, 4))).get(date) ?? null);
}

/** Whether the library knows this place; an unknown region is treated as none, an unknown country as without holidays. */
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
  const calendar =
    place.region === null ? new Library(place.country, options) : new Library(place.country, place.region, options);
  const days = new Map<string, string>();
  // A holiday of several days that begins before New Year belongs to the year before.
  for (const holiday of [...calendar.getHolidays(year - 1), ...calendar.getHolidays(year)]) {
    if (holiday.type !== 'public') continue;
    const [first = '', time = ''] = holiday.date.split(' ');
    const whole = Math.floor((holiday.end.getTime() - holiday.start.getTime() + DAY_MS / 12) / DAY_MS);
    const skipped = time === '00:00:00' ? 0 : 1;
    for (let day = skipped; day < whole + skipped; day++) {
      const date = new Date(Date.parse(`${first}T00:00:00Z`) + day * DAY_MS).toISOString().slice(0, 10);
      if (!days.has(date)) days.set(date, holiday.name);
    }
  }
  cache.set(key, days);
  return days;
}
