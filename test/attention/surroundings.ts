import type { Surroundings } from '../../src/attention/operator-warnings.ts';

/** What surrounds a database when nothing outside it needs attention. */
export function calmSurroundings(now: Date): Surroundings {
  return {
    now,
    timeZone: 'Europe/Berlin',
    pulled: [],
    disk: null,
    sealFailure: null,
    verification: null,
    verifyEveryMs: Number.POSITIVE_INFINITY,
    comparison: null,
    isReadingPending: false,
    refusal: null,
    witnessing: null,
  };
}
