import { ALL_PURPOSES, isNecessary, judgeChoice, type PurposeChoices } from '../../src/core/consent-judgement.ts';
import type { ConsentState } from '../../src/core/vocabulary.ts';
import type { DecodedSignals } from './decode.ts';
import { type SignalStatement, statementsOf } from './statements.ts';
import { tcfPurposeName, tcfPurposeOf } from './tcf-names.ts';

/** One point in which a signal and its record disagree. */
export interface SignalContradiction {
  /** The signal: `tcf`, `gpp.usca`, `consent_mode` … */
  readonly signal: string;
  /** The record's own name of the purpose; null: the record as a whole. */
  readonly purpose: string | null;
  /**
   * What the record says. `grants`: the signal denies it, so that consent is not proven. `refuses`: the signal has
   * consent, which never grants what the record refuses, but somebody may rely on it.
   */
  readonly record: 'grants' | 'refuses';
  /** What the signal says, in plain words, without a full stop. */
  readonly says: string;
}

/** What a record states. */
interface StatedChoice {
  readonly state: ConsentState;
  readonly purposes: PurposeChoices;
}

/**
 * Where signals contradict the purposes of their record; empty if they do not, or if none could be decoded. The rules
 * are listed in docs/assumptions.md (Signals). They are narrow: a signal is made for other readers than the record, so
 * only what cannot both be true counts. A missing opt-out is no consent and contradicts nothing.
 */
export function contradictsRecord(decoded: DecodedSignals, record: StatedChoice): readonly SignalContradiction[] {
  const statements = statementsOf(decoded);
  if (statements.length === 0) return [];
  const { stands, label } = judgeChoice([], record);
  const refused = label === 'refused' || label === 'withdrawn';
  const denied = Object.entries(record.purposes).flatMap(([purpose, choice]) => (choice === 'denied' ? [purpose] : []));
  return statements.flatMap((statement) => {
    const granted = ofGranted(statement, stands);
    return [...granted, ...ofRefused(statement, denied, refused)];
  });
}

/** The record grants, the signal does not. */
function ofGranted(statement: SignalStatement, granted: readonly string[]): readonly SignalContradiction[] {
  if (granted.length === 0) return [];
  const { from: signal, called } = statement;
  const found = granted.flatMap((purpose): SignalContradiction[] => {
    const says = purpose === ALL_PURPOSES ? deniedAsWhole(statement) : deniedIn(statement, purpose);
    return says === null
      ? []
      : [{ signal, purpose: purpose === ALL_PURPOSES ? null : purpose, record: 'grants', says: `${called} ${says}` }];
  });
  // One sentence about everything instead of one for each purpose; the consent mode is compared by its fields only.
  return statement.consent === 'none' && statement.from !== 'consent_mode'
    ? [{ signal, purpose: null, record: 'grants', says: `${called} has no consent for any purpose` }]
    : found;
}

/** What a signal says against consent that names no purposes, and so covers all of them. */
function deniedAsWhole({ consent, general, sale, sharing, targetedAdvertising }: SignalStatement): string | null {
  // Any other signal without consent was reported as a whole.
  if (consent === 'none') return 'says denied for advertising and analytics';
  if (general) return null;
  if (sale === 'opted-out') return optedOut.sale;
  if (sharing === 'opted-out') return optedOut.sharing;
  return targetedAdvertising === 'opted-out' ? optedOut.targetedAdvertising : null;
}

const optedOut = {
  sale: 'says that the visitor opted out of the sale of personal data',
  sharing: 'says that the visitor opted out of the sharing of personal data',
  targetedAdvertising: 'says that the visitor opted out of targeted advertising',
} as const;

/** What a signal says against a purpose by this name; null: nothing. */
function deniedIn(statement: SignalStatement, purpose: string): string | null {
  const { sale, sharing, targetedAdvertising, purposes, interestOnly } = statement;
  if (sale === 'opted-out' || sharing === 'opted-out' || targetedAdvertising === 'opted-out') {
    const about = kindOf(purpose);
    if (about !== null) return statement[about] === 'opted-out' ? optedOut[about] : null;
    // Who opted out of a sale or of sharing in so many words did not consent to advertising, which is what data is sold and shared for.
    if (statement.general || modeFieldOf(purpose) !== 'ad_storage') return null;
    return sale === 'opted-out'
      ? optedOut.sale
      : sharing === 'opted-out'
        ? optedOut.sharing
        : optedOut.targetedAdvertising;
  }
  const named = namedIn(statement, purpose);
  if (named === null || purposes.get(named) !== 'denied') return null;
  if (!named.startsWith(TCF)) return `says ${named}: denied`;
  const number = Number(named.slice(TCF.length));
  const interest = interestOnly.includes(number) ? ', only legitimate interest, which is not consent' : '';
  return `has no consent for purpose ${tcfPurposeName(number, 4)}${interest}`;
}

const TCF = 'tcf.';

/** The purpose of the signal that a record means by this name; null: none, or one of which the signal says nothing. */
function namedIn({ from, purposes }: SignalStatement, purpose: string): string | null {
  if (purposes.size === 0) return null;
  if (from === 'consent_mode') return modeFieldOf(purpose);
  const number = tcfPurposeOf(purpose);
  return number === null ? null : `${TCF}${number}`;
}

/** The record refuses, the signal has consent. */
function ofRefused(
  statement: SignalStatement,
  denied: readonly string[],
  refused: boolean,
): readonly SignalContradiction[] {
  const { from: signal, called, purposes, consent } = statement;
  if (refused && consent === 'some' && signal !== 'consent_mode')
    return [{ signal, purpose: null, record: 'refuses', says: `${called} has consent for ${consentedIn(purposes)}` }];
  return denied.flatMap((purpose): SignalContradiction[] => {
    const named = namedIn(statement, purpose);
    if (named === null || purposes.get(named) !== 'granted') return [];
    const says = named.startsWith(TCF)
      ? `has consent for purpose ${tcfPurposeName(Number(named.slice(TCF.length)), 4)}`
      : `says ${named}: granted`;
    return [{ signal, purpose, record: 'refuses', says: `${called} ${says}` }];
  });
}

function consentedIn(purposes: SignalStatement['purposes']): string {
  const numbers = [...purposes].flatMap(([name, choice]) => (choice === 'granted' ? [name.slice(TCF.length)] : []));
  if (numbers.length === 0) return 'some of what it lists';
  return `${numbers.length === 1 ? 'purpose' : 'purposes'} ${numbers.join(', ')}`;
}

/** Names are compared by their letters only. */
const lettersOf = (name: string) =>
  name
    .toLowerCase()
    .replaceAll('z', 's')
    .replace(/[^a-z]+/g, '');

/** Whole names, because a part of one says little: `sale alerts` is not the sale of data. */
const kinds = new Map<string, keyof typeof optedOut>([
  ...wholeNames(
    'sale',
    'sale|sell|selling|data sale|data sales|data selling|sale of data|sell data|sale of personal data|' +
      'sale of personal information|sell personal data|sell personal information|selling of personal data|' +
      'selling of personal information|sale of my data|sale of info|ccpa sale|sell or share|sale or sharing|' +
      'sale and sharing|sale sharing|sale or share|sell share|sale of personal data and sharing|spd bg|sspd bg',
  ),
  ...wholeNames(
    'sharing',
    'share|sharing|data sharing|share data|sharing of data|sharing of personal data|' +
      'sharing of personal information|share personal data|share personal information|third party sharing|' +
      'data sharing with third parties|sharing with third parties|cross context behavioral advertising|' +
      'cross context behavioural advertising',
  ),
  ...wholeNames(
    'targetedAdvertising',
    'targeted advertising|targeted ads|targeted advertisement|targeting|targeting cookies|targeting advertising|' +
      'behavioral advertising|behavioural advertising|interest based advertising|interest based ads|' +
      'personalised advertising|personalised ads',
  ),
]);

function wholeNames<const K extends string>(kind: K, names: string): readonly (readonly [string, K])[] {
  return names.split('|').map((name) => [lettersOf(name), kind] as const);
}

function kindOf(purpose: string) {
  return kinds.get(lettersOf(purpose)) ?? null;
}

/** Fields of Google's consent mode under which platforms report these purposes to Google. */
const modeFields = new Map<string, string>([
  ...wholeNames('ad_storage', 'ad storage|advertising|advertisement|advertisements|ads|marketing|targeting'),
  ...wholeNames('ad_storage', 'advertising cookies|marketing cookies|targeting cookies|targeted advertising'),
  ...wholeNames('analytics_storage', 'analytics storage|analytics|analytical|statistics|statistic'),
  ...wholeNames('analytics_storage', 'analytics cookies|analytical cookies|statistics cookies'),
  ...wholeNames('ad_user_data', 'ad user data'),
  ...wholeNames('ad_personalization', 'ad personalization'),
  ...wholeNames('functionality_storage', 'functionality storage'),
  ...wholeNames('personalization_storage', 'personalization storage'),
]);

function modeFieldOf(purpose: string): string | null {
  return isNecessary(purpose) ? null : (modeFields.get(lettersOf(purpose)) ?? null);
}
