import { createRequire } from 'node:module';
import type * as Codes from 'iso-3166';
import { z } from 'zod';
import { editDistance } from '../core/edit-distance.ts';

/**
 * A place of the one list of places: countries (ISO 3166-1 alpha-2, and `XK`), their parts (ISO 3166-2), and `EU` for a
 * person somewhere in the European Union. Pages, command line and controller profile accept nothing else; what the service
 * sends is mapped to it when a case is folded. Codes come from the package `iso-3166`; names, also in other languages,
 * from `i18n-iso-countries`. Both are data fixed by the lock file, so a ledger folds the same everywhere.
 */
interface Jurisdiction {
  /** `DE`, `US-CA`, `EU`. */
  readonly code: string;
  /** In English; for a part with its country: `California, United States`. */
  readonly name: string;
}

const require = createRequire(import.meta.url);
/** Loaded on first use: a quarter of a megabyte. */
const loadCodes = () => require('iso-3166') as typeof Codes;
const languages = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pl', 'pt', 'sv'] as const;
type CountryNames = Readonly<Record<string, string | readonly string[]>>;
const namesIn = (language: string) =>
  (require(`i18n-iso-countries/langs/${language}.json`) as { readonly countries: CountryNames }).countries;

/** Names that are shorter or more usual than the first name in the list. */
const usualNames: Readonly<Record<string, string>> = {
  EU: 'European Union',
  US: 'United States',
  CN: 'China',
  CG: 'Congo (Brazzaville)',
  CD: 'Congo (Kinshasa)',
  CZ: 'Czechia',
  GM: 'Gambia',
  IR: 'Iran',
  MK: 'North Macedonia',
  RU: 'Russia',
  TW: 'Taiwan',
  TZ: 'Tanzania',
};
/** The same in other languages, where the list begins with the name in treaties, or errs (Portuguese: both Congos). */
const everydayNames: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  de: {
    CD: 'Kongo (Kinshasa)',
    CG: 'Kongo (Brazzaville)',
    CZ: 'Tschechien',
    RU: 'Russland',
    SY: 'Syrien',
    TZ: 'Tansania',
    US: 'Vereinigte Staaten',
  },
  es: {
    CD: 'República Democrática del Congo',
    CZ: 'Chequia',
    KP: 'Corea del Norte',
    KR: 'Corea del Sur',
    LA: 'Laos',
    SY: 'Siria',
  },
  fr: { CZ: 'Tchéquie', SZ: 'Eswatini', TZ: 'Tanzanie', US: 'États-Unis' },
  it: { CZ: 'Cechia', FM: 'Micronesia', TW: 'Taiwan', US: 'Stati Uniti' },
  nl: { BA: 'Bosnië en Herzegovina', MF: 'Sint-Maarten (Frans deel)', SX: 'Sint Maarten (Nederlands deel)' },
  pt: { CD: 'República Democrática do Congo', CG: 'República do Congo' },
  sv: { PS: 'Palestinska territorierna' },
};
/**
 * The parts of ISO 3166-2 that ISO 3166-1 lists as well, with the codes that they have there, also those by which France
 * listed its overseas departments before. They have their own laws and public holidays. Svalbard and Jan Mayen (`SJ`) are
 * not here: Norway’s act applies there (Personal Data Regulations §§ 1-4, 1-5), so `NO-21` and `NO-22` stay with Norway.
 */
const partsWithOwnCode: Readonly<Record<string, string>> = {
  'CN-HK': 'HK',
  'CN-MO': 'MO',
  'CN-TW': 'TW',
  'FI-01': 'AX',
  'FR-971': 'GP',
  'FR-972': 'MQ',
  'FR-973': 'GF',
  'FR-974': 'RE',
  'FR-976': 'YT',
  'FR-BL': 'BL',
  'FR-GF': 'GF',
  'FR-GP': 'GP',
  'FR-MF': 'MF',
  'FR-MQ': 'MQ',
  'FR-NC': 'NC',
  'FR-PF': 'PF',
  'FR-PM': 'PM',
  'FR-RE': 'RE',
  'FR-TF': 'TF',
  'FR-WF': 'WF',
  'FR-YT': 'YT',
  'NL-AW': 'AW',
  'NL-BQ1': 'BQ',
  'NL-BQ2': 'BQ',
  'NL-BQ3': 'BQ',
  'NL-CW': 'CW',
  'NL-SX': 'SX',
  'US-AS': 'AS',
  'US-GU': 'GU',
  'US-MP': 'MP',
  'US-PR': 'PR',
  'US-UM': 'UM',
  'US-VI': 'VI',
};

/** The code of a place as a country if it is listed as one and as a part of another (`CN-HK`: `HK`); else unchanged. */
export function ownCode(code: string): string {
  return partsWithOwnCode[code] ?? code;
}

/** Countries whose parts have their own laws: without the part, it is not known which law applies. */
const needsPart: ReadonlySet<string> = new Set(['US', 'CA']);

/** The country of a code that is not in the list, as those of former and newer parts (`FR-75`, `NO-32`); null: none. */
function countryOfUnlisted(code: string): string | null {
  if (partsWithOwnCode[code] !== undefined) return ownCode(code);
  const [, country = ''] = /^([A-Z]{2})-[A-Z0-9]{1,3}$/.exec(code) ?? [];
  return country === 'EU' || needsPart.has(country) || !placesByCode().has(country) ? null : country;
}

/** English names of parts that the standard lists only in their own language. */
const englishParts: Readonly<Record<string, string>> = {
  'AT-2': 'Carinthia',
  'AT-3': 'Lower Austria',
  'AT-4': 'Upper Austria',
  'AT-6': 'Styria',
  'AT-7': 'Tyrol',
  'AT-9': 'Vienna',
  'BE-BRU': 'Brussels',
  'BE-VLG': 'Flanders',
  'BE-WAL': 'Wallonia',
  'CH-GE': 'Geneva',
  'CH-LU': 'Lucerne',
  'DE-BY': 'Bavaria',
  'DE-HE': 'Hesse',
  'DE-NI': 'Lower Saxony',
  'DE-NW': 'North Rhine-Westphalia',
  'DE-RP': 'Rhineland-Palatinate',
  'DE-SN': 'Saxony',
  'DE-ST': 'Saxony-Anhalt',
  'DE-TH': 'Thuringia',
  'DE-MV': 'Mecklenburg-Western Pomerania',
  'ES-AN': 'Andalusia',
  'ES-AS': 'Asturias',
  'ES-CN': 'Canary Islands',
  'ES-CT': 'Catalonia',
  'ES-IB': 'Balearic Islands',
  'ES-MC': 'Murcia',
  'ES-MD': 'Madrid',
  'ES-NC': 'Navarre',
  'ES-PV': 'Basque Country',
  'ES-VC': 'Valencia',
  'IT-21': 'Piedmont',
  'IT-25': 'Lombardy',
  'IT-32': 'South Tyrol',
  'IT-52': 'Tuscany',
  'IT-82': 'Sicily',
  'IT-88': 'Sardinia',
};
/** Other words that services, forms and people use for a place; also laws that only one place has. */
const aliases: Readonly<Record<string, string>> = {
  eea: 'EU',
  'european economic area': 'EU',
  ue: 'EU',
  gdpr: 'EU',
  'eu gdpr': 'EU',
  rgpd: 'EU',
  dsgvo: 'EU',
  uk: 'GB',
  england: 'GB-ENG',
  'great britain': 'GB',
  britain: 'GB',
  'uk gdpr': 'GB',
  el: 'GR',
  'the united states': 'US',
  'united states america': 'US',
  america: 'US',
  'estados unidos': 'US',
  calif: 'US-CA',
  ccpa: 'US-CA',
  cpra: 'US-CA',
  'ccpa cpra': 'US-CA',
  vcdpa: 'US-VA',
  ctdpa: 'US-CT',
  ucpa: 'US-UT',
  tdpsa: 'US-TX',
  'washington state': 'US-WA',
  'washington dc': 'US-DC',
  'new york state': 'US-NY',
  'georgia us': 'US-GA',
  lgpd: 'BR',
  pipeda: 'CA',
  'law 25': 'CA-QC',
  'loi 25': 'CA-QC',
  fadp: 'CH',
  nfadp: 'CH',
  revdsg: 'CH',
  pipl: 'CN',
  appi: 'JP',
  popia: 'ZA',
  kvkk: 'TR',
  dpdp: 'IN',
  dpdpa: 'IN',
};
/** Words that name two places, between which an officer must choose. */
const ambiguous: ReadonlySet<string> = new Set([
  'georgia',
  'congo',
  'guinea',
  'korea',
  'samoa',
  'washington',
  'pdpa',
  'pipa',
]);
/**
 * Countries whose parts have their own privacy acts: the names of those parts take precedence over other places with
 * the same name.
 */
const countriesOfStates: ReadonlySet<string> = new Set(['US', 'CA', 'GB', 'DE']);

let codes: ReadonlyMap<string, Jurisdiction> | null = null;
let words: ReadonlyMap<string, string> | null = null;

/** The name of a country in a language (`IE`, `de`: `Irland`); anything but a country code is returned unchanged. */
export function countryName(code: string, language: string = 'en'): string {
  const known = languages.find((one) => one === language) ?? 'en';
  const usual = known === 'en' ? usualNames[code] : everydayNames[known]?.[code];
  const [first = code, second = first] = [namesIn(known)[code] ?? code].flat();
  // In Dutch, the list has the name in treaties first: `Koninkrijk België`, `België`.
  return usual ?? (known === 'nl' ? second : first);
}

/** The countries of ISO 3166-1, and Kosovo, for which `XK` is in general use: the standard leaves it to its users. */
export function countryCodes(): readonly string[] {
  return [...loadCodes().iso31661.map(({ alpha2 }) => alpha2), 'XK'];
}

/** All places by code, built on first use. */
function placesByCode(): ReadonlyMap<string, Jurisdiction> {
  if (codes !== null) return codes;
  const byCode = new Map<string, Jurisdiction>([['EU', { code: 'EU', name: 'European Union' }]]);
  for (const code of countryCodes()) byCode.set(code, { code, name: countryName(code) });
  for (const { code, name } of loadCodes().iso31662)
    byCode.set(code, { code, name: `${englishParts[code] ?? name}, ${byCode.get(code.slice(0, 2))?.name ?? code}` });
  codes = byCode;
  return codes;
}

/** Codes by normalised words, built when a text that is not a code is first looked up. */
function codesByWords(): ReadonlyMap<string, string> {
  words ??= buildWords(placesByCode());
  return words;
}

function buildWords(byCode: ReadonlyMap<string, Jurisdiction>): ReadonlyMap<string, string> {
  const byWords = new Map<string, string>();
  const taken = new Map<string, string | null>();
  const add = (words: string, code: string) => {
    const known = taken.get(words);
    if (words !== '') taken.set(words, known === undefined || known === code ? code : null);
  };
  // Called from the weakest list to the strongest: a later list overrides earlier ones.
  const strengthen = () => {
    for (const [words, code] of taken) {
      if (code === null) byWords.delete(words);
      else byWords.set(words, code);
    }
    taken.clear();
  };
  const addPart = (code: string, name: string) => {
    add(plain(name), code);
    add(plain(englishParts[code] ?? name), code);
  };
  for (const { code, name } of loadCodes().iso31662) addPart(code, name);
  strengthen();
  for (const { code, name } of loadCodes().iso31662)
    if (countriesOfStates.has(code.slice(0, 2)) && code !== 'GB-UKM') addPart(code, name);
  strengthen();
  for (const language of languages) {
    for (const [code, names] of Object.entries(namesIn(language)))
      if (byCode.has(code)) for (const name of [names].flat()) add(plain(name), code);
  }
  for (const { alpha2, alpha3 } of loadCodes().iso31661) add(plain(alpha3), alpha2);
  add('xkx', 'XK');
  strengthen();
  for (const names of [usualNames, ...Object.values(everydayNames)])
    for (const [code, name] of Object.entries(names)) add(plain(name), code);
  for (const [words, code] of Object.entries(aliases)) add(words, code);
  for (const code of byCode.keys()) add(plain(code), code);
  strengthen();
  for (const word of ambiguous) byWords.delete(word);
  return byWords;
}

/** Lower case without accents and punctuation, so that `Québec`, `us_ca` and `U.S.A.` are found. */
function plain(words: string): string {
  return words
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ł', 'l')
    .replaceAll('ø', 'o')
    .replaceAll(/(?<=\b\p{L})\.(?=\p{L}\b|\s|$)/gu, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** The place with this code, in upper or lower case; null if there is none. */
export function findJurisdiction(code: string): Jurisdiction | null {
  return placesByCode().get(code) ?? null;
}

/** `California, United States (US-CA)`; an unknown code is returned unchanged. */
export function jurisdictionText(code: string): string {
  const found = findJurisdiction(code);
  return found === null ? code : `${found.name} (${found.code})`;
}

/**
 * The code for someone's words for a place: a code in any spelling, a name in one of nine languages, a usual
 * abbreviation, a law that only one place has, or two of these together (`Munich` is not in the list, `Bavaria,
 * Germany` is). Null if it is not certain: the code is never guessed, and an officer chooses.
 */
export function mapJurisdiction(words: string): string | null {
  if (words.length > 300) return null;
  const byWords = codesByWords();
  const whole = byWords.get(plain(words)) ?? countryOfUnlisted(words.trim().toUpperCase().replaceAll('_', '-'));
  if (whole !== null) return ownCode(whole);
  const parts = words
    .split(/[,;/()|>]|\s[-–—]\s/)
    .map(plain)
    .filter((part) => part !== '');
  if (parts.length < 2 || parts.length > 3) return null;
  const codes = parts.map(
    (part) => byWords.get(part) ?? (ambiguous.has(part) ? partNamed(part, parts, byWords) : null),
  );
  const known = codes.filter((code) => code !== null);
  const first = known.find((code) => known.every((other) => within(code, other)));
  if (first === undefined) return null;
  if (known.length === codes.length) return ownCode(first);
  // A former or newer part, or a town: the country next to it is certain.
  const isCertain = first.length === 2 && first !== 'EU' && !needsPart.has(first);
  return isCertain && parts.every((part, i) => codes[i] !== null || isName(part)) ? first : null;
}

/** Whether words may be the name of a place: three at most, without figures. */
function isName(words: string): boolean {
  return /^\p{L}+(?: \p{L}+){0,2}$/u.test(words);
}

/** A word for two places, resolved by the country next to it: `Georgia, United States`. */
function partNamed(word: string, parts: readonly string[], byWords: ReadonlyMap<string, string>): string | null {
  const country = parts.map((part) => byWords.get(part)).find((code) => code !== undefined);
  const found = loadCodes().iso31662.filter(
    ({ code, name }) => code.slice(0, 2) === country?.slice(0, 2) && plain(name) === word,
  );
  return found.length === 1 ? (found[0]?.code ?? null) : null;
}

/** Whether a place equals the other or is part of it. */
function within(code: string, other: string): boolean {
  if (code === other || code.startsWith(`${other}-`) || (other === 'EU' && isEuropeanUnion(code))) return true;
  // `HK` in `CN`.
  return Object.entries(partsWithOwnCode).some(([part, own]) => own === code && part.startsWith(`${other}-`));
}

const memberStates = new Set(
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' '),
);
/** Whether a place lies in a member state of the European Union. */
function isEuropeanUnion(code: string): boolean {
  return code === 'EU' || memberStates.has(code.slice(0, 2));
}

/** Countries whose parts are offered for selection, because their laws or holidays differ. */
const chosenParts = ['US', 'CA', 'GB'];
const leftOut: ReadonlySet<string> = new Set('US-AS US-GU US-MP US-PR US-UM US-VI GB-UKM GB-EAW GB-GBN'.split(' '));

let choices: readonly Jurisdiction[] | null = null;

/**
 * The places that a form offers, by name: all countries, the states of the US, the provinces of Canada, the nations of
 * the UK.
 */
export function jurisdictionChoices(): readonly Jurisdiction[] {
  choices ??= [...placesByCode().values()]
    .filter(({ code }) => {
      if (code.length === 2) return true;
      const country = code.slice(0, 2);
      // Below the nations of the UK are districts, which are not needed.
      return chosenParts.includes(country) && !leftOut.has(code) && (country !== 'GB' || isNation(code));
    })
    .sort((a, b) => a.name.localeCompare(b.name, 'en'));
  return choices;
}

const isNation = (code: string) => ['GB-ENG', 'GB-SCT', 'GB-WLS', 'GB-NIR'].includes(code);

/** The choices with country names in a language, sorted by them; parts of countries keep their own names. */
export function jurisdictionChoicesIn(language: string): readonly Jurisdiction[] {
  const known = choicesByLanguage.get(language);
  if (known !== undefined) return known;
  const named = jurisdictionChoices().map(({ code, name }) => {
    const [part] = name.split(', ');
    const country = code === 'EU' ? name : countryName(code.slice(0, 2), language);
    return { code, name: code.length === 2 ? country : `${country}: ${part}` };
  });
  const sorted = named.sort((a, b) => a.name.localeCompare(b.name, language));
  choicesByLanguage.set(language, sorted);
  return sorted;
}
const choicesByLanguage = new Map<string, readonly Jurisdiction[]>();

/** The first-level parts of these countries (states, Länder, cantons, nations), by code: usual regions of an establishment. */
export function partsOf(...countries: readonly string[]): readonly Jurisdiction[] {
  return loadCodes()
    .iso31662.filter(({ code, parent }) => countries.includes(parent) && (parent !== 'GB' || isNation(code)))
    .flatMap(({ code }) => findJurisdiction(code) ?? []);
}

/** Up to three places that may have been meant, the most likely first. */
export function nearJurisdictions(words: string): readonly Jurisdiction[] {
  const [byCode, byWords] = [placesByCode(), codesByWords()];
  const asked = plain(words).slice(0, 60);
  if (asked === '') return [];
  const meant = mapJurisdiction(words);
  const scored = new Map<string, number>(meant === null ? [] : [[meant, 0]]);
  for (const [known, code] of byWords) {
    const allowed = Math.floor(Math.min(asked.length, known.length) / 4);
    const distance = known.startsWith(asked) && asked.length >= 3 ? 1 : editDistance(asked, known, allowed);
    const before = scored.get(code);
    if (distance <= allowed && (before === undefined || distance < before)) scored.set(code, distance);
  }
  return [...scored]
    .sort(([a, x], [b, y]) => x - y || a.length - b.length || (a < b ? -1 : 1))
    .slice(0, 3)
    .flatMap(([code]) => byCode.get(code) ?? []);
}

/** Says that a code is not in the list, and what may have been meant. */
export function unknownJurisdiction(words: string): string {
  const near = nearJurisdictions(words);
  const advice =
    near.length === 0
      ? 'use an ISO 3166 code like DE, US-CA or EU'
      : `did you mean ${near.map(({ code, name }) => `${code} (${name})`).join(' or ')}?`;
  return `Unknown place ${JSON.stringify(words.slice(0, 60))}: ${advice}${near.length === 0 ? '.' : ''}`;
}

/**
 * A place as entered by people: a code of the list in upper or lower case; anything else is refused with suggestions.
 */
export const jurisdictionSchema = z
  .string()
  .trim()
  .transform((words, context) => {
    const code = words.toUpperCase().replaceAll('_', '-');
    const listed = findJurisdiction(code) === null ? countryOfUnlisted(code) : ownCode(code);
    if (listed !== null) return listed;
    context.addIssue({ code: 'custom', message: unknownJurisdiction(words) });
    return z.NEVER;
  });

/** A region of a country, written `BY` or `DE-BY`, without the country (`BY`); null: the country has no such part. */
export function findRegion(country: string, region: string): string | null {
  const written = region.trim().toUpperCase().replaceAll('_', '-');
  const part = written.startsWith(`${country}-`) ? written.slice(country.length + 1) : written;
  return findJurisdiction(`${country}-${part}`) === null ? null : part;
}

/** Says that a country does not have this region. */
function unknownRegion(country: string, region: string): string {
  const near = nearJurisdictions(region).filter(({ code }) => code.startsWith(`${country}-`));
  const advice =
    near.length === 0
      ? `use an ISO 3166-2 code of ${country}, or leave it out`
      : `did you mean ${near.map(({ code, name }) => `${code.slice(3)} (${name})`).join(' or ')}?`;
  return `Unknown region ${JSON.stringify(region.slice(0, 60))} of ${country}: ${advice}${near.length === 0 ? '.' : ''}`;
}

/** The country of an establishment: a country code in upper or lower case. */
export const countrySchema = z
  .string()
  .trim()
  .transform((words, context) => {
    const code = words.toUpperCase();
    if (code.length === 2 && code !== 'EU' && findJurisdiction(code) !== null) return code;
    context.addIssue({
      code: 'custom',
      message: code === 'EU' ? 'Use the member state of the establishment, not EU.' : unknownJurisdiction(words),
    });
    return z.NEVER;
  });

/**
 * Checks the region of an establishment against its country, and shortens it to the part after the country (`BY`). A part
 * that is listed as a country is that country.
 */
export function shortenRegion<T extends { readonly country: string | null; readonly region: string | null }>(
  place: T,
  context: z.RefinementCtx,
): T {
  const { country, region } = place;
  if (region === null) return place;
  const part = country === null ? null : findRegion(country, region);
  const asCountry = part === null ? country : ownCode(`${country}-${part}`);
  if (part !== null && asCountry?.length === 2) return { ...place, country: asCountry, region: null };
  if (part !== null) return { ...place, region: part };
  const message = country === null ? 'A region needs its country: set country too.' : unknownRegion(country, region);
  context.addIssue({ code: 'custom', path: ['region'], message });
  return z.NEVER;
}
