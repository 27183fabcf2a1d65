import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contentsOfPack } from '../../reports/dsar-pack/described.ts';
import type { DsarPackInput } from '../../reports/dsar-pack/gather.ts';
import { commonPurposes } from '../../reports/dsar-pack/history-catalogue.ts';
import { historyTextsIn } from '../../reports/dsar-pack/history-texts.ts';
import { readmeTextsIn } from '../../reports/dsar-pack/readme-texts.ts';
import { textsIn } from '../../reports/letters/languages.ts';
import { pdfText, zipFile, zipNames } from './files.ts';
import { leaves } from './letter-sentences.ts';
import { allTags } from './letter-world.ts';
import { produceDsarPack } from './whole-pack.ts';
import { collect, decision, ledgerEntry, openWorld, packInput, policyChange, textLook, type World } from './world.ts';

const catalogues = [
  ['history.html', historyTextsIn],
  ['README.txt', readmeTextsIn],
] as const;
/** Texts that another language has in common with English. */
const shared = new Set(
  'Banner|Version|version {version}|Text|text|Text {number}: {of}|text {numbers}|Policy|File|PDF|HTML|Marketing|Performance|Social media|open'.split(
    '|',
  ),
);
const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();
const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ');

describe.each(catalogues)('%s', (_name, inLanguage) => {
  const english = new Map(leaves(inLanguage('en')));

  test.each(allTags.filter((tag) => tag !== 'en'))('has every text in %s, with the placeholders of English', (tag) => {
    const own = leaves(inLanguage(tag));
    expect(own.map(([path]) => path).sort()).toEqual([...english.keys()].sort());
    for (const [path, text] of own) {
      expect(placeholders(text), path).toEqual(placeholders(english.get(path) ?? ''));
      expect(text.trim(), path).not.toBe('');
      expect(text.replaceAll(/\{\w+\}/g, ''), path).not.toMatch(
        /\b(?:the|this|that|and|with|were|been|entry|record)\b/i,
      );
      if (!shared.has(text)) expect(text, path).not.toBe(english.get(path));
    }
  });
});

test.each(allTags)('the explanations in %s quote the words that stand in the cells', (tag) => {
  const { lead, twice, cells, banners, texts, columns } = historyTextsIn(tag);
  const quoted = (text: string) =>
    [...plain(text).matchAll(/[“„”«] ?([^“”„«»]+?) ?[”“»]/g)].map(([, words]) => (words ?? '').toLowerCase());
  const lower = (...all: readonly string[]) => all.map((text) => plain(text).toLowerCase());
  expect(quoted(lead)).toEqual(lower(cells.states.withdrawn, cells.states['partly-withdrawn']));
  expect(lower(cells.contradicts)[0]).toContain(tag === 'en' ? 'contradicts' : (quoted(twice)[0] ?? '?'));
  const [one = '?', last = '?'] = quoted(texts.note);
  const or = new Intl.ListFormat(tag, { type: 'disjunction' }).format(['1', '2']);
  expect(one).toBe(lower(cells.text.changing.replace('{numbers}', or))[0]);
  expect(lower(cells.text['last-seen'])[0]).toContain(last);
  if (tag !== 'en') expect(quoted(banners.note)).toEqual(lower(columns.banner, cells.notEvidenced));
});

let world: World;
const own = 'subject-own';
beforeEach(async () => {
  world = await openWorld();
  await world.insert('decision_history', [
    decision(11, '2026-06-03T10:00:00.000Z', {
      subject: own,
      purposes: '{"analytics":"granted","Ads & more":"granted","advertising":"denied"}',
    }),
    decision(14, '2026-06-20T10:00:00.000Z', { subject: own, state: 'withdrawn', purposes: '{"analytics":"denied"}' }),
  ]);
  await world.insert('policy_history', [policyChange(1, '2026-01-01T00:00:00.000Z')]);
  await world.insert('snapshot_history', [textLook(20, '2026-05-01T00:00:00.000Z', 'ab'.repeat(32))]);
  await world.insert('entries', [ledgerEntry(20, null)]);
});
afterEach(() => world.close());

const filesIn = async (language: string, changes: Partial<DsarPackInput> = {}) => {
  const input = packInput(world, { match: { status: 'from-device', subjects: [own] } });
  const zip = await collect(produceDsarPack({ ...input, case: { ...input.case, language }, ...changes }));
  const read = (name: string) => plain(zipFile(zip, name).toString('utf8'));
  const { history, policyTexts } = textsIn(language)!.packFiles;
  return { history: read(`${history}.html`), texts: read(`${policyTexts}.txt`), readme: read('README.txt') };
};

test('history and texts of policies are in the language of the letter, with its dates and numbers', async () => {
  const german = await filesIn('de-AT');
  for (const words of [
    '<html lang="de-AT">',
    '<h1>Verlauf Ihrer Einwilligungen</h1>',
    '3. Juni 2026, 12:00:00 +02:00',
    '<td>Widerrufen</td>',
    '<td>abgelehnt: Analyse (analytics)</td>',
    'pol-1, Version 3, Text 1 (zuletzt gesehener)',
    'nicht belegt',
  ])
    expect(german.history).toContain(words);
  expect(german.texts).toContain(
    'Text 1: öffentliche Seite von pol-1 (cookie-policy)\r\nZuerst gesehen am 1. Mai 2026',
  );
  expect(german.texts).toContain('Der Text wurde gelöscht.');
  for (const text of Object.values(german)) expect(text).not.toMatch(/\b(?:the|this|and|with|entry)\b/i);
  expect((await filesIn('pl')).history).toContain('3 czerwca 2026 r., 12:00:00 +02:00');
  expect((await filesIn('fr')).history).toContain('accepté : Mesure d’audience (analytics)');
  expect((await filesIn('it')).texts).toContain('Visto per la prima volta il 1º maggio 2026');
  expect((await filesIn('en-US')).history).toContain('June 3, 2026, 12:00:00 +02:00');
});

test('a country’s own words are in every file of its packs', async () => {
  const swiss = await filesIn('de-CH');
  expect(swiss.history).toContain('«Widerrufen»');
  expect(Object.values(swiss).join()).not.toMatch(/ß|„/);
  const brazil = await filesIn('pt-BR');
  expect(brazil.readme).toContain('Estes arquivos');
  expect(Object.values(brazil).join()).not.toMatch(/ficheiro|regist(?:o|ada)/);
});

test('a purpose is shown as the letter writes it, with its recorded name, and one without a word as recorded', async () => {
  const { profile } = packInput(world);
  expect(profile!.purposes.map(({ purpose }) => purpose)).toContain('Advertising');
  const translated = {
    de: { purposes: profile!.purposes.map((one) => ({ ...one, purpose: `${one.purpose} (de)` })) },
  };
  const shown = await filesIn('de', { profile: { ...profile!, translations: translated } });
  expect(shown.history).toContain(
    'erlaubt: Analyse (analytics), Ads &amp; more; abgelehnt: Advertising (de) (advertising)',
  );
  expect((await filesIn('de', { profile: null })).history).toContain('abgelehnt: Werbung (advertising)');
  expect((await filesIn('en')).history).toContain('granted: analytics, Ads &amp; more; denied: advertising');
});

test('English adds nothing to the common names of purposes', () => {
  for (const name of commonPurposes) expect(historyTextsIn('en').purposes[name].replaceAll(' ', '')).toBe(name);
});

test.each(allTags)('names of files in %s are safe on every system, and differ from each other', (tag) => {
  const names = Object.values(textsIn(tag)!.packFiles);
  for (const name of names) expect(name).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
  expect(new Set([...names, 'decisions', 'policies', 'records', 'case', 'manifest', 'verify']).size).toBe(9);
});

test('files to read are named in the language of the letter, which lists them as they are named; README.txt keeps its name', async () => {
  const input = packInput(world, { match: { status: 'from-device', subjects: [own] } });
  const zip = await collect(produceDsarPack({ ...input, case: { ...input.case, language: 'de' } }));
  const names = zipNames(zip);
  expect(names).toEqual(
    expect.arrayContaining(['brief.pdf', 'verlauf.html', 'datenschutzerklaerungen.txt', 'README.txt', 'decisions.csv']),
  );
  expect(names.join()).not.toMatch(/letter|history|policy-texts/);
  for (const text of [pdfText(zipFile(zip, 'brief.pdf')), zipFile(zip, 'README.txt').toString('utf8')]) {
    expect(text).toContain('verlauf.html: Ihre Entscheidungen');
    expect(text).toContain('datenschutzerklaerungen.txt: die Texte');
  }
  expect(zipFile(zip, 'verlauf.html').toString('utf8')).toContain('Die Texte stehen in datenschutzerklaerungen.txt.');
  expect(zipFile(zip, 'policies.json').toString('utf8')).toContain('(datenschutzerklaerungen.txt)');
});

test('a page in another language, and for a pack of an earlier version, describes the files under the names they have', () => {
  const french = contentsOfPack(textsIn('fr')!, [
    'brief.pdf',
    'verlauf.html',
    'datenschutzerklaerungen.txt',
    'case.json',
  ]);
  expect(french.slice(0, 3)).toEqual([
    'brief.pdf : notre réponse à votre demande',
    'verlauf.html : vos décisions, lisibles dans tout navigateur',
    'datenschutzerklaerungen.txt : les textes de ces politiques tels que nous les avons téléchargés',
  ]);
  expect(contentsOfPack(textsIn('de')!, ['letter.html', 'history.html'])).toEqual([
    'letter.html: unsere Antwort auf Ihre Anfrage',
    'history.html: Ihre Entscheidungen zum Lesen, in jedem Browser',
    expect.stringContaining('verify.html'),
  ]);
});
