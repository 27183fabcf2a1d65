import { choiceOf } from '../consent-words.ts';
import { requestKindOf } from '../dsar.ts';
import { parseTime } from '../occurred.ts';
import { isJsonObject } from '../text.ts';

/** What a value could be. Several fit one value: a hash is an id, too. */
export type ValueKind =
  | 'time'
  | 'hash'
  | 'uuid'
  | 'id'
  | 'email'
  | 'url'
  | 'domain'
  | 'choice'
  | 'flag'
  | 'language'
  | 'region'
  | 'integer'
  | 'number'
  | 'version'
  | 'request-kind'
  | 'policy-type'
  | 'word'
  | 'words'
  | 'purposes'
  | 'names-list';

const HASH = /^(?:sha(?:256|1|512)[:=])?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const EMAIL = /^[^\s@<>]+@[^\s@<>][^\s@<>.]*\.[^\s@<>]+$/;
const POLICY_TYPE = /(?:policy|terms|agreement|imprint|disclaimer|eula|notice)/i;

/** Every kind that a value could be; none for null and for objects that are no choice of purposes. */
export function kindsOf(value: unknown): ReadonlySet<ValueKind> {
  const kinds = new Set<ValueKind>();
  if (typeof value === 'boolean') kinds.add('flag').add('choice');
  else if (typeof value === 'number') numberKinds(value, kinds);
  else if (typeof value === 'string') textKinds(value.trim(), kinds);
  else if (Array.isArray(value)) listKinds(value, kinds);
  else if (isJsonObject(value)) {
    const choices = Object.values(value);
    if (choices.length >= 2 && choices.length <= 50 && choices.every(isChoice)) kinds.add('purposes');
  }
  return kinds;
}

function numberKinds(value: number, kinds: Set<ValueKind>): void {
  kinds.add('number');
  if (Number.isSafeInteger(value) && value >= 0) {
    kinds.add('integer');
    if (value < 10_000) kinds.add('version');
    if (value > 99) kinds.add('id');
  }
  // Seconds or milliseconds between 2001 and 2065.
  if ((value > 1e9 && value < 3e9) || (value > 1e12 && value < 3e12)) kinds.add('time');
}

function textKinds(text: string, kinds: Set<ValueKind>): void {
  if (text === '') return;
  if (/^\d{4}-\d\d-\d\d|^[A-Z][a-z]{2}, \d|^\d{10}(?:\d{3})?$/.test(text) && parseTime(text, '+00:00') !== null)
    kinds.add('time');
  if (HASH.test(text) || (/^[A-Za-z0-9+/_-]{43}=?$/.test(text) && /\d/.test(text) && /[A-Z]/.test(text)))
    kinds.add('hash');
  if (UUID.test(text)) kinds.add('uuid');
  if (EMAIL.test(text) || /<[^\s@<>]+@[^\s@<>]+>$/.test(text)) kinds.add('email');
  if (/^https?:\/\/\S+$/i.test(text)) kinds.add('url');
  if (/^(?:[a-z0-9-]+\.)+[a-z]{2,}$/i.test(text)) kinds.add('domain');
  if (choiceOf(text) !== null && !/^\d$/.test(text)) kinds.add('choice');
  if (/^[a-z]{2}(?:[-_][A-Za-z]{2})?$/.test(text)) kinds.add('language');
  if (/^[A-Z]{2}(?:-[A-Z0-9]{1,3})?$/.test(text)) kinds.add('region');
  if (/^v?\d{1,4}(?:\.\d{1,4}){0,3}$/i.test(text)) kinds.add('version');
  if (requestKindOf(text) !== 'unknown') kinds.add('request-kind');
  if (/^[a-z][a-z_ -]{3,60}$/i.test(text) && POLICY_TYPE.test(text)) kinds.add('policy-type');
  if (/^\d{1,15}$/.test(text)) kinds.add('integer');
  const isTime = kinds.has('time');
  if (!isTime && !kinds.has('email') && /^[\w.:+/=-]{4,100}$/.test(text) && /\d/.test(text)) kinds.add('id');
  if (/^[\p{L}_-]{2,40}$/u.test(text)) kinds.add('word');
  if (/\s/.test(text) && /\p{L}{2}/u.test(text) && !isTime) kinds.add('words');
}

function listKinds(items: readonly unknown[], kinds: Set<ValueKind>): void {
  if (items.length === 0) return;
  if (items.every((item) => typeof item === 'string' && /^[\p{L}\d_ -]{2,60}$/u.test(item))) kinds.add('names-list');
  const withChoice = (item: unknown) =>
    isJsonObject(item) &&
    Object.values(item).some((value) => typeof value === 'string') &&
    Object.values(item).some(isChoice);
  if (items.every(withChoice)) kinds.add('purposes');
}

function isChoice(value: unknown): boolean {
  return choiceOf(value) !== null && (typeof value !== 'number' || value === 0 || value === 1);
}
