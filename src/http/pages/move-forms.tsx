import { type MoveName, moves } from '../../cases/moves.ts';
import { withdrawingKinds } from '../../cases/withdrawal.ts';
import { answerSteps } from '../../documents/produce-pack.ts';
import { Csrf, type PageFrame } from './layout.tsx';
import { type FieldChoices, FieldInput, fieldsOf, type FormField, placeChoices, rowFields } from './fields.tsx';
import { nextStepOf } from './next-step.tsx';
import { kindText } from './words.ts';
import type { Selectable } from 'kysely';
import { type ShownCase, showCase } from '../../cases/list-cases.ts';
import type { Context } from '../../context.ts';
import { type ListedHandOver, listHandOvers } from '../../hand-over/hand-over.ts';
import type { Job } from '../../jobs/job.ts';
import { createHistory } from '../../store/queries/history.ts';
import type { Tables } from '../../store/schema.ts';
import { type DocumentRow, payloadText } from './load-today.ts';

interface MoveFormsProps {
  readonly frame: PageFrame;
  readonly data: CasePageData;
  readonly refused: { readonly move: string; readonly form: Readonly<Record<string, string>> } | null;
}

/** The step that brings the case on as an open form, and every other move behind “More”. The forms are generated from the moves' own schemas. */
export function MoveForms({ frame, data, refused }: MoveFormsProps) {
  const { view } = data.shown;
  const choices = choicesOf(data);
  const allowed = view.moves.filter((move) => move !== 'mark-system' || (choices['system']?.length ?? 0) > 0);
  const next = nextStepOf(data);
  const first = allowed.find((move) => move === next.move) ?? null;
  const others = allowed.filter((move) => move !== first);
  const form = (move: MoveName) => (
    <MoveForm
      frame={frame}
      data={data}
      move={move}
      choices={choices}
      values={refused?.move === move ? refused.form : proposed(data, move)}
    />
  );
  return (
    <>
      <p>{next.sentence}</p>
      {next.create === undefined ? null : <CreateForm frame={frame} data={data} what={next.create} />}
      {first === null ? null : form(first)}
      {others.length === 0 ? null : (
        <details class="more" open={others.some((move) => move === refused?.move)}>
          <summary>More</summary>
          <div>
            {others.map((move) => (
              <details key={move} open={refused?.move === move}>
                <summary>{moves[move].label}</summary>
                {form(move)}
              </details>
            ))}
          </div>
        </details>
      )}
    </>
  );
}

function CreateForm({ frame, data, what }: { frame: PageFrame; data: CasePageData; what: 'pack' | 'letter' }) {
  const path = `/cases/${encodeURIComponent(data.shown.view.row.case_id)}`;
  return what === 'pack' ? (
    <form method="post" action={`${path}/pack`}>
      <Csrf token={frame.csrf} />
      <button type="submit">Create the response pack</button>
    </form>
  ) : (
    <p>
      <a class="button" href={`${path}/letter?step=answer`}>
        Write the letter
      </a>
    </p>
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
  const { row } = data.shown.view;
  return (
    <form method="post" action={`/cases/${encodeURIComponent(row.case_id)}/moves`}>
      <Csrf token={frame.csrf} />
      <input type="hidden" name="move" value={move} />
      <input type="hidden" name="basedOn" value={row.version} />
      {fieldsOf(moves[move].details, choices)
        .filter(({ name }) => move !== 'answer' || !endsConsent.includes(name) || withdraws(data))
        .filter(({ name }) => name !== 'approvedBy' || data.shown.profile?.role === 'processor')
        .map((field) =>
          field.type === 'rows' ? (
            <PartRows key={field.name} move={move} field={field} values={values} timeZone={frame.timeZone} />
          ) : (
            <FieldInput
              key={field.name}
              id={`${move}-${field.name}`}
              field={field}
              value={values[field.name] ?? ''}
              timeZone={frame.timeZone}
            />
          ),
        )}
      <button type="submit">{moves[move].label}</button>
    </form>
  );
}

/** Inputs that only the answer to a request that ends consent has. */
const endsConsent: readonly string[] = ['purposes', 'effectiveAt'];

function withdraws({ shown: { view, match } }: CasePageData): boolean {
  return withdrawingKinds.includes(view.kind) && (match.status === 'from-device' || match.status === 'computed');
}

/** What was done with each thing that was asked for: some rows, of which the officer fills in as many as there are things. */
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

/** What the case narrows down: the systems of the controller, the documents of the case. */
function choicesOf({ shown, documents }: CasePageData): FieldChoices {
  const systems = shown.profile?.otherSystems ?? [];
  return {
    jurisdiction: placeChoices(shown.view.row.jurisdiction),
    system: systems.map(({ id, name }) => [
      id,
      Object.hasOwn(shown.view.folded.systems, id) ? `${name} (marked)` : name,
    ]),
    documentSha256: documents.map(({ sha256, file_name }) => [sha256, `${file_name} · ${sha256.slice(0, 12)}…`]),
  };
}

/** A pack, or a letter that answers. */
export function isAnswer({ name, parameters }: CasePageData['documents'][number]): boolean {
  if (name !== 'letter') return true;
  const { step } = JSON.parse(parameters) as { step?: unknown };
  return answerSteps.some((answer) => answer === step);
}

/** What a form is filled in with at first: what is known already. */
function proposed({ shown, documents }: CasePageData, move: MoveName): Readonly<Record<string, string>> {
  switch (move) {
    case 'answer':
      return {
        disclosure: shown.disclosure,
        documentSha256: documents.find(isAnswer)?.sha256 ?? '',
        'parts.0.what': kindText(shown.view.kind),
      };
    case 'mark-system': {
      const next = shown.profile?.otherSystems.find(({ id }) => !Object.hasOwn(shown.view.folded.systems, id));
      return { system: next?.id ?? '' };
    }
    default:
      return {};
  }
}

type DecisionRow = Pick<
  Selectable<Tables['decision_history']>,
  'seq' | 'at' | 'banner_id' | 'state' | 'label' | 'withdraws' | 'policy_version' | 'via' | 'action' | 'page' | 'domain'
> & {
  /** 1: its records contradict each other. */
  readonly disputed: number;
  /** The choice by all its records together. */
  readonly chosen: string;
};

/** Everything on the page of a case. */
export interface CasePageData {
  readonly shown: ShownCase;
  /** The latest recorded decisions of the subjects that were found. */
  readonly decisions: readonly DecisionRow[];
  /** Consent of the subject that was recorded after this case had withdrawn it. */
  readonly documents: readonly DocumentRow[];
  /** The newest first. */
  readonly handOvers: readonly ListedHandOver[];
  /** Packs under way, and those that ended without a document. */
  readonly jobs: readonly Job[];
}

const DECISIONS_SHOWN = 50;

/** Loads what the page of a case shows; null if the case does not exist. */
export async function loadCase(
  context: Pick<Context, 'cases' | 'store' | 'jobs' | 'clock'>,
  caseId: string,
): Promise<CasePageData | null> {
  const shown = await showCase(context.cases, caseId, context.clock().toISOString());
  if (shown === null) return null;
  const { read } = context.store;
  const { subjects } = shown.match;
  const history = createHistory(read);
  const [decisions, documents, handOvers, jobs] = await Promise.all([
    subjects.length === 0 ? [] : history.latestDecisionsOf(shown.view.row.source, subjects, DECISIONS_SHOWN),
    read.selectFrom('documents').selectAll().where('case_id', '=', caseId).orderBy('seq', 'desc').execute(),
    listHandOvers(context, { caseId }),
    context.jobs.list({ kind: 'document', limit: 100 }),
  ]);
  return {
    shown,
    decisions,
    documents,
    handOvers,
    jobs: jobs.filter((job) => payloadText(job, 'caseId') === caseId && job.state !== 'done').slice(0, 5),
  };
}
