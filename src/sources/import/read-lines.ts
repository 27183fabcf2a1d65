import { resolve } from 'node:path';
import {
  type SecretEncoding,
  type SourceOptions,
  secretEncodings,
  sourceOptionsSchema,
  sourceSlugSchema,
} from '../../core/source.ts';
import { signingKeyOf, webhookSecretOf } from '../../crypto/keys.ts';
import { type NewSource, newSourceSchema } from '../changes.ts';
import { type CsvLine, type ImportColumnName, type ImportProblem, importColumns } from './read-csv.ts';

/** Reads the content for cells that name a file or a variable. */
export interface ImportReaders {
  /** Content of a file, by absolute path; rejects with a code like ENOENT. */
  readonly file: (path: string) => Promise<string>;
  /** Value of an environment variable; null if it is not set. */
  readonly variable: (name: string) => string | null;
  /** What is wrong with a controller profile, by absolute path; empty: nothing. */
  readonly profileProblems: (path: string) => Promise<readonly string[]>;
  /** Folder of the CSV file, at which relative paths start. */
  readonly folder: string;
}

/** A valid line. `options` contains only what the line says. */
export interface ImportLine {
  readonly line: number;
  readonly slug: string;
  readonly source: Omit<NewSource, 'options' | 'slug'> & { readonly webhookSecrets: readonly string[] };
  readonly encoding: SecretEncoding | null;
  readonly options: Partial<SourceOptions>;
  /** Parts of its controller profile that the line says, by their names in the profile's form. Empty: it says none. */
  readonly controller: Readonly<Record<string, string>>;
}

/** Columns that say something of the controller, with the parts of the profile. */
const controllerColumns = {
  controller_name: 'name',
  controller_address: 'address',
  controller_country: 'country',
  controller_region: 'region',
  controller_email: 'email',
  controller_dpo: 'dataProtectionOfficer',
  controller_language: 'language',
  controller_home_law: 'homeRegime',
} as const satisfies Partial<Record<ImportColumnName, string>>;

function readController(cells: CsvLine['cells'], problems: Found[]): ImportLine['controller'] {
  const parts: Record<string, string> = {};
  for (const [column, part] of Object.entries(controllerColumns)) {
    const cell = cells[column as keyof typeof controllerColumns];
    if (cell !== undefined) parts[part] = part === 'address' ? cell.split(/\s*[|\n]\s*/).join('\n') : cell;
  }
  if (Object.keys(parts).length > 0 && cells.controller_file !== undefined)
    problems.push({
      column: 'controller_file',
      problem: 'Use either controller_file or the other columns of the controller.',
    });
  return parts;
}

/** The column of a part of the controller profile; null: none. */
export function columnOfController(part: string): string | null {
  return Object.entries(controllerColumns).find(([, name]) => name === part)?.[0] ?? null;
}

/** For uploaded files, which may not refer to files or variables of the machine on which the program runs. */
export const noReaders: ImportReaders = {
  folder: '/',
  file: () => Promise.reject(new TypeError('An uploaded file cannot refer to a file on the server.')),
  variable: () => null,
  profileProblems: () => Promise.resolve([]),
};

/** Whether a column names a file or a variable of the machine that the program runs on. */
export function isOfServer(column: ImportColumnName): boolean {
  return /_(file|env)$/.test(column);
}

/** Reads lines into sources; everything wrong is a problem, and no problem repeats a secret. */
export async function readImportLines(
  csv: readonly CsvLine[],
  readers: ImportReaders,
): Promise<{ readonly lines: readonly ImportLine[]; readonly problems: readonly ImportProblem[] }> {
  const lines: ImportLine[] = [];
  const problems: ImportProblem[] = [];
  const seen = new Map<string, number>();
  for (const one of csv) {
    const { line, problems: found } = await readLine(one, readers);
    const slug = one.cells.slug ?? null;
    const first = slug === null ? undefined : seen.get(slug);
    if (slug !== null && first === undefined) seen.set(slug, one.line);
    if (first !== undefined) found.push({ column: 'slug', problem: `The slug is already used in line ${first}.` });
    // Text that cannot be a slug may be a secret in the wrong column.
    const shown = sourceSlugSchema.safeParse(slug).success ? slug : null;
    problems.push(...found.map((problem) => ({ line: one.line, slug: shown, ...problem })));
    if (found.length === 0 && line !== null) lines.push(line);
  }
  return { lines, problems };
}

type Found = Pick<ImportProblem, 'column' | 'problem'>;

/** An invalid profile would stop every letter and report of the source, and the lists of all requests. */
async function readProfile(
  file: string | undefined,
  { folder, profileProblems }: ImportReaders,
  problems: Found[],
): Promise<Pick<Partial<SourceOptions>, 'controllerFile'>> {
  if (file === undefined) return {};
  const controllerFile = resolve(folder, file);
  for (const problem of await profileProblems(controllerFile)) problems.push({ column: 'controller_file', problem });
  return { controllerFile };
}

async function readLine(
  { line, cells }: CsvLine,
  readers: ImportReaders,
): Promise<{ line: ImportLine | null; problems: Found[] }> {
  const problems: Found[] = readers === noReaders ? findServerColumns(cells) : [];
  if (problems.length > 0) return { line: null, problems };
  const content = (stem: 'api_key' | 'site_key' | 'webhook_secrets') => readSecret(cells, stem, readers, problems);
  const apiKey = await content('api_key');
  const siteKey = await content('site_key');
  const secrets = words(await content('webhook_secrets'));
  const encoding = readEncoding(cells.secret_encoding, problems);
  if (secrets.some((secret) => signingKeyOf(secret, encoding ?? 'text') === null))
    problems.push({ column: 'webhook_secrets', problem: `A signing secret is not valid ${encoding ?? 'text'}.` });
  const options: Partial<SourceOptions> = {
    ...(cells.banners === undefined ? {} : { banners: [...new Set(words(cells.banners))] }),
    ...(cells.field_names === undefined ? {} : { fieldNames: readFieldNames(cells.field_names, problems) }),
    ...(cells.assumed_offset === undefined ? {} : { assumedOffset: cells.assumed_offset }),
    ...(await readProfile(cells.controller_file, readers, problems)),
    ...(await readRecipe(cells.subject_recipe_file, readers, problems)),
    ...(encoding === null || encoding === 'text' || secrets.length === 0
      ? {}
      : { secretEncodings: Object.fromEntries(secrets.map((secret) => [webhookSecretOf(secret).id, encoding])) }),
  };
  const controller = readController(cells, problems);
  const source = {
    ...(cells.name === undefined ? {} : { name: cells.name }),
    ...(cells.base_url === undefined ? {} : { baseUrl: cells.base_url }),
    ...(cells.site_url === undefined ? {} : { siteUrl: cells.site_url }),
    ...(apiKey === null ? {} : { apiKey }),
    ...(siteKey === null ? {} : { siteKey }),
    webhookSecrets: secrets,
  };
  const parsed = newSourceSchema.safeParse({
    slug: cells.slug ?? '',
    ...source,
    options: { ...sourceOptionsSchema.parse({}), ...options },
  });
  if (!parsed.success)
    for (const { path, message } of parsed.error.issues)
      problems.push({ column: columnOf(path), problem: `${message.charAt(0).toUpperCase()}${message.slice(1)}.` });
  if (!parsed.success || problems.length > 0) return { line: null, problems };
  const { name, baseUrl, siteUrl } = parsed.data;
  return {
    problems,
    line: {
      line,
      slug: parsed.data.slug,
      encoding,
      options,
      controller,
      source: {
        ...source,
        ...(name === undefined ? {} : { name }),
        ...(baseUrl === null ? {} : { baseUrl }),
        ...(siteUrl === null ? {} : { siteUrl }),
      },
    },
  };
}

/** Columns with files or variables of the server, which an uploaded file must not name. */
function findServerColumns(cells: CsvLine['cells']): Found[] {
  return importColumns
    .filter(({ name }) => isOfServer(name) && cells[name] !== undefined)
    .map(({ name: column }) => ({
      column,
      problem: /^(?:api_key|site_key|webhook_secrets)/.test(column)
        ? `An uploaded file cannot refer to a file or variable on the server: use ${column.replace(/_(file|env)$/, '')}.`
        : 'An uploaded file cannot refer to a file on the server: leave it empty, and set it on the page of the source.',
    }));
}

async function readSecret(
  cells: CsvLine['cells'],
  stem: 'api_key' | 'site_key' | 'webhook_secrets',
  readers: ImportReaders,
  problems: Found[],
): Promise<string | null> {
  const given = ([stem, `${stem}_file`, `${stem}_env`] as const).filter((column) => cells[column] !== undefined);
  if (given.length > 1) {
    problems.push({ column: stem, problem: `Use only one of ${given.join(' and ')}.` });
    return null;
  }
  const direct = cells[stem];
  const path = cells[`${stem}_file`];
  const variable = cells[`${stem}_env`];
  if (path !== undefined) {
    try {
      const text = (await readers.file(resolve(readers.folder, path))).trim();
      if (text === '') problems.push({ column: `${stem}_file`, problem: 'The file is empty.' });
      return text === '' ? null : text;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'error';
      problems.push({ column: `${stem}_file`, problem: `Cannot read the file (${code}).` });
      return null;
    }
  }
  if (variable !== undefined) {
    // The variable's name may be a secret in the wrong column.
    const value = /^[A-Za-z_][A-Za-z0-9_]*$/.test(variable) ? readers.variable(variable) : null;
    if (value === null) problems.push({ column: `${stem}_env`, problem: 'The variable is not set.' });
    return value;
  }
  return direct ?? null;
}

function readEncoding(cell: string | undefined, problems: Found[]): SecretEncoding | null {
  if (cell === undefined) return null;
  const known = secretEncodings.find((one) => one === cell.toLowerCase());
  if (known === undefined)
    problems.push({ column: 'secret_encoding', problem: `Use one of ${secretEncodings.join(', ')}.` });
  return known ?? null;
}

function readFieldNames(cell: string, problems: Found[]): Record<string, string[]> {
  const names: Record<string, string[]> = {};
  let isWrong = false;
  for (const pair of words(cell)) {
    const read = readFieldName(pair);
    if (read === null || read.names.length === 0) isWrong = true;
    else names[read.field] = read.names;
  }
  if (isWrong) problems.push({ column: 'field_names', problem: 'Use field=name,name; separate several by spaces.' });
  return names;
}

async function readRecipe(
  path: string | undefined,
  readers: ImportReaders,
  problems: Found[],
): Promise<Pick<SourceOptions, 'subjectRecipe'> | object> {
  if (path === undefined) return {};
  const read = await readRecipeFile(() => readers.file(resolve(readers.folder, path)));
  if ('recipe' in read) return { subjectRecipe: read.recipe };
  problems.push({ column: 'subject_recipe_file', problem: `The file ${read.problem}.` });
  return {};
}

/** `field=name,name`; without names after the sign, the source's names are removed. Null: not of this form. */
export function readFieldName(text: string): { readonly field: string; readonly names: string[] } | null {
  const at = text.indexOf('=');
  if (at < 1) return null;
  const names = text.slice(at + 1).split(',');
  return { field: text.slice(0, at), names: names.map((name) => name.trim()).filter((name) => name !== '') };
}

/** How a source hashes e-mail addresses; the source schema checks the file's content. */
export async function readRecipeFile(
  read: () => Promise<string>,
): Promise<{ readonly recipe: SourceOptions['subjectRecipe'] } | { readonly problem: string }> {
  try {
    return { recipe: JSON.parse(await read()) as SourceOptions['subjectRecipe'] };
  } catch (error) {
    return {
      problem:
        error instanceof SyntaxError
          ? 'is not valid JSON'
          : `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`,
    };
  }
}

function words(text: string | null): string[] {
  return text === null ? [] : text.split(/\s+/).filter((word) => word !== '');
}

const columnsOfFields: Readonly<Record<string, ImportColumnName>> = {
  slug: 'slug',
  name: 'name',
  baseUrl: 'base_url',
  siteUrl: 'site_url',
  apiKey: 'api_key',
  siteKey: 'site_key',
  webhookSecrets: 'webhook_secrets',
  banners: 'banners',
  fieldNames: 'field_names',
  assumedOffset: 'assumed_offset',
  controllerFile: 'controller_file',
  subjectRecipe: 'subject_recipe_file',
};

export function columnOf(path: readonly PropertyKey[]): string | null {
  const [first, second] = path.map(String);
  return columnsOfFields[(first === 'options' ? second : first) ?? ''] ?? null;
}
