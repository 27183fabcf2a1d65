import { sql } from 'kysely';
import { type Action, actionSchema } from '../../core/action.ts';
import { type FindingKind, findingKinds, OPEN_AGAIN } from '../../core/finding.ts';
import { parseJson } from '../../core/json.ts';
import type { Query } from '../store.ts';
import type { Scope } from './scope.ts';

/** A finding: what it is about, by kind, source and key (`finding.settled`). */
export interface FindingKey {
  readonly source: string;
  readonly kind: FindingKind;
  readonly key: string;
}

/** What an officer concluded about a finding. */
export interface Settlement extends FindingKey {
  readonly conclusion: string;
  /** YYYY-MM-DD, the last day on which it holds; null: no end. */
  readonly until: string | null;
  readonly reason: string | null;
  readonly actor: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** The entry that settled it. */
  readonly seq: number;
  /** The newest entry of the finding that the officer saw. */
  readonly upTo: number;
}

/** The kinds of findings about decisions, by how their lists are called. */
export const kindsOfDecisions = { conflicting: 'contradiction', 'only-pulled': 'undelivered' } as const;

/**
 * Whether an officer has settled a finding about the decision `d`, and no record of the decision came after what the
 * officer saw. One look-up by the key of the few settled findings.
 */
export function isDecisionSettled(finding: keyof typeof kindsOfDecisions) {
  return sql<boolean>`exists (select 1 from settled_findings as s where s.source = d.source
    and s.kind = ${sql.lit(kindsOfDecisions[finding])} and s.finding_key = d.decision_id
    and s.up_to >= (select max(n.seq) from decision_history as n where n.source = d.source and n.decision_id = d.decision_id))`;
}

/** Findings per statement. */
const TOGETHER = 200;

/** The conclusions about these findings, with who and why from their entries; those opened again are left out. */
export async function loadSettlements(
  query: Query,
  findings: readonly FindingKey[],
): Promise<ReadonlyMap<string, Settlement>> {
  const found = new Map<string, Settlement>();
  for (const [source, kind] of new Map(
    findings.map((one) => [`${one.source} ${one.kind}`, [one.source, one.kind] as const]),
  ).values()) {
    const keys = findings.filter((one) => one.source === source && one.kind === kind).map(({ key }) => key);
    for (let start = 0; start < keys.length; start += TOGETHER) {
      const rows = await query
        .selectFrom('settled_findings as s')
        .innerJoin('action_history as a', 'a.seq', 's.seq')
        .select(['a.details', 'a.received_at', 'a.source', 'a.seq'])
        .where('s.source', '=', source)
        .where('s.kind', '=', kind)
        .where('s.finding_key', 'in', keys.slice(start, start + TOGETHER))
        .execute();
      for (const row of rows) {
        const settlement = settlementOf(row);
        if (settlement !== null) found.set(idOf(settlement), settlement);
      }
    }
  }
  return found;
}

/** Identifies a finding in maps. */
export function idOf({ source, kind, key }: FindingKey): string {
  return JSON.stringify([source, kind, key]);
}

function settlementOf(row: {
  readonly details: string;
  readonly received_at: string;
  readonly source: string;
  readonly seq: number;
}): Settlement | null {
  const action: Action | undefined = actionSchema.safeParse(parseJson(row.details)).data;
  if (action?.action !== 'finding.settled' || action.conclusion === OPEN_AGAIN) return null;
  const { kind, key, conclusion, reason, until = null, upTo, actor } = action;
  return {
    ...{ source: row.source, kind, key, conclusion, reason, until, upTo, actor },
    ...{ at: row.received_at, seq: Number(row.seq) },
  };
}

/** A finding as it stands: the newest entry about it, and the entry of its conclusion, 0 if it has none or was opened again. */
interface FindingState {
  readonly newest: number;
  readonly settledBy: number;
  /** Up to which entry it is settled; 0: it is not. */
  readonly upTo: number;
  readonly until: string | null;
}

/** The state of each of these findings of one source and kind; those that do not exist (any more) are left out. */
export async function loadFindingStates(
  query: Query,
  { source, kind, keys }: { readonly source: string; readonly kind: FindingKind; readonly keys: readonly string[] },
): Promise<ReadonlyMap<string, FindingState>> {
  const states = new Map<string, FindingState>();
  for (let start = 0; start < keys.length; start += TOGETHER) {
    const some = keys.slice(start, start + TOGETHER);
    const newest = await newestOf[kind](query, source, some);
    const settled = await query
      .selectFrom('settled_findings')
      .select(['finding_key', 'up_to', 'until', 'seq'])
      .where('source', '=', source)
      .where('kind', '=', kind)
      .where('finding_key', 'in', some)
      .execute();
    const by = new Map(settled.map((row) => [row.finding_key, row]));
    for (const { key, seq } of newest) {
      const last = by.get(key);
      const upTo = Number(last?.up_to ?? 0);
      states.set(key, {
        newest: Number(seq),
        settledBy: Number(last?.seq ?? 0),
        upTo,
        until: last?.until ?? null,
      });
    }
  }
  return states;
}

type Newest = (
  query: Query,
  source: string,
  keys: readonly string[],
) => Promise<readonly { readonly key: string; readonly seq: number }[]>;

/** The newest entry of each finding that there is among these keys. */
const newestOf: Readonly<Record<FindingKind, Newest>> = {
  contradiction: (query, source, keys) =>
    decisionsAmong(query, source, keys).having(sql<boolean>`max(conflicts) = 1`).execute(),
  undelivered: (query, source, keys) =>
    decisionsAmong(query, source, keys)
      .having(sql<boolean>`max(case when via = 'pull' and is_first = 1 then 1 else 0 end) = 1`)
      .having(sql<boolean>`max(case when via <> 'pull' then 1 else 0 end) = 0`)
      .execute(),
  integration: (query, source, keys) =>
    query
      .selectFrom('integrations')
      .select(['integration_key as key', 'last_seq as seq'])
      .where('source', '=', source)
      .where('integration_key', 'in', [...keys])
      .where('status', '!=', 'connected')
      .execute(),
  'before-consent': (query, source, keys) =>
    query
      .selectFrom('scans')
      .select('domain as key')
      .select(sql<number>`coalesce(before_consent_seq, last_seq)`.as('seq'))
      .where('source', '=', source)
      .where('domain', 'in', [...keys])
      .where('before_consent', '>', 0)
      .execute(),
};

function decisionsAmong(query: Query, source: string, keys: readonly string[]) {
  return query
    .selectFrom('decision_history')
    .select('decision_id as key')
    .select(({ fn }) => fn.max<number>('seq').as('seq'))
    .where('source', '=', source)
    .where('decision_id', 'in', [...keys])
    .groupBy('decision_id');
}

/** The entries that settled findings about these decisions of a source, whether or not later ones replaced them. */
export async function seqsSettling(
  query: Query,
  source: string,
  decisionIds: readonly string[],
): Promise<readonly number[]> {
  const seqs: number[] = [];
  for (let start = 0; start < decisionIds.length; start += TOGETHER) {
    const rows = await query
      .selectFrom('action_history')
      .select('seq')
      .where('object', 'in', decisionIds.slice(start, start + TOGETHER))
      .where('source', '=', source)
      .where('action', '=', 'finding.settled')
      .execute();
    seqs.push(...rows.map(({ seq }) => Number(seq)));
  }
  return seqs;
}

/** Conclusions for documents. */
export function createSettlementQueries(query: Query) {
  return {
    /** The last conclusion about each finding of the source up to asOf, by {@link idOf}; without those opened again. */
    async settlements({ source, asOf }: Scope): Promise<ReadonlyMap<string, Settlement>> {
      // Few sources have any: the table of the current ones is small, and its key begins with the source and the kind.
      const any = await query
        .selectFrom('settled_findings')
        .select('seq')
        .where('source', '=', source)
        .where('kind', 'in', [...findingKinds])
        .limit(1)
        .executeTakeFirst();
      const last = new Map<string, Settlement>();
      if (any === undefined) return last;
      const rows = await query
        .selectFrom('action_history')
        .select(['details', 'received_at', 'source', 'seq'])
        .where('source', '=', source)
        .where('action', '=', 'finding.settled')
        .where('seq', '<=', asOf)
        .orderBy('seq')
        .execute();
      for (const row of rows) {
        const { kind, key } = JSON.parse(row.details) as FindingKey;
        const settlement = settlementOf(row);
        const id = idOf({ source, kind, key });
        if (settlement === null) last.delete(id);
        else last.set(id, settlement);
      }
      return last;
    },
  };
}
