import { describe, expect, test } from 'vitest';
import { letterLanguages, textsIn } from '../../reports/letters/languages.ts';
import { hasBlanks } from '../../reports/letters/letter.ts';
import { assertsConduct, sentencesOf, textsOfCatalogue } from './letter-sentences.ts';
import { sources } from './letter-sources.ts';
import { allTags } from './letter-world.ts';

const english = textsOfCatalogue(letterLanguages['en']);
const isProposal = (path: string) => path.startsWith('/proposals/');
const asserting = (path: string, text: string) =>
  isProposal(path) ? [] : sentencesOf(text).filter((one) => assertsConduct(one, 'en'));

/**
 * Translations that speak in the first person where English does not, by path: they ask or greet, or the law is the
 * subject in English.
 */
const firstPersonOnlyThere: readonly string[] = [
  '/frame/closingNamed',
  '/frame/closingUnnamed',
  '/kinds/objection/opening',
  '/kinds/opt-out/opening',
  '/answer/unmatchedHowTo',
  '/families/gdpr/rights/1',
  '/families/similar/rights/1',
  '/families/california/notes/opt-out/0',
  '/families/california/notes/limit/0',
  '/families/california/rights/1',
  '/handOver/invalid',
  '/handOver/formExpired',
  '/handOver/unavailable',
  '/task/due',
  '/task/reportedDone',
  '/requestForm/tooMany',
  '/appealTo',
];

/** Texts whose sentences are divided otherwise: salutations with an abbreviation, and two requests as one. */
const dividedOtherwise: readonly string[] = [
  '/frame/dearNamed',
  '/frame/dearUnnamed',
  '/notice/dear',
  '/noMatch/steps/0',
];

test('every English sentence that asserts conduct of the controller names what it follows from, and no other is listed', () => {
  const found = english.flatMap(([path, text]) => asserting(path, text));
  expect(found.filter((sentence) => !sources.has(sentence))).toEqual([]);
  expect([...sources.keys()].filter((sentence) => !found.includes(sentence))).toEqual([]);
});

test('a sentence that claims what the program cannot know is found, whatever its voice', () => {
  for (const claim of [
    'We use what you send us only for this check.',
    'We do not keep copies of identity documents.',
    'Your data are not shared.',
    'It costs you nothing.',
    'Your request will be answered without delay.',
  ]) {
    expect(assertsConduct(claim, 'en'), claim).toBe(true);
    expect(sources.has(claim), claim).toBe(false);
  }
  for (const [language, claim] of [
    ['de', 'Kopien von Ausweisen bewahren wir nicht auf.'],
    ['fr', 'Nous ne conservons pas de copies.'],
    ['es', 'No conservamos copias de documentos de identidad.'],
    ['it', 'Non conserviamo copie.'],
    ['nl', 'Wij bewaren geen kopieën.'],
    ['pl', 'Nie przechowujemy kopii dokumentów tożsamości.'],
    ['pt', 'Não guardamos cópias.'],
    ['sv', 'Vi sparar inga kopior.'],
  ] as const)
    expect(assertsConduct(claim, language), claim).toBe(true);
});

test('a suggestion that asserts conduct has a blank, so that no officer sends it unread', () => {
  const unread = allTags.flatMap((tag) =>
    textsOfCatalogue(textsIn(tag))
      .filter(([path, text]) => isProposal(path) && !hasBlanks(text))
      .filter(([path]) => path !== '/proposals/identity/1')
      .map(([path]) => `${tag}${path}`),
  );
  expect(unread).toEqual([]);
});

describe.each(allTags.filter((tag) => tag !== 'en'))('%s', (tag) => {
  const [language = ''] = tag.split('-');
  const own = new Map(textsOfCatalogue(textsIn(tag)));
  const pairs = english
    .filter(([path]) => !dividedOtherwise.includes(path))
    .map(([path, text]) => ({ path, english: sentencesOf(text), own: sentencesOf(own.get(path) ?? '') }));

  test('has sentence by sentence what English has: none more, none fewer', () => {
    const differing = pairs.filter((pair) => pair.own.length !== pair.english.length).map(({ path }) => path);
    expect(differing).toEqual([]);
  });

  test('asserts conduct only where English does', () => {
    const more = pairs
      .filter(({ path }) => !firstPersonOnlyThere.includes(path) && !isProposal(path))
      .flatMap((pair) =>
        pair.own.filter((one, i) => assertsConduct(one, language) && !assertsConduct(pair.english[i] ?? '', 'en')),
      );
    expect(more).toEqual([]);
  });
});
