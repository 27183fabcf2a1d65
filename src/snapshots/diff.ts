import { createTwoFilesPatch } from 'diff';
import { readPolicyText, withoutTokens } from '../texts/policy-text.ts';
import type { StoredText } from './texts.ts';

/** One side of a comparison, with the name that the diff gives it. */
export interface DiffSide {
  readonly name: string;
  readonly text: StoredText;
}

/** `diff`: unified, empty where nothing differs. `too-different`: it was given up after five seconds. */
export type TextDiff = { readonly outcome: 'diff'; readonly diff: string } | { readonly outcome: 'too-different' };

const TIMEOUT_MS = 5000;

/**
 * Compares two stored texts line by line: the visible text, or with `raw` the answers as they were stored (as UTF-8). Tokens in
 * addresses are left out either way.
 */
export function diffTexts(before: DiffSide, after: DiffSide, { raw }: { readonly raw: boolean }): TextDiff {
  const [older, newer] = [before, after].map((side) => linesOf(side.text, raw)) as [string, string];
  if (older === newer) return { outcome: 'diff', diff: '' };
  const patch = createTwoFilesPatch(before.name, after.name, older, newer, undefined, undefined, {
    context: 3,
    timeout: TIMEOUT_MS,
  });
  return patch === undefined ? { outcome: 'too-different' } : { outcome: 'diff', diff: patch.replace(/^=+\n/, '') };
}

function linesOf({ bytes, contentType }: StoredText, raw: boolean): string {
  const text = raw
    ? withoutTokens(bytes.toString('utf8')).replace(/></g, '>\n<')
    : readPolicyText(bytes, contentType).lines.join('\n');
  return text.endsWith('\n') ? text : `${text}\n`;
}
