import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  applyProfileForm,
  copyForSource,
  type ProfileField,
  profileSections,
  type ProfileForm,
  readProfileForm,
} from '../../../config/profile-form.ts';
import { controllerFileOf, PROFILES_FOLDER } from '../../../config.ts';
import { parseControllerProfile } from '../../../config/settings-files.ts';
import type { Context } from '../../../context.ts';
import type { Action } from '../../../core/action.ts';
import { isoNow } from '../../../core/clock.ts';
import { codeOf, CodedError } from '../../../core/errors.ts';
import { can } from '../../../core/roles.ts';
import type { Source } from '../../../core/source.ts';
import { INSTALLATION } from '../../../core/vocabulary.ts';
import { sha256Hex } from '../../../crypto/hash.ts';
import { missingProfileParts } from '../../../law/profile.ts';
import { retentionUnder } from '../../../erasure/retention.ts';
import { appendAction } from '../../../ledger/append-action.ts';
import { writeDurably } from '../../../ledger/durable-file.ts';
import { sourceProblems } from '../../../sources/refusals.ts';
import { sourcesOf } from '../../auth/access.ts';
import { officerOf } from '../../auth/sessions.ts';
import { periodText } from './retention.page.tsx';
import { formOf, html, pageFrame, untilProjected } from '../parts/page-frame.ts';
import { Page, type PageFrame, renderPage } from '../parts/layout.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { Choice, Done, Facts, Field, Input, Notice, Panel, Problems, Select, sourceOptions } from '../parts/parts.tsx';
import { allowLive } from '../parts/live-script.ts';
import { typingScriptPath } from '../parts/typing-script.ts';

/** A profile as stored on disk. A missing one counts as an empty file. */
interface OnDisk {
  readonly path: string;
  readonly isMade: boolean;
  /** Hash of what was read; null: it cannot be read. */
  readonly sha256: string | null;
  readonly text: string;
  /** File permissions. */
  readonly mode: number;
  readonly isWritable: boolean;
}

/** A change of a profile as an entry records it. */
interface RecordedChange {
  readonly seq: number;
  readonly before: string;
  readonly after: string;
}

/** Another person saved a change of the same version first. */
class OvertakenError extends Error {}

/** The source that owns the profile; null: the installation. */
function ownerOf(source: Source | null): string | null {
  return source?.options.controllerFile == null ? null : source.slug;
}

/** The controller profile: what it lacks, and a form that writes the file. */
export async function profileRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/settings/profile', (request, reply) => {
    const { source = '', done = '' } = formOf(request.query);
    return send(request, reply, { source, done: doneTexts[done] ?? null });
  });

  app.post('/settings/profile', async (request, reply) => {
    const form = formOf(request.body);
    const { source: slug = '', basedOn = '' } = form;
    const source = sourcesOf(context, request).find(slug);
    const file = await readProfile(source);
    const refuse = (problems: readonly string[], status = 422) =>
      send(request, reply, { source: slug, problems, form }, status);
    const late = () => refuse(['The file was changed in the meantime: review it before you save.'], 409);
    if (!file.isWritable) return refuse(['The program cannot write the file of this profile.'], 409);
    if (file.sha256 !== basedOn) return late();
    const applied = await applyProfileForm(file.text, file.path, form);
    if (applied.outcome === 'invalid') return refuse(applied.problems.map((problem) => inWords(problem, file.path)));
    const address = `/settings/profile?${new URLSearchParams({ ...(source === null ? {} : { source: slug }), done: 'saved' }).toString()}`;
    if (applied.outcome === 'unchanged') return reply.redirect(address, 303);
    const own = ownerOf(source);
    await context.projector.catchUp();
    const last = await lastChange(own);
    let recorded = null as { outcome: string; seq: number } | null;
    // The entry comes first, so every change that takes effect is on record. The page names a change that was
    // interrupted between entry and file.
    const record = async () => {
      recorded = await appendAction(
        context.ledger,
        own ?? INSTALLATION,
        {
          action: 'profile.changed',
          actor: officerOf(request).officer,
          sourceSlug: own,
          before: basedOn,
          after: sha256Hex(Buffer.from(applied.text)),
          changed: [...applied.fields],
        },
        ['profile.changed', own ?? '', basedOn, String(last?.seq ?? 0)],
        isoNow(context.clock),
      );
      if (recorded.outcome === 'duplicate') throw new OvertakenError();
    };
    try {
      await writeDurably(dirname(file.path), basename(file.path), applied.text, {
        mode: file.mode,
        once: !file.isMade,
        before: record,
      });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST' && !(error instanceof OvertakenError)) throw error;
      return late();
    }
    if (recorded !== null) await untilProjected(context, recorded.seq);
    return reply.redirect(address, 303);
  });

  app.post('/settings/profile/own', async (request, reply) => {
    const { source: slug = '' } = formOf(request.body);
    const source = sourcesOf(context, request).find(slug);
    const refuse = (problem: string) => send(request, reply, { source: slug, problems: [problem] }, 409);
    if (source === null) throw new CodedError('not_found');
    if (ownerOf(source) !== null) return refuse(`${source.name} already has its own profile.`);
    const shared = await readProfile(source);
    const isValid = (await parseControllerProfile(shared.text, shared.path)).outcome === 'loaded';
    if (!isValid) return refuse('The shared profile has problems: correct them first.');
    const folder = join(context.config.dataDir, PROFILES_FOLDER);
    // A new name each time, so that an earlier file of this source is not overwritten.
    const name = `${slug}-${randomBytes(4).toString('hex')}.yaml`;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeDurably(folder, name, await copyForSource(shared.text), { mode: 0o600, once: true });
    } catch (error) {
      request.log.error({ err: error }, 'a controller profile could not be written');
      return refuse('The program cannot write its data folder.');
    }
    const options = { ...source.options, controllerFile: `${PROFILES_FOLDER}/${name}` };
    const changed = await context.sources.change(slug, { options }, officerOf(request).officer);
    if (changed.outcome !== 'done') {
      await rm(join(folder, name), { force: true });
      return refuse(sourceProblems(changed).join(' '));
    }
    await untilProjected(context, changed.seq);
    return reply.redirect(`/settings/profile?${new URLSearchParams({ source: slug, done: 'own' }).toString()}`, 303);
  });

  /** The last change of a profile made on the page, among the entries folded so far. */
  async function lastChange(own: string | null): Promise<RecordedChange | null> {
    const row = await context.store.read
      .selectFrom('action_history')
      .select(['seq', 'details'])
      .where('action', '=', 'profile.changed')
      .where('source', '=', own ?? INSTALLATION)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return null;
    const { before, after } = JSON.parse(row.details) as Extract<Action, { action: 'profile.changed' }>;
    return { seq: row.seq, before, after };
  }

  async function readProfile(source: Source | null): Promise<OnDisk> {
    const { path, isNamed } = controllerFileOf(context.config, source);
    const may = (what: string) =>
      access(what, constants.W_OK).then(
        () => true,
        () => false,
      );
    const read = await Promise.all([readFile(path), stat(path)]).catch(codeOf);
    if (read === 'ENOENT' && !isNamed)
      return {
        path,
        isMade: false,
        sha256: sha256Hex(Buffer.from('')),
        text: '',
        mode: 0o600,
        isWritable: await may(dirname(path)),
      };
    if (typeof read === 'string') return { path, isMade: true, sha256: null, text: '', mode: 0o600, isWritable: false };
    const [bytes, { mode }] = read;
    return {
      path,
      isMade: true,
      sha256: sha256Hex(bytes),
      text: bytes.toString('utf8'),
      mode: mode & 0o777,
      isWritable: (await may(path)) && (await may(dirname(path))),
    };
  }

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    shown: {
      readonly source: string;
      readonly done?: string | null;
      readonly problems?: readonly string[];
      readonly form?: ProfileForm;
    },
    status = 200,
  ): Promise<FastifyReply> {
    const sources = sourcesOf(context, request).list();
    const source = sources.find(({ slug }) => slug === shown.source) ?? sources[0] ?? null;
    const file = await readProfile(source);
    const parsed = file.sha256 === null ? null : await parseControllerProfile(file.text, file.path);
    const read = file.sha256 === null ? null : await readProfileForm(file.text, file.path);
    const faults =
      file.sha256 === null
        ? ['The file cannot be read.']
        : parsed?.outcome === 'invalid' && file.isMade
          ? parsed.problems.map((problem) => inWords(problem, file.path))
          : [];
    const last = await lastChange(ownerOf(source));
    const page = (
      <ProfilePage
        frame={pageFrame(context, request, reply)}
        sources={sources}
        source={source}
        file={file}
        faults={faults}
        lost={last !== null && last.before === file.sha256 && last.after !== file.sha256 ? last.seq : null}
        missing={parsed?.outcome === 'loaded' ? missingProfileParts(parsed.value) : []}
        form={shown.form ?? (read === null || Array.isArray(read['problems']) ? null : (read as ProfileForm))}
        problems={shown.problems ?? []}
        done={shown.done ?? null}
      />
    );
    allowLive(reply);
    return html(reply, renderPage(page), status);
  }
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
  readonly file: OnDisk;
  readonly faults: readonly string[];
  /** The entry of the last recorded change, if the file still has the content from before it. */
  readonly lost: number | null;
  readonly missing: readonly string[];
  /** Null: the file cannot be shown. */
  readonly form: ProfileForm | null;
  readonly problems: readonly string[];
  readonly done: string | null;
}

/** Confirmations, by the key in the address. */
const doneTexts: Readonly<Record<string, string>> = {
  saved: 'Saved. It applies to documents made from now on.',
  own: 'The source has its own profile now, a copy of the shared one without the web form. Correct its name and contacts before the next letter or report.',
};

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
          <Select id="source" name="source" value={source?.slug} options={sourceOptions(sources)} />
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
function firstStep(frame: PageFrame, { isWritable }: OnDisk): string {
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
  if (usual !== undefined) return `${periodText(usual)} (usual)`;
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
        Translations of these texts and a second law (<code>homeRegime</code>) are not on this page:{' '}
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
  return `Usually ${periodText(rule.period)}, from ${rule.from}. What: ${rule.what}. Why: ${rule.ground}.${floor}`;
}

function ProfileInput({ field, value }: { readonly field: ProfileField; readonly value: string }) {
  const { name, kind, label, hint } = field;
  const id = name.replace('.', '-');
  switch (kind) {
    case 'text':
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
