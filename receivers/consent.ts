import { type Doubt, isNecessary, type PurposeChoice, type PurposeChoices } from '../src/core/consent-judgement.ts';
import type { ConsentState } from '../src/core/vocabulary.ts';
import { choiceMeant } from './choice-words.ts';
import { assentIn, dissentIn } from './consent-dissent.ts';
import { namesPreferencesOnly } from './consent-events.ts';
import { fieldsOf, placeOf, roleOf } from './consent-names.ts';
import { readPurposes, shortly, unwrapConsent } from './consent-purposes.ts';
import { ITS_TIME, readStatements, type Statements, stateOf } from './consent-statements.ts';
import { readTimes } from './consent-times.ts';
import { emptyAct } from './consent-unacted.ts';
import { consentModeFields, type FieldName, fieldsOfFamilies, purposeFlags } from './field-names.ts';
import { normaliseName } from './field-table.ts';
import type { Occurred } from './occurred.ts';
import { clean, isJsonObject, textOf } from './parse.ts';
import type { Family, Payload } from './payload.ts';
import { platformOf } from './platforms.ts';
import { readRegion } from './region.ts';
import { contradictsRecord } from './signals/contradictions.ts';
import { decodeSignals } from './signals/decode.ts';

/** One recorded consent choice, from a webhook or a pulled row. */
export interface DecisionFact {
  readonly type: 'decision';
  readonly via: 'webhook' | 'pull';
  /** The service's own id of the record, if given. */
  readonly recordId: string | null;
  /** The hashed identifier of the visitor, as received. */
  readonly subject: string | null;
  readonly bannerId: string | null;
  readonly bannerVersion: string | null;
  /** As stated in the record; the label is judged with the subject's history (consent-judgement.ts). */
  readonly state: ConsentState;
  /** Empty if it says clearly what was chosen. */
  readonly doubts: readonly Doubt[];
  /** The record's own word for what the visitor did: `accept_all`, `save_preferences`. */
  readonly action: string | null;
  /** How consent was asked for: `banner`, `preference-centre`. */
  readonly method: string | null;
  /** Host of the site, lower case. */
  readonly domain: string | null;
  /** Where the choice was made: origin and path, never the query, which may contain personal data. */
  readonly page: string | null;
  /** Accompanying statements that are not purposes: Global Privacy Control, an IAB TCF string, fields of Google's consent mode. */
  readonly signals: Readonly<Record<string, string>>;
  /** The choice for each purpose. Empty if the payload names none. */
  readonly purposes: PurposeChoices;
  readonly policyId: string | null;
  readonly policyVersion: string | null;
  readonly region: string | null;
  readonly language: string | null;
  /** ISO 8601 UTC, if the record says until when it is valid. */
  readonly expiresAt: string | null;
  readonly occurred: Occurred;
}

const DOCUMENTED = 'consent.recorded';

/** Recorded consent choices (docs/service.md §6, consent.recorded, and §2.8, rows of the consent log; neither payload is documented). */
export const consentFamily: Family<DecisionFact> = {
  type: 'decision',
  events: [DOCUMENTED],
  objects: [
    'consent',
    'consent_record',
    'consent_log',
    'consent_event',
    'consent_data',
    'consent_receipt',
    'cookie_consent',
    'user_consent',
    'tracking_consent',
    'consents',
    'context',
    'receipt',
    'request',
    'consent_management',
    'properties',
    'cookie',
    // gtag('consent', 'update', {…})
    '2',
    'record',
    'log',
    'cookies',
    'value',
    'gdpr',
    'ccpa',
    'usnat',
    'current_consent',
    'einwilligung',
    'zustimmung',
    'consentement',
    'consentimiento',
    'consenso',
    'toestemming',
    'consentimento',
    'zgoda',
    'samtycke',
    'samtykke',
    'suostumus',
    'souhlas',
  ],
  fields: fieldsOfFamilies('every', 'decision'),
  alsoReads: purposeFlags,
  unwrap: unwrapConsent,
  nameSays: placeOf,
  read: (event, payload) => readDecision(payload, 'webhook', event === DOCUMENTED ? null : event),
  eventIdOf: ({ recordId }) => recordId,
};

/**
 * A decision from a webhook or a pulled row; a sentence if it says neither who chose nor what. `event`: the name of an event that the service does
 * not document, whose content must say what was chosen unless its name does; null: documented.
 */
export function readDecision(
  payload: Payload,
  via: DecisionFact['via'],
  event: string | null = null,
): DecisionFact | { unreadable: string } {
  const platform = platformOf(payload);
  const fields = fieldsOf(payload);
  const purposes = readPurposes(payload, fields, platform);
  const { choices } = purposes;
  const signals = readSignals(payload, choices);
  const told = readStatements(payload, fields, platform, purposes, event);
  if (told.whole.length === 0 && !told.withdrawn) takeGpc(signals, choices);
  const times = readTimes(payload, fields, told);
  const stated = stateOf(
    payload,
    {
      ...told,
      whole:
        told.whole.length === 0 && choices.size === 0 && times.grants
          ? [{ choice: 'given', at: ITS_TIME }]
          : told.whole,
      withdrawn: told.withdrawn || times.withdrawnAt !== null,
    },
    platform?.refusalKeepsNecessary,
  );
  const judged = unlessNobodyActed(
    besideDissent(besideSignals(stated, choices, signals), payload, told),
    payload,
    told,
    {
      dated: times.dated,
      signals,
    },
  );
  for (const path of purposes.unread) payload.puzzle(path);
  const subject = payload.text('subject');
  const ownId = payload.text('recordId');
  const saysNothing =
    judged.state === 'unknown' && choices.size === 0 && judged.doubts.length === 0 && Object.keys(signals).length === 0;
  if (saysNothing && told.whole.length === 0 && (event !== null || (ownId === null && subject === null))) {
    return { unreadable: 'It contains neither a record id nor a subject nor a choice.' };
  }
  if (event !== null && namesPreferencesOnly(event) && choices.size > 0 && ![...choices.keys()].some(isOfConsent))
    return { unreadable: 'Its preferences name no purpose that is known.' };
  const occurred = judged.state === 'withdrawn' ? (times.withdrawnAt ?? times.decidedAt) : times.decidedAt;
  return {
    type: 'decision',
    via,
    // Without a time it cannot be matched to a pulled row; but the event's id at least distinguishes a repeat from a
    // new choice.
    recordId: ownId ?? (occurred.basis === 'received' ? payload.text('eventId') : null),
    subject,
    bannerId: payload.text('bannerId'),
    ...readCircumstances(payload, times.firstAt === null ? signals : { ...signals, first_consent_at: times.firstAt }),
    state: judged.state,
    doubts: judged.doubts.map(({ reason, fields: concerned }) => ({ reason, fields: concerned.map(clean) })),
    purposes: choicesByName(grantsNothing(judged) ? withoutGrants(choices) : choices),
    policyId: payload.text('shownPolicyId'),
    policyVersion: payload.text('shownPolicyVersion'),
    region: readRegion(payload, 'consentCountry', 'consentRegion'),
    language: payload.text('language'),
    expiresAt: payload.time('consentExpiresAt'),
    occurred,
  };
}

/** Global Privacy Control alone refuses sale and sharing (11 CCR § 7025). */
function takeGpc(signals: Circumstances['signals'], choices: Map<string, PurposeChoice>): void {
  if (signals['gpc'] !== '1' || choices.size > 0) return;
  for (const purpose of ['sale', 'sharing']) choices.set(purpose, 'denied');
}

/** A signal never grants; but one that denies what its record grants leaves the record in doubt (docs/assumptions.md, Signals). */
function besideSignals(
  stated: ReturnType<typeof stateOf>,
  choices: ReadonlyMap<string, PurposeChoice>,
  signals: Circumstances['signals'],
): ReturnType<typeof stateOf> {
  const { state, doubts } = stated;
  if (doubts.length > 0 || (state !== 'given' && state !== 'renewed-given')) return stated;
  if (Object.keys(signals).length === 0) return stated;
  const against = contradictsRecord(decodeSignals(signals), { state, purposes: Object.fromEntries(choices) });
  const denies = against.filter(({ record }) => record === 'grants');
  if (denies.length === 0) return stated;
  const fields = denies.map(({ says, purpose }) => (purpose === null ? says : `${purpose}: ${says}`));
  return { state: 'unknown', doubts: [{ reason: 'contradiction', fields: fields.slice(0, 10) }] };
}

/**
 * Whatever else in a payload speaks against consent leaves its record in doubt; so does what may consent to something beside purposes that were all
 * refused, if no word refuses the whole.
 */
function besideDissent(
  stated: ReturnType<typeof stateOf>,
  payload: Payload,
  { purposes, whole, fields }: Statements,
): ReturnType<typeof stateOf> {
  const { state, doubts } = stated;
  if (doubts.length > 0) return stated;
  const grants = state === 'given' || state === 'renewed-given';
  if (!grants && (state !== 'refused' || whole.some(({ choice }) => choice === 'refused'))) return stated;
  const ats = whole.map(({ at }) => at);
  const dissent = (grants ? dissentIn : assentIn)(payload, fields, purposes, ats);
  return dissent === null ? stated : { state: 'unknown', doubts: [{ reason: 'not-understood', fields: [dissent] }] };
}

/**
 * A record that names the act of choosing or its time and leaves it empty, or says that no law asks for consent, holds defaults if it has no other sign
 * that somebody chose.
 */
function unlessNobodyActed(
  stated: ReturnType<typeof stateOf>,
  payload: Payload,
  { purposes, whole, fields }: Statements,
  { dated, signals }: Pick<ReturnType<typeof readTimes>, 'dated'> & Pick<Circumstances, 'signals'>,
): ReturnType<typeof stateOf> {
  const { state, doubts } = stated;
  if (doubts.length > 0 || (state !== 'refused' && state !== 'given' && state !== 'renewed-given')) return stated;
  // The event's name is a word of an act; Global Privacy Control needs none.
  if (signals['gpc'] === '1' || whole.some(({ at }) => at.startsWith('event='))) return stated;
  const outOfScope =
    whole.length > 0 ? undefined : fields.find(({ role, value }) => role.isScope && choiceMeant(value) === 'refused');
  // {"isUserSubjectToGDPR": false, "hasConsentForAds": false}: nobody was asked.
  if (outOfScope !== undefined && dated() !== 'choice')
    return {
      state: 'unknown',
      doubts: [{ reason: 'not-chosen', fields: [`${outOfScope.path}=${shortly(outOfScope.value)}`] }],
    };
  const nobody = emptyAct(payload, purposes);
  if (nobody === null) return stated;
  const by = dated();
  if (by === 'choice' || (by === 'record' && !nobody.isAct)) return stated;
  return { state: 'unknown', doubts: [{ reason: 'not-chosen', fields: [nobody.at] }] };
}

/** Whether a record grants nothing, whatever it lists as granted. */
function grantsNothing({ state, doubts }: Pick<DecisionFact, 'state' | 'doubts'>): boolean {
  return doubts.length > 0 || state === 'unknown' || state === 'requested' || state === 'request-deferred';
}

function withoutGrants(choices: ReadonlyMap<string, PurposeChoice>): readonly (readonly [string, PurposeChoice])[] {
  return [...choices].filter(([name, choice]) => choice !== 'granted' || isNecessary(name));
}

function choicesByName(choices: Iterable<readonly [string, PurposeChoice]>): PurposeChoices {
  const byName: Record<string, PurposeChoice> = {};
  for (const [name, choice] of choices) {
    // Names come from outside; only fromEntries, which is slower, makes it an ordinary property.
    if (name === '__proto__') return Object.fromEntries(choices);
    byName[name] = choice;
  }
  return byName;
}

/** Whether the name of a purpose is one that consent is asked for. */
function isOfConsent(purpose: string): boolean {
  const { isPurpose, isConsent } = roleOf(purpose);
  return isPurpose || isConsent || isNecessary(purpose);
}

type Circumstances = Pick<DecisionFact, 'action' | 'method' | 'domain' | 'page' | 'bannerVersion' | 'signals'>;

/** The act, page and banner of a choice, and accompanying statements. */
function readCircumstances(payload: Payload, signals: Circumstances['signals']): Circumstances {
  const page = firstOf(payload, 'consentPage', pageOf);
  return {
    action: firstOf(payload, 'consentAction', actionOf),
    method: firstOf(payload, 'consentMethod', (value) => textOf(value, MAX_WORD)),
    domain: firstOf(payload, 'consentDomain', domainOf) ?? (page === null ? null : domainOf(page)),
    page,
    bannerVersion: firstOf(payload, 'bannerVersion', (value) => textOf(value, MAX_WORD)),
    signals,
  };
}

const MAX_WORD = 100;
const MAX_PAGE = 300;
const MAX_SIGNAL = 4000;
const MAX_DOMAIN = 253;

/** The first usable value. Other values are not reported as unread, since these names may have other meanings. */
function firstOf(payload: Payload, field: FieldName, read: (value: unknown) => string | null): string | null {
  for (const { value } of payload.each(field)) {
    const text = read(value);
    if (text !== null) return text;
  }
  return null;
}

function actionOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = textOf(value, MAX_WORD);
  // The event's name is not an action of the visitor; nor is a list of purposes.
  return text === null || /^[[{]|^consent[._]recorded$/i.test(text) ? null : text;
}

/** A host name, from a host or an address. */
function domainOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  const host = text.includes(':') && URL.canParse(text) ? new URL(text).hostname : text;
  const name = host.toLowerCase().replace(/\.$/, '');
  const isHost = /^(?:[\p{L}\p{N}_-]{1,63}\.)+[\p{L}\p{N}-]{2,63}$|^localhost$/u.test(name);
  return isHost && name.length <= MAX_DOMAIN ? name : null;
}

/** Origin and path of an http address, or a path. Query, fragment and user name are left out: they may contain personal data. */
function pageOf(value: unknown): string | null {
  const text = textOf(value, 2 * MAX_SIGNAL);
  if (text === null || typeof value !== 'string') return null;
  let page: string | null = null;
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) {
    const { origin, pathname } = new URL(text);
    page = origin + pathname;
  } else if (/^\/(?!\/)\S*$/.test(text)) {
    page = text.replace(/[?#].*$/s, '');
  }
  return page === null ? null : page.slice(0, MAX_PAGE);
}

/**
 * Statements that are not purposes. Consent-mode fields of Google among the purposes are moved here if the record names
 * another purpose that needs consent; otherwise they stay purposes, since they are the only recorded choice.
 */
function readSignals(payload: Payload, purposes: Map<string, PurposeChoice>): Readonly<Record<string, string>> {
  const signals: [string, string][] = [];
  const add = (name: string, value: string | null) => {
    if (value !== null) signals.push([name, value.length > MAX_SIGNAL ? `(${value.length} characters)` : value]);
  };
  add('gpc', firstOf(payload, 'gpcSignal', flagOf));
  add('gpp', firstOf(payload, 'gppSignal', stringOf));
  add('tcf', firstOf(payload, 'tcfSignal', stringOf));
  add('us_privacy', firstOf(payload, 'uspSignal', stringOf));
  add('addtl_consent', firstOf(payload, 'additionalConsentSignal', stringOf));
  for (const [name, value] of takeConsentMode(payload, purposes)) add(`consent_mode.${name}`, value);
  return Object.fromEntries(signals);
}

const modeNames = new Map(consentModeFields.map((name) => [normaliseName(name), name]));

function takeConsentMode(payload: Payload, purposes: Map<string, PurposeChoice>): ReadonlyMap<string, string> {
  const mode = new Map<string, string>();
  for (const { value } of payload.each('consentModeSignal')) {
    if (!isJsonObject(value)) continue;
    payload.use(value);
    for (const [key, stated] of Object.entries(value).slice(0, 50)) {
      const name = modeNames.get(normaliseName(key));
      const text = stated === true ? 'granted' : stated === false ? 'denied' : textOf(stated, MAX_WORD);
      if (name !== undefined && text !== null && !mode.has(name)) mode.set(name, text);
    }
  }
  if (mode.size === 0 && !namesMode(payload, purposes)) return mode;
  const others = [...purposes.keys()].some(
    (purpose) => !modeNames.has(normaliseName(purpose)) && !isNecessary(purpose),
  );
  if (others) {
    for (const [purpose, choice] of [...purposes]) {
      const name = modeNames.get(normaliseName(purpose));
      if (name === undefined) continue;
      mode.set(name, choice);
      purposes.delete(purpose);
    }
    for (const name of consentModeFields) {
      const choice = choiceMeant(payload.named(name));
      if ((choice === 'given' || choice === 'refused') && !mode.has(name))
        mode.set(name, choice === 'given' ? 'granted' : 'denied');
    }
  } else if (![...purposes.keys()].some((purpose) => !isNecessary(purpose))) {
    for (const [name, stated] of mode) {
      const choice = choiceMeant(stated);
      if (choice === 'given' || choice === 'refused') purposes.set(name, choice === 'given' ? 'granted' : 'denied');
    }
  }
  return new Map([...mode].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function namesMode(payload: Payload, purposes: ReadonlyMap<string, PurposeChoice>): boolean {
  for (const name of modeNames.keys()) if (payload.has(name)) return true;
  for (const purpose of purposes.keys()) if (modeNames.has(normaliseName(purpose))) return true;
  return false;
}

function flagOf(value: unknown): string | null {
  if (value === true || value === 1) return '1';
  if (value === false || value === 0) return '0';
  return textOf(value, MAX_WORD);
}

function stringOf(value: unknown): string | null {
  return typeof value === 'string' ? textOf(value, 1_000_000) : null;
}
