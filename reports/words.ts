import { type Judged, parsePurposes } from '../src/core/consent-judgement.ts';
import type { RequestKind } from '../src/core/vocabulary.ts';
import type { DocumentInput } from './report.ts';

/**
 * Words for the labels of decisions (the states of ISO/IEC TS 27560 and those by purpose), in the order in which they
 * are listed and stacked.
 */
export const stateWords: readonly { readonly state: Judged; readonly word: string; readonly colour: string }[] = [
  { state: 'given', word: 'Given', colour: '#1f5a92' },
  { state: 'renewed-given', word: 'Given again', colour: '#4a8fc4' },
  { state: 'partly-given', word: 'Partly given', colour: '#8fb8d8' },
  { state: 'refused', word: 'Refused', colour: '#b8730a' },
  { state: 'withdrawn', word: 'Withdrawn', colour: '#a61c3c' },
  { state: 'partly-withdrawn', word: 'Partly withdrawn', colour: '#d0708a' },
  { state: 'disputed', word: 'Disputed', colour: '#2b2b2b' },
  { state: 'expired', word: 'Expired', colour: '#6d5f8d' },
  { state: 'terminated', word: 'Terminated', colour: '#4f4f4f' },
  { state: 'invalidated', word: 'Invalidated', colour: '#7a4419' },
  { state: 'requested', word: 'Requested', colour: '#2a7f62' },
  { state: 'request-deferred', word: 'Request deferred', colour: '#5b8a72' },
  { state: 'unknown', word: 'Not recognised', colour: '#858b93' },
];

export function stateWord(state: string): string {
  return stateWords.find((known) => known.state === state)?.word ?? state;
}

/** A state's position in lists. */
export function stateOrder(state: string): number {
  const place = stateWords.findIndex((known) => known.state === state);
  return place < 0 ? stateWords.length : place;
}

export const viaWords: Readonly<Record<string, string>> = {
  webhook: 'Delivery (webhook)',
  pull: 'Consent log (pull)',
  request: 'Request of the data subject',
};

export const notStated = 'not stated';

/** A banner by name with its id, or by id if it has no name. */
export function bannerWord(bannerId: string | null, { bannerNames }: Pick<DocumentInput, 'bannerNames'>): string {
  if (bannerId === null) return notStated;
  const name = bannerNames?.get(bannerId);
  return name === undefined ? bannerId : `${name} (${bannerId})`;
}

const kindWords: Readonly<Record<RequestKind, string>> = {
  access: 'Access',
  portability: 'Portability',
  erasure: 'Erasure',
  rectification: 'Rectification',
  restriction: 'Restriction',
  objection: 'Objection',
  'opt-out': 'Opt-out',
  limit: 'Limit use of sensitive data',
  'withdraw-consent': 'Withdrawal of consent',
  unknown: 'Unclear request',
};

/** The word for a kind of request. */
export function kindWord(kind: string): string {
  return (kindWords as Readonly<Record<string, string>>)[kind] ?? kind;
}

/** The words for several kinds of request: `Erasure + Access`. */
export function kindsWord(kinds: readonly string[]): string {
  return kinds.map(kindWord).join(' + ');
}

const caseStateWords: Readonly<Record<string, string>> = {
  opened: 'new',
  'waiting-identity': 'waiting for identification',
  'waiting-clarification': 'waiting for clarification',
  'in-progress': 'in progress',
  ready: 'ready to answer',
};

/** The word for a case state within a sentence. */
export function caseStateWord(state: string): string {
  return caseStateWords[state] ?? state;
}

/** `granted: analytics; denied: marketing`. */
export function purposesInWords(purposes: string): string {
  const chosen = Object.entries(parsePurposes(purposes));
  const named = (answer: string) => chosen.filter(([, given]) => given === answer).map(([purpose]) => purpose);
  const [granted, denied] = [named('granted'), named('denied')];
  return (
    [
      granted.length > 0 ? `granted: ${granted.join(', ')}` : '',
      denied.length > 0 ? `denied: ${denied.join(', ')}` : '',
    ]
      .filter(Boolean)
      .join('; ') || 'none named'
  );
}

/** How a delivery was read, in words. */
export const readWords: Readonly<Record<string, string>> = {
  read: 'read',
  'unknown-event': 'kept, not read',
  unreadable: 'quarantine',
};

/** The result of a delivery's signature check, in words. */
export function verdictWord(verdict: string): string {
  switch (verdict) {
    case 'verified':
      return 'verified';
    case 'verified-headers-disagree':
      return 'verified, headers disagree';
    case 'verified-late':
      return 'verified later (readmitted)';
    default:
      return verdict;
  }
}
