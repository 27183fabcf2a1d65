import { purposeKey } from '../src/core/consent-judgement.ts';
import type { SourceOptions } from '../src/core/source.ts';
import { canonicalJson } from '../src/crypto/canonical.ts';
import { sha256Hex } from '../src/crypto/hash.ts';
import { type Batch, batchOf, type Item } from './batch.ts';
import { consentFamily, type DecisionFact, readDecision } from './consent.ts';
import { namesConsent } from './consent-events.ts';
import { blankRequest, dsarFamily } from './dsar.ts';
import { type EventName, type EventOptions, findEvent, findOwnEvent } from './event-name.ts';
import { fieldTableOf, normaliseName } from './field-table.ts';
import { type Fact, families } from './index.ts';
import { isJsonObject, type JsonObject, parseBody, textOf } from './parse.ts';
import { type Family, Payload } from './payload.ts';
import { platformOf } from './platforms.ts';
import { mayHoldRequest, textMayHoldRequest } from './request-signs.ts';
import { unpackBody } from './unpack.ts';

/**
 * The result of reading a body: facts; nothing to read (an event unknown to this program, a body that is not JSON: kept
 * and shown, not a fault); or a known event that could not be read, which is quarantined.
 */
export type Reading = (
  | {
      readonly outcome: 'read';
      readonly event: string;
      readonly fact: Fact;
      readonly unread: readonly string[];
      /** The event is not known: it is taken for a request so that somebody reads it. */
      readonly isGuess?: true;
    }
  | { readonly outcome: 'unknown-event'; readonly event: string | null; readonly reason: string }
  | { readonly outcome: 'unreadable'; readonly event: string; readonly reason: string }
) & {
  /** The other events of the same body, if it holds several (batch.ts). */
  readonly more?: readonly Reading[];
};

/** What a reading depends on besides the body. */
export interface ReadingContext {
  /** Our clock on arrival, ISO 8601 UTC. */
  readonly receivedAt: string;
  /** The Content-Encoding of the delivery; absent or null: not recorded. */
  readonly encoding?: string | null;
  /** Keep one object per source: data derived from its field names are cached by it. */
  readonly options: Pick<SourceOptions, 'fieldNames' | 'assumedOffset' | 'eventNames' | 'necessaryPurposes'>;
}

/**
 * Reads the body of a delivery. Never throws: a body that is not JSON, or an unknown event, is an outcome; a known
 * event that lacks what its fact needs is `unreadable`; a `dsar.*` event is always read, and so is what is not understood
 * but may hold a request (request-signs.ts). If the body holds several events, the others are in `more`, each as if
 * delivered alone. The same bytes, options, encoding and time of receipt give the same reading.
 */
export function readDelivery(body: Uint8Array, context: ReadingContext): Reading {
  const unpacked = unpackBody(body, context.encoding ?? null);
  if ('unread' in unpacked) return { outcome: 'unknown-event', event: null, reason: unpacked.unread };
  if ('text' in unpacked) return readText(unpacked.text, context);
  const { json } = unpacked;
  const batch = batchOf(json);
  if (batch !== null) return readBatch(batch, context);
  if (!isJsonObject(json))
    return { outcome: 'unknown-event', event: null, reason: 'The body is JSON, but not an object.' };
  return readObject(json, context);
}

function readObject(root: JsonObject, context: ReadingContext): Reading {
  const name = findEvent(root, context.options);
  if (name?.family) return readKnown(root, { event: name.event, asGiven: name.asGiven }, name.family, context);
  if (name !== null && namesConsent(name.event)) {
    const reading = readKnown(root, { event: name.event, asGiven: name.asGiven }, consentFamily, context);
    if (reading.outcome === 'read') return reading;
  }
  if (mayHoldRequest(root, name?.event ?? null)) return readAsRequest(root, name, context);
  if (name === null) return { outcome: 'unknown-event', event: null, reason: 'The body names no event.' };
  return { outcome: 'unknown-event', event: name.event, reason: 'Unknown event.' };
}

function readKnown(
  root: JsonObject,
  { event, asGiven }: { readonly event: string; readonly asGiven: string },
  family: Family<Fact>,
  context: ReadingContext,
): Reading {
  const payload = openPayload(root, family, context, 'payload');
  const fact = family.read(event, payload);
  if ('unreadable' in fact) return { outcome: 'unreadable', event, reason: fact.unreadable };
  return { outcome: 'read', event, fact, unread: payload.unread(family, asGiven) };
}

/** A case of unknown kind, so that somebody reads it. */
function readAsRequest(root: JsonObject, name: EventName | null, context: ReadingContext): Reading {
  const reading = readKnown(
    root,
    { event: name?.event ?? NAMELESS, asGiven: name?.asGiven ?? '' },
    dsarFamily,
    context,
  );
  if (reading.outcome !== 'read' || reading.fact.type !== 'request') return reading;
  const { furtherKinds: _notUnderstood, ...fact } = reading.fact;
  const kindAsGiven = fact.kindAsGiven ?? name?.event ?? null;
  return {
    ...reading,
    isGuess: true,
    fact: { ...fact, kind: 'unknown', kindAsGiven },
    unread: ['the event is unknown, but it may hold a request', ...reading.unread],
  };
}

/** What stands for the event of a request that names none. */
const NAMELESS = 'request';

function readBatch({ items, beyond, repeated }: Batch, context: ReadingContext): Reading {
  const readings = items.map((item) => readItem(item, context));
  const total = items.length + beyond;
  const [first, ...rest] = readings;
  if (first === undefined) return { outcome: 'unknown-event', event: null, reason: 'The body is an empty list.' };
  if (readings.every(({ outcome }) => outcome === 'unknown-event')) {
    if (total === 1) return first;
    const event = readings.find((one) => one.event !== null)?.event ?? null;
    const reason = `The body is a list of ${total} things, none of which is a known event.`;
    return { outcome: 'unknown-event', event, reason };
  }
  const note = repeated === 0 ? [] : [`${repeated} exact ${repeated === 1 ? 'repeat' : 'repeats'} in the list`];
  const told = first.outcome === 'read' ? { ...first, unread: [...first.unread, ...note] } : first;
  if (beyond > 0) {
    const reason = `The body holds ${total} events: only the first ${items.length} are read.`;
    rest.push({ outcome: 'unreadable', event: first.event ?? NAMELESS, reason });
  }
  return rest.length === 0 ? told : { ...told, more: rest };
}

/** Reads an event of a batch as if delivered alone; what it does not say is taken from the envelope. */
function readItem({ event, envelope }: Item, context: ReadingContext): Reading {
  if (!isJsonObject(event)) return readText(event, context);
  const own = readObject(event, context);
  const named = findOwnEvent(event, context.options);
  const { event: name, ...times } = envelope;
  const lacksTime = own.outcome === 'read' && own.fact.occurred.basis === 'received';
  if (named !== null && !lacksTime) return own;
  const around = named === null && name !== undefined ? envelope : times;
  return Object.keys(around).length === 0 ? own : readObject({ ...around, data: event }, context);
}

const TEXT_DSAR = /["'=:\s](dsar[._-][a-z_]{1,40})\b/i;
/** Characters of a text that is not JSON that the case shows as its message; all of it stays in the body. */
const TEXT_SHOWN = 4000;

/** Not JSON: kept and shown. If it still names a `dsar.*` event (cut off, or another format), or asks for something, a case is opened. */
function readText(text: string, context: ReadingContext): Reading {
  const event = TEXT_DSAR.exec(` ${text.slice(0, 4096)}`)?.[1]?.toLowerCase();
  if (event === undefined && !textMayHoldRequest(text))
    return { outcome: 'unknown-event', event: null, reason: 'The body is not JSON.' };
  const fact = { ...blankRequest(context.receivedAt), message: textOf(text.slice(0, TEXT_SHOWN), TEXT_SHOWN) };
  return { outcome: 'read', event: event ?? NAMELESS, fact, unread: ['the whole body: it is not JSON'] };
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

/** The consent platform whose payload a body looks like (platforms.ts); null: none that is known. */
export function platformNameOf(body: JsonObject, context: ReadingContext): string | null {
  return platformOf(openPayload(body, consentFamily, context, 'payload'))?.name ?? null;
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
    nameSays: family.nameSays,
  });
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
