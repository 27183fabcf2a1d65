import type { Letter, LetterFacts } from './letter.ts';
import { dateInWords } from './wording.ts';

/** The placeholders of a custom text, and their values from a case. */
export const placeholders = {
  name: 'name of the requester; empty if unknown',
  reference: 'number of the request',
  received: 'day of receipt',
  limit: 'day on which the answer is due; a blank if there is none',
  controller: 'name of the organisation',
} as const;

/** Fills the placeholders of a custom text from a case. */
export function fillOwnText(text: string, { locale }: Pick<Letter, 'locale'>, facts: LetterFacts): string {
  const values: Readonly<Record<string, string>> = {
    name: facts.requester.name ?? '',
    reference: facts.caseId,
    received: dateInWords(facts.receivedOn, locale),
    limit: facts.limit === null ? '[…]' : dateInWords(facts.limit, locale),
    controller: facts.controller.split('\n')[0] ?? '',
  };
  return text
    .replaceAll(/ ?\{(\w+)\}/g, (whole, name: string) => {
      const value = values[name];
      if (value === undefined) return whole;
      return value === '' ? '' : `${whole.startsWith(' ') ? ' ' : ''}${value}`;
    })
    .trim();
}
