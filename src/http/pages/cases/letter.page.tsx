import { z } from 'zod';
import { letterLanguages } from '../../../../reports/letters/languages.ts';
import { unprintableNote } from '../../../../reports/letters/letter.ts';
import { isLetterStep, type LetterStep, letterSteps } from '../../../../reports/letters/texts.ts';
import { renderHtmlPart } from '../../../../reports/render/html.tsx';
import { findCase } from '../../../cases/list-cases.ts';
import { CodedError } from '../../../core/errors.ts';
import { sha256Hex } from '../../../crypto/hash.ts';
import { rememberLanguage } from '../../../documents/letter-language.ts';
import {
  draftLetter,
  LETTER_TEXT_LENGTH,
  type LetterDraft,
  type LetterWish,
  letterFormats,
  produceLetter,
} from '../../../documents/produce-letter.ts';
import { type DoubtfulController, doubtfulController } from '../../../sources/controller.ts';
import { pagesWith, type Said, text, type Visit } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { allowLive } from '../parts/live-script.ts';
import { Choice, Field, Input, Notice, Panel, Problems, Select } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { typingScriptPath } from '../parts/typing-script.ts';
import { letterText } from '../parts/words.ts';
import { DoubtfulNotice } from './doubtful-notice.tsx';
import { LetterLanguage } from './letter-language-select.tsx';

type Needs = 'documents' | 'cases' | 'store' | 'sources' | 'loadProfile' | 'projector';
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
  async load({ context, params: { caseId }, fields, reply }, { wish: typed }: Said<LetterSaid>) {
    const wish = typed ?? { caseId, step: stepOf(fields.step), language: fields.language || null };
    let draft = await draftLetter(depsOf(context), wish);
    // The form starts with the first proposal.
    if (draft.outcome === 'drafted' && wish.text == null && draft.starts[0] !== undefined)
      draft = await draftLetter(depsOf(context), { ...wish, text: draft.starts[0] });
    const row = await findCase(context.store.read, caseId);
    // Without a language there is nothing to preview: it is asked for first.
    if (draft.outcome === 'invalid' && row !== null) {
      const isUnknown = row.language === null && (wish.language ?? '') === '';
      return { caseId, step: wish.step, problem: isUnknown ? ASKED : draft.problem };
    }
    if (draft.outcome !== 'drafted') throw new CodedError('not_found', 'Unknown case.');
    const source = context.sources.findAny(row?.source ?? '');
    const doubtful = doubtfulController(await context.loadProfile(source), source, context.sources);
    allowLive(reply);
    return { caseId, draft, doubtful };
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
});

const write = form({
  path: '/cases/:caseId/letter',
  rule: { who: 'work', source: 'case', isWritten: true },
  body: letterFields,
  // Form encoding uses nine characters for one of a non-Latin script.
  bytes: 16_384 + LETTER_TEXT_LENGTH * 12,
  async act(visit) {
    const { context, params, fields, by } = visit;
    const { caseId } = params;
    const wish = await wishOf(context, caseId, fields);
    const format = letterFormats.find((one) => one === fields.format) ?? 'pdf';
    const showAgain = (problems: readonly string[], status: number) =>
      letter.again(visit, { fields: { step: '', language: '' }, said: { wish, format, problems }, status });
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
): Promise<LetterWish> {
  const { shownStep, shownStart, unedited, text: typed, language, recipient } = fields;
  const start = fields.start ?? shownStart;
  const step = stepOf(fields.step);
  const wish = { caseId, step, language, recipient };
  if (step !== shownStep) return { ...wish, text: null, recipient: null };
  if (fingerprint(typed) !== unedited && start === shownStart) return { ...wish, text: typed };
  const draft = await draftLetter(depsOf(context), { ...wish, text: null });
  const chosen = draft.outcome === 'drafted' ? draft.starts[Number(start)] : undefined;
  return { ...wish, text: chosen ?? typed };
}

function stepOf(text: string): LetterStep {
  if (!isLetterStep(text)) throw new CodedError('invalid_request', 'Choose which letter to write.');
  return text;
}

interface LetterPageProps {
  readonly frame: PageFrame;
  readonly caseId: string;
  readonly draft: LetterDraft;
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
function LetterPage({ frame, caseId, draft, doubtful, format, problems }: LetterPageProps) {
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
        <LetterForm frame={frame} caseId={caseId} draft={draft} doubtful={doubtful} format={format} />
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
function LetterForm({ frame, caseId, draft, doubtful, format }: Omit<LetterPageProps, 'problems'>) {
  const { letter, starts, problem } = draft;
  const { step } = letter;
  return (
    <Panel id="write" title="Content">
      <PostForm frame={frame} action={`/cases/${encodeURIComponent(caseId)}/letter`}>
        <input type="hidden" name="shownStep" value={step} />
        <input type="hidden" name="shownStart" value={startOf(draft)} />
        <input type="hidden" name="unedited" value={fingerprint(starts[Number(startOf(draft))] ?? '')} />
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
            value={startOf(draft)}
            options={starts.map((text, place) => [String(place), shortened(text)] as const)}
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
            {`\n${letter.text ?? ''}`}
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
        <div class="buttons">
          <button type="submit" name="do" value="preview" class="quiet">
            Update the preview
          </button>
          <button type="submit" name="do" value="make">
            Create the letter
          </button>
          <span class="as">
            <label for="format">as</label>
            <Select
              id="format"
              name="format"
              value={format ?? 'pdf'}
              options={letterFormats.map((one) => [one, formatTexts[one]] as const)}
            />
          </span>
        </div>
      </PostForm>
    </Panel>
  );
}

const formatTexts = { pdf: 'PDF', html: 'HTML', txt: 'Text' } as const;

/** Hash of the text from which a letter started, to tell whether the officer has edited it. */
function fingerprint(text: string): string {
  return sha256Hex(Buffer.from(text.replaceAll('\r\n', '\n').trim())).slice(0, 16);
}

/** The index of the proposal from which this text started; the first if it was edited. */
function startOf({ starts, letter }: LetterDraft): string {
  return String(Math.max(0, starts.indexOf(letter.text ?? '')));
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
