import { z } from 'zod';

/** What forms, the command line and the API call a language that nobody knows; it is kept as null. */
export const NOT_KNOWN = 'not-known';

const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/** The English name of a language (`German` for de); an unknown tag unchanged; null: `not known`. */
export function languageText(tag: string | null): string {
  if (tag === null) return 'not known';
  return nameOf(tag) ?? tag;
}

/** The tag of a language in its usual spelling (BCP 47: `de_at` is `de-AT`); null if there is no such language. */
export function languageTag(text: string): string | null {
  const tag = text.trim().replaceAll('_', '-');
  if (nameOf(tag.split('-')[0] ?? '') === undefined) return null;
  try {
    return new Intl.Locale(tag).toString();
  } catch {
    return null;
  }
}

function nameOf(tag: string): string | undefined {
  try {
    return names.of(tag);
  } catch {
    return undefined;
  }
}

/** Why a text is not the tag of a language, and what to use; null: it is one. */
export function problemOfLanguage(text: string): string | null {
  if (languageTag(text) !== null) return null;
  return `Unknown language ${JSON.stringify(text.slice(0, 60))}: use its code, such as de for German, or ${NOT_KNOWN}.`;
}

/** A language as given by forms and programs; null: not known. */
export const languageSchema = z
  .string()
  .max(35)
  .transform((text, context) => {
    if (text === NOT_KNOWN) return null;
    const tag = languageTag(text);
    if (tag !== null) return tag;
    context.addIssue(problemOfLanguage(text) ?? '');
    return z.NEVER;
  });

/** Countries in which people read several of the languages that letters exist in, or none of them is certain. */
const severalLanguages: readonly string[] = ['BE', 'CA', 'CH', 'EU', 'LU'];

/**
 * The language that most people read at a place (ISO 3166 code: `DE`, `US-CA`), by CLDR's likely subtags; null: no
 * place, or no single one. Only a proposal: somebody has to choose it.
 */
export function likelyLanguage(place: string | null): string | null {
  const country = place?.slice(0, 2) ?? '';
  if (!/^[A-Z]{2}$/.test(country) || severalLanguages.includes(country)) return null;
  return new Intl.Locale(`und-${country}`).maximize().language;
}
