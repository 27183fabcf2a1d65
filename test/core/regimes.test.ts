import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/core/errors.ts';
import { findHoliday, knowsHolidays } from '../../src/core/holidays.ts';
import { regimeRowSchema, regimeSchema, regimesFileSchema } from '../../src/core/regime-schema.ts';
import {
  createRegimeTable,
  type Establishment,
  findRow,
  normaliseJurisdiction,
  resolveRegime,
} from '../../src/core/regime-table.ts';
import { builtInRegimes, builtInRows } from '../../src/core/regimes.ts';
import type { RequestKind } from '../../src/core/vocabulary.ts';

const table = createRegimeTable();
const germany: Establishment = { country: 'DE', region: 'BY', homeRegime: null };
const resolve = (jurisdiction: string | null, kind: RequestKind = 'access', home: Establishment | null = germany) =>
  resolveRegime(table, { jurisdiction, kind }, home);

describe('the built-in rows', () => {
  it('fit their schema, and every regime has one for all kinds or is for access only', () => {
    for (const row of builtInRows) regimeRowSchema.parse(row);
    for (const regime of builtInRegimes) {
      regimeSchema.parse(regime);
      expect(
        builtInRows.some((row) => row.regime === regime.id && row.kinds === 'all'),
        regime.id,
      ).toBe(true);
    }
  });

  it('name no jurisdiction twice', () => {
    const codes = builtInRegimes.flatMap((regime) => regime.jurisdictions);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it('ship the unconfirmed ones switched off', () => {
    expect([...new Set(table.off.map((row) => row.regime))].sort()).toEqual([
      'au',
      'br-lgpd',
      'ca-qc',
      'ch',
      'in',
      'kr',
    ]);
    expect(table.rows.every((row) => row.confirmed)).toBe(true);
    expect(findRow(table, 'us-fl', 'access')?.extension).toBeNull();
  });

  it('forbid an identity check in California for opt-out, limit and consent withdrawal, and require it for the rest', () => {
    for (const kind of ['opt-out', 'limit', 'withdraw-consent'] as const) {
      expect(findRow(table, 'us-ca', kind)?.identity).toBe('forbidden');
    }
    for (const kind of ['access', 'portability', 'erasure', 'rectification', 'unknown'] as const) {
      expect(findRow(table, 'us-ca', kind)?.identity).toBe('required');
    }
    expect(table.rows.filter((row) => row.identity === 'forbidden').every((row) => row.regime === 'us-ca')).toBe(true);
  });
});

describe('which law', () => {
  it.each([
    ['DE', 'eu-gdpr'],
    ['FR', 'eu-gdpr'],
    ['EU', 'eu-gdpr'],
    ['NO', 'eu-gdpr'],
    ['GB', 'uk-gdpr'],
    ['UK', 'uk-gdpr'],
    ['US-CA', 'us-ca'],
    ['us_ca', 'us-ca'],
    ['US-VA', 'us-45'],
    ['US-DE', 'us-45'],
    ['US-IN', 'us-45'],
    ['US-FL', 'us-fl'],
    ['US-IA', 'us-ia'],
    ['BR', 'br-lgpd'],
    ['CA', 'ca-pipeda'],
    ['NZ', 'nz'],
  ])('%s is answered under %s', (jurisdiction, regime) => {
    const found = resolve(jurisdiction);
    expect([found.regime.id, found.basis, found.says]).toEqual([regime, 'jurisdiction', []]);
  });

  it('takes the country of a region that has no law of its own', () => {
    expect(resolve('DE-BY').regime.id).toBe('eu-gdpr');
    expect(resolve('CA-ON').regime.id).toBe('ca-pipeda');
    expect(resolve('GB-SCT').basis).toBe('country');
  });

  it('says so when the law noted for a place is switched off', () => {
    const quebec = resolve('CA-QC');
    expect(quebec.regime.id).toBe('ca-pipeda');
    expect(quebec.says.join(' ')).toContain('not confirmed');
    const swiss = resolve('CH');
    expect([swiss.regime.id, swiss.basis]).toEqual(['eu-gdpr', 'home']);
    expect(swiss.says.join(' ')).toContain('check with counsel');
    const brazil = resolve('BR', 'erasure');
    expect([brazil.regime.id, brazil.basis]).toEqual(['eu-gdpr', 'home']);
  });

  it.each([[null], ['US'], ['ZZ'], ['nowhere'], ['US-ZZ']])(
    '%s is unknown: the home regime is used and the case says so',
    (code) => {
      const found = resolve(code);
      expect([found.regime.id, found.basis]).toEqual(['eu-gdpr', 'home']);
      expect(found.says.join(' ')).toContain('home regime');
    },
  );

  it('derives the home regime from the establishment, its region first', () => {
    expect(resolve(null, 'access', { country: 'US', region: 'CA', homeRegime: null }).regime.id).toBe('us-ca');
    expect(resolve(null, 'access', { country: 'GB', region: null, homeRegime: null }).regime.id).toBe('uk-gdpr');
    expect(resolve(null, 'access', { country: 'DE', region: null, homeRegime: 'nz' }).regime.id).toBe('nz');
  });

  it('assumes the GDPR where not even the home is known, and says so', () => {
    const found = resolve(null, 'access', null);
    expect([found.regime.id, found.basis]).toEqual(['eu-gdpr', 'none']);
    expect(found.says.join(' ')).toContain('check with counsel');
  });

  it('reads codes in the forms people write them', () => {
    expect(['gb', ' uk ', 'us_ca', 'ccpa', 'el', '', null].map(normaliseJurisdiction)).toEqual([
      'GB',
      'GB',
      'US-CA',
      'US-CA',
      'GR',
      null,
      null,
    ]);
  });
});

describe('whose holidays', () => {
  it('are those of the establishment of the controller', () => {
    expect(resolve('FR').holidays).toEqual({ country: 'DE', region: 'BY' });
  });

  it('are those of the state of the request where the establishment lies outside the territory of the law', () => {
    const swiss = { country: 'CH', region: 'ZH', homeRegime: null };
    expect(resolve('FR', 'access', swiss).holidays).toEqual({ country: 'FR', region: null });
    expect(resolve('EU', 'access', swiss).holidays).toBeNull();
    expect(resolve('GB', 'access', swiss).holidays).toEqual({ country: 'GB', region: null });
    expect(resolve('US-CA', 'access', swiss).holidays).toEqual({ country: 'US', region: 'CA' });
    expect(resolve('DE', 'access', null).holidays).toEqual({ country: 'DE', region: null });
  });

  it('are whole public holidays only', () => {
    const place = (country: string, region: string | null = null) => ({ country, region });
    expect(findHoliday('2026-12-25', place('DE'))).toBe('Christmas Day');
    expect(findHoliday('2026-12-24', place('AT'))).toBeNull(); // a bank's half day
    expect(findHoliday('2026-12-24', place('IS'))).toBeNull(); // from 13:00
    expect(findHoliday('2026-01-02', place('RO'))).not.toBeNull(); // the second day of one holiday
    expect(findHoliday('2026-02-14', place('US', 'CA'))).toBeNull(); // an observance
    expect(findHoliday('2026-12-25', place('ZZ'))).toBeNull();
    expect(findHoliday('2026-12-25', null)).toBeNull();
    expect(knowsHolidays(place('DE', 'BY'))).toEqual({ country: true, region: true });
    expect(knowsHolidays(place('DE', 'ZZ'))).toEqual({ country: true, region: false });
    expect(knowsHolidays(place('ZZ'))).toEqual({ country: false, region: true });
  });
});

describe('a file of a deployment', () => {
  it('switches unconfirmed rows and extensions on', () => {
    const enabled = createRegimeTable(regimesFileSchema.parse({ enable: ['ca-qc', 'us-fl'] }));
    const found = resolveRegime(enabled, { jurisdiction: 'CA-QC', kind: 'access' }, germany);
    expect([found.regime.id, found.row.confirmed]).toEqual(['ca-qc', false]);
    expect(findRow(enabled, 'us-fl', 'access')?.extension?.by).toEqual({ amount: 15, unit: 'days' });
    expect(findRow(enabled, 'ch', 'access')).toBeNull();
  });

  it('overrides a row for the kinds it names only, and adds a regime', () => {
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
    expect(resolveRegime(changed, { jurisdiction: 'XX', kind: 'erasure' }, null).regime.id).toBe('xx-example');
    expect(findRow(changed, 'eu-gdpr', 'opt-out')?.citation).toBe('house rule');
    expect(findRow(changed, 'eu-gdpr', 'access')?.citation).toContain('Art. 12(3)');
  });

  it('is refused, in one message, when it names regimes that do not exist', () => {
    const file = regimesFileSchema.parse({
      enable: ['xx-law'],
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

  it('is refused when it misspells a field, or stops the clock of business days', () => {
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
