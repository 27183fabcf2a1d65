import { isLetterStep, type LetterStep } from '../../../../reports/letters/texts.ts';
import type { MoveName } from '../../../cases/moves.ts';
import type { DocumentRow } from '../../../documents/check.ts';
import { detailsIn, letterOfMove, moveOfLetter } from '../../../documents/letter-moves.ts';
import { isMoveWith } from '../../../documents/mail-letter.ts';
import type { PageFrame } from '../parts/layout.tsx';
import { Moment } from '../parts/parts.tsx';
import type { CasePageData } from './load-case.ts';

interface LetterParameters {
  readonly step: LetterStep;
  readonly language: string;
  readonly text: string | null;
  readonly until?: string;
}

function parametersOf({ name, parameters }: DocumentRow): LetterParameters | null {
  if (name !== 'letter') return null;
  const { step, language, text, until } = JSON.parse(parameters) as Readonly<Record<string, unknown>>;
  if (typeof step !== 'string' || !isLetterStep(step) || typeof language !== 'string') return null;
  return { step, language, text: typeof text === 'string' ? text : null, ...(typeof until === 'string' && { until }) };
}

/** The step of a letter; null: it is none. */
export function stepOfLetter(document: DocumentRow): LetterStep | null {
  return parametersOf(document)?.step ?? null;
}

/** The move that would record that a letter was sent; null: it is recorded, or cannot be. */
function unrecordedMove({ shown: { view, history } }: CasePageData, document: DocumentRow): MoveName | null {
  const step = stepOfLetter(document);
  const move = step === null ? null : (moveOfLetter(step)?.move ?? null);
  if (move === null || document.erased_at !== null || !view.moves.includes(move)) return null;
  // A move of an earlier version names no letter.
  const isRecorded = history.some(
    (row) =>
      isMoveWith(row, document.sha256) ||
      (row.move === move && Number(row.seq) > Number(document.seq) && !row.details.includes('"documentSha256"')),
  );
  return isRecorded ? null : move;
}

/** What a letter says for the form of its move. */
function valuesOf({ mailed }: CasePageData, document: DocumentRow): Readonly<Record<string, string>> {
  const about = parametersOf(document);
  if (about === null) return {};
  const { step, language, text, until } = about;
  return {
    ...detailsIn(step, language, text),
    ...(until === undefined ? {} : { until }),
    channel: mailed.has(document.document_id) ? 'e-mail' : 'letter',
    documentSha256: document.sha256,
  };
}

/** The form of a move, filled in from a letter that is not recorded as sent; null: there is no such letter. */
export function recordedWith(
  data: CasePageData,
  documentId: string,
): { readonly move: MoveName; readonly form: Readonly<Record<string, string>> } | null {
  const document = data.documents.find(({ document_id: id }) => id === documentId);
  const move = document === undefined ? null : unrecordedMove(data, document);
  return document === undefined || move === null ? null : { move, form: valuesOf(data, document) };
}

/** What is known for the form of a move from the last letter of its step that is not recorded as sent. */
export function valuesFromLetter(data: CasePageData, move: MoveName): Readonly<Record<string, string>> {
  const document = data.documents.find((one) => unrecordedMove(data, one) === move);
  return document === undefined ? {} : valuesOf(data, document);
}

/** Whether a letter is recorded as sent, and the way to record it. */
export function Recorded(props: { frame: PageFrame; data: CasePageData; document: DocumentRow }) {
  const { frame, data, document } = props;
  const { history, view } = data.shown;
  const recorded = history.find((row) => isMoveWith(row, document.sha256));
  if (recorded !== undefined)
    return (
      <p class="small">
        recorded as sent <Moment iso={recorded.received_at} timeZone={frame.timeZone} />
      </p>
    );
  const job = data.mails.get(document.document_id);
  const isSending = job?.state === 'waiting' || job?.state === 'running';
  const move = isSending || !frame.canWork ? null : unrecordedMove(data, document);
  if (move === null) return null;
  if (data.held.has(move)) return <p class="small">Not recorded as sent.</p>;
  const address = `/cases/${encodeURIComponent(view.row.case_id)}`;
  return (
    <p class="small">
      Not recorded as sent:{' '}
      <a
        href={`${address}?record=${encodeURIComponent(document.document_id)}#moves`}
        aria-label={`Record that ${document.file_name} was sent`}
      >
        Record it
      </a>
    </p>
  );
}

/** Leads from the form of a move to the form that also makes its letter. */
export function LetterOfMove({ data, move }: { data: CasePageData; move: MoveName }) {
  const step = letterOfMove(move);
  if (step === null) return null;
  const address = `/cases/${encodeURIComponent(data.shown.view.row.case_id)}/letter?step=${step}`;
  return (
    <p class="small">
      <a href={address}>Write the letter and record it in one step</a>, or record here what you sent another way.
    </p>
  );
}
