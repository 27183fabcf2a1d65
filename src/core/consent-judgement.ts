import type { ConsentState } from './vocabulary.ts';

/**
 * What a decision amounts to, judged purpose by purpose with what the same subject had granted on the same banner before.
 * The states of ISO/IEC TS 27560 and the two that a choice by purpose needs besides. A payload states a state; this program judges a label.
 */
export const consentLabels = [
  'given',
  'renewed-given',
  'partly-given',
  'refused',
  'withdrawn',
  'partly-withdrawn',
  'expired',
  'terminated',
  'invalidated',
  'requested',
  'request-deferred',
  'unknown',
] as const;
export type ConsentLabel = (typeof consentLabels)[number];

/**
 * A label, or `disputed`: the records of the decision contradict each other. Such a decision is never counted as granted, since the
 * controller has to be able to demonstrate consent (GDPR Art. 7(1)).
 */
export type Judged = ConsentLabel | 'disputed';

/** Stands for every purpose that a decision does not name: "accept all" without a list. */
export const ALL_PURPOSES = '*';

export type PurposeChoices = Readonly<Record<string, 'granted' | 'denied'>>;

/** What a record says: the state it states and the choice for each purpose it names. */
export interface SaidChoice {
  readonly state: ConsentState;
  readonly purposes: PurposeChoices;
}

export interface Judgement {
  readonly label: ConsentLabel;
  /** Purposes whose consent this decision withdraws, sorted; `*` for consent that named none. */
  readonly withdraws: readonly string[];
  /** Purposes granted once it has been made, sorted; necessary ones are never among them. */
  readonly stands: readonly string[];
}

const necessary = new Set([
  'necessary',
  'strictlynecessary',
  'essential',
  'strictlyessential',
  'required',
  'mandatory',
  'technical',
  'technicallynecessary',
  'necessarycookies',
  'essentialcookies',
  'strictlynecessarycookies',
  'requiredcookies',
  'securitystorage',
]);

/** Whether a purpose needs no consent (ePrivacy Directive Art. 5(3)): naming it as granted is not consent to anything. */
export function isNecessary(purpose: string): boolean {
  return necessary.has(purpose.toLowerCase().replace(/[^a-z0-9]+/g, ''));
}

/**
 * Judges a decision. `before`: what the subject's earlier decisions on the banner left standing ({@link Judgement.stands}).
 *
 * - Named purposes decide. A denied purpose that was granted before is withdrawn; others that are denied are refused.
 * - A refusal or withdrawal that names no denied purpose denies all of them, and grants nothing whatever else it names.
 * - A stated withdrawal that also names granted purposes is one in part only if it denies a purpose that was granted before.
 * - A stated withdrawal of purposes of which no earlier consent is known withdraws what it names: the consent is older than the records.
 * - Consent without named purposes is consent to all of them, and what it granted can be withdrawn purpose by purpose.
 * - What expired, was terminated or invalidated leaves nothing standing; a request for consent and an unknown choice change nothing.
 */
export function judgeChoice(before: readonly string[], said: SaidChoice): Judgement {
  const { state } = said;
  const { granted, denied } = splitChoices(said.purposes);
  switch (state) {
    case 'expired':
    case 'terminated':
    case 'invalidated':
      return { label: state, withdraws: [], stands: [] };
    case 'requested':
    case 'request-deferred':
    case 'unknown':
      return { label: state, withdraws: [], stands: before };
    case 'given':
    case 'renewed-given':
      if (Object.keys(said.purposes).length === 0) {
        return { label: state, withdraws: [], stands: sorted([...before, ALL_PURPOSES]) };
      }
      if (granted.length + denied.length === 0) return deniedAll(before, 'refused', []);
      break;
    case 'refused':
      if (denied.length === 0) return deniedAll(before, 'refused', []);
      break;
    case 'withdrawn':
      if (denied.length === 0) return deniedAll(before, 'withdrawn', granted);
  }
  const held = before.includes(ALL_PURPOSES) ? denied : denied.filter((purpose) => before.includes(purpose));
  // Beside a stated withdrawal, granted purposes may be what had been granted: unless a purpose that was granted is denied, all of it ends.
  if (state === 'withdrawn' && granted.length > 0 && held.length === 0) {
    return deniedAll(before, 'withdrawn', [...granted, ...denied]);
  }
  const withdraws = state === 'withdrawn' && held.length === 0 ? denied : held;
  const kept = before.filter((purpose) => purpose !== ALL_PURPOSES && !denied.includes(purpose));
  const stands = sorted([...kept, ...granted]);
  if (withdraws.length > 0) {
    return { label: stands.length > 0 ? 'partly-withdrawn' : 'withdrawn', withdraws: sorted(withdraws), stands };
  }
  if (granted.length === 0) return { label: 'refused', withdraws: [], stands };
  if (denied.length > 0) return { label: 'partly-given', withdraws: [], stands };
  return { label: state === 'renewed-given' ? state : 'given', withdraws: [], stands };
}

function deniedAll(before: readonly string[], word: 'refused' | 'withdrawn', named: readonly string[]): Judgement {
  const withdraws = sorted([...before, ...named]);
  return { label: withdraws.length > 0 ? 'withdrawn' : word, withdraws, stands: [] };
}

export type PurposeOutcome = 'granted' | 'refused' | 'withdrawn';

/** What a judged decision means for each purpose that needs consent. Purposes without a choice are not in it. */
export function outcomesOf(said: SaidChoice, withdraws: readonly string[]): ReadonlyMap<string, PurposeOutcome> {
  const outcomes = new Map<string, PurposeOutcome>();
  const { granted, denied } = splitChoices(said.purposes);
  switch (said.state) {
    case 'expired':
    case 'terminated':
    case 'invalidated':
    case 'requested':
    case 'request-deferred':
    case 'unknown':
      return outcomes;
    case 'given':
    case 'renewed-given':
    case 'refused':
    case 'withdrawn':
  }
  const refusal = (said.state === 'refused' || said.state === 'withdrawn') && denied.length === 0;
  for (const purpose of granted) outcomes.set(purpose, refusal ? 'refused' : 'granted');
  for (const purpose of denied) outcomes.set(purpose, 'refused');
  for (const purpose of withdraws) if (purpose !== ALL_PURPOSES) outcomes.set(purpose, 'withdrawn');
  return outcomes;
}

/** Purposes that need no consent and that a decision names. */
export function necessaryIn(purposes: PurposeChoices): readonly string[] {
  return Object.keys(purposes).filter(isNecessary).sort();
}

function splitChoices(purposes: PurposeChoices): { granted: string[]; denied: string[] } {
  const granted: string[] = [];
  const denied: string[] = [];
  for (const [purpose, choice] of Object.entries(purposes)) {
    if (isNecessary(purpose)) continue;
    (choice === 'granted' ? granted : denied).push(purpose);
  }
  return { granted, denied };
}

function sorted(purposes: readonly string[]): readonly string[] {
  return [...new Set(purposes)].sort();
}
