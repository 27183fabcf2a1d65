import { expect, it } from 'vitest';
import { holdsSome, type LookedFor } from '../../src/documents/holding.ts';

type Document = Parameters<typeof holdsSome>[1];

const nothing: LookedFor = {
  seqs: new Set(),
  tokens: new Set(),
  caseIds: new Set(),
  subjectDigests: new Set(),
  withdrawnAt: [],
  requestedAt: [],
};

/** A report on November 2026 in Berlin, as a PDF, which cannot be searched. */
function reportOf(name: string): Document {
  const parameters = JSON.stringify({ from: '2026-11-01', to: '2026-12-01', timeZone: 'Europe/Berlin' });
  return { case_id: null, name, format: 'pdf', parameters } as Document;
}

it.each([
  ['half an hour into the first day', '2026-10-31T23:30:00.000Z', true],
  ['half an hour before it', '2026-10-31T22:30:00.000Z', false],
  ['half an hour before the end of the last day', '2026-11-30T22:30:00.000Z', true],
  ['half an hour into the next month', '2026-11-30T23:30:00.000Z', false],
])('a PDF report is judged by the days in its time zone: %s', async (_when, at, holds) => {
  const register = await holdsSome('/nowhere', reportOf('dsar-register'), { ...nothing, requestedAt: [at] });
  const audit = await holdsSome('/nowhere', reportOf('consent-audit'), { ...nothing, withdrawnAt: [at] });
  expect([register !== null, audit !== null]).toEqual([holds, holds]);
});
