import { canonicalJson } from '../src/crypto/canonical.ts';
import { purposeKey } from '../src/core/consent-judgement.ts';
import { sha256Hex } from '../src/crypto/hash.ts';
import type { SourceOptions } from '../src/core/source.ts';
import { consentFamily, readDecision, type DecisionFact } from './consent.ts';
import { blankRequest } from './dsar.ts';
import { type Family, Payload } from './payload.ts';
import { fieldTableOf, normaliseName } from './field-table.ts';
import { eventNames } from './field-names.ts';
import { type Fact, families } from './index.ts';
import { clean, isJsonObject, type JsonObject, parseBody } from './parse.ts';

/**
 * The result of reading a body: facts; nothing to read (an event unknown to this program, a body that is not JSON: kept
 * and shown, not a fault); or a known event that could not be read, which is quarantined.
 */
export type Reading =
  | { readonly outcome: 'read'; readonly event: string; readonly fact: Fact; readonly unread: readonly string[] }
  | { readonly outcome: 'unknown-event'; readonly event: string | null; readonly reason: string }
  | { readonly outcome: 'unreadable'; readonly event: string; readonly reason: string };

/** What a reading depends on besides the body. */
export interface ReadingContext {
  /** Our clock on arrival, ISO 8601 UTC. */
  readonly receivedAt: string;
  /** Keep one object per source: data derived from its field names are cached by it. */
  readonly options: Pick<SourceOptions, 'fieldNames' | 'assumedOffset' | 'eventNames' | 'necessaryPurposes'>;
}

interface EventName {
  /** Spelled as in docs/service.md §6 if it is one of those; otherwise as given. */
  readonly event: string;
  readonly asGiven: string;
  readonly family: Family<Fact> | null;
}

/** Spelling without case and separators → the event and its family. */
const knownEvents = new Map<string, { readonly event: string; readonly family: Family<Fact> }>();
for (const family of families) {
  for (const event of family.events) knownEvents.set(normaliseName(event), { event, family });
}
const MAX_EVENT_NAME = 100;

/**
 * Reads the body of a delivery. Never throws: a body that is not JSON, or an unknown event, is an outcome; a known
 * event that lacks what its fact needs is `unreadable`; a `dsar.*` event is always read. The same bytes, options and
 * time of receipt give the same reading.
 */
export function readDelivery(body: Uint8Array, context: ReadingContext): Reading {
  const parsed = parseBody(body);
  if ('text' in parsed) return readText(parsed.text, context);
  const { json } = parsed;
  if (Array.isArray(json)) return readList(json, context);
  if (!isJsonObject(json))
    return { outcome: 'unknown-event', event: null, reason: 'The body is JSON, but not an object.' };
  return readObject(json, context);
}

function readObject(root: JsonObject, context: ReadingContext): Reading {
  const name = findEvent(root, context.options);
  if (name === null) {
    return { outcome: 'unknown-event', event: null, reason: 'The body names no event.' };
  }
  if (name.family === null) {
    return { outcome: 'unknown-event', event: name.event, reason: 'Unknown event.' };
  }
  const { family } = name;
  const payload = openPayload(root, family, context, 'payload');
  const fact = family.read(name.event, payload);
  if ('unreadable' in fact) return { outcome: 'unreadable', event: name.event, reason: fact.unreadable };
  return { outcome: 'read', event: name.event, fact, unread: payload.unread(family, name.asGiven) };
}

/**
 * A list of events is not documented, but a list with one event is read; from several, the first data subject request
 * is read, which must not be missed.
 */
function readList(items: readonly unknown[], context: ReadingContext): Reading {
  const objects = items.filter(isJsonObject);
  const request = objects.find((item) => findEvent(item, context.options)?.family?.anyOf === 'dsar');
  const only = items.length === 1 ? objects[0] : request;
  if (only === undefined)
    return { outcome: 'unknown-event', event: null, reason: 'The body is a list of several things.' };
  const reading = readObject(only, context);
  if (items.length === 1 || reading.outcome !== 'read') return reading;
  return { ...reading, unread: [...reading.unread, `${items.length - 1} more in the list`] };
}

const TEXT_DSAR = /["'=:\s](dsar[._-][a-z_]{1,40})\b/i;

/** Not JSON: kept and shown. If it still names a `dsar.*` event (cut off, or another format), a case is opened. */
function readText(text: string, context: ReadingContext): Reading {
  const event = TEXT_DSAR.exec(` ${text.slice(0, 4096)}`)?.[1]?.toLowerCase();
  if (event === undefined) return { outcome: 'unknown-event', event: null, reason: 'The body is not JSON.' };
  return { outcome: 'read', event, fact: blankRequest(context.receivedAt), unread: ['the whole body: it is not JSON'] };
}

/** Reads one row of the consent log (docs/service.md §2.8, §4.5) from its own bytes. Never throws. */
export function readConsentRow(body: Uint8Array, context: ReadingContext): Reading {
  const event = 'consent.recorded';
  const parsed = parseBody(body);
  if ('text' in parsed || !isJsonObject(parsed.json)) {
    return { outcome: 'unreadable', event, reason: 'The row is not a JSON object.' };
  }
  const payload = openPayload(parsed.json, consentFamily, context, 'row');
  const fact = readDecision(payload, 'pull');
  if ('unreadable' in fact) return { outcome: 'unreadable', event, reason: fact.unreadable };
  return { outcome: 'read', event, fact, unread: payload.unread(consentFamily, null) };
}

/** The event that a body names: its documented name if known, otherwise as given; null if it names none or is not JSON. */
export function eventNameOf(body: Uint8Array, options: EventOptions = {}): string | null {
  const parsed = parseBody(body);
  return 'json' in parsed && isJsonObject(parsed.json) ? (findEvent(parsed.json, options)?.event ?? null) : null;
}

const objectNames = new Map(families.map((family) => [family, new Set(family.objects.map(normaliseName))]));
const NO_OBJECTS: ReadonlySet<string> = new Set();

function openPayload(
  root: JsonObject,
  family: Family<Fact>,
  context: ReadingContext,
  basis: 'payload' | 'row',
): Payload {
  const { receivedAt, options } = context;
  const time = { receivedAt, assumedOffset: options.assumedOffset, basis };
  return new Payload(root, objectNames.get(family) ?? NO_OBJECTS, fieldTableOf(options.fieldNames), time, {
    necessaryPurposes: options.necessaryPurposes,
    unwrap: family.unwrap,
  });
}

/** Where a source puts the event's name (`fieldNames.event`), and its names for the documented events. */
export type EventOptions = Partial<Pick<SourceOptions, 'fieldNames' | 'eventNames'>>;

function findEvent(root: JsonObject, options: EventOptions): EventName | null {
  const aliases = options.eventNames;
  for (const path of options.fieldNames?.['event'] ?? []) {
    const value = valueAt(root, path.split('.').map(normaliseName));
    const own = typeof value === 'string' ? classify(value, aliases) : null;
    if (own !== null) return own;
  }
  // As documented: no further search is needed.
  const documented = typeof root['event'] === 'string' ? classify(root['event'], aliases) : null;
  if (documented?.family) return documented;
  let unknown: EventName | null = null;
  for (const { name, value } of eventCandidates(root, aliases)) {
    const candidate = classify(value, aliases);
    if (candidate === null) continue;
    if (candidate.family !== null) return candidate;
    // A name or action counts as an event only if it looks like one.
    const plausible =
      (name !== 'name' && name !== 'action') || /^[a-z][a-z0-9_]*\.[a-z0-9_.]+$/i.test(candidate.asGiven);
    if (plausible) unknown ??= candidate;
  }
  return unknown;
}

const eventPaths = eventNames.map((path) => path.split('.').map(normaliseName));

/** Values in fields for the event's name, first at the top, then in an envelope. */
function* eventCandidates(
  root: JsonObject,
  aliases: EventOptions['eventNames'],
): Generator<{ name: string; value: string }> {
  yield* candidatesIn(root, () => true);
  for (const object of Object.values(root).filter(isJsonObject).slice(0, 20)) {
    // Further inside, only a known event counts: `type` and `name` have many meanings there.
    yield* candidatesIn(object, (value) => Boolean(classify(value, aliases)?.family));
  }
}

function* candidatesIn(
  object: JsonObject,
  counts: (value: string) => boolean,
): Generator<{ name: string; value: string }> {
  const byName = new Map<string, unknown>();
  for (const key of Object.keys(object).slice(0, 200)) {
    const name = normaliseName(key);
    if (!byName.has(name)) byName.set(name, object[key]);
  }
  if (byName.size === 0) return;
  for (const [first = '', second] of eventPaths) {
    let value = byName.get(first);
    if (second !== undefined) value = isJsonObject(value) ? value[second] : undefined;
    if (typeof value === 'string' && counts(value)) yield { name: first, value };
  }
}

/** The value at a path of names, ignoring case and separators. */
function valueAt(root: JsonObject, path: readonly string[]): unknown {
  let value: unknown = root;
  for (const segment of path) {
    if (!isJsonObject(value)) return undefined;
    const object: JsonObject = value;
    const key = Object.keys(object).find((one) => normaliseName(one) === segment);
    value = key === undefined ? undefined : object[key];
  }
  return value;
}

/** The event that a text names. `aliases`: a source's names for the documented events. */
export function classify(value: string, aliases?: EventOptions['eventNames']): EventName | null {
  if (value.length > MAX_EVENT_NAME) return null;
  const asGiven = value;
  if (aliases !== undefined && Object.hasOwn(aliases, value)) {
    const meant = classify(aliases[value] ?? '');
    return meant === null ? null : { ...meant, asGiven };
  }
  const text = clean(value.trim());
  if (text === '') return null;
  const known = knownEvents.get(normaliseName(text));
  if (known !== undefined) return { ...known, asGiven };
  const word = /^[a-z]+(?![a-z0-9])/i.exec(text)?.[0].toLowerCase();
  const family = word === undefined ? undefined : families.find((one) => one.anyOf === word);
  if (family !== undefined) return { event: text.toLowerCase(), asGiven, family };
  return { event: text, asGiven, family: null };
}

/**
 * Identifies the decision that a webhook and a pulled row share (docs/architecture.md): by the service's record id, or
 * else by banner, subject, time and choice. Times are compared by the second, because a webhook and a row may differ in
 * precision; without a subject the full time is used, so that the choices of different unknown visitors are not
 * confused.
 */
export function decisionIdOf(fact: DecisionFact): string {
  if (fact.recordId !== null) return `r:${fact.recordId}`;
  const time = fact.subject === null ? fact.occurred.at : fact.occurred.at.slice(0, 19);
  const choices = Object.fromEntries(Object.entries(fact.purposes).map(([name, choice]) => [purposeKey(name), choice]));
  return `c:${sha256Hex(canonicalJson([fact.bannerId, fact.subject, time, fact.state, choices]))}`;
}
