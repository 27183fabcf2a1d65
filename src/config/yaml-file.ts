import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { codeOf } from './layers.ts';

/** What a settings file holds, or every reason why it cannot be used. */
export type YamlFile<T> =
  | { readonly outcome: 'loaded'; readonly value: T }
  | { readonly outcome: 'invalid'; readonly problems: readonly string[] };

/** Largest settings file that is read, in bytes. */
const MAX_BYTES = 1024 * 1024;

/**
 * Reads a YAML or JSON file (JSON is YAML) by a schema. `what` begins each problem's sentence, which names the file and the place in it.
 */
export async function loadYamlFile<S extends z.ZodType>(
  what: string,
  path: string,
  schema: S,
): Promise<YamlFile<z.infer<S>>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    return { outcome: 'invalid', problems: [`${what} ${path} cannot be read (${codeOf(error)}).`] };
  }
  if (Buffer.byteLength(text) > MAX_BYTES) {
    return { outcome: 'invalid', problems: [`${what} ${path} is larger than 1 MiB.`] };
  }
  return parseYaml(what, text, path, schema);
}

/** The same for a text; `path` is only for the messages. */
export function parseYaml<S extends z.ZodType>(
  what: string,
  text: string,
  path: string,
  schema: S,
): YamlFile<z.infer<S>> {
  const document = parseDocument(text, { prettyErrors: true, uniqueKeys: true });
  if (document.errors.length > 0) {
    const problems = document.errors.map(
      (error) => `${what} ${path}: ${error.message.split('\n')[0]?.replace(/:$/, '')}.`,
    );
    return { outcome: 'invalid', problems };
  }
  let value: unknown;
  try {
    // The bound on aliases keeps a small file from growing into a huge value.
    value = document.toJS({ maxAliasCount: 50 });
  } catch (error) {
    return {
      outcome: 'invalid',
      problems: [`${what} ${path}: ${error instanceof Error ? error.message : String(error)}.`],
    };
  }
  const parsed = schema.safeParse(value, { error: describe });
  if (parsed.success) return { outcome: 'loaded', value: parsed.data };
  const problems = parsed.error.issues.map((issue) => {
    const place = issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
    return `${what} ${path}: ${place}${issue.message}.`;
  });
  return { outcome: 'invalid', problems };
}

function describe(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is missing';
  if (issue.code === 'unrecognized_keys')
    return `${issue.keys.map((key) => `"${key}"`).join(', ')} is not a field of it`;
  return undefined;
}
