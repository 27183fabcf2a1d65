import { inUrgency, type RequestKind } from '../src/core/vocabulary.ts';
import { mapJurisdiction } from '../src/law/jurisdictions.ts';
import { fieldsOfFamilies } from './field-names.ts';
import { normaliseName } from './field-table.ts';
import type { Occurred } from './occurred.ts';
import type { Family, Payload } from './payload.ts';
import { readPlace } from './region.ts';
import { isJsonObject, textOf } from './parse.ts';
import { readKinds } from './request-kinds.ts';

/** A data subject request as reported by the service. Every field may be missing: the case is opened anyway. */
export interface RequestFact {
  readonly type: 'request';
  /** The service's own id of the request. */
  readonly requestId: string | null;
  /** The right asked for; of several the one that takes effect soonest. */
  readonly kind: RequestKind;
  /** The other rights asked for in the same request; absent: none. */
  readonly furtherKinds?: readonly RequestKind[];
  /** The payload's own words for the rights. */
  readonly kindAsGiven: string | null;
  readonly requesterName: string | null;
  readonly requesterEmail: string | null;
  /** A visitor hash sent by the requester. */
  readonly subject: string | null;
  readonly jurisdiction: string | null;
  readonly language: string | null;
  readonly message: string | null;
  readonly occurred: Occurred;
}

/** The longest message copied into the case; the body keeps all of it. */
const MAX_MESSAGE = 20_000;

/**
 * Data subject requests (docs/service.md §6, dsar.submitted; its payload is not documented). Every `dsar.*` event is
 * one, and all are readable: a request that reached the controller starts its clock even if this program understood
 * none of its fields.
 */
export const dsarFamily: Family<RequestFact> = {
  type: 'request',
  events: ['dsar.submitted'],
  anyOf: 'dsar',
  objects: [
    ...['dsar', 'request', 'dsar_request', 'dsr', 'privacy_request', 'subject_request', 'data_request'],
    ...['submission', 'form', 'extras'],
  ],
  fields: fieldsOfFamilies('every', 'request'),
  alsoReads: [
    ...['status', 'orders_to_redact', 'orders_requested', 'shop_id', 'shop_domain'],
    // When the sender wants it done, which no law of a case asks.
    ...['due', 'due_at', 'due_date', 'due_timestamp', 'deadline', 'expires_at', 'expected_by'],
  ],
  read: readRequest,
  eventIdOf: ({ requestId }) => requestId,
};

function readRequest(event: string, payload: Payload): RequestFact {
  const regulation = payload.text('requestRegulation');
  const place = readPlace(payload, 'requestJurisdiction', 'requestRegion');
  const { kinds, asGiven } = readKindsOf(payload, event, isCalifornian(place, regulation));
  const [kind = 'unknown', ...furtherKinds] = kinds;
  return {
    type: 'request',
    requestId: payload.text('requestId') ?? payload.text('eventId'),
    kind,
    ...(furtherKinds.length === 0 ? {} : { furtherKinds }),
    kindAsGiven: asGiven,
    requesterName: readName(payload),
    requesterEmail: payload.first('requesterEmail', emailOf) ?? payload.first('requesterIdentities', addressIn),
    subject: payload.text('requestSubject'),
    // A law that only one place has.
    jurisdiction: place ?? (regulation !== null && mapJurisdiction(regulation) !== null ? regulation : null),
    language: payload.text('language'),
    message: payload.first('requestMessage', messageOf),
    occurred: payload.occurred('requestedAt', 'requestCreatedAt', 'occurredAt'),
  };
}

/** A request that cannot be read: the body named a `dsar.*` event but is not JSON. */
export function blankRequest(receivedAt: string): RequestFact {
  return {
    type: 'request',
    requestId: null,
    kind: 'unknown',
    kindAsGiven: null,
    requesterName: null,
    requesterEmail: null,
    subject: null,
    jurisdiction: null,
    language: null,
    message: null,
    occurred: { at: receivedAt, basis: 'received', counts: true },
  };
}

/** Names of the text in an item of a list of rights. */
const itemNames = ['name', 'label', 'title', 'type', 'right', 'request_type', 'action', 'code', 'key', 'value'];
/** The most rights read from one list. */
const MAX_ITEMS = 50;

/** The rights named by one field: a text, a list, or an object of flags; other values name none. */
function rightsOf(value: unknown, depth = 0): readonly string[] {
  if (Array.isArray(value)) {
    if (depth > 0) return [];
    return value.slice(0, MAX_ITEMS).flatMap((item) => rightsOf(item, depth + 1));
  }
  if (!isJsonObject(value)) {
    const text = textOf(value);
    return text === null ? [] : [text];
  }
  const keys = Object.keys(value).slice(0, MAX_ITEMS);
  if (keys.length > 0 && keys.every((key) => typeof value[key] === 'boolean'))
    return keys.filter((key) => value[key] === true).flatMap((key) => textOf(key) ?? []);
  if (depth === 0) return [];
  const named = itemNames.map((name) => keys.find((key) => normaliseName(key) === normaliseName(name)));
  const text = named.map((key) => (key === undefined ? null : textOf(value[key]))).find((one) => one !== null);
  return text === undefined ? [] : [text];
}

interface ReadKinds {
  readonly kinds: readonly RequestKind[];
  readonly asGiven: string | null;
}

/**
 * The rights asked for: those of every field that states a right, or else of the first field of another meaning that
 * names one. Something in a list that is not understood is a right too: an `unknown` one.
 */
function readKindsOf(payload: Payload, event: string, isCalifornian: boolean): ReadKinds {
  const found: ReadKinds[] = [];
  let puzzling: { readonly text: string; readonly path: string } | null = null;
  for (const field of ['requestKind', 'requestTopic'] as const) {
    for (const { value, path } of payload.each(field)) {
      // `type` and `action` may contain the event's name.
      const texts = rightsOf(value).filter((text) => text.toLowerCase() !== event && !/^dsar[._:]/i.test(text));
      const text = textOf(texts.join(', '));
      if (text === null) continue;
      const read = texts.map((one) => readKinds(one, isCalifornian));
      const kinds = read.flatMap((one) =>
        one.kinds.length === 0 || one.isUnclear ? [...one.kinds, 'unknown' as const] : one.kinds,
      );
      if (kinds.some((kind) => kind !== 'unknown')) found.push({ kinds, asGiven: text });
      // `subject` may be a person, a hash or the subject line of a message; it is the kind only if it names a known kind.
      else if (!/(?:^|\.)subject$/i.test(path)) puzzling ??= { text, path };
      if (field === 'requestTopic' && found.length > 0) break;
    }
    if (found.length > 0) break;
  }
  if (found.length === 0) {
    const implied = impliedKind(payload);
    if (implied !== null) return implied;
    if (puzzling !== null) payload.puzzle(puzzling.path);
    return { kinds: ['unknown'], asGiven: puzzling?.text ?? null };
  }
  const texts = [...new Set(found.map(({ asGiven }) => asGiven))].join('; ');
  return { kinds: inUrgency(found.flatMap(({ kinds }) => kinds)), asGiven: textOf(texts) ?? found[0]?.asGiven ?? null };
}

/** Shopify names the right only in a header of its webhooks, but each has a field of its own. */
function impliedKind(payload: Payload): ReadKinds | null {
  for (const [name, kind] of [
    ['orders_to_redact', 'erasure'],
    ['orders_requested', 'access'],
    ['data_request', 'access'],
  ] as const)
    if (payload.named(name) !== undefined) return { kinds: [kind], asGiven: name };
  return null;
}

/** Whether California's law is invoked, or applies to the place. */
function isCalifornian(place: string | null, regulation: string | null): boolean {
  return [place, regulation].some((words) => words !== null && mapJurisdiction(words) === 'US-CA');
}

function readName(payload: Payload): string | null {
  const name = payload.first('requesterName', (value) => {
    // `Name <address>` as in mail.
    const text = textOf(textOf(value)?.replace(/\s*<[^<>]*>$/, ''));
    return text === null || text.includes('@') || /^dsar\b/i.test(text) ? null : text;
  });
  if (name !== null) return name;
  const parts = [payload.text('requesterFirstName'), payload.text('requesterLastName')].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(' ');
}

function emailOf(value: unknown): string | null {
  const text = textOf(value);
  if (text === null) return null;
  const address = /<([^<>\s]+)>\s*$/.exec(text)?.[1] ?? text;
  return /^[^\s@<>]+@[^\s@<>]+$/.test(address) ? address : null;
}

/** Keys of the value in an identity that is given as a type and a value. */
const valueKeys: ReadonlySet<string> = new Set([
  'value',
  'identityvalue',
  'identifiervalue',
  'identifier',
  'address',
  'id',
  'raw',
]);
/** How many identities are looked at, and how deep. */
const MAX_IDENTITIES = 50;
const MAX_NESTING = 3;

/**
 * The e-mail address in the identities of a person: a text, a list, an object by type (`{"email": …}`), or objects of a
 * type and a value (`{"identity_type": "email", "identity_value": …}`). One named as an e-mail comes before another
 * identity that looks like one. Hashed addresses are none.
 */
function addressIn(value: unknown): string | null {
  return typedAddressIn(value, false, 0) ?? typedAddressIn(value, true, 0);
}

function typedAddressIn(value: unknown, anyType: boolean, depth: number): string | null {
  if (depth > MAX_NESTING) return null;
  if (Array.isArray(value)) {
    for (const item of value.slice(0, MAX_IDENTITIES)) {
      const found = typedAddressIn(item, anyType, depth + 1);
      if (found !== null) return found;
    }
    return null;
  }
  if (!isJsonObject(value)) return anyType ? emailOf(value) : null;
  const entries = Object.entries(value).slice(0, MAX_IDENTITIES);
  const isEmail = entries.some(
    ([, one]) => typeof one === 'string' && one.length < 40 && /^[^@]*e-?mail[^@]*$/i.test(one),
  );
  for (const [key, one] of entries) {
    const name = normaliseName(key);
    if (name.includes('agent')) continue;
    const isNamed = /^(?:.*e)?mails?$|emailaddress$/.test(name);
    const isValue = valueKeys.has(name);
    if (!isNamed && !(isValue && (isEmail || anyType)) && !(typeof one === 'object' && !isValue)) continue;
    const found = typeof one === 'object' ? typedAddressIn(one, anyType || isNamed, depth + 1) : emailOf(one);
    if (found !== null) return found;
  }
  return null;
}

function messageOf(value: unknown): string | null {
  if (isJsonObject(value)) return null;
  const text = textOf(value, Number.MAX_SAFE_INTEGER);
  if (text === null || text.length <= MAX_MESSAGE) return text;
  // Cut between whole characters: half a surrogate pair has no UTF-8 form.
  const end = (text.charCodeAt(MAX_MESSAGE - 1) & 0xfc00) === 0xd800 ? MAX_MESSAGE - 1 : MAX_MESSAGE;
  return `${text.slice(0, end)} […]`;
}
