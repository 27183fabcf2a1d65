import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/core/errors.ts';
import type { RequestKind } from '../../src/core/vocabulary.ts';
import {
  calendarOf,
  easterSunday,
  findHoliday,
  isWorkingDay,
  knowsHolidays,
  publicHolidays,
} from '../../src/law/calendars.ts';
import { regimeRowSchema, regimeSchema, regimesFileSchema } from '../../src/law/regime-schema.ts';
import {
  createRegimeTable,
  type Establishment,
  findLaws,
  findRegimeRows,
  normaliseJurisdiction,
} from '../../src/law/regime-table.ts';
import { builtInRegimes, builtInRows } from '../../src/law/regimes.ts';

const table = createRegimeTable();
const at = (country: string | null, region: string | null = null, homeRegime: string | null = null): Establishment => ({
  country,
  region,
  homeRegime,
});
const laws = (place: string | null, controller: Establishment) =>
  findLaws(table, place, controller).laws.map(({ regime, why }) => [regime.id, why]);

describe('the built-in rows', () => {
  it('fit their schema, and every regime has one', () => {
    for (const row of builtInRows) regimeRowSchema.parse(row);
    for (const regime of builtInRegimes) {
      regimeSchema.parse(regime);
      expect(
        builtInRows.some((row) => row.regime === regime.id),
        regime.id,
      ).toBe(true);
    }
  });

  it('name no jurisdiction twice', () => {
    const codes = builtInRegimes.flatMap((regime) => regime.jurisdictions);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it('say when a confirmed source was read, and never that an unconfirmed one was', () => {
    for (const row of table.rows) expect(row.confirmed, `${row.regime} ${row.citation}`).toBe(row.readOn !== null);
  });

  it('forbid an identity check in California for opt-out, limit and consent withdrawal, and require it for the rest', () => {
    for (const kind of ['opt-out', 'limit', 'withdraw-consent'] as const) {
      expect(findRegimeRows(table, 'us-ca', kind)).toMatchObject([{ identity: 'forbidden' }]);
    }
    for (const kind of ['access', 'portability', 'erasure', 'rectification'] as const) {
      expect(findRegimeRows(table, 'us-ca', kind)).toMatchObject([{ identity: 'required' }]);
    }
    expect(table.rows.filter((row) => row.identity === 'forbidden').every((row) => row.regime === 'us-ca')).toBe(true);
  });

  it('give no right that the act does not give', () => {
    const none: readonly (readonly [string, RequestKind, string | null])[] = [
      ['us-nv', 'rectification', null],
      ['us-ia', 'rectification', null],
      ['us-45', 'restriction', 'US-VA'],
      ['us-ca', 'restriction', null],
      ['nz', 'portability', null],
    ];
    for (const [regime, kind, place] of none)
      expect(findRegimeRows(table, regime, kind, { place, receivedOn: '2026-12-31' }), `${regime} ${kind}`).toEqual([]);
    const utah = (receivedOn: string) =>
      findRegimeRows(table, 'us-45', 'rectification', { place: 'US-UT', receivedOn });
    expect([utah('2026-06-30').length, utah('2026-07-01').length]).toEqual([0, 1]);
  });

  it('name the appeal of each state, and none for Utah and California', () => {
    const appeal = (place: string) =>
      findRegimeRows(table, 'us-45', 'access', { place, receivedOn: '2026-12-31' })[0]?.appeal?.days ?? null;
    expect(['VA', 'CO', 'CT', 'OR', 'NJ', 'MN', 'UT'].map((state) => appeal(`US-${state}`))).toEqual([
      60,
      45,
      60,
      45,
      45,
      45,
      null,
    ]);
    expect(findRegimeRows(table, 'us-ca', 'access')[0]?.appeal).toBeNull();
    const then = (place: string) =>
      findRegimeRows(table, 'us-45', 'access', { place, receivedOn: '2026-12-31' })[0]?.appeal?.then;
    expect(then('US-VA')).toBe('complaint to the Attorney General of Virginia');
    expect(then('US-NJ')).toBe('complaint to the Division of Consumer Affairs of New Jersey'); // N.J.S.A. 56:8-166.7
  });
});

describe('the laws that apply', () => {
  it('are those of the establishment and of the place, the establishment first', () => {
    expect(laws('US-VA', at('DE', 'BE'))).toEqual([
      ['eu-gdpr', 'establishment'],
      ['us-45', 'place'],
    ]);
    expect(laws('GB', at('IE'))).toEqual([
      ['eu-gdpr', 'establishment'],
      ['uk-gdpr', 'place'],
    ]);
    expect(laws('FR', at('DE'))).toEqual([['eu-gdpr', 'both']]);
    expect(laws('DE', at('US', 'CA'))).toEqual([['eu-gdpr', 'place']]);
    expect(laws('NO', at(null))).toEqual([['eu-gdpr', 'place']]);
  });

  it('never include an act that protects residents just because the controller is there', () => {
    expect(laws('US-VA', at('US', 'CA'))).toEqual([['us-45', 'place']]);
    expect(laws(null, at('US', 'CA'))).toEqual([]);
    expect(findLaws(table, 'US', at('US', 'NY')).says.join()).toContain('no federal law');
    expect(laws('US-NY', at('US', 'NY'))).toEqual([]);
  });

  it('are the province’s own in Quebec, Alberta and British Columbia, and PIPEDA besides for a controller elsewhere in Canada', () => {
    expect(laws('CA-QC', at('CA', 'QC'))).toEqual([['ca-qc', 'both']]);
    expect(laws('CA-QC', at('US'))).toEqual([['ca-qc', 'place']]);
    expect(laws('CA-BC', at('CA', 'ON'))).toEqual([
      ['ca-pipeda', 'establishment'],
      ['ca-bc', 'place'],
    ]);
    expect(laws('CA-ON', at('CA', 'ON'))).toEqual([['ca-pipeda', 'both']]);
  });

  it('include the law of the country if a region has none of its own', () => {
    expect(laws('DE-BY', at(null))).toEqual([['eu-gdpr', 'place']]);
    expect(laws('GB-SCT', at(null))).toEqual([['uk-gdpr', 'place']]);
    expect(laws('RE', at(null))).toEqual([['eu-gdpr', 'place']]);
  });

  it('are empty, with a note, if none is recorded', () => {
    expect(findLaws(table, 'ZZ', at('DE')).says.join()).toContain('The law of ZZ is not recorded here');
    expect(laws('ZZ', at('DE'))).toEqual([['eu-gdpr', 'establishment']]);
  });

  it('include a law that the profile names, unless it protects residents only', () => {
    expect(laws('US-VA', at('US', null, 'uk-gdpr'))).toEqual([
      ['uk-gdpr', 'establishment'],
      ['us-45', 'place'],
    ]);
    const resident = findLaws(table, 'DE', at('US', null, 'us-ca'));
    expect(resident.laws.map((law) => law.regime.id)).toEqual(['eu-gdpr']);
    expect(resident.says.join()).toContain('residents only');
    expect(findLaws(table, 'DE', at('US', null, 'xx-nothing')).says.join()).toContain('Unknown regime');
  });

  it('are found from codes as people write them', () => {
    expect(['gb', ' uk ', 'us_ca', 'el', '', null].map(normaliseJurisdiction)).toEqual([
      'GB',
      'GB',
      'US-CA',
      'GR',
      null,
      null,
    ]);
  });
});

describe('the days off', () => {
  const day = (date: string) => Temporal.PlainDate.from(date);
  const calendar = (id: string, home: string | null, place: string | null) => {
    const regime = table.regimes.get(id);
    if (regime === undefined) throw new Error(id);
    const of = (code: string | null) => {
      const [country = '', region = null] = code?.split('-') ?? [];
      return code === null ? null : { country, region };
    };
    return calendarOf(regime, of(place), of(home));
  };

  it('are those of the establishment if it is in the territory of the law, otherwise those of the person’s place', () => {
    expect(calendar('eu-gdpr', 'DE-BY', 'FR').of).toBe('DE-BY');
    expect(calendar('eu-gdpr', 'CH-ZH', 'FR').of).toBe('FR');
    expect(calendar('eu-gdpr', 'CH-ZH', null).doubt).not.toBeNull();
    expect(calendar('uk-gdpr', 'DE', 'GB-SCT').of).toBe('GB-SCT');
    expect(calendar('us-45', 'US-NY', 'US-VA').of).toBe('US-VA');
  });

  it('are California’s own, wherever the controller is', () => {
    const california = calendar('us-ca', 'US-NY', 'US-CA');
    const works = (date: string) => isWorkingDay(day(date), california);
    expect(works('2026-07-03')).toBe(true); // 4 July 2026 is a Saturday
    expect(works('2027-07-05')).toBe(false); // 4 July 2027 is a Sunday
    expect(works('2028-11-10')).toBe(false); // 11 November 2028 is a Saturday: the Friday before
    expect(works('2027-12-24')).toBe(true); // 25 December 2027 is a Saturday
    expect(works('2026-02-12')).toBe(true); // Lincoln Day, on which state employees work
    expect([works('2026-06-19'), works('2026-09-25')]).toEqual([true, true]); // Juneteenth, Native American Day: by choice
    expect(works('2026-11-26')).toBe(false); // Thanksgiving Day
    expect(works('2026-11-27')).toBe(true); // the day after is not a holiday under § 6700
    expect(works('2026-02-17')).toBe(true); // Lunar New Year: by choice
    expect(works('2026-04-03')).toBe(true); // Good Friday: noon to three
  });

  it('are New Zealand’s as its Privacy Act has them', () => {
    const works = (date: string) => isWorkingDay(day(date), calendar('nz', 'NZ-AUK', 'NZ'));
    for (const date of ['2026-12-25', '2026-12-29', '2027-01-01', '2027-01-02', '2027-01-04'])
      expect(works(date)).toBe(false);
    expect(works('2027-01-05')).toBe(true); // 1 January 2027 is a Friday: only the Monday
    expect([works('2028-01-03'), works('2028-01-04'), works('2028-01-05')]).toEqual([false, false, true]); // a Saturday
    expect([works('2023-01-02'), works('2023-01-03'), works('2023-01-04')]).toEqual([false, false, true]); // a Sunday
    expect(works('2026-01-05')).toBe(true); // a Thursday
    expect(works('2026-01-26')).toBe(true); // Auckland’s anniversary
    expect(works('2026-07-10')).toBe(false); // Matariki
    expect(works('2026-04-27')).toBe(false); // Anzac Day is a Saturday
    expect(works('2027-02-08')).toBe(false); // Waitangi Day is a Saturday
    expect(works('2026-06-01')).toBe(false); // Sovereign’s birthday
    expect(works('2026-10-26')).toBe(false); // Labour Day
  });

  it('are British Columbia’s by its Interpretation Act', () => {
    const works = (date: string) => isWorkingDay(day(date), calendar('ca-bc', 'CA-BC', 'CA-BC'));
    for (const date of ['2026-02-16', '2026-04-06', '2026-05-18', '2026-08-03', '2026-09-30', '2025-12-26'])
      expect(works(date), date).toBe(false);
    expect(works('2026-02-17')).toBe(true);
  });

  it('include Easter', () => {
    expect([2024, 2025, 2026, 2027, 2038].map((year) => easterSunday(year).toString())).toEqual([
      '2024-03-31',
      '2025-04-20',
      '2026-04-05',
      '2027-03-28',
      '2038-04-25',
    ]);
  });

  it('are whole public holidays only', () => {
    const place = (country: string, region: string | null = null) => ({ country, region });
    expect(findHoliday('2026-12-25', place('DE'))).toBe('Christmas Day');
    expect(findHoliday('2026-12-24', place('AT'))).toBeNull(); // a bank's half day
    expect(findHoliday('2026-12-24', place('IS'))).toBeNull(); // from 13:00
    expect(findHoliday('2026-01-02', place('RO'))).not.toBeNull(); // the second day of one holiday
    expect(findHoliday('2026-02-14', place('US', 'CA'))).toBeNull(); // an observance
    expect(findHoliday('2026-05-15', place('LI'))).toBeNull(); // only offices close
    expect(findHoliday('2027-03-15', place('CY'))).toBe('Clean Monday');
    expect(findHoliday('2027-03-16', place('CY'))).toBeNull();
    // Where the library errs.
    expect(findHoliday('2026-06-28', place('ES', 'CB'))).toBeNull();
    expect(findHoliday('2026-07-28', place('ES', 'CB'))).toBe('Día de las Instituciones de Cantabria');
    for (const [first, monday] of [
      ['2021-05-01', '2021-05-03'],
      ['2027-05-01', '2027-05-03'],
    ] as const)
      for (const [region, isOff] of [
        ['CT', false],
        ['MD', true],
      ] as const) {
        expect(findHoliday(first, place('ES', region))).toBe('Labour Day');
        expect([monday, region, findHoliday(monday, place('ES', region)) !== null]).toEqual([monday, region, isOff]);
      }
    expect(findHoliday('2026-06-01', place('CN'))).toBeNull();
    expect(findHoliday('2026-10-01', place('CN'))).toBe('National Day');
    expect(findHoliday('2026-04-04', place('TW'))).not.toBeNull();
    expect(findHoliday('2026-12-25', place('ZZ'))).toBeNull();
    expect(findHoliday('2026-12-25', null)).toBeNull();
    expect(knowsHolidays(place('DE', 'BY'))).toEqual({ country: true, region: true });
    expect(knowsHolidays(place('DE', 'ZZ'))).toEqual({ country: true, region: false });
    expect(knowsHolidays(place('ZZ'))).toEqual({ country: false, region: true });
    expect(publicHolidays(null).doubt).not.toBeNull();
  });
});

describe('the days off of a country without a known region', () => {
  it.each([null, 'LND'])('leave out Easter Monday in the United Kingdom (%s): Scotland works then', (region) => {
    const uk = { country: 'GB', region };
    expect(findHoliday('2027-03-29', uk)).toBeNull();
    expect(findHoliday('2027-03-26', uk)).toBe('Good Friday');
    expect(findHoliday('2027-12-28', uk)).not.toBeNull();
    expect(findHoliday('2027-03-29', { country: 'GB', region: 'NIR' })).toBe('Easter Monday');
  });
});

describe('a file of a deployment', () => {
  it('marks rows as confirmed by counsel, and laws as switched off', () => {
    const changed = createRegimeTable(regimesFileSchema.parse({ confirm: ['ca-qc'], disable: ['au'] }));
    expect(findRegimeRows(changed, 'ca-qc', 'access')).toMatchObject([{ confirmed: true }]);
    expect(findRegimeRows(table, 'ca-qc', 'access')).toMatchObject([{ confirmed: false }]);
    expect(changed.disabled.has('au')).toBe(true);
    expect(findRegimeRows(changed, 'au', 'access')).toHaveLength(1);
  });

  it('overrides a row only for the kinds it names, and adds a regime', () => {
    const changed = createRegimeTable(
      regimesFileSchema.parse({
        regimes: [{ id: 'xx-example', law: 'Example Act', jurisdictions: ['XX'], territory: ['XX'] }],
        rows: [
          {
            regime: 'xx-example',
            kinds: 'all',
            period: { amount: 30, unit: 'days' },
            identity: 'required',
            citation: 'Example Act',
          },
          {
            regime: 'eu-gdpr',
            kinds: ['opt-out'],
            period: { amount: 10, unit: 'days' },
            identity: 'on-recorded-doubt',
            citation: 'house rule',
          },
        ],
      }),
    );
    expect(findLaws(changed, 'XX', at(null)).laws.map((law) => law.regime.id)).toEqual(['xx-example']);
    expect(findRegimeRows(changed, 'eu-gdpr', 'opt-out')[0]?.citation).toBe(
      'own rule of this installation, not of the statute (not recorded in a ledger); it refers to “house rule”',
    );
    expect(findRegimeRows(changed, 'eu-gdpr', 'access')[0]?.citation).toContain('Art. 12(3)');
  });

  it('is refused, in one message, if it names regimes that do not exist', () => {
    const file = regimesFileSchema.parse({
      confirm: ['xx-law'],
      rows: [
        {
          regime: 'yy-law',
          kinds: 'all',
          period: { amount: 30, unit: 'days' },
          identity: 'required',
          citation: 'none',
        },
      ],
    });
    expect(() => createRegimeTable(file)).toThrow(UsageError);
    expect(() => createRegimeTable(file)).toThrow(/xx-law[\s\S]*yy-law/);
  });

  it('is refused if it misspells a field, or stops the clock of business days', () => {
    const row = {
      regime: 'nz',
      kinds: 'all',
      period: { amount: 5, unit: 'business-days' },
      identity: 'required',
      citation: 'none',
    };
    expect(regimesFileSchema.safeParse({ rows: [row] }).success).toBe(true);
    expect(regimesFileSchema.safeParse({ rows: [{ ...row, stopClock: 'clarification' }] }).success).toBe(false);
    expect(regimesFileSchema.safeParse({ row: [row] }).success).toBe(false);
  });
});
