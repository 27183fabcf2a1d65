import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { readEnvironmentVariable } from '../config.ts';
import { UsageError } from '../core/errors.ts';

/** A secret that a command can take: the stem of its flags and what it is, in words. */
export interface SecretFlag {
  readonly flag: string;
  readonly what: string;
}

type Flags = Readonly<Record<string, unknown>>;

/**
 * Adds `--<flag>-file <path>` (`-`: standard input) and `--<flag>-env <name>`. A secret on the command line itself is refused:
 * every user of the machine could read it in the list of processes, and shells keep it in their history.
 */
export function withSecret(command: Command, { flag, what }: SecretFlag): Command {
  return command
    .option(`--${flag}-file <path>`, `read the ${what} from this file; - for standard input`)
    .option(`--${flag}-env <name>`, `read the ${what} from this environment variable`)
    .addOption(new Option(`--${flag} [value]`).hideHelp());
}

/**
 * Reads the secrets that were given; null where none was. Throws UsageError with every problem; no value of a secret is ever in one.
 */
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
    return { problem: `--${flag}-file: cannot read ${name} (${(error as NodeJS.ErrnoException).code ?? 'error'}).` };
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
