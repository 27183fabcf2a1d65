import { z } from 'zod';
import { isCountedIn, listUnmatched, requestFigures } from '../../../attention/officer-attention.ts';
import { caseStates } from '../../../cases/moves.ts';
import type { CaseView } from '../../../cases/view.ts';
import type { Context } from '../../../context/context.ts';
import { requestKinds } from '../../../core/vocabulary.ts';
import { text } from '../parts/define-page.ts';

/** The fields of the filter, as a form or an address has them. */
export const filterFields = z.object({
  source: text,
  state: text,
  kind: text,
  assignee: text,
  which: text,
  messages: text,
  sort: text,
});

/** A filter of the list of requests, as its addresses and saved views hold it. */
export interface Filter extends Record<string, string> {
  readonly source: string;
  readonly state: string;
  readonly kind: string;
  readonly sort: string;
}

/** The orders of open requests. */
export const sorts = [
  ['due', 'Legal limit, nearest first'],
  ['newest', 'Receipt, latest first'],
  ['oldest', 'Receipt, earliest first'],
  ['assignee', 'Person assigned'],
] as const;

/** What of a form is a filter, limited to a source if it names one. */
export function filterOf(form: z.infer<typeof filterFields>, source: string | null): Filter {
  const { state, kind, sort } = form;
  const assignee = form.assignee.trim().slice(0, 300);
  const which = requestFigures.find((one) => one === form.which);
  return {
    source: source ?? '',
    state: caseStates.find((one) => one === state) ?? '',
    kind: requestKinds.find((one) => one === kind) ?? '',
    // Views saved by earlier versions have none of these.
    ...(assignee === '' ? {} : { assignee }),
    ...(which === undefined ? {} : { which }),
    ...(form.messages === 'open' ? { messages: 'open' } : {}),
    sort: sorts.find(([one]) => one === sort)?.[0] ?? 'due',
  };
}

/** The filter as conditions of the query. */
export function conditionsOf({ state, kind, assignee = '', messages }: Filter) {
  return {
    ...(messages === 'open' ? { openMessages: true } : {}),
    ...(assignee === '' ? {} : { assignee: assignee === 'nobody' ? null : assignee }),
    ...(state === '' ? {} : { state }),
    ...(kind === '' ? {} : { kind }),
  };
}

/** A list's open requests, which come first, and its settled ones. */
export function partsOf(views: readonly CaseView[]): {
  readonly open: readonly CaseView[];
  readonly settled: readonly CaseView[];
} {
  const settled = views.slice(views.findLastIndex((view) => view.open) + 1);
  return { open: views.slice(0, views.length - settled.length), settled };
}

/** These open requests, or those among them that a figure on Today counts. */
export async function openOnes(
  cases: Context['cases'],
  open: readonly CaseView[],
  filter: Filter,
): Promise<readonly CaseView[]> {
  const which = requestFigures.find((one) => one === filter['which']);
  if (which === undefined) return open;
  return which === 'unmatched' ? listUnmatched(cases, open) : open.filter((view) => isCountedIn(which, view));
}

/** Open requests, which come by legal limit, in the order of the filter. */
export function sorted(views: readonly CaseView[], sort: string): readonly CaseView[] {
  if (sort === 'due') return views;
  if (sort === 'assignee') {
    const { compare } = new Intl.Collator('en');
    return views.toSorted((a, b) => compare(a.folded.assignee ?? '', b.folded.assignee ?? ''));
  }
  const byReceipt = [...views].sort(
    (a, b) => a.row.receipt_at.localeCompare(b.row.receipt_at) || a.row.opened_seq - b.row.opened_seq,
  );
  return sort === 'oldest' ? byReceipt : byReceipt.reverse();
}

/** Where a page of settled requests begins; null: with the latest. */
export function settledCursor(text: string): { receipt_at: string; opened_seq: number } | null {
  const [, at = '', seq = ''] = /^(\d{4}-[\d:.TZ-]{5,30}) (\d{1,15})$/.exec(text) ?? [];
  return at === '' ? null : { receipt_at: at, opened_seq: Number(seq) };
}

/** What of all requests a person may see now, of one source or of every permitted one. */
export function scopeOf(
  { clock }: Pick<Context, 'clock'>,
  { slugs }: { readonly slugs: readonly string[] | null },
  source: string | null,
) {
  const now = clock().toISOString();
  return { now, ...(source !== null ? { source } : slugs !== null ? { sources: slugs } : {}) };
}
