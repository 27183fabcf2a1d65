import { type ChosenLanguage, chooseLanguage, letterLanguages } from '../../reports/letters/languages.ts';
import { findCase } from '../cases/list-cases.ts';
import { moveLatest } from '../cases/move-case.ts';
import { isOpen } from '../cases/moves.ts';
import type { CaseWriting } from '../cases/view.ts';
import { languageTag, languageText } from '../core/language.ts';
import { normaliseJurisdiction } from '../law/regime-table.ts';

type LetterLanguage =
  | { readonly outcome: 'chosen'; readonly chosen: ChosenLanguage }
  /** Nobody chose a language, or letters do not exist in it: in words for the officer. */
  | { readonly outcome: 'invalid'; readonly problem: string };

/**
 * The language of a letter or pack: the one chosen for it (BCP 47), otherwise that of the requester. Never the
 * controller's or English because nothing is known: then somebody has to choose.
 */
export function languageForLetter(
  wanted: string | null | undefined,
  row: { readonly language: string | null; readonly jurisdiction: string | null },
): LetterLanguage {
  const named = wanted?.trim() || null;
  const tag = named ?? row.language;
  if (tag === null)
    return {
      outcome: 'invalid',
      problem: `The language of the requester is not known. Choose the language of the letter (on the command line: --language, such as ${codes}), or correct the request.`,
    };
  const chosen = chooseLanguage([tag], normaliseJurisdiction(row.jurisdiction));
  if (languageTag(tag)?.split('-')[0] === chosen.language) return { outcome: 'chosen', chosen };
  return {
    outcome: 'invalid',
    problem: `Letters are not available in ${languageTag(tag) === null ? JSON.stringify(tag) : languageText(tag)}. Choose another language that the requester reads: ${codes}.`,
  };
}

const codes = Object.keys(letterLanguages).join(', ');

/**
 * Records the language that an officer chose for a letter or pack as that of the requester, if the case has none: an
 * entry of its own (`amend`), followed by later letters, packs and pages. A settled case cannot be amended and keeps
 * none. Throws as {@link moveLatest}.
 */
export async function rememberLanguage(
  deps: { readonly cases: CaseWriting; readonly projector: { catchUp(): Promise<unknown> } },
  { caseId, language, actor }: { readonly caseId: string; readonly language: string; readonly actor: string },
): Promise<void> {
  const catchUp = () => deps.projector.catchUp();
  await catchUp();
  const row = await findCase(deps.cases.store.read, caseId);
  if (row === null || row.language !== null || !isOpen(row.state)) return;
  const details = { language: languageTag(language) ?? language, reason: 'Chosen for a letter or response pack.' };
  await moveLatest(deps.cases, { caseId, move: 'amend', details, actor }, catchUp);
  await catchUp();
}
