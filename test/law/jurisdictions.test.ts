import { describe, expect, it } from 'vitest';
import {
  findJurisdiction,
  jurisdictionChoices,
  jurisdictionSchema,
  mapJurisdiction,
  nearJurisdictions,
} from '../../src/law/jurisdictions.ts';
import { profileSchema } from '../../src/law/profile.ts';

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
  ])('%s means %s', (words, code) => {
    expect(mapJurisdiction(words)).toBe(code);
  });

  it.each(['', 'Xyz', 'Georgia', 'Congo', 'Korea', 'Washington', 'Europe', 'Paris, Texas', 'TX', 'x'.repeat(5000)])(
    '%j does not name a place with certainty',
    (words) => {
      expect(mapJurisdiction(words)).toBeNull();
    },
  );
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
