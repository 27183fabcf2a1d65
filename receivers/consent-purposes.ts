import { isNecessary, type PurposeChoice, purposeKey } from '../src/core/consent-judgement.ts';
import { plainForm } from '../src/core/plain-words.ts';
import { type ChoiceMeant, choiceMeant, purposeMeant } from './choice-words.ts';
import {
  isAlwaysActive,
  lastName,
  type NamedField,
  type NameRole,
  roleOf,
  saysNotChosen,
  saysOtherBasis,
} from './consent-names.ts';
import { fieldNames, purposeFlags } from './field-names.ts';
import { normaliseName } from './field-table.ts';
import {
  clean,
  isBlank,
  isJsonObject,
  type JsonObject,
  mayBeWrapped,
  nameOfCookie,
  parseWrapped,
  textOf,
} from './parse.ts';
import type { Payload } from './payload.ts';
import type { Platform } from './platforms.ts';

/** Two statements of one record that cannot both be true, each as its path and value: `consent=no`. */
export type Contradiction = readonly [string, string];

/** The purposes of one record. */
export interface PurposesRead {
  /** By name as received. */
  readonly choices: Map<string, PurposeChoice>;
  readonly contradictions: Contradiction[];
  /** Names in lists that do not say what being listed means. */
  readonly listed: Set<string>;
  /** Path of a list that is called consent, says no more of itself and names a known purpose: {"consents": ["analytics"]}; null: there is none. */
  consented: string | null;
  /** One of the lists of granted purposes is empty. */
  grantsNothing: boolean;
  /** Paths of what was present but not understood. */
  readonly unread: string[];
  /** Paths of what may grant and was not understood: what is refused beside it is not the whole choice. */
  readonly withheld: string[];
  /** Times of the choices for single purposes. */
  /** How many purposes are refused by the state 0 alone. */
  zeros: number;
  readonly times: unknown[];
  /** A purpose's own statement that the visitor did not choose it. */
  notChosen: string | null;
  /** There are fields for choices, all of them empty. */
  isBlank: boolean;
  /** Whether an object or list was read as purposes. */
  readonly isRead: (object: unknown) => boolean;
  /** Whether an object says of one purpose what was chosen. */
  readonly isItem: (object: unknown) => boolean;
  /** Paths of the fields that were read as the choice for a purpose, or left aside knowingly. */
  readonly paths: Set<string>;
  /** Fields that are the only answer of an object about one purpose, whatever they are called, and of how many. */
  readonly answers: Map<string, number>;
  /** What texts hold that were read as purposes, by their paths. */
  readonly texts: Map<string, object>;
}

/** The most purposes read in one decision. */
const MAX_PURPOSES = 500;
/** Above this number, a list of vendors is left to the signals: it comes from a TCF string. */
const MAX_VENDORS = 50;
const MAX_NAME = 200;
const MAX_DEPTH = 5;
const MAX_NESTED = 6;
/** Longer paths are not followed, in UTF-16 units: a key may be a megabyte. */
const MAX_PATH = 2000;

/** What being in a list means. */
type Listed = 'granted' | 'denied' | null;

/** Names with another meaning in a consent record, so that `{"consent": {"id": …, "status": …}}` is not read as purposes. */
const notPurposes = new Set(
  (
    [
      'recordId',
      'subject',
      'bannerId',
      'consentState',
      'shownPolicyId',
      'shownPolicyVersion',
      'consentCountry',
      'consentRegion',
      'consentExpiresAt',
      'withdrawnAt',
      'changedAt',
      'consentedAt',
      'consentCreatedAt',
      'occurredAt',
      'language',
      'purposes',
      'grantedPurposes',
      'deniedPurposes',
      'purposeOfRecord',
      'bannerVersion',
      'consentMethod',
      'consentDomain',
      'consentPage',
      'gpcSignal',
      'tcfSignal',
      'gppSignal',
      'uspSignal',
      'additionalConsentSignal',
      'consentModeSignal',
    ] as const
  )
    .flatMap((field) => fieldNames[field])
    .map((name) => normaliseName(name.split('.')[0] ?? ''))
    .concat(
      'version',
      'key',
      'method',
      'source',
      'addtlconsent',
      'rejectedany',
      'granularstatus',
      'consentedtoany',
      'consentedall',
    )
    .filter((name) => !purposeFlags.map(normaliseName).includes(name)),
);

/**
 * The choice for each purpose, under the purposes' names as received. Understands an object purpose → flag or word (or object with one);
 * lists of objects with name and choice; lists of accepted and of rejected names; pairs in a text (`analytics:no|ads:yes`); any of these as JSON
 * in a string; and flags of well-known purposes in the record itself. A name in a list counts as granted only if the list says so and the name has
 * no sign or word of refusal.
 */
export function readPurposes(payload: Payload, fields: readonly NamedField[], platform: Platform | null): PurposesRead {
  const reader = new PurposeReader(payload, fields, platform);
  reader.readLists();
  reader.readFlags();
  reader.readProvisions();
  reader.readNested();
  reader.takeTimesAside();
  return reader.read;
}

/** Longer texts are not read as pairs. */
const MAX_PAIRS_TEXT = 20_000;

/**
 * The object key → value of a text like `analytics:no,ads:yes`, `optional=-1|social=1`, `!ga=true!fb=false`, `{stamp:'…',marketing:false}` or
 * `groups=C0001%3A1&interactionCount=1`; null for any other.
 */
export function pairsIn(text: string): JsonObject | null {
  if (text.length > MAX_PAIRS_TEXT || !/[:=]|%3[AD]/i.test(text)) return null;
  if (/^[^=&\s]{1,80}=[^&]*(?:&[^=&\s]{1,80}=[^&]*)+$/.test(text)) return Object.fromEntries(new URLSearchParams(text));
  // `dpv:ConsentGiven` is a name with a prefix.
  if (/^[a-z][a-z-]{0,20}:[A-Z][A-Za-z]+$/.test(text)) return null;
  const inner = /^\s*\{(.*)\}\s*$/s.exec(text)?.[1] ?? text;
  const plain = /^[^\s]*%(?:3A|3D|7C|2C)/i.test(inner) ? unescaped(inner) : inner;
  const parts = plain
    .split(/[,;|!\n]|\/\//)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const pairs: [string, string][] = [];
  for (const part of parts) {
    const pair = /^["']?([\p{L}\p{N}_. '()/-]{1,80}?)["']?\s*(?:=>?|:)\s*(.{0,200})$/u.exec(part);
    if (pair === null) return null;
    pairs.push([pair[1] ?? '', (pair[2] ?? '').replace(/^(["'])(.*)\1$/, '$2')]);
  }
  return pairs.length === 0 ? null : Object.fromEntries(pairs);
}

/** Whether a text is a list of names of which some have a sign: `necessary,!statistics,no-marketing`. */
function hasSigns(text: string): boolean {
  if (text.length > 2000 || !text.includes(',')) return false;
  const names = text.split(',');
  return (
    names.every((name) => /^[-+!~\p{L}\p{N}_ ]+$/u.test(name)) &&
    names.some((name) => /^\s*(?:[-!~]|no[-_ ])/.test(name))
  );
}

function unescaped(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `consents`, `cookieconsent_mode`; not `consent_purposes`, which may list those that were asked for. */
function isCalledConsent(name: string): boolean {
  const { isConsent, isWhole, plain, polarity } = roleOf(name);
  return isConsent && polarity === 'granting' && (isWhole || plain.endsWith('consentmode'));
}

/** Names of cookies that hold pairs without saying so. */
const cookieNames: ReadonlySet<string> = new Set(['tarteaucitron', 'consentmgr', 'bkpolicy', 'optanonconsent']);

/** The object in the text of a field that is named like consent: JSON in any wrapping, or pairs; null if it holds none. */
export function unwrapConsent(key: string, text: string): JsonObject | null {
  if (text.length < 5 || text.length > MAX_PAIRS_TEXT || !/[:=%{\n]/.test(text)) {
    return text.length > 10 && /^eyJ/.test(text) ? objectIn(text) : null;
  }
  if (/^\s*\d{4}-\d\d|^https?:/.test(text)) return null;
  if (text.includes('; ') && COOKIE_HEADER.test(key)) {
    const cookies = cookiesIn(text);
    if (cookies !== null) return cookies;
  }
  const role = roleOf(key);
  const isCookie = cookieNames.has(normaliseName(key));
  if (normaliseName(key) === 'c15t') return ofC15t(text);
  // `borlabs-cookie=%7B…%7D`
  const cookie = /^\s*[\w.$-]{1,80}=(?=%7B|\{|eyJ)/i.exec(text)?.[0];
  if (cookie !== undefined) {
    const rest = text.slice(cookie.length);
    const object = objectIn(rest) ?? objectIn(rest.split(/;\s/, 1)[0] ?? '');
    if (object !== null) return object;
  }
  // `tarteaucitron=!hotjar=false`, or its name apart: {"name": "tarteaucitron", "value": "!hotjar=false"}.
  if (isCookie && normaliseName(nameOfCookie(text) ?? '') === normaliseName(key))
    return pairsIn(text.slice(text.indexOf('=') + 1));
  // A cookie under a name of the site's own.
  if (/^(?:\{|%7B)/i.test(text) && !/config|policy|banner|default|template/i.test(key)) {
    const object = objectIn(text);
    if (object !== null) return object;
  }
  if (!isCookie && !role.isContainer) {
    const object = purposesIn(text);
    if (object !== null) return object;
  }
  if (
    !isCookie &&
    (role.time !== null || role.isCircumstance || !(role.isContainer || role.isWhole || /cookie|consent/i.test(key)))
  )
    return null;
  return objectIn(text) ?? pairsIn(text);
}

/** Where the cookies of a browser stand, as in its header: `hubspotutk=8e…; __hs_cookie_cat_pref=1:true,2:false`. */
const COOKIE_HEADER = /^(?:http_?)?(?:document[._])?cookies?(?:_?(?:header|string|jar))?$/i;

/** Each cookie of a header by its name; null for any other text. */
function cookiesIn(text: string): JsonObject | null {
  const parts = text.split(/;\s+/);
  if (parts.length < 2) return null;
  const cookies: [string, string][] = [];
  for (const part of parts) {
    // `Secure` has no value.
    const cookie = /^([\w!#$%&'*+.^`|~-]{1,80})(?:=(\S*))?$/.exec(part.trim());
    if (cookie === null) return null;
    if (cookie[2] !== undefined) cookies.push([cookie[1] ?? '', unescaped(cookie[2])]);
  }
  return Object.fromEntries(cookies);
}

const SAYS =
  /[:=]\s*["']?(?:true|false|yes|no|allow|deny|granted|denied|on|off|[01])\b|[;,]\s*(?:no|si|ja|nein|oui|non|sim|yes|true|false|tak|nie|nee|nej|[01])\s*(?:$|[;,])/i;

/** The object in a text of pairs or of two lines of CSV that names at least two purposes with a choice, under whatever name the text stands. */
function purposesIn(text: string): JsonObject | null {
  if (!SAYS.test(text)) return null;
  const row = csvIn(text);
  if (row !== null) return ofRow(row);
  const object = pairsIn(text);
  if (object === null) return null;
  const said = Object.entries(object).filter(([key, value]) => isFlag(key) && purposeMeant(value) !== null);
  return said.length >= 2 ? object : null;
}

/** A row of a table, with its columns for purposes apart from the others; null if it has none of consent to a purpose, nor two of purposes. */
function ofRow(row: JsonObject): JsonObject | null {
  const entries = Object.entries(row);
  const said = entries.filter(
    ([key, value]) =>
      (isFlag(key) || roleOf(key).isConsent) && !roleOf(key).isCircumstance && purposeMeant(value) !== null,
  );
  const isNamed = said.some(([key]) => roleOf(key).isConsent && roleOf(key).isPurpose);
  if (!isNamed && said.filter(([key]) => isFlag(key)).length < 2) return null;
  const names = new Set(said.map(([key]) => key));
  return { ...Object.fromEntries(entries.filter(([key]) => !names.has(key))), consents: Object.fromEntries(said) };
}

/** The values of a single line under a line of names; null for any other text. */
function csvIn(text: string): JsonObject | null {
  const lines = text.trim().split(/\r?\n/, 3);
  const [names = '', values = ''] = lines;
  const separator = [';', '\t', ','].find((one) => names.includes(one));
  if (lines.length !== 2 || separator === undefined) return null;
  const cellsOf = (line: string) => line.split(separator).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'));
  const [keys, cells] = [cellsOf(names), cellsOf(values)];
  return keys.length === cells.length ? Object.fromEntries(keys.map((key, at) => [key, cells[at]])) : null;
}

/** The cookie of c15t: `c.` before the granted purposes, `i.t` for their time, `i.sid` for the visitor. */
function ofC15t(text: string): JsonObject | null {
  const pairs = pairsIn(text);
  if (pairs === null || Object.keys(pairs).some((key) => !/^[ci]\./.test(key))) return objectIn(text);
  const purposes = Object.entries(pairs).flatMap(([key, value]) =>
    key.startsWith('c.') ? [[key.slice(2), value]] : [],
  );
  return {
    consents: Object.fromEntries(purposes) as JsonObject,
    timestamp: Number(pairs['i.t']),
    subject_id: pairs['i.sid'],
  };
}

function objectIn(text: string): JsonObject | null {
  const value = parseWrapped(text) ?? (text.startsWith('{%') ? parseWrapped(unescaped(text)) : undefined);
  return isJsonObject(value) ? value : null;
}

/** The names in a list in a text. */
function namesIn(text: string): readonly string[] {
  return unescaped(text)
    .split(/[,;|]/)
    .filter((name) => name.trim() !== '');
}

/** Whether objects of this name may hold choices somewhere within. */
function mayHold(role: NameRole): boolean {
  return !role.isLegitimateInterest && !role.isTerms && !role.isFormer && !role.isSetting;
}

function isFlag(key: string): boolean {
  return flagNames.has(normaliseName(key)) || roleOf(key).isPurpose;
}

/** `ConsentToTrack`, `consent_to_calls`, `hasConsentForDataUsage` */
const CONSENT_TO = /[Cc](?:onsent|ONSENT)[-_ ]?(?:to|To|TO|for|For|FOR)(?=[-_ A-Z])/;

/** `consenso_dati_personali`, `zgodaPrzetwarzanieDanych` */
const DATA = /dati|daten|donnees|datos|dados|danych|gegevens/;

/** Whether a name says nothing of its own about a record. */
function isPlainName(role: NameRole): boolean {
  return (
    role.polarity === null &&
    /\p{L}/u.test(role.plain) &&
    !role.isCircumstance &&
    !role.isWhole &&
    !role.isStatus &&
    !role.isTerms &&
    !role.isScope &&
    role.time === null
  );
}

/** A word that is said of consent alone: `granted`, `DENY`, `acconsento`, not `yes` or `on`. */
export function isConsentWord(value: unknown): boolean {
  if (typeof value !== 'string' || value.length < 4) return false;
  // `1---` is a US Privacy string.
  return outcomeOf(choiceMeant(value)) !== null && !everydayWords.test(value) && /\p{L}{2}/u.test(value);
}
/** A word that is also the model of a region. */
function isModel(value: unknown): boolean {
  return typeof value === 'string' && /^opt[-_ ]?(?:in|out)$/i.test(value);
}

const everydayWords =
  /^(?:consent|true|false|none|enabled?|disabled?|on|off|yes|no|approved|blocked|required|essential|necessary|full|everything|nothing|invalid|expired|terminated|restricted|all)$/i;

/** Whether an object consists of such words: {"marketing_diretto": "acconsento", "profilazione": "non acconsento"}. */
function isOfConsentWords(entries: readonly (readonly [string, unknown])[]): boolean {
  let count = 0;
  for (const [key, value] of entries) {
    if (isBlank(value) || typeof value === 'object') return false;
    const role = roleOf(key);
    if (isConsentWord(value) && (isPlainName(role) || role.isPurpose || /^\d{1,3}$/.test(key))) count += 1;
    else if (!role.isCircumstance && role.time === null) return false;
  }
  return count >= 2;
}

/** Whether an object states how it stands by the number 0 alone. */
function isZeroState(item: JsonObject): boolean {
  return Object.entries(item).some(([key, value]) => roleOf(key).isState && (value === 0 || value === '0'));
}

/** {"1": "granted", "2": "denied"}: numbered purposes. */
function isNumbered(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length > 1 &&
    /^\d/.test(entries[0]?.[0] ?? '') &&
    entries.every(([key, said]) => /^\d{1,3}$/.test(key) && isConsentWord(said))
  );
}

/** Whether an item of a list without a telling name is about consent: it has a field like `opted_in`, or a word of consent. */
function saysConsent(item: JsonObject): boolean {
  return Object.entries(item)
    .slice(0, MAX_MEMBERS)
    .some(([key, value]) => {
      const role = roleOf(key);
      if (typeof value === 'object' || role.isCircumstance || role.isTerms) return false;
      return role.isConsent ? purposeMeant(value) !== null : choiceKeys.has(role.plain) && isConsentWord(value);
    });
}

/** Whether one of an object's names is a purpose's or that of purposes. */
function namesPurpose(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    typeof value['name'] !== 'string' &&
    Object.keys(value)
      .slice(0, MAX_MEMBERS)
      .some((key) => isFlag(key) || isNecessary(key) || roleOf(key).isContainer || roleOf(key).isConsent)
  );
}

/** Names of objects that say nothing of what is in them, in plain form. */
const wrappers: ReadonlySet<string> = new Set(
  (
    'properties traits context attributes data payload detail details record row body message user userproperties userattributes userdata profile visitor contact customer person member subscriber ' +
    'event eventproperties eventdata params parameters custom customattributes customfields fields object state status value result response storage localstorage session set identify identity subject page hit item entry answers answer form submission ' +
    'channels channel email sms push phone datalayer notifications communications communication extra extensions cmp device app site website account client model output toggles switches cookie cookies'
  ).split(' '),
);

/** Whether a yes within an object of this name may grant: it says nothing, or says consent. */
function isWrapper(name: string): boolean {
  const role = roleOf(name);
  if (role.polarity === 'refusing') return false;
  return (
    role.isConsent ||
    role.isContainer ||
    role.isWhole ||
    role.isPurpose ||
    wrappers.has(role.plain) ||
    /cookie|privacy|permission|prefer|subscri|optin|gdpr|ccpa|(?:parameters|attributes|properties|traits|data|fields|values|payload|body|details)$/.test(
      role.plain,
    )
  );
}

/** Whether an object has nothing but flags, one of them a purpose's: {"essential": true, "usage": false}. */
function isOfFlags(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const keys = Object.keys(value);
  return (
    keys.length > 1 &&
    keys.length <= MAX_MEMBERS &&
    keys.some(isFlag) &&
    keys.every((key) => typeof value[key] === 'boolean')
  );
}

/** `['consent', 'update', {…}]`: a call of Google's tag. */
export function isCommand(item: unknown): item is readonly unknown[] {
  return Array.isArray(item) && item[0] === 'consent' && isJsonObject(item[2]);
}

/** Whether a field beside others holds the purposes: {"groups": "C0001:1,C0002:0"}. */
function holdsOwn(key: string, value: unknown): boolean {
  if (!containers.has(normaliseName(key)) || isFlag(key)) return false;
  return typeof value === 'string' ? value.length > 3 && /[:=,{[]/.test(value) : sizeOf(value) > 0;
}

/**
 * Whether a flag among purposes may say how the record stands instead: its name is a past participle, or says that something is not settled, and is
 * no purpose's. Left aside, it counts like any flag that nobody knows (consent-dissent.ts): {"analytics": true, "isolated": true}.
 */
function mayBeStatus(key: string, value: unknown): boolean {
  if (!isSwitch(value) || !(STATUS.test(key) || UNSETTLED.test(key))) return false;
  const { isConsent, notChosenIf } = roleOf(key);
  return !isFlag(key) && !isNecessary(key) && !isConsent && notChosenIf === null;
}

/** Whether every name in an object is a known purpose's, except those that may say how the record stands. */
function areKnown(value: JsonObject, keys: readonly string[]): boolean {
  let count = 0;
  for (const key of keys) {
    if (isFlag(key) || isNecessary(key)) count += 1;
    else if (!mayBeStatus(key, value[key])) return false;
  }
  return count > 0;
}

/** English and German past participles, except those that describe content or features. */
const STATUS =
  /^(?!.*eed$)(?!(?:targeted|tailored|sponsored|promoted|advanced|extended|enhanced|improved|embedded|linked)$)[a-z]{3,20}(?:ed|iert)$/i;

/** `pendingReview`, `dry_run`, `awaitingApproval` */
const UNSETTLED = /^(?:pending|awaiting|dry|draft|provisional|preliminary|tentative|simulated)(?:[A-Z_-]|$)/;

/** A plain flag beside an object's own container of purposes, unless its name is a purpose's. */
function isBeside(key: string, value: unknown): boolean {
  if (isFlag(key) || isConsentWord(value) || saysNotChosen(roleOf(key), value)) return false;
  return isSwitch(value) || isAnswer(value) || value === 0 || value === 1 || value === '0' || value === '1';
}

/** `HasOptedOutSolicit: true`: a refusal of what it names. */
function refusesAlone({ polarity, plain, isCount, isCircumstance }: NameRole, value: unknown): boolean {
  if (polarity !== 'refusing' || isCount || isCircumstance || !/^(?:has|is)?optedout.{3}/.test(plain)) return false;
  return typeof value !== 'number' && outcomeOf(choiceMeant(value)) === 'granted';
}

/** A yes or no, in a word or as a flag. */
function isAnswer(value: unknown): boolean {
  return typeof value === 'boolean' || (typeof value === 'string' && value.length < 6 && answers.has(plainForm(value)));
}

function isRefused(value: unknown): boolean {
  return outcomeOf(choiceMeant(value)) === 'denied';
}

/** A flag or a word for a switch. */
function isSwitch(value: unknown): boolean {
  return typeof value === 'boolean' || (typeof value === 'string' && /^(?:true|false|on|off|yes|no)$/i.test(value));
}

/** Whether an object consists of lists whose names say what being in them means: {"enabled": ["a"], "disabled": ["b"]}. */
function listsChoices(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const keys = Object.keys(value);
  return (
    keys.length > 0 && keys.length <= 4 && keys.every((key) => Array.isArray(value[key]) && roleOf(key).lists !== null)
  );
}

/** Whether an object holds several purposes instead of being one: {"analytics": true, "ads": false}. */
function holdsPurposes(item: JsonObject): boolean {
  let purposes = 0;
  for (const key of Object.keys(item).slice(0, MAX_MEMBERS)) {
    const value = item[key];
    const role = roleOf(key);
    if ((key === 'name' || key === 'id') && typeof value === 'string') return false;
    if (typeof value === 'object' || purposeMeant(value) === null) continue;
    if (choiceKeys.has(role.plain)) return false;
    if (
      isFlag(key) ||
      (role.isConsent && role.polarity === 'granting' && !role.isWhole && !role.isStatus && !role.isCircumstance)
    )
      purposes += 1;
  }
  return purposes >= 2;
}

/** Whether an object describes a purpose: {"name": {"en": "Analytics"}, "order": 1}. */
function isDescription(item: JsonObject): boolean {
  return ['name', 'title', 'label', 'description'].some((key) => {
    const value = item[key];
    return (
      typeof value === 'string' || (isJsonObject(value) && Object.values(value).every((one) => typeof one === 'string'))
    );
  });
}

/** What a record calls its purposes, by their ids in plain form. */
function labelsIn(fields: readonly NamedField[]): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  for (const { name, value } of fields) {
    if (!isJsonObject(value) || !/(?:labels?|names|titles)$/.test(name)) continue;
    for (const [key, label] of Object.entries(value).slice(0, MAX_PURPOSES))
      if (typeof label === 'string') labels.set(plainForm(key), label);
  }
  return labels;
}

class PurposeReader {
  readonly read: PurposesRead = {
    choices: new Map(),
    contradictions: [],
    listed: new Set(),
    grantsNothing: false,
    unread: [],
    withheld: [],
    consented: null,
    times: [],
    notChosen: null,
    isBlank: false,
    isRead: (object) => this.#seen.has(object) || this.#items.has(object),
    isItem: (object) => this.#items.has(object),
    paths: new Set(),
    answers: new Map(),
    texts: new Map(),
    zeros: 0,
  };
  /** Ids of purposes that the record describes without a choice, in plain form. */
  readonly #described = new Set<string>();
  #isByVendor = false;
  /** What is being read belongs to a category that needs no consent. */
  #isUnderNecessary = false;
  #labels: ReadonlyMap<string, string> | null = null;
  readonly #payload: Payload;
  readonly #fields: readonly NamedField[];
  readonly #platform: Platform | null;
  /** {@link purposeKey} → the first statement. */
  readonly #seen = new Set<unknown>();
  /** What is said of single purposes. */
  readonly #items = new Set<unknown>();
  /** Times in lists that held no purpose. */
  readonly #timesAside: unknown[] = [];
  readonly #said = new Map<string, { readonly name: string; readonly path: string; readonly value: unknown }>();

  constructor(payload: Payload, fields: readonly NamedField[], platform: Platform | null) {
    this.#payload = payload;
    this.#fields = fields;
    this.#platform = platform;
  }

  readLists(): void {
    this.#field('purposes', null);
    this.#field('grantedPurposes', 'granted');
    this.#field('deniedPurposes', 'denied');
    this.#others();
  }

  #field(field: 'purposes' | 'grantedPurposes' | 'deniedPurposes', listed: Listed): void {
    for (const { value, path } of this.#payload.each(field)) {
      // A word or flag for the whole choice ("accepted": true) belongs to the state.
      if (choiceMeant(value) !== null || typeof value === 'number' || this.#seen.has(value)) continue;
      const means = listed ?? this.#listedBy(lastName(path));
      // {"purpose": {"id": 1, "name": "…"}}: the only purpose, whose choice stands beside it.
      if (
        /purpose$/i.test(path) &&
        isJsonObject(value) &&
        nameWithin(value) !== null &&
        !choiceWithin(value, path).isStated
      )
        continue;
      if (!this.#outer(value, path, means) && typeof value !== 'string') this.read.unread.push(path);
    }
  }

  /** A list that may hold purposes and holds none does not date those elsewhere: `events` beside `consent_state`. */
  #outer(value: unknown, path: string, listed: Listed): boolean {
    const [size, before] = [this.#size(), this.read.times.length];
    const isRead = this.#container(value, path, listed, 0);
    if (this.#size() === size && Array.isArray(value)) this.#timesAside.push(...this.read.times.splice(before));
    return isRead;
  }

  /** Without any purpose, those times are all there is. */
  takeTimesAside(): void {
    if (this.read.choices.size === 0) this.read.times.push(...this.#timesAside);
  }

  /** Objects, lists and texts of pairs at the top level that are named like the purposes of a record in any language. */
  #others(): void {
    for (const { name, key, path, value, role } of this.#fields) {
      if (typeof value !== 'string' && typeof value !== 'object') continue;
      // `cookies_policy` may hold choices, `terms` do not.
      if (role.isLegitimateInterest || (role.isTerms && !isOfFlags(value)) || role.isFormer) continue;
      if (known.has(name) || this.#seen.has(value)) continue;
      if (typeof value === 'string') {
        // `authorized_vendors`: a list in a text; else pairs only.
        const isList = role.lists !== null && role.isContainer && (choiceMeant(value) === null || isNecessary(value));
        if (role.isContainer && /^\s*(?:\[|%5B)/i.test(value)) this.#container(value, path, role.lists, 0);
        else if (isList) this.#container(namesIn(value), path, role.lists, 0);
        else if (name.endsWith('purposeconsents') && /^[01]{4,64}$/.test(value)) this.#bits(value, path);
      } else if (
        role.isContainer ||
        role.lists !== null ||
        (this.#payload.isOpened(value) && namesPurpose(value) && !this.#isGuessed(`${path}.`)) ||
        isNumbered(value) ||
        (isOfFlags(value) && isWrapper(key) && !role.isSetting)
      ) {
        this.#outer(value, path, role.lists ?? this.#listedBy(key));
      }
    }
  }

  #listedBy(name: string): Listed {
    return this.#platform?.listed?.includes(normaliseName(name)) === true ? 'granted' : null;
  }

  /** A digit for each purpose of the TCF, as its CMP API stores them. */
  #bits(text: string, path: string): void {
    for (const [at, bit] of [...text].entries())
      this.#put(String(at + 1), bit === '1' ? 'granted' : 'denied', path, text);
  }

  /** The rules of a FHIR consent: each permits or denies what it names, except what a rule within it says. */
  readProvisions(): void {
    const decision = choiceMeant(this.#payload.named('decision'));
    const provision = this.#payload.named('provision');
    const path = this.#fields.find(({ value }) => value === provision)?.path ?? 'provision';
    for (const one of Array.isArray(provision) ? provision.slice(0, MAX_PURPOSES) : [provision])
      if (isJsonObject(one)) this.#provision(one, outcomeOf(decision), path, 0);
  }

  #provision(rule: JsonObject, outer: Listed, path: string, depth: number): void {
    this.#items.add(rule);
    this.read.paths.add(`${path}.type`);
    const type = outcomeOf(choiceMeant(rule['type']));
    // Release 5 states the base rule once; a rule within a rule is an exception to it.
    const said = type ?? (depth === 0 ? outer : outer === 'granted' ? 'denied' : outer === 'denied' ? 'granted' : null);
    const codes = Array.isArray(rule['code']) ? rule['code'].filter(isJsonObject) : [];
    const coded = codes.flatMap(({ coding }) => (Array.isArray(coding) ? coding.filter(isJsonObject) : []));
    const purposes = Array.isArray(rule['purpose']) ? rule['purpose'].filter(isJsonObject) : coded;
    for (const { code, display } of purposes) {
      const name = textOf(display, MAX_NAME) ?? textOf(code, MAX_NAME);
      if (name !== null && said !== null) this.#put(name, said, path, said);
    }
    const rules = Array.isArray(rule['provision']) ? rule['provision'].filter(isJsonObject) : [];
    if (depth > 0 && purposes.length === 0 && said === 'denied')
      this.read.contradictions.push([path, `${path}.type=deny`]);
    if (depth < MAX_DEPTH) for (const one of rules) this.#provision(one, said, `${path}.provision`, depth + 1);
  }

  /** Purposes that say so themselves within other objects: {"user_properties": {"$set": {"consent_analytics": "denied"}}}. */
  readNested(): void {
    for (const { path, value, role } of this.#fields)
      if (typeof value === 'object' && mayHold(role) && !this.#payload.isOpened(value)) this.#nested(value, path, 0);
  }

  #nested(value: unknown, path: string, depth: number): void {
    if (depth > MAX_NESTED || path.length > MAX_PATH || this.#seen.has(value)) return;
    if (isCommand(value)) return this.#command(value, path, false);
    if (Array.isArray(value)) {
      const isLayer = value.some(isCommand);
      const hasUpdate = value.some((item) => isCommand(item) && item[1] === 'update');
      for (const item of value.slice(0, 100)) {
        if (isLayer && isJsonObject(item)) this.read.times.push(item['ts'], item['timestamp']);
        if (isCommand(item)) this.#command(item, path, hasUpdate);
        else if (isJsonObject(item) && nameWithin(item) !== null && saysConsent(item)) {
          this.#seen.add(item);
          this.#item(item, path, null);
        } else if (typeof item === 'object') this.#nested(item, path, depth + 1);
      }
      return;
    }
    if (!isJsonObject(value)) return;
    const entries = Object.entries(value).slice(0, MAX_PURPOSES);
    const areDescribed =
      this.#described.size > 0 && entries.length > 0 && entries.every(([key]) => this.#described.has(plainForm(key)));
    if (areDescribed || isOfConsentWords(entries)) {
      this.#container(value, path, null, depth + 1);
      return;
    }
    const before = this.#size();
    const known = new Set(this.read.choices.keys());
    const name = lastName(path);
    const mayGrant = isWrapper(name);
    let notChosen: string | null = null;
    const areAnswers = entries.some(([key]) => isFlag(key)) && entries.every(([, inner]) => isAnswer(inner));
    for (const [key, inner] of entries) {
      const role = roleOf(key);
      if (saysNotChosen(role, inner)) notChosen ??= `${path}.${key}=${shortly(inner)}`;
      if (!mayHold(role)) continue;
      if (role.isContainer && listsChoices(inner)) this.#container(inner, `${path}.${key}`, null, depth + 1);
      else if (typeof inner === 'object') this.#nested(inner, `${path}.${key}`, depth + 1);
      else if (typeof inner === 'string' && inner.length > 8 && mayBeWrapped(inner))
        this.#nestedText(inner, `${path}.${key}`, depth);
      else if (isFlag(key) && !role.isCount && purposeMeant(inner) !== null) {
        // {"complaints": {"marketing": true}}: under a name that may mean anything, a yes grants nothing.
        if (mayGrant || outcomeOf(purposeMeant(inner)) !== 'granted' || role.polarity === 'refusing' || role.isConsent)
          this.#member(key, inner, `${path}.${key}`, { listed: null, depth: depth + 1, isPairs: false });
        else this.read.withheld.push(`${path}.${key}`);
      } else if (refusesAlone(role, inner) || (areAnswers && isPlainName(role) && isRefused(inner))) {
        this.#put(key, 'denied', `${path}.${key}`, inner);
      }
    }
    if (this.#size() === before) return;
    // {"event": "consent_status", "type": "IMPLICIT", "ucCategory": {…}}
    this.read.notChosen ??= notChosen;
    if (roleOf(name).polarity === 'refusing') this.#withdrawGrants(known, path);
  }

  /** JSON in a text is read as if it stood there. */
  #nestedText(text: string, path: string, depth: number): void {
    if (text.length > MAX_PAIRS_TEXT) return;
    const json = parseWrapped(text);
    if (typeof json !== 'object' || json === null) return;
    this.read.texts.set(path, json);
    this.#nested(json, path, depth + 1);
  }

  /** What is granted within an object whose name says that it refuses is not. */
  #withdrawGrants(known: ReadonlySet<string>, path: string): void {
    for (const [name, choice] of [...this.read.choices]) {
      if (known.has(name) || choice !== 'granted') continue;
      this.read.choices.set(name, 'denied');
      this.read.unread.push(path);
    }
  }

  /** `gtag('consent', 'update', {…})` among the pushes of a data layer. What is set by default was not chosen. */
  #command([, command, choices]: readonly unknown[], path: string, hasUpdate: boolean): void {
    if (command === 'update') this.#container(choices, path, null, 1);
    else if (!hasUpdate) this.read.notChosen ??= `${path}=${shortly(command)}`;
  }

  /** Flags of well-known purposes in the record itself. */
  readFlags(): void {
    const flags = this.#fields.filter(
      ({ name, value, role }) => (role.isPurpose || flagNames.has(name)) && purposeMeant(value) !== null,
    );
    // {"purposes": {…}, "tracking_enabled": true}: one flag beside purposes is something else.
    if (flags.length < 2 && this.#size() > 0) {
      // {"allowSale": false}: the one right to refuse a sale.
      for (const { key, path, value, role } of flags)
        if (/sale|sell/i.test(key) && role.polarity !== 'refusing' && outcomeOf(purposeMeant(value)) === 'denied')
          this.#put(key, 'denied', path, value);
      return;
    }
    // {"personalization": {"consented": false}, "usage_statistics": {"consented": true}}
    const isAmongItems = this.#fields.some(
      ({ role, value }) => role.isPurpose && isJsonObject(value) && saysConsent(value),
    );
    const isAmongFlags = this.#namesFlags(flags.length);
    const isAmongWords = flags.filter(({ value }) => isConsentWord(value) && !isModel(value)).length >= 2;
    for (const { name: normalised, key: name, path, value, role } of this.#fields) {
      if (Array.isArray(value)) continue;
      const flag = flagNames.get(normalised);
      const isWord =
        ((isAmongWords && isConsentWord(value) && !isModel(value)) ||
          (isAmongItems && isJsonObject(value) && !wrappers.has(role.plain) && saysConsent(value))) &&
        isPlainName(role) &&
        !notPurposes.has(normalised);
      // {"zgodaFotografie": "nie"}, {"ConsentToTrack": "Yes"}
      const isNamed =
        role.isOfConsent &&
        (CONSENT_TO.test(name) ||
          (role.flag === null && DATA.test(role.plain)) ||
          isConsentWord(value) ||
          (typeof value === 'string' && outcomeOf(choiceMeant(value)) === 'denied'));
      const isOther = isWord || isNamed || isAmongFlags(path, value, role);
      if (flag === undefined && !role.isPurpose && this.#platform?.flags !== true && !isOther) continue;
      if (flag === undefined && this.#platform?.flags === true && (notPurposes.has(normalised) || role.isCircumstance))
        continue;
      if (role.notChosenIf !== null || this.#seen.has(value)) continue;
      if (isJsonObject(value)) {
        // {"Analytics": {"consented": true, "timestamp": …}}
        const within = choiceWithin(value, path);
        if (within.isStated) this.#takeItem(flag ?? name, value, within, path, () => this.read.unread.push(path));
        continue;
      }
      const says = purposeMeant(value);
      // Not having opted out of a sale is not consent to it.
      const isRightToRefuse = outcomeOf(says) === 'granted' && /sale|sell/i.test(name);
      // {"preferences": 0}: a number of a kind of its own.
      if (isRightToRefuse || (typeof value === 'number' && (role.isCount || role.isContainer))) continue;
      if (isAlwaysActive(value)) this.#put(flag ?? name, 'necessary', path, value);
      else if (says !== null && (role.polarity === 'refusing' || this.#mayGrant(path, says, value)))
        this.#say(flag ?? name, name, says, path, value);
    }
  }

  /**
   * {"event": "consent.recorded", "analytics": true, "video": false}: a record that consists of flags, at least half of them of purposes, holds
   * nothing else. The test for one of them whose name is a single word that says nothing else.
   */
  #namesFlags(known: number): (path: string, value: unknown, role: NameRole) => boolean {
    const never = () => false;
    if (known === 0) return never;
    let count = 0;
    for (const { name, value, role } of this.#fields) {
      if (name === 'event' || name === 'type' || name === 'eventtype' || role.time !== null || this.#isOpened(value))
        continue;
      if (!isSwitch(value)) return never;
      count += 1;
    }
    if (count > 2 * known) return never;
    return (path, value, role) =>
      isSwitch(value) &&
      role.flag === null &&
      isPlainName(role) &&
      /^\p{Ll}{2,20}$/u.test(lastName(path)) &&
      !(mayBeStatus(lastName(path), value) && this.#aside(path, value));
  }

  /** Leaves a flag among purposes aside. A yes may be a purpose's all the same, so that what is refused beside it is not the whole choice. */
  #aside(path: string, value: unknown): true {
    if (outcomeOf(purposeMeant(value)) === 'granted') this.read.withheld.push(path);
    return true;
  }

  /** Within an object of a name that may mean anything, a plain yes grants nothing. */
  #mayGrant(path: string, says: ChoiceMeant, value: unknown): boolean {
    if (outcomeOf(says) !== 'granted' || isConsentWord(value) || !this.#isGuessed(path)) return true;
    this.read.withheld.push(path);
    return false;
  }

  #isGuessed(path: string): boolean {
    const around = this.#payload.guessedAround(path);
    return around !== null && !isWrapper(around);
  }

  /** Reads a value as a list or object of purposes; false if it is neither. */
  #container(value: unknown, path: string, listed: Listed, depth: number): boolean {
    if (depth > MAX_DEPTH) return false;
    if (typeof value === 'object') this.#seen.add(value);
    if (typeof value === 'string') return this.#text(value, path, listed, depth);
    if (Array.isArray(value)) return this.#list(value, path, listed, depth);
    return isJsonObject(value) && this.#object(value, path, listed, depth);
  }

  #text(text: string, path: string, listed: Listed, depth: number): boolean {
    const json = parseWrapped(text);
    if (typeof json === 'object' && json !== null) {
      this.read.texts.set(path, json);
      return this.#container(json, path, listed, depth + 1);
    }
    if (/^\s*\[\s*\]\s*$/.test(text)) return this.#list([], path, listed, depth);
    const pairs = pairsIn(text);
    if (pairs !== null) {
      this.read.texts.set(path, pairs);
      return this.#object(pairs, path, listed, depth, true);
    }
    const isSigned = listed === null && hasSigns(text);
    if (!NAMES_LIST.test(path) && listed === null && !isSigned) return false;
    return this.#list(namesIn(text), path, listed, depth);
  }

  #list(items: readonly unknown[], path: string, listed: Listed, depth: number): boolean {
    if (items.length === 0) {
      // An empty list of accepted purposes means that nothing was accepted.
      if (listed === 'granted') this.read.grantsNothing = true;
      return true;
    }
    let any = false;
    for (const item of items.slice(0, MAX_PURPOSES)) {
      if (isJsonObject(item)) any = this.#item(item, path, listed) || any;
      else if (Array.isArray(item)) any = this.#container(item, path, listed, depth + 1) || any;
      else any = this.#name(item, path, listed) || any;
    }
    return any;
  }

  /** A name in a list, with a sign or words of its own at most: `-analytics`, `analytics (denied)`, `ads: no`. */
  #name(item: unknown, path: string, listed: Listed): boolean {
    const text = textOf(item, MAX_NAME);
    if (text === null) return false;
    const whole = typeof item === 'string' ? choiceMeant(text) : null;
    if (outcomeOf(whole) !== null && !isNecessary(text)) {
      // `["none"]`, `["all"]`: no purpose's name.
      if (whole === 'refused' && listed !== 'denied') this.read.grantsNothing = true;
      else this.read.unread.push(path);
      return true;
    }
    const signed = /^([-!~✗✘❌+✓✔✅])\s*(.+)$/u.exec(text);
    if (signed !== null)
      return this.#say(
        signed[2] ?? '',
        signed[2] ?? '',
        /[+✓✔✅]/u.test(signed[1] ?? '') ? 'given' : 'refused',
        path,
        text,
      );
    const told = /^(.{1,100}?)\s*(?:[:=([]|\s[-–—]\s)\s*([^)\]]{1,40})[)\]]?$/u.exec(text);
    if (told !== null) {
      const says = choiceMeant(told[2]);
      if (says !== null && this.#say(told[1] ?? '', told[1] ?? '', says, path, text)) return true;
      this.read.unread.push(path);
      return true;
    }
    // `no-marketing`, `doNotSell`
    if (roleOf(text).polarity === 'refusing')
      return this.#put(text.replace(/^(?:no|not|kein|keine)[-_ ]/i, ''), 'denied', path, text);
    if (listed === null) {
      this.read.listed.add(clean(text.trim()));
      if (this.read.consented === null && isCalledConsent(lastName(path)) && isFlag(text) && !isNecessary(text)) {
        this.read.consented = path;
        this.read.withheld.push(path);
      }
      return true;
    }
    return this.#put(text, listed, path, text);
  }

  #object(value: JsonObject, path: string, listed: Listed, depth: number, isPairs = false): boolean {
    const before = this.#size();
    const keys = Object.keys(value).slice(0, MAX_PURPOSES);
    if (listed === 'granted' && keys.length === 0) this.read.grantsNothing = true;
    if (keys.length > 0 && keys.every((key) => isBlank(value[key]))) this.read.isBlank = true;
    if (this.#areTimes(value, keys)) {
      for (const key of keys) this.#timeOrRefusal(key, value[key], `${path}.${key}`);
      return true;
    }
    const titled = areTitled(value, keys);
    const hasOwn = keys.some((key) => holdsOwn(key, value[key]));
    let known: boolean | null = null;
    for (const key of keys) {
      // {"groups": "C0001:1,C0002:0", "intType": 1}: what stands beside purposes is none.
      if (hasOwn && isBeside(key, value[key])) continue;
      if (mayBeStatus(key, value[key]) && (known ??= areKnown(value, keys))) {
        this.#aside(`${path}.${key}`, value[key]);
        continue;
      }
      if (titled && isNecessary(String(value[key]))) this.#put(key, 'necessary', `${path}.${key}`, value[key]);
      else if (titled && purposeMeant(value[key]) === null) this.read.listed.add(clean(String(value[key]).trim()));
      else this.#member(key, value[key], `${path}.${key}`, { listed, depth, isPairs });
    }
    const any = this.#size() > before || Object.keys(value).length === 0 || this.#platform?.services === 'ignored';
    if (this.#size() > before) this.#payload.use(value);
    return any;
  }

  /** Whether an object says when each purpose was accepted: `optional=-1|social=2026-11-26T15:00:00`. */
  #areTimes(value: JsonObject, keys: readonly string[]): boolean {
    let times = 0;
    for (const key of keys) {
      const one = value[key];
      // {"state": "2026-11-26T15:00:00Z", "purposes": …} is a record.
      if (notPurposes.has(normaliseName(key)) && !isFlag(key)) return false;
      if (isBlank(one) || one === false || one === 0 || String(one) === '-1') continue;
      const outcome = outcomeOf(choiceMeant(one));
      if (outcome === 'granted') return false;
      if (outcome === 'denied') continue;
      const role = roleOf(key);
      if (role.time !== null || role.isCircumstance || role.isScope || role.polarity === 'refusing') return false;
      if (bounds.has(role.plain)) return false;
      if (this.#payload.timeOf(one)?.counts !== true) return false;
      times += 1;
    }
    return times > 0;
  }

  #timeOrRefusal(key: string, value: unknown, path: string): void {
    if (isBlank(value)) return;
    const time = this.#payload.timeOf(value);
    if (time !== null) this.read.times.push(value);
    this.#put(key, time === null ? 'denied' : 'granted', path, value);
  }

  #size(): number {
    const { choices, listed, contradictions, grantsNothing } = this.read;
    return choices.size + listed.size + contradictions.length + Number(grantsNothing);
  }

  #member(
    key: string,
    item: unknown,
    path: string,
    { listed, depth, isPairs }: { readonly listed: Listed; readonly depth: number; readonly isPairs: boolean },
  ): void {
    const role = roleOf(key);
    const name = normaliseName(key);
    if (isBlank(item) || role.isLegitimateInterest || role.isTerms || role.isScope || defaults.has(name)) return;
    if (saysNotChosen(role, item)) {
      this.read.notChosen ??= `${path}=${shortly(item)}`;
      return;
    }
    if (typeof item === 'string' && this.#payload.isOpenedText(path)) return;
    const isNested = typeof item === 'object';
    if (role.time !== null && !role.timeGrants) this.read.times.push(item);
    if (role.time !== null && !isNested && typeof item !== 'boolean' && this.#payload.timeOf(item) !== null) return;
    const isList = Array.isArray(item) && role.isContainer && item.some(isJsonObject);
    if (isNested && (containers.has(name) || isList || this.#isOpened(item))) {
      if (!vendors.has(name) || sizeOf(item) <= MAX_VENDORS) this.#container(item, path, listed, depth + 1);
      return;
    }
    // {"purposes": {"enabled": ["a"], "disabled": ["b"]}}
    if (Array.isArray(item) && role.lists !== null) {
      this.#container(item, path, role.lists, depth + 1);
      return;
    }
    if (
      notPurposes.has(name) ||
      name === 'val' ||
      // `isAnonUser`, `hasSeenBanner`: what the visitor is, not what they chose.
      // `can_receive_email_marketing`, `allowAuctionWithoutConsent`: what a program may do by its own rules.
      /^can[A-Z_]|without/i.test(key) ||
      // `pending`, `is_test`: how the record stands.
      (role.flag !== null && role.flag !== 'any' && role.polarity === null && !role.isPurpose && !isNested) ||
      (/^(?:is|has|was)[A-Z_]/.test(key) && role.polarity === null && !role.isPurpose && !isNested) ||
      (role.isCircumstance && (isPairs || typeof item !== 'boolean' || !role.isPurpose) && !isNested)
    )
      return;
    if (isJsonObject(item)) {
      if (holdsPurposes(item)) this.#container(item, path, listed, depth + 1);
      else
        this.#takeItem(key, item, choiceWithin(item, path), path, () =>
          this.#unreadMember(key, item, path, { listed, depth }),
        );
      return;
    }
    // {"preferences_disabled": "analytics,marketing"}
    if (typeof item === 'string' && role.lists !== null && role.isContainer && choiceMeant(item) === null) {
      this.#container(namesIn(item), path, role.lists, depth + 1);
      return;
    }
    if (Array.isArray(item)) {
      // {"consents": {"statistics": ["google-analytics"]}}: the services that were accepted, if the object says so.
      const means = listed ?? (this.#platform?.services === true ? 'granted' : null);
      if (this.#platform?.services === 'ignored') return;
      if (means === 'granted') this.#put(key, item.length > 0 ? 'granted' : 'denied', path, item.length);
      else if (item.length > 0) this.read.unread.push(path);
      return;
    }
    if (typeof item === 'number' && ((item !== 0 && item !== 1 && item !== -1) || role.isCount)) {
      if (!role.isCircumstance) this.read.unread.push(path);
      return;
    }
    if (isAlwaysActive(item)) {
      this.#put(key, 'necessary', path, item);
      return;
    }
    const says = String(item) === '-1' ? 'refused' : purposeMeant(item);
    if (
      role.notChosenIf !== null ||
      (role.isStatus && !(role.polarity === 'refusing' && outcomeOf(says) === 'granted'))
    )
      return;
    // {"objections": {"profiling": true, "ads": false}}: a yes refuses, and a no says nothing.
    if (listed === 'denied' && outcomeOf(says) !== null) {
      const isWord = typeof item === 'string' && isRefusalWord(item);
      if (outcomeOf(says) === 'granted' || isWord) this.#put(key, 'denied', path, item);
      return;
    }
    if (!this.#say(key, key, says, path, item)) this.read.unread.push(path);
  }

  /** An object whose fields were opened as if they were the record's own. */
  #isOpened(item: unknown): boolean {
    return this.#payload.isOpened(item);
  }

  /** A purpose with an object that says what was chosen; `otherwise` if the object says nothing. */
  #takeItem(name: string, item: JsonObject, within: ChoiceWithin, path: string, otherwise: () => void): boolean {
    this.#items.add(item);
    const { answers } = this.read;
    if (within.answer !== null) answers.set(within.answer, (answers.get(within.answer) ?? 0) + 1);
    this.read.times.push(...within.times);
    this.#grantsWithin(item, path);
    if (isNecessary(name) && within.notChosen !== null) return this.#put(name, 'necessary', path, true);
    if (within.contradiction !== null) return this.#contradict(name, within.contradiction);
    // {"status": "0"}: refused, or not decided yet.
    if (within.says === 'refused' && isZeroState(item)) this.read.zeros += 1;
    // {"status": -1}: not decided yet, whatever was decided about the others.
    if (within.says === 'unknown' && Object.values(item).some((value) => Number(value) === -1)) {
      this.read.isBlank = true;
      return true;
    }
    if (within.necessary) return this.#put(name, 'necessary', path, true);
    if (within.notChosen !== null) {
      this.read.notChosen ??= within.notChosen;
      return outcomeOf(within.says) === 'granted' || this.#say(name, name, within.says, path, item);
    }
    if (this.#say(name, name, within.says, path, item)) return true;
    if (within.isStated && within.says === null) this.read.withheld.push(path);
    otherwise();
    return true;
  }

  /** {"vendorGrant": false, "purposeGrants": {"Personalised ads": false}}: by vendor, so that one refused for any is refused. */
  #grantsWithin(item: JsonObject, path: string): void {
    this.#isByVendor = true;
    for (const key of Object.keys(item).slice(0, MAX_MEMBERS)) {
      const value = item[key];
      if (isJsonObject(value) && /(?:grants|consents)$/i.test(key))
        this.#container(value, `${path}.${key}`, null, MAX_DEPTH - 1);
    }
    this.#isByVendor = false;
  }

  /** An object that is not a choice itself may hold purposes one level below: {"web": {"analytics": false}}. */
  #unreadMember(
    key: string,
    item: JsonObject,
    path: string,
    { listed, depth }: { readonly listed: Listed; readonly depth: number },
  ): void {
    if (isQuantity(item)) return void this.read.unread.push(path);
    if (isDescription(item)) {
      this.#described.add(plainForm(key));
      this.read.unread.push(path);
      return;
    }
    this.#under(isNecessary(key), () => {
      if (!this.#container(item, path, listed, depth + 1)) this.read.unread.push(path);
    });
  }

  /** Reads what is in a category, whose name says that nothing in it needs consent if `necessary`. */
  #under(necessary: boolean, read: () => void): void {
    const before = this.#isUnderNecessary;
    this.#isUnderNecessary ||= necessary;
    read();
    this.#isUnderNecessary = before;
  }

  /**
   * `[{"name": "analytics", "granted": true}]`. An item without a choice is granted only in a list of granted ones; this cannot be known here, so
   * it is noted as unread.
   */
  #item(item: JsonObject, path: string, listed: Listed): boolean {
    const name = nameWithin(item);
    const within = choiceWithin(item, path);
    if (name === null) {
      if (within.isStated) this.read.unread.push(path);
      else this.#object(item, path, listed, MAX_DEPTH - 1);
      return true;
    }
    // {"name": "Marketing", "plugins": [{"name": "…", "consent": "declined"}]}
    if (!within.isStated && !within.necessary && listed === null) {
      const before = this.#size();
      this.#under(isNecessary(name), () => {
        for (const [key, value] of Object.entries(item))
          if (Array.isArray(value) && value.some(isJsonObject))
            this.#container(value, `${path}.${key}`, null, MAX_DEPTH - 1);
      });
      if (this.#size() > before) return true;
    }
    if (!within.isStated && listed !== null && !within.necessary)
      return this.#say(name, name, listed === 'granted' ? 'given' : 'refused', path, item);
    return this.#takeItem(name, item, within, path, () => {
      if (!within.isStated) this.read.listed.add(clean(name.trim()));
      this.read.unread.push(path);
    });
  }

  #contradict(name: string, contradiction: Contradiction): true {
    this.#put(name, 'denied', contradiction[0], undefined);
    this.read.contradictions.push(contradiction);
    return true;
  }

  /** Notes what a flag or word says of a purpose; false if it says nothing. */
  #say(named: string, key: string, says: ChoiceMeant | null, path: string, value: unknown): boolean {
    const name = withChannel(named, path);
    const outcome = outcomeOf(says);
    if (outcome === null) return false;
    if (roleOf(key).polarity !== 'refusing' || (typeof value === 'string' && isRefusalWord(value)))
      return this.#put(name, outcome, path, value);
    // `doNotSell: true` refuses; `doNotSell: false` does not consent to a sale.
    return outcome === 'denied' || this.#put(name, 'denied', path, value);
  }

  /** What the record calls a purpose: `{"labels": {"C0000": "Strictly necessary"}}`. */
  #labelOf(name: string): string | undefined {
    this.#labels ??= labelsIn(this.#fields);
    return this.#labels.size === 0 ? undefined : this.#labels.get(plainForm(name));
  }

  #put(name: string, outcome: PurposeChoice, path: string, value: unknown): boolean {
    this.read.paths.add(path);
    const trimmed = clean(name.trim());
    if (trimmed === '' || trimmed.length > MAX_NAME || this.read.choices.size >= MAX_PURPOSES) return false;
    // A number among vendors is one of the TCF's list, which its string holds.
    if (/^\d+$/.test(trimmed) && isVendors(path)) return true;
    const platformNecessary = this.#platform?.necessary?.includes(normaliseName(trimmed)) === true;
    const label = this.#labelOf(trimmed);
    const choice =
      platformNecessary ||
      (this.#isUnderNecessary && outcome === 'granted') ||
      this.#payload.isNecessary(trimmed) ||
      (label !== undefined && isNecessary(label))
        ? 'necessary'
        : outcome;
    const key = purposeKey(trimmed);
    const known = this.#said.get(key);
    if (known === undefined) {
      this.#said.set(key, { name: trimmed, path, value });
      this.read.choices.set(trimmed, choice);
      return true;
    }
    const earlier = this.read.choices.get(known.name);
    if (earlier !== choice && earlier !== 'necessary' && choice !== 'necessary' && !isNecessary(trimmed)) {
      this.read.choices.set(known.name, 'denied');
      if (!this.#isByVendor)
        this.read.contradictions.push([`${known.path}=${shortly(known.value)}`, `${path}=${shortly(value)}`]);
    }
    return true;
  }
}

/** {"41ba25c": "Technically necessary", "7c00f1d": "Analysis"}: what each purpose is, and not what was chosen. */
function areTitled(value: JsonObject, keys: readonly string[]): boolean {
  return (
    keys.length > 1 &&
    keys.every((key) => typeof value[key] === 'string') &&
    keys.some((key) => purposeMeant(value[key]) === null) &&
    keys.some((key) => isNecessary(String(value[key])))
  );
}

/** `marketing` within `email` and `marketing` within `sms` are two purposes. */
function withChannel(name: string, path: string): string {
  const at = path.endsWith(`.${name}`) ? path.slice(0, -name.length - 1) : null;
  const channel = at === null ? '' : lastName(at);
  return channels.has(plainForm(channel)) ? `${channel} ${name}` : name;
}

/** Ways to reach somebody. */
const channels: ReadonlySet<string> = new Set('email sms phone push mail post whatsapp call'.split(' '));

/** Whether a path leads to vendors. */
export function isVendors(path: string): boolean {
  return /vendor[^.]*(?:\.[^.]*){0,2}$/i.test(path);
}

/** `denied` as the value of `analytics_denied` repeats the refusal instead of reversing it. */
function isRefusalWord(value: string): boolean {
  const says = choiceMeant(value);
  return (
    (says === 'refused' || says === 'withdrawn') &&
    !/^(?:false|0|no|n|off|none|nein|non|nee|nej|nao|nie)$/i.test(plainForm(value))
  );
}

function sizeOf(value: unknown): number {
  return Array.isArray(value)
    ? value.length
    : typeof value === 'object' && value !== null
      ? Object.keys(value).length
      : 0;
}

/** A value as quoted in a contradiction. */
export function shortly(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return clean(text.length > 60 ? `${text.slice(0, 59)}…` : text);
}

const known: ReadonlySet<string> = new Set(
  [...fieldNames.purposes, ...fieldNames.grantedPurposes, ...fieldNames.deniedPurposes].map((name) =>
    normaliseName(name),
  ),
);

/** The ends of a period. */
const bounds: ReadonlySet<string> = new Set(
  'from to start end begin von bis de a desde hasta du au da al van tot od do fran till'.split(' '),
);

/** What applied before the choice. */
const defaults: ReadonlySet<string> = new Set(['default', 'defaults', 'previous', 'old', 'before']);

const vendors: ReadonlySet<string> = new Set(['vendor', 'vendors', 'vendorconsents']);
/** Names of objects that hold purposes instead of being one. */
const containers: ReadonlySet<string> = new Set([
  ...fieldNames.purposes.map((name) => normaliseName(name)),
  ...vendors,
  'purpose',
  'purposeconsents',
  'categorypreferences',
  'optionalcookies',
  'value',
  'values',
  'list',
  'items',
  'results',
  'entries',
  'standard',
  'global',
  'web',
  'cookies',
  'purposegrants',
]);

const flagNames: ReadonlyMap<string, string> = new Map(purposeFlags.map((flag) => [normaliseName(flag), flag]));

/** Fields whose text is a list of purposes and not a word for the whole choice. */
const NAMES_LIST =
  /(?:categories|purposes|services|groups|selections|choices|preferences|consents|permissions|accepted|granted|allowed|rejected|denied|declined|ids)$/i;

const NAME_KEYS = [
  'purpose',
  'purposename',
  'category',
  'categoryname',
  'service',
  'name',
  'key',
  'slug',
  'code',
  'datause',
  'purposeid',
  'categoryid',
  'templateid',
  'dpsid',
  'id',
  'type',
  'label',
  'title',
  'noticekey',
  'subscriptionname',
  ...'libelle etiqueta etichetta rotulo etykieta etikett omschrijving opis popis denominacion bezeichner kennung bezeichnung zweck titel nom finalite titre nombre finalidad nome finalita categoria naam doel doeleinde categorie nazwa cel kategoria namn andamal kategori navn formal nimi tarkoitus nazev ucel lista liste topic pluginname typ tipo soort rodzaj communicationmedium medium scope permission'.split(
    ' ',
  ),
];

/** Those that some use for the choice instead. */
const mayBeChoice: ReadonlySet<string> = new Set(['type', 'typ', 'tipo', 'soort', 'rodzaj', 'permission']);

/** Fields of an item that hold its choice if their names say nothing else, in plain form. */
const choiceKeys: ReadonlySet<string> = new Set([
  'consent',
  'status',
  'state',
  'choice',
  'decision',
  'value',
  'selected',
  'checked',
  'preference',
  'answer',
  'response',
  'transactiontype',
  'action',
  'consentstatus',
  'consentstate',
  'purposestatus',
  'choicestate',
  'active',
  'isactive',
  'permission',
  'subscription',
  'subscriptionstatus',
  'val',
  'update',
  'current',
  ...'wert antwort etat valeur choix reponse estado valor respuesta eleccion stato valore risposta scelta waarde keuze antwoord resposta escolha wartosc wybor odpowiedz varde svar vaerdi tila arvo vastaus stav hodnota aktiv actif activo attivo actief ativo'.split(
    ' ',
  ),
]);

/** The most fields examined in an object about one purpose. */
const MAX_MEMBERS = 50;

interface ChoiceWithin {
  readonly says: ChoiceMeant | null;
  readonly contradiction: Contradiction | null;
  /** The record itself says that the purpose needs no consent. */
  readonly necessary: boolean;
  /** It has a field for the choice, understood or not. */
  readonly isStated: boolean;
  /** The field that says that the visitor did not choose, or that processing rests on something else than consent. */
  readonly notChosen: string | null;
  readonly times: readonly unknown[];
  /** The field of {@link onlyAnswer}, if nothing else tells the choice. */
  readonly answer: string | null;
}

/** {"unit": "HOUR", "value": 1} */
function isQuantity(item: JsonObject): boolean {
  return typeof item['unit'] === 'string' && typeof item['value'] === 'number';
}

/** What an object about one purpose says of it: every statement counts, and grants only if none refuses. */
function choiceWithin(item: JsonObject, path: string, depth = 0): ChoiceWithin {
  const found: { grants: (() => string) | null; refuses: (() => string) | null; says: ChoiceMeant | null } = {
    ...{ grants: null, refuses: null, says: null },
  };
  let necessary = false;
  let isOfNecessary = false;
  let isStated = false;
  let notChosen: string | null = null;
  let answer: string | null = null;
  const times: unknown[] = [];
  const take = (meant: ChoiceMeant | null, at: () => string) => {
    const outcome = outcomeOf(meant);
    if (outcome === 'granted') found.grants ??= at;
    if (outcome === 'denied') found.refuses ??= at;
    if (found.says === null || outcome === 'denied') found.says = meant ?? found.says;
  };
  let count = 0;
  const isNone = isQuantity(item);
  for (const key in item) {
    if (isNone || !Object.hasOwn(item, key) || ++count > MAX_MEMBERS) continue;
    const value = item[key];
    const role = roleOf(key);
    const name = role.plain;
    // {"default": true, "update": false}: what applied before the choice, and the choice.
    if (name === 'default' && (item['update'] !== undefined || item['current'] !== undefined)) continue;
    const at = () => `${path}.${key}=${shortly(value)}`;
    if (role.isCategory) isOfNecessary ||= namesNecessity(value);
    if (role.isNecessaryFlag && typeof value !== 'object') {
      necessary ||= choiceMeant(value) === 'given';
      continue;
    }
    if (role.time !== null) times.push(value);
    if (name === 'history' && Array.isArray(value)) {
      // The last of a purpose's choices.
      const last = value.filter(isJsonObject).at(-1);
      if (last !== undefined && depth < 3) times.push(...choiceWithin(last, path, depth + 1).times, last['timestamp']);
      if (last !== undefined)
        notChosen ??= Object.entries(last).find(([inner, said]) => saysNotChosen(roleOf(inner), said))?.[0] ?? null;
      continue;
    }
    if (saysOtherBasis(role, value) || saysNotChosen(role, value)) {
      notChosen ??= at();
      continue;
    }
    if (
      (role.polarity === null && !choiceKeys.has(name)) ||
      isBlank(value) ||
      role.isTerms ||
      role.isLegitimateInterest
    )
      continue;
    if (role.isCircumstance && name !== 'transactiontype') continue;
    // How somebody opted in, and not whether they still are.
    if (typeof value === 'string' && /^(?:single|double|confirmed)[-_ ]?opt[-_ ]?in$/i.test(value)) continue;
    if (isJsonObject(value)) {
      if (depth > 1 || role.polarity === 'refusing') continue;
      const within = choiceWithin(value, `${path}.${key}`, depth + 1);
      times.push(...within.times);
      if (within.contradiction !== null) return { ...within, isStated: true };
      notChosen ??= within.notChosen;
      isStated ||= within.isStated;
      if (within.says !== null) take(within.says, () => `${path}.${key}`);
      continue;
    }
    if (Array.isArray(value) || (typeof value === 'number' && value !== 0 && value !== 1 && value !== -1)) continue;
    isStated = true;
    const meant = choiceMeant(value);
    if (isAlwaysActive(value)) necessary = true;
    else if (role.polarity === 'refusing') {
      if (outcomeOf(meant) === 'granted' || (typeof value === 'string' && isRefusalWord(value))) take('refused', at);
    } else if (value === -1 || value === '-1') take('unknown', at);
    else take(name === 'transactiontype' && typeof value === 'string' ? transactionMeant(value) : meant, at);
  }
  if (!isStated && found.says === null) {
    const only = onlyAnswer(item, path);
    if (only !== null) {
      isStated = true;
      answer = only.key;
      take(only.meant, () => only.at);
    }
  }
  const { grants, refuses, says } = found;
  // Of a category that needs no consent, and on: {"name": "CMP", "categorySlug": "essenziell", "status": true}. What was refused stays refused.
  necessary ||= isOfNecessary && says !== null && refuses === null;
  const contradiction: Contradiction | null =
    grants !== null && refuses !== null && !necessary ? [grants(), refuses()] : null;
  return { says, contradiction, necessary, isStated, notChosen, times, answer };
}

/** Whether the value of a field for a category is one that needs no consent: {"category": {"slug": "essential"}}. */
function namesNecessity(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= MAX_NAME && isNecessary(value);
  if (Array.isArray(value))
    return value.length > 0 && value.every((one) => typeof one === 'string' && isNecessary(one));
  const name = isJsonObject(value) ? nameWithin(value) : null;
  return name !== null && isNecessary(name);
}

/** Whether {@link choiceWithin} reads a field of an object about one purpose by its name, or knowingly passes it over. */
export function isReadWithin(role: NameRole): boolean {
  return role.polarity !== null || choiceKeys.has(role.plain) || defaults.has(role.plain);
}

/** Answers in so many words, in plain form. */
const answers: ReadonlySet<string> = new Set(
  'yes no ja nein nej nee oui non si tak nie sim nao ano ne kylla ei'.split(' '),
);

/** The only yes or no among the texts of an object about one purpose, whatever its field is called; null: there is none, or several. */
function onlyAnswer(
  item: JsonObject,
  path: string,
): { readonly meant: ChoiceMeant; readonly key: string; readonly at: string } | null {
  let only: { meant: ChoiceMeant; key: string; at: string } | null = null;
  for (const key of Object.keys(item).slice(0, MAX_MEMBERS)) {
    const value = item[key];
    if (typeof value !== 'string' || value.length > 6 || !answers.has(plainForm(value))) continue;
    const role = roleOf(key);
    const meant = choiceMeant(value);
    if (only !== null || meant === null || role.isCircumstance || role.isTerms || role.isFormer || role.isCount)
      return null;
    const isRefusing = role.polarity === 'refusing';
    if (isRefusing && outcomeOf(meant) !== 'granted') return null;
    only = { meant: isRefusing ? 'refused' : meant, key, at: `${path}.${key}=${shortly(value)}` };
  }
  return only;
}

/** The name of a purpose within its object: a usual one, else the only field that looks like an identifier. */
function nameWithin(item: JsonObject): string | null {
  const values = byNormalisedName(item);
  for (const key of NAME_KEYS) {
    const value = values.get(key);
    // {"name": {"en": "Analytics", "de": "Analyse"}}
    const name = textOf(isJsonObject(value) ? (value['en'] ?? Object.values(value)[0]) : value, MAX_NAME);
    if (name !== null && (!mayBeChoice.has(key) || choiceMeant(name) === null)) return name;
  }
  for (const [key, value] of Object.entries(item).slice(0, 50)) {
    const name = typeof value === 'string' ? textOf(value, MAX_NAME) : null;
    if (
      name !== null &&
      roleOf(key).time === null &&
      /(?:purpose|category|notice|topic|channel|service|vendor|permission|preference|list|plugin)[a-z_]*(?:id|name|key|slug|code)$|(?:key|slug|code)$/i.test(
        normaliseName(key),
      )
    )
      return name;
  }
  return null;
}

/** OneTrust's words for what a receipt does to a purpose. */
function transactionMeant(value: string): ChoiceMeant | null {
  return plainForm(value) === 'confirmed' || plainForm(value) === 'changepreferences' ? 'given' : choiceMeant(value);
}

/** `Granted` and `granted` are the same field, as everywhere; the first one counts. */
function byNormalisedName(item: JsonObject): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  for (const key of Object.keys(item).slice(0, MAX_PURPOSES)) {
    const name = normaliseName(key);
    if (!values.has(name)) values.set(name, item[key]);
  }
  return values;
}

export function outcomeOf(choice: ChoiceMeant | null): 'granted' | 'denied' | null {
  switch (choice) {
    case 'given':
    case 'renewed-given':
      return 'granted';
    case 'refused':
    case 'withdrawn':
    case 'expired':
    case 'terminated':
    case 'invalidated':
      return 'denied';
    case 'requested':
    case 'request-deferred':
    case 'unknown':
    case 'by-purpose':
    case null:
      return null;
  }
}
