import { describe, expect, it } from 'vitest';
import {
  countryName,
  findJurisdiction,
  jurisdictionChoices,
  jurisdictionChoicesIn,
  jurisdictionSchema,
  mapJurisdiction,
  nearJurisdictions,
} from '../../src/law/jurisdictions.ts';
import { profileSchema } from '../../src/law/profile.ts';
import { normaliseJurisdiction, placeOfEstablishment } from '../../src/law/regime-table.ts';

describe('Kosovo', () => {
  it('can be entered wherever a country can, although ISO 3166-1 does not list it', () => {
    expect(jurisdictionSchema.parse('xk')).toBe('XK');
    expect(findJurisdiction('XK')?.name).toBe('Kosovo');
    expect([mapJurisdiction('Kosovo'), mapJurisdiction('XKX'), mapJurisdiction('Pristina, Kosovo')]).toEqual([
      'XK',
      'XK',
      'XK',
    ]);
    expect(profileSchema.parse({ name: 'Acme', country: 'xk' }).country).toBe('XK');
    expect(jurisdictionChoices().some(({ code }) => code === 'XK')).toBe(true);
    expect(jurisdictionChoicesIn('de').find(({ code }) => code === 'XK')?.name).toBe('Kosovo');
  });
});

describe('words for a place', () => {
  it.each([
    ['California', 'US-CA'],
    ['calif.', 'US-CA'],
    ['us_ca', 'US-CA'],
    ['US/CA', 'US-CA'],
    ['California, USA', 'US-CA'],
    ['United States (California)', 'US-CA'],
    ['CCPA/CPRA', 'US-CA'],
    ['Florida', 'US-FL'],
    ['Georgia, USA', 'US-GA'],
    ['usa', 'US'],
    ['U.S.A.', 'US'],
    ['United States of America', 'US'],
    ['UK', 'GB'],
    ['England', 'GB-ENG'],
    ['Northern Ireland', 'GB-NIR'],
    ['Ireland', 'IE'],
    ['Germany', 'DE'],
    ['Deutschland', 'DE'],
    ['Allemagne', 'DE'],
    ['DEU', 'DE'],
    ['de', 'DE'],
    ['Berlin, Germany', 'DE-BE'],
    ['Bavaria', 'DE-BY'],
    ['España', 'ES'],
    ['Québec', 'CA-QC'],
    ['Luxembourg', 'LU'],
    ['Turkey', 'TR'],
    ['GDPR', 'EU'],
    ['EU', 'EU'],
    ['BR-SP', 'BR-SP'],
    // Places with a code as a country and one as a part of another, as which they have other laws.
    ['CN-TW', 'TW'],
    ['CN-HK', 'HK'],
    ['cn_mo', 'MO'],
    ['Hong Kong SAR, China', 'HK'],
    ['Hong Kong, China', 'HK'],
    ['Macao SAR', 'MO'],
    ['Taiwan, China', 'TW'],
    ['NL-AW', 'AW'],
    ['Aruba, Netherlands', 'AW'],
    ['NL-BQ1', 'BQ'],
    ['Guadeloupe, France', 'GP'],
    ['FR-974', 'RE'],
    ['FR-GP', 'GP'],
    ['FI-01', 'AX'],
    ['US-PR', 'PR'],
    ['Puerto Rico, USA', 'PR'],
    // Codes and names of former and newer parts.
    ['FR-75', 'FR'],
    ['NO-32', 'NO'],
    ['no-01', 'NO'],
    ['Akershus, Norway', 'NO'],
    ['Munich, Germany', 'DE'],
    // Everyday and formal names.
    ['België', 'BE'],
    ['Koninkrijk België', 'BE'],
    ['Chine', 'CN'],
    ['República Democrática do Congo', 'CD'],
  ])('%s means %s', (words, code) => {
    expect(mapJurisdiction(words)).toBe(code);
  });

  it.each([
    '',
    'Xyz',
    'Georgia',
    'Congo',
    'Korea',
    'Washington',
    'Europe',
    'Paris, Texas',
    'TX',
    'US-XX',
    'CA-XX',
    'XX-75',
    'Springfield, USA',
    'Portland, Oregon',
    'Paris, Norway',
    'nowhere 1, Norway',
    'anything that is not in, Norway',
    'x'.repeat(5000),
  ])('%j does not name a place with certainty', (words) => {
    expect(mapJurisdiction(words)).toBeNull();
  });
});

describe('the list of places', () => {
  it('maps every code and every name that a form offers to itself', () => {
    const choices = jurisdictionChoices();
    expect(choices.length).toBeGreaterThan(300);
    for (const { code, name } of choices) {
      expect(mapJurisdiction(code), code).toBe(code);
      if (!/Georgia|Congo|Guinea|Samoa|Washington/.test(name)) expect(mapJurisdiction(name), name).toBe(code);
    }
  });

  it('names a place in English, a part with its country', () => {
    expect(findJurisdiction('US-CA')?.name).toBe('California, United States');
    expect(findJurisdiction('DE')?.name).toBe('Germany');
    expect(findJurisdiction('California')).toBeNull();
  });

  it('has one law for a place with two codes, also where the other one is entered or was recorded', () => {
    for (const [part, country] of [
      ['CN-TW', 'TW'],
      ['CN-HK', 'HK'],
      ['NL-AW', 'AW'],
      ['FR-974', 'RE'],
    ] as const) {
      expect(jurisdictionSchema.parse(part)).toBe(country);
      expect(normaliseJurisdiction(part)).toBe(country);
      expect(profileSchema.parse({ name: 'x', country: part.slice(0, 2), region: part.slice(3) })).toMatchObject({
        country,
        region: null,
      });
      expect(placeOfEstablishment({ country: part.slice(0, 2), region: part.slice(3) })).toEqual({
        country,
        region: null,
      });
    }
    const taken = jurisdictionChoices().map(({ code }) => code);
    expect(taken).toEqual([...new Set(taken.map((code) => normaliseJurisdiction(code)))]);
    expect(jurisdictionSchema.parse('NO-32')).toBe('NO');
    expect(jurisdictionSchema.safeParse('US-XX').success).toBe(false);
  });

  it('names countries as people do, in every language', () => {
    const formal = /Koninkrijk|Republiek|Vorstendom|Bondsrepubliek|Gemenebest van|Föderation|Repubblica di Cina|,/;
    const allowed = new Set(['GB', 'CF', 'DO', 'PF', 'SH', 'BQ', 'MF', 'SX', 'GS', 'UM']);
    for (const language of ['de', 'fr', 'es', 'it', 'nl', 'pl', 'pt', 'sv'])
      for (const { code, name } of jurisdictionChoicesIn(language))
        if (code.length === 2 && !allowed.has(code))
          expect([language, code, name]).toEqual([language, code, expect.not.stringMatching(formal)]);
    const names = (code: string) => ['en', 'de', 'nl', 'it', 'pt'].map((language) => countryName(code, language));
    expect(names('BE')).toEqual(['Belgium', 'Belgien', 'België', 'Belgio', 'Bélgica']);
    expect(names('TW')).toEqual(['Taiwan', 'Taiwan', 'Taiwan', 'Taiwan', 'Taiwan']);
    expect(names('RU')[1]).toBe('Russland');
    expect(names('US').slice(1, 4)).toEqual(['Vereinigte Staaten', 'Verenigde Staten', 'Stati Uniti']);
    expect([names('CG')[4], names('CD')[4]]).toEqual(['República do Congo', 'República Democrática do Congo']);
  });

  it('accepts a code in any case, and answers anything else with suggestions', () => {
    expect(jurisdictionSchema.parse('us-ca')).toBe('US-CA');
    const refused = jurisdictionSchema.safeParse('Calfornia');
    expect(refused.error?.issues[0]?.message).toBe(
      'Unknown place "Calfornia": did you mean US-CA (California, United States)?',
    );
    expect(nearJurisdictions('Germny').map(({ code }) => code)).toEqual(['DE']);
    expect(jurisdictionSchema.safeParse('qqqqqq').error?.issues[0]?.message).toContain('ISO 3166');
  });
});

describe('the establishment in a controller profile', () => {
  it('has a country of the list, and a region of that country with or without its prefix', () => {
    expect(profileSchema.parse({ name: 'x', country: 'DE', region: 'DE-BY' }).region).toBe('BY');
    expect(profileSchema.parse({ name: 'x', country: 'DE', region: 'by' }).region).toBe('BY');
  });

  it.each([
    [{ country: 'Germany' }, 'did you mean DE (Germany)?'],
    [{ country: 'XX' }, 'Unknown place "XX"'],
    [{ country: 'EU' }, 'Use the member state'],
    [{ country: 'DE', region: 'Bavaria' }, 'did you mean BY (Bavaria, Germany)?'],
    [{ country: 'DE', region: 'CA' }, 'Unknown region "CA" of DE'],
    [{ region: 'BY' }, 'set country too'],
  ])('cannot be %j', (place, message) => {
    const { error } = profileSchema.safeParse({ name: 'x', ...place });
    expect(error?.issues.map((issue) => issue.message).join()).toContain(message);
  });
});
