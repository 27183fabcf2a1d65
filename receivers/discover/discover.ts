import { isNecessary } from '../../src/core/consent-judgement.ts';
import { changePhrase } from '../../src/core/reading-change.ts';
import type { SourceOptions } from '../../src/core/source.ts';
import { TEST_EVENT } from '../../src/core/vocabulary.ts';
import { classify, type EventOptions } from '../event-name.ts';
import type { FieldName } from '../field-names.ts';
import type { Fact } from '../index.ts';
import { isJsonObject, type JsonObject, parseBody } from '../parse.ts';
import { platformNameOf, type Reading, readConsentRow, readDelivery } from '../read.ts';
import { alteringIn, type Effects, effectsOf } from './effects.ts';
import { kindsOf, maskKey, maskValue, type ValueKind } from './kinds.ts';
import { isMisnamed } from './misnamed.ts';
import { type Wanted, wantedFields, wantedOfItems } from './wanted.ts';

/** A delivery, or a row of the consent log, to analyse. */
export interface DiscoverySample {
  readonly kind: 'delivery' | 'row';
  /** The entry; null: it is not in the ledger. */
  readonly seq: number | null;
  readonly body: Uint8Array;
  /** ISO 8601 UTC. */
  readonly receivedAt: string;
}

/** A proposal for where a field is. */
interface FieldProposal {
  readonly field: FieldName;
  readonly what: string;
  readonly path: string;
  /** Shape of the values found there. */
  readonly shape: string;
  /** Reasons, in words. */
  readonly because: readonly string[];
  /** The number of payloads in which the field is found now, and with the proposal. */
  readonly foundBefore: number;
  readonly foundAfter: number;
  /** What it changes in the reading of the same payloads. */
  readonly effects: Effects;
  /** Why it is not part of the mapping unless a person types its path; null: it is. */
  readonly doubt: string | null;
}

/** Payloads of one event. */
export interface EventDiscovery {
  /** The event's documented name, `row` for rows of the consent log, null if unknown. */
  readonly event: string | null;
  readonly samples: number;
  /** Consent platforms that payloads look like, with their number (platforms.ts); their own rules precede guesses. */
  readonly platforms: readonly { readonly name: string; readonly count: number }[];
  readonly paths: readonly PathShape[];
  /** Fields understood in every payload, and those found in none or only in some. */
  readonly understood: readonly string[];
  readonly missing: readonly string[];
  /**
   * Purposes that every payload that names them grants although visitors refuse others, with the number of payloads: they may need no
   * consent (the source's setting `necessaryPurposes`).
   */
  readonly alwaysGranted: readonly { readonly purpose: string; readonly count: number }[];
  /** Paths from which nothing was read. */
  readonly unread: readonly string[];
  readonly proposals: readonly FieldProposal[];
}

export interface Discovery {
  readonly samples: number;
  /** Number of bodies that are not JSON objects; nothing can be proposed for them. */
  readonly notJson: number;
  readonly events: readonly EventDiscovery[];
  /** What the mapping below changes in the reading of all payloads. */
  readonly effects: Effects;
  /** Settings for the source's options, without doubtful proposals that were not asked for; empty if nothing should change. */
  readonly fieldNames: Readonly<Record<string, readonly string[]>>;
  readonly eventNames: Readonly<Record<string, string>>;
}

type Options = Pick<SourceOptions, 'fieldNames' | 'assumedOffset' | 'eventNames'>;

interface Parsed extends DiscoverySample {
  readonly json: JsonObject;
}

/** Whether a body is what `delivery test` sends. */
export function isTestEvent(body: Uint8Array): boolean {
  return objectIn(body)?.['event'] === TEST_EVENT;
}

function objectIn(body: Uint8Array): JsonObject | null {
  const parsed = parseBody(body);
  return 'json' in parsed && isJsonObject(parsed.json) ? parsed.json : null;
}

/**
 * Examines payloads of a source and proposes where fields that are not understood may be: by kinds of values, by parts
 * of names, and by how often values repeat (wanted.ts). A proposal is kept only if reading the same payloads with it
 * finds more than before. All payloads are judged with and without each proposal: one that changes what is already understood is doubtful, and
 * left out of the mapping unless its path is in `including`. Pure; the result contains names, shapes, and the choices of examples,
 * but no other values.
 */
export function discover(
  samples: readonly DiscoverySample[],
  options: Options,
  including: readonly string[] = [],
): Discovery {
  const objects: Parsed[] = samples.flatMap((sample) => {
    const json = objectIn(sample.body);
    return json === null ? [] : [{ ...sample, json }];
  });
  // The operator's own test events say nothing about the sender.
  const parsed = objects.filter(({ json }) => json['event'] !== TEST_EVENT);
  const nameless = parsed.filter(
    (one) => one.kind === 'delivery' && readWith(one, options).outcome === 'unknown-event',
  );
  const events = proposeEvents(
    nameless.map(({ json }) => json),
    options,
  );
  const named: Options = {
    ...options,
    fieldNames:
      events.path === null
        ? options.fieldNames
        : { ...options.fieldNames, event: [...new Set([events.path, ...(options.fieldNames['event'] ?? [])])] },
    eventNames: { ...options.eventNames, ...events.names },
  };
  const useful = nameless.some((one) => readWith(one, named).outcome !== 'unknown-event');
  const base = useful ? named : options;
  const groups = new Map<string | null, Parsed[]>();
  for (const one of parsed) {
    const event = one.kind === 'row' ? 'row' : knownEventOf(readWith(one, base));
    groups.set(event, [...(groups.get(event) ?? []), one]);
  }
  const fieldNames: Record<string, string[]> = {};
  if (useful && events.path !== null) fieldNames['event'] = [events.path];
  const found = [...groups].map(([event, payloads]) => {
    const one = discoverEvent(event, payloads, base, including);
    for (const { field, path, doubt } of one.proposals)
      if (doubt === null || including.includes(path))
        fieldNames[field] = [...new Set([...(fieldNames[field] ?? []), path])];
    return one;
  });
  const eventNames = useful ? events.names : {};
  return {
    samples: samples.length,
    notJson: samples.length - objects.length,
    events: found.sort((a, b) => b.samples - a.samples),
    effects: effectsOfMapping(parsed, options, { fieldNames, eventNames }),
    fieldNames,
    eventNames,
  };
}

/** What names of fields and events, put before those of a source, change in the reading of payloads. */
export function effectsOfMapping(
  samples: readonly DiscoverySample[],
  options: Options,
  { fieldNames, eventNames }: Pick<Discovery, 'fieldNames' | 'eventNames'>,
): Effects {
  const names: Record<string, readonly string[]> = { ...options.fieldNames };
  for (const [field, given] of Object.entries(fieldNames)) names[field] = [...given, ...(names[field] ?? [])];
  const after = {
    ...options,
    fieldNames: names as Options['fieldNames'],
    eventNames: { ...options.eventNames, ...eventNames },
  };
  return effectsOfOptions(samples, options, after);
}

/** What other options of a source change in the reading of payloads. */
export function effectsOfOptions(samples: readonly DiscoverySample[], before: Options, after: Options): Effects {
  return effectsOf(
    samples.map((one) => ({ seq: one.seq, before: readWith(one, before), after: readWith(one, after) })),
  );
}

function discoverEvent(
  event: string | null,
  payloads: readonly Parsed[],
  options: Options,
  including: readonly string[],
): EventDiscovery {
  const paths = gatherPaths(payloads.map(({ json }) => json));
  const type = typeOf(event);
  const readings = payloads.map((one) => readWith(one, options));
  const unread = new Set(readings.flatMap((reading) => (reading.outcome === 'read' ? reading.unread : [])));
  const shapes = paths.map(({ path, present, distinct, shapes: masked }) => ({
    path,
    present,
    distinct,
    shapes: masked,
  }));
  const found = type === 'decision' ? platformsIn(payloads, options) : [];
  const plain = {
    event,
    samples: payloads.length,
    platforms: found,
    alwaysGranted: type === 'decision' ? alwaysGrantedIn(readings) : [],
    paths: shapes,
    unread: [...unread].slice(0, 50),
  };
  if (type === null) return { ...plain, understood: [], missing: [], proposals: [] };
  const wanted = wantedFields[type] ?? [];
  const count: Counting['count'] = (some, { isFound }) =>
    some.filter((reading) => reading.outcome === 'read' && isFound(reading.fact)).length;
  const before = new Map([...wanted, ...wantedOfItems].map((one) => [one, count(readings, one)]));
  const choices = paths.filter(({ kinds, present }) => (kinds.get('purposes') ?? 0) >= present * 0.8);
  const candidates = paths.filter(
    ({ path, mappable }) =>
      mappable &&
      !choices.some((one) => path.startsWith(`${one.path}.`)) &&
      (readings.some(({ outcome }) => outcome === 'unreadable') ||
        [...unread].some((known) => path === known || path.startsWith(`${known}.`))),
  );
  const isPlatform = found.reduce((sum, { count: some }) => sum + some, 0) >= payloads.length * 0.8;
  const chosen = assign(
    wanted.filter((one) => (before.get(one) ?? 0) < payloads.length && !(isPlatform && ofPlatforms.has(one.field))),
    candidates,
    payloads.length,
    paths,
  );
  if (type === 'scan') {
    const items = itemsOf(payloads, paths);
    const missing = wantedOfItems.filter((one) => count(readings, one) < payloads.length);
    chosen.push(...assign(missing, gatherPaths(items), items.length));
  }
  const proposals = tryProposals(chosen, payloads, { options, including }, { before, count });
  return {
    ...plain,
    understood: wanted.filter((one) => before.get(one) === payloads.length).map(({ word }) => word),
    missing: wanted.filter((one) => (before.get(one) ?? 0) < payloads.length).map(({ word }) => word),
    proposals,
  };
}

/** Fields that a platform's own rules read. */
const ofPlatforms: ReadonlySet<FieldName> = new Set([
  'consentState',
  'purposes',
  'grantedPurposes',
  'deniedPurposes',
  'consentedAt',
  'consentExpiresAt',
]);

function platformsIn(payloads: readonly Parsed[], options: Options): EventDiscovery['platforms'] {
  const counts = new Map<string, number>();
  for (const { json, receivedAt } of payloads) {
    const name = platformNameOf(json, { receivedAt, options });
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count);
}

/** Enough payloads, and enough refusals of something else, to ask whether a purpose needs consent at all. */
const ALWAYS = { payloads: 10, refusals: 3 };

function alwaysGrantedIn(readings: readonly Reading[]): EventDiscovery['alwaysGranted'] {
  const counts = new Map<string, { granted: number; other: number }>();
  let refusals = 0;
  for (const reading of readings) {
    if (reading.outcome !== 'read' || reading.fact.type !== 'decision') continue;
    const choices = Object.entries(reading.fact.purposes);
    if (choices.some(([, choice]) => choice === 'denied')) refusals += 1;
    for (const [purpose, choice] of choices) {
      if (isNecessary(purpose) || choice === 'necessary') continue;
      const count = counts.get(purpose) ?? { granted: 0, other: 0 };
      counts.set(purpose, count);
      if (choice === 'granted') count.granted += 1;
      else count.other += 1;
    }
  }
  if (refusals < ALWAYS.refusals) return [];
  return [...counts]
    .filter(
      ([purpose, { granted, other }]) => other === 0 && granted >= ALWAYS.payloads && maskKey(purpose) === purpose,
    )
    .map(([purpose, { granted }]) => ({ purpose, count: granted }))
    .slice(0, 20);
}

interface Counting {
  readonly before: ReadonlyMap<Wanted, number>;
  readonly count: (some: readonly Reading[], one: Wanted) => number;
}

/**
 * Tries proposals one after another, together with those before, since a payload may be unreadable until several fields are known. A
 * doubtful one is tried without being kept.
 */
function tryProposals(
  chosen: readonly Chosen[],
  payloads: readonly Parsed[],
  { options, including }: { readonly options: Options; readonly including: readonly string[] },
  { before, count }: Counting,
): FieldProposal[] {
  const readAll = (tried: Options) => payloads.map((one) => readWith(one, tried));
  const effectsBetween = (first: readonly Reading[], second: readonly Reading[]) =>
    effectsOf(
      payloads.flatMap(({ seq }, place) => {
        const [one, other] = [first[place], second[place]];
        return one === undefined || other === undefined ? [] : [{ seq, before: one, after: other }];
      }),
    );
  let kept = options;
  let readings = readAll(kept);
  const tried = chosen.map((one) => {
    const { field } = one.wanted;
    const names = { ...kept.fieldNames, [field]: [one.path.path, ...(kept.fieldNames[field] ?? [])] };
    const next = { ...kept, fieldNames: names };
    const after = readAll(next);
    const effects = effectsBetween(readings, after);
    const doubt = doubtOf(one, effects, payloads.length);
    if (doubt === null || including.includes(one.path.path)) [kept, readings] = [next, after];
    return { one, effects, doubt, after };
  });
  return tried.flatMap(({ one: { wanted: field, path, because }, effects, doubt, after }): FieldProposal[] => {
    const foundBefore = before.get(field) ?? 0;
    const foundAfter = count(doubt === null ? readings : after, field);
    if (foundAfter <= foundBefore) return [];
    const shape = path.shapes[0] ?? '';
    return [
      {
        field: field.field,
        what: field.word,
        path: path.path,
        shape,
        because,
        foundBefore,
        foundAfter,
        effects,
        doubt,
      },
    ];
  });
}

/** Enough payloads for a field that never changes to be suspicious. */
const SUSPICIOUS = 4;

/** Why a person must decide about a proposal; null: it only adds what was not understood. */
function doubtOf({ wanted: { field }, path }: Chosen, effects: Effects, samples: number): string | null {
  const altering = alteringIn(effects);
  if (altering.length > 0) return altering.map(({ change, count }) => changePhrase(change, count)).join(', ');
  const grants = effects.changes.find(({ change }) => change === 'unclear-becomes-consent')?.count ?? 0;
  return field === 'consentState' && grants > 0 && path.distinct === 1 && samples >= SUSPICIOUS
    ? `it says the same in all ${path.present} payloads that have it, so it may be something else than the choice, and ${changePhrase('unclear-becomes-consent', grants)}`
    : null;
}

/** Items in the lists of scans: their fields are looked up in each item. */
function itemsOf(payloads: readonly Parsed[], paths: readonly PathFacts[]): readonly JsonObject[] {
  const lists = paths.filter(({ kinds, present }) => present > 0 && (kinds.get('items') ?? 0) >= present * 0.8);
  return payloads.flatMap(({ json }) =>
    lists.flatMap(({ path }) => {
      let value: unknown = json;
      for (const name of path.split('.')) value = isJsonObject(value) ? value[name] : undefined;
      return Array.isArray(value) ? value.slice(0, 200).filter(isJsonObject) : [];
    }),
  );
}

interface Chosen {
  readonly wanted: Wanted;
  readonly path: PathFacts;
  readonly score: number;
  readonly because: readonly string[];
}

/** The fewest points for a proposal: the right kind of value, plus other evidence. */
const ENOUGH = 3.5;

/** Gives each field the path with the most points; each path goes to one field, the strongest claim first. */
function assign(
  wanted: readonly Wanted[],
  paths: readonly PathFacts[],
  samples: number,
  all: readonly PathFacts[] = paths,
): Chosen[] {
  const names = all.map(({ path }) => path);
  const claims: Chosen[] = [];
  for (const one of wanted) {
    const fitting = paths.flatMap((path) =>
      isMisnamed(one.field, path.path, names) ? [] : (claimOf(one, path, samples) ?? []),
    );
    for (const claim of fitting)
      claims.push(
        fitting.length === 1
          ? { ...claim, score: claim.score + 1.5, because: [...claim.because, 'no other field looks like one'] }
          : claim,
      );
  }
  claims.sort((a, b) => b.score - a.score || wanted.indexOf(a.wanted) - wanted.indexOf(b.wanted));
  const chosen: Chosen[] = [];
  for (const claim of claims) {
    const taken = chosen.some(
      ({ wanted: other, path }) =>
        other === claim.wanted ||
        path === claim.path ||
        path.path.startsWith(`${claim.path.path}.`) ||
        claim.path.path.startsWith(`${path.path}.`),
    );
    if (claim.score >= ENOUGH && !taken) chosen.push(claim);
  }
  return chosen;
}

function claimOf(wanted: Wanted, path: PathFacts, samples: number): Chosen | null {
  const { kinds, names, not, values } = wanted;
  const of = (kind: (typeof kinds)[number]) => path.kinds.get(kind) ?? 0;
  const place = kinds.findIndex((kind) => path.present > 0 && of(kind) >= path.present * 0.8);
  const kind = kinds[place];
  const name = normalName(path.path);
  if (kind === undefined || (not?.test(name) ?? false) || (wanted.named === true && !names.test(name))) return null;
  // A word of choice names nothing.
  if ((kind === 'word' || kind === 'words') && of('choice') >= path.present * 0.8) return null;
  const because = [`its values look like ${kindWords[kind] ?? kind}`];
  let score = 2 + (place === 0 && kinds.length > 1 ? 0.5 : 0) + (path.present / samples) * 0.5;
  if (names.test(name)) {
    score += 2;
    because.push('its name suggests it');
  }
  if (values !== undefined && samples >= 4) {
    const share = path.distinct / path.present;
    const fits = values === 'many' ? share > 0.9 : share < 0.5;
    score += fits ? 1 : -1;
    if (fits) because.push(values === 'many' ? 'differs in nearly every payload' : 'only a few distinct values');
  }
  return { wanted, path, score, because };
}

const kindWords: Readonly<Record<string, string>> = {
  hash: 'hashes',
  id: 'ids',
  uuid: 'UUIDs',
  time: 'times',
  email: 'e-mail addresses',
  choice: 'words of choice',
  purposes: 'choices by purpose',
  'names-list': 'lists of names',
  items: 'lists of objects',
  text: 'text',
  region: 'codes of countries or regions',
  language: 'codes of languages',
  'request-kind': 'kinds of requests',
  'policy-type': 'types of policies',
  integer: 'whole numbers',
  number: 'numbers',
  version: 'versions',
  url: 'addresses',
  domain: 'domains',
  word: 'words',
  words: 'text',
};

/** The last two names of a path, with `camelCase` and `snake_case` split. */
function normalName(path: string): string {
  return path
    .split('.')
    .slice(-2)
    .join(' ')
    .replace(/([a-z])([A-Z])/g, '$1_$2');
}

function readWith({ kind, body, receivedAt }: DiscoverySample, options: Options): Reading {
  const context = { receivedAt, options };
  if (kind === 'row') return readConsentRow(body, context);
  const reading = readDelivery(body, context);
  // Its event has no name yet, though it may hold a request.
  return reading.outcome === 'read' && reading.isGuess
    ? { outcome: 'unknown-event', event: reading.event, reason: 'Unknown event.' }
    : reading;
}

function knownEventOf(reading: Reading): string | null {
  return reading.outcome === 'unknown-event' ? null : reading.event;
}

function typeOf(event: string | null): Fact['type'] | null {
  if (event === null) return null;
  if (event === 'row' || event.startsWith('consent')) return 'decision';
  if (event.startsWith('dsar')) return 'request';
  if (event.startsWith('cookie_scan')) return 'scan';
  return event.startsWith('integration') ? 'integration' : event.startsWith('policy') ? 'policy' : null;
}

/** Where the event's name is, and what its values mean; unclear values are left out. */
interface EventProposal {
  /** Path of the event's name; null: it is already found, or no path looks like one. */
  readonly path: string | null;
  /** Name as given → documented event. */
  readonly names: Readonly<Record<string, string>>;
}

/** Words in event names, with the documented event that they suggest; the first match counts. */
const stems: readonly (readonly [RegExp, string])[] = [
  [/dsar|dsr|subject.?(?:access|request|right)|privacy.?request|data.?request|right.?request/i, 'dsar.submitted'],
  [/scan|audit.?(?:done|finish|complet)|crawl/i, 'cookie_scan.completed'],
  [
    /(?:integration|connect(?:or|ion)|plugin).*(?:disconnect|remov|delet|uninstall|\boff)|disconnect/i,
    'integration.disconnected',
  ],
  [/(?:integration|connector|connection|plugin)|\bconnect/i, 'integration.connected'],
  [/(?:policy|document|notice).*(?:delet|remov|withdraw)/i, 'policy.deleted'],
  [/(?:policy|document|notice).*(?:publish|live|release)/i, 'policy.published'],
  [/(?:policy|document|notice).*(?:updat|chang|edit|regenerat|revis)/i, 'policy.updated'],
  [/(?:policy|document|notice).*(?:creat|generat|new|add)/i, 'policy.created'],
  [/consent|cookie|choice|prefer|opt.?(?:in|out)|banner/i, 'consent.recorded'],
];
const PATH_NAMES = /event|type|kind|what|topic|action|hook|subject|trigger|name|signal|msg|message/i;
const TOKEN = /^[a-z][a-z0-9]*(?:[._:/-][a-z0-9]+)+$|^[A-Z][a-z]+(?:[A-Z][a-z]+)+$/;

/** Ids look like names too; a text with a long number or part of a hash is not an event name and must not be shown. */
const ID = /\d{3}|(?=[0-9a-f]*\d)[0-9a-f]{6,}/i;

/** Looks for the event's name in payloads that name no known one. */
function proposeEvents(payloads: readonly JsonObject[], options: EventOptions): EventProposal {
  const places = new Map<string, { known: number; tokens: number; values: Set<string> }>();
  for (const payload of payloads) {
    for (const { path, value } of texts(payload, '', 0)) {
      const known = classify(value, options.eventNames)?.family != null;
      if (!known && (!TOKEN.test(value) || ID.test(value))) continue;
      const place = places.get(path) ?? { known: 0, tokens: 0, values: new Set<string>() };
      places.set(path, place);
      place[known ? 'known' : 'tokens'] += 1;
      place.values.add(value);
    }
  }
  let best: { path: string; score: number; values: Set<string> } | null = null;
  for (const [path, { known, tokens, values }] of places) {
    const meant = [...values].filter((value) => meaningOf(value, options) !== null).length;
    // There are only a few event names, unlike ids.
    if (meant === 0 || (values.size > 3 && values.size > payloads.length / 2)) continue;
    const named = PATH_NAMES.test(path.split('.').at(-1) ?? '') ? 2 : 0;
    const score = (known * 4 + tokens * (meant / values.size)) / payloads.length + named - path.split('.').length * 0.1;
    if (best === null || score > best.score) best = { path, score, values };
  }
  if (best === null) return { path: null, names: {} };
  const names: Record<string, string> = {};
  for (const value of best.values) {
    const documented = meaningOf(value, options);
    if (documented !== null && classify(value, options.eventNames)?.family == null) names[value] = documented;
  }
  return { path: best.path, names };
}

function meaningOf(value: string, options: EventOptions): string | null {
  const known = classify(value, options.eventNames);
  if (known?.family != null) return known.event;
  const plain = value.replace(/([a-z])([A-Z])/g, '$1_$2');
  return stems.find(([pattern]) => pattern.test(plain))?.[1] ?? null;
}

function* texts(object: JsonObject, prefix: string, depth: number): Generator<{ path: string; value: string }> {
  for (const [key, value] of Object.entries(object).slice(0, 100)) {
    if (key.includes('.')) continue;
    if (typeof value === 'string' && value.length <= 80) yield { path: prefix + key, value };
    else if (isJsonObject(value) && depth < 3) yield* texts(value, `${prefix}${key}.`, depth + 1);
  }
}

/** What is found at one path in several payloads. Contains no values. */
interface PathShape {
  /** Field names separated by dots, as received; names that are themselves values are masked. */
  readonly path: string;
  /** In how many payloads it occurs. */
  readonly present: number;
  /** Number of different values there. */
  readonly distinct: number;
  /** Masked values, at most four different shapes. */
  readonly shapes: readonly string[];
}

/** With additional facts for the heuristics; only for use within the analysis. */
interface PathFacts extends PathShape {
  /** The number of payloads in which its value could be of each kind. */
  readonly kinds: ReadonlyMap<ValueKind, number>;
  /** A mapping can lead there. */
  readonly mappable: boolean;
}

const MAX_DEPTH = 5;
const MAX_PATHS = 300;

/** Collects what is found in payloads, by path. */
function gatherPaths(payloads: readonly JsonObject[]): readonly PathFacts[] {
  const found = new Map<string, Gathered>();
  for (const payload of payloads) walk(payload, { prefix: '', shownPrefix: '', mappable: true, depth: 0 }, found);
  return [...found.values()].map(({ path, present, values, shapes, kinds, mappable }) => ({
    path,
    present,
    distinct: values.size,
    shapes: [...shapes].slice(0, 4),
    kinds,
    mappable,
  }));
}

interface Gathered {
  readonly path: string;
  present: number;
  readonly values: Set<string>;
  readonly shapes: Set<string>;
  readonly kinds: Map<ValueKind, number>;
  readonly mappable: boolean;
}

function walk(
  object: JsonObject,
  {
    prefix,
    shownPrefix,
    mappable,
    depth,
  }: { readonly prefix: string; readonly shownPrefix: string; readonly mappable: boolean; readonly depth: number },
  found: Map<string, Gathered>,
): void {
  for (const [key, value] of Object.entries(object).slice(0, 200)) {
    const path = prefix + key;
    const shown = shownPrefix + maskKey(key);
    const isPlain = mappable && !key.includes('.') && maskKey(key) === key;
    if (found.size >= MAX_PATHS && !found.has(path)) return;
    let one = found.get(path);
    if (one === undefined) {
      one = { path: shown, present: 0, values: new Set(), shapes: new Set(), kinds: new Map(), mappable: isPlain };
      found.set(path, one);
    }
    if (value === null || value === '') continue;
    one.present += 1;
    if (one.values.size < 1000) one.values.add(written(value));
    if (one.shapes.size < 20) one.shapes.add(maskValue(value));
    for (const kind of kindsOf(value)) one.kinds.set(kind, (one.kinds.get(kind) ?? 0) + 1);
    if (isJsonObject(value) && depth < MAX_DEPTH)
      walk(value, { prefix: `${path}.`, shownPrefix: `${shown}.`, mappable: isPlain, depth: depth + 1 }, found);
  }
}

/** Distinguishes values. All values nested too deeply to be written count as one. */
function written(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return '…';
    throw error;
  }
}
