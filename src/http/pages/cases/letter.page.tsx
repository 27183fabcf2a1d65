import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { letterLanguages } from '../../../../reports/letters/languages.ts';
import { unprintableNote } from '../../../../reports/letters/letter.ts';
import { isLetterStep, type LetterStep, letterSteps } from '../../../../reports/letters/texts.ts';
import { renderHtmlPart } from '../../../../reports/render/html.tsx';
import { findCase, type ShownCase, showRow } from '../../../cases/list-cases.ts';
import { moves } from '../../../cases/moves.ts';
import { isoNow } from '../../../core/clock.ts';
import { CodedError } from '../../../core/errors.ts';
import { sha256Hex } from '../../../crypto/hash.ts';
import { rememberLanguage } from '../../../documents/letter-language.ts';
import { AS_STATED, moveOfLetter } from '../../../documents/letter-moves.ts';
import { problemOfMailing } from '../../../documents/mail-letter.ts';
import {
  draftLetter,
  LETTER_TEXT_LENGTH,
  type LetterDraft,
  type LetterWish,
  letterFormats,
  produceLetter,
} from '../../../documents/produce-letter.ts';
import { APPROVE_FIRST, letterWays, needsApproval, recordLetter } from '../../../documents/record-letter.ts';
import { type DoubtfulController, doubtfulController } from '../../../sources/controller.ts';
import { pagesWith, type Said, smallNumber, text, type Visit } from '../parts/define-page.ts';
import { FieldInput, type FormField, fieldsOf, readFields, typedIn } from '../parts/fields.tsx';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { allowLive } from '../parts/live-script.ts';
import { Choice, Field, Input, Notice, Panel, Problems, Select } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { typingScriptPath } from '../parts/typing-script.ts';
import { letterText } from '../parts/words.ts';
import { DoubtfulNotice } from './doubtful-notice.tsx';
import { LetterLanguage } from './letter-language-select.tsx';

type Needs = 'documents' | 'cases' | 'store' | 'sources' | 'loadProfile' | 'projector' | 'jobs' | 'config';
const { page, form } = pagesWith<Needs>();

/** What the form asks for. */
interface LetterSaid {
  readonly wish: LetterWish;
  readonly format: string;
}

/** The page on which an officer writes, previews and makes a letter of a case. */
const letter = page({
  path: '/cases/:caseId/letter',
  rule: { who: 'work', source: 'case', views: 'object' },
  query: z.object({ step: text, language: text }),
  instead: ({ params, fields: { step } }) =>
    step === '' ? `/cases/${encodeURIComponent(params.caseId)}#letters` : null,
  async load({ context, params: { caseId }, fields, reply }, { wish: typed, form: values }: Said<LetterSaid>) {
    const { details, ...wanted } = typed ?? { caseId, step: stepOf(fields.step), language: fields.language || null };
    const row = await findCase(context.store.read, caseId);
    const shown = row === null ? null : await showRow(context.cases, row, isoNow(context.cases.clock));
    const record = shown === null ? null : recordOf(context, shown, wanted.step, values);
    const wish: LetterWish = { ...wanted, ...(record === null ? {} : { details: details ?? {} }) };
    let text = wish.text ?? null;
    let draft = await draftLetter(depsOf(context), wish);
    // The form starts with the first proposal.
    if (draft.outcome === 'drafted' && text === null && draft.starts[0] !== undefined) {
      [text] = draft.starts;
      draft = await draftLetter(depsOf(context), { ...wish, text });
    }
    // Without a language there is nothing to preview: it is asked for first.
    if (draft.outcome === 'invalid' && row !== null) {
      const isUnknown = row.language === null && (wish.language ?? '') === '';
      return { caseId, step: wish.step, problem: isUnknown ? ASKED : draft.problem };
    }
    if (draft.outcome !== 'drafted') throw new CodedError('not_found', 'Unknown case.');
    const source = context.sources.findAny(row?.source ?? '');
    const doubtful = doubtfulController(await context.loadProfile(source), source, context.sources);
    allowLive(reply);
    return { caseId, draft, doubtful, text: text ?? draft.letter.text ?? '', record };
  },
  show: (data, { frame, said }) =>
    data.draft === undefined ? (
      <LanguagePage frame={frame} {...data} />
    ) : (
      <LetterPage frame={frame} {...data} format={said.format} problems={said.problems} />
    ),
});

const letterFields = z.object({
  step: text,
  language: text.nullable().default(null),
  recipient: text.nullable().default(null),
  controller: text.nullable().default(null),
  shownStep: text,
  shownStart: z.string().catch('0'),
  start: z.string().nullable().catch(null),
  unedited: text,
  text,
  format: text,
  do: text,
  /** In forms that also record the move of the letter. */
  basedOn: smallNumber,
  reference: text,
});

const write = form({
  path: '/cases/:caseId/letter',
  rule: { who: 'work', source: 'case', isWritten: true },
  body: letterFields,
  // Form encoding uses nine characters for one of a non-Latin script.
  bytes: 16_384 + LETTER_TEXT_LENGTH * 12,
  async act(visit) {
    const { context, params, fields, by, typed } = visit;
    const { caseId } = params;
    const wish = await wishOf(context, caseId, fields, typed);
    const format = letterFormats.find((one) => one === fields.format) ?? 'pdf';
    const showAgain = (problems: readonly string[], status: number, form = typed) =>
      letter.again(visit, { fields: { step: '', language: '' }, said: { wish, format, problems, form }, status });
    const way = letterWays.find((one) => one === fields.do);
    const { basedOn } = fields;
    if (way !== undefined && basedOn !== null && fields.step === fields.shownStep) {
      const details = readMoveFields(wish, typed, context.config.timeZone);
      if (details.outcome === 'refused') return showAgain(details.problems, 422);
      const { step, language = null } = wish;
      const { reference } = fields;
      const recorded = await recordLetter(context, {
        ...{ caseId, step, language, format, way, basedOn, actor: by.officer },
        ...{ text: wish.text ?? '', details: details.values, controller: fields.controller },
        ...(reference === '' ? {} : { reference: reference.slice(0, 200) }),
      });
      const done = (what: string) => visit.goTo(`/cases/${encodeURIComponent(caseId)}?done=${what}#letters`);
      if ('letter' in recorded) {
        await visit.projected('seq' in recorded ? recorded.seq : recorded.letter.seq);
        const of = String(recorded.letter.parameters['language']);
        await rememberLanguage(context, { caseId, language: of, actor: by.officer });
      }
      switch (recorded.outcome) {
        case 'recorded':
          return done('recorded');
        case 'sending':
          await visit.doneSoon(recorded.jobId);
          return done('sending');
        case 'made':
          return done(recorded.next === APPROVE_FIRST ? 'letter-approval' : 'letter-unrecorded');
        case 'refused':
          return showAgain(recorded.problems, 422);
        case 'conflict':
          return showAgain([recorded.problem], 409, { ...typed, reference: '' });
        case 'unknown-case':
          throw new CodedError('not_found', 'Unknown case.');
        case 'unknown-source':
          throw new CodedError('not_found', `The source ${recorded.source} of this case is no longer configured.`);
        default:
          return recorded satisfies never;
      }
    }
    // A letter that was just selected is previewed before it is made.
    if (fields.do !== 'make' || wish.text == null) return showAgain([], 200);
    const made = await produceLetter(depsOf(context), {
      ...{ ...wish, format, actor: by.officer, controller: fields.controller },
    });
    switch (made.outcome) {
      case 'produced':
        await visit.projected(made.seq);
        if (made.letter.step !== 'notice') {
          const { language } = made.letter;
          await rememberLanguage(context, { caseId, language, actor: by.officer });
        }
        return visit.goTo(`/cases/${encodeURIComponent(caseId)}?done=letter#letters`);
      case 'unknown-case':
        throw new CodedError('not_found', 'Unknown case.');
      case 'unknown-source':
        throw new CodedError('not_found', `The source ${made.source} of this case is no longer configured.`);
      case 'refused':
      case 'invalid':
        return showAgain([made.problem], 422);
      default:
        return made satisfies never;
    }
  },
});

export const routes = [letter, write];

const depsOf = ({ documents, cases }: Visit<Needs>['context']) => ({ ...documents, cases });

/**
 * The letter requested by a form. The text starts over (null) if another letter was chosen, or if the language changed
 * before it was edited.
 */
async function wishOf(
  context: Visit<Needs>['context'],
  caseId: string,
  fields: z.infer<typeof letterFields>,
  form: Readonly<Record<string, string>>,
): Promise<LetterWish> {
  const { shownStep, shownStart, unedited, text: typed, language, recipient } = fields;
  const start = fields.start ?? shownStart;
  const step = stepOf(fields.step);
  if (step !== shownStep) return { caseId, step, language, text: null };
  const wish = { caseId, step, language, recipient, ...(fields.basedOn === null ? {} : { details: form }) };
  if (fingerprint(typed) !== unedited && start === shownStart) return { ...wish, text: typed };
  const draft = await draftLetter(depsOf(context), { ...wish, text: null });
  const chosen = draft.outcome === 'drafted' ? draft.starts[Number(start)] : undefined;
  return { ...wish, text: chosen ?? typed };
}

/** The part of the form that records the move of a letter. */
interface RecordForm {
  readonly basedOn: number;
  readonly reference: string;
  readonly fields: readonly FormField[];
  readonly values: Readonly<Record<string, string>>;
  /** Where it would be mailed to; null: nowhere. */
  readonly email: string | null;
  readonly needsApproval: boolean;
}

/** The details of a move that the form of its letter does not ask for: the buttons decide them. */
const decided: readonly string[] = ['channel', 'documentSha256'];

/** How the move of a letter is recorded now; null: the letter has none, or it is not possible. */
function recordOf(
  { config }: Pick<Visit<Needs>['context'], 'config'>,
  shown: ShownCase,
  step: LetterStep,
  values: Readonly<Record<string, string>>,
): RecordForm | null {
  const belongs = moveOfLetter(step);
  const { view, profile } = shown;
  if (belongs === null || !view.moves.includes(belongs.move)) return null;
  return {
    basedOn: view.row.version,
    reference: values['reference'] || randomUUID(),
    fields: fieldsOf(moves[belongs.move].details)
      .filter(({ name }) => name !== belongs.says && !decided.includes(name))
      .filter(({ name }) => name !== 'approvedBy' || profile?.role === 'processor'),
    values,
    email: problemOfMailing(shown, config.mail) === null ? view.row.requester_email : null,
    needsApproval: needsApproval(shown, belongs.move),
  };
}

/** The details of the move of a letter as they were typed, without the one that is its text. */
function readMoveFields(
  { step, text }: LetterWish,
  typed: Readonly<Record<string, string>>,
  timeZone: string,
): ReturnType<typeof readFields> {
  const belongs = moveOfLetter(step);
  if (belongs === null) return { outcome: 'read', values: {} };
  const { move, says } = belongs;
  const read = readFields(
    moves[move].details,
    { ...typed, ...(says === null ? {} : { [says]: text ?? '' }) },
    timeZone,
  );
  if (read.outcome === 'refused') return read;
  const own = Object.entries(read.values).filter(([name]) => name !== says && !decided.includes(name));
  return { outcome: 'read', values: Object.fromEntries(own) };
}

function stepOf(text: string): LetterStep {
  if (!isLetterStep(text)) throw new CodedError('invalid_request', 'Choose which letter to write.');
  return text;
}

interface LetterPageProps {
  readonly frame: PageFrame;
  readonly caseId: string;
  readonly draft: LetterDraft;
  /** The officer's text. */
  readonly text: string;
  readonly record: RecordForm | null;
  readonly doubtful: DoubtfulController | null;
  /** The officer's last choice. */
  readonly format?: string | undefined;
  readonly problems: readonly string[];
}

/** Asks for the language of a letter if that of the requester is not known, or letters do not exist in it. */
function LanguagePage({ frame, caseId, step, problem }: LanguagePageProps) {
  const title = `${letterText(step)} · ${caseId}`;
  const address = `/cases/${encodeURIComponent(caseId)}`;
  return (
    <Page title={title} frame={frame} within="requests">
      <p class="small">
        <a href={`${address}#letters`}>← {caseId}</a>
      </p>
      <h1>{title}</h1>
      <Panel id="write" title="Language">
        <p>{problem}</p>
        <form method="get" action={`${address}/letter`}>
          <input type="hidden" name="step" value={step} />
          <LetterLanguage id="language" value="" />
          <button type="submit">Continue</button>
        </form>
      </Panel>
    </Page>
  );
}

/** Asks the officer for what nobody has chosen yet. */
const ASKED =
  'The language of the requester is not known. Choose the one to write in; it is then kept for the request.';

interface LanguagePageProps {
  readonly frame: PageFrame;
  readonly caseId: string;
  readonly step: LetterStep;
  /** Why there is no letter yet, in words. */
  readonly problem: string;
}

/** One letter of a case: its selection, language, text, preview, and the button that makes it. Needs no script. */
function LetterPage(props: LetterPageProps) {
  const { frame, caseId, draft, doubtful, problems } = props;
  const { letter } = draft;
  const title = `${letterText(letter.step)} · ${caseId}`;
  return (
    <Page title={title} frame={frame} within="requests" script={typingScriptPath}>
      <p class="small">
        <a href={`/cases/${encodeURIComponent(caseId)}#letters`}>← {caseId}</a>
      </p>
      <h1>{title}</h1>
      <p class="lead">
        Choose, write, check the preview, then create the letter. A letter cannot be changed once it is created.
      </p>
      <Problems title="The letter was not created:" problems={problems} />
      {doubtful === null ? null : <DoubtfulNotice {...doubtful} what="This letter names" />}
      <LetterWarnings draft={draft} />
      <div class="columns halves">
        <LetterForm {...props} />
        <Panel id="preview" title="Preview">
          {/* Made of blocks by the renderer of documents, which escapes every text. */}
          <article
            class="sheet"
            lang={letter.locale}
            dangerouslySetInnerHTML={{ __html: renderHtmlPart(draft.blocks) }}
          />
        </Panel>
      </div>
    </Page>
  );
}

/** Names what is missing for this letter in the language, the profile or the font. */
function LetterWarnings({ draft }: { readonly draft: LetterDraft }) {
  const { letter, missingLanguage, untranslatedProfile, unprintable } = draft;
  return (
    <>
      {missingLanguage === null ? null : (
        <Notice tone="warn">
          <p>
            Letters are not available in the requested language (<bdi>{missingLanguage}</bdi>): this one is in{' '}
            {letterLanguages[letter.language]?.name}. Choose another language if the requester reads it better.
          </p>
        </Notice>
      )}
      {untranslatedProfile ? (
        <Notice tone="warn">
          <p>
            The controller profile has no texts in {letterLanguages[letter.language]?.name}: its purposes, recipients
            and other parts appear as they are. An admin can have them added to the profile on the server.
          </p>
        </Notice>
      ) : null}
      {unprintable.length === 0 ? null : (
        <Notice tone="warn">
          <p>{unprintableNote(unprintable)}</p>
        </Notice>
      )}
    </>
  );
}

/** The form for a letter: its kind, language and text, and the button that makes it. */
function LetterForm({ frame, caseId, draft, doubtful, text, record, format }: LetterPageProps) {
  const { letter, starts, problem } = draft;
  const { step } = letter;
  return (
    <Panel id="write" title="Content">
      <PostForm frame={frame} action={`/cases/${encodeURIComponent(caseId)}/letter`}>
        <input type="hidden" name="shownStep" value={step} />
        <input type="hidden" name="shownStart" value={startOf(draft, text)} />
        <input type="hidden" name="unedited" value={fingerprint(starts[Number(startOf(draft, text))] ?? '')} />
        <Choice id="step" label="Letter" value={step} options={stepChoices(draft)} />
        <Choice
          id="language"
          label="Language"
          value={letter.locale}
          options={languageChoices(draft)}
          hint="Dates and numbers use this language. Your own text is not translated."
        />
        {step !== 'notice' ? null : (
          <Input
            id="recipient"
            label="Recipient"
            maxLength={300}
            value={letter.recipient ?? ''}
            required={false}
            hint="The recipient to whom you disclosed the data."
          />
        )}
        {starts.length < 2 ? null : (
          <Choice
            id="start"
            label="Start from"
            value={startOf(draft, text)}
            options={starts.map((start, place) => [String(place), shortened(start)] as const)}
            hint="Choosing another one replaces your text at the next preview."
          />
        )}
        <Field
          id="text"
          label={starts.length === 0 ? 'Your additions' : 'Your text'}
          optional={starts.length === 0}
          hint="Empty lines separate paragraphs, lines that begin with “- ” are a list. Fill in the blanks in square brackets."
        >
          <textarea
            id="text"
            name="text"
            rows={12}
            maxLength={LETTER_TEXT_LENGTH}
            lang={letter.locale}
            aria-describedby="text-hint"
          >
            {`\n${text}`}
          </textarea>
        </Field>
        {doubtful === null ? null : (
          <label class="box">
            <input type="checkbox" name="controller" value={doubtful.controller} />{' '}
            <span>
              <bdi>{doubtful.controller}</bdi> is the controller of <bdi>{doubtful.source.name}</bdi>
            </span>
          </label>
        )}
        {problem === null ? null : <p class="small">Before the letter can be created: {problem}</p>}
        {record === null ? (
          <>
            {moveOfLetter(step) === null ? null : (
              <p class="small">
                “{moves[moveOfLetter(step)?.move ?? 'note'].label}” is recorded already, or not possible now: this only
                creates the letter.
              </p>
            )}
            <div class="buttons">
              <PreviewButton />
              <button type="submit" name="do" value="make">
                Create the letter
              </button>
              <FormatChoice format={format} />
            </div>
          </>
        ) : (
          <RecordPart frame={frame} record={record} format={format} />
        )}
      </PostForm>
    </Panel>
  );
}

/** The details of the move that belongs to the letter, and the buttons that make the letter and record it. */
function RecordPart({ frame, record, format }: Pick<LetterPageProps, 'frame' | 'format'> & { record: RecordForm }) {
  const { basedOn, reference, fields, values, email } = record;
  return (
    <>
      <input type="hidden" name="basedOn" value={basedOn} />
      <input type="hidden" name="reference" value={reference} />
      <h3>Recorded with the letter</h3>
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={{ ...field, ...wordsInLetter[field.name] }}
          value={typedIn({ ...usualValues, ...values }, field)}
          timeZone={frame.timeZone}
        />
      ))}
      {record.needsApproval ? <p>{APPROVE_FIRST}</p> : null}
      <div class="buttons">
        <PreviewButton />
        {email === null || record.needsApproval ? null : (
          <button type="submit" name="do" value="e-mail">
            Send by e-mail and record
          </button>
        )}
        <button type="submit" name="do" value="letter" class={email === null || record.needsApproval ? '' : 'quiet'}>
          {record.needsApproval
            ? 'Make the letter for approval'
            : 'Make the letter and record that it was sent by letter'}
        </button>
      </div>
      {email === null || record.needsApproval ? null : (
        <p class="small">
          The e-mail goes to <bdi class="outside">{email}</bdi>. It is recorded once it has gone out.
        </p>
      )}
      <div class="buttons">
        <button type="submit" name="do" value="make" class="quiet" formNoValidate>
          Only make the letter
        </button>
        <FormatChoice format={format} />
      </div>
    </>
  );
}

/** Words for fields whose usual ones do not fit here. */
const wordsInLetter: Readonly<Record<string, Partial<FormField>>> = {
  at: {
    label: 'Sent',
    hint: 'Leave empty for now. Only for a letter by post: an e-mail is recorded when it goes out.',
  },
  until: { hint: 'For a date earlier than the law allows, or where it leaves the date to you. The letter states it.' },
  basis: { hint: 'The article or section that allows it. The letter states it after your text.' },
  doubt: { hint: 'The letter states it before your text.' },
};

/** Every refusal states the remedies of its law. */
const usualValues: Readonly<Record<string, string>> = { remedies: AS_STATED };

function PreviewButton() {
  return (
    <button type="submit" name="do" value="preview" class="quiet" formNoValidate>
      Update the preview
    </button>
  );
}

function FormatChoice({ format }: Pick<LetterPageProps, 'format'>) {
  return (
    <span class="as">
      <label for="format">as</label>
      <Select
        id="format"
        name="format"
        value={format ?? 'pdf'}
        options={letterFormats.map((one) => [one, formatTexts[one]] as const)}
      />
    </span>
  );
}

const formatTexts = { pdf: 'PDF', html: 'HTML', txt: 'Text' } as const;

/** Hash of the text from which a letter started, to tell whether the officer has edited it. */
function fingerprint(text: string): string {
  return sha256Hex(Buffer.from(text.replaceAll('\r\n', '\n').trim())).slice(0, 16);
}

/** The index of the proposal from which this text started; the first if it was edited. */
function startOf({ starts }: LetterDraft, text: string): string {
  return String(Math.max(0, starts.indexOf(text)));
}

function stepChoices({ impossible, letter }: LetterDraft): readonly (readonly [string, string])[] {
  return letterSteps
    .filter((step: LetterStep) => step === letter.step || !impossible.has(step))
    .map((step) => [step, letterText(step)] as const);
}

/** The request's language keeps its region. */
function languageChoices({ letter }: LetterDraft): readonly (readonly [string, string])[] {
  return Object.entries(letterLanguages).map(
    ([code, { name }]) => [code === letter.language ? letter.locale : code, `${name} (${code})`] as const,
  );
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 70 ? `${line.slice(0, 69)}…` : line;
}
