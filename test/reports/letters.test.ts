import { describe, expect, test } from 'vitest';
import { chooseLanguage, letterLanguages, textsIn } from '../../reports/letters/languages.ts';
import { letterLaws } from '../../reports/letters/laws.ts';
import {
  hasBlanks,
  type LetterFacts,
  letterBlocks,
  letterFrame,
  letterProblem,
  letterProposals,
  quotesUntranslated,
} from '../../reports/letters/letter.ts';
import { generalRights } from '../../reports/letters/texts.ts';
import { fitLetter, renderPdf } from '../../reports/render/pdf.ts';
import { openPaper } from '../../reports/render/sheet.ts';
import type { RequestKind } from '../../src/core/vocabulary.ts';
import { profileSchema } from '../../src/law/profile.ts';
import { createRegimeTable } from '../../src/law/regime-table.ts';
import { lastPage, pdfInfo, pdfText } from './files.ts';
import { leaves } from './letter-sentences.ts';
import { sources } from './letter-sources.ts';
import {
  allTags,
  englishIn,
  FILLED,
  factsOf,
  foreignLaws,
  letterOf,
  lettersOf,
  type NamedLetter,
  spread,
  wordsOf,
  writtenAt,
} from './letter-world.ts';
import { profile } from './profile.ts';

const others = allTags.filter((tag) => tag !== 'en');

function textOf({ letter, facts }: NamedLetter): string {
  return letterBlocks(letter, facts).flatMap(wordsOf).join('\n');
}

// English under every law, the others under one law of each kind; letters.long.test.ts covers all combinations.
const letters = [...lettersOf(['en']), ...lettersOf(others, spread)];
const composed = new Map(letters.map((one) => [one.name, textOf(one)]));
const named = (name: string) => {
  const text = composed.get(name);
  if (text === undefined) throw new Error(`there is no letter ${name}`);
  return text;
};

describe.each(others)('%s', (language) => {
  const english = new Map(leaves(letterLanguages['en']));
  const own = leaves(textsIn(language));
  const placeholders = (text = '') => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();

  test('has the same placeholders as English, text by text', () => {
    const paths = own.map(([path]) => path).filter((path) => !path.startsWith('/lawNames/'));
    // A salutation may leave out the name.
    for (const [path, text] of own.filter(([path]) => path !== '/frame/dearNamed'))
      if (english.has(path)) expect(placeholders(text), path).toEqual(placeholders(english.get(path)));
    const wanted = [...english.keys()].filter((path) => !/^\/(?:lawNames|proposals|regions)\//.test(path));
    expect(paths).toEqual(expect.arrayContaining(wanted));
  });

  test('has no English sentence in any letter', () => {
    const found = letters
      .filter(({ name }) => name.startsWith(`${language}_`))
      .flatMap(({ name }) => englishIn.exec(named(name))?.map((sentence) => `${name}: ${sentence}`) ?? []);
    expect(found).toEqual([]);
  });
});

test('no letter has a placeholder or a blank left, and each says who writes to whom, when and about what', () => {
  for (const letter of letters) {
    const text = named(letter.name);
    expect(text, letter.name).not.toMatch(/[{}]/);
    expect(hasBlanks(text), letter.name).toBe(false);
    expect(text, letter.name).toMatch(/^Förster & Söhne GmbH|^Förster/);
    expect(text, letter.name).toContain('2026');
    expect(text, letter.name).toContain('default-3');
    expect(text, letter.name).not.toMatch(/undefined|null|aim(?:ed)? for|entry \d|message that this letter/i);
  }
});

test('no letter cites a law that does not apply', () => {
  expect(letters.flatMap((one) => foreignLaws(one).map((law) => `${one.name} speaks of ${law}`))).toEqual([]);
});

test('the check for foreign laws finds one that is cited', () => {
  const facts = factsOf('us-va', 'erasure');
  for (const text of [
    'See Art. 17 GDPR.',
    'See art. 6.',
    '11 CCR § 7022',
    'LGPD',
    'Attorney General of Colorado, https://coag.gov',
  ])
    expect(foreignLaws({ name: '', letter: letterOf('answer', 'en', text), facts }), text).toHaveLength(1);
});

test('a refusal names the remedies of its law: complaint and court, or the appeal and then the attorney general, or no appeal', () => {
  expect(named('en_eu-gdpr_refusal')).toMatch(/Art\. 77 GDPR[\s\S]*Art\. 79 GDPR[\s\S]*Bayerisches Landesamt/);
  expect(named('en_uk-gdpr_refusal')).toMatch(
    /complain to us[\s\S]*s\. 164A[\s\S]*Information Commissioner[\s\S]*s\. 165[\s\S]*apply to a court/,
  );
  expect(named('en_us-va_refusal')).toMatch(/appeal[\s\S]*within 60 days[\s\S]*Attorney General of Virginia, https:/);
  expect(named('en_us-co_refusal')).toContain('within 45 days');
  expect(named('en_us-ut_refusal')).toContain('Utah Division of Consumer Protection');
  expect(named('en_us-ut_refusal')).not.toMatch(/appeal/i);
  expect(named('en_ca-qc_refusal')).toContain('Within 30 days');
  expect(named('de_eu-gdpr_refusal')).toContain('Art. 79 DSGVO');
});

test('Swiss law, and those of Guernsey, Jersey and Man, name transfers, automated decisions, the authority and the court', () => {
  for (const law of ['ch', 'gg', 'je', 'im']) {
    const answer = named(`en_${law}_answer_access`);
    expect(answer, law).toContain('Transfers to third countries');
    expect(answer, law).toContain('Automated decisions');
    expect(answer, law).toContain(
      law === 'ch'
        ? 'You may expressly forbid us to process your personal data (FADP Art. 30(2)(b)).'
        : 'You may ask us to correct or erase your personal data or to restrict its processing.',
    );
    expect(named(`en_${law}_refusal`), law).toMatch(
      /You may complain to this authority: .*\nYou may also apply to a court\./,
    );
  }
  const facts = factsOf('ch', 'access', { profile: profileSchema.parse({ name: 'X' }) });
  const text = textOf({ name: '', letter: letterOf('answer', 'en', null), facts });
  expect(text).toMatch(
    /Not stated in this answer: .*transfers to third countries and their safeguards; automated decisions/,
  );
  expect(named('en_us-va_answer_access')).not.toContain('Automated decisions');
});

test('every authority of a US state comes with its website, so that a complaint can be submitted', () => {
  const without = Object.keys(letterLaws).filter(
    (law) => /^us-[a-z]{2}$/.test(law) && !letterLaws[law]?.authority?.includes('https://'),
  );
  expect(without).toEqual([]);
});

test('an extension cites the article that allows it, which in the UK is 12A', () => {
  const extended = (law: string, language: string) =>
    textOf({ name: '', letter: letterOf('extension', language, 'Reasons.'), facts: factsOf(law, 'access') });
  expect(extended('eu-gdpr', 'en')).toContain('(Art. 12(3) GDPR)');
  expect(extended('uk-gdpr', 'en')).toContain('(Art. 12A(3) UK GDPR)');
  for (const language of Object.keys(letterLanguages)) expect(extended('uk-gdpr', language), language).toContain('12A');
});

test('only a law with an appeal has a decision on one', () => {
  const withAppeal = letters.filter(({ name }) => /^en_.*_appeal$/.test(name)).map(({ facts }) => facts.laws[0] ?? '');
  expect(withAppeal).toContain('us-va');
  expect(withAppeal).toEqual(Object.keys(letterLaws).filter((law) => letterLaws[law]?.appealDays !== null));
});

test('the days for an appeal are those in the deadlines of the law', () => {
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

test('a notice of extension does not cite a statute for a period that is the installation’s own rule', () => {
  const wordsWith = (ownRules: readonly string[]) => {
    const facts = factsOf('eu-gdpr', 'access', { limit: '2026-10-01', firstLimit: '2026-08-03', ownRules });
    const letter = letterOf('extension', 'en', 'Your request is complex.');
    return textOf({ name: '', letter, facts });
  };
  expect(wordsWith([])).toContain('Art. 12(3)');
  expect(wordsWith(['eu-gdpr'])).not.toContain('Art. 12(3)');
  expect(wordsWith(['eu-gdpr'])).toContain('Our answer is now due by 1 October 2026');
});

test('without the identity check no letter says what other systems hold', () => {
  expect(named('en_eu-gdpr_unverified')).not.toMatch(/Newsletter|Customer database/);
  expect(named('en_eu-gdpr_answer_access')).toContain('Newsletter: searched');
});

test('an opt-out without a matching record is confirmed as recorded, and the letter says how to apply it in the browser as well', () => {
  const text = named('en_us-ca_unmatched-opt-out');
  expect(text).toContain(`We have recorded your opt-out. ${FILLED}`);
  expect(text).not.toContain('have not sold');
  expect(text).toContain('You did not have to verify your identity');
  expect(text).toContain('Withdrawing consent: the link “Cookie settings” at the foot of every page.');
  expect(text).not.toContain('We cannot link you');
});

test('a choice cannot be answered with the letter that no record was found', () => {
  for (const kind of ['opt-out', 'limit', 'objection', 'withdraw-consent'] as const)
    expect(letterProblem(letterOf('no-match', 'en', null), factsOf('us-ca', kind)), kind).toContain('write the answer');
  const systems = [{ name: 'Newsletter', result: 'nothing-found' }] as const;
  expect(letterProblem(letterOf('no-match', 'en', null), factsOf('us-ca', 'erasure', { systems }))).toBeNull();
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
  expect(named('en_us-ca_answer_erasure')).toContain('1798.105(d)');
  expect(named('en_us-va_answer_erasure')).toContain('We keep the proof that you gave, refused or withdrew consent.');
});

test('an erasure says how long the proof is kept only if a period is set, and nothing of a proof that is not there', () => {
  const said = (proof: ReturnType<typeof factsOf>['proof'], language = 'en') =>
    textOf({
      name: '',
      letter: letterOf('answer', language, 'Done.'),
      facts: factsOf('eu-gdpr', 'erasure', proof === undefined ? {} : { proof }),
    });
  expect(said({ period: { months: 18 } })).toContain('The retention period set for it is 18 months, counted from');
  expect(said({ period: { months: 18 } }, 'pl')).toContain('to 18 miesięcy, licząc');
  expect(said({ period: { days: 1 } }, 'de')).toContain('beträgt 1 Tag, gerechnet');
  expect(said({ period: null })).toContain('We keep the proof');
  expect(said({ period: null })).not.toMatch(/retention period|we erase/i);
  expect(said(null)).not.toMatch(/proof|Art\. 17/);
});

test('a choice that was not linked to a record starts from words that hold without a match, in every language', () => {
  for (const language of Object.keys(letterLanguages))
    for (const kind of ['opt-out', 'limit', 'objection', 'withdraw-consent'] as const) {
      const start = (match: 'from-device' | 'none' | 'shared') =>
        letterProposals('answer', language, factsOf('eu-gdpr', kind, { match }));
      const { unmatched } = letterLanguages[language]?.proposals ?? {};
      expect(start('none'), `${language} ${kind}`).toEqual(unmatched?.[kind]);
      expect(start('shared'), `${language} ${kind}`).toEqual(unmatched?.[kind]);
      expect(start('from-device'), `${language} ${kind}`).not.toContain(unmatched?.[kind][0]);
    }
});

test('every answer says what was searched, with its result, and which system was not', () => {
  const systems = [
    { name: 'Shop', result: 'attached' },
    { name: 'Newsletter', result: null },
    { name: 'Archive', result: 'nothing-found' },
  ] as const;
  for (const language of Object.keys(letterLanguages)) {
    const { searched, results } = letterLanguages[language]?.scope ?? {};
    const colon = language === 'fr' ? '\u00a0:' : ':';
    const said = (step: 'answer' | 'partial', kind: RequestKind, changes = {}) =>
      textOf({
        name: '',
        letter: letterOf(step, language, 'X.'),
        facts: factsOf('eu-gdpr', kind, { systems, ...changes }),
      });
    for (const kind of ['erasure', 'rectification', 'restriction'] as const)
      for (const text of [
        said('answer', kind),
        said('partial', kind),
        said('answer', kind, { disclosure: 'no-match' }),
      ]) {
        expect(text, language).toContain(searched);
        expect(text, language).toContain(`Shop${colon} ${results?.found}`);
        expect(text, language).toContain(`Newsletter${colon} ${results?.open}`);
        expect(text, language).toContain(`Archive${colon} ${results?.['nothing-found']}`);
      }
    // Nobody identifies for a choice: what was found is not for everyone who asks.
    const unverified = { identity: { met: false, confirmed: false, unchecked: false } };
    for (const text of [
      said('answer', 'opt-out'),
      said('answer', 'withdraw-consent'),
      said('answer', 'erasure', unverified),
    ]) {
      expect(text, language).toContain(`Shop${colon} ${results?.searched}\n`);
      expect(text, language).toContain(`Archive${colon} ${results?.searched}\n`);
      expect(text, language).toContain(`Newsletter${colon} ${results?.open}`);
    }
  }
});

test('a letter does not say that the consent records were searched if there was nothing to search by', () => {
  for (const tag of allTags) {
    const { searched = '', notSearched = '' } = textsIn(tag)?.scope ?? {};
    const facts = factsOf('eu-gdpr', 'opt-out', { match: 'none', untried: true });
    const text = textOf({ name: '', letter: letterOf('answer', tag, 'X.'), facts });
    expect(text, tag).toContain(notSearched);
    expect(text, tag).not.toContain(searched);
  }
});

test('no letter says that nothing could be linked while another system holds data: the answer says what was done there', () => {
  const facts = factsOf('eu-gdpr', 'erasure', { match: 'none', disclosure: 'no-match', proof: null });
  expect(letterProblem(letterOf('no-match', 'en', null), facts)).toContain('Another system holds data');
  expect(letterProblem(letterOf('answer', 'en', null), facts)).toContain('needs your own text');
  const text = textOf({ name: '', letter: letterOf('answer', 'en', 'We erased your account.'), facts });
  expect(text).toContain('We cannot link you to a consent record (Art. 11(2) GDPR).');
  expect(text).toContain('Newsletter: searched, data found');
  expect(text).not.toContain('We keep the proof');
});

test('an answer that may not name other systems says that it does not cover them', () => {
  expect(named('en_eu-gdpr_unverified')).toContain('It does not cover other systems.');
  expect(named('en_eu-gdpr_answer_access')).not.toContain('It does not cover other systems.');
});

test('under UK law the clock starts with the information about identity, and more time is for complexity or number', () => {
  const said = (step: 'identity' | 'extension', laws: readonly string[]) =>
    textOf({ name: '', letter: letterOf(step, 'en', 'Reason.'), facts: factsOf('uk-gdpr', 'access', { laws }) });
  const starts = 'The time limit for our answer runs from the day on which we receive';
  expect(said('identity', ['uk-gdpr'])).toContain(starts);
  expect(said('identity', ['uk-gdpr', 'eu-gdpr'])).not.toContain(starts);
  expect(said('identity', ['eu-gdpr'])).not.toContain(starts);
  expect(said('extension', ['uk-gdpr'])).toContain('the complexity of your requests or their number');
  expect(said('extension', ['eu-gdpr'])).toContain('the complexity and number of requests');
});

test('a law starts its clock with the information about identity in a letter exactly if it does in the deadlines', () => {
  const { rows } = createRegimeTable();
  const starting = new Set(
    rows.filter(({ runsFrom }) => runsFrom === 'latest-of-receipt-identity-fee').map(({ regime }) => regime),
  );
  const said = Object.keys(letterLaws).filter((law) => letterLaws[law]?.identityStartsClock);
  expect(said).toEqual([...starting].filter((law) => law in letterLaws));
});

test('an answer about restriction has the exceptions in full, those of the Union only under its law', () => {
  const exceptions = (law: string) => {
    const text = named(`en_${law}_answer_restriction`);
    expect(text).toContain(
      'for the establishment, exercise or defence of legal claims, for the protection of the rights',
    );
    return text;
  };
  expect(exceptions('eu-gdpr')).toContain('public interest of the Union or of a Member State (Art. 18(2) GDPR)');
  expect(exceptions('uk-gdpr')).toContain('important public interest (Art. 18(2) UK GDPR)');
});

test('an answer under Brazilian law states the criteria, or that it does not', () => {
  const facts = factsOf('br-lgpd', 'access');
  expect(letterProposals('answer', 'en', facts)).toEqual(['Criteria used in the processing of your data: [criteria]']);
  const answer = (text: string | null) => textOf({ name: '', letter: letterOf('answer', 'en', text), facts });
  expect(answer(null)).toContain('Not stated in this answer: the criteria used in the processing (LGPD, Art. 19, II)');
  expect(answer('Criteria: …')).not.toContain('Not stated');
  expect(named('en_br-lgpd_refusal')).toContain('Agência Nacional de Proteção de Dados');
});

test('a right that a law does not give, as far as its deadlines say, is not listed', () => {
  const table = createRegimeTable();
  for (const [law, { family, lacks = [] }] of Object.entries(letterLaws).filter(
    ([, row]) => row.family === 'general',
  )) {
    const rows = table.rows.filter(({ regime }) => regime === law);
    if (rows.length === 0) continue;
    const kinds = rows.flatMap(({ kinds }) => (kinds === 'all' ? generalRights : kinds));
    expect([law, family, ...lacks]).toEqual([
      law,
      'general',
      ...generalRights.filter((right) => !kinds.includes(right)),
    ]);
  }
  expect(named('en_nz_answer_access')).not.toContain('You may withdraw a consent');
  expect(named('en_us-wa_answer_access')).not.toContain('You may ask us to correct');
  expect(named('en_kr_answer_access')).toMatch(/You may ask us to correct[\s\S]*You may withdraw a consent/);
});

/** What a case lacks, by fact; a sentence that follows from the fact is then not printed. */
const lacking: Readonly<Partial<Record<keyof LetterFacts, Partial<LetterFacts>>>> = {
  sealed: { sealed: null },
  proof: { proof: null },
  withheld: { withheld: [] },
  parts: { parts: [] },
  found: { disclosure: 'no-match', found: { decisions: 0, first: null, last: null } },
  limit: { limit: null, firstLimit: null },
};

test.each(Object.entries(lacking))(
  'a sentence that follows from %s is printed with it and never without',
  (fact, lack) => {
    const said = (changes: Partial<LetterFacts>) =>
      (['us-ca', 'eu-gdpr', 'br-lgpd', 'kr'] as const)
        .flatMap((law) =>
          (['acknowledgement', 'answer', 'extension'] as const).flatMap((step) =>
            (['access', 'erasure'] as const).map((kind) =>
              textOf({ name: '', letter: letterOf(step, 'en', 'X.'), facts: factsOf(law, kind, changes) }),
            ),
          ),
        )
        .join('\n');
    const full = said({ withheld: ['longNumber'], parts: [{ what: 'X', outcome: 'done' }] });
    const less = said({ withheld: ['longNumber'], parts: [{ what: 'X', outcome: 'done' }], ...lack });
    const own = [...sources].filter(([, source]) => source === `record: ${fact}`).map(([sentence]) => sentence);
    const pieces = own.map((sentence) => sentence.split(/[{(]/)[0]?.trim() ?? '');
    expect(pieces.filter((piece) => full.includes(piece))).not.toEqual([]);
    expect(pieces.filter((piece) => less.includes(piece))).toEqual([]);
  },
);

test('a letter about identity and an erasure promise nothing that nobody recorded', () => {
  expect(named('en_eu-gdpr_identity')).not.toMatch(/only for this check|do not keep/);
  for (const law of spread) expect(named(`en_${law}_answer_erasure`), law).not.toMatch(/no other purpose|we erase/i);
});

test('an erasure names the remedies, because keeping the proof of consent refuses a part of it', () => {
  expect(named('en_eu-gdpr_answer_erasure')).toMatch(/Art\. 77 GDPR[\s\S]*Art\. 79 GDPR/);
  expect(named('en_us-va_answer_erasure')).toMatch(/appeal against this decision[\s\S]*Attorney General of Virginia/);
  const optOut = 'You have the right to direct us not to sell or share your personal information.';
  expect(named('en_us-ca_refusal')).toContain(optOut);
  expect(named('en_us-ca_refusal')).toContain('7013, 7022(g)');
  expect(named('en_us-va_refusal')).not.toContain(optOut);
});

test('a letter that no record was found names the appeal, and the rights if another system held something', () => {
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

test('an acknowledgement never promises a day in the past', () => {
  const on = (madeOn: string) =>
    textOf({
      name: '',
      letter: letterOf('acknowledgement', 'en', null),
      facts: factsOf('eu-gdpr', 'erasure', { madeOn }),
    });
  expect(on('2026-08-03')).toContain('by 3 August 2026 at the latest');
  expect(on('2026-08-04')).not.toContain('3 August 2026');
});

test('no authority is named for complaints if no law gives a right', () => {
  const facts = factsOf('', 'access', { laws: [], limit: null, firstLimit: null });
  expect(textOf({ name: '', letter: letterOf('refusal', 'en', 'Reasons.'), facts })).not.toMatch(/complain/);
});

test('a state without deletion or without an opt-out of sale promises neither', () => {
  for (const law of ['us-nv', 'us-wa']) expect(named(`en_${law}_answer_access`)).not.toMatch(/opting out of its sale/);
  expect(named('en_us-wa_refusal')).toContain('within 45 days');
});

test.each(['nz', 'ca-pipeda', 'ca-ab', 'ca-bc'])(
  'an extension under %s names the right to complain about it',
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
])('a date in %s is written as usual in that language: %s', (language, receivedOn, opening, title) => {
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

test('a letter that needs an officer’s text cannot go out without it or with blanks', () => {
  const facts = factsOf('eu-gdpr', 'erasure');
  expect(letterProblem(letterOf('answer', 'en', null), facts)).toContain('needs your own text');
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

test('an answer says that it contains no identifiers only if the records are not enclosed as received', () => {
  const forbids = 'the law forbids disclosing in an answer Social Security';
  expect(named('en_us-ca_answer_access')).toContain(forbids);
  const facts = factsOf('eu-gdpr', 'access', { laws: ['eu-gdpr', 'us-ca'] });
  expect(facts.enclosed).toContain('records');
  expect(textOf({ name: '', letter: letterOf('answer', 'en', null), facts })).not.toContain(forbids);
});

test('an answer with records says how to check them and with which key, in every language, once there is a checkpoint', () => {
  for (const language of Object.keys(letterLanguages)) {
    const sealed = { entries: 17, verifierKey: 'consent-ledger/abc/1+00000000+key' };
    const said = (changes: Parameters<typeof factsOf>[2]) =>
      textOf({ name: '', letter: letterOf('answer', language, null), facts: factsOf('eu-gdpr', 'access', changes) });
    for (const word of ['verify.html', sealed.verifierKey, '17']) expect(said({ sealed }), language).toContain(word);
    expect(said({ sealed: null }), language).not.toContain('verify.html');
    expect(said({ sealed, disclosure: 'categories-only' }), language).not.toContain('verify.html');
  }
});

test('a copy that leaves out data a law bars names the kinds of data, in every language', () => {
  for (const [language, { answer }] of Object.entries(letterLanguages)) {
    const facts = factsOf('us-ca', 'access', { withheld: ['socialSecurity', 'longNumber'] });
    const text = textOf({ name: '', letter: letterOf('answer', language, null), facts });
    expect(text, language).toContain(`${answer.withheldTypes.socialSecurity}; ${answer.withheldTypes.longNumber}`);
    expect(text, language).toContain('7024(d)');
  }
});

test('an answer about data under California law says what was sold and shared, or that it does not say so', () => {
  const facts = factsOf('us-ca', 'access');
  const [start = ''] = letterProposals('answer', 'en', facts);
  expect(start).toMatch(
    /sold or shared: \[.*\n- we disclosed for a business purpose: \[.*\n- we also hold, but may not disclose/,
  );
  expect(letterProposals('answer', 'en', factsOf('eu-gdpr', 'access'))).toEqual([]);
  const answer = (text: string | null) => textOf({ name: '', letter: letterOf('answer', 'en', text), facts });
  expect(answer(null)).toContain('Not stated in this answer: which categories of data we sold');
  expect(answer('We sold none.')).not.toContain('Not stated');
  expect(named('en_us-va_answer_access')).not.toContain('which categories of data we sold');
});

test('a refused correction under California law offers a statement about health data', () => {
  const offer = 'a written statement of up to 250 words';
  const said = (law: string, step: 'refusal' | 'partial' | 'answer') =>
    textOf({ name: '', letter: letterOf(step, 'en', 'Reasons.'), facts: factsOf(law, 'rectification') });
  expect(said('us-ca', 'refusal')).toContain(offer);
  expect(said('us-ca', 'partial')).toContain(offer);
  expect(said('us-ca', 'answer')).not.toContain(offer);
  expect(said('us-va', 'refusal')).not.toContain(offer);
  expect(named('en_us-ca_refusal')).not.toContain(offer);
});

test('an agent is first asked for an authorisation, in words where “you” is never the wrong person', () => {
  const agent = { name: 'Agency', email: null, role: 'agent', represented: 'Zoë' } as const;
  const starts = letterProposals('identity', 'en', factsOf('eu-gdpr', 'erasure', { requester: agent }));
  expect(starts[0]).toContain('signed by the person concerned');
  expect(letterProposals('identity', 'en', factsOf('eu-gdpr', 'erasure'))[0]).toContain('[Why you doubt');
  expect(starts.join()).not.toMatch(/You act|you represent/);
});

test('a person whose identity was not confirmed learns nothing about sales of their own data', () => {
  const facts = factsOf('us-ca', 'access', {
    disclosure: 'categories-only',
    identity: { met: false, confirmed: false, unchecked: false },
  });
  expect(letterProposals('answer', 'en', facts)).toEqual([]);
  const text = textOf({ name: '', letter: letterOf('answer', 'en', null), facts });
  expect(text).toContain('Your identity has not been confirmed.');
  expect(text).not.toContain('Not stated in this answer: which categories of data we sold');
});

test('an extension under several laws gives the right to it under each', () => {
  const facts = factsOf('us-va', 'access', { laws: ['us-45', 'eu-gdpr'], place: 'US-VA', limit: '2026-09-29' });
  const text = textOf({ name: '', letter: letterOf('extension', 'en', 'Complex.'), facts });
  expect(text).toMatch(/one such extension[\s\S]*Art\. 12\(3\) GDPR/);
});

test('an agent is not asked whether they made the request', () => {
  const requester = { name: 'Agency', email: null, role: 'agent', represented: 'Zoë' } as const;
  const said = (changes = {}) =>
    textOf({
      name: '',
      letter: letterOf('acknowledgement', 'en', null),
      facts: factsOf('eu-gdpr', 'erasure', changes),
    });
  expect(said()).toContain('If you did not make this request');
  expect(said({ requester })).not.toContain('If you did not make this request');
});

test('an authority with a name in the language of the letter is called by it', () => {
  const said = (language: string) =>
    textOf({ name: '', letter: letterOf('refusal', language, 'X.'), facts: factsOf('ch', 'access') });
  expect(said('de')).toContain('Öffentlichkeitsbeauftragter (EDÖB)');
  expect(said('fr')).toContain('(PFPDT)');
  expect(said('it')).toContain('(IFPDT)');
  expect(said('en')).toContain('(FDPIC)');
});

test('a letter is in the words of its region where that writes the language in its own way', () => {
  expect(chooseLanguage(['pt-BR'])).toEqual({ language: 'pt', locale: 'pt-BR', missing: null });
  expect(chooseLanguage(['pt'])).toEqual({ language: 'pt', locale: 'pt-PT', missing: null });
  const facts = factsOf('br-lgpd', 'withdraw-consent');
  const said = (tag: string) => textOf({ name: '', letter: letterOf('acknowledgement', tag, null), facts });
  expect(said('pt-BR')).toContain('você revogou seu consentimento');
  expect(said('pt')).toContain('retirou o seu consentimento');
  expect(textsIn('de-AT')).toBe(textsIn('de'));
});

test('a variant has none of the words that its region writes otherwise', () => {
  const words: Readonly<Record<string, RegExp>> = {
    'de-CH': /ß|[Pp]ersonenbezogen|[Vv]erarbeit|„|Buchst/,
    'fr-CA': /à caractère personnel|donnée?s? (?:personnelle|sensible)|e-mail/,
    'pt-BR':
      /\b(?:registo|ficheiro|partilh|contacto|utilizador|ligação|consigo|morada)|apagamento|palavra-passe|ámos\b|n\.º/,
  };
  for (const [tag, otherwise] of Object.entries(words)) {
    const found = leaves(textsIn(tag)).filter(([path, text]) => !path.startsWith('/lawNames/') && otherwise.test(text));
    expect(found, tag).toEqual([]);
    expect(otherwise.test(leaves(letterLanguages[tag.slice(0, 2)]).join('\n')), tag).toBe(true);
  }
});

test('no right is promised if no law gives one', () => {
  const facts = factsOf('', 'access', { laws: [], limit: null, firstLimit: null });
  const text = textOf({ name: '', letter: letterOf('answer', 'en', null), facts });
  expect(text).not.toMatch(/Your rights|You may ask us|Applicable law/);
});

test('an officer’s text keeps its paragraphs and lists, and braces in it are plain characters', () => {
  const facts = factsOf('eu-gdpr', 'erasure', {
    requester: { name: '{limit}', email: null, role: 'agent', represented: '{x}' },
  });
  const blocks = letterBlocks(letterOf('answer', 'en', 'First.\n\n- {one}\n- two\nLast.'), facts);
  expect(blocks).toContainEqual({ block: 'paragraph', text: 'First.' });
  expect(blocks).toContainEqual({ block: 'list', items: ['{one}', 'two'] });
  expect(blocks).toContainEqual({ block: 'paragraph', text: 'Dear {limit},' });
});

test('a request that names no region is answered with the date format of its place, if the language is written there', () => {
  const from = (place: string | null, ...wanted: (string | null)[]) => chooseLanguage(wanted, place).locale;
  expect(from('US-CA', null, 'en')).toBe('en-US');
  expect(from('CA-QC', 'en')).toBe('en-CA');
  expect(from('AT', 'de')).toBe('de-AT');
  expect(from('US', null)).toBe('en-US');
  expect(from('US', 'en-GB')).toBe('en-GB');
  expect(from('DE', 'en')).toBe('en-GB');
  expect(from('JP', 'en')).toBe('en-GB');
  expect(from(null, 'en')).toBe('en-GB');
  expect(chooseLanguage(['pt'], 'BR')).toEqual({ language: 'pt', locale: 'pt-BR', missing: null });
  expect(from('CA-QC', 'fr')).toBe('fr-CA');
  expect(chooseLanguage(['tlh', 'pt'], 'BR')).toMatchObject({ locale: 'pt-BR', missing: 'tlh' });
});

test('a withdrawal of consent cannot be refused under a law that lets it be withdrawn at any time', () => {
  const problem = (
    law: string,
    step: 'refusal' | 'answer',
    kind: 'withdraw-consent' | 'erasure' = 'withdraw-consent',
  ) => letterProblem(letterOf(step, 'en', 'Reasons.'), factsOf(law, kind));
  for (const law of ['eu-gdpr', 'uk-gdpr', 'br-lgpd'])
    expect(problem(law, 'refusal'), law).toMatch(/^This kind of request cannot be refused \(.*: write the answer/);
  expect(problem('eu-gdpr', 'answer')).toBeNull();
  const refused = factsOf('eu-gdpr', 'withdraw-consent', { parts: [{ what: 'Analytics', outcome: 'refused' }] });
  expect(letterProblem(letterOf('answer', 'en', null), refused)).toContain('cannot be refused');
  expect(problem('eu-gdpr', 'refusal', 'erasure')).toBeNull();
  expect(problem('ca-pipeda', 'refusal')).toBeNull();
});

test('French punctuation never begins a line, and no line ends with a section sign', async () => {
  const facts = factsOf('eu-gdpr', 'access');
  const letter = letterOf('refusal', 'fr', 'Motif : aucun ; « vu » ! (§ 6)');
  const text = textOf({ name: '', letter, facts });
  expect(text).toContain('Motif\u00a0: aucun\u202f; «\u00a0vu\u00a0»\u202f! (§\u00a06)');
  expect(text).not.toMatch(/ [:;?!»]|[«§] /);
  const access = textOf({ name: '', letter: letterOf('answer', 'fr', null), facts });
  for (const { name, country, purpose } of profile.recipients)
    expect(access).toContain(`${name}${country === null ? '' : ' (Royaume-Uni)'}\u00a0: ${purpose}`);
  // Words of every width, so some line would break before the section sign.
  const long = {
    ...letter,
    text: Array.from({ length: 120 }, (_none, i) => `${'m'.repeat(1 + (i % 7))} ; § ${i}`).join(' '),
  };
  const pieces: Uint8Array[] = [];
  const frame = letterFrame(...writtenAt({ name: '', letter: long, facts }));
  for await (const piece of renderPdf(frame, letterBlocks(long, facts))) pieces.push(piece);
  const lines = pdfText(Buffer.concat(pieces))
    .split('\n')
    .filter((line) => line.includes('§'));
  expect(lines.length).toBeGreaterThan(12);
  for (const line of lines) expect(line).not.toMatch(/^\s*;|§\s*$/);
});

test('a letter under UK law names the authority, and so never says that it does not', () => {
  const own = { ...profile, supervisoryAuthority: null };
  const said = (law: string) =>
    textOf({ name: '', letter: letterOf('answer', 'en', null), facts: factsOf(law, 'access', { profile: own }) });
  expect(said('uk-gdpr')).not.toMatch(/Not stated in this answer: .*supervisory authority/);
  expect(said('eu-gdpr')).toMatch(/Not stated in this answer: .*supervisory authority/);
});

test('an erasure under California law says only once whom to ask', () => {
  const said = (step: 'answer' | 'refusal') =>
    textOf({ name: '', letter: letterOf(step, 'en', 'Done.'), facts: factsOf('us-ca', 'erasure') });
  expect(said('answer').match(/If you have any questions/g)).toHaveLength(1);
  expect(said('refusal').match(/If you have any questions/g)).toHaveLength(1);
});

test('a date of the United States has its comma after the year inside a sentence', () => {
  const letter = { ...letterOf('acknowledgement', 'en', null), locale: 'en-US' };
  const text = textOf({ name: '', letter, facts: factsOf('us-va', 'erasure') });
  expect(text).toContain('On July 1, 2026, you asked us');
  expect(text).toContain('by August 3, 2026, at the latest.');
  const late = textOf({
    name: '',
    letter: { ...letter, step: 'refusal', text: 'X.' },
    facts: factsOf('us-va', 'erasure', { madeOn: '2026-08-10' }),
  });
  expect(late).toContain('it was due on August 3, 2026. We');
  expect(late).toContain('your request of July 1, 2026: refusal');
});

test('the language is the officer’s choice, then the requester’s, then the controller’s, and a missing one is reported', () => {
  expect(chooseLanguage([null, 'de-CH', 'en'])).toEqual({ language: 'de', locale: 'de-CH', missing: null });
  expect(chooseLanguage(['en', 'de'])).toEqual({ language: 'en', locale: 'en-GB', missing: null });
  expect(chooseLanguage([null, 'tlh', 'de'])).toEqual({ language: 'de', locale: 'de-DE', missing: 'tlh' });
  expect(chooseLanguage([null, 'not a language', null])).toMatchObject({ language: 'en', missing: 'not a language' });
});

/** Drawn in every run; letters.long.test.ts measures all. */
const drawn = letters.filter(({ name }) =>
  /^(?:en_us-va_no-match|de_eu-gdpr_(?:answer_access|refusal)|pl_uk-gdpr_late)$/.test(name),
);

test('a letter is drawn as measured, and its language is in the file', async () => {
  for (const one of drawn) {
    const pieces: Uint8Array[] = [];
    const frame = letterFrame(...writtenAt(one));
    const blocks = letterBlocks(one.letter, one.facts);
    for await (const piece of renderPdf(frame, blocks)) pieces.push(piece);
    const pdf = Buffer.concat(pieces);
    const measured = await fitLetter(await openPaper(frame), blocks);
    const { pages, filled } = lastPage(pdf);
    expect(pages, one.name).toBe(measured.pages);
    expect(Math.abs(filled - measured.filled), one.name).toBeLessThan(0.05);
    expect(pdfText(pdf), one.name).not.toMatch(/DRAFT|ENTWURF/);
    expect(pdf.toString('latin1')).toContain(`/Lang (${one.letter.locale})`);
    expect(pdfInfo(pdf)).toContain('Tagged:');
  }
  expect(drawn).toHaveLength(4);
});

test('the placeholder for an officer’s text is only in letters that have such a text', () => {
  expect(named('en_eu-gdpr_refusal')).toContain(FILLED);
  expect(named('en_eu-gdpr_answer_access')).not.toContain(FILLED);
});

test('a letter quotes the controller profile in the language of the letter, as far as the profile has that language', () => {
  const german = profileSchema.parse({
    ...profile,
    otherSystems: [{ id: 'shop', name: 'Customer database' }],
    translations: {
      de: {
        purposes: [
          { purpose: 'Nutzungsmessung', lawfulBasis: 'Einwilligung', retention: '14 Monate' },
          { purpose: 'Werbung', lawfulBasis: 'Einwilligung', retention: 'bis zum Widerruf' },
        ],
        otherSystems: [{ id: 'shop', name: 'Kundendatenbank' }],
        signatory: 'Jana Weiß, Datenschutzbeauftragte',
      },
    },
  });
  const facts = factsOf('eu-gdpr', 'access', { profile: german });
  const inGerman = letterOf('answer', 'de', null);
  const text = textOf({ name: '', letter: inGerman, facts });
  for (const part of [
    'Nutzungsmessung',
    'Kundendatenbank',
    'Jana Weiß, Datenschutzbeauftragte',
    '(Vereinigtes Königreich)',
  ])
    expect(text).toContain(part);
  for (const part of ['Advertising', 'Customer database', 'data protection officer']) expect(text).not.toContain(part);
  expect(text).toContain('the consent banner of our web shop');
  expect(quotesUntranslated(inGerman, facts)).toBe(false);
  expect(quotesUntranslated(letterOf('answer', 'fr', null), facts)).toBe(true);
  expect(quotesUntranslated(letterOf('answer', 'en', null), facts)).toBe(false);
});
