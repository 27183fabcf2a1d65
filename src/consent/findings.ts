import type { Source } from '../core/source.ts';
import type { DecisionPlace } from '../store/queries/decisions-in.ts';
import { createHistory } from '../store/queries/history.ts';
import type { ReconciledDecision } from '../store/queries/history-reconciliation.ts';
import { idOf, loadSettlements, type Settlement } from '../store/queries/settled-findings.ts';
import type { Query } from '../store/store.ts';

/** Findings of comparing deliveries with the consent log: decisions with differing records, and decisions found only in the log. */
const findings = { contradictions: 'conflicting', undelivered: 'only-pulled' } as const;
export type FindingKind = keyof typeof findings;
/** As in entries (core/finding.ts). */
export const settledKinds = { contradictions: 'contradiction', undelivered: 'undelivered' } as const;

/** A decision with a finding. */
export interface FoundDecision {
  readonly source: string;
  readonly decision: ReconciledDecision;
  /** The newest entry of the decision. */
  readonly upTo: number;
  /** What an officer concluded about it; null: nothing that still holds. */
  readonly settlement: Settlement | null;
}

/**
 * Decisions of a period with a finding that nobody has settled, or with `isSettled` those that somebody has, source by
 * source, each ordered by time; and the place where the next page begins.
 */
export async function loadFindings(
  read: Query,
  {
    kind,
    sources,
    period,
    after,
    limit,
    isSettled = false,
  }: {
    readonly kind: FindingKind;
    /** Slugs. */
    readonly sources: readonly string[];
    /** ISO 8601 UTC, `to` exclusive. */
    readonly period: { readonly from: string; readonly to: string };
    /** A place returned before; null or invalid: start at the beginning. */
    readonly after: string | null;
    readonly limit: number;
    readonly isSettled?: boolean;
  },
): Promise<{ readonly rows: readonly FoundDecision[]; readonly next: string | null }> {
  const history = createHistory(read);
  const cursor = listPlaceOf(after ?? '');
  const rows: Pick<FoundDecision, 'source' | 'decision'>[] = [];
  const some = await history.sourcesWith(findings[kind]);
  for (const slug of sources.filter((one) => some.has(one)).sort()) {
    if (cursor !== null && slug < cursor.source) continue;
    const scope = { ...period, source: slug, asOf: Number.MAX_SAFE_INTEGER };
    // One extra row reveals whether there is a next page.
    const wanted = limit + 1 - rows.length;
    const place = cursor?.source === slug ? cursor : null;
    const found = await history.findingsToSettle(scope, findings[kind], { isSettled, most: wanted, after: place });
    rows.push(...found.map((decision) => ({ source: slug, decision })));
    if (rows.length > limit) break;
  }
  const last = rows[limit - 1];
  const place = last?.decision.rows[0];
  const keyOf = ({ source, decision }: (typeof rows)[number]) => ({
    ...{ source, kind: settledKinds[kind], key: decision.decisionId },
  });
  const shown = rows.slice(0, limit);
  const settlements = isSettled ? await loadSettlements(read, shown.map(keyOf)) : new Map<string, Settlement>();
  return {
    rows: shown.map((row) => ({
      ...row,
      upTo: row.decision.rows.reduce((newest, { seq }) => Math.max(newest, seq), 0),
      settlement: settlements.get(idOf(keyOf(row))) ?? null,
    })),
    next:
      rows.length <= limit || last === undefined || place === undefined
        ? null
        : [last.source, place.at, place.seq, place.part].join(' '),
  };
}

/** A place in a list that is ordered by source, time, entry and event in it; null if the text is not one. */
export function listPlaceOf(text: string): ({ readonly source: string } & DecisionPlace) | null {
  const [, source = '', at = '', seq = '', part = '0'] =
    /^(\S{1,100}) (\d{4}-[\d:.TZ-]{5,30}) (\d{1,15})(?: (\d{1,3}))?$/.exec(text) ?? [];
  return source === '' ? null : { source, at, seq: Number(seq), part: Number(part) };
}

/** Why nothing can be undelivered: no source has access to its consent log, it has not been pulled yet, or there are no decisions. */
export type Lack = 'access' | 'pull' | 'decisions';

/** Why an empty list of undelivered decisions means nothing; null: it means that all were delivered. */
export async function whyNothingUndelivered(
  read: Query,
  sources: readonly Pick<Source, 'slug' | 'baseUrl' | 'apiKey'>[],
  { from, to }: { readonly from: string; readonly to: string },
): Promise<Lack | null> {
  const slugs = sources.map(({ slug }) => slug);
  const pulled = await read
    .selectFrom('sync_positions')
    .select('source')
    .where('source', 'in', slugs)
    .where('last_success_at', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  if (pulled === undefined)
    return sources.some(({ baseUrl, apiKey }) => baseUrl !== null && apiKey !== null) ? 'pull' : 'access';
  const decision = await read
    .selectFrom('decision_history')
    .select('seq')
    .where('source', 'in', slugs)
    .where('at', '>=', from)
    .where('at', '<', to)
    .limit(1)
    .executeTakeFirst();
  return decision === undefined ? 'decisions' : null;
}
