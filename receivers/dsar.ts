import type { RequestKind } from '../src/core/vocabulary.ts';
import { fieldsOfFamilies } from './field-names.ts';
import type { Occurred } from './occurred.ts';
import type { Family, Payload } from './payload.ts';
import { readPlace } from './region.ts';
import { isJsonObject, textOf } from './parse.ts';

/** A data subject request as reported by the service. Every field may be missing: the case is opened anyway. */
export interface RequestFact {
  readonly type: 'request';
  /** The service's own id of the request. */
  readonly requestId: string | null;
  readonly kind: RequestKind;
  /** The payload's own word for the kind. */
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
  objects: ['dsar', 'request', 'dsar_request', 'submission', 'form'],
  fields: fieldsOfFamilies('every', 'request'),
  alsoReads: ['status'],
  read: (_event, payload) => readRequest(payload),
  eventIdOf: ({ requestId }) => requestId,
};

function readRequest(payload: Payload): RequestFact {
  const { kind, kindAsGiven } = readKind(payload);
  return {
    type: 'request',
    requestId: payload.text('requestId') ?? payload.text('eventId'),
    kind,
    kindAsGiven,
    requesterName: readName(payload),
    requesterEmail: payload.first('requesterEmail', emailOf),
    subject: payload.text('requestSubject'),
    jurisdiction: readPlace(payload, 'requestJurisdiction', 'requestRegion'),
    language: payload.text('language'),
    message: payload.first('requestMessage', messageOf),
    occurred: payload.occurred('requestedAt', 'occurredAt', 'requestCreatedAt'),
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

function readKind(payload: Payload): { kind: RequestKind; kindAsGiven: string | null } {
  let asGiven: { text: string; path: string } | null = null;
  for (const { value, path } of payload.each('requestKind')) {
    const texts = (Array.isArray(value) ? value : [value]).map((item) => textOf(item)).filter((text) => text !== null);
    const text = textOf(texts.join(', '));
    // `type` and `action` may contain the event's name.
    if (text === null || /^dsar\b/i.test(text)) continue;
    for (const one of texts) {
      const kind = requestKindOf(one);
      if (kind !== 'unknown') return { kind, kindAsGiven: text };
    }
    // `subject` may be a person, a hash or the subject line of a message; it is the kind only if it names a known kind.
    if (!/(?:^|\.)subject$/i.test(path)) asGiven ??= { text, path };
  }
  if (asGiven !== null) payload.puzzle(asGiven.path);
  return { kind: 'unknown', kindAsGiven: asGiven?.text ?? null };
}

/**
 * Word parts that identify kinds of request, specific before general ("opt out of sale of my information" is not a
 * request for information). GDPR Art. 15–21 and 7(3); Cal. Civ. Code 1798.100–121.
 */
const kindWords: readonly (readonly [RequestKind, RegExp])[] = [
  ['withdraw-consent', /withdraw|revok/],
  ['limit', /limit/],
  ['opt-out', /optout|optingout|donotsell|donotshare|stopsell|stopshar|dnsmpi|^dns$|saleofdata/],
  ['erasure', /eras|delet|forget|forgot|rtbf|remov/],
  ['rectification', /rectif|correct|amend|inaccura/],
  ['portability', /portab|transfer|export/],
  ['restriction', /restrict/],
  ['objection', /object/],
  ['access', /access|(?<!un)know|^sar|copy(?!right)|^view|disclos|download|information|specificpieces/],
  ['rectification', /^update|updat(?:e|ing)(?:my|data|personal)/],
];

/** The kind of request that a word or short phrase names; `unknown` if none. */
export function requestKindOf(text: string): RequestKind {
  const word = text.toLowerCase().replace(/[^a-z0-9]+/g, '');
  const article = /^(?:gdpr)?art(?:icle)?(7|15|16|17|18|20|21)$/.exec(word)?.[1];
  if (article !== undefined) return articles[article] ?? 'unknown';
  return kindWords.find(([, pattern]) => pattern.test(word))?.[0] ?? 'unknown';
}

const articles: Readonly<Record<string, RequestKind>> = {
  '7': 'withdraw-consent',
  '15': 'access',
  '16': 'rectification',
  '17': 'erasure',
  '18': 'restriction',
  '20': 'portability',
  '21': 'objection',
};

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

function messageOf(value: unknown): string | null {
  if (isJsonObject(value)) return null;
  const text = textOf(value, Number.MAX_SAFE_INTEGER);
  if (text === null || text.length <= MAX_MESSAGE) return text;
  // Cut between whole characters: half a surrogate pair has no UTF-8 form.
  const end = (text.charCodeAt(MAX_MESSAGE - 1) & 0xfc00) === 0xd800 ? MAX_MESSAGE - 1 : MAX_MESSAGE;
  return `${text.slice(0, end)} […]`;
}
