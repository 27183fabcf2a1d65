import { de } from './languages/de.ts';
import { fr } from './languages/fr.ts';
import { ptBr } from './languages/pt-br.ts';
import type { LetterTexts } from './texts.ts';

/** Words replaced, in this order, in every text of a language. */
type Rewording = readonly (readonly [pattern: RegExp, replacement: string])[];

/** German as Switzerland writes it, with the terms of its Data Protection Act (DSG). */
const swissGerman: Rewording = [
  [/sensibler personenbezogener Daten/g, 'besonders schützenswerter Personendaten'],
  [/sensiblen personenbezogenen Daten/g, 'besonders schützenswerten Personendaten'],
  [/sensible(r|n) Daten/g, 'besonders schützenswerte$1 Daten'],
  [/personenbezogener Daten/g, 'von Personendaten'],
  [/personenbezogenen? Daten/g, 'Personendaten'],
  [/Verarbeitung/g, 'Bearbeitung'],
  [/verarbeite/g, 'bearbeite'],
  [/Buchst\./g, 'Bst.'],
  [/„/g, '«'],
  [/“/g, '»'],
  [/ß/g, 'ss'],
];

/** French as Québec writes it, with the terms of its act on personal information (P-39.1). */
const quebec: Rewording = [
  [/les données à caractère personnel suivantes/g, 'les renseignements personnels suivants'],
  [/données à caractère personnel que nous avons recueillies/g, 'renseignements personnels que nous avons recueillis'],
  [/données à caractère personnel/g, 'renseignements personnels'],
  [/aucune donnée personnelle/g, 'aucun renseignement personnel'],
  [/données personnelles/g, 'renseignements personnels'],
  [/données sensibles/g, 'renseignements sensibles'],
  [/cet e-mail/g, 'ce courriel'],
  [/adresse e-mail/g, 'adresse courriel'],
  [/e-mail/g, 'courriel'],
  [/ (?=[;!?])/g, ''],
];

const rewordings: Readonly<Record<string, Rewording>> = { 'de-CH': swissGerman, 'fr-CA': quebec };

/**
 * The texts of a language as a country writes it, by BCP 47 tag of language and region. Other regions use the texts of
 * the language.
 */
export const letterVariants: Readonly<Record<string, LetterTexts>> = {
  'de-CH': letterReworded(de, 'de-CH'),
  'fr-CA': letterReworded(fr, 'fr-CA'),
  'pt-BR': ptBr,
};

/** Names and citations of laws stay as they are. */
function letterReworded({ lawNames, ...texts }: LetterTexts, locale: string): LetterTexts {
  return { ...reworded(texts, locale), lawNames, locale };
}

/** Texts of a language in the words of the country that a tag (BCP 47) names, if it has words of its own. */
export function reworded<Texts>(texts: Texts, tag: string): Texts {
  const words = rewordings[tag];
  return words === undefined
    ? texts
    : eachText(texts, (text) =>
        words.reduce((said, [pattern, replacement]) => said.replaceAll(pattern, replacement), text),
      );
}

/** Changes every text within a value, at any depth, and never its shape. */
export function eachText<Value>(value: Value, change: (text: string) => string): Value {
  const said = typeof value === 'string' ? change(value) : within(value, change);
  return said as Value;
}

function within(value: unknown, change: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => eachText(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, eachText(one, change)]));
}
