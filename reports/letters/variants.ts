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

/**
 * The texts of a language as a country writes it, by BCP 47 tag of language and region. Other regions use the texts of
 * the language.
 */
export const letterVariants: Readonly<Record<string, LetterTexts>> = {
  'de-CH': reworded(de, swissGerman, 'de-CH'),
  'fr-CA': reworded(fr, quebec, 'fr-CA'),
  'pt-BR': ptBr,
};

/** Names and citations of laws stay as they are. */
function reworded({ lawNames, ...texts }: LetterTexts, words: Rewording, locale: string): LetterTexts {
  return { ...rewordedIn(texts, words), lawNames, locale };
}

function rewordedIn<Value>(value: Value, words: Rewording): Value {
  const said = typeof value === 'string' ? replaced(value, words) : mapped(value, words);
  // Only the words change, never the shape.
  return said as Value;
}

function replaced(text: string, words: Rewording): string {
  return words.reduce((said, [pattern, replacement]) => said.replaceAll(pattern, replacement), text);
}

function mapped(value: unknown, words: Rewording): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => rewordedIn(one, words));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rewordedIn(one, words)]));
}
