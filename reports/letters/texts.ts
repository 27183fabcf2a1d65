import type { RequestKind } from '../../src/core/vocabulary.ts';
import type { ProfilePart } from '../../src/law/profile.ts';

/** Every letter of a case, by the step to which it belongs. The wording of `answer` depends on the kind of request. */
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

/**
 * Groups of laws with the same wording; laws.ts assigns each law to a group. `uk`: the texts of `gdpr`, except where the
 * UK GDPR differs. `similar`: laws outside the EU that require what GDPR Art. 15 requires. `swiss`: so does the FADP, but
 * with rights of its own.
 */
export type LawFamily = 'gdpr' | 'uk' | 'similar' | 'swiss' | 'california' | 'us' | 'brazil' | 'general';

/** Wordings about complaints and remedies; laws.ts assigns them to laws. */
export type RemedyKey = 'eu' | 'uk' | 'california' | 'quebec' | 'authority' | 'authorityAndCourt' | 'unnamed';

/** Kinds of data that are recognised, and withheld if a law forbids disclosing them. */
export type WithheldType = 'socialSecurity' | 'longNumber';

interface LawNames {
  readonly name: string;
  readonly short: string;
  /** Who takes complaints, if this language has its own name for it. */
  readonly authority?: string;
}

/**
 * Every text of the letters in one language. A language is one file in languages/ and one line in languages.ts; the
 * compiler rejects a file with a missing key. Placeholders are in braces, `{limit}`, and the same in every language (a
 * test compares them with English). Square brackets in a proposal are blanks: the letter cannot be made until the
 * officer has filled them in.
 */
export interface LetterTexts {
  /** The language's name for itself. */
  readonly name: string;
  /** BCP 47: format of dates and numbers unless the request names a region of the language. */
  readonly locale: string;
  /** Countries (ISO 3166) with their own format of dates or numbers, used for requests from there that name no region. */
  readonly regions?: readonly string[];
  /** Laws that have a name in this language; others use their official names (laws.ts), as do their authorities. */
  readonly lawNames: Readonly<Record<'eu-gdpr' | 'uk-gdpr', LawNames>> & Readonly<Record<string, LawNames>>;
  /** Printed around every letter. */
  readonly frame: {
    readonly reference: string;
    readonly theirReference: string;
    readonly applicableLaw: string;
    readonly unnamedRecipient: string;
    readonly dearNamed: string;
    readonly dearUnnamed: string;
    readonly closingNamed: string;
    readonly closingUnnamed: string;
    /** The page number line. */
    readonly page: string;
    readonly document: string;
    /** In the mail that carries a letter. */
    readonly attached: string;
    /** Printed across an incomplete letter. */
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
  /**
   * What was requested: as a name, and as the first sentence of a letter (which in some languages begins in lower case
   * after the salutation).
   */
  readonly kinds: Readonly<Record<RequestKind, { readonly name: string; readonly opening: string }>>;
  /** The first sentence of a letter to someone acting for another person. */
  readonly openingOfAgent: string;
  readonly acknowledgement: {
    readonly received: string;
    readonly due: string;
    readonly notYou: string;
  };
  readonly identity: {
    readonly lead: string;
    readonly use: string;
    readonly reply: string;
    /** If a law starts its time limit only then (LetterLaw.identityStartsClock). */
    readonly clockStarts: string;
  };
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
    /** Introduces the copy of the records. */
    readonly records: string;
    readonly recordsOfOneDay: string;
    readonly foundFromDevice: string;
    readonly foundComputed: string;
    readonly identityChecked: string;
    readonly enclosed: string;
    /** `{file}` stands for a name from `packFiles`. */
    readonly files: Readonly<
      Record<
        'history' | 'decisions' | 'records27560' | 'policies' | 'policyTexts' | 'evidence' | 'records' | 'about',
        string
      >
    >;
    /** How the reader checks the enclosed records: the verifier, the checkpoint, and the key of the log, which is printed below. */
    readonly verify: string;
    readonly unverified: string;
    readonly categories: string;
    /** For an opt-out, objection or withdrawal that could not be linked to a record. */
    readonly unmatched: string;
    readonly unmatchedHowTo: string;
    readonly parts: string;
    readonly part: Readonly<Record<'done' | 'partly' | 'refused', string>>;
    readonly partGround: string;
    /** The kinds of data left out of the copy because a law forbids disclosing them (LetterLaw.withholds). */
    readonly withheld: string;
    readonly withheldTypes: Readonly<Record<WithheldType, string>>;
    /** Data that such a law withholds from every requester, if nothing was left out. */
    readonly neverDisclosed: string;
    /** How long the proof of consent is kept, if the controller has set a period. Follows FamilyTexts.proof. */
    readonly proofPeriod: string;
  };
  readonly partial: { readonly lead: string };
  readonly refusal: {
    readonly lead: string;
    readonly ground: string;
    /** In a refused correction, if a law requires it (LetterLaw.refusedCorrectionTakesStatement). */
    readonly healthStatement: string;
    /** In a refused deletion, if a law requires it (LetterLaw.refusedErasureNamesOptOut). */
    readonly optOut: string;
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
    /** Listed as not stated if a law requires it and the officer wrote nothing (LetterLaw.namesSales). */
    readonly soldOrShared: string;
    /** The same for LetterLaw.namesCriteria. */
    readonly criteria: string;
    readonly parts: Readonly<Record<ProfilePart, string>>;
  };
  readonly scope: {
    readonly heading: string;
    readonly consentOnly: string;
    readonly otherSystems: string;
    /** Instead of their results, where these must not be disclosed. */
    readonly others: string;
    /** In an answer that encloses no copy. */
    readonly searched: string;
    /** Instead of `searched`, if the request contains nothing to search by. */
    readonly notSearched: string;
    /**
     * `attached` where a copy is enclosed, otherwise `found`; `searched` instead of either result where it must not be
     * disclosed.
     */
    readonly results: Readonly<
      Record<'nothing-found' | 'found' | 'attached' | 'searched' | 'not-applicable' | 'open', string>
    >;
  };
  readonly rights: { readonly heading: string; readonly remedies: string };
  /** Texts by group of laws; a group contains only what differs from `general`. No text of one group may cite a law of another. */
  readonly families: Readonly<Record<Exclude<LawFamily, 'general'>, Partial<FamilyTexts>>> & {
    readonly general: FamilyTexts;
  };
  readonly remedies: Readonly<Record<RemedyKey, readonly string[]>>;
  /**
   * Names of the files of a pack that are made to be read, without their extensions: lower-case ASCII, words joined by
   * hyphens. Those of earlier packs are in English.
   */
  readonly packFiles: Readonly<Record<'letter' | 'history' | 'policyTexts', string>>;
  /** The page on which requesters open the pack that answers them (docs/hand-over.md). */
  readonly handOver: {
    readonly title: string;
    readonly enterCode: string;
    readonly code: string;
    readonly open: string;
    readonly wrongCode: string;
    readonly invalidTitle: string;
    /** The same for every link that does not work, whatever the reason. */
    readonly invalid: string;
    readonly until: string;
    readonly received: string;
    readonly contents: string;
    /** `{file}`: the name of the letter. */
    readonly letter: string;
    readonly proofs: string;
    readonly download: string;
    /** Files handed over with the pack. */
    readonly files: string;
    readonly fileChecksum: string;
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
  /** Messages between requester and controller: on the page of the pack, and the mail that says that there is a reply. */
  readonly messages: {
    readonly replied: string;
    /** What a message of the requester may be, besides a question or an objection. */
    readonly answering: string;
    readonly mailTitle: string;
    readonly mailLead: string;
    readonly mailLink: string;
    readonly mailNoLink: string;
  };
  /** The page on which the owner of another system finishes a task, and the mail that links to it. */
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
  /** The page on which anyone can send a request (docs/request-form.md). */
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
    /** Follows the label of an optional field. */
    readonly optional: string;
    readonly use: string;
    readonly send: string;
    /** The label of the honeypot field, which only programs fill in. */
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
  /** Used if a law gives an appeal to the controller. */
  readonly appealTo: string;
  readonly authorityIs: string;
  /**
   * Texts for the officer to start from, by letter; the first is proposed if the case has none of its own. Those of an
   * answer are by kind. Only `access` and `portability` may have none: their answer is in the records.
   */
  readonly proposals: Readonly<
    Record<Exclude<LetterStep, 'acknowledgement' | 'answer' | 'no-match'>, readonly string[]>
  > & {
    readonly answer: Readonly<Record<Exclude<RequestKind, 'access' | 'portability'>, readonly string[]>>;
    /** For an answer to an access request under a law that requires naming sales and disclosures. */
    readonly know: readonly string[];
    /** The same under a law that requires naming the criteria of the processing. */
    readonly criteria: readonly string[];
    /** For a choice of somebody whose browser or device was not found: nothing that only a match would make true. */
    readonly unmatched: Readonly<Record<'objection' | 'opt-out' | 'limit' | 'withdraw-consent', readonly string[]>>;
  };
}

/** The rights that the texts of `general` list; laws.ts says which law gives which (LetterLaw.lacks). */
export const generalRights = ['rectification', 'withdraw-consent'] as const satisfies readonly RequestKind[];

/** The texts for one group of laws. */
export interface FamilyTexts {
  /** In an acknowledgement: for kinds of request that need an identity check, and for those that must not depend on one. */
  readonly acknowledgement: { readonly checked: readonly string[]; readonly unchecked: readonly string[] };
  readonly identity: string;
  /** The right by which the time is extended; absent: none is cited. */
  readonly extension?: string;
  readonly access: string;
  readonly portability: string;
  readonly noMatch: string;
  /** What an answer to this kind of request must add. */
  readonly notes: Readonly<Partial<Record<RequestKind, readonly string[]>>>;
  /** In an answer about erasure, if there is proof of this person's consent. */
  readonly proof: string;
  /** Those of `general` in the order of {@link generalRights}. */
  readonly rights: readonly string[];
  readonly notice: string;
}
