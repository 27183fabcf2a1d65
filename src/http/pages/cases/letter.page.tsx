import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { unprintableNote } from '../../../../reports/letters/letter.ts';
import { isLetterStep, type LetterStep, letterSteps } from '../../../../reports/letters/texts.ts';
import type { Context } from '../../../context.ts';
import { CodedError } from '../../../core/errors.ts';
import { renderPage, Page, type PageFrame } from '../parts/layout.tsx';
import { PostForm } from '../parts/post-form.tsx';
import {
  draftLetter,
  LETTER_TEXT_LENGTH,
  letterFormats,
  type LetterWish,
  produceLetter,
  type LetterDraft,
} from '../../../documents/produce-letter.ts';
import { officerOf } from '../../auth/sessions.ts';
import { formOf, html, pageFrame, untilProjected } from '../parts/page-frame.ts';
import { letterLanguages } from '../../../../reports/letters/languages.ts';
import { renderHtmlPart } from '../../../../reports/render/html.tsx';
import { doubtfulController, type DoubtfulController } from '../../../request-form/offered.ts';
import { sha256Hex } from '../../../crypto/hash.ts';
import { Choice, Field, Input, Notice, Panel, Problems, Select } from '../parts/parts.tsx';
import { letterText } from '../parts/words.ts';
import { allowLive } from '../parts/live-script.ts';
import { typingScriptPath } from '../parts/typing-script.ts';

interface CaseParams {
  readonly Params: { readonly caseId: string };
}
type Form = Readonly<Record<string, string>>;

/** The page on which an officer writes, previews and makes a letter of a case. */
export async function letterRoutes(app: FastifyInstance, context: Context): Promise<void> {
  const deps = () => ({ ...context.documents, cases: context.cases });

  app.get<CaseParams>('/cases/:caseId/letter', (request, reply) => {
    const { step = '', language = '' } = formOf(request.query);
    if (step === '') return reply.redirect(`/cases/${encodeURIComponent(request.params.caseId)}#letters`, 303);
    return sendLetter(request, reply, {
      caseId: request.params.caseId,
      step: stepOf(step),
      language: language || null,
    });
  });

  // Form encoding uses nine characters for one of a non-Latin script.
  app.post<CaseParams>(
    '/cases/:caseId/letter',
    { bodyLimit: 16_384 + LETTER_TEXT_LENGTH * 12 },
    async (request, reply) => {
      const { caseId } = request.params;
      const form = formOf(request.body);
      const wish = await wishOf(caseId, form);
      const format = letterFormats.find((one) => one === form['format']) ?? 'pdf';
      // A letter that was just selected is previewed before it is made.
      const make = form['do'] === 'make' && wish.text != null;
      if (!make) return sendLetter(request, reply, wish, { format });
      const made = await produceLetter(deps(), { ...wish, format, actor: officerOf(request).officer });
      switch (made.outcome) {
        case 'produced':
          await untilProjected(context, made.seq);
          return reply.redirect(`/cases/${encodeURIComponent(caseId)}?done=letter#letters`, 303);
        case 'unknown-case':
          throw new CodedError('not_found', 'Unknown case.');
        case 'unknown-source':
          throw new CodedError('not_found', `The source ${made.source} of this case is no longer configured.`);
        case 'refused':
        case 'invalid':
          return sendLetter(request, reply, wish, { format, problems: [made.problem] }, 422);
        default:
          return made satisfies never;
      }
    },
  );

  /**
   * The letter requested by a form. The text starts over (null) if another letter was chosen, or if the language
   * changed before it was edited.
   */
  async function wishOf(caseId: string, form: Form): Promise<LetterWish> {
    const { shownStep = '', shownStart = '0', start = shownStart, unedited = '', text = '' } = form;
    const step = stepOf(form['step'] ?? '');
    const wish = { caseId, step, language: form['language'] ?? null, recipient: form['recipient'] ?? null };
    if (step !== shownStep) return { ...wish, text: null, recipient: null };
    if (fingerprint(text) !== unedited && start === shownStart) return { ...wish, text };
    const draft = await draftLetter(deps(), { ...wish, text: null });
    const chosen = draft.outcome === 'drafted' ? draft.starts[Number(start)] : undefined;
    return { ...wish, text: chosen ?? text };
  }

  async function sendLetter(
    request: FastifyRequest,
    reply: FastifyReply,
    wish: LetterWish,
    shown: { readonly format?: string; readonly problems?: readonly string[] } = {},
    status = 200,
  ): Promise<FastifyReply> {
    let draft = await draftLetter(deps(), wish);
    // The form starts with the first proposal.
    if (draft.outcome === 'drafted' && wish.text == null && draft.starts[0] !== undefined)
      draft = await draftLetter(deps(), { ...wish, text: draft.starts[0] });
    if (draft.outcome !== 'drafted') throw new CodedError('not_found', 'Unknown case.');
    const { source: slug } = await context.store.read
      .selectFrom('cases')
      .select('source')
      .where('case_id', '=', wish.caseId)
      .executeTakeFirstOrThrow();
    const source = context.sources.findAny(slug);
    const doubtful = doubtfulController(await context.loadProfile(source), source, context.sources);
    const props = { doubtful, frame: pageFrame(context, request, reply), caseId: wish.caseId, draft, ...shown };
    allowLive(reply);
    return html(reply, renderPage(<LetterPage {...props} />), status);
  }
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
  readonly problems?: readonly string[];
}

/** One letter of a case: its selection, language, text, preview, and the button that makes it. Needs no script. */
function LetterPage({ frame, caseId, draft, doubtful, format, problems = [] }: LetterPageProps) {
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
        <LetterForm frame={frame} caseId={caseId} draft={draft} format={format} />
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

/** Warns that what is sent would name a controller that may be another client. */
export function DoubtfulNotice({ controller, source, what }: DoubtfulController & { readonly what: string }) {
  return (
    <Notice tone="warn">
      <p>
        {what} <bdi>{controller}</bdi> as the controller: that profile is shared by several sources. If{' '}
        <bdi>{source.name}</bdi> belongs to another client, send nothing; ask an owner or admin to give the source its
        own profile (Settings, Controller profile). If it belongs to <bdi>{controller}</bdi>, an owner or admin can
        confirm that: enter <span class="mono">{source.slug}</span> in the{' '}
        <a href={`/settings/profile?source=${source.slug}`}>controller profile</a> under “Further sources whose web form
        names this organisation”.
      </p>
    </Notice>
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
function LetterForm({ frame, caseId, draft, format }: Pick<LetterPageProps, 'frame' | 'caseId' | 'draft' | 'format'>) {
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
