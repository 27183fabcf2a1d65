import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { readEnvironmentVariable } from '../config/config.ts';
import {
  keyPaths,
  newInstanceKeyText,
  newSigningKeyPem,
  parseInstanceKey,
  readIfThere,
  writeOnce,
  writeSecretOnce,
} from '../config/key-files.ts';
import { INSTANCE_FINGERPRINT } from '../config/load-keys.ts';
import type { DatabaseAddress } from '../config/read-values.ts';
import { type VariableName, valuesSchema, variableNames, variables } from '../config/variables.ts';
import { isInstallationBegun, openDatabaseToRead } from '../context/engines.ts';
import { UsageError } from '../core/errors.ts';
import { keyFingerprint } from '../crypto/keys.ts';
import { readSetting } from '../store/settings.ts';
import { type CommandIo, printResult, startedAs, withJson } from './command-io.ts';

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
      const made = await createEnvFile(
        options.folder,
        dataDir === null ? undefined : resolve(dataDir),
        databaseOfEnvironment(),
      );
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

/** DATABASE_URL of the environment; null if it is not set, or invalid, which the next command reports. */
function databaseOfEnvironment(): DatabaseAddress | null {
  const text = readEnvironmentVariable('DATABASE_URL');
  return text === null ? null : (valuesSchema.shape.DATABASE_URL.safeParse(text).data ?? null);
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
 * overwrites a file. Keys created there by a first start are kept, because the database belongs to them. Throws
 * UsageError if there is an installation whose key is not there: a new key would not open its database.
 */
export async function createEnvFile(
  folder: string,
  dataDir = join(folder, 'data'),
  database: DatabaseAddress | null = null,
): Promise<EnvFileOutcome> {
  const path = join(folder, '.env');
  if ((await readIfThere(path)) !== null) return { outcome: 'exists', path };

  const at = resolve(folder, dataDir);
  await assertKeyIsNotLost(at, database ?? { engine: 'sqlite', path: join(at, 'ledger.sqlite') });
  const keys = keyPaths(at);
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

/** What an installation writes to DATA_DIR, whichever database it uses. */
const ofInstallation = ['marker.json', 'journal', 'log.vkey'];

async function assertKeyIsNotLost(dataDir: string, database: DatabaseAddress): Promise<void> {
  const hasDatabase = await isInstallationBegun(database).catch(() => false);
  const found = hasDatabase
    ? [database.engine === 'sqlite' ? database.path : 'the database in DATABASE_URL']
    : ofInstallation.map((name) => join(dataDir, name)).filter((one) => existsSync(one));
  if (found.length === 0) return;
  const expected = hasDatabase ? await fingerprintIn(database).catch(() => null) : null;
  const { instance, signing } = keyPaths(dataDir);
  const key = parseInstanceKey((await readIfThere(instance)) ?? '');
  const isKept = typeof key !== 'string' && (expected === null || keyFingerprint(key) === expected);
  if (isKept && existsSync(signing)) return;
  throw new UsageError([
    `There is an installation already (${found[0]}), and nothing was written: a new INSTANCE_KEY would not open it. Its key${expected === null ? '' : `, with the fingerprint ${expected},`} was in the .env with which it was started, or in a file that INSTANCE_KEY_FILE named: look where you keep the keys, apart from the backups. Put it into a new .env as INSTANCE_KEY="…", with SIGNING_KEY_FILE="${signing}" unless the signing key is elsewhere; \`consent-ledger doctor\` then says whether it is the right one. For a new installation, use an empty folder (--folder, DATA_DIR).`,
  ]);
}

/** The fingerprint of the instance key to which a database belongs. */
async function fingerprintIn(database: DatabaseAddress): Promise<string | null> {
  const { read, close } = await openDatabaseToRead(database);
  try {
    return await readSetting({ read }, INSTANCE_FINGERPRINT);
  } finally {
    await close();
  }
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
