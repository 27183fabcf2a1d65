import { inUrgency, type RequestKind } from '../src/core/vocabulary.ts';
import { mapJurisdiction } from '../src/law/jurisdictions.ts';
import { type FieldName, fieldsOfFamilies } from './field-names.ts';
import { normaliseName } from './field-table.ts';
import type { Occurred } from './occurred.ts';
import { isJsonObject, type JsonObject, textOf } from './parse.ts';
import type { Family, Payload } from './payload.ts';
import { readPlace } from './region.ts';
import { readKinds } from './request-kinds.ts';
import { isAgent, namesPerson, personEmailNames, personFullNames, personNames } from './request-people.ts';
import { readProse } from './request-prose.ts';

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
    ...['submission', 'form', 'extras', 'user_request', 'solicitud', 'demande', 'anfrage', 'antrag', 'richiesta'],
    ...['verzoek', 'wniosek', 'pedido', 'solicitacao', 'begaran'],
  ],
  fields: fieldsOfFamilies('every', 'request'),
  alsoReads: [
    ...['status', 'orders_to_redact', 'orders_requested', 'shop_id', 'shop_domain'],
    // When the sender wants it done, which no law of a case asks.
    ...['due', 'due_at', 'due_date', 'due_timestamp', 'deadline', 'expires_at', 'expected_by'],
    ...['plazo', 'plazo_respuesta', 'echeance', 'frist', 'scadenza', 'termijn', 'termin', 'prazo', 'prazo_resposta'],
    ...personNames,
    ...personEmailNames,
    ...personFullNames,
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
    requesterEmail: readEmail(payload),
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
 * names one, or else those that the message plainly asks for. Something in a list that is not understood is a right too: an
 * `unknown` one. A field that says something about a right that cannot be decided leaves the kind in doubt, whatever the message says;
 * a subject line counts only if the message does not contradict it.
 */
function readKindsOf(payload: Payload, event: string, isCalifornian: boolean): ReadKinds {
  const found: (ReadKinds & { readonly path: string })[] = [];
  let puzzling: { readonly text: string; readonly path: string } | null = null;
  let inDoubt: string | null = null;
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
      if (kinds.some((kind) => kind !== 'unknown')) found.push({ kinds, asGiven: text, path });
      else {
        if (read.some((one) => one.isUnclear)) inDoubt ??= text;
        // A subject line is the kind only if it names a known kind.
        if (!isSubjectLine(path)) puzzling ??= { text, path };
      }
      if (field === 'requestTopic' && found.length > 0) break;
    }
    if (found.length > 0) break;
  }
  const message = payload.first('requestMessage', messageOf);
  if (found.length > 0) {
    const texts = textOf([...new Set(found.map(({ asGiven }) => asGiven))].join('; '));
    const asGiven = texts ?? found[0]?.asGiven ?? null;
    const kinds = inUrgency(found.flatMap((one) => one.kinds));
    const isContradicted = found.every(({ path }) => isSubjectLine(path)) && contradicts(message, kinds);
    return { kinds: isContradicted ? ['unknown'] : kinds, asGiven };
  }
  const implied = impliedKind(payload);
  if (implied !== null) return implied;
  if (puzzling !== null) payload.puzzle(puzzling.path);
  const asGiven = puzzling?.text ?? inDoubt;
  const asked = message === null || inDoubt !== null ? [] : readProse(message).asked;
  return { kinds: asked.length > 0 ? asked : ['unknown'], asGiven };
}

/** Whether a message says no to one of these rights, or leaves it open what is asked. */
function contradicts(message: string | null, kinds: readonly RequestKind[]): boolean {
  if (message === null) return false;
  const { denied, isDoubtful } = readProse(message);
  return isDoubtful || kinds.some((kind) => denied.has(kind));
}

/** Names of the subject line of a message, which may also be a person or a hash. */
const subjectLines: ReadonlySet<string> = new Set(
  'subject subject_line email_subject mail_subject betreff objet asunto oggetto onderwerp temat assunto amne'
    .split(' ')
    .map(normaliseName),
);

function isSubjectLine(path: string): boolean {
  return subjectLines.has(normaliseName(path.slice(path.lastIndexOf('.') + 1)));
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

/**
 * The objects that hold the person who makes a request under a name of their language, each followed by those in it:
 * `{"interesado": {"contacto": {…}}}`.
 */
function peopleIn(payload: Payload): readonly Payload[] {
  const people = payload
    .fields()
    .filter(({ name, found }) => isJsonObject(found.value) && namesPerson(name))
    .map(({ found }) => found.value as JsonObject)
    .slice(0, MAX_PEOPLE);
  return people.flatMap((person) => {
    payload.use(person);
    const parts = Object.entries(person).flatMap(([key, part]) =>
      isJsonObject(part) && !isAgent(normaliseName(key)) ? [part] : [],
    );
    return [person, ...parts.slice(0, MAX_PEOPLE)].map((one) => payload.within(one));
  });
}

/** The most persons and parts of a person that are looked at. */
const MAX_PEOPLE = 10;

/** What the source's own names for a field lead to. */
function namedBySource<T>(payload: Payload, field: FieldName, understand: (value: unknown) => T | null): T | null {
  const named = payload.each(field).find(({ path }) => payload.isNamedBySource(field, path));
  return named === undefined ? null : understand(named.value);
}

/** The first field with one of these names, in look-up form, whose value `understand` accepts. */
function firstNamed<T>(
  payload: Payload,
  names: ReadonlySet<string>,
  understand: (value: unknown) => T | null,
): T | null {
  for (const { name, found } of payload.fields()) {
    const understood = names.has(name) ? understand(found.value) : null;
    if (understood !== null) return understood;
  }
  return null;
}

/** The first value of a field that `understand` accepts; an object of a person without one is not a value that was not understood. */
function firstOf<T>(payload: Payload, field: FieldName, understand: (value: unknown) => T | null): T | null {
  let puzzling: string | null = null;
  for (const { value, path } of payload.each(field)) {
    const understood = understand(value);
    if (understood !== null) return understood;
    if (!isJsonObject(value)) puzzling ??= path;
  }
  if (puzzling !== null) payload.puzzle(puzzling);
  return null;
}

/** The requester's address: a person named as such comes before an address that says not whose it is. */
function readEmail(payload: Payload): string | null {
  const own = namedBySource(payload, 'requesterEmail', emailOf);
  if (own !== null) return own;
  for (const person of peopleIn(payload)) {
    const email = person.first('requesterEmail', emailOf) ?? person.first('requesterIdentities', addressIn);
    if (email !== null) return email;
  }
  return (
    firstNamed(payload, personEmailNames, emailOf) ??
    firstOf(payload, 'requesterEmail', emailOf) ??
    payload.first('requesterIdentities', addressIn)
  );
}

function nameOf(value: unknown): string | null {
  // `Name <address>` as in mail.
  const text = textOf(textOf(value)?.replace(/\s*<[^<>]*>$/, ''));
  return text === null || text.includes('@') || /^dsar\b/i.test(text) ? null : text;
}

function readName(payload: Payload): string | null {
  const own = namedBySource(payload, 'requesterName', nameOf);
  if (own !== null) return own;
  for (const person of peopleIn(payload)) {
    const name = nameIn(person);
    if (name !== null) return name;
  }
  return firstNamed(payload, personFullNames, nameOf) ?? nameIn(payload);
}

/** A full name, or one in two parts. */
function nameIn(payload: Payload): string | null {
  const name = firstOf(payload, 'requesterName', nameOf);
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
