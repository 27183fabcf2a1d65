import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../core/errors.ts';
import { type SecretEncoding, type SourceOptions, secretEncodings } from '../core/source.ts';

/** The flags of `source add` and `source change` that carry no secret. */
export interface SourceFlags {
  readonly name?: string;
  readonly baseUrl?: string;
  readonly siteUrl?: string;
  readonly banner?: readonly string[];
  readonly fieldName?: Readonly<Record<string, readonly string[]>>;
  readonly assumedOffset?: string;
  readonly controllerFile?: string;
  readonly subjectRecipeFile?: string;
  readonly secretEncoding?: Readonly<Record<string, SecretEncoding>>;
  readonly eventName?: Readonly<Record<string, string>>;
  readonly clear?: readonly Clearable[];
}

/** What `source change --clear` can take away. */
export const clearables = [
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
] as const;
export type Clearable = (typeof clearables)[number];

/** Adds the flags that describe a source. */
export function withSourceFlags(command: Command): Command {
  return command
    .option('--name <name>', 'display name')
    .option('--base-url <url>', 'API root of the service, ending in /api/v1')
    .option('--site-url <url>', 'public origin of the service')
    .option(
      '--banner <id...>',
      'banners whose consent log is pulled (the complete list; the sync adds ids seen in webhooks)',
    )
    .option(
      '--field-name <field=name,…>',
      'name of a payload field at this source, repeatable, e.g. subject=data.person.key',
      fieldName,
    )
    .option('--assumed-offset <±hh:mm>', 'UTC offset of times without one')
    .option('--controller-file <path>', 'controller profile of this source')
    .option(
      '--subject-recipe-file <path>',
      'JSON: how this source hashes e-mail addresses (algorithm, normalise, salt)',
    )
    .option(
      '--event-name <given=documented>',
      'event that the sender names differently, repeatable, e.g. consent_saved=consent.recorded',
      pairOf,
    )
    .option(
      '--secret-encoding <id=encoding>',
      `encoding of a signing secret, repeatable: ${secretEncodings.join(', ')}`,
      secretEncoding,
    );
}

/** Adds `--clear`. */
export function withClear(command: Command): Command {
  return command.addOption(new Option('--clear <what...>', 'settings to remove').choices(clearables));
}

/** The options of a source after these flags. Throws UsageError with every problem. */
export async function optionsFrom(flags: SourceFlags, before: SourceOptions): Promise<SourceOptions> {
  const { banner, fieldName: names, assumedOffset, controllerFile, subjectRecipeFile, clear = [] } = flags;
  const fieldNames = { ...(clear.includes('field-names') ? {} : before.fieldNames), ...names };
  // A field with no names at all is back to the built-in ones.
  for (const [field, given] of Object.entries(fieldNames)) if (given.length === 0) delete fieldNames[field];
  const { eventNames, secretEncodings: encodings, ...others } = before;
  const events = { ...(clear.includes('event-names') ? {} : eventNames), ...flags.eventName };
  const written = { ...(clear.includes('secret-encodings') ? {} : encodings), ...flags.secretEncoding };
  return {
    ...others,
    ...(Object.keys(events).length === 0 ? {} : { eventNames: events }),
    ...(Object.keys(written).length === 0 ? {} : { secretEncodings: written }),
    banners: banner === undefined ? (clear.includes('banners') ? [] : before.banners) : [...new Set(banner)],
    fieldNames: Object.fromEntries(Object.entries(fieldNames).map(([field, given]) => [field, [...given]])),
    assumedOffset: assumedOffset ?? before.assumedOffset,
    controllerFile:
      controllerFile === undefined
        ? clear.includes('controller-file')
          ? null
          : before.controllerFile
        : resolve(controllerFile),
    subjectRecipe:
      subjectRecipeFile === undefined
        ? clear.includes('subject-recipe')
          ? null
          : before.subjectRecipe
        : await readRecipe(subjectRecipeFile),
  };
}

/** The schema of the sources checks what it holds. */
async function readRecipe(path: string): Promise<SourceOptions['subjectRecipe']> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as SourceOptions['subjectRecipe'];
  } catch (error) {
    const why =
      error instanceof SyntaxError
        ? 'is not valid JSON'
        : `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`;
    throw new UsageError([`--subject-recipe-file: ${path} ${why}.`]);
  }
}

function fieldName(
  text: string,
  before: Readonly<Record<string, readonly string[]>> = {},
): Record<string, readonly string[]> {
  const [field = '', ...rest] = text.split('=');
  if (field === '' || rest.length === 0) throw new InvalidArgumentError('Use field=name,name.');
  const names = rest
    .join('=')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return { ...before, [field]: names };
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
