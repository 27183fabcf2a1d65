import type { SourceOutcome } from './sources.ts';

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
