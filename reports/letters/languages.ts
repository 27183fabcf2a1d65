import { de } from './languages/de.ts';
import { en } from './languages/en.ts';
import { es } from './languages/es.ts';
import { fr } from './languages/fr.ts';
import { it } from './languages/it.ts';
import { nl } from './languages/nl.ts';
import { pl } from './languages/pl.ts';
import { pt } from './languages/pt.ts';
import { sv } from './languages/sv.ts';
import type { LetterTexts } from './texts.ts';
import { letterVariants, reworded } from './variants.ts';

const languages = { en, de, es, fr, it, nl, pl, pt, sv } as const satisfies Record<string, LetterTexts>;

/** The languages of letters. To add one, add a file in languages/ and a line here. */
export const letterLanguages: Readonly<Record<string, LetterTexts>> = languages;

/** The languages in which every catalogue of texts for requesters is written, and the variant that has a file of its own. */
export type TextLanguage = keyof typeof languages | 'pt-BR';

/** The language of letters if neither the request nor the controller names one. */
const LAST_LANGUAGE = 'en';

export interface ChosenLanguage {
  /** A key of {@link letterLanguages}. */
  readonly language: string;
  /** BCP 47: the language and, if the request names one, the region. Determines the format of dates and numbers. */
  readonly locale: string;
  /** A requested language that is not available, as given; null: none. */
  readonly missing: string | null;
}

/**
 * The first of these languages that is available: the officer's choice, the requester's, the controller's. If it names
 * no region, formats follow the requester's place (ISO 3166, `US-CA`) where that has its own.
 */
export function chooseLanguage(
  wanted: readonly (string | null | undefined)[],
  place: string | null = null,
): ChosenLanguage {
  let missing: string | null = null;
  for (const tag of [...wanted, LAST_LANGUAGE]) {
    if (tag === null || tag === undefined || tag.trim() === '') continue;
    const named = localeOf(tag);
    const language = named?.language.toLowerCase() ?? '';
    const texts = letterLanguages[language];
    if (texts === undefined) {
      missing ??= tag;
      continue;
    }
    const country = place?.slice(0, 2) ?? '';
    const region = named?.region ?? (texts.regions?.includes(country) ? country : undefined);
    const locale = region === undefined ? texts.locale : `${language}-${region}`;
    return { language, locale, missing };
  }
  throw new Error(`there are no texts in ${LAST_LANGUAGE}`);
}

/** The texts for a language tag (BCP 47): those of its region if that writes the language in its own way. Undefined: none. */
export function textsIn(tag: string): LetterTexts | undefined {
  return letterVariants[tag] ?? letterLanguages[tag.split('-')[0] ?? ''];
}

/**
 * The texts of a catalogue for a language tag (BCP 47), in the words of its country. Throws if the catalogue does not
 * have the language.
 */
export function inLanguage<Texts>(catalogue: Readonly<Record<TextLanguage, Texts>>, tag: string): Texts {
  const all: Readonly<Record<string, Texts>> = catalogue;
  const texts = all[tag] ?? all[tag.split('-')[0] ?? ''];
  if (texts === undefined) throw new Error(`there are no texts in ${tag}`);
  return reworded(texts, tag);
}

function localeOf(tag: string): Intl.Locale | null {
  try {
    return new Intl.Locale(tag.trim().replaceAll('_', '-'));
  } catch {
    return null;
  }
}
