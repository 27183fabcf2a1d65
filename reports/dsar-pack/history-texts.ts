import { inLanguage, type TextLanguage } from '../letters/languages.ts';
import { eachText } from '../letters/variants.ts';
import { fixedSpaces } from '../letters/wording.ts';
import type { HistoryTexts } from './history-catalogue.ts';
import { de } from './languages/de.ts';
import { en } from './languages/en.ts';
import { es } from './languages/es.ts';
import { fr } from './languages/fr.ts';
import { it } from './languages/it.ts';
import { nl } from './languages/nl.ts';
import { pl } from './languages/pl.ts';
import { pt } from './languages/pt.ts';
import { ptBr } from './languages/pt-br.ts';
import { sv } from './languages/sv.ts';

const historyTexts: Readonly<Record<TextLanguage, HistoryTexts>> = {
  en,
  de,
  es,
  fr,
  it,
  nl,
  pl,
  pt,
  'pt-BR': ptBr,
  sv,
};

/** The texts for a language tag (BCP 47), in the words of its country. Throws if there are none in the language. */
export function historyTextsIn(tag: string): HistoryTexts {
  const language = tag.split('-')[0] ?? '';
  return eachText(inLanguage(historyTexts, tag), (text) => fixedSpaces(text, language));
}
