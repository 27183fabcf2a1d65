import { isAbsolute, join, relative, resolve } from 'node:path';
import {
  keyPaths,
  newInstanceKeyText,
  newSigningKeyPem,
  readIfThere,
  writeOnce,
  writeSecretOnce,
} from './key-files.ts';
import { variableNames, variables, type VariableName } from './variables.ts';

/** What `init` did. `exists`: there is an .env already, and nothing was touched. */
type EnvFileOutcome =
  | {
      readonly outcome: 'written';
      readonly path: string;
      readonly keys: readonly string[];
      readonly keptKeys: readonly string[];
    }
  | { readonly outcome: 'exists'; readonly path: string };

/**
 * Writes `<folder>/.env` (mode 0600), every variable commented with its meaning and default, and fresh keys: INSTANCE_KEY in the file
 * itself, the signing key as a file in `<dataDir>/keys` (default `<folder>/data`). Never overwrites a file. Keys that a first start has
 * already made there are kept, for the database there belongs to them.
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

/** The text of an .env: `values` are set, everything else stands as a comment with its default. */
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
