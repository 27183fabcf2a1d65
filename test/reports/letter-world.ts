import { letterLanguages } from '../../reports/letters/languages.ts';
import { letterLaws } from '../../reports/letters/laws.ts';
import { type Letter, letterProblem, letterProposals, type LetterFacts } from '../../reports/letters/letter.ts';
import { letterSteps, type LetterStep } from '../../reports/letters/texts.ts';
import { requestKinds, type RequestKind } from '../../src/core/vocabulary.ts';
import { profile } from './profile.ts';

/** A case under a law, for letters. */
export function factsOf(law: string, kind: RequestKind, changes: Partial<LetterFacts> = {}): LetterFacts {
  const place = law.startsWith('us-') ? law.toUpperCase() : null;
  return {
    caseId: 'default-3',
    requestId: 'req-77',
    kind,
    laws: [law],
    place,
    receivedOn: '2026-07-01',
    madeOn: '2026-07-20',
    limit: '2026-08-03',
    firstLimit: '2026-08-03',
    requester: { name: 'Zoë Krüger-Łącka', email: 'zoe@example.net', role: 'person', represented: null },
    identity: { met: true, confirmed: true, unchecked: false },
    disclosure: kind === 'access' || kind === 'portability' ? 'full' : 'categories-only',
    match: 'from-device',
    found: { decisions: 2, first: '2026-06-03', last: '2026-06-20' },
    enclosed: ['history', 'decisions', 'policies', 'policyTexts', ...(law === 'us-ca' ? [] : (['records'] as const))],
    systems: [
      { name: 'Customer database', result: 'nothing-found' },
      { name: 'Newsletter', result: 'attached' },
    ],
    parts: [],
    profile,
    controller: profile.name,
    ...changes,
  };
}

export function letterOf(step: LetterStep, language: string, text: string | null): Letter {
  const locale = letterLanguages[language]?.locale ?? language;
  return { step, language, locale, text, ...(step === 'notice' ? { recipient: 'Policy Service Ltd' } : {}) };
}

export interface NamedLetter {
  readonly name: string;
  readonly letter: Letter;
  readonly facts: LetterFacts;
}

/** What an officer writes into the blanks of a proposal. */
export const FILLED = 'ΩΩΩ';

/** Every letter that can go out: language × law × step, an answer also × kind; each with the first proposal, its blanks filled in. */
export function* lettersOf(
  languages: readonly string[] = Object.keys(letterLanguages),
  laws: readonly string[] = Object.keys(letterLaws),
): Generator<NamedLetter> {
  for (const language of languages) {
    for (const law of laws) {
      for (const step of letterSteps) {
        const kinds: readonly RequestKind[] = step === 'answer' ? requestKinds : ['erasure'];
        for (const kind of kinds) {
          const text = letterProposals(step, kind, language)[0]?.replaceAll(/\[[^\]]*\]/g, FILLED) ?? null;
          const letter = letterOf(step, language, text);
          const extended = step === 'extension' ? { limit: '2026-10-01' } : {};
          const facts = factsOf(law, kind, extended);
          if (letterProblem(letter, facts) === null) {
            yield { name: [language, law, step, ...(step === 'answer' ? [kind] : [])].join('_'), letter, facts };
          }
        }
      }
      for (const [name, kind, changes] of special) {
        const text = letterProposals('answer', kind, language)[0]?.replaceAll(/\[[^\]]*\]/g, FILLED) ?? null;
        yield {
          name: [language, law, name].join('_'),
          letter: letterOf('answer', language, text),
          facts: factsOf(law, kind, changes),
        };
      }
    }
  }
}

const none = { match: 'none', found: { decisions: 0, first: null, last: null }, disclosure: 'no-match' } as const;
const special: readonly (readonly [string, RequestKind, Partial<LetterFacts>])[] = [
  ['no-match', 'access', none],
  ['unmatched-opt-out', 'opt-out', none],
  ['unmatched-withdrawal', 'withdraw-consent', none],
  [
    'unverified',
    'access',
    { disclosure: 'categories-only', identity: { met: false, confirmed: false, unchecked: false } },
  ],
  ['late', 'access', { madeOn: '2026-08-10' }],
  [
    'agent',
    'erasure',
    {
      requester: {
        name: 'Agentur Müller GmbH',
        email: 'post@agentur.example',
        role: 'agent',
        represented: 'Zoë Krüger-Łącka',
      },
    },
  ],
  ['unnamed', 'erasure', { requester: { name: null, email: null, role: 'person', represented: null }, profile: null }],
  [
    'parts',
    'erasure',
    {
      parts: [
        { what: 'ΩΩΩ', outcome: 'done' },
        { what: 'ΩΩΩ', outcome: 'refused', ground: 'ΩΩΩ' },
      ],
    },
  ],
];
