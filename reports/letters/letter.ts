import type { RequestKind } from '../../src/core/vocabulary.ts';
import { countryName } from '../../src/law/jurisdictions.ts';
import {
  type ControllerProfile,
  isUntranslated,
  missingPartsOf,
  type ProfilePart,
  profileIn,
  type RetentionPeriod,
} from '../../src/law/profile.ts';
import type { Block, Frame } from '../render/blocks.ts';
import { codePointName } from '../render/text.ts';
import { textsIn } from './languages.ts';
import { type LetterLaw, letterLawOf, withholdingProvisions } from './laws.ts';
import {
  type FamilyTexts,
  generalRights,
  type LawFamily,
  type LetterStep,
  type LetterTexts,
  type WithheldType,
} from './texts.ts';
import { countIn, dateInWords, fill, joined, periodIn, rightNames, sentence, withFixedSpaces } from './wording.ts';

/** The facts of a case that letters use. Dates are YYYY-MM-DD in the controller's time zone. */
export interface LetterFacts {
  readonly caseId: string;
  readonly requestId: string | null;
  /** The right that decides the form of the answer: one that asks for a copy, if any does. */
  readonly kind: RequestKind;
  /** The other rights of the same request. */
  readonly further?: readonly RequestKind[];
  /** Ids of the laws that apply, the deciding one first; empty: no law gives a right. */
  readonly laws: readonly string[];
  /** Those of them whose deadline is a rule of the installation's own, so that their statute is not cited for it. */
  readonly ownRules?: readonly string[];
  /** ISO 3166 code of the requester's place; null: unknown. */
  readonly place: string | null;
  readonly receivedOn: string;
  /** The date of the letter. */
  readonly madeOn: string;
  /** The day the answer was sent, if recorded: a copy made later does not count as late. */
  readonly answeredOn?: string | null;
  /** The day the answer is due; null: no law sets one, or the request takes effect at once. */
  readonly limit: string | null;
  /** The due day without an extension. */
  readonly firstLimit: string | null;
  /** Why the request cannot be refused, in words for the officer; null: it can be. */
  readonly irrefusable: string | null;
  readonly requester: {
    readonly name: string | null;
    readonly email: string | null;
    /** Postal address in lines, without the name; absent: not known. */
    readonly address?: string;
    readonly role: 'person' | 'agent' | 'guardian';
    /** The person for whom an agent or guardian acts. */
    readonly represented: string | null;
  };
  readonly identity: {
    /** The required check has been made, or none is required. */
    readonly met: boolean;
    readonly confirmed: boolean;
    /** This kind of request must not depend on a check. */
    readonly unchecked: boolean;
  };
  readonly disclosure: 'full' | 'categories-only' | 'no-match';
  readonly match: 'from-device' | 'computed' | 'shared' | 'none';
  /** The consent records were not searched: the request contains nothing to search by. */
  readonly untried?: true;
  /** The disclosed records. */
  readonly found: { readonly decisions: number; readonly first: string | null; readonly last: string | null };
  /**
   * Proof of this person's consent that is kept, and the period that the controller has set for it (null: none, so that
   * nothing is erased by itself); null: there is none, or it must not be disclosed that there is.
   */
  readonly proof?: { readonly period: Exclude<RetentionPeriod, { forEver: string }> | null } | null;
  /** Files enclosed with an answer. */
  readonly enclosed: readonly (keyof LetterTexts['answer']['files'])[];
  /** Kinds of data left out of the records because a law forbids disclosing them. */
  readonly withheld?: readonly WithheldType[];
  readonly systems: readonly {
    readonly name: string;
    readonly result: 'nothing-found' | 'attached' | 'not-applicable' | null;
  }[];
  readonly parts: readonly {
    /** What was requested, in words or as a right. */
    readonly what: string | { readonly kind: RequestKind };
    readonly outcome: 'done' | 'partly' | 'refused';
    readonly ground?: string | undefined;
    readonly note?: string | undefined;
  }[];
  readonly profile: ControllerProfile | null;
  /** The last checkpoint of the ledger that contains the records; null: none yet. */
  readonly sealed?: { readonly entries: number; readonly verifierKey: string } | null;
  /** In whose name letters are sent. */
  readonly controller: string;
}

/**
 * Tells the officer which characters cannot be printed in a PDF letter and what to do: otherwise a letter would have gaps in
 * the requester's name.
 */
export function unprintableNote(characters: readonly string[]): string {
  const listed = characters.slice(0, 10).map(codePointName).join(', ');
  const more = characters.length > 10 ? ` and ${characters.length - 10} more` : '';
  return `The PDF fonts lack ${listed}${more}: the PDF shows \ufffd and the code point in their place. Create the letter as HTML or text to show them.`;
}

/** One letter of a case as configured by the officer. */
export interface Letter {
  readonly step: LetterStep;
  /** A key of letterLanguages. */
  readonly language: string;
  /** BCP 47, for dates and numbers. */
  readonly locale: string;
  /** What the officer wrote; null: nothing yet. Paragraphs are separated by empty lines, items begin with `- `. */
  readonly text: string | null;
  /** The addressee of a notice. */
  readonly recipient?: string | null;
}

/** Why a letter cannot be sent under these laws and facts, in words for the officer; null: it can be. */
export function letterProblem({ step, text }: Letter, facts: LetterFacts): string | null {
  if (step === 'appeal' && !lawsOf(facts).some(({ appealDays }) => appealDays !== null))
    return 'No law that applies to this request provides for an appeal to the controller.';
  if (step === 'notice' && rightsOf(facts).every(copies))
    return 'A notice tells recipients what was done to the data; a request for a copy changes nothing for them.';
  if (refusesAll(step, facts) && facts.irrefusable !== null) return facts.irrefusable;
  if (step === 'no-match' && choices(facts.kind))
    return 'This kind of request takes effect whether or not a record is found: write the answer.';
  if (step === 'no-match' && !copies(facts.kind) && foundElsewhere(facts))
    return 'Another system holds data on the person: write the answer, and say what was done there.';
  if (step === 'identity' && facts.identity.unchecked)
    return 'This kind of request must not depend on an identity check.';
  if (step === 'extension' && (facts.limit === null || facts.limit === facts.firstLimit))
    return 'The deadline for this request cannot be extended, or not again.';
  if (needsText(step, facts) && (text ?? '').trim() === '') return 'This letter needs your own text: write it first.';
  if (text !== null && hasBlanks(text)) return 'Fill in the blanks in square brackets first.';
  return null;
}

/** Whether a letter refuses the whole request. */
function refusesAll(step: LetterStep, { parts }: LetterFacts): boolean {
  if (step === 'refusal') return true;
  return step === 'answer' && parts.length > 0 && parts.every(({ outcome }) => outcome === 'refused');
}

/** Whether a text still contains blanks to fill in: `[…]`. */
export function hasBlanks(text: string): boolean {
  return /\[[^\]]*\]/.test(text);
}

/** Texts to start from in a language (BCP 47), the most suitable first; empty: the letter needs none. */
export function letterProposals(
  step: LetterStep,
  language: string,
  facts: Pick<LetterFacts, 'kind' | 'laws' | 'place' | 'requester' | 'identity' | 'match'>,
): readonly string[] {
  const { proposals } = textsOf(language);
  const { kind } = facts;
  switch (step) {
    case 'acknowledgement':
    case 'no-match':
      return [];
    case 'answer':
      if (kind === 'access') {
        const blanks = [
          ...(salesBlank(facts) ? proposals.know : []),
          ...(criteriaBlank(facts) ? proposals.criteria : []),
        ];
        return blanks.length === 0 ? [] : [blanks.join('\n\n')];
      }
      if (kind === 'portability') return [];
      return choices(kind) && isUnlinked(facts) ? proposals.unmatched[kind] : proposals.answer[kind];
    case 'identity':
      // The last proposal asks for an authorisation.
      return facts.requester.role === 'person' ? proposals.identity : proposals.identity.toReversed();
    default:
      return proposals[step];
  }
}

/**
 * Whether the officer has to state what was sold and shared of this person's data; never to someone whose identity was
 * not confirmed (11 CCR § 7024(b)).
 */
function salesBlank(facts: Pick<LetterFacts, 'laws' | 'place' | 'identity'>): boolean {
  return facts.identity.met && lawsOf(facts).some(({ namesSales }) => namesSales);
}

/** Whether the officer has to state the criteria of the processing. */
function criteriaBlank(facts: Pick<LetterFacts, 'laws' | 'place'>): boolean {
  return lawsOf(facts).some(({ namesCriteria }) => namesCriteria);
}

/** Whether no record of this person alone was found. */
function isUnlinked({ match }: Pick<LetterFacts, 'match'>): boolean {
  return match === 'none' || match === 'shared';
}

/** Whether another system holds data on the person. */
function foundElsewhere({ systems }: Pick<LetterFacts, 'systems'>): boolean {
  return systems.some(({ result }) => result === 'attached');
}

/** The text of a refusal in a language (BCP 47) from its recorded reasons and ground. */
export function refusalText(language: string, { reasons, basis }: { reasons: string; basis: string }): string {
  return `${reasons}\n\n${fill(textsOf(language).refusal.ground, { ground: basis })}`;
}

/** The reasons and the ground of a text as made by {@link refusalText}; the ground is null if it states none. */
export function readRefusalText(language: string, text: string): { reasons: string; basis: string | null } {
  const at = text.lastIndexOf('\n\n');
  const [before = '', after = ''] = textsOf(language).refusal.ground.split('{ground}');
  const last = text.slice(at + 2);
  if (at < 0 || !last.startsWith(before) || !last.endsWith(after)) return { reasons: text, basis: null };
  return { reasons: text.slice(0, at), basis: last.slice(before.length, last.length - after.length) };
}

/** Whether a letter would say nothing without a text by the officer. */
function needsText(step: LetterStep, facts: LetterFacts): boolean {
  const { kind, disclosure, parts } = facts;
  if (step === 'answer') {
    const isNoMatch = disclosure === 'no-match' && !choices(kind) && !foundElsewhere(facts);
    return !copies(kind) && parts.length === 0 && !isNoMatch;
  }
  return step !== 'acknowledgement' && step !== 'no-match';
}

/** Kinds answered with a copy; for other kinds the answer says what was done. */
const copies = (kind: RequestKind) => kind === 'access' || kind === 'portability';
/** Kinds that take effect even if the person could not be linked to a record. */
const choices = (kind: RequestKind): kind is keyof LetterTexts['proposals']['unmatched'] =>
  ['opt-out', 'limit', 'objection', 'withdraw-consent'].includes(kind);

/** Kinds for which the GDPR requires recipients to be notified (Art. 19). */
const art19 = (kind: RequestKind) => ['rectification', 'erasure', 'restriction'].includes(kind);

/** Every right of the request, the deciding one first. */
const rightsOf = ({ kind, further = [] }: LetterFacts): readonly RequestKind[] => [kind, ...further];

/** The frame of a letter, printed around its text on every page. */
export function letterFrame(
  letter: Letter,
  facts: LetterFacts,
  about: { readonly document: string; readonly version: string; readonly madeAt: string; readonly sample: boolean },
): Frame {
  const texts = textsOf(tagOf(letter));
  const say = speaker(letter, facts);
  return {
    title: say(texts.titles[letter.step]),
    owner: facts.controller.split('\n')[0] ?? '',
    footer: `${say(texts.frame.reference)} · ${fill(texts.frame.document, { document: about.document })}`,
    language: tagOf(letter),
    producer: `consent-ledger ${about.version}`,
    createdAt: about.madeAt,
    watermark: letterProblem(letter, facts) !== null ? texts.frame.draft : about.sample ? 'SAMPLE' : null,
    kind: 'letter',
    page: texts.frame.page,
  };
}

/** The letter as blocks. A missing text, or one with blanks, is marked and never left out. */
export function letterBlocks(letter: Letter, facts: LetterFacts): readonly Block[] {
  return written(letter, quotedIn(facts, letter.language)).map((block) => withFixedSpaces(block, letter.language));
}

/** The facts with the controller's statements about itself in a language, as far as its profile has them. */
function quotedIn(facts: LetterFacts, language: string): LetterFacts {
  const { profile } = facts;
  if (profile === null) return facts;
  const quoted = profileIn(profile, language);
  const systems = facts.systems.map(({ name, result }) => {
    const at = profile.otherSystems.findIndex((system) => system.name === name);
    return { name: quoted.otherSystems[at]?.name ?? name, result };
  });
  return { ...facts, profile: quoted, systems };
}

/** Whether a letter quotes a controller profile that has no texts in the letter's language. */
export function quotesUntranslated({ step, language }: Letter, { kind, profile }: LetterFacts): boolean {
  return (
    profile !== null && copies(kind) && (step === 'answer' || step === 'partial') && isUntranslated(profile, language)
  );
}

function written(letter: Letter, facts: LetterFacts): readonly Block[] {
  const texts = textsOf(tagOf(letter));
  const say = speaker(letter, facts);
  const { step } = letter;
  const named = step !== 'notice' && facts.requester.name !== null;
  return [
    ...headBlocks(letter, facts, say, texts),
    { block: 'heading', level: 1, text: say(texts.titles[step]) },
    paragraph(
      step === 'notice'
        ? texts.notice.dear
        : named
          ? fill(texts.frame.dearNamed, { name: facts.requester.name ?? '' })
          : texts.frame.dearUnnamed,
    ),
    ...(step === 'notice' ? [] : openingBlocks(facts, say, texts)),
    ...bodies[step]({ letter, facts, texts, say }),
    { block: 'gap', points: 8 },
    {
      block: 'lines',
      lines: [
        named ? texts.frame.closingNamed : texts.frame.closingUnnamed,
        '',
        '',
        ...(facts.profile?.signatory == null ? [] : [facts.profile.signatory]),
        facts.controller.split('\n')[0] ?? '',
      ],
    },
  ];
}

interface Writing {
  readonly letter: Letter;
  readonly facts: LetterFacts;
  readonly texts: LetterTexts;
  readonly say: Say;
}

const bodies: Readonly<Record<LetterStep, (writing: Writing) => readonly Block[]>> = {
  acknowledgement: ({ letter, facts, texts, say }) => [
    paragraph(say(texts.acknowledgement.received)),
    // Do not promise a day that has passed.
    ...(facts.limit === null || facts.madeOn > facts.limit ? [] : [paragraph(say(texts.acknowledgement.due))]),
    ...each(facts, texts, ({ acknowledgement }) =>
      facts.identity.unchecked || choices(facts.kind) ? acknowledgement.unchecked : acknowledgement.checked,
    ).map((text) => paragraph(say(text))),
    ...officerText(letter.text),
    // “You” is the represented person in a letter to an agent, and it was the agent who made the request.
    paragraph(
      say(
        facts.requester.role === 'person'
          ? `${texts.acknowledgement.notYou} ${texts.frame.questions}`
          : texts.frame.questions,
      ),
    ),
  ],
  identity: ({ letter, facts, texts, say }) => [
    paragraph(say(texts.identity.lead)),
    ...each(facts, texts, ({ identity }) => [identity], 1).map((text) => paragraph(say(text))),
    ...wantedText(letter.text, texts),
    paragraph(say(texts.identity.use)),
    ...(facts.laws.length > 0 && lawsOf(facts).every(({ identityStartsClock }) => identityStartsClock)
      ? [paragraph(say(texts.identity.clockStarts))]
      : []),
    paragraph(say(texts.identity.reply)),
  ],
  clarification: ({ letter, facts, texts, say }) => {
    const stops =
      facts.kind === 'access' && lawsOf(facts).every(({ clarificationStopsClock }) => clarificationStopsClock);
    return [
      paragraph(say(texts.clarification.lead)),
      ...wantedText(letter.text, texts),
      paragraph(say(texts.clarification.reply)),
      paragraph(say(stops && facts.laws.length > 0 ? texts.clarification.clockStops : texts.clarification.noReply)),
    ];
  },
  extension: ({ letter, facts, texts, say }) => [
    paragraph(say(texts.extension.lead)),
    ...wantedText(letter.text, texts),
    ...(facts.limit === null ? [] : [paragraph(say(texts.extension.newLimit), 'strong')]),
    ...each(withStatutes(facts), texts, ({ extension }) => (extension === undefined ? [] : [extension])).map((text) =>
      paragraph(say(text)),
    ),
    ...lawsOf(facts)
      .filter(({ extensionComplaint }) => extensionComplaint)
      .map(({ authority }) => paragraph(say(texts.extension.complaint, { authority: authority ?? '' }))),
    paragraph(say(texts.frame.questions)),
  ],
  answer: (writing) => {
    const { facts } = writing;
    if (copies(facts.kind) || facts.kind === 'unknown') {
      if (facts.disclosure === 'no-match') return noMatchBody(writing);
      return facts.disclosure === 'full' && copies(facts.kind) ? recordsBody(writing) : categoriesBody(writing);
    }
    const untouched = (writing.letter.text ?? '').trim() === '' && facts.parts.length === 0;
    return facts.disclosure === 'no-match' && !choices(facts.kind) && !foundElsewhere(facts) && untouched
      ? noMatchBody(writing)
      : doneBody(writing);
  },
  partial: (writing) => {
    const { letter, facts, texts, say } = writing;
    return [
      ...lateBlocks(facts, texts, say),
      paragraph(say(texts.partial.lead)),
      ...wantedText(letter.text, texts),
      ...partBlocks(writing),
      ...noteBlocks(writing),
      ...searchedBlocks(writing),
      ...healthStatementBlocks(writing),
      ...optOutBlocks(writing),
      ...remedyBlocks(writing, true),
      paragraph(say(texts.frame.questions)),
    ];
  },
  refusal: (writing) => {
    const { letter, facts, texts, say } = writing;
    return [
      ...lateBlocks(facts, texts, say),
      paragraph(say(texts.refusal.lead)),
      ...wantedText(letter.text, texts),
      ...healthStatementBlocks(writing),
      ...optOutBlocks(writing),
      ...remedyBlocks(writing, true),
      paragraph(say(texts.frame.questions)),
    ];
  },
  'no-match': (writing) => noMatchBody(writing),
  notice: ({ letter, facts, texts, say }) => [
    paragraph(say(texts.notice.lead)),
    paragraph(say(texts.notice.done)),
    ...wantedText(letter.text, texts),
    ...each(
      facts,
      texts,
      ({ notice }, family) => (isGdpr(family) && !rightsOf(facts).some(art19) ? [] : [notice]),
      1,
    ).map((text) => paragraph(say(text))),
    paragraph(say(texts.notice.ask)),
  ],
  appeal: ({ letter, facts, texts, say }) => [
    paragraph(say(texts.appeal.lead)),
    ...wantedText(letter.text, texts),
    ...lawsOf(facts)
      .filter(({ appealDays, authority }) => appealDays !== null && authority !== null)
      .map(({ authority }) => paragraph(say(texts.appeal.complaint, { authority: authority ?? '' }))),
  ],
};

function recordsBody(writing: Writing): readonly Block[] {
  const { letter, facts, texts, say } = writing;
  const { decisions, first, last } = facts.found;
  const found = facts.match === 'from-device' ? texts.answer.foundFromDevice : texts.answer.foundComputed;
  const about = {
    count: countIn(decisions, letter.locale),
    from: dateInWords(first, letter.locale),
    to: dateInWords(last, letter.locale),
    found,
  };
  // Stated once, as the deciding law has it.
  const yes = each(facts, texts, (family) => [facts.kind === 'portability' ? family.portability : family.access], 1);
  return [
    ...lateBlocks(facts, texts, say),
    paragraph(
      [
        ...yes,
        first === last ? texts.answer.recordsOfOneDay : texts.answer.records,
        ...(facts.identity.confirmed ? [texts.answer.identityChecked] : []),
      ]
        .map((text) => say(text, about))
        .join(' '),
    ),
    ...officerText(letter.text),
    ...furtherBlocks(writing),
    paragraph(texts.answer.enclosed),
    { block: 'list', items: facts.enclosed.map((file) => enclosedFile(texts, file)) },
    ...verifyBlocks(writing),
    ...scopeBlocks(writing),
    ...processingBlocks(writing),
    ...rightsBlocks(writing),
    ...remedyBlocks(writing, false),
  ];
}

/** A file of a pack with what it is; `{file}` is replaced in those that have a name in this language. */
function enclosedFile({ answer, packFiles }: LetterTexts, file: keyof LetterTexts['answer']['files']): string {
  const text = answer.files[file];
  if (file === 'history') return fill(text, { file: `${packFiles.history}.html` });
  return file === 'policyTexts' ? fill(text, { file: `${packFiles.policyTexts}.txt` }) : text;
}

/** Empty until a checkpoint covers the records: before that, there is no key to compare. */
function verifyBlocks({ letter, facts, texts }: Writing): readonly Block[] {
  if (facts.sealed == null) return [];
  const { entries, verifierKey } = facts.sealed;
  return [paragraph(fill(texts.answer.verify, { entries: countIn(entries, letter.locale) })), paragraph(verifierKey)];
}

function categoriesBody(writing: Writing): readonly Block[] {
  const { letter, facts, texts, say } = writing;
  return [
    ...lateBlocks(facts, texts, say),
    paragraph(facts.identity.met ? texts.answer.categories : texts.answer.unverified),
    ...officerText(letter.text),
    ...furtherBlocks(writing),
    ...scopeBlocks(writing),
    ...processingBlocks(writing),
    ...rightsBlocks(writing),
    ...remedyBlocks(writing, !facts.identity.met),
  ];
}

/** The body of an answer to a request that is fulfilled by doing what it asks. */
function doneBody(writing: Writing): readonly Block[] {
  const { letter, facts, texts, say } = writing;
  // An erasure keeps the proof of consent and the record of the request (noteBlocks). To that extent it is a refusal and
  // must state what a refusal must state.
  const refused = rightsOf(facts).includes('erasure') || facts.parts.some(({ outcome }) => outcome !== 'done');
  const unlinked = choices(facts.kind) && isUnlinked(facts);
  const method = facts.profile?.withdrawalMethod ?? null;
  return [
    ...lateBlocks(facts, texts, say),
    ...(facts.parts.length === 0 ? wantedText(letter.text, texts) : officerText(letter.text)),
    ...partBlocks(writing),
    ...(unlinked
      ? [
          paragraph(
            [
              texts.answer.unmatched,
              ...(method === null ? [] : [fill(texts.answer.unmatchedHowTo, { withdrawalMethod: sentence(method) })]),
            ].join(' '),
          ),
        ]
      : []),
    ...noteBlocks(writing),
    ...searchedBlocks(writing),
    ...(refused ? [...healthStatementBlocks(writing), ...optOutBlocks(writing), ...remedyBlocks(writing, true)] : []),
    paragraph(say(texts.frame.questions)),
  ];
}

function noMatchBody(writing: Writing): readonly Block[] {
  const { letter, facts, texts, say } = writing;
  const link = each(facts, texts, ({ noMatch }) => [noMatch], 1);
  return [
    ...lateBlocks(facts, texts, say),
    paragraph(say([...link, texts.noMatch.why, texts.noMatch.notNone].join(' '))),
    ...officerText(letter.text),
    ...furtherBlocks(writing),
    paragraph(texts.noMatch.help, 'strong'),
    { block: 'list', ordered: true, items: texts.noMatch.steps.map((step) => say(step)) },
    ...(copies(facts.kind) ? scopeBlocks(writing) : searchedBlocks(writing)),
    // If another system holds data about the person, an answer to a request for a copy must cover data after all.
    ...(copies(facts.kind) && facts.identity.met && foundElsewhere(facts)
      ? [...processingBlocks(writing), ...rightsBlocks(writing)]
      : []),
    ...remedyBlocks(writing, true),
  ];
}

function headBlocks(letter: Letter, facts: LetterFacts, say: Say, texts: LetterTexts): readonly Block[] {
  const { profile, requester } = facts;
  const own = profile !== null && profile.role !== 'processor';
  const [first = '', ...rest] = facts.controller.split('\n');
  const address = profile?.address.filter((line) => line !== first) ?? [];
  const contact = own ? [profile.email, profile.phone, profile.website].filter((one) => one !== null) : [];
  const joint = profile?.role === 'joint' ? profile.controllerOrJointContact : null;
  // A window envelope shows name and address, and nothing else.
  const addressed = [requester.name, ...(requester.address?.split('\n') ?? [requester.email])];
  const addressee = letter.step === 'notice' ? [letter.recipient ?? null] : addressed;
  const known = addressee.filter((line) => line !== null);
  return [
    paragraph(first, 'strong'),
    {
      block: 'lines',
      look: 'muted',
      lines: [
        ...rest,
        ...(own ? [address.join(', '), contact.join(' · ')] : []),
        ...(joint === null ? [] : [fill(texts.frame.jointContact, { contact: joint })]),
      ].filter((line) => line !== ''),
    },
    { block: 'gap', points: 18 },
    {
      block: 'lines',
      lines: known.length > 0 ? known : letter.step === 'notice' ? [] : [texts.frame.unnamedRecipient],
    },
    { block: 'gap', points: 12 },
    {
      block: 'lines',
      look: 'muted',
      align: 'right',
      lines: [
        dateInWords(facts.madeOn, letter.locale),
        say(texts.frame.reference),
        ...(facts.requestId === null || letter.step === 'notice'
          ? []
          : [fill(texts.frame.theirReference, { reference: facts.requestId })]),
        ...lawNames(facts, texts).map((law) => fill(texts.frame.applicableLaw, { law })),
      ],
    },
  ];
}

function openingBlocks(facts: LetterFacts, say: Say, texts: LetterTexts): readonly Block[] {
  const { requester } = facts;
  if (requester.role === 'person')
    // After a salutation that ends in a comma, only the first sentence may begin in lower case.
    return rightsOf(facts).map((kind, place) => {
      const opening = say(texts.kinds[kind].opening);
      return paragraph(place === 0 ? opening : opening.charAt(0).toUpperCase() + opening.slice(1));
    });
  const { represented } = requester;
  return [
    paragraph(say(texts.openingOfAgent)),
    paragraph(represented === null ? texts.frame.agentForUnnamed : fill(texts.frame.agentFor, { represented })),
  ];
}

function lateBlocks({ limit, madeOn, answeredOn }: LetterFacts, texts: LetterTexts, say: Say): readonly Block[] {
  return limit !== null && (answeredOn ?? madeOn) > limit ? [paragraph(say(texts.frame.late))] : [];
}

function partBlocks({ facts, texts }: Writing): readonly Block[] {
  if (facts.parts.length === 0) return [];
  const pairs = facts.parts.map(({ what, outcome, ground, note }) => {
    const said = texts.answer.part[outcome];
    const words = ground === undefined ? said : fill(texts.answer.partGround, { outcome: said, ground });
    const asked = typeof what === 'string' ? what : texts.kinds[what.kind].name;
    return [asked, note === undefined ? words : `${words}\n${note}`] as const;
  });
  return [paragraph(texts.answer.parts, 'strong'), { block: 'facts', pairs }];
}

function noteBlocks(writing: Writing): readonly Block[] {
  const { facts, texts, say } = writing;
  const notes = rightsOf(facts).flatMap((kind) => each(facts, texts, (family) => family.notes[kind] ?? []));
  return [...proofBlocks(writing), ...[...new Set(notes)].map((text) => paragraph(say(text)))];
}

/** That the proof of consent is kept, by which law, and how long if the controller has set a period. */
function proofBlocks({ letter, facts, texts, say }: Writing): readonly Block[] {
  if (facts.proof == null || !rightsOf(facts).includes('erasure')) return [];
  const { period } = facts.proof;
  const kept = each(facts, texts, ({ proof }) => [proof], 1).map((text) => say(text));
  const words = period === null ? [] : [say(texts.answer.proofPeriod, { period: periodIn(period, letter.locale) })];
  return [paragraph([...kept, ...words].join(' '))];
}

/** What was done about the rights besides the one that decides the form of the answer. */
function furtherBlocks(writing: Writing): readonly Block[] {
  return (writing.facts.further ?? []).length === 0 ? [] : [...partBlocks(writing), ...noteBlocks(writing)];
}

function scopeBlocks({ letter, facts, texts }: Writing): readonly Block[] {
  const { scope } = texts;
  // Whether another system holds data is itself information about a person: without the required check it is not
  // disclosed.
  const silent = facts.systems.length === 0 || !facts.identity.met;
  return [
    { block: 'heading', level: 2, text: scope.heading },
    paragraph(`${scope.consentOnly} ${silent ? scope.others : scope.otherSystems}`),
    ...(silent ? [] : [systemList(letter, facts, (result) => scope.results[result])]),
  ];
}

/**
 * What was searched for an answer that encloses no copy. Who makes a choice need not identify: then, and without the
 * required check, it says which systems were searched, not what was found.
 */
function searchedBlocks({ letter, facts, texts, say }: Writing): readonly Block[] {
  const { scope } = texts;
  const open = facts.identity.met && !facts.identity.unchecked && !choices(facts.kind);
  const linked = !open || letter.step === 'no-match' || facts.disclosure !== 'no-match';
  const said = [
    facts.untried === true ? scope.notSearched : scope.searched,
    ...(linked ? [] : each(facts, texts, ({ noMatch }) => [noMatch], 1)),
    ...(facts.systems.length === 0 ? [] : [scope.otherSystems]),
  ];
  const resultOf = (result: SystemResult) => {
    if (result === 'not-applicable' || result === 'open') return scope.results[result];
    return scope.results[!open ? 'searched' : result === 'attached' ? 'found' : result];
  };
  return [
    { block: 'heading', level: 2, text: scope.heading },
    paragraph(say(said.join(' '))),
    ...(facts.systems.length === 0 ? [] : [systemList(letter, facts, resultOf)]),
  ];
}

type SystemResult = NonNullable<LetterFacts['systems'][number]['result']> | 'open';

/** The controller's other systems, each with its result in words. */
function systemList(letter: Letter, { systems }: LetterFacts, words: (result: SystemResult) => string): Block {
  return {
    block: 'list',
    items: systems.map(({ name, result }) => `${name}${colonIn(letter)} ${words(result ?? 'open')}`),
  };
}

/** What an answer about the processing should state under any law. */
const everywhere: readonly ProfilePart[] = ['purposes', 'dataCategories', 'dataSources', 'recipients'];
/** What it should state besides under laws similar to the GDPR. */
const abroad: readonly ProfilePart[] = ['transfers', 'automatedDecisions'];

/**
 * The controller's statements about itself: GDPR Art. 15(1)(a)–(h) and (2); FADP Art. 25(2); 11 CCR 7024; LGPD Art. 19 II. Missing
 * statements are named.
 */
function processingBlocks(writing: Writing): readonly Block[] {
  const { letter, facts, texts } = writing;
  const { profile } = facts;
  const words = texts.processing;
  const european = lawsOf(facts).some(({ family }) => isGdpr(family));
  const transfers = european || lawsOf(facts).some(({ family }) => family === 'similar' || family === 'swiss');
  const pairs: (readonly [string, string])[] = [];
  const add = (label: string, lines: readonly string[]) => {
    if (lines.length > 0) pairs.push([label, lines.join('\n')]);
  };
  if (profile !== null) {
    add(
      words.purposes,
      profile.purposes.map(({ purpose, lawfulBasis, retention }) =>
        fill(european ? words.purposeWithBasis : words.purpose, { purpose, basis: lawfulBasis, retention }),
      ),
    );
    add(words.dataCategories, profile.dataCategories);
    add(words.dataSources, profile.dataSources);
    add(
      words.recipients,
      profile.recipients.map(
        ({ name, purpose, country }) =>
          `${name}${country === null ? '' : ` (${countryName(country, letter.language)})`}${colonIn(letter)} ${purpose}`,
      ),
    );
    if (transfers) {
      add(
        words.transfers,
        profile.transfers.length === 0 && profile.noTransfers
          ? [words.noTransfers]
          : profile.transfers.map(
              ({ recipient, country, safeguard }) =>
                `${recipient} (${countryName(country, letter.language)})${colonIn(letter)} ${safeguard}`,
            ),
      );
      add(words.automatedDecisions, profile.automatedDecisions === null ? [] : [profile.automatedDecisions]);
    }
    add(words.withdrawalMethod, profile.withdrawalMethod === null ? [] : [profile.withdrawalMethod]);
  }
  const missing = [
    ...missingPartsOf(profile)
      .filter((part) => european || everywhere.includes(part) || (transfers && abroad.includes(part)))
      // If a law has its own authority, that is named among the remedies.
      .filter((part) => part !== 'supervisoryAuthority' || lawsOf(facts).some(({ remedies }) => remedies === 'eu'))
      .map((part) => words.parts[part]),
    ...(officerText(letter.text).length === 0 && salesBlank(facts) ? [words.soldOrShared] : []),
    ...(officerText(letter.text).length === 0 && criteriaBlank(facts) ? [words.criteria] : []),
  ];
  return [
    { block: 'heading', level: 2, text: words.heading },
    ...(pairs.length === 0 ? [] : [{ block: 'facts' as const, pairs }]),
    ...(missing.length === 0 ? [] : [paragraph(fill(words.notStated, { parts: missing.join('; ') }))]),
    ...withheldBlocks(writing),
  ];
}

/**
 * What a law bars from the copy: the kinds found, or a statement that such data are never included. Nothing if the
 * records are enclosed unchanged.
 */
function withheldBlocks({ facts, texts }: Writing): readonly Block[] {
  if (facts.disclosure === 'full' && facts.enclosed.includes('records')) return [];
  const source = withholdingProvisions(facts.laws, facts.place).join('; ');
  if (source === '') return [];
  const kinds = facts.disclosure === 'full' ? (facts.withheld ?? []) : [];
  if (kinds.length === 0) return [paragraph(fill(texts.answer.neverDisclosed, { source }))];
  const types = kinds.map((kind) => texts.answer.withheldTypes[kind]).join('; ');
  return [paragraph(fill(texts.answer.withheld, { source, types }))];
}

function rightsBlocks({ facts, texts, say }: Writing): readonly Block[] {
  // Without a law that gives a right, the letter promises none.
  const general = lawsOf(facts).filter(({ family }) => family === 'general');
  const given = generalRights.map((right) => general.some(({ lacks = [] }) => !lacks.includes(right)));
  const rights =
    facts.laws.length === 0
      ? []
      : each(facts, texts, ({ rights }, family) =>
          family === 'general' ? rights.filter((_text, i) => given[i]) : rights,
        );
  if (rights.length === 0) return [];
  return [
    { block: 'heading', level: 2, text: texts.rights.heading },
    { block: 'list', items: rights.map((text) => say(text)) },
  ];
}

/** The offer to add a statement, which some laws require in a refused correction. */
function healthStatementBlocks({ facts, texts }: Writing): readonly Block[] {
  if (!rightsOf(facts).includes('rectification')) return [];
  return lawsOf(facts).some((law) => law.refusedCorrectionTakesStatement)
    ? [paragraph(texts.refusal.healthStatement)]
    : [];
}

/** The pointer to the opt-out, which some laws require in a refused deletion. */
function optOutBlocks({ facts, texts, say }: Writing): readonly Block[] {
  if (!rightsOf(facts).includes('erasure') || !lawsOf(facts).some((law) => law.refusedErasureNamesOptOut)) return [];
  return [paragraph(say(texts.refusal.optOut))];
}

/**
 * Appeal, complaint and judicial remedy under each law; none if no law gives a right. An appeal is mentioned if
 * something was refused.
 */
function remedyBlocks({ facts, texts, say }: Writing, refused: boolean): readonly Block[] {
  if (facts.laws.length === 0) return [];
  const items: string[] = [];
  for (const law of lawsIn(texts, facts)) {
    const own = facts.profile?.supervisoryAuthority ?? null;
    const authority = law.authority ?? '';
    if (law.appealDays !== null) {
      if (refused) items.push(say(texts.appealTo, { days: String(law.appealDays), authority }));
      continue;
    }
    items.push(...texts.remedies[law.remedies].map((text) => say(text, { authority })));
    if (law.remedies === 'eu' && own !== null) {
      const said = [own.name, own.address, own.website].filter((part) => part !== null).join(', ');
      items.push(fill(texts.authorityIs, { authority: said }));
    }
  }
  const dpo = facts.profile?.dataProtectionOfficer ?? null;
  const european = lawsOf(facts).some(({ family }) => isGdpr(family));
  if (dpo !== null && european) items.push(fill(texts.frame.dataProtectionOfficer, { contact: dpo }));
  if (items.length === 0) return [];
  return [
    { block: 'heading', level: 2, text: texts.rights.remedies },
    { block: 'list', items: [...new Set(items)] },
  ];
}

/** The officer's text for a letter that needs one; a missing text is marked. */
function wantedText(text: string | null, texts: LetterTexts): readonly Block[] {
  const said = officerText(text);
  if (said.length > 0 && !hasBlanks(text ?? '')) return said;
  return [{ block: 'notice', tone: 'warning', title: texts.frame.stillToWrite, text: text ?? '' }];
}

function officerText(text: string | null): readonly Block[] {
  const blocks: Block[] = [];
  for (const part of (text ?? '').replaceAll('\r\n', '\n').split(/\n\s*\n/)) {
    let lines: string[] = [];
    let items: string[] = [];
    const flush = () => {
      if (lines.length > 0) blocks.push(paragraph(lines.join('\n')));
      if (items.length > 0) blocks.push({ block: 'list', items });
      lines = [];
      items = [];
    };
    for (const line of part.split('\n').map((one) => one.trim())) {
      if (line === '') continue;
      const item = /^[-–•*]\s+(.*)$/.exec(line)?.[1];
      if ((item === undefined) === items.length > 0) flush();
      if (item === undefined) lines.push(line);
      else items.push(item);
    }
    flush();
  }
  return blocks;
}

/** Texts of the applicable laws without repeats; at most `most`, for cases where one law's text is enough. */
function each(
  facts: LetterFacts,
  texts: LetterTexts,
  read: (texts: FamilyTexts, family: LawFamily) => readonly string[],
  most = Number.POSITIVE_INFINITY,
): readonly string[] {
  const found = lawsOf(facts).map(({ family }) => family);
  // Under both GDPRs the first is cited.
  const families = found.filter((family, i) => found.findIndex((one) => rootOf(one) === rootOf(family)) === i);
  const short = texts.lawNames[shortLaw(facts)]?.short ?? '';
  const said = families
    .slice(0, most)
    .flatMap((family) => read(familyTexts(texts, family), family).map((text) => text.replaceAll('{gdpr}', short)));
  return [...new Set(said)];
}

const isGdpr = (family: LawFamily) => family === 'gdpr' || family === 'uk';
/** The family whose texts another uses where it has none of its own. */
const rootOf = (family: LawFamily): LawFamily => (family === 'uk' ? 'gdpr' : family);

function familyTexts({ families }: LetterTexts, family: LawFamily): FamilyTexts {
  const own = families[family];
  const root = families[rootOf(family)];
  const notes = { ...root.notes, ...own.notes };
  const none = root.notes === undefined && own.notes === undefined;
  return { ...families.general, ...root, ...own, notes: none ? families.general.notes : notes };
}

/** The facts with those laws only whose deadline is the statute's; without any, the letter cites none. */
function withStatutes({ ownRules = [], ...facts }: LetterFacts): LetterFacts {
  return { ...facts, laws: facts.laws.filter((law) => !ownRules.includes(law)) };
}

function lawsOf({ laws, place }: Pick<LetterFacts, 'laws' | 'place'>): readonly LetterLaw[] {
  return laws.length === 0 ? [letterLawOf('', null)] : laws.map((law) => letterLawOf(law, place));
}

/** The laws with their authorities as named in this language. */
function lawsIn(texts: LetterTexts, facts: Pick<LetterFacts, 'laws' | 'place'>): readonly LetterLaw[] {
  return lawsOf(facts).map((law, i) => ({
    ...law,
    authority: texts.lawNames[facts.laws[i] ?? '']?.authority ?? law.authority,
  }));
}

function lawNames({ laws, place }: LetterFacts, texts: LetterTexts): readonly string[] {
  return laws.map((law) => texts.lawNames[law]?.name ?? letterLawOf(law, place).name).filter((name) => name !== '');
}

/** The first of the applicable laws that is a GDPR, which texts cite by its short name. */
function shortLaw({ laws }: Pick<LetterFacts, 'laws'>): 'eu-gdpr' | 'uk-gdpr' {
  return laws.find((id) => id === 'eu-gdpr' || id === 'uk-gdpr') ?? 'eu-gdpr';
}

type Say = (template: string, more?: Readonly<Record<string, string>>) => string;

/** Creates a function that fills in the values known for every letter of a case. */
function speaker(letter: Letter, facts: LetterFacts): Say {
  const texts = textsOf(tagOf(letter));
  const { locale } = letter;
  const { profile } = facts;
  const values = {
    reference: facts.caseId,
    received: dateInWords(facts.receivedOn, locale),
    limit: dateInWords(facts.limit, locale),
    firstLimit: dateInWords(facts.firstLimit, locale),
    kind: rightNames(texts, rightsOf(facts), locale),
    contact:
      profile?.role === 'processor'
        ? facts.controller.split('\n').join(', ')
        : (profile?.email ?? (profile?.address.join(', ') || facts.controller)),
    gdpr: texts.lawNames[shortLaw(facts)]?.short ?? '',
  };
  return (template, more = {}) => joined(fill(template, { ...values, ...more }), locale);
}

/** BCP 47: the language of a letter as its reader's country writes it. */
export function tagOf({ language, locale }: Pick<Letter, 'language' | 'locale'>): string {
  return locale.startsWith(language) ? locale : language;
}

function textsOf(tag: string): LetterTexts {
  const texts = textsIn(tag);
  if (texts === undefined) throw new Error(`no letters in the language ${tag}`);
  return texts;
}

function paragraph(text: string, look?: 'strong'): Block {
  return look === undefined ? { block: 'paragraph', text } : { block: 'paragraph', look, text };
}

/** French puts a space before a colon. */
function colonIn({ language }: Letter): string {
  return language === 'fr' ? ' :' : ':';
}
