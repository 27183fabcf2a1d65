import type { z } from 'zod';
import { checkMove } from '../cases/check-move.ts';
import { type ShownCase, showCase } from '../cases/list-cases.ts';
import { moveCase } from '../cases/move-case.ts';
import { type CheckedMove, readMove } from '../cases/moves.ts';
import type { CaseWriting } from '../cases/view.ts';
import { isoNow } from '../core/clock.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { MailSettings } from '../outside/mail.ts';
import type { DocumentDeps, RegisteredDocument } from './begin-document.ts';
import { languageForLetter } from './letter-language.ts';
import { type GivenDetails, moveOfLetter, textWith } from './letter-moves.ts';
import { letterMailJob, problemOfMailing } from './mail-letter.ts';
import { type LetterOutcome, type LetterRequest, produceLetter } from './produce-letter.ts';
import { documentOfForm } from './register.ts';

/** How a letter that is recorded leaves: `e-mail`: this program sends it; `letter`: it is printed and posted. */
export const letterWays = ['e-mail', 'letter'] as const;
export type LetterWay = (typeof letterWays)[number];

/** A letter to be made and recorded as sent. Its text is also the main detail of the move (letter-moves.ts). */
export interface LetterToRecord extends Omit<LetterRequest, 'asOf' | 'madeAt' | 'details' | 'text' | 'anonymous'> {
  readonly text: string;
  /** The other details of the move. */
  readonly details: GivenDetails;
  readonly way: LetterWay;
  /** The version of the case that the officer saw. */
  readonly basedOn: number;
  /** A reference makes one letter and one move, however often the form is sent. */
  readonly reference?: string | undefined;
}

type RecordedLetter =
  /** The letter is made and its move recorded. */
  | { readonly outcome: 'recorded'; readonly letter: RegisteredDocument; readonly seq: number }
  /** The letter is made; the job sends it, then records the move. */
  | { readonly outcome: 'sending'; readonly letter: RegisteredDocument; readonly jobId: string }
  /** The letter is made, and why its move is not recorded yet, in a sentence. */
  | { readonly outcome: 'made'; readonly letter: RegisteredDocument; readonly next: string }
  /** Nothing is made. */
  | { readonly outcome: 'refused'; readonly problems: readonly string[] }
  | { readonly outcome: 'conflict'; readonly problem: string }
  | Exclude<LetterOutcome, { outcome: 'produced' | 'refused' | 'invalid' }>;

type Json = z.infer<ReturnType<typeof z.json>>;

export interface RecordLetterDeps {
  readonly documents: DocumentDeps;
  readonly cases: CaseWriting;
  readonly jobs: Pick<Jobs, 'enqueue'>;
  readonly config: { readonly mail: MailSettings | null };
}

/** What a letter needs that a second person has to approve before it may be recorded. */
export const APPROVE_FIRST =
  'A second person has to approve the refusal with this letter (“Approve as a second person”). Send it and record it after that.';

/**
 * Makes a letter and records the move that it belongs to. The move is checked first, so that nothing is made if it
 * would be refused. By post, the letter is made before the move is recorded; by e-mail, the job records the move once
 * the letter has gone out. So there can be a letter that is not recorded as sent, and never the reverse.
 */
export async function recordLetter(deps: RecordLetterDeps, wanted: LetterToRecord): Promise<RecordedLetter> {
  const { documents, cases } = deps;
  const { way, basedOn, reference, ...letter } = wanted;
  const { caseId, actor } = letter;
  await documents.catchUp();
  const shown = await showCase(cases, caseId, isoNow(cases.clock));
  if (shown === null) return { outcome: 'unknown-case', caseId };
  const { row } = shown.view;
  const formKey = reference === undefined ? null : ['document.produced', 'form', caseId, reference];
  const before = formKey === null ? null : await documentOfForm(documents, row.source, formKey);
  const read = readLetterMove(wanted);
  if (read.outcome === 'refused') return read;
  const { move, details } = read.checked;
  if (before !== null && !isSame(before, wanted, row))
    return { outcome: 'conflict', problem: 'This form was already sent with another text. Open the page again.' };
  if (before === null) {
    if (row.version !== basedOn) return { outcome: 'conflict', problem: CHANGED };
    const problems = problemsNow(deps, shown, read.checked, wanted);
    if (problems.length > 0) return { outcome: 'refused', problems };
  }
  const made =
    before ?? (await produceLetter({ ...documents, ...(formKey === null ? {} : { formKey }), cases }, letter));
  if ('problem' in made) return refused(made.problem);
  if (!('documentId' in made)) return made;
  await documents.catchUp();
  if (needsApproval(shown, move)) return { outcome: 'made', letter: made, next: APPROVE_FIRST };
  if (way === 'e-mail') {
    const record = { move, details: withoutTime(details) };
    const job = letterMailJob({ caseId, documentId: made.documentId, actor, attachments: [], record });
    return { outcome: 'sending', letter: made, jobId: (await deps.jobs.enqueue(job)).id };
  }
  const recorded = { ...details, channel: 'letter', documentSha256: made.sha256 };
  const moved = await moveCase(cases, { caseId, basedOn, move, details: recorded, actor });
  switch (moved.outcome) {
    case 'moved':
      return { outcome: 'recorded', letter: made, seq: moved.seq };
    case 'not-found':
      return { outcome: 'unknown-case', caseId };
    case 'conflict':
      return { outcome: 'made', letter: made, next: CHANGED };
    case 'refused':
      return { outcome: 'made', letter: made, next: moved.problems.join(' ') };
  }
}

const CHANGED = 'Someone else changed this case in the meantime: look at it again.';

/** Whether the move of a letter has to be approved by a second person, who must see the letter first. */
export function needsApproval({ profile }: Pick<ShownCase, 'profile'>, move: string): boolean {
  return move === 'refuse' && profile?.secondPersonFor?.includes('refuse') === true;
}

function readLetterMove({ step, text, details }: Pick<LetterToRecord, 'step' | 'text' | 'details'>) {
  const belongs = moveOfLetter(step);
  if (belongs === null) return refused('This letter belongs to no step that could be recorded with it.');
  const { move, says } = belongs;
  return readMove(move, { ...details, ...(says === null ? {} : { [says]: text.replaceAll('\r\n', '\n') }) });
}

const refused = (...problems: readonly string[]) => ({ outcome: 'refused' as const, problems });

/** Why the letter may not be sent and recorded now, apart from an approval that it has yet to get. */
function problemsNow(
  { cases, config }: RecordLetterDeps,
  shown: ShownCase,
  checked: CheckedMove,
  { actor, way }: Pick<LetterToRecord, 'actor' | 'way'>,
): readonly string[] {
  const unmailable = way === 'e-mail' ? problemOfMailing(shown, config.mail) : null;
  if (unmailable !== null) return [unmailable];
  const profile =
    shown.profile !== null && needsApproval(shown, checked.move)
      ? { ...shown.profile, secondPersonFor: [] }
      : shown.profile;
  const { timeZone } = cases;
  return checkMove(shown.view, checked, { ...shown, profile, timeZone, now: isoNow(cases.clock), actor });
}

/** Whether the letter that a form made before is the one it asks for now. */
function isSame(
  { parameters }: RegisteredDocument,
  { step, text, details, language }: LetterToRecord,
  row: Parameters<typeof languageForLetter>[1],
): boolean {
  const chosen = languageForLetter(language, row);
  if (chosen.outcome === 'invalid') return false;
  const { locale } = chosen.chosen;
  const own = textWith(step, locale, text.replaceAll('\r\n', '\n').trim(), details);
  return parameters['step'] === step && (parameters['text'] ?? '') === own && parameters['language'] === locale;
}

/** A mailed letter is recorded with the time at which it went out. */
function withoutTime({ at: _, ...details }: Record<string, unknown>): Record<string, Json> {
  return details as Record<string, Json>;
}
