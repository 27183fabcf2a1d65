import { z } from 'zod';
import { letterLanguages } from '../../../../reports/letters/languages.ts';
import { letterBlocks, letterProposals } from '../../../../reports/letters/letter.ts';
import { fillOwnText, placeholders } from '../../../../reports/letters/own-text.ts';
import { type LetterStep, letterSteps } from '../../../../reports/letters/texts.ts';
import { renderHtmlPart } from '../../../../reports/render/html.tsx';
import { isoNow } from '../../../core/clock.ts';
import { can } from '../../../core/roles.ts';
import type { Source } from '../../../core/source.ts';
import { dateIn } from '../../../core/zoned-days.ts';
import {
  languageName,
  listOwnTexts,
  OWN_TEXT_LENGTH,
  type OwnTextChange,
  problemsOfOwnText,
  readLetterPlace,
  sampleFacts,
  saveOwnText,
} from '../../../documents/letter-texts.ts';
import { number, pagesWith, text, type Visit } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { allowLive } from '../parts/live-script.ts';
import { Choice, Done, Field, Moment, Panel, Problems, Table } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { typingScriptPath } from '../parts/typing-script.ts';
import { letterText } from '../parts/words.ts';

const { page, form } = pagesWith<'store' | 'ledger' | 'clock' | 'config' | 'projector' | 'loadProfile'>();

/** The letter that is shown or changed. */
const letter = z.object({ source: text, step: text, language: text });

/** The controller's own wording of letters, by kind and language. */
const letters = page({
  path: '/settings/letters',
  rule: { who: 'read', source: 'installation' },
  query: letter,
  done: { saved: 'Saved. New letters start from it.', standard: 'Letters start from the standard text again.' },
  async load({ context, permitted, fields, by, reply }, { form: typed }) {
    const place = placeOf(permitted, fields);
    await context.projector.catchUp();
    const { read } = context.store;
    const history = await listOwnTexts(read, place);
    const sources = permitted.list();
    const source = sources.find(({ slug }) => slug === place.source) ?? sources[0] ?? null;
    const controller = (await context.loadProfile(source))?.name ?? 'Acme GmbH';
    allowLive(reply);
    return {
      ...{ sources, ...place, history, controller },
      text: typed['text'] ?? history[0]?.text ?? '',
      general: place.source === null ? null : ((await listOwnTexts(read, { ...place, source: null }))[0]?.text ?? null),
      mayChange: can(by.role, 'administer'),
      today: dateIn(isoNow(context.clock), context.config.timeZone),
    };
  },
  show: (data, { frame, said: { problems, done } }) => (
    <LetterTextsPage frame={frame} {...data} problems={problems} done={done} />
  ),
});

const save = form({
  path: '/settings/letters',
  rule: { who: 'administer', source: 'installation', isWritten: true },
  body: letter.extend({ text, basedOn: number, do: text }),
  bytes: 16_384 + OWN_TEXT_LENGTH * 12,
  async act(visit) {
    const { context, fields } = visit;
    const { text: own, basedOn, do: wanted } = fields;
    const again = (problems: readonly string[], status: number) =>
      letters.again(visit, { fields, said: { problems, form: { text: own } }, status });
    if (wanted !== 'save' && wanted !== 'standard') return again(problemsOfOwnText(own), 200);
    const place = placeOf(visit.permitted, fields);
    const saved = await saveOwnText(context, place, {
      text: wanted === 'standard' ? null : own,
      basedOn: basedOn ?? -1,
      actor: visit.by.officer,
    });
    if (saved.outcome === 'refused') return again(saved.problems, 422);
    if (saved.outcome === 'conflict')
      return again(['Someone else changed this text in the meantime: check the history below, then save again.'], 409);
    if (saved.outcome === 'saved') await visit.projected(saved.seq);
    const query = { source: place.source ?? '', step: place.step, language: place.language };
    const done = wanted === 'standard' || own.trim() === '' ? 'standard' : 'saved';
    return visit.goTo(`/settings/letters?${new URLSearchParams({ ...query, done }).toString()}`);
  },
});

export const routes = [letters, save];

/** The requested place; if the person may not see the source, all sources; if there is no such letter, the first. */
function placeOf(
  permitted: Pick<Visit<never>['permitted'], 'find'>,
  { source, step, language }: z.output<typeof letter>,
) {
  return {
    source: permitted.find(source)?.slug ?? null,
    ...(readLetterPlace(step, language) ?? { step: 'acknowledgement' as const, language: 'en' }),
  };
}

interface LetterTextsProps {
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  /** Null: all sources. */
  readonly source: string | null;
  readonly step: LetterStep;
  readonly language: string;
  readonly text: string;
  /** For one source: the text of all sources, which applies if the source has none of its own. */
  readonly general: string | null;
  /** Latest first. */
  readonly history: readonly OwnTextChange[];
  readonly mayChange: boolean;
  readonly today: string;
  readonly controller: string;
  readonly problems: readonly string[];
  readonly done: string | null;
}

function LetterTextsPage(props: LetterTextsProps) {
  const { frame, history, problems, done, mayChange } = props;
  const { sample, standard, preview } = shownOf(props);
  return (
    <Page title="Letter texts" frame={frame} current="letters" script={typingScriptPath}>
      <h1>Letter texts</h1>
      <p class="lead">
        Your own wording for each kind of letter and language. Letters start from it; officers can still edit it in each
        letter.
      </p>
      <Done text={done} />
      <Problems title="Nothing was saved:" problems={problems} />
      <WhichForm {...props} />
      <div class="columns halves">
        <Panel id="wording" title="Your text">
          {props.general !== null && history[0]?.text == null ? (
            <p class="small">
              This source has no text of its own: the text for all sources applies. <bdi>“{props.general}”</bdi>
            </p>
          ) : null}
          {mayChange ? <TextForm {...props} /> : <p class="lines">{props.text || 'The standard text.'}</p>}
          {standard.length === 0 ? null : (
            <details>
              <summary>Standard texts</summary>
              <div>
                {standard.map((text) => (
                  <blockquote key={text} class="lines" lang={sample.locale}>
                    {text}
                  </blockquote>
                ))}
              </div>
            </details>
          )}
        </Panel>
        <Panel id="preview" title="Preview">
          <p class="small">
            A sample request. Statements required by law, such as remedies (GDPR Art. 12(4)) and rights (Art. 15), are
            added to every letter and cannot be removed.
          </p>
          {/* Rendered from blocks by the document renderer, which escapes every text. */}
          <article class="sheet" lang={sample.locale} dangerouslySetInnerHTML={{ __html: renderHtmlPart(preview) }} />
        </Panel>
      </div>
      {history.length === 0 ? null : (
        <Panel id="history" title="History">
          <Table
            caption="Every change is recorded; the latest applies."
            columns={[
              { title: 'When', cell: ({ at }: OwnTextChange) => <Moment iso={at} timeZone={frame.timeZone} /> },
              {
                title: 'Text',
                cell: ({ text }) => (text === null ? 'the standard text' : <span class="lines outside">{text}</span>),
              },
              { title: 'By', cell: ({ actor }) => actor },
              { title: 'Entry', cell: ({ seq }) => String(seq) },
            ]}
            rows={history}
          />
        </Panel>
      )}
    </Page>
  );
}

function shownOf({ step, language, text, today, controller }: LetterTextsProps) {
  // Notices to recipients concern a change; other samples show a request for a copy.
  const facts = sampleFacts(step === 'notice' ? 'erasure' : 'access', today, controller);
  const sample = { step, language, locale: letterLanguages[language]?.locale ?? language };
  const standard = letterProposals(step, language, facts);
  const own = text.trim() === '' ? (standard[0] ?? null) : fillOwnText(text, sample, facts);
  return { sample, standard, preview: letterBlocks({ ...sample, text: own }, facts) };
}

function WhichForm({ sources, source, step, language }: LetterTextsProps) {
  const scopes = [['', 'Every source'] as const, ...sources.map(({ slug, name }) => [slug, name] as const)];
  return (
    <form class="filter" method="get" action="/settings/letters">
      {scopes.length < 2 ? null : <Choice id="source" label="Source" value={source ?? ''} options={scopes} />}
      <Choice
        id="step"
        label="Letter"
        value={step}
        options={letterSteps.map((one) => [one, letterText(one)] as const)}
      />
      <Choice
        id="language"
        label="Language"
        value={language}
        options={Object.keys(letterLanguages).map((code) => [code, languageName(code)] as const)}
      />
      <button class="quiet" type="submit">
        Show
      </button>
    </form>
  );
}

function TextForm({ frame, source, step, language, text, history }: LetterTextsProps) {
  const hint = `Empty lines separate paragraphs, lines that begin with “- ” are a list; [square brackets] mark blanks to fill in for each letter. ${Object.entries(
    placeholders,
  )
    .map(([name, words]) => `{${name}}: ${words}`)
    .join('. ')}.`;
  return (
    <PostForm frame={frame} action="/settings/letters">
      <input type="hidden" name="source" value={source ?? ''} />
      <input type="hidden" name="step" value={step} />
      <input type="hidden" name="language" value={language} />
      <input type="hidden" name="basedOn" value={String(history[0]?.seq ?? 0)} />
      <Field id="text" label="Text" optional hint={hint}>
        <textarea id="text" name="text" rows={12} maxLength={OWN_TEXT_LENGTH} aria-describedby="text-hint">
          {`\n${text}`}
        </textarea>
      </Field>
      <div class="buttons">
        <button type="submit" name="do" value="preview" class="quiet">
          Update the preview
        </button>
        <button type="submit" name="do" value="save">
          Save
        </button>
        {history[0]?.text == null ? null : (
          <button type="submit" name="do" value="standard" class="quiet">
            Back to the standard text
          </button>
        )}
      </div>
    </PostForm>
  );
}
