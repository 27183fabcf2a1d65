import type { DecisionFact } from '../src/core/fact.ts';
import type { ConsentState } from '../src/core/vocabulary.ts';
import { readCircumstances, readSignals } from './consent-circumstances.ts';
import { type Purposes, readPurposes } from './consent-purposes.ts';
import { isNecessary } from '../src/core/consent-judgement.ts';
import { choiceOf } from './consent-words.ts';
import type { Family } from './family.ts';
import { type FieldName, purposeFlags } from './field-names.ts';
import type { Payload } from './payload.ts';
import { readRegion } from './region.ts';
import { textOf } from './text.ts';

const fields: readonly FieldName[] = [
  'eventId',
  'occurredAt',
  'language',
  'recordId',
  'subject',
  'bannerId',
  'bannerVersion',
  'consentAction',
  'consentMethod',
  'consentDomain',
  'consentPage',
  'gpcSignal',
  'tcfSignal',
  'gppSignal',
  'uspSignal',
  'consentModeSignal',
  'consentState',
  'withdrawnFlag',
  'refusedFlag',
  'purposes',
  'grantedPurposes',
  'deniedPurposes',
  'shownPolicyId',
  'shownPolicyVersion',
  'consentCountry',
  'consentRegion',
  'consentExpiresAt',
  'withdrawnAt',
  'consentedAt',
  'consentCreatedAt',
];

/** Recorded consent choices (docs/service.md §6, consent.recorded, and §2.8, rows of the consent log; neither payload is documented). */
export const consentFamily: Family = {
  events: ['consent.recorded'],
  objects: ['consent', 'consent_record', 'consent_log', 'consent_event', 'record', 'log'],
  fields,
  alsoReads: purposeFlags,
  read: (_event, payload) => readDecision(payload, 'webhook'),
};

/** A decision out of a webhook or a pulled row; a sentence when nothing in it says who chose or what. */
export function readDecision(payload: Payload, via: DecisionFact['via']): DecisionFact | { unreadable: string } {
  const purposes = readPurposes(payload);
  const signals = readSignals(payload, purposes);
  const withdrawnAt = payload.time('withdrawnAt');
  const state = withdrawnAt === null ? readState(payload, purposes) : 'withdrawn';
  const occurred =
    state === 'withdrawn'
      ? payload.occurred('withdrawnAt', 'consentedAt', 'occurredAt', 'consentCreatedAt')
      : payload.occurred('consentedAt', 'occurredAt', 'consentCreatedAt');
  const subject = payload.text('subject');
  const ownId = payload.text('recordId');
  if (ownId === null && subject === null && state === 'unknown' && purposes.size === 0) {
    return { unreadable: 'Neither a record id nor a subject nor a choice was found in it.' };
  }
  return {
    type: 'decision',
    via,
    // Without a time nothing could match it to a pulled row anyway; the id of the event at least tells a repeat from a new choice.
    recordId: ownId ?? (occurred.basis === 'received' ? payload.text('eventId') : null),
    subject,
    bannerId: payload.text('bannerId'),
    ...readCircumstances(payload, signals),
    state,
    // Names come from outside; fromEntries makes even `__proto__` a plain property.
    purposes: Object.fromEntries(purposes),
    policyId: payload.text('shownPolicyId'),
    policyVersion: payload.text('shownPolicyVersion'),
    region: readRegion(payload, 'consentCountry', 'consentRegion'),
    language: payload.text('language'),
    expiresAt: payload.time('consentExpiresAt'),
    occurred,
  };
}

/**
 * The state overall. A stated one stands, except that `accepted` with nothing granted but what is necessary is a refusal; where only
 * "custom" or nothing is stated, the purposes decide; where they are silent too, it is unknown, which permits nothing.
 */
function readState(payload: Payload, purposes: Purposes): ConsentState {
  if (isSet(payload, 'withdrawnFlag')) return 'withdrawn';
  let stated = statedChoice(payload);
  if (stated === null && isSet(payload, 'refusedFlag')) stated = 'refused';
  if (stated !== null && stated !== 'by-purpose' && stated !== 'given' && stated !== 'renewed-given') return stated;
  const granted = [...purposes].filter(([purpose, outcome]) => outcome === 'granted' && !isNecessary(purpose)).length;
  if (stated === 'given' || stated === 'renewed-given') return purposes.size > 0 && granted === 0 ? 'refused' : stated;
  if (purposes.size === 0) return 'unknown';
  return granted > 0 ? 'given' : 'refused';
}

/** A word that says what was chosen goes before one that only says that something was. */
function statedChoice(payload: Payload): ReturnType<typeof choiceOf> {
  let weak: 'by-purpose' | null = null;
  let puzzling: string | null = null;
  for (const { value, path } of payload.each('consentState')) {
    const choice = choiceOf(value);
    if (choice === 'by-purpose') weak = choice;
    else if (choice !== null) return choice;
    else if (textOf(value) !== null) puzzling ??= path;
  }
  if (weak === null && puzzling !== null) payload.puzzle(puzzling);
  return weak;
}

function isSet(payload: Payload, flag: 'withdrawnFlag' | 'refusedFlag'): boolean {
  for (const { value } of payload.each(flag)) if (choiceOf(value) === 'given') return true;
  return false;
}
