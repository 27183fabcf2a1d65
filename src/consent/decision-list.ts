import { type Choice, choiceNames, choices, type Judged } from '../core/consent-judgement.ts';
import { countChoices } from '../store/queries/decisions-in.ts';
import { createHistory } from '../store/queries/history.ts';
import type { JudgedRow } from '../store/queries/history-decisions.ts';
import type { Query } from '../store/store.ts';
import { listPlaceOf } from './findings.ts';

interface Wanted {
  /** Slugs. */
  readonly sources: readonly string[];
  /** ISO 8601 UTC, `to` exclusive. */
  readonly period: { readonly from: string; readonly to: string };
  /** Null: any, including those that are not counted in the chart. `unknown`: those that were not understood. */
  readonly choice: Choice | 'unknown' | null;
}

/** Decisions of a period as judged now, source by source, each ordered by time; and the place where the next page begins. */
export async function listDecisions(
  read: Query,
  { sources, period, choice, after, limit }: Wanted & { readonly after: string; readonly limit: number },
): Promise<{ readonly rows: readonly JudgedRow[]; readonly next: string | null }> {
  const history = createHistory(read);
  const cursor = listPlaceOf(after);
  const rows: JudgedRow[] = [];
  for (const source of [...sources].sort()) {
    if (cursor !== null && source < cursor.source) continue;
    const scope = { ...period, source, asOf: Number.MAX_SAFE_INTEGER };
    const from = cursor?.source === source ? cursor : null;
    // One extra row reveals whether there is a next page.
    const wanted = limit + 1 - rows.length;
    rows.push(...(await history.judgedDecisions(scope, judgementsOf(choice), wanted, from)));
    if (rows.length > limit) break;
  }
  const last = rows[limit - 1];
  return {
    rows: rows.slice(0, limit),
    next: rows.length <= limit || last === undefined ? null : [last.source, last.at, last.seq, last.part].join(' '),
  };
}

function judgementsOf(choice: Wanted['choice']): readonly Judged[] | null {
  if (choice === null) return null;
  return choice === 'unknown' ? ['unknown'] : choices[choice];
}

/** How many they are, on all pages; null: they are not counted. The period consists of whole days in some time zone. */
export async function countDecisions(read: Query, { sources, period, choice }: Wanted): Promise<number | null> {
  if (choice === 'unknown') return null;
  const [all] = await countChoices(read, sources, [{ name: 'all', start: period.from, end: period.to }]);
  if (all === undefined) return 0;
  return choice === null ? all.decisions : (all.values[choiceNames.indexOf(choice)] ?? 0);
}
