import { inUrgency, type RequestKind } from '../src/core/vocabulary.ts';
import { type Sense, sensesOf, sentencesOf } from './request-words.ts';

/** The rights that a text asks for. */
export interface RequestedKinds {
  /** Without repeats, the one that takes effect soonest first; empty: none is certain. */
  readonly kinds: readonly RequestKind[];
  /** The text also says something about a right that cannot be decided, for instance that it is not wanted. */
  readonly isUnclear: boolean;
}

/**
 * Reads which rights a word, code or phrase asks for. A right counts only if it is what is asked: `do not delete`, the
 * withdrawal of a request and an appeal name rights without asking for them. In doubt there is none, and never a
 * withdrawal of consent. `isCalifornian`: the requester is in California or invokes its law, where `limit` is a right
 * of its own (Cal. Civ. Code 1798.121); elsewhere the limitation of processing is restriction (GDPR Art. 18).
 */
export function readKinds(text: string, isCalifornian = false): RequestedKinds {
  const code =
    codes[
      text
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, ' ')
        .trim()
    ];
  if (code !== undefined) return { kinds: [code], isUnclear: false };
  const kinds = new Set<RequestKind>();
  let isUnclear = false;
  const sentences = sentencesOf(text);
  // Most texts of a payload are no requests.
  if (!sentences.flat().some((word) => sensesOf(word).size > 0 || ARTICLE.test(word))) return nothing;
  const california = isCalifornian || sentences.flat().some((word) => sensesOf(word).has('california'));
  for (const sentence of sentences)
    for (const clause of clausesOf(sentence)) {
      const read = readClause(clause, california);
      for (const kind of read.kinds) kinds.add(kind);
      isUnclear ||= read.isUnclear;
    }
  return { kinds: inUrgency(kinds), isUnclear };
}

/** The longest text in which a kind of request is looked for, in UTF-16 units. */
const MAX_TEXT = 300;

/** The kind of request that a word or short phrase names; `unknown` if none or several. */
export function requestKindOf(text: string): RequestKind {
  if (text.length > MAX_TEXT) return 'unknown';
  const { kinds, isUnclear } = readKinds(text);
  return kinds.length === 1 && !isUnclear ? (kinds[0] ?? 'unknown') : 'unknown';
}

/** Codes whose words alone do not name the right. */
const codes: Readonly<Record<string, RequestKind>> = {
  'customers data request': 'access',
  // Lei 13.709/2018 (LGPD) Art. 18 I.
  'confirmacao tratamento': 'access',
  'confirmacao de tratamento': 'access',
  'confirmacao existencia': 'access',
  rta: 'access',
  rtd: 'erasure',
  rtc: 'rectification',
  rtp: 'portability',
};

/** Articles and sections by their number; Art. 7 is one only with its third paragraph. */
const articles: Readonly<Record<string, RequestKind>> = {
  '7 3': 'withdraw-consent',
  '15': 'access',
  '16': 'rectification',
  '17': 'erasure',
  '18': 'restriction',
  '20': 'portability',
  '21': 'objection',
  '1798 100': 'access',
  '1798 105': 'erasure',
  '1798 106': 'rectification',
  '1798 110': 'access',
  '1798 115': 'access',
  '1798 120': 'opt-out',
  '1798 121': 'limit',
};
const ARTICLE = /^(?:(?:gdpr)?art(?:s|icles?|ikel|iculos?|icol[oi]|igos?|ykul|yk)?|1798)$/;
/** Laws that number their articles otherwise. */
const otherLaws: ReadonlySet<string> = new Set([
  'lgpd',
  'dsg',
  'ndsg',
  'revdsg',
  'fadp',
  'kvkk',
  'pdpl',
  'popia',
  'pipa',
  'appi',
]);

/** A word of a clause and what it says. */
export interface Word {
  readonly word: string;
  readonly senses: ReadonlySet<Sense>;
}

/** The parts of a sentence between which a `not` does not reach. */
export function clausesOf(sentence: readonly string[]): readonly (readonly Word[])[] {
  const clauses: Word[][] = [[]];
  for (const word of sentence) {
    const senses = sensesOf(word);
    if (senses.has('but')) clauses.push([]);
    else clauses.at(-1)?.push({ word, senses });
  }
  return clauses;
}

const nothing: RequestedKinds = { kinds: [], isUnclear: false };
const unclear: RequestedKinds = { kinds: [], isUnclear: true };

const rights = [
  'access',
  'portability',
  'erasure',
  'rectification',
  'restriction',
  'objection',
] as const satisfies readonly RequestKind[];

/** The rights that a word names; most name none. */
export function rightsNamed({ senses }: Word): readonly (typeof rights)[number][] {
  return senses.size === 0 ? NO_RIGHTS : rights.filter((right) => senses.has(right));
}
const NO_RIGHTS: readonly (typeof rights)[number][] = [];

function readClause(clause: readonly Word[], isCalifornian: boolean): RequestedKinds {
  const has = (sense: Sense) => clause.some(({ senses }) => senses.has(sense));
  if (has('withdraw') && !withdrawsConsent(clause)) return unclear;
  if (has('appeal') || has('optIn') || cancelsRequest(clause)) return unclear;
  const negation = negationOf(clause);
  if (negation?.of === 'everything') return unclear;
  const governed = negation === null ? [] : clause.slice(negation.at);
  const free = negation === null ? clause : clause.slice(0, negation.at);

  const named = articlesIn(clause);
  const kinds = new Set<RequestKind>(named.kinds);
  for (const right of rights) if (free.some(({ senses }) => senses.has(right))) kinds.add(right);
  if (has('withdraw')) kinds.add('withdraw-consent');
  let isUnclear = named.isUnclear || governed.some(({ senses }) => rights.some((right) => senses.has(right)));
  if (has('marketing') && kinds.has('erasure') && !erasesData(clause)) {
    kinds.delete('erasure');
    kinds.add('objection');
  }
  for (const kind of refusalsIn(has, negation)) kinds.add(kind);
  if (has('limit') || has('limitation')) {
    const kind = limitIn(has, isCalifornian);
    if (kind === null) isUnclear = true;
    else kinds.add(kind);
  }
  if (kinds.size === 0 && !isUnclear && !has('consent')) {
    if (has('vagueChange')) kinds.add('rectification');
    else if (has('vague')) kinds.add('access');
  }
  return kinds.size === 0 && !isUnclear ? nothing : { kinds: [...kinds], isUnclear };
}

/** Opt-outs and objections that are expressed by what is to end: sale, marketing, processing. */
function refusalsIn(has: (sense: Sense) => boolean, negation: Negation | null): readonly RequestKind[] {
  const kinds: RequestKind[] = [];
  const isCommercial = has('sell') || has('targeted');
  if (has('optOut')) {
    if (isCommercial) kinds.push('opt-out');
    else if (has('sensitive')) kinds.push('limit');
    // Direct marketing: GDPR Art. 21(2).
    else kinds.push(has('marketing') || has('contact') ? 'objection' : 'opt-out');
  }
  if (negation?.of === 'sell' || (has('stop') && has('sell'))) kinds.push('opt-out');
  if (negation?.of === 'marketing' || (has('stop') && has('marketing'))) kinds.push('objection');
  if (has('stop') && has('processing')) kinds.push('objection');
  return kinds;
}

/** What a request for a limit asks for; null: it cannot be decided. */
function limitIn(has: (sense: Sense) => boolean, isCalifornian: boolean): RequestKind | null {
  if (isCalifornian || has('sensitive')) return 'limit';
  return has('limitation') || has('processing') ? 'restriction' : null;
}

export interface Negation {
  /** The place of its first word. */
  readonly at: number;
  readonly of: 'sell' | 'marketing' | 'everything';
}

/** What a clause says no to. Words for rights after a `not` are not requests, nor are those before it unless it governs another word. */
export function negationOf(clause: readonly Word[]): Negation | null {
  const isFrench = clause.some(({ word }) => word === 'ne' || word === 'n');
  const isRight = ({ senses }: Word) => rights.some((right) => senses.has(right));
  const at = clause.findIndex(
    ({ word, senses }, place) =>
      (senses.has('not') && !(isFrench && word === 'pas')) ||
      // Unlike in `without delay`.
      (senses.has('without') && clause.slice(place).some(isRight)),
  );
  if (at < 0) return null;
  const bears = (senses: ReadonlySet<Sense>) =>
    [...rights, 'sell', 'marketing', 'contact', 'optOut', 'withdraw', 'consent', 'stop'].some((one) =>
      senses.has(one as Sense),
    );
  const next = clause.slice(at).find(({ senses }) => bears(senses))?.senses;
  if (next !== undefined) return { at, of: governedBy(next) };
  // A `not` at the end, as in German: it governs the whole clause.
  const before = clause.filter(({ senses }) => bears(senses));
  const [first = null, ...others] = before.map(({ senses }) => governedBy(senses));
  return { at, of: first !== null && others.every((one) => one === first) ? first : 'everything' };
}

function governedBy(senses: ReadonlySet<Sense>): Negation['of'] {
  if (rights.some((right) => senses.has(right))) return 'everything';
  if (senses.has('sell')) return 'sell';
  return senses.has('marketing') || senses.has('contact') ? 'marketing' : 'everything';
}

/** Whether a withdrawal is one of consent, rather than of a request, and wanted. */
function withdrawsConsent(clause: readonly Word[]): boolean {
  const places = (sense: Sense) => clause.flatMap(({ senses }, place) => (senses.has(sense) ? [place] : []));
  const [first = 0, second] = places('withdraw');
  const [consent] = places('consent');
  if (consent === undefined || clause.some(({ senses }) => senses.has('not'))) return false;
  // `withdraw or revoke`, but not `withdraw my withdrawal`.
  if (second !== undefined && second - first > 1 && !joining.has(clause[second - 1]?.word ?? '')) return false;
  const request = places('request').find((place) => place > first);
  return consent < first || request === undefined || consent < request;
}

/** Words for `and` and `or`. */
export const joining: ReadonlySet<string> = new Set([
  'or',
  'and',
  'oder',
  'und',
  'ou',
  'et',
  'o',
  'y',
  'e',
  'of',
  'en',
  'lub',
  'i',
  'eller',
  'och',
]);

function cancelsRequest(clause: readonly Word[]): boolean {
  const cancel = clause.findIndex(({ senses }) => senses.has('cancel'));
  return cancel >= 0 && clause.slice(cancel).some(({ senses }) => senses.has('request'));
}

/** Whether a removal is one of data, rather than of the person from a list for marketing. */
function erasesData(clause: readonly Word[]): boolean {
  const place = (sense: Sense) => clause.findIndex(({ senses }) => senses.has(sense));
  const [erasure, marketing] = [place('erasure'), place('marketing')];
  const isFromList = clause.slice(erasure, marketing).some(({ senses }) => senses.has('from'));
  return !isFromList && clause.some(({ senses }) => senses.has('data'));
}

/** The rights named by articles of the GDPR and sections of the California Civil Code. */
export function articlesIn(clause: readonly Word[]): RequestedKinds {
  if (clause.some(({ word }) => otherLaws.has(word))) return nothing;
  const words = clause.map(({ word }) => word);
  const kinds: RequestKind[] = [];
  let isUnclear = false;
  for (const [place, word] of words.entries()) {
    const section = word === '1798' ? articles[`1798 ${words[place + 1]}`] : undefined;
    if (section !== undefined) kinds.push(section);
    if (word === '1798') continue;
    if (!ARTICLE.test(word)) continue;
    for (let next = place + 1; next < words.length; next += 1) {
      const number = words[next] ?? '';
      if (!/^\d+$/.test(number)) {
        if (joining.has(number) || paragraphs.has(number) || ranges.has(number)) continue;
        break;
      }
      // `15(1)`, `15 Abs. 1`: a paragraph of the article before it.
      const isParagraph = next > place + 1 && Number(number) < 10;
      const kind = isParagraph ? articles[`${words[place + 1]} ${number}`] : articles[number];
      if (kind !== undefined) kinds.push(kind);
      else isUnclear ||= !isParagraph && number !== '7';
    }
  }
  return { kinds, isUnclear };
}

const ranges: ReadonlySet<string> = new Set(['to', 'through', 'bis', 'a', 'al', 'tot', 'do', 'till']);
const paragraphs: ReadonlySet<string> = new Set([
  'abs',
  'absatz',
  'para',
  'paragraph',
  'par',
  'ust',
  'lid',
  'apartado',
  'comma',
]);
