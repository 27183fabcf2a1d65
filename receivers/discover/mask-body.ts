import { createHmac, type KeyObject } from 'node:crypto';
import { purposeFlags } from '../field-names.ts';
import { normaliseName } from '../field-table.ts';
import { families } from '../index.ts';
import { parseBody } from '../parse.ts';
import { kindsOf, maskKey } from './kinds.ts';

/** Words from a fixed vocabulary: names of events and purposes. */
const vocabulary: ReadonlySet<string> = new Set(
  [...families.flatMap(({ events }) => [...events]), ...purposeFlags].map(normaliseName),
);
const WORD = /^[A-Za-z][A-Za-z _.-]{0,39}$/;
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * A JSON body without personal data, for tests. Every text, number and field name that could be a value is replaced,
 * character by character; under one key, equal values get equal replacements. White space, structure and types stay, as
 * do times, choices, kinds of requests and policies, languages, countries, events and purposes: without them nothing
 * could be read. Null if the body is not JSON.
 */
export function maskBody(body: Uint8Array, key: KeyObject): string | null {
  if ('text' in parseBody(body)) return null;
  return Buffer.from(body)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .replace(TOKEN, (token, colon: string | undefined) => {
      if (!token.startsWith('"')) return isKeptNumber(Number(token)) ? token : replaced(token, key, false);
      const text = JSON.parse(colon === undefined ? token : token.slice(0, -colon.length)) as string;
      const isKept = colon === undefined ? isKeptText(text) : maskKey(text) === text;
      return `${isKept ? JSON.stringify(text) : JSON.stringify(replaced(text, key, true))}${colon ?? ''}`;
    });
}

function isKeptNumber(value: number): boolean {
  return value === 0 || value === 1 || kindsOf(value).has('time');
}

function isKeptText(text: string): boolean {
  const kinds = kindsOf(text);
  if (kinds.has('time') || kinds.has('language') || kinds.has('region')) return true;
  if (!WORD.test(text)) return false;
  if (vocabulary.has(normaliseName(text)) || kinds.has('choice')) return true;
  return (kinds.has('request-kind') && !kinds.has('words')) || kinds.has('policy-type');
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const HEX = '0123456789abcdef';

/** Replaces letters by letters, digits by digits, hex by hex; characters between them stay, as does the scheme of an address. */
function replaced(text: string, key: KeyObject, mayBeZero: boolean): string {
  const kinds = kindsOf(text);
  const scheme = kinds.has('url') ? (/^https?:/i.exec(text)?.[0].length ?? 0) : 0;
  const isHex = (kinds.has('hash') || kinds.has('uuid')) && /^[0-9a-f-]+$/i.test(text);
  const random = bytesOf(text, key);
  const alphabetOf = (sign: string, at: number): string | null => {
    if (at < scheme) return null;
    if (isHex && /[0-9a-f]/i.test(sign))
      return sign === sign.toUpperCase() && /[A-F]/.test(sign) ? HEX.toUpperCase() : HEX;
    if (/\d/.test(sign)) return !mayBeZero && /^-?$/.test(text.slice(0, at)) ? '123456789' : '0123456789';
    if (!/\p{L}/u.test(sign)) return null;
    return sign === sign.toLowerCase() ? LOWER : LOWER.toUpperCase();
  };
  let at = 0;
  return Array.from(text, (sign) => {
    const alphabet = alphabetOf(sign, at);
    at += sign.length;
    const byte = random.next().value;
    return alphabet === null ? sign : (alphabet[byte % alphabet.length] ?? '');
  }).join('');
}

/** Any number of bytes that follow from the text and cannot be known without the key. */
function* bytesOf(text: string, key: KeyObject): Generator<number, never> {
  for (let block = 0; ; block += 1) yield* createHmac('sha256', key).update(`${block} ${text}`).digest();
}
