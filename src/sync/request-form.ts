import { z } from 'zod';
import type { ConsentLogPage, ConsentLogQuery } from '../service/consent-logs.ts';
import { ServiceError } from '../service/service-error.ts';

/**
 * How a service takes what its documentation leaves open (docs/service.md §4.5): "ISO date" may mean a time, a time in whole seconds or a day;
 * a cursor may be wanted beside the other parameters or alone. Learned from refusals, for each source.
 */
export const requestFormSchema = z.object({
  period: z.enum(['time', 'seconds', 'date']),
  cursor: z.enum(['with-query', 'alone']),
});
export type RequestForm = z.infer<typeof requestFormSchema>;

export const usualForm: RequestForm = { period: 'time', cursor: 'with-query' };

/** The form of a run; it changes when another one turns out to be accepted. */
export interface Asking {
  form: RequestForm;
  /** A cursor was accepted in this form: a refusal is about the cursor itself. */
  cursorWorked: boolean;
}

/** Asks for a page, and after a 400 in the other forms that the documentation allows. Errors: the first refusal, when all are refused. */
export async function askInForm(
  asking: Asking,
  query: ConsentLogQuery,
  ask: (query: ConsentLogQuery) => Promise<ConsentLogPage>,
): Promise<ConsentLogPage> {
  try {
    const page = await ask(inForm(query, asking.form));
    if (query.cursor !== null) asking.cursorWorked = true;
    return page;
  } catch (error) {
    if (!isBadRequest(error)) throw error;
    for (const form of otherForms(asking, query)) {
      const page = await ask(inForm(query, form)).catch((again: unknown) => {
        if (isBadRequest(again)) return null;
        throw again;
      });
      if (page === null) continue;
      asking.form = form;
      if (query.cursor !== null) asking.cursorWorked = true;
      return page;
    }
    throw error;
  }
}

function isBadRequest(error: unknown): boolean {
  return error instanceof ServiceError && error.kind === 'bad-request' && !error.unsent;
}

function otherForms({ form, cursorWorked }: Asking, { cursor, from, to }: ConsentLogQuery): RequestForm[] {
  if (cursor !== null) {
    const other = form.cursor === 'alone' ? ('with-query' as const) : ('alone' as const);
    return cursorWorked ? [] : [{ ...form, cursor: other }];
  }
  const hasTime = [from, to].some((time) => time?.includes('T') === true);
  const periods = requestFormSchema.shape.period.options.filter((period) => period !== form.period);
  return hasTime ? periods.map((period) => ({ ...form, period })) : [];
}

function inForm(query: ConsentLogQuery, form: RequestForm): ConsentLogQuery {
  if (query.cursor !== null && form.cursor === 'alone')
    return { bannerId: null, from: null, to: null, cursor: query.cursor, isAlone: true };
  return { ...query, from: fromIn(query.from, form), to: toIn(query.to, form) };
}

function fromIn(from: string | null, { period }: RequestForm): string | null {
  if (from === null || period === 'time' || !from.includes('T')) return from;
  const iso = new Date(from).toISOString();
  return period === 'date' ? iso.slice(0, 10) : `${iso.slice(0, 19)}Z`;
}

/** Rounded up, except within a millisecond of midnight: parts of a window end there (src/sync/plan.ts). */
function toIn(to: string | null, { period }: RequestForm): string | null {
  if (to === null || period === 'time' || !to.includes('T')) return to;
  const [unit, length] = period === 'date' ? [86_400_000, 10] : [1000, 19];
  const at = Date.parse(to);
  const isAtBorder = at % unit <= 1 || at % unit === unit - 1;
  const iso = new Date(isAtBorder ? at : at + unit).toISOString().slice(0, length);
  return period === 'date' ? iso : `${iso}Z`;
}

/** In words, for `sync status`. */
export function describeForm({ period, cursor }: RequestForm): string {
  const periods = { time: 'times', seconds: 'times in whole seconds', date: 'whole days only' };
  return `${periods[period]}${cursor === 'alone' ? ', a cursor only without other parameters' : ''}`;
}
