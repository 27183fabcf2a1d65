import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { editDistance } from '../core/edit-distance.ts';
import { requestKinds } from '../core/vocabulary.ts';
import { calendarProblem } from '../core/zoned-days.ts';
import { show } from './deadline-words.ts';
import { computeDeadlines, type Deadlines, type RequestedItem } from './deadlines.ts';
import { countrySchema, jurisdictionSchema, shortenRegion } from './jurisdictions.ts';
import { unrecordedCodes, unrecordedText } from './not-recorded.ts';
import type { RegimeTable } from './regime-table.ts';

/**
 * Time zones of establishments, for cases that name none. Only countries, or parts of them, that have a single zone
 * apart from distant islands; elsewhere the zone is unknown, and the calculator uses UTC and says so. IANA Time Zone
 * Database, zone.tab.
 */
const ofCountries: Readonly<Record<string, string>> = {
  AE: 'Asia/Dubai',
  AL: 'Europe/Tirane',
  AR: 'America/Argentina/Buenos_Aires',
  AT: 'Europe/Vienna',
  BA: 'Europe/Sarajevo',
  BE: 'Europe/Brussels',
  BG: 'Europe/Sofia',
  BH: 'Asia/Bahrain',
  BM: 'Atlantic/Bermuda',
  CH: 'Europe/Zurich',
  CN: 'Asia/Shanghai',
  CO: 'America/Bogota',
  CR: 'America/Costa_Rica',
  CY: 'Asia/Nicosia',
  CZ: 'Europe/Prague',
  DE: 'Europe/Berlin',
  DK: 'Europe/Copenhagen',
  EC: 'America/Guayaquil',
  EE: 'Europe/Tallinn',
  EG: 'Africa/Cairo',
  ES: 'Europe/Madrid',
  FI: 'Europe/Helsinki',
  FR: 'Europe/Paris',
  GB: 'Europe/London',
  GE: 'Asia/Tbilisi',
  GG: 'Europe/Guernsey',
  GH: 'Africa/Accra',
  GI: 'Europe/Gibraltar',
  GR: 'Europe/Athens',
  HK: 'Asia/Hong_Kong',
  HR: 'Europe/Zagreb',
  HU: 'Europe/Budapest',
  IE: 'Europe/Dublin',
  IL: 'Asia/Jerusalem',
  IM: 'Europe/Isle_of_Man',
  IN: 'Asia/Kolkata',
  IS: 'Atlantic/Reykjavik',
  IT: 'Europe/Rome',
  JE: 'Europe/Jersey',
  JM: 'America/Jamaica',
  JP: 'Asia/Tokyo',
  KE: 'Africa/Nairobi',
  KR: 'Asia/Seoul',
  KY: 'America/Cayman',
  LI: 'Europe/Vaduz',
  LT: 'Europe/Vilnius',
  LU: 'Europe/Luxembourg',
  LV: 'Europe/Riga',
  MD: 'Europe/Chisinau',
  MK: 'Europe/Skopje',
  MT: 'Europe/Malta',
  MU: 'Indian/Mauritius',
  MY: 'Asia/Kuala_Lumpur',
  NG: 'Africa/Lagos',
  NL: 'Europe/Amsterdam',
  NO: 'Europe/Oslo',
  NZ: 'Pacific/Auckland',
  PA: 'America/Panama',
  PE: 'America/Lima',
  PH: 'Asia/Manila',
  PL: 'Europe/Warsaw',
  PT: 'Europe/Lisbon',
  QA: 'Asia/Qatar',
  RO: 'Europe/Bucharest',
  RS: 'Europe/Belgrade',
  RW: 'Africa/Kigali',
  SA: 'Asia/Riyadh',
  SE: 'Europe/Stockholm',
  SG: 'Asia/Singapore',
  SI: 'Europe/Ljubljana',
  SK: 'Europe/Bratislava',
  TH: 'Asia/Bangkok',
  TR: 'Europe/Istanbul',
  TW: 'Asia/Taipei',
  UG: 'Africa/Kampala',
  UY: 'America/Montevideo',
  VN: 'Asia/Ho_Chi_Minh',
  XK: 'Europe/Belgrade',
  ZA: 'Africa/Johannesburg',
};

/** Parts of countries with several zones, and islands that differ from their country. */
const ofParts: Readonly<Record<string, string>> = {
  'AU-ACT': 'Australia/Sydney',
  'AU-NSW': 'Australia/Sydney',
  'AU-NT': 'Australia/Darwin',
  'AU-QLD': 'Australia/Brisbane',
  'AU-SA': 'Australia/Adelaide',
  'AU-TAS': 'Australia/Hobart',
  'AU-VIC': 'Australia/Melbourne',
  'AU-WA': 'Australia/Perth',
  'BR-DF': 'America/Sao_Paulo',
  'BR-MG': 'America/Sao_Paulo',
  'BR-RJ': 'America/Sao_Paulo',
  'BR-SP': 'America/Sao_Paulo',
  'CA-AB': 'America/Edmonton',
  'CA-MB': 'America/Winnipeg',
  'CA-NB': 'America/Moncton',
  'CA-NS': 'America/Halifax',
  'CA-PE': 'America/Halifax',
  'CA-QC': 'America/Toronto',
  'ES-CN': 'Atlantic/Canary',
  'FR-971': 'America/Guadeloupe',
  'FR-972': 'America/Martinique',
  'FR-973': 'America/Cayenne',
  'FR-974': 'Indian/Reunion',
  'FR-976': 'Indian/Mayotte',
  'NZ-CIT': 'Pacific/Chatham',
  'PT-20': 'Atlantic/Azores',
  'PT-30': 'Atlantic/Madeira',
  ...zoned('America/New_York', 'US', 'CT DC DE GA MA MD ME NC NH NJ NY OH PA RI SC VA VT WV'),
  ...zoned('America/Chicago', 'US', 'AL AR IA IL LA MN MO MS OK WI'),
  ...zoned('America/Denver', 'US', 'CO MT NM UT WY'),
  ...zoned('America/Los_Angeles', 'US', 'CA WA'),
  'US-AZ': 'America/Phoenix',
  'US-HI': 'Pacific/Honolulu',
};

function zoned(zone: string, country: string, parts: string): Readonly<Record<string, string>> {
  return Object.fromEntries(parts.split(' ').map((part) => [`${country}-${part}`, zone]));
}

/** The time zone of an establishment by country and region; null if there are several. */
function usualTimeZone(country: string | null, region: string | null): string | null {
  if (country === null) return null;
  return (region === null ? undefined : ofParts[`${country}-${region}`]) ?? ofCountries[country] ?? null;
}

/**
 * One case of the deadline calculator, as accepted by `dsar deadline` and the Deadline calculator page
 * (docs/deadlines.md, Calculator). Each event may be given as a day or a time. A day, or a time without an offset, is
 * in the controller's time zone.
 */
const quoted = (input: unknown) => JSON.stringify(String(input).slice(0, 60));
const DATE = /^\d{4}-\d\d-\d\d$/;
const LOCAL = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?$/i;
const INSTANT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)$/i;
const when = z
  .string()
  .trim()
  .refine(isWhen, {
    error: ({ input }) => `Invalid date ${quoted(input)}: ${whenProblem(String(input).trim())}`,
  });

function whenProblem(text: string): string {
  const calendar = /^\d{4}-\d\d-\d\d/.test(text) ? calendarProblem(text) : null;
  return calendar ?? 'use YYYY-MM-DD or ISO 8601 such as 2026-07-01T14:02:00Z.';
}

const timeZone = z
  .string()
  .trim()
  .refine(isTimeZone, {
    error: ({ input }) => `Unknown time zone ${quoted(input)}: use an IANA name such as Europe/Berlin.`,
  });

const asked = z.strictObject({ askedAt: when, receivedAt: when.nullish() });
/** The time at which identity or fee was requested may be unknown, because only its receipt can move a date. */
const received = z
  .strictObject({ askedAt: when.nullish(), receivedAt: when.nullish() })
  .refine((one) => (one.askedAt ?? one.receivedAt ?? null) !== null, 'Specify askedAt, receivedAt or both.');

const deadlineCaseSchema = z.strictObject({
  kind: z.enum(requestKinds, {
    error: ({ input }) => `Unknown kind ${quoted(input)}: use ${requestKinds.join(', ')}.`,
  }),
  received: when,
  /** The person's place, a code of the list; null: unknown. */
  place: jurisdictionSchema.nullable(),
  controller: z
    .strictObject({
      country: countrySchema.nullable(),
      region: z
        .string()
        .trim()
        .transform((text) => text || null)
        .nullable()
        .default(null),
      timeZone: timeZone.nullish(),
    })
    .transform(shortenRegion),
  /** `until`: a date named in the notice, if the law allows it (New Zealand). */
  extension: z.strictObject({ noticeAt: when, until: z.iso.date().nullish() }).nullish(),
  clarifications: z.array(asked).max(100).nullish(),
  identity: received.nullish(),
  fee: received.nullish(),
  /** The time up to which open waits are counted; absent: as if everything had been answered at once. */
  asOf: when.nullish(),
});
type DeadlineCase = z.infer<typeof deadlineCaseSchema>;

/** Whether a field is a note by the author, such as `id` or `citation`, rather than a misspelt field that moves a date. */
function isNote(name: string): boolean {
  const known = Object.keys(deadlineCaseSchema.shape);
  const isNear = (field: string) => {
    // Short names resemble unrelated ones: `id` is two letters from `kind`.
    const allowed = field.length < 6 ? 1 : 2;
    return editDistance(name.toLowerCase(), field.toLowerCase(), allowed) <= allowed;
  };
  return !known.includes(name) && !known.some(isNear);
}

/** The calculator's result; its members are in this order. */
interface CaseAnswer {
  /** The last day for a timely answer, YYYY-MM-DD; null: no recorded law sets one (see `notRecorded`). */
  readonly limit: string | null;
  /** The request takes effect at once; `limit` is the day of receipt. */
  readonly atOnce: boolean;
  readonly aimFor: string | null;
  readonly acknowledgeBy: string | null;
  readonly warnOn: string | null;
  /** Id of the deciding law. */
  readonly law: string | null;
  readonly laws: readonly {
    readonly id: string;
    readonly limit: string;
    readonly citation: string;
    readonly confirmed: boolean;
    readonly explanation: string;
  }[];
  /** Codes of the laws that may apply and are not recorded here: each may set a date, or an earlier one. */
  readonly notRecorded: readonly string[];
  /** Why there is no date, what was assumed, and what has to be settled, in sentences. */
  readonly notes: readonly string[];
}

/** A case with its results. */
export interface ComputedCase {
  readonly answer: CaseAnswer;
  readonly deadlines: Deadlines;
  readonly timeZone: string;
  /** `given` in the case, the `usual` one of the establishment, or `UTC` because the establishment has several. */
  readonly timeZoneBasis: 'given' | 'usual' | 'UTC';
}

type ReadCase =
  | { readonly outcome: 'read'; readonly value: DeadlineCase }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/** Reads a case from outside. Each problem is one sentence that begins with the field's path. */
export function readDeadlineCase(input: unknown): ReadCase {
  const known =
    typeof input === 'object' && input !== null && !Array.isArray(input)
      ? Object.fromEntries(Object.entries(input).filter(([name]) => !isNote(name)))
      : input;
  const parsed = deadlineCaseSchema.safeParse(known);
  if (parsed.success) return { outcome: 'read', value: parsed.data };
  return {
    outcome: 'refused',
    problems: parsed.error.issues.map((issue) => {
      const { path, message } = issue;
      const text = issue.code === 'unrecognized_keys' ? `Unknown field ${issue.keys.map(quoted).join(', ')}` : message;
      const sentence = /[.?]$/.test(text) ? text : `${text}.`;
      return path.length === 0 ? sentence : `${path.join('.')}: ${sentence}`;
    }),
  };
}

/** Computes a case with the function used for every other date in this program. Pure. */
export function computeCase(input: DeadlineCase, regimes: RegimeTable): ComputedCase {
  const { controller } = input;
  const usual = usualTimeZone(controller.country, controller.region);
  const zone = controller.timeZone ?? usual ?? 'UTC';
  const at = (text: string) => momentOf(text, zone);
  const askedOf = (one: {
    askedAt?: string | null | undefined;
    receivedAt?: string | null | undefined;
  }): RequestedItem => {
    const receivedAt = one.receivedAt == null ? null : at(one.receivedAt);
    return one.askedAt == null
      ? { askedAt: receivedAt ?? '', receivedAt, askedUnknown: true }
      : { askedAt: at(one.askedAt), receivedAt };
  };
  const { extension, clarifications, identity, fee, asOf } = input;
  const deadlines = computeDeadlines({
    kind: input.kind,
    place: input.place,
    controller: { country: controller.country, region: controller.region, timeZone: zone },
    regimes,
    receivedAt: at(input.received),
    receiptBasis: 'officer',
    receivedAsDay: DATE.test(input.received),
    extension: extension == null ? null : { noticeAt: at(extension.noticeAt), until: extension.until ?? null },
    clarifications: (clarifications ?? []).map(askedOf),
    identity: identity == null ? null : askedOf(identity),
    fee: fee == null ? null : askedOf(fee),
    ...(asOf == null ? {} : { asOf: at(asOf) }),
  });
  const timeZoneBasis = controller.timeZone != null ? 'given' : usual === null ? 'UTC' : 'usual';
  const caveat = unrecordedText(deadlines);
  const answer: CaseAnswer = {
    limit: deadlines.limit,
    atOnce: deadlines.atOnce,
    aimFor: deadlines.aimFor,
    acknowledgeBy: deadlines.acknowledgeBy,
    warnOn: deadlines.warnOn,
    law: deadlines.law,
    laws: deadlines.laws.map(({ id, limit, citation, confirmed, explanation }) => ({
      id,
      limit,
      citation,
      confirmed,
      explanation: explanation.join('; '),
    })),
    notRecorded: unrecordedCodes(deadlines.unrecorded),
    notes: [
      ...(caveat === null ? [] : [`${sentenceOf(caveat)}.`]),
      ...deadlines.says,
      ...(timeZoneBasis === 'UTC' ? [UTC_NOTE] : []),
    ],
  };
  return { answer, deadlines, timeZone: zone, timeZoneBasis };
}

/** In JSON, where no other text says so. */
const UTC_NOTE =
  'Days are counted in UTC, because the controller’s country does not determine one time zone, or none is known for it. Give its time zone, or a date may be a day off.';

const sentenceOf = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

/** `Wed 1 Jul 2026`. */
export function weekdayText(date: string): string {
  return show(Temporal.PlainDate.from(date));
}

/** Converts to ISO 8601 UTC: a day as its noon, a local time in the zone, an instant as it is. */
function momentOf(text: string, zone: string): string {
  if (DATE.test(text))
    return Temporal.PlainDate.from(text).toZonedDateTime({ timeZone: zone, plainTime: '12:00' }).toInstant().toString();
  if (LOCAL.test(text)) return Temporal.PlainDateTime.from(text).toZonedDateTime(zone).toInstant().toString();
  return Temporal.Instant.from(text.toUpperCase()).toString();
}

function isWhen(text: string): boolean {
  try {
    if (DATE.test(text)) Temporal.PlainDate.from(text, { overflow: 'reject' });
    else if (LOCAL.test(text)) Temporal.PlainDateTime.from(text, { overflow: 'reject' });
    else if (INSTANT.test(text)) Temporal.Instant.from(text.toUpperCase());
    else return false;
  } catch {
    return false;
  }
  const year = Number(text.slice(0, 4));
  return year >= 1990 && year <= 2200;
}

function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}
