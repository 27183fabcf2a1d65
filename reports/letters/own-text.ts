import { dateIn, type Letter, type LetterFacts } from './letter.ts';

/** What an own text may name of a case, and what stands for it. */
export const placeholders = {
  name: 'name of the requester; nothing where none is known',
  reference: 'number of the request',
  received: 'day of receipt',
  limit: 'day on which the answer is due; a blank where there is none',
  controller: 'name of the organisation',
} as const;

/** An own text with what a case has for its placeholders. */
export function fillOwnText(text: string, { locale }: Pick<Letter, 'locale'>, facts: LetterFacts): string {
  const values: Readonly<Record<string, string>> = {
    name: facts.requester.name ?? '',
    reference: facts.caseId,
    received: dateIn(facts.receivedOn, locale),
    limit: facts.limit === null ? '[…]' : dateIn(facts.limit, locale),
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
