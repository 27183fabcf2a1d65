import { findJurisdiction } from './jurisdictions.ts';

/**
 * A law that may apply to a request and was not looked at, because this program has no rule of it. Its absence says
 * nothing about the law: it may well set a date.
 */
export interface UnrecordedLaw {
  /** ISO 3166-1 alpha-2, or the state of a country without a law for all of it: `CL`, `US-NY`, `US`. */
  readonly code: string;
  /** `law`: nothing is recorded. `kind`: nothing about this kind of request. `earlier`: nothing from before a day. */
  readonly scope: 'law' | 'kind' | 'earlier';
  /** The day from which rules are recorded, YYYY-MM-DD; only for `earlier`. */
  readonly from?: string;
}

/** Codes of the laws that were not looked at, each once: `["CL"]`. */
export function unrecordedCodes(unrecorded: readonly UnrecordedLaw[]): readonly string[] {
  return [...new Set(unrecorded.map(({ code }) => code))];
}

/**
 * Why a request has no date, or may have an earlier one, in words for headlines and lists: `no date computed: the law of
 * Chile is not recorded here; it may set one`. Null: every law that applies is recorded, or the place is unknown.
 */
export function unrecordedText(deadlines: {
  readonly limit: string | null;
  readonly unrecorded: readonly UnrecordedLaw[];
}): string | null {
  const { limit, unrecorded } = deadlines;
  if (unrecorded.length === 0) return null;
  const one = unrecorded.length === 1;
  const what = unrecorded.map(wordsOf).join('; ');
  return limit === null
    ? `no date computed: ${what}; ${one ? 'it' : 'they'} may set one`
    : `${what}; ${one ? 'it' : 'they'} may set an earlier date`;
}

/** Why a request has no date, for headlines and lists; null: it has one. */
export function datelessText(deadlines: {
  readonly limit: string | null;
  readonly placeMissing: boolean;
  readonly unrecorded: readonly UnrecordedLaw[];
}): string | null {
  if (deadlines.limit !== null) return null;
  if (deadlines.placeMissing) return 'no date computed: the place of the requester is unknown';
  return unrecordedText(deadlines) ?? 'no date: no law recorded here gives this right';
}

function wordsOf({ code, scope, from }: UnrecordedLaw): string {
  const place = findJurisdiction(code)?.name ?? code;
  switch (scope) {
    case 'law':
      return code === 'US'
        ? 'the law of the requester’s state is not known until the state is chosen'
        : `the law of ${place} is not recorded here`;
    case 'kind':
      return `what the law of ${place} says about this kind of request is not recorded here`;
    case 'earlier':
      return `the law of ${place} before ${from} is not recorded here`;
  }
}
