import { choiceMeant } from '../choice-words.ts';
import { parseTime } from '../occurred.ts';
import { isJsonObject } from '../parse.ts';
import { requestKindOf } from '../request-kinds.ts';

/** What a value could be. Several kinds fit one value: a hash is also an id. */
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
  | 'names-list'
  | 'items'
  | 'text';

const HASH = /^(?:sha(?:256|1|512)[:=])?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const EMAIL = /^[^\s@<>]+@[^\s@<>][^\s@<>.]*\.[^\s@<>]+$/;
const POLICY_TYPE = /(?:policy|terms|agreement|imprint|disclaimer|eula|notice)/i;

/** Every kind that a value could be; none for null and for objects that contain no choice of purposes. */
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
  if (text.length <= 300) kinds.add('text');
  if (/^\d{4}-\d\d-\d\d|^[A-Z][a-z]{2}, \d|^\d{10}(?:\d{3})?$/.test(text) && parseTime(text, '+00:00') !== null)
    kinds.add('time');
  if (HASH.test(text) || (/^[A-Za-z0-9+/_-]{43}=?$/.test(text) && /\d/.test(text) && /[A-Z]/.test(text)))
    kinds.add('hash');
  if (UUID.test(text)) kinds.add('uuid');
  if (EMAIL.test(text) || /<[^\s@<>]+@[^\s@<>]+>$/.test(text)) kinds.add('email');
  if (/^https?:\/\/\S+$/i.test(text)) kinds.add('url');
  if (/^(?:[a-z0-9-]+\.)+[a-z]{2,}$/i.test(text)) kinds.add('domain');
  if (choiceMeant(text) !== null && !/^\d$/.test(text)) kinds.add('choice');
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
  if (items.every((item) => isJsonObject(item) && Object.values(item).some((value) => typeof value === 'string')))
    kinds.add('items');
}

function isChoice(value: unknown): boolean {
  return choiceMeant(value) !== null && (typeof value !== 'number' || value === 0 || value === 1);
}

/** Nested lists are described to this depth, because a sender may nest as deeply as a delivery is long. */
const LISTS_DESCRIBED = 3;

/** Describes the shape of a value: type, length and characters, from which nothing about a person can be learned. */
export function maskValue(value: unknown, within = 0): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'true or false';
  if (typeof value === 'number') return maskNumber(value);
  if (Array.isArray(value)) {
    if (value.length > 0 && within >= LISTS_DESCRIBED) return 'a list';
    const items = [...new Set(value.slice(0, 20).map((item) => maskValue(item, within + 1)))].slice(0, 3);
    return value.length === 0 ? 'an empty list' : `list of ${items.join(' | ')}`;
  }
  if (typeof value === 'object') return `object with ${Object.keys(value).length} fields`;
  return typeof value === 'string' ? maskText(value.trim()) : typeof value;
}

/** Field names are shown, unless they are themselves values: `{"ada@example.org": true}`. */
export function maskKey(key: string): string {
  const kinds = kindsOf(key);
  const isValue =
    key.length > 60 ||
    ['email', 'hash', 'uuid', 'url', 'time'].some((kind) => kinds.has(kind as 'email')) ||
    /\d{5}/.test(key);
  return isValue ? '[…]' : key.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}

function maskNumber(value: number): string {
  if (!Number.isInteger(value)) return 'number with a fraction';
  const digits = String(Math.abs(value)).length;
  const time = kindsOf(value).has('time') ? `, a time in ${digits > 11 ? 'milliseconds' : 'seconds'}?` : '';
  return `whole number, ${digits} ${digits === 1 ? 'digit' : 'digits'}${time}`;
}

function maskText(text: string): string {
  if (text === '') return 'empty';
  const kinds = kindsOf(text);
  if (kinds.has('email')) return text.includes('<') ? '… <…@…>' : '…@…';
  if (kinds.has('uuid')) return 'uuid';
  if (kinds.has('hash')) {
    const hex = /[0-9a-f]+$/i.exec(text)?.[0].length ?? 0;
    return /^[0-9a-f:=sh]+$/i.test(text) ? `hash, ${hex} hex digits` : 'hash, base64';
  }
  if (kinds.has('time')) return `time, like ${text.replace(/\d/g, '0').replace(/[A-Z][a-z]{2}/g, 'Mon')}`;
  if (kinds.has('url')) return 'address, https://…';
  if (kinds.has('domain')) return 'domain, ….…';
  // Words from a fixed vocabulary say nothing about a person.
  if (choiceMeant(text) !== null && /[a-z]/i.test(text)) return `choice, “${text.slice(0, 30)}”`;
  if (kinds.has('request-kind') && !kinds.has('words')) return 'kind of request';
  if (kinds.has('language') || kinds.has('region')) return text.length === 2 ? 'two letters' : 'letters like xx-XX';
  const classes = [
    /[a-z]/i.test(text) ? 'letters' : '',
    /\d/.test(text) ? 'digits' : '',
    /\s/.test(text) ? 'blanks' : '',
  ]
    .filter((one) => one !== '')
    .join(', ');
  return `text, ${text.length} characters${classes === '' ? '' : ` (${classes})`}`;
}
