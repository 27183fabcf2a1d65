import { letterLanguages, textsIn } from '../../reports/letters/languages.ts';
import { letterLaws } from '../../reports/letters/laws.ts';
import {
  type Letter,
  type LetterFacts,
  letterBlocks,
  type letterFrame,
  letterProblem,
  letterProposals,
} from '../../reports/letters/letter.ts';
import { type LetterStep, letterSteps } from '../../reports/letters/texts.ts';
import { letterVariants } from '../../reports/letters/variants.ts';
import type { Block } from '../../reports/render/blocks.ts';
import { type RequestKind, requestKinds } from '../../src/core/vocabulary.ts';
import { whyNotRefused } from '../../src/law/deadlines.ts';
import { createRegimeTable, findRegimeRows } from '../../src/law/regime-table.ts';
import { profile } from './profile.ts';

const regimes = createRegimeTable();

/** A case under one law, for letters. */
export function factsOf(law: string, kind: RequestKind, changes: Partial<LetterFacts> = {}): LetterFacts {
  const place = law.startsWith('us-') ? law.toUpperCase() : null;
  const laws = changes.laws ?? [law];
  const where = { place: changes.place ?? place, receivedOn: '2026-07-01' };
  return {
    caseId: 'default-3',
    requestId: 'req-77',
    kind,
    laws,
    place,
    receivedOn: '2026-07-01',
    madeOn: '2026-07-20',
    limit: '2026-08-03',
    firstLimit: '2026-08-03',
    irrefusable: whyNotRefused({
      laws: laws.flatMap((law) => findRegimeRows(regimes, law, kind, where).map((row) => ({ row }))),
    }),
    requester: { name: 'Zoë Krüger-Łącka', email: 'zoe@example.net', role: 'person', represented: null },
    identity: { met: true, confirmed: true, unchecked: false },
    disclosure: kind === 'access' || kind === 'portability' ? 'full' : 'categories-only',
    match: 'from-device',
    found: { decisions: 2, first: '2026-06-03', last: '2026-06-20' },
    proof: { period: null },
    enclosed: ['history', 'decisions', 'policies', 'policyTexts', ...(law === 'us-ca' ? [] : (['records'] as const))],
    systems: [
      { name: 'Customer database', result: 'nothing-found' },
      { name: 'Newsletter', result: 'attached' },
    ],
    parts: [],
    profile,
    sealed: {
      entries: 4211,
      verifierKey: 'consent-ledger/3f9a0c2b7d/1+6d1f2a90+AU0sY2VydGFpbmx5IG5vdCBhIHJlYWwga2V5IGJ1dCBpdCBmaXRzISE=',
    },
    controller: profile.name,
    ...changes,
  };
}

/** Every language of letters, and those of the regions that write one in their own way, as BCP 47 tags. */
export const allTags: readonly string[] = [...Object.keys(letterLanguages), ...Object.keys(letterVariants)];

export function letterOf(step: LetterStep, tag: string, text: string | null): Letter {
  const [language = ''] = tag.split('-');
  return {
    step,
    language,
    locale: textsIn(tag)?.locale ?? tag,
    text,
    ...(step === 'notice' ? { recipient: 'Policy Service Ltd' } : {}),
  };
}

export interface NamedLetter {
  readonly name: string;
  readonly letter: Letter;
  readonly facts: LetterFacts;
}

/** Replaces the blanks of a template, as an officer's text would. */
export const FILLED = 'ΩΩΩ';

/** Cases under several laws or none, and of an unknown state, by the name used in letter names. */
const mixed: Readonly<Record<string, Partial<LetterFacts>>> = {
  'eu-gdpr+us-va': { laws: ['eu-gdpr', 'us-45'], place: 'US-VA' },
  'us-ca+eu-gdpr': { laws: ['us-ca', 'eu-gdpr'], place: 'US-CA' },
  'uk-gdpr+eu-gdpr': { laws: ['uk-gdpr', 'eu-gdpr'], place: 'GB' },
  'eu-gdpr+br-lgpd': { laws: ['eu-gdpr', 'br-lgpd'], place: 'BR' },
  'ch+eu-gdpr': { laws: ['ch', 'eu-gdpr'], place: 'CH' },
  none: { laws: [], place: 'US', limit: null, firstLimit: null },
  unknown: { laws: ['not-a-law'], place: null },
};

/** One law of each kind that letters distinguish, for checks that need not cover all laws. */
export const spread: readonly string[] = [
  'eu-gdpr',
  'uk-gdpr',
  'us-ca',
  'us-va',
  'us-ut',
  'us-nv',
  'us-wa',
  'us-45',
  'br-lgpd',
  'ca-pipeda',
  'ca-qc',
  'ch',
  'kr',
];

/**
 * Every letter that can be sent: language × law × step × kind, and special cases; each with the first template, its
 * blanks filled in. By default only an answer comes in every kind, and no case is under several laws.
 */
export function* lettersOf(
  languages: readonly string[] = Object.keys(letterLanguages),
  laws: readonly string[] = Object.keys(letterLaws),
  all = false,
): Generator<NamedLetter> {
  const worlds: [string, Partial<LetterFacts>][] = [
    ...laws.map((law): [string, Partial<LetterFacts>] => [law, {}]),
    ...(all ? Object.entries(mixed) : []),
  ];
  for (const language of languages) {
    const filled = (step: LetterStep, kind: RequestKind, changes: Partial<LetterFacts> = {}) =>
      letterProposals(step, language, factsOf('eu-gdpr', kind, changes))[0]?.replaceAll(/\[[^\]]*\]/g, FILLED) ?? null;
    for (const [law, world] of worlds) {
      for (const step of letterSteps) {
        const kinds: readonly RequestKind[] = all || step === 'answer' ? requestKinds : ['erasure'];
        for (const kind of kinds) {
          const letter = letterOf(step, language, filled(step, kind));
          const extended = step === 'extension' && world.limit !== null ? { limit: '2026-10-01' } : {};
          const unlinked = step === 'no-match' && kind === 'erasure' ? unmatched : {};
          const facts = factsOf(law, kind, { ...world, ...extended, ...unlinked });
          if (letterProblem(letter, facts) === null)
            yield { name: [language, law, step, ...(all || step === 'answer' ? [kind] : [])].join('_'), letter, facts };
        }
      }
      for (const [name, kind, changes] of special)
        yield {
          name: [language, law, name].join('_'),
          letter: letterOf('answer', language, filled('answer', kind, changes)),
          facts: factsOf(law, kind, { ...world, ...changes }),
        };
    }
  }
}

const none = {
  match: 'none',
  found: { decisions: 0, first: null, last: null },
  proof: null,
  disclosure: 'no-match',
} as const;
/** Nor has another system found anything. */
const unmatched: Partial<LetterFacts> = {
  ...none,
  systems: [
    { name: 'Customer database', result: 'nothing-found' },
    { name: 'Newsletter', result: null },
  ],
};
const special: readonly (readonly [string, RequestKind, Partial<LetterFacts>])[] = [
  ['access-no-match', 'access', none],
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

/** The frame of a letter. */
export function writtenAt(one: NamedLetter | undefined): Parameters<typeof letterFrame> {
  if (one === undefined) throw new Error('there is no letter');
  const about = { document: '0123456789abcdef', version: '0.1.0', madeAt: '2026-07-20T08:00:00.000Z', sample: false };
  return [one.letter, one.facts, about];
}

/** The words of a block, as a reader sees them. */
export function wordsOf(block: Block): readonly string[] {
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

/** How each law appears in a letter: its citations, and its name and authority as used there. */
const signs: readonly (readonly [laws: readonly string[], sign: RegExp])[] = [
  [
    ['eu-gdpr', 'uk-gdpr'],
    /GDPR|DSGVO|RGPD|RODO|AVG\b|dataskyddsförordning|\b[Aa]rt(?:\.|ikel|igo|icolo|icle)? ?(?:[5-9]|1\d|2[0-2]|7[79])\b(?! (?:LGPD|da LGPD))/,
  ],
  [['eu-gdpr'], /Bayerisches Landesamt|2016\/679/],
  [['us-ca'], /\bCCR\b|Cal\. Civ/],
  [['br-lgpd'], /LGPD/],
];

/** Laws that a letter names although they do not apply to its case. */
export function foreignLaws({ letter, facts }: NamedLetter): readonly string[] {
  const own = new Set(facts.laws.map((law) => (law === 'us-45' ? (facts.place ?? '').toLowerCase() : law)));
  const said = letterBlocks(letter, facts)
    .flatMap(wordsOf)
    .map((text) => text.replaceAll('consent, GDPR Art. 6(1)(a)', ''))
    .join('\n');
  const found = signs
    // The LGPD is cited by articles too.
    .filter(([laws]) => !laws.some((law) => own.has(law)) && !(own.has('br-lgpd') && laws.includes('uk-gdpr')))
    .filter(([, sign]) => sign.test(said))
    .map(([laws]) => laws.join(' or '));
  const others = Object.entries(letterLaws)
    .filter(([law]) => !own.has(law) && law !== 'us-45')
    .filter(([, { name, authority }]) => said.includes(name) || (authority !== null && said.includes(authority)))
    .map(([law]) => law);
  return [...found, ...others];
}

/** Long English sentences as one expression; names of laws are the same in every language. */
export const englishIn = new RegExp(
  [...new Set(sentencesOf({ ...letterLanguages['en'], lawNames: {} }))]
    .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('|'),
);

function sentencesOf(value: unknown): string[] {
  if (typeof value !== 'string') return Object.values(value as object).flatMap(sentencesOf);
  const text = value.replaceAll(/[{[][^}\]]*[}\]].*$/gs, '').trim();
  return text.split(' ').length > 3 && text.length > 12 ? [text] : [];
}
