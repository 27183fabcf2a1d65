import { readRefusalText, refusalText } from '../../reports/letters/letter.ts';
import type { LetterStep } from '../../reports/letters/texts.ts';
import type { MoveName } from '../cases/moves.ts';

/** The move that a letter belongs to. */
export interface LetterMove {
  readonly move: MoveName;
  /** The detail of the move that is the officer's text in the letter; null: the move records no text. */
  readonly says: string | null;
}

/**
 * The letters that are sent together with a move. An answer has no place here: a pack, files and a link may go with it,
 * and the form that records it asks for those.
 */
const letterMoves: Readonly<Partial<Record<LetterStep, LetterMove>>> = {
  acknowledgement: { move: 'acknowledge', says: null },
  identity: { move: 'ask-identity', says: 'asked' },
  clarification: { move: 'ask-clarification', says: 'question' },
  extension: { move: 'extend', says: 'reasons' },
  refusal: { move: 'refuse', says: 'reasons' },
};

/** The move that a letter of this step belongs to; null: none. */
export function moveOfLetter(step: LetterStep): LetterMove | null {
  return letterMoves[step] ?? null;
}

/** The letter with which a move is made; null: none. */
export function letterOfMove(move: string): LetterStep | null {
  const found = Object.entries(letterMoves).find(([, one]) => one.move === move);
  return found === undefined ? null : (found[0] as LetterStep);
}

/** Details of a move as given or typed. */
export type GivenDetails = Readonly<Record<string, unknown>>;

/** What a letter says in a language (BCP 47), from the officer's text and the other details of its move. */
export function textWith(step: LetterStep, language: string, text: string, details: GivenDetails): string {
  const given = (name: string) => {
    const value = details[name];
    return typeof value === 'string' ? value.replaceAll('\r\n', '\n').trim() : '';
  };
  if (step === 'identity') return [given('doubt'), text].filter((part) => part !== '').join('\n\n');
  const basis = given('basis');
  return step === 'refusal' && basis !== '' ? refusalText(language, { reasons: text, basis }) : text;
}

/** A text to start from, without what other details of its move say. */
export function textWithout(step: LetterStep, language: string, text: string): string {
  if (step === 'identity') return text.replace(/^\[[^\]]*\]\n\n/, '');
  return step === 'refusal' ? readRefusalText(language, text).reasons : text;
}

/** The remedies of a refusal, all of which its letter states. */
export const AS_STATED = 'As stated in the letter.';

/** The details of the move of a letter as far as its text (parameters of the document) has them. */
export function detailsIn(step: LetterStep, language: string, text: string | null): Readonly<Record<string, string>> {
  const says = moveOfLetter(step)?.says ?? null;
  if (says === null || text === null) return {};
  if (step !== 'refusal') return { [says]: text };
  const { reasons, basis } = readRefusalText(language, text);
  return { reasons, ...(basis === null ? {} : { basis }), remedies: AS_STATED };
}
