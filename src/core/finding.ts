/**
 * What an officer can settle because it needs a person's judgement: a decision whose records contradict each other, a
 * decision that was never delivered, an integration that is no longer connected, a site that sets cookies before consent.
 */
export const findingKinds = ['contradiction', 'undelivered', 'integration', 'before-consent'] as const;
export type FindingKind = (typeof findingKinds)[number];

/** What an officer concluded about a finding. */
export interface Conclusion {
  readonly id: string;
  readonly label: string;
  /** Must say why. */
  readonly needsReason?: true;
  /** Holds until a day that must be named. */
  readonly needsUntil?: true;
}

/** Takes a conclusion back: the finding is to do again. */
export const OPEN_AGAIN = 'open-again';

const accepted = { id: 'accepted', label: 'Accepted until a day', needsReason: true, needsUntil: true } as const;
const notOurs = { id: 'not-ours', label: 'Not ours' } as const;

/** The conclusions of each kind. None of them makes anything count as consent. */
export const conclusions: Readonly<Record<FindingKind, readonly Conclusion[]>> = {
  contradiction: [
    { id: 'refusal-confirmed', label: 'The service confirmed: refused' },
    { id: 'disputed', label: 'Leave as disputed' },
    notOurs,
  ],
  undelivered: [
    { id: 'endpoint-down', label: 'The endpoint was down' },
    { id: 'not-subscribed', label: 'The event was not subscribed' },
    notOurs,
    { id: 'other', label: 'Another reason', needsReason: true },
  ],
  integration: [{ id: 'intended', label: 'Disconnected on purpose' }, accepted],
  'before-consent': [{ id: 'no-consent-needed', label: 'Needs no consent', needsReason: true }, accepted, notOurs],
};

/** The most characters of a reason. */
export const FINDING_REASON = 500;
/** The longest time for which something can be accepted, in days: then it is looked at again. */
export const ACCEPTED_DAYS = 366;

/** A conclusion in words, such as `Accepted until 2027-03-01`. `day`: writes a day, YYYY-MM-DD. */
export function conclusionWords(
  {
    kind,
    conclusion,
    until,
  }: { readonly kind: FindingKind; readonly conclusion: string; readonly until: string | null },
  day: (date: string) => string = (date) => date,
): string {
  if (until !== null) return `Accepted until ${day(until)}`;
  return conclusions[kind].find(({ id }) => id === conclusion)?.label ?? conclusion;
}
