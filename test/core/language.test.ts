import { expect, it } from 'vitest';
import { languageSchema, languageTag, languageText, likelyLanguage } from '../../src/core/language.ts';

it('reads the tags of languages that exist, and no names', () => {
  const tags = ['de', 'de_at', 'PT-br', 'da', 'German', 'xx', '', 'not a language', 'de-'].map(languageTag);
  expect(tags).toEqual(['de', 'de-AT', 'pt-BR', 'da', null, null, null, null, null]);
  expect([languageText('de-AT'), languageText(null), languageText('xx')]).toEqual([
    'Austrian German',
    'not known',
    'xx',
  ]);
});

it('keeps an unknown language as null and refuses what is no language', () => {
  expect([languageSchema.parse('not-known'), languageSchema.parse('fr')]).toEqual([null, 'fr']);
  expect(languageSchema.safeParse('Deutsch').error?.issues[0]?.message).toContain('Unknown language "Deutsch"');
});

it('proposes a language for places where most people read one', () => {
  const places = ['DE', 'US-CA', 'BR', 'PL', 'CH', 'BE', 'CA', 'EU', null, '??'];
  expect(places.map(likelyLanguage)).toEqual(['de', 'en', 'pt', 'pl', null, null, null, null, null, null]);
});
