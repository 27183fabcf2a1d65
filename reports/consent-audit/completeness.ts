import type { Period } from '../../src/store/queries/scope.ts';
import { addDays, startOfDay } from '../../src/core/zoned-days.ts';
import { byText } from '../format.ts';
import { type BannerPull, knownPart, loadPulls, type Window } from '../pulls.ts';
import { type Agreement, loadAgreement } from '../reconciliation/agreement.ts';
import type { ReportInput } from '../report.ts';

export interface Completeness {
  readonly conflicts: number;
  readonly deliveries: readonly { event: string | null; verdict: string; outcome: string; deliveries: number }[];
  readonly daysWithoutDelivery: readonly string[];
  readonly quarantine: readonly { event: string | null; entries: number }[];
  readonly pulls: readonly BannerPull[];
  /** What each way in covers, and where the two disagree. */
  readonly agreement: Agreement;
}

/** The audit names the worst; the reconciliation report lists everything. */
const AGREEMENT_LIMITS = { stretches: 10, contradictions: 10 } as const;

/** How complete the records of a period are, by everything that this installation could see. */
export async function loadCompleteness(input: ReportInput, period: Period, conflicts: number): Promise<Completeness> {
  const { history } = input;
  const pulls = await loadPulls(input, period);
  const agreement = await loadAgreement(input, period, pulls, AGREEMENT_LIMITS);
  const deliveries = (await history.deliveryCounts(period)).map(({ bytes: _, ...count }) => count);
  const seen = new Set((await history.deliveriesByDay(period, input.timeZone)).map(({ day }) => day));
  return {
    conflicts,
    deliveries: deliveries.sort(byText(({ event, verdict, outcome }) => `${event ?? '\uffff'} ${verdict} ${outcome}`)),
    daysWithoutDelivery: daysOf(input, knownPart(input, period)).filter((day) => !seen.has(day)),
    quarantine: [...(await history.quarantineCounts(period))].sort(byText(({ event }) => event)),
    pulls,
    agreement,
  };
}

/** The days of the report's time zone that lie in a window as a whole. */
function daysOf({ from: first, timeZone }: ReportInput, { to }: Window): string[] {
  const days: string[] = [];
  for (let day = first; startOfDay(addDays(day, 1), timeZone) <= to; day = addDays(day, 1)) days.push(day);
  return days;
}
