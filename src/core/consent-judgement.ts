import { parseJson } from './json.ts';
import { plainForm, wordsOfName } from './plain-words.ts';
import type { ConsentState } from './vocabulary.ts';

/**
 * The label of a decision, judged purpose by purpose, given what the same subject had granted on the same banner
 * before: the states of ISO/IEC TS 27560 and two more that a choice by purpose needs. A payload states a state; this
 * program judges a label.
 */
type ConsentLabel =
  | 'given'
  | 'renewed-given'
  | 'partly-given'
  | 'refused'
  | 'withdrawn'
  | 'partly-withdrawn'
  | 'expired'
  | 'terminated'
  | 'invalidated'
  | 'requested'
  | 'request-deferred'
  | 'unknown';

/**
 * A label, or `disputed`: the records of the decision contradict each other. Such a decision never counts as granted,
 * since the controller must be able to demonstrate consent (GDPR Art. 7(1)).
 */
export type Judged = ConsentLabel | 'disputed';

/** The choices that the chart on Today counts, each with the judgements that belong to it. */
export const choices = {
  given: ['given', 'renewed-given'],
  'partly-given': ['partly-given'],
  refused: ['refused'],
  withdrawn: ['withdrawn', 'partly-withdrawn'],
} as const satisfies Record<string, readonly Judged[]>;
export type Choice = keyof typeof choices;
export const choiceNames = Object.keys(choices) as [Choice, ...Choice[]];

/** The choice to which a judgement belongs; null: it is not counted in the chart. */
export function choiceOf(judged: Judged): Choice | null {
  return choiceNames.find((name) => (choices[name] as readonly Judged[]).includes(judged)) ?? null;
}

/** Stands for every purpose that a decision does not name: "accept all" without a list. */
export const ALL_PURPOSES = '*';

/** What a record states about one purpose. `necessary`: according to the record or the source's setting, it needs no consent. */
export type PurposeChoice = 'granted' | 'denied' | 'necessary';
export type PurposeChoices = Readonly<Record<string, PurposeChoice>>;

/** Reads the purposes of a record from the column of a read model. */
export function parsePurposes(column: string): PurposeChoices {
  return parseJson(column) as PurposeChoices;
}

/** The content of a record: the state it states, and the choice for each purpose it names. */
interface SaidChoice {
  readonly state: ConsentState;
  readonly purposes: PurposeChoices;
}

export interface Judgement {
  readonly label: ConsentLabel;
  /** Purposes whose consent this decision withdraws, sorted; `*` for consent that named none. */
  readonly withdraws: readonly string[];
  /** Purposes granted after it, sorted; never includes necessary ones. */
  readonly stands: readonly string[];
  /** It ends everything granted before, whether named or not. */
  readonly endsAll: boolean;
}

/**
 * The form used to compare names of purposes: `Analytics` and `analytics` are one purpose. They are shown as written.
 */
export function purposeKey(purpose: string): string {
  return purpose.toLowerCase();
}

/** Names of purposes that need no consent, in plain form: English, and as consent banners in other languages and platforms name them. */
const necessary = new Set(
  (
    'necessary strictlynecessary strict essential essentials strictlyessential required mandatory technical technicallynecessary technicallyrequired necessarycookies essentialcookies ' +
    'strictlynecessarycookies strictcookies requiredcookies technicalcookies essentialservices necessaryservices securitystorage functionalitystorage c0001 ' +
    'notwendig notwendige notwendigecookies technischnotwendig technischnotwendige unbedingterforderlich unbedingterforderlichecookies erforderlich erforderliche essenziell essenzielle essentiell essentielle ' +
    'necessaire necessaires cookiesnecessaires strictementnecessaires cookiesstrictementnecessaires essentiel essentiels indispensables ' +
    'necesaria necesarias necesario necesarios cookiesnecesarias estrictamentenecesarias esenciales tecnicas ' +
    'necessari necessario cookienecessari strettamentenecessari essenziali tecnici noodzakelijk noodzakelijke noodzakelijkecookies striktnoodzakelijk essentieel ' +
    'necessarios cookiesnecessarios estritamentenecessarios essenciais niezbedne niezbednecookies konieczne nodvandig nodvandiga nodvandigacookies ' +
    'nodvendig nodvendige strengtnodvendige valttamaton valttamattomat nezbytne nutne'
  ).split(' '),
);
const known = new Map<string, boolean>();
const MAX_KNOWN = 5000;

/** `SITE_PRIVACY_Essential`, `cookie-cat.strictly_necessary`: the last part of a longer name, unless it is negated. */
function endsAsNecessary(purpose: string): boolean {
  if (purpose.length > 200) return false;
  const words = wordsOfName(purpose);
  if (words.length < 2 || !/[_.:/-]/.test(purpose)) return false;
  const before = words.at(-2) ?? '';
  return (
    lastWords.has(words.at(-1) ?? '') &&
    !/^(?:non|not|no|un|nicht|ne|pas|nie|nao|niet|inte|ikke|more|less)$/.test(before)
  );
}
const lastWords = new Set(
  'necessary essential essentials notwendig notwendige essenziell necessaire necessaires necesarias necessari noodzakelijk necessarios niezbedne nodvandiga nodvendige'.split(
    ' ',
  ),
);

/** Whether a purpose needs no consent by its name (ePrivacy Directive Art. 5(3)): naming it as granted is not consent to anything. */
export function isNecessary(purpose: string): boolean {
  let is = known.get(purpose);
  if (is === undefined) {
    is = necessary.has(plainForm(purpose)) || endsAsNecessary(purpose);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(purpose, is);
  }
  return is;
}

/**
 * Judges a decision. `before`: the purposes still granted by the subject's earlier decisions on the banner
 * ({@link Judgement.stands}).
 *
 * - Named purposes decide. A denied purpose is withdrawn if it was granted before, otherwise refused.
 * - A refusal or withdrawal that names no denied purpose denies all of them and grants nothing, whatever else it names.
 * - A stated withdrawal that also names granted purposes is partial only if it denies a purpose that was granted
 *   before.
 * - A stated withdrawal of purposes without known earlier consent withdraws what it names: the consent is older than
 *   the records.
 * - Consent without named purposes is consent to all of them, and what it granted can be withdrawn purpose by purpose.
 * - After an expiry, termination or invalidation nothing is granted any more; a request for consent and an unknown
 *   choice change nothing.
 */
export function judgeChoice(before: readonly string[], said: SaidChoice): Judgement {
  const { state } = said;
  const { granted, denied } = splitChoices(said.purposes);
  switch (state) {
    case 'expired':
    case 'terminated':
    case 'invalidated':
      return { label: state, withdraws: [], stands: [], endsAll: true };
    case 'requested':
    case 'request-deferred':
    case 'unknown':
      return { label: state, withdraws: [], stands: before, endsAll: false };
    case 'given':
    case 'renewed-given':
      if (Object.keys(said.purposes).length === 0) {
        return { label: state, withdraws: [], stands: sorted([...before, ALL_PURPOSES]), endsAll: false };
      }
      if (granted.length + denied.length === 0) return deniedAll(before, 'refused', []);
      break;
    case 'refused':
      if (denied.length === 0) return deniedAll(before, 'refused', []);
      break;
    case 'withdrawn':
      if (denied.length === 0) return deniedAll(before, 'withdrawn', granted);
  }
  const known = new Set(before.map(purposeKey));
  const held = known.has(ALL_PURPOSES) ? denied : denied.filter((purpose) => known.has(purposeKey(purpose)));
  // Granted purposes in a stated withdrawal may describe earlier grants: unless it denies a granted purpose, everything
  // ends.
  if (state === 'withdrawn' && granted.length > 0 && held.length === 0) {
    return deniedAll(before, 'withdrawn', [...granted, ...denied]);
  }
  const withdraws = state === 'withdrawn' && held.length === 0 ? denied : held;
  const ends = new Set([ALL_PURPOSES, ...denied.map(purposeKey)]);
  const kept = before.filter((purpose) => !ends.has(purposeKey(purpose)));
  const result = { withdraws: sorted(withdraws), stands: sorted([...kept, ...granted]), endsAll: false };
  if (withdraws.length > 0) return { label: result.stands.length > 0 ? 'partly-withdrawn' : 'withdrawn', ...result };
  if (granted.length === 0) return { label: 'refused', ...result };
  if (denied.length > 0) return { label: 'partly-given', ...result };
  return { label: state === 'renewed-given' ? state : 'given', ...result };
}

function deniedAll(before: readonly string[], word: 'refused' | 'withdrawn', named: readonly string[]): Judgement {
  const withdraws = sorted([...before, ...named]);
  return { label: withdraws.length > 0 ? 'withdrawn' : word, withdraws, stands: [], endsAll: true };
}

export type PurposeOutcome = 'granted' | 'refused' | 'withdrawn';

/** What a judged decision means for each purpose that needs consent, by name. Purposes without a choice are not included. */
export function outcomesOf(said: SaidChoice, withdraws: readonly string[]): ReadonlyMap<string, PurposeOutcome> {
  const { granted, denied } = splitChoices(said.purposes);
  switch (said.state) {
    case 'expired':
    case 'terminated':
    case 'invalidated':
    case 'requested':
    case 'request-deferred':
    case 'unknown':
      return new Map();
    case 'given':
    case 'renewed-given':
    case 'refused':
    case 'withdrawn':
  }
  const refusal = (said.state === 'refused' || said.state === 'withdrawn') && denied.length === 0;
  const outcomes = new Map<string, [string, PurposeOutcome]>();
  const set = (purpose: string, outcome: PurposeOutcome) => outcomes.set(purposeKey(purpose), [purpose, outcome]);
  for (const purpose of granted) set(purpose, refusal ? 'refused' : 'granted');
  for (const purpose of denied) set(purpose, 'refused');
  for (const purpose of withdraws) if (purpose !== ALL_PURPOSES) set(purpose, 'withdrawn');
  return new Map(outcomes.values());
}

/** The purposes named by a decision that need no consent. */
export function necessaryIn(purposes: PurposeChoices): readonly string[] {
  return Object.keys(purposes)
    .filter((purpose) => purposes[purpose] === 'necessary' || isNecessary(purpose))
    .sort();
}

/**
 * The choices of one record by {@link purposeKey}, each with its name as written. Names that differ only in case are
 * one purpose, denied if any of them is.
 */
export function choicesByKey(
  purposes: PurposeChoices,
): ReadonlyMap<string, readonly [purpose: string, choice: PurposeChoice]> {
  const choices = new Map<string, [string, PurposeChoice]>();
  for (const [purpose, choice] of Object.entries(purposes)) {
    const key = purposeKey(purpose);
    if (choice === 'denied' || choices.get(key)?.[1] !== 'denied') choices.set(key, [purpose, choice]);
  }
  return choices;
}

function splitChoices(purposes: PurposeChoices): { granted: string[]; denied: string[] } {
  const denied: string[] = [];
  const granted: string[] = [];
  for (const [purpose, choice] of choicesByKey(purposes).values())
    if (choice !== 'necessary' && !isNecessary(purpose)) (choice === 'granted' ? granted : denied).push(purpose);
  return { granted, denied };
}

/** Each purpose once, in its last spelling. */
function sorted(purposes: readonly string[]): readonly string[] {
  return [...new Map(purposes.map((purpose) => [purposeKey(purpose), purpose])).values()].sort();
}

/** What two records of one decision may state differently. */
interface RecordSaying {
  readonly subject: string | null;
  readonly banner_id: string | null;
  readonly policy_id: string | null;
  readonly policy_version: string | null;
  readonly state: ConsentState;
  /** JSON object purpose → granted | denied. */
  readonly purposes: string;
}
const comparedFields = ['subject', 'banner_id', 'policy_id', 'policy_version'] as const;

/**
 * Whether two records of one decision cannot both be true. Leaving something out is not a contradiction (a delivery
 * without the policy version, a pulled row that also lists the necessary purpose).
 */
export function contradicts(a: RecordSaying, b: RecordSaying): boolean {
  if (a.state !== b.state && a.state !== 'unknown' && b.state !== 'unknown') return true;
  if (comparedFields.some((field) => a[field] !== null && b[field] !== null && a[field] !== b[field])) return true;
  return a.purposes !== b.purposes && choicesThatDiffer(a, b).length > 0;
}

/** Purposes on which two records disagree, in the first record's spelling. */
export function choicesThatDiffer(
  a: Pick<RecordSaying, 'purposes'>,
  b: Pick<RecordSaying, 'purposes'>,
): readonly { readonly purpose: string; readonly choices: readonly [string, string] }[] {
  const others = choicesByKey(parsePurposes(b.purposes));
  return [...choicesByKey(parsePurposes(a.purposes))].flatMap(([key, [purpose, choice]]) => {
    const other = others.get(key)?.[1];
    // That one record names a purpose as necessary contradicts nothing.
    const same = other === choice || other === 'necessary' || choice === 'necessary';
    return other === undefined || same ? [] : [{ purpose, choices: [choice, other] as const }];
  });
}

/**
 * Why a record does not count as consent although it seems to grant something. `contradiction`: two of its statements cannot both be
 * true. `not-chosen`: it says that the visitor did not choose. `not-understood`: a list or object of purposes could not be read.
 */
export interface Doubt {
  readonly reason: 'contradiction' | 'not-chosen' | 'not-understood';
  /** The fields concerned, each with its value: `consent=no`. */
  readonly fields: readonly string[];
}

const reasons: Readonly<Record<Doubt['reason'], string>> = {
  contradiction: 'within one record',
  'not-chosen': 'the visitor did not choose',
  'not-understood': 'it does not say clearly what was granted',
};

/** The doubts of a record, from the column of a read model, one phrase each. */
export function doubtWords(column: string | null): readonly string[] {
  if (column === null) return [];
  return (parseJson(column) as readonly Doubt[]).map(
    ({ reason, fields }) => `${reasons[reason]}: ${fields.join(', ')}`,
  );
}
