import { UsageError } from './errors.ts';
import { type Regime, type RegimeRow, type RegimesFile, regimeRowSchema } from './regime-schema.ts';
import { builtInRegimes, builtInRows } from './regimes.ts';
import type { RequestKind } from './vocabulary.ts';

/** A country and, where it is known, the region whose public holidays count. */
export interface HolidayPlace {
  readonly country: string;
  readonly region: string | null;
}

/** The regimes in force for an installation: the built-in ones with what its file changes. */
export interface RegimeTable {
  readonly regimes: ReadonlyMap<string, Regime>;
  /** Rows that are on, in order of precedence. */
  readonly rows: readonly RegimeRow[];
  /** Rows that are off because nobody confirmed them. */
  readonly off: readonly RegimeRow[];
  readonly suspendByGuidance: boolean;
}

/**
 * Builds the table. Unconfirmed rows and extensions are left out unless `enable` names their regime.
 * Throws UsageError when the file names a regime that does not exist.
 */
export function createRegimeTable(file?: RegimesFile): RegimeTable {
  const regimes = new Map(builtInRegimes.map((regime) => [regime.id, regime]));
  for (const regime of file?.regimes ?? []) regimes.set(regime.id, regime);
  const problems: string[] = [];
  for (const id of [...(file?.enable ?? []), ...(file?.rows ?? []).map((row) => row.regime)]) {
    if (!regimes.has(id))
      problems.push(`regimes: there is no regime \`${id}\`; add it under \`regimes\` or correct its id`);
  }
  if (problems.length > 0) throw new UsageError([...new Set(problems)]);

  const enabled = new Set(file?.enable ?? []);
  const builtIn = builtInRows.map((row) => {
    const parsed = regimeRowSchema.parse(row);
    const extensionOff = parsed.extension?.confirmed === false && !enabled.has(parsed.regime);
    return extensionOff ? { ...parsed, extension: null } : parsed;
  });
  const isOn = (row: RegimeRow) => row.confirmed || enabled.has(row.regime);
  return {
    regimes,
    rows: [...(file?.rows ?? []), ...builtIn.filter(isOn)],
    off: builtIn.filter((row) => !isOn(row)),
    suspendByGuidance: file?.suspendByGuidance ?? false,
  };
}

/** The row of a regime for a kind of request: one that names the kind, else one for all; the file's before the built-in. */
export function findRow(table: RegimeTable, regime: string, kind: RequestKind): RegimeRow | null {
  const rows = table.rows.filter((row) => row.regime === regime);
  return (
    rows.find((row) => row.kinds !== 'all' && row.kinds.includes(kind)) ??
    rows.find((row) => row.kinds === 'all') ??
    null
  );
}

/** Whose home regime and holidays apply: the parts of the controller profile that matter here. */
export interface Establishment {
  readonly country: string | null;
  readonly region: string | null;
  readonly homeRegime: string | null;
}

export interface Resolution {
  readonly regime: Regime;
  readonly row: RegimeRow;
  /** Whose holidays count; null: none are known, only Saturdays and Sundays are counted. */
  readonly holidays: HolidayPlace | null;
  /** How the regime was found: from the request's code, from the country of its region, or the controller's home. */
  readonly basis: 'jurisdiction' | 'country' | 'home' | 'none';
  /** What the case must say about the choice, in sentences. Empty when the request's code decided. */
  readonly says: readonly string[];
}

/** The regime used when neither the request nor the profile names one; the case says so. */
const LAST_RESORT = 'eu-gdpr';
const aliases: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR', GDPR: 'EU', CCPA: 'US-CA', CPRA: 'US-CA' };

/** Upper case, `-` between country and region, the common other names of a place. */
export function normaliseJurisdiction(code: string | null): string | null {
  const plain = (code ?? '').trim().toUpperCase().replaceAll('_', '-');
  if (plain === '') return null;
  const [country = '', ...rest] = plain.split('-');
  return [aliases[country] ?? country, ...rest].join('-');
}

/**
 * Finds the regime of a request from its jurisdiction code, else its country, else the controller's home regime
 * (docs/deadlines.md, Which law). Never fails: what had to be assumed is said in `says`.
 */
export function resolveRegime(
  table: RegimeTable,
  request: { readonly jurisdiction: string | null; readonly kind: RequestKind },
  home: Establishment | null,
): Resolution {
  const { kind } = request;
  const code = normaliseJurisdiction(request.jurisdiction);
  const says: string[] = [];
  const take = (id: string, basis: Resolution['basis']): Resolution | null => {
    const regime = table.regimes.get(id);
    const row = findRow(table, id, kind);
    if (regime === undefined || row === null) return null;
    return { regime, row, holidays: holidayPlace(regime, code, home), basis, says };
  };

  if (code === null) {
    says.push('The request names no jurisdiction.');
  } else {
    const country = code.split('-')[0] ?? code;
    for (const candidate of new Set([code, country])) {
      const regime = findByJurisdiction(table, candidate);
      if (regime === null) continue;
      const found = take(regime.id, candidate === code ? 'jurisdiction' : 'country');
      if (found !== null) return found;
      says.push(
        `The rules noted for ${candidate} (${regime.law}) are not confirmed and are switched off: check with counsel.`,
      );
    }
    if (says.length === 0) says.push(`No regime is known for the jurisdiction ${code}.`);
  }

  const homeId = home?.homeRegime ?? homeRegimeOf(table, home);
  if (homeId !== null) {
    says.push(`The controller’s home regime is used: ${homeId}.`);
    const found = take(homeId, 'home');
    if (found !== null) return found;
    says.push(`${homeId} has no rule that is switched on for this kind of request.`);
  }
  says.push(
    `The profile leads to no home regime that could be used, so ${LAST_RESORT} is assumed: check with counsel.`,
  );
  const last = take(LAST_RESORT, 'none');
  if (last === null) throw new Error(`the regime ${LAST_RESORT} has no row for all kinds`);
  return last;
}

function findByJurisdiction(table: RegimeTable, code: string): Regime | null {
  // Later regimes win: those of the file are behind the built-in ones.
  return [...table.regimes.values()].findLast((regime) => regime.jurisdictions.includes(code)) ?? null;
}

function homeRegimeOf(table: RegimeTable, home: Establishment | null): string | null {
  if (home?.country == null) return null;
  const country = normaliseJurisdiction(home.country) ?? home.country;
  const regional = home.region === null ? null : findByJurisdiction(table, `${country}-${home.region.toUpperCase()}`);
  return (regional ?? findByJurisdiction(table, country))?.id ?? null;
}

/**
 * Holidays are those of the controller's establishment: Reg. 1182/71 Art. 2(1) looks to the member state in which action is
 * taken. An establishment outside the regime's territory has no holidays that count there, so those of the request's own
 * state are taken; without either, none.
 */
function holidayPlace(regime: Regime, code: string | null, home: Establishment | null): HolidayPlace | null {
  const homeCountry = normaliseJurisdiction(home?.country ?? null);
  if (homeCountry !== null && regime.territory.includes(homeCountry)) {
    return { country: homeCountry, region: home?.region?.toUpperCase() ?? null };
  }
  const [country = '', region] = (code ?? '').split('-');
  if (regime.territory.includes(country)) return { country, region: region ?? null };
  const [only, ...others] = regime.territory;
  return only !== undefined && others.length === 0 ? { country: only, region: null } : null;
}
