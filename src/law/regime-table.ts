import { UsageError } from '../core/errors.ts';
import type { RequestKind } from '../core/vocabulary.ts';
import type { HolidayPlace } from './calendars.ts';
import { findJurisdiction, ownCode } from './jurisdictions.ts';
import type { UnrecordedLaw } from './not-recorded.ts';
import {
  differencesOfRegime,
  differencesOfRow,
  findRegimeChanges,
  ownCitation,
  ownDecisions,
  type RecordedRules,
  type RegimeChange,
} from './own-rules.ts';
import { type Regime, type RegimeRow, type RegimesFile, regimeRowSchema } from './regime-schema.ts';
import { builtInRegimes, builtInRows, notices } from './regimes.ts';

/** The regimes of an installation: the built-in ones, as changed by its file. */
export interface RegimeTable {
  readonly regimes: ReadonlyMap<string, Regime>;
  /** In order of precedence: rows of the file come first. */
  readonly rows: readonly RegimeRow[];
  /** Regimes that the installation considers not applicable. */
  readonly disabled: ReadonlySet<string>;
  readonly suspendByGuidance: boolean;
}

/** The rules that come with the program. Read on first use: most commands do not need them. */
let builtIn: { readonly regimes: readonly Regime[]; readonly rows: readonly RegimeRow[] } | undefined;
function readBuiltIn() {
  builtIn ??= { regimes: builtInRegimes, rows: builtInRows.map((row) => regimeRowSchema.parse(row)) };
  return builtIn;
}

/** The regimes that a file adds or changes, and how they differ from the built-in ones; without a file none. */
export function regimeChanges(file: RegimesFile | undefined): readonly RegimeChange[] {
  return file === undefined ? [] : findRegimeChanges(file, readBuiltIn());
}

const NOTHING_RECORDED: RecordedRules = new Map();

/**
 * Builds the table. Unconfirmed rows are included and marked; `confirm` removes the mark. Rules that the file changes
 * say so in their citation, with the entry by `recorded`. Throws UsageError if the file names a regime that does not
 * exist.
 */
export function createRegimeTable(
  file?: RegimesFile,
  recorded: () => RecordedRules = () => NOTHING_RECORDED,
): RegimeTable {
  const regimes = new Map(builtInRegimes.map((regime) => [regime.id, regime]));
  for (const regime of file?.regimes ?? []) regimes.set(regime.id, regime);
  const named = [...(file?.confirm ?? []), ...(file?.disable ?? []), ...(file?.rows ?? []).map((row) => row.regime)];
  const unknown = [...new Set(named)].filter((id) => !regimes.has(id));
  if (unknown.length > 0)
    throw new UsageError(
      unknown.map((id) => `regimes: unknown regime "${id}": add it under \`regimes\` or correct its id`),
    );

  let made: { readonly by: RecordedRules; readonly rows: readonly RegimeRow[] } | undefined;
  return {
    regimes,
    get rows() {
      const by = recorded();
      if (made?.by !== by) made = { by, rows: rowsOf(file, by) };
      return made.rows;
    },
    disabled: new Set(file?.disable ?? []),
    suspendByGuidance: file?.suspendByGuidance ?? false,
  };
}

/** Those of the file, then the built-in ones, each with what the installation decided about it. */
function rowsOf(file: RegimesFile | undefined, recorded: RecordedRules): readonly RegimeRow[] {
  const standard = readBuiltIn();
  if (file === undefined) return standard.rows;
  const since = (id: string) => recorded.get(id) ?? null;
  const confirmed = new Set(file.confirm);
  const described = new Set(
    file.regimes.filter((regime) => differencesOfRegime(regime, standard).length > 0).map(({ id }) => id),
  );
  const own = file.rows.map((row): RegimeRow => {
    const isSame = differencesOfRow(row, standard).length === 0 && !described.has(row.regime);
    return isSame ? row : { ...row, citation: ownCitation(row, since(row.regime)), isOwn: true };
  });
  const ofProgram = standard.rows.map((row): RegimeRow => {
    const { regime, extension } = row;
    const isConfirmed = confirmed.has(regime) && !(row.confirmed && (extension?.confirmed ?? true));
    const decided = { isConfirmed, isDescribed: described.has(regime), isPaused: file.suspendByGuidance };
    const citation = `${row.citation}${ownDecisions(row, decided, since(regime))}`;
    if (!isConfirmed) return { ...row, citation };
    return { ...row, citation, confirmed: true, extension: extension && { ...extension, confirmed: true } };
  });
  return [...own, ...ofProgram];
}

/**
 * The rows of a regime for a kind of request: the one that names the kind, or else the one for all kinds; rows of the
 * file before built-in ones. If the kind is not settled, every row with a period, since any of them may turn out to
 * apply. Empty: the law gives no such right.
 */
export function findRegimeRows(
  table: RegimeTable,
  regime: string,
  kind: RequestKind,
  request: { readonly place: string | null; readonly receivedOn: string } = { place: null, receivedOn: '9999-12-31' },
): readonly RegimeRow[] {
  const rows = table.rows.filter(
    (row) =>
      row.regime === regime &&
      (row.places === null || (request.place !== null && row.places.includes(request.place))) &&
      (row.from === null || row.from <= request.receivedOn) &&
      (row.before === null || request.receivedOn < row.before),
  );
  if (kind === 'unknown') return rows.filter((row) => row.period !== 'at-once');
  const row =
    rows.find((one) => one.kinds !== 'all' && one.kinds.includes(kind)) ?? rows.find((one) => one.kinds === 'all');
  return row === undefined ? [] : [row];
}

/** The parts of the controller's profile that determine the law. */
export interface Establishment {
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null;
  /** The part of the country after the hyphen of its ISO 3166-2 code, e.g. `BY`. */
  readonly region: string | null;
  /** An additional law for the controller, by the id of its regime (a branch elsewhere). */
  readonly homeRegime?: string | null;
}

/** A law that applies to a request, and why. */
export interface ApplicableLaw {
  readonly regime: Regime;
  /** `establishment`: the controller is established there and answers everyone under it. `place`: the person is there. */
  readonly why: 'establishment' | 'place' | 'both';
  /** The code by which it was found; the person's place if it was found by that. */
  readonly place: string | null;
}

const aliases: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR' };

/**
 * Upper case, `-` between country and region, and the standard code for common other codes of a country, or of a part
 * that has a code as a country (see `ownCode`).
 */
export function normaliseJurisdiction(code: string | null): string | null {
  const plain = (code ?? '').trim().toUpperCase().replaceAll('_', '-');
  if (plain === '') return null;
  const [country = '', ...rest] = plain.split('-');
  return ownCode([aliases[country] ?? country, ...rest].join('-'));
}

/** The establishment as a place with public holidays; null if its country is unknown. */
export function placeOfEstablishment(controller: Establishment): HolidayPlace | null {
  const country = normaliseJurisdiction(controller.country);
  if (country === null) return null;
  const region = controller.region?.trim().toUpperCase() ?? '';
  const own = region.startsWith(`${country}-`) ? region.slice(country.length + 1) : region;
  const asCountry = ownCode(`${country}-${own}`);
  if (asCountry.length === 2) return { country: asCountry, region: null };
  return { country, region: own === '' ? null : own };
}

/** A code as a place with public holidays. */
export function placeOfCode(code: string | null): HolidayPlace | null {
  if (code === null || code === 'EU') return null;
  const [country = '', region] = code.split('-');
  return { country, region: region ?? null };
}

/**
 * Every law that applies to a request (docs/deadlines.md, Which laws): those of the controller's establishment first,
 * then those of the person's place. A region's own law replaces its country's. `unrecorded`: laws that may apply and are
 * not in the table. `says`: what the officer has to know or settle.
 */
export function findLaws(
  table: RegimeTable,
  place: string | null,
  controller: Establishment,
): {
  readonly laws: readonly ApplicableLaw[];
  readonly unrecorded: readonly UnrecordedLaw[];
  readonly says: readonly string[];
} {
  const unrecorded: UnrecordedLaw[] = [];
  const says: string[] = [];
  const laws: ApplicableLaw[] = [];
  const home = placeOfEstablishment(controller);
  const homeCode = home === null ? null : [home.country, ...(home.region === null ? [] : [home.region])].join('-');
  const own = homeCode === null ? null : regimeOf(table, homeCode);
  if (own !== null && own.reach !== null) laws.push({ regime: own, why: 'establishment', place: homeCode });
  // Acts of US states protect their residents only, and there is no law for all of the country.
  if (home !== null && own === null && notices[home.country] === undefined) {
    unrecorded.push({ code: home.country, scope: 'law' });
    if (place === null || countryOf(place) !== home.country) says.push(noLaw(home.country));
  }
  const named = controller.homeRegime ?? null;
  if (named !== null && named !== own?.id) {
    const regime = table.regimes.get(named);
    if (regime === undefined) says.push(`Unknown regime "${named}" in the profile: correct homeRegime.`);
    else if (regime.reach === null)
      says.push(`The profile’s homeRegime ${named} protects residents only: it is not applied to everyone.`);
    else laws.push({ regime, why: 'establishment', place: null });
  }
  if (place !== null) {
    const regime = regimeOf(table, place);
    const index = laws.findIndex((law) => law.regime === regime);
    const found = laws[index];
    if (regime === null) {
      const notice = notices[place] ?? notices[countryOf(place)];
      const code = notice === undefined ? countryOf(place) : place;
      says.push(notice ?? noLaw(code));
      if (unrecorded.every((one) => one.code !== code)) unrecorded.push({ code, scope: 'law' });
    } else if (found === undefined) laws.push({ regime, why: 'place', place });
    else laws[index] = { ...found, why: 'both', place };
  }
  return { laws, unrecorded, says };
}

const noLaw = (place: string) =>
  `The law of ${findJurisdiction(place)?.name ?? place} is not recorded here: check with counsel whether it sets a date.`;
/** `US` of `US-NY`. */
export const countryOf = (code: string) => code.split('-')[0] ?? code;

/** The regime of a code, or else of its country. Later regimes win, so those of the file override built-in ones. */
export function regimeOf(table: RegimeTable, code: string): Regime | null {
  const all = [...table.regimes.values()];
  const byCode = (one: string) => all.findLast((regime) => regime.jurisdictions.includes(one)) ?? null;
  return byCode(code) ?? byCode(countryOf(code));
}
