import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { stat } from 'node:fs/promises';
import { resolve, isAbsolute, join, relative } from 'node:path';
import { readEnvironmentVariable } from '../config.ts';
import { UsageError } from '../core/errors.ts';
import { type CommandIo, printResult, startedAs, withJson } from './command-io.ts';
import {
  keyPaths,
  newInstanceKeyText,
  newSigningKeyPem,
  readIfThere,
  writeOnce,
  writeSecretOnce,
} from '../config/key-files.ts';
import { variableNames, variables, type VariableName } from '../config/variables.ts';

/** `init`: writes a commented .env with fresh keys and never overwrites one. */
export function registerInit(program: CommandUnknownOpts, io: CommandIo): void {
  withJson(program.command('init'))
    .description('write a commented .env with new keys to this folder; never overwrites')
    .option('--folder <path>', 'folder to write to', '.')
    .action(async (options) => {
      const folder = await stat(options.folder).catch(() => null);
      if (folder?.isDirectory() !== true)
        throw new UsageError([`Folder ${options.folder} does not exist: create it first.`]);
      const dataDir = readEnvironmentVariable('DATA_DIR');
      const made = await createEnvFile(options.folder, dataDir === null ? undefined : resolve(dataDir));
      if (made.outcome === 'exists') io.exitCode = 1;
      printResult(io, options, made, () =>
        made.outcome === 'exists'
          ? `${made.path} already exists and was not changed. Move it away first to create a new one.`
          : [
              `Wrote ${made.path}.`,
              ...made.keys.map(
                (path) =>
                  `New key in ${path}: back it up separately from the database. Without it, nothing can be proven.`,
              ),
              ...made.keptKeys.map((path) => `Kept the key in ${path}: the database belongs to it.`),
              `Next: fill in SERVICE_BASE_URL, SERVICE_API_KEY and WEBHOOK_SECRETS there, then run \`${startedAs()} doctor\`.`,
            ].join('\n'),
      );
    });
}

/** What `init` did. `exists`: there already is an .env, and nothing was touched. */
type EnvFileOutcome =
  | {
      readonly outcome: 'written';
      readonly path: string;
      readonly keys: readonly string[];
      readonly keptKeys: readonly string[];
    }
  | { readonly outcome: 'exists'; readonly path: string };

/**
 * Writes `<folder>/.env` (mode 0600), every variable commented with its meaning and default, and fresh keys:
 * INSTANCE_KEY in the file itself, the signing key as a file in `<dataDir>/keys` (default `<folder>/data`). Never
 * overwrites a file. Keys created there by a first start are kept, because the database belongs to them.
 */
export async function createEnvFile(folder: string, dataDir = join(folder, 'data')): Promise<EnvFileOutcome> {
  const path = join(folder, '.env');
  if ((await readIfThere(path)) !== null) return { outcome: 'exists', path };

  const keys = keyPaths(resolve(folder, dataDir));
  const keepsInstanceKey = (await readIfThere(keys.instance)) !== null;
  const madeSigningKey = await writeSecretOnce(keys.signing, newSigningKeyPem());
  const values: Partial<Record<VariableName, string>> = { SIGNING_KEY_FILE: displayPath(folder, keys.signing) };
  if (resolve(folder, dataDir) !== resolve(folder, 'data'))
    values.DATA_DIR = displayPath(folder, resolve(folder, dataDir));
  if (!keepsInstanceKey) values.INSTANCE_KEY = newInstanceKeyText();

  if (!(await writeOnce(path, envFileText(values)))) return { outcome: 'exists', path };
  return {
    outcome: 'written',
    path,
    keys: [...(keepsInstanceKey ? [] : [path]), ...(madeSigningKey ? [keys.signing] : [])],
    keptKeys: [...(keepsInstanceKey ? [keys.instance] : []), ...(madeSigningKey ? [] : [keys.signing])],
  };
}

/** The text of an .env: variables in `values` are set, all others are comments with their defaults. */
function envFileText(values: Partial<Record<VariableName, string>>): string {
  const lines = [
    '# Configuration of consent-ledger. Environment variables take precedence over this file; an empty value counts as unset.',
    '# This file contains keys: keep it out of version control and include it in your backups.',
  ];
  for (const name of variableNames) {
    const { summary, defaultText, secret } = variables[name];
    lines.push(
      '',
      `# ${summary}`,
      `# Default: ${defaultText}.${secret ? ` Or ${name}_FILE: a file that contains it.` : ''}`,
    );
    const value = values[name];
    lines.push(value === undefined ? `#${name}=` : `${name}="${value}"`);
  }
  return `${lines.join('\n')}\n`;
}

function displayPath(folder: string, path: string): string {
  const short = relative(folder, path);
  return isAbsolute(short) || short.startsWith('..') ? path : `./${short}`;
}
