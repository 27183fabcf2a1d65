import { basename } from 'node:path';
import { z } from 'zod';
import {
  findLastProfileChange,
  giveOwnProfile,
  ownerOfProfile,
  type ProfileFile,
  readProfileFile,
  saveProfile,
} from '../../../config/profile-file.ts';
import { type ProfileField, type ProfileForm, profileSections, readProfileForm } from '../../../config/profile-form.ts';
import { parseControllerProfile } from '../../../config/settings-files.ts';
import { CodedError } from '../../../core/errors.ts';
import { can } from '../../../core/roles.ts';
import type { Source } from '../../../core/source.ts';
import { retentionUnder } from '../../../erasure/retention.ts';
import { missingProfileParts, retentionPeriodText } from '../../../law/profile.ts';
import { sourceProblems } from '../../../sources/refusals.ts';
import { pagesWith, text } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { allowLive } from '../parts/live-script.ts';
import { Choice, Done, Facts, Field, Input, Notice, Panel, Problems, Select, sourceOptions } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { typingScriptPath } from '../parts/typing-script.ts';

const { page, form } = pagesWith<'store' | 'ledger' | 'projector' | 'clock' | 'config' | 'sources'>();

/** The controller profile: what it lacks, and a form that writes the file. */
const profile = page({
  path: '/settings/profile',
  rule: { who: 'read', source: 'query' },
  query: z.object({ source: text }),
  done: {
    saved: 'Saved. It applies to documents made from now on.',
    own: 'The source has its own profile now, a copy of the shared one without the web form. Correct its name and contacts before the next letter or report.',
  },
  async load({ context, permitted, fields, by, reply }, { form: typed }) {
    const sources = permitted.list();
    // Of several none is chosen for the person: the shared profile, if they may see what it applies to.
    const first = sources.length === 1 || by.sources !== null ? sources[0] : undefined;
    const source = sources.find(({ slug }) => slug === fields.source) ?? first ?? null;
    const file = await readProfileFile(context.config, source);
    const last = await findLastProfileChange(context.store.read, ownerOfProfile(source));
    const read = await readContent(file);
    allowLive(reply);
    return {
      ...{ sources, source, file, ...read },
      lost: last !== null && last.before === file.sha256 && last.after !== file.sha256 ? last.seq : null,
      form: Object.keys(typed).length > 0 ? typed : read.form,
    };
  },
  show: (data, { frame, said: { problems, done } }) => (
    <ProfilePage frame={frame} {...data} problems={problems} done={done} />
  ),
});

const save = form({
  path: '/settings/profile',
  rule: { who: 'administer', source: 'installation', isWritten: true },
  body: z.object({ source: text, basedOn: text }),
  async act(visit) {
    const { context, fields, permitted, typed, by } = visit;
    const { source: slug, basedOn } = fields;
    const source = permitted.find(slug);
    const refuse = (problems: readonly string[], status: number) =>
      profile.again(visit, { fields: { source: slug }, said: { problems }, status });
    const saved = await saveProfile(context, { source, basedOn, next: { form: typed }, actor: by.officer });
    switch (saved.outcome) {
      case 'unwritable':
        return refuse(['The program cannot write the file of this profile.'], 409);
      case 'overtaken':
        return refuse(['The file was changed in the meantime: review it before you save.'], 409);
      case 'invalid':
        return refuse(
          saved.problems.map((problem) => inWords(problem, saved.path)),
          422,
        );
      case 'saved':
      case 'unchanged': {
        if (saved.outcome === 'saved' && saved.seq !== null) await visit.projected(saved.seq);
        const query = { ...(source === null ? {} : { source: slug }), done: 'saved' };
        return visit.goTo(`/settings/profile?${new URLSearchParams(query).toString()}`);
      }
      default:
        return saved satisfies never;
    }
  },
});

const own = form({
  path: '/settings/profile/own',
  rule: { who: 'administer', source: 'form' },
  body: z.object({ source: text }),
  async act(visit) {
    const { context, fields, permitted, by, request } = visit;
    const source = permitted.find(fields.source);
    if (source === null) throw new CodedError('not_found');
    const refuse = (problem: string) =>
      profile.again(visit, { fields, said: { problems: [problem], form: {} }, status: 409 });
    const given = await giveOwnProfile(context, source, by.officer);
    switch (given.outcome) {
      case 'owned':
        return refuse(`${source.name} already has its own profile.`);
      case 'invalid':
        return refuse('The shared profile has problems: correct them first.');
      case 'unwritable':
        request.log.error({ err: given.error }, 'a controller profile could not be written');
        return refuse('The program cannot write its data folder.');
      case 'refused':
        return refuse(sourceProblems(given.refusal).join(' '));
      case 'given':
        await visit.projected(given.seq);
        return visit.goTo(`/settings/profile?${new URLSearchParams({ source: source.slug, done: 'own' }).toString()}`);
      default:
        return given satisfies never;
    }
  },
});

export const routes = [profile, save, own];

/** What the file says; `form`: null if it cannot be shown. */
async function readContent(file: ProfileFile): Promise<{
  readonly faults: readonly string[];
  readonly missing: readonly string[];
  readonly form: ProfileForm | null;
}> {
  if (file.sha256 === null) return { faults: ['The file cannot be read.'], missing: [], form: null };
  const parsed = await parseControllerProfile(file.text, file.path);
  const read = await readProfileForm(file.text, file.path);
  return {
    faults:
      parsed.outcome === 'invalid' && file.isMade ? parsed.problems.map((problem) => inWords(problem, file.path)) : [],
    missing: parsed.outcome === 'loaded' ? missingProfileParts(parsed.value) : [],
    form: Array.isArray(read['problems']) ? null : (read as ProfileForm),
  };
}

/** A problem with the field's name on the page and without the path: officers need not know where files are. */
function inWords(problem: string, path: string): string {
  const told = problem.replace(`Controller profile ${path}: `, '').replace(path, basename(path));
  const [, place = '', line, column] = /^(\w+(?:\.[a-zA-Z]\w*)?)(?:\.(\d+))?(?:\.(\w+))?: /.exec(told) ?? [];
  const field = profileSections.flatMap(({ fields }) => fields).find(({ name }) => name === place);
  if (field === undefined) return told;
  const where = [field.label, line === undefined ? [] : `line ${Number(line) + 1}`, column ?? []].flat().join(', ');
  return told.replace(/^[^:]+/, where);
}

interface ProfileProps {
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  readonly source: Source | null;
  readonly file: ProfileFile;
  readonly faults: readonly string[];
  /** The entry of the last recorded change, if the file still has the content from before it. */
  readonly lost: number | null;
  readonly missing: readonly string[];
  /** Null: the file cannot be shown. */
  readonly form: ProfileForm | null;
  readonly problems: readonly string[];
  readonly done: string | null;
}

function ProfilePage(props: ProfileProps) {
  const { frame, sources, source, file, faults, lost, missing, form, problems, done } = props;
  const mayWrite = can(frame.role, 'administer') && file.isWritable;
  return (
    <Page title="Controller profile" frame={frame} current="profile" script={typingScriptPath}>
      <h1>Controller profile</h1>
      <p class="lead">The facts about your organisation that every pack, letter and report states.</p>
      <Done text={done} />
      <Problems title="Nothing was saved:" problems={problems} />
      {lost === null ? null : (
        <Notice tone="warn">
          <p>
            The change that <a href={`/entries/${lost}`}>entry {lost}</a> records is not in the file: saving was
            interrupted, or an earlier file was restored. Make the change again if it is still wanted.
          </p>
        </Notice>
      )}
      {sources.length > 1 ? (
        <form class="filter" method="get" action="/settings/profile">
          <label for="source">Source</label>
          <Select
            id="source"
            name="source"
            value={source?.slug ?? ''}
            options={[
              ...(frame.seesAll ? [['', 'Shared by all without their own'] as const] : []),
              ...sourceOptions(sources),
            ]}
          />
          <button class="quiet" type="submit">
            Show
          </button>
        </form>
      ) : null}
      {sources.length > 1 && source !== null && source.options.controllerFile === null ? (
        <Notice tone="calm">
          <p>
            <strong>Shared profile.</strong> {source.name} has none of its own: this one names the controller of every
            such source, and what you save here applies to all of them.
            {can(frame.role, 'administer') ? null : ' An owner or admin can give a source its own.'}
          </p>
          {can(frame.role, 'administer') && file.isMade && faults.length === 0 ? (
            <PostForm frame={frame} class="buttons" action="/settings/profile/own">
              <input type="hidden" name="source" value={source.slug} />
              <button type="submit" class="quiet">
                Give {source.name} its own profile
              </button>
              <span class="hint">It starts as a copy of this one, without the web form.</span>
            </PostForm>
          ) : null}
        </Notice>
      ) : null}
      {file.isMade ? (
        <>
          <Problems title="The file has problems; documents that need it are refused:" problems={faults} />
          {missing.length === 0 ? (
            faults.length === 0 ? (
              <p>Complete for an answer under GDPR Art. 15.</p>
            ) : null
          ) : (
            <Notice tone="warn">
              <p>Missing for an answer under GDPR Art. 15, which will say so:</p>
              <ul>
                {missing.map((part) => (
                  <li key={part}>{part}</li>
                ))}
              </ul>
            </Notice>
          )}
          {source?.options.controllerFile == null ? null : <p>This source has its own profile.</p>}
        </>
      ) : (
        <Notice tone="warn">
          <p>
            <strong>No profile yet.</strong> Without one, documents name no controller, and no law is chosen by the
            controller’s country. {firstStep(frame, file)}
          </p>
        </Notice>
      )}
      {form === null ? null : mayWrite ? (
        <ProfileFields {...props} form={form} />
      ) : file.isMade ? (
        <ReadOnly {...props} form={form} />
      ) : null}
    </Page>
  );
}

/** What to do if there is no profile. */
function firstStep(frame: PageFrame, { isWritable }: ProfileFile): string {
  if (!can(frame.role, 'administer')) return 'An owner or admin fills it in on this page.';
  return isWritable
    ? 'Start with the name of your organisation; you can add the rest later.'
    : 'The program may not write its data folder: make the file on the server (docs/configuration.md, Controller profile).';
}

function ReadOnly({ frame, file, form }: ProfileProps & { readonly form: ProfileForm }) {
  return (
    <>
      {profileSections.map(({ title, fields }, index) => (
        <Panel key={title} id={`part-${index}`} title={title}>
          <Facts
            rows={fields.map((field) => [
              field.label,
              <span class="lines outside">
                {wordsOf(field, form[field.name] ?? '') || blankText(field.name, field.kind)}
              </span>,
            ])}
          />
        </Panel>
      ))}
      <p class="hint">
        {can(frame.role, 'administer') && !file.isWritable
          ? `The program may not write ${basename(file.path)}: change it on the server (docs/configuration.md, Controller profile). It is read again for each document.`
          : 'Owners and admins can edit it.'}
      </p>
    </>
  );
}

/** The choices of a field, including the current value if the list lacks it. */
function choicesOf({ choices, usual }: ProfileField, value: string): readonly (readonly [string, string])[] {
  const listed = [['', usual?.[1] ?? '–'] as const, ...(choices?.() ?? [])];
  return listed.some(([known]) => known === value) ? listed : [[value, value], ...listed];
}

function wordsOf(field: ProfileField, value: string): string {
  if (field.kind !== 'choice' || (value === '' && field.usual === undefined)) return value;
  return choicesOf(field, value).find(([known]) => known === value)?.[1] ?? value;
}

/** What it means if a part is not stated. */
function blankText(name: string, kind: ProfileField['kind']): string {
  const usual = retentionOf(name)?.period;
  if (usual !== undefined) return `${retentionPeriodText(usual)} (usual)`;
  return kind === 'section' || kind === 'item' || name === 'erasureNeedsSecondOfficer' ? 'no' : 'not stated';
}

/** The usual retention period of a kind of data, and what it covers. */
function retentionOf(name: string) {
  return retentionUnder(null).find(({ kind }) => name === `retention.${kind}`);
}

function ProfileFields({ frame, source, file, form }: ProfileProps & { readonly form: ProfileForm }) {
  return (
    <PostForm frame={frame} action="/settings/profile">
      <input type="hidden" name="source" value={source?.slug ?? ''} />
      <input type="hidden" name="basedOn" value={file.sha256 ?? ''} />
      {profileSections.map(({ title, fields }, index) => (
        <Panel key={title} id={`part-${index}`} title={title}>
          <SectionHint title={title} />
          <div class="pair">
            {fields.map((field) => (
              <ProfileInput key={field.name} field={field} value={form[field.name] ?? ''} />
            ))}
          </div>
        </Panel>
      ))}
      <div class="buttons">
        <button type="submit">{file.isMade ? 'Save' : 'Create the profile'}</button>
      </div>
      <p class="hint">
        Translations of these texts are not on this page:{' '}
        {file.isMade ? `they stay as they are in ${basename(file.path)}` : `they go into ${basename(file.path)}`}, on
        the server (docs/configuration.md, Controller profile).
      </p>
    </PostForm>
  );
}

/** A hint for all fields of a section. */
function SectionHint({ title }: { readonly title: string }) {
  switch (title) {
    case 'Approval by a second person':
      return (
        <p>
          Ticked actions wait until another account has approved them. Owners and admins can change this alone; each
          change is recorded with their name.
        </p>
      );
    case 'Retention':
      return (
        <p>
          Enter a period such as 24 months, 90 days or 3 years, or “for ever:” and the reason. Blank: the usual period.
          What is erased cannot be restored. <a href="/settings/retention">Retention and holds</a> shows what applies.
        </p>
      );
    default:
      return null;
  }
}

function periodHint(name: string): string | undefined {
  const rule = retentionOf(name);
  if (rule === undefined) return undefined;
  const floor = name === 'retention.cases' ? ' Requests from California are kept at least 24 months.' : '';
  return `Usually ${retentionPeriodText(rule.period)}, from ${rule.from}. What: ${rule.what}. Why: ${rule.ground}.${floor}`;
}

function ProfileInput({ field, value }: { readonly field: ProfileField; readonly value: string }) {
  const { name, kind, label, hint } = field;
  const id = name.replace('.', '-');
  switch (kind) {
    case 'text':
    case 'number':
    case 'period':
      return (
        <Input
          id={id}
          name={name}
          label={label}
          value={value}
          hint={hint ?? periodHint(name)}
          optional={name !== 'name'}
          maxLength={4000}
          autocomplete="off"
        />
      );
    case 'choice':
      return (
        <Choice
          id={id}
          name={name}
          label={label}
          value={value}
          options={choicesOf(field, value)}
          optional={field.usual === undefined}
        />
      );
    case 'item':
    case 'section':
    case 'yes':
      return (
        <div class="field wide">
          <label class="box">
            <input type="checkbox" name={name} value="yes" checked={value === 'yes'} /> {label}
          </label>
        </div>
      );
    case 'long':
    case 'lines':
    case 'rows':
      return (
        <Field id={id} label={label} optional hint={hint}>
          <textarea
            id={id}
            name={name}
            maxLength={20_000}
            rows={kind === 'long' ? 2 : 4}
            {...(hint === undefined ? {} : { 'aria-describedby': `${id}-hint` })}
          >
            {value}
          </textarea>
        </Field>
      );
  }
}
