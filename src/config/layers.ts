import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { codeOf, unreadableFile } from '../core/errors.ts';
import { type VariableName, variableNames, variables } from './variables.ts';

/** The texts of our variables from the environment, .env and secret files. */
interface Texts {
  readonly texts: Partial<Record<VariableName, string>>;
  /** Other names found in the environment or .env. */
  readonly otherNames: readonly string[];
  readonly problems: readonly string[];
}

/**
 * Reads the environment, then `<cwd>/.env`; a secret X may be given as X_FILE, the name of a file that contains it. A
 * variable in the environment overrides X and X_FILE in .env; an empty value counts as unset, so it can also be used to
 * hide one.
 */
export function readTexts(env: NodeJS.ProcessEnv, cwd: string): Texts {
  const problems: string[] = [];
  const dotEnv = readDotEnv(join(cwd, '.env'), problems);
  const texts: Partial<Record<VariableName, string>> = {};
  const ours = new Set<string>();
  for (const name of variableNames) {
    const fileName = `${name}_FILE`;
    ours.add(name);
    if (variables[name].secret) ours.add(fileName);
    const layer = [env, dotEnv].find(
      (values) => values[name] !== undefined || (variables[name].secret && values[fileName] !== undefined),
    );
    if (layer === undefined) continue;
    const text = withoutQuotes(layer[name] ?? '');
    const path = variables[name].secret ? withoutQuotes(layer[fileName] ?? '') : '';
    if (text !== '' && path !== '') problems.push(`${name} and ${fileName} are both set: remove one of them.`);
    else if (text !== '') texts[name] = text;
    else if (path !== '') {
      const content = readSecretFile(fileName, resolve(cwd, path));
      if ('problem' in content) problems.push(content.problem);
      else texts[name] = content.text;
    }
  }
  const otherNames = [...new Set([...Object.keys(env), ...Object.keys(dotEnv)])].filter((name) => !ours.has(name));
  return { texts, otherNames, problems };
}

/** Removes the quotes around a value in .env, which `docker run --env-file` passes on as part of it. */
function withoutQuotes(value: string): string {
  const text = value.trim();
  return /^(["'])(.*)\1$/s.exec(text)?.[2]?.trim() ?? text;
}

function readSecretFile(setting: string, path: string): { text: string } | { problem: string } {
  try {
    const text = readFileSync(path, 'utf8').trim();
    return text === '' ? { problem: `${setting}: the file ${path} is empty: write the value into it.` } : { text };
  } catch (error) {
    return { problem: unreadableFile(setting, path, error) };
  }
}

/** Maximum length of .env in characters: the parser takes quadratic time. */
const MAX_DOT_ENV = 256 * 1024;

function readDotEnv(path: string, problems: string[]): Record<string, string | undefined> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') problems.push(unreadableFile('.env', path, error));
    return {};
  }
  if (text.length > MAX_DOT_ENV) {
    problems.push(`.env: ${path} is larger than ${MAX_DOT_ENV / 1024} KiB.`);
    return {};
  }
  const values = parseEnv(text);
  // How the parser reads such a line (as nothing, or as part of the next name) depends on the version of Node.
  const withoutQuoted = text.replaceAll(/=[ \t]*(["'`])[^]*?\1/g, (quoted) => quoted.replaceAll(/[^\n=]/g, ''));
  for (const [index, line] of withoutQuoted.split('\n').entries())
    if (!/^\s*(?:#|$|(?:export\s+)?[A-Za-z_][A-Za-z0-9_.]*\s*=)/.test(line))
      problems.push(`.env line ${index + 1} is not of the form NAME=value.`);
  // Unquoted, "#" begins a comment even inside a word: a secret would silently be cut short.
  for (const [index, line] of text.split('\n').entries()) {
    const [, name] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*[^\s"'`#](?:[^#]*[^\s#])?#/.exec(line) ?? [];
    if (name !== undefined)
      problems.push(`.env line ${index + 1}: the value of ${name} contains a "#": put it in quotes.`);
  }
  return values;
}
