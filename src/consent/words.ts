import { ALL_PURPOSES } from '../core/consent-judgement.ts';
import type { BannerStanding, PurposeState } from '../core/consent-timeline.ts';
import type { BannerNames } from '../store/queries/history-banners.ts';
import type { CitedDecision } from './look-up.ts';

/** The answer of a look-up in words, the same on the command line and on the page. */
export const purposeStateWords: Readonly<Record<PurposeState, string>> = {
  granted: 'granted',
  refused: 'refused',
  withdrawn: 'withdrawn',
  disputed: 'disputed: not proven as granted',
  unclear: 'unclear: a later choice could not be read',
  expired: 'expired',
  terminated: 'terminated',
  invalidated: 'invalidated',
};

export function purposeWord(purpose: string): string {
  return purpose === ALL_PURPOSES ? 'all purposes (none named)' : purpose;
}

export function bannerWord(bannerId: string | null, names: BannerNames): string {
  if (bannerId === null) return 'no banner named';
  const name = names.get(bannerId);
  return name === undefined ? `banner ${bannerId}` : `banner ${name} (${bannerId})`;
}

export const wayInWords: Readonly<Record<CitedDecision['entries'][number]['wayIn'], string>> = {
  webhook: 'delivery',
  pull: 'consent log',
  request: 'request, carried out by an officer',
};

const textWords: Readonly<Record<CitedDecision['policy']['known'], string>> = {
  seen: 'seen before and after',
  'last-seen': 'the last one seen by then',
  changing: 'one of two: it changed around that time',
  'not-yet-fetched': 'not known: it was first fetched later',
  'never-fetched': 'not known: never fetched',
  'policy-not-stated': 'not known: the record names no policy',
};

/** Under which text: `policy pol-1, version 3; text seen before and after`. */
export function policyWords({ policy }: CitedDecision): string {
  if (policy.policyId === null) return 'the record names no policy';
  const version = policy.version === null ? '' : `, version ${policy.version}`;
  return `policy ${policy.policyId}${version}; text ${textWords[policy.known]}`;
}

/** When the evidence of a banner says that it was shown. */
export function evidenceWords({ seq, from, to, addedAt, actor }: CitedDecision['banner'][number]): string {
  const period = to === null ? `since ${from}` : `from ${from} to ${to}`;
  return `evidence ${seq}: shown ${period} according to ${actor}, added ${addedAt}`;
}

/** What had been known at the moment, where that differs from what is known now: `marketing: refused`. */
export function standingWords(standing: readonly BannerStanding[], names: BannerNames): readonly string[] {
  return standing.flatMap(({ bannerId, purposes }) =>
    purposes.map(
      ({ purpose, state }) => `${bannerWord(bannerId, names)}, ${purposeWord(purpose)}: ${purposeStateWords[state]}`,
    ),
  );
}
