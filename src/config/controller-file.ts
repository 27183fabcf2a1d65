import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import { profileSchema, type ControllerProfile } from '../core/profile.ts';
import { codeOf } from './layers.ts';
import type { z } from 'zod';

/** A controller profile, or every reason why the file is none. */
export type ControllerFile =
  | { readonly outcome: 'loaded'; readonly profile: ControllerProfile }
  | { readonly outcome: 'invalid'; readonly problems: readonly string[] };

/** Largest profile that is read, in bytes. */
const MAX_BYTES = 1024 * 1024;

/**
 * Reads a controller profile (src/core/profile.ts) from a YAML or JSON file; JSON is YAML.
 * Each problem names the file and the place in it.
 */
export async function loadControllerFile(path: string): Promise<ControllerFile> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    return { outcome: 'invalid', problems: [`Controller profile ${path} cannot be read (${codeOf(error)}).`] };
  }
  if (Buffer.byteLength(text) > MAX_BYTES) {
    return { outcome: 'invalid', problems: [`Controller profile ${path} is larger than 1 MiB.`] };
  }
  return parseControllerProfile(text, path);
}

/** The same for a text; `path` is only for the messages. */
export function parseControllerProfile(text: string, path: string): ControllerFile {
  const document = parseDocument(text, { prettyErrors: true, uniqueKeys: true });
  if (document.errors.length > 0) {
    const problems = document.errors.map(
      (error) => `Controller profile ${path}: ${error.message.split('\n')[0]?.replace(/:$/, '')}.`,
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
      problems: [`Controller profile ${path}: ${error instanceof Error ? error.message : String(error)}.`],
    };
  }
  const parsed = profileSchema.safeParse(value, { error: describe });
  if (parsed.success) return { outcome: 'loaded', profile: parsed.data };
  const problems = parsed.error.issues.map((issue) => {
    const place = issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
    return `Controller profile ${path}: ${place}${issue.message}.`;
  });
  return { outcome: 'invalid', problems };
}

function describe(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is missing';
  if (issue.code === 'unrecognized_keys')
    return `${issue.keys.map((key) => `"${key}"`).join(', ')} is not a field of the profile`;
  return undefined;
}
