import type { RequestKind } from '../../src/core/vocabulary.ts';

/** How an answer speaks under a law. Rows are data; nothing else in the pack branches on the name of a law. */
export interface Wording {
  /** The law as the letter names it. */
  readonly law: string;
  /** The right to a copy, with its place in the law. */
  readonly access: string;
  /** What the law wants said when nobody could be linked. */
  readonly noMatch: string;
  readonly rights: readonly string[];
  /** Where to complain, unless the profile names an authority. */
  readonly complaint: string;
  /** What stays out of the answer whoever asks; null: nothing. */
  readonly never: string | null;
}

const gdprRights = (prefix: string): readonly string[] => [
  `You may ask us to rectify or erase your personal data, or to restrict its processing (${prefix}Art. 16, 17, 18).`,
  `You may object to processing that rests on a public task or on legitimate interests (${prefix}Art. 21).`,
  `You may withdraw your consent at any time. That does not affect what was lawful before (${prefix}Art. 7(3)).`,
  `You may receive data that you gave us in a machine-readable form (${prefix}Art. 20); the files of this answer are in such a form.`,
];

const wordings: Readonly<Record<string, Wording>> = {
  'eu-gdpr': {
    law: 'the General Data Protection Regulation (GDPR)',
    access: 'Art. 15 GDPR',
    noMatch: 'Art. 11(2) GDPR',
    rights: gdprRights(''),
    complaint:
      'You may complain to a supervisory authority, in particular in the member state where you live or work or where you see the infringement (Art. 77), and go to court (Art. 79).',
    never: null,
  },
  'uk-gdpr': {
    law: 'the UK General Data Protection Regulation (UK GDPR)',
    access: 'Art. 15 UK GDPR',
    noMatch: 'Art. 11(2) UK GDPR',
    rights: gdprRights('UK GDPR '),
    complaint: 'You may complain to us and to the Information Commissioner, and go to court.',
    never: null,
  },
  'us-ca': {
    law: 'the California Consumer Privacy Act (CCPA)',
    access: 'Civil Code 1798.110 and 11 CCR 7024',
    noMatch: '11 CCR 7024',
    rights: [
      'You may ask us to delete or correct personal information that we collected about you.',
      'You may opt out of the sale and sharing of your personal information and limit the use of sensitive information. We do not ask you to prove your identity for that.',
      'We do not treat you worse because you use these rights.',
    ],
    complaint: 'You may complain to the California Privacy Protection Agency or to the Attorney General of California.',
    never:
      'This answer never contains social security, driver’s licence or other government identification numbers, account numbers, health insurance or medical identification numbers, passwords, security questions and answers, or biometric data, whether or not such data is held (11 CCR 7024(d)).',
  },
  'br-lgpd': {
    law: 'the Lei Geral de Proteção de Dados (LGPD)',
    access: 'Art. 18 and 19 LGPD',
    noMatch: 'Art. 19 LGPD',
    rights: [
      'You may ask for confirmation, access, correction, anonymisation, portability and deletion, and withdraw your consent (Art. 18 LGPD).',
    ],
    complaint: 'You may petition the national authority (ANPD).',
    never: null,
  },
  'ca-pipeda': {
    law: 'the Personal Information Protection and Electronic Documents Act (PIPEDA)',
    access: 'Schedule 1, principle 4.9 PIPEDA',
    noMatch: 'Schedule 1, principle 4.9 PIPEDA',
    rights: [
      'You may challenge the accuracy and completeness of the information and have it amended.',
      'You may withdraw your consent, subject to legal or contractual restrictions and reasonable notice.',
    ],
    complaint: 'You may complain to the Privacy Commissioner of Canada.',
    never: null,
  },
};

const stateAct: Wording = {
  law: 'the privacy act of your state',
  access: 'the right to confirm and access',
  noMatch: 'the privacy act of your state',
  rights: [
    'You may ask us to correct or delete your personal data, to give you a portable copy, and to stop targeted advertising, sale and certain profiling.',
    'If we decline to act on your request, you may appeal to us; our answer then says how.',
  ],
  complaint: 'If an appeal is denied, you may complain to the Attorney General of your state.',
  never: null,
};

const elsewhere: Wording = {
  law: 'the law that applies to your request',
  access: 'your right of access',
  noMatch: 'the law that applies to your request',
  rights: ['You may ask us to correct your data, and withdraw a consent that you gave.'],
  complaint: 'You may complain to the authority that is responsible for data protection.',
  never: null,
};

/** The wording of a regime. A regime without one of its own gets one that promises nothing particular. */
export function wordingOf(regime: string): Wording {
  return wordings[regime] ?? (regime.startsWith('us-') ? stateAct : elsewhere);
}

const asked: Readonly<Record<RequestKind, string>> = {
  access: 'asked us for access to your personal data',
  portability: 'asked us for a copy of your personal data in a machine-readable form',
  erasure: 'asked us to erase your personal data',
  rectification: 'asked us to correct your personal data',
  restriction: 'asked us to restrict the processing of your personal data',
  objection: 'objected to the processing of your personal data',
  'opt-out': 'opted out of the sale or sharing of your personal information',
  limit: 'asked us to limit the use of your sensitive personal information',
  'withdraw-consent': 'withdrew your consent',
  unknown: 'sent us a request about your personal data',
};

/** What the person did, after “you”. */
export function askedFor(kind: string): string {
  return (asked as Readonly<Record<string, string>>)[kind] ?? asked.unknown;
}

/** Whether a kind of request is answered with information and a copy. */
export function wantsInformation(kind: string): boolean {
  return kind === 'access' || kind === 'portability' || kind === 'unknown';
}
