import { AGREEMENT_DAYS } from '../../../attention/officer-attention.ts';
import { addDays, startOfDay } from '../../../core/zoned-days.ts';

/** The period of a list, from its first and last day; empty: the last days up to now. */
export function periodOf(
  { from, to }: { readonly from: string; readonly to: string },
  { now, timeZone }: { readonly now: Date; readonly timeZone: string },
): { readonly period: { readonly from: string; readonly to: string }; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const day = (text: string, add: number, otherwise: Date): string => {
    if (text === '') return otherwise.toISOString();
    try {
      return startOfDay(addDays(text, add), timeZone);
    } catch {
      problems.push(`Invalid date "${text.slice(0, 30)}": use YYYY-MM-DD.`);
      return otherwise.toISOString();
    }
  };
  const period = {
    from: day(from, 0, new Date(now.getTime() - AGREEMENT_DAYS * 86_400_000)),
    to: day(to, 1, now),
  };
  return { period, problems };
}
