import type { Match } from './match.ts';
import type { Disclosure } from './move-details.ts';
import type { CaseView } from './view.ts';

/** Kinds of request that are answered with a copy of the data; the others are answered by doing what they ask. */
const disclosing = ['access', 'portability'];

/**
 * What an answer may hold. The invariant: no specific piece leaves without the identity check that applies.
 * full: the records of the matched subject. categories-only: what the controller says of itself, nothing about a person
 * (unverified requester, 11 CCR 7024; a kind that asks for no copy). no-match: GDPR Art. 11(2), "we cannot link you".
 */
export function disclosureOf(view: CaseView, match: Match): Disclosure {
  if (view.identity !== 'met') return 'categories-only';
  if (match.status === 'none' || match.status === 'shared') return 'no-match';
  return disclosing.includes(view.kind) ? 'full' : 'categories-only';
}
