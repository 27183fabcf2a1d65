import type { ProfilePart } from '../../src/law/profile.ts';
import type { RequestKind } from '../../src/core/vocabulary.ts';

/** Every letter of a case, by the step that it belongs to. `answer` is worded by the kind of the request. */
export const letterSteps = [
  'acknowledgement',
  'identity',
  'clarification',
  'extension',
  'answer',
  'partial',
  'refusal',
  'no-match',
  'notice',
  'appeal',
] as const;
export type LetterStep = (typeof letterSteps)[number];

/** Whether a text names a letter. */
export function isLetterStep(text: string): text is LetterStep {
  return (letterSteps as readonly string[]).includes(text);
}

/** Groups of laws whose letters read alike; which law belongs to which group is in laws.ts. */
export type LawFamily = 'gdpr' | 'california' | 'us' | 'brazil' | 'general';

/** What letters say about complaints and remedies; which law uses which is in laws.ts. */
export type RemedyKey = 'eu' | 'uk' | 'california' | 'quebec' | 'authority' | 'unnamed';

/** Kinds of data that are recognised and never disclosed where a law forbids it. */
export type WithheldType = 'socialSecurity' | 'longNumber';

interface LawNames {
  readonly name: string;
  readonly short: string;
  /** Who takes complaints, where this language has a name of its own for it. */
  readonly authority?: string;
}

/**
 * Every text of the letters in one language. A language is one file in languages/ and one line in languages.ts; the compiler refuses
 * a file with a missing key. Placeholders stand in braces, `{limit}`, and are the same in every language (a test compares
 * them with English). Square brackets in a proposal are blanks: a letter is not made before the officer has filled them.
 */
export interface LetterTexts {
  /** The language's own name. */
  readonly name: string;
  /** BCP 47: how dates and numbers are written unless the request names a region of the language. */
  readonly locale: string;
  /** Countries (ISO 3166) that write its dates or numbers in their own way: a request from one of them that names no region gets it. */
  readonly regions?: readonly string[];
  /** Regions where the language is written otherwise than here (ISO 3166): a letter for one of them is said to be missing. */
  readonly notIn?: readonly string[];
  /** Laws that have a name in this language; the others go by their official names (laws.ts), as their authorities do. */
  readonly lawNames: Readonly<Record<'eu-gdpr' | 'uk-gdpr', LawNames>> & Readonly<Record<string, LawNames>>;
  /** What stands around every letter. */
  readonly frame: {
    readonly reference: string;
    readonly theirReference: string;
    readonly applicableLaw: string;
    readonly unnamedRecipient: string;
    readonly dearNamed: string;
    readonly dearUnnamed: string;
    readonly closingNamed: string;
    readonly closingUnnamed: string;
    /** Of the page numbers. */
    readonly page: string;
    readonly document: string;
    /** Printed across a letter whose text is not whole. */
    readonly draft: string;
    readonly stillToWrite: string;
    readonly dataProtectionOfficer: string;
    readonly jointContact: string;
    readonly questions: string;
    readonly agentFor: string;
    readonly agentForUnnamed: string;
    readonly late: string;
  };
  /** Headings. */
  readonly titles: Readonly<Record<LetterStep, string>>;
  /** What was asked: as a name, and as the first sentence of a letter (after the salutation: in some languages it begins in lower case). */
  readonly kinds: Readonly<Record<RequestKind, { readonly name: string; readonly opening: string }>>;
  /** The first sentence of a letter to somebody who acts for another person. */
  readonly openingOfAgent: string;
  readonly acknowledgement: {
    readonly received: string;
    readonly due: string;
    readonly notYou: string;
  };
  readonly identity: { readonly lead: string; readonly use: string; readonly reply: string };
  readonly clarification: {
    readonly lead: string;
    readonly clockStops: string;
    readonly reply: string;
    readonly noReply: string;
  };
  readonly extension: {
    readonly lead: string;
    readonly newLimit: string;
    readonly complaint: string;
  };
  readonly answer: {
    /** Before the copy of the records. */
    readonly records: string;
    readonly recordsOfOneDay: string;
    readonly foundFromDevice: string;
    readonly foundComputed: string;
    readonly identityChecked: string;
    readonly enclosed: string;
    readonly files: Readonly<
      Record<
        'history' | 'decisions' | 'records27560' | 'policies' | 'policyTexts' | 'evidence' | 'records' | 'about',
        string
      >
    >;
    /** How the reader checks the enclosed records: the verifier, the checkpoint, and the key of the log, which stands below. */
    readonly verify: string;
    readonly unverified: string;
    readonly categories: string;
    /** An opt-out, objection or withdrawal that could not be linked to a record. */
    readonly unmatched: string;
    readonly unmatchedHowTo: string;
    readonly parts: string;
    readonly part: Readonly<Record<'done' | 'partly' | 'refused', string>>;
    readonly partGround: string;
    /** What is left out of the copy because a law forbids to disclose it: its kinds (11 CCR § 7024(d)). */
    readonly withheld: string;
    readonly withheldTypes: Readonly<Record<WithheldType, string>>;
  };
  readonly partial: { readonly lead: string };
  readonly refusal: {
    readonly lead: string;
    readonly ground: string;
    /** Of a refused correction where a law wants it (LetterLaw.refusedCorrectionTakesStatement). */
    readonly healthStatement: string;
  };
  readonly noMatch: {
    readonly why: string;
    readonly notNone: string;
    readonly help: string;
    readonly steps: readonly string[];
  };
  readonly notice: { readonly dear: string; readonly lead: string; readonly done: string; readonly ask: string };
  readonly appeal: { readonly lead: string; readonly complaint: string };
  readonly processing: {
    readonly heading: string;
    readonly purposes: string;
    readonly purpose: string;
    readonly purposeWithBasis: string;
    readonly dataCategories: string;
    readonly recipients: string;
    readonly dataSources: string;
    readonly transfers: string;
    readonly noTransfers: string;
    readonly automatedDecisions: string;
    readonly withdrawalMethod: string;
    readonly notStated: string;
    /** Among what is not stated, where a law wants it and the officer wrote nothing (LetterLaw.namesSales). */
    readonly soldOrShared: string;
    readonly parts: Readonly<Record<ProfilePart, string>>;
  };
  readonly scope: {
    readonly heading: string;
    readonly consentOnly: string;
    readonly otherSystems: string;
    readonly results: Readonly<Record<'nothing-found' | 'attached' | 'not-applicable' | 'open', string>>;
  };
  readonly rights: { readonly heading: string; readonly remedies: string };
  /** What holds under each group of laws; a group says only what differs from `general`. No text of one group may cite a law of another. */
  readonly families: Readonly<Record<Exclude<LawFamily, 'general'>, Partial<FamilyTexts>>> & {
    readonly general: FamilyTexts;
  };
  readonly remedies: Readonly<Record<RemedyKey, readonly string[]>>;
  /** The page on which the requester opens the pack that answers them (docs/hand-over.md). */
  readonly handOver: {
    readonly title: string;
    readonly enterCode: string;
    readonly code: string;
    readonly open: string;
    readonly wrongCode: string;
    readonly invalidTitle: string;
    /** The same for every link that opens nothing, whatever the reason. */
    readonly invalid: string;
    readonly until: string;
    readonly received: string;
    readonly contents: string;
    readonly letter: string;
    readonly proofs: string;
    readonly download: string;
    readonly check: string;
    readonly checksum: string;
    readonly checkSteps: readonly string[];
    readonly write: string;
    readonly writeLead: string;
    readonly question: string;
    readonly objection: string;
    readonly message: string;
    readonly send: string;
    readonly sent: string;
    readonly empty: string;
    readonly tooMany: string;
    readonly leave: string;
    readonly formExpired: string;
    readonly wait: string;
    readonly unavailable: string;
    readonly languages: string;
  };
  /** The page on which the owner of another system finishes a task, and the mail that leads to it. */
  readonly task: {
    readonly title: string;
    readonly lead: string;
    readonly due: string;
    readonly outcome: string;
    readonly done: string;
    readonly notDone: string;
    readonly note: string;
    readonly noteHint: string;
    readonly noteMissing: string;
    readonly reportedDone: string;
    readonly reportedNotDone: string;
    readonly mailLink: string;
  };
  /** The page on which anybody can send a request (docs/request-form.md). */
  readonly requestForm: {
    readonly title: string;
    readonly lead: string;
    readonly kind: string;
    readonly kinds: Readonly<Record<RequestKind, string>>;
    readonly name: string;
    readonly email: string;
    readonly emailHint: string;
    readonly place: string;
    readonly placeHint: string;
    readonly placeOpen: string;
    readonly message: string;
    readonly messageHint: string;
    readonly subject: string;
    readonly subjectHint: string;
    /** Stands behind the label of a field that may be left empty. */
    readonly optional: string;
    readonly use: string;
    readonly send: string;
    /** The label of a field that only programs fill in. */
    readonly trap: string;
    readonly wrong: Readonly<Record<'kind' | 'name' | 'email' | 'place' | 'message' | 'subject', string>>;
    readonly again: string;
    readonly tooMany: string;
    readonly receivedTitle: string;
    readonly received: string;
    readonly keep: string;
    readonly codeLead: string;
    readonly noMail: string;
    readonly confirm: string;
    readonly confirmed: string;
    readonly locked: string;
    readonly closed: string;
    readonly mailCode: string;
  };
  /** Where a law gives an appeal to the controller. */
  readonly appealTo: string;
  readonly authorityIs: string;
  /**
   * Texts for the officer to start from, per letter; the first is proposed where the case has none of its own. An answer's are by kind.
   * Only `access` and `portability` may be without one: their answer is in the records.
   */
  readonly proposals: Readonly<
    Record<Exclude<LetterStep, 'acknowledgement' | 'answer' | 'no-match'>, readonly string[]>
  > & {
    readonly answer: Readonly<Record<Exclude<RequestKind, 'access' | 'portability'>, readonly string[]>>;
    /** Of an answer to a request for access under a law that wants sales and disclosures named. */
    readonly know: readonly string[];
  };
}

/** What is said under one group of laws. */
export interface FamilyTexts {
  /** In an acknowledgement: kinds of request that need an identity check, and those that must not depend on one. */
  readonly acknowledgement: { readonly checked: readonly string[]; readonly unchecked: readonly string[] };
  readonly identity: string;
  /** By what right the time is extended. */
  readonly extension: string;
  readonly access: string;
  readonly portability: string;
  readonly noMatch: string;
  /** What an answer to a request of this kind must add. */
  readonly notes: Readonly<Partial<Record<RequestKind, readonly string[]>>>;
  readonly rights: readonly string[];
  /** What is withheld from every requester. */
  readonly never: readonly string[];
  readonly notice: string;
}
