import { type Doubt, isNecessary, type PurposeChoice } from '../src/core/consent-judgement.ts';
import { plainForm, wordsOfName } from '../src/core/plain-words.ts';
import type { ConsentState } from '../src/core/vocabulary.ts';
import { type ChoiceMeant, choiceMeant } from './choice-words.ts';
import { choiceNamed, namesConsent } from './consent-events.ts';
import { latestInHistory } from './consent-history.ts';
import {
  fieldsBeside,
  lastName,
  type NamedField,
  roleOf,
  saysNotChosen,
  saysNotChosenBeside,
  saysOtherBasis,
} from './consent-names.ts';
import { type PurposesRead, shortly } from './consent-purposes.ts';
import { normaliseName } from './field-table.ts';
import { clean, textOf } from './parse.ts';
import type { Payload } from './payload.ts';
import type { Platform } from './platforms.ts';

/** One statement about the whole choice. */
interface Statement {
  readonly choice: ChoiceMeant;
  /** Its field and value. */
  readonly at: string;
}

/** What a record states, purpose by purpose and about the whole. */
export interface Statements {
  readonly purposes: PurposesRead;
  readonly whole: readonly Statement[];
  readonly withdrawn: boolean;
  /** The statement that the visitor did not choose. */
  readonly notChosen: string | null;
  /** A field for the state of consent whose value is not understood. */
  readonly puzzling: string | null;
  readonly fields: readonly NamedField[];
}

/** The statement that the time of consent makes. */
export const ITS_TIME = 'its time';

/** Names that are also used for other things than a choice, in normalised form. */
const lifecycle: ReadonlySet<string> = new Set([
  ...['status', 'state', 'value'],
  ...'estado etat stato toestand stan tila stav tilstand wert valeur valor valore waarde wartosc varde'.split(' '),
]);
const models: ReadonlySet<string> = new Set(['type', 'consenttype', 'eventtype', 'consentmodel', 'model']);
const acts: ReadonlySet<string> = new Set([
  ...'aktion azione accion acao akcja actie atgard toiminto antwort respuesta reponse risposta antwoord resposta odpowiedz svar vastaus odpoved'.split(
    ' ',
  ),
  'action',
  'useraction',
  'consentaction',
  'interaction',
  'result',
  'response',
]);

/** Reads every statement about the whole choice, of the event's name too if the service does not document it. Adds refusals of single rights (`doNotSell: true`) to the purposes. */
export function readStatements(
  payload: Payload,
  fields: readonly NamedField[],
  platform: Platform | null,
  purposes: PurposesRead,
  event: string | null = null,
): Statements {
  const told = new StatementReader(payload, fields, platform, purposes).read();
  const named = [event, payload.named('event')].find(
    (one): one is string =>
      typeof one === 'string' && one !== 'consent.recorded' && namesConsent(one) && choiceNamed(one) !== null,
  );
  return named === undefined ? told : besideEvent(told, named);
}

/** The name of an event is one more label. That it says "withdrawn" ends consent only if the content grants nothing. */
function besideEvent(told: Statements, event: string): Statements {
  const choice = choiceNamed(event);
  if (choice === null) return told;
  const named: Statement = { choice, at: `event=${shortly(event)}` };
  if (choice !== 'withdrawn') return { ...told, whole: [...told.whole, named] };
  const given = told.whole.find((one) => one.choice === 'given' || one.choice === 'renewed-given');
  const { choices, contradictions } = told.purposes;
  const granted = namesOf(choices, 'granted')[0];
  const grants = given?.at ?? (granted === undefined || namesOf(choices, 'denied').length > 0 ? null : granted);
  if (grants === null) return { ...told, whole: [...told.whole, named], withdrawn: true };
  contradictions.push([grants, named.at]);
  return told;
}

class StatementReader {
  readonly #payload: Payload;
  readonly #fields: readonly NamedField[];
  readonly #platform: Platform | null;
  readonly #purposes: PurposesRead;
  readonly #whole: Statement[] = [];
  readonly #seen = new Set<string>();
  readonly #puzzling: string[] = [];
  #withdrawn = false;
  #notChosen: string | null = null;
  /** A number beside counts is one too: {"accepted": 1, "rejected_count": 3}. */
  #counting = false;

  constructor(payload: Payload, fields: readonly NamedField[], platform: Platform | null, purposes: PurposesRead) {
    this.#payload = payload;
    this.#fields = fields;
    this.#platform = platform;
    this.#purposes = purposes;
  }

  read(): Statements {
    const payload = this.#payload;
    for (const { value, role } of this.#fields) {
      if (role.isCount && (typeof value === 'number' || typeof value === 'string') && Number.isFinite(Number(value)))
        this.#counting = true;
      if (typeof value === 'number' && role.polarity === 'refusing') this.#counting = true;
    }
    if (!this.#ofPlatform() && !this.#named()) {
      this.#withdrawn = isSet(payload, 'withdrawnFlag');
      for (const { value, path } of payload.each('refusedFlag'))
        if (choiceMeant(value) === 'given') this.#add(path, value, 'refused');
      for (const field of this.#fields) if (typeof field.value !== 'object') this.#field(field);
    }
    // {"button": "reject_all"}: what was pressed refuses; what it says may also be a banner's text.
    for (const { path, value, role } of this.#fields)
      if (role.isButton && typeof value === 'string' && choiceMeant(value) === 'refused')
        this.#add(path, value, 'refused');
    for (const { path, value, role } of this.#fields)
      if (saysOtherBasis(role, value) || saysNotChosen(role, value)) this.#notChosen ??= `${path}=${shortly(value)}`;
    for (const { path, value, role } of fieldsBeside(payload))
      if (saysNotChosenBeside(role, value)) this.#notChosen ??= `${path}=${shortly(value)}`;
    // gtag('consent', 'default', …)
    if (payload.named('0') === 'consent' && payload.named('1') === 'default') this.#notChosen ??= '1=default';
    this.#latest();
    this.#noAnswer();
    if (this.#whole.length === 0) for (const path of this.#puzzling) payload.puzzle(path);
    const withdrawn = this.#withdrawn || this.#whole.some(({ choice }) => choice === 'withdrawn');
    return {
      purposes: this.#purposes,
      whole: this.#whole,
      withdrawn,
      notChosen: this.#notChosen ?? this.#purposes.notChosen,
      puzzling: this.#puzzlingState(),
      fields: this.#fields,
    };
  }

  /** The latest entry of a history states the choice if nothing else does, and dates the same one. */
  #latest(): void {
    const latest = latestInHistory(this.#payload, this.#fields);
    if (latest === null) return;
    const isAlone = this.#whole.length === 0 && !this.#withdrawn && this.#purposes.choices.size === 0;
    if (isAlone) this.#whole.push({ choice: latest.choice, at: latest.at });
    if (isAlone || this.#whole.some(({ choice }) => choice === latest.choice)) this.#purposes.times.push(latest.time);
  }

  /** {"choice": null, "preferences": {"analytics": null}}: asked for and not answered. */
  #noAnswer(): void {
    if (this.#whole.length > 0 || this.#purposes.choices.size > 0) return;
    for (const { found } of this.#payload.fields()) {
      const { whole, isConsent, plain } = answerRole(found.path);
      if (found.value === null && !found.beside && (isConsent || whole || plain === 'choice'))
        this.#whole.push({ choice: 'unknown', at: `${found.path}=null` });
    }
    if (this.#purposes.isBlank) this.#whole.push({ choice: 'unknown', at: 'no choice' });
  }

  /** {"consent_state": "requires_…"}, {"State": 262144} */
  #puzzlingState(): string | null {
    for (const { path, value, role } of this.#fields) {
      if (!role.isState || this.#platform?.words?.[role.plain] !== undefined) continue;
      if (this.#whole.some(({ at }) => at.startsWith(`${path}=`))) continue;
      const isNumber = typeof value === 'number';
      const isWord =
        typeof value === 'string' &&
        value.length < 60 &&
        role.isConsent &&
        role.isWhole &&
        !role.isPurpose &&
        choiceMeant(value) === null;
      if (isNumber || isWord) return `${path}=${shortly(value)}`;
    }
    return null;
  }

  #add(path: string, value: unknown, choice: ChoiceMeant | null): void {
    this.#seen.add(path);
    const counts = typeof value === 'number' && this.#counting && choice === 'given';
    if (choice !== null && !counts) this.#whole.push({ choice, at: `${path}=${shortly(value)}` });
  }

  /** The platform's own field for the choice. */
  #ofPlatform(): boolean {
    for (const [name, meanings] of Object.entries(this.#platform?.words ?? {})) {
      const value = this.#payload.named(name);
      const choice =
        typeof value === 'string' || typeof value === 'number' ? meanings[String(value).toLowerCase()] : undefined;
      if (choice !== undefined) this.#add(name, value, choice);
    }
    return this.#whole.length > 0;
  }

  /** Fields for the choice; true if the source's own name led to one. */
  #named(): boolean {
    for (const { value, path } of this.#payload.each('consentState')) {
      if (typeof value === 'object' || this.#seen.has(path)) continue;
      const isOwn = this.#payload.isNamedBySource('consentState', path);
      const choice = isOwn ? choiceMeant(value) : wholeMeant(lastName(path), value, this.#platform);
      this.#add(path, value, choice);
      if (choice === null && textOf(value) !== null) this.#puzzling.push(path);
      if (choice !== null && isOwn) {
        // The source's settings say which field tells the choice, so the others that could do not.
        for (const other of this.#payload.each('consentState')) this.#purposes.paths.add(other.path);
        return true;
      }
    }
    return false;
  }

  /** {"SuppressSending": true, "SuppressionReason": "HardBounce"}: nobody chose. */
  #isTechnical(): boolean {
    return this.#fields.some(
      ({ value, role }) => role.plain.endsWith('reason') && typeof value === 'string' && TECHNICAL.test(value),
    );
  }

  /** A field that is named like a choice or a refusal. */
  #field({ key: name, path, value, role }: NamedField): void {
    if (role.isCircumstance || role.isScope) return;
    if (role.polarity !== 'refusing' && (!role.isWhole || role.isPurpose)) return;
    if (this.#seen.has(path) || isNoChoice(this.#platform, name)) return;
    const choice = typeof value === 'number' && value > 1 ? null : choiceMeant(value);
    if (role.polarity === 'refusing') {
      if (role.isCount || !refuses(value, choice) || this.#isTechnical()) return;
      if (role.isPartial) {
        const purpose = clean(name);
        if (!this.#purposes.choices.has(purpose)) this.#purposes.choices.set(purpose, 'denied');
      } else if (/withdr|revo/i.test(name)) this.#withdrawn = true;
      else this.#add(path, value, 'refused');
    } else if (role.isWhole && !role.isPurpose) {
      const meant = wholeMeant(name, value, this.#platform);
      // `consentedAll: false` refuses nothing.
      if (!(meant === 'refused' && wordsOfName(name).includes('all'))) this.#add(path, value, meant);
    }
  }
}

const TECHNICAL = /bounce|undeliverable|invalid (?:e-?mail|address|recipient)|mailbox full/i;

function answerRole(path: string): { readonly whole: boolean; readonly isConsent: boolean; readonly plain: string } {
  const { isWhole, isConsent, isCircumstance, isTerms, time, plain } = roleOf(lastName(path));
  const counts = !isCircumstance && !isTerms && time === null;
  return { whole: isWhole && counts, isConsent: isConsent && isWhole && counts, plain };
}

/** Whether the value of a field that is named like a refusal makes it one: true, or a word that repeats the refusal. */
function refuses(value: unknown, choice: ChoiceMeant | null): boolean {
  if (choice === 'given' || choice === 'withdrawn') return true;
  return choice === 'refused' && typeof value === 'string' && plainForm(value).length > 5;
}

/** What the value of a field for the choice means; null: nothing, or something else than a choice. */
function wholeMeant(key: string, value: unknown, platform: Platform | null): ChoiceMeant | null {
  const name = normaliseName(key);
  if (isNoChoice(platform, name) || platform?.words?.[name] !== undefined) return null;
  const isOther = acts.has(name) || lifecycle.has(name) || models.has(name);
  // {"ConsentState": 1}: a number of the sender's own.
  if (typeof value === 'number' && roleOf(key).isState) return null;
  if (typeof value !== 'string') return isOther ? null : choiceMeant(value);
  // {"event_type": "consent"}: what kind of record it is.
  if (isOther && plainForm(value) === 'consent') return null;
  const choice = choiceMeant(value);
  if (choice === null || !(isOther || name === 'state')) return choice;
  const word = plainForm(value);
  // Whether a record is in use, or the visitor did anything; `ON` and `NO` under `state` are places.
  if (
    (lifecycle.has(name) || acts.has(name)) &&
    /^(?:enabled?|disabled|on|off|true|false|yes|no|[yn01]|all|full|approved)$/.test(word)
  )
    return null;
  if (name === 'state' && word.length === 2) return null;
  // The model of a region, under which consent is asked for or a refusal is accepted.
  if (models.has(name) && /^opt(?:ed)?(?:in|out)$/.test(word)) return null;
  return choice;
}

function isNoChoice(platform: Platform | null, name: string): boolean {
  return platform?.noChoice?.includes(normaliseName(name)) === true;
}

function isSet(payload: Payload, flag: 'withdrawnFlag' | 'refusedFlag'): boolean {
  for (const { value } of payload.each(flag)) if (choiceMeant(value) === 'given') return true;
  return false;
}

/**
 * The state that a record states, and why it may not be consent. A withdrawal counts before everything else. Purposes count more than words
 * about the whole: an acceptance of necessary purposes alone is a refusal. If statements disagree, nothing is granted. A choice that is custom or
 * missing follows from the purposes; without any it is unknown, which permits nothing.
 */
export function stateOf(
  payload: Payload,
  { purposes, whole, withdrawn, notChosen, puzzling, fields }: Statements,
  refusalKeepsNecessary = false,
): { readonly state: ConsentState; readonly doubts: readonly Doubt[] } {
  const { choices } = purposes;
  takePurposeOfRecord(payload, choices, { whole, withdrawn, fields });
  const first = (...wanted: readonly ChoiceMeant[]) => whole.find(({ choice }) => wanted.includes(choice));
  takeListed(payload, purposes, whole);
  const granted = namesOf(choices, 'granted');
  const denied = namesOf(choices, 'denied');
  const doubts: Doubt[] = purposes.contradictions.map((fields) => ({ reason: 'contradiction', fields }));
  const doubt = (reason: Doubt['reason'], ...fields: readonly string[]) => {
    doubts.push({ reason, fields });
    return { state: 'unknown' as const, doubts };
  };
  const ended = first('expired', 'terminated', 'invalidated');
  if (ended !== undefined) return { state: ended.choice as ConsentState, doubts: [] };
  if (withdrawn) return { state: 'withdrawn', doubts: [] };
  const given = first('given', 'renewed-given');
  const refused = first('refused');
  const open = first('requested', 'request-deferred');
  const unasked = first('unknown');
  if (notChosen !== null) return doubt('not-chosen', notChosen);
  if (puzzling !== null && refused === undefined && (given !== undefined || granted.length > 0))
    return doubt('not-understood', puzzling);
  // {"status": "undetermined", "granted": false}: a flag that nobody set.
  if (
    unasked !== undefined &&
    given === undefined &&
    whole.every(({ choice, at }) => choice !== 'refused' || /=(?:false|0)$/.test(at))
  )
    return denied.length > 0 ? doubt('not-understood', unasked.at) : { state: 'unknown', doubts };
  if (doubts.length > 0) return { state: 'unknown', doubts };
  if (given !== undefined && refused !== undefined && (granted.length > 0 || denied.length === 0))
    return doubt('contradiction', given.at, refused.at);
  const isFirst = granted.length === 1 && denied.length > 0 && isLowest(granted[0] ?? '', choices.keys());
  if (refused !== undefined) {
    if (granted.length > 0 && (refusalKeepsNecessary || isFirst)) {
      for (const name of granted) choices.set(name, 'necessary');
      return { state: 'refused', doubts };
    }
    if (granted.length > 0) return doubt('contradiction', refused.at, `${granted[0]}=granted`);
    // {"status": "deny", "consents": ["statistics"]}: not everything, or nothing of what was asked.
    if (purposes.consented !== null) return doubt('not-understood', refused.at, purposes.consented);
    return { state: 'refused', doubts };
  }
  if (open !== undefined) {
    if (given !== undefined) return doubt('contradiction', open.at, given.at);
    return { state: open.choice as ConsentState, doubts };
  }
  const undone = granted.length > 0 ? denied.find((name) => undoing.has(plainForm(name))) : undefined;
  if (undone !== undefined) return doubt('contradiction', `${undone}=denied`, `${granted[0]}=granted`);
  // `1=true&2=false&3=false`: the first of numbered categories is often the necessary one.
  if (isFirst && first('by-purpose') === undefined) return doubt('not-understood', `${granted[0]}=granted`);
  if (granted.length > 0) return { state: given?.choice === 'renewed-given' ? 'renewed-given' : 'given', doubts };
  if (denied.length > 0 && purposes.withheld.length > 0)
    return doubt('not-understood', ...purposes.withheld.slice(0, 3));
  // {"status": "0"} of every purpose: refused in some systems, not decided yet in others.
  if (denied.length > 0 && purposes.zeros === denied.length) return doubt('not-understood', `${denied[0]}=0`);
  if (denied.length > 0) return { state: 'refused', doubts };
  // Only what needs no consent was understood.
  const unread = [...purposes.withheld, ...purposes.unread];
  if (choices.size > 0 && unread.length > 0) return doubt('not-understood', ...unread.slice(0, 3));
  if (choices.size > 0) return { state: 'refused', doubts };
  if (purposes.listed.size > 0)
    return doubt('not-understood', `${[...purposes.listed].slice(0, 5).join(', ')}: listed`);
  if (purposes.grantsNothing && given === undefined) return { state: 'refused', doubts };
  if (given !== undefined && (purposes.grantsNothing || purposes.unread.length > 0))
    return doubt(purposes.grantsNothing ? 'contradiction' : 'not-understood', given.at, ...purposes.unread.slice(0, 3));
  if (given !== undefined) return { state: given.choice as ConsentState, doubts };
  return { state: 'unknown', doubts };
}

/** Among purposes, words for what undoes all of them, in plain form: {"analytics": true, "withdrawn": true}. */
const undoing: ReadonlySet<string> = new Set(
  'withdrawn iswithdrawn withdrew revoked isrevoked optedout isoptedout hasoptedout useroptedout unsubscribed isunsubscribed cancelled canceled terminated'.split(
    ' ',
  ),
);

/** A record about one purpose, named beside its choice: {"purpose_id": "marketing", "status": "granted"}. */
function takePurposeOfRecord(
  payload: Payload,
  choices: Map<string, PurposeChoice>,
  { whole, withdrawn, fields }: Pick<Statements, 'whole' | 'withdrawn' | 'fields'>,
): void {
  if (choices.size > 0) return;
  const name = purposeNamed(payload, fields);
  if (name === null || choiceMeant(name) !== null) return;
  const refuses = withdrawn || whole.some(({ choice }) => choice === 'refused' || choice === 'expired');
  const grants = whole.some(({ choice, at }) => (choice === 'given' || choice === 'renewed-given') && at !== ITS_TIME);
  if (refuses !== grants) choices.set(name, refuses ? 'denied' : 'granted');
}

/** The only purpose that a record is about: {"purpose": "ads"}, {"zgoda": "newsletter"}, {"id": "MARKETING_NEWSLETTER"}. */
function purposeNamed(payload: Payload, fields: readonly NamedField[]): string | null {
  const named = payload.first('purposeOfRecord', (value) => (typeof value === 'string' ? textOf(value, 200) : null));
  if (named !== null) return named;
  for (const { key, value, role } of fields) {
    const isName = /^(?:id|name|title|titel|nome|nom|nombre|subject|topic|key|code)$/i.test(key);
    if (typeof value !== 'string' || value.length > 60 || !(isName || (role.isConsent && role.isWhole))) continue;
    if (choiceMeant(value) === null && roleOf(value).isPurpose) return textOf(value, 200);
  }
  return null;
}

/** A bare list of purposes under a word of acceptance lists what was accepted: {"action": "accept_selected", "categories": ["analytics"]}. */
function takeListed(payload: Payload, { choices, listed, unread }: PurposesRead, whole: readonly Statement[]): void {
  if (listed.size === 0) return;
  const isAccepted = whole.some(
    ({ choice, at }) =>
      choice === 'given' ||
      choice === 'renewed-given' ||
      (choice === 'by-purpose' && /accept|allow|akzept|erlaub/i.test(at)),
  );
  const isRefused = whole.some(
    ({ choice }) => choice !== 'given' && choice !== 'renewed-given' && choice !== 'by-purpose',
  );
  if (isAccepted && !isRefused && unread.length === 0) {
    for (const name of listed)
      if (!choices.has(name)) choices.set(name, payload.isNecessary(name) ? 'necessary' : 'granted');
    return;
  }
  const onlyNecessary = [...listed].every((name) => isNecessary(name) || payload.isNecessary(name));
  if (onlyNecessary) for (const name of listed) choices.set(name, 'necessary');
}

/** Whether names are numbers, and this is the lowest. */
function isLowest(name: string, names: Iterable<string>): boolean {
  const number = Number(name);
  for (const one of names) if (!(Number(one) >= number)) return false;
  return true;
}

function namesOf(choices: ReadonlyMap<string, PurposeChoice>, wanted: PurposeChoice): readonly string[] {
  const names: string[] = [];
  for (const [name, choice] of choices) if (choice === wanted && !isNecessary(name)) names.push(name);
  return names;
}
