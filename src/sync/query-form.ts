import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import type { ConsentLogPage, ConsentLogQuery } from '../service/consent-logs.ts';
import { ServiceError } from '../service/service-error.ts';

const periods = ['time', 'seconds', 'date', 'local'] as const;
const ranges = ['open', 'closed'] as const;

/**
 * How a service reads what its documentation leaves open (docs/service.md §4.5): "ISO date" may mean a time, a time in
 * whole seconds, one without an offset, or a day; both ends of the period may be required; a cursor may be expected
 * with the other parameters or alone. Learned from refusals, per source.
 */
export const requestFormSchema = z.object({
  period: z.enum(periods),
  /** `closed`: both ends are always sent. Forms stored by earlier versions lack it. */
  range: z.enum(ranges).default('open'),
  cursor: z.enum(['with-query', 'alone']),
});
export type RequestForm = z.infer<typeof requestFormSchema>;

export const usualForm: RequestForm = { period: 'time', range: 'open', cursor: 'with-query' };

/** Start of a period that needs a beginning but has none: earlier than any consent log. */
const BEGINNING = '2000-01-01T00:00:00.000Z';
const DAY = 86_400_000;

/** The form used by a run; changes if another one turns out to be accepted. */
export interface Asking {
  form: RequestForm;
  /** A cursor was accepted in this form, so a refusal concerns the cursor itself. */
  cursorWorked: boolean;
  readonly clock: Clock;
}

/**
 * Requests a page; after a 400, tries the other forms that the documentation allows. Errors: the first refusal, if all
 * forms are refused.
 */
export async function askInForm(
  asking: Asking,
  query: ConsentLogQuery,
  ask: (query: ConsentLogQuery) => Promise<ConsentLogPage>,
): Promise<ConsentLogPage> {
  try {
    const page = await ask(inForm(query, asking.form, asking.clock));
    if (query.cursor !== null) asking.cursorWorked = true;
    return page;
  } catch (error) {
    if (!isBadRequest(error)) throw error;
    for (const form of otherForms(asking, query)) {
      const page = await ask(inForm(query, form, asking.clock)).catch((again: unknown) => {
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
  const forms = ranges.flatMap((range) => {
    const isOpen = range === 'open' && (from === null || to === null);
    const hasTime = [from, to].some((time) => (time === null ? !isOpen : time.includes('T')));
    return periods.filter((period) => hasTime || period === form.period).map((period) => ({ ...form, period, range }));
  });
  // If both ends are given, open and closed are the same request.
  return forms.filter(
    ({ period, range }) =>
      (period !== form.period || range !== form.range) && (range === form.range || from === null || to === null),
  );
}

function inForm(query: ConsentLogQuery, form: RequestForm, clock: Clock): ConsentLogQuery {
  if (query.cursor !== null && form.cursor === 'alone')
    return { bannerId: null, from: null, to: null, cursor: query.cursor, isAlone: true };
  const isClosed = form.range === 'closed';
  // Constant within a day, since a cursor may be bound to the period it was given for.
  const end = () => new Date(Math.ceil(clock().getTime() / DAY) * DAY + DAY).toISOString();
  const from = query.from ?? (isClosed ? BEGINNING : null);
  const to = query.to ?? (isClosed ? end() : null);
  return { ...query, from: fromIn(from, form), to: toIn(to, form) };
}

function fromIn(from: string | null, { period }: RequestForm): string | null {
  if (from === null || period === 'time' || !from.includes('T')) return from;
  return written(new Date(from), period);
}

function written(time: Date, period: Exclude<RequestForm['period'], 'time'>): string {
  const iso = time.toISOString();
  switch (period) {
    case 'seconds':
      return `${iso.slice(0, 19)}Z`;
    case 'local':
      return iso.slice(0, 19);
    case 'date':
      return iso.slice(0, 10);
  }
}

/** Rounded up, except within a millisecond of midnight: parts of a window end there (src/sync/periods-to-read.ts). */
function toIn(to: string | null, { period }: RequestForm): string | null {
  if (to === null || period === 'time' || !to.includes('T')) return to;
  const unit = period === 'date' ? DAY : 1000;
  const at = Date.parse(to);
  const isAtBorder = at % unit <= 1 || at % unit === unit - 1;
  return written(new Date(isAtBorder ? at : at + unit), period);
}

/** Describes the form, for `sync status`. */
export function describeForm({ period, range, cursor }: RequestForm): string {
  const words = {
    time: 'times',
    seconds: 'times in whole seconds',
    date: 'whole days only',
    local: 'times without an offset (UTC)',
  };
  const ends = range === 'closed' ? ', both ends of the period required' : '';
  return `${words[period]}${ends}${cursor === 'alone' ? ', a cursor only without other parameters' : ''}`;
}
