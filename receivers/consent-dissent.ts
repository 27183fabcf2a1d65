import { isNecessary } from '../src/core/consent-judgement.ts';
import { plainForm, wordsOfName } from '../src/core/plain-words.ts';
import { choiceMeant } from './choice-words.ts';
import {
  fieldsBeside,
  isStatementName,
  type NamedField,
  type NameRole,
  roleOf,
  saysNotChosen,
  saysNotChosenBeside,
} from './consent-names.ts';
import { isCommand, isReadWithin, isVendors, type PurposesRead, shortly } from './consent-purposes.ts';
import { isBlank, isJsonObject, type JsonObject, mayBeWrapped, parseWrapped } from './parse.ts';
import type { Payload } from './payload.ts';

/** The most values looked at, and how deep; beyond, a record counts as if something in it dissented. */
const MAX_VALUES = 2000;
const MAX_DEPTH = 6;
/** Longer texts are not looked at for JSON, in UTF-16 units. */
const MAX_TEXT = 100_000;

/** Names of what was before, or follows from the choice, in plain form. */
const elsewhere: ReadonlySet<string> = new Set(
  'changes log logs timeline revisions audit auditlog versions history historia storico verlauf historique historial historico geschiedenis historik historie historiikki destinations integrations'.split(
    ' ',
  ),
);

/** Where a value stands. */
interface Place {
  readonly depth: number;
  /** In an object that was read as purposes. */
  readonly isRead: boolean;
  /** In an object about a single purpose, whose fields for the choice were read. */
  readonly isItem: boolean;
  /** Next to an envelope, where a state may be that of the delivery. */
  readonly isBeside: boolean;
}

/**
 * What somewhere in a payload speaks against consent, or may, and was not read as the choice for a purpose, as its path and value:
 * `properties.action=reject`, `notice.type=shown`, `review.isolated=false`. Whatever the record grants is then in doubt. Null: there is nothing.
 * Speaks against it: a statement; a refusing flag of consent or of a purpose; a list of refused names; answers for granted purposes that are all
 * empty. May do so: any other flag whose name is not known to be harmless. `fields`: those of the content. `stated`: statements about the whole that were read, as `path=value`.
 */
export function dissentIn(
  payload: Payload,
  fields: readonly NamedField[],
  purposes: PurposesRead,
  stated: readonly string[],
): string | null {
  return new Scan('dissent', payload, purposes, stated).find(fields);
}

/**
 * What somewhere in a payload may consent to something and was not read, as its path and value: `child.consent_photos=true` beside what was refused. That
 * the whole is refused is then in doubt. Null: there is nothing. Parameters as for {@link dissentIn}.
 */
export function assentIn(
  payload: Payload,
  fields: readonly NamedField[],
  purposes: PurposesRead,
  stated: readonly string[],
): string | null {
  return new Scan('assent', payload, purposes, stated).find(fields);
}

class Scan {
  readonly #sought: 'dissent' | 'assent';
  readonly #payload: Payload;
  readonly #purposes: PurposesRead;
  readonly #stated: readonly string[];
  #granted: ReadonlySet<string> | null = null;
  #left = MAX_VALUES;

  constructor(sought: 'dissent' | 'assent', payload: Payload, purposes: PurposesRead, stated: readonly string[]) {
    this.#sought = sought;
    this.#payload = payload;
    this.#purposes = purposes;
    this.#stated = stated;
  }

  find(fields: readonly NamedField[]): string | null {
    for (const field of fields) {
      const dissent = this.#field(field, false);
      if (dissent !== null) return dissent;
    }
    for (const field of fieldsBeside(this.#payload)) {
      const dissent = this.#field(field, true);
      if (dissent !== null) return dissent;
    }
    return null;
  }

  #field({ key, value, path, parent, role }: NamedField, isBeside: boolean): string | null {
    if (this.#payload.isOpened(value) || (isBeside && typeof value !== 'object')) return null;
    const place = {
      depth: 0,
      isRead: this.#purposes.isRead(parent),
      isItem: this.#purposes.isItem(parent),
      isBeside,
    };
    if (typeof value === 'object' && value !== null) return this.#under(role, value, path, place);
    return this.#flag(key, value, role, path, place) ?? this.#text(value, path, role, place);
  }

  /** What stands under a name. */
  #under(role: NameRole, value: object, path: string, place: Place): string | null {
    if (isApart(role)) return null;
    if (this.#sought === 'assent') return this.#within(value, path, place);
    if (Array.isArray(value)) {
      const areNames = role.lists === 'denied' && value.some((item) => typeof item === 'string');
      if (areNames && !place.isBeside && !this.#purposes.isRead(value)) return `${path}=${shortly(value)}`;
    } else if (isJsonObject(value) && !place.isBeside && this.#areUnanswered(value, role))
      return `${path}=${shortly(value)}`;
    // What a circumstance says of itself (`reason: {action: "reject"}`) is no statement; its flags count all the same.
    const isOther = role.isCircumstance && !isStatementName(role.plain);
    return this.#within(value, path, isOther ? { ...place, isRead: true } : place);
  }

  #within(value: unknown, path: string, { depth, isRead, isItem, isBeside }: Place): string | null {
    if (typeof value !== 'object' || value === null) return null;
    if (depth > MAX_DEPTH) return path;
    // What was set by default is not what was chosen.
    if (isCommand(value) && value[1] !== 'update') return null;
    const place = {
      depth: depth + 1,
      isRead: isRead || this.#purposes.isRead(value),
      isItem: isItem || this.#purposes.isItem(value),
      isBeside,
    };
    if (Array.isArray(value)) {
      for (const item of value) {
        if (typeof item !== 'object' && typeof item !== 'string') continue;
        if ((this.#left -= 1) < 0) return path;
        const found =
          typeof item === 'string' ? this.#text(item, `${path}[]`, null, place) : this.#within(item, path, place);
        if (found !== null) return found;
      }
      return null;
    }
    if (!isJsonObject(value)) return null;
    for (const key of Object.keys(value)) {
      if ((this.#left -= 1) < 0) return path;
      const inner = value[key];
      if (isBlank(inner)) continue;
      const role = roleOf(key);
      const at = `${path}.${key}`;
      const found =
        typeof inner === 'object' && inner !== null
          ? this.#under(role, inner, at, { ...place, isItem: place.isItem && isReadWithin(role) })
          : this.#leaf(key, inner, role, at, place);
      if (found !== null) return found;
    }
    return null;
  }

  #leaf(key: string, value: unknown, role: NameRole, at: string, place: Place): string | null {
    if (this.#sought === 'dissent' && !place.isRead && !isApartAlone(role) && says(value, role, place.isBeside))
      return `${at}=${shortly(value)}`;
    if (place.isBeside) return null;
    return this.#flag(key, value, role, at, place) ?? this.#text(value, at, role, place);
  }

  /** JSON in a text is gone through as if it stood there. */
  #text(value: unknown, path: string, role: NameRole | null, place: Place): string | null {
    if (typeof value !== 'string' || value.length < 8 || value.length > MAX_TEXT || place.isBeside) return null;
    const within = { ...place, depth: place.depth + 1 };
    const { texts } = this.#purposes;
    const known = texts.size === 0 ? undefined : texts.get(path);
    if (known !== undefined) return this.#within(known, path, within);
    if (!mayBeWrapped(value) || (role !== null && isApart(role))) return null;
    const json = parseWrapped(value);
    return json === undefined ? null : this.#within(json, path, within);
  }

  /** A flag that was not read and refuses, or may mean anything. */
  #flag(key: string, value: unknown, role: NameRole, at: string, place: Place): string | null {
    const answer = answerOf(value, role);
    if (answer === null) return null;
    if (role.isTerms || role.isLegitimateInterest || role.isScope || role.isNecessaryFlag || role.notChosenIf !== null)
      return null;
    if (this.#sought === 'assent') return answer === 'yes' ? this.#assent({ key, value, role }, at, place) : null;
    // A field that answers in several items alike is their answer, whatever it is called.
    if (place.isItem && (isReadWithin(role) || (this.#purposes.answers.get(key) ?? 0) > 1)) return null;
    const isText = typeof value === 'string';
    // `language: "no"`, `consent_model: "opt-out"`
    if (isText && role.isCircumstance && (answer !== 'refusal' || isModel(value) || !hasRefusal(value))) return null;
    // The vendors and special features of a TCF string, as numbers.
    if (/^\d+$/.test(key) && (isVendors(at) || /specialfeature[a-z]*\.\d+$/i.test(at))) return null;
    // `rejectedAny: true` beside what was refused.
    if (role.polarity === 'refusing' && this.#isPartlyDenied() && wordsOfName(key).includes('any')) return null;
    const refuses = role.polarity === 'refusing' ? answer === 'yes' : answer !== 'yes';
    const isNamed = (role.isPurpose || role.isConsent) && role.time === null && !role.isFormer;
    // `AwaitingReconsent: false`
    const isPast = role.flag === 'no' && role.polarity !== 'refusing' && answer === 'no';
    if (isNamed && refuses && !role.isOfAll && !isPast) return this.#isStated(at) ? null : `${at}=${shortly(value)}`;
    if (typeof value === 'number' || role.time !== null) return null;
    const isHarmless =
      role.flag === 'any'
        ? answer !== 'refusal'
        : role.flag === 'no'
          ? answer === 'no'
          : role.flag === 'yes' && answer === 'yes';
    return isHarmless || this.#isStated(at) || this.#payload.isKnownToSource(at) ? null : `${at}=${shortly(value)}`;
  }

  /** A yes that was not read, under a name of consent or of a purpose. */
  #assent(
    { key, value, role }: Pick<NamedField, 'key' | 'value' | 'role'>,
    at: string,
    { isRead, isItem }: Place,
  ): string | null {
    if (isRead || isItem || isNecessary(key) || role.polarity === 'refusing' || role.isOfAll) return null;
    const isNamed = role.isOfConsent || role.isPurpose;
    if (!isNamed || role.time !== null || role.isFormer || role.isSetting || role.isCircumstance) return null;
    return this.#isStated(at) || this.#payload.isKnownToSource(at) ? null : `${at}=${shortly(value)}`;
  }

  /** Asked last: finding a path takes longer than judging a name. */
  #isStated(at: string): boolean {
    return this.#purposes.paths.has(at) || this.#stated.some((one) => one.startsWith(at) && one[at.length] === '=');
  }

  /** {"purposes": {"a": true, "m": true}, "answers": {"a": "", "m": ""}}: allowed, but nobody answered. */
  #areUnanswered(value: JsonObject, role: NameRole): boolean {
    if (role.polarity === 'refusing' || role.time !== null || role.isCircumstance) return false;
    const keys = Object.keys(value);
    if (keys.length === 0 || !keys.every((key) => isBlank(value[key]))) return false;
    const granted = this.#grantedNames();
    const empty = keys.filter((key) => granted.has(plainForm(key))).length;
    return empty >= Math.min(2, granted.size) && empty > 0;
  }

  #isPartlyDenied(): boolean {
    for (const choice of this.#purposes.choices.values()) if (choice === 'denied') return true;
    return false;
  }

  /** In plain form. */
  #grantedNames(): ReadonlySet<string> {
    if (this.#granted === null) {
      const granted = new Set<string>();
      for (const [name, choice] of this.#purposes.choices) if (choice === 'granted') granted.add(plainForm(name));
      this.#granted = granted;
    }
    return this.#granted;
  }
}

const yes: ReadonlySet<string> = new Set('true yes on y ja oui si sim tak da ano kylla'.split(' '));
const no: ReadonlySet<string> = new Set(
  'false no off n nein non nee nej nei nao nie ne ei none aus uit disabled inactive'.split(' '),
);

type Answer = 'yes' | 'no' | 'refusal';

/** A flag as an answer: `refusal`: in a word of refusal. Null: it is no flag. */
function answerOf(value: unknown, role: NameRole): Answer | null {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') {
    const isNamed = (role.isPurpose || role.isConsent) && !role.isCount && !role.isCircumstance && !role.isContainer;
    return !isNamed || (value !== 0 && value !== 1) ? null : value === 1 ? 'yes' : 'no';
  }
  // Ids, times and versions have digits.
  if (typeof value !== 'string' || value.length > 40 || /\d/.test(value)) return null;
  let answer = remembered.get(value);
  if (answer === undefined) {
    answer = wordMeant(value);
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(value, answer);
  }
  return answer;
}

const remembered = new Map<string, Answer | null>();
const MAX_REMEMBERED = 2000;

function wordMeant(value: string): Answer | null {
  const word = plainForm(value);
  if (yes.has(word)) return 'yes';
  if (no.has(word)) return 'no';
  return isRefusal(choiceMeant(value)) && !isNecessary(value) ? 'refusal' : null;
}

function isRefusal(meant: ReturnType<typeof choiceMeant>): boolean {
  return meant === 'refused' || meant === 'withdrawn' || meant === 'expired' || meant === 'invalidated';
}

/** Whether a text has a word of refusal, and does not only name what is necessary. */
function hasRefusal(text: string): boolean {
  return wordsOfName(text).some((word) => isRefusal(choiceMeant(word)) && !isNecessary(word));
}

/** A word that is also the model of a region. */
function isModel(value: string): boolean {
  return /^opt[-_ ]?(?:in|out)$/i.test(value);
}

/** Whether what is under a name is about something else, or about an earlier time: nothing there speaks for or against consent. */
export function isApart({ isTerms, isLegitimateInterest, isFormer, isSetting, isScope, plain }: NameRole): boolean {
  return (
    isTerms || isLegitimateInterest || isFormer || (isSetting && !around.has(plain)) || isScope || elsewhere.has(plain)
  );
}

/** The same for a statement, which a circumstance is not. */
function isApartAlone(role: NameRole): boolean {
  return isApart(role) || role.isSetting || (role.isCircumstance && !isStatementName(role.plain));
}

/** Things around a visitor, whose flags say something of the record. */
const around: ReadonlySet<string> = new Set(['device', 'browser', 'app', 'sdk', 'geo']);

function says(value: unknown, role: NameRole, isBeside: boolean): boolean {
  if (isBeside ? saysNotChosenBeside(role, value) : saysNotChosen(role, value)) return true;
  if (role.polarity === 'refusing' && !role.isCount) return choiceMeant(value) === 'given';
  if (typeof value !== 'string' || !(isStatementName(role.plain) || role.isWhole)) return false;
  // `ON` and `NO` under `state` are places.
  if (role.plain === 'state' && value.length === 2) return false;
  switch (choiceMeant(value)) {
    case 'refused':
    case 'withdrawn':
      return true;
    case 'expired':
    case 'terminated':
    case 'invalidated':
    case 'requested':
    case 'request-deferred':
    case 'unknown':
      return !isBeside;
    default:
      return false;
  }
}
