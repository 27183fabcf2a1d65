import { type Source, type SourceOptions, sourceOptionsSchema } from '../../core/source.ts';
import { webhookSecretOf } from '../../crypto/keys.ts';
import type { SourceChanges } from '../changes.ts';
import type { SourceOutcome, Sources } from '../sources.ts';
import { type ImportProblem, readImportCsv } from './read-csv.ts';
import { columnOf, columnOfController, type ImportLine, type ImportReaders, readImportLines } from './read-lines.ts';

interface ImportDeps {
  readonly sources: Pick<
    Sources,
    'list' | 'find' | 'findAny' | 'damaged' | 'problemsOf' | 'add' | 'change' | 'rotateSecret' | 'refresh'
  >;
  /** Whether the credentials of a source come from the environment. */
  readonly isConfigured: (slug: string) => boolean;
  readonly readers: ImportReaders;
  readonly profiles: ImportProfiles;
}

/** Controller profiles of sources. `parts`: by their names in the profile's form. */
export interface ImportProfiles {
  /** Which parts would change if a source had these; or what is wrong with them, each with its part. `source` null: it is new. */
  plan(source: Source | null, parts: Readonly<Record<string, string>>): Promise<PlannedProfile>;
  /** Gives the source a profile of its own with these parts, or changes the one it has. A sentence: why it could not. */
  write(
    source: Source,
    parts: Readonly<Record<string, string>>,
    actor: string,
  ): Promise<{ seq: number | null } | string>;
}

export type PlannedProfile =
  | { readonly changed: readonly string[] }
  | { readonly problems: readonly { readonly part: string | null; readonly problem: string }[] };

export interface ImportRequest {
  readonly csv: Uint8Array;
  readonly actor: string;
  /** Maximum number of lines, if lower than the file format's limit. */
  readonly maxLines?: number;
  /** Change existing sources that differ; otherwise such a line is a problem. */
  readonly update?: boolean | undefined;
  /** Import valid lines even if others are invalid. */
  readonly skipInvalid?: boolean | undefined;
  /** Report what would happen without doing it. */
  readonly dryRun?: boolean | undefined;
}

/** The outcome of a line, in words. `planned-…`: nothing was done, because other lines are invalid or it was a dry run. */
export const importOutcomes = {
  added: 'added',
  changed: 'changed',
  unchanged: 'unchanged',
  'planned-add': 'would be added',
  'planned-change': 'would be changed',
  failed: 'failed',
} as const;

/** The result of a line. */
interface ImportedLine {
  readonly line: number;
  readonly slug: string;
  readonly outcome: keyof typeof importOutcomes;
  /** Names of what was set, never values. */
  readonly changed: readonly string[];
  /** The last entry about it. */
  readonly seq: number | null;
}

export interface ImportReport {
  readonly outcome: 'imported' | 'refused' | 'dry-run';
  readonly lines: readonly ImportedLine[];
  readonly problems: readonly ImportProblem[];
  readonly warnings: readonly string[];
}

interface Plan extends ImportLine {
  readonly existing: Source | null;
  readonly changes: SourceChanges;
  readonly newSecrets: readonly string[];
  readonly changed: readonly string[];
  /** Names of parts of the controller profile that change. */
  readonly profile: readonly string[];
}

/**
 * Imports the sources of a CSV file (columns.ts). Every line is checked before anything is written, and nothing is
 * written if a line is invalid, unless `skipInvalid`. An empty cell leaves a setting unchanged. Importing a second time
 * changes nothing. Each source has its own entry and transaction: after a crash, the same import continues where it
 * stopped. Errors: those of the store and the ledger.
 */
export async function importSources(deps: ImportDeps, request: ImportRequest): Promise<ImportReport> {
  const { sources } = deps;
  await sources.refresh();
  const csv = readImportCsv(request.csv, request.maxLines);
  const read = await readImportLines(csv.lines, deps.readers);
  const problems: ImportProblem[] = [...csv.problems, ...read.problems];
  const plans: Plan[] = [];
  for (const line of read.lines) {
    const problem = refusalOf(deps, line);
    const existing = sources.find(line.slug);
    const profile = await planProfile(deps, line, existing, problems);
    const plan = planOf(line, existing, profile);
    if (problem !== null) problems.push({ line: line.line, slug: line.slug, column: 'slug', problem });
    else if (plan.existing !== null && plan.changed.length > 0 && request.update !== true)
      problems.push({
        line: line.line,
        slug: line.slug,
        column: null,
        problem: `The source already exists with different settings (${plan.changed.join(', ')}): use --update to change it.`,
      });
    else {
      const unfit = sources.problemsOf(line.slug, plan.existing === null ? addressesOf(line) : plan.changes);
      for (const text of unfit) problems.push({ line: line.line, slug: line.slug, ...inColumn(text) });
      if (unfit.length === 0) plans.push(plan);
    }
  }
  problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  const warnings = [...sharedSecrets(read.lines, sources.list()), ...sharedKeys(read.lines, sources.list())];
  const refused = problems.length > 0 && request.skipInvalid !== true;
  if (refused || request.dryRun === true)
    return {
      outcome: refused ? 'refused' : 'dry-run',
      lines: plans.map((plan) => ({ ...shown(plan), outcome: plannedOutcome(plan), seq: null })),
      problems,
      warnings,
    };
  const lines: ImportedLine[] = [];
  for (const plan of plans) {
    const { done, problem } = await carryOut(deps, plan, request.actor);
    lines.push(done);
    if (problem !== null) problems.push({ line: plan.line, slug: plan.slug, column: null, problem });
  }
  return { outcome: 'imported', lines, problems, warnings };
}

function refusalOf({ sources, isConfigured }: ImportDeps, { slug }: ImportLine): string | null {
  if (isConfigured(slug)) return 'The credentials of this source are set by environment variables: change them there.';
  if (sources.damaged().includes(slug))
    return 'The row of this source was altered in the database: restore it from a backup.';
  if (sources.find(slug) === null && sources.findAny(slug) !== null)
    return 'This source was offboarded. Add it again with `source add`, or remove the line from the file.';
  return null;
}

function addressesOf({ source: { baseUrl = null, siteUrl = null } }: ImportLine): SourceChanges {
  return { baseUrl, siteUrl };
}

/** A problem of a field with the column that it comes from. */
function inColumn(text: string): Pick<ImportProblem, 'column' | 'problem'> {
  const [, field = '', what = ''] = /^(\w+): (.*)$/s.exec(text) ?? [];
  return field === ''
    ? { column: null, problem: text }
    : { column: columnOf([field]), problem: `${what.charAt(0).toUpperCase()}${what.slice(1).replace(/\.$/, '')}.` };
}

/** Which parts of the controller profile a line changes. */
async function planProfile(
  { profiles }: ImportDeps,
  { line, slug, controller }: ImportLine,
  existing: Source | null,
  problems: ImportProblem[],
): Promise<readonly string[]> {
  if (Object.keys(controller).length === 0) return [];
  const planned = await profiles.plan(existing, controller);
  if ('changed' in planned) return planned.changed;
  for (const { part, problem } of planned.problems)
    problems.push({ line, slug, column: part === null ? null : columnOfController(part), problem });
  return [];
}

function planOf(line: ImportLine, existing: Source | null, profile: readonly string[]): Plan {
  const ofProfile = profile.map((part) => `controller ${part}`);
  const { webhookSecrets, ...fields } = line.source;
  if (existing === null) {
    const named = [...Object.keys(fields), ...Object.keys(line.options), ...webhookSecrets.map(secretName)];
    return { ...line, existing, changes: {}, newSecrets: webhookSecrets, changed: [...named, ...ofProfile], profile };
  }
  const changes: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(fields))
    if (value !== existing[field as keyof typeof fields]) changes[field] = value;
  const changedFields = Object.keys(changes);
  // A key in the line of a new address is entered for that address, even if it stays the same.
  if (changes['baseUrl'] !== undefined || changes['siteUrl'] !== undefined)
    for (const field of ['apiKey', 'siteKey'] as const) if (fields[field] !== undefined) changes[field] = fields[field];
  const options = mergedOptions(existing.options, line.options);
  const changedOptions = Object.keys(line.options).filter((name) => !isSame(options, existing.options, name));
  if (changedOptions.length > 0) changes['options'] = options;
  const known = new Set(existing.webhookSecrets.map(({ value }) => value));
  const newSecrets = webhookSecrets.filter((secret) => !known.has(secret));
  const changed = [...changedFields, ...changedOptions, ...newSecrets.map(secretName), ...ofProfile];
  return { ...line, existing, changes, newSecrets, changed, profile };
}

function mergedOptions(before: SourceOptions, given: Partial<SourceOptions>): SourceOptions {
  const encodings = { ...before.secretEncodings, ...given.secretEncodings };
  return sourceOptionsSchema.parse({
    ...before,
    ...given,
    ...(Object.keys(encodings).length === 0 ? {} : { secretEncodings: encodings }),
  });
}

function isSame(a: SourceOptions, b: SourceOptions, name: string): boolean {
  const key = name as keyof SourceOptions;
  return JSON.stringify(a[key]) === JSON.stringify(b[key]);
}

async function carryOut(
  { sources, profiles }: ImportDeps,
  plan: Plan,
  actor: string,
): Promise<{ done: ImportedLine; problem: string | null }> {
  const { slug, existing, changes, newSecrets, encoding } = plan;
  let seq: number | null = null;
  const steps: (() => Promise<SourceOutcome>)[] =
    existing === null
      ? [
          () =>
            sources.add(
              { slug, ...plan.source, webhookSecrets: [...newSecrets], options: mergedOptions(defaults, plan.options) },
              actor,
            ),
        ]
      : [
          ...newSecrets.map(
            (secret) => () => sources.rotateSecret(slug, secret, actor, { encoding: encoding ?? undefined }),
          ),
          ...(Object.keys(changes).length === 0 ? [] : [() => sources.change(slug, changes, actor)]),
        ];
  for (const step of steps) {
    const outcome = await step();
    if (outcome.outcome === 'done') seq = outcome.seq;
    else if (outcome.outcome !== 'unchanged') {
      const problem =
        outcome.outcome === 'invalid'
          ? outcome.problems.join(' ')
          : `Someone else changed this source at the same time (${outcome.outcome}): import again.`;
      return { done: { ...shown(plan), outcome: 'failed', seq }, problem };
    }
  }
  const present = plan.profile.length === 0 ? null : sources.find(slug);
  if (present !== null) {
    const written = await profiles.write(present, plan.controller, actor);
    if (typeof written === 'string') return { done: { ...shown(plan), outcome: 'failed', seq }, problem: written };
    seq = written.seq ?? seq;
  }
  const done = existing === null ? 'added' : plan.changed.length === 0 ? 'unchanged' : 'changed';
  return { done: { ...shown(plan), outcome: done, seq }, problem: null };
}

const defaults = sourceOptionsSchema.parse({});

function shown({ line, slug, changed }: Plan): Pick<ImportedLine, 'line' | 'slug' | 'changed'> {
  return { line, slug, changed };
}

function plannedOutcome({ existing, changed }: Plan): ImportedLine['outcome'] {
  if (existing === null) return 'planned-add';
  return changed.length === 0 ? 'unchanged' : 'planned-change';
}

function secretName(secret: string): string {
  return `webhookSecrets +${webhookSecretOf(secret).id}`;
}

/** Two sources with one API key: one client may have been entered twice. */
function sharedKeys(lines: readonly ImportLine[], present: readonly Source[]): string[] {
  const slugs = new Map<string, Set<string>>();
  for (const { slug, source } of lines)
    if (source.apiKey != null) slugs.set(source.apiKey, (slugs.get(source.apiKey) ?? new Set<string>()).add(slug));
  for (const { slug, apiKey } of present) if (apiKey !== null) slugs.get(apiKey)?.add(slug);
  return [...slugs.values()].flatMap((set) =>
    set.size < 2
      ? []
      : [
          `${someOf([...set])} have the same API key: is one client entered twice? Otherwise give each a key that is limited to its client, or name its banners.`,
        ],
  );
}

/** Two sources with one signing secret: a delivery for one would be accepted for the other. */
function sharedSecrets(lines: readonly ImportLine[], present: readonly Source[]): string[] {
  const owners = new Map<string, Set<string>>();
  const listed = new Set<string>();
  const own = (slug: string, id: string) => owners.set(id, (owners.get(id) ?? new Set<string>()).add(slug));
  for (const { slug, source } of lines)
    for (const secret of source.webhookSecrets) {
      const { id } = webhookSecretOf(secret);
      listed.add(id);
      own(slug, id);
    }
  for (const { slug, webhookSecrets } of present)
    for (const { id } of webhookSecrets) if (listed.has(id)) own(slug, id);
  return [...owners].flatMap(([id, all]) => {
    const slugs = [...all];
    return slugs.length < 2
      ? []
      : [`The signing secret ${id} belongs to ${someOf(slugs)}: anyone who can sign for one of them can sign for all.`];
  });
}

function someOf(slugs: readonly string[]): string {
  return `${slugs.slice(0, 5).join(', ')}${slugs.length > 5 ? ' …' : ''}`;
}
