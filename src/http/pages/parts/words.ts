import { counted } from '../../../../reports/format.ts';
import type { LetterStep } from '../../../../reports/letters/texts.ts';
import { visibleText } from '../../../../reports/render/text.ts';
import { kindsWord, kindWord } from '../../../../reports/words.ts';
import type { Match } from '../../../cases/match-subject.ts';
import { type CaseView, identityCheckOf } from '../../../cases/view.ts';
import type { Choice as ConsentChoice } from '../../../core/consent-judgement.ts';
import type { Role } from '../../../core/roles.ts';
import type { HandOverState } from '../../../hand-over/hand-over.ts';
import { datelessText } from '../../../law/not-recorded.ts';
import type { BannerStatus } from '../../../sync/status.ts';

/** The colour of a word. Colour is never the only distinction. */
export type Tone = 'calm' | 'good' | 'warn' | 'bad';
export interface Worded {
  readonly text: string;
  readonly tone: Tone;
}

/** A kind of request, for people. */
export const kindText = kindWord;

/** All rights of a request, for people. */
export const kindsText = kindsWord;

/** A word with hyphens as a phrase: `waiting-identity` → `Waiting identity`. */
export function phrase(word: string): string {
  const text = word.replaceAll('-', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const stateTexts: Readonly<Record<string, string>> = {
  opened: 'New',
  acknowledged: 'Receipt confirmed',
  'waiting-identity': 'Waiting for identification',
  'waiting-clarification': 'Waiting for clarification',
  'in-progress': 'In progress',
  ready: 'Ready to answer',
};

/** A state of a case, for people. */
export function stateText(state: string): string {
  return stateTexts[state] ?? phrase(state);
}

/** How near the legal limit is, in words. */
export function dueText(view: Pick<CaseView, 'daysLeft' | 'overdue' | 'open' | 'deadline'>): Worded {
  const { daysLeft, overdue, open, deadline } = view;
  if (open && deadline.limit === null)
    return deadline.placeMissing
      ? { text: 'no deadline yet: choose the place', tone: 'bad' }
      : { text: datelessText(deadline) ?? '', tone: deadline.unrecorded.length > 0 ? 'bad' : 'warn' };
  if (open && deadline.atOnce && !overdue) return { text: 'due immediately', tone: 'bad' };
  if (daysLeft === null) return { text: 'settled', tone: 'calm' };
  if (overdue) return { text: `overdue by ${days(-daysLeft)}`, tone: 'bad' };
  if (daysLeft === 0) return { text: 'due today', tone: 'bad' };
  return { text: `in ${days(daysLeft)}`, tone: daysLeft <= 7 ? 'warn' : 'calm' };
}

/** The state of the identity check, in words. */
export function identityText(view: Pick<CaseView, 'identity' | 'deadline' | 'folded'>): Worded {
  if (view.identity === 'failed') return { text: 'not confirmed', tone: 'bad' };
  const check = identityCheckOf(view.folded, view.deadline);
  // A law that requires a check does not ask whether there is doubt.
  if (view.identity === 'needed' && (check === 'not-looked-at' || check === 'no-doubt'))
    return { text: 'to check', tone: 'warn' };
  return identityTexts[check];
}

const identityTexts: Readonly<Record<ReturnType<typeof identityCheckOf>, Worded>> = {
  'not-allowed': { text: 'no check allowed', tone: 'calm' },
  'not-looked-at': { text: 'not looked at', tone: 'calm' },
  'no-doubt': { text: 'no reasonable doubt', tone: 'good' },
  asked: { text: 'requested', tone: 'warn' },
  confirmed: { text: 'confirmed', tone: 'good' },
  failed: { text: 'not confirmed', tone: 'bad' },
  recheck: { text: 'check again', tone: 'warn' },
};

/** How the requester was found in the consent records, in words. */
export function matchText(match: Match): Worded {
  const found = `${match.decisions} ${match.decisions === 1 ? 'decision' : 'decisions'}`;
  switch (match.status) {
    case 'from-device':
    case 'computed':
      return { text: found, tone: 'good' };
    case 'shared':
      return { text: `${found}, shared address`, tone: 'warn' };
    case 'none':
      return { text: 'unmatched', tone: 'warn' };
  }
}

/** The state of a banner's pull, in words. */
export function syncText(state: BannerStatus['state']): Worded {
  switch (state) {
    case 'up-to-date':
      return { text: 'up to date', tone: 'good' };
    case 'running':
      return { text: 'being pulled', tone: 'calm' };
    case 'interrupted':
      return { text: 'interrupted: continues with the next run', tone: 'warn' };
    case 'failing':
      return { text: 'failing', tone: 'bad' };
    case 'never-pulled':
      return { text: 'never pulled: a gap', tone: 'warn' };
    case 'dismissed':
      return { text: 'dismissed', tone: 'calm' };
  }
}

const receiptTexts: Readonly<Record<CaseView['row']['receipt_basis'], string>> = {
  payload: 'as reported by the service',
  received: 'arrival of the notice; no earlier receipt known',
  officer: 'as recorded by an officer',
  form: 'arrival of the request form',
  'assumed-offset': 'as reported by the service, UTC offset assumed',
};

/** The basis of the receipt, in words. */
export function receiptText(basis: CaseView['row']['receipt_basis']): string {
  return receiptTexts[basis];
}

/** `1 day`, `3 days`. */
function days(count: number): string {
  return `${count} ${count === 1 ? 'day' : 'days'}`;
}

const letterTexts: Readonly<Record<LetterStep, string>> = {
  acknowledgement: 'Acknowledgement of receipt',
  identity: 'Request for proof of identity',
  clarification: 'Question about the request',
  extension: 'Extension of time',
  answer: 'Answer',
  partial: 'Answer, granted in part',
  refusal: 'Refusal',
  'no-match': 'Answer without a match',
  notice: 'Notice to a recipient of the data',
  appeal: 'Decision on an appeal',
};

/** A letter, for officers. */
export function letterText(step: LetterStep): string {
  return letterTexts[step];
}

/** `1 byte`, `812 bytes`, `34 kB`, `1.2 MB` (of 1000). */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return counted(bytes, 'byte', 'bytes');
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Names of roles on pages. */
export const roleTexts: Readonly<Record<Role, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  officer: 'Officer',
  auditor: 'Auditor',
};

/** The sources that a person may see. */
export function reachText(sources: readonly string[] | null): string {
  return sources === null ? 'every source' : sources.join(', ');
}

/** The state of a link to a pack. */
export function handOverText(state: HandOverState): Worded {
  switch (state) {
    case 'open':
      return { text: 'valid', tone: 'good' };
    case 'locked':
      return { text: 'locked by wrong codes', tone: 'bad' };
    case 'expired':
      return { text: 'expired', tone: 'calm' };
    case 'revoked':
      return { text: 'revoked', tone: 'calm' };
    case 'withheld':
      return { text: 'withheld: the request is being worked on', tone: 'warn' };
  }
}

/** The number of a source's signing secrets, and how many of them will expire. */
export function secretsText(count: number, ending: number): Worded {
  if (count === 0) return { text: 'none: nothing is accepted', tone: 'bad' };
  if (ending === 0) return { text: count === 1 ? '1 valid' : `${count} valid`, tone: 'good' };
  return ending === count
    ? { text: `${count} valid, all expiring`, tone: 'bad' }
    : { text: `${count} valid, ${ending} expiring`, tone: 'warn' };
}

/** What to do about a refused delivery, for people who use a browser. */
export function remedyText({ code, remedy }: { readonly code: string; readonly remedy: string }): string {
  switch (code) {
    case 'verifies':
      return 'Choose “Verify again” under Refused deliveries: it enters the ledger with its time of arrival.';
    case 'no-secret':
      return 'Add the signing secret that the service shows for this webhook.';
    case 'old-secret':
      return 'Add the old secret again until the service signs with the new one.';
    case 'secret-encoded':
      return 'Add the secret again, and choose its encoding.';
    default:
      return visibleText(remedy);
  }
}

/** A visitor's choice, as judged by all its records. */
export const consentChoiceTexts: Readonly<Record<ConsentChoice, string>> = {
  given: 'given',
  'partly-given': 'partly given',
  refused: 'refused',
  withdrawn: 'withdrawn',
};
