import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Action } from '../core/action.ts';
import { type Clock, isoNow } from '../core/clock.ts';
import { codeOf } from '../core/errors.ts';
import type { Source } from '../core/source.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { sha256Hex } from '../crypto/hash.ts';
import { missingProfileParts } from '../law/profile.ts';
import { appendAction } from '../ledger/append-action.ts';
import { writeDurably } from '../ledger/durable-file.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ImportProfiles } from '../sources/import/import-sources.ts';
import type { SourceOutcome, Sources } from '../sources/sources.ts';
import type { Query, Store } from '../store/store.ts';
import { type Config, controllerFileOf, PROFILES_FOLDER } from './config.ts';
import { applyProfileForm, copyForSource, type ProfileForm, readProfileForm, replaceProfile } from './profile-form.ts';
import { parseControllerProfile } from './settings-files.ts';

/** The file of a controller profile. A missing one counts as an empty file. */
export interface ProfileFile {
  readonly path: string;
  readonly isMade: boolean;
  /** Hash of what was read; null: it cannot be read. */
  readonly sha256: string | null;
  readonly text: string;
  /** File permissions. */
  readonly mode: number;
  readonly isWritable: boolean;
}

type Paths = Pick<Config, 'controllerFile' | 'dataDir'>;

interface ProfileDeps {
  readonly config: Paths;
  readonly store: Pick<Store, 'read'>;
  readonly ledger: Ledger;
  readonly projector: { catchUp(): Promise<unknown> };
  readonly clock: Clock;
}

/** The source that owns the profile; null: the installation. */
export function ownerOfProfile(source: Source | null): string | null {
  return source?.options.controllerFile == null ? null : source.slug;
}

/** Reads the profile that applies to a source; null: that of the installation. */
export async function readProfileFile(config: Paths, source: Source | null): Promise<ProfileFile> {
  const { path, isNamed } = controllerFileOf(config, source);
  const absent = { path, sha256: null, text: '', mode: 0o600, isWritable: false };
  const read = await Promise.all([readFile(path), stat(path)]).catch(codeOf);
  if (read === 'ENOENT' && !isNamed)
    return { ...absent, isMade: false, sha256: sha256Hex(Buffer.from('')), isWritable: await mayWrite(dirname(path)) };
  if (typeof read === 'string') return { ...absent, isMade: true };
  const [bytes, { mode }] = read;
  return {
    path,
    isMade: true,
    sha256: sha256Hex(bytes),
    text: bytes.toString('utf8'),
    mode: mode & 0o777,
    isWritable: (await mayWrite(path)) && (await mayWrite(dirname(path))),
  };
}

/** Longest profile, in characters. Its file may have 256 KiB. */
export const PROFILE_LENGTH = 60_000;

/** What a profile says, for a command or program that shows or replaces it. Missing counts as empty. */
export async function stateOfProfile({ path, text, sha256, isMade }: ProfileFile): Promise<{
  readonly text: string;
  readonly sha256: string | null;
  readonly problems: string[];
  readonly missing: string[];
}> {
  if (sha256 === null) return { text, sha256, problems: ['The file cannot be read.'], missing: [] };
  const parsed = await parseControllerProfile(text, basename(path));
  if (parsed.outcome === 'invalid') return { text, sha256, problems: isMade ? [...parsed.problems] : [], missing: [] };
  return { text, sha256, problems: [], missing: [...missingProfileParts(parsed.value)] };
}

function mayWrite(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** A change of a profile as an entry records it: hashes of the file before and after. */
interface RecordedChange {
  readonly seq: number;
  readonly before: string;
  readonly after: string;
}

/** The last change of a profile made on the page, among the entries folded so far. `owner`: see {@link ownerOfProfile}. */
export async function findLastProfileChange(read: Query, owner: string | null): Promise<RecordedChange | null> {
  const row = await read
    .selectFrom('action_history')
    .select(['seq', 'details'])
    .where('action', '=', 'profile.changed')
    .where('source', '=', owner ?? INSTALLATION)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { before, after } = JSON.parse(row.details) as Extract<Action, { action: 'profile.changed' }>;
  return { seq: row.seq, before, after };
}

/** `overtaken`: another person changed the file first. `seq`: the entry of the change. */
export type ProfileSaved =
  | { readonly outcome: 'saved'; readonly seq: number | null }
  | { readonly outcome: 'unchanged' | 'unwritable' | 'overtaken' }
  | { readonly outcome: 'invalid'; readonly problems: readonly string[]; readonly path: string };

/** Another person saved a change of the same version first. */
class OvertakenError extends Error {}

/** Writes a form, or a whole new text, into the profile of a source. `basedOn`: hash of the file that was shown. */
export async function saveProfile(
  { config, store, ledger, projector, clock }: ProfileDeps,
  {
    source,
    basedOn,
    next,
    actor,
  }: {
    readonly source: Source | null;
    readonly basedOn: string;
    readonly next: { readonly form: ProfileForm } | { readonly text: string };
    readonly actor: string;
  },
): Promise<ProfileSaved> {
  const file = await readProfileFile(config, source);
  if (!file.isWritable) return { outcome: 'unwritable' };
  if (file.sha256 !== basedOn) return { outcome: 'overtaken' };
  const applied =
    'form' in next
      ? await applyProfileForm(file.text, file.path, next.form)
      : await replaceProfile(file.text, file.path, next.text);
  if (applied.outcome === 'invalid') return { outcome: 'invalid', problems: applied.problems, path: file.path };
  if (applied.outcome === 'unchanged') return { outcome: 'unchanged' };
  const owner = ownerOfProfile(source);
  await projector.catchUp();
  const last = await findLastProfileChange(store.read, owner);
  let seq = null as number | null;
  // The entry comes first, so every change that takes effect is on record. The page names a change that was interrupted
  // between entry and file.
  const record = async () => {
    const recorded = await appendAction(
      ledger,
      owner ?? INSTALLATION,
      {
        action: 'profile.changed',
        actor,
        sourceSlug: owner,
        before: basedOn,
        after: sha256Hex(Buffer.from(applied.text)),
        changed: [...applied.fields],
      },
      ['profile.changed', owner ?? '', basedOn, String(last?.seq ?? 0)],
      isoNow(clock),
    );
    if (recorded.outcome === 'duplicate') throw new OvertakenError();
    ({ seq } = recorded);
  };
  try {
    await writeDurably(dirname(file.path), basename(file.path), applied.text, {
      mode: file.mode,
      once: !file.isMade,
      before: record,
    });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' && !(error instanceof OvertakenError)) throw error;
    return { outcome: 'overtaken' };
  }
  return { outcome: 'saved', seq };
}

/**
 * Records that the organisation of the shared profile is the controller of a source, too, so that letters may name it. `controller`: its name, as it
 * was shown; if the profile names another one by now, nothing changes.
 */
export async function confirmController(
  deps: ProfileDeps,
  { source, controller, actor }: { readonly source: Source; readonly controller: string; readonly actor: string },
): Promise<ProfileSaved> {
  const { path, text, sha256 } = await readProfileFile(deps.config, source);
  if (sha256 === null) return { outcome: 'unwritable' };
  const form = await readProfileForm(text, path);
  if (!isForm(form)) return { outcome: 'invalid', problems: form.problems, path };
  if (form['name'] !== controller) return { outcome: 'overtaken' };
  const slugs = (form['requestFormFor'] ?? '').split('\n').filter((slug) => slug !== '');
  if (slugs.includes(source.slug)) return { outcome: 'unchanged' };
  const next = { form: { ...form, requestFormFor: [...slugs, source.slug].join('\n') } };
  return saveProfile(deps, { source, basedOn: sha256, next, actor });
}

function isForm(read: Awaited<ReturnType<typeof readProfileForm>>): read is ProfileForm {
  return !Array.isArray(read['problems']);
}

/** `error`: why the data folder cannot be written; `refusal`: why the source was not changed. */
export type ProfileGiven =
  | { readonly outcome: 'given'; readonly seq: number }
  | { readonly outcome: 'owned' | 'invalid' }
  | { readonly outcome: 'unwritable'; readonly error: unknown }
  | { readonly outcome: 'refused'; readonly refusal: Exclude<SourceOutcome, { readonly outcome: 'done' }> };

/** Gives a source a profile of its own: a copy of the shared one, without the web form. */
export async function giveOwnProfile(
  { config, sources }: { readonly config: Paths; readonly sources: Pick<Sources, 'change'> },
  source: Source,
  actor: string,
): Promise<ProfileGiven> {
  if (ownerOfProfile(source) !== null) return { outcome: 'owned' };
  const shared = await readProfileFile(config, source);
  if ((await parseControllerProfile(shared.text, shared.path)).outcome !== 'loaded') return { outcome: 'invalid' };
  return placeProfile({ config, sources }, source, await copyForSource(shared.text), actor);
}

/** Writes a new profile into the data folder, and has the source use it. */
async function placeProfile(
  { config, sources }: { readonly config: Paths; readonly sources: Pick<Sources, 'change'> },
  source: Source,
  text: string,
  actor: string,
): Promise<Exclude<ProfileGiven, { readonly outcome: 'owned' | 'invalid' }>> {
  const folder = join(config.dataDir, PROFILES_FOLDER);
  // A new name each time, so that an earlier file of this source is not overwritten.
  const name = `${source.slug}-${randomBytes(4).toString('hex')}.yaml`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeDurably(folder, name, text, { mode: 0o600, once: true });
  } catch (error) {
    return { outcome: 'unwritable', error };
  }
  const options = { ...source.options, controllerFile: `${PROFILES_FOLDER}/${name}` };
  const changed = await sources.change(source.slug, { options }, actor);
  if (changed.outcome === 'done') return { outcome: 'given', seq: changed.seq };
  await rm(join(folder, name), { force: true });
  return { outcome: 'refused', refusal: changed };
}

/** Controller profiles for an import of sources: a new one has only the parts that the file says, none of another organisation. */
export function profilesForImport(deps: ProfileDeps & { readonly sources: Pick<Sources, 'change'> }): ImportProfiles {
  const apply = async (source: Source | null, parts: ProfileForm) => {
    const file = ownerOfProfile(source) === null ? null : await readProfileFile(deps.config, source);
    const before = file === null || file.text === '' ? {} : await readProfileForm(file.text, file.path);
    if (!isForm(before))
      return { file, form: parts, applied: { outcome: 'invalid' as const, problems: before.problems } };
    const form = { ...before, ...parts };
    return { file, form, applied: await applyProfileForm(file?.text ?? '', file?.path ?? NEW_PROFILE, form) };
  };
  return {
    async plan(source, parts) {
      const { applied, file } = await apply(source, parts);
      if (applied.outcome === 'unchanged') return { changed: [] };
      if (applied.outcome === 'changed') return { changed: applied.fields };
      const start = `Controller profile ${file?.path ?? NEW_PROFILE}: `;
      return {
        problems: applied.problems.map((problem) => {
          const text = problem.startsWith(start) ? problem.slice(start.length) : problem;
          const part = /^(\w+)(?=[.:])/.exec(text)?.[1] ?? null;
          return { part, problem: text };
        }),
      };
    },
    async write(source, parts, actor) {
      const { file, form, applied } = await apply(source, parts);
      if (applied.outcome === 'unchanged') return { seq: null };
      if (applied.outcome === 'invalid') return applied.problems.join(' ');
      if (file === null) {
        const given = await placeProfile(deps, source, applied.text, actor);
        if (given.outcome === 'given') return { seq: given.seq };
        return 'Its controller profile could not be written: import again.';
      }
      const saved = await saveProfile(deps, { source, basedOn: file.sha256 ?? '', next: { form }, actor });
      return saved.outcome === 'saved'
        ? { seq: saved.seq }
        : 'Its controller profile could not be written: import again.';
    },
  };
}

/** What a profile that does not exist yet is called in problems. */
const NEW_PROFILE = 'new';
