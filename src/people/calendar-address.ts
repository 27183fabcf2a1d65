import { randomBytes, timingSafeEqual } from 'node:crypto';
import { hmacSha256 } from '../crypto/hash.ts';
import { readSetting, writeSetting } from '../store/settings.ts';
import { calendarSetting, findPerson, type Person } from './people.ts';
import type { PeopleDeps } from './sessions.ts';

/*
 * The address of a person's calendar feed. Calendar programs cannot sign in, so the address contains a token: anyone
 * who knows it sees the dates of the person's requests. It is derived, not stored; a new one invalidates earlier ones.
 */

const tokenPattern = /^(p-[0-9a-f]{8})-([0-9a-f]{40})$/;

type CalendarDeps = Pick<PeopleDeps, 'store' | 'keys'>;

/** The token of a person's feed. */
export async function calendarToken(deps: CalendarDeps, personId: string): Promise<string> {
  const generation = (await readSetting(deps.store, calendarSetting(personId))) ?? '0';
  const mac = hmacSha256(deps.keys.instance.session, Buffer.from(`calendar ${personId} ${generation}`));
  return `${personId}-${mac.toString('hex').slice(0, 40)}`;
}

/** Gives the person's feed a new address. */
export async function renewCalendarToken(deps: CalendarDeps, personId: string): Promise<void> {
  await writeSetting(deps.store, calendarSetting(personId), randomBytes(16).toString('hex'));
}

/** The person whose feed a token opens; null: nobody, or the account is disabled. */
export async function personOfCalendar(deps: CalendarDeps, token: string): Promise<Person | null> {
  const [, personId] = tokenPattern.exec(token) ?? [];
  if (personId === undefined) return null;
  const expected = Buffer.from(await calendarToken(deps, personId));
  const given = Buffer.from(token);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const person = await findPerson(deps, personId);
  return person === null || person.disabledAt !== null || person.joinedAt === null ? null : person;
}
