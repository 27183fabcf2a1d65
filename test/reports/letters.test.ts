import { describe, expect, test } from 'vitest';
import { createRegimeTable } from '../../src/core/regime-table.ts';
import { chooseLanguage, letterLanguages } from '../../reports/letters/languages.ts';
import { letterLaws } from '../../reports/letters/laws.ts';
import { hasBlanks, letterBlocks, letterFrame, letterProblem } from '../../reports/letters/letter.ts';
import type { Block } from '../../reports/render/blocks.ts';
import { renderPdf } from '../../reports/render/pdf.ts';
import { pdfInfo, pdfText } from './files.ts';
import { profile } from './profile.ts';
import { FILLED, factsOf, lettersOf, letterOf, type NamedLetter } from './letter-world.ts';

const others = Object.keys(letterLanguages).filter((language) => language !== 'en');

/** Every text of a language with the path to it. */
function leaves(value: unknown, path = ''): [path: string, text: string][] {
  if (typeof value === 'string') return [[path, value]];
  return Object.entries(value as object).flatMap(([key, inner]) => leaves(inner, `${path}/${key}`));
}

function textOf({ letter, facts }: NamedLetter): string {
  return letterBlocks(letter, facts).flatMap(wordsOf).join('\n');
}

function wordsOf(block: Block): readonly string[] {
  switch (block.block) {
    case 'lines':
      return block.lines;
    case 'list':
      return block.items;
    case 'facts':
      return block.pairs.flat();
    case 'heading':
    case 'paragraph':
      return [block.text];
    case 'notice':
      return [block.title, block.text];
    default:
      return [];
  }
}

const letters = [...lettersOf()];
const composed = new Map(letters.map((one) => [one.name, textOf(one)]));
const named = (name: string) => {
  const found = letters.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no letter ${name}`);
  return textOf(found);
};
/** Of one of all letters; each is composed once. */
const textOfKnown = ({ name }: NamedLetter) => composed.get(name) ?? '';
const about = { document: '0123456789abcdef', version: '0.1.0', madeAt: '2026-07-20T08:00:00.000Z', sample: false };

describe.each(others)('%s', (language) => {
  const english = new Map(leaves(letterLanguages['en']));
  const own = leaves(letterLanguages[language]);
  const placeholders = (text = '') => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();

  test('has the placeholders of English, text by text', () => {
    const paths = own.map(([path]) => path).filter((path) => !path.startsWith('/lawNames/'));
    for (const [path, text] of own)
      if (english.has(path)) expect(placeholders(text), path).toEqual(placeholders(english.get(path)));
    const wanted = [...english.keys()].filter(
      (path) => !path.startsWith('/lawNames/') && !path.startsWith('/proposals/'),
    );
    expect(paths).toEqual(expect.arrayContaining(wanted));
  });

  test('has no sentence of English in any letter', () => {
    const sentences = [...english]
      .filter(([path, text]) => !path.startsWith('/lawNames/') && text.split(' ').length > 3)
      .map(([, text]) => text.replaceAll(/\{\w+\}.*$/g, '').trim())
      .filter((text) => text.length > 12);
    for (const letter of letters.filter(({ name }) => name.startsWith(`${language}_`))) {
      const text = textOfKnown(letter);
      for (const sentence of sentences) expect(text, letter.name).not.toContain(sentence);
    }
  });
});

test('no letter has a placeholder or a blank left, and every one of them says who writes to whom, when and about what', () => {
  for (const letter of letters) {
    const text = textOfKnown(letter);
    expect(text, letter.name).not.toMatch(/[{}]/);
    expect(hasBlanks(text), letter.name).toBe(false);
    expect(text, letter.name).toMatch(/^Förster & Söhne GmbH|^Förster/);
    expect(text, letter.name).toContain('2026');
    expect(text, letter.name).toContain('default-3');
    expect(text, letter.name).not.toMatch(/undefined|null|aim(?:ed)? for|entry \d|message that this letter/i);
  }
});

test('no letter cites a law that does not apply', () => {
  for (const letter of letters) {
    const [law = ''] = letter.facts.laws;
    const text = textOfKnown(letter);
    const gdpr = /GDPR|DSGVO|RGPD|RODO|AVG\b|dataskyddsförordning|\bArt\. (?:[5-9]|1\d|2[0-2]|7[79])(?:\(|,| Abs)/;
    if (law !== 'eu-gdpr' && law !== 'uk-gdpr' && law !== 'br-lgpd') {
      expect(text.replaceAll(/Förster.*|.*consent, GDPR.*/g, ''), letter.name).not.toMatch(gdpr);
    }
    if (law !== 'us-ca') expect(text, letter.name).not.toMatch(/11 CCR|Cal\. Civ|California/);
    if (law !== 'br-lgpd') expect(text, letter.name).not.toMatch(/LGPD|ANPD/);
    if (law !== 'uk-gdpr') expect(text, letter.name).not.toMatch(/UK GDPR|Information Commissioner’s Office/);
    if (law !== 'eu-gdpr') expect(text, letter.name).not.toContain('Bayerisches Landesamt');
  }
});

test('a refusal names the remedies of its law: complaint and court, or the appeal and then the attorney general, or no appeal', () => {
  expect(named('en_eu-gdpr_refusal')).toMatch(/Art\. 77 GDPR[\s\S]*Art\. 79 GDPR[\s\S]*Bayerisches Landesamt/);
  expect(named('en_uk-gdpr_refusal')).toMatch(/complain to us[\s\S]*Information Commissioner[\s\S]*apply to a court/);
  expect(named('en_us-va_refusal')).toMatch(/appeal[\s\S]*within 60 days[\s\S]*Attorney General of Virginia, https:/);
  expect(named('en_us-co_refusal')).toContain('within 45 days');
  expect(named('en_us-ut_refusal')).toContain('Utah Division of Consumer Protection');
  expect(named('en_us-ut_refusal')).not.toMatch(/appeal/i);
  expect(named('en_ca-qc_refusal')).toContain('Within 30 days');
  expect(named('de_eu-gdpr_refusal')).toContain('Art. 79 DSGVO');
});

test('only a law with an appeal has a decision on one', () => {
  const withAppeal = letters.filter(({ name }) => /^en_.*_appeal$/.test(name)).map(({ facts }) => facts.laws[0] ?? '');
  expect(withAppeal).toContain('us-va');
  expect(withAppeal).toEqual(Object.keys(letterLaws).filter((law) => letterLaws[law]?.appealDays !== null));
});

test('the days for an appeal are those that the deadlines of the law have', () => {
  const table = createRegimeTable();
  for (const [law, { appealDays }] of Object.entries(letterLaws).filter(
    ([id]) => id.startsWith('us-') && id !== 'us-45',
  )) {
    const place = law.toUpperCase();
    const appeals = table.rows
      .filter(({ regime, places }) => regime === law || (regime === 'us-45' && places?.includes(place)))
      .map(({ appeal }) => appeal?.days ?? null);
    expect([law, ...new Set(appeals)]).toEqual([law, appealDays]);
  }
});

test('without the identity check no letter tells what other systems hold', () => {
  expect(named('en_eu-gdpr_unverified')).not.toMatch(/Newsletter|Customer database/);
  expect(named('en_eu-gdpr_answer_access')).toContain('Newsletter: searched');
});

test('an opt-out that no record fits is confirmed as applied, and says how to apply it in the browser as well', () => {
  const text = named('en_us-ca_unmatched-opt-out');
  expect(text).toContain('We have applied your opt-out');
  expect(text).toContain('You did not have to verify your identity');
  expect(text).toContain('the link “Cookie settings” at the foot of every page.');
  expect(text).not.toContain('We cannot link you');
});

test('a choice cannot be answered with a letter that finds nobody', () => {
  for (const kind of ['opt-out', 'limit', 'objection', 'withdraw-consent'] as const)
    expect(letterProblem(letterOf('no-match', 'en', null), factsOf('us-ca', kind)), kind).toContain('write the answer');
  expect(letterProblem(letterOf('no-match', 'en', null), factsOf('us-ca', 'erasure'))).toBeNull();
});

test('without a match the letter says how the person can help, never that nothing is held', () => {
  for (const law of Object.keys(letterLaws)) {
    const text = named(`en_${law}_no-match`);
    expect(text).toContain('This is how you can help us find them');
    expect(text).not.toMatch(/hold no|no (?:personal )?data (?:about|on|of) you|do not (?:hold|process)/i);
  }
});

test('an agent is addressed as one, with the person represented', () => {
  const text = named('en_eu-gdpr_agent');
  expect(text).toContain('Dear Agentur Müller GmbH,');
  expect(text).toContain('You act on behalf of Zoë Krüger-Łącka.');
  expect(text).not.toContain('On 1 July 2026 you asked us');
});

test('a late answer says that it is late and since when', () => {
  expect(named('en_eu-gdpr_late')).toContain('This answer is late: it was due on 3 August 2026.');
  expect(named('de_eu-gdpr_late')).toContain('Diese Antwort kommt verspätet: Sie war am 3. August 2026 fällig.');
  expect(named('en_eu-gdpr_answer_access')).not.toContain('late');
});

test('an erasure says that the proof of consent is kept, by the law that allows it', () => {
  expect(named('en_eu-gdpr_answer_erasure')).toContain('Art. 17(3)(b) and (e) GDPR');
  expect(named('en_uk-gdpr_answer_erasure')).toContain('Art. 17(3)(b) and (e) UK GDPR');
  expect(named('en_us-va_answer_erasure')).toContain('where the law requires or permits it');
});

test('an erasure names the remedies, because keeping the proof of consent refuses a part of it', () => {
  expect(named('en_eu-gdpr_answer_erasure')).toMatch(/Art\. 77 GDPR[\s\S]*Art\. 79 GDPR/);
  expect(named('en_us-va_answer_erasure')).toMatch(/appeal against this decision[\s\S]*Attorney General of Virginia/);
  expect(named('en_us-ca_refusal')).toContain('You may opt out of the sale and sharing');
  expect(named('en_us-va_refusal')).not.toContain('You may opt out of the sale and sharing');
});

test('a letter that finds nobody names the appeal, and the rights where another system held something', () => {
  expect(named('en_us-va_no-match')).toContain('appeal against this decision');
  const facts = factsOf('eu-gdpr', 'access', { match: 'none', disclosure: 'no-match' });
  const text = textOf({ name: '', letter: letterOf('no-match', 'en', null), facts });
  expect(text).toMatch(/enclosed separately[\s\S]*Art\. 16, 17 and 18 GDPR/);
  expect(named('en_eu-gdpr_no-match')).not.toContain('How we process personal data');
});

test('a notice to recipients cites Art. 19 only for what that article covers, and a request for a copy has none', () => {
  const notice = (kind: 'erasure' | 'objection') =>
    textOf({ name: '', letter: letterOf('notice', 'en', 'Account 7.'), facts: factsOf('eu-gdpr', kind) });
  expect(notice('erasure')).toContain('Art. 19 GDPR');
  expect(notice('objection')).not.toContain('Art. 19');
  expect(letterProblem(letterOf('notice', 'en', 'Account 7.'), factsOf('eu-gdpr', 'access'))).toContain('a copy');
});

test('an acknowledgement promises no day that is over', () => {
  const on = (madeOn: string) =>
    textOf({
      name: '',
      letter: letterOf('acknowledgement', 'en', null),
      facts: factsOf('eu-gdpr', 'erasure', { madeOn }),
    });
  expect(on('2026-08-03')).toContain('by 3 August 2026 at the latest');
  expect(on('2026-08-04')).not.toContain('3 August 2026');
});

test('where no law gives a right, no authority is named for complaints', () => {
  const facts = factsOf('', 'access', { laws: [], limit: null, firstLimit: null });
  expect(textOf({ name: '', letter: letterOf('refusal', 'en', 'Reasons.'), facts })).not.toMatch(/complain/);
});

test('a state without deletion or without an opt-out of sale promises neither', () => {
  for (const law of ['us-nv', 'us-wa']) expect(named(`en_${law}_answer_access`)).not.toMatch(/opting out of its sale/);
  expect(named('en_us-wa_refusal')).toContain('within 45 days');
});

test.each(['nz', 'ca-pipeda', 'ca-ab', 'ca-bc'])(
  'an extension under %s tells of the right to complain about it',
  (law) => {
    expect(named(`en_${law}_extension`)).toContain('You may complain about this extension');
  },
);

test.each([
  ['it', '2026-07-08', 'l’8 luglio 2026 ci ha chiesto', 'richiesta dell’8 luglio 2026'],
  ['it', '2026-07-11', 'l’11 luglio 2026 ci ha chiesto', 'richiesta dell’11 luglio 2026'],
  ['it', '2026-07-01', 'il 1º luglio 2026 ci ha chiesto', 'richiesta del 1º luglio 2026'],
  ['it', '2026-07-18', 'il 18 luglio 2026 ci ha chiesto', 'richiesta del 18 luglio 2026'],
  ['fr', '2026-07-01', 'Le 1er juillet 2026, vous', 'demande du 1er juillet 2026'],
  ['pl', '2026-07-01', '1 lipca 2026 r. zwrócili się Państwo', 'wniosek z 1 lipca 2026 r.: odmowa'],
  ['sv', '2026-07-01', 'Den 1 juli 2026 begärde du', 'begäran av den 1 juli 2026'],
  ['pt', '2026-07-01', 'Em 1 de julho de 2026, pediu-nos', 'pedido de 1 de julho de 2026'],
])('a date in %s is written as its language wants: %s', (language, receivedOn, opening, title) => {
  const facts = factsOf('eu-gdpr', 'erasure', { receivedOn });
  const text = textOf({ name: '', letter: letterOf('refusal', language, 'X.'), facts });
  expect(text).toContain(opening);
  expect(text).toContain(title);
  expect(text).not.toContain('r..');
});

test('after the first sentence every paragraph begins with a capital', () => {
  for (const step of ['identity', 'clarification', 'extension', 'appeal'] as const)
    for (const [language, texts] of Object.entries(letterLanguages))
      expect(texts[step].lead, `${language} ${step}`).toMatch(/^\p{Lu}/u);
});

test('a letter that needs the words of an officer cannot go out without them, or with blanks', () => {
  const facts = factsOf('eu-gdpr', 'erasure');
  expect(letterProblem(letterOf('answer', 'en', null), facts)).toContain('Write what the letter has to say');
  expect(letterProblem(letterOf('answer', 'en', 'We erased [what].'), facts)).toContain('Fill in the blanks');
  expect(letterProblem(letterOf('answer', 'en', 'We erased your account.'), facts)).toBeNull();
  expect(letterProblem(letterOf('answer', 'en', null), factsOf('eu-gdpr', 'access'))).toBeNull();
  const unchecked = factsOf('us-ca', 'opt-out', { identity: { met: true, confirmed: false, unchecked: true } });
  expect(letterProblem(letterOf('identity', 'en', 'Who?'), unchecked)).toContain(
    'must not depend on an identity check',
  );
});

test('a controller without address and e-mail is named as the one to write to', () => {
  const bare = { ...profile, email: null, address: [] };
  const facts = factsOf('eu-gdpr', 'erasure', { profile: bare });
  expect(textOf({ name: '', letter: letterOf('acknowledgement', 'en', null), facts })).toContain(
    `please contact ${profile.name} and quote`,
  );
});

test('several laws that apply are all named, each with its own remedies', () => {
  const facts = factsOf('eu-gdpr', 'access', { laws: ['eu-gdpr', 'us-va'] });
  const text = textOf({ name: '', letter: letterOf('refusal', 'en', 'Reasons.'), facts });
  expect(text).toContain('Applicable law: Virginia Consumer Data Protection Act');
  expect(text).toContain('Art. 77 GDPR');
  expect(text).toContain('Attorney General of Virginia');
  const access = textOf({ name: '', letter: letterOf('answer', 'en', null), facts });
  expect(access.match(/Yes, we process personal data about you/g)).toHaveLength(1);
});

test('that an answer never contains identifiers is said only where the records are not enclosed as they came', () => {
  expect(named('en_us-ca_answer_access')).toContain('This answer never contains Social Security');
  const facts = factsOf('eu-gdpr', 'access', { laws: ['eu-gdpr', 'us-ca'] });
  expect(facts.enclosed).toContain('records');
  expect(textOf({ name: '', letter: letterOf('answer', 'en', null), facts })).not.toContain('never contains');
});

test('a text of an officer keeps its paragraphs and lists, and braces in it are only characters', () => {
  const facts = factsOf('eu-gdpr', 'erasure', {
    requester: { name: '{limit}', email: null, role: 'agent', represented: '{x}' },
  });
  const blocks = letterBlocks(letterOf('answer', 'en', 'First.\n\n- {one}\n- two\nLast.'), facts);
  expect(blocks).toContainEqual({ block: 'paragraph', text: 'First.' });
  expect(blocks).toContainEqual({ block: 'list', items: ['{one}', 'two'] });
  expect(blocks).toContainEqual({ block: 'paragraph', text: 'Dear {limit},' });
});

test('the language is the officer’s choice, else the requester’s, else the controller’s; one that is missing is said', () => {
  expect(chooseLanguage(null, 'de-CH', 'en')).toEqual({ language: 'de', locale: 'de-CH', missing: null });
  expect(chooseLanguage('en', 'de')).toEqual({ language: 'en', locale: 'en-GB', missing: null });
  expect(chooseLanguage(null, 'tlh', 'de')).toEqual({ language: 'de', locale: 'de-DE', missing: 'tlh' });
  expect(chooseLanguage(null, 'not a language', null)).toMatchObject({ language: 'en', missing: 'not a language' });
});

/** Rendered in every run; the others by REPORTS_ALL_LETTERS=1 (docs/letters.md). */
const sample = /^(?:en|de)_(?:eu-gdpr|us-ca|us-va)_(?:answer_access|no-match|late|partial|refusal|acknowledgement)$/;
const drawn = letters.filter(({ name }) => process.env['REPORTS_ALL_LETTERS'] === '1' || sample.test(name));

test('no letter ends on a page with a few lines, and its language is in the file', { timeout: 3_600_000 }, async () => {
  for (const one of drawn) {
    const pieces: Uint8Array[] = [];
    const frame = letterFrame(one.letter, one.facts, about);
    for await (const piece of renderPdf(frame, letterBlocks(one.letter, one.facts))) pieces.push(piece);
    const pdf = Buffer.concat(pieces);
    const pages = pdfText(pdf).split('\f').slice(0, -1);
    const last =
      pages
        .at(-1)
        ?.split('\n')
        .filter((line) => line.trim() !== '') ?? [];
    expect(last.length, `${one.name}: lines on its last page, with header and footer`).toBeGreaterThan(9);
    expect(pages.length, one.name).toBeLessThan(3);
    expect(pages.join('\n'), one.name).not.toMatch(/DRAFT|ENTWURF/);
    if (one === drawn[0]) {
      expect(pdf.toString('latin1')).toContain(`/Lang (${one.letter.locale})`);
      expect(pdfInfo(pdf)).toContain('Tagged:');
    }
  }
});

test('what stands in the place of an officer’s words is only in letters that have some', () => {
  expect(named('en_eu-gdpr_refusal')).toContain(FILLED);
  expect(named('en_eu-gdpr_answer_access')).not.toContain(FILLED);
});
