import type { LetterTexts } from '../../reports/letters/texts.ts';

/** Every text of a catalogue, with its path (`/answer/unmatched`). */
export function leaves(value: unknown, path = ''): [path: string, text: string][] {
  if (typeof value === 'string') return [[path, value]];
  return Object.entries(value as object).flatMap(([key, inner]) => leaves(inner, `${path}/${key}`));
}

/** The sentences of a text. What is in parentheses, such as a citation, belongs to the sentence around it. */
export function sentencesOf(text: string): readonly string[] {
  const parentheses: string[] = [];
  const plain = text.replaceAll(/\([^()]*(?:\([^()]*\)[^()]*)*\)/g, (whole) => {
    parentheses.push(whole);
    return `\u0001${parentheses.length - 1}\u0002`;
  });
  return plain
    .split(/(?<=[.!?]\]?)\s+(?=[\p{Lu}[“«„{])|\n+/u)
    .map((one) => one.replaceAll(/\u0001(\d+)\u0002/g, (_whole, at: string) => parentheses[Number(at)] ?? '').trim())
    .filter((one) => one !== '');
}

/**
 * How a sentence says what the controller does, did, will do, has or knows: in the first person, or, in English, also in
 * the passive. Languages that leave out the pronoun show it by the ending of the verb.
 */
const marks: Readonly<Record<string, RegExp>> = {
  en: /\b(?:we|our|us|ours)\b|\b(?:is|are|was|were|been|be) (?:not )?(?:kept|stored|used|erased|deleted|recorded|searched|shared|sold|disclosed|checked|processed|published|sent|answered|informed|handled|confirmed|settled|enclosed|attached)\b|\bcosts?\b/i,
  de: /\b(?:wir|uns|unser\p{L}*)(?!\p{L})/iu,
  fr: /\b(?:nous|notre|nos)(?!\p{L})/iu,
  es: /(?<!\p{L})(?:nos|nuestr[oa]s?|\p{L}+(?:amos|emos|imos|ámosl[oa]s?))(?!\p{L})/iu,
  it: /(?<!\p{L})(?:noi|nostr[oaie]|ci|\p{L}+iamo)(?!\p{L})/iu,
  nl: /\b(?:wij|we|ons|onze)\b/i,
  pl: /(?<!\p{L})(?:nas|nam|nami|nasz\p{L}*|\p{L}+(?:emy|amy|imy|ymy|śmy))(?!\p{L})/iu,
  pt: /(?<!\p{L})(?:nos|noss[oa]s?|connosco|\p{L}+(?:amos|emos|imos|ámos|êmos)(?:-\p{L}+)*)(?!\p{L})/iu,
  sv: /\b(?:vi|oss|vår|vårt|våra)(?!\p{L})/iu,
};

/** Whether a sentence of a language asserts conduct of the controller. */
export function assertsConduct(sentence: string, language: string): boolean {
  return marks[language]?.test(sentence) ?? true;
}

/** The texts that end up over a signature or on a page for requesters: all but names of laws and places. */
export function textsOfCatalogue(texts: LetterTexts | undefined): [path: string, text: string][] {
  return leaves(texts).filter(([path]) => !/^\/(?:lawNames|name|locale|regions|notIn)/.test(path));
}
