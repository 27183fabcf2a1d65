import { findEvent, findOwnEvent } from './event-name.ts';
import { type FieldName, fieldNames } from './field-names.ts';
import { envelopeNames, normaliseName } from './field-table.ts';
import { isJsonObject, type JsonObject, parseText } from './parse.ts';

/** One of several events in a body. */
export interface Item {
  /** As if delivered alone, or text that is not an object. */
  readonly event: JsonObject | string;
  /** What the envelope says for all of them, where the event does not say it itself: its name, its time. */
  readonly envelope: JsonObject;
}

/** The events of one body that are read; each is a row of the read models under the entry's number (`part`). */
export const MAX_EVENTS = 1000;

/** The events in a body, in the order in which they count, and how many more there are than are read. */
export interface Batch {
  readonly items: readonly Item[];
  readonly beyond: number;
  /** Exact repeats of earlier ones, which are left out. */
  readonly repeated: number;
}

/** Names of lists of events. */
const listNames: ReadonlySet<string> = new Set(
  'events batch messages notifications webhooks deliveries records requests dsars items data payload payloads results entries objects body'
    .split(' ')
    .map(normaliseName),
);
/** Batches inside batches, and envelopes around a list. */
const MAX_DEPTH = 3;
const NOTHING: JsonObject = {};

/**
 * The events of a body that holds several: a list, or an object with a list of events (docs/assumptions.md). Null: it is
 * one event. Depends on the bytes alone, never on a source's settings, so that a request keeps the number of its case
 * when earlier deliveries are read again. The first data subject request comes first: its case is named after the entry.
 */
export function batchOf(json: unknown): Batch | null {
  const list = Array.isArray(json) ? { list: json as readonly unknown[], envelope: NOTHING } : eventsIn(json);
  if (list === null) return null;
  const found: Item[] = [];
  const count = { beyond: 0, repeated: 0, seen: new Set<string>() };
  for (const one of list.list) collect(one, list.envelope, 1, { found, count });
  const first = found.findIndex(isRequest);
  const [request] = first > 0 ? found.splice(first, 1) : [];
  return { items: request === undefined ? found : [request, ...found], beyond: count.beyond, repeated: count.repeated };
}

interface Count {
  beyond: number;
  repeated: number;
  readonly seen: Set<string>;
}

function collect(
  value: unknown,
  envelope: JsonObject,
  depth: number,
  { found, count }: { readonly found: Item[]; readonly count: Count },
): void {
  if (found.length >= MAX_EVENTS) {
    count.beyond += 1;
    return;
  }
  const json = typeof value === 'string' && /^\s*[{[]/.test(value) ? (parseText(value) ?? value) : value;
  if (isJsonObject(json)) {
    const inner = depth < MAX_DEPTH ? eventsIn(json) : null;
    if (inner !== null) {
      for (const one of inner.list) collect(one, { ...envelope, ...inner.envelope }, depth + 1, { found, count });
      return;
    }
  } else if (json === null || json === '') return;
  const text = JSON.stringify([json, envelope]);
  if (count.seen.has(text)) {
    count.repeated += 1;
    return;
  }
  count.seen.add(text);
  found.push({ event: isJsonObject(json) ? json : typeof json === 'string' ? json : JSON.stringify(json), envelope });
}

/** What an object holds instead of being an event itself: a list of events, or an event as text in one of its fields. */
function eventsIn(json: unknown): EventList | null {
  const list = listIn(json);
  if (list !== null || !isJsonObject(json)) return list;
  const texts = Object.keys(json).filter((key) => isEmbedded(key, json[key]));
  if (texts.length === 0 || findEvent(json, {})?.family) return null;
  const embedded = texts.map((key) => parseText(json[key] as string)).filter(isJsonObject);
  return embedded.length === 1 ? { list: embedded, envelope: envelopeOf(json) } : null;
}

function isEmbedded(key: string, value: unknown): boolean {
  if (typeof value !== 'string' || value.charCodeAt(0) !== BRACE) return false;
  const name = normaliseName(key);
  return listNames.has(name) || envelopeNames.has(name) || name === 'message';
}

interface EventList {
  readonly list: readonly unknown[];
  readonly envelope: JsonObject;
}

/** A list of events in an object or in an envelope within it; null: there is none. */
function listIn(json: unknown, depth = 0, outer: () => JsonObject = () => NOTHING): EventList | null {
  if (!isJsonObject(json)) return null;
  for (const key of Object.keys(json)) {
    const value = json[key];
    if (typeof value === 'string' ? value.charCodeAt(0) !== BRACKET : typeof value !== 'object' || value === null)
      continue;
    const name = normaliseName(key);
    if (isJsonObject(value)) {
      const inner =
        depth < MAX_DEPTH && envelopeNames.has(name)
          ? listIn(value, depth + 1, () => ({ ...outer(), ...envelopeOf(json) }))
          : null;
      if (inner !== null) return { list: inner.list, envelope: { ...envelopeOf(json), ...inner.envelope } };
    } else if (listNames.has(name)) {
      const list: unknown = typeof value === 'string' ? parseText(value) : value;
      if (Array.isArray(list) && areEvents({ ...outer(), ...json }, list, depth))
        return { list, envelope: envelopeOf(json) };
    }
  }
  return null;
}

const BRACKET = '['.charCodeAt(0);
const BRACE = '{'.charCodeAt(0);

/**
 * Whether the items of a list are events: one of them names a known event or is itself a batch; or all name one and the object itself does
 * not; or it names one for all of them, and each says whom it is about, which the object itself does not. A list of
 * purposes or files does not.
 */
function areEvents(root: JsonObject, list: readonly unknown[], depth: number): boolean {
  const objects = list.slice(0, MAX_EVENTS).filter(isJsonObject);
  if (objects.length === 0) return false;
  const named = objects.map((one) => findOwnEvent(one, {}));
  if (named.some((event) => event?.family)) return true;
  if (depth < MAX_DEPTH && objects.some((one) => listIn(one, depth + 1) !== null)) return true;
  const own = findEvent(root, {});
  if (!own?.family) return named.every((event) => event !== null);
  const identity = identities.get(own.family.type);
  if (identity === undefined || hasAny(root, identity.ofRoot)) return false;
  return objects.every((one) => hasAny(one, identity.ofItem));
}

/** Names that may be of the envelope or of anything. */
const GENERAL: ReadonlySet<string> = new Set(['id', 'uuid', 'uid', 'from', 'policy']);

/** By type: fields of which an event has one and a mere part of an event has none; and those of whom it is about. */
const identities = new Map(
  Object.entries({
    request: ['requesterEmail', 'requestId', 'requestMessage'],
    decision: ['subject'],
    policy: ['policyId'],
  } satisfies Record<string, readonly FieldName[]>).map(([type, [whom, ...others]]) => {
    const of = (field: FieldName | undefined) =>
      field === undefined ? [] : fieldNames[field].map((name) => normaliseName(name.split('.')[0] ?? ''));
    const ofItem = new Set([...of(whom), ...others.flatMap(of)]);
    return [type, { ofItem, ofRoot: new Set(of(whom).filter((name) => !GENERAL.has(name))) }] as const;
  }),
);

function hasAny(object: JsonObject, names: ReadonlySet<string>): boolean {
  return Object.keys(object)
    .slice(0, MAX_EVENTS)
    .some((key) => names.has(normaliseName(key)));
}

const timeNames: ReadonlySet<string> = new Set(
  fieldNames.occurredAt.filter((name) => !name.startsWith('^')).map(normaliseName),
);

/** The fields of an envelope that count for every event in it. Its id does not: the events would look like one. */
function envelopeOf(root: JsonObject): JsonObject {
  const event = findEvent(root, {});
  const times = Object.entries(root).filter(
    ([key, value]) => timeNames.has(normaliseName(key)) && !isJsonObject(value),
  );
  return { ...(event?.family ? { event: event.asGiven } : {}), ...Object.fromEntries(times) };
}

function isRequest({ event, envelope }: Item): boolean {
  const own = isJsonObject(event) ? findOwnEvent(event, {}) : null;
  return (own ?? findEvent(envelope, {}))?.family?.anyOf === 'dsar';
}
