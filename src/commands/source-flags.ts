import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Command, InvalidArgumentError, Option, type OptionValues } from '@commander-js/extra-typings';
import { readEnvironmentVariable } from '../config/config.ts';
import { loadControllerFile } from '../config/settings-files.ts';
import { UsageError, whyUnreadable } from '../core/errors.ts';
import { type SecretEncoding, type SourceOptions, secretEncodings } from '../core/source.ts';
import { settingText } from '../sources/import/read-csv.ts';
import { readFieldName, readRecipeFile } from '../sources/import/read-lines.ts';
import type { OptionsOf } from './command-io.ts';

/** Settings that `source change --clear` can remove. */
const clearables = [
  'base-url',
  'site-url',
  'api-key',
  'site-key',
  'banners',
  'field-names',
  'controller-file',
  'subject-recipe',
  'event-names',
  'secret-encodings',
  'necessary-purposes',
] as const;
export type Clearable = (typeof clearables)[number];

/** The non-secret flags that describe a source. */
export const sourceFlags = new Command()
  .option('--name <name>', settingText('name'))
  .option('--base-url <url>', settingText('base_url'))
  .option('--site-url <url>', settingText('site_url'))
  .option(
    '--banner <id...>',
    'banners whose consent log is pulled (the complete list; the sync adds ids seen in webhooks)',
  )
  .option(
    '--field-name <field=name,…>',
    'name of a payload field at this source, repeatable, e.g. subject=data.person.key',
    fieldName,
  )
  .option('--assumed-offset <±hh:mm>', settingText('assumed_offset'))
  .option('--controller-file <path>', settingText('controller_file'))
  .option('--subject-recipe-file <path>', settingText('subject_recipe_file'))
  .option(
    '--event-name <given=documented>',
    'event that the sender names differently, repeatable, e.g. consent_saved=consent.recorded',
    pairOf,
  )
  .option(
    '--secret-encoding <id=encoding>',
    `encoding of a signing secret, repeatable: ${secretEncodings.join(', ')}`,
    secretEncoding,
  )
  .option(
    '--necessary-purpose <name...>',
    'purposes that need no consent, as the records name them (the complete list); naming them as granted is then no consent',
  );

/** `source change --clear`. */
export const clearFlag = new Command().addOption(
  new Option('--clear <what...>', 'settings to remove').choices(clearables),
);

/** The non-secret flags of `source add` and `source change`. */
export type SourceFlags = OptionsOf<typeof sourceFlags> & OptionsOf<typeof clearFlag>;

/** A source's options after applying these flags. Throws UsageError with every problem. */
export async function optionsFrom(flags: SourceFlags, before: SourceOptions): Promise<SourceOptions> {
  const { banner, fieldName: names, assumedOffset, controllerFile, subjectRecipeFile, clear = [] } = flags;
  const fieldNames = { ...(clear.includes('field-names') ? {} : before.fieldNames), ...names };
  // A field without any names uses the built-in ones again.
  for (const [field, given] of Object.entries(fieldNames)) if (given.length === 0) delete fieldNames[field];
  const { eventNames, secretEncodings: encodings, necessaryPurposes, ...others } = before;
  const events = { ...(clear.includes('event-names') ? {} : eventNames), ...flags.eventName };
  const written = { ...(clear.includes('secret-encodings') ? {} : encodings), ...flags.secretEncoding };
  const necessary = [
    ...new Set(flags.necessaryPurpose ?? (clear.includes('necessary-purposes') ? [] : (necessaryPurposes ?? []))),
  ];
  return {
    ...others,
    ...(Object.keys(events).length === 0 ? {} : { eventNames: events }),
    ...(Object.keys(written).length === 0 ? {} : { secretEncodings: written }),
    ...(necessary.length === 0 ? {} : { necessaryPurposes: necessary }),
    banners: banner === undefined ? (clear.includes('banners') ? [] : before.banners) : [...new Set(banner)],
    fieldNames: Object.fromEntries(Object.entries(fieldNames).map(([field, given]) => [field, [...given]])),
    assumedOffset: assumedOffset ?? before.assumedOffset,
    controllerFile:
      controllerFile === undefined
        ? clear.includes('controller-file')
          ? null
          : before.controllerFile
        : await profileAt(resolve(controllerFile)),
    subjectRecipe:
      subjectRecipeFile === undefined
        ? clear.includes('subject-recipe')
          ? null
          : before.subjectRecipe
        : await readRecipe(subjectRecipeFile),
  };
}

async function profileAt(path: string): Promise<string> {
  const problems = await profileProblems(path);
  if (problems.length > 0) throw new UsageError(problems);
  return path;
}

/** What is wrong with a controller profile; empty: nothing. */
export async function profileProblems(path: string): Promise<readonly string[]> {
  const loaded = await loadControllerFile(path);
  return loaded.outcome === 'invalid' ? loaded.problems : [];
}

async function readRecipe(path: string): Promise<SourceOptions['subjectRecipe']> {
  const read = await readRecipeFile(() => readFile(path, 'utf8'));
  if ('problem' in read) throw new UsageError([`--subject-recipe-file: ${path} ${read.problem}.`]);
  return read.recipe;
}

function fieldName(
  text: string,
  before: Readonly<Record<string, readonly string[]>> = {},
): Record<string, readonly string[]> {
  const read = readFieldName(text);
  if (read === null) throw new InvalidArgumentError('Use field=name,name.');
  return { ...before, [read.field]: read.names };
}

function pairOf(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1) throw new InvalidArgumentError('Use given=documented.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

function secretEncoding(
  text: string,
  before: Readonly<Record<string, SecretEncoding>> = {},
): Record<string, SecretEncoding> {
  const [id = '', encoding = ''] = text.split('=');
  const known = secretEncodings.find((one) => one === encoding);
  if (id === '' || known === undefined)
    throw new InvalidArgumentError(`Use id=encoding, with one of ${secretEncodings.join(', ')}.`);
  return { ...before, [id]: known };
}

/** A secret that a command accepts: the stem of its flags, and its description. */
interface SecretFlag {
  readonly flag: string;
  readonly what: string;
}

type Flags = Readonly<Record<string, unknown>>;

/**
 * Adds `--<flag>-file <path>` (`-`: standard input) and `--<flag>-env <name>`. A secret on the command line itself is
 * refused: every user of the machine could read it in the process list, and shells keep it in their history.
 */
export function withSecret<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
  { flag, what }: SecretFlag,
): void {
  command
    .option(`--${flag}-file <path>`, `read the ${what} from this file; - for standard input`)
    .option(`--${flag}-env <name>`, `read the ${what} from this environment variable`)
    .addOption(new Option(`--${flag} [value]`).hideHelp());
}

/** Reads the given secrets; null if none was given. Throws UsageError with every problem, none of which contains a secret. */
export async function readSecrets(
  options: object,
  flags: readonly SecretFlag[],
): Promise<ReadonlyMap<string, string | null>> {
  const given = options as Flags;
  const problems: string[] = [];
  const secrets = new Map<string, string | null>();
  const fromInput = flags.filter(({ flag }) => given[camelCase(`${flag}-file`)] === '-');
  if (fromInput.length > 1)
    throw new UsageError(['Only one secret can be read from standard input: use files for the others.']);
  for (const { flag } of flags) {
    const path = given[camelCase(`${flag}-file`)];
    const variable = given[camelCase(`${flag}-env`)];
    secrets.set(flag, null);
    if (given[camelCase(flag)] !== undefined) {
      problems.push(
        `--${flag} takes no value on the command line, where others can read it: use --${flag}-file (- for standard input) or --${flag}-env. Treat the value you typed as compromised.`,
      );
    } else if (typeof path === 'string' && typeof variable === 'string') {
      problems.push(`Use only one of --${flag}-file and --${flag}-env.`);
    } else if (typeof path === 'string' || typeof variable === 'string') {
      const read = typeof path === 'string' ? await readOut(path, flag) : readVariable(String(variable), flag);
      if ('problem' in read) problems.push(read.problem);
      else secrets.set(flag, read.secret);
    }
  }
  if (problems.length > 0) throw new UsageError(problems);
  return secrets;
}

type Reading = { readonly secret: string } | { readonly problem: string };

async function readOut(path: string, flag: string): Promise<Reading> {
  const name = path === '-' ? 'standard input' : path;
  try {
    if (path === '-' && process.stdin.isTTY) process.stderr.write('Paste the secret, then press Enter and Ctrl-D.\n');
    return oneLine(path === '-' ? await text(process.stdin) : await readFile(path, 'utf8'), flag, name);
  } catch (error) {
    return { problem: `--${flag}-file: cannot read ${name}: ${whyUnreadable(error)}.` };
  }
}

function readVariable(name: string, flag: string): Reading {
  const value = readEnvironmentVariable(name);
  return value === null ? { problem: `--${flag}-env: the variable ${name} is not set.` } : oneLine(value, flag, name);
}

function oneLine(content: string, flag: string, where: string): Reading {
  const secret = content.trim();
  if (secret === '') return { problem: `--${flag}: ${where} is empty.` };
  if (/[\r\n]/.test(secret))
    return { problem: `--${flag}: ${where} has several lines; a secret must be a single line.` };
  return { secret };
}

function camelCase(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
