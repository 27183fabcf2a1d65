import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { UsageError, unreadableFile } from '../core/errors.ts';
import { sha256Hex } from '../crypto/hash.ts';
import { type ControllerProfile, profileSchema } from '../law/profile.ts';
import { type RegimesFile, regimesFileSchema } from '../law/regime-schema.ts';

/** The content of a settings file, or all reasons why it cannot be used. */
export type YamlFile<T> =
  | { readonly outcome: 'loaded'; readonly value: T }
  | { readonly outcome: 'invalid'; readonly problems: readonly string[] };

/** Maximum size of a settings file in bytes. */
const MAX_BYTES = 256 * 1024;
/** Maximum nesting. The parser fails at a few hundred levels, and thousands of braces would crash the process. */
const MAX_DEPTH = 100;
/** The most problems that are listed; further ones are only counted. */
const NAMED = 20;

/**
 * Reads a YAML or JSON file (JSON is YAML) with a schema. `what` begins the sentence of each problem, which names the
 * file and the place in it.
 */
async function loadYamlFile<S extends z.ZodType>(what: string, path: string, schema: S): Promise<YamlFile<z.infer<S>>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    return { outcome: 'invalid', problems: [unreadableFile(what, path, error)] };
  }
  return parseYaml(what, text, path, schema);
}

/** The same for a text; `path` is only for the messages. */
export async function parseYaml<S extends z.ZodType>(
  what: string,
  text: string,
  path: string,
  schema: S,
): Promise<YamlFile<z.infer<S>>> {
  const invalid = (problems: readonly string[]): YamlFile<z.infer<S>> => ({
    outcome: 'invalid',
    problems:
      problems.length <= NAMED
        ? problems
        : [...problems.slice(0, NAMED), `${problems.length - NAMED} more problems are not listed.`],
  });
  if (Buffer.byteLength(text) > MAX_BYTES) return invalid([`${what} ${path} is larger than ${MAX_BYTES / 1024} KiB.`]);
  if (isTooDeep(text)) return invalid([`${what} ${path} is nested more than ${MAX_DEPTH} levels deep.`]);
  const { LineCounter, parseDocument } = await import('yaml');
  // Pretty errors quote the line of each, which takes minutes if a long line has thousands of them.
  const lineCounter = new LineCounter();
  let document: ReturnType<typeof parseDocument>;
  try {
    document = parseDocument(text, { prettyErrors: false, lineCounter, uniqueKeys: true, logLevel: 'error' });
  } catch (error) {
    // A map that begins inside an unclosed bracket costs the parser a level for each line.
    if (error instanceof RangeError) return invalid([`${what} ${path} is nested too deeply: is a bracket left open?`]);
    throw error;
  }
  if (document.errors.length > 0)
    return invalid(
      document.errors.map(({ message, pos }) => {
        const { line, col } = lineCounter.linePos(pos[0]);
        return `${what} ${path}: ${message} at line ${line}, column ${col}.`;
      }),
    );
  let value: unknown;
  try {
    // The limit on aliases keeps a small file from expanding to a huge value.
    value = document.toJS({ maxAliasCount: 50 });
  } catch (error) {
    return invalid([`${what} ${path}: ${error instanceof Error ? error.message : String(error)}.`]);
  }
  const parsed = schema.safeParse(value, { error: describe });
  if (parsed.success) return { outcome: 'loaded', value: parsed.data };
  return invalid(
    parsed.error.issues.map((issue) => {
      const place = issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
      return `${what} ${path}: ${place}${issue.message}.`;
    }),
  );
}

/**
 * Whether a text could be nested too deeply, estimated without parsing from its brackets, indentation and the
 * characters that open a level.
 */
function isTooDeep(text: string): boolean {
  let open = 0;
  for (const sign of text) {
    if (sign === '[' || sign === '{') open += 1;
    else if (sign === ']' || sign === '}') open -= 1;
    if (open > MAX_DEPTH) return true;
  }
  return text.split('\n').some((line) => (/^[\s?:-]*/.exec(line)?.[0].length ?? 0) > 2 * MAX_DEPTH);
}

function describe(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is missing';
  if (issue.code === 'unrecognized_keys')
    return `unknown field${issue.keys.length === 1 ? '' : 's'} ${issue.keys.map((key) => `"${key}"`).join(', ')}`;
  return undefined;
}

const PROFILE = 'Controller profile';

/** Reads a controller profile (src/law/profile.ts) from a YAML or JSON file. Each problem names the file and the place in it. */
export function loadControllerFile(path: string): Promise<YamlFile<ControllerProfile>> {
  return loadYamlFile(PROFILE, path, profileSchema);
}

/** The same for a text; `path` is only for the messages. */
export function parseControllerProfile(text: string, path: string): Promise<YamlFile<ControllerProfile>> {
  return parseYaml(PROFILE, text, path, profileSchema);
}

/**
 * Reads the installation's own rules (docs/deadlines.md, Changing the rows). Throws UsageError with all problems: not
 * starting is better than computing deadlines with unintended rules.
 */
export async function loadRegimesFile(path: string): Promise<OwnRegimes> {
  const what = 'REGIMES_FILE';
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new UsageError([unreadableFile(what, path, error)]);
  });
  const loaded = await parseYaml(what, bytes.toString('utf8'), path, regimesFileSchema);
  if (loaded.outcome === 'invalid') throw new UsageError(loaded.problems);
  return { rules: loaded.value, sha256: sha256Hex(bytes) };
}

/** The installation's own rules, and the SHA-256 of the file that has them. */
export interface OwnRegimes {
  readonly rules: RegimesFile;
  readonly sha256: string;
}
