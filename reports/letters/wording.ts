import type { RequestKind } from '../../src/core/vocabulary.ts';
import { formatTime } from '../format.ts';
import type { Block } from '../render/blocks.ts';
import type { LetterTexts } from './texts.ts';

/** The names of the rights of a request in a sentence. */
export function rightNames(texts: Pick<LetterTexts, 'kinds'>, kinds: readonly RequestKind[], locale: string): string {
  return new Intl.ListFormat(locale).format(kinds.map((kind) => texts.kinds[kind].name));
}

/**
 * Adjusts the words around a date: American English continues after a comma, Italian elides the article before 8 and
 * 11, and the Polish abbreviation already ends a sentence.
 */
export function joined(text: string, locale: string): string {
  if (locale.startsWith('en')) return text.replaceAll(/(?<=\p{L} \d{1,2}, \d{4})(?= \p{L})/gu, ',');
  if (locale.startsWith('pl')) return text.replaceAll(' r..', ' r.');
  if (!locale.startsWith('it')) return text;
  return text.replaceAll(
    /\b(il|[Dd]al|[Dd]el|[Aa]l) (8|11)(?= \p{Ll}+ \d{4})/gu,
    (_whole, article: string, day: string) => (article === 'il' ? `l’${day}` : `${article}l’${day}`),
  );
}

/** Replaces `{name}` by values. Throws if a value is missing: a letter with a placeholder must not be sent. */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for {${name}} in “${template}”`);
    return value;
  });
}

/** Ends a text by the controller with a full stop if it lacks one. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** By locale, which is language and region. Creating a format takes longer than the rest of a letter. */
const dateFormats = new Map<string, Intl.DateTimeFormat>();

/** A date, YYYY-MM-DD, in words. */
export function dateInWords(date: string | null, locale: string): string {
  if (date === null) return '';
  const format = dateFormats.get(locale) ?? new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' });
  dateFormats.set(locale, format);
  const said = format.format(new Date(`${date}T00:00:00Z`));
  if (locale.startsWith('fr')) return said.replace(/^1 /, '1er ');
  if (locale.startsWith('it')) return said.replace(/^1 /, '1º ');
  return locale.startsWith('pl') ? `${said} r.` : said;
}

/** A time (ISO 8601) in a time zone: the date in words, then the time of day with its offset from UTC. */
export function timeInWords(iso: string, timeZone: string, locale: string): string {
  const [date = '', ...time] = formatTime(iso, timeZone).split(' ');
  return `${dateInWords(date, locale)}, ${time.join(' ')}`;
}

/**
 * Inserts non-breaking spaces after section signs and around French punctuation: texts, including officers' texts, are
 * written with plain spaces.
 */
export function fixedSpaces(text: string, language: string): string {
  const fixed = text.replaceAll('§ ', '§\u00a0');
  if (language !== 'fr') return fixed;
  return fixed
    .replaceAll(/ (?=[;?!])/g, '\u202f')
    .replaceAll(/ (?=[:»])/g, '\u00a0')
    .replaceAll('« ', '«\u00a0');
}

export function withFixedSpaces(block: Block, language: string): Block {
  const set = (text: string) => fixedSpaces(text, language);
  switch (block.block) {
    case 'heading':
    case 'paragraph':
      return { ...block, text: set(block.text) };
    case 'notice':
      return { ...block, title: set(block.title), text: set(block.text) };
    case 'lines':
      return { ...block, lines: block.lines.map(set) };
    case 'list':
      return { ...block, items: block.items.map(set) };
    case 'facts':
      return { ...block, pairs: block.pairs.map(([label, value]) => [set(label), set(value)] as const) };
    default:
      return block;
  }
}

/** A period in words (`36 months`), in the form that follows a preposition of its own or none. */
export function periodIn(period: { readonly days: number } | { readonly months: number }, locale: string): string {
  const [count, unit] = 'days' in period ? [period.days, 'day'] : [period.months, 'month'];
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}

export function countIn(count: number, locale: string): string {
  return new Intl.NumberFormat(locale).format(count);
}
