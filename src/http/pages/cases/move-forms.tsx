import type { ComponentChildren } from 'preact';
import { seenOf } from '../../../cases/approval.ts';
import { assigneeOf } from '../../../cases/assignee.ts';
import { type MoveName, moves, replyMoves, taskMoves } from '../../../cases/moves.ts';
import { kindsToDo } from '../../../cases/readiness.ts';
import { withdrawingKinds } from '../../../cases/withdrawal.ts';
import { momentText } from '../../../core/time-words.ts';
import { requestKinds } from '../../../core/vocabulary.ts';
import { isAnswer } from '../../../documents/awaiting-approval.ts';
import { letterOfMove } from '../../../documents/letter-moves.ts';
import { givenFiles } from '../../../hand-over/given-files.ts';
import { optionText } from '../documents/document-table.tsx';
import {
  BoxesInput,
  type FieldChoices,
  FieldInput,
  type FormField,
  fieldsOf,
  languageChoices,
  namesIn,
  placeChoices,
  rowFields,
  typedIn,
} from '../parts/fields.tsx';
import type { PageFrame } from '../parts/layout.tsx';
import { Notice } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { kindText } from '../parts/words.ts';
import { PackForm } from './letter-language-select.tsx';
import { LetterOfMove, stepOfLetter, valuesFromLetter } from './letter-record.tsx';
import { type CasePageData, ORIGINALS_SHOWN } from './load-case.ts';
import { nextStepOf } from './next-step.tsx';

interface MoveFormsProps {
  readonly frame: PageFrame;
  readonly data: CasePageData;
  readonly refused: { readonly move: string; readonly form: Readonly<Record<string, string>> } | null;
}

/** The next step as an open form, and every other move behind “More”. The forms are generated from the schemas of the moves. */
export function MoveForms({ frame, data, refused }: MoveFormsProps) {
  const { view } = data.shown;
  const choices = choicesOf(data, frame.timeZone);
  // Tasks and messages have their own panels.
  const allowed = view.moves.filter(
    (move) =>
      !taskMoves.includes(move) &&
      !replyMoves.includes(move) &&
      (move !== 'mark-system' || (choices['system']?.length ?? 0) > 0),
  );
  const unfinished = data.shown.readiness.lacks.filter(({ code }) => code === 'task');
  const next = nextStepOf(data);
  const { held } = data;
  const first = allowed.find((move) => move === next.move && !held.has(move)) ?? null;
  const others = allowed.filter((move) => move !== first);
  const form = (move: MoveName) => (
    <>
      <LetterOfMove data={data} move={move} />
      <MoveForm
        frame={frame}
        data={data}
        move={move}
        choices={choices}
        values={refused?.move === move ? refused.form : proposed(data, move)}
      />
    </>
  );
  return (
    <>
      <p>{next.sentence}</p>
      {next.create === undefined ? null : <CreateForm frame={frame} data={data} what={next.create} />}
      {unfinished.length === 0 || !(first === 'mark-ready' || first === 'answer') ? null : (
        <Notice tone="warn">
          {unfinished.map(({ text }) => (
            <p key={text} class="outside">
              {text}
            </p>
          ))}
          <p>
            You can still answer: see <a href="#tasks">the tasks</a> first.
          </p>
        </Notice>
      )}
      {first === null ? null : form(first)}
      {others.length === 0 ? null : (
        <details class="more" open={others.some((move) => move === refused?.move)}>
          <summary>More</summary>
          <div>
            {others.map((move) => (
              <details key={move} open={refused?.move === move}>
                <summary>{moves[move].label}</summary>
                {held.has(move) ? <p>{held.get(move)}</p> : form(move)}
              </details>
            ))}
          </div>
        </details>
      )}
    </>
  );
}

type Created = NonNullable<ReturnType<typeof nextStepOf>['create']>;

function CreateForm({ frame, data, what }: { frame: PageFrame; data: CasePageData; what: Created }) {
  const path = `/cases/${encodeURIComponent(data.shown.view.row.case_id)}`;
  return what === 'pack' ? (
    <PackForm frame={frame} data={data} isNext />
  ) : (
    <p>
      <a class="button" href={`${path}/letter?step=${what === 'letter' ? 'answer' : what}`}>
        {what === 'letter' ? 'Write the letter' : 'Confirm receipt with a letter'}
      </a>
    </p>
  );
}

/** A form that records a move of the version of the case that the page shows. */
export function CaseForm(props: { frame: PageFrame; data: CasePageData; move: MoveName; children: ComponentChildren }) {
  const { frame, data, move, children } = props;
  const { row } = data.shown.view;
  return (
    <PostForm frame={frame} action={`/cases/${encodeURIComponent(row.case_id)}/moves`}>
      <input type="hidden" name="move" value={move} />
      <input type="hidden" name="basedOn" value={row.version} />
      {children}
    </PostForm>
  );
}

function MoveForm(props: {
  frame: PageFrame;
  data: CasePageData;
  move: MoveName;
  choices: FieldChoices;
  values: Readonly<Record<string, string>>;
}) {
  const { frame, data, move, choices, values } = props;
  return (
    <CaseForm frame={frame} data={data} move={move}>
      {fieldsOf(moves[move].details, choicesFor(move, choices, data, frame.timeZone))
        .filter(({ name }) => move !== 'answer' || !endsConsent.includes(name) || withdraws(data))
        .filter(({ name }) => name !== 'seen')
        .filter(({ name }) => name !== 'approvedBy' || data.shown.profile?.role === 'processor')
        .map((field) => (field.name === 'duplicateOf' ? duplicateField(field, data, frame.timeZone) : field))
        .map((field) => (field.name === 'assignee' ? assigneeField(field, data) : field))
        .map((field) =>
          field.type === 'rows' ? (
            <PartRows key={field.name} move={move} field={field} values={values} timeZone={frame.timeZone} />
          ) : field.type === 'boxes' ? (
            <BoxesInput key={field.name} field={field} value={namesIn(values, field.name)} />
          ) : (
            <FieldInput
              key={field.name}
              id={`${move}-${field.name}`}
              field={field}
              value={typedIn(values, field)}
              timeZone={frame.timeZone}
            />
          ),
        )}
      {move === 'approve' ? <input type="hidden" name="seen" value={seenOn(data)} /> : null}
      <button type="submit">{moves[move].label}</button>
    </CaseForm>
  );
}

/** The hash of what this page shows, which an approval covers. */
function seenOn({ shown: { view }, documents }: CasePageData): string {
  const shown = documents.filter(({ erased_at: erasedAt }) => erasedAt === null);
  return seenOf(
    view.row,
    shown.map(({ document_id: documentId, name, sha256 }) => ({ documentId, name, sha256 })),
  );
}

/** The choices of a move: the rights of a request with several are those of its parts. */
function choicesFor(
  move: MoveName,
  choices: FieldChoices,
  { shown: { view }, documents }: CasePageData,
  timeZone: string,
): FieldChoices {
  if (move === 'settle-part') return { ...choices, kind: view.kinds.map((kind) => [kind, kindText(kind)]) };
  const step = letterOfMove(move);
  if (step === null) return choices;
  const letters = documents.filter((one) => one.erased_at === null && stepOfLetter(one) === step);
  return { ...choices, documentSha256: letters.map((one) => [one.sha256, optionText(one, timeZone)]) };
}

/** The requests to choose from; if there are many, an id can also be typed. */
function duplicateField(field: FormField, { originals }: CasePageData, timeZone: string): FormField {
  const choices = originals
    .slice(0, ORIGINALS_SHOWN)
    .map(
      ({ caseId, kind, receivedAt, name }) =>
        [
          caseId,
          `${name ?? 'No name'}: ${kindText(kind)}, received ${momentText(receivedAt, timeZone)} (${caseId})`,
        ] as const,
    );
  if (originals.length > ORIGINALS_SHOWN)
    return { ...field, suggestions: choices, hint: 'Type part of a name, or the id of the other request.' };
  if (choices.length === 0)
    return { ...field, hint: 'No other request of this source is open: enter the id of the other request.' };
  return { ...field, type: 'choice', choices: [['', 'Choose a request'], ...choices], hint: null };
}

/** Suggests the accounts that may work on the source; anyone else can be typed. */
function assigneeField(field: FormField, { workers }: CasePageData): FormField {
  return { ...field, suggestions: workers.map((person) => [assigneeOf(person), person.email] as const) };
}

/** Inputs that only apply to the answer of a request that ends consent. */
const endsConsent: readonly string[] = ['purposes', 'effectiveAt'];

function withdraws({ shown: { view, match } }: CasePageData): boolean {
  const ends = kindsToDo(view).some((kind) => withdrawingKinds.includes(kind));
  return ends && (match.status === 'from-device' || match.status === 'computed');
}

/** What was done about each part of the request, as a few rows to be filled in as needed. */
function PartRows(props: {
  move: MoveName;
  field: FormField;
  values: Readonly<Record<string, string>>;
  timeZone: string;
}) {
  const { move, field, values, timeZone } = props;
  const [first, ...others] = rowFields(moves[move].details, field.name).map((inputs, row) => (
    <fieldset key={row}>
      <legend>{row === 0 ? field.label : `${field.label}, ${row + 1}`}</legend>
      {row === 0 && field.hint !== null ? <p class="small soft">{field.hint}</p> : null}
      {inputs.map((one) => (
        <FieldInput
          key={one.name}
          id={`${move}-${one.name}`}
          field={one}
          value={values[one.name] ?? ''}
          timeZone={timeZone}
        />
      ))}
    </fieldset>
  ));
  const given = Object.entries(values).some(([name, value]) => value !== '' && /\.[1-9]\d*\./.test(name));
  return (
    <>
      {first}
      <details open={given}>
        <summary>More was requested</summary>
        <div>{others}</div>
      </details>
    </>
  );
}

/** Options that follow from the case: the controller's systems, the documents of the case. */
function choicesOf({ shown, documents }: CasePageData, timeZone: string): FieldChoices {
  const systems = shown.profile?.otherSystems ?? [];
  return {
    jurisdiction: placeChoices(shown.view.row.jurisdiction),
    language: languageChoices(shown.view.row.language),
    furtherKinds: requestKinds.map((kind) => [kind, kindText(kind)]),
    system: systems.map(({ id, name }) => [
      id,
      Object.hasOwn(shown.view.folded.systems, id) ? `${name} (marked)` : name,
    ]),
    attachments: documents
      .filter(({ name, erased_at: erasedAt }) => name === 'attachment' && erasedAt === null)
      .map(({ sha256, file_name: name }) => [sha256, name]),
    documentSha256: documents
      .filter(({ name }) => name !== 'attachment')
      .map((document) => [document.sha256, optionText(document, timeZone)]),
  };
}

/** Initial values of a form: what is already known. */
function proposed(data: CasePageData, move: MoveName): Readonly<Record<string, string>> {
  const { shown, documents, mailed, handOvers } = data;
  switch (move) {
    case 'answer': {
      const answer = documents.find(isAnswer);
      const link = handOvers.find(({ state }) => state === 'open');
      const handed = link === undefined ? [] : givenFiles(link.row).map(({ documentId }) => documentId);
      return {
        channel: answer !== undefined && mailed.has(answer.document_id) ? 'e-mail' : '',
        disclosure: shown.disclosure,
        documentSha256: answer?.sha256 ?? '',
        attachments: documents
          .filter(
            ({ document_id: id }) =>
              mailed.get(answer?.document_id ?? '')?.attachments.includes(id) === true || handed.includes(id),
          )
          .map(({ sha256 }) => sha256)
          .join(','),
        // What was done about each of several rights is recorded already.
        ...(shown.view.parts.length === 0 ? { 'parts.0.what': kindText(shown.view.kind) } : {}),
        ...approvedRows(shown),
      };
    }
    case 'amend':
      return { furtherKinds: shown.view.kinds.slice(1).join(',') };
    case 'settle-part':
      return { kind: shown.view.parts.find(({ outcome }) => outcome === null)?.kind ?? '' };
    case 'assign':
      return { assignee: shown.view.folded.assignee ?? '' };
    case 'mark-system': {
      const next = shown.profile?.otherSystems.find(({ id }) => !Object.hasOwn(shown.view.folded.systems, id));
      return { system: next?.id ?? '' };
    }
    case 'confirm-identity': {
      const { emailConfirmed } = shown.view.folded;
      return emailConfirmed === undefined ? {} : { how: `${emailConfirmed.how} (${shown.view.row.requester_email})` };
    }
    default:
      return valuesFromLetter(data, move);
  }
}

/** The values of the rows that say what was done, if a second person approved exactly those. */
function approvedRows({ view }: CasePageData['shown']): Readonly<Record<string, string>> {
  const { parts = [] } = view.folded.approval ?? {};
  return Object.fromEntries(
    parts.flatMap((part, place) =>
      Object.entries(part).map(([name, value]) => [`parts.${place}.${name}`, value ?? ''] as const),
    ),
  );
}
