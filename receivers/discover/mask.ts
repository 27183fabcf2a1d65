import { choiceOf } from '../consent-words.ts';
import { kindsOf } from './kinds.ts';

/** The shape of a value without the value: what it is, how long, of which characters. Nothing of a person can be read out of it. */
export function maskValue(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'true or false';
  if (typeof value === 'number') return maskNumber(value);
  if (Array.isArray(value)) {
    const items = [...new Set(value.slice(0, 20).map(maskValue))].slice(0, 3);
    return value.length === 0 ? 'an empty list' : `list of ${items.join(' | ')}`;
  }
  if (typeof value === 'object') return `object with ${Object.keys(value).length} fields`;
  return typeof value === 'string' ? maskText(value.trim()) : typeof value;
}

/** Names of fields are shown as they are, unless they are values themselves: `{"ada@example.org": true}`. */
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
  // Words out of a fixed vocabulary say nothing about a person.
  if (choiceOf(text) !== null && /[a-z]/i.test(text)) return `choice, “${text.slice(0, 30)}”`;
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
