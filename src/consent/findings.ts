import type { Source } from '../core/source.ts';
import type { DecisionPlace } from '../store/queries/decisions-in.ts';
import { createHistory } from '../store/queries/history.ts';
import type { ReconciledDecision } from '../store/queries/history-reconciliation.ts';
import type { Query } from '../store/store.ts';

/** Findings of comparing deliveries with the consent log: decisions with differing records, and decisions found only in the log. */
const findings = { contradictions: 'conflicting', undelivered: 'only-pulled' } as const;
export type FindingKind = keyof typeof findings;

/** A decision with a finding. */
export interface FoundDecision {
  readonly source: string;
  readonly decision: ReconciledDecision;
}

/** Decisions of a period with a finding, source by source, each ordered by time; and the place where the next page begins. */
export async function loadFindings(
  read: Query,
  {
    kind,
    sources,
    period,
    after,
    limit,
  }: {
    readonly kind: FindingKind;
    /** Slugs. */
    readonly sources: readonly string[];
    /** ISO 8601 UTC, `to` exclusive. */
    readonly period: { readonly from: string; readonly to: string };
    /** A place returned before; null or invalid: start at the beginning. */
    readonly after: string | null;
    readonly limit: number;
  },
): Promise<{ readonly rows: readonly FoundDecision[]; readonly next: string | null }> {
  const history = createHistory(read);
  const cursor = listPlaceOf(after ?? '');
  const rows: FoundDecision[] = [];
  const some = await history.sourcesWith(findings[kind]);
  for (const slug of sources.filter((one) => some.has(one)).sort()) {
    if (cursor !== null && slug < cursor.source) continue;
    const scope = { ...period, source: slug, asOf: Number.MAX_SAFE_INTEGER };
    // One extra row reveals whether there is a next page.
    const wanted = limit + 1 - rows.length;
    const from = cursor?.source === slug ? cursor : null;
    for await (const decision of history.reconciledDecisions(scope, findings[kind], wanted, from))
      rows.push({ source: slug, decision });
    if (rows.length > limit) break;
  }
  const last = rows[limit - 1];
  const place = last?.decision.rows[0];
  return {
    rows: rows.slice(0, limit),
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
