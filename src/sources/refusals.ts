import type { Source } from '../core/source.ts';
import type { SourceOutcome } from './sources.ts';

export const ONLY_SECRET =
  'This is the only signing secret: add another one first, or every delivery would be refused.';

/** Whether a source would accept no delivery without this secret. */
export function isOnlySecret(source: Source | null, secretId: string): boolean {
  return source?.webhookSecrets.every(({ id }) => id === secretId) ?? true;
}

/** Why a change of a source was refused, in words for pages and the API. */
export function sourceProblems(outcome: Exclude<SourceOutcome, { readonly outcome: 'done' }>): readonly string[] {
  switch (outcome.outcome) {
    case 'invalid':
      return outcome.problems;
    case 'unchanged':
      return ['Nothing needed changing.'];
    case 'exists':
      return ['This secret is already accepted.'];
    case 'configured':
      return [
        'This source is set by environment variables: change its address and keys there, and restart the server.',
      ];
    case 'unknown':
      return ['The secret no longer exists.'];
    case 'conflict':
      return ['Someone else has just changed this source: review it and try again.'];
    default:
      return outcome satisfies never;
  }
}
