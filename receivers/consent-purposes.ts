import type { ConsentState } from '../src/core/vocabulary.ts';
import { fieldNames, purposeFlags } from './field-names.ts';
import { normaliseName } from './field-table.ts';
import { clean, isJsonObject, type JsonObject, parseText, textOf } from './parse.ts';
import type { Payload } from './payload.ts';

/**
 * Spellings of a consent choice, without case and separators, with the state that each means (ISO/IEC TS 27560).
 * `by-purpose`: something was chosen, and only the purposes say what.
 */
const words: Readonly<Record<ConsentState | 'by-purpose', string>> = {
  given:
    'given give accept accepted acceptall acceptedall allaccepted accepts allow allowed allowall allowedall agree agreed agreetoall grant granted grantall grantedall ' +
    'consent consented consentgiven optin optedin yes y true 1 on enabled enable all',
  'renewed-given': 'renewedgiven renew renewed reconfirmed reconfirm regiven reconsented',
  refused:
    'refused refuse refuseall refusedall reject rejected rejectall rejectedall allrejected decline declined declineall declinedall deny denied denyall deniedall ' +
    'disagree disagreed disallow disallowed no n false 0 off disabled disable none optout optedout donotsell notgranted notgiven noconsent ' +
    'necessaryonly onlynecessary essentialonly onlyessential requiredonly strictlynecessary strictlynecessaryonly acceptnecessary acceptessential necessary essential rejectnonessential',
  withdrawn:
    'withdrawn withdraw withdrew withdrawal withdrawconsent consentwithdrawn revoke revoked revocation consentrevoked retracted retract',
  expired: 'expired expire lapsed',
  terminated: 'terminated terminate',
  invalidated: 'invalidated invalidate invalid',
  requested: 'requested request pending shown displayed prompted',
  'request-deferred': 'requestdeferred deferred dismiss dismissed closed close ignored later askmelater',
  unknown: '',
  'by-purpose':
    'partial partially partiallyaccepted partialconsent acceptpartial custom customize customized customise customised customchoice some selected selection acceptselected acceptselection ' +
    'allowselection allowselected mixed granular save saved savepreferences savedpreferences savechoices savesettings preferences update updated updatepreferences preferencesupdated changed modified',
};

const states = new Map<string, ConsentState | 'by-purpose'>();
for (const [state, spellings] of Object.entries(words)) {
  for (const word of spellings.split(' ')) if (word !== '') states.set(word, state as ConsentState);
}

/** The consent state that a word, flag or 0/1 means; null if its spelling is unknown. */
export function choiceMeant(value: unknown): ConsentState | 'by-purpose' | null {
  if (value === true || value === 1) return 'given';
  if (value === false || value === 0) return 'refused';
  if (typeof value !== 'string' || value.length > 60) return null;
  return states.get(value.toLowerCase().replace(/[^a-z0-9]+/g, '')) ?? null;
}

export type Purposes = Map<string, 'granted' | 'denied'>;

/** The most purposes read in one decision. */
const MAX_PURPOSES = 500;
const MAX_NAME = 200;

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
      'consentedAt',
      'consentCreatedAt',
      'occurredAt',
      'language',
      'purposes',
      'grantedPurposes',
      'deniedPurposes',
      'bannerVersion',
      'consentMethod',
      'consentDomain',
      'consentPage',
      'gpcSignal',
      'tcfSignal',
      'gppSignal',
      'uspSignal',
      'consentModeSignal',
    ] as const
  )
    .flatMap((field) => fieldNames[field])
    .map((name) => normaliseName(name.split('.')[0] ?? ''))
    .concat('version', 'method', 'source')
    .filter((name) => !purposeFlags.map(normaliseName).includes(name)),
);

/**
 * The choice for each purpose, under the purposes' names as received. Understands an object purpose → flag or word (or
 * object with one); a list of accepted names; a list of objects with name and choice; lists of accepted and of rejected
 * names; any of these as JSON in a string, or names with commas; and flags of well-known purposes in the record itself.
 */
export function readPurposes(payload: Payload): Purposes {
  const purposes: Purposes = new Map();
  readList(payload, 'purposes', 'granted', purposes);
  readList(payload, 'grantedPurposes', 'granted', purposes);
  readList(payload, 'deniedPurposes', 'denied', purposes);
  if (purposes.size > 0) return purposes;
  for (const flag of purposeFlags) {
    const value = payload.named(flag);
    if (value !== undefined && !isJsonObject(value)) put(purposes, flag, choiceMeant(value));
  }
  return purposes;
}

type ListField = 'purposes' | 'grantedPurposes' | 'deniedPurposes';

function readList(payload: Payload, field: ListField, listed: 'granted' | 'denied', into: Purposes): void {
  let puzzling: string | null = null;
  for (const { value, path } of payload.each(field)) {
    // A word or flag for the whole choice ("accepted": true) belongs to the state.
    if (choiceMeant(value) !== null || typeof value === 'number') continue;
    if (collect(value, path, listed, payload, into)) return;
    if (typeof value !== 'string') puzzling ??= path;
  }
  if (puzzling !== null) payload.puzzle(puzzling);
}

function collect(
  value: unknown,
  path: string,
  listed: 'granted' | 'denied',
  payload: Payload,
  into: Purposes,
): boolean {
  if (typeof value === 'string') {
    const json = /^\s*[[{]/.test(value) ? parseText(value) : undefined;
    if (json !== undefined) return collect(json, path, listed, payload, into);
    return NAMES_LIST.test(path) && collect(value.split(/[,;|]/), path, listed, payload, into);
  }
  const before = into.size;
  if (Array.isArray(value)) {
    for (const item of value.slice(0, MAX_PURPOSES)) {
      if (isJsonObject(item)) collectItem(item, path, listed, payload, into);
      else put(into, textOf(item, MAX_NAME), listed === 'granted' ? 'given' : 'refused');
    }
    // An empty list of accepted purposes means that nothing was accepted.
    return into.size > before || value.length === 0;
  }
  if (!isJsonObject(value)) return false;
  const keys = Object.keys(value)
    .slice(0, MAX_PURPOSES)
    .filter((key) => !notPurposes.has(normaliseName(key)));
  for (const key of keys) {
    const item = value[key];
    // Google's consent mode and others nest: {"analytics": {"granted": true}}. {"accepted": [...]} is read elsewhere.
    const choice = isJsonObject(item) ? choiceWithin(item) : choiceMeant(item);
    if (!put(into, key, choice)) payload.puzzle(`${path}.${key}`);
  }
  if (into.size === before) return false;
  payload.use(value);
  return true;
}

/** Fields whose text is a list of purposes and not a word for the whole choice. */
const NAMES_LIST =
  /(?:categories|purposes|services|groups|selections|choices|preferences|consents|permissions|accepted|granted|allowed|rejected|denied|declined)$/i;

const NAME_KEYS = ['purpose', 'category', 'name', 'key', 'slug', 'code', 'id', 'type', 'label', 'title'] as const;
const CHOICE_KEYS = [
  'granted',
  'consent',
  'consented',
  'accepted',
  'allowed',
  'enabled',
  'given',
  'status',
  'state',
  'choice',
  'decision',
  'value',
  'selected',
  'checked',
] as const;

/**
 * `[{"name": "analytics", "granted": true}]`. An item without a choice is granted only in a list of granted ones; this
 * cannot be known here, so it is noted as a puzzle.
 */
function collectItem(
  item: JsonObject,
  path: string,
  listed: 'granted' | 'denied',
  payload: Payload,
  into: Purposes,
): void {
  const values = byNormalisedName(item);
  const name = NAME_KEYS.map((key) => textOf(values.get(key), MAX_NAME)).find((text) => text !== null) ?? null;
  const stated = choiceWithin(item);
  const fromList =
    CHOICE_KEYS.every((key) => values.get(key) === undefined) &&
    /accept|grant|allow|consented|reject|den|declin|refus/i.test(path);
  const choice = stated ?? (fromList ? (listed === 'granted' ? 'given' : 'refused') : null);
  if (!put(into, name, choice)) payload.puzzle(path);
}

function choiceWithin(item: JsonObject): ReturnType<typeof choiceMeant> {
  const values = byNormalisedName(item);
  for (const key of CHOICE_KEYS) {
    const choice = choiceMeant(values.get(key));
    if (choice !== null) return choice;
  }
  return null;
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

function put(into: Purposes, name: string | null, choice: ReturnType<typeof choiceMeant>): boolean {
  if (name === null || name.trim() === '' || name.length > MAX_NAME) return false;
  const outcome = outcomeOf(choice);
  if (outcome === null || into.size >= MAX_PURPOSES) return false;
  into.set(clean(name.trim()), outcome);
  return true;
}

function outcomeOf(choice: ReturnType<typeof choiceMeant>): 'granted' | 'denied' | null {
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
